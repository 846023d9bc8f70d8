"""Cards: what is known of a data set, where it comes from, and what must be found in it."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Annotated, Any, Self

import numpy as np
from pydantic import Discriminator, Field, Tag, model_validator

from fsvm_cli.data.catalogue import data_cards
from fsvm_cli.data.copies import CardFile, Copy, Files, Sha256
from fsvm_cli.data.phrases import nearest
from fsvm_cli.data.synthetic import GENERATORS
from fsvm_cli.documents import StrictModel, read_document, validate
from fsvm_cli.errors import UsageError
from fsvm_cli.mistakes import Mistake, MistakesError
from fsvm_cli.terminal import brief

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsvm_cli.mistakes import Location


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
            raise MistakesError([Mistake(("generator",), message)])
        draw = GENERATORS[self.generator].draw
        known = inspect.signature(draw).parameters
        wanted = {name for name, each in known.items() if each.kind is inspect.Parameter.KEYWORD_ONLY}
        if wanted != self.parameters.keys():
            names = ", ".join(sorted(wanted)) or "none"
            raise MistakesError(
                [Mistake(("parameters",), f"parameters do not fit {self.generator}; it has these: {names}")]
            )
        try:
            with np.errstate(all="ignore"):
                X, _ = draw(np.random.default_rng(0), 2, **self.parameters)
        except (ArithmeticError, TypeError, ValueError) as error:
            # Python's own words are no help: they speak of its types.
            reason = " (one is of another kind than it takes)" if isinstance(error, TypeError) else f" ({error})"
            message = f"{self.generator} cannot draw with these parameters{reason}; write others"
            raise MistakesError([Mistake(("parameters",), message)]) from error
        if not np.isfinite(X).all():
            message = f"{self.generator} draws values that are not finite; write other parameters"
            raise MistakesError([Mistake(("parameters",), message)])
        return self


def _kind(value: Any) -> str:
    """Tell the versions that are drawn from the others."""
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
        mistakes = [
            Mistake(location, f"there is no '{brief(path)}' under 'files'; list it there with its sha256 and bytes")
            for location, path in self._named_files()
            if path not in known
        ]
        if mistakes:
            raise MistakesError(mistakes)
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
        If there is none, with the names that come nearest; or if the card is wrong, with the position of each mistake.
    """
    cards = data_cards()
    if name not in cards:
        raise UsageError(
            f"there is no data set '{brief(name)}'; {nearest(name, [*cards])} ('fsvm datasets list' shows all)"
        )
    return validate(read_document(cards[name]), Card)
