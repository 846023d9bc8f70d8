"""What a person reads of a wrong document or parameter: where it is, what to do, and no words of a library."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from pydantic import ValidationError

from fsvm_cli.config_io import Document, StrictModel, read_document, validate
from fsvm_cli.data.cards import Card
from fsvm_cli.errors import UsageError
from fsvm_cli.extraction.registry import extraction_methods
from fsvm_cli.own_data.rank import ranking_request
from fsvm_cli.ranking.registry import ranking_methods
from fsvm_cli.resources import resource_folder
from fsvm_cli.spec.collection import Collection
from fsvm_cli.spec.schema import Config
from tests.helpers.plain_words import REMEDY, unplain

if TYPE_CHECKING:
    from collections.abc import Iterator

METHODS = [*ranking_methods().values(), *extraction_methods().values()]
DOCUMENTS: dict[str, type[StrictModel]] = {
    **dict.fromkeys(("configs/wine", "configs/kpd-sonar", "configs/ard-ionosphere", "configs/roc"), Config),
    "configs/hermes-advantage": Collection,
    **dict.fromkeys(("datasets/sonar", "datasets/noise20", "datasets/wine"), Card),
}
ODD: tuple[Any, ...] = (
    *(None, True, -1, 0, 3, 2.5, 10**400, float("inf"), float("nan"), "", "nonsense", "7", "x" * 5000),
    *("\x1b[31m", "$\\frac$", "\ud800", (), ("x", 1), {}, {"unknown": 1}, {"\x1b[31m": 1}),
)
"""Values of every kind, of which most are wrong in most places."""


def changed(content: Any, value: Any) -> Iterator[Any]:
    """Yield a document with a value in each of its places, or under a key that it does not have."""
    parts = content.items() if isinstance(content, dict) else enumerate(content)
    for key, part in list(parts):
        copied = copy.copy(content) if isinstance(content, dict) else list(content)
        for inner in (value, *(changed(part, value) if isinstance(part, dict | list | tuple) else ())):
            copied[key] = inner
            yield copied
    if isinstance(content, dict):
        yield content | {"unknown": value}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_what_is_wrong_in_a_document_is_told_in_plain_words(name: str) -> None:
    folder, _, stem = name.partition("/")
    content, model = read_document(resource_folder(folder) / f"{stem}.yaml").content, DOCUMENTS[name]
    content = content | {"expected": content["expected"][:1]} if "expected" in content else content
    n_refused = 0
    for value in ODD:
        for document in changed(content, value):
            try:
                model.model_validate(document)
            except ValidationError:
                n_refused += 1
                with pytest.raises(UsageError) as caught:
                    validate(Document("c.yaml", document, {(): "c.yaml:1:1"}), model)
                for line in str(caught.value).split("\n"):
                    assert not unplain(line), f"{unplain(line)}: {line}"
                    assert line.startswith("c.yaml:1:1: "), line
                    assert REMEDY.search(line), line
    assert n_refused > 100


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.method)
def test_a_wrong_parameter_in_python_is_told_in_plain_words(method: type[Any]) -> None:
    values = [*ODD, [], ["x"], [True], np.zeros((3, 3)), np.float64(-1), np.int64(-1), np.nan, object(), print, b"x"]
    for name in method.parameters_model().model_fields:
        n_refused = 0
        for value in values:
            try:
                method(**{name: value}).check_parameters()
            except ValueError as error:
                n_refused += 1
                (line,) = str(error).split("\n")
                assert not unplain(line), f"{unplain(line)}: {line}"
                assert line.startswith(f"{method.method}: ")
                assert name in line
                assert REMEDY.search(line), line
        assert n_refused > 3


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.method)
def test_numbers_and_lists_of_numpy_and_python_are_what_they_say(method: type[Any]) -> None:
    for name, field in method.parameters_model().model_fields.items():
        if type(field.default) in {int, float}:
            method(**{name: np.array(field.default)[()]}).check_parameters()
        method(**{name: field.default}).check_parameters()


def test_a_wrong_parameter_of_rank_is_told_in_plain_words() -> None:
    for value in (*ODD, object(), np.zeros((3, 3))):
        for name in ("theta", "C", "kernel", "epsilon"):
            try:
                ranking_request("gradient-angle", "none", (), {"kernel": "gaussian"} | {name: value})
            except UsageError as error:
                for line in str(error).split("\n"):
                    assert not unplain(line), f"{unplain(line)}: {line}"
                    assert name in line
                    assert REMEDY.search(line), line
