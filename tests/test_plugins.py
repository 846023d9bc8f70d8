"""Methods and data sets from other packages: found by their entry points, used like those that come with fsvm."""

from __future__ import annotations

import importlib
import json
import logging
import os
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING

import hatchling.build
import pytest
from sklearn.utils.estimator_checks import check_estimator

from fsvm_cli import plugins
from fsvm_cli.data.cards import data_cards
from fsvm_cli.errors import UsageError
from fsvm_cli.extraction.registry import extraction_methods
from fsvm_cli.ranking.registry import ranking_methods
from fsvm_cli.sources import source_digests
from tests.helpers.calling import AS_SVG, CHECKOUT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Offer = Callable[..., None]

EXAMPLE = CHECKOUT / "examples" / "fsvm-example-method"
METHOD = "fsvm_example_method.median_separation"
RANKER = """
from fsvm_cli.ranking.base import Ranker

class Mine(Ranker):
    method = "{name}"
    {parameter}
    def _scores(self, X, y, n_classes):
        return X.sum(axis=0)
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the example package into a folder of its own, as pip does: build the wheel, unpack it."""
    folder = tmp_path_factory.mktemp("installed")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(EXAMPLE)
        wheel = hatchling.build.build_wheel(str(folder))
    with zipfile.ZipFile(folder / wheel) as archive:
        archive.extractall(folder / "packages")
    return folder / "packages"


PROGRAM = """
import json, sys
from pathlib import Path
from fsvm_cli import sources
from fsvm_cli.cli import cli
steps, method = json.loads(sys.argv[1]), Path(sys.argv[2])
for step in steps:
    if step == ["edit"]:
        method.write_text(method.read_text() + "\\nEDITED = True\\n")
        for known in (sources._read, sources._children, sources._code_of):
            known.cache_clear()
        sources._DIGESTS.clear()
    else:
        print(">", *step, flush=True)
        cli.main(step, standalone_mode=False)
"""


@pytest.mark.slow
def test_the_example_is_used_like_any_other_method(installed: Path, tmp_path: Path) -> None:
    table = tmp_path / "mine.csv"
    table.write_text("a,b,kind\n" + "".join(f"{row % 2 + row / 50},{row % 3},{'xy'[row % 2]}\n" for row in range(30)))
    # Keys hold what the method's file does: an edit shows in what is planned.
    config = str(EXAMPLE / "median-separation.yaml")
    run = ["run", config, "--splits", "2", "--jobs", "1", *AS_SVG, "--out", str(tmp_path)]
    steps = [
        ["methods"],
        ["datasets", "list"],
        ["rank", str(table), "--target", "kind", "--method", "median-separation", "--format", "csv"],
        run,
        ["edit"],
        [*run, "--dry-run"],
    ]
    copy = installed / "fsvm_example_method" / "median_separation.py"
    process = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(steps), str(copy)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(installed), str(CHECKOUT)])},
    )
    assert process.returncode == 0, process.stderr
    _, methods, datasets, rank, _, planned = process.stdout.split("> ")
    assert "median-separation" in methods
    assert "Parameters: floor." in methods
    assert "noise20-steep" in datasets
    assert rank.splitlines()[2].split(",")[1] == "a"
    curves = (tmp_path / "median-separation" / "curves.csv").read_text()
    assert all(f"{method},100," in curves for method in ("median-separation", "fisher", "random"))
    described = json.loads((tmp_path / "median-separation" / "run.json").read_text())
    assert described["packages"]["fsvm-example-method"] == "1.0"
    assert METHOD in planned


def test_the_example_is_a_scikit_learn_estimator(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(installed)
    check_estimator(importlib.import_module(METHOD).MedianSeparation())


def test_the_code_of_another_package_is_hashed_with_what_it_imports(
    installed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(installed)
    assert {METHOD, "fsvm_cli.ranking.base"} <= set(source_digests(METHOD))


@pytest.fixture
def offer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Offer]:
    """Let a package of one module be installed, with an entry point."""
    for find in (ranking_methods, extraction_methods, data_cards):
        find()  # what was there before is remembered
    monkeypatch.syspath_prepend(tmp_path)

    def install(package: str, group: str, entry: str, code: str) -> None:
        module = package.replace("-", "_")
        (tmp_path / f"{module}.py").write_text(code)
        info = tmp_path / f"{module}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[{group}]\n{entry}\n")
        importlib.invalidate_caches()
        plugins._installed.cache_clear()

    yield install
    plugins._installed.cache_clear()


def told(caplog: pytest.LogCaptureFixture) -> str:
    """Return the one line that was told."""
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    (line,) = record.getMessage().splitlines()
    return line


@pytest.mark.parametrize(
    ("name", "code", "reason"),
    [
        (
            "broken-a",
            "import no_such_module",
            "ModuleNotFoundError: No module named 'no_such_module'",
        ),
        ("broken-b", "def f(:", "SyntaxError: invalid syntax"),
        ("broken-c", "Other = 1", "AttributeError: module 'broken_c' has no attribute 'Mine'"),
        ("broken-d", "Mine = 1", "TypeError: 1 is no subclass of Ranker"),
        ("broken-e", "raise RuntimeError('first\\nsecond')", "RuntimeError: first"),
        ("broken-f", RANKER.format(name="other", parameter=""), "TypeError: its class calls itself 'other'"),
        (
            "broken-g",
            RANKER.format(name="mine", parameter="label: str = 'x'"),
            "'label' has the name of a key",
        ),
        ("broken-h", RANKER.format(name="mine", parameter="size: Missing = 1"), "NameError: name 'Missing'"),
        ("broken-i", RANKER.format(name="mine", parameter="").replace("_scores", "scores"), "Mine lacks _scores"),
    ],
)
def test_a_package_that_cannot_be_used_is_named_in_one_line_and_breaks_nothing(
    offer: Offer, caplog: pytest.LogCaptureFixture, name: str, code: str, reason: str
) -> None:
    offer(name, "fsvm.rankings", f"mine = {name.replace('-', '_')}:Mine", code)
    assert ranking_methods.__wrapped__().keys() == ranking_methods().keys()
    line = told(caplog)
    assert line.startswith(f"fsvm: {name} 1.0: the ranking method 'mine' cannot be used: ")
    assert reason in line


def test_a_method_from_outside_stands_among_the_others(offer: Offer) -> None:
    offer("sound", "fsvm.rankings", "mine = sound:Mine", RANKER.format(name="mine", parameter="size: int = 3"))
    methods = ranking_methods.__wrapped__()
    assert list(methods) == sorted([*ranking_methods(), "mine"])
    assert list(methods["mine"].parameters_model().model_fields) == ["size"]


def test_a_class_that_the_environment_lists_stands_among_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "listed_alone.py").write_text(RANKER.format(name="mine", parameter=""))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv(plugins.ENTRY_POINTS_VARIABLE, "mine=listed_alone:Mine other=listed_alone:None")
    assert ranking_methods.__wrapped__().keys() - ranking_methods().keys() == {"mine"}
    assert "listed_alone:None: the ranking method 'other' cannot be used" in told(caplog)


def test_a_name_that_is_taken_is_refused_with_both_owners(offer: Offer) -> None:
    offer("taker", "fsvm.rankings", "fisher = taker:Mine", RANKER.format(name="fisher", parameter=""))
    with pytest.raises(UsageError, match=r"^fsvm and taker 1\.0 both have a ranking method called 'fisher'; uninstall"):
        ranking_methods.__wrapped__()


def test_two_packages_with_one_name_are_refused_with_both_owners(offer: Offer) -> None:
    for name in ("twin-a", "twin-b"):
        offer(name, "fsvm.rankings", f"mine = {name.replace('-', '_')}:Mine", RANKER.format(name="mine", parameter=""))
    with pytest.raises(UsageError, match=r"^twin-a 1\.0 and twin-b 1\.0 both have a ranking method called 'mine'"):
        ranking_methods.__wrapped__()


def test_an_extractor_from_outside_is_found(offer: Offer) -> None:
    code = "from fsvm_cli.extraction.pca import PrincipalComponents as PCA\nclass Mine(PCA):\n    method = 'mine'\n"
    offer("extracting", "fsvm.extractors", "mine = extracting:Mine", code)
    assert extraction_methods.__wrapped__().keys() - extraction_methods().keys() == {"mine"}


def test_cards_are_found_in_a_folder_or_one_by_one(
    offer: Offer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    cards, empty = tmp_path / "cards", tmp_path / "empty"
    cards.mkdir()
    empty.mkdir()
    for name in ("one", "two"):
        (cards / f"{name}.yaml").touch()
    alone = tmp_path / "three.yaml"
    alone.touch()
    offer("folder", "fsvm.datasets", "mine = folder:CARDS", f"CARDS = {str(cards)!r}")
    offer("single", "fsvm.datasets", "mine = single:CARD", f"CARD = {str(alone)!r}")
    offer("nothing", "fsvm.datasets", "mine = nothing:CARDS", f"CARDS = {str(empty)!r}")
    found = data_cards.__wrapped__()
    assert found.keys() - data_cards().keys() == {"one", "two", "three"}
    assert found["three"] == alone
    assert "nothing 1.0: the data set 'mine' cannot be used: FileNotFoundError" in told(caplog)
