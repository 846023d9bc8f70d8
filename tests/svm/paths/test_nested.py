"""Nested subsets against machines that are fitted one by one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from fsvm_cli import load_dataset
from fsvm_cli.svm import (
    SVM,
    Anova,
    DualProblem,
    Gaussian,
    Laplace,
    Linear,
    NestedCurves,
    Polynomial,
    Tanh,
    duality_gap,
    fit_one_vs_rest,
    nested_curves,
    predict_codes,
    solve,
)
from fsvm_cli.svm.paths import nested
from fsvm_cli.svm.paths.nested_compiled import rounding_of_gap
from fsvm_cli.svm.solvers import libsvm
from fsvm_cli.svm.solvers.active_set import make_scratch
from fsvm_cli.svm.solvers.certificate import with_rounding
from fsvm_cli.svm.solvers.smo import set_bounds

FIELDS = tuple(NestedCurves.__dataclass_fields__)
ALL, CODES = load_wine(return_X_y=True)
ROWS = np.random.default_rng(3).permutation(len(CODES))
TRAIN, TEST = ROWS[:80], ROWS[80:]
X = StandardScaler().fit(ALL[TRAIN]).transform(ALL)
ORDERS = np.array([np.arange(13), np.arange(13)[::-1], np.random.default_rng(4).permutation(13)])
SIZES = (1, 2, 5, 12, 13)


def curves(kernel, orders=ORDERS, sizes=SIZES, C=10.0, codes=CODES, n_classes=3, **options) -> NestedCurves:
    return nested_curves(kernel, C, X[TRAIN], codes[TRAIN], X[TEST], orders, sizes, n_classes=n_classes, **options)


WEIGHTS = tuple(np.linspace(0.2, 2.0, 13))


@pytest.mark.parametrize(
    "kernel",
    [
        Linear(),
        Linear(WEIGHTS),
        Gaussian(8.0),
        Gaussian(8.0, WEIGHTS),
        Polynomial(2, scale=0.3),
        Polynomial(3, 0.5, scale=2.0),
        Laplace(5.0),
        Anova(0.1, 2),
    ],
    ids=lambda kernel: kernel.name,
)
def test_each_subset_is_fitted_and_evaluated_as_if_alone(kernel):
    found = curves(kernel)
    assert found.converged.all()
    for o, order in enumerate(ORDERS):
        for s, size in enumerate(SIZES):
            subset = order[:size]
            gram = kernel.value(kernel.statistic_matrix(X[TRAIN], X[TRAIN], subset))
            cross = kernel.value(kernel.statistic_matrix(X[TRAIN], X[TEST], subset))
            alone = fit_one_vs_rest(gram, CODES[TRAIN], 10.0, 3)
            np.testing.assert_allclose(found.train_decision[o, s], alone.decision_values(gram), atol=2e-6)
            np.testing.assert_allclose(found.test_decision[o, s], alone.decision_values(cross), atol=2e-6)
            expected = predict_codes(alone.decision_values(cross), alone.class_counts, 1e-5)
            np.testing.assert_array_equal(found.test_predicted[o, s], expected)


@pytest.mark.parametrize("kernel", [Linear(), Gaussian(8.0)], ids=lambda kernel: kernel.name)
def test_an_order_does_not_depend_on_its_company(kernel):
    together = curves(kernel)
    for o in range(3):
        alone = curves(kernel, ORDERS[o : o + 1])
        for field in FIELDS:
            np.testing.assert_array_equal(getattr(together, field)[o], getattr(alone, field)[0])


def test_sizes_may_come_in_any_order_and_twice():
    found, sorted_ = curves(Linear(), sizes=(5, 13, 1, 5)), curves(Linear(), sizes=(1, 5, 13))
    for field in FIELDS:
        np.testing.assert_array_equal(getattr(found, field), getattr(sorted_, field)[:, [1, 2, 0, 1]])


@pytest.mark.parametrize(
    "kernel", [Linear(), Linear(tuple(np.linspace(0.2, 2.0, 200))), Polynomial(2)], ids=["linear", "weighted", "square"]
)
def test_wide_steps_take_matrix_products_and_csr_samples_give_the_same(kernel):
    rng = np.random.default_rng(1)
    wide = np.where(rng.random((60, 200)) < 0.1, rng.random((60, 200)), 0.0)
    codes = (wide[:, :20].sum(axis=1) > np.median(wide[:, :20].sum(axis=1))).astype(int)
    orders, sizes = rng.permutation(200)[None], (3, 60, 200)
    dense = nested_curves(kernel, 1.0, wide[:40], codes[:40], wide[40:], orders, sizes, n_classes=2)
    csr = sparse.csr_matrix(wide)
    thin = nested_curves(kernel, 1.0, csr[:40], codes[:40], csr[40:], orders, sizes, n_classes=2)
    for s, size in enumerate(sizes):
        both = kernel.value(kernel.statistic_matrix(wide[:40], wide, orders[0, :size]))
        square, cross = both[:, :40], both[:, 40:]
        alone = fit_one_vs_rest(square, codes[:40], 1.0, 2).decision_values(cross)
        np.testing.assert_allclose(dense.test_decision[0, s], alone, atol=2e-6)
        np.testing.assert_allclose(thin.test_decision[0, s], alone, atol=2e-6)


def test_an_absent_class_is_never_predicted():
    codes = np.where(CODES == 1, 3, CODES)
    found = curves(Linear(), codes=codes, n_classes=4)
    assert np.isneginf(found.test_decision[:, :, 1]).all()
    assert set(np.unique(found.test_predicted)) <= {0, 2, 3}
    assert (found.solver[:, :, 1] == "").all()
    assert found.converged[:, :, 1].all()


@pytest.mark.parametrize("solver", ["interior-point", "libsvm"])
def test_other_solvers_are_noted_and_agree(solver):
    found = curves(Gaussian(8.0), sizes=(3, 13), solver=solver, tolerance=1e-4)
    assert (found.solver == solver).all()
    np.testing.assert_allclose(found.test_decision, curves(Gaussian(8.0), sizes=(3, 13)).test_decision, atol=1e-2)


def test_what_the_fast_solver_leaves_goes_to_the_interior_point(monkeypatch):
    compiled = nested.follow_order

    def leave_one(*arguments):
        compiled(*arguments)
        records = arguments[-1]
        records.converged[0, 1], records.test_decision[0, 1] = False, np.nan

    monkeypatch.setattr(nested, "follow_order", leave_one)
    found = curves(Gaussian(8.0))
    assert (found.solver[:, 0, 1] == "interior-point").all()
    assert (found.solver[:, 1] == "smo").all()
    assert found.converged.all()
    monkeypatch.undo()
    np.testing.assert_allclose(found.test_decision, curves(Gaussian(8.0)).test_decision, atol=1e-6)


def test_fits_that_miss_their_gap_are_flagged(monkeypatch):
    monkeypatch.setattr(libsvm.solve_libsvm, "__defaults__", (1000,))
    found = curves(Linear(), sizes=(1, 2), solver="libsvm", tolerance=1e-12)
    assert not found.converged.all()
    assert (found.duality_gap[~found.converged] > 1e-12).all()


@pytest.mark.parametrize("solver", ["auto", "interior-point"])
@pytest.mark.parametrize(
    ("kernel", "offset", "is_doubtful"),
    [(Polynomial(2), 100.0, True), (Polynomial(2), 1.0, False), (Linear(), 1e4, False)],
    ids=["far", "near", "centred"],
)
def test_what_rounding_takes_from_kernel_values_is_certified_by_features_or_flagged(
    kernel, offset, is_doubtful, solver, monkeypatch
):
    rng = np.random.default_rng(1)
    samples, codes = rng.standard_normal((30, 2)) + offset, np.repeat([0, 1], 15)

    def found() -> NestedCurves:
        return nested_curves(kernel, 0.1, samples, codes, samples, [[0, 1]], (2,), n_classes=2, solver=solver)

    stated = found()
    is_certified = solver == "auto" or not is_doubtful
    assert stated.converged[0, 0, 0] == is_certified
    assert (stated.duality_gap[0, 0, 0] <= 1e-6) == is_certified
    assert np.isfinite(stated.duality_gap).all()
    if is_doubtful and solver == "auto":
        alone = SVM(kernel, C=0.1).fit(samples, codes)
        np.testing.assert_array_equal(stated.test_decision[0, 0, 0], alone.decision_function(samples))
        np.testing.assert_array_equal(stated.duality_gap[0, 0], alone.duality_gap_)
        return
    monkeypatch.setattr(nested, "_certify_doubtful", lambda *_: None)
    monkeypatch.setattr(nested, "stated", lambda _, solution, __: solution)
    exact = found()
    assert exact.converged.all()
    np.testing.assert_array_equal(stated.test_decision, exact.test_decision)


@pytest.mark.parametrize("C", [1.0, 100.0])
def test_linear_machines_on_unscaled_features_predict_as_the_estimator_does(C):
    data = load_dataset("wdbc")
    sizes, order = (3, 30), np.arange(30)
    found = nested_curves(Linear(), C, data.X[:300], data.y[:300], data.X[300:], order[None], sizes, n_classes=2)
    assert found.converged.all()
    for s, size in enumerate(sizes):
        alone = SVM("linear", C=C).fit(data.X[:300, :size], data.y[:300])
        scores = alone.decision_function(data.X[300:, :size])
        np.testing.assert_allclose(found.test_decision[0, s, 0], scores, atol=1e-4 * np.abs(scores).max())


KERNELS = [Linear(), Linear(WEIGHTS), Polynomial(3, scale=0.1), Gaussian(8.0), Tanh(0.1)]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
def test_what_rounding_may_add_to_a_gap_is_no_less_than_in_a_certificate(kernel, C):
    labels, bounds = np.where(CODES[TRAIN] == 0, 1.0, -1.0), np.full(80, C)
    gram, rounding = kernel.gram(X[TRAIN], X[TRAIN]), kernel.rounding(X[TRAIN]).of_machine()
    problems = nested._Setting(kernel, bounds, X[TRAIN], X[TRAIN], labels[None], 1e-6).problems
    found = solve(DualProblem(gram, labels, C), on_failure="flag")
    box, _ = make_scratch(80)
    set_bounds(box, labels, bounds)
    box.c[:] = found.alpha * labels
    box.r[:] = labels - gram @ box.c
    added = rounding_of_gap(gram, labels, box, found.bias, *problems[3:])
    exact, predicting = (
        duality_gap(DualProblem(gram, labels, C, rounding=each), found.alpha, found.bias) for each in (None, rounding)
    )
    of_labels = 1e-12  # a certificate counts the labels among the terms of a residual
    assert predicting - exact <= added + of_labels < 1e-7
    assert with_rounding(exact, added) >= predicting - of_labels


def test_no_hard_margin_is_flagged():
    found = curves(Linear(), sizes=(1, 13), C=np.inf)
    assert not found.converged[:, 0].any()
    assert np.isposinf(found.duality_gap[:, 0]).all()
    assert found.converged[:, 1].all()


def test_samples_may_be_whole_numbers():
    whole = np.round(X * 3).astype(np.int64)
    orders = ORDERS[:1]
    found = nested_curves(Linear(), 1.0, whole[TRAIN], CODES[TRAIN], whole[TEST], orders, (3,), n_classes=3)
    same = nested_curves(Linear(), 1.0, 1.0 * whole[TRAIN], CODES[TRAIN], 1.0 * whole[TEST], orders, (3,), n_classes=3)
    np.testing.assert_array_equal(found.test_decision, same.test_decision)


@pytest.mark.parametrize("value", [np.nan, 1e200])
def test_kernel_values_that_are_not_finite_are_refused(value):
    spoilt = X[TRAIN].copy()
    spoilt[5, 1] = value
    with pytest.raises(ValueError, match="not finite"), np.errstate(all="ignore"):
        nested_curves(Polynomial(2), 1.0, spoilt, CODES[TRAIN], X[TEST], ORDERS, (13,), n_classes=3)


def test_an_indefinite_kernel_is_certified_as_stationary():
    found = curves(Tanh(0.1, 0.5), sizes=(2, 13), C=1.0)
    assert (np.abs(found.duality_gap) <= 1e-6).all()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"orders": np.arange(13)}, "must be \\(n_orders, 13\\)"),
        ({"orders": np.zeros((1, 13), dtype=int)}, "permutation"),
        ({"sizes": (0,)}, "sizes must lie in"),
        ({"sizes": ()}, "sizes must lie in"),
        ({"sizes": (14,)}, "sizes must lie in"),
        ({"codes": np.zeros_like(CODES)}, "at least two"),
        ({"C": 0.0}, "C must be > 0"),
        ({"tolerance": 0.0}, "tolerance must be > 0"),
        ({"solver": "newton"}, "solver must be one of"),
    ],
)
def test_mistakes_are_named(changes, message):
    with pytest.raises(ValueError, match=message):
        curves(Linear(), **changes)
