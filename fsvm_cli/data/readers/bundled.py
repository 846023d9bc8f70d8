"""The copies of data sets that scikit-learn carries."""

from __future__ import annotations

import numpy as np

from fsvm_cli.data.readers.rows import Rows


def read_bundled(loader: str) -> Rows:
    """Read what ``sklearn.datasets.<loader>()`` returns; labels are scikit-learn's class names."""
    import sklearn.datasets  # noqa: PLC0415 - slow to import, and seldom needed

    bunch = getattr(sklearn.datasets, loader)()
    labels = np.asarray(bunch.target_names)[bunch.target].tolist()
    return Rows(np.asarray(bunch.data, dtype=np.float64), labels, tuple(map(str, bunch.feature_names)))
