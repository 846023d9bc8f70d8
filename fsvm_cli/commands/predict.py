"""`fsvm predict`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from fsvm_cli.commands.options import options_of_text, print_line, with_spreadsheet, write_in_style


@click.command("predict")
@click.argument("model", type=click.Path(path_type=Path, dir_okay=False))
@click.argument("file", metavar="FILE")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="Write CSV to this file.")
@options_of_text
@with_spreadsheet
def command(model: Path, file: str, out: Path | None, for_spreadsheet: bool, **of_text: Any) -> None:
    """Predict the class of each row of FILE by a model that 'fsvm export' has written.

    FILE is read as the card beside MODEL says, where no option says otherwise. Prints CSV: the number of the row, its
    class, and probabilities where the model has them, else its score where there are two classes.
    """
    from fsvm_cli.console import without_formulas
    from fsvm_cli.files import write_atomically
    from fsvm_cli.own_data.held_out import load_model, predictions, read_rows
    from fsvm_cli.own_data.model_card import read_card, unfamiliar

    card = read_card(model)
    rows = read_rows(file, card, of_text, None)
    for remark in (*rows.remarks, *unfamiliar(rows.samples, card)):
        print_line(remark, err=True)
    text = predictions(load_model(model), rows).to_csv(index=False, lineterminator="\n")
    if out is None:
        write_in_style(text, "csv", for_spreadsheet=for_spreadsheet)
        return
    write_atomically(out, (without_formulas(text) if for_spreadsheet else text).encode())
    print_line(f"{rows.samples.shape[0]} rows: {out}", err=True)
