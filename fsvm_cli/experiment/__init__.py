"""Floor 4: from a config to stored outcomes."""
