"""YAML documents: positions, all mistakes at once, and what untrusted text cannot do."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BeforeValidator, Field

from fsvm_cli.config_io import (
    MAX_DOCUMENT_BYTES,
    StrictModel,
    model_from_json,
    parse_document,
    read_document,
    validate,
    with_override,
)
from fsvm_cli.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path


class Square(StrictModel):
    shape: Literal["square"]
    side: float = Field(gt=0)


class Circle(StrictModel):
    shape: Literal["circle"]
    radius: float = Field(gt=0)


class Inner(StrictModel):
    count: int = Field(ge=1)
    name: str = "x"


class Drawing(StrictModel):
    title: str
    inner: Inner
    shapes: tuple[Annotated[Square | Circle, Field(discriminator="shape")], ...] = ()
    colour: Literal["red", "green"] = "red"


GOOD = "title: a\ninner: {count: 2}\nshapes:\n  - {shape: square, side: 1e-3}\n"


def issues(text: str) -> list[str]:
    with pytest.raises(UsageError) as caught:
        validate(parse_document(text, "d.yaml"), Drawing)
    return str(caught.value).splitlines()


def test_a_correct_document_becomes_the_model() -> None:
    drawing = validate(parse_document(GOOD, "d.yaml"), Drawing)
    assert drawing == Drawing(title="a", inner=Inner(count=2), shapes=(Square(shape="square", side=1e-3),))


def test_all_mistakes_are_told_at_once_in_the_order_of_the_text() -> None:
    lines = issues(
        "titel: a\n"
        "inner: {count: 0, nmae: b}\n"
        "shapes:\n"
        "  - {shape: sqare, side: 1}\n"
        "  - {shape: circle, radios: 1}\n"
        "  - {side: 1}\n"
        "colour: blue\n"
    )
    assert lines == [
        "d.yaml:1:1: the key 'title' is missing",
        "d.yaml:1:1: unknown key 'titel'; allowed: colour, inner, shapes, title; did you mean 'title'?",
        "d.yaml:2:16: inner.count is 0; it should be 1 or more",
        "d.yaml:2:19: unknown key 'nmae'; allowed: count, name; did you mean 'name'?",
        "d.yaml:4:13: 'sqare' is no shape; allowed: circle, square; did you mean 'square'?",
        "d.yaml:5:5: the key 'radius' is missing in 'shapes.1'",
        "d.yaml:5:21: unknown key 'radios'; allowed: radius, shape; did you mean 'radius'?",
        "d.yaml:6:5: the key 'shape' is missing in 'shapes.2'",
        "d.yaml:7:9: 'blue' is no colour; allowed: green, red",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "d.yaml: holds no keys; a document is a list of 'key: value' lines"),
        ("- 1\n", "d.yaml: holds no keys; a document is a list of 'key: value' lines"),
        ("a: [1,\n", "d.yaml:2:1: not YAML: a value is missing here, or a bracket is not closed; write it"),
        ("a: 1\nb: 2\na: 3\n", "d.yaml:3:1: the key 'a' stands twice (first at 1:1); keep one"),
        ("a: !!python/object:os.system x\n", "d.yaml:1:4: the tag '!!python/object:os.system' is not"),
        ("? [1]\n: 2\n", "d.yaml:1:3: a list or mapping cannot be a key; write a word"),
        ("a: 1\n---\nb: 2\n", "d.yaml:2:1: not YAML: a second document; keep one"),
        ("a: 1\nb: 2: 3", "d.yaml:2:5: not YAML: a ':' where none can stand; put a text with signs into quotes"),
        ("a: 1\nb\n", "d.yaml:3:1: not YAML: a key without ':'"),
        ("a: [1\nb: 2", "d.yaml:2:2: not YAML: a ',' or ']' is missing before this"),
        ("a: @x", "d.yaml:1:4: not YAML: '@' cannot begin a value; put a text with signs into quotes"),
        ("a: *x", "d.yaml:1:4: not YAML: there is nothing called 'x'"),
        ("%YAML 9.9\n---\na: 1\n", "d.yaml:1:1: not YAML: a line %YAML that names no version 1.1 or 1.2, or a second"),
        ("%YAML x\n---\na: 1\n", "d.yaml:1:7: not YAML: a line %YAML that names no version 1.1 or 1.2, or a second"),
        ("%YAML 1.3\n---\na: 1\n", "d.yaml: not YAML: a line %YAML that names no version 1.1 or 1.2; leave it out"),
        (f"%YAML 1.{'9' * 5000}\n---\na: 1\n", "d.yaml: not YAML: a line %YAML that names no version 1.1 or 1.2"),
        ('a: "\\UFFFFFFFF"', "d.yaml: not YAML: a character with a number (\\U...) that none has; write the character"),
        ("a: 'x", "d.yaml:1:6: not YAML: the quotes are never closed; write the second one"),
        ("a: {b: 1}}\n", "d.yaml:1:10: not YAML: "),
        ("a: 1\nb: \x07", "d.yaml:2:4: not YAML: the character U+0007 cannot stand in a text; leave it out"),
        ("a: 0x" + "f" * 6000, "d.yaml:1:4: '0xfff"),
        ("a: " + "9" * 6000, "d.yaml:1:4: '999"),
        ('"\\ud800": 1', "d.yaml:1:1: '\\ud800' holds half of a character"),
        ('"a\\nb": 1\n"a\\nb": 2', "d.yaml:2:1: the key 'a\\nb' stands twice"),
        ("a: &x [*x]\n", "d.yaml:1:4: nested deeper than 32 levels"),
        ("a: " + "[" * 500 + "]" * 500, "d.yaml: nested too deeply"),
    ],
)
def test_what_is_no_document_is_refused_in_one_line(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_document(text, "d.yaml")
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


def test_aliases_cannot_unfold_to_more_than_a_document_needs() -> None:
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]\n" for level in range(1, 20)
    )
    with pytest.raises(UsageError, match="unfolds to more than"):
        parse_document(bomb, "d.yaml")


def test_scalars_are_those_of_yaml_1_2() -> None:
    content = parse_document(
        "a: 1e-3\nb: no\nc: 10:30\nd: 2/3\ne: 2026-11-20\nf: ~\ng: on\nh: 0o17\n", "d.yaml"
    ).content
    assert content == {
        "a": 0.001,
        "b": "no",
        "c": "10:30",
        "d": "2/3",
        "e": "2026-11-20",
        "f": None,
        "g": "on",
        "h": 15,
    }


def test_files_that_cannot_be_read_say_why(tmp_path: Path) -> None:
    large, latin = tmp_path / "large.yaml", tmp_path / "latin.yaml"
    large.write_bytes(b"#" * (MAX_DOCUMENT_BYTES + 1))
    latin.write_bytes("title: é".encode("latin-1"))
    pipe, device = tmp_path / "pipe.yaml", tmp_path / "device.yaml"
    os.mkfifo(pipe)
    device.symlink_to("/dev/zero")
    for path, kind in ((pipe, "a pipe"), (device, "a device")):
        with pytest.raises(UsageError, match=f"is {kind}, not a file; save the text in a file"):
            read_document(path)
    for path, message in [(tmp_path / "none.yaml", "cannot be read"), (large, "larger than"), (latin, "not UTF-8")]:
        with pytest.raises(UsageError, match=message):
            read_document(path)


@pytest.mark.parametrize(
    ("assignment", "path", "value"),
    [
        ("inner.count=7", ("inner", "count"), 7),
        ("shapes.0.side=1e-2", ("shapes", 0, "side"), 0.01),
        ("shapes=[]", ("shapes",), ()),
        ("inner.name=a=b", ("inner", "name"), "a=b"),
    ],
)
def test_an_override_sets_one_value_and_is_remembered(assignment: str, path: tuple[Any, ...], value: Any) -> None:
    document = with_override(parse_document(GOOD, "d.yaml"), assignment)
    found: Any = document.content
    for part in path:
        found = found[part]
    assert found == value
    assert document.overrides == {assignment.partition("=")[0]: value}
    assert document.where(path) == f"--set {assignment}"
    validate(document, Drawing)


@pytest.mark.parametrize("assignment", ["inner", "=3", "title.x=1", "shapes.7.side=1", "shapes.x=1", "inner=[1"])
def test_an_override_that_leads_nowhere_is_refused(assignment: str) -> None:
    with pytest.raises(UsageError, match="--set"):
        with_override(parse_document(GOOD, "d.yaml"), assignment)


@pytest.mark.parametrize("assignment", ["iner.count=1", "iner=1", "inner.cuont=1", "inner.x.y=1", 'title="\\ud800"'])
def test_an_override_of_what_does_not_exist_is_named_by_its_option(assignment: str) -> None:
    with pytest.raises(UsageError) as caught:
        validate(with_override(parse_document(GOOD, "d.yaml"), assignment), Drawing)
    assert str(caught.value).startswith(f"--set {assignment}: ")


def test_a_wrong_override_is_named_by_its_option() -> None:
    with pytest.raises(UsageError, match=r"^--set inner\.count=-1: inner\.count is -1"):
        validate(with_override(parse_document(GOOD, "d.yaml"), "inner.count=-1"), Drawing)


KEYS = st.text(st.characters(categories=["Ll", "Lu"]), min_size=1, max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text("ab 1:'#-"),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=20,
)


def frozen(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(frozen(inner) for inner in value)
    return {key: frozen(inner) for key, inner in value.items()} if isinstance(value, dict) else value


@given(st.dictionaries(KEYS, VALUES, min_size=1, max_size=5))
def test_json_which_yaml_includes_is_read_as_it_was_written(content: dict[str, Any]) -> None:
    assert parse_document(json.dumps(content, indent=1, ensure_ascii=False), "d.yaml").content == frozen(content)


@given(st.text(max_size=200))
def test_any_text_is_a_document_or_a_usage_error(text: str) -> None:
    try:
        validate(parse_document(text, "d.yaml"), Drawing)
    except UsageError as error:
        assert str(error).startswith("d.yaml")  # noqa: PT017 - most texts fail, in one way only


class WithTuples(StrictModel):
    inner: Annotated[Inner, BeforeValidator(lambda value: value)]
    names: tuple[str, ...] = ()
    nested: Annotated[tuple[tuple[int, ...], ...], BeforeValidator(lambda value: value)] = ()


def test_a_model_comes_back_from_its_json() -> None:
    model = WithTuples(inner=Inner(count=2), names=("a", "b"), nested=((1, 2), (3,)))
    assert model_from_json(WithTuples, model.model_dump_json()) == model
    with pytest.raises(ValueError, match="count"):
        model_from_json(WithTuples, '{"inner": {"count": 0}}')
    with pytest.raises(ValueError, match="Expecting"):
        model_from_json(WithTuples, "{")
