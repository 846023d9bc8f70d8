"""`fsvm verify`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from fsvm_cli.commands.options import print_line, with_verbosity

if TYPE_CHECKING:
    from collections.abc import Callable

    from fsvm_cli.errors import FsvmError
    from fsvm_cli.experiment.experiment import Experiment
    from fsvm_cli.store.store import Store

# Times differ from run to run; run.json is compared value by value.
RUN_SPECIFIC_FILES = frozenset({"timings.csv", "run.json"})


@click.command("verify")
@click.argument("results", type=click.Path(path_type=Path), default="results")
@click.option(
    "--rerun", "n_rerun", type=click.IntRange(min=0), default=0, help="Number of random trials to repeat and compare."
)
@click.option(
    "--adopt",
    "n_adopt",
    type=click.IntRange(min=0),
    default=0,
    help="After a change of the code: repeat so many random trials of each ranking that it makes stale, and where all "
    "are equal to the last digit adopt the stored rest.",
)
@click.option(
    "--jobs", type=click.IntRange(min=1), show_default="all cores", help="Number of processes that repeat for --adopt."
)
@click.option("--seed", type=click.IntRange(min=0), help="Draws the trials of --adopt; another one each time.")
@with_verbosity
def command(results: Path, n_rerun: int, n_adopt: int, jobs: int | None, seed: int | None) -> None:
    """Check stored results.

    RESULTS is the folder of one experiment, or one that holds several. All tables and figures are made again from the
    stored trials and compared byte by byte; the trials are compared with the config and the data that they claim.
    """
    import os
    import secrets

    from fsvm_cli.commands.options import raise_as_one, step
    from fsvm_cli.commands.progress import step_progress
    from fsvm_cli.data.messages import shown
    from fsvm_cli.errors import DataError, noting_failure
    from fsvm_cli.report.folder import results_folders
    from fsvm_cli.store.store import FILE_NAME

    folders = results_folders(results)
    if not folders:
        raise DataError(f"{results}: no results here; 'fsvm run' makes them")
    if n_adopt:
        seed = secrets.randbits(32) if seed is None else seed
        print_line(f"--adopt draws its trials by --seed {seed}")
    adopting = (n_adopt, seed or 0, jobs or os.cpu_count() or 1) if n_adopt else None
    issues: list[str] = []
    errors: list[FsvmError] = []
    # Checked first, because planning an experiment may fetch its data.
    experiments = [folder for folder in folders if not _collects(folder)]
    without_store = [folder for folder in experiments if not (folder / FILE_NAME).exists()]
    if without_store:
        names = shown([folder.name for folder in without_store])
        of_many = f" for {len(without_store)} of {len(experiments)} experiments ({names})"
        where = "" if folders == [results] else of_many
        issues.append(f"{results}: no stored trials here{where}; 'fsvm run' makes them")
        if without_store == experiments:
            raise DataError(issues[0])
    verified = [folder for folder in folders if folder not in without_store]
    with step_progress("verified", len(verified), "folders") as progress:
        for number, folder in enumerate(verified, 1):
            with noting_failure(errors, str(folder), "to verify it"), step(str(folder)):
                issues += [f"{folder}: {issue}" for issue in _verify(folder, n_rerun, adopting)]
            progress.advance(number)
    raise_as_one([*([DataError("\n".join(issues))] if issues else []), *errors])


def _collects(folder: Path) -> bool:
    """Whether a folder is that of a collection, which has no trials of its own; an unreadable folder counts as none."""
    from fsvm_cli.errors import DataError
    from fsvm_cli.experiment.provenance import is_collection

    try:
        return is_collection(folder)
    except DataError:
        return False


def _announce(message: str) -> None:
    print_line(message, err=True)


def _verify(folder: Path, n_rerun: int, adopting: tuple[int, int, int] | None) -> list[str]:
    """Verify one experiment or collection; return messages about its issues."""
    import numpy as np

    from fsvm_cli.experiment.plan import plan
    from fsvm_cli.experiment.provenance import is_collection
    from fsvm_cli.report.tables import write_tables
    from fsvm_cli.runner.verify import changes_since_run, repeat, stored_config, stored_trials
    from fsvm_cli.store.store import Store

    if is_collection(folder):
        return _verify_collection(folder)
    loaded = stored_config(folder)
    experiment = plan(loaded, _announce)
    issues = _adopt(experiment, folder, *adopting) if adopting else []
    with Store(folder, writable=False) as store:
        for name, (then, now) in changes_since_run(loaded, experiment, store, folder).items():
            change = f"{name} was {then} and is {now} now"
            if name.startswith("packages."):
                print_line(f"{folder}: {change}")
            else:
                issues.append(change)
        n_stored = len(stored_trials(experiment, store))
        if n_stored == 0:
            lacking = _what_is_missing(experiment, store)
            n_methods = len({experiment.groups[number] for number in experiment.numbers()})
            issues.append(
                f"no trial is stored of all compared methods; it is {len(lacking)} of {n_methods} that lack trials"
                if len(lacking) < n_methods
                else "the store holds no trial of this config, data and code"
            )
            issues += lacking
            return issues
        print_line(f"{folder}: {n_stored} of {experiment.n_trials()} planned trials are stored")
        differing = _made_again(folder, lambda made: write_tables(loaded, experiment, store, made))
        issues += differing
        if not differing:
            print_line(f"{folder}: every table and figure is what the stored trials lead to")
        if n_rerun:
            found = repeat(experiment, store, n_rerun, np.random.default_rng())
            print_line(f"{folder}: repeated trials: {found.n_identical} identical, {found.n_close} within rounding")
            issues += [
                f"split {trial.split} with {trial.n_train} training rows leads to other numbers when it is repeated"
                for trial in found.differing
            ]
    return issues


def _adopt(experiment: Experiment, folder: Path, n_repeated: int, seed: int, n_processes: int) -> list[str]:
    """Adopt what an earlier code computed, and note it in `run.json`; what was not adopted, in words."""
    from fsvm_cli.experiment.provenance import adoptions
    from fsvm_cli.experiment.run_file import note_in_run
    from fsvm_cli.runner.verify import adopt
    from fsvm_cli.store.store import Store

    with Store(folder, writable=True) as store:
        found = adopt(experiment, store, n_repeated, seed, n_processes)
        noted = adoptions(experiment, store)
    note_in_run(folder, "adopted", noted)
    issues = []
    for each in found:
        if each.differing:
            first = each.differing[0]
            issues.append(
                f"{each.label}: {len(each.differing)} of {each.n_repeated} repeated trials lead to other numbers, the "
                f"first of them split {first.split} with {first.n_train} training rows; nothing of it was adopted, and "
                "'fsvm run' computes it anew"
            )
        else:
            print_line(
                f"{folder}: {each.label}: adopted after {each.n_repeated} of {each.n_trials} trials were repeated"
            )
    if not found:
        print_line(f"{folder}: nothing to adopt")
    return issues


def _what_is_missing(experiment: Experiment, store: Store) -> list[str]:
    from fsvm_cli.runner.missing import explain, missing_tasks

    explanations = explain(experiment, store, missing_tasks(experiment, store))
    return [
        f"{experiment.compared_methods[each.compared_method].label}: {'; '.join(each.reasons)}" for each in explanations
    ]


def _verify_collection(folder: Path) -> list[str]:
    from fsvm_cli.experiment.provenance import read_collection
    from fsvm_cli.report.overview import write_overview

    loaded = read_collection(folder)
    differing = _made_again(folder, lambda made: write_overview(loaded, folder.resolve().parent, made))
    if not differing:
        print_line(f"{folder}: every table and figure is what the results of its experiments lead to")
    return differing


def _made_again(folder: Path, write: Callable[[Path], object]) -> list[str]:
    """Make all tables and figures again; return messages about those that differ."""
    import tempfile

    from fsvm_cli.report.drawing import draw_figures
    from fsvm_cli.report.folder import FORMATS

    drawn = [each for each in FORMATS if next(folder.glob(f"*.{each}"), None)]
    differing = []
    with tempfile.TemporaryDirectory() as name:
        write(Path(name))
        draw_figures(Path(name), drawn or FORMATS)
        for again in sorted(Path(name).iterdir()):
            path = folder / again.name
            if path.name in RUN_SPECIFIC_FILES:
                continue
            if not path.exists():
                differing.append(f"{path.name} is missing; 'fsvm run' makes it")
            elif path.read_bytes() != again.read_bytes():
                differing.append(f"{path.name} is not what the stored results lead to; 'fsvm run' makes it anew")
    return differing
