"""The data sets of OpenML."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import pyarrow as pa
import sklearn.datasets

from fsvm_cli.data.fetch import cache_folder
from fsvm_cli.data.readers.numbers import Reading
from fsvm_cli.data.readers.user_tables import with_declared_words
from fsvm_cli.data.tables import dataset_from_table
from fsvm_cli.errors import DataError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from fsvm_cli.data.dataset import Dataset
    from fsvm_cli.data.source_spec import OpenmlSpec


def load_openml(spec: OpenmlSpec, announce: Callable[[str], None]) -> Dataset:
    """Fetch a data set of OpenML, or take it from the cache.

    Raises
    ------
    UsageError
        If a number comes with a version.
    DataError
        If OpenML has no such set, it cannot be reached, or the set is not usable as it is.
    """
    is_number = isinstance(spec.openml, int)
    if is_number and spec.version is not None:
        raise UsageError(f"OpenML {spec.openml}: a number stands for one version; leave 'version' out")
    announce(f"OpenML {spec.openml}: from the cache, or from openml.org")
    try:
        with warnings.catch_warnings(record=True) as remarks:
            warnings.simplefilter("always")
            bunch = sklearn.datasets.fetch_openml(
                name=None if is_number else spec.openml,
                version=spec.version or "active",
                data_id=spec.openml if is_number else None,
                as_frame=True,
                data_home=cache_folder(),
            )
    except (OSError, ValueError) as error:  # no network; no such set, or other bytes than OpenML announces
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise DataError(
            f"OpenML {spec.openml}: is not available ({reason})\n"
            "Try again later, or save the table and name it in the config (dataset: {file: NAME.csv, target: COLUMN})."
        ) from error
    for remark in remarks:  # which of several versions was taken, for example
        announce(str(remark.message).splitlines()[0])
    table = with_declared_words(pa.Table.from_pandas(bunch.frame, preserve_index=False), spec.words)
    own_target = bunch.target_names[0] if len(bunch.target_names) == 1 else None
    return dataset_from_table(f"openml-{spec.openml}", Reading.of_words(table), spec, own_target)
