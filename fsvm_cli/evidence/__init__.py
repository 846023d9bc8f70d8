"""The Bayesian support vector machine of gold2005: its likelihood, posterior, sampler and evidence gradients.

In the order of the paper: `kernels` has its kernel (3), and the thin factor V of (15) to (18); `losses` the likelihood
(4) with its normaliser; `gradient` the derivatives (8) and (9) of the evidence, made of averages over the posterior;
`posterior` the density (19), with the force (21), the machine (2), where it is largest, and what it nearly is;
`hybrid_monte_carlo` draws from it by (10) to (13), `diagnostics` estimates the precision of the draws, and `importance`
does without chains where V is thin. `sampled_evidence` puts these together, and has the bound on the evidence of the
whole kernel, for `ascent`, which tunes the hyperparameters; `tuning` is the ascent with the `parameters` of an
estimator, of which these say what caveats there are, and `estimator` the machine that is trained at its end, as a
classifier.
"""
