"""Libraries that others import but seldom use, loaded when something of theirs is asked for.

scikit-learn imports scipy.stats wherever one of its estimators is, for functions that hardly any of them calls; to load
it takes longer than most rankings.
"""

from __future__ import annotations

import sys
import threading
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.abc import Loader

_LOCK = threading.RLock()


def postpone(name: str) -> None:
    """Load a module when an attribute of it is first asked for, unless it is loaded already.

    Nothing is loaded here, not even the package that the module stands in. Python's own `importlib.util.LazyLoader`
    would load the module as soon as a second one imports it.

    Parameters
    ----------
    name : str
        Of a module, as ``import`` takes it.
    """
    if not any(isinstance(finder, _Finder) and finder.name == name for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder(name))


class _Finder:
    """Finds one module as Python would, and has it loaded later."""

    def __init__(self, name: str) -> None:
        self.name = name

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self.name:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = cast("Loader", _LaterLoader(spec.loader))
        return spec


class _LaterLoader:
    """Makes a module, and leaves it to the module's own loader to fill it later."""

    # Of no class of `importlib.abc`, nor is the finder: to load that takes half as long as all of `fsvm --help`.
    def __init__(self, loader: Loader) -> None:
        self.loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self.loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        assert module.__spec__ is not None
        module.__spec__.loader = module.__loader__ = self.loader
        # Importing a module inside it asks for the path, and must find the whole package.
        vars(module).pop("__path__", None)
        module.__class__ = _Postponed


class _Postponed(ModuleType):
    """A module that is loaded when an attribute of it is first asked for, and from then on is an ordinary one."""

    def __getattr__(self, name: str) -> Any:
        # `import` and the modules that look through sys.modules ask every module for names such as these.
        if name.startswith("__") and name != "__path__":
            raise AttributeError(name)
        with _LOCK:  # another thread waits for the whole module
            if type(self) is _Postponed:
                self._load()
        return getattr(self, name)

    def _load(self) -> None:
        spec = self.__spec__
        assert spec is not None
        assert spec.loader is not None
        if spec.submodule_search_locations is not None:
            self.__path__ = spec.submodule_search_locations
        object.__setattr__(self, "__class__", _Loading)
        try:
            spec.loader.exec_module(self)
        except BaseException:
            object.__setattr__(self, "__class__", _Postponed)
            raise
        object.__setattr__(self, "__class__", ModuleType)


class _Loading(ModuleType):
    """A module that is being loaded: what it lacks is not there yet."""

    def __getattr__(self, name: str) -> Any:
        if _LOCK.acquire(blocking=False):
            _LOCK.release()
            raise AttributeError(f"module {vars(self)['__name__']!r} has no attribute {name!r} yet")
        with _LOCK:
            return getattr(self, name)
