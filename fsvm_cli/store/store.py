"""The store of finished trials: texts by key in one SQLite file with one writer, durable before they count as done.

Below the class: the lock of the folder, the version of the file, and its safe replacement.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import sqlite3
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import filelock

from fsvm_cli.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import TracebackType

FILE_NAME = "trials.sqlite"
FRESH_FILE_NAME = "trials.fresh.sqlite"
MAX_COMMIT_TIME_SHARE = 0.05
STORE_VERSION = 3
APPLICATION_ID = 0x6673766D  # "fsvm"
LOCK_NAME = "trials.lock"
BUSY_TIMEOUT_SECONDS = 60.0
# A message of SQLite may quote damaged bytes, which cannot be decoded.
DATABASE_ERRORS = (sqlite3.Error, UnicodeDecodeError)

EMPTY_FILE_IDENTITY = (0, 0, 0)
"""Application, version and number of tables of an empty file."""

NOTES_COLUMNS = """(
    subject TEXT NOT NULL,
    key TEXT NOT NULL,
    note TEXT NOT NULL,
    PRIMARY KEY (subject, key)
) WITHOUT ROWID"""

CREATE_TABLES_SQL = f"""
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {STORE_VERSION};
CREATE TABLE outcomes (
    key TEXT PRIMARY KEY,
    sizes TEXT NOT NULL,     -- what the outcome covers: whole numbers, ascending
    outcome TEXT NOT NULL,
    seal TEXT NOT NULL       -- hash of the row, because SQLite does not notice a changed digit
) WITHOUT ROWID;
CREATE TABLE groups (
    ingredients TEXT PRIMARY KEY    -- what keys were made of, as JSON
) WITHOUT ROWID;
CREATE TABLE failures (
    key TEXT PRIMARY KEY,
    error TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE records (
    key TEXT PRIMARY KEY,
    record TEXT NOT NULL,
    seal TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE timings (
    n_train INTEGER NOT NULL,
    split INTEGER NOT NULL,
    seconds REAL NOT NULL,
    PRIMARY KEY (n_train, split)
) WITHOUT ROWID;
CREATE TABLE notes {NOTES_COLUMNS};
"""

DAMAGE_ERROR_CODES = frozenset(
    {sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_SCHEMA}
)
"""Error codes of SQLite for a damaged file; all others concern the disk, rights or other programs."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A text in a form that the store does not interpret, with the sizes that it covers.

    Attributes
    ----------
    sizes : str
        Whole numbers, ascending, separated by blanks: a run finds the missing ones without reading texts.
    text : str
    """

    sizes: str
    text: str


class Store:
    """Entries of one experiment, by key.

    Use it as a context manager. While it is open for writing, no other process can open it for writing. Entries are
    durable after the next `commit`; leaving the context commits, also after an exception or a signal.

    Parameters
    ----------
    folder : Path
        Folder of the experiment's results.
    writable : bool
        Whether to create missing files and take the lock.
    fresh : bool
        Whether to start over. The old store stays until the new one holds its first entry.

    Raises
    ------
    DataError
        If the folder cannot be written, another run holds the lock, or the file is not a store of this version.
    """

    def __init__(self, folder: Path, *, writable: bool, fresh: bool = False) -> None:
        self.path = folder / (FRESH_FILE_NAME if fresh else FILE_NAME)
        self._old_path = folder / FILE_NAME if fresh else None
        if not writable and not self.path.exists():
            raise DataError(f"{self.path}: no stored trials here; 'fsvm run' makes them")
        self._lock = claim_folder(folder) if writable else None
        self._last_commit, self._seconds_per_commit = time.monotonic(), 0.0
        try:
            if writable:
                # Left by a fresh run that was killed before its first entry.
                remove_database(folder / FRESH_FILE_NAME)
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
        """Make all entries durable and release the lock."""
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
        """Store an entry in place of that of the key, and remove a failure of the key."""
        row = (key, entry.sizes, entry.text)
        self._write("INSERT OR REPLACE INTO outcomes VALUES (?, ?, ?, ?)", *row, _seal(*row))
        self._write("DELETE FROM failures WHERE key = ?", key)

    def add_group(self, key_parts: str) -> None:
        """Store the parts that keys are hashes of, as JSON."""
        self._write("INSERT OR IGNORE INTO groups VALUES (?)", key_parts)

    def groups(self) -> list[str]:
        """Read what `add_group` was given."""
        return [key_parts for (key_parts,) in self._rows("SELECT ingredients FROM groups")]

    def rename(self, key: str, new_key: str) -> None:
        """Move the entry of a key to another key; readers see both changes at once, after the next `commit`."""
        entry = self.entry(key)
        if entry is not None:
            self.put(new_key, entry)
            self._write("DELETE FROM outcomes WHERE key = ?", key)

    def add_note(self, subject: str, key: str, note: str) -> None:
        """Store a text on a subject, in place of that of the key."""
        self._write("INSERT OR REPLACE INTO notes VALUES (?, ?, ?)", subject, key, note)

    def notes(self, subject: str) -> dict[str, str]:
        """Read what `add_note` was given on a subject, by key."""
        return dict(self._rows("SELECT key, note FROM notes WHERE subject = ?", subject))

    def add_failure(self, key: str, error: str) -> None:
        """Store why there is no entry for a key: the reason in the first line, details such as the traceback below."""
        self._write("INSERT OR REPLACE INTO failures VALUES (?, ?)", key, error)

    def failures(self) -> dict[str, str]:
        """Errors by key."""
        return dict(self._rows("SELECT key, error FROM failures"))

    def add_record(self, key: str, record: str) -> None:
        """Store a text without sizes, apart from the entries, and remove a failure of the key."""
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
            raise store_error(self.path, "read", error) from error

    def damaged(self, key: object) -> DataError:
        """Return the error for an entry that is not what was stored under its key."""
        return DataError(f"{self.path}: the entry {key} is damaged; start over with --fresh")

    def _write(self, statement: str, *values: Any) -> None:
        try:
            if not self._connection.in_transaction:
                self._connection.execute("BEGIN")
            self._connection.execute(statement, values)
        except DATABASE_ERRORS as error:
            raise store_error(self.path, "written", error) from error

    def commit_if_due(self) -> bool:
        """Commit if that takes at most `MAX_COMMIT_TIME_SHARE` of the time since the last; return whether it did.

        Short trials share a commit, which waits for the disk; long trials have one each.
        """
        if MAX_COMMIT_TIME_SHARE * (time.monotonic() - self._last_commit) < self._seconds_per_commit:
            return False
        self.commit()
        return True

    def commit(self) -> None:
        """Make all added entries durable."""
        begin = time.monotonic()
        if self._connection.in_transaction:
            try:
                self._connection.execute("COMMIT")
            except DATABASE_ERRORS as error:
                with contextlib.suppress(*DATABASE_ERRORS):
                    self._connection.execute("ROLLBACK")
                raise store_error(self.path, "written", error) from error
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


def is_damaged(error: Exception) -> bool:
    """Whether the cause of an error is the content of a store, not a full disk, missing rights or another program."""
    code = getattr(error, "sqlite_errorcode", None)
    # The low byte is the primary code, which extended codes refine. Without a code: bytes that cannot be decoded.
    return code is None or (code & 0xFF) in DAMAGE_ERROR_CODES


def store_error(path: Path, what: str, error: Exception) -> DataError:
    """Return the error for a store that cannot be used, with its remedy: only a damaged store must be given up.

    Parameters
    ----------
    path : Path
        Of the store.
    what : str
        What failed, as in "read".
    error : Exception
        One of `DATABASE_ERRORS`.
    """
    if is_damaged(error):
        return DataError(f"{path}: cannot be {what} ({error}); it is damaged: move it away, or use --fresh")
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
        remedy = "close the program that has it open"
    elif code in {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH}:
        remedy = "make the file and its folder writable, or copy the folder to where they are"
    elif code == sqlite3.SQLITE_NOMEM:
        remedy = "free some memory"
    else:
        remedy = "free some space"
    return DataError(f"{path}: cannot be {what} ({error}); what it holds is kept; {remedy}, and run again")


def claim_folder(folder: Path) -> filelock.BaseFileLock:
    """Create the folder of an experiment if it is missing, and lock it against other runs.

    The operating system releases the lock with the end of the process, however it ends.

    Raises
    ------
    DataError
        If the folder cannot be written, or another process holds the lock.
    """
    lock = filelock.FileLock(folder / LOCK_NAME, blocking=False)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except filelock.Timeout:
        raise DataError(f"{folder}: another fsvm run is writing here; wait for it, or use another --out") from None
    except OSError as error:
        remedy = "free some space" if error.errno in {errno.ENOSPC, errno.EDQUOT} else "use another --out"
        raise DataError(f"{folder}: cannot be written ({error.strerror}); {remedy}") from error
    return lock


def open_database(path: Path, *, create: bool) -> sqlite3.Connection:
    """Open a store's database, with the changes of a killed run rolled back.

    Parameters
    ----------
    path : Path
    create : bool
        Whether a missing or empty file becomes an empty store.

    Raises
    ------
    DataError
        If the file is not a store of this version.
    """
    try:
        connection = sqlite3.connect(path, isolation_level=None, timeout=BUSY_TIMEOUT_SECONDS)
        # EXTRA is FULL, and keeps every commit after a power loss as well.
        connection.execute("PRAGMA synchronous = EXTRA")
        identity = _identity(connection)
        if identity == EMPTY_FILE_IDENTITY:
            if not create:
                # A run that was killed early leaves an empty file: an empty store, which a reader must not change.
                connection.close()
                connection = sqlite3.connect(":memory:", isolation_level=None)
            connection.executescript(f"BEGIN; {CREATE_TABLES_SQL} COMMIT;")
        else:
            _check(identity, path)
            _add_notes(connection, writable=create)
    except DATABASE_ERRORS as error:
        raise store_error(path, "used as a store", error) from error
    return connection


def _add_notes(connection: sqlite3.Connection, *, writable: bool) -> None:
    """Add the table that stores of earlier versions lack; for a reader, an empty temporary one."""
    if not connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'notes'").fetchall():
        kind = "TABLE" if writable else "TEMP TABLE"
        connection.execute(f"CREATE {kind} IF NOT EXISTS notes {NOTES_COLUMNS}")


def _check(identity: tuple[int, int, int], path: Path) -> None:
    application, version, _ = identity
    if application != APPLICATION_ID:
        raise DataError(f"{path}: not a store of fsvm; move it away, or use another --out")
    if version != STORE_VERSION:
        raise DataError(
            f"{path}: written by another version of fsvm (store format {version}, this one reads {STORE_VERSION}); "
            "start over with --fresh, or use another --out"
        )


def _identity(connection: sqlite3.Connection) -> tuple[int, int, int]:
    with connection:  # in one transaction: a store that a run is creating is read complete or not at all
        connection.execute("BEGIN")
        ((application,),) = connection.execute("PRAGMA application_id").fetchall()
        ((version,),) = connection.execute("PRAGMA user_version").fetchall()
        ((n_tables,),) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
    return application, version, n_tables


def prepare_replacement(path: Path) -> None:
    """Roll back the changes of a killed run to the store at `path`, and remove its journal.

    SQLite would replay a remaining journal into the file that replaces the store. Stores that are damaged or of another
    version may be replaced.

    Raises
    ------
    DataError
        If the file is a database of another program.
    """
    if path.exists():
        try:
            # Windows neither replaces nor removes a file that is open.
            with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
                application, _, n_tables = _identity(connection)
        except DATABASE_ERRORS as error:
            if not is_damaged(error):
                raise store_error(path, "replaced", error) from error
            application, n_tables = APPLICATION_ID, 0
        if n_tables and application != APPLICATION_ID:
            raise DataError(f"{path}: not a store of fsvm; move it away, or use another --out")
    path.with_name(f"{path.name}-journal").unlink(missing_ok=True)


def remove_database(path: Path) -> None:
    """Remove a store and then its journal, which has no effect without its database."""
    path.unlink(missing_ok=True)
    path.with_name(f"{path.name}-journal").unlink(missing_ok=True)
