"""Reading a judge's reply: text or structured arguments go in, a judgement comes out.

A reply is read only as what it plainly says. Anything outside the offered verdicts is *unjudged*, with the reply
kept in the reason. The deciding phrase has to stand in the passage; where it doesn't, or where it is one of the
passage's own instructions to automated readers, the verdict isn't shown as proven.
"""

from __future__ import annotations

import json
import re
from typing import Any

from pydantic import ValidationError

from litrag.llm.injection import marks
from litrag.locate import locate_quote
from litrag.models import Judgement, Span, Verdict
from litrag.prompts import JudgeReply

#: Wordings that models use for an offered verdict; nothing else is read as one.
_WORDINGS = {
    "supports": Verdict.SUPPORTS, "supported": Verdict.SUPPORTS, "support": Verdict.SUPPORTS,
    "fully supported": Verdict.SUPPORTS,
    "partial": Verdict.PARTIAL, "partially supported": Verdict.PARTIAL, "partially supports": Verdict.PARTIAL,
    "partly supported": Verdict.PARTIAL, "partial support": Verdict.PARTIAL, "partially": Verdict.PARTIAL,
    "contradicts": Verdict.CONTRADICTS, "contradicted": Verdict.CONTRADICTS, "refuted": Verdict.CONTRADICTS,
    "refutes": Verdict.CONTRADICTS,
    "not_found": Verdict.NOT_FOUND, "not found": Verdict.NOT_FOUND, "no evidence": Verdict.NOT_FOUND,
}
_LONGEST_FIRST = "|".join(re.escape(words) for words in sorted(_WORDINGS, key=len, reverse=True))
_OPENING = re.compile(rf"({_LONGEST_FIRST})(?![\w-])(.*)", re.DOTALL)


def read_reply(reply: str | dict[str, Any], claim: str, passage: str) -> Judgement:
    """A judgement without judge id, tokens or cost; unjudged when the reply isn't one."""
    fields = reply if isinstance(reply, dict) else _first_object(reply)
    if fields is None:
        return _read_words(str(reply))
    try:
        full = JudgeReply.model_validate(fields)
    except ValidationError:
        return _read_loose(fields, claim, passage)
    return _judgement(
        Verdict(full.verdict), full.confidence, full.rationale, full.deciding_phrase, claim=claim, passage=passage
    )


def _read_loose(fields: dict[str, Any], claim: str, passage: str) -> Judgement:
    """A reply with other fields than asked for: usable if its verdict is a known wording and nothing else."""
    verdict, extra = read_verdict(fields.get("verdict"))
    if verdict is None:
        return unreadable(json.dumps(fields, ensure_ascii=False))
    rationale = next((fields[n] for n in ("rationale", "reason") if isinstance(fields.get(n), str)), "")
    phrase = fields.get("deciding_phrase")
    judgement = _judgement(
        verdict, fields.get("confidence"), rationale, phrase if isinstance(phrase, str) else "",
        claim=claim, passage=passage,
    )
    return judgement.model_copy(update={"unsure": True}) if extra else judgement


def _read_words(text: str) -> Judgement:
    verdict, extra = read_verdict(text)
    if verdict is None:
        return unreadable(text)
    note = f"The judge replied “{_clip(text)}” without naming a deciding phrase."
    return Judgement(verdict=verdict, rationale=note, unsure=bool(extra) or verdict is Verdict.SUPPORTS)


def read_verdict(value: Any) -> tuple[Verdict | None, str]:
    """The verdict that `value` begins with, and what it says beyond it; None for anything else."""
    if not isinstance(value, str):
        return None, ""
    text = value.strip().strip("*_`\"'.").strip().casefold()
    match = _OPENING.fullmatch(text)
    return (_WORDINGS[match[1]], match[2].strip(" .*_`\"'")) if match else (None, "")


def _first_object(text: str) -> dict[str, Any] | None:
    """The first JSON object in `text`, with or without a fence or prose around it."""
    start = text.find("{")
    if start < 0:
        return None
    try:
        value, _ = json.JSONDecoder().raw_decode(text, start)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _judgement(
    verdict: Verdict, confidence: Any, rationale: str, phrase: str, *, claim: str, passage: str
) -> Judgement:
    spans, doubt = _deciding_spans(verdict, phrase, claim, passage)
    return Judgement(
        verdict=verdict, confidence=_probability(confidence), spans=spans, unsure=bool(doubt),
        rationale=f"{rationale.strip()} {doubt}".strip(),
    )


def _deciding_spans(verdict: Verdict, phrase: str, claim: str, passage: str) -> tuple[tuple[Span, ...], str]:
    """Where the deciding phrase stands, and what is wrong with it, in words; empty when nothing is."""
    if verdict is Verdict.NOT_FOUND and not phrase.strip():
        return (), ""
    if not phrase.strip():
        return (), "(The judge names no deciding phrase, so this isn't shown as proof.)"
    location = locate_quote(phrase, passage, claim=claim)
    if not location.found:
        return (), f"(The phrase that the judge names, “{_clip(phrase)}”, doesn't stand in the source, so this " \
                   "isn't shown as proof.)"
    if any(start < m.end and m.start < end for start, end in location.spans for m in marks(passage)):
        return location.spans, "(The phrase that the judge names is an instruction to automated readers inside " \
                               "the source, so this isn't shown as proof.)"
    return location.spans, ""


def _probability(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        return None
    return float(value)


def unreadable(reply: str) -> Judgement:
    """The state of a claim whose judge replied something that isn't an offered verdict."""
    shown = f"“{_clip(reply)}”" if reply.strip() else "nothing"
    return Judgement.unjudged(f"the judge replied {shown}, which is none of the verdicts it was offered")


def _clip(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 300 else f"{line[:300]}…"
