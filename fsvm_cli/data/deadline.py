"""HTTP responses that end in time, however slowly a server sends them."""

from __future__ import annotations

import http.client
import io
import time
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from requests.adapters import HTTPAdapter

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from requests import PreparedRequest
    from urllib3 import HTTPConnectionPool

SILENCE_S = 20.0
PATIENCE_S = 60.0
LEAST_BYTES_PER_S = 2000.0


class Deadline:
    """The end of the time for one download, all attempts and pauses included: the more has come, the later.

    Attributes
    ----------
    n_received : int
        Bytes of content that have come so far. Headers, redirects, the frames of chunks and whatever else comes
        beside the content buy no time.
    """

    def __init__(self) -> None:
        self._begin = time.monotonic()
        self.n_received = 0

    def seconds_passed(self) -> float:
        """Tell how long the download has taken so far."""
        return time.monotonic() - self._begin

    def seconds_left(self) -> float:
        """Tell how long it may still take; negative where it is over."""
        return PATIENCE_S + self.n_received / LEAST_BYTES_PER_S - self.seconds_passed()


class DeadlineAdapter(HTTPAdapter):
    """Connections on which every read ends at a deadline, or earlier where the server sends nothing for a while.

    A library's timeout is for each reading alone, and one byte ends it: a header, or the line that says how long a
    chunk is, may come for hours. To look up a name takes as long as the system lets it, and each of its addresses may
    be tried for as long as a server may send nothing.

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
        # What is a class here is called, and nothing else.
        pool.ConnectionCls = partial(_connection, type(pool).ConnectionCls, self._deadline)
        return cast("HTTPConnectionPool", pool)


def _connection(kind: Callable[..., Any], deadline: Deadline, **options: Any) -> Any:
    connection = kind(**options)
    connection.response_class = partial(_Answer, deadline)
    return connection


class _Answer(http.client.HTTPResponse):
    def __init__(self, deadline: Deadline, sock: socket.socket, *args: Any, **options: Any) -> None:
        super().__init__(sock, *args, **options)
        self.fp = io.BufferedReader(_ReadingInTime(self.fp.detach(), sock, deadline))


class _ReadingInTime(io.RawIOBase):
    """All bytes of an answer come through here: its status, headers, content, trailers."""

    def __init__(self, raw: io.RawIOBase, sock: socket.socket, deadline: Deadline) -> None:
        self._raw, self._socket, self._deadline = raw, sock, deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        left = self._deadline.seconds_left()
        if left <= 0:
            raise TimeoutError
        self._socket.settimeout(min(SILENCE_S, left))
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()
