"""Hashes of the code that results depend on: of what functions compute, not of where they are and how they are written.

Of this package the functions, classes and constants of the numerical packages count that an outcome's code refers to,
directly or through others. A reference stands in a hash as the hash of what it refers to, so that neither moving nor
renaming a function changes anything; nor do comments, layout, docstrings, types, names of local variables and the texts
of errors. Of another package, and of code that draws, whole modules count, by `source_digests`.

To parse what a trial needs takes a second, so that what was found in a text is kept in the user's cache folder, by the
hash of the text.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.util
import json
from dataclasses import dataclass
from importlib.abc import InspectLoader
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import platformdirs

from fsvm_cli import normalised_code
from fsvm_cli.errors import DataError
from fsvm_cli.files import write_atomically
from fsvm_cli.normalised_code import THIS_PACKAGE, NameReference, ParsedSource, package_of, short_hash

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from importlib.machinery import ModuleSpec

    from fsvm_cli.normalised_code import ImportStatement

NUMERICAL_PACKAGES = frozenset(
    {
        "bounds",
        "data",
        "evaluation",
        "evidence",
        "experiment",
        "extraction",
        "kernel_learning",
        "learners",
        "numerics",
        "quasi_newton",
        "ranking",
        "spec",
        "svm",
    }
)
"""Packages and modules directly below this package whose code decides about numbers, where a trial refers to it."""

OTHER_PACKAGES = frozenset(
    {
        "cli",
        "commands",
        "config_io",
        "console",
        "cpu_features",
        "errors",
        "files",
        "jit_cache",
        "lazy_imports",
        "memory_check",
        "normalised_code",
        "own_data",
        "page",
        "plugins",
        "references",
        "report",
        "resources",
        "runner",
        "sources",
        "store",
        "validation",
        "validation_errors",
    }
)
"""The rest: console, messages, validation, plug-ins, reading of documents. A change there makes no trial stale."""

NOT_COUNTED = frozenset(
    f"{THIS_PACKAGE}.{name}" for name in ("config_io", "errors", "evidence.parameters", "jit_cache", "kernel_learning")
)
"""Modules that no number depends on: where compiled code lies, the wording of errors, and the words and the reading of
configs, whose content is part of every key."""

OUTSIDE_MARKER = "outside"
"""Digest in place of a definition in a package without influence on numbers."""

MAX_CACHED_TEXTS = 2000
"""Parsed source texts in the cache file; this package has about a quarter as many."""


class _Module(NamedTuple):
    """A module as it was found."""

    parsed: ParsedSource
    spec: ModuleSpec

    def home(self, level: int, module: str) -> str:
        """Name the module that an import in this one leads to."""
        return importlib.util.resolve_name("." * level + module, self.spec.parent)


class _Node(NamedTuple):
    """What a module of this package defines by a name; all of a module of another package, where there is no name."""

    module: str
    name: str

    @property
    def dotted(self) -> str:
        return f"{self.module}.{self.name}" if self.name else self.module


@dataclass(frozen=True)
class Code:
    """The code that a result came from.

    Attributes
    ----------
    roots : tuple of str
        Dotted names of the functions and classes, and of modules of other packages.
    digest : str
        Changes with what they compute, and with nothing else.
    parts : dict of str to str
        For each function, class and constant, and for each module of another package, a hash of what stands there, by
        its dotted name: which of them changed.
    """

    roots: tuple[str, ...]
    digest: str
    parts: dict[str, str]


def code_of(*roots: object) -> Code:
    """Hash what functions and classes compute, with all that they refer to in the numerical packages.

    Parameters
    ----------
    *roots : function, type or str
        Strings are dotted names. A class that is made while the program runs stands for those above it. One of another
        package stands for its module, and all modules of that package that this imports.

    Returns
    -------
    Code

    Raises
    ------
    ModuleNotFoundError
        If there is no module or definition of a dotted name.
    """
    found = _code_of(frozenset(node for root in roots for node in _homes(root)))
    _parse_cache().save()
    return found


@functools.cache
def _code_of(roots: frozenset[_Node]) -> Code:
    parts: dict[str, str] = {}
    waiting = sorted(roots)
    while waiting:
        node = waiting.pop()
        if node.dotted not in parts:
            parts[node.dotted] = _own_digest(node)
            waiting += [child for child, _ in _children(node) if child is not None]
    digests = _merkle(roots)
    digest = short_hash(" ".join(sorted({digests[root] for root in roots})).encode())
    return Code(tuple(sorted(root.dotted for root in roots)), digest, dict(sorted(parts.items())))


def _homes(root: object) -> Iterator[_Node]:
    """Find where a function or a class is defined, and the classes above it in this package or its own."""
    if isinstance(root, str):
        module, _, name = root.rpartition(".") if package_of(root) == THIS_PACKAGE else (root, "", "")
        if name and name not in _read(module).parsed.definitions:
            raise ModuleNotFoundError(f"there is no '{name}' in '{module}'", name=root)
        yield _Node(module, name)
        return
    own = package_of(root.__module__)
    for each in root.__mro__ if isinstance(root, type) else (root,):
        module, name = each.__module__, getattr(each, "__qualname__", "").partition(".")[0]
        if package_of(module) == THIS_PACKAGE:
            if _is_numerical(module) and name in _read(module).parsed.definitions:
                yield _Node(module, name)
        elif package_of(module) == own:
            yield _Node(module, "")


def _is_numerical(module: str) -> bool:
    return module.split(".")[1:2] != [] and module.split(".")[1] in NUMERICAL_PACKAGES


def _own_digest(node: _Node) -> str:
    parsed = _read(node.module).parsed
    return parsed.definitions[node.name].digest if node.name else parsed.digest


@functools.cache
def _children(node: _Node) -> tuple[tuple[_Node | None, str], ...]:
    """List what a definition refers to, each with the attributes that it asks for; None stands for other packages."""
    module = _read(node.module)
    if node.name:
        return tuple(_resolved(node.module, each) for each in module.parsed.definitions[node.name].references)
    own = frozenset({package_of(node.module)})
    children: list[tuple[_Node | None, str]] = [
        (_Node(each, ""), "") for each in dict.fromkeys(_imported(module.parsed.imports, module.spec, own))
    ]
    for level, home, names in module.parsed.imports:
        if level == 0 and package_of(home) == THIS_PACKAGE:
            paths = sorted(_read(home).parsed.definitions) if names is None else names
            children += [_resolved(node.module, NameReference(0, home, path)) for path in paths]
    return tuple(children)


def _resolved(module: str, reference: NameReference) -> tuple[_Node | None, str]:
    """Find the definition that a reference leads to, through modules that only pass a name on."""
    level, home, path = reference
    home = _read(module).home(level, home) if level or home else module
    name, _, rest = path.partition(".")
    if not name or package_of(home) != THIS_PACKAGE:
        return None, path
    parsed = _read(home).parsed
    if name in parsed.definitions:
        return (_Node(home, name) if _is_numerical(home) else None), rest
    if name in parsed.aliases:
        onward = parsed.aliases[name]
        if package_of(_read(home).home(onward.level, onward.module)) != THIS_PACKAGE:
            return None, rest
        return _resolved(home, onward._replace(path=".".join(filter(None, (onward.path, rest)))))
    if importlib.util.find_spec(f"{home}.{name}") is not None:
        return _resolved(module, NameReference(0, f"{home}.{name}", rest))
    return None, rest


_DIGESTS: dict[_Node, str] = {}
"""Of definitions with all that they refer to, as far as this process has asked for them."""


def _merkle(roots: Iterable[_Node]) -> dict[_Node, str]:
    """Hash definitions with those that they refer to, whose hashes stand in the place of their names.

    Definitions that refer to each other, directly or in a circle, are distinguished as far as their code differs.
    """
    for circle in _circles(roots):
        inside = dict.fromkeys(circle, "")
        for _ in circle:
            inside = {node: _with_children(node, inside) for node in circle}
        _DIGESTS.update(inside)
    return _DIGESTS


def _with_children(node: _Node, inside: Mapping[_Node, str]) -> str:
    children = (
        OUTSIDE_MARKER if child is None else f"{inside[child] if child in inside else _DIGESTS[child]}.{attributes}"
        for child, attributes in _children(node)
    )
    return short_hash(" ".join([_own_digest(node), *children]).encode())


def _circles(roots: Iterable[_Node]) -> Iterator[list[_Node]]:
    """Yield the strongly connected components that have no digest yet, each after those that it refers to (Gabow)."""
    numbers: dict[_Node, int] = {}
    stack: list[_Node] = []
    beginnings: list[_Node] = []
    for root in roots:
        beginning: tuple[tuple[_Node | None, str], ...] = ((root, ""),)
        work = [(root, iter(beginning))]  # before the first definition stands one that refers to it
        while work:
            node, children = work[-1]
            for child, _ in children:
                if child is None or child in _DIGESTS:
                    continue
                if child not in numbers:
                    numbers[child] = len(numbers)
                    stack.append(child)
                    beginnings.append(child)
                    work.append((child, iter(_children(child))))
                    break
                while numbers[beginnings[-1]] > numbers[child]:
                    beginnings.pop()
            else:
                work.pop()
                if work and beginnings[-1] == node:
                    beginnings.pop()
                    first = stack.index(node)
                    circle, stack[first:] = stack[first:], []
                    yield circle


def source_digests(*modules: str) -> dict[str, str]:
    """Hash some modules and all that they import, directly or through others.

    Parameters
    ----------
    *modules : str
        Dotted names of modules that can be imported.

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
            module = _read(name)
            found[name] = module.parsed.digest
            waiting += _imported(module.parsed.imports, module.spec, packages)
    _parse_cache().save()
    return dict(sorted(found.items()))


@functools.cache
def _read(name: str) -> _Module:
    spec = importlib.util.find_spec(name)
    if spec is None:
        raise ModuleNotFoundError(f"there is no module '{name}'", name=name)
    source = spec.loader.get_source(name) if isinstance(spec.loader, InspectLoader) else None
    if source is None:  # compiled, without its source
        return _Module(ParsedSource(short_hash(Path(spec.origin).read_bytes() if spec.origin else b"")), spec)
    return _Module(_parse_cache().parsed(source), spec)


class _ParseCache:
    """Parsed source texts, stored in a file of the user's cache folder and shared by all processes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.known: dict[str, ParsedSource] = {}
        self.has_more = False
        # If there is no file, or it is damaged, all texts are parsed anew.
        with contextlib.suppress(OSError, ValueError, TypeError, AttributeError):
            kept = json.loads(path.read_bytes())
            self.known = {key: ParsedSource.of(*found) for key, found in kept.items()}

    def parsed(self, source: str) -> ParsedSource:
        key = hashlib.sha256(source.encode()).hexdigest()
        if key not in self.known:
            self.known[key] = ParsedSource.in_text(source)
            self.has_more = True
        return self.known[key]

    def save(self) -> None:
        if self.has_more:
            latest = dict(list(self.known.items())[-MAX_CACHED_TEXTS:])
            with contextlib.suppress(DataError):  # where nothing can be written, the next process parses again
                write_atomically(self.path, json.dumps(latest).encode())
            self.has_more = False


@functools.cache
def _parse_cache() -> _ParseCache:
    # The name contains the hash of the parser, because an edited parser may find other definitions.
    name = f"{short_hash(Path(normalised_code.__file__).read_bytes())}.json"
    return _ParseCache(platformdirs.user_cache_path("fsvm") / "sources" / name)


def _imported(statements: tuple[ImportStatement, ...], spec: ModuleSpec, packages: frozenset[str]) -> Iterator[str]:
    """Name the modules of `packages` among what a module imports."""
    for level, module, names in statements:
        home = importlib.util.resolve_name("." * level + module, spec.parent)
        if home.partition(".")[0] in packages:
            yield home
            if names is not None:
                yield from _submodules(home, names)


def _submodules(package: str, names: tuple[str, ...]) -> Iterator[str]:
    """Find which names stand for modules of a package, where it is one."""
    spec = importlib.util.find_spec(package)
    if spec is not None and spec.submodule_search_locations is not None:
        yield from (f"{package}.{name}" for name in names if importlib.util.find_spec(f"{package}.{name}"))
