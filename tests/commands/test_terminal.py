"""What leaves for a terminal: nothing that steers it, and nothing that its encoding lacks."""

from __future__ import annotations

import io
import json
import random
import sys
from typing import TYPE_CHECKING

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fsvm_cli.commands.progress import progress_display
from fsvm_cli.console import json_text, open_console, sanitised, visible
from tests.helpers.calling import write_config
from tests.helpers.mutations import HOSTILE, mutated_table
from tests.helpers.plain_words import controls

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.helpers.calling import Answer

    Call = Callable[..., Answer]

RED = "\x1b[31m"


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@given(st.text())
def test_text_is_shown_without_control_characters(text: str) -> None:
    assert not controls(visible(text))
    assert visible(text, keep="\n").count("\n") == text.count("\n")
    assert not text.isprintable() or visible(text) == text


@given(st.text(st.characters(), max_size=20))
def test_json_is_visible_and_loses_nothing(text: str) -> None:
    written = json_text({"name": text})
    assert not controls(written)
    assert json.loads(written) == {"name": text}


def test_whoever_writes_goes_through_the_gate(monkeypatch: pytest.MonkeyPatch) -> None:
    out, err = Terminal(), Terminal()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    with sanitised():
        sys.stdout.write(f"{RED}\n")
        click.echo(f"{RED}\u202e")
        click.UsageError(RED).show()
        open_console().print(f"{RED}x", style="bold")
        with progress_display() as display:
            display.of(f"{RED}name").start(2, 0)
            click.echo(f"{RED}within", err=True)
    assert sys.stdout is out
    assert RED not in out.getvalue() + err.getvalue()
    assert out.getvalue().count("\\x1b[31m") == 3
    assert "\\x1b[31mwithin" in err.getvalue()
    assert "\x1b[1m" in out.getvalue(), "a console's own sequences pass"


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "latin-1"])
def test_a_console_that_lacks_signs_gets_plainer_ones(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding=encoding))
    with sanitised():
        click.echo("1 − 2 π")
        open_console().print("3 … 4")
    assert raw.getvalue().decode(encoding).splitlines()[0] == "1 - 2 \\u03c0"
    assert b"3 " in raw.getvalue()


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_of_any_kind_names_no_config_file_or_folder(call: Call, tmp_path: Path, name: str) -> None:
    if "\x00" in name or "/" in name:
        return
    config = write_config(tmp_path, dataset=json.dumps({"file": f"{name}.csv", "target": "y"}))
    for arguments in (("run", name), ("check", f"{name}.yaml"), ("check", config), ("datasets", "show", name)):
        answer = call(*arguments)
        assert answer.code in {2, 3}, answer
        assert not controls(answer.out + answer.err)
        assert "x" * 1000 not in answer.err
    for arguments in (("rank", name, "--method", "fisher"), ("compare", f"./{name}"), ("plot", f"./{name}")):
        answer = call(*arguments)
        assert answer.code in {2, 3}, answer
        assert not controls(answer.out + answer.err)


def test_mutated_tables_reach_no_terminal_as_they_are(call: Call, tmp_path: Path) -> None:
    rows = [["a", "b", "y"], *([str(n % 7), str(n * 5 % 11), "uv"[n % 2]] for n in range(12))]
    rng = random.Random(8)
    for _ in range(60):
        (tmp_path / "t.csv").write_text(mutated_table(rng, rows), encoding="utf-8")
        answer = call("rank", "t.csv", "--target", "y", "--method", "fisher")
        assert answer.code in {0, 2, 3}, answer
        assert not controls(answer.out + answer.err)
