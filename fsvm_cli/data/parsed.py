"""A cache of rows that were slow to parse, beside the files that they came from."""

from __future__ import annotations

import contextlib
import io
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from fsvm_cli.data.fetch import cache_folder
from fsvm_cli.data.readers.rows import Rows
from fsvm_cli.errors import DataError
from fsvm_cli.files import write_atomically

if TYPE_CHECKING:
    from pathlib import Path


def keep(sha256: str, parts: list[Rows]) -> None:
    """Keep sparse rows under the hash of their values; where the cache cannot be written, nothing is kept."""
    stored: dict[str, Any] = {
        "feature_names": np.array(parts[0].feature_names),
        "least_occurrences": np.array([] if parts[0].least_occurrences is None else [parts[0].least_occurrences]),
    }
    for number, part in enumerate(parts):
        X = sp.csr_array(part.X)
        stored |= {
            f"data{number}": X.data,
            f"indices{number}": X.indices,
            f"indptr{number}": X.indptr,
            f"labels{number}": np.array(part.labels),
        }
    stream = io.BytesIO()
    np.savez(stream, **stored)
    with contextlib.suppress(DataError):
        write_atomically(_path(sha256), stream.getvalue())


def recall(sha256: str) -> list[Rows] | None:
    """Find rows that were kept, or None; the caller verifies their hash."""
    try:
        with _path(sha256).open("rb") as stream, np.load(stream, allow_pickle=False) as stored:
            feature_names = tuple(stored["feature_names"].tolist())
            least_occurrences = next(iter(stored["least_occurrences"].tolist()), None)
            n_parts = sum(name.startswith("data") for name in stored)
            return [
                Rows(
                    sp.csr_array(
                        tuple(stored[f"{name}{number}"] for name in ("data", "indices", "indptr")),
                        shape=(len(stored[f"labels{number}"]), len(feature_names)),
                    ),
                    stored[f"labels{number}"].tolist(),
                    feature_names,
                    least_occurrences,
                )
                for number in range(n_parts)
            ]
    except (OSError, ValueError, KeyError, zipfile.BadZipFile, EOFError):
        return None


def _path(sha256: str) -> Path:
    return cache_folder() / "parsed" / f"{sha256}.npz"
