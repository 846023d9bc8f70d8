"""Tuning against scikit-learn's grid search and against fold-by-fold fits."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import GridSearchCV, KFold, LeaveOneOut, StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from fsvm_cli.svm import Anova, Gaussian, Laplace, Linear, Polynomial, Tanh, fit_one_vs_rest, predict_codes
from fsvm_cli.svm.paths.folds import restore_balance
from fsvm_cli.svm.solvers.solve import solve
from fsvm_cli.svm.tuning import _accuracy_beside, best_candidate, grid_search

X, Y = load_breast_cancer(return_X_y=True)
ROWS = np.random.default_rng(0).permutation(len(Y))[:150]
X, Y = StandardScaler().fit_transform(X[ROWS]), Y[ROWS]
CS = [0.01, 0.1, 1.0, 10.0, 100.0]


@pytest.mark.parametrize("seed", [0, 1])
def test_the_choice_is_that_of_grid_search_cv(seed):
    folds = list(StratifiedKFold(5, shuffle=True, random_state=seed).split(X, Y))
    gammas = [1e-4, 1e-3, 1e-2, 1e-1, 1.0]
    theirs = GridSearchCV(SVC(tol=1e-6), {"C": CS, "gamma": gammas}, cv=folds).fit(X, Y)
    ours = grid_search([Gaussian(1 / g) for g in gammas], CS, X, Y, folds, n_classes=2, jobs=2)
    scores = theirs.cv_results_["mean_test_score"].reshape(len(CS), len(gammas)).T
    np.testing.assert_allclose(ours.accuracy, scores, atol=1e-12)
    assert (ours.C, ours.kernel) == (theirs.best_params_["C"], Gaussian(1 / theirs.best_params_["gamma"]))
    assert ours.certified.all()


def test_leaving_one_out_is_that_of_scikit_learn():
    folds = list(LeaveOneOut().split(X[:60]))
    theirs = GridSearchCV(SVC(kernel="linear", tol=1e-6), {"C": CS}, cv=folds).fit(X[:60], Y[:60])
    ours = grid_search([Linear()], CS, X[:60], Y[:60], folds, n_classes=2)
    np.testing.assert_allclose(ours.accuracy[0], theirs.cv_results_["mean_test_score"], atol=1e-12)
    assert theirs.best_params_["C"] == ours.C


@pytest.mark.parametrize("kernel", [Linear(), Laplace(5.0), Anova(0.1, 1)], ids=lambda kernel: kernel.name)
def test_three_classes_are_fold_by_fold_machines(kernel):
    A, b = load_iris(return_X_y=True)
    folds = list(KFold(5, shuffle=True, random_state=1).split(A))
    found = grid_search([kernel], [5.0, 0.05], A, b, folds, n_classes=3)
    for c, C in enumerate([5.0, 0.05]):
        accuracy = []
        for train, test in folds:
            machines = fit_one_vs_rest(kernel.gram(A[train], A[train]), b[train], C, 3)
            values = machines.decision_values(kernel.gram(A[train], A[test]))
            accuracy.append(np.mean(predict_codes(values, machines.class_counts, 1e-5) == b[test]))
        assert found.accuracy[0, c] == pytest.approx(np.mean(accuracy), abs=1e-12)


def test_ties_go_to_the_smoothest_where_asked_for():
    far = np.vstack([X[:20] * 0.01 + 5.0, X[:20] * 0.01 - 5.0])
    codes = np.repeat([0, 1], 20)
    folds = list(KFold(4, shuffle=True, random_state=0).split(far))
    kernels = [Gaussian(10.0), Gaussian(1000.0), Gaussian(100.0)]
    found = grid_search(kernels, [10.0, 1.0], far, codes, folds, n_classes=2, ties="smoothest")
    assert (found.accuracy == 1.0).all()
    assert (found.kernel, found.C) == (Gaussian(1000.0), 1.0)
    rough_first = [Polynomial(3), Polynomial(2), Tanh(0.2), Tanh(0.1), Anova(1.0, 2), Anova(0.1, 2)]
    rough_first += [Polynomial(2, scale=0.2), Polynomial(2, scale=0.1), Polynomial(2, 0.5), Polynomial(2, 1.0)]
    for pair in np.reshape(rough_first, (-1, 2)).tolist():
        found = grid_search(pair, [1.0], far, codes, folds, n_classes=2, ties="smoothest")
        assert found.accuracy[0] == found.accuracy[1]
        assert found.kernel == pair[1]


def candidate(kernels, accuracy, narrowness=None, n_tested=100):
    narrowness = np.ones_like(accuracy) if narrowness is None else np.array(narrowness)
    return best_candidate(kernels, accuracy, narrowness, n_tested, "margin")


def test_a_tie_goes_to_the_inside_of_a_plateau():
    kernels = [Gaussian(1.0), Gaussian(100.0), Gaussian(10.0)]
    # The first column is the cliff of too small a C; all machines with a theta of 10 are equally accurate.
    accuracy = np.array([[0.5, 0.7, 0.97], [0.5, 0.95, 0.95], [0.98, 0.98, 0.98]])
    assert candidate(kernels, accuracy, [[9, 9, 9], [9, 9, 9], [1, 2, 3]]) == (2, 2)
    # Within one standard error, which is larger for fewer samples, the margin decides.
    accuracy[:2, 1] = 0.94
    assert candidate(kernels, accuracy, [[9, 9, 9], [9, 9, 9], [1, 2, 3]]) == (2, 1)
    assert candidate(kernels, accuracy, [[9, 9, 9], [9, 9, 9], [1, 2, 3]], n_tested=10_000) == (2, 2)


def test_neighbours_differ_in_one_parameter():
    kernels = [Polynomial(degree, offset) for degree in (2, 3, 5) for offset in (0.0, 1.0)] + [Linear()]
    accuracy = np.array([[0.9], [0.8], [0.9], [0.9], [0.1], [0.9], [0.9]])
    # Of degree 3: beside offset 0 are .9, .1 and the other offset's .9, beside offset 1 are .8, .9 and .9.
    found = {k: _accuracy_beside(kernels, accuracy, k, 0) for k in range(7)}
    assert found == pytest.approx({0: 0.85, 1: 0.9, 2: 1.9 / 3, 3: 2.6 / 3, 4: 0.9, 5: 0.5, 6: 0.9})


def test_a_tie_is_broken_by_the_margin_of_the_machines_on_all_samples():
    far = np.vstack([X[:20] + 3.0, X[:20] - 3.0])
    codes = np.repeat([0, 1], 20)
    folds = list(KFold(4, shuffle=True, random_state=0).split(far))
    kernels = [Gaussian(50.0), Gaussian(1000.0), Gaussian(100.0)]
    found = grid_search(kernels, [1.0, 10.0], far, codes, folds, n_classes=2)
    assert (found.accuracy == 1.0).all()
    margins = {}
    for kernel in kernels:
        gram = kernel.gram(far, far)
        for C in (1.0, 10.0):
            machine = SVC(kernel="precomputed", C=C, tol=1e-8).fit(gram, codes)
            c = np.zeros(40)
            c[machine.support_] = machine.dual_coef_[0]
            margins[kernel, C] = 1 / (c @ gram @ c) / (np.trace(gram) / 40 - gram.mean())
    assert margins[found.kernel, found.C] >= 0.998 * max(margins.values())
    assert max(margins.values()) > 1.02 * min(margins.values())


def test_a_class_that_a_fold_lacks_is_not_predicted_there():
    A, b = load_iris(return_X_y=True)
    folds = [(np.arange(100), np.arange(100, 150)), (np.arange(0, 150, 2), np.arange(1, 150, 2))]
    found = grid_search([Linear()], [1.0], A, b, folds, n_classes=3)
    assert found.accuracy[0, 0] == pytest.approx(0.5 * np.mean(alone(A, b, folds[1])), abs=1e-12)


def test_folds_may_repeat_rows():
    rng = np.random.default_rng(0)
    drawn = [rng.choice(len(Y), 100) for _ in range(3)]
    folds = [(rows, np.setdiff1d(np.arange(len(Y)), rows)) for rows in drawn]
    theirs = GridSearchCV(SVC(gamma=1 / 30, tol=1e-6), {"C": CS}, cv=folds).fit(X, Y)
    ours = grid_search([Gaussian(30.0)], CS, X, Y, folds, n_classes=2)
    np.testing.assert_allclose(ours.accuracy[0], theirs.cv_results_["mean_test_score"], atol=1e-12)
    assert ours.certified.all()


def test_rows_that_a_fold_neither_trains_on_nor_tests_are_left_out():
    whole = SVC(gamma=1 / 30).fit(X, Y)
    easy = np.setdiff1d(np.arange(len(Y)), whole.support_)
    few = np.array([np.flatnonzero(Y == 0)[0], np.flatnonzero(Y == 1)[0]])
    fold = (few, np.setdiff1d(easy, few))
    expected = np.mean(SVC(gamma=1 / 30, tol=1e-6).fit(X[few], Y[few]).predict(X[fold[1]]) == Y[fold[1]])
    assert expected < np.mean(whole.predict(X[fold[1]]) == Y[fold[1]])
    assert grid_search([Gaussian(30.0)], [1.0], X, Y, [fold], n_classes=2).accuracy[0, 0] == pytest.approx(expected)


def alone(A, b, fold):
    train, test = fold
    machines = fit_one_vs_rest(Linear().gram(A[train], A[train]), b[train], 1.0, 3)
    return (
        predict_codes(machines.decision_values(Linear().gram(A[train], A[test])), machines.class_counts, 1e-5)
        == (b[test])
    )


def test_what_the_fast_solver_leaves_goes_to_the_interior_point(monkeypatch):
    folds, kernels, Cs = list(KFold(3).split(X)), [Gaussian(30.0), Gaussian(1.0)], [0.3, 1.0, 3.0, 10.0, 100.0]
    expected = grid_search(kernels, Cs, X, Y, folds, n_classes=2)
    none, solved = np.zeros(len(Cs), dtype=bool), []
    missed = lambda machines, fold: (np.zeros((len(Cs), len(fold[1]))), none.copy(), none.copy())  # noqa: E731

    def counted(problem, **settings):
        solved.append(problem)
        return solve(problem, **settings)

    monkeypatch.setattr("fsvm_cli.svm.tuning.FoldMachines.score", missed)
    monkeypatch.setattr("fsvm_cli.svm.tuning.solve", counted)
    found = grid_search(kernels, Cs, X, Y, folds, n_classes=2)
    np.testing.assert_array_equal(found.accuracy, expected.accuracy)
    assert found.certified.all()
    # Where no coefficient is at its bound the machine stays the same with a larger C.
    bound_reached = [
        np.abs(SVC(C=C, gamma=1.0 / kernel.theta, tol=1e-6).fit(X[train], Y[train]).dual_coef_).max() >= C
        for train, _ in folds
        for kernel in kernels
        for C in Cs[:-1]
    ]
    assert 0 < sum(bound_reached) < len(bound_reached)
    assert len(solved) == len(folds) * len(kernels) + sum(bound_reached)


def test_balance_is_restored_with_free_samples_first():
    lower, upper = np.array([0.0, 0.0, -1.0, -1.0]), np.array([1.0, 1.0, 0.0, 0.0])
    np.testing.assert_array_equal(restore_balance(np.array([1.0, 0.5, -1.0, 0.0]), lower, upper), [1, 0, -1, 0])
    np.testing.assert_array_equal(restore_balance(np.array([1.0, 1.0, -0.5, 0.0]), lower, upper), [0, 1, -1, 0])
    np.testing.assert_array_equal(restore_balance(np.array([0.0, 0.0, -1.0, -0.5]), lower, upper), [1, 0, -1, 0])
    balanced = np.array([0.25, 0.5, -0.75, 0.0])
    np.testing.assert_array_equal(restore_balance(balanced, lower, upper), balanced)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kernels": []}, "at least one kernel"),
        ({"Cs": []}, "at least one kernel"),
        ({"folds": []}, "at least one kernel"),
        ({"Cs": [1.0, np.inf]}, "finite and > 0"),
        ({"Cs": [0.0]}, "finite and > 0"),
        ({"folds": [(np.flatnonzero(Y == 1), np.flatnonzero(Y == 0))]}, "at least two"),
    ],
)
def test_mistakes_are_named(changes, message):
    arguments = {"kernels": [Linear()], "Cs": [1.0], "folds": [(np.arange(5, 60), np.arange(5))], **changes}
    with pytest.raises(ValueError, match=message):
        grid_search(arguments["kernels"], arguments["Cs"], X, Y, arguments["folds"], n_classes=2)
