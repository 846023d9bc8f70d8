"""Stories, topics and words; a tiny collection by hand, and the real one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from fsvm_cli.data import load
from fsvm_cli.data.load import metadata_of_card
from fsvm_cli.data.opening import open_source
from fsvm_cli.data.readers.reuters import read_reuters
from fsvm_cli.data.source_spec import NamedSpec
from fsvm_cli.errors import DataError

if TYPE_CHECKING:
    from fsvm_cli.data.readers.rows import Rows


def story(text: str, topics: str, lewis: str = "TRAIN", has_topics: str = "YES") -> str:
    marked = "".join(f"<D>{topic}</D>" for topic in topics.split())
    return (
        f'<REUTERS TOPICS="{has_topics}" LEWISSPLIT="{lewis}" NEWID="1">\n<TOPICS>{marked}</TOPICS>\n'
        f"<PLACES><D>usa</D></PLACES><TEXT>&#2;\n<TITLE>x</TITLE><DATELINE> LIMA, April 1 - </DATELINE>"
        f"<BODY>{text}\n Reuter\n&#3;</BODY></TEXT>\n</REUTERS>\n"
    )


STORIES = [
    story("Gold gold coal &lt;ABC&gt; the the the 12", "gold"),
    story("gold Gross product product PRODUCT", "gnp"),
    story("gold and product", "gnp gold"),
    story("coal coal coal", "tin"),
    story("gross coal", "gold", "TEST"),
    story("gross abc product gross", "gnp", "NOT-USED"),
    story("coal coal", "gnp usa", "TRAIN", "NO"),
    story("gold 1 2 3 4 5", "gold"),
]


def read(tmp_path: Path, **options: Any) -> Any:
    path = tmp_path / "reut2-000.sgm"
    path.write_bytes(b"<!DOCTYPE lewis SYSTEM 'lewis.dtd'>\n" + "".join(STORIES).encode("latin-1") + b"\xfc\n")
    return read_reuters([path], **({"topics": ("gold", "gnp"), "split": "any", "vocabulary": "whole"} | options))


def test_stories_of_one_topic_are_read_as_words(tmp_path: Path) -> None:
    (rows,) = read(tmp_path)
    assert rows.labels == ["gold", "gnp", "gold", "gnp", "gnp"]
    # coal 4 times; gold 3; gross 4; product 4; "reuter" and the title 5; "the" is a stop word; "abc" is rare.
    assert rows.feature_names == ("coal", "gold", "gross", "product", "reuter", "x")
    expected = [[1, 1, 0, 0], [0, 1, 1, 1], [1, 0, 1, 0], [0, 0, 1, 1], [1, 0, 0, 0]]
    np.testing.assert_array_equal(rows.X.toarray()[:, :4], expected)


def test_bodies_alone_are_read_with_a_copy_for_each_topic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_body = story("gold", "gold").replace("<BODY>", "<DATELINE>").replace("</BODY>", "</DATELINE>")
    monkeypatch.setattr(f"{__name__}.STORIES", [*STORIES, without_body, story(" ", "tin gold usa")])
    (rows,) = read(tmp_path, text="body", several="copy-each")
    assert rows.labels == ["gold", "gnp", "gnp", "gold", "gold", "gnp", "gnp", "gold"]
    # Beside those of before: gold and product once more, in each of two copies; no titles.
    assert rows.feature_names == ("coal", "gold", "gross", "product", "reuter")
    expected = [[1, 1, 0, 0], [0, 1, 1, 1], [0, 1, 0, 1], [0, 1, 0, 1], [1, 0, 1, 0], [0, 0, 1, 1], [1, 0, 0, 0]]
    np.testing.assert_array_equal(rows.X.toarray()[:7, :4], expected)


def test_a_story_of_several_topics_may_count_for_the_first_that_it_lists(tmp_path: Path) -> None:
    (rows,) = read(tmp_path, several="first")
    assert rows.labels == ["gold", "gnp", "gnp", "gold", "gnp", "gnp"]
    (rows,) = read(tmp_path, several="first", topics=("gold",))
    assert rows.labels == ["gold", "gold", "gold"]


def test_modapte_counts_words_in_its_training_part(tmp_path: Path) -> None:
    train, test = read(tmp_path, split="modapte", vocabulary="training")
    assert train.labels == ["gold", "gnp"]
    assert test.labels == ["gold"]
    assert train.feature_names == test.feature_names == ("gold", "product")
    np.testing.assert_array_equal(train.X.toarray(), [[1, 0], [1, 1]])
    np.testing.assert_array_equal(test.X.toarray(), [[0, 0]])
    train, _ = read(tmp_path, split="modapte", vocabulary="whole")
    assert "reuter" in train.feature_names


def test_no_story_of_the_topics_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no stories about cocoa"):
        read(tmp_path, topics=("cocoa",))


def opened(version: str) -> Any:
    spec = NamedSpec(name="reuters", version=version)
    return open_source(spec, base_folder=Path(), announce=lambda line: None)


def test_a_full_matrix_holds_the_same_and_is_other_data(mirror_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FSVM_MIRROR", str(mirror_folder))
    sparse = opened("reuters-1")
    spec = NamedSpec(name="reuters", version="reuters-1", dense=True)
    full = open_source(spec, base_folder=Path(), announce=lambda line: None)
    assert (sparse.is_sparse, full.is_sparse, metadata_of_card(spec).is_sparse) == (True, False, False)
    np.testing.assert_array_equal(full.dataset.X, sparse.dataset.X.toarray())
    assert full.identity != sparse.identity
    assert full.caveats == sparse.caveats


@pytest.mark.parametrize("version", ["reuters-1-modapte", "reuters-1-random"])
def test_a_parsed_collection_is_kept_and_verified(
    mirror_folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, version: str
) -> None:
    parsed: list[list[Rows]] = []

    def parse_once(*arguments: Any, **options: Any) -> list[Rows]:
        parsed.append(parsed[0] if parsed else read_reuters(*arguments, **options))
        return parsed[0]

    monkeypatch.setenv("FSVM_MIRROR", str(mirror_folder))
    monkeypatch.setenv("FSVM_CACHE", str(tmp_path))
    monkeypatch.setattr(load, "read_reuters", parse_once)
    first = opened(version)
    again = opened(version)
    assert len(parsed) == 1
    assert again.identity == first.identity
    assert again.feature_names == first.feature_names
    (kept,) = (tmp_path / "parsed").iterdir()
    for n_parsed, damage in enumerate((b"", kept.read_bytes()[:-100], b"x" * 100), start=2):
        kept.write_bytes(damage)
        assert opened(version).identity == first.identity
        assert len(parsed) == n_parsed
