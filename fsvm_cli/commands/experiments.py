"""`fsvm experiments`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fsvm_cli.commands import completion

if TYPE_CHECKING:
    from collections.abc import Iterator

SCHEMA_LINE = "# yaml-language-server:"
"""Begins the line that names the schema beside a built-in config, which a copy does not have."""

SETTINGS = ("dataset", "scaling", "classifier", "protocol", "subsets", "metrics")
"""Keys of a config that are shown with their values."""


@click.group("experiments")
def command() -> None:
    """List, show and copy the built-in experiments."""


@command.command("list")
@click.option("--format", "style", type=click.Choice(["table", "json"]), default="table", show_default=True)
def list_all(style: str) -> None:
    """List all built-in experiments, with the document and the figure or table that each reproduces."""
    from rich.table import Table

    from fsvm_cli.console import json_text, open_console, write_for_machines

    rows = [{"name": name, **_summary(content)} for name, content in _contents()]
    if style == "json":
        write_for_machines(json_text(rows))
        return
    table = Table("name", "document", "what it is", box=None, pad_edge=False)
    for row in rows:
        table.add_row(
            row["name"], row["document"], f"{row['title']} ({row['where']})" if row["where"] else row["title"]
        )
    console = open_console()
    console.print(table)
    console.print("fsvm run NAME runs one; fsvm experiments show NAME tells its settings.", soft_wrap=True)


def _contents() -> Iterator[tuple[str, dict[str, Any]]]:
    from fsvm_cli.resources import resource_names
    from fsvm_cli.spec.config import read_config

    for name in resource_names("configs"):
        yield name, read_config(name)[1].content


def _summary(content: dict[str, Any]) -> dict[str, str]:
    paper = content.get("paper") or {}
    return {
        "document": str(paper.get("key", "")),
        "where": str(paper.get("where", "")),
        "title": str(content.get("title", "")),
    }


@command.command("show")
@click.argument("name", shell_complete=completion.configs)
def show(name: str) -> None:
    """Show what an experiment does: its source, settings, compared methods, claims and deviations."""
    from fsvm_cli.references import in_words
    from fsvm_cli.spec.config import CLAIMS_KEY, read_config

    path, document = read_config(name)
    content = document.content
    summary = _summary(content)
    click.echo(f"{path.stem}: {summary['title']}")
    if summary["document"]:
        click.echo(f"Source: {in_words(summary['document']).removesuffix('.')}; {summary['where']}")
    for key in SETTINGS:
        if key in content:
            click.echo(f"{key}: {_in_one_line(content[key])}")
    for key in ("rankings", "extractors"):
        methods = [each for each in content.get(key) or () if isinstance(each, dict)]
        if methods:
            click.echo(f"{key}: {', '.join(str(each.get('label') or each.get('method')) for each in methods)}")
    if "experiments" in content:
        click.echo(f"experiments: {', '.join(map(str, content['experiments']))}")
    if claims := content.get(CLAIMS_KEY):
        click.echo(f"claims: {len(claims)}")
    for deviation in content.get("deviations") or ():
        click.echo(f"Deviation: {deviation}")
    click.echo(f"File: {path}\nRun it: fsvm run {name}\nChange it: fsvm experiments copy {name} FILE")


def _in_one_line(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_in_one_line(each)}" for key, each in value.items()) + "}"
    if isinstance(value, tuple):
        return "[" + ", ".join(map(_in_one_line, value)) + "]"
    return str(value)


@command.command("copy")
@click.argument("name", shell_complete=completion.configs)
@click.argument("file", required=False, type=click.Path(path_type=Path))
def copy(name: str, file: Path | None) -> None:
    """Copy the config of an experiment to FILE, by default NAME.yaml in this folder, to run and change it."""
    from fsvm_cli.errors import DataError, UsageError
    from fsvm_cli.spec.config import CLAIMS_KEY, find_config

    path = find_config(name)
    target = Path(path.name) if file is None else file
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    text = "".join(line for line in lines if not line.startswith(SCHEMA_LINE))
    try:
        with target.open("x", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
    except FileExistsError as error:
        raise UsageError(f"{target}: exists already; name another file") from error
    except OSError as error:
        raise DataError(f"{target}: cannot be written ({error.strerror}); name a file in another folder") from error
    click.echo(f"{target}: a copy of {path.stem}; fsvm run {target} runs it")
    if CLAIMS_KEY in text:
        click.echo(f"Remove '{CLAIMS_KEY}' if you change what its claims are about.")
