"""Floor 5: finished trials on disk."""
