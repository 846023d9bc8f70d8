"""The SQLite file of the store: its lock, its version, and its safe replacement."""

from __future__ import annotations

import contextlib
import errno
import sqlite3
from typing import TYPE_CHECKING

import filelock

from fsvm_cli.errors import DataError

if TYPE_CHECKING:
    from pathlib import Path

STORE_VERSION = 3
APPLICATION_ID = 0x6673766D  # "fsvm"
LOCK_NAME = "trials.lock"
SECONDS_TO_WAIT_FOR_READERS = 60.0
# A message of SQLite may quote damaged bytes, which then are no text.
DATABASE_ERRORS = (sqlite3.Error, UnicodeDecodeError)

NOTHING = (0, 0, 0)
"""Application, version and number of tables of an empty file."""

NOTES = """(
    subject TEXT NOT NULL,
    key TEXT NOT NULL,
    note TEXT NOT NULL,
    PRIMARY KEY (subject, key)
) WITHOUT ROWID"""

TABLES = f"""
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
CREATE TABLE notes {NOTES};
"""


DAMAGED = frozenset({sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_SCHEMA})
"""What SQLite says of a file that is no sound store; all else it says of the computer that the file lies on."""


def is_damaged(error: Exception) -> bool:
    """Whether an error tells of the content of a store, not of a full disk, missing rights or another program."""
    code = getattr(error, "sqlite_errorcode", None)
    # The low byte is the kind, which the others only specify. Without a code: bytes that are no text.
    return code is None or (code & 0xFF) in DAMAGED


def trouble_with(path: Path, what: str, error: Exception) -> DataError:
    """Say that a store cannot be used, and what mends this: only a damaged one is to be given up.

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
    """Make the folder of an experiment where it is missing, and keep other runs out of it.

    The operating system holds the lock for the process: it ends with the process, however that ends.

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
        connection = sqlite3.connect(path, isolation_level=None, timeout=SECONDS_TO_WAIT_FOR_READERS)
        # EXTRA is FULL, and after a power loss no commit is taken back either.
        connection.execute("PRAGMA synchronous = EXTRA")
        identity = _identity(connection)
        if identity == NOTHING:
            if not create:
                # A run that was killed at once leaves an empty file, which is an empty store, and stays as it is.
                connection.close()
                connection = sqlite3.connect(":memory:", isolation_level=None)
            connection.executescript(f"BEGIN; {TABLES} COMMIT;")
        else:
            _check(identity, path)
            _add_notes(connection, writable=create)
    except DATABASE_ERRORS as error:
        raise trouble_with(path, "used as a store", error) from error
    return connection


def _add_notes(connection: sqlite3.Connection, *, writable: bool) -> None:
    """Add the table that stores of earlier versions lack; a reader sees an empty one."""
    if not connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'notes'").fetchall():
        kind = "TABLE" if writable else "TEMP TABLE"
        connection.execute(f"CREATE {kind} IF NOT EXISTS notes {NOTES}")


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
    with connection:  # in one transaction: a store that a run creates meanwhile is seen whole or not at all
        connection.execute("BEGIN")
        ((application,),) = connection.execute("PRAGMA application_id").fetchall()
        ((version,),) = connection.execute("PRAGMA user_version").fetchall()
        ((n_tables,),) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
    return application, version, n_tables


def prepare_replacement(path: Path) -> None:
    """Roll back what a killed run left of the store at `path`, so that no journal outlives it.

    A journal that is left is played back into whatever file takes the name. A damaged store may be replaced, and so
    may one of another version.

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
                raise trouble_with(path, "replaced", error) from error
            application, n_tables = APPLICATION_ID, 0
        if n_tables and application != APPLICATION_ID:
            raise DataError(f"{path}: not a store of fsvm; move it away, or use another --out")
    path.with_name(f"{path.name}-journal").unlink(missing_ok=True)


def remove_database(path: Path) -> None:
    """Remove a store with its journal, the journal last: without its database it is void."""
    path.unlink(missing_ok=True)
    path.with_name(f"{path.name}-journal").unlink(missing_ok=True)
