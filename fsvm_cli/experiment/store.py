"""The store: every finished outcome, durable before it counts as done, in one SQLite file with one writer."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from typing import TYPE_CHECKING, Self

import filelock

from fsvm_cli.errors import DataError
from fsvm_cli.experiment.outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import TracebackType

STORE_VERSION = 1
APPLICATION_ID = 0x6673766D  # "fsvm"
FILE_NAME = "trials.sqlite"
FRESH_NAME = "trials.fresh.sqlite"
LOCK_NAME = "trials.lock"
SECONDS_BETWEEN_COMMITS = 0.5

TABLES = """
CREATE TABLE outcomes (
    key TEXT PRIMARY KEY,
    sizes TEXT NOT NULL,     -- numbers of retained features that the outcome covers
    outcome TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE failures (
    key TEXT PRIMARY KEY,
    error TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE records (
    key TEXT PRIMARY KEY,
    record TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE timings (
    n_train INTEGER NOT NULL,
    split INTEGER NOT NULL,
    seconds REAL NOT NULL,
    PRIMARY KEY (n_train, split)
) WITHOUT ROWID;
"""


class Store:
    """Outcomes of one experiment, by key.

    Use it as a context manager. While it is open for writing, no other process can open it so. What `add` was given is
    durable after the next `commit`; leaving the context commits, also when an exception or a signal ends it.

    Parameters
    ----------
    folder : Path
        Folder of the experiment's results.
    writable : bool
        Whether to create what is missing and take the lock.
    fresh : bool
        Whether to start over. The old store stays until the new one holds its first outcome.

    Raises
    ------
    DataError
        If the folder cannot be written, another run holds the lock, or the file is not a store of this version.
    """

    def __init__(self, folder: Path, *, writable: bool, fresh: bool = False) -> None:
        self.path = folder / (FRESH_NAME if fresh else FILE_NAME)
        self._old_path = folder / FILE_NAME if fresh else None
        self._lock = filelock.FileLock(folder / LOCK_NAME, blocking=False) if writable else None
        self._last_commit = time.monotonic()
        if writable:
            self._claim(folder)
        try:
            if fresh:
                _remove_database(self.path)
            self._connection = self._open(writable)
        except BaseException:
            self._release()
            raise

    def _claim(self, folder: Path) -> None:
        assert self._lock is not None
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._lock.acquire()
        except filelock.Timeout:
            raise DataError(f"{folder}: another fsvm run is writing here; wait for it, or use another --out") from None
        except OSError as error:
            raise DataError(f"{folder}: cannot be written ({error.strerror}); use another --out") from error

    def _open(self, writable: bool) -> sqlite3.Connection:
        if not writable and not self.path.exists():
            raise DataError(f"{self.path}: no stored trials here; 'fsvm run' makes them")
        try:
            connection = sqlite3.connect(self.path, isolation_level=None)
            connection.execute("PRAGMA synchronous = FULL")
            self._check_or_create(connection, writable)
        except sqlite3.Error as error:
            raise DataError(
                f"{self.path}: cannot be read as a store ({error}); move it away, or use --fresh"
            ) from error
        return connection

    def _check_or_create(self, connection: sqlite3.Connection, writable: bool) -> None:
        ((application,),) = connection.execute("PRAGMA application_id").fetchall()
        ((version,),) = connection.execute("PRAGMA user_version").fetchall()
        ((n_tables,),) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
        if writable and (application, version, n_tables) == (0, 0, 0):
            connection.executescript(
                f"BEGIN; {TABLES} PRAGMA application_id = {APPLICATION_ID}; "
                f"PRAGMA user_version = {STORE_VERSION}; COMMIT;"
            )
        elif application != APPLICATION_ID:
            raise DataError(f"{self.path}: not a store of fsvm; move it away, or use another --out")
        elif version != STORE_VERSION:
            raise DataError(
                f"{self.path}: written by another version of fsvm (store format {version}, this one reads "
                f"{STORE_VERSION}); start over with --fresh, or use another --out"
            )

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

    def covered_sizes(self) -> dict[str, frozenset[int]]:
        """Sizes that are stored under each key."""
        shared: dict[str, frozenset[int]] = {}
        covered = {}
        for key, sizes in self._connection.execute("SELECT key, sizes FROM outcomes"):
            if sizes not in shared:
                shared[sizes] = frozenset(map(int, sizes.split()))
            covered[key] = shared[sizes]
        return covered

    def outcome(self, key: str) -> Outcome | None:
        """Read one outcome, None where there is none."""
        row = self._connection.execute("SELECT outcome FROM outcomes WHERE key = ?", (key,)).fetchone()
        return None if row is None else self._parse(key, row[0])

    def outcomes(self, keys: list[str]) -> Iterator[tuple[str, Outcome]]:
        """Read the outcomes of those keys that have one, in the order of `keys`."""
        for key in keys:
            outcome = self.outcome(key)
            if outcome is not None:
                yield key, outcome

    def _parse(self, key: str, text: str) -> Outcome:
        try:
            return Outcome.from_json(text)
        except ValueError as error:
            raise DataError(f"{self.path}: the outcome {key} is damaged; start over with --fresh") from error

    def add(self, key: str, outcome: Outcome) -> None:
        """Store an outcome, together with what the key already has; a failure of the key is forgotten."""
        known = self.outcome(key)
        whole = outcome if known is None else known.merged_with(outcome)
        with self._writing():
            self._connection.execute(
                "INSERT OR REPLACE INTO outcomes VALUES (?, ?, ?)",
                (key, " ".join(map(str, whole.subsets)), whole.to_json()),
            )
            self._connection.execute("DELETE FROM failures WHERE key = ?", (key,))

    def add_failure(self, key: str, error: str) -> None:
        """Store why there is no outcome for a key."""
        with self._writing():
            self._connection.execute("INSERT OR REPLACE INTO failures VALUES (?, ?)", (key, error))

    def failures(self) -> dict[str, str]:
        """Errors by key."""
        return dict(self._connection.execute("SELECT key, error FROM failures"))

    def add_record(self, key: str, record: str) -> None:
        """Store what the config's `record` asks for, as JSON."""
        with self._writing():
            self._connection.execute("INSERT OR REPLACE INTO records VALUES (?, ?)", (key, record))

    def record(self, key: str) -> str | None:
        """Read what `add_record` stored, None where there is nothing."""
        row = self._connection.execute("SELECT record FROM records WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    def add_timing(self, n_train: int, split: int, seconds: float) -> None:
        """Store how long a trial took."""
        with self._writing():
            self._connection.execute("INSERT OR REPLACE INTO timings VALUES (?, ?, ?)", (n_train, split, seconds))

    def timings(self) -> list[tuple[int, int, float]]:
        """Training rows, split and seconds of every trial that was timed, in this order."""
        return self._connection.execute("SELECT n_train, split, seconds FROM timings").fetchall()

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            if not self._connection.in_transaction:
                self._connection.execute("BEGIN")
            yield
        except sqlite3.Error as error:
            raise DataError(f"{self.path}: cannot be written ({error}); what was finished before is kept") from error

    def commit_if_due(self) -> bool:
        """Commit where the last time was a while ago, so that many short trials share one; say whether it did."""
        if time.monotonic() - self._last_commit < SECONDS_BETWEEN_COMMITS:
            return False
        self.commit()
        return True

    def commit(self) -> None:
        """Make everything that was added durable."""
        if self._connection.in_transaction:
            try:
                self._connection.execute("COMMIT")
            except sqlite3.Error as error:
                with contextlib.suppress(sqlite3.Error):
                    self._connection.execute("ROLLBACK")
                raise DataError(
                    f"{self.path}: cannot be written ({error}); what was finished before is kept"
                ) from error
        self._last_commit = time.monotonic()
        if self._old_path is not None and self._holds_an_outcome():
            self._replace_old_store(self._old_path)

    def _holds_an_outcome(self) -> bool:
        return self._connection.execute("SELECT 1 FROM outcomes LIMIT 1").fetchone() is not None

    def _replace_old_store(self, old_path: Path) -> None:
        self._connection.close()
        # A journal that a killed run left would be played back into whatever file takes the old one's place.
        _remove_database(old_path)
        self.path.rename(old_path)
        self.path, self._old_path = old_path, None
        self._connection = self._open(writable=True)


def _remove_database(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.with_name(f"{path.name}-journal").unlink(missing_ok=True)
