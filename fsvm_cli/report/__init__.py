"""Floor 7: from stored outcomes to tables and figures."""
