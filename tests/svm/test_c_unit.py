"""C in units of one over the mean of K(x, x): against scikit-learn's machines, by hand, and under other scales."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import SVC

from fsvm_cli.ranking.gradient_angle import GradientAngle
from fsvm_cli.ranking.infoprop import Infoprop
from fsvm_cli.svm import SVM, Anova, Gaussian, Linear, Polynomial, Tanh, WeightedSum
from fsvm_cli.svm.costs import unit_of_c
from fsvm_cli.svm.tuning import grid_search

CODES = np.arange(60) % 3
X = np.random.default_rng(2).normal(size=(60, 4)) + 2.0 * np.eye(3, 4)[CODES]
Y = np.array(["first", "second", "third"])[CODES]
MEAN = "mean-diagonal"


def test_by_hand() -> None:
    samples = np.array([[1.0, 1.0], [0.0, 2.0], [3.0, 0.0]])
    assert unit_of_c(MEAN, Linear(), samples) == pytest.approx(3 / (2 + 4 + 9))
    assert unit_of_c(MEAN, Polynomial(2, offset=1.0), sp.csr_matrix(samples)) == pytest.approx(3 / (9 + 25 + 100))
    assert unit_of_c(MEAN, Anova(0.7, degree=2), samples) == pytest.approx(1 / 4)
    assert unit_of_c("none", Linear(), samples) == 1.0


@pytest.mark.parametrize("solver", ["auto", "decomposition", "feature-space"])
def test_each_machine_is_that_of_scikit_learn_with_the_c_of_its_rows_and_kernel(solver: str) -> None:
    own = {} if solver == "feature-space" else {"third": Gaussian(4.0)}
    machine = SVM(C=2.0, tolerance=1e-9, solver=solver, class_kernels=own, C_unit=MEAN).fit(X, Y)
    linear = 2.0 / np.mean([x @ x for x in X])
    expected = [linear, linear, 2.0 if own else linear]
    np.testing.assert_allclose(machine.machine_C_, expected, rtol=1e-12)
    scores = machine.decision_function(X)
    for m, (name, C) in enumerate(zip(["first", "second", "third"], expected, strict=True)):
        theirs = SVC(C=C, kernel="rbf" if name in own else "linear", gamma=1 / 4, tol=1e-9).fit(X, name == Y)
        np.testing.assert_allclose(scores[:, m], theirs.decision_function(X), atol=5e-5)
        free = np.abs(machine.dual_coef_[m, np.searchsorted(machine.support_, machine.margin_vectors_[m])])
        assert ((free > 0) & (free < C)).all()


def test_the_machine_of_a_pair_knows_the_rows_of_the_pair_alone() -> None:
    found = SVM(Polynomial(2), C=0.5, decision_function_shape="ovo", C_unit=MEAN).fit(X, Y).machine_C_
    squares = (1.0 + np.einsum("ij,ij->i", X, X)) ** 2
    means = [squares[np.isin(CODES, pair)].mean() for pair in ((0, 1), (0, 2), (1, 2))]
    np.testing.assert_allclose(found, 0.5 / np.array(means), rtol=1e-12)


def test_weights_multiply_and_samples_of_weight_0_do_not_count() -> None:
    weights = np.where(np.arange(60) % 5, 1.0, 0.0)
    kept = weights > 0
    unit = 1.0 / np.mean([x @ x for x in X[kept]])
    options = {"tolerance": 1e-9, "class_weight": {"first": 3.0}}
    ours = SVM(C=1.0, C_unit=MEAN, **options).fit(X, Y, sample_weight=weights)
    plain = SVM(C=unit, **options).fit(X[kept], Y[kept])
    np.testing.assert_allclose(ours.decision_function(X), plain.decision_function(X), atol=1e-6)


def test_of_a_kernel_with_a_diagonal_of_ones_it_is_plain_c() -> None:
    plain, ours = (SVM(Gaussian(4.0), C=3.0, C_unit=unit).fit(X, Y) for unit in ("none", MEAN))
    np.testing.assert_array_equal(ours.dual_coef_, plain.dual_coef_)
    np.testing.assert_array_equal(ours.intercept_, plain.intercept_)


@given(st.floats(-12.0, 12.0), st.sampled_from([Linear(), Polynomial(2), Anova(0.3, 1)]), st.floats(0.1, 10.0))
@settings(max_examples=15, deadline=None, derandomize=True)
def test_the_scale_of_the_kernel_does_not_matter(magnitude: float, kernel, C: float) -> None:
    scaled = WeightedSum((kernel,), (10.0**magnitude,))
    scores = [SVM(each, C=C, tolerance=1e-9, C_unit=MEAN).fit(X, Y).decision_function(X) for each in (kernel, scaled)]
    np.testing.assert_allclose(scores[1], scores[0], atol=1e-6)


@pytest.mark.parametrize(
    "ranker", [GradientAngle(), Infoprop(random_state=0), Infoprop(credit_on="cross-validation", random_state=0)]
)
def test_rankings_do_not_depend_on_the_scale_of_the_features(ranker) -> None:
    ranker.set_params(C=0.5, C_unit=MEAN, tolerance=1e-9)
    scores = [ranker.fit(scale * X, Y).scores_ for scale in (1.0, 1e4)]
    np.testing.assert_allclose(scores[1], scores[0], atol=1e-5)
    plain = ranker.set_params(C_unit="none").fit(1e4 * X, Y).scores_
    assert np.abs(plain - scores[0]).max() > 1e-3


def test_a_search_finds_the_same_at_every_scale() -> None:
    rows = np.arange(60)
    folds = [(rows[rows % 4 != fold], rows[rows % 4 == fold]) for fold in range(4)]
    Cs = [0.01, 0.1, 1.0, 10.0]
    found = [
        grid_search([Linear(), Polynomial(2, offset=0.0)], Cs, scale * X, CODES, folds, n_classes=3, C_unit=MEAN)
        for scale in (1.0, 1000.0)
    ]
    np.testing.assert_array_equal(found[1].accuracy, found[0].accuracy)
    assert (found[1].C, found[1].kernel) == (found[0].C, found[0].kernel)
    unit = unit_of_c(MEAN, Linear(), X)
    plain = grid_search([Linear()], [C * unit for C in Cs], X, CODES, folds, n_classes=3)
    np.testing.assert_array_equal(plain.accuracy, found[0].accuracy[:1])


def test_where_all_kernel_values_are_0_there_is_a_machine_all_the_same() -> None:
    machine = SVM(C_unit=MEAN).fit(np.zeros((9, 2)), np.arange(9) % 3)
    assert machine.machine_C_.tolist() == [1.0, 1.0, 1.0]
    assert machine.converged_.all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"C_unit": "diagonal"}, "C_unit must be one of none, mean-diagonal, not 'diagonal'"),
        ({"kernel": Tanh(1.0, offset=1e6), "C_unit": MEAN}, r"the mean of K\(x, x\) .* is -1 with the tanh kernel"),
        ({"kernel": WeightedSum((Linear(),), (1e-308,)), "C_unit": MEAN}, "is no unit of C; scale the features"),
    ],
)
def test_mistakes_are_named(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SVM(**options).fit(X, Y)
