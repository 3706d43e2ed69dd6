"""Events as OpenTelemetry spans over OTLP: one per run with its stages as children, one per model call.

Names and attributes of model calls and scores follow the semantic conventions for generative AI
(https://opentelemetry.io/docs/specs/semconv/gen-ai/); what they don't name begins with `litrag.`.
"""

from __future__ import annotations

from collections.abc import Mapping

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, Status, StatusCode, Tracer, set_span_in_context

from litrag import __version__
from litrag.config import Settings
from litrag.metrics import scores_of
from litrag.observability import AnswerFinished, Event, LabelGiven, ModelCalled, RunFailed

TIMEOUT = 5
_BILLION = 1_000_000_000

#: GenAI's names of providers.
_PROVIDERS = {"anthropic": "anthropic", "anthropic-citations": "anthropic", "openai": "openai"}


class SpanSink:
    """Sends the spans of one event at a time; a collector that refuses them is an error, which is counted."""

    def __init__(self, settings: Settings) -> None:
        self._exporter = OTLPSpanExporter(endpoint=settings.otlp_url, timeout=TIMEOUT)
        self._made = InMemorySpanExporter()
        provider = TracerProvider(resource=Resource.create({"service.name": "litrag", "service.version": __version__}))
        provider.add_span_processor(SimpleSpanProcessor(self._made))
        self._tracer: Tracer = provider.get_tracer("litrag", __version__)

    def emit(self, event: Event) -> None:
        self._made.clear()
        match event:
            case AnswerFinished():
                self._answer(event)
            case ModelCalled():
                self._call(event)
            case RunFailed():
                self._span(f"litrag {event.kind}", event.at, event.seconds, {"error.type": event.error}, failed=True)
            case LabelGiven():
                self._span("litrag label", event.at, 0.0, {
                    "litrag.run_id": event.run_id, "gen_ai.evaluation.name": "human_verdict",
                    "gen_ai.evaluation.score.label": event.verdict,
                })
        if self._exporter.export(self._made.get_finished_spans()) is not SpanExportResult.SUCCESS:
            raise ConnectionError("the collector didn't take the spans")

    def _span(
        self, name: str, end: float, seconds: float, attributes: Mapping[str, str | int | float | bool],
        *, failed: bool = False, kind: SpanKind = SpanKind.INTERNAL,
    ) -> None:
        span = self._tracer.start_span(name, start_time=_nanoseconds(end - seconds), attributes=attributes, kind=kind)
        if failed:
            span.set_status(Status(StatusCode.ERROR))
        span.end(_nanoseconds(end))

    def _answer(self, event: AnswerFinished) -> None:
        answer, scores = event.answer, scores_of(event.answer)
        began = event.at - event.seconds
        root = self._tracer.start_span(f"litrag {answer.kind}", start_time=_nanoseconds(began), attributes={
            "litrag.run_id": answer.run_id, "litrag.abstained": answer.abstained, "litrag.claims": len(answer.claims),
            "litrag.generator": answer.generator, "litrag.judge": answer.judge, "litrag.corpus": answer.corpus,
        })
        evaluated = {"faithfulness": scores.faithful, "attribution": scores.attributed, "citation_coverage": scores.coverage}
        for name, share in evaluated.items():
            if share.value is not None:
                root.add_event("gen_ai.evaluation.result", timestamp=_nanoseconds(event.at), attributes={
                    "gen_ai.evaluation.name": name, "gen_ai.evaluation.score.value": share.value,
                })
        inside = set_span_in_context(root)
        for stage, seconds in answer.seconds.items():
            child = self._tracer.start_span(f"litrag {stage}", context=inside, start_time=_nanoseconds(began))
            began += seconds
            child.end(_nanoseconds(began))
        root.end(_nanoseconds(event.at))

    def _call(self, event: ModelCalled) -> None:
        attributes: dict[str, str | int | float | bool] = {
            "gen_ai.operation.name": "chat", "gen_ai.provider.name": _PROVIDERS.get(event.provider, event.provider),
            "gen_ai.request.model": event.model, "gen_ai.usage.input_tokens": event.input_tokens,
            "gen_ai.usage.output_tokens": event.output_tokens,
            "gen_ai.usage.cache_read.input_tokens": event.cached_tokens,
        }
        if event.error:
            attributes["error.type"] = event.error
        self._span(f"chat {event.model}", event.at, event.seconds, attributes, failed=bool(event.error), kind=SpanKind.CLIENT)

    def close(self) -> None:
        self._exporter.shutdown()  # type: ignore[no-untyped-call]


def _nanoseconds(moment: float) -> int:
    return int(moment * _BILLION)
