"""Configs: what is accepted, what is refused and where the refusal points, and the JSON Schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from ruamel.yaml import YAML

from fsvm_cli.config_io import model_from_json, parse_document, validate
from fsvm_cli.errors import UsageError
from fsvm_cli.experiment.plan import plan
from fsvm_cli.resources import resource_folder, resource_names
from fsvm_cli.spec.config import load_config
from fsvm_cli.spec.load import json_schema, load_all
from fsvm_cli.spec.schema import Config
from tests.helpers.plain_words import REMEDY
from tests.helpers.shipped import shipped_experiment, shipped_experiments

if TYPE_CHECKING:
    from collections.abc import Callable

    from fsvm_cli.spec.config import LoadedConfig

SHIPPED = resource_names("configs")
GOOD = """\
title: t
dataset: plane
scaling: none
classifier: {kernel: linear, C: 1}
protocol: {splits: 2, train: 1/2, seed: 0}
rankings:
  - {method: random}
"""


def issues(text: str) -> list[str]:
    with pytest.raises(UsageError) as caught:
        validate(parse_document(text, "c.yaml"), Config)
    return str(caught.value).splitlines()


@pytest.mark.parametrize("name", shipped_experiments())
def test_a_shipped_config_loads_and_names_a_data_set_that_exists(name: str) -> None:
    assert shipped_experiment(name).config.dataset.name in resource_names("datasets")


@pytest.mark.parametrize("name", shipped_experiments())
def test_a_shipped_config_survives_its_json(name: str) -> None:
    config = shipped_experiment(name).config
    assert model_from_json(Config, config.model_dump_json()) == config


@pytest.mark.parametrize("dataset", ["{file: mine.csv, target: y, drop: [a, b]}", "{openml: 40, drop: [a]}"])
def test_a_config_with_data_from_elsewhere_survives_its_json(dataset: str) -> None:
    config = validate(parse_document(GOOD.replace("plane", dataset), "c.yaml"), Config)
    assert model_from_json(Config, config.model_dump_json()) == config


@pytest.fixture(scope="module")
def validator() -> jsonschema.Draft202012Validator:
    """What judges by the JSON Schema; to check the schema itself takes two seconds, so all tests share it."""
    schema = json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize("name", SHIPPED)
def test_the_json_schema_accepts_a_shipped_config(name: str, validator: jsonschema.Draft202012Validator) -> None:
    validator.validate(_plain(name))


BAD: list[tuple[str, Any]] = [
    ("titel", "x"),
    ("title", 3),
    ("scaling", "standart"),
    ("classifier", {"kernel": "linear", "C": 0}),
    ("classifier", {"kernel": "lineer", "C": 1}),
    ("classifier", {"kernel": "linear", "C": 1, "degree": 2}),
    ("protocol", {"splits": 0, "train": "2/3", "seed": 1}),
    ("protocol", {"splits": 1, "train": 0, "seed": 1}),
    ("protocol", {"splits": 1, "train": "two thirds", "seed": 1}),
    ("protocol", {"splits": 1, "train": "2/3"}),
    ("rankings", [{"method": "gradient-angel"}]),
    ("rankings", [{"method": "gradient-angle", "epsilom": 0.1}]),
    ("subsets", [0]),
    ("metrics", []),
    ("metrics", ["acuracy"]),
]


@pytest.mark.parametrize(("key", "value"), BAD)
def test_the_json_schema_and_the_loader_refuse_the_same(
    key: str, value: Any, validator: jsonschema.Draft202012Validator
) -> None:
    content = _plain("wine") | {key: value}
    with pytest.raises(jsonschema.ValidationError):
        validator.validate(content)
    with pytest.raises(UsageError):
        validate(parse_document(json.dumps(content), "c.yaml"), Config)


def _plain(name: str) -> dict[str, Any]:
    content: dict[str, Any] = YAML(typ="safe").load(resource_folder("configs") / f"{name}.yaml")
    return content


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("title: t", "titel: t", "c.yaml:1:1: unknown key 'titel'"),
        ("title: t", "title: 3", "c.yaml:1:8: title is 3"),
        ("dataset: plane", "dataset: {nam: plane}", "c.yaml:2:11: unknown key 'nam'"),
        (
            "none",
            "standart",
            "c.yaml:3:10: 'standart' is no scaling; allowed: expression, minmax, minmax-symmetric, none, standard",
        ),
        ("linear", "lineer", "c.yaml:4:22: 'lineer' is no kernel"),
        ("C: 1", "C: 0", "c.yaml:4:33: classifier.C is 0; it should be more than 0"),
        ("C: 1", "C: 1, degree: 2", "c.yaml:4:36: unknown key 'degree'"),
        ("splits: 2", "splits: none", "c.yaml:5:20: protocol.splits is 'none'; it should be a whole number"),
        ("train: 1/2", "train: 0", "c.yaml:5:30: protocol.train: 0 rows cannot be drawn"),
        ("train: 1/2", "train: 3/2", "c.yaml:5:30: protocol.train: 3/2 of the rows leaves none for the other part"),
        ("train: 1/2", "train: [1/2, x]", "c.yaml:5:36: protocol.train.1: 'x' is no fraction"),
        (
            "seed: 0",
            "sed: 0",
            "c.yaml:5:35: unknown key 'sed'; allowed: row_order, seed, splits, stratified, test, train; did you mean "
            "'seed'?",
        ),
        ("random}", "radom}", "c.yaml:7:14: 'radom' is no method"),
        ("random}", "random, epsilon: 1}", "c.yaml:7:22: unknown key 'epsilon'"),
        ("random}", "random, order: best}", "c.yaml:7:29: 'best' is no order; allowed: best-first, worst-first"),
    ],
)
def test_a_mistake_is_told_with_its_place(old: str, new: str, message: str) -> None:
    assert GOOD.count(old) == 1
    assert any(line.startswith(message) for line in issues(GOOD.replace(old, new))), issues(GOOD.replace(old, new))


def test_all_mistakes_are_told_in_the_order_of_the_text() -> None:
    lines = issues(GOOD.replace("none", "standart").replace("C: 1", "C: -1").replace("random", "radom"))
    assert [line.split(":")[1] for line in lines] == ["3", "4", "7"]


def test_two_rankings_of_one_name_are_refused() -> None:
    (line,) = issues(GOOD + "  - {method: random}\n")
    assert "two rankings are called 'random'" in line


def test_labels_are_made_from_method_and_order() -> None:
    text = GOOD + "  - {method: random, order: worst-first}\n"
    config = validate(parse_document(text, "c.yaml"), Config)
    assert [ranking.label for ranking in config.rankings] == ["random", "random, worst first"]


@pytest.mark.parametrize(
    ("protocol", "rows"),
    [
        ({"train": 24}, "24 training and 0 test rows"),
        ({"train": "1/100"}, "0 training and 24 test rows"),
        ({"train": 20, "test": 5}, "20 training and 5 test rows"),
    ],
)
def test_parts_that_do_not_fit_the_data_are_refused_with_their_place(
    load: Callable[..., LoadedConfig], protocol: dict[str, Any], rows: str
) -> None:
    loaded = load(protocol={"splits": 1, "seed": 0} | protocol)
    with pytest.raises(UsageError, match=rf"small\.yaml:\d+:\d+: {rows} cannot be drawn from the 24 rows of noise20"):
        plan(loaded, print)


def test_subsets_larger_than_the_data_are_refused_with_their_place(load: Callable[..., LoadedConfig]) -> None:
    with pytest.raises(UsageError, match=r"small\.yaml:\d+:\d+: 21 features cannot be retained; noise20 has 20"):
        plan(load(subsets=[1, 21]), print)


def test_a_data_set_that_does_not_exist_is_refused_with_its_place(load: Callable[..., LoadedConfig]) -> None:
    with pytest.raises(UsageError, match=r"small\.yaml:\d+:\d+: there is no data set 'wien'; did you mean 'wine'"):
        plan(load(dataset="wien"), print)


@pytest.mark.parametrize(
    ("record", "dataset", "message"),
    [
        ("decision-field", "wine", "a decision field needs 2 features and 2 classes; wine has 13 and 3"),
        ("decision-field", "plane", "a decision field shows a gradient-angle ranking"),
        ("descent-path", "wine", "a descent path shows a kpd ranking; list one"),
        ("distribution-distance", "wine", "a distribution distance needs 2 classes; wine has 3"),
        ("roc", "wine", "a roc needs 2 classes; wine has 3"),
    ],
)
def test_a_record_that_cannot_be_made_is_refused(
    load: Callable[..., LoadedConfig], record: str, dataset: str, message: str
) -> None:
    with pytest.raises(UsageError, match=rf"small\.yaml:\d+:\d+: {message}") as caught:
        plan(load(record=[record], subsets="all", dataset=dataset), print)
    assert all(REMEDY.search(line) for line in str(caught.value).splitlines())


def test_an_override_replaces_a_key_and_is_remembered() -> None:
    loaded = load_config("wine", ["protocol.splits=7", "classifier.C=0.5"])
    assert (loaded.config.protocol.splits, loaded.config.classifier.C) == (7, 0.5)
    assert loaded.document.overrides == {"protocol.splits": 7, "classifier.C": 0.5}


def test_a_wrong_override_is_told_as_the_option() -> None:
    with pytest.raises(UsageError, match=r"^--set protocol.splits=0: protocol.splits is 0"):
        load_config("wine", ["protocol.splits=0"])


def test_the_mistakes_of_several_configs_are_told_together(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.yaml").write_text(GOOD.replace("plane", "{}"))
    with pytest.raises(UsageError) as caught:
        load_all([str(tmp_path / "a.yaml"), "wine", str(tmp_path / "b.yaml")])
    assert [Path(line.split(":")[0]).name for line in str(caught.value).splitlines()] == ["a.yaml", "b.yaml"]


def test_two_configs_that_would_share_a_folder_are_refused(tmp_path: Path) -> None:
    (tmp_path / "wine.yaml").write_text(GOOD)
    with pytest.raises(UsageError, match="2 configs are called 'wine'"):
        load_all(["wine", str(tmp_path / "wine.yaml")])


@pytest.mark.parametrize("name", ["a b", "..x", "-a", "ä$"])
def test_a_config_whose_name_cannot_name_a_folder_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / f"{name}.yaml").write_text(GOOD)
    with pytest.raises(UsageError, match="names a folder"):
        load_config(str(tmp_path / f"{name}.yaml"))
