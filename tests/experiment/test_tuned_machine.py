"""The machine that chooses C on all features, has a width in proportion to the data, and votes by pairs."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from fsvm_cli.learners.base import NestedSubsets
from fsvm_cli.learners.tuned_machine import TunedMachine

CS = (0.01, 1.0, 100.0)


def made(n_classes: int, rng: np.random.Generator, n_per_class: int = 30) -> tuple[np.ndarray, np.ndarray]:
    """Draw classes whose means lie on a line, so that those between are not cut off by a plane."""
    y = np.repeat(np.arange(n_classes), n_per_class)
    X = rng.standard_normal((len(y), 4))
    X[:, 0] += 2.5 * y
    return X, y


@pytest.mark.parametrize("kernel", ["linear", "gaussian"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_machines_are_those_of_libsvm(kernel: str, n_classes: int, rng: np.random.Generator) -> None:
    X, y = made(n_classes, rng)
    order = rng.permutation(4)
    machine = TunedMachine(kernel, CS, 5, "one-vs-one", None, 7).tuned_on(X, y, None)  # type: ignore[arg-type]
    assert machine.chosen == {"C": machine.C}
    assert machine.C in CS
    curves = machine.curves(NestedSubsets(X, y, X + 0.1, [order], (1, 3, 4), n_classes))
    for place, size in enumerate((1, 3, 4)):
        kept = order[:size]
        peer = SVC(C=machine.C, kernel={"gaussian": "rbf"}.get(kernel, kernel), gamma="scale", tol=1e-8)
        expected = peer.fit(X[:, kept], y).predict(X[:, kept] + 0.1)
        assert (curves.test_predicted[0, place] == expected).mean() >= 0.98  # ties of votes are broken otherwise
        estimator = machine.estimator().fit(X[:, sorted(kept)], y)
        np.testing.assert_array_equal(estimator.predict(X[:, sorted(kept)] + 0.1), curves.test_predicted[0, place])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_chosen_c_is_as_accurate_as_any_by_another_count(n_classes: int, rng: np.random.Generator) -> None:
    X, y = made(n_classes, rng)
    machine = TunedMachine("linear", CS, 5, "one-vs-one", None, 7).tuned_on(X, y, None)
    folds = [*StratifiedKFold(5, shuffle=True, random_state=7).split(X, y)]
    right = {
        C: sum((SVC(C=C, kernel="linear").fit(X[a], y[a]).predict(X[b]) == y[b]).sum() for a, b in folds) for C in CS
    }
    assert right[machine.C] >= max(right.values()) - 1  # of libsvm's tolerance


def test_pairs_tell_the_classes_between_others() -> None:
    X, y = made(6, np.random.default_rng(0))
    right = {}
    for multiclass in ("one-vs-one", "one-vs-rest"):
        machine = TunedMachine("linear", CS, 5, multiclass, None, 7).tuned_on(X, y, None)  # type: ignore[arg-type]
        curves = machine.curves(NestedSubsets(X, y, X, [np.arange(4)], (4,), 6))
        right[multiclass] = (curves.test_predicted[0, 0] == y).mean()
    assert right["one-vs-one"] > right["one-vs-rest"] + 0.2


def test_few_rows_of_a_class_make_fewer_folds_or_none(rng: np.random.Generator) -> None:
    X, y = made(2, rng)
    few = np.concatenate([np.arange(30), [30, 31]])
    assert TunedMachine("linear", CS, 5, "one-vs-rest", "balanced", 7).tuned_on(X[few], y[few], None).chosen
    alone = TunedMachine("linear", CS, 5, "one-vs-rest", None, 7).tuned_on(X[:31], y[:31], None)
    assert alone.C == 1.0
    assert not alone.chosen
    one_group = TunedMachine("linear", CS, 5, "one-vs-rest", None, 7).tuned_on(X, y, y)
    assert not one_group.chosen
