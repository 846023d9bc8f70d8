"""Hashes of the code that results depend on: of what functions compute, not of where they are and how they are written.

Of this package the functions, classes and constants of the numerical packages count that an outcome's code refers to,
directly or through others. A reference stands in a hash as the hash of what it refers to, so that neither moving nor
renaming a function changes anything; nor do comments, layout, docstrings, types, names of local variables and the texts
of errors. Of another package, and of code that draws, whole modules count, by `source_digests`.

To parse what a trial needs takes a second, so that what was found in a text is kept in the user's cache folder, by the
hash of the text.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import hashlib
import importlib.util
import json
from dataclasses import dataclass, field
from importlib.abc import InspectLoader
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

import platformdirs

from fsvm_cli.errors import DataError
from fsvm_cli.files import write_atomically

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from importlib.machinery import ModuleSpec

THIS_PACKAGE = __name__.partition(".")[0]

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
    f"{THIS_PACKAGE}.{name}"
    for name in ("config_io", "errors", "evidence.parameters", "jit_cache", "kernel_learning.kinds")
)
"""Modules that no number depends on: where compiled code lies, the wording of errors, and the words and the reading of
configs, whose content is part of every key."""

DERIVED_FIELDS = frozenset({"ctx", "kind", "type_comment"})
"""Of a syntax tree: what follows from the rest, and what has no effect."""

BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
"""Fields of a statement that hold statements."""

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
NEW_SCOPES = (*FUNCTIONS, *COMPREHENSIONS, ast.ClassDef, ast.Lambda)

MESSAGES = ("warnings.warn",)
"""Calls that only tell something."""

OF_CONFIGS = ("pydantic.",)
"""What describes or validates a config; what the config says is part of every key."""

OF_TYPES = ("typing.Generic", "typing.Protocol", "typing.final", "typing.override", "typing.overload")
"""Bases and decorators without an effect on what is computed."""

OUTSIDE = "outside"
"""Stands for a definition in a package that decides about no number."""

MOST_KEPT = 2000
"""Texts of which the findings are kept; this package has a quarter of it."""


class _Import(NamedTuple):
    """A statement that imports a module, or some names from a package that is `level` - 1 folders above."""

    level: int
    module: str
    names: tuple[str, ...] | None


class _Reference(NamedTuple):
    """What a name stands for: a dotted path from a module; from the module of the name where `module` is empty."""

    level: int
    module: str
    path: str


class _Definition(NamedTuple):
    """A function, class or constant: the hash of its code, in which references are numbers, and the references."""

    digest: str
    references: tuple[_Reference, ...]


class _Findings(NamedTuple):
    """What a text says, wherever it lies."""

    digest: str
    imports: tuple[_Import, ...] = ()
    definitions: Mapping[str, _Definition] = MappingProxyType({})
    aliases: Mapping[str, _Reference] = MappingProxyType({})

    @classmethod
    def of(cls, digest: str, imports: list[Any], definitions: dict[str, Any], aliases: dict[str, Any]) -> _Findings:
        """Take them as JSON holds them."""
        return cls(
            digest,
            tuple(_Import(level, module, None if names is None else tuple(names)) for level, module, names in imports),
            {
                name: _Definition(own, tuple(_Reference(*each) for each in references))
                for name, (own, references) in definitions.items()
            },
            {name: _Reference(*each) for name, each in aliases.items()},
        )

    @classmethod
    def in_text(cls, source: str) -> _Findings:
        """Parse a text."""
        tree = ast.parse(source)
        # A module that finds its names on demand says for type checkers where they come from.
        is_lazy = any(isinstance(node, ast.FunctionDef) and node.name == "__getattr__" for node in tree.body)
        imports = [
            node
            for node in _statements(tree.body, with_type_checking=is_lazy)
            if isinstance(node, (ast.Import, ast.ImportFrom))
        ]
        statements = list(_top_level(tree.body, with_type_checking=is_lazy))
        aliases: dict[str, _Reference] = {}
        for node in _blocks(statements):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                aliases |= _imported_names(node)
        return cls(
            _digest(_meaning(tree).encode()),
            tuple(each for node in imports for each in _imports(node)),
            _definitions([node for node in statements if not isinstance(node, (ast.Import, ast.ImportFrom))], aliases),
            aliases,
        )


class _Module(NamedTuple):
    """A module as it was found."""

    findings: _Findings
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
    _notebook().keep()
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
    digest = _digest(" ".join(sorted({digests[root] for root in roots})).encode())
    return Code(tuple(sorted(root.dotted for root in roots)), digest, dict(sorted(parts.items())))


def _homes(root: object) -> Iterator[_Node]:
    """Find where a function or a class is defined, and the classes above it in this package or its own."""
    if isinstance(root, str):
        module, _, name = root.rpartition(".") if _package(root) == THIS_PACKAGE else (root, "", "")
        if name and name not in _read(module).findings.definitions:
            raise ModuleNotFoundError(f"there is no '{name}' in '{module}'", name=root)
        yield _Node(module, name)
        return
    own = _package(root.__module__)
    for each in root.__mro__ if isinstance(root, type) else (root,):
        module, name = each.__module__, getattr(each, "__qualname__", "").partition(".")[0]
        if _package(module) == THIS_PACKAGE:
            if _is_numerical(module) and name in _read(module).findings.definitions:
                yield _Node(module, name)
        elif _package(module) == own:
            yield _Node(module, "")


def _package(module: str) -> str:
    return module.partition(".")[0]


def _is_numerical(module: str) -> bool:
    return module.split(".")[1:2] != [] and module.split(".")[1] in NUMERICAL_PACKAGES


def _own_digest(node: _Node) -> str:
    findings = _read(node.module).findings
    return findings.definitions[node.name].digest if node.name else findings.digest


@functools.cache
def _children(node: _Node) -> tuple[tuple[_Node | None, str], ...]:
    """List what a definition refers to, each with the attributes that it asks for; None stands for other packages."""
    module = _read(node.module)
    if node.name:
        return tuple(_resolved(node.module, each) for each in module.findings.definitions[node.name].references)
    own = frozenset({_package(node.module)})
    children: list[tuple[_Node | None, str]] = [
        (_Node(each, ""), "") for each in dict.fromkeys(_imported(module.findings.imports, module.spec, own))
    ]
    for level, home, names in module.findings.imports:
        if level == 0 and _package(home) == THIS_PACKAGE:
            paths = sorted(_read(home).findings.definitions) if names is None else names
            children += [_resolved(node.module, _Reference(0, home, path)) for path in paths]
    return tuple(children)


def _resolved(module: str, reference: _Reference) -> tuple[_Node | None, str]:
    """Find the definition that a reference leads to, through modules that only pass a name on."""
    level, home, path = reference
    home = _read(module).home(level, home) if level or home else module
    name, _, rest = path.partition(".")
    if not name or _package(home) != THIS_PACKAGE:
        return None, path
    findings = _read(home).findings
    if name in findings.definitions:
        return (_Node(home, name) if _is_numerical(home) else None), rest
    if name in findings.aliases:
        onward = findings.aliases[name]
        if _package(_read(home).home(onward.level, onward.module)) != THIS_PACKAGE:
            return None, rest
        return _resolved(home, onward._replace(path=".".join(filter(None, (onward.path, rest)))))
    if importlib.util.find_spec(f"{home}.{name}") is not None:
        return _resolved(module, _Reference(0, f"{home}.{name}", rest))
    return None, rest


_DIGESTS: dict[_Node, str] = {}
"""Of definitions with all that they refer to, as far as this process has asked for them."""


def _merkle(roots: Iterable[_Node]) -> dict[_Node, str]:
    """Hash definitions with those that they refer to, whose hashes stand in the place of their names.

    Definitions that refer to each other, directly or in a circle, are told apart as far as their codes differ.
    """
    for circle in _circles(roots):
        inside = dict.fromkeys(circle, "")
        for _ in circle:
            inside = {node: _with_children(node, inside) for node in circle}
        _DIGESTS.update(inside)
    return _DIGESTS


def _with_children(node: _Node, inside: Mapping[_Node, str]) -> str:
    children = (
        OUTSIDE if child is None else f"{inside[child] if child in inside else _DIGESTS[child]}.{attributes}"
        for child, attributes in _children(node)
    )
    return _digest(" ".join([_own_digest(node), *children]).encode())


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
            found[name] = module.findings.digest
            waiting += _imported(module.findings.imports, module.spec, packages)
    _notebook().keep()
    return dict(sorted(found.items()))


@functools.cache
def _read(name: str) -> _Module:
    spec = importlib.util.find_spec(name)
    if spec is None:
        raise ModuleNotFoundError(f"there is no module '{name}'", name=name)
    source = spec.loader.get_source(name) if isinstance(spec.loader, InspectLoader) else None
    if source is None:  # compiled, without its source
        return _Module(_Findings(_digest(Path(spec.origin).read_bytes() if spec.origin else b"")), spec)
    return _Module(_notebook().findings(source), spec)


class _Notebook:
    """What was found in texts, in a file of the user's cache folder: each process goes on from it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.known: dict[str, _Findings] = {}
        self.has_more = False
        # None yet, or damaged: all texts are parsed anew.
        with contextlib.suppress(OSError, ValueError, TypeError, AttributeError):
            kept = json.loads(path.read_bytes())
            self.known = {key: _Findings.of(*found) for key, found in kept.items()}

    def findings(self, source: str) -> _Findings:
        key = hashlib.sha256(source.encode()).hexdigest()
        if key not in self.known:
            self.known[key] = _Findings.in_text(source)
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


def _imports(node: ast.Import | ast.ImportFrom) -> Iterator[_Import]:
    """List what a statement imports."""
    if isinstance(node, ast.Import):
        yield from (_Import(0, alias.name, None) for alias in node.names)
    else:
        yield _Import(node.level, node.module or "", tuple(alias.name for alias in node.names))


def _imported_names(node: ast.Import | ast.ImportFrom) -> dict[str, _Reference]:
    """Name what a statement imports by the names that it gives it."""
    if isinstance(node, ast.ImportFrom):
        return {
            alias.asname or alias.name: _Reference(node.level, node.module or "", alias.name) for alias in node.names
        }
    named = {alias.asname: _Reference(0, alias.name, "") for alias in node.names if alias.asname}
    return named | {
        package: _Reference(0, package, "")
        for alias in node.names
        if not alias.asname
        for package in [_package(alias.name)]
    }


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


def _top_level(block: Iterable[ast.stmt], *, with_type_checking: bool) -> Iterator[ast.stmt]:
    """Yield the statements of a module without what only type checkers read."""
    for statement in block:
        if _is_for_type_checkers(statement):
            if with_type_checking:
                yield from statement.body
            yield from statement.orelse
        else:
            yield statement


def _blocks(block: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a block and of all blocks within it that have no scope of their own."""
    for statement in block:
        yield statement
        if not isinstance(statement, NEW_SCOPES):
            for part in (part for name in BLOCKS for part in getattr(statement, name, ())):
                yield from _blocks([part] if isinstance(part, ast.stmt) else part.body)


def _definitions(block: list[ast.stmt], aliases: Mapping[str, _Reference]) -> dict[str, _Definition]:
    """Find what a module defines; of a name that several statements make, all of them count."""
    made: dict[str, list[ast.stmt]] = {}
    for statement in block:
        for name in dict.fromkeys(_bound([statement])):
            made.setdefault(name, []).append(statement)
    for statement in block:
        changed = _changed(statement)
        if changed in made and statement not in made[changed]:
            made[changed].append(statement)
    names = frozenset(made) - frozenset(aliases)
    return {name: _Writer(name, names, aliases).definition(statements) for name, statements in made.items()}


def _changed(statement: ast.stmt) -> str:
    """Name what a statement adds to by a call of a method, or under a key."""
    target: ast.expr | None = None
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        target = statement.value.func
    elif isinstance(statement, ast.Assign):
        target = statement.targets[0]
    while isinstance(target, (ast.Attribute, ast.Subscript)):
        target = target.value
        if isinstance(target, ast.Name):
            return target.id
    return ""


def _bound(block: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the names that statements or expressions give something to, in the scope that they stand in."""
    for node in block:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
                continue
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                yield name
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name
            case ast.MatchMapping(rest=str(name)):
                yield name
            case ast.Lambda():
                continue
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                yield from (each.target.id for each in ast.walk(node) if isinstance(each, ast.NamedExpr))
                continue
        yield from _bound(ast.iter_child_nodes(node))


class _Writer(ast.NodeVisitor):
    """Writes the code of a definition as text, without its layout and without names that have no effect.

    Parameters
    ----------
    name : str
        Of the definition; it does not count.
    names : collection of str
        What the module defines.
    aliases : mapping of str to _Reference
        What the module imports.
    """

    def __init__(self, name: str, names: Collection[str], aliases: Mapping[str, _Reference]) -> None:
        self.name, self.names, self.aliases = name, names, aliases
        self.references: dict[_Reference, int] = {}
        self.scopes: list[_Scope] = []
        self.n_locals = 0

    def definition(self, statements: Sequence[ast.stmt]) -> _Definition:
        text = "".join(map(self.text, statements))
        return _Definition(_digest(text.encode()), tuple(self.references))

    def text(self, value: object) -> str:
        if isinstance(value, list):
            return f"[{','.join(self.text(item) for item in value if not self.is_silent(item))}]"
        return str(self.visit(value)) if isinstance(value, ast.AST) else repr(value)

    def generic_visit(self, node: ast.AST) -> str:
        return self.comprehension(node) if isinstance(node, COMPREHENSIONS) else self.plain(node)

    def visit_If(self, node: ast.If) -> str:
        return self.text(node.orelse) if _is_for_type_checkers(node) else self.plain(node)

    def visit_Raise(self, node: ast.Raise) -> str:
        """Write what class an error has, and not what it says."""
        kind = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        last = kind.attr if isinstance(kind, ast.Attribute) else getattr(kind, "id", "")
        return f"Raise({self.text(kind) if last[:1].isupper() else ''})"

    def visit_Call(self, node: ast.Call) -> str:
        is_cast = len(node.args) == 2 and self.imported_name(node.func) == "typing.cast"
        return self.text(node.args[1]) if is_cast else self.plain(node)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> str:
        return self.plain(node, apart=("name",)) + (self.bound_name(node.name) if node.name else "")

    def visit_AnnAssign(self, node: ast.AnnAssign) -> str:
        if node.value is None:
            return f"Field({self.text(node.target)})"
        return f"Assign(targets=[{self.text(node.target)}],value={self.text(node.value)})"

    def visit_arg(self, node: ast.arg) -> str:
        return f"arg({node.arg})"

    def visit_Lambda(self, node: ast.Lambda) -> str:
        return self.within(_Scope({}, _parameters(node.args)), "Lambda", node.args, node.body)

    def plain(self, value: ast.AST, apart: Collection[str] = ()) -> str:
        fields = ((name, getattr(value, name, None)) for name in value._fields if name not in {*DERIVED_FIELDS, *apart})
        # What is not there has no field at all in other versions of Python.
        said = ",".join(f"{name}={self.text(each)}" for name, each in fields if each is not None and each != [])
        return f"{type(value).__name__}({said})"

    def is_silent(self, item: object) -> bool:
        """Whether a statement, a decorator or a base has no effect on what is computed."""
        match item:
            case ast.Pass() | ast.Expr(value=ast.Constant()) | ast.Assert() | ast.Import() | ast.ImportFrom():
                return True
            case ast.If(orelse=[]):
                return _is_for_type_checkers(item)
            case ast.AnnAssign(value=None):
                return not (self.scopes and self.scopes[-1].is_class)
            case ast.FunctionDef(decorator_list=named) if named:
                called = [each.func if isinstance(each, ast.Call) else each for each in named]
                return any(self.imported_name(each).startswith(OF_CONFIGS) for each in called)
            case ast.Assign(value=ast.Call(func=named)) | ast.AnnAssign(value=ast.Call(func=named)):
                beginnings: tuple[str, ...] = OF_CONFIGS
            case ast.Expr(value=ast.Call(func=named)):
                beginnings = MESSAGES
            case ast.Name() | ast.Attribute() | ast.Subscript():
                named, beginnings = getattr(item, "value", item) if isinstance(item, ast.Subscript) else item, OF_TYPES
            case _:
                return False
        return self.imported_name(named).startswith(beginnings)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
        outer = self.text(node.decorator_list) + self.text([*node.args.defaults, *filter(None, node.args.kw_defaults)])
        name = self.bound_name(node.name)
        scope = _Scope({}, _parameters(node.args))
        scope.take(node.body)
        return name + outer + self.within(scope, type(node).__name__, *_without_defaults(node.args), node.body)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> str:
        return self.visit_FunctionDef(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> str:
        outer = self.text(node.decorator_list) + self.text(node.bases) + self.text(node.keywords)
        name = self.bound_name(node.name)
        scope = _Scope({}, frozenset(_bound(node.body)), is_class=True)
        return name + outer + self.within(scope, "ClassDef", node.body)

    def comprehension(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> str:
        first = self.text(node.generators[0].iter)
        scope = _Scope(dict.fromkeys(_bound(each.target for each in node.generators), ""), frozenset())
        results = (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)
        parts: list[object] = [
            part
            for number, each in enumerate(node.generators)
            for part in (each.is_async, each.target, each.iter if number else None, each.ifs)
        ]
        return self.within(scope, f"{type(node).__name__}{first}", *parts, *results)

    def within(self, scope: _Scope, kind: str, *parts: object) -> str:
        self.scopes.append(scope)
        said = ",".join(map(self.text, parts))
        self.scopes.pop()
        return f"{kind}({said})"

    def visit_Name(self, node: ast.Name | ast.Attribute) -> str:
        reference = self.reference(node)
        if reference is not None:
            if reference.module and not reference.level and _package(reference.module) != THIS_PACKAGE:
                return f"<{reference.module}.{reference.path}>"
            return f"&{self.references.setdefault(reference, len(self.references))}"
        if isinstance(node, ast.Attribute):
            return self.plain(node)
        return f"Name({self.bound_name(node.id)})"

    def visit_Attribute(self, node: ast.Attribute) -> str:
        return self.visit_Name(node)

    def bound_name(self, name: str) -> str:
        """Write a name that leads to no definition: local ones are numbered, those of a module do not count."""
        for depth, scope in enumerate(reversed(self.scopes)):
            if name in scope.local:
                if not scope.local[name]:
                    scope.local[name] = f"${self.n_locals}"
                    self.n_locals += 1
                return str(scope.local[name])
            if name in scope.kept and (not scope.is_class or depth == 0):
                return name
        if name == self.name:
            return "@"
        return "" if name in self.names else name

    def reference(self, node: ast.expr) -> _Reference | None:
        """Find what a name, or an attribute of one, stands for outside the functions that it is used in."""
        path: list[str] = []
        while isinstance(node, ast.Attribute):
            path.insert(0, node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
            return None
        found = self.meaning(node.id)
        return None if found is None else found._replace(path=".".join(filter(None, (found.path, *path))))

    def meaning(self, name: str) -> _Reference | None:
        for depth, scope in enumerate(reversed(self.scopes)):
            if name in scope.imported:
                return scope.imported[name]
            if name in scope.local or (name in scope.kept and (not scope.is_class or depth == 0)):
                return None
        if name in self.aliases:
            return self.aliases[name]
        return _Reference(0, "", name) if name in self.names else None

    def imported_name(self, node: ast.expr) -> str:
        """Give the dotted name of what another package has; an empty text for all else."""
        reference = self.reference(node)
        return f"{reference.module}.{reference.path}" if reference is not None and reference.module else ""


@dataclass
class _Scope:
    """The names of a function, a class or a comprehension.

    Attributes
    ----------
    local : dict of str to str
        Those that nobody else can see, with what stands for them, once they have been met.
    kept : frozenset of str
        Parameters, and what a class has.
    is_class : bool
    imported : dict of str to _Reference
    """

    local: dict[str, str]
    kept: frozenset[str]
    is_class: bool = False
    imported: dict[str, _Reference] = field(default_factory=dict)

    def take(self, body: list[ast.stmt]) -> None:
        """Find the names that a function's statements bind."""
        outer: set[str] = set()
        for node in _blocks(body):
            if isinstance(node, (ast.Global, ast.Nonlocal)):
                outer |= set(node.names)
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                self.imported |= _imported_names(node)
        self.local |= {name: "" for name in _bound(body) if name not in self.kept and name not in outer}


def _parameters(arguments: ast.arguments) -> frozenset[str]:
    return frozenset(each.arg for each in ast.walk(arguments) if isinstance(each, ast.arg))


def _without_defaults(arguments: ast.arguments) -> list[object]:
    """List the parameters, and which of them have defaults: those are evaluated where the function is made."""
    groups = (arguments.posonlyargs, arguments.args, arguments.vararg, arguments.kwonlyargs, arguments.kwarg)
    return [*groups, len(arguments.defaults), [each is not None for each in arguments.kw_defaults]]
