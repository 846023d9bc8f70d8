"""Download of one address into one file: bounded in size and time, resumed where it broke off.

The time is bounded for all attempts together and grows with the bytes received. A library's timeout is for each read of
the socket alone, so that a server that sends single bytes could hold a download for hours.
"""

from __future__ import annotations

import http.client
import io
import time
from functools import partial
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

import requests
import urllib3
from requests.adapters import HTTPAdapter

from fsvm_cli.console import byte_progress
from fsvm_cli.errors import DataError

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable
    from pathlib import Path

    from requests import PreparedRequest
    from urllib3 import HTTPConnectionPool

READ_TIMEOUT_S = 20.0
MIN_DURATION_S = 60.0
"""Duration that a download is allowed before any bytes count."""
MIN_BYTES_PER_S = 2000.0


class Deadline:
    """The deadline of one download, all attempts and pauses included; it is later the more bytes have been received.

    Attributes
    ----------
    n_received : int
        Bytes of content received so far. Headers, redirects and the framing of chunks do not extend the deadline.
    """

    def __init__(self) -> None:
        self._begin = time.monotonic()
        self.n_received = 0

    def seconds_passed(self) -> float:
        """Return the duration of the download so far."""
        return time.monotonic() - self._begin

    def seconds_left(self) -> float:
        """Return the time left; negative after the deadline."""
        return MIN_DURATION_S + self.n_received / MIN_BYTES_PER_S - self.seconds_passed()


class DeadlineAdapter(HTTPAdapter):
    """Connections on which every read ends at a deadline, or earlier where the server sends nothing for a while.

    The timeout of requests applies to each read of the socket, so that a server that sends single bytes of a header or
    of the size of a chunk could hold a connection for hours. Name resolution is not bounded, and each of the addresses
    found is tried for up to `READ_TIMEOUT_S`.

    Parameters
    ----------
    deadline : Deadline
    """

    def __init__(self, deadline: Deadline) -> None:
        super().__init__()
        self._deadline = deadline

    def get_connection_with_tls_context(
        self, request: PreparedRequest, verify: Any, proxies: Any = None, cert: Any = None
    ) -> HTTPConnectionPool:
        """Choose the pool of connections for a request."""
        pool: Any = super().get_connection_with_tls_context(request, verify, proxies, cert)
        # urllib3 only calls this class, so that a function may replace it.
        pool.ConnectionCls = partial(_connection, type(pool).ConnectionCls, self._deadline)
        return cast("HTTPConnectionPool", pool)


def _connection(kind: Callable[..., Any], deadline: Deadline, **options: Any) -> Any:
    connection = kind(**options)
    connection.response_class = partial(_Response, deadline)
    return connection


class _Response(http.client.HTTPResponse):
    def __init__(self, deadline: Deadline, sock: socket.socket, *args: Any, **options: Any) -> None:
        super().__init__(sock, *args, **options)
        self.fp = io.BufferedReader(_ReadingInTime(self.fp.detach(), sock, deadline))


class _ReadingInTime(io.RawIOBase):
    """Reads all bytes of a response: status, headers, content and trailers."""

    def __init__(self, raw: io.RawIOBase, sock: socket.socket, deadline: Deadline) -> None:
        self._raw, self._socket, self._deadline = raw, sock, deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        left = self._deadline.seconds_left()
        if left <= 0:
            raise TimeoutError
        self._socket.settimeout(min(READ_TIMEOUT_S, left))
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


MAX_ATTEMPTS = 4
FIRST_PAUSE_S = 0.5
MAX_REDIRECTS = 5
CHUNK_BYTES = 1 << 16
RETRIED_STATUS_CODES = frozenset({408, 425, 429, 500, 502, 503, 504})


class _BrokenOffError(Exception):
    """The transfer was interrupted; another attempt may resume it."""


def download(address: str, path: Path, limit: int) -> None:
    """Fetch `address` into `path`, resuming an earlier attempt.

    Interrupted transfers and temporary failures of the server are retried, after a pause that doubles each time. All
    attempts together end at a `Deadline`.

    Parameters
    ----------
    address : str
        An http or https address.
    path : Path
        File to write; an existing file is assumed to be the beginning of the content. The caller verifies the whole.
    limit : int
        Bytes beyond which the content cannot be the right one.

    Raises
    ------
    DataError
        If the server cannot be reached, refuses, stalls, is too slow, redirects in a circle or sends too much.
    OSError
        If `path` cannot be written.
    """
    problem = ""
    deadline = Deadline()
    with requests.Session() as session:
        session.max_redirects = MAX_REDIRECTS
        session.hooks["response"] = [_without_content_of_redirect]
        for scheme in ("http://", "https://"):
            session.mount(scheme, DeadlineAdapter(deadline))
        for attempt in range(MAX_ATTEMPTS):
            if attempt:
                time.sleep(FIRST_PAUSE_S * 2 ** (attempt - 1))
            try:
                _attempt(session, address, path, limit, deadline)
            except _BrokenOffError as error:
                problem = str(error)
            else:
                return
            if deadline.seconds_left() <= 0:
                raise DataError(
                    f"the server is too slow: {deadline.n_received:,} bytes in {deadline.seconds_passed():.2g} s"
                )
    raise DataError(f"{problem} ({MAX_ATTEMPTS} attempts)")


def _without_content_of_redirect(response: requests.Response, **_: object) -> None:
    """Keep requests from reading the content of a redirect, which may decompress to any size or never end."""
    if response.is_redirect:
        response.raw.close()


def _attempt(session: requests.Session, address: str, path: Path, limit: int, deadline: Deadline) -> None:
    have = path.stat().st_size if path.exists() else 0
    # With a compressed transfer, the range would count other bytes than those of the file.
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={have}-"} if have else {})
    try:
        with session.get(address, headers=headers, stream=True, timeout=READ_TIMEOUT_S) as response:
            if response.status_code == requests.codes.requested_range_not_satisfiable:
                path.unlink()
                raise _BrokenOffError("the server cannot go on where the transfer broke off")
            if response.status_code in RETRIED_STATUS_CODES:
                raise _BrokenOffError(f"the server answers {response.status_code} {response.reason}")
            if not response.ok:
                raise DataError(f"the server answers {response.status_code} {response.reason}")
            resumed = response.status_code == requests.codes.partial_content
            _store(response, path, have if resumed else 0, limit, deadline)
    except requests.TooManyRedirects as error:
        raise DataError("the address redirects in a circle") from error
    except (requests.Timeout, urllib3.exceptions.TimeoutError) as error:
        raise _BrokenOffError(f"the server sends nothing for {READ_TIMEOUT_S:g} s") from error
    except requests.ConnectionError as error:
        raise _BrokenOffError("the server cannot be reached") from error
    except urllib3.exceptions.HTTPError as error:
        raise _BrokenOffError("the transfer breaks off") from error
    except requests.RequestException as error:
        raise DataError(f"cannot be fetched ({error})") from error


def _store(response: requests.Response, path: Path, have: int, limit: int, deadline: Deadline) -> None:
    size = have
    name = urlsplit(response.url).path.rpartition("/")[2]
    announced = response.raw.length_remaining
    total = None if announced is None else have + announced
    if total is not None and total > limit:
        raise DataError(f"sends more than {limit:,} bytes")
    with (
        path.open("ab" if have else "wb") as stream,
        byte_progress(name, total, have) as progress,
    ):
        # read1 returns whatever has arrived; to wait for a full chunk would hide a slow transfer.
        while chunk := response.raw.read1(CHUNK_BYTES):
            size += len(chunk)
            if size > limit:
                raise DataError(f"sends more than {limit:,} bytes")
            stream.write(chunk)
            progress.update(len(chunk))
            deadline.n_received += len(chunk)
