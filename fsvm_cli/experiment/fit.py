"""Whether a config and its data fit together: what a run refuses before its first trial, and `fsvm check` tells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fsvm_cli.data.outline_ahead import outline
from fsvm_cli.data.phrases import nearest, shown
from fsvm_cli.errors import UsageError
from fsvm_cli.evaluation.folds import LEAVE_ONE_OUT
from fsvm_cli.evaluation.splits import count_rows
from fsvm_cli.experiment.records.registry import record_kinds
from fsvm_cli.experiment.sparse import mistakes_on_sparse_data
from fsvm_cli.mistakes import Mistake
from fsvm_cli.ranking.machine_ranker import MachineRanker
from fsvm_cli.ranking.registry import ranking_methods
from fsvm_cli.spec.classifiers import Classifier
from fsvm_cli.spec.oracle import RELEVANT
from fsvm_cli.terminal import brief

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from fractions import Fraction

    from fsvm_cli.data.outline import Outline
    from fsvm_cli.mistakes import Location
    from fsvm_cli.spec.config import LoadedConfig
    from fsvm_cli.spec.protocol import Protocol
    from fsvm_cli.spec.schema import Config
    from fsvm_cli.svm.kernels.base import Kernel

MAX_CLASSES = 20
"""Classes that a message names."""

LEAST_ROWS = 2
"""A machine needs a row of each of two classes."""


def check_before_run(loaded: LoadedConfig) -> None:
    """Say what a run would say of a config and its data, as far as this is known without fetching anything.

    Raises
    ------
    UsageError
        If there is no such data set or version, or the config asks for what the data do not have.
    DataError
        If a file of the user's own is missing or is not usable as it is.
    """
    try:
        data = outline(loaded.config.dataset, base_folder=loaded.folder)
    except UsageError as error:
        raise loaded.document.error(("dataset",), str(error)) from error
    if data is not None:
        check_fit(loaded, data)


def check_fit(loaded: LoadedConfig, data: Outline) -> None:
    """Check that a config asks for nothing that its data do not have.

    Raises
    ------
    UsageError
        Listing every mistake with the position of its key.
    """
    mistakes = list(mistakes_of_fit(loaded.config, data))
    if not loaded.document.overrides:  # else nothing is claimed
        mistakes += _mistakes_of_claims(loaded.config, data)
    if mistakes:
        raise loaded.document.errors(mistakes)


def mistakes_of_fit(config: Config, data: Outline) -> Iterator[Mistake]:
    """Find what a config asks for that its data do not have, but for what its claims speak of."""
    yield from _mistakes_of_split(config.protocol, data)
    sizes = config.subsets if isinstance(config.subsets, tuple) else ()
    if too_large := [str(size) for size in sizes if size > data.n_features]:
        message = f"{shown(too_large)} features cannot be retained; {data.name} has {data.n_features}; write no more"
        yield Mistake(("subsets",), message)
    yield from _mistakes_of_folds(config, data)
    yield from _mistakes_of_kernels(config)
    yield from _mistakes_of_oracle(config, data)
    yield from _mistakes_of_class_kernels(config, data)
    yield from _mistakes_of_class_weights(config, data)
    for name in config.record:
        yield from record_kinds()[name].mistakes(config, data)
    if data.is_sparse:
        yield from mistakes_on_sparse_data(config, data)


def drawn_rows(protocol: Protocol, data: Outline) -> dict[int, int]:
    """Count the rows of the test part by those of the training part, for random splits that the data have."""
    return dict(_rows_of(protocol, part, data) for part in protocol.train)


def _rows_of(protocol: Protocol, part: Fraction | int | str, data: Outline) -> tuple[int, int]:
    """Count the rows of a training part, and those of the test part beside it; either may be more than there are."""
    assert not isinstance(part, str), "a given split is planned as it is"
    n_train = count_rows(part, data.n_samples)
    return n_train, data.n_samples - n_train if protocol.test is None else count_rows(protocol.test, data.n_samples)


def _mistakes_of_split(protocol: Protocol, data: Outline) -> Iterator[Mistake]:
    if protocol.is_given:
        if not data.n_splits:
            own = ", or say under 'dataset' what splits it ('split')" if data.is_own else ""
            yield Mistake(
                ("protocol", "train"),
                f"{data.name} comes without a split; write a number or a fraction of its rows{own}",
            )
        elif protocol.splits > data.n_splits:
            given = "1 split is" if data.n_splits == 1 else f"{data.n_splits} splits are"
            yield Mistake(("protocol", "splits"), f"{given} given with {data.name}; write {data.n_splits} or fewer")
        return
    for index, part in enumerate(protocol.train):
        n_train, n_test = _rows_of(protocol, part, data)
        if n_train < 1 or n_test < 1 or n_train + n_test > data.n_samples:
            yield Mistake(
                ("protocol", "train", index),
                f"{n_train} training and {max(n_test, 0)} test rows cannot be drawn from the {data.n_samples} rows "
                f"of {data.name}; both parts need at least 1 row",
            )
        elif n_train < LEAST_ROWS:
            message = f"1 training row is of one class, and a machine needs rows of two; write {LEAST_ROWS} or more"
            yield Mistake(("protocol", "train", index), message)


def _mistakes_of_folds(config: Config, data: Outline) -> Iterator[Mistake]:
    if config.protocol.is_given or any(_mistakes_of_split(config.protocol, data)):
        return
    n_train = max(drawn_rows(config.protocol, data))
    for location, classifier in config.classifiers_written():
        for index, step in enumerate(getattr(classifier, "tune", None) or ()):
            needed = LEAST_ROWS * (LEAST_ROWS if step.folds == LEAVE_ONE_OUT else step.folds)
            if n_train < needed:
                yield Mistake(
                    (*location, "tune", index, "folds"),
                    f"folds is {step.folds}, which needs {needed} training rows of two classes and not {n_train}; "
                    "write fewer, or train on more",
                )
            n_folds = LEAST_ROWS if step.folds == LEAVE_ONE_OUT else step.folds
            if data.n_groups is not None and data.n_groups - 1 < n_folds:
                yield Mistake(
                    (*location, "tune", index, "folds"),
                    f"folds is {step.folds}, which needs {n_folds} groups in the training part; {data.name} has "
                    f"{data.n_groups} in all, and one at least is for testing; write fewer",
                )


def _mistakes_of_kernels(config: Config) -> Iterator[Mistake]:
    """Find rankings whose method is not defined for any kernel that their machine may have.

    Of a machine that learns its kernel, or is none of ours, this is known to its trials alone.
    """
    for index, ranking in enumerate(config.rankings):
        method, classifier = ranking_methods()[ranking.method], config.classifier_of(ranking)
        if not issubclass(method, MachineRanker) or not isinstance(classifier, Classifier):
            continue
        kernels = [classifier.kernel_object()]
        for step in classifier.tune or ():
            kernels = [kernel for each in step.kernels for kernel in each.objects()] or kernels
        refusals = [refusal for kernel in kernels if (refusal := _refusal(method, kernel))]
        if len(refusals) == len(kernels):
            yield Mistake(("rankings", index, "method"), f"{refusals[0]}; choose another method, or kernel")


def _refusal(method: type[MachineRanker], kernel: Kernel) -> str:
    try:
        method.check_kernel(kernel)
    except ValueError as error:
        return str(error)
    return ""


def _mistakes_of_claims(config: Config, data: Outline) -> Iterator[Mistake]:
    """Find claims about training sizes that the protocol does not have; of a given split the size is the source's."""
    if config.protocol.is_given or any(_mistakes_of_split(config.protocol, data)):
        return
    train_sizes = [*drawn_rows(config.protocol, data)]
    for number, claim in enumerate(config.expected):
        for place in claim.places():
            if place.train_size not in (None, *train_sizes):
                yield Mistake(
                    ("expected", number),
                    f"the claim {brief(claim.id)} speaks of {place.train_size} training rows, and the protocol trains "
                    f"on {shown([*map(str, train_sizes)])}; name one of these",
                )


def _mistakes_of_oracle(config: Config, data: Outline) -> Iterator[Mistake]:
    """Find features that the data do not have, and whether somebody knows which matter."""
    if config.oracle == RELEVANT:
        if not data.knows_relevant_features:
            yield Mistake(("oracle",), f"nobody knows which features of {data.name} matter; list their names")
        return
    for index, name in enumerate(config.oracle or ()):
        if data.feature_names is not None and name not in data.feature_names:
            called = nearest(name, data.feature_names)
            yield Mistake(("oracle", index), f"{data.name} has no feature '{brief(name)}'; {called}")


def _mistakes_of_class_kernels(config: Config, data: Outline) -> Iterator[Mistake]:
    for location, classifier in config.classifiers_written():
        named = classifier.class_kernels if isinstance(classifier, Classifier) else {}
        here = (*location, "class_kernels")
        if named and len(data.class_names) == 2:
            yield Mistake(
                here, f"the two classes of {data.name} share one machine; give it its kernel by 'kernel' alone"
            )
            continue
        yield from _unknown_classes(named, here, data)


def _mistakes_of_class_weights(config: Config, data: Outline) -> Iterator[Mistake]:
    for location, classifier in config.classifiers_written():
        weights = classifier.class_weight if isinstance(classifier, Classifier) else None
        if isinstance(weights, dict):
            yield from _unknown_classes(weights, (*location, "class_weight"), data)


def _unknown_classes(named: Iterable[str], here: Location, data: Outline) -> Iterator[Mistake]:
    for name in named:
        if name not in data.class_names:
            has = shown(data.class_names, MAX_CLASSES)
            yield Mistake((*here, name, "<key>"), f"{data.name} has no class '{brief(name)}'; it has {has}")
