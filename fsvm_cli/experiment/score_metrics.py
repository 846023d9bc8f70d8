"""Figures of merit of scores, added to the outcomes of a trial: each classifier is trained once more for its scores.

Trials whose config asks for none of them do without, and their keys know nothing of this.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from fsvm_cli.evaluation.folds import stratified_folds
from fsvm_cli.evaluation.metrics import AUC, LOG_LOSS
from fsvm_cli.evaluation.roc import variance_of_area, with_ties
from fsvm_cli.evaluation.score_metrics import log_losses, score_metric
from fsvm_cli.experiment.outcome import Outcome
from fsvm_cli.experiment.trial import failing
from fsvm_cli.learners.base import EstimatorLearner, fit_arguments
from fsvm_cli.svm.multiclass import TIE_TOLERANCES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from fsvm_cli.evaluation.splits import Parts
    from fsvm_cli.experiment.trial import DrawnTrial
    from fsvm_cli.learners.base import Learner
    from fsvm_cli.store.store import Entry

CALIBRATION_FOLDS = 5
SPREADS = {LOG_LOSS: "standard deviation of the test log-loss", AUC: "spread of the test auc"}
"""Names of the measures of what a test row contributes to the standard error, by the figure of merit."""


def measure_of(metric: str) -> str:
    """Name the measure that holds a figure of merit of scores on the test part."""
    return f"test {metric}"


def with_score_metrics(trial: DrawnTrial, entries: Mapping[int, Entry], errors: dict[int, str]) -> dict[int, Entry]:
    """Add the figures of merit of scores that the config asks for to outcomes, as measures of the test part.

    Parameters
    ----------
    trial : DrawnTrial
    entries : mapping of int to Entry
        Packed outcomes by number of the compared method.
    errors : dict of int to str
        Takes the errors of compared methods, whose entries are left out.

    Returns
    -------
    dict of int to Entry
        A measure is missing where the classes of the test part leave it undefined, or there is no classifier.
    """
    scored: dict[int, Entry] = {}
    known: dict[tuple[int, int, tuple[int, ...]], dict[str, float]] = {}
    kept: list[object] = []  # so that no identity is given twice
    for number, entry in entries.items():
        with failing(errors, [number]):
            compared = trial.experiment.compared_methods[number]
            ordering = compared.order(trial)
            learner = compared.learner(trial, ordering)
            kept += [ordering.parts, learner]
            outcome, measures = Outcome.unpacked(entry), []
            exists = outcome.test.sum(axis=(1, 2)) > 0
            for row, size in enumerate(outcome.sizes):
                subset = tuple(sorted(ordering.columns[:size].tolist()))
                place = (id(ordering.parts), id(learner), subset)
                if place not in known:
                    known[place] = _measured(trial, ordering.parts, learner, subset) if exists[row] else {}
                measures.append((outcome.measures[row] if outcome.measures else {}) | known[place])
            scored[number] = replace(outcome, measures=tuple(measures)).packed()
    return scored


def _measured(trial: DrawnTrial, parts: Parts, learner: Learner, subset: Sequence[int]) -> dict[str, float]:
    """Train the classifier on a subset, and compute the figures of merit of its scores on the test part."""
    experiment, y = trial.experiment, parts.y_test
    n_classes = experiment.source.n_classes
    estimator = learner.estimator if isinstance(learner, EstimatorLearner) else learner.ranking_arguments()["estimator"]
    train, test = parts.X_train[:, list(subset)], parts.X_test[:, list(subset)]
    groups = parts.groups_train
    fitted = None
    found: dict[str, float] = {}
    for name in experiment.score_metrics:
        if name == LOG_LOSS:
            probabilities = _calibrated(
                estimator, train, parts.y_train, test, n_classes, trial.stream("calibration"), groups, learner.weights
            )
            losses = log_losses(y, probabilities)
            found |= {measure_of(name): float(losses.mean()), SPREADS[name]: float(losses.std())}
            continue
        if fitted is None:
            fitted = clone(estimator).fit(train, parts.y_train, **fit_arguments(estimator, groups, learner.weights))
        scores = _scores(fitted, test, n_classes)
        value = score_metric(name, y, scores, None, experiment.positive)
        if name == AUC and n_classes == 2 and not math.isnan(variance := variance_of_area(scores, y == 1)):
            found[SPREADS[name]] = math.sqrt(variance * len(y))
        found |= {} if math.isnan(value) else {measure_of(name): value}
    return found


def _scores(fitted: Any, X: Any, n_classes: int) -> NDArray[np.float64]:
    """Return the scores of rows, as `score_metric` takes them; those that differ by what solvers leave are equal.

    A class that the training part lacks has the lowest scores.
    """
    if hasattr(fitted, "decision_function"):
        values = np.asarray(fitted.decision_function(X), dtype=np.float64)
    else:
        values = fitted.predict_proba(X)[:, 1] if n_classes == 2 else fitted.predict_proba(X)
    width = TIE_TOLERANCES * getattr(fitted, "tolerance", 0.0)
    if n_classes == 2:
        return with_ties(values, width)
    if values.ndim == 1:
        values = np.stack([-values, values], axis=1)
    every = np.full((len(values), n_classes), -np.inf)
    every[:, fitted.classes_] = np.transpose([with_ties(column, width) for column in values.T])
    return every


def _calibrated(  # noqa: PLR0917 - one call
    estimator: Any,
    X: Any,
    y: NDArray[np.intp],
    X_test: Any,
    n_classes: int,
    rng: np.random.Generator,
    groups: NDArray[np.intp] | None,
    sample_weight: NDArray[np.float64] | None,
) -> NDArray[np.float64]:
    """Calibrate by Platt's sigmoid on scores of training rows that were left out, and return test probabilities."""
    from sklearn.calibration import CalibratedClassifierCV  # noqa: PLC0415 - slow to import, and seldom needed

    _, codes = np.unique(y, return_inverse=True)
    units = [
        int(np.sum(codes == c)) if groups is None else len(np.unique(groups[codes == c])) for c in np.unique(codes)
    ]
    n_folds = min(CALIBRATION_FOLDS, *units)
    if n_folds < 2:
        raise ValueError(
            f"log-loss: a class has a single training {'row' if groups is None else 'group'}, none to leave out"
        )
    folds = stratified_folds(codes, n_folds, int(rng.integers(2**31)), groups=groups, caller="log-loss")
    model = CalibratedClassifierCV(estimator, cv=folds, ensemble=False).fit(X, y, sample_weight=sample_weight)
    every = np.zeros((X_test.shape[0], n_classes))
    every[:, model.classes_] = model.predict_proba(X_test)
    return every
