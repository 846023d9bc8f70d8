"""The gaps of machines that a search trains and does not hand out, on hostile tables, in extended precision.

``python -m tests.svm.certified_searches 1000`` trains those of RFE, of tuning, of the bounds on the leave-one-out error
and of KPD-SVM, and prints every one that counts as converged with a gap above its tolerance.
"""

from __future__ import annotations

import argparse
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fsvm_cli.bounds.bound import hard_margin_machine, spread
from fsvm_cli.bounds.radius_margin import enclosing_ball
from fsvm_cli.ranking.kernel_descent import Objective, Penalty, kernel_at, starting_weights
from fsvm_cli.ranking.rfe_machines import EliminationProblem, KernelMachines, LinearMachines, Machines, machines_for
from fsvm_cli.svm import Gaussian, Kernel, Linear
from fsvm_cli.svm.kernels.additive import AdditiveKernel, ScaledKernel
from fsvm_cli.svm.large.linear_machine import centre_of, centred
from fsvm_cli.svm.paths.folds import FoldMachines
from tests.svm.certified_machines import TOLERANCE, UNIT, Long, hostile_task, long_gram, report

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Trained(NamedTuple):
    """A machine that counts as converged or not, and the least that its gap can be in extended precision."""

    what: str
    converged: bool
    gap: float


def exact_gram(kernel: Kernel, X: np.ndarray) -> Long:
    """Return `long_gram`, and of the linear kernel that of the samples less the first one."""
    if not isinstance(kernel, Linear):
        return long_gram(kernel, X)
    Z = X.astype(np.longdouble) - X[0].astype(np.longdouble)
    return (Z[:, None, :] * Z[None]).sum(axis=-1)


def least_gap(gram: Long, y: np.ndarray, C: np.ndarray, c: np.ndarray, ridge: float = 0.0) -> float:
    """Return the relative duality gap at coefficients alpha_i y_i with the best bias, less what it may be off by.

    With a ridge that of the squared loss, 1 / (2 ridge) sum_i xi_i^2, without an upper bound.
    """
    labels, coefficients = y.astype(np.longdouble), c.astype(np.longdouble)
    outputs = gram @ coefficients
    square, total = coefficients @ outputs, np.abs(coefficients).sum()
    dual = total - (square + np.longdouble(ridge) * (coefficients @ coefficients)) / 2
    # The losses are convex in the bias: piecewise linear with their least at a margin, or quadratic between two.
    margins = np.unique(labels - outputs)
    biases = margins
    if ridge:
        between = np.concatenate([[margins[0] - 1], (margins[1:] + margins[:-1]) / 2, [margins[-1] + 1]])
        active = 1 - labels * (outputs + between[:, None]) > 0
        biases = (active * (labels - outputs)).sum(axis=1) / np.maximum(active.sum(axis=1), 1)
    slacks = np.maximum(1 - labels * (outputs + biases[:, None]), 0)
    losses = (slacks**2).sum(axis=1) / (2 * np.longdouble(ridge)) if ridge else (slacks * C).sum(axis=1)
    primal = square / 2 + losses.min()
    size = max(abs(primal), abs(dual))
    if not size:
        return 0.0
    sizes = np.abs(gram) @ np.abs(coefficients)
    weights = np.abs(coefficients) + (slacks[losses.argmin()] / np.longdouble(ridge) if ridge else C)
    blur = UNIT * (len(y) + 8) * ((1 + sizes) @ weights + abs(size))
    return float((primal - dual - blur) / size)


def hostile_table(seed: int) -> tuple[np.ndarray, np.ndarray, AdditiveKernel, float]:
    """Return samples, labels, kernel and C of a hostile task, with an additive kernel."""
    task = hostile_task(seed)
    kernel = task.kernel if isinstance(task.kernel, AdditiveKernel) else Linear()
    return task.X, 2.0 * task.y - 1.0, kernel, task.C


def machines_of_elimination(seed: int) -> Iterator[Trained]:
    """Train on ever fewer features, in the order of their costs."""
    X, y, kernel, C = hostile_table(seed)
    bounds = np.full(len(y), C)
    machines = machines_for(EliminationProblem(kernel, X, y[None], bounds, TOLERANCE, "auto"))
    weights = kernel.feature_weights(X.shape[1])
    while len(machines.features):
        converged, left = machines.train(), machines.features
        own = kernel if weights is None else kernel.with_weights(weights[left])
        c = coefficients_of(machines, len(y))
        gap = least_gap(exact_gram(own, X[:, left]), y, bounds, c)
        yield Trained(f"rfe {kernel!r} {len(left)} features", converged, gap)
        if len(left) == 1:
            return
        machines.drop(np.array([int(machines.costs().argmin())]))


def coefficients_of(machines: Machines, n: int) -> np.ndarray:
    """Return alpha_i y_i of the only machine, (n,)."""
    if isinstance(machines, KernelMachines):
        return np.asarray(machines.alphas[0] * machines.problem.labels[0])
    assert isinstance(machines, LinearMachines)
    chunk, c = machines.chunks[0], np.zeros(n)
    c[chunk.rows] = chunk.box.c
    return c


def machines_of_tuning(seed: int) -> Iterator[Trained]:
    """Train on all samples, and without every fourth one."""
    X, y, kernel, C = hostile_table(seed)
    samples = centred(X, centre_of(X)) if kernel.is_linear else X
    gram = kernel.value(kernel.statistic_matrix(samples, samples))
    rounding = kernel.rounding(samples).of_machine()
    machines = FoldMachines(gram, y, np.array([C]), TOLERANCE, rounding=rounding)
    exact, left_out = exact_gram(kernel, X), np.arange(2, len(y), 4)
    rest = np.delete(np.arange(len(y)), left_out)
    for bound, c, certified in zip(machines.bounds, machines.coefficients, machines.certified, strict=True):
        yield Trained(f"tuning {kernel!r} C {bound[0]:.1e}", bool(certified), least_gap(exact, y, bound, c))
    _, _, certified = machines.score((rest, left_out))
    # The last machine that changes without the samples is left in the box.
    changed = np.flatnonzero(machines.coefficients[:, left_out].any(axis=1))
    if len(changed) == 1 and not machines.missed.any():
        bound, c = machines.bounds[changed[0]], machines.box.c
        of_fold = least_gap(exact[np.ix_(rest, rest)], y[rest], bound[rest], c[rest])
        yield Trained(f"tuning {kernel!r} C {bound[0]:.1e}, a fold", bool(certified[changed[0]]), of_fold)


def machines_of_bounds(seed: int) -> Iterator[Trained]:
    """Train a machine of the squared loss, and find the ball around the samples."""
    X, y, kernel, _ = hostile_table(seed)
    kernel = kernel if isinstance(kernel, Gaussian) else Gaussian(2.0 * X.shape[1] * float(np.abs(X).max()) ** 2 or 1.0)
    gram, rounding = kernel.gram(X, X), kernel.rounding(X).of_machine()
    ball = enclosing_ball(gram, tolerance=TOLERANCE, rounding=rounding)
    exact = long_gram(kernel, X)
    squares = exact.diagonal() - 2 * exact @ ball.beta + ball.beta @ exact @ ball.beta
    radius = exact.diagonal() @ ball.beta - ball.beta @ exact @ ball.beta
    if radius > 0:
        blur = UNIT * 8 * (len(y) + 8) / radius
        yield Trained(f"ball {kernel!r}", ball.converged, float(squares.max() / radius - 1 - blur))
    ridge = 0.1 * spread(gram)
    if not ridge > 0:
        return
    gram.flat[:: len(y) + 1] += ridge
    machine = hard_margin_machine(gram, y, tolerance=TOLERANCE, on_failure="flag", rounding=rounding)
    gap = least_gap(exact, y, np.full(len(y), np.inf), machine.alpha * y, ridge)
    yield Trained(f"bound {kernel!r} ridge {ridge:.1e}", machine.converged, gap)


def machines_of_descent(seed: int) -> Iterator[Trained]:
    """Train with the weights at which a descent begins, and with ever fewer features."""
    X, y, kernel, C = hostile_table(seed)
    if not isinstance(kernel, ScaledKernel):
        kernel = Gaussian(2.0 * X.shape[1] * float(np.abs(X).max()) ** 2 or 1.0)
    penalty = Penalty("l0", 1.0, 5.0)
    objective = Objective(
        X=X, y=y, kernel=kernel, C=C, penalty=penalty, variant="saddle", tolerance=TOLERANCE, solver="auto"
    )
    v, alpha, bounds = starting_weights(kernel, X.shape[1]), np.zeros(len(y)), np.full(len(y), C)
    for n_left in range(X.shape[1], 0, -max(X.shape[1] // 4, 1)):
        v = np.where(np.arange(X.shape[1]) < n_left, v, 0.0)
        point = objective.at(v, alpha)
        alpha = point.alpha
        gap = least_gap(exact_gram(kernel_at(kernel, v), X), y, bounds, alpha * y)
        yield Trained(f"descent {kernel!r} {n_left} features", point.converged, gap)


SEARCHES: dict[str, Callable[[int], Iterator[Trained]]] = {
    "elimination": machines_of_elimination,
    "tuning": machines_of_tuning,
    "bounds": machines_of_bounds,
    "descent": machines_of_descent,
}


def main() -> None:
    """Train machines, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("n", type=int)
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args()
    for name, search in SEARCHES.items():
        counts: Counter[str] = Counter()
        for seed in range(options.first, options.first + options.n):
            with np.errstate(all="ignore"):
                found = list(search(seed))
            for each in found:
                counts["machines"] += 1
                counts["converged"] += each.converged
                counts["above the tolerance"] += each.gap > TOLERANCE
                if each.converged and each.gap > TOLERANCE:
                    counts["wrong"] += 1
                    report(f"seed {seed} {each.what}: found {each.gap:.2e}")
        report(f"{name}: " + "; ".join(f"{what} {count}" for what, count in counts.items()))


if __name__ == "__main__":
    main()
