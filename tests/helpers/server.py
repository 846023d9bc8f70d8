"""A server on loopback whose answers a test chooses, path by path."""

from __future__ import annotations

import functools
import http.server
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import unquote

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@dataclass
class Server:
    """What it answers, and what it was asked.

    `answers` maps a path to bytes or to a function of the request's handler.
    """

    address: str
    predictions: dict[str, bytes | Callable[[Handler], None]] = field(default_factory=dict)
    asked: list[tuple[str, str | None]] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)


class Handler(http.server.BaseHTTPRequestHandler):
    server: ChosenServer

    def do_GET(self) -> None:
        chosen = self.server.chosen
        path = unquote(self.path)
        chosen.asked.append((path, self.headers.get("Range")))
        answer = chosen.predictions.get(path)
        if answer is None:
            self.send_error(404)
        elif isinstance(answer, bytes):
            self.send_bytes(answer)
        else:
            answer(self)

    def send_bytes(self, content: bytes) -> None:
        start = int((self.headers.get("Range") or "bytes=0-")[6:-1])
        if start >= len(content) > 0:
            self.send_error(416)
            return
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        self.wfile.write(content[start:])

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name that the base class has
        pass


class ChosenServer(http.server.ThreadingHTTPServer):
    daemon_threads = True
    chosen: Server

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that went away is part of what is tested."""


@contextmanager
def serving() -> Iterator[Server]:
    server = ChosenServer(("127.0.0.1", 0), Handler)
    server.chosen = Server(f"http://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=functools.partial(server.serve_forever, poll_interval=0.02))
    thread.start()
    try:
        yield server.chosen
    finally:
        server.chosen.released.set()
        server.shutdown()
        thread.join()
        server.server_close()


def files_below(folder: Path) -> dict[str, bytes | Callable[[Handler], None]]:
    """Answers that serve every file of a folder."""

    def send(path: Path) -> Callable[[Handler], None]:
        return lambda handler: handler.send_bytes(path.read_bytes())

    return {f"/{path.relative_to(folder)}": send(path) for path in folder.rglob("*") if path.is_file()}
