"""The Bayesian support vector machine of gold2005: its likelihood, posterior, sampler and evidence gradients.

In the order of the paper: `ard_kernel` is its kernel (3); `loss` with `hinge`, `squared_hinge` and `trigonometric` the
likelihood (4) with its normaliser; `gradient` the derivatives (8) and (9) of the evidence, made of `averages` over the
posterior; `hybrid_monte_carlo` draws from it by (10) to (13), `convergence` says what the draws are worth, and
`importance` does without chains where V is thin;
`nystroem` is the thin factor V of (15) to (18), and of the full Gram matrix; `posterior` the density (19) in its
coordinates, with the force (21); `mode` the machine (2), where it is largest, and `gaussian` what it nearly is.
`blurred` makes of a loss one with which the evidence of V V' bounds that of the whole kernel.
`sampled_evidence` puts these together for `ascent`, which tunes the hyperparameters, and of which `caveats` says what
there is to say; `tuning` is the ascent with the `parameters` of an estimator, `map_machine` the machine that is trained
at its end, `estimator` both as a classifier.
"""
