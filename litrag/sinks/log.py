"""Events as JSON lines in `logs/events.jsonl`, rotated by size; ids, counts and seconds, texts only if asked for."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from logging.handlers import RotatingFileHandler
from typing import Any

import structlog

from litrag.config import Settings
from litrag.observability import AnswerFinished, Event, LabelGiven, ModelCalled, RunFailed

#: Old logs that are kept.
KEPT = 5


class _File(RotatingFileHandler):
    """A line that can't be written is an error to be counted, not a traceback on the screen."""

    def handleError(self, record: logging.LogRecord) -> None:
        raise OSError(f"{self.baseFilename} can't be written")


class LogSink:
    """Writes one line per run, stage, model call and label."""

    def __init__(self, settings: Settings) -> None:
        folder = settings.home / "logs"
        folder.mkdir(parents=True, exist_ok=True)
        size = int(settings.log_megabytes * 1_000_000)
        self._handler = _File(folder / "events.jsonl", maxBytes=size, backupCount=KEPT, encoding="utf-8")
        logger = logging.Logger("litrag.events", logging.INFO)
        logger.addHandler(self._handler)
        self._log = structlog.wrap_logger(
            logger, processors=[structlog.processors.JSONRenderer(sort_keys=False, ensure_ascii=False)],
        )
        self._texts = settings.log_texts

    def emit(self, event: Event) -> None:
        for name, fields in lines(event, texts=self._texts):
            self._log.info(name, at=datetime.fromtimestamp(event.at, UTC).isoformat(timespec="milliseconds"), **fields)

    def close(self) -> None:
        self._handler.close()


def lines(event: Event, *, texts: bool = False) -> list[tuple[str, dict[str, Any]]]:
    """What is logged of an event: (name, fields) each."""
    match event:
        case AnswerFinished():
            return _answer(event, texts)
        case RunFailed():
            return [("run_failed", {"kind": event.kind, "error": event.error, "seconds": round(event.seconds, 6)})]
        case ModelCalled():
            return [("model_call", {
                "provider": event.provider, "model": event.model, "seconds": round(event.seconds, 6),
                "input_tokens": event.input_tokens, "cached_tokens": event.cached_tokens,
                "output_tokens": event.output_tokens, "cost_usd": event.cost_usd, "error": event.error or None,
            })]
        case LabelGiven():
            return [("label", {
                "run_id": event.run_id, "item_id": event.item_id, "claim_id": event.claim_id, "verdict": event.verdict,
                "judged": event.judged, "lag_seconds": round(event.lag, 3),
            })]


def _answer(event: AnswerFinished, texts: bool) -> list[tuple[str, dict[str, Any]]]:
    answer = event.answer
    stages = [
        ("stage", {"run_id": answer.run_id, "stage": stage, "seconds": seconds})
        for stage, seconds in answer.seconds.items()
    ]
    fields: dict[str, Any] = {
        "run_id": answer.run_id, "kind": answer.kind, "seconds": round(event.seconds, 6), "abstained": answer.abstained,
        "claims": len(answer.claims), "verdicts": answer.counts, "coverage": answer.coverage,
        "conflicts": sum(bool(claim.conflicts) for claim in answer.claims), "sources": len(answer.sources),
        "generator": answer.generator, "judge": answer.judge, "judge_version": answer.judge_version,
        "corpus": answer.corpus, "corpus_hash": answer.corpus_hash, "cost_usd": answer.cost_usd,
        "notes": len(answer.notes),
    }
    if texts:
        fields |= {"question": answer.question, "claim_texts": [claim.text for claim in answer.claims]}
    return [*stages, (answer.kind, fields)]
