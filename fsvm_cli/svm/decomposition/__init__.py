"""Kernel machines on many samples: rows of the Gram matrix are computed when needed and kept in a bounded cache."""
