"""Every card: a new one is tested by being there."""

from __future__ import annotations

import bz2
import csv
import functools
import io
import tarfile
import zipfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from fsvm_cli.data.cards import Card, CardFile, Files, FixedVersion, LibsvmCopy, TextCopy
from fsvm_cli.data.dataset import with_training_vocabulary
from fsvm_cli.data.fetch import fetch_files, is_intact
from fsvm_cli.data.load import load_version
from fsvm_cli.data.opening import open_source
from fsvm_cli.data.readers import reuters
from fsvm_cli.data.source import fixed_source
from fsvm_cli.data.source_spec import NamedSpec
from fsvm_cli.resources import resource_folder, resource_names
from tests.data.test_unpack import compress
from tests.helpers.server import Server, files_below, serving
from tests.helpers.shipped import shipped_card

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fsvm_cli.data.dataset import Dataset
    from fsvm_cli.data.source import DataSource

CARDS = {name: shipped_card(name) for name in resource_names("datasets")}
FIXED = [
    (name, version_name)
    for name, card in CARDS.items()
    for version_name, version in card.versions.items()
    if isinstance(version, FixedVersion)
]


def silent(line: str) -> None:
    pass


@pytest.fixture(scope="module")
def mirror_server(mirror_folder: Path) -> Iterator[Server]:
    with serving() as server:
        server.predictions.update(files_below(mirror_folder))
        yield server


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def _stories_cut_once() -> Iterator[None]:
    """Cut the collection of Reuters into its stories once, however many versions choose among them."""
    cut = reuters._stories
    cut_once = functools.cache(lambda paths: list(cut(paths)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reuters, "_stories", lambda paths: cut_once(tuple(paths)))
        yield


@pytest.fixture
def _over_http(mirror_server: Server, cache: Path, _stories_cut_once: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FSVM_MIRROR", mirror_server.address)
    monkeypatch.setenv("FSVM_CACHE", str(cache))


def fixed_version(card: Card, version_name: str) -> FixedVersion:
    version = card.versions[version_name]
    assert isinstance(version, FixedVersion)
    return version


@pytest.mark.usefixtures("_over_http")
@pytest.mark.parametrize(("name", "version_name"), FIXED)
def test_every_copy_is_fetched_holds_what_the_card_says_and_serves_without_network(
    name: str, version_name: str, monkeypatch: pytest.MonkeyPatch, mirror_server: Server
) -> None:
    card = CARDS[name]
    version = fixed_version(card, version_name)
    for copy in version.copies:
        dataset = load_version(name, card, version.model_copy(update={"copies": (copy,)}), silent)
        assert dataset.sha256 == version.expected.sha256
        assert dataset.X.shape == (version.expected.rows, version.expected.features)
        assert dataset.class_counts() == version.expected.classes
    monkeypatch.delenv("FSVM_MIRROR")
    asked = len(mirror_server.asked)
    again = open_source(NamedSpec(name=name, version=version_name), base_folder=Path(), announce=silent)
    assert again.identity == fixed_source(dataset, version.caveats).identity
    assert len(mirror_server.asked) == asked


compress_once = functools.cache(compress)
"""Several addresses lead to the same file, and this compressor is a slow one."""


def packed(name: str, content: bytes) -> bytes:
    """Compress as the ending of a name says."""
    if name.endswith(".Z"):
        return compress_once(content, 16)
    return bz2.compress(content) if name.endswith(".bz2") else content


def archive(name: str, members: dict[str, bytes]) -> bytes:
    """Archive as the ending of a name says; ``a#b`` is b in the archive a within."""
    stream = io.BytesIO()
    if name.endswith(".tar.gz"):
        with tarfile.open(fileobj=stream, mode="w:gz", compresslevel=0) as tar:
            for member, content in members.items():
                entry = tarfile.TarInfo(member)
                entry.size = len(content)
                tar.addfile(entry, io.BytesIO(content))
        return stream.getvalue()
    within: dict[str, dict[str, bytes]] = {}
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=0) as pack:
        for member, content in members.items():
            outer, _, inner = member.partition("#")
            if inner:
                within.setdefault(outer, {})[inner] = content
            else:
                pack.writestr(outer, packed(outer, content))
        for outer, contents in within.items():
            pack.writestr(outer, archive(outer, contents))
    return stream.getvalue()


@pytest.mark.parametrize(
    ("name", "place"),
    [
        (name, place)
        for name, card in CARDS.items()
        for place in range(max((len(file.addresses) for file in card.files), default=0))
    ],
)
def test_every_address_of_a_card_leads_to_its_files(
    name: str, place: int, mirror_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [file for file in CARDS[name].files if len(file.addresses) > place]
    members: dict[str, dict[str, bytes]] = {}
    for file in files:
        source, _, member = file.addresses[place].partition("#")
        members.setdefault(source.removeprefix("https:/"), {})[member] = (mirror_folder / file.path).read_bytes()
    with serving() as server:

        def on_loopback(file: CardFile) -> list[str]:
            return [file.addresses[place].replace("https://", f"{server.address}/")]

        for path, contents in members.items():
            server.predictions[path] = packed(path, contents[""]) if "" in contents else archive(path, contents)
        monkeypatch.setenv("FSVM_CACHE", str(tmp_path / "cache"))
        monkeypatch.delenv("FSVM_MIRROR", raising=False)
        monkeypatch.setattr("fsvm_cli.data.fetch.addresses_of", on_loopback)
        paths = fetch_files(files, silent)
    assert all(is_intact(path, file) for path, file in zip(paths, files, strict=True))
    assert sorted(path for path, _ in server.asked) == sorted(members)


def sources(mirror_folder: Path) -> dict[str, dict[str, str]]:
    with (mirror_folder / "SOURCES.tsv").open(newline="") as stream:
        return {row["path"]: row for row in csv.DictReader(stream, delimiter="\t")}


@pytest.mark.parametrize("name", CARDS)
def test_files_are_those_of_the_archive(name: str, mirror_folder: Path) -> None:
    known = sources(mirror_folder)
    for file in CARDS[name].files:
        assert (known[file.path]["sha256"], int(known[file.path]["bytes"])) == (file.sha256, file.bytes)


@pytest.mark.parametrize(("name", "version_name"), FIXED)
def test_class_counts_are_those_that_the_archive_was_found_to_have(
    name: str, version_name: str, mirror_folder: Path
) -> None:
    known = sources(mirror_folder)
    version = fixed_version(CARDS[name], version_name)
    for copy in version.copies:
        # Other readers, and a rule for missing values, leave rows out.
        if not isinstance(copy, TextCopy | LibsvmCopy) or (isinstance(copy, TextCopy) and copy.missing):
            continue
        counts: Counter[str] = Counter()
        for file in CARDS[name].files_of(copy):
            for label, _, count in (pair.rpartition(":") for pair in known[file.path]["class_counts"].split()):
                counts[version.classes[label.removeprefix("+")]] += int(count)
        assert counts == version.expected.classes


@pytest.mark.parametrize("name", CARDS)
def test_no_file_is_listed_in_vain(name: str) -> None:
    read = {
        file.path
        for version in CARDS[name].versions.values()
        if isinstance(version, FixedVersion)
        for copy in version.copies
        if isinstance(copy, Files)
        for file in CARDS[name].files_of(copy)
    }
    assert read == {file.path for file in CARDS[name].files}


def test_every_yaml_file_beside_the_cards_is_one() -> None:
    assert {path.suffix for path in resource_folder("datasets").iterdir()} == {".yaml"}


@pytest.mark.parametrize(("name", "version_name"), FIXED)
def test_distinct_versions_hold_distinct_values(name: str, version_name: str) -> None:
    others = [
        fixed_version(CARDS[name], other).expected.sha256
        for card, other in FIXED
        if card == name and other != version_name
    ]
    assert fixed_version(CARDS[name], version_name).expected.sha256 not in others


def load(name: str, version_name: str) -> Dataset:
    return load_version(name, CARDS[name], fixed_version(CARDS[name], version_name), silent)


@pytest.mark.usefixtures("_over_http")
class TestOddities:
    """What the cards say of their sets, found in the values."""

    def test_the_original_spectf_leaks_and_its_reports_say_so(self) -> None:
        source = open_source(NamedSpec(name="spectf", version="original"), base_folder=Path(), announce=silent)
        dataset = source.draw(np.random.default_rng(0))
        assert dataset.train_indices is not None
        assert dataset.test_indices is not None
        rows = np.column_stack([dataset.X, dataset.y])
        train = {tuple(row) for row in rows[dataset.train_indices]}
        assert sum(tuple(row) in train for row in rows[dataset.test_indices]) == 81
        assert "81 of the 269" in source.caveats[0]

    def test_codings_of_splice_are_permutations_of_one_another(self) -> None:
        agct, acgt = load("splice", "agct"), load("splice", "acgt")
        np.testing.assert_array_equal(np.array([0, 1, 3, 2, 4])[agct.X.astype(int)], acgt.X)
        assert agct.n_samples - len(np.unique(acgt.X, axis=0)) > 100

    def test_the_two_releases_of_splice_hold_the_same_rows(self) -> None:
        ours, theirs = load("splice", "agct"), load("splice", "libsvm")
        by_row = [sorted(map(tuple, np.column_stack([part.X, part.y]))) for part in (ours, theirs)]
        assert by_row[0] == by_row[1]
        assert theirs.train_indices is not None
        assert len(theirs.train_indices) == 1000

    def test_the_constant_column_of_ionosphere(self) -> None:
        whole, without = load("ionosphere", "uci"), load("ionosphere", "without-constant")
        assert np.flatnonzero(np.ptp(whole.X, axis=0) == 0).tolist() == [1]
        np.testing.assert_array_equal(np.delete(whole.X, 1, axis=1), without.X)
        assert whole.feature_names[2:] == without.feature_names[1:]

    def test_the_two_releases_of_colon_hold_the_same_samples(self) -> None:
        raw, scaled = load("colon", "raw"), load("colon", "libsvm")
        np.testing.assert_array_equal(raw.y, scaled.y)
        logs = np.log(raw.X)
        logs = (logs - logs.mean(axis=1, keepdims=True)) / logs.std(axis=1, keepdims=True)
        correlation = [np.corrcoef(logs[:, gene], scaled.X[:, gene])[0, 1] for gene in range(2000)]
        assert min(correlation) > 0.99

    def test_vehicle_and_dna_have_the_sizes_of_infoprop2001(self) -> None:
        for name, sizes in {"vehicle": (564, 282), "dna": (2000, 1186)}.items():
            dataset = load(name, "statlog")
            assert dataset.train_indices is not None
            assert dataset.test_indices is not None
            assert (len(dataset.train_indices), len(dataset.test_indices)) == sizes


def opened(name: str, version_name: str | None = None) -> DataSource:
    return open_source(NamedSpec(name=name, version=version_name), base_folder=Path(), announce=silent)


@pytest.mark.usefixtures("_over_http")
class TestReuters:
    """Here, where the stories have been parsed and kept: to parse them takes seconds."""

    @pytest.mark.parametrize(
        ("version", "stories", "words"), [("reuters-1", 312, 2225), ("reuters-2", 355, 2344), ("reuters-3", 6169, 8167)]
    )
    def test_sizes_are_near_the_printed_ones(self, version: str, stories: int, words: int) -> None:
        source = opened("reuters", version)
        assert source.n_samples == pytest.approx(stories, rel=0.06)
        # Of the third set the paper has fewer words than any rule that fits the others gives.
        assert source.n_features == pytest.approx(words, rel=0.4 if version == "reuters-3" else 0.03)
        assert set(source.draw(np.random.default_rng(0)).X.data) == {1.0}

    def test_new_work_counts_words_in_training_stories_unless_it_asks_for_the_papers_way(self) -> None:
        default = opened("reuters")
        paper = opened("reuters", "reuters-1")
        assert default.feature_names == paper.feature_names
        assert default.identity != paper.identity
        assert not default.caveats
        assert "test stories included" in paper.caveats[0]
        whole, counts = (source.draw(np.random.default_rng(0)) for source in (paper, default))
        everything = with_training_vocabulary(counts, np.arange(counts.n_samples))
        assert (everything != whole.X).nnz == 0
        half = with_training_vocabulary(counts, np.arange(0, counts.n_samples, 2))
        assert 0.4 * whole.n_features < np.count_nonzero(half.sum(axis=0)) < 0.8 * whole.n_features

    def test_modapte_has_nearly_the_known_counts(self) -> None:
        dataset = opened("reuters", "reuters-1-modapte").draw(np.random.default_rng(0))
        # Counts of all stories of each topic; a few are numbers, or have two of the topics.
        known = {"coffee": (111, 28), "iron-steel": (40, 14), "livestock": (75, 24)}
        assert dataset.class_names == tuple(known)
        for part, rows in enumerate((dataset.train_indices, dataset.test_indices)):
            found = np.bincount(dataset.y[rows])
            most = np.array([counts[part] for counts in known.values()])
            assert ((most - 6 <= found) & (found <= most)).all()
