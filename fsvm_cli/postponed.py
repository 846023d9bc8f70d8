"""Packages that others import whole and of which little is used: loaded on first use.

scikit-learn's packages import each other, and with them most of scipy, whichever of their names one asks for. That is
two seconds of a command that takes a tenth of one to do its work.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import sys
import threading
from types import ModuleType
from typing import Any

_replacing = threading.Lock()


class _Postponed(ModuleType):
    """Stands for a package until more is asked of it than it can tell without running it; then passes everything on.

    Its modules can be imported without it. Python's own ``LazyLoader`` cannot do this, and turns into the module
    before that is loaded, which other threads may see.
    """

    def __init__(self, name: str, homes: dict[str, str]) -> None:
        super().__init__(name)
        self._homes = homes

    def __getattr__(self, name: str) -> Any:
        if name == "__path__" and sys.modules.get(self.__name__) is self:
            return self._path()
        if home := self._homes.get(name):
            found = getattr(importlib.import_module(f"{self.__name__}.{home}"), name)
            setattr(self, name, found)
            return found
        return getattr(self._loaded(), name)

    def _path(self) -> list[str]:
        parent = importlib.import_module(self.__name__.rpartition(".")[0])
        spec = importlib.machinery.PathFinder.find_spec(self.__name__, parent.__path__)
        if spec is None or spec.submodule_search_locations is None:
            raise AttributeError(f"{self.__name__} is no package", name="__path__", obj=self)
        return spec.submodule_search_locations

    def _loaded(self) -> ModuleType:
        with _replacing:
            is_first = sys.modules.get(self.__name__) is self
            if is_first:
                del sys.modules[self.__name__]
        # Outside the lock: whoever is importing the package already may come here too.
        package = importlib.import_module(self.__name__)
        for name, value in vars(self).items():
            if isinstance(value, ModuleType) and not hasattr(package, name):
                setattr(package, name, value)
        return package


def postpone(package: str, **homes: str) -> None:
    """Let ``import PACKAGE`` cost nothing until something of it is used; a package that is imported already stays.

    Parameters
    ----------
    package : str
        Full name, of a package inside another.
    **homes : str
        Names of the package that can be had without loading all of it, and the modules in it that define them.

    Examples
    --------
    >>> from fsvm_cli.postponed import postpone
    >>> postpone("email.mime")
    >>> import email.mime
    """
    sys.modules.setdefault(package, _Postponed(package, homes))


def postpone_what_few_use() -> None:
    """Postpone what the libraries here import for functions that hardly a command calls."""
    postpone("scipy.stats")
    postpone("sklearn.decomposition", PCA="_pca")
    postpone("sklearn.feature_selection", SelectorMixin="_base")
    postpone("sklearn.model_selection", StratifiedKFold="_split")
    scalers = dict.fromkeys(("MinMaxScaler", "Normalizer", "StandardScaler", "binarize"), "_data")
    labels = dict.fromkeys(("LabelBinarizer", "label_binarize"), "_label")
    postpone("sklearn.preprocessing", FunctionTransformer="_function_transformer", **scalers, **labels)
