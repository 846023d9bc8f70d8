"""Floor 3: the Bayesian support vector machine of gold2005.

`loss` with `hinge`, `squared_hinge` and `trigonometric` is the likelihood (4) with its normaliser.
"""
