"""The store: what is durable, who may write, and what a store that is not ours meets."""

from __future__ import annotations

import contextlib
import functools
import json
import random
import signal
import sqlite3
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from fsvm_cli.errors import DataError
from fsvm_cli.store.store import CREATE_TABLES_SQL, FILE_NAME, FRESH_FILE_NAME, Entry, Store, open_database, store_error

if TYPE_CHECKING:
    from pathlib import Path


def entry(*sizes: int, correct: int = 3) -> Entry:
    """Make an entry about as long as an outcome."""
    text = {
        "scores": [0.5, -1.25],
        "subsets": {size: [[[correct, 1], [0, 4]], [[2, 2], [1, 3]], 0, 1e-7] for size in sizes},
    }
    return Entry(" ".join(map(str, sizes)), json.dumps(text, separators=(",", ":")))


def fill(folder: Path, **entries: Entry) -> None:
    with Store(folder, writable=True) as store:
        for key, each in entries.items():
            store.put(key, each)


def read(folder: Path, key: str) -> Entry | None:
    with Store(folder, writable=False) as store:
        return store.entry(key)


def test_what_was_added_is_read_again(tmp_path: Path) -> None:
    fill(tmp_path, a=entry(1, 2), b=entry(2))
    with Store(tmp_path, writable=False) as store:
        assert dict(store.covered_sizes()) == {"a": {1, 2}, "b": {2}}
        assert [store.entry(key) for key in ("b", "missing", "a")] == [entry(2), None, entry(1, 2)]
        assert store.entry("missing") is None


def test_an_entry_takes_the_place_of_what_the_key_had(tmp_path: Path) -> None:
    fill(tmp_path, a=entry(2))
    fill(tmp_path, a=entry(1, 3))
    with Store(tmp_path, writable=False) as store:
        assert dict(store.covered_sizes()) == {"a": {1, 3}}
        assert store.entry("a") == entry(1, 3)


def test_a_failure_is_no_entry_and_is_forgotten_when_one_comes(tmp_path: Path) -> None:
    with Store(tmp_path, writable=True) as store:
        store.add_failure("a", "ValueError: no")
        store.add_failure("b", "ValueError: no")
        assert dict(store.covered_sizes()) == {}
        store.put("a", entry(1))
        assert store.failures() == {"b": "ValueError: no"}


def test_records_and_timings_are_read_again(tmp_path: Path) -> None:
    with Store(tmp_path, writable=True) as store:
        store.add_failure("r", "first it failed")
        store.add_record("r", "{}")
        store.add_timing(10, 1, 0.5)
        store.add_timing(10, 0, 0.25)
        assert store.failures() == {}
    with Store(tmp_path, writable=False) as store:
        assert (store.record("r"), store.record("s")) == ("{}", None)
        assert store.timings() == [(10, 0, 0.25), (10, 1, 0.5)]


def test_reading_does_not_make_a_store(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no stored trials here"):
        Store(tmp_path / "nothing", writable=False)
    assert not list(tmp_path.iterdir())


def test_what_a_run_that_was_killed_at_once_leaves_is_an_empty_store(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).touch()
    with Store(tmp_path, writable=False) as store:
        assert dict(store.covered_sizes()) == {}
    assert (tmp_path / FILE_NAME).read_bytes() == b""
    fill(tmp_path, a=entry(1))
    assert read(tmp_path, "a") == entry(1)


@pytest.mark.parametrize("place", range(4))
def test_a_store_that_is_created_while_it_is_opened_is_seen_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: int
) -> None:
    """A run creates the store between any two statements of a reader, or as soon as the reader lets it."""
    path = tmp_path / FILE_NAME
    path.touch()
    statements: list[str] = []

    class Interrupted(sqlite3.Connection):
        def execute(self, statement: str, *parameters: object) -> sqlite3.Cursor:
            if "synchronous" not in statement:
                if len(statements) == place:
                    with contextlib.suppress(sqlite3.OperationalError):  # locked
                        sqlite3.Connection(path, timeout=0.0).executescript(f"BEGIN; {CREATE_TABLES_SQL} COMMIT;")
                statements.append(statement)
            return super().execute(statement, *parameters)

    monkeypatch.setattr(sqlite3, "connect", functools.partial(sqlite3.connect, factory=Interrupted))
    open_database(path, create=False).close()
    assert len(statements) > place


def test_a_store_of_another_version_is_refused(tmp_path: Path) -> None:
    fill(tmp_path, a=entry(1))
    connection = sqlite3.connect(tmp_path / FILE_NAME)
    connection.execute("PRAGMA user_version = 999")
    connection.close()
    for writable in (True, False):
        with pytest.raises(DataError, match=r"another version of fsvm \(store format 999.*--fresh"):
            Store(tmp_path, writable=writable)
    with Store(tmp_path, writable=True, fresh=True) as store:
        store.put("b", entry(1))
    assert read(tmp_path, "b") == entry(1)


@pytest.mark.parametrize("fresh", [False, True])
def test_a_database_of_another_program_is_refused_and_left_alone(tmp_path: Path, fresh: bool) -> None:
    connection = sqlite3.connect(tmp_path / FILE_NAME)
    connection.execute("CREATE TABLE letters (text)")
    connection.close()
    before = (tmp_path / FILE_NAME).read_bytes()
    with pytest.raises(DataError, match="not a store of fsvm"):
        Store(tmp_path, writable=True, fresh=fresh)
    assert (tmp_path / FILE_NAME).read_bytes() == before


def test_a_file_that_is_no_database_is_refused_and_may_be_replaced(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_text("dear diary " * 1000)
    with pytest.raises(DataError, match=r"cannot be used as a store.*--fresh"):
        Store(tmp_path, writable=True)
    with Store(tmp_path, writable=True, fresh=True) as store:
        store.put("a", entry(1))
    assert read(tmp_path, "a") == entry(1)


def test_a_torn_store_is_told_never_read_as_less(tmp_path: Path) -> None:
    """Whatever bytes are lost or changed, an entry is read as it was, or the damage is told."""
    original = {f"k{number}": entry(*range(1, 40), correct=number) for number in range(60)}
    fill(tmp_path / "whole", **original)
    whole = (tmp_path / "whole" / FILE_NAME).read_bytes()
    rng = random.Random(1)
    (tmp_path / "torn").mkdir()
    told = []
    for _ in range(200):
        content = bytearray(whole)
        if rng.random() < 0.3:
            del content[rng.randrange(1, len(content)) :]
        for _ in range(rng.choice([1, 1, 10, 1000])):
            content[rng.randrange(len(content))] = rng.randrange(256)
        (tmp_path / "torn" / FILE_NAME).write_bytes(content)
        try:
            with Store(tmp_path / "torn", writable=False) as store:
                for key, _ in store.covered_sizes():
                    found = store.entry(key)
                    assert found is None or original.get(key) == found
        except DataError as error:
            told.append(str(error))
    assert len(told) > 50
    assert all("--fresh" in message or "another --out" in message for message in told)


def test_a_changed_digit_is_noticed(tmp_path: Path) -> None:
    fill(tmp_path, a=entry(1, correct=31))
    with Store(tmp_path, writable=True) as store:
        store.add_record("r", "[31]")
    content = (tmp_path / FILE_NAME).read_bytes()
    assert content.count(b"[31") == 2
    (tmp_path / FILE_NAME).write_bytes(content.replace(b"[31", b"[37"))
    with Store(tmp_path, writable=False) as store:
        with pytest.raises(DataError, match="the entry a is damaged"):
            store.entry("a")
        with pytest.raises(DataError, match="the entry r is damaged"):
            store.record("r")


@pytest.mark.parametrize("key", ["schlüssel", b"key"])
def test_a_key_that_is_none_is_named(tmp_path: Path, key: str | bytes) -> None:
    with Store(tmp_path, writable=True) as store:
        store.put("a", entry(1))
    connection = sqlite3.connect(tmp_path / FILE_NAME)
    with connection:
        connection.execute("UPDATE outcomes SET key = ?", (key,))
    connection.close()
    with Store(tmp_path, writable=False) as store, pytest.raises(DataError, match=r"the entry .* is damaged"):
        list(store.covered_sizes())


def test_a_second_writer_is_refused_while_the_first_lives(tmp_path: Path) -> None:
    with Store(tmp_path, writable=True) as first:
        with pytest.raises(DataError, match="another fsvm run is writing here"):
            Store(tmp_path, writable=True)
        with Store(tmp_path, writable=False) as reader:
            assert dict(reader.covered_sizes()) == {}
        first.put("a", entry(1))
    fill(tmp_path, b=entry(1))


WRITER = """
import json, sys, pathlib
from fsvm_cli.store.store import Entry
from fsvm_cli.store.store import Store
store = Store(pathlib.Path(sys.argv[1]), writable=True, fresh=sys.argv[2] == "fresh")
for number in range(10**9):
    store.put(f"w{number}", Entry("1", "0.1," * 300))
    if number % 7 == 0:
        store.commit()
        print(number, flush=True)
"""


def writer(folder: Path, how: str = "go on") -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", WRITER, str(folder), how], stdout=subprocess.PIPE, text=True)


def kill_after(process: subprocess.Popen[str], n_lines: int) -> int:
    """Read some lines, kill the process, and give the last number that it said was durable."""
    assert process.stdout is not None
    last = -1
    for _ in range(n_lines):
        last = int(process.stdout.readline())
    process.kill()
    rest = process.stdout.read().splitlines()
    process.stdout.close()
    assert process.wait() == -signal.SIGKILL
    return int(rest[-1]) if rest else last


def test_after_kill_nothing_durable_is_lost_and_no_lock_is_left(tmp_path: Path) -> None:
    for n_lines in (1, 5, 20):
        last = kill_after(writer(tmp_path), n_lines)
        with Store(tmp_path, writable=True) as store:
            assert {f"w{number}" for number in range(last + 1)} <= set(dict(store.covered_sizes()))


def test_another_process_is_refused_while_one_writes(tmp_path: Path) -> None:
    process = writer(tmp_path)
    try:
        assert process.stdout is not None
        process.stdout.readline()
        with pytest.raises(DataError, match="another fsvm run is writing here"):
            Store(tmp_path, writable=True)
    finally:
        kill_after(process, 0)


def test_starting_over_keeps_the_old_store_until_the_new_one_has_an_entry(tmp_path: Path) -> None:
    fill(tmp_path, old=entry(1))
    with Store(tmp_path, writable=True, fresh=True) as store:
        assert dict(store.covered_sizes()) == {}
        store.add_failure("new", "ValueError: no")
        store.commit()
        assert read(tmp_path, "old") == entry(1)
    assert read(tmp_path, "old") == entry(1)
    with Store(tmp_path, writable=True, fresh=True) as store:
        store.put("new", entry(2))
        store.commit()
        assert read(tmp_path, "old") is None
        assert read(tmp_path, "new") == entry(2)
        store.put("later", entry(3))
    assert read(tmp_path, "later") == entry(3)
    assert not (tmp_path / FRESH_FILE_NAME).exists()


def test_what_a_killed_fresh_run_left_is_cleared_away(tmp_path: Path) -> None:
    fill(tmp_path, old=entry(1))
    (tmp_path / FRESH_FILE_NAME).write_text("half a store")
    fill(tmp_path, more=entry(1))
    assert not (tmp_path / FRESH_FILE_NAME).exists()
    assert read(tmp_path, "old") == entry(1)


def test_starting_over_after_a_kill_is_not_haunted_by_the_old_journal(tmp_path: Path) -> None:
    """A journal that is played back into the new store would bring back pages of the old one."""
    fill(tmp_path, **{f"old{number}": entry(*range(1, 30)) for number in range(50)})
    with Store(tmp_path, writable=True) as store:
        store._connection.execute("PRAGMA cache_size = 1")
        for number in range(400):
            store.put(f"late{number}", entry(*range(1, 30)))
        journal = tmp_path / f"{FILE_NAME}-journal"
        hot, database = journal.read_bytes(), (tmp_path / FILE_NAME).read_bytes()
        assert any(hot)
    (tmp_path / FILE_NAME).write_bytes(database)
    journal.write_bytes(hot)
    with Store(tmp_path, writable=True, fresh=True) as store:
        store.put("new", entry(7))
    with Store(tmp_path, writable=False) as store:
        assert dict(store.covered_sizes()) == {"new": {7}}


def test_a_reader_that_holds_on_delays_a_commit_and_does_not_break_it(tmp_path: Path) -> None:
    fill(tmp_path, a=entry(1))
    reader = sqlite3.connect(tmp_path / FILE_NAME, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM outcomes").fetchall()
    late = threading.Thread(target=fill, args=(tmp_path,), kwargs={"b": entry(2)})
    late.start()
    late.join(timeout=0.3)
    assert late.is_alive()
    reader.execute("COMMIT")
    reader.close()
    late.join()
    assert read(tmp_path, "b") == entry(2)


def with_code(code: int, message: str) -> sqlite3.OperationalError:
    error = sqlite3.OperationalError(message)
    error.sqlite_errorcode = code
    return error


@pytest.mark.parametrize(
    ("code", "remedy"),
    [
        (sqlite3.SQLITE_FULL, "free some space"),
        (sqlite3.SQLITE_IOERR_WRITE, "free some space"),
        (sqlite3.SQLITE_READONLY, "make the file and its folder writable"),
        (sqlite3.SQLITE_CANTOPEN, "make the file and its folder writable"),
        (sqlite3.SQLITE_BUSY, "close the program that has it open"),
        (sqlite3.SQLITE_NOMEM, "free some memory"),
    ],
)
def test_only_a_damaged_store_is_to_be_given_up(code: int, remedy: str, tmp_path: Path) -> None:
    for what in ("used as a store", "read", "written"):
        told = str(store_error(tmp_path / FILE_NAME, what, with_code(code, "no")))
        assert remedy in told
        assert "what it holds is kept" in told
        assert "--fresh" not in told
        assert "move it away" not in told
    for damage in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        assert "--fresh" in str(store_error(tmp_path / FILE_NAME, "read", with_code(damage, "no")))


@pytest.mark.parametrize("fresh", [False, True])
def test_a_store_that_cannot_grow_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fresh: bool) -> None:
    """SQLite's own limit of pages stands for a full disk."""

    class Limited(sqlite3.Connection):
        def execute(self, statement: str, *parameters: object) -> sqlite3.Cursor:
            super().execute("PRAGMA max_page_count = 1")  # as many as there are, where there are more
            return super().execute(statement, *parameters)

    fill(tmp_path, a=entry(1))
    monkeypatch.setattr(sqlite3, "connect", functools.partial(sqlite3.connect, factory=Limited))
    with pytest.raises(DataError, match="what it holds is kept; free some space, and run again") as caught:  # noqa: PT012, SIM117
        with Store(tmp_path, writable=True, fresh=fresh) as store:
            for number in range(100):
                store.put(str(number), entry(*range(100)))
    assert "--fresh" not in str(caught.value)
    monkeypatch.undo()
    assert read(tmp_path, "a") == entry(1)
