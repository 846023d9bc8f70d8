"""Running experiments: missing trials are scheduled on workers, and their outcomes stored."""
