"""The hash of code says what it does: it follows references, and is blind to how and where the code is written."""

from __future__ import annotations

import ast
import functools
import importlib
import importlib.util
import itertools
import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import fsvm_cli
from fsvm_cli import sources
from fsvm_cli.experiment import experiment
from fsvm_cli.experiment.compared_methods import Ranked
from fsvm_cli.experiment.running import run_trial
from fsvm_cli.extraction.registry import extraction_methods
from fsvm_cli.normalised_code import ParsedSource, package_of
from fsvm_cli.ranking.registry import ranking_methods
from fsvm_cli.sources import NOT_COUNTED, NUMERICAL_PACKAGES, OTHER_PACKAGES, code_of, source_digests
from tests.helpers.calling import CHECKOUT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

METHOD = '''"""Of a person's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fsvm_cli.numerics import one_blas_thread

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
ALL_METHODS = (*ranking_methods().values(), *extraction_methods().values())
TRIAL = "fsvm_cli.experiment.trial"
FUNCTIONS = experiment.TRIAL_DEFINITIONS


@pytest.fixture(autouse=True, scope="module")
def notebook(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Leave the user's own alone."""
    path = tmp_path_factory.mktemp("sources") / "notebook.json"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sources, "_parse_cache", functools.cache(lambda: sources._ParseCache(path)))
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
    assert "fsvm_cli.numerics" in found
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
    monkeypatch.setattr(sources, "_parse_cache", functools.cache(lambda: sources._ParseCache(path)))


def test_a_text_that_was_parsed_is_not_parsed_again(monkeypatch: pytest.MonkeyPatch, notebook: Path) -> None:
    as_another_process(monkeypatch, notebook)  # what other tests have read is not in it
    found = source_digests(TRIAL)
    assert notebook.exists()
    as_another_process(monkeypatch, notebook)
    with monkeypatch.context() as patch:  # pytest and its plugins parse, too
        patch.setattr(ast, "parse", None)
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


FUNCTION = """
import warnings
from typing import TYPE_CHECKING, cast

import numpy as np

from fsvm_cli.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence

FACTOR = 2.0

def other(X):
    return X - 1

class Scorer:
    \"\"\"Scores.\"\"\"

    factor: float = FACTOR

    def scores(self, X: np.ndarray, *, ddof: int = 0) -> np.ndarray:
        \"\"\"Score.\"\"\"
        spread = np.std(X, ddof=ddof)
        if spread == 0:
            raise ValueError(f"{X} is constant")
        parts = [column * self.factor for column in other(X)]
        def total(values):
            return sum(values) / spread
        return total(parts)
"""


def definition(text: str, name: str = "Scorer") -> object:
    return ParsedSource.in_text(text).definitions[name].digest


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("\n", "\r\n"),
        ('        """Score."""\n', ""),
        ("Scores.", "Another docstring"),
        ("        spread =", "        # a comment\n        spread ="),
        ("spread", "deviation"),
        ("column", "each"),
        ("total", "sum_of"),
        ("X: np.ndarray, *, ddof: int = 0) -> np.ndarray", "X, *, ddof=0)"),
        ("is constant", "has one value"),
        ("raise ValueError(", "raise ValueError('no: ' "),
        ("class Scorer:", "class Renamed:"),
        ("FACTOR", "SCALE"),
        ("other", "another"),
        ("        spread =", "        warnings.warn('slow', stacklevel=2)\n        spread ="),
        ("        spread =", "        assert X.ndim == 2, 'a table'\n        spread ="),
        ("np", "numpy"),
        ("= np.std(X", "= cast('float', np.std(X"),
        ("def other(X):\n    return X - 1\n", ""),
    ],
)
def test_how_a_definition_is_written_does_not_count(old: str, new: str) -> None:
    text = FUNCTION.replace(old, new)
    text = text.replace("import numpy as numpy", "import numpy").replace(
        "ddof=ddof)\n", "ddof=ddof))\n" if "cast('" in text else "ddof=ddof)\n"
    )
    if new == "":
        text += "\ndef other(X):\n    return X - 1\n"
    assert text != FUNCTION
    assert definition(text, "Renamed" if "Renamed" in text else "Scorer") == definition(FUNCTION)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("ddof: int = 0", "ddof: int = 1"),
        ("ddof: int = 0", "ddof: int"),
        ("self, X: np.ndarray, *, ", "self, X, "),
        ("np.std", "np.var"),
        ("spread == 0", "spread <= 0"),
        ("raise ValueError", "raise TypeError"),
        ("/ spread", "* spread"),
        ("self.factor for", "self.factors for"),
        ("column * self", "spread * self"),
        ("def scores", "def score"),
        ("sum(values)", "max(values)"),
        ("return total(parts)", "return total(X)"),
        ("float = FACTOR", "float = 2.0"),
    ],
)
def test_what_a_definition_does_counts(old: str, new: str) -> None:
    assert FUNCTION.count(old) == 1
    assert definition(FUNCTION.replace(old, new)) != definition(FUNCTION)


def test_a_name_that_is_local_in_one_function_is_a_reference_in_another() -> None:
    text = "def f():\n    g = 1\n    return g\ndef h():\n    return g()\ndef g():\n    return 2\n"
    found = ParsedSource.in_text(text).definitions
    assert [reference.path for reference in found["h"].references] == ["g"]
    assert not found["f"].references


def test_a_table_that_is_filled_below_its_definition_counts_with_what_fills_it() -> None:
    text = "TABLE = {}\nTABLE['a'] = 1\nTABLE.update(b=2)\n"
    digests = {
        definition(each, "TABLE") for each in (text, text.replace("1", "3"), text.replace("2", "3"), "TABLE = {}")
    }
    assert len(digests) == 4


@pytest.fixture
def edited(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Callable[..., sources.Code]]:
    """Hash functions of this package with the texts of some modules replaced, and with further modules."""
    read = sources._read.__wrapped__

    def with_texts(**texts: str) -> Callable[..., sources.Code]:
        @functools.cache
        def read_edited(name: str) -> sources._Module:
            text = texts.get(name.replace(".", "__"))
            if text is None:
                return read(name)
            spec = importlib.util.spec_from_loader(name, None)
            assert spec is not None
            return sources._Module(ParsedSource.in_text(text), spec)

        monkeypatch.setattr(sources, "_read", read_edited)
        monkeypatch.setattr(sources, "_DIGESTS", {})
        monkeypatch.setattr(sources, "_children", functools.cache(sources._children.__wrapped__))
        monkeypatch.setattr(sources, "_code_of", functools.cache(sources._code_of.__wrapped__))
        return code_of

    return with_texts


def text_of(module: str) -> str:
    return Path(importlib.import_module(module).__file__ or "").read_text(encoding="utf-8")


def as_argument(module: str) -> str:
    return module.replace(".", "__")


def test_a_message_and_a_constant_of_the_terminal_make_nothing_stale(edited: Callable[..., Any]) -> None:
    changed = {
        module: text_of(f"fsvm_cli.{module}")
        for module in ("console", "validation_errors", "memory_check", "plugins", "validation")
    }
    assert changed["console"].count("MAX_NAME_LENGTH = ") == 1
    texts = {as_argument(f"fsvm_cli.{module}"): f"{text}\nEDITED = 1\n" for module, text in changed.items()}
    name = as_argument("fsvm_cli.console")
    texts[name] = re.sub(r"MAX_NAME_LENGTH = \d+", "MAX_NAME_LENGTH = 201", texts[name])
    before = {method: code_of(*FUNCTIONS, method) for method in ALL_METHODS}
    after = edited(**texts)
    assert {method: after(*FUNCTIONS, method) for method in ALL_METHODS} == before


def test_a_function_that_is_moved_and_renamed_makes_nothing_stale(edited: Callable[..., Any]) -> None:
    """`order_of` moves from one room to a new module of another, and is called otherwise there."""
    home = "fsvm_cli.ranking.base"
    text = text_of(home)
    body = ast.get_source_segment(
        text, next(node for node in ast.parse(text).body if getattr(node, "name", "") == "order_of")
    )
    assert body is not None
    caller = text_of("fsvm_cli.extraction.smife")
    assert "from fsvm_cli.ranking.base import order_of" in caller
    before = code_of(*FUNCTIONS, Ranked, *ALL_METHODS)
    needed = "from fsvm_cli.ranking.base import tie_groups\n"
    moved = f"import numpy as np\n{needed}{body.replace('order_of', 'sorted_by_score')}\n"
    after = edited(
        fsvm_cli__ranking__base=text.replace(
            body, "from fsvm_cli.evaluation.orders import sorted_by_score as order_of"
        ),
        fsvm_cli__evaluation__orders=moved,
        fsvm_cli__extraction__smife=caller.replace(
            "from fsvm_cli.ranking.base import order_of", "from fsvm_cli.evaluation.orders import sorted_by_score"
        ).replace("order_of(", "sorted_by_score("),
    )
    now = after(*FUNCTIONS, Ranked, *ALL_METHODS)
    assert now.digest == before.digest
    assert {"fsvm_cli.ranking.base.order_of"} == set(before.parts) - set(now.parts)
    assert {"fsvm_cli.evaluation.orders.sorted_by_score"} == set(now.parts) - set(before.parts)
    assert sorted(before.parts.values()) == sorted(now.parts.values())


def test_modules_that_are_merged_make_nothing_stale(edited: Callable[..., Any]) -> None:
    """One long module takes the place of two, in another order."""
    places = ("fsvm_cli.evaluation.splits", "fsvm_cli.evaluation.seeds")
    nodes = [node for place in places for node in ast.parse(text_of(place)).body]
    imports = [node for node in nodes if isinstance(node, ast.ImportFrom) and node.module == "__future__"][:1]
    rest = [node for node in nodes if node not in imports and getattr(node, "module", "") != "__future__"]
    merged = ast.unparse(ast.Module([*imports, *reversed(rest)], []))
    names = {place: list(sources._read(place).parsed.definitions) for place in places}
    passed_on = {
        as_argument(place): f"from fsvm_cli.evaluation.drawing import {', '.join(of)}\n" for place, of in names.items()
    }
    before = code_of(*FUNCTIONS)
    after = edited(**passed_on, fsvm_cli__evaluation__drawing=merged)
    assert after(*FUNCTIONS).digest == before.digest
    assert any("evaluation.drawing" in name for name in after(*FUNCTIONS).parts)


class Changed(ast.NodeTransformer):
    """Changes an operator, a number or a name in the code of a class."""

    def __init__(self, target: ast.AST) -> None:
        self.target = target

    def visit(self, node: ast.AST) -> Any:
        if node is self.target:
            if isinstance(node, ast.operator):
                return ast.Pow()
            return ast.Constant(not node.value if isinstance(node, ast.Constant) else None)
        return self.generic_visit(node)


@pytest.mark.parametrize("method", [*ranking_methods().values()], ids=[*ranking_methods()])
def test_a_changed_number_or_operator_of_a_method_makes_stale_what_uses_it(
    method: type, edited: Callable[..., Any]
) -> None:
    tree = ast.parse(text_of(method.__module__))
    (own,) = (node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == method.__name__)
    functions = [node for node in own.body if isinstance(node, ast.FunctionDef)]
    assigned = [node.value for node in own.body if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value]
    # Of a method whose functions have neither, a default is changed; of one without numbers what it assigns last.
    bodies = [*assigned, *(statement for function in functions for statement in function.body)]
    numbers = [
        node
        for statement in bodies
        for node in ast.walk(statement)
        if isinstance(node, ast.operator) or (isinstance(node, ast.Constant) and isinstance(node.value, (int, float)))
    ]
    target = (numbers or assigned)[-1]
    changed = ast.unparse(ast.fix_missing_locations(Changed(target).visit(tree)))
    before = {each: code_of(each) for each in ALL_METHODS}
    of_all = code_of(*FUNCTIONS)
    after = edited(**{as_argument(method.__module__): changed})
    name = f"{method.__module__}.{method.__name__}"
    stale = {each for each in ALL_METHODS if after(each).digest != before[each].digest}
    assert method in stale
    assert stale == {each for each in ALL_METHODS if name in before[each].parts}
    assert after(*FUNCTIONS).digest == of_all.digest


def test_every_package_is_said_to_decide_about_numbers_or_not() -> None:
    there_are = {module.name for module in pkgutil.iter_modules(fsvm_cli.__path__)} - {"__main__"}
    assert there_are == NUMERICAL_PACKAGES | OTHER_PACKAGES
    assert not NUMERICAL_PACKAGES & OTHER_PACKAGES


LOADING = re.compile(
    r"fsvm_cli\.(experiment\.(plan|running)|data\.(source|dataset)|numerics\.all_finite|spec\.protocol|\w+\.registry)\b"
)
"""What a trial runs through that decides about no number: the plan, data with their hash, methods by their names."""


@pytest.mark.slow
@pytest.mark.parametrize("method", ranking_methods())
def test_all_that_a_trial_runs_through_in_the_numerical_rooms_is_hashed(planned: Any, method: str) -> None:
    classifier = {"kernel": "gaussian", "theta": 0.1, "C": 1} if method == "kpd" else {"kernel": "linear", "C": 1}
    trees = {"n_trees": 5} if method in {"boruta", "forest"} else {}
    experiment = planned(
        dataset={"name": "noise20", "samples": 80}, classifier=classifier, rankings=[{"method": method, **trees}]
    )
    trial = next(experiment.trials())
    wanted = {0: experiment.sizes}
    called: set[str] = set()

    def note(frame: Any, event: str, _: object) -> None:
        module, name = frame.f_globals.get("__name__", ""), frame.f_code.co_qualname.partition(".")[0]
        is_ours = package_of(module) == "fsvm_cli" and frame.f_code.co_filename.endswith(".py")
        if event == "call" and is_ours and not name.startswith("<"):
            called.add(f"{module}.{name}")

    run_trial(experiment, trial, wanted)  # what is to be compiled is compiled now
    sys.setprofile(note)
    try:
        result = run_trial(experiment, trial, wanted)
    finally:
        sys.setprofile(None)
    assert not result.errors
    of_rooms = {name for name in called if name.split(".")[1] in NUMERICAL_PACKAGES and not LOADING.match(name)}
    assert len(of_rooms) > 20
    assert of_rooms - set(experiment.code(0).parts) == set()


def test_the_hash_is_the_same_in_another_process_place_and_way_of_running() -> None:
    program = f"from fsvm_cli.sources import code_of; print(code_of(*{FUNCTIONS!r}))"
    for options, environment in (([], {}), (["-O"], {"PYTHONHASHSEED": "1"}), (["-B"], {"PYTHONPYCACHEPREFIX": "x"})):
        process = subprocess.run(
            [sys.executable, *options, "-c", program],
            capture_output=True,
            text=True,
            check=True,
            cwd="/",
            env=os.environ | {"PYTHONPATH": str(CHECKOUT)} | environment,
        )
        assert process.stdout.strip() == str(code_of(*FUNCTIONS))
