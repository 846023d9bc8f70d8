"""Weights of base kernels, learned with a machine on their sum, each with its certificate."""
