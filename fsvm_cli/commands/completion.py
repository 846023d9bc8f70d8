"""`fsvm completion`, and what a shell completes in the arguments of other commands."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem, get_completion_class

from fsvm_cli.console import COMPLETION_VARIABLE

if TYPE_CHECKING:
    from collections.abc import Iterable

    Proposals = list[CompletionItem]

START_UP_FILES = {"bash": "~/.bashrc", "zsh": "~/.zshrc", "fish": "~/.config/fish/config.fish"}


@click.command("completion")
@click.argument("shell", type=click.Choice(list(START_UP_FILES)))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print what makes a shell complete commands, configs, methods and data sets.

    Add to the shell's start-up file: for bash and zsh eval "$(fsvm completion SHELL)", for fish
    fsvm completion fish | source.
    """
    of_shell = get_completion_class(shell)
    assert of_shell is not None
    completion = of_shell(ctx.find_root().command, {}, "fsvm", COMPLETION_VARIABLE)
    # As `source` does, without its check of the installed version of bash.
    click.echo(completion.source_template % completion.source_vars())


def configs(_: click.Context, __: click.Parameter, incomplete: str) -> Proposals:
    """Propose the configs of this folder and those that come with fsvm, else files."""
    from fsvm_cli.resources import resource_names

    names = [*sorted(path.name for path in Path().glob("*.y*ml")), *resource_names("configs")]
    # The script for bash discards items that precede one of type file.
    return [CompletionItem(incomplete, type="file"), *_beginning_with(incomplete, names)]


def data_sets(_: click.Context, __: click.Parameter, incomplete: str) -> Proposals:
    """Propose the data sets of fsvm and of other packages."""
    from fsvm_cli.data.cards import data_cards

    return _beginning_with(incomplete, data_cards())


def methods(_: click.Context, __: click.Parameter, incomplete: str) -> Proposals:
    """Propose ranking methods and feature extractors."""
    from fsvm_cli.extraction.registry import extraction_methods

    return [*rankings(_, __, incomplete), *_beginning_with(incomplete, extraction_methods())]


def rankings(_: click.Context, __: click.Parameter, incomplete: str) -> Proposals:
    """Propose ranking methods."""
    from fsvm_cli.ranking.registry import ranking_methods

    return _beginning_with(incomplete, ranking_methods())


def _beginning_with(incomplete: str, names: Iterable[str]) -> Proposals:
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]
