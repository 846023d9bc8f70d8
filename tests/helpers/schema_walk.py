"""Every place of a pydantic model, by its core schema: what may go wrong there, and documents with a value there."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pydantic import BaseModel

Schema = dict[str, Any]

BOUNDS = {"gt": "greater_than", "ge": "greater_than_equal", "lt": "less_than", "le": "less_than_equal"}
LENGTHS = {"min_length": "too_short", "max_length": "too_long"}

ERRORS: dict[str, tuple[set[str], dict[str, str]]] = {
    "any": (set(), {}),
    "bool": ({"bool_type"}, {}),
    "definition-ref": (set(), {}),
    "definitions": (set(), {}),
    "default": (set(), {}),
    "dict": ({"dict_type"}, LENGTHS),
    "float": ({"float_type", "finite_number"}, BOUNDS),
    "function-after": ({"value_error"}, {}),
    "function-before": (set(), {}),
    "function-plain": ({"value_error"}, {}),
    "function-wrap": (set(), {}),
    "int": ({"int_type"}, BOUNDS),
    "literal": ({"literal_error"}, {}),
    "model": ({"model_type"}, {}),
    "model-field": (set(), {}),
    "model-fields": ({"missing", "extra_forbidden"}, {}),
    "nullable": (set(), {}),
    "str": (
        {"string_type", "string_unicode"},
        {
            "min_length": "string_too_short",
            "max_length": "string_too_long",
            "pattern": "string_pattern_mismatch",
        },
    ),
    "tagged-union": ({"model_attributes_type", "union_tag_invalid", "union_tag_not_found"}, {}),
    "tuple": ({"tuple_type"}, LENGTHS),
    "union": (set(), {}),
}
"""What strict validation of Python's values finds wrong, by the type of a schema: always, and where a key is set."""

TEXTS = ("x", "0" * 64, "ACGT", "https://x", "xx")
PLAIN_VALUES = (2, "x", 0.5)


@dataclass(frozen=True)
class Place:
    """A place of a document.

    Attributes
    ----------
    location : tuple
    schema : dict
        Pydantic's core schema of what stands there.
    put : callable
        Makes a document that is sound but for the value that it is given for this place.
    """

    location: tuple[str | int, ...]
    schema: Schema
    put: Callable[[Any], Any]


def places(model: type[BaseModel]) -> list[Place]:
    """List the places of a model, each once, with all forms that may stand there."""
    schema: Any = model.__pydantic_core_schema__
    return list(_Walk().places(schema, (), lambda value: value))


def errors_at(schema: Schema) -> set[str]:
    """Pydantic's names of what may be wrong at a place, by itself."""
    always, where_set = ERRORS[schema["type"]]
    return always | {error for key, error in where_set.items() if schema.get(key) is not None}


class _Walk:
    """A walk through one core schema, which defines at its top what is named by a reference."""

    def __init__(self) -> None:
        self.definitions: dict[str, Schema] = {}
        self.seen: set[object] = set()

    def places(self, schema: Schema, location: tuple[str | int, ...], put: Callable[[Any], Any]) -> Iterator[Place]:
        """Yield a place, and the places within it."""
        if schema["type"] == "model":
            if schema["cls"] in self.seen:
                return
            self.seen.add(schema["cls"])
        yield Place(location, schema, put)
        for inner, key, put_inner in self.within(schema, put):
            yield from self.places(inner, location if key is None else (*location, key), put_inner)

    def within(
        self, schema: Schema, put: Callable[[Any], Any]
    ) -> Iterator[tuple[Schema, str | int | None, Callable[[Any], Any]]]:
        """Yield the schemas right below one, each with its key, if it has one, and how a value is put there."""
        match schema["type"]:
            case "definitions":
                self.definitions |= {each["ref"]: each for each in schema["definitions"]}
                yield schema["schema"], None, put
            case "definition-ref":
                yield self.definitions[schema["schema_ref"]], None, put
            case "model-fields":
                sound = self.example(schema)
                for name, field in schema["fields"].items():
                    yield field["schema"], name, _in_mapping(put, sound, name)
            case "dict":
                sound = self.example(schema)
                name = next(iter(sound))
                yield schema["values_schema"], name, _in_mapping(put, sound, name)
            case "tuple":
                for index, item in enumerate(schema["items_schema"]):
                    yield item, index, _in_list(put, self.example(schema), index)
            case "union" | "tagged-union":
                yield from ((choice, None, put) for choice in _choices(schema))
            case kind:
                if "schema" in schema and kind != "function-plain":
                    yield schema["schema"], None, put

    def example(self, schema: Schema) -> Any:
        """Make a value that a schema admits."""
        match schema["type"]:
            case "definition-ref":
                return self.example(self.definitions[schema["schema_ref"]])
            case "model-fields":
                fields = schema["fields"].items()
                return {name: self.example(each["schema"]) for name, each in fields if _is_required(each["schema"])}
            case "union" | "tagged-union":
                return self.example(_choices(schema)[0])
            case "tuple":
                items = schema["items_schema"]
                return tuple(self.example(items[0]) for _ in range(max(len(items), schema.get("min_length") or 1)))
            case "dict":
                n = max(1, schema.get("min_length") or 1)
                return {f"x{number}": self.example(schema["values_schema"]) for number in range(n)}
            case kind if kind in PLAIN_EXAMPLES:
                return PLAIN_EXAMPLES[kind](schema)
            case _:
                return self.example(schema["schema"])


def _text(schema: Schema) -> str:
    return next(text for text in TEXTS if re.search(schema.get("pattern") or "", text))


def _number(schema: Schema) -> Any:
    least: Any = schema.get("ge", schema.get("gt", 0))
    most: Any = schema.get("le", schema.get("lt", least + 2))
    return least if "ge" in schema else (least + most) / 2 if schema["type"] == "float" else least + 1


def _taken(schema: Schema) -> Any:
    return next(value for value in PLAIN_VALUES if _takes(schema["function"]["function"], value))


PLAIN_EXAMPLES: dict[str, Callable[[Schema], Any]] = {
    "any": lambda _: 1,
    "bool": lambda _: True,
    "float": _number,
    "function-plain": _taken,
    "int": _number,
    "literal": lambda schema: schema["expected"][0],
    "str": _text,
}
"""How a value is made of what has no schema below it."""


def _takes(function: Callable[[Any], Any], value: Any) -> bool:
    try:
        function(value)
    except ValueError:
        return False
    return True


def _choices(schema: Schema) -> list[Schema]:
    choices = schema["choices"]
    listed = choices.values() if isinstance(choices, dict) else choices
    return [choice[0] if isinstance(choice, tuple) else choice for choice in listed]


def _is_required(schema: Schema) -> bool:
    return str(schema["type"]) != "default"


def _in_mapping(put: Callable[[Any], Any], sound: dict[str, Any], name: str) -> Callable[[Any], Any]:
    return lambda value: put(sound | {name: value})


def _in_list(put: Callable[[Any], Any], sound: tuple[Any, ...], index: int) -> Callable[[Any], Any]:
    return lambda value: put((*sound[:index], value, *sound[index + 1 :]))
