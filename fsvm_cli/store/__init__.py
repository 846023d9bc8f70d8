"""Finished trials on disk."""
