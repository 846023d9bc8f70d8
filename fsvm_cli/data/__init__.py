"""Data sets, from their source to arrays."""
