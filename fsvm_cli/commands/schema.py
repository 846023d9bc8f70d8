"""`fsvm schema`."""

from __future__ import annotations

import click


@click.command("schema")
def command() -> None:
    """Print the JSON Schema of a config, for editors.

    The configs that come with fsvm name it in their first line, which editors with a YAML language server read.
    """
    import json

    from fsvm_cli.experiment.load import json_schema

    click.echo(json.dumps(json_schema(), indent=2, ensure_ascii=False))
