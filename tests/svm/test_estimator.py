"""The estimator: scikit-learn's contract, and what it says beyond that."""

from __future__ import annotations

import subprocess
import sys
from types import ModuleType

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import fsvm_cli.svm as svm
from fsvm_cli.svm import KERNELS, SVM, Anova, ConvergenceError, Gaussian, Linear, Polynomial, Tanh

X, Y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[Y]


@parametrize_with_checks([SVM(), SVM(Gaussian(2.0)), SVM("polynomial", C=0.1)])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_attributes_describe_the_machines():
    machine = SVM(Gaussian(4.0), C=2.0).fit(X, NAMES)
    assert list(machine.classes_) == ["setosa", "versicolor", "virginica"]
    assert machine.score(X, NAMES) > 0.95
    assert machine.converged_.all()
    assert (machine.duality_gap_ <= 1e-6).all()
    values = machine.dual_coef_ @ Gaussian(4.0).gram(X[machine.support_], X) + machine.intercept_[:, None]
    np.testing.assert_allclose(machine.decision_function(X), values.T, atol=1e-12)
    for m, rows in enumerate(machine.margin_vectors_):
        assert len(rows) > 0
        margins = np.where(m == Y[rows], 1.0, -1.0) * values[m, rows]
        np.testing.assert_allclose(margins, 1.0, atol=1e-6)


@pytest.mark.parametrize("kernel", ["linear", Polynomial(3), Gaussian(3.0), Anova(2.0, 2)], ids=str)
@pytest.mark.parametrize("samples", [X, sparse.csr_array(X)], ids=["dense", "sparse"])
def test_samples_are_decided_block_by_block(kernel, samples, monkeypatch):
    if sparse.issparse(samples) and isinstance(kernel, Gaussian | Anova):
        samples = X
    machine = SVM(kernel).fit(samples, NAMES)
    whole = machine.decision_function(samples)
    monkeypatch.setattr("fsvm_cli.svm.kernels.base.MAX_PAIRS_IN_MEMORY", 7 * machine.dual_coef_.shape[1])
    terms = np.abs(machine.dual_coef_).sum(axis=1).max() * np.abs(machine.machine_kernels_[0].gram(X, X)).max()
    np.testing.assert_allclose(machine.decision_function(samples), whole, rtol=0, atol=1e-15 * X.size * terms)


@pytest.mark.parametrize("kernel", ["linear", Polynomial(3), Gaussian(3.0)], ids=str)
def test_input_gradient_is_that_of_the_decision_function(kernel):
    machine = SVM(kernel).fit(X, NAMES)
    gradient = machine.input_gradient(X[::30])
    assert gradient.shape == (3, 5, 4)
    for j in range(4):
        step = 1e-5 * np.eye(4)[j]
        difference = machine.decision_function(X[::30] + step) - machine.decision_function(X[::30] - step)
        np.testing.assert_allclose(gradient[:, :, j], difference.T / 2e-5, rtol=1e-5, atol=1e-4)


def test_tanh_agrees_with_another_solver_where_its_gram_matrix_is_positive_definite(rng):
    samples, kernel = rng.normal(size=(40, 400)), Tanh(scale=0.002, offset=-0.1)
    labels = np.where(samples[:, 0] + 0.5 * rng.normal(size=40) > 0, 1, -1)
    assert np.linalg.eigvalsh(kernel.gram(samples, samples)).min() > 0.1
    new = rng.normal(size=(20, 400))
    peer = SVC(kernel="sigmoid", gamma=0.002, coef0=0.1, C=2.0, tol=1e-9).fit(samples, labels)
    found = SVM(kernel, C=2.0, tolerance=1e-10).fit(samples, labels)
    np.testing.assert_allclose(found.decision_function(new), peer.decision_function(new), atol=1e-6)


def test_two_classes_have_one_machine():
    machine = SVM().fit(X[Y > 0], NAMES[Y > 0])
    assert machine.decision_function(X).shape == (150,)
    assert machine.dual_coef_.shape[0] == 1
    positive = machine.decision_function(X) > 1e-5
    assert (machine.predict(X)[positive] == "virginica").all()


def test_sparse_samples_give_what_dense_ones_give():
    dense, thin = SVM().fit(X, Y), SVM().fit(sparse.csr_matrix(X), Y)
    np.testing.assert_allclose(dense.decision_function(X), thin.decision_function(sparse.csr_matrix(X)), atol=1e-6)
    np.testing.assert_allclose(dense.input_gradient(X), thin.input_gradient(sparse.csr_matrix(X)), atol=1e-6)


def test_failure_is_warned_of_raised_or_flagged():
    options = {"solver": "libsvm", "tolerance": 1e-13}
    with pytest.warns(ConvergenceWarning, match="3 of 3 machines missed the duality gap of 1e-13"):
        assert not SVM(**options).fit(X, Y).converged_.all()
    with pytest.raises(ConvergenceError):
        SVM(**options, on_failure="raise").fit(X, Y)
    assert not SVM(**options, on_failure="flag").fit(X, Y).converged_.all()


def test_mistakes_are_named():
    with pytest.raises(ValueError, match="no kernel is called 'rbff'"):
        SVM("rbff").fit(X, Y)
    with pytest.raises(ValueError, match="at least two classes"):
        SVM(Linear()).fit(X[:10], Y[:10])
    with pytest.raises(ValueError, match="C must be > 0"):
        SVM(C=-1.0).fit(X, Y)


def test_importing_the_package_loads_neither_numba_nor_scikit_learn():
    code = "import sys, fsvm_cli.svm; sys.exit(bool({'numba', 'sklearn', 'scipy'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_public_names_are_all_there():
    homes = {home.removeprefix("fsvm_cli.svm.") for home in sys.modules if home.startswith("fsvm_cli.svm.")}
    assert not homes & set(svm.__all__)  # a module would hide the function of its name once it is imported
    for name in svm.__all__:
        assert not isinstance(getattr(svm, name), ModuleType)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        svm.nothing  # noqa: B018


@pytest.mark.parametrize("names", [np.array([0, 1, 2]), np.array(["a", "b", "c"])], ids=["codes", "names"])
def test_machines_of_single_classes_may_have_kernels_of_their_own(names):
    own = Anova(gamma=0.5, degree=1)
    mixed = SVM(Polynomial(degree=2), class_kernels={names[2].item(): own}).fit(X, names[Y])
    all_polynomial, all_anova = SVM(Polynomial(degree=2)).fit(X, Y), SVM(own).fit(X, Y)
    found = mixed.decision_function(X)
    np.testing.assert_allclose(found[:, :2], all_polynomial.decision_function(X)[:, :2], atol=1e-9)
    np.testing.assert_allclose(found[:, 2], all_anova.decision_function(X)[:, 2], atol=1e-9)
    np.testing.assert_allclose(mixed.input_gradient(X)[2], all_anova.input_gradient(X)[2], atol=1e-9)
    np.testing.assert_allclose(mixed.input_gradient(X)[0], all_polynomial.input_gradient(X)[0], atol=1e-9)


def test_outputs_times_the_margin_are_distances():
    plain = SVM().fit(X, Y)
    distances = plain.decision_function(X) / np.linalg.norm(plain.dual_coef_ @ plain.support_vectors_, axis=1)
    machine = SVM(output_scaling="times-margin").fit(X, Y)
    np.testing.assert_allclose(machine.decision_function(X), distances, rtol=1e-9)
    np.testing.assert_array_equal(machine.predict(X), distances.argmax(axis=1))


def test_a_constant_machine_has_no_margin_to_divide_by():
    machine = SVM(output_scaling="divided-by-margin").fit(np.zeros((9, 2)), np.arange(9) % 3)
    np.testing.assert_array_equal(machine.output_factors_, 1.0)


@pytest.mark.parametrize("scaling", ["times-margin", "divided-by-margin"])
@pytest.mark.parametrize("seed", range(6))
def test_a_machine_that_is_constant_but_for_rounding_has_no_margin_either(scaling, seed):
    rng = np.random.default_rng(seed)
    places = rng.normal(size=(12, 3))
    # Of four samples at each place one is of class 0, whose machine says -1 everywhere.
    samples = np.vstack([places] * 4 + [places[:6] + 3])
    codes = np.concatenate([np.zeros(12), rng.integers(1, 3, 36), np.full(6, 2)]).astype(int)
    machine = SVM("polynomial", C=0.7, output_scaling=scaling).fit(samples, codes)
    assert machine.output_factors_[0] == 1.0
    assert ((machine.output_factors_ > 0.01) & (machine.output_factors_ < 100)).all()


@pytest.mark.parametrize(
    ("options", "classes", "message"),
    [
        ({"class_kernels": {3: "linear"}}, 3, "class_kernels names 3, which is no class of y"),
        ({"class_kernels": {1: "linear"}}, 2, "two classes share one machine"),
        ({"output_scaling": "margin"}, 3, "output_scaling must be one of none, times-margin, divided-by-margin"),
    ],
)
def test_what_machines_cannot_be_asked(options, classes, message):
    with pytest.raises(ValueError, match=message):
        SVM(**options).fit(np.eye(9), np.arange(9) % classes)


@pytest.mark.parametrize(("name", "spread"), [("gaussian", np.var), ("laplace", np.std)])
def test_a_kernel_by_its_name_is_scaled_to_the_samples(name, spread):
    machine = SVM(name).fit(X, NAMES)
    theta = machine.machine_kernels_[0].theta
    assert theta == pytest.approx(spread(X, axis=0).sum())
    moved = np.hstack([X + np.array([0, 1e3, 0, -50]), np.full((len(X), 1), 0.1)])
    assert SVM(name).fit(moved, NAMES).machine_kernels_[0].theta == pytest.approx(theta)
    assert SVM(name, theta=3.0).fit(X, NAMES).machine_kernels_[0] == KERNELS[name](theta=3.0)
    scaled = SVM(KERNELS[name](theta=9**2 * theta)).fit(9 * X, NAMES) if name == "gaussian" else None
    if scaled is not None:
        np.testing.assert_array_equal(SVM(name).fit(9 * X, NAMES).predict(9 * X), scaled.predict(9 * X))


def test_constant_samples_leave_a_kernel_by_its_name_as_it_is():
    assert SVM("gaussian").fit(np.ones((4, 2)), [0, 1, 0, 1]).machine_kernels_[0] == Gaussian(theta=1.0)


def test_rbf_is_understood_with_a_word():
    with pytest.warns(UserWarning, match="'rbf' is called 'gaussian' here, and its gamma is 1 / theta"):
        machine = SVM("rbf").fit(X, NAMES)
    np.testing.assert_array_equal(machine.predict(X), SVM("gaussian").fit(X, NAMES).predict(X))


def test_parameters_of_kernels_can_be_searched():
    search = GridSearchCV(SVM("gaussian"), {"theta": [1e-4, 4.0]}, cv=3).fit(X[Y < 2], NAMES[Y < 2])
    assert search.best_params_ == {"theta": 4.0}
    assert SVM("polynomial", degree=3).fit(X, NAMES).machine_kernels_[0] == Polynomial(degree=3)
    with pytest.raises(ValueError, match="gaussian kernel has no parameter 'degree'"):
        SVM("gaussian", degree=3).fit(X, NAMES)
    with pytest.raises(ValueError, match="has parameters of its own; leave theta out"):
        SVM(Gaussian(1.0), theta=3.0).fit(X, NAMES)


@pytest.mark.parametrize("samples", [X, sparse.csr_array(X)], ids=["dense", "sparse"])
def test_normal_vectors_of_linear_machines_make_the_decision(samples):
    machine = SVM(Linear(weights=(1.0, 2.0, 0.5, 1.0))).fit(samples, NAMES)
    assert machine.coef_.shape == (3, 4)
    np.testing.assert_allclose(X @ machine.coef_.T + machine.intercept_, machine.decision_function(samples), atol=1e-9)
    assert not hasattr(SVM("gaussian").fit(X, NAMES), "coef_")
