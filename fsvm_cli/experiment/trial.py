"""One trial: draw, split, scale on the training part, tune the classifier there, rank, evaluate nested subsets."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import time
import traceback
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from fsvm_cli.data.dataset import known_features
from fsvm_cli.data.scaling import fit_scaling
from fsvm_cli.data.source import FixedSource
from fsvm_cli.errors import contained, named, quiet_in_place
from fsvm_cli.evaluation.folds import LEAVE_ONE_OUT, leave_one_out, stratified_folds
from fsvm_cli.evaluation.metrics import confusion_matrix
from fsvm_cli.evaluation.seeds import random_stream
from fsvm_cli.evaluation.splits import Parts, Split, drawn_split
from fsvm_cli.experiment.columns import columns_of
from fsvm_cli.experiment.outcome import Outcome
from fsvm_cli.learners.base import MeasuredCurves, NestedSubsets
from fsvm_cli.numerics import check_input_range, one_blas_thread
from fsvm_cli.ranking.base import LeakingRanker, SampleWeightRanker
from fsvm_cli.ranking.ranks import by_mean_rank
from fsvm_cli.ranking.registry import ranking_methods
from fsvm_cli.spec.classifiers import Classifier
from fsvm_cli.spec.kernels import fields_in_configs
from fsvm_cli.spec.rankings import TRAINING_ROWS
from fsvm_cli.svm import grid_search, kernel_for

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from fsvm_cli.data.dataset import Dataset
    from fsvm_cli.data.scaling import ScalingName
    from fsvm_cli.evaluation.folds import Fold
    from fsvm_cli.experiment.compared_methods import Ordering
    from fsvm_cli.experiment.experiment import Experiment, Trial
    from fsvm_cli.learners.base import Learner
    from fsvm_cli.learners.machine import Machine
    from fsvm_cli.ranking.base import Ranker
    from fsvm_cli.spec.classifiers import ExperimentClassifier
    from fsvm_cli.spec.rankings import Ranking
    from fsvm_cli.spec.tuning import TuneStep
    from fsvm_cli.store.store import Entry
    from fsvm_cli.svm.kernels.base import Kernel


def tuned(
    machine: Machine,
    steps: Sequence[TuneStep],
    X: NDArray[np.float64],
    y: NDArray[np.intp],
    *,
    n_classes: int,
    rng: np.random.Generator,
    groups: NDArray[np.intp] | None = None,
) -> Machine:
    """Choose a machine by accuracy in cross-validation, step by step.

    Of equally accurate candidates the step's rule takes one; see `fsvm_cli.svm.tuning`.

    Parameters
    ----------
    machine : Machine
        Where the first step begins.
    steps : sequence of TuneStep
        Each begins with what the one before it chose.
    X : ndarray, shape (n_samples, n_features)
        The training part.
    y : ndarray of int, shape (n_samples,)
        Class codes.
    n_classes : int
    rng : numpy.random.Generator
        Draws the folds.
    groups : ndarray of int, shape (n_samples,), optional
        Samples of one group stay in one fold.

    Raises
    ------
    ValueError
        If a class has too few samples for the folds, or there are too few groups.
    """
    for step in steps:
        kernels = [kernel for candidates in step.kernels for kernel in candidates.objects()]
        svm = machine.svm
        found = grid_search(
            [kernel_for(kernel, X) for kernel in kernels or [svm.kernel]],
            step.C or [svm.C],
            X,
            y,
            _folds(step, y, rng, groups),
            n_classes=n_classes,
            tolerance=svm.tolerance,
            ties=step.ties,
            class_weight=svm.class_weight,
            sample_weight=machine.weights,
            C_unit=svm.C_unit,
        )
        machine = dataclasses.replace(
            machine.with_parameters(kernel=found.kernel, C=found.C),
            chosen={**machine.chosen, **_chosen(step, found.kernel, found.C)},
            converged=machine.converged and found.choice_converged,
        )
    return machine


def _folds(
    step: TuneStep, y: NDArray[np.intp], rng: np.random.Generator, groups: NDArray[np.intp] | None
) -> list[Fold]:
    if step.folds == LEAVE_ONE_OUT:
        return leave_one_out(y, groups=groups, caller="tune")
    return stratified_folds(y, step.folds, int(rng.integers(2**31)), groups=groups, caller="tune")


def _chosen(step: TuneStep, kernel: Kernel, C: float) -> dict[str, float | int | str]:
    """Name what the step chose among several values."""
    chosen: dict[str, float | int | str] = {}
    if len({candidates.kernel for candidates in step.kernels}) > 1:
        chosen["kernel"] = kernel.name
    of_kind = [candidates.values() for candidates in step.kernels if candidates.kernel == kernel.name]
    for name in fields_in_configs(type(kernel)):
        if len({value for values in of_kind for value in values[name]}) > 1:
            chosen[name] = getattr(kernel, name)
    return chosen | ({"C": C} if len(step.C) > 1 else {})


Name = TypeVar("Name", int, str)


def draw_data(experiment: Experiment, trial: Trial) -> tuple[Dataset, NDArray[np.intp]]:
    """Draw the data of a trial from its named stream; beside them the class codes, permuted for a control."""
    seed = experiment.config.protocol.seed
    dataset = experiment.source.draw(random_stream(seed, "data", trial.split))
    if experiment.config.control == "permute-labels":
        return dataset, random_stream(seed, "control", trial.split).permutation(dataset.y)
    return dataset, dataset.y


def draw_parts(experiment: Experiment, trial: Trial) -> Parts:
    """Draw the data of a trial from its named streams, and scale them."""
    dataset, y = draw_data(experiment, trial)
    groups = dataset.groups
    if experiment.config.protocol.is_listed:
        split = Split(*experiment.source.given_splits[trial.split])
    else:
        n_test = experiment.n_test[trial.n_train]
        rng = random_stream(experiment.config.protocol.seed, "split", trial.split)
        is_stratified = experiment.config.protocol.stratified
        split = drawn_split(dataset.y, groups, trial.n_train, n_test, rng, stratified=is_stratified)
    X = known_features(dataset, split.train)
    columns = columns_of(experiment, trial.split)
    if (np.diff(columns) < 0).any():
        X = np.take(X, columns, axis=1)
    names = [dataset.feature_names[feature] for feature in columns]
    X_train = X[split.train]
    scaling = fit_scaling(experiment.config.scaling, X_train)
    X_train = scaling.transform(X_train, overwrite=True)
    X_test = scaling.transform(X[split.test], overwrite=True)
    check_input_range(X_train, names)
    check_input_range(X_test, names, unseen=True)
    if groups is None and experiment.config.protocol.is_bootstrap:
        groups = np.arange(len(y))  # the copies of a row stay in one fold
    in_train, in_test = (None, None) if groups is None else (groups[split.train], groups[split.test])
    weights = None if dataset.sample_weight is None else dataset.sample_weight[split.train]
    return Parts(X_train, y[split.train], X_test, y[split.test], in_train, in_test, weights)


def undivided_parts(dataset: Dataset, y: NDArray[np.intp], rows: NDArray[np.intp], scaling: ScalingName) -> Parts:
    """Take rows as a training part, scaled by their own statistics, beside a test part without rows."""
    X = known_features(dataset, rows)[rows]
    scaled = fit_scaling(scaling, X).transform(X)
    check_input_range(scaled, dataset.feature_names)
    groups = None if dataset.groups is None else dataset.groups[rows]
    weights = None if dataset.sample_weight is None else dataset.sample_weight[rows]
    return Parts(scaled, y[rows], scaled[:0], y[:0], groups, weights_train=weights)


@dataclass(frozen=True, eq=False)
class DrawnTrial:
    """A trial with its data and what compared methods share: a learner is tuned once, and a ranking method fitted once.

    Attributes
    ----------
    experiment : Experiment
    trial : Trial
    parts : Parts
        With the columns in the order of `columns`.
    scaling : str or None
        That of the parts, where it is not the experiment's.
    axes : tuple of str or int
        The end of the names of its random streams; the number of the split where empty.
    """

    experiment: Experiment
    trial: Trial
    parts: Parts
    scaling: ScalingName | None = None
    axes: tuple[str | int, ...] = ()
    _learners: list[tuple[ExperimentClassifier, Learner]] = field(default_factory=list, init=False)
    _rankers: list[tuple[Ranking, Ranker]] = field(default_factory=list, init=False)

    @functools.cached_property
    def columns(self) -> NDArray[np.intp]:
        """Which feature each column is."""
        n_columns: int = self.parts.X_train.shape[1]
        columns = columns_of(self.experiment, self.trial.split)
        return columns[columns < n_columns]  # a warm-up has but the first few

    @property
    def feature_names(self) -> list[str]:
        """Names of the columns."""
        return [self.experiment.source.feature_names[feature] for feature in self.columns]

    def scaled(self, scaling: ScalingName) -> DrawnTrial:
        """Return the trial with features scaled by statistics of its training part."""
        fitted = fit_scaling(scaling, self.parts.X_train)
        X_train, X_test = fitted.transform(self.parts.X_train), fitted.transform(self.parts.X_test)
        return replace(self, parts=replace(self.parts, X_train=X_train, X_test=X_test), scaling=scaling)

    def stream(self, *purpose: str) -> np.random.Generator:
        """Return the random stream of this split for a purpose."""
        return random_stream(self.experiment.config.protocol.seed, *purpose, *(self.axes or (self.trial.split,)))

    def learner(self, classifier: ExperimentClassifier) -> Learner:
        """Return the learner of a classifier, tuned on the training part if the config has a search."""
        for known, learner in self._learners:
            if known == classifier:
                return learner
        learner = self._chosen(classifier)
        self._learners.append((classifier, learner))
        return learner

    def _chosen(self, classifier: ExperimentClassifier) -> Learner:
        source = self.experiment.source
        if isinstance(classifier, Classifier) and classifier.tune is not None:
            return tuned(
                classifier.machine(source.class_names).weighted_by(self.parts.weights_train),
                classifier.tune,
                self.parts.X_train,
                self.parts.y_train,
                n_classes=source.n_classes,
                rng=self.stream("tune"),
                groups=self.parts.groups_train,
            )
        learner = classifier.learner(source.class_names, int(self.stream("classifier").integers(2**31)))
        if self.parts.weights_train is not None:
            learner = learner.weighted_by(self.parts.weights_train)
        return learner.tuned_on(self.parts.X_train, self.parts.y_train, self.parts.groups_train)

    def ranker(self, ranking: Ranking, classifier: ExperimentClassifier) -> Ranker:
        """Return the method of a ranking, fitted on the training part, or on all rows for a declared leak."""
        for known, ranker in self._rankers:
            if ranking.scores_as(known):
                return ranker
        if ranking.sees_all_rows():
            on_training_rows = ranking.model_copy(update={"ranked_on": TRAINING_ROWS})
            ranker = self._on_all_rows().ranker(on_training_rows, classifier)
        else:
            rng = self.stream("ranking", ranking.method)
            ranker = by_mean_rank([self._fitted(ranking, classifier, rng) for _ in range(ranking.mean_rank_of)])
        self._rankers.append((ranking, ranker))
        return ranker

    def _fitted(self, ranking: Ranking, classifier: ExperimentClassifier, rng: np.random.Generator) -> Ranker:
        passed_down = ranking_methods()[ranking.method].passed_down
        # A search takes time, which methods that train no machine of the classifier need not wait for.
        arguments = self.learner(classifier).ranking_arguments() if passed_down - {"random_state"} else {}
        ranker = ranking.estimator(**arguments, random_state=int(rng.integers(2**31)))
        ranker.tie_seed = int(self.stream("ties").integers(2**31))
        for name in ranker.index_parameters:
            feature = getattr(ranker, name)
            setattr(ranker, name, None if feature is None else int(np.flatnonzero(self.columns == feature)[0]))
        parts = self.parts
        X, y, groups = parts.training_rows()
        if isinstance(ranker, LeakingRanker) and ranker.sees_test_part(ranking.parameters()):
            ranker.fit(X, y, X_test=parts.X_test, y_test=parts.y_test)
        elif parts.weights_train is None:
            ranker.fit(X, y, groups)
        else:
            assert isinstance(ranker, SampleWeightRanker), "checked before"
            ranker.fit(X, y, groups, parts.weights_train)
        return ranker

    def _on_all_rows(self) -> DrawnTrial:
        """Return the trial that trains on all rows: one for all splits, unless each draws its own data or labels."""
        experiment, scaling = self.experiment, self.scaling or self.experiment.config.scaling
        is_shared = isinstance(experiment.source, FixedSource) and experiment.config.control is None
        if is_shared and scaling in experiment.on_all_rows:
            shared: DrawnTrial = experiment.on_all_rows[scaling]
            return shared
        parts = undivided_parts(*draw_data(experiment, self.trial), experiment.rows, scaling)
        if not isinstance(experiment.source, FixedSource):
            parts = replace(parts, X_train=parts.X_train[:, self.columns], X_test=parts.X_test[:, self.columns])
        axes = ("all rows",) if is_shared else ("all rows", self.trial.split)
        whole = DrawnTrial(experiment, self.trial, parts, scaling, axes)
        if is_shared:
            experiment.on_all_rows[scaling] = whole
        return whole


@one_blas_thread()
def seconds_to_rank(experiment: Experiment) -> dict[str, float]:
    """Measure how long each ranking method takes on the training part of the first split, its machine tuned before.

    Returns
    -------
    dict of str to float
        Seconds of the processor, by the label of the ranking.
    """
    first = next(experiment.trials())
    parts = draw_parts(experiment, first)
    seconds = {}
    for ranking in experiment.config.rankings:
        drawn = DrawnTrial(experiment, first, parts)
        classifier = experiment.config.classifier_of(ranking)
        drawn.learner(classifier)
        begin = time.process_time()
        with failing({}, [ranking.label]):
            drawn.ranker(ranking, classifier)
            seconds[ranking.label] = time.process_time() - begin
    return seconds


def run_compared_methods(
    trial: DrawnTrial, wanted: Mapping[int, tuple[int, ...]], errors: dict[int, str]
) -> dict[int, Entry]:
    """Rank and evaluate once the data are drawn; errors are added to `errors`."""
    compared_methods = trial.experiment.compared_methods
    orderings: dict[int, Ordering] = {}
    learners: dict[int, Learner] = {}
    for number in wanted:
        with failing(errors, [number]):
            ordering = compared_methods[number].order(trial)
            learners[number] = compared_methods[number].learner(trial, ordering)
            orderings[number] = ordering
    entries: dict[int, Entry] = {}
    for together in _evaluated_together(orderings, learners, wanted):
        with failing(errors, together):
            outcomes = _evaluate(
                [orderings[number] for number in together],
                learners[together[0]],
                wanted[together[0]],
                trial.experiment.source.n_classes,
                keeps_predictions=trial.experiment.config.protocol.keeps_predictions,
            )
            entries |= {number: outcome.packed() for number, outcome in zip(together, outcomes, strict=True)}
    return entries


def _evaluated_together(
    orderings: Mapping[int, Ordering], learners: Mapping[int, Learner], wanted: Mapping[int, tuple[int, ...]]
) -> Iterable[list[int]]:
    """Group the compared methods whose subsets one call can evaluate: same data, same learner, same sizes."""
    groups: dict[tuple[int, int, tuple[int, ...]], list[int]] = {}
    for number, ordering in orderings.items():
        groups.setdefault((id(ordering.parts), id(learners[number]), wanted[number]), []).append(number)
    return groups.values()


@contextlib.contextmanager
def failing(errors: dict[Name, str], names: Iterable[Name]) -> Iterator[None]:
    """Record any exception as the error of some compared methods, so that it does not end the run.

    The first line is the exception, followed by its traceback.
    """
    try:
        with contained("a method"), quiet_in_place():
            yield
    except Exception as failure:  # noqa: BLE001
        lines = "".join(traceback.format_exception(failure))
        errors |= dict.fromkeys(names, f"{named(failure)}\n{lines}")


def _evaluate(
    orderings: Sequence[Ordering], learner: Learner, sizes: tuple[int, ...], n_classes: int, *, keeps_predictions: bool
) -> Iterator[Outcome]:
    """Train a fresh classifier on the first columns of each ordering, for each size; on all if there are fewer."""
    parts, n_columns = orderings[0].parts, len(orderings[0].columns)
    at_hand = tuple(dict.fromkeys(min(size, n_columns) for size in sizes))
    rows = np.searchsorted(at_hand, np.minimum(sizes, n_columns))
    orders = [ordering.columns for ordering in orderings]
    curves = learner.curves(NestedSubsets(parts.X_train, parts.y_train, parts.X_test, orders, at_hand, n_classes))
    train = confusion_matrix(parts.y_train, curves.train_predicted, n_classes)[:, rows]
    test = confusion_matrix(parts.y_test, curves.test_predicted, n_classes)[:, rows]
    measures: Sequence[Sequence[dict[str, float]]] = ((),) * len(orderings)
    if isinstance(curves, MeasuredCurves):
        exists = curves.exists[:, rows, None, None]
        train, test = train * exists, test * exists
        measures = [tuple(of_order[row] for row in rows) for of_order in curves.measures]
    # A curve ends with the columns that have a score; that all are kept is always defined.
    ends = [n_columns if each.n_with_score is None else each.n_with_score for each in orderings]
    is_there = np.array([[size <= end or size >= n_columns for size in sizes] for end in ends])
    train, test = train * is_there[..., None, None], test * is_there[..., None, None]
    n_unconverged = np.count_nonzero(~curves.converged, axis=2)[:, rows] * is_there
    duality_gap = curves.duality_gap.max(axis=2)[:, rows] * is_there
    for number, ordering in enumerate(orderings):
        predictions = [parts.y_test, *curves.test_predicted[number][rows]] if keeps_predictions else []
        yield Outcome(
            ordering.scores,
            ordering.converged and learner.converged,
            sizes,
            train[number],
            test[number],
            n_unconverged[number],
            duality_gap[number],
            {**learner.chosen, **ordering.chosen},
            np.array(predictions, dtype=np.intp, ndmin=2),
            tuple(measures[number]),
        )
