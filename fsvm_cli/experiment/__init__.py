"""Floor 6: the plan of an experiment, one trial, and what a run records."""
