"""The plan of an experiment, one trial, and what a run records."""
