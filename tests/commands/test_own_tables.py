"""The page that walks through five tables: its commands work, and print what it shows."""

from __future__ import annotations

import importlib
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.calling import CHECKOUT, fsvm_here

EXAMPLES = CHECKOUT / "examples" / "own-tables"


@pytest.fixture
def walk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Give the script that writes the page, in a folder with the tables."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    monkeypatch.chdir(tmp_path)
    script = importlib.import_module("walk_through")
    script.write_tables(tmp_path)
    return script


@pytest.mark.slow
@pytest.mark.usefixtures("plain_figures")
def test_the_commands_of_the_page_print_what_it_shows(walk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(walk.WIDTH))
    codes: dict[str, int] = {}
    page = walk.PAGE.read_text(encoding="utf-8")

    def run(command: str) -> str:
        words = shlex.split(command)[1:]
        if words[0] == "run":  # with two splits: what depends on their number is left as the page has it
            config = Path(words[1])
            text = re.sub(r"splits: \d+  # random", "splits: 2  # random", config.read_text())
            config.write_text(text.replace("permutations: 39", "permutations: 0"))
            words += ["--jobs", "1"]
        answer = fsvm_here(*words)
        codes[command] = answer.code
        if words[0] == "run":
            assert walk.ENDS[0] in answer.out, answer.err
        return answer.err + answer.out if words[0] == "init" else _printed(page, command)

    assert walk.with_outputs(page, run) == page
    refused = [command for command, code in codes.items() if code]
    assert refused == ["fsvm init clinic.csv --target Befund"]
    assert len(list(Path().glob("*.joblib"))) == 4
    pages = {path.parent.name: path.read_text(encoding="utf-8") for path in Path("results").glob("*/index.html")}
    assert len(pages) == 6
    for name, text in pages.items():
        assert f"fsvm run {name}.yaml" in text
        assert "Recommended: " in text
        assert not re.search(r"\.0 features", text)


def _printed(page: str, command: str) -> str:
    """Give what the page shows below a command."""
    below = page[page.index(f"$ {command}\n") + len(command) + 3 :]
    return below[: min(below.index("\n$ ") if "\n$ " in below else len(below), below.index("```"))]


def test_lines_are_wrapped_and_a_run_is_shown_by_its_end(walk: Any) -> None:
    page = "# A title\n\n```console\n$ fsvm init a.csv\nold\n$ fsvm run a.yaml\n```\n\ntext\n"
    printed = {"fsvm init a.csv": f"{'word ' * 40}\n", "fsvm run a.yaml": f"a table\n{walk.ENDS[0]}3\n"}
    lines = walk.with_outputs(page, printed.__getitem__).splitlines()
    assert max(map(len, lines)) <= walk.WIDTH
    assert "old" not in lines
    assert "a table" not in lines
    assert lines[-5:] == ["$ fsvm run a.yaml", f"{walk.ENDS[0]}3", "```", "", "text"]
