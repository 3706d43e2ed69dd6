"""Judges: a claim and a passage go in, a verdict with reasons, or *unjudged* with why, comes out.

The ladder is code, then the local model, then an LLM, then a person. `LocalJudge` is the key-free rung: what the
deterministic checks establish stands, whatever the model thinks; what they leave open the model decides. Text of
claims and passages is data here: nothing in it is ever followed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from time import perf_counter
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from litrag.checks import agrees, check_claim
from litrag.checks.case import content
from litrag.config import settings
from litrag.discourse import is_aim
from litrag.errors import InputError
from litrag.evidence import select_window
from litrag.locate import locate_quote
from litrag.models import Finding, Judge, Judgement, MatchKind, Passage, Span, Verdict

#: Classes in the order of the model's output.
CLASSES = (Verdict.SUPPORTS, Verdict.PARTIAL, Verdict.CONTRADICTS, Verdict.NOT_FOUND)

#: Below this probability a verdict is offered to escalation and review as unsure.
UNSURE_BELOW = 0.6

#: Share of the model's belief in a contradiction that stands where code found figures or direction to agree.
CONTRADICTION_KEPT = 0.1

Pair = tuple[str, str | Passage, str | None]


class Entailment(Protocol):
    """A model of (claim, evidence) → probabilities over CLASSES, shape (n, 4), rows summing to 1."""

    @property
    def model_id(self) -> str: ...

    def predict(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]: ...


def open_judge(spec: str | None = None) -> Judge:
    """`local`, `checks` (code only), `hf:<id or path>`, or `<provider>:<model>` for an LLM.

    Its judgements carry the calibration profile that is in force for it, if there is one. Raises InputError for any
    other name and ModelUnavailableError when the judge's model can't be loaded.
    """
    from litrag.profiles import calibrated

    return calibrated(_open(spec or settings().judge))


def _open(spec: str) -> Judge:
    if spec == "checks":
        return LocalJudge(OverlapModel(), judge_id="checks")
    if spec == "local":
        from litrag.local_model import EntailmentModel
        from litrag.refit import LayeredModel

        return LocalJudge(LayeredModel(EntailmentModel.open(), "local"), judge_id="local")
    if spec.startswith("hf:"):
        from litrag.cross_encoder import CrossEncoderModel

        return LocalJudge(CrossEncoderModel.open(spec.removeprefix("hf:")), judge_id=spec)
    if ":" in spec:
        from litrag.llm import open_llm_judge

        return open_llm_judge(spec, settings())
    raise InputError(f"no judge is called {spec!r}; use 'local', 'checks', 'hf:<id>' or '<provider>:<model>'")


class LocalJudge:
    """Deterministic checks over the whole passage, then a model over the sentences that decide."""

    version = "1"

    def __init__(self, model: Entailment, *, judge_id: str = "local", use_checks: bool = True) -> None:
        self._model = model
        self._judge_id = judge_id
        self._use_checks = use_checks

    @property
    def judge_id(self) -> str:
        return self._judge_id

    @property
    def model_id(self) -> str:
        return self._model.model_id

    def judge(self, claim: str, passage: str | Passage, quote: str | None = None) -> Judgement:
        """Judge one claim; see `judge_many`."""
        return self.judge_many([(claim, passage, quote)])[0]

    def judge_many(self, pairs: Sequence[Pair]) -> list[Judgement]:
        """Judge claims in batches; a claim's verdict doesn't depend on its neighbours. Spans index the passage."""
        started = perf_counter()
        cases = [self._prepare(claim, passage, quote) for claim, passage, quote in pairs]
        open_cases = [case for case in cases if case.decided is None]
        if open_cases:
            rows = self._model.predict([(case.claim, case.window) for case in open_cases])
            for case, row in zip(open_cases, rows, strict=True):
                case.decided = _combine(_weighed(row) if case.agrees else row, case.findings, case.spans)
        seconds = (perf_counter() - started) / max(1, len(pairs))
        label = {"judge": self._judge_id, "model": self._model.model_id, "version": self.version, "seconds": seconds}
        return [case.decided.model_copy(update=label) for case in cases if case.decided is not None]

    def _prepare(self, claim: str, passage: str | Passage, quote: str | None) -> Case:
        text = passage.text if isinstance(passage, Passage) else passage
        if not claim.strip() or not text.strip():
            return Case(claim, decided=Judgement.unjudged("there is no claim" if not claim.strip() else "there is no text"))
        verbatim = _verbatim(claim, text) if self._use_checks else None
        if verbatim is not None:
            return Case(claim, decided=verbatim)
        spans = deciding_spans(claim, text, quote)
        if not spans:
            return Case(claim, decided=Judgement(
                verdict=Verdict.NOT_FOUND, confidence=0.9, rationale="the source only states aims here, no finding",
            ))
        findings = tuple(check_claim(claim, text)) if self._use_checks else ()
        agree = self._use_checks and not findings and agrees(claim, text)
        window = " ".join(text[start:end] for start, end in spans)
        return Case(claim, window=window, spans=spans, findings=findings, agrees=agree)


class Case:
    """A pair on its way: what was read, what code found, and the judgement once there is one."""

    def __init__(
        self, claim: str, *, window: str = "", spans: tuple[Span, ...] = (), findings: tuple[Finding, ...] = (),
        agrees: bool = False, decided: Judgement | None = None,
    ) -> None:
        self.claim, self.window, self.spans, self.findings, self.decided = claim, window, spans, findings, decided
        self.agrees = agrees


def deciding_spans(claim: str, text: str, quote: str | None = None) -> tuple[Span, ...]:
    """The sentences that bear on the claim, the quoted ones among them, without aims and open questions."""
    spans = set(select_window(claim, text))
    if quote:
        location = locate_quote(quote, text, claim=claim)
        if location.found:
            spans |= set(location.spans)
    kept = sorted(span for span in spans if not is_aim(text[span[0] : span[1]]))
    merged: list[Span] = []
    for start, end in kept:
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return tuple(merged)


_ATTRIBUTION = re.compile(r"^(?:In|According to) (?:the )?\w[\w&./ -]{1,60}?, (?=\S)|^[A-Z][\w&. -]{1,60}?: (?=[A-Z])")


def _verbatim(claim: str, text: str) -> Judgement | None:
    """A claim that is a finding of the source word for word needs no model."""
    body = _ATTRIBUTION.sub("", claim, count=1).strip()
    if len(body.split()) < 5:
        return None
    location = locate_quote(body, text)
    if location.match not in (MatchKind.EXACT, MatchKind.NORMALIZED):
        return None
    if any(is_aim(_sentence_around(text, span)) for span in location.spans):
        return None
    return Judgement(
        verdict=Verdict.SUPPORTS, confidence=0.99, spans=location.spans,
        rationale="the source says this word for word",
    )


def _sentence_around(text: str, span: Span) -> str:
    start = max(text.rfind(". ", 0, span[0]) + 1, text.rfind("\n", 0, span[0]) + 1, 0)
    stop = text.find(". ", span[1] - 1)
    return text[start : stop + 1 if stop >= 0 else len(text)]


def _weighed(row: NDArray[np.float32]) -> NDArray[np.float32]:
    """The model's probabilities where code found the claim's figures, or its direction, to be the source's own.

    A small model can't compare figures and arms and calls many of them contradictions; what it takes for one here is
    mostly support. It keeps the rest of its say: silence and overreach are not settled by figures.
    """
    weighed = row.copy()
    supports, contradicts = CLASSES.index(Verdict.SUPPORTS), CLASSES.index(Verdict.CONTRADICTS)
    weighed[supports] += (1 - CONTRADICTION_KEPT) * row[contradicts]
    weighed[contradicts] *= CONTRADICTION_KEPT
    return weighed


def _combine(row: NDArray[np.float32], findings: tuple[Finding, ...], spans: tuple[Span, ...]) -> Judgement:
    """What code established bounds what the model may say; the gravest finding comes first."""
    probabilities = dict(zip(CLASSES, (float(p) for p in row), strict=True))
    best = max(CLASSES, key=lambda verdict: probabilities[verdict])
    verdict, confidence = best, probabilities[best]
    gravest = findings[0] if findings else None
    if gravest is not None and (forced := _forced(gravest, best, confidence)):
        verdict = forced
        confidence = max(0.9 if forced is Verdict.CONTRADICTS else 0.75, 1.0 - probabilities[Verdict.SUPPORTS])
    reasons = [finding.message for finding in findings]
    marked = tuple(f.source_span for f in findings if f.source_span is not None)
    return Judgement(
        verdict=verdict, confidence=round(confidence, 4), spans=spans or marked, findings=findings,
        rationale="; ".join(reasons) if reasons else _IN_WORDS[verdict],
        unsure=confidence < UNSURE_BELOW,
    )


#: What the source never names it can't contradict.
_ABSENT = frozenset({"population", "drug", "outcome"})
#: Belief in a contradiction below which the model yields to code that found no more than a gap or an overstatement.
_SURE = 0.8


def _forced(gravest: Finding, best: Verdict, confidence: float) -> Verdict | None:
    """The verdict that code's gravest finding forces upon the model's; None where the model's stands."""
    if gravest.verdict is Verdict.CONTRADICTS or best is Verdict.SUPPORTS:
        return gravest.verdict
    if gravest.verdict is Verdict.NOT_FOUND:
        yields = best is Verdict.PARTIAL or gravest.kind in _ABSENT or confidence < _SURE
        return Verdict.NOT_FOUND if yields else None
    return Verdict.PARTIAL if best is Verdict.CONTRADICTS and confidence < _SURE else None


_IN_WORDS = {
    Verdict.SUPPORTS: "the sentences shown say the same",
    Verdict.PARTIAL: "the sentences shown say only part of it, or less firmly",
    Verdict.CONTRADICTS: "the sentences shown say otherwise",
    Verdict.NOT_FOUND: "the source doesn't speak of this",
}


class OverlapModel:
    """Stand-in for a trained model that only counts shared words: honest about how little that tells.

    It is the baseline that every trained model is measured against, and the floor when none can be loaded.
    """

    model_id = "word-overlap"

    def predict(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        rows = [self._row(claim, evidence) for claim, evidence in pairs]
        return np.asarray(rows, dtype=np.float32).reshape(len(rows), len(CLASSES))

    def _row(self, claim: str, evidence: str) -> tuple[float, float, float, float]:
        words = content(claim)
        share = len(words & content(evidence)) / len(words) if words else 0.0
        supports = 0.1 + 0.6 * share**2
        rest = 1.0 - supports
        return supports, rest * 0.35 * share, rest * 0.2, rest * (0.8 - 0.35 * share)
