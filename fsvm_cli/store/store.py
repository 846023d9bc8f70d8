"""The store of finished trials: texts by key in one SQLite file with one writer, durable before they count as done."""

from __future__ import annotations

import contextlib
import hashlib
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from fsvm_cli.errors import DataError
from fsvm_cli.store.file import (
    DATABASE_ERRORS,
    claim_folder,
    open_database,
    prepare_replacement,
    remove_database,
    trouble_with,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import TracebackType


@dataclass(frozen=True, slots=True)
class Entry:
    """A text, whose form the store does not know, with the sizes that it covers.

    Attributes
    ----------
    sizes : str
        Whole numbers, ascending, with blanks between them: by these a run sees what is missing without reading texts.
    text : str
    """

    sizes: str
    text: str


FILE_NAME = "trials.sqlite"
FRESH_NAME = "trials.fresh.sqlite"
SHARE_OF_TIME_FOR_COMMITS = 0.05


class Store:
    """Entries of one experiment, by key.

    Use it as a context manager. While it is open for writing, no other process can open it so. What `put` was given is
    durable after the next `commit`; leaving the context commits, also when an exception or a signal ends it.

    Parameters
    ----------
    folder : Path
        Folder of the experiment's results.
    writable : bool
        Whether to create what is missing and take the lock.
    fresh : bool
        Whether to start over. The old store stays until the new one holds its first entry.

    Raises
    ------
    DataError
        If the folder cannot be written, another run holds the lock, or the file is not a store of this version.
    """

    def __init__(self, folder: Path, *, writable: bool, fresh: bool = False) -> None:
        self.path = folder / (FRESH_NAME if fresh else FILE_NAME)
        self._old_path = folder / FILE_NAME if fresh else None
        if not writable and not self.path.exists():
            raise DataError(f"{self.path}: no stored trials here; 'fsvm run' makes them")
        self._lock = claim_folder(folder) if writable else None
        self._last_commit, self._seconds_per_commit = time.monotonic(), 0.0
        try:
            if writable:
                # That of a fresh run that was killed before its first entry.
                remove_database(folder / FRESH_NAME)
            if fresh:
                prepare_replacement(folder / FILE_NAME)
            self._connection = open_database(self.path, create=writable)
        except BaseException:
            self._release()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Make everything durable and let the next run in."""
        try:
            self.commit()
        finally:
            self._connection.close()
            self._release()

    def _release(self) -> None:
        if self._lock is not None:
            self._lock.release()

    def covered_sizes(self) -> Iterator[tuple[str, frozenset[int]]]:
        """Yield each key that has an entry with the sizes that it covers, by ascending keys."""
        shared: dict[str, frozenset[int]] = {}
        for key, sizes in self._each_row("SELECT key, sizes FROM outcomes ORDER BY key"):
            if not (isinstance(key, str) and key.isascii()):
                raise self.damaged(key)
            if sizes not in shared:
                try:
                    shared[sizes] = frozenset(map(int, sizes.split()))
                except ValueError as error:
                    raise self.damaged(key) from error
            yield key, shared[sizes]

    def entry(self, key: str) -> Entry | None:
        """Read one entry, None where there is none.

        Raises
        ------
        DataError
            If it is damaged.
        """
        for sizes, text, seal in self._rows("SELECT sizes, outcome, seal FROM outcomes WHERE key = ?", key):
            if seal != _seal(key, sizes, text):
                raise self.damaged(key)
            return Entry(sizes, text)
        return None

    def put(self, key: str, entry: Entry) -> None:
        """Store an entry instead of what the key has; a failure of the key is forgotten."""
        row = (key, entry.sizes, entry.text)
        self._write("INSERT OR REPLACE INTO outcomes VALUES (?, ?, ?, ?)", *row, _seal(*row))
        self._write("DELETE FROM failures WHERE key = ?", key)

    def add_group(self, key_parts: str) -> None:
        """Remember, as JSON, what keys are made of."""
        self._write("INSERT OR IGNORE INTO groups VALUES (?)", key_parts)

    def groups(self) -> list[str]:
        """Read what `add_group` was given."""
        return [key_parts for (key_parts,) in self._rows("SELECT ingredients FROM groups")]

    def rename(self, key: str, new_key: str) -> None:
        """Store the entry of a key under another key instead; both are seen at once, after the next `commit`."""
        entry = self.entry(key)
        if entry is not None:
            self.put(new_key, entry)
            self._write("DELETE FROM outcomes WHERE key = ?", key)

    def add_note(self, subject: str, key: str, note: str) -> None:
        """Store a text on a subject, instead of what the key has on it."""
        self._write("INSERT OR REPLACE INTO notes VALUES (?, ?, ?)", subject, key, note)

    def notes(self, subject: str) -> dict[str, str]:
        """Read what `add_note` was given on a subject, by key."""
        return dict(self._rows("SELECT key, note FROM notes WHERE subject = ?", subject))

    def add_failure(self, key: str, error: str) -> None:
        """Store why there is no entry for a key: the reason in the first line, below it what else is known."""
        self._write("INSERT OR REPLACE INTO failures VALUES (?, ?)", key, error)

    def failures(self) -> dict[str, str]:
        """Errors by key."""
        return dict(self._rows("SELECT key, error FROM failures"))

    def add_record(self, key: str, record: str) -> None:
        """Store a text without sizes, apart from the entries; a failure of the key is forgotten."""
        self._write("INSERT OR REPLACE INTO records VALUES (?, ?, ?)", key, record, _seal(key, record))
        self._write("DELETE FROM failures WHERE key = ?", key)

    def record(self, key: str) -> str | None:
        """Read what `add_record` stored, None where there is nothing.

        Raises
        ------
        DataError
            If it is damaged.
        """
        for record, seal in self._rows("SELECT record, seal FROM records WHERE key = ?", key):
            if seal != _seal(key, record):
                raise self.damaged(key)
            return str(record)
        return None

    def add_timing(self, n_train: int, split: int, seconds: float) -> None:
        """Store how long a trial took."""
        self._write("INSERT OR REPLACE INTO timings VALUES (?, ?, ?)", n_train, split, seconds)

    def timings(self) -> list[tuple[int, int, float]]:
        """Training rows, split and seconds of every trial that was timed, in this order."""
        return self._rows("SELECT n_train, split, seconds FROM timings")

    def _rows(self, query: str, *values: Any) -> list[Any]:
        return list(self._each_row(query, *values))

    def _each_row(self, query: str, *values: Any) -> Iterator[Any]:
        try:
            yield from self._connection.execute(query, values)
        except DATABASE_ERRORS as error:
            raise trouble_with(self.path, "read", error) from error

    def damaged(self, key: object) -> DataError:
        """Say that what lies under a key is not what was put there."""
        return DataError(f"{self.path}: the entry {key} is damaged; start over with --fresh")

    def _write(self, statement: str, *values: Any) -> None:
        try:
            if not self._connection.in_transaction:
                self._connection.execute("BEGIN")
            self._connection.execute(statement, values)
        except DATABASE_ERRORS as error:
            raise trouble_with(self.path, "written", error) from error

    def commit_if_due(self) -> bool:
        """Commit where that costs little of the time since the last commit; say whether it did.

        Short trials share a commit, which waits for the disk; long ones get one each.
        """
        if SHARE_OF_TIME_FOR_COMMITS * (time.monotonic() - self._last_commit) < self._seconds_per_commit:
            return False
        self.commit()
        return True

    def commit(self) -> None:
        """Make everything that was added durable."""
        begin = time.monotonic()
        if self._connection.in_transaction:
            try:
                self._connection.execute("COMMIT")
            except DATABASE_ERRORS as error:
                with contextlib.suppress(*DATABASE_ERRORS):
                    self._connection.execute("ROLLBACK")
                raise trouble_with(self.path, "written", error) from error
            self._seconds_per_commit = time.monotonic() - begin
        self._last_commit = time.monotonic()
        if self._old_path is not None and self._rows("SELECT 1 FROM outcomes LIMIT 1"):
            self._replace(self._old_path)

    def _replace(self, old_path: Path) -> None:
        self._connection.close()
        try:
            self.path.replace(old_path)
        except OSError as error:
            self._connection = open_database(self.path, create=False)
            raise DataError(
                f"{old_path}: cannot be replaced ({error.strerror}); close what reads it, and run again with --fresh"
            ) from error
        self.path, self._old_path = old_path, None
        self._connection = open_database(old_path, create=False)


def _seal(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
