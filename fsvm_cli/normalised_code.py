"""Python code without what has no effect: the definitions of a module, each as a hash, and what they refer to.

Comments, layout, docstrings, types, names of local variables and the texts of errors do not count.
"""

from __future__ import annotations

import ast
import hashlib
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

THIS_PACKAGE = __name__.partition(".")[0]

DERIVED_FIELDS = frozenset({"ctx", "kind", "type_comment"})
"""Fields of syntax nodes that follow from other fields or have no effect."""

STATEMENT_FIELDS = ("body", "orelse", "finalbody", "handlers", "cases")
"""Fields of a statement that contain statements."""

FUNCTION_NODES = (ast.FunctionDef, ast.AsyncFunctionDef)

COMPREHENSION_NODES = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)

SCOPE_NODES = (*FUNCTION_NODES, *COMPREHENSION_NODES, ast.ClassDef, ast.Lambda)

MESSAGE_CALLS = ("warnings.warn",)
"""Calls whose only effect is a message."""

CONFIG_PREFIXES = ("pydantic.",)
"""Prefixes of what describes or validates a config; the content of a config is part of every key."""

TYPE_ONLY_NAMES = ("typing.Generic", "typing.Protocol", "typing.final", "typing.override", "typing.overload")
"""Bases and decorators without an effect on what is computed."""


class ImportStatement(NamedTuple):
    """A statement that imports a module, or some names from a package that is `level` - 1 folders above."""

    level: int
    module: str
    names: tuple[str, ...] | None


class NameReference(NamedTuple):
    """What a name stands for: a dotted path from a module; from the module of the name where `module` is empty."""

    level: int
    module: str
    path: str


class Definition(NamedTuple):
    """A function, class or constant: the hash of its code, in which references are numbers, and the references."""

    digest: str
    references: tuple[NameReference, ...]


class ParsedSource(NamedTuple):
    """What a text says, wherever it lies."""

    digest: str
    imports: tuple[ImportStatement, ...] = ()
    definitions: Mapping[str, Definition] = MappingProxyType({})
    aliases: Mapping[str, NameReference] = MappingProxyType({})

    @classmethod
    def of(cls, digest: str, imports: list[Any], definitions: dict[str, Any], aliases: dict[str, Any]) -> ParsedSource:
        """Build one from the values of a JSON document."""
        return cls(
            digest,
            tuple(
                ImportStatement(level, module, None if names is None else tuple(names))
                for level, module, names in imports
            ),
            {
                name: Definition(own, tuple(NameReference(*each) for each in references))
                for name, (own, references) in definitions.items()
            },
            {name: NameReference(*each) for name, each in aliases.items()},
        )

    @classmethod
    def in_text(cls, source: str) -> ParsedSource:
        """Parse a text."""
        tree = ast.parse(source)
        # A module with lazy imports states their origin in a block for type checkers.
        is_lazy = any(isinstance(node, ast.FunctionDef) and node.name == "__getattr__" for node in tree.body)
        imports = [
            node
            for node in _statements(tree.body, with_type_checking=is_lazy)
            if isinstance(node, (ast.Import, ast.ImportFrom))
        ]
        statements = list(_top_level(tree.body, with_type_checking=is_lazy))
        aliases: dict[str, NameReference] = {}
        for node in _blocks(statements):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                aliases |= _imported_names(node)
        return cls(
            short_hash(_meaning(tree).encode()),
            tuple(each for node in imports for each in _imports(node)),
            _definitions([node for node in statements if not isinstance(node, (ast.Import, ast.ImportFrom))], aliases),
            aliases,
        )


def package_of(module: str) -> str:
    """Return the first part of a dotted name."""
    return module.partition(".")[0]


def short_hash(content: bytes) -> str:
    """Return 16 digits of the SHA-256."""
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
    joined = ",".join(f"{name}={_meaning(field)}" for name, field in fields if field is not None and field != [])
    return f"{type(value).__name__}({joined})"


def _is_without_effect(item: object) -> bool:
    """Whether a statement does nothing: docstrings of modules, classes, functions and variables, for example."""
    return isinstance(item, ast.Pass) or (isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant))


def _is_for_type_checkers(node: ast.AST) -> TypeGuard[ast.If]:
    if not isinstance(node, ast.If):
        return False
    name = node.test.attr if isinstance(node.test, ast.Attribute) else getattr(node.test, "id", None)
    return name == "TYPE_CHECKING"


def _imports(node: ast.Import | ast.ImportFrom) -> Iterator[ImportStatement]:
    """List what a statement imports."""
    if isinstance(node, ast.Import):
        yield from (ImportStatement(0, alias.name, None) for alias in node.names)
    else:
        yield ImportStatement(node.level, node.module or "", tuple(alias.name for alias in node.names))


def _imported_names(node: ast.Import | ast.ImportFrom) -> dict[str, NameReference]:
    """Name what a statement imports by the names that it gives it."""
    if isinstance(node, ast.ImportFrom):
        return {
            alias.asname or alias.name: NameReference(node.level, node.module or "", alias.name) for alias in node.names
        }
    named = {alias.asname: NameReference(0, alias.name, "") for alias in node.names if alias.asname}
    return named | {
        package: NameReference(0, package, "")
        for alias in node.names
        if not alias.asname
        for package in [package_of(alias.name)]
    }


def _statements(block: list[ast.stmt], *, with_type_checking: bool) -> Iterator[ast.stmt]:
    """Yield the statements of a block and of all blocks within it."""
    for statement in block:
        yield statement
        within = ("orelse",) if _is_for_type_checkers(statement) and not with_type_checking else STATEMENT_FIELDS
        for part in (part for name in within for part in getattr(statement, name, ())):
            # The parts of `try` and `match` that hold blocks are no statements.
            inner = [part] if isinstance(part, ast.stmt) else part.body
            yield from _statements(inner, with_type_checking=with_type_checking)


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
        if not isinstance(statement, SCOPE_NODES):
            for part in (part for name in STATEMENT_FIELDS for part in getattr(statement, name, ())):
                yield from _blocks([part] if isinstance(part, ast.stmt) else part.body)


def _definitions(block: list[ast.stmt], aliases: Mapping[str, NameReference]) -> dict[str, Definition]:
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
    aliases : mapping of str to NameReference
        What the module imports.
    """

    def __init__(self, name: str, names: Collection[str], aliases: Mapping[str, NameReference]) -> None:
        self.name, self.names, self.aliases = name, names, aliases
        self.references: dict[NameReference, int] = {}
        self.scopes: list[_Scope] = []
        self.n_locals = 0

    def definition(self, statements: Sequence[ast.stmt]) -> Definition:
        text = "".join(map(self.text, statements))
        return Definition(short_hash(text.encode()), tuple(self.references))

    def text(self, value: object) -> str:
        if isinstance(value, list):
            return f"[{','.join(self.text(item) for item in value if not self.is_silent(item))}]"
        return str(self.visit(value)) if isinstance(value, ast.AST) else repr(value)

    def generic_visit(self, node: ast.AST) -> str:
        return self.comprehension(node) if isinstance(node, COMPREHENSION_NODES) else self.plain(node)

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
        joined = ",".join(f"{name}={self.text(each)}" for name, each in fields if each is not None and each != [])
        return f"{type(value).__name__}({joined})"

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
                return any(self.imported_name(each).startswith(CONFIG_PREFIXES) for each in called)
            case ast.Assign(value=ast.Call(func=named)) | ast.AnnAssign(value=ast.Call(func=named)):
                beginnings: tuple[str, ...] = CONFIG_PREFIXES
            case ast.Expr(value=ast.Call(func=named)):
                beginnings = MESSAGE_CALLS
            case ast.Name() | ast.Attribute() | ast.Subscript():
                named, beginnings = (
                    getattr(item, "value", item) if isinstance(item, ast.Subscript) else item,
                    TYPE_ONLY_NAMES,
                )
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
        joined = ",".join(map(self.text, parts))
        self.scopes.pop()
        return f"{kind}({joined})"

    def visit_Name(self, node: ast.Name | ast.Attribute) -> str:
        reference = self.reference(node)
        if reference is not None:
            if reference.module and not reference.level and package_of(reference.module) != THIS_PACKAGE:
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

    def reference(self, node: ast.expr) -> NameReference | None:
        """Find what a name, or an attribute of one, stands for outside the functions that it is used in."""
        path: list[str] = []
        while isinstance(node, ast.Attribute):
            path.insert(0, node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
            return None
        found = self.meaning(node.id)
        return None if found is None else found._replace(path=".".join(filter(None, (found.path, *path))))

    def meaning(self, name: str) -> NameReference | None:
        for depth, scope in enumerate(reversed(self.scopes)):
            if name in scope.imported:
                return scope.imported[name]
            if name in scope.local or (name in scope.kept and (not scope.is_class or depth == 0)):
                return None
        if name in self.aliases:
            return self.aliases[name]
        return NameReference(0, "", name) if name in self.names else None

    def imported_name(self, node: ast.expr) -> str:
        """Return the dotted name of an object of another package; an empty text for other objects."""
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
    imported : dict of str to NameReference
    """

    local: dict[str, str]
    kept: frozenset[str]
    is_class: bool = False
    imported: dict[str, NameReference] = field(default_factory=dict)

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
