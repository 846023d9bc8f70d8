"""Summaries of data sets and the state of their files on this machine, without reading or fetching any."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from fsvm_cli.data.cards import BundledCopy, Files, FixedVersion, data_cards, read_card
from fsvm_cli.data.fetch import addresses_of, is_intact, local_paths
from fsvm_cli.data.synthetic import GENERATORS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from fsvm_cli.data.cards import Card, CardFile, GeneratedVersion

FileState = Literal["intact", "absent", "altered"]
Availability = Literal["drawn", "bundled", "cached", "mirror", "to fetch", "by hand"]


@dataclass(frozen=True)
class VersionSummary:
    """Size of one version of a data set.

    Attributes
    ----------
    name, version, about : str
        Of the card and its version.
    n_samples, n_features, n_classes : int
        Sizes; of a synthetic set, the rows that are drawn where a config says nothing.
    class_counts : dict of str to int
        Rows by class; empty for a synthetic set.
    feature_names : tuple of str
        Names of the features, as far as the card has them.
    bayes_error : float or None
        Error of the best rule, between 0 and 1, where it is known.
    caveats : tuple of str
        What every report on it says.
    availability : {"drawn", "bundled", "cached", "mirror", "to fetch", "by hand"}
        Whether it can be had without network, and how; "by hand" where a file has no address.
    files : tuple of str
        Paths of the files that its copies are read from.
    """

    name: str
    version: str
    about: str
    n_samples: int
    n_features: int
    n_classes: int
    class_counts: dict[str, int]
    feature_names: tuple[str, ...]
    bayes_error: float | None
    caveats: tuple[str, ...]
    availability: Availability
    files: tuple[str, ...]


@dataclass(frozen=True)
class StoredFile:
    """One file of a card, where it lies and in which state: in the cache, or else in the folder of a mirror.

    Attributes
    ----------
    file : CardFile
    path : Path
        Of an absent file, where it would be fetched to.
    state : {"intact", "absent", "altered"}
    in_mirror : bool
        Whether `path` lies in the folder that ``FSVM_MIRROR`` names.
    """

    file: CardFile
    path: Path
    state: FileState
    in_mirror: bool


def summarize(name: str) -> list[VersionSummary]:
    """Summarize every version of one card, the default first.

    Raises
    ------
    UsageError
        If there is no such card.
    """
    card = read_card(name)
    return [_summarize(name, card, version_name, version) for version_name, version in card.versions.items()]


def _summarize(name: str, card: Card, version_name: str, version: FixedVersion | GeneratedVersion) -> VersionSummary:
    if not isinstance(version, FixedVersion):
        generator = GENERATORS[version.generator]
        return VersionSummary(
            name=name,
            version=version_name,
            about=version.about,
            n_samples=version.samples,
            n_features=generator.n_features,
            n_classes=len(generator.class_names),
            class_counts={},
            feature_names=(),
            bayes_error=version.bayes_error,
            caveats=version.caveats,
            availability="drawn",
            files=(),
        )
    return VersionSummary(
        name=name,
        version=version_name,
        about=version.about,
        n_samples=version.expected.rows,
        n_features=version.expected.features,
        n_classes=len(version.expected.classes),
        class_counts=version.expected.classes,
        feature_names=version.features,
        bayes_error=None,
        caveats=version.caveats,
        availability=_availability(card, version),
        files=tuple(file.path for copy in version.copies if isinstance(copy, Files) for file in card.files_of(copy)),
    )


def _availability(card: Card, version: FixedVersion) -> Availability:
    fetched = [card.files_of(copy) for copy in version.copies if isinstance(copy, Files)]
    found = [list(map(_stored, files)) for files in fetched]
    intact = [files for files in found if all(file.state == "intact" for file in files)]
    # In the order in which a run tries them.
    if any(not any(file.in_mirror for file in files) for files in intact):
        return "cached"
    if any(isinstance(copy, BundledCopy) for copy in version.copies):
        return "bundled"
    if intact:
        return "mirror"
    return "to fetch" if any(all(addresses_of(file) for file in files) for files in fetched) else "by hand"


def _stored(file: CardFile) -> StoredFile:
    paths = local_paths(file)
    for index, path in enumerate(paths):
        if is_intact(path, file):
            return StoredFile(file, path, "intact", in_mirror=index > 0)
    for index, path in enumerate(paths):
        if path.exists():
            return StoredFile(file, path, "altered", in_mirror=index > 0)
    return StoredFile(file, paths[0], "absent", in_mirror=False)


def stored_files(names: Sequence[str] = ()) -> list[StoredFile]:
    """List the files of the cards called `names`, or of all, with their state on this machine.

    Raises
    ------
    UsageError
        If there is no such card.
    """
    files = {file.path: file for name in names or data_cards() for file in read_card(name).files}
    return list(map(_stored, files.values()))
