"""Kernels: Gram matrices, and gradients by input and by feature weight."""
