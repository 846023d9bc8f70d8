"""`fsvm certify`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from fsvm_cli.commands.options import options_of_table, options_of_text, print_line, step, with_verbosity


@click.command("certify")
@click.argument("model", type=click.Path(path_type=Path, dir_okay=False))
@click.argument("file", metavar="FILE")
@click.option("--C", "C", type=float, metavar="NUMBER", help="C used in training; model files do not store it.")
@click.option(
    "--scaling", default="none", show_default=True, metavar="NAME", help="Scaling of the features before training."
)
@options_of_table
@options_of_text
@click.option(
    "--format", "style", type=click.Choice(["table", "json"]), default="table", show_default=True, help="How to print."
)
@with_verbosity
def command(model: Path, file: str, C: float | None, scaling: str, style: str, **of_file: Any) -> None:
    """Measure how far a trained SVM is from the optimum; print which predictions and places are decided.

    MODEL is SVC, LinearSVC, SVM or a pipeline that ends in one, in a .joblib file (loading runs code: only files that
    you trust) or a .skops file, or a model file of libsvm or liblinear. FILE holds the rows that it was trained on.
    """
    from fsvm_cli.own_data.certify import certify_source
    from fsvm_cli.own_data.foreign_models import read_model
    from fsvm_cli.own_data.rank import source_of
    from fsvm_cli.own_data.tables import print_certificate

    with step("reading"):
        loaded, remarks = read_model(model)
        source = source_of(file, of_file, lambda message: print_line(message, err=True))
    for remark in (*source.caveats, *remarks):
        print_line(remark, err=True)
    with step("certifying"):
        found = certify_source(loaded, source, scaling=scaling, C=C)
    print_certificate(found, style)
