"""Completion in a shell: commands, configs, methods and data sets."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from click.shell_completion import ShellComplete

from fsvm_cli.cli import cli
from fsvm_cli.console import COMPLETION_VARIABLE
from tests.helpers.calling import CHECKOUT, fsvm_here

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("words", "incomplete", "proposals"),
    [
        ([], "comp", ["compare", "completion"]),
        (["run"], "wi", ["wi", "wine"]),
        (["check", "wine"], "wdbc-m", ["wdbc-m", "wdbc-minmax"]),
        (["methods"], "mi", ["mifs"]),
        (["methods"], "sm", ["smife"]),
        (["rank", "x.csv", "--method"], "fi", ["fisher"]),
        (["datasets", "show"], "wa", ["waveform40"]),
        (["run", "wine"], "--verb", ["--verbose"]),
    ],
)
def test_names_are_proposed(words: list[str], incomplete: str, proposals: list[str]) -> None:
    found = ShellComplete(cli, {}, "fsvm", COMPLETION_VARIABLE).get_completions(words, incomplete)
    assert [item.value for item in found] == proposals


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
def test_bash_proposes_configs_of_the_folder_and_those_that_come_with_fsvm(tmp_path: Path) -> None:
    (tmp_path / "wines.yaml").touch()
    # As the installed command does: from the name of the program follows that of the variable.
    program = "import sys; sys.argv[0] = 'fsvm'; from fsvm_cli.cli import main; main()"
    script = fsvm_here("completion", "bash").out
    asks = f"""fsvm() {{ {shlex.join([sys.executable, "-c", program])} "$@"; }}
        compopt() {{ :; }}  # which is an error but for a completion that goes on
        env() {{ local -x "${{@:1:3}}"; "$4"; }}  # which knows no functions
        {script}
        for word in wi configs/wi; do
            COMP_WORDS=(fsvm run $word) COMP_CWORD=2 COMPREPLY=()
            _fsvm_completion fsvm
            echo "${{COMPREPLY[*]}}"
        done"""
    environment = os.environ | {"PYTHONPATH": str(CHECKOUT)}
    answer = subprocess.run(
        ["bash", "-c", asks], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert answer.stderr == ""
    assert answer.stdout == "wines.yaml wine\n\n"


def test_fish_gets_a_tab_before_each_explanation(monkeypatch: pytest.MonkeyPatch) -> None:
    """The protocol of fish: 'type,value', and after a tab what is shown beside it."""
    for name, value in ((COMPLETION_VARIABLE, "fish_complete"), ("COMP_WORDS", "fsvm run --"), ("COMP_CWORD", "--")):
        monkeypatch.setenv(name, value)
    lines = fsvm_here().out.splitlines()
    assert "plain,--quiet\tPrint errors only." in lines
    assert [line for line in lines if line.count("\t") != 1 or "\\" in line] == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell_asks_fsvm(shell: str) -> None:
    answer = fsvm_here("completion", shell)
    assert answer.code == 0, answer.err
    assert COMPLETION_VARIABLE in answer.out
    assert f"{shell}_complete" in answer.out
    assert fsvm_here("completion", "cmd").code == 2
