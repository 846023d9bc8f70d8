"""`fsvm rank`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fsvm_cli.commands import completion
from fsvm_cli.commands.options import (
    compilation_progress,
    options_of_table,
    options_of_text,
    print_line,
    step,
    with_verbosity,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from fsvm_cli.data.source import DataSource
    from fsvm_cli.evaluation.false_discovery import Controls


@click.command("rank")
@click.argument("file", metavar="FILE")
@click.option(
    "--method",
    metavar="NAME",
    shell_complete=completion.rankings,
    help="Ranking method; see 'fsvm methods'. Without it, several methods side by side.",
)
@click.option("--scaling", default="standard", show_default=True, metavar="NAME", help="Scaling of the features.")
@click.option(
    "--set",
    "assignments",
    multiple=True,
    metavar="KEY=VALUE",
    help="A parameter of the method, or of its machine (kernel, C, ...).",
)
@click.option(
    "--fdr",
    type=click.Choice(["permuted", "knockoffs"]),
    help="Give each feature a q-value, the false discovery rate at which it is found: by permuted controls (is it "
    "related to the class?) or knockoffs (does it say what others do not?).",
)
@click.option(
    "--certify",
    is_flag=True,
    help="Tell which places any correct solver would give: = marks the others, c those between copies. For "
    "gradient-angle and rfe; rfe with the linear kernel does so of itself.",
)
@click.option("--always-keep", multiple=True, metavar="COLUMN", help="Column that comes first; may be given again.")
@click.option(
    "--column-groups",
    metavar="FILE",
    help="CSV file with the header column,group: the columns of a group are ranked, and kept, as one.",
)
@click.option(
    "--sample-weight", metavar="COLUMN", help="Column of numbers, no feature: how many rows each one stands for."
)
@options_of_table
@options_of_text
@click.option(
    "--format",
    "style",
    type=click.Choice(["table", "csv", "json"]),
    default="table",
    show_default=True,
    help="How to print the ranking.",
)
@click.option("--out", type=click.Path(dir_okay=False), help="Write the best columns and the class to a CSV file.")
@click.option(
    "--for-spreadsheet",
    is_flag=True,
    help="In CSV, put ' before names that begin with =, +, - or @, which a spreadsheet would take for formulas.",
)
@click.option("--keep", type=click.IntRange(min=1), metavar="N", help="How many columns --out writes.")
@with_verbosity
def command(  # noqa: PLR0917 - click passes every option
    file: str,
    method: str | None,
    scaling: str,
    assignments: tuple[str, ...],
    style: str,
    out: str | None,
    keep: int | None,
    for_spreadsheet: bool,
    fdr: Controls | None,
    certify: bool,
    always_keep: tuple[str, ...],
    column_groups: str | None,
    **of_file: Any,
) -> None:
    """Rank the features of your own data.

    FILE is a CSV, Excel, Parquet, ARFF or LIBSVM file, or the name of a built-in data set.
    """
    from fsvm_cli.errors import UsageError
    from fsvm_cli.own_data.column_groups import read_column_groups, with_column_groups
    from fsvm_cli.own_data.rank import source_of

    _check_usage(file, method, assignments, out, keep)
    if for_spreadsheet and style != "csv" and out is None:
        raise UsageError("--for-spreadsheet: is about CSV; add --format csv, or --out FILE --keep N")
    if fdr is not None and method is None:
        raise UsageError(f"--fdr {fdr}: is about one ranking; say which (--method NAME)")
    if certify and method is None:
        raise UsageError("--certify: is about one ranking; say which (--method NAME)")
    with step("reading"):
        source = source_of(file, of_file, _announce)
        if column_groups is not None:
            source = with_column_groups(source, read_column_groups(Path(column_groups)))
    for caveat in source.caveats:
        _announce(caveat)
    with step("ranking"):
        if method is None:
            order = _side_by_side(source, scaling, style, always_keep, for_spreadsheet=for_spreadsheet)
        else:
            order = _by_one_method(
                source,
                method,
                scaling,
                assignments,
                style,
                fdr,
                always_keep,
                certify=certify,
                is_last=out is None,
                for_spreadsheet=for_spreadsheet,
            )
    if out is not None and keep is not None:
        from fsvm_cli.own_data.side_by_side import write_chosen

        n_features = write_chosen(
            Path(out), source, order, keep, of_file["target"] or "class", for_spreadsheet=for_spreadsheet
        )
        _announce(f"{n_features} features and the class of {source.n_samples} rows: {out}")


def _check_usage(
    file: str, method: str | None, assignments: tuple[str, ...], out: str | None, keep: int | None
) -> None:
    import os

    from fsvm_cli.errors import UsageError

    if method is None and assignments:
        raise UsageError(f"--set {assignments[0]}: say of which method (--method NAME); 'fsvm methods' lists them")
    if (out is None) != (keep is None):
        raise UsageError("--out FILE and --keep N go together: N is the number of columns that are written")
    if out is not None and os.path.realpath(out) == os.path.realpath(file):
        raise UsageError(f"--out {out}: is the file that is read; name another")


def _by_one_method(  # noqa: PLR0917 - what the options come to
    source: DataSource,
    method: str,
    scaling: str,
    assignments: tuple[str, ...],
    style: str,
    fdr: Controls | None,
    always_keep: tuple[str, ...],
    *,
    certify: bool,
    is_last: bool,
    for_spreadsheet: bool,
) -> NDArray[np.intp]:
    from fsvm_cli.own_data.rank import rank_features
    from fsvm_cli.own_data.request import ranking_request
    from fsvm_cli.own_data.tables import print_ranking

    request = ranking_request(method, scaling, assignments)
    with compilation_progress():
        ranking = rank_features(
            source,
            request,
            overwrite=is_last and fdr is None,
            certify=certify or None,
            fdr=fdr,
            always_keep=always_keep,
        )
    for caveat in ranking.remarks:
        if caveat not in source.caveats:
            _announce(caveat)
    print_ranking(ranking, style, for_spreadsheet=for_spreadsheet)
    return ranking.order


def _side_by_side(
    source: DataSource, scaling: str, style: str, always_keep: tuple[str, ...], *, for_spreadsheet: bool
) -> NDArray[np.intp]:
    from fsvm_cli.own_data.side_by_side import rank_side_by_side
    from fsvm_cli.own_data.tables import print_side_by_side

    with compilation_progress():
        found = rank_side_by_side(source, scaling, always_keep)
    for caveat in found.caveats:
        _announce(caveat)
    print_side_by_side(found, style, for_spreadsheet=for_spreadsheet)
    return found.order


def _announce(message: str) -> None:
    print_line(message, err=True)
