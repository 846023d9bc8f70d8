"""Texts by key, on disk."""
