"""What a person reads of a wrong document or parameter, whatever is wrong with it: plain English, with its place."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
import pytest
from pydantic import ValidationError
from pydantic_core.core_schema import ErrorType

from fsvm_cli.config_io import Document, validate
from fsvm_cli.data.cards import Card
from fsvm_cli.errors import UsageError
from fsvm_cli.extraction.registry import extraction_methods
from fsvm_cli.own_data.rank import ranking_request
from fsvm_cli.ranking.registry import ranking_methods
from fsvm_cli.spec.collection import Collection
from fsvm_cli.spec.schema import Config
from fsvm_cli.validation_errors import in_words
from tests.helpers.plain_words import REMEDY, unplain
from tests.helpers.schema_walk import Place, errors_at, places

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic import BaseModel

METHODS = [*ranking_methods().values(), *extraction_methods().values()]
MODELS = [Config, Collection, Card]

ODD: tuple[Any, ...] = (
    *(None, True, -1, 0, 3, 2.5, 10**400, float("inf"), float("nan"), "", "nonsense", "7", "x" * 5000),
    *("\x1b[31m", "$\\frac$", "\ud800", (), ("x", 1), {}, {"unknown": 1}, {"\x1b[31m": 1}),
)
"""Values of every kind, of which most are wrong in most places."""


def wrong_values(schemas: list[dict[str, Any]]) -> Iterator[Any]:
    """Yield values for a place, those just out of its bounds included."""
    yield from ODD
    for schema in schemas:
        yield from (schema[key] for key in ("gt", "lt") if key in schema)
        yield from (schema[key] + step for key, step in (("ge", -1), ("le", 1)) if key in schema)
        if schema.get("max_length") is not None:
            yield (1,) * (schema["max_length"] + 1)
        if schema["type"] == "model-fields":
            yield from ({name: "nonsense"} for name in schema["fields"])
        if schema["type"] == "tagged-union" and isinstance(schema["discriminator"], str):
            yield from ({schema["discriminator"]: value} for value in ("nonsense", 3, *schema["choices"]))


def by_document(model: type[BaseModel]) -> list[list[Place]]:
    """Group the places of a model that are one place of the document; of places that are alike, give one."""
    groups: dict[int, list[Place]] = defaultdict(list)
    for place in places(model):
        groups[id(place.put)].append(place)
    alike = {f"{group[0].location[-2:]} {[place.schema for place in group]}": group for group in groups.values()}
    return list(alike.values())


def told_of(model: type[BaseModel], content: Any) -> tuple[set[str], list[str]]:
    """Validate what is wrong; return pydantic's names of the errors, and the lines that a person reads."""
    try:
        model.model_validate(content)
    except ValidationError as failure:
        kinds = {str(error["type"]) for error in failure.errors()}
    else:
        return set(), []
    with pytest.raises(UsageError) as caught:
        validate(Document("c.yaml", content, {(): "c.yaml:1:1"}), model)
    return kinds, str(caught.value).split("\n")


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_every_mistake_in_every_place_of_a_document_is_told_in_plain_words(model: type[BaseModel]) -> None:
    possible: set[str] = set()
    found: set[str] = set()
    for group in by_document(model):
        possible = possible.union(*(errors_at(place.schema) for place in group))
        for value in wrong_values([place.schema for place in group]):
            kinds, lines = told_of(model, group[0].put(value) if group[0].location else {"unknown": value})
            found |= kinds
            for line in lines:
                said = f"{line!r} of {in_words(value)} at {group[0].location}"
                assert not unplain(line), f"{unplain(line)}: {said}"
                assert line.startswith("c.yaml:1:1: "), said
                assert REMEDY.search(line), said
    assert found == possible
    assert possible <= set(get_args(ErrorType))


@pytest.mark.parametrize("location", [place.location for place in places(Config) if len(place.location) == 1])
def test_the_key_is_named(location: tuple[str]) -> None:
    (put,) = {place.put for place in places(Config) if place.location == location}
    _, lines = told_of(Config, put(object()))
    assert all(location[0] in line for line in lines)
    assert lines


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
