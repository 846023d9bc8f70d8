"""Bounds on the leave-one-out error of a machine, and their derivatives by its Gram matrix."""
