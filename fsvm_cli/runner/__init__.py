"""Runs experiments; what is missing is scheduled on workers and stored."""
