"""Libraries that others import but seldom use, loaded when something of theirs is asked for.

scikit-learn imports scipy.stats wherever one of its estimators is, for functions that hardly any of them calls; to load
it takes longer than most rankings.
"""

from __future__ import annotations

import importlib.util
import sys
import threading
from types import ModuleType
from typing import Any

_LOCK = threading.RLock()


def postpone(name: str) -> None:
    """Load a module when an attribute of it is first asked for, unless it is loaded already.

    Python's own `importlib.util.LazyLoader` does it as soon as a second module imports it.

    Parameters
    ----------
    name : str
        Of a public module that ``import`` finds; its parent is loaded.
    """
    if name in sys.modules:
        return
    spec = importlib.util.find_spec(name)
    if spec is None:
        return
    module = importlib.util.module_from_spec(spec)
    # Importing a module inside it asks for the path, and must find the whole package.
    vars(module).pop("__path__", None)
    module.__class__ = _Postponed
    sys.modules[name] = module


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
