"""`litrag serve-metrics`: Prometheus metrics of all that the store holds, whichever process ran it."""

from __future__ import annotations

import argparse
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from rich.console import Console

from litrag.config import settings
from litrag.errors import InputError

if TYPE_CHECKING:
    from litrag.reviews import Store

Add = Callable[[str, Callable[[argparse.Namespace], int], str], argparse.ArgumentParser]
PORT = 9464


def add_commands(add: Add) -> None:
    """The command `serve-metrics`."""
    command = add("serve-metrics", _serve, "serve Prometheus metrics of stored runs and labels until it is stopped")
    command.add_argument("--port", type=int, default=PORT, help=f"default {PORT}")
    command.add_argument("--host", default="127.0.0.1", help="address to listen on; default 127.0.0.1")


def _serve(options: argparse.Namespace) -> int:
    from litrag.reviews import open_store

    close = serve(open_store(settings().database_url), options.host, options.port)
    Console(stderr=True).print(f"metrics at http://{options.host}:{options.port}/metrics; Ctrl-C ends it")
    try:
        threading.Event().wait()
    finally:
        close()
    return 0


def serve(store: Store, host: str, port: int) -> Callable[[], None]:
    """Serve the store's metrics; returns what ends it. InputError when the address can't be used."""
    from prometheus_client import CollectorRegistry, start_http_server

    from litrag.sinks.prometheus import FromStore, PrometheusSink
    from litrag.stored_events import StoredEvents

    stored, registry = StoredEvents(store), CollectorRegistry()
    sink = PrometheusSink(CollectorRegistry())
    registry.register(FromStore(stored.fresh, stored.queue_length, sink))
    try:
        server, thread = start_http_server(port, host, registry)
    except OSError as error:
        raise InputError(f"{host}:{port} can't be listened on ({error.strerror}); choose another --port") from error

    def close() -> None:
        server.shutdown()
        server.server_close()
        thread.join(1)

    return close
