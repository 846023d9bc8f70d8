"""What documents say of speed, as measured ratios: few features in training and prediction, KPD-SVM beside SVM-RFE."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from sklearn.preprocessing import scale

from benchmarks.cold_fit import fit
from benchmarks.harness import Comparison, compare
from fsvm_cli.data.opening import load_dataset
from fsvm_cli.ranking.fisher import Fisher
from fsvm_cli.ranking.gradient_angle import GradientAngle
from fsvm_cli.ranking.kpd import KernelParameterDescent
from fsvm_cli.ranking.rfe import RecursiveFeatureElimination
from fsvm_cli.svm import SVM, Kernel, Linear, Polynomial

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsvm_cli.ranking.base import Ranker


class Task(NamedTuple):
    """A data set of an experiment, its machine, and numbers of features that it keeps."""

    dataset: str
    n_train: int
    kernel: Kernel
    C: float
    ranker: Ranker
    sizes: tuple[int, ...]


TASKS = (
    Task("spambase", 400, Polynomial(2), 1.0, Fisher(), (24, 4)),
    Task("wdbc", 379, Linear(), 10.0, GradientAngle(Linear(), C=10.0), (15, 5)),
    Task("wdbc", 379, Polynomial(2), 10.0, GradientAngle(Polynomial(2), C=10.0), (15, 5)),
)
"""Of the experiments `roc` (jebara-slides) and `wdbc` (hermes2000), the latter also with the kernel of noise20."""
MOST_TEST_ROWS = 4000
DEGREES = {"sonar": 4, "wdbc": 3}
"""Of the experiments kpd-sonar-readings and kpd-wdbc-readings, whose settings stand below."""


def fewer_features() -> Iterator[Comparison]:
    """Yield what few features save in training and prediction; hermes2000, conclusion, and jebara-slides, results."""
    for task in TASKS:
        dataset = load_dataset({"name": task.dataset})
        rows = np.random.default_rng(2000).permutation(len(dataset.y))
        train, test = rows[: task.n_train], rows[task.n_train :][:MOST_TEST_ROWS]
        X, y = scale(dataset.X), dataset.y
        best = np.argsort(task.ranker.fit(X[train], y[train]).ranking_)
        words: dict[str, object] = {"kernel": task.kernel, "C": task.C}
        everything = fit(SVM, words, X[train], y[train])
        for n_features in task.sizes:
            few = np.ascontiguousarray(X[:, best[:n_features]])
            machine = fit(SVM, words, few[train], y[train])
            work = (
                f"{n_features} of {X.shape[1]} features of {task.dataset} by {task.ranker.method}, {task.kernel.name}, "
                f"C={task.C:g}"
            )
            gaps = float(everything.duality_gap_.max()), float(machine.duality_gap_.max())
            errors = [100 * np.mean(each.predict(Z[test]) != y[test]) for each, Z in ((machine, few), (everything, X))]
            note = (
                f"processor seconds; errs on {errors[0]:.1f} % of the test rows, on all features on {errors[1]:.1f} %"
            )
            for what, whole, part in (
                (
                    f"training, {len(train)} rows",
                    partial(fit, SVM, words, X[train], y[train]),
                    partial(fit, SVM, words, few[train], y[train]),
                ),
                (
                    f"prediction, {len(test):,} rows",
                    partial(everything.predict, X[test]),
                    partial(machine.predict, few[test]),
                ),
            ):
                yield compare(
                    f"{what}, {work}",
                    "the same on all features",
                    1.0,
                    whole,
                    part,
                    gaps,
                    note,
                    clock=time.process_time,
                    is_rival=False,
                )


def embedded() -> Iterator[Comparison]:
    """Yield how long a descent takes beside RFE with its kernel, and what its stop saves; kpd2018, 2.2, conclusion."""
    for name, degree in DEGREES.items():
        dataset = load_dataset({"name": name})
        X, y = scale(dataset.X), dataset.y
        kernel = Polynomial(degree, scale=1 / X.shape[1])
        stopping = KernelParameterDescent(kernel, relative_change=0.002)
        endless = KernelParameterDescent(kernel, relative_change=0.0, absolute_change=0.0)
        work = f"KPD-SVM, {name} {len(y)} x {X.shape[1]}, polynomial of degree {degree}, C=1, C2=1"
        for peer, rival in (
            ("RFE one by one, of the same kernel", RecursiveFeatureElimination(kernel)),
            ("the same without its stop, until steps move nothing", endless),
        ):
            gaps = float("nan"), float("nan")
            note = (
                f"processor seconds; all gaps reached: {rival.fit(X, y).converged_ and stopping.fit(X, y).converged_}"
            )
            yield compare(
                work,
                peer,
                1.0,
                partial(rival.fit, X, y),
                partial(stopping.fit, X, y),
                gaps,
                note,
                clock=time.process_time,
                is_rival=False,
            )
