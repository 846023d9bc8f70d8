"""`fsvm benchmark`: a ranking method, also one from outside, on all data sets of the comparison of methods."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fsvm_cli.commands import completion
from fsvm_cli.commands.options import print_line, raise_as_one, with_verbosity

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from fsvm_cli.errors import FsvmError

COMPARISON = ("beyond-linear-", "beyond-gaussian-")
"""What the names of the experiments of the comparison begin with."""
REFERENCES = ("fisher", "random")
"""Run beside the method on the same splits: they take no time, and their rows are known."""
QUICK_SPLITS = 3
MOST_QUICK_FEATURES = 202
"""A reduced run leaves out data sets with more features."""


@click.command("benchmark")
@click.argument("method", metavar="NAME_OR_ENTRY_POINT", shell_complete=completion.rankings)
@click.argument("configs", nargs=-1, metavar="[CONFIG]...", shell_complete=completion.configs)
@click.option(
    "--quick",
    is_flag=True,
    help=f"{QUICK_SPLITS} splits of each data set of at most {MOST_QUICK_FEATURES} features: some minutes.",
)
@click.option("--jobs", type=click.IntRange(min=1), show_default="all cores", help="Number of processes.")
@click.option(
    "--against",
    type=click.Path(path_type=Path),
    default="results",
    show_default=True,
    help="Results of the comparison, among which the method is placed after a full run.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Folder of the results, and of the table NAME.csv; by default benchmark/NAME, or benchmark/NAME-quick.",
)
@with_verbosity
@click.pass_context
def command(  # noqa: PLR0917 - click passes every option
    ctx: click.Context,
    method: str,
    configs: tuple[str, ...],
    quick: bool,
    jobs: int | None,
    against: Path,
    out: Path | None,
) -> None:
    """Run a ranking method on all data sets of the comparison of methods, and write its table.

    NAME_OR_ENTRY_POINT is a method that fsvm lists, its own or one of an installed package; or module:Class, a class
    that can be imported (with PYTHONPATH, say). It is ranked and evaluated on the same splits and with the same
    machines as all others, beside fisher and random. CONFIG names experiments in place of the whole comparison. What is
    stored is not computed again: an interrupted run goes on where it was. An experiment that refuses the method is
    left out, and named.
    """
    name = _registered(method) if ":" in method else method

    from fsvm_cli.commands.run import command as run_command
    from fsvm_cli.errors import FsvmError, UsageError
    from fsvm_cli.files import write_atomically
    from fsvm_cli.ranking.registry import ranking_methods
    from fsvm_cli.report.numbers import as_csv

    if name not in ranking_methods():
        raise UsageError(
            f"{name}: no ranking method has this name; 'fsvm methods' lists them, and module:Class names a class"
        )
    target = out or Path("benchmark") / (f"{name}-quick" if quick else name)
    rankings = ", ".join(f"{{method: {each}}}" for each in dict.fromkeys((name, *REFERENCES)))
    errors: list[FsvmError] = []
    names = _experiments(configs, quick=quick)
    try:
        ctx.invoke(
            run_command,
            configs=names,
            jobs=jobs,
            splits=QUICK_SPLITS if quick else None,
            assignments=(f"rankings=[{rankings}]",),
            out=target,
            formats=(),
        )
    except FsvmError as error:
        errors.append(error)
    table = _table(target, names, name)
    if len(table):
        path = target / f"{name}.csv"
        write_atomically(path, as_csv(table).encode())
        _print_rows(table, name)
        if quick:
            print_line("A reduced run has too few splits to place the method among the others.")
        else:
            _print_places(table, name, against)
        print_line(f"To hand back, with a row for each experiment: {path}")
    raise_as_one(errors)


def _registered(entry_point: str) -> str:
    """Make a class known to this process and to those that it starts, and return the name of the method.

    Raises
    ------
    UsageError
        If there is no such class, or it has no name.
    """
    from importlib import import_module

    from fsvm_cli.errors import UsageError, contained, quiet_in_place
    from fsvm_cli.plugins import ENTRY_POINTS_VARIABLE

    module, _, attribute = entry_point.partition(":")
    try:
        with contained(module), quiet_in_place():
            name = getattr(import_module(module), attribute).method
    except (ImportError, AttributeError, ValueError, RuntimeError) as error:
        raise UsageError(
            f"{entry_point}: {error}; write module:Class of a subclass of fsvm_cli.Ranker that can be imported here, "
            "by PYTHONPATH if it is not installed"
        ) from None
    listed = os.environ.get(ENTRY_POINTS_VARIABLE, "")
    os.environ[ENTRY_POINTS_VARIABLE] = f"{listed} {name}={entry_point}".strip()
    return str(name)


def _experiments(configs: Sequence[str], *, quick: bool) -> tuple[str, ...]:
    """Choose the experiments: those that are named, or the whole comparison; small ones for a reduced run."""
    from fsvm_cli.data.opening import metadata
    from fsvm_cli.resources import resource_names
    from fsvm_cli.spec.config import load_config

    names = configs or [each for each in resource_names("configs") if each.startswith(COMPARISON)]
    if not quick:
        return tuple(names)
    kept = []
    for each in names:
        loaded = load_config(each)
        data = metadata(loaded.config.dataset, base_folder=loaded.folder)
        if data is None or data.n_features <= MOST_QUICK_FEATURES:
            kept.append(each)
    return tuple(kept)


def _table(target: Path, configs: Sequence[str], name: str) -> pd.DataFrame:
    """Arrange what the method and the references come to, a row for each experiment and ranking."""
    import pandas as pd

    from fsvm_cli.experiment.plan import plan
    from fsvm_cli.experiment.provenance import read_run
    from fsvm_cli.experiment.trial import seconds_to_rank
    from fsvm_cli.report.folder import CURVES_NAME
    from fsvm_cli.report.method_values import method_values
    from fsvm_cli.report.ranks import machine_of
    from fsvm_cli.runner.verify import stored_config

    tables = []
    for experiment in (Path(each).stem for each in configs):
        folder = target / experiment
        if not (folder / CURVES_NAME).exists():
            continue
        values = method_values(folder).rename_axis("ranking")
        if name not in values.index:  # all of its trials failed
            continue
        config, run = read_run(folder)
        data = run["data"]
        values["seconds"] = pd.Series(seconds_to_rank(plan(stored_config(folder), print_line)))
        values = values.reset_index()
        values.insert(0, "n_splits", config.protocol.splits)
        values.insert(0, "n_features", len(data["feature_names"]))
        values.insert(0, "data", data["name"])
        values.insert(0, "machine", machine_of(config))
        values.insert(0, "experiment", experiment)
        tables.append(values)
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()


def _print_rows(table: pd.DataFrame, name: str) -> None:
    """Print the means of the method and the references, by the kind of machine."""
    from fsvm_cli.console import open_console
    from fsvm_cli.report.method_values import AT_SHARES
    from fsvm_cli.report.printing import ResultTable

    columns = ["area", *AT_SHARES, "stability", "recovered", "seconds"]
    rows = []
    for (machine, ranking), of_ranking in table.groupby(["machine", "ranking"], sort=False):
        means = of_ranking[columns].mean()
        cells = [
            "–" if means.isna()[each] else f"{means[each]:.2g}" if each == "seconds" else f"{100 * means[each]:.1f}"
            for each in columns
        ]
        rows.append((str(machine), str(ranking), str(len(of_ranking)), *cells))
    titles = ("machine", "ranking", "experiments", *(each.replace("at_", "at % ") for each in columns))
    shown = ResultTable(f"{name} and references: means in %, and processor seconds", titles, tuple(rows))
    open_console().print(shown.on_terminal())


def _print_places(table: pd.DataFrame, name: str, against: Path) -> None:
    """Print the method's place among all others on real data, by the kind of machine, where their results are there."""
    import numpy as np
    import pandas as pd

    from fsvm_cli.report.folder import CURVES_NAME
    from fsvm_cli.report.method_values import method_values
    from fsvm_cli.report.ranks import compare_over_experiments, place_in_words

    for machine, rows in table[table["recovered"].isna()].groupby("machine"):
        own = rows.pivot_table(index="experiment", columns="ranking", values="area")
        known = {
            each: method_values(against / each)["area"] for each in own.index if (against / each / CURVES_NAME).exists()
        }
        if not known:
            print_line(f"{against}: no results of the comparison with {machine} machines, so no place among the others")
            continue
        others = pd.DataFrame.from_dict(known, orient="index")
        shared = [each for each in own.columns if each != name and each in others]
        if not np.allclose(own.loc[others.index, shared], others[shared], atol=1e-6, equal_nan=True):
            print_line(
                f"{against}: {', '.join(shared)} came to other values with {machine} machines: other code or data"
            )
        found = compare_over_experiments(others.assign(**{name: own[name]}))
        print_line(
            f"{machine} machines: too few data sets to compare"
            if found is None or name not in found.areas
            else f"{machine} machines: {place_in_words(found, name)}"
        )
