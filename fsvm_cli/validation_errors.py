"""The wording of validation errors: pydantic's errors in terms of the document that a person wrote."""

from __future__ import annotations

import difflib
import functools
import operator
import re
import types
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, Tag

from fsvm_cli.console import brief

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pydantic import ValidationError

Location = tuple[str | int, ...]

EXPECTATIONS = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing": "a whole number",
    "int_parsing_size": "a smaller number",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "string_type": "a text",
    "string_sub_type": "a text",
    "string_unicode": "a text of whole characters",
    "string_too_short": "a text of at least {min_length} characters",
    "string_too_long": "a text of at most {max_length} characters",
    "string_pattern_mismatch": "a text of the form {pattern}",
    "greater_than": "more than {gt}",
    "greater_than_equal": "{ge} or more",
    "less_than": "less than {lt}",
    "less_than_equal": "{le} or less",
    "multiple_of": "a multiple of {multiple_of}",
    "too_short": "a list of {min_length} or more",
    "too_long": "a list of {max_length} or fewer",
    "tuple_type": "a list",
    "list_type": "a list",
    "dict_type": "a mapping of keys to values",
    "mapping_type": "a mapping of keys to values",
    "model_type": "a mapping of keys to values",
    "model_attributes_type": "a mapping of keys to values",
    "none_required": "left out",
}
"""The expected value, by pydantic's type of error."""

EXPECTATION_KINDS = frozenset({*EXPECTATIONS, "literal_error"})
"""Types of pydantic's errors that state an expected value."""


@dataclass(frozen=True)
class Issue:
    """One validation error, and its location in the document."""

    location: Location
    message: str


class IssuesError(ValueError):
    """Validation errors that a validator of a model has found, each with its location within the model."""

    def __init__(self, issues: Iterable[Issue]) -> None:
        self.issues = tuple(issues)
        super().__init__("; ".join(issue.message for issue in self.issues))


@dataclass(frozen=True)
class _Finding:
    """One of pydantic's errors, with its location in the document and the type that is expected there."""

    error: Any
    location: Location
    annotation: Any
    inside: type[BaseModel] | None

    @property
    def kind(self) -> str:
        return str(self.error["type"])


def issues_of(failure: ValidationError, content: Any, model: type[BaseModel]) -> list[Issue]:
    """Translate the errors of `content` as a `model`.

    For a union pydantic reports the errors as each of its members; they become one issue, or those inside the member
    that was written.
    """
    errors = failure.errors(include_url=False)
    findings = [_Finding(error, *_resolve(content, model, error["loc"])) for error in errors]
    places = {finding.location for finding in findings}
    forms: dict[Location, list[_Finding]] = {}
    issues: list[Issue] = []
    for finding in findings:
        found = finding.error.get("ctx", {}).get("error")
        if isinstance(found, IssuesError):
            issues.extend(Issue((*finding.location, *each.location), each.message) for each in found.issues)
        elif finding.kind not in EXPECTATION_KINDS:
            issues.append(_describe(finding))
        elif not any(_lies_within(place, finding.location) for place in places):
            forms.setdefault(finding.location, []).append(finding)
    return issues + [_of_forms(several) for several in forms.values()]


def _lies_within(place: Location, around: Location) -> bool:
    return len(place) > len(around) and place[: len(around)] == around


def _of_forms(findings: list[_Finding]) -> Issue:
    """Word the errors of one location: a single expectation in detail, several in one sentence."""
    expected = list(dict.fromkeys(_expectation(finding.error) for finding in findings))
    if len(expected) == 1:
        return _describe(findings[0])
    location, value = findings[0].location, findings[0].error["input"]
    return Issue(location, f"{_key(location)} is {in_words(value)}; it should be {', or '.join(expected)}")


def _expectation(error: Any) -> str:
    if error["type"] == "literal_error":
        allowed = _words_in(error["ctx"])
        return f"one of {', '.join(allowed)}" if len(allowed) > 1 else f"'{allowed[0]}'"
    context = error.get("ctx", {})
    plain = {name: f"{value:g}" if isinstance(value, float) else value for name, value in context.items()}
    return EXPECTATIONS[error["type"]].format(**plain)


def _describe(finding: _Finding) -> Issue:
    """Word one error: problem, allowed values, suggestion."""
    error, kind, location = finding.error, finding.kind, finding.location
    context, key = error.get("ctx", {}), _key(location)
    if kind == "extra_forbidden":
        return _unknown_key(finding)
    if kind in {"literal_error", "union_tag_invalid"}:
        return _no_such_word(finding)
    if kind == "missing":
        message = f"the key '{error['loc'][-1]}' is missing" + (f" in '{key}'" if location else "")
    elif kind == "union_tag_not_found":
        message = f"the key '{_discriminator(context)}' is missing in '{key}'"
    elif kind in {"value_error", "assertion_error"}:
        message = f"{key}: {context['error']}" if location else str(context["error"])
    elif kind == "invalid_key":
        message = f"a key of {key} is {in_words(error['input'])}; write a word"
    elif kind in {"too_short", "string_too_short"} and context["min_length"] == 1:
        message = f"{key} is empty; write at least one {'value' if kind == 'too_short' else 'character'}"
    else:
        expected = f"it should be {_expectation(error)}" if kind in EXPECTATIONS else "nothing of this kind may be here"
        value = error["input"]
        quotes = "; put it into quotes" if kind == "string_type" and isinstance(value, int | float) else ""
        message = f"{key} is {in_words(value)}; {expected}{quotes}"
    return Issue(location, message)


def _unknown_key(finding: _Finding) -> Issue:
    word, inside = str(finding.location[-1]), finding.inside
    allowed = [info.alias or name for name, info in inside.model_fields.items()] if inside else []
    suggestion = _suggestion(word, allowed, _synonyms([inside]))
    return Issue((*finding.location, "<key>"), f"unknown key '{brief(word)}'{_allowed(allowed)}{suggestion}")


def _no_such_word(finding: _Finding) -> Issue:
    """Word an error about a word that is not among those allowed, or about the tag of a union."""
    context, value, location = finding.error["ctx"], finding.error["input"], finding.location
    allowed, models = _words_in(context), [finding.inside]
    if key := _discriminator(context):
        value, location = value.get(key), (*location, key)
        models = [member for member, _ in _members(finding.annotation) if _is_model(member)]
    if isinstance(location[-1], int):
        wrong = f"{in_words(value)} cannot stand in '{_key(location[:-1])}'"
    elif isinstance(value, str):
        wrong = f"{in_words(value)} is no {location[-1]}"
    else:
        wrong = f"{_key(location)} is {in_words(value)}"
    suggestion = _suggestion(value, allowed, _synonyms(models)) if isinstance(value, str) else ""
    return Issue(location, f"{wrong}{_allowed(allowed)}{suggestion}")


def _words_in(context: dict[str, Any]) -> list[str]:
    return re.findall(r"'([^']*)'", str(context.get("expected") or context.get("expected_tags")))


def _key(location: Location) -> str:
    return brief(".".join(map(str, location))) or "the document"


def _discriminator(context: dict[str, Any]) -> str:
    return str(context.get("discriminator", "")).strip("'")


def in_words(value: Any) -> str:
    """Describe a value of a document, or of a caller, in a few words."""
    if value is None or isinstance(value, bool):
        return {None: "empty", True: "true", False: "false"}[value]
    if isinstance(value, dict | list | tuple):
        return "a mapping" if isinstance(value, dict) else f"a list of {len(value)}"
    return brief(repr(value)) if isinstance(value, int | float | str) else f"a Python object ({type(value).__name__})"


def _allowed(allowed: Iterable[str]) -> str:
    names = ", ".join(sorted(allowed))
    return f"; allowed: {names}" if names else ""


def _synonyms(models: Iterable[type[BaseModel] | None]) -> dict[str, str]:
    known: dict[str, str] = {}
    for model in models:
        known |= getattr(model, "synonyms", {})
    return known


def _suggestion(word: str, allowed: Iterable[str], synonyms: Mapping[str, str]) -> str:
    """Suggest the name here of another program's word, or else a name with a similar spelling."""
    names = list(allowed)
    meant = synonyms.get(word.lower().replace("_", "-"))
    if meant in names:
        return f"; did you mean '{meant}'?"
    near = difflib.get_close_matches(word[:100].lower(), names, n=1, cutoff=0.6)
    return f"; did you mean '{near[0]}'?" if near else ""


def _resolve(content: Any, model: type[BaseModel], loc: Location) -> tuple[Location, Any, type[BaseModel] | None]:
    """Turn pydantic's location into one of the document; find the expected type, and the innermost model.

    Pydantic puts the tag of a union's member between the keys, and a tag may be spelt like a key.
    """
    location: list[str | int] = []
    annotation: Any = model
    inside: type[BaseModel] | None = model
    for part in loc:
        members = dict(_members(annotation))
        chosen = [member for member, tags in members.items() if part in tags] if len(members) > 1 else []
        is_key = isinstance(content, dict) and part in content
        is_place = isinstance(content, tuple) and isinstance(part, int) and part < len(content)
        if chosen:
            annotation = functools.reduce(operator.or_, chosen)
        elif is_key or is_place:
            content = content[part]
            location.append(part)
            annotation = _below(members, part)
        elif isinstance(part, int) and (inner := _below(members, part)) is not None:
            # A single value may stand for a list of one.
            annotation = inner
        else:
            continue
        inside = annotation if _is_model(annotation) else inside
    return tuple(location), annotation, inside


def _below(members: dict[Any, set[str]], part: str | int) -> Any:
    """Find the type of the value at a key or index, in the first member of the union that has it."""
    for member in members:
        if _is_model(member):
            fields = {info.alias or name: info.annotation for name, info in member.model_fields.items()}
            if part in fields:
                return fields[str(part)]
        elif isinstance(part, int) and get_origin(member) in {tuple, list}:
            return get_args(member)[0]
    return None


def _members(annotation: Any) -> Iterator[tuple[Any, set[str]]]:
    """Yield the types that an annotation admits, each with the tags that pydantic may give it in a location."""
    origin = get_origin(annotation)
    if origin is Annotated:
        own_tags = {note.tag for note in get_args(annotation)[1:] if isinstance(note, Tag)}
        for member, tags in _members(get_args(annotation)[0]):
            yield member, tags | own_tags
    elif origin in {Union, types.UnionType}:
        for member in get_args(annotation):
            if member is not type(None):
                yield from _members(member)
    else:
        yield annotation, _literal_tags(annotation) if _is_model(annotation) else set()


@functools.lru_cache(maxsize=1000)
def _literal_tags(model: type[BaseModel]) -> set[str]:
    literals = (info.annotation for info in model.model_fields.values() if get_origin(info.annotation) is Literal)
    return {model.__name__, *(value for literal in literals for value in get_args(literal))}


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)
