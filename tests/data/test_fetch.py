"""Fetching, against a server that behaves as servers do."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import subprocess
import sys
import tarfile
import textwrap
import time
import tracemalloc
import zipfile
from typing import TYPE_CHECKING

import pytest

from fsvm_cli.data import download, fetch
from fsvm_cli.data import download as deadline
from fsvm_cli.data.cards import CardFile
from fsvm_cli.data.fetch import fetch_files
from fsvm_cli.errors import DataError
from tests.helpers.server import Handler, Server, serving

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

CONTENT = b"".join(b"%d,%d\n" % (row, row * row) for row in range(2000))
WEB_PAGE = b"<!DOCTYPE html><html><body>Please log in</body></html>"


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as chosen:
        yield chosen


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FSVM_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("FSVM_MIRROR", raising=False)
    monkeypatch.setattr(download, "FIRST_PAUSE_S", 0.0)
    return tmp_path / "cache"


def card_file(*addresses: str) -> CardFile:
    # A card's addresses are https; the server of the tests has no certificate.
    return CardFile.model_construct(
        path="folder/file.data", sha256=hashlib.sha256(CONTENT).hexdigest(), bytes=len(CONTENT), addresses=addresses
    )


def fetched(*addresses: str) -> bytes:
    (path,) = fetch_files([card_file(*addresses)], lambda line: None)
    return path.read_bytes()


def left_in(cache: Path) -> list[str]:
    return sorted(str(path.relative_to(cache)) for path in cache.rglob("*") if path.is_file() and path.name != ".lock")


def test_a_fetched_file_lies_in_the_cache_and_is_not_asked_for_again(server: Server, cache: Path) -> None:
    server.predictions["/a"] = CONTENT
    assert fetched(f"{server.address}/a") == CONTENT
    assert left_in(cache) == ["folder/file.data"]
    assert fetched() == CONTENT
    assert len(server.asked) == 1


def test_an_altered_file_in_the_cache_is_fetched_again(server: Server, cache: Path) -> None:
    server.predictions["/a"] = CONTENT
    fetched(f"{server.address}/a")
    (cache / "folder/file.data").write_bytes(CONTENT[:-1] + b"x")
    assert fetched(f"{server.address}/a") == CONTENT


def test_a_wrong_file_in_the_cache_is_named_where_no_other_can_be_had(cache: Path) -> None:
    placed = cache / "folder/file.data"
    placed.parent.mkdir(parents=True)
    placed.write_bytes(CONTENT[:-1] + b"x")
    with pytest.raises(DataError) as caught:
        fetched()
    assert f"{placed}: holds other bytes than the card expects" in str(caught.value)
    placed.write_bytes(CONTENT)
    assert fetched() == CONTENT


def test_a_mirror_comes_before_the_addresses(server: Server, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server.predictions["/mirror/folder/file.data"] = CONTENT
    monkeypatch.setenv("FSVM_MIRROR", f"{server.address}/mirror/")
    assert fetched(f"{server.address}/a") == CONTENT
    assert [path for path, _ in server.asked] == ["/mirror/folder/file.data"]


def test_a_mirror_that_is_a_folder_is_read_in_place(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mirror/folder").mkdir(parents=True)
    (tmp_path / "mirror/folder/file.data").write_bytes(CONTENT)
    monkeypatch.setenv("FSVM_MIRROR", str(tmp_path / "mirror"))
    assert fetched() == CONTENT
    assert not cache.exists()


@pytest.mark.parametrize("what", ["pipe", "device"])
def test_a_pipe_or_a_device_in_a_mirror_or_the_cache_is_named_and_not_opened(
    what: str, tmp_path: Path, server: Server, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.predictions["/a"] = CONTENT
    monkeypatch.setenv("FSVM_MIRROR", str(tmp_path / "mirror"))
    paths = [tmp_path / "mirror/folder/file.data", cache / "folder/file.data", cache / "folder/file.data.part"]
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        os.mkfifo(path) if what == "pipe" else path.symlink_to("/dev/zero")
    with pytest.raises(DataError) as caught:
        fetched()
    assert f"{paths[0]}: is a {what}, not a file" in str(caught.value)
    assert f"{paths[1]}: is a {what}, not a file" in str(caught.value)
    # Of the mirror's nothing is asked where an address has the file.
    assert fetched(f"{server.address}/a") == CONTENT


@pytest.mark.parametrize("mirror", ["/dev/zero", "file:///dev/zero"])
def test_a_mirror_that_is_a_device_holds_nothing(mirror: str, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FSVM_MIRROR", mirror)
    with pytest.raises(DataError, match=rf"  {mirror}: "):
        fetched()
    assert left_in(cache) == []


def zipped(content: bytes, name: str = "inner/file.data") -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("../escape", b"x")
        archive.writestr(name, content)
    return stream.getvalue()


def tarred(content: bytes, name: str = "inner/file.data", kind: bytes = tarfile.REGTYPE) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz", compresslevel=1) as archive:
        for entry_name, within in (("../../escape", b"x"), ("/escape", b"x"), (name, content)):
            entry = tarfile.TarInfo(entry_name)
            entry.type, entry.size, entry.linkname = kind, len(within), "/etc/passwd"
            archive.addfile(entry, io.BytesIO(within))
    return stream.getvalue()


@pytest.mark.parametrize(
    ("name", "packed"),
    [
        ("file.zip#inner/file.data", zipped(CONTENT)),
        ("file.zip#inner/file.data.gz", zipped(gzip.compress(CONTENT), "inner/file.data.gz")),
        ("file.zip#inner.tar.gz#inner/file.data", zipped(tarred(CONTENT), "inner.tar.gz")),
        ("file.zip#inner.zip#inner/file.data", zipped(zipped(CONTENT), "inner.zip")),
        ("file.tar.gz#inner/file.data", tarred(CONTENT)),
        ("file.tar.gz#inner/file.data", tarred(CONTENT, "./inner/file.data")),
        ("file.data.gz", gzip.compress(CONTENT)),
    ],
)
def test_archives_and_compressed_originals_stand_for_the_file(
    server: Server, cache: Path, name: str, packed: bytes
) -> None:
    server.predictions[f"/{name.partition('#')[0]}"] = packed
    assert fetched(f"{server.address}/{name}") == CONTENT
    assert left_in(cache) == ["folder/file.data"]
    assert not (cache.parent / "escape").exists()


def test_an_archive_serves_several_files_at_one_fetch(server: Server, cache: Path) -> None:
    server.predictions["/all.zip"] = zipped(CONTENT)
    address = f"{server.address}/all.zip#inner/file.data"
    files = [card_file(address).model_copy(update={"path": f"{place}.data"}) for place in range(3)]
    assert [path.read_bytes() for path in fetch_files(files, lambda line: None)] == [CONTENT] * 3
    assert len(server.asked) == 1


def test_an_archive_that_cannot_be_had_is_asked_for_once(server: Server, cache: Path) -> None:
    server.predictions["/second.zip"] = zipped(CONTENT)
    addresses = [f"{server.address}/{name}#inner/file.data" for name in ("first.zip", "second.zip")]
    files = [card_file(*addresses).model_copy(update={"path": f"{place}.data"}) for place in range(3)]
    announced: list[str] = []
    assert [path.read_bytes() for path in fetch_files(files, announced.append)] == [CONTENT] * 3
    assert server.asked == [("/first.zip", None), ("/second.zip", None)]
    assert announced == [f"fetching 0.data from {address}" for address in addresses]
    with pytest.raises(DataError, match=r"first\.zip#inner/file\.data: the server answers 404"):
        fetch_files([file.model_copy(update={"path": "new", "addresses": addresses[:1]}) for file in files], print)


def test_an_archive_that_breaks_off_is_not_continued_with_another(server: Server, cache: Path) -> None:
    server.predictions["/first.tar.gz"] = break_off
    server.predictions["/second.zip"] = zipped(CONTENT)
    addresses = [f"{server.address}/{name}#inner/file.data" for name in ("first.tar.gz", "second.zip")]
    assert fetched(*addresses) == CONTENT
    assert [asked for asked in server.asked if asked[0] == "/second.zip"] == [("/second.zip", None)]


def stall(handler: Handler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(CONTENT)))
    handler.end_headers()
    handler.wfile.write(CONTENT[:100])
    handler.wfile.flush()
    handler.server.chosen.released.wait()


def redirect_to_itself(handler: Handler) -> None:
    handler.send_response(302)
    handler.send_header("Location", handler.path)
    handler.end_headers()


def hang_up(handler: Handler) -> None:
    handler.close_connection = True


def break_off(handler: Handler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(CONTENT)))
    handler.end_headers()
    handler.wfile.write(CONTENT[: len(CONTENT) // 2])


def sent(*head: bytes, content: bytes = b"") -> Callable[[Handler], None]:
    """An answer to the letter."""
    return lambda handler: handler.wfile.write(b"\r\n".join([*head, b"", content])) and None


MILLION_ZEROS = gzip.compress(bytes(1_000_000))
"""What gzip unfolds one after the other where several follow each other."""
BOMB = MILLION_ZEROS * 20


def drawn_out(*parts: bytes, pause: float = 0.02) -> Callable[[Handler], None]:
    """An answer of some parts, of which the last is repeated without end."""

    def answer(handler: Handler) -> None:
        handler.wfile.write(b"".join(parts[:-1]))
        while not handler.server.chosen.released.wait(pause):
            handler.wfile.write(parts[-1])

    return answer


def status(code: int) -> Callable[[Handler], None]:
    return lambda handler: handler.send_error(code)


BAD_ANSWERS: dict[str, tuple[str, bytes | Callable[[Handler], None], str]] = {
    "missing": ("/a", status(404), "404 Not Found"),
    "forbidden": ("/a", status(403), "403 Forbidden"),
    "overloaded": ("/a", status(503), r"503 Service Unavailable \(4 attempts\)"),
    "silent": ("/a", stall, r"sends nothing for 0\.2 s"),
    "circular": ("/a", redirect_to_itself, "redirects in a circle"),
    "hanging up": ("/a", hang_up, "cannot be reached"),
    "breaking off": ("/a", break_off, "breaks off"),
    "empty": ("/a", b"", f"sends 0 bytes, where the card expects {len(CONTENT):,}"),
    "truncated": ("/a", CONTENT[:-1], f"sends {len(CONTENT) - 1:,} bytes, where"),
    "truncated inside": ("/a.zip#inner/file.data", zipped(CONTENT[:-1]), f"sends {len(CONTENT) - 1:,} bytes, where"),
    "altered": ("/a", CONTENT[:-1] + b"x", "other bytes"),
    "too long": ("/a", CONTENT * 2, "more than"),
    "announcing too much": ("/a", sent(b"HTTP/1.1 200 OK", b"Content-Length: 1%s" % (b"0" * 30)), "more than"),
    "announcing no number": (
        "/a",
        sent(b"HTTP/1.1 200 OK", b"Content-Length: %s" % (b"9" * 5000), content=b"x"),
        "sends 1 bytes, where",
    ),
    "announcing compression": (
        "/a",
        sent(b"HTTP/1.1 200 OK", b"Content-Encoding: gzip", b"Transfer-Encoding: gzip", content=BOMB),
        f"sends {len(BOMB):,} bytes, where",
    ),
    "endless headers": ("/a", sent(b"HTTP/1.1 200 OK", *[b"a: b"] * 1000), "cannot be reached"),
    "leading to a file": ("/a", sent(b"HTTP/1.1 302 Found", b"Location: file:///etc/passwd"), "cannot be fetched"),
    "web page": ("/a", WEB_PAGE, "a web page"),
    "web page for an archive": ("/a.zip#inner/file.data", WEB_PAGE, "a web page"),
    "no archive": ("/a.zip#inner/file.data", CONTENT, "damaged archive"),
    "damaged archive": ("/a.tar.gz#inner/file.data", tarred(CONTENT)[:-200], "damaged archive"),
    "other member": ("/a.zip#other", zipped(CONTENT), "holds no 'other'"),
    "other member of an inner archive": (
        "/a.zip#inner.tar.gz#other",
        zipped(tarred(CONTENT), "inner.tar.gz"),
        "holds no 'other'",
    ),
    "damaged inner archive": (
        "/a.zip#inner.tar.gz#inner/file.data",
        zipped(tarred(CONTENT)[:-200], "inner.tar.gz"),
        "damaged archive",
    ),
    "inner bomb": (
        "/a.zip#inner.tar.gz#inner/file.data",
        zipped(tarred(bytes(50_000_000)), "inner.tar.gz"),
        "decompresses to more than",
    ),
    "other tar member": ("/a.tar.gz#other", tarred(CONTENT), "holds no 'other'"),
    "link": ("/a.tar.gz#inner/file.data", tarred(b"", kind=tarfile.SYMTYPE), "holds no 'inner/file.data'"),
    "zip bomb": ("/a.zip#inner/file.data", zipped(bytes(50_000_000)), "decompresses to more than"),
    "gzip bomb": ("/a.gz", MILLION_ZEROS * 50, "decompresses to more than"),
    "no gzip": ("/a.gz", CONTENT, "damaged archive"),
    "no .Z": ("/a.Z", CONTENT, "not a file that the program 'compress' wrote"),
}


@pytest.mark.parametrize("answer", BAD_ANSWERS)
def test_a_bad_answer_is_named_and_the_next_address_tried(
    server: Server, cache: Path, answer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, bad, message = BAD_ANSWERS[answer]
    monkeypatch.setattr(deadline, "READ_TIMEOUT_S", 0.2)
    server.predictions[path.partition("#")[0]] = bad
    with pytest.raises(DataError, match=message) as caught:
        fetched(server.address + path)
    assert f"{server.address}{path}: " in str(caught.value)
    assert str(cache / "folder/file.data") in str(caught.value)
    assert left_in(cache) == []
    server.predictions["/good"] = CONTENT
    assert fetched(server.address + path, f"{server.address}/good") == CONTENT
    assert left_in(cache) == ["folder/file.data"]


OK = b"HTTP/1.1 200 OK\r\n"
DRAWN_OUT = {
    "status": drawn_out(b"H"),
    "header": drawn_out(OK, b"x"),
    "interim answers": drawn_out(b"HTTP/1.1 100 Continue\r\n\r\n", pause=0),
    "content": drawn_out(OK, b"\r\n", b"x"),
    "length of a chunk": drawn_out(OK, b"Transfer-Encoding: chunked\r\n\r\n", b"0"),
    "chunks": drawn_out(OK, b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
    "trailers": drawn_out(OK, b"Transfer-Encoding: chunked\r\n\r\n0\r\n", b"a: b\r\n", pause=0),
    "header of a redirect": drawn_out(b"HTTP/1.1 302 Found\r\nLocation: /a\r\n", b"x"),
    "silence after the whole": drawn_out(OK, b"\r\n", CONTENT, b""),
}


@pytest.mark.parametrize("answer", DRAWN_OUT)
def test_an_answer_that_is_drawn_out_ends_in_time(
    server: Server, cache: Path, answer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deadline, "MIN_DURATION_S", 0.2)
    monkeypatch.setattr(deadline, "MIN_BYTES_PER_S", 1e9)
    server.predictions["/a"] = DRAWN_OUT[answer]
    server.predictions["/good"] = CONTENT
    with pytest.raises(DataError, match=r"/a: the server is too slow: [\d,]+ bytes in \d\.?\d* s"):
        fetched(f"{server.address}/a")
    monkeypatch.setattr(deadline, "MIN_DURATION_S", 60.0)
    assert fetched(f"{server.address}/good") == CONTENT


def test_content_buys_time_for_more_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [5.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    bound = deadline.Deadline()
    clock[0] += 50.0
    assert bound.seconds_passed() == 50
    assert bound.seconds_left() == deadline.MIN_DURATION_S - 50
    bound.n_received = 10 * round(deadline.MIN_BYTES_PER_S)
    assert bound.seconds_left() == deadline.MIN_DURATION_S - 40


@pytest.mark.parametrize(
    "redirect",
    {
        "endless": drawn_out(b"HTTP/1.1 302 Found\r\nLocation: /good\r\n\r\n", bytes(1 << 16), pause=0),
        "silent": drawn_out(b"HTTP/1.1 302 Found\r\nLocation: /good\r\nContent-Length: 9\r\n\r\n", b""),
        "compressed": sent(b"HTTP/1.1 302 Found", b"Location: /good", b"Content-Encoding: gzip", content=BOMB),
    }.values(),
    ids=["endless", "silent", "compressed"],
)
def test_what_comes_with_a_redirect_is_not_read(
    server: Server, cache: Path, redirect: Callable[[Handler], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deadline, "MIN_DURATION_S", 5.0)
    server.predictions |= {"/a": redirect, "/good": CONTENT}
    tracemalloc.start()
    try:
        assert fetched(f"{server.address}/a") == CONTENT
        assert tracemalloc.get_traced_memory()[1] < len(BOMB) + 5_000_000
    finally:
        tracemalloc.stop()


def test_an_unreachable_server_is_named(server: Server, cache: Path) -> None:
    with pytest.raises(DataError, match="cannot be reached"):
        fetched("http://127.0.0.1:9/a")


def test_a_transfer_goes_on_where_it_broke_off(server: Server, cache: Path) -> None:
    def first_half_then_the_rest(handler: Handler) -> None:
        if handler.headers.get("Range"):
            handler.send_bytes(CONTENT)
        else:
            break_off(handler)

    server.predictions["/a"] = first_half_then_the_rest
    assert fetched(f"{server.address}/a") == CONTENT
    assert server.asked == [("/a", None), ("/a", f"bytes={len(CONTENT) // 2}-")]


def test_a_passing_failure_is_tried_again(server: Server, cache: Path) -> None:
    server.predictions["/a"] = lambda handler: (
        handler.send_error(503) if len(server.asked) < 3 else handler.send_bytes(CONTENT)
    )
    assert fetched(f"{server.address}/a") == CONTENT
    assert len(server.asked) == 3


@pytest.mark.parametrize("left", [CONTENT[:500], WEB_PAGE, CONTENT * 2])
def test_what_a_killed_process_left_is_used_or_replaced(server: Server, cache: Path, left: bytes) -> None:
    server.predictions["/a"] = CONTENT
    (cache / "folder").mkdir(parents=True)
    (cache / "folder/file.data.part").write_bytes(left)
    (cache / ".archives").mkdir()
    (cache / ".archives/0").write_bytes(b"x")
    assert fetched(f"{server.address}/a") == CONTENT
    assert left_in(cache) == ["folder/file.data"]


@pytest.mark.parametrize("left", ["half", "all", "another"])
def test_an_archive_that_a_killed_process_began_is_gone_on_with_or_replaced(
    server: Server, cache: Path, left: str
) -> None:
    packed = zipped(CONTENT)
    address = f"{server.address}/all.zip"
    server.predictions["/all.zip"] = packed
    beginnings = {"half": packed[: len(packed) // 2], "all": packed, "another": WEB_PAGE}
    beginning = cache / ".archives" / hashlib.sha256(address.encode()).hexdigest()
    beginning.parent.mkdir(parents=True)
    beginning.write_bytes(beginnings[left])
    assert fetched(f"{address}#inner/file.data") == CONTENT
    assert left_in(cache) == ["folder/file.data"]
    first, *others = [asked for _, asked in server.asked]
    assert first == f"bytes={len(beginnings[left])}-"
    assert others == ([] if left == "half" else [None])


def test_ctrl_c_leaves_the_archive_to_be_gone_on_with(
    server: Server, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = zipped(CONTENT)
    address = f"{server.address}/all.zip"

    def interrupted(source: str, path: Path, limit: int) -> None:
        path.write_bytes(packed[:1000])
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(download, "download", interrupted)
        with pytest.raises(KeyboardInterrupt):
            fetched(f"{address}#inner/file.data")
    server.predictions["/all.zip"] = packed
    assert fetched(f"{address}#inner/file.data") == CONTENT
    assert [asked for _, asked in server.asked] == ["bytes=1000-"]
    assert left_in(cache) == ["folder/file.data"]


def another_process(server: Server, cache: Path) -> tuple[list[str], dict[str, str]]:
    """Command and environment of a process that fetches the file from `server` as its mirror."""
    program = textwrap.dedent(f"""
        from fsvm_cli.data.cards import CardFile
        from fsvm_cli.data.fetch import fetch_files
        file = CardFile(path="folder/file.data", sha256="{hashlib.sha256(CONTENT).hexdigest()}", bytes={len(CONTENT)})
        print(len(fetch_files([file], print)[0].read_bytes()))
    """)
    return [sys.executable, "-c", program], os.environ | {"FSVM_MIRROR": server.address, "FSVM_CACHE": str(cache)}


def test_a_killed_process_leaves_what_the_next_one_goes_on_from(
    server: Server, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    half = len(CONTENT) // 2

    def half_then_silence(handler: Handler) -> None:
        if handler.headers.get("Range"):
            handler.send_bytes(CONTENT)
            return
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(CONTENT)))
        handler.end_headers()
        handler.wfile.write(CONTENT[:half])
        handler.wfile.flush()
        handler.server.chosen.released.wait()

    server.predictions["/folder/file.data"] = half_then_silence
    command, environment = another_process(server, cache)
    partial = cache / "folder/file.data.part"
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as process:
        # The system's buffers may hold the last bytes back; what is on disk is what a kill leaves.
        while process.poll() is None and not (partial.exists() and partial.stat().st_size):
            time.sleep(0.02)
        process.kill()
    left = partial.stat().st_size
    monkeypatch.setenv("FSVM_MIRROR", server.address)
    assert fetched() == CONTENT
    assert left_in(cache) == ["folder/file.data"]
    assert 0 < left <= half
    assert [asked for _, asked in server.asked] == [None, f"bytes={left}-"]


def test_processes_that_need_a_file_at_once_fetch_it_once(server: Server, cache: Path) -> None:
    server.predictions["/folder/file.data"] = lambda handler: (
        handler.server.chosen.released.wait(0.5),
        handler.send_bytes(CONTENT),
    )[-1]
    command, environment = another_process(server, cache)
    processes = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    outputs = [process.communicate()[0] for process in processes]
    assert [output.splitlines()[-1] for output in outputs] == [str(len(CONTENT))] * 3
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (OSError(28, "No space left on device"), "is full"),
        (PermissionError(13, "Permission denied"), "cannot be written"),
    ],
)
def test_a_cache_that_cannot_be_written_is_named(
    server: Server, cache: Path, monkeypatch: pytest.MonkeyPatch, error: OSError, message: str
) -> None:
    def refuse(response: object, path: Path, *_: object) -> None:
        path.write_bytes(CONTENT[:10])
        raise error

    server.predictions["/a"] = CONTENT
    with monkeypatch.context() as patched:
        patched.setattr(download, "_store", refuse)
        with pytest.raises(DataError, match=f"{cache} {message}.*FSVM_CACHE"):
            fetched(f"{server.address}/a")
    assert left_in(cache) == []
    assert fetched(f"{server.address}/a") == CONTENT


def test_a_cache_folder_that_is_a_file_is_named(server: Server, cache: Path) -> None:
    cache.write_bytes(b"")
    with pytest.raises(DataError, match=r"cannot be written.*FSVM_CACHE"):
        fetched(f"{server.address}/a")


def test_the_cache_has_a_place_without_being_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FSVM_CACHE", raising=False)
    assert fetch.cache_folder().name == "fsvm"
