"""Lazy imports: modules that libraries import but seldom use, loaded when an attribute is first used.

scikit-learn and scipy import at their start what hardly any of their functions calls; to load all of it takes longer
than most rankings.
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
    "asyncio",  # joblib: for functions that are coroutines
    "narwhals",  # scikit-learn: to read a data frame, of whatever library
    "narwhals.stable",
    "narwhals.stable.v2",
    "numpy.f2py",  # scipy: copies whatever numpy has into a namespace, here a compiler
    "numpy.testing",  # the same, with all of unittest
    "pandas",  # scikit-learn: to know whether it is there
    "pycparser",  # numba: to read declarations in C
    "ruamel.yaml",  # our documents, which options alone can say as well: to read a text
    "scipy.optimize",  # methods that climb or descend, of which a run seldom has one
    "scipy.special",  # scikit-learn: for one function; methods that compute with it load it
    "scipy.stats",  # scikit-learn: for tests of significance
    "yaml",  # numba: to read settings from a file, if there is one
)
"""What the command line and its workers import lazily, with the library that imports it, and why."""

_CONTENT = frozenset({"__all__", "__version__"})
"""Names with two underscores that only a module's own text defines."""

_LOCK = threading.Lock()


def import_lazily(*names: str) -> None:
    """Load modules when an attribute of them is first asked for, unless they are loaded already.

    Nothing is loaded here, not even the package that a module stands in. A module inside a lazy package loads
    that package, unless it is lazy itself. Python's own `importlib.util.LazyLoader` would load a module as soon as
    a second one imports it.

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


# The finder and the loaders are of no class of `importlib.abc`: to load that takes half as long as `fsvm --help`.
class _Finder:
    """Finds modules as Python would, and has some of them loaded later."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname in self.names:
            spec = PathFinder.find_spec(fullname, path, target)
            if spec is not None and spec.loader is not None:
                loading = _LOADING.get(fullname)
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
    """Makes a module, and leaves it empty."""

    def __init__(self, loader: Loader) -> None:
        self.loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self.loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        _give_back(module, self.loader)
        module.__class__ = _LazyModule


class _LoaderInto:
    """Fills the module that was made before."""

    def __init__(self, loader: Loader, module: ModuleType) -> None:
        self.loader = loader
        self.module = module

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:  # noqa: ARG002 - the contract of a loader
        return self.module

    def exec_module(self, module: ModuleType) -> None:
        _give_back(module, self.loader)
        became: type[ModuleType] = _LazyModule
        try:
            self.loader.exec_module(module)
            became = ModuleType
        finally:
            del _LOADING[vars(module)["__name__"]]
            object.__setattr__(module, "__class__", became)


def _loaded_already(module: ModuleType) -> ModuleSpec:
    """Make a spec that leads to a module that its package has imported: `import` would load it a second time."""
    spec = ModuleSpec(module.__name__, cast("Loader", _LoadedAlready(module)))
    module.__spec__ = spec  # which `import` would otherwise put in the place of the one that it is given
    return spec


class _LoadedAlready:
    """Gives `import` a module that is there."""

    def __init__(self, module: ModuleType) -> None:
        self.module = module
        self.spec = module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:  # noqa: ARG002 - the contract of a loader
        return self.module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.spec


def _give_back(module: ModuleType, loader: Loader) -> None:
    """Name the loader that a module would have had."""
    assert module.__spec__ is not None
    module.__spec__.loader = module.__loader__ = loader


class _LazyModule(ModuleType):
    """A module that is loaded when an attribute of it is first asked for, and from then on is an ordinary one."""

    def __getattr__(self, name: str) -> Any:
        _refuse_names_of_python(name)
        _load(self)
        return getattr(self, name)


class _Loading(ModuleType):
    """A module that is being loaded: what it lacks is not there yet."""

    def __getattr__(self, name: str) -> Any:
        _refuse_names_of_python(name)
        own = vars(self)["__name__"]
        importlib.import_module(own)  # waits where another thread is about it
        if type(self) is _Loading:
            raise AttributeError(f"module {own!r} has no attribute {name!r} yet")
        return getattr(self, name)


_LOADING: dict[str, ModuleType] = {}


def _refuse_names_of_python(name: str) -> None:
    """Say that there is no name such as __wrapped__: `import`, and who looks through sys.modules, ask all for them."""
    if name.startswith("__") and name not in _CONTENT:
        raise AttributeError(name)


def _load(module: _LazyModule) -> None:
    """Have Python import a module once more, into the same object: its own locks then keep other threads waiting."""
    name = vars(module)["__name__"]
    with _LOCK:
        if type(module) is _LazyModule:
            object.__setattr__(module, "__class__", _Loading)
            _LOADING[name] = module
            sys.modules.pop(name, None)
    importlib.import_module(name)
