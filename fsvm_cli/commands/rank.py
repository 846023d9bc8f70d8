"""`fsvm rank`."""

from __future__ import annotations

from pathlib import Path

import click


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
@click.option("--drop", multiple=True, metavar="COLUMN", help="Column that is no feature; may be given more than once.")
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
) -> None:
    """Rank the features of your own data.

    FILE is a CSV, Parquet, ARFF or LIBSVM file, or the name of a data set that fsvm knows.
    """
    from fsvm_cli.data.catalogue import data_cards
    from fsvm_cli.data.phrases import nearest, shown
    from fsvm_cli.data.source import open_source
    from fsvm_cli.data.spec import FileSpec, NamedSpec
    from fsvm_cli.errors import UsageError
    from fsvm_cli.evaluation.seeds import random_stream
    from fsvm_cli.experiment.rank import SEED, rank_features, ranking_request
    from fsvm_cli.files import is_file
    from fsvm_cli.report.ranking_table import print_ranking
    from fsvm_cli.terminal import brief

    request = ranking_request(method, scaling, assignments)
    exists, names = is_file(Path(file)), [*data_cards()]
    is_known = file in names and not exists
    if not (exists or is_known or Path(file).suffix):
        raise UsageError(f"{brief(file)}: there is no such file, nor a data set of this name; {nearest(file, names)}")
    spec = (
        NamedSpec(name=file)
        if is_known
        else FileSpec.model_validate(
            {
                "file": file,
                "target": target,
                "missing": missing,
                "categorical": categorical,
                "dense": dense,
                "drop": drop,
            }
        )
    )
    source = open_source(spec, base_folder=Path(), announce=_announce)
    ranking = rank_features(source.draw(random_stream(SEED, "data")), request)
    for caveat in source.caveats:
        _announce(caveat)
    if ranking.constant:
        _announce(f"constant, and so without information: {shown(ranking.constant)}")
    if not ranking.converged:
        _announce("a machine that the method trained missed its duality gap: the order may change with the solver")
    print_ranking(ranking, style)


def _announce(message: str) -> None:
    click.echo(message, err=True)
