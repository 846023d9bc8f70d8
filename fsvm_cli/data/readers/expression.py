"""Gene expression as Alon et al. (1999) published it: genes in lines, samples in columns, labels beside."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fsvm_cli.data.readers.rows import Rows
from fsvm_cli.errors import DataError

if TYPE_CHECKING:
    from pathlib import Path


def read_expression(intensities: Path, tissues: Path, names: Path) -> Rows:
    """Read intensities, the tissue of each sample, and the names of the genes.

    Parameters
    ----------
    intensities : Path
        One line of numbers per gene, one number per sample; empty lines do not count.
    tissues : Path
        One integer per sample: the number of the patient, negative for tumour tissue.
    names : Path
        One line per gene; its first two fields, set off by tabs, name the clone and its sequence.

    Returns
    -------
    Rows
        One row per sample; labels ``"tumour"`` and ``"normal"``. Genes are named by line, clone and sequence,
        because several genes share a clone.

    Raises
    ------
    DataError
        If something is no number, or the files do not fit together.
    """
    try:
        lines = [line.split() for line in intensities.read_text(encoding="latin-1").splitlines() if line.strip()]
        X = np.array(lines, dtype=np.float64).T
        patients = [int(word) for word in tissues.read_text(encoding="latin-1").split()]
    except ValueError as error:
        raise DataError(f"{intensities.parent}: {error}") from error
    genes = [line.split("\t") for line in names.read_text(encoding="latin-1").splitlines() if line.strip()]
    if X.shape != (len(patients), len(genes)):
        raise DataError(f"{intensities}: {X.shape}, where {len(patients)} samples of {len(genes)} genes are named")
    feature_names = tuple(f"{line} {' '.join(gene[:2])}" for line, gene in enumerate(genes, start=1))
    return Rows(np.ascontiguousarray(X), ["tumour" if patient < 0 else "normal" for patient in patients], feature_names)
