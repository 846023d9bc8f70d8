"""Configs that extend others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fsvm_cli.errors import UsageError
from fsvm_cli.spec.config import load_config

if TYPE_CHECKING:
    from pathlib import Path

BASE = """\
title: Base
dataset: wine
scaling: standard
classifier: {kernel: polynomial, degree: 3, C: 10}
protocol: {splits: 5, train: 1/2, seed: 7}
rankings:
  - {method: random}
subsets: [1, 2]
"""


def write(folder: Path, name: str, text: str) -> str:
    path = folder / f"{name}.yaml"
    path.write_text(text)
    return str(path)


def test_a_variant_states_only_what_differs(tmp_path: Path) -> None:
    base = load_config(write(tmp_path, "base", BASE)).config
    text = "extends: base.yaml\ntitle: Variant\nprotocol: {splits: 9}\nsubsets: [3]\n"
    variant = load_config(write(tmp_path, "variant", text)).config
    assert (variant.title, variant.protocol.splits, variant.subsets) == ("Variant", 9, (3,))
    same = {"title": base.title, "subsets": base.subsets, "protocol": base.protocol}
    assert variant.model_copy(update=same) == base


def test_an_empty_value_takes_a_key_away(tmp_path: Path) -> None:
    write(tmp_path, "base", BASE)
    text = "extends: base.yaml\nclassifier: {kernel: linear, degree: }\n"
    variant = load_config(write(tmp_path, "variant", text)).config
    assert variant.classifier.model_dump(exclude_defaults=True) == {"kernel": "linear", "C": 10}


def test_a_chain_of_three_is_read_and_overrides_come_last(tmp_path: Path) -> None:
    write(tmp_path, "base", BASE)
    write(tmp_path, "middle", "extends: base.yaml\nscaling: none\n")
    last = write(tmp_path, "last", "extends: middle.yaml\nprotocol: {seed: 8}\n")
    config = load_config(last, ["protocol.splits=2"]).config
    assert (config.scaling, config.protocol.seed, config.protocol.splits) == ("none", 8, 2)


def test_what_is_taken_away_is_not_found_again_in_the_base_of_the_base(tmp_path: Path) -> None:
    write(tmp_path, "base", BASE.replace("C: 10}", "C: 10, tune: {C: [1, 10], folds: 3}}"))
    write(tmp_path, "middle", "extends: base.yaml\nclassifier: {tune: {C: [2, 20]}}\n")
    last = write(tmp_path, "last", "extends: middle.yaml\nclassifier: {tune: null, degree: 4}\n")
    machine = load_config(last).config.classifier.model_dump(exclude_defaults=True)
    assert machine == {"kernel": "polynomial", "degree": 4, "C": 10}


def test_a_shipped_config_is_extended_by_its_name(tmp_path: Path) -> None:
    config = load_config(write(tmp_path, "mine", "extends: wine\nscaling: none\n")).config
    assert (config.scaling, config.dataset) == ("none", load_config("wine").config.dataset)


def test_a_mistake_is_named_where_it_is_written(tmp_path: Path) -> None:
    write(tmp_path, "base", BASE.replace("degree: 3", "degree: 0"))
    path = write(tmp_path, "variant", "extends: base.yaml\nclassifier: {C: -1}\n")
    with pytest.raises(UsageError) as caught:
        load_config(path)
    lines = str(caught.value).splitlines()
    assert any("variant.yaml:2:" in line and "C" in line for line in lines)
    assert any("base.yaml:4:" in line and "degree" in line for line in lines)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"a": "extends: a.yaml\n"}, r"a\.yaml:1:10: a\.yaml extends itself in the end"),
        ({"a": "extends: b.yaml\n", "b": "extends: a.yaml\n"}, "extends itself in the end"),
        (
            {"a": "extends: b.yaml\n", "b": "extends: c.yaml\n", "c": "extends: d.yaml\n", "d": BASE},
            r"d\.yaml is config number 4 of a chain; 3 may extend one another",
        ),
        ({"a": "extends: nowhere\n"}, r"a\.yaml:1:10: nowhere: no such file, and no built-in experiment has this name"),
        ({"a": "extends: [wine]\n"}, "extends names no config; write one"),
        ({"a": "extends: infoprop-difficulty\n"}, "unknown key"),
    ],
)
def test_what_cannot_be_extended_is_named(tmp_path: Path, files: dict[str, str], message: str) -> None:
    paths = {name: write(tmp_path, name, text) for name, text in files.items()}
    with pytest.raises(UsageError, match=message):
        load_config(paths["a"])


def test_a_file_of_data_beside_another_config_is_not_guessed(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    text = BASE.replace("dataset: wine", "dataset: {file: mine.csv, target: y}")
    write(elsewhere, "base", text)
    path = write(tmp_path, "variant", "extends: elsewhere/base.yaml\n")
    with pytest.raises(UsageError, match=r"the data of .*base\.yaml are a file beside it"):
        load_config(path)


CLAIMS = """\
expected:
  - {id: a.one, kind: statement, where: here, claim: One, note: Why.}
  - {id: b.one, kind: statement, where: here, claim: Two, note: Why.}
  - {id: a.two, kind: statement, where: here, claim: Three, note: Why.}
"""


def test_claims_of_the_base_are_taken_over_by_their_ids(tmp_path: Path) -> None:
    write(tmp_path, "base", BASE + CLAIMS)
    own = "{id: c, kind: statement, where: here, claim: Mine, note: Why.}"
    loaded = load_config(write(tmp_path, "variant", f'extends: base.yaml\nexpected: [{own}, "a.*"]\n'))
    assert [claim.id for claim in loaded.config.expected] == ["c", "a.one", "a.two"]
    places = [loaded.document.where(("expected", place, "id")).rsplit("/", 1)[-1] for place in range(3)]
    assert places == ["variant.yaml:2:17", "base.yaml:10:10", "base.yaml:12:10"]


def test_claims_that_the_base_lacks_are_named(tmp_path: Path) -> None:
    write(tmp_path, "base", BASE + CLAIMS)
    path = write(tmp_path, "variant", 'extends: base.yaml\nexpected: ["a.*", "z.*"]\n')
    with pytest.raises(UsageError, match=r"variant\.yaml:2:19: no claim of .*base\.yaml has an id like 'z\.\*'"):
        load_config(path)
