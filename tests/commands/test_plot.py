"""`fsvm plot`: only what has changed, on all cores, and the same."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from fsvm_cli.report.folder import FIGURES_NAME
from fsvm_cli.runner.worker_processes import call_for_each
from tests.helpers.calling import fsvm_here

pytestmark = pytest.mark.usefixtures("plain_figures")

RESULTS = Path(__file__).parents[2] / "results"
NAMES = ("hermes-advantage", "wine")
HERE = ("--jobs", "1")
"""In this process alone, where figures are plain."""


@pytest.fixture
def results(tmp_path: Path) -> Path:
    for name in NAMES:
        shutil.copytree(RESULTS / name, tmp_path / name, ignore=shutil.ignore_patterns("*.png", "trials.*", "*.json.*"))
        (tmp_path / name / FIGURES_NAME).unlink(missing_ok=True)
    return tmp_path


def test_only_what_changed_is_drawn_again(results: Path) -> None:
    first = fsvm_here("plot", results, "--format", "svg", *HERE)
    assert first.code == 0, first.err
    drawn = {Path(line) for line in first.out.splitlines()}
    assert results / "wine" / "scores.svg" in drawn
    pictures = {path: path.read_bytes() for path in drawn}
    note = (results / "wine" / FIGURES_NAME).read_bytes()
    again = fsvm_here("plot", results, "--format", "svg", *HERE)
    assert (again.code, again.out) == (0, "")
    assert f"{len(drawn)} figures are up to date" in again.err
    for change in ("scores.csv", "scores.svg", FIGURES_NAME):
        path = results / "wine" / change
        path.write_bytes(path.read_bytes().replace(b"0", b"9", 1) if change != FIGURES_NAME else b"[]")
        answer = fsvm_here("plot", results, "--format", "svg", *HERE)
        assert {Path(line).parent.name for line in answer.out.splitlines()} == {"wine"}, change
        if change == "scores.csv":
            shutil.copy(RESULTS / "wine" / change, path)
            assert fsvm_here("plot", results / "wine", "--format", "svg", *HERE).out
        assert {path: path.read_bytes() for path in drawn} == pictures
        assert (results / "wine" / FIGURES_NAME).read_bytes() == note


def test_another_order_or_format_is_drawn(results: Path) -> None:
    assert fsvm_here("plot", results / "wine", "--format", "svg", *HERE).code == 0
    before = (results / "wine" / "scores.svg").read_bytes()
    assert fsvm_here("plot", results / "wine", "--format", "svg", "--scores", "file", *HERE).out
    assert (results / "wine" / "scores.svg").read_bytes() != before
    assert str(results / "wine" / "scores.pdf") in fsvm_here("plot", results / "wine", "--format", "pdf").out
    assert json.loads((results / "wine" / FIGURES_NAME).read_text())["formats"] == ["pdf"]


def test_quiet_says_nothing_and_verbose_the_time(results: Path) -> None:
    quiet = fsvm_here("plot", results / "wine", "--format", "svg", "--quiet", *HERE)
    assert (quiet.code, quiet.out, quiet.err) == (0, "", "")
    verbose = fsvm_here("plot", results / "wine", "--format", "svg", "--verbose", "--fresh", *HERE)
    assert "figures: " in verbose.err
    both = fsvm_here("plot", results, "--quiet", "--verbose")
    assert both.code == 2
    assert "leave out one" in both.err


def refuse(number: int) -> int:
    """Refuse one number of several."""
    if number == 3:
        raise ValueError("three")
    return 2 * number


@pytest.mark.slow
def test_calls_on_several_cores_come_in_order_and_fail_as_here() -> None:
    assert list(call_for_each(abs, [-3, 1, -2], 2)) == [3, 1, 2]
    for n_jobs in (1, 2):
        with pytest.raises(ValueError, match="three"):
            list(call_for_each(refuse, [1, 3], n_jobs))
