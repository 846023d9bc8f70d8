"""`fsvm export`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from fsvm_cli.experiment.experiment import Experiment


@click.command("export")
@click.argument("results", type=click.Path(path_type=Path))
@click.option("--model", type=click.Path(path_type=Path, dir_okay=False), help="File to write: .joblib or .skops.")
@click.option("--python", "as_code", is_flag=True, help="Print the Python that rebuilds the model.")
@click.option("--ranking", metavar="LABEL", help="Which ranking selects; by default the recommended one.")
@click.option("--keep", type=click.IntRange(min=1), metavar="N", help="How many features; by default as recommended.")
def command(results: Path, model: Path | None, as_code: bool, ranking: str | None, keep: int | None) -> None:
    """Fit what a run recommends on all rows, and write it as a pipeline of scikit-learn.

    RESULTS is the folder of one experiment. The pipeline fills gaps, codes words, scales, selects and classifies; it
    takes a data frame with the columns of the file.
    """
    from fsvm_cli.errors import UsageError
    from fsvm_cli.experiment.plan import plan
    from fsvm_cli.files import write_atomically
    from fsvm_cli.own_data.export import as_joblib, as_python, as_skops, export
    from fsvm_cli.runner.verify import stored_config

    writers = {".joblib": as_joblib, ".skops": as_skops}
    if model is None and not as_code:
        raise UsageError("say what to make of the results: --model FILE.joblib writes the model, --python prints it")
    if model is not None and model.suffix not in writers:
        raise UsageError(f"--model {model}: a model ends in .joblib or .skops")
    loaded = stored_config(results)
    experiment = plan(loaded, _announce)
    label, n_features = _choice(results, experiment, ranking, keep)
    exported = export(experiment, label, n_features)
    if model is not None:
        fitted = exported.fitted()
        write_atomically(model, writers[model.suffix](fitted))
        names = experiment.source.feature_names
        kept = [name for name, is_kept in zip(names, fitted["selector"].get_support(), strict=True) if is_kept]
        several = "features" if n_features != 1 else "feature"
        _announce(f"{model}: {label}, {n_features} {several}, fitted on {experiment.source.n_samples} rows")
        _announce(f"kept: {', '.join(kept)}")
    if as_code:
        click.echo(as_python(exported, experiment, loaded.folder), nl=False)


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
