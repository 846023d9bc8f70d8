"""`fsvm export`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable

    from fsvm_cli.experiment.experiment import Experiment
    from fsvm_cli.own_data.export import Export


@click.command("export")
@click.argument("results", type=click.Path(path_type=Path))
@click.option("--model", type=click.Path(path_type=Path, dir_okay=False), help="File to write: .joblib or .skops.")
@click.option("--python", "as_code", is_flag=True, help="Print the Python that rebuilds the model.")
@click.option("--crate", type=click.Path(path_type=Path), help="Folder or .zip to write: the results as an RO-Crate.")
@click.option("--probability", is_flag=True, help="Calibrate probabilities; the likeliest class wins.")
@click.option("--ranking", metavar="LABEL", help="Which ranking selects; by default the recommended one.")
@click.option(
    "--refit", is_flag=True, help="Fit also data that changed since the run, without its figures on the card."
)
@click.option("--keep", type=click.IntRange(min=1), metavar="N", help="How many features; by default as recommended.")
def command(  # noqa: PLR0917 - click passes every option
    results: Path,
    model: Path | None,
    as_code: bool,
    crate: Path | None,
    probability: bool,
    ranking: str | None,
    keep: int | None,
    refit: bool,
) -> None:
    """Fit what a run recommends on all rows, and write it as a pipeline of scikit-learn, with a model card.

    RESULTS is the folder of one experiment. Where the config has a given split, the model is fitted on its training
    rows. Data that are not those of the run any more are refused, or fitted with --refit. The pipeline takes a data
    frame or an array with the columns that were kept; it fills gaps, codes words, scales and classifies, and loads
    without fsvm where scikit-learn has a class for the machine.
    """
    from fsvm_cli.errors import DataError, UsageError
    from fsvm_cli.experiment.plan import plan
    from fsvm_cli.experiment.provenance import changes_of_data
    from fsvm_cli.own_data.export import as_joblib, as_python, as_skops, export
    from fsvm_cli.runner.verify import stored_config

    writers = {".joblib": as_joblib, ".skops": as_skops}
    if model is None and not as_code and crate is None:
        raise UsageError(
            "say what to make of the results: --model FILE.joblib writes the model, --python prints it, --crate FOLDER "
            "packs the results"
        )
    if model is not None and model.suffix not in writers:
        raise UsageError(f"--model {model}: a model ends in .joblib or .skops")
    if crate is not None:
        from fsvm_cli.experiment.crate import write_crate

        _announce(f"{crate}: {write_crate(results, crate)} files and their provenance, as an RO-Crate")
        if model is None and not as_code:
            return
    loaded = stored_config(results)
    experiment = plan(loaded, _announce)
    changes = changes_of_data(results, experiment)
    if changes:
        differ = f"{results}: the data are not those of the run any more ({changes})"
        if not refit:
            raise DataError(
                f"{differ}\nRun it again ('fsvm run'), or fit the data as they are now, without the figures of the run "
                "(--refit)."
            )
        _announce(f"{differ}: fitted anew, without the figures of the run")
    label, n_features = _choice(results, experiment, ranking, keep)
    exported = export(experiment, label, n_features)
    if model is not None:
        tried = [] if changes else _tried(results)
        _write(model, writers[model.suffix], exported, experiment, loaded.folder, tried, label, probability, changes)
    if as_code:
        click.echo(as_python(exported, experiment, loaded.folder), nl=False)


def _write(  # noqa: PLR0917 - what the options come to
    path: Path,
    serialise: Callable[[Any], bytes],
    exported: Export,
    experiment: Experiment,
    folder: Path,
    tried: list[dict[str, Any]],
    label: str,
    probability: bool,
    changes: str,
) -> None:
    """Write a model and its card."""
    import hashlib

    from fsvm_cli.files import write_atomically
    from fsvm_cli.own_data.held_out import importance_on_splits
    from fsvm_cli.own_data.model_card import card_as_json, card_as_markdown, card_path, model_card
    from fsvm_cli.own_data.standalone import stand_alone

    found = stand_alone(exported, probability=probability)
    written = serialise(found.model)
    card = model_card(
        exported,
        found,
        experiment,
        next(each for each in experiment.config.rankings if each.label == label),
        model_sha256=hashlib.sha256(written).hexdigest(),
        folder=folder,
        tried=tried,
        importance=importance_on_splits(exported, found, experiment),
        refitted=changes,
    )
    write_atomically(path, written)
    write_atomically(card_path(path), card_as_json(card))
    write_atomically(card_path(path).with_suffix(".md"), card_as_markdown(card, path.name))
    n_features = len(found.features)
    several = "features" if n_features != 1 else "feature"
    _announce(f"{path}: {label}, {n_features} {several}, fitted on {len(exported.rows)} rows")
    _announce(f"kept: {', '.join(found.features)}")
    if found.reason:
        _announce(f"loads where fsvm-cli is installed: {found.reason}")
    else:
        _announce("loads with scikit-learn alone: its scores of these rows are those of fsvm's machine to 1e-9")
    if found.n_ties:
        _announce(f"{found.n_ties} rows at the border between classes have another class than in the run")
    _announce(f"model card: {card_path(path).with_suffix('.md')}, and .json for programs")


def _tried(results: Path) -> list[dict[str, Any]]:
    """Return the rows of the recommendation's table; none where there is no table."""
    from fsvm_cli.report.folder import RECOMMENDATION_NAME, read_table

    path = results / RECOMMENDATION_NAME
    rows = read_table(path).to_dict("records") if path.exists() else []
    return [{str(name): value for name, value in row.items()} for row in rows]


def _choice(results: Path, experiment: Experiment, ranking: str | None, keep: int | None) -> tuple[str, int]:
    """Return the ranking and the number of features: those of the options, or the recommended ones."""
    from fsvm_cli.errors import UsageError
    from fsvm_cli.report.folder import RECOMMENDATION_NAME, read_table

    if (ranking is None) != (keep is None):
        raise UsageError("--ranking LABEL and --keep N go together: they take the place of what is recommended")
    if ranking is not None and keep is not None:
        return ranking, keep
    path = results / RECOMMENDATION_NAME
    if not path.exists():
        labels = [each.label for each in experiment.config.rankings]
        raise UsageError(
            f"{results}: holds no recommendation, which runs on data of one's own end in; say what to export "
            f"(--ranking '{labels[0] if labels else 'LABEL'}' --keep N)"
        )
    table = read_table(path)
    recommended = table[table["recommended"]].to_dict("records")
    if not recommended:
        raise UsageError(
            f"{results}: nothing is recommended there, as {RECOMMENDATION_NAME} says; say what to export all the same "
            f"(--ranking '{table['ranking'].iloc[0]}' --keep N)"
        )
    return str(recommended[0]["ranking"]), int(recommended[0]["n_features"])


def _announce(message: str) -> None:
    click.echo(message, err=True)
