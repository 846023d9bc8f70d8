"""Whole curves of the papers' experiments beside those of an independent solver of quadratic programs."""

import os

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.preprocessing import StandardScaler

from fsvm_cli.svm import DualProblem, Gaussian, Linear, Polynomial, bias_of, nested_curves, predict_codes
from fsvm_cli.svm.labels import machine_labels
from tests.helpers.qp_oracle import solve_with_clarabel, solve_with_piqp

N_SPLITS = int(os.environ.get("FSVM_CURVE_SPLITS", "1"))
C = 10.0
TIE = 1e-5
"""The width of a tie at the default tolerance."""


def split_of(name: str, seed: int):
    """Return the parts of a random split, standardised by the first."""
    rng = np.random.default_rng(seed)
    if name == "noise20":  # Hermes and Buhmann (2000), section 4
        y = rng.integers(0, 2, 1000)
        X = np.where(y[:, None] == 1, 1.0, -1.0) + rng.standard_normal((1000, 20)) * 0.2 * 1.2 ** np.arange(20)
        n_train = 500
    else:
        X, y = {"wine": load_wine, "wdbc": load_breast_cancer}[name](return_X_y=True)
        n_train = 2 * len(y) // 3
    rows = rng.permutation(len(y))
    train, test = rows[:n_train], rows[n_train:]
    scaler = StandardScaler(with_mean=name != "noise20", with_std=name != "noise20").fit(X[train])
    return scaler.transform(X[train]), y[train], scaler.transform(X[test]), rng


def oracle_decision(kernel, X_train, X_test, labels):
    """Return the scores of test samples on one subset, from the machines of a solver of quadratic programs."""
    gram, cross = (kernel.value(kernel.statistic_matrix(X_train, X)) for X in (X_train, X_test))
    values = np.empty((len(labels), len(X_test)))
    for m, y in enumerate(labels):
        problem = DualProblem(gram, y, C)
        alpha = solve_with_piqp(problem)
        alpha = solve_with_clarabel(problem) if alpha is None else alpha
        alpha = np.where(alpha < 1e-7, 0.0, np.where(alpha > C - 1e-7, C, alpha))
        values[m] = (alpha * y) @ cross + bias_of(problem, alpha)
    return values


@pytest.mark.parametrize("seed", range(N_SPLITS))
@pytest.mark.parametrize(
    ("name", "kernel"),
    [
        ("wine", Linear()),
        ("wine", Gaussian(13.0)),
        ("wine", Polynomial(2)),
        ("wdbc", Linear()),
        ("wdbc", Gaussian(30.0)),
        ("wdbc", Polynomial(2)),
        ("noise20", Polynomial(2)),
    ],
    ids=lambda value: value if isinstance(value, str) else value.name,
)
def test_whole_curves_are_those_of_an_independent_solver(name, kernel, seed):
    X_train, y_train, X_test, rng = split_of(name, seed)
    d = X_train.shape[1]
    orders = [np.arange(d), rng.permutation(d)]
    sizes = tuple(range(1, d + 1, 1 if name == "wine" else 4))
    labels, counts = machine_labels(y_train, y_train.max() + 1)
    found = nested_curves(kernel, C, X_train, y_train, X_test, orders, sizes, n_classes=len(counts))
    assert found.converged.all()
    for o, order in enumerate(orders):
        for s, size in enumerate(sizes):
            subset = order[:size]
            values = oracle_decision(kernel, X_train[:, subset], X_test[:, subset], labels)
            np.testing.assert_array_equal(found.test_predicted[o, s], predict_codes(values, counts, TIE))
