"""`fsvm methods`."""

from __future__ import annotations

import re
from typing import Literal

import click

from fsvm_cli.commands import completion

REFERENCES = re.compile(r"^References\n-+\n(?:.+\n?)*\n?", re.MULTILINE)
"""Of a docstring, where some are named by their keys alone."""


@click.command("methods")
@click.argument("name", required=False, shell_complete=completion.methods)
@click.option(
    "--format",
    "style",
    type=click.Choice(["text", "csv", "json"]),
    default="text",
    show_default=True,
    help="For programs: with csv a row for each parameter, with json an object for each method.",
)
def command(name: str | None, style: Literal["text", "csv", "json"]) -> None:
    """Show the ranking methods and the feature extractors, their parameters and sources.

    With NAME, all of what is known of one method.
    """
    import difflib
    import inspect

    from fsvm_cli.errors import UsageError
    from fsvm_cli.extraction.registry import extraction_methods
    from fsvm_cli.ranking.registry import ranking_methods
    from fsvm_cli.references import cited_in

    methods = {**ranking_methods(), **extraction_methods()}
    if name is not None and name not in methods:
        near = difflib.get_close_matches(name, methods, n=1)
        suggestion = f"; did you mean '{near[0]}'?" if near else ""
        raise UsageError(f"no method is called '{name}'; there are {', '.join(methods)}{suggestion}")
    if style != "text":
        _print_for_machines(name, style)
        return
    if name is None:
        width = max(map(len, methods))
        for method, estimator in methods.items():
            parameters = ", ".join(estimator.parameters_model().model_fields)
            summary = (inspect.getdoc(estimator) or "").split("\n")[0]
            click.echo(f"{method:{width}}  {summary}" + (f" Parameters: {parameters}." if parameters else ""))
        return
    text = inspect.getdoc(methods[name]) or ""
    if cited := cited_in(text):
        in_full = "\n".join(f"- {each.key}: {each.in_words()}" for each in cited)
        text = f"{REFERENCES.sub('', text).rstrip()}\n\nReferences\n----------\n{in_full}"
    click.echo(f"{name}\n{'=' * len(name)}\n\n{text}")


def _print_for_machines(name: str | None, style: Literal["csv", "json"]) -> None:
    from fsvm_cli.report.methods import methods, methods_for_programs
    from fsvm_cli.report.numbers import as_csv
    from fsvm_cli.terminal import json_text, write_for_machines

    if style == "json":
        described = methods_for_programs()
        write_for_machines(
            json_text(described if name is None else next(each for each in described if each["name"] == name))
        )
        return
    table = methods()
    write_for_machines(as_csv(table if name is None else table[table["name"] == name]))
