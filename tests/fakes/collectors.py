"""A server on 127.0.0.1 that takes OTLP spans and Langfuse scores and says what is off the documented formats."""

from __future__ import annotations

import base64
import gzip
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

#: What POST /api/public/scores documents for a score.
SCORE_FIELDS = {
    "id", "traceId", "sessionId", "observationId", "datasetRunId", "name", "value", "dataType", "comment", "configId",
    "metadata", "environment", "queueId", "timestamp", "source",
}
SCORE_TYPES: dict[str, tuple[type, ...]] = {"NUMERIC": (int, float), "BOOLEAN": (int, float), "CATEGORICAL": (str,)}


class Collector:
    """Keeps what it was sent; `silent` seconds without a reply, or `status` as the reply to everything."""

    def __init__(self, *, user: str = "", password: str = "", status: int = 200, silent: float = 0.0) -> None:
        self.user, self.password, self.status, self.silent = user, password, status, silent
        self.asked: list[tuple[str, bytes]] = []
        self.problems: list[str] = []
        self.spans: list[dict[str, Any]] = []
        self.scores: list[dict[str, Any]] = []
        self._released = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                outer.take(self)

            def log_message(self, *_: Any) -> None:
                """Nothing on the screen."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()
        self._server.shutdown()
        self._server.server_close()

    def release(self) -> None:
        """Let requests that are being kept waiting go."""
        self._released.set()

    def text(self) -> str:
        """Everything that was sent, as text."""
        return "\n".join(body.decode("utf-8", "replace") for _, body in self.asked)

    def take(self, handler: BaseHTTPRequestHandler) -> None:
        body = handler.rfile.read(int(handler.headers.get("content-length", 0)))
        if handler.headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        self.asked.append((handler.path, body))
        if self.silent:
            self._released.wait(self.silent)
        reply, kind, status = b"", "application/json", self.status
        if self.status == 200:
            self._check_key(handler)
            if handler.path.endswith("/v1/traces"):
                reply, kind = self._take_spans(body), "application/x-protobuf"
            elif handler.path == "/api/public/scores":
                reply, status = self._take_scores(body), 207
            else:
                self.problems.append(f"nothing is taken at {handler.path}")
        try:
            handler.send_response(status)
            handler.send_header("content-type", kind)
            handler.send_header("content-length", str(len(reply)))
            handler.end_headers()
            handler.wfile.write(reply)
        except OSError:
            self.asked.append(("gone", b""))

    def _check_key(self, handler: BaseHTTPRequestHandler) -> None:
        expected = base64.b64encode(f"{self.user}:{self.password}".encode()).decode()
        if self.user and handler.headers.get("authorization") != f"Basic {expected}":
            self.problems.append(f"{handler.path} came without the key")

    def _take_spans(self, body: bytes) -> bytes:
        request = ExportTraceServiceRequest.FromString(body)
        for resource in request.resource_spans:
            for scope in resource.scope_spans:
                self.spans += [self._span(span) for span in scope.spans]
        return ExportTraceServiceResponse().SerializeToString()

    def _span(self, span: Any) -> dict[str, Any]:
        if len(span.trace_id) != 16 or len(span.span_id) != 8 or not span.name:
            self.problems.append(f"span {span.name!r} has no proper ids")
        if not 0 < span.start_time_unix_nano <= span.end_time_unix_nano:
            self.problems.append(f"span {span.name!r} ends before it starts")
        return {
            "name": span.name, "trace_id": span.trace_id.hex(), "span_id": span.span_id.hex(),
            "parent_id": span.parent_span_id.hex(), "attributes": _attributes(span.attributes),
            "events": [_attributes(event.attributes) for event in span.events],
        }

    def _take_scores(self, body: bytes) -> bytes:
        given = json.loads(body)
        scores = given if isinstance(given, list) else [given]
        for score in scores:
            if unknown := set(score) - SCORE_FIELDS:
                self.problems.append(f"unknown fields {sorted(unknown)}")
            if not score.get("name") or "value" not in score:
                self.problems.append(f"a score needs a name and a value: {score}")
            if not re.fullmatch(r"[0-9a-f]{32}", score.get("traceId") or ""):
                self.problems.append(f"no trace id: {score.get('traceId')!r}")
            if not isinstance(score.get("value"), SCORE_TYPES.get(score.get("dataType") or "", ())):
                self.problems.append(f"{score.get('value')!r} is no {score.get('dataType')}")
        self.scores += scores
        return json.dumps({"accepted": len(scores), "rejected": 0, "errors": []}).encode()


def _attributes(given: Any) -> dict[str, Any]:
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value")) for pair in given}
