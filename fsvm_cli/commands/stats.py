"""`fsvm stats`."""

from __future__ import annotations

from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fsvm_cli.commands.options import check_spreadsheet, raise_as_one, with_spreadsheet, write_in_style

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pandas as pd

    from fsvm_cli.report.guidance import MethodGuide
    from fsvm_cli.report.ranks import RankComparison

    Compared = Mapping[str, tuple[pd.DataFrame, pd.DataFrame]]
    Over = Mapping[str, tuple[RankComparison, MethodGuide]]
    """Comparisons over data sets by the kind of machine."""


@click.command("stats")
@click.argument("results", type=click.Path(path_type=Path), nargs=-1)
@click.option("--at", "size", type=click.IntRange(min=1), help="Compare at this number of features, not over all.")
@click.option(
    "--format",
    "style",
    type=click.Choice(["table", "csv", "json"]),
    default="table",
    show_default=True,
    help="With csv, every pair at every number of features; with json also the curves' summaries, and the ranks.",
)
@click.option(
    "--figure",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Draw the critical-difference diagram of several experiments into this file (.svg, .png or .pdf); with "
    "several kinds of machines, into one for each, such as ranks-linear.svg, and "
    "ranks-linear-all.svg of the rankings that stand in all data sets.",
)
@click.option(
    "--heat-map",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Draw what each ranking loses to the best on each data set into this file, as --figure does.",
)
@with_spreadsheet
def command(  # noqa: PLR0917 - click passes every option
    results: tuple[Path, ...],
    size: int | None,
    style: str,
    figure: Path | None,
    heat_map: Path | None,
    for_spreadsheet: bool,
) -> None:
    """Compare the rankings of experiments with each other.

    RESULTS is the folder of one experiment, or of several, or one that holds several ("results" if left out): then
    their ranks over real data sets are compared, too, for linear, Gaussian and other machines apart, and rules for the
    choice of a method are proposed on one half of the data sets and tested on the other. Intervals and p-values of one
    experiment allow for the rows that random splits share (Nadeau and Bengio), p-values for being several (Holm).
    Trials in which there is no machine are left out.
    """
    from fsvm_cli.errors import DataError, FsvmError, noting_failure
    from fsvm_cli.experiment.provenance import is_collection
    from fsvm_cli.report.folder import folder_names, results_folders
    from fsvm_cli.report.guidance import guide
    from fsvm_cli.report.ranks import areas_of, comparisons_of, critical_difference_diagram, loss_heat_map

    check_spreadsheet(style, for_spreadsheet=for_spreadsheet)
    named = results or (Path("results"),)
    only_areas = style == "table" and size is None
    of_folder: dict[Path, tuple[pd.DataFrame, pd.DataFrame]] = {}
    folders: list[Path] = []
    errors: list[FsvmError] = []
    for folder in dict.fromkeys(folder for each in named for folder in results_folders(each)):
        with noting_failure(errors, str(folder), "its statistics"):
            if is_collection(folder):
                continue
            areas_of([folder])
            found = _read(folder, only_areas=only_areas)
            folders.append(folder)
            if found is not None:
                of_folder[folder] = found
    names = folder_names(folders)
    compared = {names[folder]: found for folder, found in of_folder.items()}
    if not compared:
        raise_as_one(errors)
        raise DataError(f"{named[0]}: no stored trials here, and no tables of pairs; 'fsvm run' makes them")
    ranks = comparisons_of(folders)
    for option, path, draw in (
        ("--figure", figure, critical_difference_diagram),
        ("--heat-map", heat_map, loss_heat_map),
    ):
        if path is not None:
            _draw(ranks, option, path, draw)
    over = {machine: (found, guide(found, folders)) for machine, found in ranks.items()}
    if style == "table":
        _print_all(compared, size, over, several=len(folders) > 1)
    else:
        _print_for_machines(compared, over, style, for_spreadsheet=for_spreadsheet)
    if len(folders) > 1:
        _tell_uncounted({folder: names[folder] for folder in folders})
    if without := len(folders) - len(compared):
        click.echo(
            f"{without} of {len(folders)} experiments are left out: they have no stored trials here, nor tables of "
            "pairs, which one single split does not give",
            err=True,
        )
    raise_as_one(errors)


def _tell_uncounted(names: Mapping[Path, str]) -> None:
    """Name the runs with overrides, which do not count where data sets are compared."""
    from fsvm_cli.experiment.provenance import read_run

    overridden = [name for folder, name in names.items() if read_run(folder)[1]["overrides"]]
    if overridden:
        click.echo(
            f"run with --splits, --rows or --set, and not counted over data sets: {', '.join(overridden)}", err=True
        )


def _read(folder: Path, *, only_areas: bool) -> tuple[pd.DataFrame, pd.DataFrame] | None:
    """Read summary and pairs of one experiment from its tables, or where these lack them from its trials."""
    from fsvm_cli.report.folder import AREAS_NAME, PAIRS_NAME, read_table
    from fsvm_cli.store.store import FILE_NAME

    if only_areas and (folder / AREAS_NAME).exists() and (folder / PAIRS_NAME).exists():
        return read_table(folder / AREAS_NAME), read_table(folder / PAIRS_NAME)
    return _compared(folder) if (folder / FILE_NAME).exists() else None


def _compared(folder: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Summary and pairs of one experiment, by its first figure of merit."""
    from fsvm_cli.errors import DataError
    from fsvm_cli.experiment.plan import plan
    from fsvm_cli.report.complete_trials import collect
    from fsvm_cli.report.ranking_statistics import compare_rankings, summarise_rankings
    from fsvm_cli.runner.verify import stored_config
    from fsvm_cli.store.store import Store

    experiment = plan(stored_config(folder), lambda message: click.echo(message, err=True))
    with Store(folder, writable=False) as store:
        collected = collect(experiment, store)
    if not collected:
        raise DataError(f"{folder}: the store holds no trial of this config, data and code; 'fsvm run' makes them")
    metric = experiment.config.metrics[0]
    return summarise_rankings(experiment, collected, metric), compare_rankings(experiment, collected, metric)


def _print_all(compared: Compared, size: int | None, over: Over, *, several: bool) -> None:
    from fsvm_cli.console import open_console
    from fsvm_cli.errors import UsageError
    from fsvm_cli.report.guidance import areas_table, pairs_table, ranks_table, wilcoxon_table
    from fsvm_cli.report.ranking_statistics import WHOLE_CURVE

    console = open_console()
    for name, (summary, pairs) in compared.items():
        shown = pairs[pairs["n_features"] == (size or WHOLE_CURVE)]
        if size and len(pairs) and shown.empty:
            raise UsageError(f"--at {size}: {name} keeps no such number of features")
        pairs_there = pairs_table(shown) if size is None else pairs_table(shown, f"{size} features")
        console.print(f"\n{name}", style="bold", soft_wrap=True)
        for cells in (areas_table(summary), pairs_there):
            console.print(cells.on_terminal())
            console.print(cells.note, soft_wrap=True)
    for machine, (ranks, which) in over.items():
        console.print(f"\nOver data sets, machines: {machine}", style="bold", soft_wrap=True)
        console.print(ranks_table(ranks))
        console.print(wilcoxon_table(ranks))
        console.print(ranks.in_words(), soft_wrap=True)
        for cells in (which.methods_table(), which.data_table()):
            console.print(cells.on_terminal())
            console.print(cells.note, soft_wrap=True)
        console.print(which.in_words(), soft_wrap=True)
    if several and not over:
        console.print(_no_ranks(), soft_wrap=True)


def _print_for_machines(compared: Compared, over: Over, style: str, *, for_spreadsheet: bool) -> None:
    import pandas as pd

    from fsvm_cli.console import json_text, write_for_machines
    from fsvm_cli.report.numbers import as_csv

    if style == "csv":
        tables = [pairs.assign(experiment=name) for name, (_, pairs) in compared.items()]
        stacked = pd.concat(tables, ignore_index=True)
        columns = ["experiment", *(column for column in stacked if column != "experiment")]
        write_in_style(as_csv(stacked[columns]), style, for_spreadsheet=for_spreadsheet)
        return
    experiments = {
        name: {"rankings": _records(summary), "pairs": _records(pairs)} for name, (summary, pairs) in compared.items()
    }
    by_machine = {machine: ranks_for_machines(*found) for machine, found in over.items()}
    write_for_machines(json_text({"experiments": experiments, "over_experiments": by_machine}))


def ranks_for_machines(ranks: RankComparison, which: MethodGuide) -> dict[str, Any]:
    """Return a comparison over experiments as the content of a JSON document."""
    return {
        "experiments": ranks.areas.index.tolist(),
        "mean_ranks": dict(zip(ranks.areas.columns, ranks.found.ranks.tolist(), strict=True)),
        "chi_square": None if isnan(ranks.found.chi_square) else ranks.found.chi_square,
        "p": None if isnan(ranks.found.p) else ranks.found.p,
        "critical_difference": ranks.found.critical_difference,
        "post_hoc": ranks.apart.test,
        "pairs": _records(ranks.pairs),
        "methods": _records(which.methods),
        "data_sets": _records(which.data_sets.reset_index(names="experiment")),
        "rules": [
            {
                "property": each.rule.name or None,
                "threshold": each.rule.threshold if each.rule.name else None,
                "below": which.candidates[each.rule.below],
                "above": which.candidates[each.rule.above],
                "losses": each.losses.tolist(),
                "random_losses": each.random_losses.tolist(),
                "p": None if isnan(each.p) else each.p,
                "left_out_losses": each.left_out_losses.tolist(),
                "held": each.held,
            }
            for each in which.rules
        ],
        "guidance": which.in_words(),
    }


def _records(table: pd.DataFrame) -> Sequence[dict[str, Any]]:
    """List the rows of a table as JSON has them, nothing for what is not there."""
    import json

    records: list[dict[str, Any]] = json.loads(table.to_json(orient="records", double_precision=12))
    return records


def _draw(
    ranks: Mapping[str, RankComparison], option: str, path: Path, draw: Callable[[RankComparison, str], bytes]
) -> None:
    """Write a figure of comparisons, one file for each kind of machine."""
    from fsvm_cli.errors import DataError, UsageError
    from fsvm_cli.files import write_atomically
    from fsvm_cli.report.ranks import ON_ALL

    extension = path.suffix.removeprefix(".")
    if extension not in {"svg", "png", "pdf"}:
        raise UsageError(f"{option} {path}: figures are .svg, .png or .pdf files; name one of them")
    if not ranks:
        raise DataError(f"{option} {path}: {_no_ranks()}")
    for machine, found in ranks.items():
        suffix = machine.replace(ON_ALL, "-all")
        target = path if len(ranks) == 1 else path.with_stem(f"{path.stem}-{suffix}")
        write_atomically(target, draw(found, extension))


def _no_ranks() -> str:
    from fsvm_cli.report.ranks import MIN_DATA_SETS

    return (
        f"no two rankings stand in {MIN_DATA_SETS} experiments with one kind of machine on different real data: "
        "nothing to compare over them."
    )
