"""Lazy imports: modules that libraries import but seldom use, loaded when an attribute is first used.

scikit-learn and scipy import modules at their start that few of their functions call; loading them takes longer than
most rankings.
"""

from __future__ import annotations

import importlib
import sys
import threading
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.abc import Loader

SELDOM_USED = (
    "asyncio",  # joblib: for coroutine functions
    "narwhals",  # scikit-learn: to read data frames of any library
    "narwhals.stable",
    "narwhals.stable.v2",
    "numpy.f2py",  # scipy: copies the namespace of numpy, here a wrapper of a Fortran compiler
    "numpy.testing",  # scipy: the same, here with all of unittest
    "pandas",  # scikit-learn: to check whether it is installed
    "pycparser",  # numba: to parse C declarations
    "ruamel.yaml",  # fsvm: to read YAML, which commands with options alone do not need
    "scipy.optimize",  # fsvm: methods with an optimisation, which few runs have
    "scipy.special",  # scikit-learn: for one function; methods that use it load it
    "scipy.stats",  # scikit-learn: for significance tests
    "yaml",  # numba: to read a settings file, if there is one
)
"""Modules that the command line and its workers import lazily, with the library that imports each, and why."""

_DUNDERS_OF_MODULES = frozenset({"__all__", "__version__"})
"""Dunder names that a module itself must define; Python asks every module for the others."""

_LOADING_LOCK = threading.Lock()


def import_lazily(*names: str) -> None:
    """Import modules lazily: each is loaded at the first access to an attribute, unless it is loaded already.

    The call itself loads nothing, not even the package of a module. Loading a module inside a lazy package loads that
    package as well, unless the module is lazy itself. Python's own `importlib.util.LazyLoader` would load a module as
    soon as a second one imports it.

    Parameters
    ----------
    *names : str
        Of modules written in Python, as ``import`` takes them.
    """
    finder = next((each for each in sys.meta_path if isinstance(each, _Finder)), None)
    if finder is None:
        finder = _Finder()
        sys.meta_path.insert(0, finder)
    finder.names.update(names)


# The finder and the loaders do not derive from `importlib.abc`, whose import takes half as long as `fsvm --help`.
class _Finder:
    """Finds modules as Python does, with a lazy loader for some of them."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname in self.names:
            spec = PathFinder.find_spec(fullname, path, target)
            if spec is not None and spec.loader is not None:
                loading = _BEING_LOADED.get(fullname)
                later = _LazyLoader(spec.loader) if loading is None else _LoaderInto(spec.loader, loading)
                spec.loader = cast("Loader", later)
            return spec
        package = sys.modules.get(fullname.rpartition(".")[0])
        if isinstance(package, _LazyModule):
            _load(package)
            if fullname in sys.modules:
                return _loaded_already(sys.modules[fullname])
        return None


class _LazyLoader:
    """Creates a module without executing it."""

    def __init__(self, loader: Loader) -> None:
        self.loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self.loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        _restore_loader(module, self.loader)
        module.__class__ = _LazyModule


class _LoaderInto:
    """Executes a module into the object that was created lazily."""

    def __init__(self, loader: Loader, module: ModuleType) -> None:
        self.loader = loader
        self.module = module

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:  # noqa: ARG002 - the contract of a loader
        return self.module

    def exec_module(self, module: ModuleType) -> None:
        _restore_loader(module, self.loader)
        became: type[ModuleType] = _LazyModule
        try:
            self.loader.exec_module(module)
            became = ModuleType
        finally:
            del _BEING_LOADED[vars(module)["__name__"]]
            object.__setattr__(module, "__class__", became)


def _loaded_already(module: ModuleType) -> ModuleSpec:
    """Return a spec of a module that its package has imported, since `import` would load it a second time."""
    spec = ModuleSpec(module.__name__, cast("Loader", _LoadedAlready(module)))
    module.__spec__ = spec  # else `import` would replace the spec of the module
    return spec


class _LoadedAlready:
    """Returns a loaded module to `import`."""

    def __init__(self, module: ModuleType) -> None:
        self.module = module
        self.spec = module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:  # noqa: ARG002 - the contract of a loader
        return self.module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.spec


def _restore_loader(module: ModuleType, loader: Loader) -> None:
    """Set the loader of a module to the one that Python would have used."""
    assert module.__spec__ is not None
    module.__spec__.loader = module.__loader__ = loader


class _LazyModule(ModuleType):
    """A module that is loaded at the first access to an attribute, and becomes an ordinary module then."""

    def __getattr__(self, name: str) -> Any:
        _refuse_dunder_names(name)
        _load(self)
        return getattr(self, name)


class _Loading(ModuleType):
    """A module that is being loaded, whose attributes are incomplete."""

    def __getattr__(self, name: str) -> Any:
        _refuse_dunder_names(name)
        own = vars(self)["__name__"]
        importlib.import_module(own)  # waits for a thread that is loading it
        if type(self) is _Loading:
            raise AttributeError(f"module {own!r} has no attribute {name!r} yet")
        return getattr(self, name)


_BEING_LOADED: dict[str, ModuleType] = {}


def _refuse_dunder_names(name: str) -> None:
    """Raise AttributeError for a name such as __wrapped__, which `import` and `inspect` look up in every module."""
    if name.startswith("__") and name not in _DUNDERS_OF_MODULES:
        raise AttributeError(name)


def _load(module: _LazyModule) -> None:
    """Import a module again, into the same object, with Python's own import locks against other threads."""
    name = vars(module)["__name__"]
    with _LOADING_LOCK:
        if type(module) is _LazyModule:
            object.__setattr__(module, "__class__", _Loading)
            _BEING_LOADED[name] = module
            sys.modules.pop(name, None)
    importlib.import_module(name)
