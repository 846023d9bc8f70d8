"""Whether a config and its data fit together: what a run refuses before its first trial, and `fsvm check` tells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fsvm_cli.data.outline import outline
from fsvm_cli.errors import UsageError
from fsvm_cli.evaluation.folds import LEAVE_ONE_OUT
from fsvm_cli.evaluation.splits import count_rows
from fsvm_cli.experiment.records.registry import record_kinds
from fsvm_cli.spec.schema import GIVEN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsvm_cli.data.outline import Outline
    from fsvm_cli.data.source import DataSource
    from fsvm_cli.mistakes import Location
    from fsvm_cli.spec.config import LoadedConfig

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
        With the position of the key.
    """
    config, document = loaded.config, loaded.document
    if not config.protocol.is_given:
        _check_folds(loaded, max(drawn_rows(loaded, data)))
    elif not data.has_split:
        raise document.error(
            ("protocol", "train"), f"{data.name} comes without a split; write a number or a fraction of its rows"
        )
    if config.subsets != "all" and config.subsets[-1] > data.n_features:
        raise document.error(
            ("subsets",), f"{config.subsets[-1]} features cannot be retained; {data.name} has {data.n_features}"
        )
    _check_class_kernels(loaded, data)
    for name in config.record:
        record_kinds()[name].check(loaded, data)


def drawn_rows(loaded: LoadedConfig, data: Outline | DataSource) -> dict[int, int]:
    """Count the rows of the test part by those of the training part, for random splits.

    Raises
    ------
    UsageError
        If the data have not as many.
    """
    protocol, n_test = loaded.config.protocol, {}
    for part in protocol.train:
        assert part != GIVEN, "a given split is planned as it is"
        n_train = count_rows(part, data.n_samples)
        rest = data.n_samples - n_train
        wanted = rest if protocol.test is None else count_rows(protocol.test, data.n_samples)
        train: Location = ("protocol", "train")
        if n_train < 1 or wanted < 1 or wanted > rest:
            raise loaded.document.error(
                train,
                f"{n_train} training and {max(wanted, 0)} test rows cannot be drawn from the {data.n_samples} rows "
                f"of {data.name}; both parts need at least 1 row",
            )
        if n_train < LEAST_ROWS:
            raise loaded.document.error(train, "1 training row is of one class; a machine needs rows of two")
        n_test[n_train] = wanted
    return n_test


def _classifiers(loaded: LoadedConfig) -> Iterator[tuple[Location, Any]]:
    """Yield the classifiers of a config and their locations."""
    yield ("classifier",), loaded.config.classifier
    for index, ranking in enumerate(loaded.config.rankings):
        yield ("rankings", index, "classifier"), ranking.classifier


def _check_folds(loaded: LoadedConfig, n_train: int) -> None:
    for location, classifier in _classifiers(loaded):
        for step in getattr(classifier, "tune", None) or ():
            needed = LEAST_ROWS * (LEAST_ROWS if step.folds == LEAVE_ONE_OUT else step.folds)
            if n_train < needed:
                raise loaded.document.error(
                    (*location, "tune"),
                    f"folds is {step.folds}, which needs {needed} training rows of two classes; there are {n_train}",
                )


def _check_class_kernels(loaded: LoadedConfig, data: Outline) -> None:
    for location, classifier in _classifiers(loaded):
        named = getattr(classifier, "class_kernels", {})
        for name in named:
            if name not in data.class_names:
                raise loaded.document.error(
                    (*location, "class_kernels", name),
                    f"{data.name} has no class '{name}'; it has {', '.join(data.class_names)}",
                )
        if named and len(data.class_names) == 2:
            raise loaded.document.error(
                (*location, "class_kernels"),
                f"the two classes of {data.name} share one machine; give it its kernel by 'kernel'",
            )
