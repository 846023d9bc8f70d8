"""`fsvm datasets`."""

from __future__ import annotations

from pathlib import Path

import click

from fsvm_cli.commands import completion


@click.group("datasets")
def command() -> None:
    """Show, fetch and verify the built-in data sets, and those of other packages."""


@command.command("list")
@click.option("--format", "style", type=click.Choice(["table", "json"]), default="table", show_default=True)
def list_all(style: str) -> None:
    """List all data sets, their versions and sizes, and whether they are on this machine."""
    import dataclasses

    from rich.table import Table

    from fsvm_cli.console import json_text, open_console, write_for_machines
    from fsvm_cli.data.cards import data_cards
    from fsvm_cli.data.inventory import summarize

    if style == "json":
        versions = [version for name in data_cards() for version in summarize(name)]
        write_for_machines(json_text([dataclasses.asdict(version) for version in versions]))
        return
    table = Table("name", "version", box=None, pad_edge=False)
    for column in ("rows", "features", "classes"):
        table.add_column(column, justify="right")
    table.add_column("at hand")
    for name in data_cards():
        for index, version in enumerate(summarize(name)):
            sizes = (f"{size:,}" for size in (version.n_samples, version.n_features, version.n_classes))
            table.add_row("" if index else name, version.version, *sizes, version.availability)
    open_console().print(table)


@command.command("show")
@click.argument("name", shell_complete=completion.data_sets)
def show(name: str) -> None:
    """Show the source, sizes, classes, licence and known problems of a data set."""
    from fsvm_cli.data.cards import read_card
    from fsvm_cli.data.inventory import stored_files, summarize
    from fsvm_cli.data.messages import shown

    card = read_card(name)
    click.echo(f"{name}: {card.title}\n{card.about}\n")
    for version in summarize(name):
        click.echo(f"version {version.version}: {version.about}")
        sizes = f"{version.n_samples:,} rows, {version.n_features:,} features, {version.n_classes} classes"
        counts = ", ".join(f"{count:,} {class_name}" for class_name, count in version.class_counts.items())
        click.echo(f"  {sizes}{f' ({counts})' if counts else ''}; {version.availability}")
        if version.bayes_error is not None:
            click.echo(f"  Bayes error: {version.bayes_error:.3%}")
        if version.feature_names:
            click.echo(f"  Features: {shown(version.feature_names)}")
        for caveat in version.caveats:
            click.echo(f"  Caveat: {caveat}")
    for oddity in card.oddities:
        click.echo(f"Oddity: {oddity}")
    click.echo(f"Source: {card.citation}\nLicence: {card.licence}")
    for stored in stored_files([name]):
        click.echo(f"File: {stored.path} ({stored.file.bytes:,} bytes, {stored.state})")


@command.command("fetch")
@click.argument("names", nargs=-1, required=True, shell_complete=completion.data_sets)
def fetch(names: tuple[str, ...]) -> None:
    """Fetch data sets into the cache and verify them."""
    from fsvm_cli.data.inventory import summarize
    from fsvm_cli.data.opening import open_source
    from fsvm_cli.data.source_spec import NamedSpec
    from fsvm_cli.errors import DataError

    failures: list[str] = []
    in_vain: set[tuple[str, ...]] = set()
    for version in [version for name in names for version in summarize(name)]:
        spec = NamedSpec(name=version.name, version=version.version)
        # Another version with the same files would fail at the same servers.
        if version.files in in_vain:
            failures.append(f"nor can '{version.name} ({version.version})', which is read from the same files")
            continue
        try:
            source = open_source(spec, base_folder=Path(), announce=lambda line: click.echo(line, err=True))
        except DataError as error:
            failures.append(str(error))
            in_vain.add(version.files)
        else:
            click.echo(f"{source.name}: {source.n_samples:,} rows, {source.n_features:,} features, verified")
    if failures:
        raise DataError("\n".join(failures))


@command.command("verify")
@click.argument("names", nargs=-1, shell_complete=completion.data_sets)
def verify(names: tuple[str, ...]) -> None:
    """Check the files on this machine against the cards: those of NAMES, or all.

    They lie in the cache, or in the folder that FSVM_MIRROR names.
    """
    from collections import Counter

    from fsvm_cli.data.inventory import stored_files
    from fsvm_cli.errors import DataError

    files = stored_files(names)
    altered = [str(stored.path) for stored in files if stored.state == "altered"]
    counts = Counter(stored.state for stored in files)
    n_in_mirror = sum(stored.in_mirror and stored.state == "intact" for stored in files)
    words = {"intact": f"intact ({n_in_mirror} of them in the mirror)" if n_in_mirror else "intact"}
    click.echo(", ".join(f"{counts[state]} {words.get(state, state)}" for state in ("intact", "absent", "altered")))
    if altered:
        raise DataError("\n".join(["altered files; remove them, or fetch them again:", *altered]))
