"""YAML documents that people write, read with the position of every key and value.

The text is untrusted: YAML 1.2 is read (``1e-3`` is a number, ``no`` a word), keys may not repeat, and neither aliases
nor nesting can cost more memory than a config needs. All errors of a document are reported at once, each with file,
line, column and remedy; errors of the YAML parser are reworded (`syntax_in_words`). Options such as ``--set`` replace
values of a document that has been read (`with_override`).
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError
from ruamel import yaml

from fsvm_cli.console import brief
from fsvm_cli.errors import UsageError
from fsvm_cli.files import special_kind
from fsvm_cli.validation_errors import Issue, Location, issues_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from ruamel.yaml.constructor import SafeConstructor
    from ruamel.yaml.error import YAMLError
    from ruamel.yaml.nodes import MappingNode, Node, ScalarNode

QUOTE_REMEDY = "put a text with signs into quotes"

PARSER_MESSAGES: tuple[tuple[str, str], ...] = (
    (
        r"mapping values are not allowed",
        f"a ':' where none can stand; {QUOTE_REMEDY}, or indent the line as its neighbours",
    ),
    (
        r"incompatible YAML document|duplicate YAML directive|expected a digit",
        "a line %YAML that names no version 1.1 or 1.2, or a second one; leave it out",
    ),
    (r"expected ':'", "a key without ':'; write 'key: value'"),
    (r"expected <block end>", "the line is indented unlike its neighbours; indent the lines of one part alike"),
    (
        r"sequence entries are not allowed",
        "a '-' where no list can stand; put it at the beginning of a line",
    ),
    (r"mapping keys are not allowed", f"a '?' where none can stand; {QUOTE_REMEDY}"),
    (r"found character '\\t'", "a tab where none can stand; write blanks"),
    (r"found character (?P<sign>.+) that cannot", f"{{sign}} cannot begin a value; {QUOTE_REMEDY}"),
    (r"expected ',' or '(?P<sign>[\]}}])', but got", "a ',' or '{sign}' is missing before this; write it, or quotes"),
    (r"but found another document|end of document marker|document end marker", "a second document; keep one"),
    (r"found undefined alias (?P<sign>.+)", f"there is nothing called {{sign}}; {QUOTE_REMEDY}"),
    (r"found duplicate anchor (?P<sign>.+)", f"{{sign}} is given twice; {QUOTE_REMEDY}"),
    (r"unexpected end of stream", "the quotes are never closed; write the second one"),
    (r"found unexpected document separator", "the quotes are not closed before '---'; write the second one"),
    (
        r"found unknown escape character (?P<sign>.+)",
        "{sign} after \\ means nothing; write single quotes",
    ),
    (r"expected the node content", "a value is missing here, or a bracket is not closed; write it"),
    (r"found unexpected ':'", f"a ':' where none can stand; {QUOTE_REMEDY}"),
)
"""Patterns of the parser's messages, each with the message that is shown instead."""


def syntax_in_words(error: YAMLError, text: str) -> tuple[tuple[int, int] | None, str]:
    """Return line and column of a syntax error, both from 1, or None if unknown, and its message."""
    if isinstance(error, yaml.reader.ReaderError):
        before = text[: error.position]
        place = before.count("\n") + 1, error.position - before.rfind("\n")
        return place, f"the character U+{error.character:04X} cannot stand in a text; leave it out"
    if not isinstance(error, yaml.error.MarkedYAMLError):
        return None, f"{_line_of(error)}; {QUOTE_REMEDY}"
    mark = error.problem_mark or error.context_mark
    problem = str(error.problem or error.context)
    for pattern, words in PARSER_MESSAGES:
        if found := re.search(pattern, problem):
            message = words.format(**{name: brief(value) for name, value in found.groupdict().items()})
            break
    else:
        message = f"{brief(' '.join(problem.split()))}; {QUOTE_REMEDY}"
    return (mark.line + 1, mark.column + 1) if mark else None, message


def _line_of(error: YAMLError) -> str:
    return brief(str(error).partition("\n")[0])


MAX_DOCUMENT_BYTES = 1_000_000
MAX_NODES = 20_000
MAX_DEPTH = 32
MAX_INTEGER_BITS = 4096
"""Some 1,200 digits; Python refuses to write integers that are much longer."""
MAX_CACHED_DOCUMENTS = 256
YAML_TAG = "tag:yaml.org,2002:"
SCALAR_TAGS = {f"{YAML_TAG}{name}" for name in ("str", "int", "float", "bool", "null")}

ModelT = TypeVar("ModelT", bound=BaseModel)


class StrictModel(BaseModel):
    """A part of a document: unknown keys are errors, and values are not converted to another type."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    synonyms: ClassVar[Mapping[str, str]] = {}
    """Names of its keys and words in other programs, and the names here, for suggestions."""


@dataclass(frozen=True)
class Document:
    """The content of a YAML text, with positions.

    Attributes
    ----------
    name : str
        The file's name as the user gave it.
    content : dict
        Mappings as ``dict``, sequences as ``tuple``, scalars as Python values.
    positions : dict of location to str
        For the location of each key and value, the ``name:line:column`` (or the option) that it came from.
    overrides : dict of str to value
        Values that options have replaced, by dotted path.
    """

    name: str
    content: dict[str, Any]
    positions: dict[Location, str] = field(repr=False)
    overrides: dict[str, Any] = field(default_factory=dict)

    def where(self, location: Location) -> str:
        """Position of a location, or of the nearest one around it that stands in the text."""
        for end in range(len(location), -1, -1):
            if location[:end] in self.positions:
                return self.positions[location[:end]]
        return self.name

    def error(self, location: Location, message: str) -> UsageError:
        """Build an error about the value at `location`."""
        return UsageError(f"{self.where(location)}: {message}")

    def errors(self, issues: Iterable[Issue]) -> UsageError:
        """Build one error of many, one line each, in the order of the document."""
        lines = [str(self.error(issue.location, issue.message)) for issue in issues]
        return UsageError("\n".join(dict.fromkeys(sorted(lines, key=_by_position))))


def read_document(path: Path) -> Document:
    """Read one YAML document from a file.

    Raises
    ------
    UsageError
        If the file is a pipe or a device, cannot be read, is too large, or is not a YAML mapping with distinct keys.
    """
    if kind := special_kind(path):
        raise UsageError(f"{path}: is {kind}, not a file; save the text in a file, and name that")
    try:
        with path.open("rb") as stream:
            raw = stream.read(MAX_DOCUMENT_BYTES + 1)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror}); check its path") from error
    if len(raw) > MAX_DOCUMENT_BYTES:
        raise UsageError(f"{path}: larger than {MAX_DOCUMENT_BYTES:,} bytes; write a shorter document")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: not UTF-8 text (byte {error.start}); save it as UTF-8") from error
    return parse_document(text, str(path))


@functools.lru_cache(maxsize=MAX_CACHED_DOCUMENTS)
def parse_document(text: str, name: str) -> Document:
    """Parse one YAML document; `name` stands in its errors.

    Several experiments of one run name the same card, or extend the same config: parsed documents are cached and must
    not be changed.

    Raises
    ------
    UsageError
        If `text` is not a YAML mapping with distinct keys, or unfolds to more than a document needs.
    """
    parser = yaml.YAML(typ="safe", pure=True)
    try:
        root = parser.compose(text)
    except yaml.error.YAMLError as error:
        place, message = syntax_in_words(error, text)
        where = f"{name}:{place[0]}:{place[1]}" if place else name
        raise UsageError(f"{where}: not YAML: {message}") from error
    except (AssertionError, ValueError, OverflowError) as error:  # of %YAML 1.3, or \UFFFFFFFF
        what = (
            "a line %YAML that names no version 1.1 or 1.2; leave it out"
            if "%YAML" in text
            else "a character with a number (\\U...) that none has; write the character itself"
        )
        raise UsageError(f"{name}: not YAML: {what}") from error
    except RecursionError as error:
        raise UsageError(f"{name}: nested too deeply; write it flatter") from error
    if not isinstance(root, yaml.nodes.MappingNode):
        raise UsageError(f"{name}: holds no keys; a document is a list of 'key: value' lines")
    builder = _Builder(name, parser.constructor)
    content = builder.build(root, ())
    return Document(name=name, content=content, positions=builder.positions)


class _Builder:
    """Turns the nodes of one document into values, and notes their positions."""

    def __init__(self, name: str, constructor: SafeConstructor) -> None:
        self.name = name
        self.constructor = constructor
        self.positions: dict[Location, str] = {}
        self.n_nodes = 0

    def build(self, node: Node, location: Location) -> Any:
        # An aliased node is built again wherever it is named, so this counts what aliases unfold to.
        self.n_nodes += 1
        if self.n_nodes > MAX_NODES:
            raise UsageError(
                f"{self.position(node)}: the document unfolds to more than {MAX_NODES:,} values; write fewer aliases"
            )
        if len(location) > MAX_DEPTH:
            raise UsageError(f"{self.position(node)}: nested deeper than {MAX_DEPTH} levels; write it flatter")
        self.positions.setdefault(location, self.position(node))
        if isinstance(node, yaml.nodes.MappingNode):
            return self.mapping(node, location)
        if isinstance(node, yaml.nodes.SequenceNode):
            return tuple(self.build(child, (*location, index)) for index, child in enumerate(node.value))
        assert isinstance(node, yaml.nodes.ScalarNode)
        return self.scalar(node)

    def mapping(self, node: MappingNode, location: Location) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.nodes.ScalarNode):
                raise UsageError(f"{self.position(key_node)}: a list or mapping cannot be a key; write a word")
            key = key_node.value
            self.refuse_surrogates(key_node)
            if key in result:
                first = self.positions[(*location, key, "<key>")].removeprefix(f"{self.name}:")
                raise UsageError(
                    f"{self.position(key_node)}: the key '{brief(key)}' stands twice (first at {first}); keep one"
                )
            self.positions[(*location, key, "<key>")] = self.position(key_node)
            result[key] = self.build(value_node, (*location, key))
        return result

    def scalar(self, node: ScalarNode) -> Any:
        tag = str(node.tag)
        if tag.endswith(":timestamp"):
            return node.value
        if tag not in SCALAR_TAGS:
            named = brief(tag.replace(YAML_TAG, "!!"))
            raise UsageError(f"{self.position(node)}: the tag '{named}' is not read here; write a plain value")
        self.refuse_surrogates(node)
        try:
            value = self.constructor.construct_object(node)
        except (ValueError, yaml.constructor.ConstructorError) as error:
            raise UsageError(
                f"{self.position(node)}: '{brief(node.value)}' cannot be read as a value; put it into quotes"
            ) from error
        if isinstance(value, int) and value.bit_length() > MAX_INTEGER_BITS:
            raise UsageError(
                f"{self.position(node)}: '{brief(node.value)}' is too long for a number; write fewer digits"
            )
        return value

    def refuse_surrogates(self, node: ScalarNode) -> None:
        if any("\ud800" <= each <= "\udfff" for each in node.value):
            raise UsageError(
                f"{self.position(node)}: '{brief(node.value)}' holds half of a character; write the whole one"
            )

    def position(self, node: Node) -> str:
        return f"{self.name}:{node.start_mark.line + 1}:{node.start_mark.column + 1}"


def model_from_json(model: type[ModelT], text: str) -> ModelT:
    """Build `model` from the JSON that it was written as.

    pydantic's own JSON mode forgets, behind a validator that runs first, that a JSON array may be a tuple.

    Raises
    ------
    ValueError
        If the text is no JSON of such a model (pydantic's ``ValidationError`` is one).
    """
    return model.model_validate(as_in_documents(json.loads(text)))


def as_in_documents(value: Any) -> Any:
    """Convert values from Python or JSON to the types of documents: lists to tuples, NumPy numbers to Python's."""
    if isinstance(value, list | tuple):
        return tuple(map(as_in_documents, value))
    if isinstance(value, np.generic):
        return value.item()
    return {key: as_in_documents(inner) for key, inner in value.items()} if isinstance(value, dict) else value


def validate(document: Document, model: type[ModelT]) -> ModelT:
    """Build `model` from a document.

    Raises
    ------
    UsageError
        With all validation errors, one line each, in the order of the document.
    """
    try:
        return model.model_validate(document.content)
    except ValidationError as failure:
        raise document.errors(issues_of(failure, document.content, model)) from None


def _by_position(line: str) -> tuple[int, int]:
    found = re.search(r":(\d+):(\d+): ", line)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def with_override(document: Document, assignment: str) -> Document:
    """Set one value of a document by its dotted path, as in ``protocol.splits=20``.

    Parameters
    ----------
    document : Document
    assignment : str
        ``KEY=VALUE``; KEY is a dotted path with an index, from 0, for each sequence on the way, VALUE is YAML.

    Raises
    ------
    UsageError
        If it is no assignment, the value is no YAML, or the path leads through something that has no keys.
    """
    option = f"--set {brief(assignment)}"
    key, equals, text = assignment.partition("=")
    if not equals or not key.strip():
        raise UsageError(f"{option}: write KEY=VALUE, for example --set protocol.splits=20")
    parts = key.strip().split(".")
    try:
        value = parse_document(f"value: {text}", option).content["value"]
    except UsageError as error:
        # Line and column have no meaning in an option.
        raise UsageError(re.sub(rf"^{re.escape(option)}:\d+:\d+", lambda _: option, str(error))) from error
    content, location = _with_value(document.content, parts, value, option)
    positions = {known: where for known, where in document.positions.items() if known[: len(location)] != location}
    for end in range(1, len(location) + 1):
        positions.setdefault(location[:end], option)
        positions.setdefault((*location[:end], "<key>"), option)
    return replace(
        document,
        content=content,
        positions=positions,
        overrides=document.overrides | {key.strip(): value},
    )


def _with_value(content: Any, parts: list[str], value: Any, option: str) -> tuple[Any, Location]:
    """Copy `content` with `value` at the path `parts`; also the path as a location."""
    if not parts:
        return value, ()
    head, rest = parts[0], parts[1:]
    if isinstance(content, tuple):
        if not head.isdigit() or int(head) >= len(content):
            raise UsageError(f"{option}: '{brief(head)}' is not in a list of {len(content)}; the first is 0")
        index = int(head)
        inner, location = _with_value(content[index], rest, value, option)
        return (*content[:index], inner, *content[index + 1 :]), (index, *location)
    if not isinstance(content, dict):
        raise UsageError(f"{option}: what stands before '{brief(head)}' is a plain value; it has no keys")
    inner, location = _with_value(content.get(head, {}), rest, value, option)
    return content | {head: inner}, (head, *location)
