"""Floor 2: splits, metrics, retained-feature curves and the statistics of both."""
