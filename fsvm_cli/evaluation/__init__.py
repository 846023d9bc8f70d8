"""Floor 3: splits, metrics, retained-feature curves and the statistics of both."""
