"""Which code a result came from: a hash of each module that took part, of what it does and not of how it is written.

Comments, layout, docstrings and what only type checkers read do not count, nor do folders, line endings and compiled
files. What a module imports is found by reading it, within this package and the module's own.

To parse what a trial needs takes half a second, so that what was found in a text is kept in the user's cache folder, by
the hash of the text.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import hashlib
import importlib.util
import json
from dataclasses import dataclass
from importlib.abc import InspectLoader
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeGuard

import platformdirs

from fsvm_cli.errors import DataError
from fsvm_cli.files import write_atomically

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from importlib.machinery import ModuleSpec

THIS_PACKAGE = __name__.partition(".")[0]

NOT_COUNTED = frozenset(
    f"{THIS_PACKAGE}.{name}"
    for name in ("compiled_cache", "documents", "errors", "evidence.parameters", "kernel_learning.kinds")
)
"""Modules that no number depends on: where compiled code lies, the wording of errors, and the words and the reading of
configs, whose content is part of every key."""

DERIVED_FIELDS = frozenset({"ctx", "kind", "type_comment"})
"""Of a syntax tree: what follows from the rest, and what has no effect."""

BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
"""Fields of a statement that hold statements."""


MOST_KEPT = 2000
"""Texts of which the findings are kept; this package has a quarter of it."""


@dataclass(frozen=True)
class _Module:
    digest: str
    imports: tuple[str, ...]


class _Import(NamedTuple):
    """A statement that imports a module, or some names from a package that is `level` - 1 folders above."""

    level: int
    module: str
    names: tuple[str, ...] | None


class _Findings(NamedTuple):
    """What a text says, wherever it lies."""

    digest: str
    imports: tuple[_Import, ...]

    @classmethod
    def of(cls, digest: str, imports: list[tuple[int, str, list[str] | None]]) -> _Findings:
        """Take them as JSON holds them."""
        rebuilt = (_Import(level, module, None if names is None else tuple(names)) for level, module, names in imports)
        return cls(digest, tuple(rebuilt))


def source_digests(*modules: str, apart: Collection[str] = ()) -> dict[str, str]:
    """Hash some modules and all that they import, directly or through others.

    Parameters
    ----------
    *modules : str
        Dotted names of modules that can be imported.
    apart : collection of str, default=()
        Modules that count only where they are among `modules`, whoever imports them.

    Returns
    -------
    dict of str to str
        A hash for each module, in the order of their names.

    Raises
    ------
    ModuleNotFoundError
        If there is no module of a name.
    """
    found: dict[str, str] = {}
    packages = frozenset({THIS_PACKAGE, *(name.partition(".")[0] for name in modules)})
    waiting = list(modules)
    while waiting:
        name = waiting.pop()
        if name not in found and name not in NOT_COUNTED:
            module = _read(name, packages)
            found[name] = module.digest
            waiting += [each for each in module.imports if each not in apart]
    _notebook().keep()
    return dict(sorted(found.items()))


@functools.cache
def _read(name: str, packages: frozenset[str]) -> _Module:
    spec = importlib.util.find_spec(name)
    if spec is None:
        raise ModuleNotFoundError(f"there is no module '{name}'", name=name)
    source = spec.loader.get_source(name) if isinstance(spec.loader, InspectLoader) else None
    if source is None:  # compiled, without its source
        return _Module(_digest(Path(spec.origin).read_bytes() if spec.origin else b""), ())
    findings = _notebook().findings(source)
    return _Module(findings.digest, tuple(dict.fromkeys(_imported(findings.imports, spec, packages))))


class _Notebook:
    """What was found in texts, in a file of the user's cache folder: each process goes on from it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.known: dict[str, _Findings] = {}
        self.has_more = False
        # None yet, or damaged: all texts are parsed anew.
        with contextlib.suppress(OSError, ValueError, TypeError, AttributeError):
            kept = json.loads(path.read_bytes())
            self.known = {key: _Findings.of(digest, imports) for key, (digest, imports) in kept.items()}

    def findings(self, source: str) -> _Findings:
        key = hashlib.sha256(source.encode()).hexdigest()
        if key not in self.known:
            tree = ast.parse(source)
            self.known[key] = _Findings(_digest(_meaning(tree).encode()), tuple(_imports(tree)))
            self.has_more = True
        return self.known[key]

    def keep(self) -> None:
        if self.has_more:
            latest = dict(list(self.known.items())[-MOST_KEPT:])
            with contextlib.suppress(DataError):  # where nothing can be written, the next process parses again
                write_atomically(self.path, json.dumps(latest).encode())
            self.has_more = False


@functools.cache
def _notebook() -> _Notebook:
    # This module's own hash is in the name: edited, it may find something else.
    name = f"{_digest(Path(__file__).read_bytes())}.json"
    return _Notebook(platformdirs.user_cache_path("fsvm") / "sources" / name)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def _meaning(value: object) -> str:
    """Write a syntax tree as text, in the same way in every version of Python."""
    if isinstance(value, list):
        return f"[{','.join(_meaning(item) for item in value if not _is_without_effect(item))}]"
    if not isinstance(value, ast.AST):
        return repr(value)
    if _is_for_type_checkers(value):
        return _meaning(value.orelse)
    fields = ((name, getattr(value, name, None)) for name in value._fields if name not in DERIVED_FIELDS)
    # What is not there has no field at all in other versions of Python.
    said = ",".join(f"{name}={_meaning(field)}" for name, field in fields if field is not None and field != [])
    return f"{type(value).__name__}({said})"


def _is_without_effect(item: object) -> bool:
    """Whether a statement does nothing: docstrings of modules, classes, functions and variables, for example."""
    return isinstance(item, ast.Pass) or (isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant))


def _is_for_type_checkers(node: ast.AST) -> TypeGuard[ast.If]:
    if not isinstance(node, ast.If):
        return False
    name = node.test.attr if isinstance(node.test, ast.Attribute) else getattr(node.test, "id", None)
    return name == "TYPE_CHECKING"


def _imports(tree: ast.Module) -> Iterator[_Import]:
    """List what a module imports, also within its functions."""
    # A module that finds its names on demand says for type checkers where they come from.
    is_lazy = any(isinstance(node, ast.FunctionDef) and node.name == "__getattr__" for node in tree.body)
    for node in _statements(tree.body, with_type_checking=is_lazy):
        if isinstance(node, ast.Import):
            yield from (_Import(0, alias.name, None) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield _Import(node.level, node.module or "", tuple(alias.name for alias in node.names))


def _imported(statements: tuple[_Import, ...], spec: ModuleSpec, packages: frozenset[str]) -> Iterator[str]:
    """Name the modules of `packages` among what a module imports."""
    for level, module, names in statements:
        home = importlib.util.resolve_name("." * level + module, spec.parent)
        if home.partition(".")[0] in packages:
            yield home
            if names is not None:
                yield from _submodules(home, names)


def _statements(block: list[ast.stmt], *, with_type_checking: bool) -> Iterator[ast.stmt]:
    """Yield the statements of a block and of all blocks within it."""
    for statement in block:
        yield statement
        within = ("orelse",) if _is_for_type_checkers(statement) and not with_type_checking else BLOCKS
        for part in (part for name in within for part in getattr(statement, name, ())):
            # The parts of `try` and `match` that hold blocks are no statements.
            inner = [part] if isinstance(part, ast.stmt) else part.body
            yield from _statements(inner, with_type_checking=with_type_checking)


def _submodules(package: str, names: tuple[str, ...]) -> Iterator[str]:
    """Find which names stand for modules of a package, where it is one."""
    spec = importlib.util.find_spec(package)
    if spec is not None and spec.submodule_search_locations is not None:
        yield from (f"{package}.{name}" for name in names if importlib.util.find_spec(f"{package}.{name}"))
