"""The hash of a module says what its code does: it follows imports, and is blind to how the code is written."""

from __future__ import annotations

import ast
import functools
import importlib
import itertools
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fsvm_cli import sources
from fsvm_cli.experiment.plan import TRIAL
from fsvm_cli.extraction.registry import extraction_methods
from fsvm_cli.ranking.registry import ranking_methods
from fsvm_cli.sources import NOT_COUNTED, source_digests
from tests.helpers.calling import CHECKOUT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

METHOD = '''"""Of a person's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fsvm_cli.svm.threads import one_blas_thread

if TYPE_CHECKING:
    from own.unused import Unused


def scores(X):
    """Score."""
    from own.helper import weight  # within a function

    # a comment
    return weight * X
'''
FILES = {
    "__init__": "",
    "method": METHOD,
    "helper": "from . import constants\nweight: float = constants.TWO\n",
    "constants": "TWO = 2.0\n",
    "unused": "class Unused: ...\n",
}
NUMBERS = itertools.count()


@pytest.fixture(autouse=True, scope="module")
def notebook(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Leave the user's own alone."""
    path = tmp_path_factory.mktemp("sources") / "notebook.json"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sources, "_notebook", functools.cache(lambda: sources._Notebook(path)))
        yield path


@pytest.fixture
def digests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, str]]:
    """Hash a package of a person's own with some of its files replaced."""

    def of(**changes: str | bytes) -> dict[str, str]:
        folder = tmp_path / str(next(NUMBERS))
        (folder / "own").mkdir(parents=True)
        for name, text in (FILES | changes).items():
            (folder / "own" / f"{name}.py").write_bytes(text if isinstance(text, bytes) else text.encode())
        monkeypatch.syspath_prepend(folder)
        # As in another process: Python and the hashes know what has been looked for before.
        monkeypatch.delitem(sys.modules, "own", raising=False)
        sources._read.cache_clear()
        return source_digests("own.method")

    return of


def test_what_is_imported_counts_in_this_package_and_the_modules_own(digests: Callable[..., dict[str, str]]) -> None:
    found = digests()
    assert {name for name in found if name.startswith("own")} == {"own", "own.method", "own.helper", "own.constants"}
    assert "fsvm_cli.svm.threads" in found
    assert not NOT_COUNTED & set(found)


@pytest.mark.parametrize(
    "text",
    [
        METHOD.replace("weight * X", "weight * X + 0"),
        METHOD.replace("scores", "points"),
        METHOD.replace("def scores(X)", "def scores(X, y=None)"),
    ],
)
def test_another_code_has_another_hash(digests: Callable[..., dict[str, str]], text: str) -> None:
    assert digests(method=text)["own.method"] != digests()["own.method"]


def test_what_a_module_calls_has_a_hash_of_its_own(digests: Callable[..., dict[str, str]]) -> None:
    before, after = digests(), digests(constants="TWO = 2\n")
    assert {name for name in before if before[name] != after[name]} == {"own.constants"}


@pytest.mark.parametrize(
    "text",
    [
        METHOD.replace("\n", "\r\n"),
        METHOD.replace('"""Score."""', '"""Score the features."""'),
        METHOD.replace('    """Score."""\n', ""),
        METHOD.replace('"""Of a person\'s own."""\n\n', ""),
        METHOD.replace("# a comment", "# another one"),
        METHOD.replace("scores(X):", "scores(\n    X,\n):"),
        METHOD.replace("weight * X", "(weight * X)"),
        METHOD.replace("    from own.unused import Unused", "    from own.unused import Other"),
        b"\xef\xbb\xbf" + METHOD.encode(),
    ],
)
def test_another_wording_has_the_same_hash(digests: Callable[..., dict[str, str]], text: str | bytes) -> None:
    assert digests(method=text) == digests()


def as_another_process(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    sources._read.cache_clear()
    monkeypatch.setattr(sources, "_notebook", functools.cache(lambda: sources._Notebook(path)))


def test_a_text_that_was_parsed_is_not_parsed_again(monkeypatch: pytest.MonkeyPatch, notebook: Path) -> None:
    found = source_digests(TRIAL)
    assert notebook.exists()
    as_another_process(monkeypatch, notebook)
    monkeypatch.setattr(ast, "parse", None)
    assert source_digests(TRIAL) == found


@pytest.mark.parametrize("damage", [b"", b"[]", b"{", b'{"a": 3}', b'{"a": ["x", [[1]]]}', b"\xff"])
def test_where_nothing_that_was_found_can_be_read_or_kept_all_is_parsed_anew(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, damage: bytes
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "alone.py").write_text("x = 1\n")
    found = []
    for path in (tmp_path / "damaged.json", tmp_path / "alone.py" / "a-file-is-no-folder.json"):
        if path.parent.is_dir():
            path.write_bytes(damage)
        as_another_process(monkeypatch, path)
        found.append(source_digests("alone"))
    assert found[0] == found[1]
    assert len(found[0]) == 1


def test_a_module_without_its_source_is_known_by_its_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for name, text in (("compiled_a", "x = 1"), ("compiled_b", "x = 2")):
        source = tmp_path / f"{name}.py"
        source.write_text(text)
        code = f"import py_compile; py_compile.compile({str(source)!r}, {str(source.with_suffix('.pyc'))!r})"
        subprocess.run([sys.executable, "-c", code], check=True)
        source.unlink()
        monkeypatch.syspath_prepend(tmp_path)
        found += source_digests(name).values()
    assert len(set(found)) == 2


def test_a_module_that_does_not_exist_is_told() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"no module 'fsvm_cli\.nothing'"):
        source_digests("fsvm_cli.nothing")


def test_every_module_that_a_trial_loads_is_hashed() -> None:
    """What a machine, a metric or a split is computed by must not change unseen; what is only read or told may."""
    program = f"import sys, {TRIAL}; from fsvm_cli.svm import nested_curves, grid_search, SVM; print(*sys.modules)"
    command = [sys.executable, "-c", program]
    loaded = subprocess.run(command, capture_output=True, text=True, check=True, cwd=CHECKOUT).stdout.split()
    floors = ("svm", "evaluation", "ranking.base", "extraction.base", "data.scaling", "experiment.tuning")
    of_trials = {name for name in loaded if any(f"{name}.".startswith(f"fsvm_cli.{floor}.") for floor in floors)}
    hashed = source_digests(TRIAL)
    assert "fsvm_cli.svm.paths.nested" in of_trials
    assert {name for name in of_trials if not _says_nothing(name)} <= set(hashed)


def _says_nothing(name: str) -> bool:
    """Whether a package is a folder with a docstring."""
    body = ast.parse(Path(importlib.import_module(name).__file__ or "").read_text(encoding="utf-8")).body
    return len(body) == 1 and isinstance(body[0], ast.Expr)


@pytest.mark.parametrize("method", [*ranking_methods().values(), *extraction_methods().values()])
def test_every_method_is_hashed_with_the_modules_of_its_classes(method: type) -> None:
    homes = {home.__module__ for home in method.__mro__ if home.__module__.startswith("fsvm_cli.")}
    assert homes - NOT_COUNTED <= set(source_digests(method.__module__))


def test_the_hash_is_the_same_in_another_process_place_and_way_of_running() -> None:
    program = f"from fsvm_cli.sources import source_digests; print(source_digests({TRIAL!r}))"
    for options, environment in (([], {}), (["-O"], {"PYTHONHASHSEED": "1"}), (["-B"], {"PYTHONPYCACHEPREFIX": "x"})):
        process = subprocess.run(
            [sys.executable, *options, "-c", program],
            capture_output=True,
            text=True,
            check=True,
            cwd="/",
            env=os.environ | {"PYTHONPATH": str(CHECKOUT)} | environment,
        )
        assert process.stdout.strip() == str(source_digests(TRIAL))
