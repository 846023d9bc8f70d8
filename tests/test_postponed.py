"""Packages that are loaded on first use: what is loaded when, and that nobody can tell otherwise."""

from __future__ import annotations

import importlib
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from fsvm_cli.postponed import postpone

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def _package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A package `outer.slow` with two modules, the second of which is slow."""
    slow = tmp_path / "outer" / "slow"
    slow.mkdir(parents=True)
    (tmp_path / "outer" / "__init__.py").write_text("")
    (slow / "__init__.py").write_text("from outer.slow._rest import Rest\nfrom outer.slow._quick import Quick\n")
    (slow / "_quick.py").write_text("class Quick:\n    pass\n")
    (slow / "_rest.py").write_text("import time\ntime.sleep(0.05)\nclass Rest:\n    pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "outer"]:
        del sys.modules[name]


@pytest.mark.usefixtures("_package")
def test_only_what_is_asked_for_is_loaded() -> None:
    postpone("outer.slow", Quick="_quick")
    package: Any = importlib.import_module("outer.slow")
    quick = package.Quick
    assert "outer.slow._rest" not in sys.modules
    assert pickle.loads(pickle.dumps(quick())).__class__ is quick
    assert package.Rest is sys.modules["outer.slow._rest"].Rest
    assert sys.modules["outer.slow"] is not package, "the package itself has taken its place"
    assert sys.modules["outer.slow"].Quick is package.Quick is quick
    assert sys.modules["outer.slow"]._quick is package._quick
    with pytest.raises(AttributeError):
        _ = package.nothing


@pytest.mark.usefixtures("_package")
def test_threads_that_come_at_once_all_get_it() -> None:
    postpone("outer.slow")
    package: Any = importlib.import_module("outer.slow")
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda name: getattr(package, name), ["Rest", "Quick"] * 4))
    assert {each.__name__ for each in found} == {"Rest", "Quick"}


@pytest.mark.usefixtures("_package")
def test_what_is_loaded_already_stays() -> None:
    package = importlib.import_module("outer.slow")
    postpone("outer.slow")
    assert sys.modules["outer.slow"] is package
