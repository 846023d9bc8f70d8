"""`fsvm evaluate`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fsvm_cli.commands.options import options_of_text, print_line

if TYPE_CHECKING:
    from fsvm_cli.own_data.held_out import Evaluation, Share


@click.command("evaluate")
@click.argument("model", type=click.Path(path_type=Path, dir_okay=False))
@click.argument("file", metavar="FILE")
@click.option("--target", metavar="COLUMN", help="Column that holds the class; by default that of the model's data.")
@click.option(
    "--format",
    "style",
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
    help="How to print the scores.",
)
@options_of_text
def command(model: Path, file: str, target: str | None, style: str, **of_text: Any) -> None:
    """Score a model that 'fsvm export' has written on the held-out rows of FILE.

    Accuracy, balanced accuracy and the recall of each class, with 95 % intervals; the area under the ROC curve of two
    classes; the other figures of merit that the run lists; what each column is worth to the model: the loss when it is
    permuted.
    """
    from fsvm_cli.console import brief, json_text, visible, write_for_machines
    from fsvm_cli.data.source_spec import FileSpec
    from fsvm_cli.data.user_file import find_file
    from fsvm_cli.errors import UsageError
    from fsvm_cli.own_data.held_out import evaluate, load_model, read_rows
    from fsvm_cli.own_data.model_card import file_hash, read_card, unfamiliar

    card = read_card(model)
    target = target or card["target"]
    rows = read_rows(file, card, of_text, target)
    for remark in (*rows.remarks, *unfamiliar(rows.samples, card)):
        print_line(remark, err=True)
    if rows.labels is None:
        raise UsageError("say which column holds the class (--target NAME); the card of the model names none")
    if n_without := rows.labels.count(None):
        print_line(
            f"left out: {n_without} of {len(rows.labels)} rows, without a class in '{brief(target or '')}'", err=True
        )
    fitted_on, path = card["fitted_on"], find_file(FileSpec(file=file), Path())[0]
    if file_hash(path) == fitted_on["file_sha256"]:
        which = "some of these rows" if fitted_on["rows"] < fitted_on["rows_of_the_data"] else "these rows"
        print_line(f"the model was fitted on {which}: the scores are far too high for other rows", err=True)
    elif visible(path.name) == fitted_on["data"] and fitted_on["file_sha256"]:
        print_line(
            f"{brief(file)}: has changed since the model was fitted on a file of this name: on rows that were there "
            "then the scores are far too high for other rows",
            err=True,
        )
    metrics = card.get("metrics") or ["accuracy"]  # which a card of an earlier version does not name
    found = evaluate(load_model(model), rows, metrics, card.get("positive"))
    if style == "json":
        write_for_machines(json_text(found.content()))
        return
    _print(found, card)


def _print(found: Evaluation, card: dict[str, Any]) -> None:
    from rich.table import Table

    from fsvm_cli.console import open_console
    from fsvm_cli.evaluation.metrics import has_positive_class, metric_title

    console = open_console()
    n_rows = int(found.confusion.sum())
    balanced = _in_words(found.balanced_accuracy)
    console.print(f"accuracy {_in_words(found.accuracy)}, balanced accuracy {balanced}: {n_rows} rows")
    if found.area_under_roc is not None:
        console.print(f"area under the ROC curve {_in_words(found.area_under_roc)}")
    if found.log_loss is not None and found.brier_score is not None:
        console.print(f"log loss {found.log_loss:.3f}, Brier score {found.brier_score:.3f}")
    for name, share in found.others.items():
        positive = f" of '{found.positive}'" if has_positive_class(name) else ""
        console.print(f"{metric_title(name)}{positive} {_in_words(share)}")
    console.print("95 % intervals of this model on other rows of the same kind")
    table = Table("class", "rows", "recognised, %", *(f"as {label}" for label in found.classes))
    for label, share, counts in zip(found.classes, found.recalls, found.confusion.tolist(), strict=True):
        table.add_row(label, str(share.n), _in_words(share) if share.n else "", *map(str, counts))
    console.print(table)
    if found.importance is None:
        return
    by_ranking = {row["column"]: row for row in (card["importance"] or {}).get("columns", [])}
    worth = Table("column", f"loss of {found.importance.metric} when permuted, points", "rank", "score of the ranking")
    for row in found.importance.columns:
        own = by_ranking.get(row["column"], {})
        loss = f"{100 * row['mean']:.1f} [{100 * row['ci_low']:.1f}, {100 * row['ci_high']:.1f}]"
        score = f"{own['score']:.4g}" if own.get("score") is not None else ""
        worth.add_row(row["column"], loss, str(own.get("rank", "")), score)
    console.print(worth)


def _in_words(share: Share) -> str:
    return f"{100 * share.value:.1f} [{100 * share.low:.1f}, {100 * share.high:.1f}]"
