"""Kernels: Gram matrices, and gradients by input and by feature weight.

`base` is the interface of every kernel. `additive` implements it for kernels K(u, v) = phi(s(u, v)), where the
statistic s is a sum over features: each kernel of the papers has a file of its own, which states its parameters and
which s and phi they stand for, and `registry` lists them by name. `weighted_sum` implements it for sums of kernels. The
sums over features are in `pairwise`, phi is in `compiled`.
"""
