"""Machines on sequences of related problems: nested subsets of features, folds."""
