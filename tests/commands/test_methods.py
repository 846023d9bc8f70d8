"""`fsvm methods` and `fsvm datasets list`, for people and for programs."""

from __future__ import annotations

import io
import json

import pandas as pd

from fsvm_cli.data.cards import data_cards
from fsvm_cli.extraction.registry import extraction_methods
from fsvm_cli.ranking.registry import ranking_methods
from tests.helpers.calling import fsvm_here


def test_what_a_method_cites_is_written_out() -> None:
    answer = fsvm_here("methods", "kpd")
    assert answer.code == 0, answer.err
    cited = answer.out.partition("References\n----------\n")[2]
    assert cited.startswith('- kpd2018: "Kernel Parameter Descent Support Vector Machine", Chinese Conference')


def test_programs_get_each_method_with_its_parameters_and_references() -> None:
    described = json.loads(fsvm_here("methods", "--format", "json").out)
    assert [each["name"] for each in described] == [*ranking_methods(), *extraction_methods()]
    (mifs,) = (each for each in described if each["name"] == "mifs")
    assert mifs == json.loads(fsvm_here("methods", "mifs", "--format", "json").out)
    assert {"parameter": "beta", "range": "float, at least 0", "default": 0.5} in mifs["parameters"]
    assert {each["key"] for each in mifs["references"]} == {"infoprop2001", "battiti1994"}
    assert next(each["parameters"] for each in described if each["name"] == "random") == []
    rows = pd.read_csv(io.StringIO(fsvm_here("methods", "mifs", "--format", "csv").out))
    assert rows["parameter"].tolist() == ["beta", "n_bins"]


def test_programs_get_each_version_of_each_data_set() -> None:
    versions = json.loads(fsvm_here("datasets", "list", "--format", "json").out)
    assert {each["name"] for each in versions} == set(data_cards())
    wine = next(each for each in versions if each["name"] == "wine")
    assert (wine["n_samples"], wine["n_features"], wine["n_classes"]) == (178, 13, 3)
