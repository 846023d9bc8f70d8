"""One trial: draw, split, scale on the training part, rank, evaluate nested subsets."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fsvm_cli.data.scaling import fit_scaling
from fsvm_cli.data.vocabulary import seen_from
from fsvm_cli.evaluation.metrics import confusion_matrix
from fsvm_cli.evaluation.nested_predictions import nested_predictions
from fsvm_cli.evaluation.seeds import random_stream
from fsvm_cli.evaluation.splits import Split, random_split
from fsvm_cli.experiment.tuning import tuned
from fsvm_cli.magnitudes import check_magnitudes
from fsvm_cli.ranking.base import order_of
from fsvm_cli.ranking.leaking_ranker import LeakingRanker
from fsvm_cli.spec.classifiers import Classifier, SklearnClassifier
from fsvm_cli.spec.extractors import Extraction
from fsvm_cli.store.outcome import Outcome, SubsetResult
from fsvm_cli.svm import nested_curves

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from fsvm_cli.experiment.plan import Experiment, Trial
    from fsvm_cli.ranking.base import Ranker
    from fsvm_cli.spec.machine import Machine
    from fsvm_cli.spec.schema import Ranking


@dataclass(frozen=True)
class Parts:
    """The two parts of a split, scaled by what the training part shows.

    Attributes
    ----------
    X_train, X_test : ndarray, shape (n_rows, n_features)
    y_train, y_test : ndarray of int, shape (n_rows,)
    """

    X_train: NDArray[np.float64]
    y_train: NDArray[np.intp]
    X_test: NDArray[np.float64]
    y_test: NDArray[np.intp]


def draw_parts(experiment: Experiment, trial: Trial) -> Parts:
    """Draw the data of a trial from its named streams, and scale them."""
    seed = experiment.config.protocol.seed
    dataset = experiment.source.draw(random_stream(seed, "data", trial.split))
    if experiment.config.protocol.is_given:
        assert experiment.source.given_split is not None, "the plan has seen to it"
        split = Split(*experiment.source.given_split)
    else:
        n_test = experiment.n_test[trial.n_train]
        split = random_split(len(dataset.y), trial.n_train, n_test, random_stream(seed, "split", trial.split))
    y = dataset.y
    if experiment.config.control == "permute-labels":
        y = random_stream(seed, "control", trial.split).permutation(y)
    X = seen_from(dataset, split.train)
    scaling = fit_scaling(experiment.config.scaling, X[split.train])
    X_train, X_test = scaling.transform(X[split.train]), scaling.transform(X[split.test])
    check_magnitudes(X_train, dataset.feature_names)
    check_magnitudes(X_test, dataset.feature_names, unseen=True)
    return Parts(X_train, y[split.train], X_test, y[split.test])


@dataclass(frozen=True)
class TrialResult:
    """What the rankings of a trial led to.

    Attributes
    ----------
    outcomes : dict of int to Outcome
        By place of the ranking.
    errors : dict of int to str
        For the rankings that have no outcome, why, in one line.
    """

    outcomes: dict[int, Outcome]
    errors: dict[int, str]


def run_trial(experiment: Experiment, trial: Trial, wanted: Mapping[int, tuple[int, ...]]) -> TrialResult:
    """Rank and evaluate on one split; a ranking that fails leaves the others as they are.

    Parameters
    ----------
    experiment : Experiment
    trial : Trial
    wanted : dict of int to tuple of int
        For the place of a ranking in ``experiment.rankings()``, the subset sizes to evaluate.

    Returns
    -------
    TrialResult
    """
    errors: dict[int, str] = {}
    with _failing(errors, wanted):
        return run_on_parts(experiment, draw_parts(experiment, trial), trial, wanted)
    return TrialResult({}, errors)


def run_on_parts(
    experiment: Experiment, parts: Parts, trial: Trial, wanted: Mapping[int, tuple[int, ...]]
) -> TrialResult:
    """Do what `run_trial` does once the data are drawn."""
    outcomes: dict[int, Outcome] = {}
    errors: dict[int, str] = {}
    orders: dict[int, _Order] = {}
    machines: dict[int, Machine | SklearnClassifier] = {}
    made: list[tuple[Classifier | SklearnClassifier, Machine | SklearnClassifier]] = []
    fitted: list[tuple[Ranking, Ranker]] = []
    for place in wanted:
        with _failing(errors, [place]):
            ranking = experiment.rankings()[place]
            classifier = experiment.config.classifier_of(ranking)
            machine = next((machine for other, machine in made if other == classifier), None)
            if machine is None:
                machine = machine_for(experiment, trial, classifier, parts)
                made.append((classifier, machine))
            machines[place] = machine
            if isinstance(ranking, Extraction):
                outcomes[place] = _evaluate_components(experiment, trial, ranking, parts, machine, wanted[place])
            else:
                orders[place] = _order(experiment, trial, ranking, parts, machine, fitted)
    for _, machine in made:
        for sizes in dict.fromkeys(wanted[place] for place in orders if machines[place] is machine):
            places = [place for place in orders if machines[place] is machine and wanted[place] == sizes]
            with _failing(errors, places):
                features = [orders[place].features for place in places]
                curves = _evaluate(experiment, trial, parts, machine, features, sizes)
                for place, subsets in zip(places, curves, strict=True):
                    order = orders[place]
                    outcomes[place] = Outcome(order.scores, order.converged, subsets, order.chosen)
    return TrialResult(outcomes, errors)


def machine_for(
    experiment: Experiment, trial: Trial, classifier: Classifier | SklearnClassifier, parts: Parts
) -> Machine | SklearnClassifier:
    """Build the machine of a classifier, tuned on the training part where the config says so."""
    if isinstance(classifier, SklearnClassifier):
        return classifier
    machine = classifier.machine(experiment.source.class_names)
    if classifier.tune is None:
        return machine
    return tuned(
        machine,
        classifier.tune,
        parts.X_train,
        parts.y_train,
        n_classes=experiment.source.n_classes,
        rng=random_stream(experiment.config.protocol.seed, "tune", trial.split),
    )


@contextlib.contextmanager
def _failing(errors: dict[int, str], places: Iterable[int]) -> Iterator[None]:
    """Note what is raised as the error of `places`: whatever a method raises is its failure, not the run's."""
    try:
        yield
    except Exception as failure:  # noqa: BLE001
        message = f"{type(failure).__name__}: {failure}".splitlines()[0]
        errors |= dict.fromkeys(places, message)


@dataclass(frozen=True)
class _Order:
    """Features in the order in which they are kept, the scores that it came from, and what was chosen on the way."""

    features: NDArray[np.intp]
    scores: tuple[float, ...]
    converged: bool
    chosen: dict[str, float | int | str]


def _order(  # noqa: PLR0917
    experiment: Experiment,
    trial: Trial,
    ranking: Ranking | None,
    parts: Parts,
    machine: Machine | SklearnClassifier,
    fitted: list[tuple[Ranking, Ranker]],
) -> _Order:
    """Rank the features; `fitted` holds what the rankings before led to, for those that only keep its other end."""
    chosen, converged = ({}, True) if isinstance(machine, SklearnClassifier) else (machine.chosen, machine.converged)
    if ranking is None:
        return _Order(np.arange(parts.X_train.shape[1]), (), converged, chosen)
    ranker = next((ranker for other, ranker in fitted if ranking.scores_as(other)), None)
    if ranker is None:
        ranker = fitted_ranker(experiment, trial, ranking, parts, machine)
        fitted.append((ranking, ranker))
    features = order_of(ranker.scores_)
    if ranking.order == "worst-first":
        features = features[::-1]
    scores = tuple(map(float, ranker.scores_))
    return _Order(features, scores, converged and ranker.converged_, chosen | ranker.chosen_)


def fitted_ranker(
    experiment: Experiment, trial: Trial, ranking: Ranking, parts: Parts, machine: Machine | SklearnClassifier
) -> Ranker:
    """Fit the method of a ranking on the training part of a trial."""
    stream = random_stream(experiment.config.protocol.seed, "ranking", ranking.method, trial.split)
    ranker = ranking.estimator(**machine.handed(), random_state=int(stream.integers(2**31)))
    if isinstance(ranker, LeakingRanker) and ranking.sees_test_part():
        return ranker.fit(parts.X_train, parts.y_train, X_test=parts.X_test, y_test=parts.y_test)
    return ranker.fit(parts.X_train, parts.y_train)


def _evaluate_components(  # noqa: PLR0917
    experiment: Experiment,
    trial: Trial,
    extraction: Extraction,
    parts: Parts,
    machine: Machine | SklearnClassifier,
    sizes: tuple[int, ...],
) -> Outcome:
    """Train a fresh machine on the first components, for each size; where there are fewer, on all of them."""
    extractor = extraction.estimator().fit(parts.X_train, parts.y_train)
    components = replace(parts, X_train=extractor.transform(parts.X_train), X_test=extractor.transform(parts.X_test))
    n_components = extractor.n_components_
    at_hand = tuple(sorted({min(size, n_components) for size in sizes}))
    (curve,) = _evaluate(experiment, trial, components, machine, [np.arange(n_components)], at_hand)
    chosen = {} if isinstance(machine, SklearnClassifier) else machine.chosen
    return Outcome((), True, {size: curve[min(size, n_components)] for size in sizes}, chosen)


def _evaluate(  # noqa: PLR0917
    experiment: Experiment,
    trial: Trial,
    parts: Parts,
    machine: Machine | SklearnClassifier,
    orders: list[NDArray[np.intp]],
    sizes: tuple[int, ...],
) -> list[dict[int, SubsetResult]]:
    """Train a fresh machine on the first features of each order, for each size."""
    n_classes = experiment.source.n_classes
    if isinstance(machine, SklearnClassifier):
        stream = random_stream(experiment.config.protocol.seed, "classifier", trial.split)
        estimator = machine.estimator(int(stream.integers(2**31)))
        return [_evaluate_estimator(estimator, parts, order, sizes, n_classes) for order in orders]
    if not machine.is_plain:
        estimator = machine.estimator()
        return [_evaluate_estimator(estimator, parts, order, sizes, n_classes) for order in orders]
    curves = nested_curves(
        machine.kernel,
        machine.C,
        parts.X_train,
        parts.y_train,
        parts.X_test,
        orders,
        sizes,
        n_classes=n_classes,
        tolerance=machine.tolerance,
        solver=machine.solver,
    )
    train = confusion_matrix(parts.y_train, curves.train_predicted, n_classes).tolist()
    test = confusion_matrix(parts.y_test, curves.test_predicted, n_classes).tolist()
    return [
        {
            size: SubsetResult(
                train=tuple(map(tuple, train[order][place])),
                test=tuple(map(tuple, test[order][place])),
                n_unconverged=int(np.count_nonzero(~curves.converged[order, place])),
                duality_gap=float(curves.duality_gap[order, place].max()),
            )
            for place, size in enumerate(sizes)
        }
        for order in range(len(orders))
    ]


def _evaluate_estimator(
    estimator: Any, parts: Parts, order: NDArray[np.intp], sizes: tuple[int, ...], n_classes: int
) -> dict[int, SubsetResult]:
    """Train a fresh classifier of any kind for each size; one without a gap misses none."""
    predicted = nested_predictions(estimator, parts.X_train, parts.y_train, parts.X_test, order, sizes)
    return {
        size: SubsetResult(
            train=_confusion(parts.y_train, on.train, n_classes),
            test=_confusion(parts.y_test, on.test, n_classes),
            n_unconverged=int(np.count_nonzero(~getattr(on.fitted, "converged_", np.array([True])))),
            duality_gap=float(np.max(getattr(on.fitted, "duality_gap_", 0.0))),
        )
        for size, on in zip(sizes, predicted, strict=True)
    }


def _confusion(y: NDArray[np.intp], predicted: NDArray[np.intp], n_classes: int) -> tuple[tuple[int, ...], ...]:
    return tuple(map(tuple, confusion_matrix(y, predicted, n_classes).tolist()))
