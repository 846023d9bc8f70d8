"""Where the machine of many samples is: from a part of them, and from a hinge whose corner is rounded off.

Within a distance h of its corner the hinge is made quadratic. What the optimum is moved by that falls with h and with
the number of samples within h, so that after two or three Newton steps hardly more samples than are free at the optimum
are left of which it is open on which side of the margin they lie.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import LinAlgError

from fsvm_cli.svm.linear.band import Start
from fsvm_cli.svm.linear.interior_point import Near, solve_interior_point
from fsvm_cli.svm.linear.problem import LinearProblem
from fsvm_cli.svm.linear.smooth import WIDEST, WIDTH, Guess, Loss, Machine, newton_step, seen, sharpened

if TYPE_CHECKING:
    import numpy.typing as npt

LEAST, PER_FEATURE, SHARE, GROWTH = 2000, 20, 16, 4
"""Samples of the first part: so many, so many for each feature, or one in so many, whichever is the most; a part that
tells too little is made so many times as large."""
SMALL = 0.125
"""Share of the samples that is a small band to begin with."""
STEPS = 20
"""Newton's, at most."""
OF_PART = 1.4
"""What the error of the machine of a part turned out to be, in standard deviations by the variance of its gradient."""
ROUGHLY = 1e-2
"""Relative gap at which the interior point on a part has told what it can."""


def approach(problem: LinearProblem) -> Start | None:
    """Find about where the machine is; None of few samples, of hard margins, and where this does not tell.

    Parameters
    ----------
    problem : LinearProblem
        Without ridge.
    """
    n, d = problem.X.shape
    size = max(LEAST, PER_FEATURE * d, n // SHARE)
    if n < 2 * size or not np.isfinite(problem.C).all():
        return None
    try:
        guess = _from_parts(problem, size)
        if not np.isfinite(guess.error):
            return None
        at, error = sharpened(problem, guess)
    except LinAlgError:
        return None
    return Start(Near(at.w, at.b, float(problem.C.max())), at.outputs, WIDTH * error, w=at.losers)


def _from_parts(problem: LinearProblem, size: int) -> Guess:
    """Guess by parts of the samples, the next one larger until it tells enough."""
    n, d = problem.X.shape
    w, b = np.zeros(d), 0.0
    while True:
        part = _even_part(problem, size)
        at = Machine(w, b, part.outputs(w))
        if not w.any():  # all slacks are 1: from there a wide loss leads to where a narrow one sees enough samples
            at = _descend(part, at, 2.0 * WIDEST)
        w, b, outputs, _ = _descend(part, at, WIDEST)
        slack = 1.0 - part.y * (outputs + b)
        # Of the gradient's variance and the curvature: each sample that loses pulls, those near the corner hold.
        pull, hold = (part.C[slack > 0.0] ** 2).sum(), part.C[np.abs(slack) < WIDEST].sum() / (2.0 * WIDEST)
        error = float(OF_PART * np.sqrt(d * pull) / hold) if hold > 0.0 else np.inf
        share = np.mean(np.abs(slack) < WIDTH * error)
        if error <= WIDEST or share < SMALL or 2 * GROWTH * size > n:
            return Guess(seen(problem, w, b), error)
        size *= GROWTH


def _descend(part: LinearProblem, at: Machine, half: float) -> Machine:
    """Take Newton steps on a loss that is rounded off from -WIDEST over twice a distance, until little changes."""
    for _ in range(STEPS):
        at, change = newton_step(part, Loss(-WIDEST, 2.0 * half / part.C), at)
        if change <= WIDEST:
            break
    return at


def machine_of_part(problem: LinearProblem) -> Near | None:
    """Return the machine of a part of the samples by the interior point; None of few.

    A large part begins at the machine of a smaller one.

    Parameters
    ----------
    problem : LinearProblem
    """
    n, d = problem.X.shape
    least = max(LEAST, PER_FEATURE * d)
    if n < GROWTH * least:
        return None
    rows, _ = _evenly(problem, max(least, n // SHARE))
    part = LinearProblem(problem.X[rows], problem.y[rows], problem.C[rows], problem.equality, problem.ridge)
    found = solve_interior_point(part, ROUGHLY, machine_of_part(part))
    return Near(found.w, found.b, float(found.alpha.max()))


def _even_part(problem: LinearProblem, size: int) -> LinearProblem:
    """Return the problem of some samples, each with the weight of those that it stands for."""
    rows, weights = _evenly(problem, size)
    return LinearProblem(problem.X[rows], problem.y[rows], weights * problem.C[rows], problem.equality)


def _evenly(problem: LinearProblem, size: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.float64]]:
    """Choose samples, as many from either class, or all of a rare one, and tell for how many each one stands."""
    rows, weights = [], []
    for label in (-1.0, 1.0):
        of = np.flatnonzero(problem.y == label)
        number = min(len(of), size // 2)
        rows.append(of[np.arange(number) * len(of) // max(number, 1)])
        weights.append(np.full(number, len(of) / max(number, 1)))
    chosen = np.concatenate(rows)
    order = np.argsort(chosen)
    return chosen[order], np.concatenate(weights)[order]
