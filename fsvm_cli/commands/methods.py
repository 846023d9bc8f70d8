"""`fsvm methods`."""

from __future__ import annotations

import click


@click.command("methods")
@click.argument("name", required=False)
def command(name: str | None) -> None:
    """Show the ranking methods and the feature extractors, their parameters and sources.

    With NAME, all of what is known of one method.
    """
    import difflib
    import inspect

    from fsvm_cli.errors import UsageError
    from fsvm_cli.extraction.registry import extraction_methods
    from fsvm_cli.ranking.registry import ranking_methods

    methods = {**ranking_methods(), **extraction_methods()}
    if name is None:
        width = max(map(len, methods))
        for method, estimator in methods.items():
            parameters = ", ".join(estimator.parameters_model().model_fields)
            summary = (inspect.getdoc(estimator) or "").split("\n")[0]
            click.echo(f"{method:{width}}  {summary}" + (f" Parameters: {parameters}." if parameters else ""))
        return
    if name not in methods:
        near = difflib.get_close_matches(name, methods, n=1)
        suggestion = f"; did you mean '{near[0]}'?" if near else ""
        raise UsageError(f"no method is called '{name}'; there are {', '.join(methods)}{suggestion}")
    click.echo(f"{name}\n{'=' * len(name)}\n\n{inspect.getdoc(methods[name])}")
