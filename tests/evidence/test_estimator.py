"""The Bayesian machine as an estimator: scikit-learn's contract, what it predicts, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from arviz_stats.base import array_stats
from sklearn.model_selection import train_test_split
from sklearn.utils.estimator_checks import parametrize_with_checks

from fsvm_cli.evidence.estimator import BayesianSVM, train_map_machine
from fsvm_cli.evidence.kernels import ArdKernel
from fsvm_cli.evidence.losses import Hinge, SquaredHinge, Trigonometric
from fsvm_cli.evidence.sampled_evidence import Hyperparameters
from tests.evidence.test_losses import every_loss

X = np.random.default_rng(8).standard_normal((80, 3))
Y = np.where(X[:, 0] + 1.5 * X[:, 1] * X[:, 0] > 0.0, 1.0, -1.0)
BOUND = {"approximation": "bound", "rule": "evidence"}


@parametrize_with_checks([BayesianSVM(max_steps=1, n_landmarks=20, n_eigenvectors=4, n_permutations=1)])
def test_it_keeps_scikit_learns_contract(estimator: Any, check: Any) -> None:
    check(estimator)


@every_loss
def test_no_theta_is_more_probable_than_that_of_the_machine(loss: Any) -> None:
    hyperparameters = Hyperparameters(1.5, ArdKernel(1.2, 0.5, (0.9, 1.4, 3.0)))
    machine = train_map_machine(X, Y, loss, hyperparameters, 1e-9)
    gram = hyperparameters.kernel.kernel.gram(X, X)
    # The coefficients of the training samples, in terms of which θ = K a and the exponent is a'Ka/2 + C Σ l(yθ).
    theta = machine.decision_function(X)
    a = np.linalg.lstsq(gram, theta, rcond=None)[0]

    def exponent(a: np.ndarray) -> float:
        return float(0.5 * a @ gram @ a + 1.5 * loss.value(Y * (gram @ a)).sum())

    best, rng = exponent(a), np.random.default_rng(0)
    assert machine.converged
    for scale in (1e-3, 1e-2, 1e-1):
        for _ in range(20):
            assert exponent(a + scale * rng.standard_normal(len(a))) > best - 1e-7


def test_the_gap_of_the_machine_is_that_of_what_it_predicts_where_coefficients_are_tiny() -> None:
    """As late in an ascent, where k0 is 5,000: C times the rounding of θ is more than 1e-6 of the objective.

    The gap is that of the outputs, with the objective from kernel values in extended precision.
    """
    C, kernel = 4.0, ArdKernel(5000.0, 50.0, (0.3, 0.3, 0.3))
    machine = train_map_machine(X, Y, Hinge(), Hyperparameters(C, kernel))
    assert machine.converged
    wide = X.astype(np.longdouble)
    squares = ((wide[:, None] - wide[None]) ** 2).sum(axis=2) / np.longdouble(0.3) ** 2
    gram = np.longdouble(5000.0) * np.exp(-squares / 2) + np.longdouble(50.0)
    chosen = [int(np.flatnonzero((row == X).all(axis=1))[0]) for row in machine.X]
    a = np.zeros(len(X), dtype=np.longdouble)
    a[chosen] = machine.coefficients
    norm, loss = a @ gram @ a, np.maximum(0, 1 - Y * machine.decision_function(X)).sum()
    primal, dual = norm / 2 + C * loss, np.abs(a).sum() - norm / 2
    assert np.abs(a).max() < C / 100
    assert (primal - dual) / max(primal, dual) <= machine.duality_gap <= 1e-6


@pytest.mark.parametrize("loss", ["hinge", "squared-hinge", "trigonometric"])
def test_it_predicts_by_the_sign_of_theta(loss: str) -> None:
    settings = {"rule": "magnitude", "approximation": "mixed", "max_steps": 6, "n_permutations": 0}
    machine = BayesianSVM(loss=loss, random_state=0, **settings).fit(X, Y)
    np.testing.assert_array_equal(machine.predict(X), np.where(machine.decision_function(X) > 0, 1.0, -1.0))
    assert machine.score(X, Y) > 0.85
    assert machine.relevance_.sum() == pytest.approx(1.0)
    assert machine.relevance_[2] < machine.relevance_[:2].min()


def test_one_length_scale_for_all_features_tells_none_apart() -> None:
    machine = BayesianSVM(length_scales="common", n_permutations=0, random_state=0, **BOUND).fit(X, Y)
    np.testing.assert_allclose(machine.relevance_, 1 / 3)
    assert machine.score(X, Y) > 0.85
    apart = BayesianSVM(n_permutations=0, random_state=0, **BOUND).fit(X, Y)
    ends = [each.path_[0].reports[-1].log_evidence for each in (machine, apart)]
    assert ends[0] < ends[1]


def test_a_withheld_part_chooses_the_step_with_the_fewest_errors_on_it() -> None:
    rng = np.random.default_rng(5)
    noisy = np.where(rng.random(len(Y)) < 0.2, -Y, Y)
    settings = {"rule": "magnitude", "approximation": "mixed", "max_steps": 12, "n_permutations": 0, "random_state": 0}
    machine = BayesianSVM(validation_share=0.3, **settings).fit(X, noisy)
    kept, withheld = train_test_split(np.arange(len(Y)), test_size=0.3, stratify=noisy > 0, random_state=0)
    kept, withheld = np.sort(kept), np.sort(withheld)
    (whole,) = BayesianSVM(**settings).fit(X[kept], noisy[kept]).path_
    (path,) = machine.path_
    step = len(path.magnitude) - 1
    np.testing.assert_array_equal(path.logarithms, whole.logarithms[: step + 1])
    n_wrong = []
    for logarithms in whole.logarithms:
        found = Hyperparameters.from_logarithms(logarithms)
        decision = train_map_machine(X[kept], noisy[kept], Hinge(), found).decision_function(X[withheld])
        n_wrong.append(int((np.sign(decision) != noisy[withheld]).sum()))
    assert max(n_wrong) > min(n_wrong)
    assert step == n_wrong.index(min(n_wrong))
    assert machine.hyperparameters_ == (path.end,)
    everything = train_map_machine(X, noisy, Hinge(), path.end)
    np.testing.assert_array_equal(machine.decision_function(X), everything.decision_function(X))


def test_on_some_features_it_keeps_their_hyperparameters() -> None:
    machine = BayesianSVM(max_steps=4, n_permutations=0, random_state=0).fit(X, Y)
    everything = machine.trained_on(X, Y, [0, 1, 2])
    np.testing.assert_allclose(everything.decision_function(X), machine.decision_function(X), rtol=1e-9, atol=1e-12)
    some = machine.trained_on(X, Y, [0, 2])
    (own,), (found,) = machine.hyperparameters_, some.hyperparameters_
    assert (found.C, found.kernel.k0) == (own.C, own.kernel.k0)
    assert found.kernel.length_scales == own.kernel.length_scales[::2]
    assert some.predict(X[:, [0, 2]]).shape == Y.shape


def test_several_classes_have_a_machine_each() -> None:
    three = np.array(["k", "l", "m"])[np.digitize(X[:, 0], [-0.5, 0.5])]
    machine = BayesianSVM(max_steps=3, n_permutations=1, random_state=0).fit(
        pd.DataFrame(X, columns=["a", "b", "c"]), three
    )
    assert len(machine.hyperparameters_) == len(machine.duality_gap_) == 3
    assert machine.score(pd.DataFrame(X, columns=["a", "b", "c"]), three) > 0.85
    assert "length scale of b" in machine.diagnostics_["ascent"]


@pytest.mark.parametrize(
    "samples",
    [
        np.column_stack([X, np.full(80, 3.0)]),
        np.column_stack([X, X[:, 0]]),
        np.column_stack([X, X @ [1.0, 2.0, -1.0]]),
        np.repeat(X[:20], 3, axis=0),
    ],
    ids=["constant feature", "feature twice", "collinear features", "samples three times"],
)
@pytest.mark.parametrize(
    "settings",
    [{"rule": "magnitude", "approximation": "mixed", "max_steps": 5}, BOUND | {"n_eigenvectors": 6, "max_steps": 8}],
    ids=["magnitude", "bound"],
)
def test_data_of_less_rank_than_features_are_no_hindrance(samples: np.ndarray, settings: dict[str, Any]) -> None:
    y = np.repeat(Y[:20], 3) if len(np.unique(samples, axis=0)) == 20 else Y
    machine = BayesianSVM(n_permutations=0, random_state=0, **settings).fit(samples, y)
    assert np.isfinite(machine.path_[0].gradient).all()
    assert machine.score(samples, y) > 0.65


def test_fewer_samples_than_landmarks_and_eigenvectors_will_do() -> None:
    machine = BayesianSVM(max_steps=2, n_permutations=0, random_state=0).fit(X[:8], Y[:8])
    assert machine.path_[0].reports[0].effective_size > 16


def test_a_single_class_is_refused() -> None:
    with pytest.raises(ValueError, match="1 class only"):
        BayesianSVM().fit(X, np.ones(80))


def test_draws_are_of_the_posterior_and_as_arviz_takes_them() -> None:
    machine = BayesianSVM(max_steps=3, n_permutations=0, random_state=0).fit(X, np.where(Y > 0, "yes", "no"))
    (draws,) = machine.posterior_draws(X, np.where(Y > 0, "yes", "no"), n_draws=250, n_warm_up=50, random_state=0)
    theta = draws["posterior"]["theta"]
    assert theta.shape == (4, 250, 80)
    assert draws["posterior"]["b"].shape == (4, 250, 40)
    assert (array_stats.bfmi(draws["sample_stats"]["energy"]) > 0.3).all()
    # Of a log-concave density the mean is within a standard deviation of the mode, which the machine is nearly.
    mode = machine.decision_function(X)
    assert np.corrcoef(theta.mean(axis=(0, 1)), mode)[0, 1] > 0.98
    assert array_stats.rhat(theta[:, :, 0]) < 1.05
    again = machine.posterior_draws(X, np.where(Y > 0, "yes", "no"), n_draws=250, n_warm_up=50, random_state=0)
    np.testing.assert_array_equal(again[0]["posterior"]["theta"], theta)


def test_draws_for_strange_labels_and_of_too_few_are_refused() -> None:
    machine = BayesianSVM(max_steps=0, n_permutations=0, random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match=r"y holds 3\.0, which is no class"):
        machine.posterior_draws(X, np.where(Y > 0, Y, 3.0))
    with pytest.raises(ValueError, match="n_draws is 3; it has to be at least 4"):
        machine.posterior_draws(X, Y, n_draws=3)


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge(), Trigonometric()], ids=lambda loss: loss.name)
def test_samples_at_the_corner_of_the_loss_are_trained_on(loss: Any) -> None:
    """Two samples whose margins are 1 exactly: the hinge's kink."""
    machine = train_map_machine(
        np.array([[0.0], [9.0]]), np.array([1.0, -1.0]), loss, Hyperparameters(1.0, ArdKernel(1.0, 0.0, (0.1,)))
    )
    theta = machine.decision_function(np.array([[0.0], [9.0]]))
    assert theta[0] == pytest.approx(-theta[1])
    assert 0 < theta[0] <= 1.0
