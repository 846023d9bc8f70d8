"""Floor 5: texts by key, on disk."""
