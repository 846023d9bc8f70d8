"""`fsvm check`."""

from __future__ import annotations

import click


@click.command("check")
@click.argument("configs", nargs=-1, required=True, metavar="CONFIG...")
@click.option("--set", "assignments", multiple=True, metavar="KEY=VALUE", help="Override a key by its dotted path.")
def command(configs: tuple[str, ...], assignments: tuple[str, ...]) -> None:
    """Check configs without running them.

    Every mistake of every config is told, as file:line:column.
    """
    from fsvm_cli.errors import UsageError
    from fsvm_cli.experiment.config import load_config

    mistakes = []
    for config in configs:
        try:
            loaded = load_config(config, assignments)
        except UsageError as error:
            mistakes.append(str(error))
        else:
            click.echo(f"{loaded.document.name}: correct")
    if mistakes:
        raise UsageError("\n".join(mistakes))
