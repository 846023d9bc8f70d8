"""Kernels: Gram matrices, and gradients by input and by feature weight.

`base` says what every kernel can do; `additive` does it for functions phi of a sum over features, of which `families`
has those of the papers, and `weighted_sum` for sums of kernels. The sums over features are in `pairwise`, phi is in
`compiled`.
"""
