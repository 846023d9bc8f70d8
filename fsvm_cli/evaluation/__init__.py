"""Splits, metrics, retained-feature curves and the statistics of both."""
