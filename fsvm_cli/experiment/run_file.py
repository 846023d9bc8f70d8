"""Reading and writing the `run.json` of a results folder as plain JSON, without importing the models of configs."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Any

from fsvm_cli.errors import DataError
from fsvm_cli.files import write_atomically

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FILE_NAME = "run.json"


def run_content(folder: Path) -> dict[str, Any]:
    """Read `run.json`.

    Raises
    ------
    DataError
        If there is none, or it is damaged.
    """
    with report_damage(folder):
        content: dict[str, Any] = json.loads((folder / FILE_NAME).read_text(encoding="utf-8"))
        return content | {"config": dict(content["config"])}


def written(description: dict[str, Any]) -> bytes:
    """Serialise the description of a run as in the file."""
    return (json.dumps(description, indent=2, ensure_ascii=False) + "\n").encode()


def note_in_run(folder: Path, key: str, note: dict[str, Any]) -> None:
    """Replace one key of `run.json`; an empty note removes the key.

    Raises
    ------
    DataError
        If there is no file, or it is damaged.
    """
    content = run_content(folder)
    rest = {name: value for name, value in content.items() if name != key}
    changed = rest | ({key: note} if note else {})
    if changed != content:
        write_atomically(folder / FILE_NAME, written(changed))


@contextlib.contextmanager
def report_damage(folder: Path) -> Iterator[None]:
    """Raise the errors of reading a damaged `run.json` as a DataError that names the file."""
    path = folder / FILE_NAME
    try:
        yield
    except FileNotFoundError:
        raise DataError(f"{folder}: no {FILE_NAME} here; 'fsvm run' makes it") from None
    except (
        OSError,
        ValueError,
        KeyError,
        TypeError,
        RecursionError,
    ) as error:  # pydantic's ValidationError is a ValueError
        first_line = str(error).splitlines()[0]
        raise DataError(f"{path}: damaged or of another version ({first_line}); run the experiment again") from error
