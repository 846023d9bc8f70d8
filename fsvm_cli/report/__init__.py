"""Floor 5: from stored outcomes to tables and figures."""
