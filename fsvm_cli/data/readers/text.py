"""The plain texts of the archives: rows without a header, DNA sequences, and gene expression beside its samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fsvm_cli.data.readers.rows import Rows
from fsvm_cli.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path


def read_text(
    path: Path,
    *,
    separator: str,
    target: str,
    drop: Collection[int] = (),
    missing: str | None = None,
    missing_as: float | None = None,
) -> Rows:
    """Read one row per line, as the UCI and StatLog archives have them; empty lines do not count.

    Parameters
    ----------
    path : Path
        The file, in latin-1 (of which ASCII is a part).
    separator : {"comma", "blank"}
        What stands between the fields; blanks around a field never count.
    target : {"first", "last"}
        Which of the remaining fields is the class.
    drop : collection of int
        Fields to leave out first, counted from 1.
    missing : str, optional
        Mark of a missing value; rows that have one are left out.
    missing_as : float, optional
        What takes the place of a missing value, so that its row stays.

    Raises
    ------
    DataError
        If there are no rows, rows differ in length, or a feature is no number; with the line.
    """
    values: list[list[float]] = []
    labels: list[str] = []
    width = 0
    for number, line in enumerate(path.read_text(encoding="latin-1").splitlines(), start=1):
        if not line.strip():
            continue
        # Numbers may keep the blanks around them: float() passes over these.
        fields = line.split(",") if separator == "comma" else line.split()
        width = width or len(fields)
        if len(fields) != width:
            raise DataError(f"{path}:{number}: {len(fields)} fields where the first row has {width}")
        if drop:
            fields = [field for column, field in enumerate(fields, start=1) if column not in drop]
        if not fields:
            raise DataError(f"{path}:{number}: no field for the class")
        label = fields.pop(0 if target == "first" else -1).strip()
        if missing is not None and missing in map(str.strip, fields):
            if missing_as is None:
                continue
            fields = [str(missing_as) if field.strip() == missing else field for field in fields]
        try:
            values.append(list(map(float, fields)))
        except ValueError as error:
            raise DataError(f"{path}:{number}: {str(error).partition(': ')[2]} is no number") from error
        labels.append(label)
    if not values:
        raise DataError(f"{path}: holds no rows")
    return Rows(np.array(values, dtype=np.float64), labels)


def read_sequences(path: Path, *, coding: str) -> Rows:
    """Read the splice junctions of the UCI archive: lines of class, name and DNA sequence; letters become numbers.

    Rows with a letter that stands for several nucleotides (D, N, R, S) are left out.

    Parameters
    ----------
    path : Path
        ASCII text; fields are set off by commas and padded with blanks.
    coding : str
        The four nucleotides in the order of the codes 1, 2, 3, 4.

    Raises
    ------
    DataError
        If there are no rows, a line has not three fields, or sequences differ in length; with the line.
    """
    code = {letter: float(number) for number, letter in enumerate(coding, start=1)}
    values: list[list[float]] = []
    labels: list[str] = []
    for number, line in enumerate(path.read_text(encoding="latin-1").splitlines(), start=1):
        fields = [field.strip() for field in line.split(",")]
        if len(fields) != 3:
            raise DataError(f"{path}:{number}: {len(fields)} fields; class, name and sequence are expected")
        label, _, sequence = fields
        if not code.keys() >= set(sequence):
            continue
        values.append([code[letter] for letter in sequence])
        labels.append(label)
        if len(sequence) != len(values[0]):
            raise DataError(f"{path}:{number}: a sequence of {len(sequence)} letters after one of {len(values[0])}")
    if not values:
        raise DataError(f"{path}: holds no rows")
    return Rows(np.array(values), labels)


def read_expression(intensities: Path, tissues: Path, names: Path) -> Rows:
    """Read gene expression as Alon et al. (1999) published it: genes in lines, samples in columns, labels beside.

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
        because several genes share a clone. Groups are the patients.

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
    labels = ["tumour" if patient < 0 else "normal" for patient in patients]
    return Rows(np.ascontiguousarray(X), labels, feature_names, groups=np.abs(np.array(patients, dtype=np.int64)))


def read_gene_table(table: Path, samples: Path) -> Rows:
    """Read gene expression as Golub et al. (1999) published it: a line for each gene, two columns for each sample.

    Parameters
    ----------
    table : Path
        Fields set off by tabs. The header numbers the samples; of a sample's two columns the first is the value, the
        second a call, which is left out.
    samples : Path
        Lines that begin with the number of a sample and its class; other lines do not count.

    Returns
    -------
    Rows
        One row per sample, in the order of the header. Genes are named by line and accession number, because some have
        the same number.

    Raises
    ------
    DataError
        If a value is no number, lines differ in length, or a sample has no class.
    """
    words = (line.split() for line in samples.read_text(encoding="latin-1").splitlines())
    classes = {known[0]: known[1] for known in words if len(known) > 1 and known[0].isdigit()}
    lines = [line.split("\t") for line in table.read_text(encoding="latin-1").splitlines()]
    header = lines[0] if lines else []
    numbers = header[2::2]
    if not numbers:
        raise DataError(f"{table}: the first line names no sample behind two fields that name a gene")
    if unknown := [number for number in numbers if number not in classes]:
        raise DataError(f"{table}: sample '{unknown[0]}' has no class in {samples.name}")
    values, names = [], []
    for number, line in enumerate(lines[1:], start=2):
        if len(line) < len(header):
            raise DataError(f"{table}:{number}: {len(line)} fields, where the header has {len(header)}")
        try:
            values.append([float(word) for word in line[2 : len(header) : 2]])
        except ValueError as error:
            raise DataError(f"{table}:{number}: {error}") from error
        names.append(f"{number - 1} {line[1].strip()}")
    X = np.array(values, dtype=np.float64).reshape(len(values), len(numbers)).T
    return Rows(np.ascontiguousarray(X), [classes[number] for number in numbers], tuple(names))
