"""Floor 1: texts by key, on disk."""
