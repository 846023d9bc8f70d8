"""`fsvm init`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import click

from fsvm_cli.commands.options import options_of_table, options_of_text


@click.command("init")
@click.argument("file", metavar="FILE")
@options_of_table
@options_of_text
@click.option(
    "--sample-weight", metavar="COLUMN", help="Column of numbers, no feature: how many rows each one stands for."
)
@click.option("--order-by", metavar="COLUMN", help="Dates or numbers; later rows form the test part. Not a feature.")
@click.option("--out", metavar="CONFIG", help="The config to write; by default FILE with the ending .yaml, here.")
def command(file: str, out: str | None, **of_file: Any) -> None:
    """Write a commented config for your own data.

    FILE is a CSV, Excel, Parquet, ARFF or LIBSVM file. The config lists the methods that fit its size, with honest
    defaults; 'fsvm run' compares them, and ends in a recommendation of features to keep.
    """
    from fsvm_cli.console import brief
    from fsvm_cli.errors import UsageError
    from fsvm_cli.files import is_file, write_atomically
    from fsvm_cli.own_data.init import columns_left_out, first_config
    from fsvm_cli.own_data.rank import source_of

    if not is_file(Path(file)) and not Path(file).suffix:
        raise UsageError(f"{file}: there is no such file; built-in data sets have configs ('fsvm run wine')")
    config = Path(out or f"{Path(file).stem}.yaml")
    if config.suffix not in {".yaml", ".yml"}:
        raise UsageError(f"--out {config}: a config ends in .yaml")
    if is_file(config):
        raise UsageError(f"{config}: exists already; name another with --out, or remove it")
    left_out = columns_left_out(file, of_file)
    of_file["drop"] = (*of_file["drop"], *left_out)
    source = source_of(file, of_file, _announce)
    for column, reason in left_out.items():
        _announce(f"left out: '{brief(column)}', since {reason}")
    for caveat in source.caveats:
        _announce(caveat)
    options = {key: list(value) if isinstance(value, tuple) else value for key, value in of_file.items()}
    dataset = {"file": _seen_from(config, Path(file))} | {
        key: value for key, value in options.items() if _is_set(value)
    }
    title = f"Features of {source.name}"
    text = first_config(source, dataset, title, f"fsvm init {shlex.quote(file)}", left_out)
    write_atomically(config, text.encode())
    _announce(f"{config} is written; look at it, then: fsvm run {shlex.quote(str(config))}")


def _is_set(value: object) -> bool:
    return value not in (None, "refuse", [], False)


def _seen_from(config: Path, file: Path) -> str:
    """Return the path of a file relative to a config, or the absolute path if there is no relative one."""
    import os

    try:
        return Path(os.path.relpath(file.resolve(), config.parent.resolve())).as_posix()
    except ValueError:  # on another drive
        return str(file.resolve())


def _announce(message: str) -> None:
    click.echo(message, err=True)
