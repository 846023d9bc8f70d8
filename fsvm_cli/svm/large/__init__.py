"""Machines on many samples: linear ones in feature space, others by decomposition or on a Gram matrix of low rank."""
