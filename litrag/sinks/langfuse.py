"""Runs as Langfuse traces with scores, by the official SDK; a reviewer's label is a score on the run's trace.

A trace's id derives from the run's id, so that a label that comes days later finds it. Questions and claims are sent
only with LITRAG_LOG_TEXTS.
"""

from __future__ import annotations

from typing import Any

from langfuse import Langfuse
from opentelemetry.sdk.trace import TracerProvider

from litrag.config import Settings
from litrag.errors import InputError
from litrag.metrics import scores_of
from litrag.observability import AnswerFinished, Event, LabelGiven, ModelCalled, RunFailed

#: Seconds that the SDK waits for the server; this sink has a thread of its own, no answer waits.
TIMEOUT = 5


class LangfuseSink:
    """Needs both keys; InputError names the one that is missing."""

    def __init__(self, settings: Settings) -> None:
        public, secret = settings.langfuse_public_key, settings.langfuse_secret_key
        if public is None or secret is None:
            raise InputError("LITRAG_LANGFUSE is on: set LANGFUSE_PUBLIC_KEY and LANGFUSE_SECRET_KEY")
        self._client = Langfuse(
            public_key=public.get_secret_value(), secret_key=secret.get_secret_value(), base_url=settings.langfuse_url,
            timeout=TIMEOUT, tracer_provider=TracerProvider(),
        )
        self._texts = settings.log_texts

    def emit(self, event: Event) -> None:
        match event:
            case AnswerFinished():
                self._answer(event)
            case ModelCalled():
                self._call(event)
            case LabelGiven():
                self._label(event)
            case RunFailed():
                self._client.start_observation(
                    name=event.kind, as_type="chain", level="ERROR", status_message=event.error,
                    metadata={"seconds": event.seconds},
                ).end()

    def _answer(self, event: AnswerFinished) -> None:
        answer, scores = event.answer, scores_of(event.answer)
        trace = trace_id(answer.run_id)
        root = self._client.start_observation(
            trace_context={"trace_id": trace}, name=answer.kind, as_type="chain", version=answer.judge_version or None,
            input=answer.question if self._texts else None,
            output=[claim.text for claim in answer.claims] if self._texts else None,
            metadata={
                "run_id": answer.run_id, "seconds": event.seconds, "stages": answer.seconds, "verdicts": answer.counts,
                "generator": answer.generator, "judge": answer.judge, "corpus": answer.corpus, "cost_usd": answer.cost_usd,
            },
        )
        root.end()
        shares = {
            "faithfulness": scores.faithful, "attribution": scores.attributed, "citation_coverage": scores.coverage,
            "citation_recall": scores.citation_recall, "citation_precision": scores.citation_precision,
        }
        for name, share in shares.items():
            if share.value is not None:
                self._client.create_score(trace_id=trace, name=name, value=share.value, data_type="NUMERIC")
        self._client.create_score(trace_id=trace, name="abstained", value=float(answer.abstained), data_type="BOOLEAN")

    def _call(self, event: ModelCalled) -> None:
        usage = {"input": event.input_tokens, "input_cached": event.cached_tokens, "output": event.output_tokens}
        costs: dict[str, Any] = {} if event.cost_usd is None else {"cost_details": {"total": event.cost_usd}}
        self._client.start_observation(
            name="model call", as_type="generation", model=event.model, usage_details=usage,
            level="ERROR" if event.error else "DEFAULT", status_message=event.error or None,
            metadata={"seconds": event.seconds, "provider": event.provider}, **costs,
        ).end()

    def _label(self, event: LabelGiven) -> None:
        self._client.create_score(
            trace_id=trace_id(event.run_id), name="human_verdict", value=event.verdict, data_type="CATEGORICAL",
            metadata={"claim_id": event.claim_id, "item_id": event.item_id, "judged": event.judged},
        )

    def close(self) -> None:
        self._client.shutdown()


def trace_id(run_id: str) -> str:
    """The trace of a run: 32 hexadecimal digits, the same each time."""
    return Langfuse.create_trace_id(seed=run_id)
