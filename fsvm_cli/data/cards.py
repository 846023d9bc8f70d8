"""Cards of data sets: where the files are, how to read them, and what must be found in them."""

from __future__ import annotations

import functools
import inspect
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

import numpy as np
from pydantic import Discriminator, Field, Tag, model_validator

from fsvm_cli.config_io import StrictModel, read_document, validate
from fsvm_cli.console import brief
from fsvm_cli.data.messages import nearest
from fsvm_cli.data.synthetic import GENERATORS
from fsvm_cli.errors import UsageError
from fsvm_cli.plugins import joined, load_plugins
from fsvm_cli.resources import resource_folder, resource_names
from fsvm_cli.validation_errors import Issue, IssuesError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from fsvm_cli.validation_errors import Location


@functools.cache
def data_cards() -> Mapping[str, Path]:
    """Find every card, in the order of the names.

    Returns
    -------
    mapping of str to Path
        The file of each card.

    Raises
    ------
    UsageError
        If two packages have a data set of the same name.
    """
    own = {name: resource_folder("datasets") / f"{name}.yaml" for name in resource_names("datasets")}
    return joined("fsvm.datasets", own, load_plugins("fsvm.datasets", _cards_from_outside))


def _cards_from_outside(_: str, loaded: Any) -> dict[str, Path]:
    """Find the cards that another package adds: in the folder of a module, in a folder, or a single one."""
    where = Path(str(loaded.__file__)).parent if isinstance(loaded, ModuleType) else Path(loaded)
    paths = [where] if where.is_file() else sorted(where.glob("*.yaml"))
    if not paths:
        raise FileNotFoundError(f"{where}: no card (NAME.yaml) here")
    return {path.stem: path for path in paths}


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
    missing_as : float or None
        What takes the place of a missing value, so that its row stays.
    """

    reader: Literal["text"]
    separator: Literal["comma", "blank"]
    target: Literal["first", "last"]
    drop: tuple[Annotated[int, Field(ge=1)], ...] = ()
    missing: str | None = None
    missing_as: float | None = None


class SequencesCopy(Files):
    """DNA sequences; `coding` gives the nucleotides in the order of their codes 1 to 4."""

    reader: Literal["sequences"]
    coding: Annotated[str, Field(pattern="^[ACGT]{4}$")]


class ExpressionCopy(Files):
    """Intensities, tissues and names of genes, in this order; `groups` keeps the tissues of a patient together."""

    reader: Literal["expression"]
    groups: Literal["patients"] | None = None


class GeneTableCopy(Files):
    """A table of genes and that of the samples, in this order; `test_files` are further tables of genes."""

    reader: Literal["gene-table"]


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
    TextCopy | SequencesCopy | ExpressionCopy | GeneTableCopy | LibsvmCopy | ReutersCopy | BundledCopy,
    Field(discriminator="reader"),
]


class Expected(StrictModel):
    """What reading must yield; `sha256` is of the values (`fsvm_cli.data.dataset.hash_values`)."""

    rows: int = Field(gt=0)
    features: int = Field(gt=0)
    classes: dict[str, int]
    sha256: Sha256


class CardSplits(StrictModel):
    """A file that lists splits, one a line (`fsvm_cli.data.given_splits.read_splits`), and how many."""

    file: str
    number: int = Field(ge=1)
    first_row: int = Field(default=1, ge=0, le=1)


class FixedVersion(StrictModel):
    """A version of a data set that is the same for everyone.

    Attributes
    ----------
    about : str
        How it differs from the other versions.
    copies : tuple
        Ways to the same values, best first; `expected` decides whether a copy is one.
    classes : dict of str to str
        Name of the class for each label that stands in the data; several labels may share one.
    features : tuple of str
        Names of the features; empty where the copy names them, or they are numbered.
    splits : CardSplits or None
        Splits that the source gives; one may come with the copies instead.
    caveats : tuple of str
        What every report on it must say.
    """

    about: str
    copies: tuple[Copy, ...] = Field(min_length=1)
    classes: dict[str, str] = Field(min_length=2)
    features: tuple[str, ...] = ()
    expected: Expected
    splits: CardSplits | None = None
    caveats: tuple[str, ...] = ()


class GeneratedVersion(StrictModel):
    """A distribution to draw from.

    Attributes
    ----------
    about : str
        The distribution, with its source.
    generator : str
        Name of the function in `fsvm_cli.data.synthetic`.
    parameters : dict
        Its parameters.
    samples : int
        Rows to draw where the config says nothing.
    bayes_error : float or None
        Error of the best rule, between 0 and 1, where it is known.
    caveats : tuple of str
        What every report on it must say.
    """

    about: str
    generator: str
    parameters: dict[str, int | float | tuple[float, ...]] = Field(default_factory=dict)
    samples: int = Field(ge=2)
    bayes_error: float | None = Field(default=None, ge=0, le=1)
    caveats: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _can_be_drawn(self) -> Self:
        if self.generator not in GENERATORS:
            message = f"'{brief(self.generator)}' is no generator; {nearest(self.generator, [*GENERATORS])}"
            raise IssuesError([Issue(("generator",), message)])
        draw = GENERATORS[self.generator].draw
        known = inspect.signature(draw).parameters
        wanted = {name for name, each in known.items() if each.kind is inspect.Parameter.KEYWORD_ONLY}
        if wanted != self.parameters.keys():
            names = ", ".join(sorted(wanted)) or "none"
            raise IssuesError(
                [Issue(("parameters",), f"parameters do not fit {self.generator}; it has these: {names}")]
            )
        try:
            with np.errstate(all="ignore"):
                X, _ = draw(np.random.default_rng(0), 2, **self.parameters)
        except (ArithmeticError, TypeError, ValueError) as error:
            # The message of a TypeError is about Python's types, not the card.
            reason = " (one is of another kind than it takes)" if isinstance(error, TypeError) else f" ({error})"
            message = f"{self.generator} cannot draw with these parameters{reason}; write others"
            raise IssuesError([Issue(("parameters",), message)]) from error
        if not np.isfinite(X).all():
            message = f"{self.generator} draws values that are not finite; write other parameters"
            raise IssuesError([Issue(("parameters",), message)])
        return self


def _kind(value: Any) -> str:
    """Return the tag of a version: generated or fixed."""
    is_drawn = "generator" in value if isinstance(value, dict) else isinstance(value, GeneratedVersion)
    return "generated" if is_drawn else "fixed"


Version = Annotated[
    Annotated[FixedVersion, Tag("fixed")] | Annotated[GeneratedVersion, Tag("generated")], Discriminator(_kind)
]


class Card(StrictModel):
    """One data set.

    Attributes
    ----------
    title, about, citation, licence : str
        For people.
    oddities : tuple of str
        What a person should know before using it.
    files : tuple of CardFile
        All files that its versions are read from; none for a synthetic set.
    versions : dict of str to FixedVersion or GeneratedVersion
        The first is the default.
    """

    title: str
    about: str
    citation: str
    licence: str
    oddities: tuple[str, ...] = ()
    files: tuple[CardFile, ...] = ()
    versions: dict[str, Version] = Field(min_length=1)

    @model_validator(mode="after")
    def _name_known_files(self) -> Self:
        known = {file.path for file in self.files}
        issues = [
            Issue(location, f"there is no '{brief(path)}' under 'files'; list it there with its sha256 and bytes")
            for location, path in self._named_files()
            if path not in known
        ]
        if issues:
            raise IssuesError(issues)
        return self

    def _named_files(self) -> Iterator[tuple[Location, str]]:
        """Yield the files that copies name, each with its location on the card."""
        for name, version in self.versions.items():
            if isinstance(version, FixedVersion) and version.splits is not None:
                yield ("versions", name, "splits", "file"), version.splits.file
            for number, copy in enumerate(version.copies if isinstance(version, FixedVersion) else ()):
                for key in ("files", "test_files") if isinstance(copy, Files) else ():
                    for index, path in enumerate(getattr(copy, key)):
                        yield ("versions", name, "copies", number, key, index), path

    def files_of(self, copy: Files) -> list[CardFile]:
        """List the files that a copy is read from, in the order in which it names them."""
        by_path = {file.path: file for file in self.files}
        return [by_path[path] for path in (*(copy.files or by_path), *copy.test_files)]

    def version(self, name: str, chosen: str | None) -> tuple[str, FixedVersion | GeneratedVersion]:
        """Find the version `chosen`, or the first; `name` is the card's own, for the error.

        Raises
        ------
        UsageError
            If the card has no such version.
        """
        if chosen is None:
            return next(iter(self.versions.items()))
        if chosen not in self.versions:
            raise UsageError(f"the data set '{name}' has no version '{chosen}'; {nearest(chosen, [*self.versions])}")
        return chosen, self.versions[chosen]


def read_card(name: str) -> Card:
    """Read the card called `name`.

    Raises
    ------
    UsageError
        If there is none, with the names that come nearest; or if the card is wrong, with the position of each error.
    """
    cards = data_cards()
    if name not in cards:
        raise UsageError(
            f"there is no data set '{brief(name)}'; {nearest(name, [*cards])} ('fsvm datasets list' shows all)"
        )
    return validate(read_document(cards[name]), Card)
