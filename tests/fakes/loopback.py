"""A scriptable HTTP server on 127.0.0.1 that the real provider clients are driven against.

A subclass says what the wire format allows and how a reply is written; this module does sockets, faults and
the record of what was asked. Faults are decided per request, in the order in which requests arrive.
"""

from __future__ import annotations

import json
import socket
import struct
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


@dataclass(frozen=True)
class Status:
    """Answer with an error status instead of a reply."""

    code: int
    kind: str = "api_error"
    message: str = "scripted failure"
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Drop:
    """Reset the connection before any byte of a response."""


@dataclass(frozen=True)
class Hang:
    """Stay silent for this long, then reset the connection."""

    seconds: float


@dataclass(frozen=True)
class Cut:
    """Send the beginning of a body (or this many stream events), then reset or just close the connection."""

    events: int = 3
    reset: bool = True


@dataclass(frozen=True)
class ErrorEvent:
    """Send this many stream events, then an error event in a response that began with 200."""

    events: int = 3
    kind: str = "overloaded_error"


@dataclass(frozen=True)
class Body:
    """Answer 200 with this text, whatever it is."""

    text: str
    content_type: str = "application/json"


Fault = Status | Drop | Hang | Cut | ErrorEvent | Body


class WireError(Exception):
    """A request that the documented format doesn't allow."""

    def __init__(self, message: str, code: int = 400, kind: str = "invalid_request_error") -> None:
        super().__init__(message)
        self.code, self.kind = code, kind


@dataclass(frozen=True)
class Asked:
    """One request as it arrived; `raw` is the body byte for byte."""

    path: str
    headers: dict[str, str]
    raw: bytes
    body: dict[str, Any]


class LoopbackServer:
    """Serves until closed; `asked` holds every request, rejected ones included."""

    error_event = "error"

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.rejected: list[str] = []
        self.faults: deque[Fault | None] = deque()
        self.fault_for: Callable[[int, dict[str, Any]], Fault | None] = lambda number, body: None
        self.delay = 0.0
        self.busiest = 0
        self._under_way = 0
        self._lock = threading.Lock()
        self._http = _Listener(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    # --- what a subclass provides
    def check(self, asked: Asked) -> None:
        """Raise `WireError` unless the request keeps to the documented format."""
        raise NotImplementedError

    def answer(self, asked: Asked) -> dict[str, Any]:
        """The whole response body."""
        raise NotImplementedError

    def events(self, asked: Asked, answer: dict[str, Any]) -> Iterator[tuple[str | None, Any]]:
        """The same answer as server-sent events: (event name or None, data)."""
        raise NotImplementedError

    def error_body(self, kind: str, message: str) -> dict[str, Any]:
        raise NotImplementedError

    # --- running
    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(timeout=5)

    @property
    def port(self) -> int:
        return int(self._http.server_address[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def next_fault(self, asked: Asked) -> Fault | None:
        with self._lock:
            self.asked.append(asked)
            if self.faults:
                return self.faults.popleft()
            return self.fault_for(len(self.asked), asked.body)

    def began(self) -> None:
        with self._lock:
            self._under_way += 1
            self.busiest = max(self.busiest, self._under_way)

    def ended(self) -> None:
        with self._lock:
            self._under_way -= 1


class _Listener(ThreadingHTTPServer):
    """Takes many connections at once; a client that goes away is no news."""

    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


def _handler(server: LoopbackServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: Any) -> None:
            """Keep test output quiet."""

        def do_GET(self) -> None:
            self._serve(b"")

        def do_POST(self) -> None:
            self._serve(self.rfile.read(int(self.headers.get("content-length", 0))))

        def _serve(self, raw: bytes) -> None:
            server.began()
            try:
                self._respond(raw)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True
            finally:
                server.ended()

        def _respond(self, raw: bytes) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            asked = Asked(self.path, headers, raw, json.loads(raw) if raw else {})
            fault = server.next_fault(asked)
            try:
                server.check(asked)
            except WireError as error:
                server.rejected.append(str(error))
                self._json(error.code, server.error_body(error.kind, str(error)))
                return
            time.sleep(server.delay)
            match fault:
                case Status():
                    self._json(fault.code, server.error_body(fault.kind, fault.message), fault.headers)
                case Drop():
                    self._reset()
                case Hang():
                    time.sleep(fault.seconds)
                    self._reset()
                case Body():
                    self._send(200, fault.text.encode(), fault.content_type)
                case _ if asked.body.get("stream"):
                    self._stream(asked, fault)
                case Cut() | ErrorEvent():
                    self._cut_body(json.dumps(server.answer(asked)).encode())
                case None:
                    self._json(200, server.answer(asked))

        def _stream(self, asked: Asked, fault: Fault | None) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("connection", "close")
            self.end_headers()
            self.close_connection = True
            limit = fault.events if isinstance(fault, Cut | ErrorEvent) else None
            for number, (name, data) in enumerate(server.events(asked, server.answer(asked))):
                if number == limit:
                    break
                self._event(name, data)
            if isinstance(fault, ErrorEvent):
                self._event(server.error_event, server.error_body(fault.kind, "Overloaded"))
            elif isinstance(fault, Cut) and fault.reset:
                self._reset()

        def _event(self, name: str | None, data: Any) -> None:
            text = data if isinstance(data, str) else json.dumps(data)
            head = f"event: {name}\n" if name else ""
            self.wfile.write(f"{head}data: {text}\n\n".encode())
            self.wfile.flush()

        def _json(self, code: int, body: dict[str, Any], headers: dict[str, str] | None = None) -> None:
            self._send(code, json.dumps(body).encode(), "application/json", headers)

        def _send(
            self, code: int, body: bytes, content_type: str, headers: dict[str, str] | None = None
        ) -> None:
            self.send_response(code)
            self.send_header("content-type", content_type)
            self.send_header("content-length", str(len(body)))
            self.send_header("request-id", f"req_{len(server.asked)}")
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def _cut_body(self, body: bytes) -> None:
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[: len(body) // 2])
            self.wfile.flush()
            self._reset()

        def _reset(self) -> None:
            self.close_connection = True
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()

    return Handler
