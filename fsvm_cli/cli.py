"""The entry point of the command line: finds a command, runs it, turns exceptions into a message and an exit code."""

from __future__ import annotations

import atexit
import difflib
import errno
import gc
import importlib
import math
import os
import signal
import sys
import threading
from typing import TYPE_CHECKING

import click

from fsvm_cli import __version__
from fsvm_cli.console import COMPLETION_VARIABLE, brief, open_closed_streams, sanitised
from fsvm_cli.cpu_features import use_common_cpu_features
from fsvm_cli.errors import DataError, FsvmError, Terminated, UsageError
from fsvm_cli.lazy_imports import SELDOM_USED, import_lazily
from fsvm_cli.memory_check import GIGABYTE, MIN_ADDRESS_SPACE_BYTES, address_space

if TYPE_CHECKING:
    from types import FrameType

COMMANDS = {
    "run": "Run experiments and write their tables and figures.",
    "plot": "Draw all figures again from stored results.",
    "rank": "Rank the features of your own data.",
    "init": "Write a config for your own data.",
    "export": "Write the recommended model, fitted on all rows.",
    "certify": "Measure how far a trained SVM is from the optimum.",
    "predict": "Predict the classes of rows by an exported model.",
    "evaluate": "Score an exported model on held-out rows.",
    "report": "Write all results as one page for the browser.",
    "table": "Print results as tables for a paper, in Markdown or LaTeX.",
    "stats": "Compare the rankings of experiments with each other.",
    "benchmark": "Run a ranking method on all data sets of the comparison of methods.",
    "compare": "Print published beside obtained values, with verdicts.",
    "experiments": "List, show and copy the built-in experiments.",
    "datasets": "List, show, fetch and verify data sets.",
    "verify": "Check stored results: make tables and figures again, repeat trials.",
    "check": "Check configs without running them.",
    "schema": "Print the JSON Schema of a config, for editors.",
    "methods": "Show the ranking methods, their parameters and sources.",
    "doctor": "Print versions, processor, caches and data, for a bug report.",
    "completion": "Print the script that completes commands and names in a shell.",
}
GC_THRESHOLD_OBJECTS = 250_000
"""Allocations between garbage collections: more than the imports of the libraries make, which saves a sixth of them."""
INTERRUPTED_EXIT_CODE = 128 + signal.SIGINT
TERMINATED_EXIT_CODE = 128 + signal.SIGTERM

SECONDS_UNTIL_REPEATED = 0.1


class LazyGroup(click.Group):
    """Imports a command when it is called, so that asking for help waits for nothing."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Names of the commands, in the order in which a newcomer needs them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        """Import the module of a command."""
        if cmd_name not in COMMANDS:
            near = difflib.get_close_matches(cmd_name, COMMANDS, n=1)
            suggestion = f" Did you mean '{near[0]}'?" if near else ""
            raise click.UsageError(f"No such command '{cmd_name}'.{suggestion}", ctx)
        if address_space() < MIN_ADDRESS_SPACE_BYTES:
            raise UsageError(_too_little_address_space())
        import_lazily(*SELDOM_USED)
        command: click.Command = importlib.import_module(f"fsvm_cli.commands.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="fsvm")
def cli() -> None:
    """Select features for SVMs: reproduce published experiments, compare methods, rank your own table.

    Begin with: fsvm run wine
    """


def main() -> None:
    """Run the command line.

    Exit codes: 0 done; 2 bad usage or config; 3 data missing or corrupt; 4 some trials failed; 130 interrupted by
    Ctrl-C, 143 by SIGTERM. A reader that ends before (``| head -1``) or a closed stream changes none of it.
    """
    open_closed_streams()
    use_common_cpu_features()
    signal.signal(signal.SIGTERM, _terminate)
    sys.unraisablehook = _repeat_ignored_signal
    gc.set_threshold(GC_THRESHOLD_OBJECTS)
    # Python's two collections at exit would add a sixth to the time that ranking a small table takes.
    atexit.register(gc.freeze)
    # In a list of completions, a tab separates a proposal from its explanation.
    with sanitised(kept="\n\t" if COMPLETION_VARIABLE in os.environ else "\n"):
        sys.exit(_run())


def _run() -> int:
    """Run the command; print the message of an error and return the exit code."""
    try:
        code: int = cli.main(complete_var=COMPLETION_VARIABLE, standalone_mode=False)
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except FsvmError as error:
        click.echo(f"fsvm: {error}", err=True)
        code = error.exit_code
    except MemoryError:
        click.echo(f"fsvm: {_out_of_memory()}", err=True)
        code = UsageError.exit_code
    except (ImportError, SystemError) as error:
        if (interruption := _interruption_behind(error)) is not None:
            return _say_why_it_ends(interruption)
        # Raised by libraries that cannot be mapped into the address space.
        if address_space() == math.inf:
            raise
        click.echo(f"fsvm: {brief(str(error))}; {_too_little_address_space()}", err=True)
        code = UsageError.exit_code
    except OSError as error:
        # llvmlite's error about a library that it cannot load has no errno.
        if address_space() != math.inf and error.errno in {None, errno.ENOMEM}:
            click.echo(f"fsvm: {_too_little_address_space()}", err=True)
            return UsageError.exit_code
        # Numba may write compiled code at any time.
        click.echo(f"fsvm: {_describe(error)}", err=True)
        code = DataError.exit_code
    except (KeyboardInterrupt, click.Abort, Terminated) as error:
        code = _say_why_it_ends(error)
    return code


def _say_why_it_ends(interruption: BaseException) -> int:
    """Print that Ctrl-C or SIGTERM ended the process, and return the exit code."""
    is_terminated = isinstance(interruption, Terminated)
    how = "terminated" if is_terminated else "interrupted"
    click.echo(f"fsvm: {how}; what was finished is kept, and running again does the rest", err=True)
    return TERMINATED_EXIT_CODE if is_terminated else INTERRUPTED_EXIT_CODE


def _interruption_behind(error: BaseException) -> BaseException | None:
    """Return the interruption that a library which was being loaded turned into its own error, or None."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, (KeyboardInterrupt, Terminated)):
        cause = cause.__cause__ or cause.__context__
    return cause


def _repeat_ignored_signal(unraisable: sys.UnraisableHookArgs) -> None:
    """Deliver a signal once more whose exception Python could not raise, as in a weak reference's callback in numba."""
    numbers = {KeyboardInterrupt: signal.SIGINT, Terminated: signal.SIGTERM}
    number = numbers.get(unraisable.exc_type)
    if number is None:
        sys.__unraisablehook__(unraisable)
        return
    if sys.platform == "win32":
        timer = threading.Timer(SECONDS_UNTIL_REPEATED, signal.raise_signal, [number])
    else:
        # What the timer's thread raises in itself does not wake a main thread that waits.
        main_thread = threading.main_thread().ident
        timer = threading.Timer(SECONDS_UNTIL_REPEATED, signal.pthread_kill, [main_thread, number])
    timer.daemon = True
    timer.start()


def _out_of_memory() -> str:
    if address_space() != math.inf:
        return _too_little_address_space()
    return "needs more memory than there is; use fewer rows or columns, or a computer with more memory"


def _too_little_address_space() -> str:
    return (
        f"the address space of a process is limited to {address_space() / GIGABYTE:,.1f} GB here, and the libraries "
        "alone may take 2 GB; raise the limit (ulimit -v unlimited, or what the batch system calls it)"
    )


def _describe(error: OSError) -> str:
    """Describe an error of the operating system, with its file and remedy."""
    where = f"{brief(str(error.filename))}: " if error.filename else ""
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return (
            f"{where}the disk is full; free some space, or name other folders (FSVM_CACHE for data, "
            "NUMBA_CACHE_DIR for compiled code)"
        )
    return f"{where}{error.strerror or error}"


def _terminate(signal_number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - what a signal handler is given
    raise Terminated
