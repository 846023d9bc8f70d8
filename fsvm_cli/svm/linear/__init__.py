"""Linear machines on many samples: all work is done in the feature space, no matrix of all pairs is ever made."""
