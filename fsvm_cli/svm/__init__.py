"""Floor 1: the mathematics of one support vector machine."""
