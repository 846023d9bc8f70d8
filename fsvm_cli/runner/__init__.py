"""Floor 7: runs experiments; what is missing is scheduled on workers and stored."""
