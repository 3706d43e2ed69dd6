"""What runs did, told to whoever watches: events go in, logs, metrics and traces come out beside the answer.

An event is put into a bounded queue of each sink and is written by that sink's own thread. A sink that is slow, full,
broken or refusing therefore costs an answer nothing: what doesn't fit is counted as dropped. Nothing is sent anywhere
unless a setting says so, and nothing to another machine while LITRAG_OFFLINE is set; only the local log is on.
"""

from __future__ import annotations

import atexit
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import wraps
from typing import ParamSpec, Protocol

from litrag.config import Settings, settings
from litrag.models import AuditedAnswer

P = ParamSpec("P")

#: Events that wait for one sink at most; more are dropped and counted.
WAITING = 1000

#: Seconds between two looks of a sink's thread into its queue.
PAUSE = 0.25

#: Seconds that the end of the process waits for sinks; what isn't written by then is lost.
LAST_WAIT = 2.0

log = logging.getLogger(__name__)


# --- events
@dataclass(frozen=True)
class AnswerFinished:
    """A run that gave an answer or declined; `seconds` is its whole time, `at` its end (Unix time)."""

    answer: AuditedAnswer
    seconds: float
    at: float = field(default_factory=time.time)


@dataclass(frozen=True)
class RunFailed:
    """A run that ended without an answer; the error's type only, since its words may hold text of the user."""

    kind: str
    error: str
    seconds: float
    at: float = field(default_factory=time.time)


@dataclass(frozen=True)
class ModelCalled:
    """One try to call a model, with its tokens and cost in US dollars; `error` names the kind of failure."""

    provider: str
    model: str
    seconds: float
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    error: str = ""
    at: float = field(default_factory=time.time)


@dataclass(frozen=True)
class LabelGiven:
    """A reviewer's word on a citation; `lag` is the seconds since it was queued."""

    run_id: str
    item_id: str
    claim_id: str
    verdict: str
    judged: str
    lag: float
    at: float = field(default_factory=time.time)


Event = AnswerFinished | RunFailed | ModelCalled | LabelGiven


class Sink(Protocol):
    """Somewhere that events go; called by one thread only, may be slow and may raise."""

    def emit(self, event: Event) -> None: ...

    def close(self) -> None: ...


# --- one queue and thread per sink
class Lane:
    """A sink behind a bounded queue; `offer` never waits, never raises and wakes nobody.

    The sink's thread looks into the queue by itself a few times a second: waking it would hand it the interpreter at
    once, in the middle of an answer.
    """

    def __init__(self, name: str, open_sink: Callable[[], Sink], *, waiting: int = WAITING) -> None:
        self.name = name
        self._open = open_sink
        self._most = waiting
        self._queue: deque[Event | threading.Event] = deque()
        self._lock = threading.Lock()
        self._dropped = 0
        self._hurry = threading.Event()
        self._ending = False
        self._thread = threading.Thread(target=self._work, name=f"litrag-{name}", daemon=True)
        self._thread.start()

    @property
    def dropped(self) -> int:
        """Events that were lost: no room, or the sink refused them."""
        return self._dropped

    def offer(self, event: Event) -> None:
        if len(self._queue) >= self._most:
            self._drop()
        else:
            self._queue.append(event)

    def flush(self, seconds: float) -> bool:
        """Wait until everything offered so far is written; False when that takes longer."""
        written = threading.Event()
        self._queue.append(written)
        self._hurry.set()
        return written.wait(seconds)

    def close(self, seconds: float) -> None:
        """Stop after what waits, or after `seconds`: then what still waits is lost, and a dead sink isn't tried again for it."""
        self._ending = True
        self._hurry.set()
        self._thread.join(seconds)
        with suppress(IndexError):  # the thread may take the last one
            while self._queue:
                if not isinstance(self._queue.popleft(), threading.Event):
                    self._drop()

    def _drop(self) -> None:
        with self._lock:
            self._dropped += 1

    def _work(self) -> None:
        sink = self._opened()
        while not self._ending or self._queue:
            self._hurry.wait(PAUSE)
            self._hurry.clear()
            while (event := self._next()) is not None:
                if isinstance(event, threading.Event):
                    event.set()
                elif sink is None:
                    self._drop()
                else:
                    self._write(sink, event)
        if sink is not None:
            sink.close()

    def _next(self) -> Event | threading.Event | None:
        with suppress(IndexError):
            return self._queue.popleft()
        return None

    def _opened(self) -> Sink | None:
        try:
            return self._open()
        except Exception as error:  # noqa: BLE001 - whatever a sink's library raises, an answer mustn't notice
            log.warning("%s is off: %s: %s", self.name, type(error).__name__, error)
            return None

    def _write(self, sink: Sink, event: Event) -> None:
        try:
            sink.emit(event)
        except Exception as error:  # noqa: BLE001 - as above; the loss is counted
            self._drop()
            log.debug("%s lost an event: %s", self.name, type(error).__name__)


class Watch:
    """All sinks of a process."""

    def __init__(self, lanes: Mapping[str, Callable[[], Sink]], *, waiting: int = WAITING) -> None:
        self._lanes = [Lane(name, open_sink, waiting=waiting) for name, open_sink in lanes.items()]

    def tell(self, event: Event) -> None:
        """Offer an event to every sink; takes microseconds whatever they do."""
        for lane in self._lanes:
            lane.offer(event)

    def dropped(self) -> dict[str, int]:
        """Lost events by sink."""
        return {lane.name: lane.dropped for lane in self._lanes}

    def flush(self, seconds: float = LAST_WAIT) -> bool:
        """Wait for all sinks together; whether all are done."""
        until = time.monotonic() + seconds
        written = [lane.flush(max(0.0, until - time.monotonic())) for lane in self._lanes]
        return all(written)

    def close(self, seconds: float = LAST_WAIT) -> None:
        until = time.monotonic() + seconds
        for lane in self._lanes:
            lane.close(max(0.0, until - time.monotonic()))


def open_watch(settings: Settings) -> Watch:
    """The sinks that the settings ask for; each is opened by its own thread, so that nothing is waited for here."""
    lanes: dict[str, Callable[[], Sink]] = {}
    watch: list[Watch] = []

    def dropped() -> dict[str, int]:
        return watch[0].dropped() if watch else {}

    if settings.log_events:
        lanes["log"] = lambda: _log(settings)
    if settings.metrics_port is not None:
        lanes["prometheus"] = lambda: _prometheus(settings, dropped)
    if settings.langfuse and not settings.offline:
        lanes["langfuse"] = lambda: _langfuse(settings)
    if settings.otlp_url and not settings.offline:
        lanes["opentelemetry"] = lambda: _spans(settings)
    watch.append(Watch(lanes))
    return watch[0]


def _log(settings: Settings) -> Sink:
    from litrag.sinks.log import LogSink

    return LogSink(settings)


def _prometheus(settings: Settings, dropped: Callable[[], Mapping[str, int]]) -> Sink:
    from litrag.sinks.prometheus import serving

    return serving(settings.metrics_host, settings.metrics_port or 0, dropped)


def _langfuse(settings: Settings) -> Sink:
    from litrag.sinks.langfuse import LangfuseSink

    return LangfuseSink(settings)


def _spans(settings: Settings) -> Sink:
    from litrag.sinks.spans import SpanSink

    return SpanSink(settings)


# --- the process's watch
_lock = threading.Lock()
_current: tuple[Settings, Watch] | None = None


def watch() -> Watch:
    """The process's watch; opened anew when the settings are others."""
    global _current
    now = settings()
    with _lock:
        if _current is None or _current[0] is not now:
            if _current is not None:
                _current[1].close(0.2)
            _current = now, open_watch(now)
        return _current[1]


def tell(event: Event) -> None:
    """Tell the process's watch."""
    watch().tell(event)


@atexit.register
def _last_words() -> None:
    if _current is not None:
        _current[1].close()


def observed(run: Callable[P, AuditedAnswer]) -> Callable[P, AuditedAnswer]:
    """Decorator: what `run` returns or raises is told; neither is changed, and neither waits for it."""

    @wraps(run)
    def told(*args: P.args, **options: P.kwargs) -> AuditedAnswer:
        started = time.perf_counter()
        try:
            answer = run(*args, **options)
        except Exception as error:
            tell(RunFailed(run.__name__, type(error).__name__, time.perf_counter() - started))
            raise
        tell(AnswerFinished(answer, time.perf_counter() - started))
        return answer

    return told


# --- queue length, read when somebody asks
def _none_wait() -> int:
    return 0


_waiting: Callable[[], int] = _none_wait


def count_waiting(counter: Callable[[], int]) -> None:
    """Name the function that says how many runs wait or work."""
    global _waiting
    _waiting = counter


def waiting() -> int:
    """Runs that wait or work in this process."""
    return _waiting()
