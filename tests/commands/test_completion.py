"""Completion in a shell: commands, configs, methods and data sets."""

from __future__ import annotations

import pytest
from click.shell_completion import ShellComplete

from fsvm_cli.cli import cli
from fsvm_cli.commands.completion import VARIABLE
from tests.helpers.calling import fsvm_here


@pytest.mark.parametrize(
    ("words", "incomplete", "proposals"),
    [
        ([], "comp", ["compare", "completion"]),
        (["run"], "wi", ["wine", "wi"]),
        (["check", "wine"], "wdb", ["wdbc", "wdb"]),
        (["methods"], "mi", ["mifs"]),
        (["methods"], "sm", ["smife"]),
        (["rank", "x.csv", "--method"], "fi", ["fisher"]),
        (["datasets", "show"], "wa", ["waveform40"]),
        (["run", "wine"], "--verb", ["--verbose"]),
    ],
)
def test_names_are_proposed(words: list[str], incomplete: str, proposals: list[str]) -> None:
    found = ShellComplete(cli, {}, "fsvm", VARIABLE).get_completions(words, incomplete)
    assert [item.value for item in found] == proposals


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell_asks_fsvm(shell: str) -> None:
    answer = fsvm_here("completion", shell)
    assert answer.code == 0, answer.err
    assert VARIABLE in answer.out
    assert f"{shell}_complete" in answer.out
    assert fsvm_here("completion", "cmd").code == 2
