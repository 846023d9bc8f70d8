"""`fsvm check`."""

from __future__ import annotations

import click

from fsvm_cli.commands import completion


@click.command("check")
@click.argument("configs", nargs=-1, required=True, metavar="CONFIG...", shell_complete=completion.configs)
@click.option("--set", "assignments", multiple=True, metavar="KEY=VALUE", help="Override a key by its dotted path.")
def command(configs: tuple[str, ...], assignments: tuple[str, ...]) -> None:
    """Check configs without running them.

    All errors of all configs are listed, as file:line:column; so is a data set that does not exist, or that has not
    the rows, features and classes that the config asks for, and a method that is not defined for its kernel. Nothing is
    fetched, and nothing run: what a method refuses only when it sees the rows is known to a run alone.
    """
    from fsvm_cli.errors import DataError, FsvmError, UsageError
    from fsvm_cli.experiment.plan import check_before_run
    from fsvm_cli.spec.collection import LoadedCollection
    from fsvm_cli.spec.load import load_any

    issues: list[FsvmError] = []
    for config in configs:
        try:
            loaded = load_any(config, assignments)
            for experiment in loaded.members if isinstance(loaded, LoadedCollection) else (loaded,):
                check_before_run(experiment)
        except FsvmError as error:
            issues.append(error)
        else:
            click.echo(f"{config}: correct")
    if issues:
        kind = UsageError if any(isinstance(issue, UsageError) for issue in issues) else DataError
        raise kind("\n".join(map(str, issues)))
