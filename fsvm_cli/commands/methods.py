"""`fsvm methods`: the methods and their parameters, for people and as a table."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Any, Literal

import click
import pandas as pd

from fsvm_cli.commands import completion
from fsvm_cli.commands.options import check_spreadsheet, with_spreadsheet, write_in_style
from fsvm_cli.extraction.registry import extraction_methods
from fsvm_cli.ranking.registry import ranking_methods
from fsvm_cli.references import cited_in

if TYPE_CHECKING:
    from fsvm_cli.ranking.parameters import NamedMethod

METHOD_COLUMNS = ["name", "kind", "parameter", "range", "default", "summary", "source"]


def methods() -> pd.DataFrame:
    """List the ranking methods and the feature extractors, with the parameters that a person sets.

    Returns
    -------
    DataFrame
        A row for each parameter, or for a method that has none, with columns ``name`` and ``kind`` (ranking or
        extractor) of the method, ``parameter``, ``range`` (what it may be), ``default``, and ``summary`` and ``source``
        of the method.

    See Also
    --------
    rank : Ranks the features of a table by one of them.

    Examples
    --------
    >>> from fsvm_cli import methods
    >>> table = methods()
    >>> table.loc[table["name"] == "gradient-angle", ["kind", "parameter", "range", "default"]].values.tolist()
    [['ranking', 'epsilon', 'float, at least 0', 0.1]]
    """
    kinds: list[tuple[str, Any]] = [("ranking", ranking_methods()), ("extractor", extraction_methods())]
    rows = [
        {"name": name, "kind": kind, **parameter, **_described(method)}
        for kind, found in kinds
        for name, method in found.items()
        for parameter in _parameters(method)
    ]
    return pd.DataFrame(rows, columns=METHOD_COLUMNS)


def methods_for_programs() -> list[dict[str, Any]]:
    """List the methods as JSON has them: each with its parameters, and its references written out."""
    table = methods().astype(object).where(lambda frame: frame.notna(), None)
    estimators: dict[str, Any] = {**ranking_methods(), **extraction_methods()}
    described = []
    for name, rows in table.groupby("name", sort=False):
        first = rows.iloc[0]
        cited = cited_in(inspect.getdoc(estimators[str(name)]) or "")
        described.append(
            {column: first[column] for column in ("name", "kind", "summary", "source")}
            | {
                "parameters": rows.loc[rows["parameter"].notna(), ["parameter", "range", "default"]].to_dict("records"),
                "references": [{"key": each.key, "text": each.in_words(), "doi": each.doi} for each in cited],
            }
        )
    return described


def _parameters(method: type[NamedMethod]) -> list[dict[str, Any]]:
    schema = method.parameters_model().model_json_schema()
    fields = schema["properties"]
    return [
        {"parameter": name, "range": _range(field, schema), "default": field.get("default")}
        for name, field in fields.items()
    ] or [{"parameter": None, "range": None, "default": None}]


def _range(field: dict[str, Any], schema: dict[str, Any]) -> str:
    """Describe the values that a JSON Schema admits."""
    if reference := field.get("$ref"):
        return _range(schema["$defs"][reference.rpartition("/")[2]], schema)
    if several := field.get("anyOf"):
        return " or ".join(_range(each, schema) for each in several)
    if words := field.get("enum"):
        return ", ".join(map(str, words))
    if "const" in field:
        return str(field["const"])
    names = {"integer": "int", "number": "float", "boolean": "bool", "string": "str", "null": "None"}
    limits = {
        "minimum": "at least",
        "exclusiveMinimum": "more than",
        "maximum": "at most",
        "exclusiveMaximum": "less than",
    }
    words = [names.get(field.get("type", ""), str(field.get("type", "any")))]
    return ", ".join([*words, *(f"{word} {field[key]:g}" for key, word in limits.items() if key in field)])


def _described(method: type[NamedMethod]) -> dict[str, str]:
    """Return the first sentence of a method's description, and its source."""
    text = inspect.getdoc(method) or ""
    source = re.search(r"^Source: (.+?)(?:\n\n|\Z)", text, re.DOTALL | re.MULTILINE)
    return {"summary": text.split("\n")[0], "source": " ".join(source[1].split()) if source else ""}


REFERENCES_SECTION = re.compile(r"^References\n-+\n(?:.+\n?)*\n?", re.MULTILINE)
"""The section of a docstring, in which some references are given by their keys only."""


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
@with_spreadsheet
def command(name: str | None, style: Literal["text", "csv", "json"], for_spreadsheet: bool) -> None:
    """Show the ranking methods and the feature extractors, their parameters and sources.

    With NAME, all of what is known of one method.
    """
    import difflib
    import inspect

    from fsvm_cli.errors import UsageError
    from fsvm_cli.extraction.registry import extraction_methods
    from fsvm_cli.ranking.registry import ranking_methods
    from fsvm_cli.references import cited_in

    check_spreadsheet(style, for_spreadsheet=for_spreadsheet)
    methods = {**ranking_methods(), **extraction_methods()}
    if name is not None and name not in methods:
        near = difflib.get_close_matches(name, methods, n=1)
        suggestion = f"; did you mean '{near[0]}'?" if near else ""
        raise UsageError(f"no method is called '{name}'; there are {', '.join(methods)}{suggestion}")
    if style != "text":
        _print_for_machines(name, style, for_spreadsheet=for_spreadsheet)
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
        text = f"{REFERENCES_SECTION.sub('', text).rstrip()}\n\nReferences\n----------\n{in_full}"
    click.echo(f"{name}\n{'=' * len(name)}\n\n{text}")


def _print_for_machines(name: str | None, style: Literal["csv", "json"], *, for_spreadsheet: bool) -> None:
    from fsvm_cli.console import json_text, write_for_machines
    from fsvm_cli.report.numbers import as_csv

    if style == "json":
        described = methods_for_programs()
        write_for_machines(
            json_text(described if name is None else next(each for each in described if each["name"] == name))
        )
        return
    table = methods()
    write_in_style(
        as_csv(table if name is None else table[table["name"] == name]), style, for_spreadsheet=for_spreadsheet
    )
