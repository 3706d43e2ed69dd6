"""Events as Prometheus metrics: served inside the app, or by `litrag serve-metrics` from what the store holds.

Labels are verdicts, stages, kinds and names of models; never a question, a text or an id.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from litrag.metrics import scores_of
from litrag.observability import AnswerFinished, Event, LabelGiven, ModelCalled, RunFailed, waiting

_SHARES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
_SECONDS = (0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300)
_LAGS = (60, 600, 3600, 6 * 3600, 86_400, 3 * 86_400, 7 * 86_400, 30 * 86_400)


class PrometheusSink:
    """Counters and histograms in a registry of their own."""

    def __init__(self, registry: CollectorRegistry, close: Callable[[], None] | None = None) -> None:
        self.registry = registry

        def counter(name: str, text: str, *labels: str) -> Counter:
            return Counter(f"litrag_{name}", text, labels, registry=registry)

        def histogram(name: str, text: str, buckets: tuple[float, ...], *labels: str) -> Histogram:
            return Histogram(f"litrag_{name}", text, labels, buckets=buckets, registry=registry)

        self._close = close
        self._answers = counter("answers", "Runs by what became of them.", "kind", "outcome")
        self._claims = counter("claims", "Claims by verdict.", "verdict", "judge")
        self._abstentions = counter("abstentions", "Declined answers.")
        self._conflicts = counter("conflicts", "Claims on which sources disagree.")
        self._coverage = histogram("citation_coverage", "Share of an answer's statements with a located citation.", _SHARES)
        self._faithful = histogram("faithfulness", "Share of an answer's claims that a retrieved source supports.", _SHARES)
        self._stages = histogram("stage_seconds", "Seconds per stage of a run.", _SECONDS, "stage")
        self._calls = counter("llm_calls", "Tries to call a model.", "model", "outcome")
        self._call_seconds = histogram("llm_call_seconds", "Seconds per try to call a model.", _SECONDS, "model")
        self._tokens = counter("llm_tokens", "Tokens of models.", "model", "type")
        self._cost = counter("llm_cost_usd", "US dollars spent on models.", "model")
        self._labels = counter("labels", "Reviewers' labels, and whether the judge had said the same.", "verdict", "agrees")
        self._lag = histogram("label_lag_seconds", "Seconds from queueing a citation to a reviewer's label.", _LAGS)

    def emit(self, event: Event) -> None:
        match event:
            case AnswerFinished():
                self._answer(event)
            case RunFailed():
                self._answers.labels(event.kind, "failed").inc()
            case ModelCalled():
                self._call(event)
            case LabelGiven():
                self._labels.labels(event.verdict, str(event.verdict == event.judged).lower()).inc()
                self._lag.observe(max(event.lag, 0.0))

    def _answer(self, event: AnswerFinished) -> None:
        answer = event.answer
        outcome = "abstained" if answer.abstained else "answered" if answer.claims else "empty"
        self._answers.labels(answer.kind, outcome).inc()
        self._abstentions.inc(answer.abstained)
        for state, number in answer.counts.items():
            self._claims.labels(state, answer.judge).inc(number)
        scores = scores_of(answer)
        self._conflicts.inc(scores.conflicts)
        for share, histogram in ((scores.coverage, self._coverage), (scores.faithful, self._faithful)):
            if share.value is not None:
                histogram.observe(share.value)
        for stage, seconds in answer.seconds.items():
            self._stages.labels(stage).observe(seconds)

    def _call(self, event: ModelCalled) -> None:
        self._calls.labels(event.model, event.error or "ok").inc()
        self._call_seconds.labels(event.model).observe(event.seconds)
        kinds = {"input": event.input_tokens, "cached": event.cached_tokens, "output": event.output_tokens}
        for kind, number in kinds.items():
            self._tokens.labels(event.model, kind).inc(number)
        self._cost.labels(event.model).inc(event.cost_usd or 0.0)

    def close(self) -> None:
        if self._close is not None:
            self._close()


class _Dropped(Collector):
    """Lost events by sink, read when it is asked for."""

    def __init__(self, dropped: Callable[[], Mapping[str, int]]) -> None:
        self._dropped = dropped

    def collect(self) -> Iterable[Metric]:
        family = CounterMetricFamily("litrag_events_dropped", "Events that a sink lost.", labels=["sink"])
        for name, number in self._dropped().items():
            family.add_metric([name], number)
        yield family


def serving(host: str, port: int, dropped: Callable[[], Mapping[str, int]]) -> PrometheusSink:
    """A sink whose metrics are served at http://host:port/metrics until it is closed; OSError when the port is taken."""
    registry = CollectorRegistry()
    Gauge("litrag_queue_length", "Runs that wait or work.", registry=registry).set_function(waiting)
    registry.register(_Dropped(dropped))
    server, thread = start_http_server(port, host, registry)

    def close() -> None:
        server.shutdown()
        server.server_close()
        thread.join(1)

    return PrometheusSink(registry, close)


class FromStore(Collector):
    """A sink's metrics, after what the store has got since the last time was counted into it."""

    def __init__(self, read: Callable[[], Iterable[Event]], queue_length: Callable[[], int], sink: PrometheusSink) -> None:
        self._read = read
        self._queue_length = queue_length
        self._sink = sink
        self._lock = threading.Lock()

    def collect(self) -> Iterable[Metric]:
        with self._lock:
            for event in self._read():
                self._sink.emit(event)
        yield from self._sink.registry.collect()
        yield GaugeMetricFamily(
            "litrag_review_queue_length", "Citations that wait for a reviewer.", value=self._queue_length())

    def describe(self) -> Iterable[Any]:
        return []
