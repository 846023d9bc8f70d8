"""`fsvm rank`."""

from __future__ import annotations

from typing import Any

import click

from fsvm_cli.commands.own_file import options_of_text


@click.command("rank")
@click.argument("file", metavar="FILE")
@click.option("--target", metavar="COLUMN", help="Column that holds the class.")
@click.option("--method", required=True, metavar="NAME", help="Ranking method; see 'fsvm methods'.")
@click.option("--scaling", default="standard", show_default=True, metavar="NAME", help="Scaling of the features.")
@click.option(
    "--set",
    "assignments",
    multiple=True,
    metavar="KEY=VALUE",
    help="A parameter of the method, or of its machine (kernel, C, ...).",
)
@click.option(
    "--missing",
    type=click.Choice(["refuse", "drop", "mean"]),
    default="refuse",
    show_default=True,
    help="What to do about missing values: drop the rows, or put the column's mean.",
)
@click.option(
    "--categorical",
    type=click.Choice(["refuse", "one-hot"]),
    default="refuse",
    show_default=True,
    help="What to do about columns of words.",
)
@click.option("--dense", is_flag=True, help="Read a LIBSVM file into a full matrix, which most methods need.")
@click.option("--drop", multiple=True, metavar="COLUMN", help="Columns that are no features: a,b or --drop a --drop b.")
@options_of_text
@click.option(
    "--format",
    "style",
    type=click.Choice(["table", "csv", "json"]),
    default="table",
    show_default=True,
    help="How to print the ranking.",
)
def command(  # noqa: PLR0917 - click passes every option
    file: str,
    target: str | None,
    method: str,
    scaling: str,
    assignments: tuple[str, ...],
    missing: str,
    categorical: str,
    dense: bool,
    drop: tuple[str, ...],
    style: str,
    **of_text: Any,
) -> None:
    """Rank the features of your own data.

    FILE is a CSV, Excel, Parquet, ARFF or LIBSVM file, or the name of a data set that fsvm knows.
    """
    from fsvm_cli.experiment.rank import rank_features, source_of
    from fsvm_cli.experiment.ranking_request import ranking_request
    from fsvm_cli.report.ranking_table import print_ranking

    request = ranking_request(method, scaling, assignments)
    options = {"target": target, "missing": missing, "categorical": categorical, "dense": dense, "drop": drop}
    options |= of_text
    source = source_of(file, options, _announce)
    for caveat in source.caveats:
        _announce(caveat)
    ranking = rank_features(source, request)
    for caveat in ranking.caveats[len(source.caveats) :]:
        _announce(caveat)
    print_ranking(ranking, style)


def _announce(message: str) -> None:
    click.echo(message, err=True)
