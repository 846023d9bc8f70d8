"""`fsvm schema`."""

from __future__ import annotations

import click


@click.command("schema")
def command() -> None:
    """Print the JSON Schema of a config, for editors.

    The configs that come with fsvm name it in their first line, which editors with a YAML language server read.
    """
    from fsvm_cli.console import json_text, write_for_machines
    from fsvm_cli.spec.load import json_schema

    write_for_machines(json_text(json_schema()))
