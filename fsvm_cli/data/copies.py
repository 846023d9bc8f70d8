"""The files of a data set, and the ways to read them that a card can name."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fsvm_cli.documents import StrictModel

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class CardFile(StrictModel):
    """One file of the archive.

    Attributes
    ----------
    path : str
        Where it lies in the archive's layout, which the cache and mirrors share.
    sha256 : str
        Of its bytes, once unpacked.
    bytes : int
        Its size.
    addresses : tuple of str
        Where it can be downloaded, best first; ``ADDRESS#MEMBER`` names a file within an archive,
        ``ADDRESS#ARCHIVE#MEMBER`` one of an archive within a zip file.
    """

    path: str = Field(pattern=r"^[\w.+-]+(/[\w.+-]+)*$", max_length=200)
    sha256: Sha256
    bytes: int = Field(gt=0)
    addresses: tuple[Annotated[str, Field(pattern=r"^https://")], ...] = ()


class Files(StrictModel):
    """The files that a copy is read from, by their paths.

    Attributes
    ----------
    files : tuple of str
        All rows, or the training rows; all files of the card where nothing is said.
    test_files : tuple of str
        Test rows, where the source fixes the split.
    """

    files: tuple[str, ...] = ()
    test_files: tuple[str, ...] = ()


class TextCopy(Files):
    """Plain text, one row per line.

    Attributes
    ----------
    separator : {"comma", "blank"}
        What stands between the fields; blanks around a field never count.
    target : {"first", "last"}
        Which of the fields is the class, once those in `drop` are gone.
    drop : tuple of int
        Fields that are no features (names, numbers of patients), counted from 1.
    missing : str or None
        Mark of a missing value; rows that have one are left out.
    """

    reader: Literal["text"]
    separator: Literal["comma", "blank"]
    target: Literal["first", "last"]
    drop: tuple[Annotated[int, Field(ge=1)], ...] = ()
    missing: str | None = None


class SequencesCopy(Files):
    """DNA sequences; `coding` gives the nucleotides in the order of their codes 1 to 4."""

    reader: Literal["sequences"]
    coding: Annotated[str, Field(pattern="^[ACGT]{4}$")]


class ExpressionCopy(Files):
    """Intensities, tissues and names of genes, in this order."""

    reader: Literal["expression"]


class LibsvmCopy(Files):
    """LIBSVM's format, as a sparse matrix unless `dense`."""

    reader: Literal["libsvm"]
    dense: bool = False


class ReutersCopy(Files):
    """Stories of Reuters-21578 about one of `topics`; see `fsvm_cli.data.readers.reuters`."""

    reader: Literal["reuters"]
    topics: tuple[str, ...] = Field(min_length=2)
    split: Literal["any", "modapte"]
    vocabulary: Literal["whole", "training"]
    text: Literal["story", "body"] = "story"
    several: Literal["leave-out", "copy-each", "first"] = "leave-out"


class BundledCopy(StrictModel):
    """The copy that scikit-learn carries."""

    reader: Literal["scikit-learn"]
    loader: Literal["load_wine", "load_breast_cancer"]


Copy = Annotated[
    TextCopy | SequencesCopy | ExpressionCopy | LibsvmCopy | ReutersCopy | BundledCopy, Field(discriminator="reader")
]
