"""The JSON Schema that the shipped configs name for editors."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from fsvm_cli.resources import resource_folder, resource_names
from fsvm_cli.spec.load import json_schema, parameters_described

if TYPE_CHECKING:
    from collections.abc import Iterator

MODELINE = "# yaml-language-server: $schema=fsvm.schema.json"


def test_the_file_is_what_fsvm_schema_prints() -> None:
    stored = json.loads((resource_folder("configs") / "fsvm.schema.json").read_text(encoding="utf-8"))
    assert stored == json_schema(), "run: fsvm schema > configs/fsvm.schema.json"


@pytest.mark.parametrize("name", resource_names("configs"))
def test_every_shipped_config_names_it_in_its_first_line(name: str) -> None:
    text = (resource_folder("configs") / f"{name}.yaml").read_text(encoding="utf-8")
    assert text.splitlines()[0] == MODELINE


def _without_description(schema: Any, path: str = "") -> Iterator[str]:
    if isinstance(schema, dict):
        for key, of_property in schema.get("properties", {}).items():
            if not of_property.get("description"):
                yield f"{path}/{key}"
        for key, value in schema.items():
            yield from _without_description(value, f"{path}/{key}")
    elif isinstance(schema, list):
        for value in schema:
            yield from _without_description(value, path)


def test_every_key_of_a_config_is_described() -> None:
    assert list(_without_description(json_schema())) == []


def test_parameters_are_read_from_docstrings() -> None:
    docstring = """Summary.

    Parameters
    ----------
    a, b : float
        Two of them,
        in two lines.
    c : int

    Notes
    -----
    d : no parameter
        Of a note.
    """
    assert parameters_described(docstring) == {"a": "Two of them, in two lines.", "b": "Two of them, in two lines."}
