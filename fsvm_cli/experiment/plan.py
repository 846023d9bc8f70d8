"""Planning an experiment: opening the data of a config, and checking that config and data fit together.

`fsvm check` reports the same errors as a run before its first trial, as far as they are known without fetching data.
"""

from __future__ import annotations

import csv
import hashlib
import itertools
import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from fsvm_cli.console import brief
from fsvm_cli.data.given_splits import check_parts, splits_in_order
from fsvm_cli.data.messages import nearest, shown
from fsvm_cli.data.opening import metadata, open_source
from fsvm_cli.data.scaling import EXPRESSION, SHIFTING_SCALINGS, fit_scaling, logarithms_by_row, shifts_sparse
from fsvm_cli.data.source import FixedSource, features_called, metadata_of
from fsvm_cli.data.source_spec import FileSpec
from fsvm_cli.errors import DataError, FsvmError, UsageError
from fsvm_cli.evaluation.bootstrap import bootstrap_split
from fsvm_cli.evaluation.folds import LEAVE_ONE_OUT, leave_one_out, stratified_folds
from fsvm_cli.evaluation.metrics import AUC, F1, has_positive_class, needs_scores
from fsvm_cli.evaluation.seeds import random_stream
from fsvm_cli.evaluation.splits import count_rows
from fsvm_cli.experiment.experiment import Experiment
from fsvm_cli.experiment.records import record_kinds
from fsvm_cli.numerics import check_input_range
from fsvm_cli.ranking.machine_ranker import MachineRanker
from fsvm_cli.ranking.registry import advice_on_sparse, ranking_methods, reason_against_sparse
from fsvm_cli.spec.classifiers import BayesianBase, Classifier, LearnedKernel, TunedMachineSpec
from fsvm_cli.spec.schema import RELEVANT, ChosenSubsets
from fsvm_cli.svm import KERNELS
from fsvm_cli.svm.kernels.registry import as_kernel
from fsvm_cli.validation_errors import Issue

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from fractions import Fraction
    from pathlib import Path

    from fsvm_cli.data.given_splits import GivenSplit
    from fsvm_cli.data.scaling import ScalingName
    from fsvm_cli.data.source import DatasetMetadata, DataSource
    from fsvm_cli.spec.classifiers import ExperimentClassifier
    from fsvm_cli.spec.config import LoadedConfig
    from fsvm_cli.spec.kernels import KernelSpec
    from fsvm_cli.spec.protocol import Protocol
    from fsvm_cli.spec.rankings import Ranking
    from fsvm_cli.spec.schema import Config
    from fsvm_cli.svm.kernels.base import Kernel
    from fsvm_cli.validation_errors import Location

MAX_CLASSES_SHOWN = 20
"""Classes that a message lists."""

MIN_TRAINING_ROWS = 2
"""Training rows of a machine at least: one of each of two classes."""


def plan(loaded: LoadedConfig, announce: Callable[[str], None]) -> Experiment:
    """Open the data of a config and check that the two fit together.

    Parameters
    ----------
    loaded : LoadedConfig
    announce : callable
        Called with a sentence about each slow step and each remark on the data.

    Raises
    ------
    UsageError
        If the config requires rows or features that the data do not have.
    DataError
        If the data cannot be had.
    """
    config, document = loaded.config, loaded.document
    try:
        source = open_source(config.dataset, base_folder=loaded.folder, announce=announce)
    except UsageError as error:
        raise document.error(("dataset",), str(error)) from error
    _announce_constant_features(source, announce)
    data = replace(metadata_of(source), is_own=isinstance(config.dataset, FileSpec))
    check_fit(loaded, data)
    n_test = {} if config.protocol.is_listed else drawn_rows(config.protocol, data)
    if config.protocol.is_listed and isinstance(source, FixedSource):
        try:
            source = _with_splits(source, config.protocol)
        except ValueError as error:
            raise document.error(("protocol", "train"), f"{source.name}: {error}") from error
        n_test = listed_rows(source, config.protocol)
    config = _with_costs(loaded, source)
    n_kept = _n_always_kept(loaded, source)
    listed = config.subsets if isinstance(config.subsets, tuple) else ()
    sizes = tuple(range(max(n_kept, 1), source.n_features + 1)) if config.subsets == "all" else listed
    if not config.rankings:
        sizes = ()
    _check_input_range(loaded, source)
    # The machine on all features is the reference of every curve.
    return Experiment(config, source, tuple(sorted({*sizes, source.n_features})), n_test)


def _with_costs(loaded: LoadedConfig, source: DataSource) -> Config:
    """Return the config with the costs of columns by names that the data have, read from a file if need be."""
    config, costs = loaded.config, loaded.config.recommendation.costs
    if costs is None:
        return config
    try:
        if isinstance(costs, str):
            costs = _read_costs(loaded.folder / costs)
        features_called(costs, source)
    except FsvmError as error:
        raise loaded.document.error(("recommendation", "costs"), str(error)) from error
    rule = config.recommendation.model_copy(update={"costs": costs})
    return config.model_copy(update={"recommendation": rule})


def _read_costs(path: Path) -> dict[str, float]:
    """Read what columns cost from a CSV file.

    Raises
    ------
    DataError
        If there is no such file, or a line is not a column and what it costs.
    """
    try:
        rows = [*csv.DictReader(path.read_text(encoding="utf-8-sig").splitlines())]
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is no text"
        raise DataError(f"{brief(str(path))}: cannot be read ({reason}); give the path of a CSV file") from error
    costs = {}
    for number, row in enumerate(rows, start=2):
        try:
            name, cost = row["column"], float(row["cost"])
        except (KeyError, TypeError, ValueError):
            name, cost = None, math.nan
        if name is None or not 0 <= cost < math.inf or name in costs:
            raise DataError(
                f"{brief(str(path))}:{number}: is not a column with its cost; write the header 'column,cost', and "
                "below it each column once with a number >= 0"
            )
        costs[name] = cost
    return costs


def _n_always_kept(loaded: LoadedConfig, source: DataSource) -> int:
    """Count the features that every subset holds; a UsageError names one that is not there, or smaller subsets."""
    config = loaded.config
    try:
        n_kept = len(features_called(config.always_keep, source))
    except UsageError as error:
        raise loaded.document.error(("always_keep",), str(error)) from error
    small = [str(size) for size in config.subsets if size < n_kept] if isinstance(config.subsets, tuple) else []
    if small:
        raise loaded.document.error(
            ("subsets",), f"{n_kept} features are always kept, and {shown(small)} are fewer; write {n_kept} or more"
        )
    return n_kept


def _with_splits(source: FixedSource, protocol: Protocol) -> FixedSource:
    """Return the data with the splits of the protocol; a ValueError says why they cannot be divided so."""
    splits, identity = listed_splits(source, protocol), source.identity
    if protocol.is_ordered:  # where the origins lie depends on their number
        identity = hashlib.sha256(f"{identity} before {protocol.splits}".encode()).hexdigest()
    return replace(source, splits=splits, identity=identity)


def drawn_orders(source: DataSource, protocol: Protocol) -> tuple[GivenSplit, ...]:
    """Give the first given split once for each trial, with its training rows in a random order."""
    train, test = source.given_splits[0]
    streams = (random_stream(protocol.seed, "row order", number) for number in range(protocol.splits))
    return tuple((stream.permutation(train), test) for stream in streams)


def listed_splits(source: FixedSource, protocol: Protocol) -> tuple[GivenSplit, ...]:
    """List the rows of the parts of each trial.

    Raises
    ------
    ValueError
        If the data cannot be divided so.
    """
    y, groups, seed = source.dataset.y, source.dataset.groups, protocol.seed
    if protocol.is_bootstrap:
        streams = (random_stream(seed, "bootstrap sample", number) for number in range(protocol.splits))
        whole = np.arange(len(y))
        return ((whole, whole), *(bootstrap_split(y, groups, stream) for stream in streams))
    if protocol.is_ordered:
        assert source.dataset.order is not None, "checked before"
        splits = splits_in_order(source.dataset.order, groups, protocol.splits)
        for number, split in enumerate(splits, start=1):
            try:
                check_parts(*split, y, source.class_names)
            except ValueError as error:
                raise ValueError(f"origin {number} of {len(splits)}: {error}; write fewer splits") from error
        return splits
    if protocol.folds == LEAVE_ONE_OUT:
        # In random order, so that the first of them are no special ones.
        divided = leave_one_out(y, groups=groups, caller="train")
        order = random_stream(seed, "folds").permutation(len(divided))[: protocol.splits]
        return tuple(divided[number] for number in order)
    if protocol.folds is not None:
        n_divisions = -(-protocol.splits // protocol.folds)
        states = [int(random_stream(seed, "folds", number).integers(2**31)) for number in range(n_divisions)]
        divisions = (stratified_folds(y, protocol.folds, state, groups=groups, caller="train") for state in states)
        return tuple(itertools.islice(itertools.chain.from_iterable(divisions), protocol.splits))
    return source.given_splits if protocol.row_order is None else drawn_orders(source, protocol)


def listed_rows(source: DataSource, protocol: Protocol) -> dict[int, int]:
    """Count the rows of the parts of listed splits; where these differ, on average, to the nearest whole number."""
    n_samples = source.n_samples
    if protocol.is_bootstrap:
        return {n_samples: max(round(n_samples * (1 - 1 / n_samples) ** n_samples), 1)}
    if protocol.folds is not None and protocol.folds != LEAVE_ONE_OUT:
        n_test = max(round(n_samples / protocol.folds), 1)  # whatever the number of folds that are tried
        return {n_samples - n_test: n_test}
    sizes = [(len(train), len(test)) for train, test in source.given_splits[: protocol.splits]]
    n_train, n_test = np.rint(np.mean(sizes, axis=0)).astype(int).tolist()
    return {n_train: n_test}


def _announce_constant_features(source: DataSource, announce: Callable[[str], None]) -> None:
    if isinstance(source, FixedSource):
        names = [source.feature_names[feature] for feature in fit_scaling("none", source.dataset.X).constant]
        if names:
            announce(f"{source.name}: a single value in all rows, and so no information: {shown(names)}")


def _check_input_range(loaded: LoadedConfig, source: DataSource) -> None:
    if isinstance(source, FixedSource) and loaded.config.scaling == "none":
        try:
            check_input_range(source.dataset.X, source.feature_names)
        except ValueError as error:
            raise loaded.document.error(("scaling",), f"{source.name}: {error}") from error
    if isinstance(source, FixedSource) and loaded.config.scaling == EXPRESSION:
        try:
            logarithms_by_row(source.dataset.X)
        except UsageError as error:
            raise loaded.document.error(("scaling",), f"{source.name}: {error}") from error


def check_before_run(loaded: LoadedConfig) -> None:
    """Check a config and its data as a run does, as far as possible without fetching data.

    Raises
    ------
    UsageError
        If there is no such data set or version, or the config requires what the data do not have.
    DataError
        If a file of the user's own is missing or is not usable as it is.
    """
    try:
        data = metadata(loaded.config.dataset, base_folder=loaded.folder)
    except UsageError as error:
        raise loaded.document.error(("dataset",), str(error)) from error
    if data is not None:
        check_fit(loaded, data)


def check_fit(loaded: LoadedConfig, data: DatasetMetadata) -> None:
    """Check that the data have everything that a config requires.

    Raises
    ------
    UsageError
        Listing every mistake with the position of its key.
    """
    issues = list(issues_with_data(loaded.config, data))
    if not loaded.document.overrides:  # else nothing is claimed
        issues += _issues_of_claims(loaded.config, data)
    if issues:
        raise loaded.document.errors(issues)


def issues_with_data(config: Config, data: DatasetMetadata) -> Iterator[Issue]:
    """Find what a config requires and its data do not have; claims are checked elsewhere."""
    yield from _issues_of_split(config.protocol, data)
    chosen = (*config.subsets.best, *config.subsets.worst) if isinstance(config.subsets, ChosenSubsets) else ()
    sizes = config.subsets if isinstance(config.subsets, tuple) else chosen
    if too_large := [str(size) for size in sizes if size > data.n_features]:
        message = f"{shown(too_large)} features cannot be retained; {data.name} has {data.n_features}; write no more"
        yield Issue(("subsets",), message)
    yield from _issues_of_folds(config, data)
    yield from _issues_of_weights(config, data)
    yield from _issues_of_kernels(config)
    yield from _issues_of_oracle(config, data)
    yield from _issues_of_class_kernels(config, data)
    yield from _issues_of_class_weights(config, data)
    yield from _issues_of_metrics(config, data)
    for name in config.record:
        yield from record_kinds()[name].issues(config, data)
    if data.is_sparse:
        yield from issues_with_sparse_data(config, data)


def drawn_rows(protocol: Protocol, data: DatasetMetadata) -> dict[int, int]:
    """Count the rows of the test part by those of the training part, for random splits that the data have."""
    return dict(_rows_of(protocol, part, data) for part in protocol.train)


def _rows_of(protocol: Protocol, part: Fraction | int | str, data: DatasetMetadata) -> tuple[int, int]:
    """Count the rows of a training part, and those of the test part beside it; either may be more than there are."""
    assert not isinstance(part, str), "listed splits are planned as they are"
    n_train = count_rows(part, data.n_samples)
    return n_train, data.n_samples - n_train if protocol.test is None else count_rows(protocol.test, data.n_samples)


def _issues_of_listed_splits(protocol: Protocol, data: DatasetMetadata) -> Iterator[Issue]:
    """Find data without rows, groups or an order to divide them by."""
    n_units = data.n_samples if data.n_groups is None else data.n_groups
    if protocol.is_ordered and not data.has_order:
        message = f"no column orders the rows of {data.name}; name one under 'dataset' (order_by: COLUMN)"
        yield Issue(("protocol", "train"), message)
    elif data.knows_relevant_features:
        message = f"{data.name} is drawn anew for each trial, and has no rows to divide; write a number of rows"
        yield Issue(("protocol", "train"), message)
    elif protocol.folds == LEAVE_ONE_OUT and protocol.splits > n_units:
        what = "rows" if data.n_groups is None else "groups"
        message = f"{data.name} has {n_units} {what} to leave out one by one; write {n_units} or fewer"
        yield Issue(("protocol", "splits"), message)


def _issues_of_split(protocol: Protocol, data: DatasetMetadata) -> Iterator[Issue]:
    if protocol.is_listed and not protocol.is_given:
        yield from _issues_of_listed_splits(protocol, data)
        return
    if protocol.is_given:
        if not data.n_splits:
            own = ", or say under 'dataset' what splits it ('split')" if data.is_own else ""
            yield Issue(
                ("protocol", "train"),
                f"{data.name} comes without a split; write a number or a fraction of its rows{own}",
            )
        elif protocol.row_order is None and protocol.splits > data.n_splits:
            given = "1 split is" if data.n_splits == 1 else f"{data.n_splits} splits are"
            yield Issue(("protocol", "splits"), f"{given} given with {data.name}; write {data.n_splits} or fewer")
        return
    for index, part in enumerate(protocol.train):
        n_train, n_test = _rows_of(protocol, part, data)
        if n_train < 1 or n_test < 1 or n_train + n_test > data.n_samples:
            yield Issue(
                ("protocol", "train", index),
                f"{n_train} training and {max(n_test, 0)} test rows cannot be drawn from the {data.n_samples} rows "
                f"of {data.name}; both parts need at least 1 row",
            )
        elif n_train < MIN_TRAINING_ROWS:
            message = (
                f"1 training row is of one class, and a machine needs rows of two; write {MIN_TRAINING_ROWS} or more"
            )
            yield Issue(("protocol", "train", index), message)


def _issues_of_folds(config: Config, data: DatasetMetadata) -> Iterator[Issue]:
    if config.protocol.is_listed or any(_issues_of_split(config.protocol, data)):
        return
    n_train = max(drawn_rows(config.protocol, data))
    for location, classifier in config.classifiers_written():
        for index, step in enumerate(getattr(classifier, "tune", None) or ()):
            needed = MIN_TRAINING_ROWS * (MIN_TRAINING_ROWS if step.folds == LEAVE_ONE_OUT else step.folds)
            if n_train < needed:
                yield Issue(
                    (*location, "tune", index, "folds"),
                    f"folds is {step.folds}, which needs {needed} training rows of two classes and not {n_train}; "
                    "write fewer, or train on more",
                )
            n_folds = MIN_TRAINING_ROWS if step.folds == LEAVE_ONE_OUT else step.folds
            if data.n_groups is not None and data.n_groups - 1 < n_folds:
                yield Issue(
                    (*location, "tune", index, "folds"),
                    f"folds is {step.folds}, which needs {n_folds} groups in the training part; {data.name} has "
                    f"{data.n_groups} in all, and one at least is for testing; write fewer",
                )


def _issues_of_kernels(config: Config) -> Iterator[Issue]:
    """Find rankings whose method is not defined for any kernel that their machine may have.

    For machines with a learned kernel and other classifiers, only the trials find out.
    """
    for index, ranking in enumerate(config.rankings):
        method, classifier = ranking_methods()[ranking.method], config.classifier_of(ranking)
        if not issubclass(method, MachineRanker) or not isinstance(classifier, Classifier):
            continue
        kernels = [classifier.kernel_object()]
        for step in classifier.tune or ():
            kernels = [as_kernel(kernel) for each in step.kernels for kernel in each.objects()] or kernels
        refusals = [refusal for kernel in kernels if (refusal := _refusal(method, kernel))]
        if len(refusals) == len(kernels):
            yield Issue(("rankings", index, "method"), f"{refusals[0]}; choose another method, or kernel")


def _refusal(method: type[MachineRanker], kernel: Kernel) -> str:
    try:
        method.check_kernel(kernel)
    except ValueError as error:
        return str(error)
    return ""


def _issues_of_claims(config: Config, data: DatasetMetadata) -> Iterator[Issue]:
    """Find claims about training sizes that the protocol does not have; of a given split the size is the source's."""
    if config.protocol.is_listed or any(_issues_of_split(config.protocol, data)):
        return
    train_sizes = [*drawn_rows(config.protocol, data)]
    for number, claim in enumerate(config.expected):
        for place in claim.places():
            if place.train_size not in (None, *train_sizes):
                yield Issue(
                    ("expected", number),
                    f"the claim {brief(claim.id)} speaks of {place.train_size} training rows, and the protocol trains "
                    f"on {shown([*map(str, train_sizes)])}; name one of these",
                )


def _issues_of_oracle(config: Config, data: DatasetMetadata) -> Iterator[Issue]:
    """Find features of the oracle that the data lack, and 'relevant' where the data declare no relevant features."""
    if config.oracle == RELEVANT:
        if not data.knows_relevant_features:
            yield Issue(("oracle",), f"nobody knows which features of {data.name} matter; list their names")
        return
    for index, name in enumerate(config.oracle or ()):
        if data.feature_names is not None and name not in data.feature_names:
            called = nearest(name, data.feature_names)
            yield Issue(("oracle", index), f"{data.name} has no feature '{brief(name)}'; {called}")


def _issues_of_class_kernels(config: Config, data: DatasetMetadata) -> Iterator[Issue]:
    for location, classifier in config.classifiers_written():
        named = classifier.class_kernels if isinstance(classifier, Classifier) else {}
        here = (*location, "class_kernels")
        if named and len(data.class_names) == 2:
            yield Issue(here, f"the two classes of {data.name} share one machine; give it its kernel by 'kernel' alone")
            continue
        yield from _unknown_classes(named, here, data)


def _issues_of_class_weights(config: Config, data: DatasetMetadata) -> Iterator[Issue]:
    for location, classifier in config.classifiers_written():
        weights = classifier.class_weight if isinstance(classifier, Classifier) else None
        if isinstance(weights, dict):
            yield from _unknown_classes(weights, (*location, "class_weight"), data)


def _issues_of_metrics(config: Config, data: DatasetMetadata) -> Iterator[Issue]:
    """Find figures of merit of two classes where there are more, and a positive class that the data lack."""
    n_classes = len(data.class_names)
    if config.positive is not None:
        here = ("positive",)
        if n_classes != 2:
            yield Issue(here, f"one of two classes is positive, and {data.name} has {n_classes}; leave it out")
        elif config.positive not in data.class_names:
            yield Issue(here, f"{data.name} has no class '{brief(config.positive)}'; it has {shown(data.class_names)}")
    for index, name in enumerate(config.metrics):
        if has_positive_class(name) and n_classes != 2:
            instead = "macro-f1" if name == F1 else f"{AUC}, the mean of each class against the rest"
            yield Issue(
                ("metrics", index),
                f"{name} is of two classes, and {data.name} has {n_classes}; write {instead}, or leave it out",
            )
    yield from _issues_of_scores_of_pairs(config, n_classes)


def _issues_of_scores_of_pairs(config: Config, n_classes: int) -> Iterator[Issue]:
    """Find the machines of pairs that have no scores for the metrics: one issue, since all have the same remedy."""
    names = [name for name in config.metrics if needs_scores(name)]
    machines = [
        location
        for location, classifier in config.classifiers_written()
        if isinstance(classifier, TunedMachineSpec) and classifier.multiclass == "one-vs-one"
    ]
    if n_classes == 2 or not names or not machines:
        return
    first, *others = machines
    also = [".".join(map(str, location)) for location in others]
    yield Issue(
        (*first, "multiclass"),
        f"metrics {shown(names)}: each needs scores of a class against the rest, which machines of pairs do not have; "
        f"write one-vs-rest{f' here, and in {shown(also)}' if also else ''}, or leave the metric out",
    )


def _unknown_classes(named: Iterable[str], here: Location, data: DatasetMetadata) -> Iterator[Issue]:
    for name in named:
        if name not in data.class_names:
            has = shown(data.class_names, MAX_CLASSES_SHOWN)
            yield Issue((*here, name, "<key>"), f"{data.name} has no class '{brief(name)}'; it has {has}")


def issues_with_sparse_data(config: Config, data: DatasetMetadata) -> Iterator[Issue]:
    """Find settings that need a full matrix of sparse data, and suggest those that do not."""
    for index, ranking in enumerate(config.rankings):
        if reason := reason_against_sparse(data, ranking_methods()[ranking.method]) or _curved_on_sparse(
            config, ranking
        ):
            yield Issue(("rankings", index, "method"), reason)
    for index, extraction in enumerate(config.extractors):
        yield Issue(("extractors", index, "method"), advice_on_sparse(data, f"{extraction.method} takes"))
    for location, classifier in config.classifiers_written():
        if isinstance(classifier, BayesianBase):
            yield Issue(location, advice_on_sparse(data, "a Bayesian machine takes"))
        if isinstance(classifier, TunedMachineSpec) and classifier.kernel != "linear":
            yield Issue(location, advice_on_sparse(data, "a machine whose width is in proportion to distances takes"))
        if dense := [spec.kernel for spec in _kernels_of(classifier) if not spec.kernel_object().accepts_sparse]:
            able = ", ".join(name for name, kernel in KERNELS.items() if kernel().accepts_sparse)
            reason = f"{advice_on_sparse(data, f'the {dense[0]} kernel takes')}; kernels that take a sparse one: {able}"
            yield Issue(location, reason)
    scalings: dict[Location, ScalingName] = {("scaling",): config.scaling}
    scalings |= {("rankings", index, "scaling"): each.scaling or "none" for index, each in enumerate(config.rankings)}
    for location, scaling in scalings.items():
        if scaling in SHIFTING_SCALINGS:
            yield Issue(location, shifts_sparse(scaling))


def _issues_of_weights(config: Config, data: DatasetMetadata) -> Iterator[Issue]:
    """Find what takes no sample weights of data that have some."""
    if not data.has_weights:
        return
    able = ", ".join(name for name, method in ranking_methods().items() if method.takes_sample_weight)
    for index, ranking in enumerate(config.rankings):
        if not ranking_methods()[ranking.method].takes_sample_weight:
            message = f"{ranking.method} takes no sample weights; methods that do: {able}"
            yield Issue(("rankings", index, "method"), message)
        if ranking.sees_all_rows():
            message = "weights are of training rows; leave out 'ranked_on', or 'sample_weight' under 'dataset'"
            yield Issue(("rankings", index, "ranked_on"), message)
    for location, classifier in config.classifiers_written():
        is_plain = isinstance(classifier, Classifier) and classifier.nystroem is None
        if not (is_plain or isinstance(classifier, TunedMachineSpec)):
            message = "takes no sample weights; take an exact machine with a kernel, or 'type: tuned-machine'"
            yield Issue(location, message)
        elif isinstance(classifier, Classifier) and classifier.C_unit != "none":
            message = "the unit of C is a mean over rows, not over their weights; leave 'C_unit' out"
            yield Issue((*location, "C_unit"), message)
    for key in ("extractors", "record"):
        if getattr(config, key):
            yield Issue((key,), f"'{key}' knows no sample weights; leave it out, or 'sample_weight' under 'dataset'")


def _curved_on_sparse(config: Config, ranking: Ranking) -> str:
    """Return why a method that takes a sparse matrix with the linear kernel alone cannot; empty where it can."""
    method, classifier = ranking_methods()[ranking.method], config.classifier_of(ranking)
    if not (issubclass(method, MachineRanker) and method.sparse_needs_linear and isinstance(classifier, Classifier)):
        return ""
    kernels = [each.kernel for step in classifier.tune or () for each in step.kernels] or [classifier.kernel]
    curved = [kernel for kernel in kernels if kernel != "linear"]
    message = f"{ranking.method} takes a sparse matrix with the linear kernel only; choose another method, or kernel"
    return f"{message} than {curved[0]}" if curved else ""


def _kernels_of(classifier: ExperimentClassifier) -> tuple[KernelSpec, ...]:
    if isinstance(classifier, Classifier):
        return (classifier, *classifier.class_kernels.values())
    return classifier.kernels if isinstance(classifier, LearnedKernel) else ()
