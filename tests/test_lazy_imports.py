"""Modules that are loaded when something of theirs is asked for, and not before."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from fsvm_cli.lazy_imports import SELDOM_USED, import_lazily

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Write = Callable[[str, str], None]

LOADED = "import sys; sys.loaded_for_tests.append(__name__)\n"


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Write a module into a folder that `import` looks into; what is loaded is noted, and forgotten at the end."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "loaded_for_tests", [], raising=False)
    monkeypatch.setattr(sys, "modules", sys.modules.copy())
    monkeypatch.setattr(sys, "meta_path", sys.meta_path.copy())

    def write_module(name: str, text: str) -> None:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(LOADED + text)
        importlib.invalidate_caches()

    return write_module


def loaded() -> list[str]:
    return sys.loaded_for_tests  # type: ignore[attr-defined, no-any-return]


def test_importing_it_again_and_again_loads_nothing(write: Write) -> None:
    write("late.py", "value = 3")
    write("user.py", "import late\ndef use(): return late.value")
    import_lazily("late")
    user = importlib.import_module("user")
    assert loaded() == ["user"]
    assert not hasattr(sys.modules["late"], "__wrapped__")
    assert loaded() == ["user"]
    assert [user.use(), user.use()] == [3, 3]
    assert loaded() == ["user", "late"]
    assert type(sys.modules["late"]) is type(sys)


@pytest.mark.parametrize("text", ["from late import value", "from late.part import value", "import late.part as value"])
def test_asking_for_a_part_loads_the_whole_first(write: Write, text: str) -> None:
    write("late/__init__.py", "from late import part\nvalue = part.value")
    write("late/part.py", "value = 3")
    write("user.py", text)
    import_lazily("late")
    importlib.import_module("user")
    assert loaded() == ["user", "late", "late.part"]
    assert sys.modules["late.part"].__spec__ is not None
    assert sys.modules["late.part"].__spec__.origin is not None


def test_a_part_that_is_postponed_itself_does_not_load_the_whole(write: Write) -> None:
    write("late/__init__.py", "from late.part import value")
    write("late/part.py", "value = 3")
    write("user.py", "import late.part as part\ndef use(): return part.value")
    import_lazily("late", "late.part")
    user = importlib.import_module("user")
    assert loaded() == ["user"]
    assert user.use() == 3
    assert loaded() == ["user", "late.part"]
    assert sys.modules["late"].value == 3


@pytest.mark.parametrize("text", ["from late import *", "import late; late.__all__; value = late.value"])
def test_all_of_its_names_can_be_asked_for(write: Write, text: str) -> None:
    write("late.py", "value = 3; _other = 4; __all__ = ['value', '_other']")
    write("user.py", text)
    import_lazily("late")
    assert importlib.import_module("user").value == 3


def test_what_is_loaded_or_does_not_exist_is_left_alone(write: Write) -> None:
    write("early.py", "")
    module = importlib.import_module("early")
    import_lazily("early")
    assert sys.modules["early"] is module
    import_lazily("nowhere_to_be_found")
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("nowhere_to_be_found")


def test_postponing_loads_not_even_the_package(write: Write) -> None:
    write("package/__init__.py", "")
    write("package/late.py", "value = 3")
    import_lazily("package.late")
    import_lazily("package.late")
    assert loaded() == []
    late = importlib.import_module("package.late")
    assert loaded() == ["package"]
    assert late.value == 3
    assert loaded() == ["package", "package.late"]


def test_a_name_that_it_lacks_is_an_attribute_error(write: Write) -> None:
    write("late.py", "")
    import_lazily("late")
    late = importlib.import_module("late")
    for _ in range(2):
        with pytest.raises(AttributeError, match="no attribute 'value'"):
            _ = late.value
    assert loaded() == ["late"]


def test_what_it_raises_is_raised_wherever_it_is_asked_again(write: Write) -> None:
    write("late.py", "raise OSError('no such disk')")
    import_lazily("late")
    late = importlib.import_module("late")
    for _ in range(2):
        with pytest.raises(OSError, match="no such disk"):
            _ = late.value


def test_another_thread_waits_until_it_is_whole(write: Write) -> None:
    write("late.py", "sys.begun.set(); sys.go_on.wait(10); value = 3")
    begun, go_on = threading.Event(), threading.Event()
    sys.begun, sys.go_on = begun, go_on  # type: ignore[attr-defined]
    import_lazily("late")
    late = importlib.import_module("late")
    found: list[int] = []
    threads = [threading.Thread(target=lambda: found.append(late.value)) for _ in range(2)]
    threads[0].start()
    assert begun.wait(10)
    threads[1].start()
    threads[1].join(0.1)
    assert not found
    go_on.set()
    for thread in threads:
        thread.join(10)
    assert found == [3, 3]
    assert loaded() == ["late"]


def test_one_thread_may_load_it_while_another_imports_a_part_of_it(write: Write) -> None:
    write("late/__init__.py", "sys.begun.set(); sys.go_on.wait(10)\nfrom late.part import value")
    write("late/part.py", "value = 3")
    begun, go_on = threading.Event(), threading.Event()
    sys.begun, sys.go_on = begun, go_on  # type: ignore[attr-defined]
    import_lazily("late")
    late = importlib.import_module("late")
    found: list[int] = []
    threads = [
        threading.Thread(target=lambda: found.append(late.value), daemon=True),
        threading.Thread(target=lambda: found.append(importlib.import_module("late.part").value), daemon=True),
    ]
    threads[0].start()
    assert begun.wait(10)
    threads[1].start()
    threads[1].join(0.1)
    go_on.set()
    for thread in threads:
        thread.join(10)
    assert found == [3, 3]
    assert loaded() == ["late", "late.part"]


NOT_FOR_A_TABLE = {*SELDOM_USED, "fsvm_cli.data.cards", "fsvm_cli.spec", "scipy.optimize"}
NOT_FOR_A_FILTER = {"numba", "scipy.interpolate", "scipy.spatial", "sklearn.preprocessing"}


def test_a_ranking_loads_nothing_that_it_does_without(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("a,b,kind\n" + "".join(f"{row},{row % 7},{'xy'[row % 2]}\n" for row in range(40)))
    program = (
        "import sys, fsvm_cli.cli\n"
        "for method in ('fisher', 'gradient-angle'):\n"
        "    try: sys.argv[5:] = ['--method', method]; fsvm_cli.cli.main()\n"
        "    except SystemExit as end: assert not end.code\n"
        "    print([n for n, m in sys.modules.items() if type(m).__name__ != '_LazyModule'], file=sys.stderr)"
    )
    command = [sys.executable, "-c", program, "rank", str(table), "--target", "kind"]
    process = subprocess.run(command, capture_output=True, text=True, check=True)
    by_filter, by_machine = (set(ast.literal_eval(line)) for line in process.stderr.splitlines() if line[0] == "[")
    assert "sklearn.base" in by_filter
    assert "numba" in by_machine
    assert not (NOT_FOR_A_TABLE | NOT_FOR_A_FILTER) & by_filter
    assert not NOT_FOR_A_TABLE & by_machine
