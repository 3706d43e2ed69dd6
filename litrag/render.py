"""Answers as HTML: an `AuditedAnswer` goes in, escaped markup comes out; pure, no page framework.

Every string of a model, a source or a reader passes `escape`; markup comes from this module alone. Links lead to
PubMed and doi.org only. Ids and keys derive from the run and the place of a claim, never from text, so that two
claims with the same words stay apart. Characters that would reorder or hide text are shown by name.
"""

from __future__ import annotations

import html
import re
from collections.abc import Container, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from typing import NamedTuple, Protocol
from urllib.parse import quote as percent

from litrag.changes import HEADLINE, SourceChange
from litrag.llm.injection import Mark as Injection
from litrag.llm.injection import marks as injections
from litrag.models import (
    FOUND,
    MATCH_WORDS,
    Abstention,
    AuditedAnswer,
    AuditedClaim,
    CheckedCitation,
    Conflict,
    Judgement,
    MatchKind,
    Passage,
    Reanchor,
    Record,
    Source,
    Span,
    Verdict,
)
from litrag.stylesheet import PALETTE

DISCLAIMER = "Not medical advice. Read the cited papers before you act on a statement."
DIGEST_NOTE = "Digest written for LitRAG, not the publisher's abstract"

#: Characters around a located span that its card shows.
CONTEXT = 260

_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_DOI = re.compile(r"10\.\d{4,9}/\S+")
_BREAK = re.compile(r"[.!?;]\s")


# --- text
def escape(text: str) -> str:
    """`text` as HTML that shows every character; control and direction characters by code point."""
    return _CONTROL.sub(_named, html.escape(text, quote=True).replace("\r\n", "\n"))


def _named(match: re.Match[str]) -> str:
    return f'<span class="lr-control">U+{ord(match[0]):04X}</span>'


def attribute(text: str) -> str:
    """`text` for use inside an attribute; control characters are left out, since markup can't stand there."""
    return html.escape(_CONTROL.sub("", text), quote=True)


class Mark(NamedTuple):
    """A span of a text to be marked: CSS classes, and the claim (its place in the answer) that it serves."""

    span: Span
    classes: tuple[str, ...]
    claim: int | None = None


def marked(text: str, marks: Iterable[Mark], *, window: Span | None = None) -> str:
    """`text` (or its `window`) escaped, with marks that may overlap; spans outside the text are cut to it."""
    low, high = window or (0, len(text))
    cut = [m._replace(span=(max(low, m.span[0]), min(high, m.span[1]))) for m in marks]
    cut = [m for m in cut if m.span[0] < m.span[1]]
    borders = sorted({low, high, *(place for m in cut for place in m.span)})
    pieces = []
    for start, end in pairwise(borders):
        here = [m for m in cut if m.span[0] <= start and end <= m.span[1]]
        pieces.append(_mark(escape(text[start:end]), here) if here else escape(text[start:end]))
    return "".join(pieces)


#: Where marks overlap, the state that a reader must not miss gives the colour.
_LOUDEST = ("contradicts", "hallucinated_quote", "partial", "not_found", "unjudged", "supports")


def _mark(content: str, marks: Sequence[Mark]) -> str:
    names = dict.fromkeys(name for m in marks for name in m.classes)
    states = [state for state in _LOUDEST if f"lr-{state}" in names]
    classes = " ".join(name for name in names if not states or name[3:] not in _LOUDEST or name == f"lr-{states[0]}")
    claims = " ".join(dict.fromkeys(str(m.claim) for m in marks if m.claim is not None))
    return f'<mark class="{classes}"{f" data-lr-claims={claims!r}" if claims else ""}>{content}</mark>'


def excerpt(text: str, marks: Sequence[Mark], *, context: int = CONTEXT) -> str:
    """The parts of `text` around its marks, marked; the beginning of it when there is none."""
    leading = [m.span for m in marks if "lr-j" not in m.classes] or [m.span for m in marks]
    windows = _windows(text, leading, context) or [(0, min(len(text), 2 * context))]
    parts = [marked(text, marks, window=window) for window in windows]
    lead = "… " if windows[0][0] > 0 else ""
    tail = " …" if windows[-1][1] < len(text) else ""
    return lead + " …\n… ".join(part.strip() for part in parts) + tail


def _windows(text: str, spans: Sequence[Span], context: int) -> list[Span]:
    windows: list[Span] = []
    for start, end in sorted(span for span in spans if 0 <= span[0] < span[1] <= len(text)):
        low = _sentence_start(text, start, context)
        high = _sentence_end(text, end, context)
        if windows and low <= windows[-1][1] + 40:
            windows[-1] = (windows[-1][0], max(high, windows[-1][1]))
        else:
            windows.append((low, high))
    return windows


def _sentence_start(text: str, start: int, context: int) -> int:
    low = max(0, start - context)
    if low == 0:
        return 0
    found = _BREAK.search(text, low, start)
    return found.end() if found else text.find(" ", low, start) + 1 or low


def _sentence_end(text: str, end: int, context: int) -> int:
    high = min(len(text), end + context)
    if high == len(text):
        return high
    breaks = list(_BREAK.finditer(text, end - 1, high))
    if breaks:
        return breaks[-1].start() + 1
    space = text.rfind(" ", end, high)
    return space if space > 0 else high


# --- small parts
def icon(state: str) -> str:
    return f'<span class="lr-icon lr-{state}" aria-hidden="true"></span>'


def badge(state: str, *, count: int | None = None) -> str:
    """A verdict (or unjudged, uncited) as icon and word, in its colours."""
    shown = PALETTE[state].word + ("" if count is None else f" {count}")
    return f'<span class="lr-badge lr-{state}">{icon(state)}{shown}</span>'


def _verdict(state: str, judgement: Judgement | None) -> str:
    """The badge of a verdict, and whether its judge was unsure of it."""
    doubt = '<span class="lr-unsure">unsure</span>' if judgement is not None and judgement.unsure else ""
    return badge(state) + doubt


def state_of(citation: CheckedCitation) -> str:
    return citation.verdict.value if citation.verdict else "unjudged"


def where(record: Record) -> str:
    """Journal and year of a record, escaped."""
    parts = [record.journal or "", str(record.year) if record.year else ""]
    return escape(" ".join(part for part in parts if part))


def chips(record: Record) -> str:
    """Publication types and what became of the paper; a retraction comes first."""
    notices = sorted(record.notices, key=lambda n: n.kind not in ("retracted", "withdrawn", "concern"))
    warned = [f'<span class="lr-chip lr-warn">{escape(_notice(n.kind, n.note))}</span>' for n in notices]
    types = [f'<span class="lr-chip">{escape(kind)}</span>' for kind in record.publication_types]
    digest = [f'<span class="lr-chip">{DIGEST_NOTE}</span>'] if record.digest else []
    shown = "".join([*warned, *types, *digest])
    return f'<p class="lr-chips">{shown}</p>' if shown else ""


NOTICE_WORDS = {
    "retracted": "Retracted", "withdrawn": "Withdrawn", "concern": "Expression of concern", "erratum": "Erratum",
    "corrected": "Corrected and republished", "preprint": "Preprint",
}


def _notice(kind: str, note: str) -> str:
    return NOTICE_WORDS.get(kind, kind.capitalize()) + (f": {note}" if note else "")


def links(record: Record) -> str:
    """Links to PubMed and doi.org, when the record has a PMID or a well-formed DOI."""
    found = []
    if record.pmid:
        found.append(_link(f"https://pubmed.ncbi.nlm.nih.gov/{record.pmid}/", f"PMID {record.pmid}"))
    if record.doi and _DOI.fullmatch(record.doi):
        found.append(_link(f"https://doi.org/{percent(record.doi, safe='/.;()-_')}", f"doi:{record.doi}"))
    return " ".join(found)


def _link(url: str, text: str) -> str:
    return f'<a href="{attribute(url)}" target="_blank" rel="noopener noreferrer">{escape(text)}</a>'


def _act(action: str, label: str, data: str) -> str:
    return f'<button type="button" class="lr-act" data-lr-act="{action}" {data}>{label}</button>'


def key(run_id: str, name: str, place: int) -> str:
    """Key of the native button that a button in the text presses: from the run and the place, never from text."""
    return f"lr-{name}-{_slug(run_id)}-{place}"


def _slug(run_id: str) -> str:
    return re.sub(r"[^A-Za-z0-9]", "", run_id)[:32]


# --- judgements in words
def confidence(judgement: Judgement) -> str:
    if judgement.confidence is None:
        return ""
    return f"{judgement.confidence:.0%}"


def _sure(judgement: Judgement) -> str:
    sure = confidence(judgement)
    return f", confidence {sure}" if sure else ""


def match_words(citation: CheckedCitation) -> str:
    """How the quote matched; a citation that came without a quote says so instead."""
    if not citation.quote_given and citation.location.match in FOUND:
        return "best-fitting sentences shown, no quote was given"
    words = MATCH_WORDS[citation.location.match]
    several = citation.location.occurrences
    return f"{words} (one of {several} places)" if several > 1 else words


def _reasons(citation: CheckedCitation, record: Record | None) -> str:
    """Why this verdict: the rationale, the deciding phrase and what code found."""
    judgement = citation.judgement
    lines = []
    if judgement.verdict is None:
        lines.append(f"Unjudged: {escape(judgement.unjudged_reason or 'the judge gave no verdict')}")
    elif judgement.rationale:
        lines.append(escape(sentence(judgement.rationale)))
    if phrases := _deciding(citation, record):
        lines.append("Source: " + " … ".join(f"<q>{escape(phrase)}</q>" for phrase in phrases[:2]))
    shown = f'<p class="lr-why">{" ".join(lines)}</p>' if lines else ""
    notes = [finding.message for finding in judgement.findings if finding.message not in judgement.rationale]
    if citation.location.match in (MatchKind.ALTERED, MatchKind.FUZZY, MatchKind.ELIDED):
        notes += [d.in_words() for d in citation.location.differences if d.in_words() not in judgement.rationale]
    notes += _across(citation, record)
    listed = "".join(f"<li>{escape(sentence(note))}</li>" for note in dict.fromkeys(notes))
    return shown + (f'<ul class="lr-list">{listed}</ul>' if listed else "")


def sentence(text: str) -> str:
    """`text` begun and ended like a sentence."""
    trimmed = text.strip()
    return trimmed[:1].upper() + trimmed[1:] + ("" if trimmed.rstrip("”\"").endswith((".", "?", "!", "…")) else ".")


def _across(citation: CheckedCitation, record: Record | None) -> list[str]:
    """That a quote runs over the border of two sections: its words are the source's, but it joins two statements."""
    if record is None or citation.location.match not in FOUND:
        return []
    places = [place for start, end in citation.location.spans for place in (start, end - 1)]
    labels = [label for label in dict.fromkeys(record.section_at(place) for place in places) if label]
    return [f"the quote runs across sections: {', '.join(labels)}"] if len(labels) > 1 else []


def _deciding(citation: CheckedCitation, record: Record | None) -> list[str]:
    """The phrases that decided, those in the located quote first; none where claim and source agree anyway."""
    judgement, location = citation.judgement, citation.location
    if record is None or judgement.verdict in (None, Verdict.SUPPORTS, Verdict.HALLUCINATED_QUOTE):
        return []
    spans = [(a, b) for a, b in judgement.spans if 0 <= a < b <= len(record.text)]
    if location.match is not MatchKind.MISATTRIBUTED:
        quoted = [(a, b) for a, b in spans if any(a < d and c < b for c, d in location.spans)]
        spans = quoted or spans
    return [record.text[a:b] for a, b in spans]


def _faults(claim: AuditedClaim) -> list[Mark]:
    """Where code found the claim itself at odds with its source."""
    findings = claim.judgement.findings if claim.judgement else ()
    return [Mark(f.claim_span, ("lr-d",)) for f in findings if f.claim_span]


#: What is true of a claim whose quote is hallucinated, by the judge's word on the claim alone.
QUOTE_APART = {
    Verdict.SUPPORTS: "The cited abstract supports the claim itself; only the quote is invented or altered.",
    Verdict.PARTIAL: "The cited abstract supports a part of the claim; the quote is invented or altered.",
    Verdict.CONTRADICTS: "The claim itself is false as well: the cited abstract contradicts it.",
    Verdict.NOT_FOUND: "The cited abstract doesn't bear out the claim without the quote either.",
}


# --- the answer
class View:
    """One answer as HTML; holds the answer and what is looked up again and again while it is written."""

    def __init__(
        self, answer: AuditedAnswer, *, actions: bool = True, sent: frozenset[str] = frozenset(),
        notes: Mapping[str, str] | None = None, changes: Mapping[str, SourceChange] | None = None,
    ) -> None:
        self.answer = answer
        self.changes = changes or {}
        self.notes = notes or {}
        self.actions = actions
        self.sent = sent
        self.scope = f"lr-{_slug(answer.run_id)}"
        self._by_record = {source.record.record_id: source for source in answer.sources}

    def source_of(self, record_id: str | None) -> Source | None:
        return self._by_record.get(record_id or "")

    # -- claims
    def claim(self, claim: AuditedClaim, place: int) -> str:
        """A claim with its badge, [n], reasons and notes; `place` is its position in the answer, from 0."""
        refs = "".join(self._cite(citation, place, k) for k, citation in enumerate(claim.citations))
        body = [
            f'<div class="lr-text"><span class="lr-said"><bdi>{marked(claim.text, _faults(claim))}</bdi></span> {refs}</div>',
            f'<div class="lr-meta">{_verdict(claim.state, claim.judgement)}{self._facts(claim)}'
            f"{self._actions(claim, place)}</div>",
            *(self._citation_reasons(claim, citation) for citation in claim.citations),
            self._quote_alone(claim),
            *(self._conflict(conflict, claim) for conflict in claim.conflicts),
            self._reanchor(claim.reanchor, place) if claim.reanchor else "",
            f'<p class="lr-why">{escape(claim.note)}</p>' if claim.note else "",
            self._changed(claim),
        ]
        if claim.state == "uncited" and not claim.note:
            body.append('<p class="lr-why">This statement cites nothing, so nothing was checked.</p>')
        return (
            f'<li class="lr-claim lr-{claim.state}" id="{self.scope}-c{place}" data-lr-place="{place}" '
            f'data-lr-state="{claim.state}">{"".join(body)}</li>'
        )

    def _changed(self, claim: AuditedClaim) -> str:
        """Which of the claim's sources is no longer what was judged."""
        changed = [source for one in dict.fromkeys(_records_of(claim)) if one in self.changes and (source := self.source_of(one))]
        named = "".join(f"<p>[{source.n}] {changed_words(self.changes[source.record.record_id])}</p>" for source in changed)
        return f'<div class="lr-note lr-changed"><p><b>{HEADLINE}</b></p>{named}</div>' if named else ""

    def _change_of(self, record: Record) -> str:
        change = self.changes.get(record.record_id)
        return f'<p class="lr-note lr-changed"><b>{HEADLINE}</b> {changed_words(change)}</p>' if change else ""

    def _facts(self, claim: AuditedClaim) -> str:
        citation = claim.citation
        if citation is None:
            return ""
        judge = escape(citation.judgement.judge or self.answer.judge)
        facts = [escape(match_words(citation)), f"judge {judge}{_sure(citation.judgement)}"]
        if len(claim.citations) > 1:
            facts = [f"{len(claim.citations)} citations, judge {judge}"]
        if claim.claim_id in self.notes:
            facts.append(escape(self.notes[claim.claim_id]))
        return "".join(f'<span class="lr-fact">{fact}</span>' for fact in facts)

    def _actions(self, claim: AuditedClaim, place: int) -> str:
        if not self.actions:
            return ""
        acts = []
        if claim.citations:
            acts.append(_act("select", "Show in sources", f'data-lr-place="{place}" aria-pressed="false"'))
        if claim.claim_id in self.sent:
            acts.append('<span class="lr-act lr-done">In review</span>')
        elif claim.citations:
            acts.append(self._press("review", "Send to review", place))
        return f'<span class="lr-acts">{"".join(acts)}</span>'

    def _press(self, name: str, label: str, place: int) -> str:
        return _act("press", label, f'data-lr-key="{key(self.answer.run_id, name, place)}"')

    def _citation_reasons(self, claim: AuditedClaim, citation: CheckedCitation) -> str:
        source = self.source_of(citation.record_id)
        reasons = _reasons(citation, source.record if source else None)
        if len(claim.citations) == 1:
            return reasons
        number = source.n if source else citation.n
        facts = f'<span class="lr-fact">{escape(match_words(citation))}{_sure(citation.judgement)}</span>'
        top = f'<div class="lr-meta"><b>[{number}]</b>{_verdict(state_of(citation), citation.judgement)}{facts}</div>'
        return f'<div class="lr-each">{top}{reasons}</div>'

    def _quote_alone(self, claim: AuditedClaim) -> str:
        alone = claim.without_quote
        if alone is None:
            return ""
        said = QUOTE_APART.get(alone.verdict or Verdict.NOT_FOUND, QUOTE_APART[Verdict.NOT_FOUND])
        return f'<p class="lr-note"><b>Quote apart.</b> {said}</p>'

    def _conflict(self, conflict: Conflict, claim: AuditedClaim) -> str:
        ours = claim.citation
        theirs = self.source_of(conflict.record_id)
        sides = [self._side(ours.n, ours.record_id, ours.judgement.spans or ours.location.spans)] if ours else []
        sides.append(self._side(conflict.n, conflict.record_id, conflict.spans))
        why = f"<p>{escape(conflict.rationale)}</p>" if conflict.rationale else ""
        name = escape(theirs.record.name) if theirs else "another source"
        return f'<div class="lr-note lr-conflict"><p><b>Sources disagree: {name}.</b></p>{"".join(sides)}{why}</div>'

    def _side(self, n: int, record_id: str, spans: Sequence[Span]) -> str:
        source = self.source_of(record_id)
        if source is None:
            return ""
        text = source.record.text
        quoted = " … ".join(text[a:b] for a, b in spans if 0 <= a < b <= len(text))
        said = f": <q>{escape(quoted)}</q>" if quoted else ""
        return f"<p>[{n}] {escape(source.record.name)}{said}</p>" if n else f"<p>{escape(source.record.name)}{said}</p>"

    def _reanchor(self, reanchor: Reanchor, place: int) -> str:
        source = self.source_of(reanchor.record_id)
        name = escape(source.record.name) if source else "Another source"
        pmid = f" (PMID {escape(reanchor.pmid)})" if reanchor.pmid else ""
        text = source.record.text if source else ""
        quoted = " … ".join(text[a:b] for a, b in reanchor.spans if 0 <= a < b <= len(text))
        said = f"<p><q>{escape(quoted)}</q></p>" if quoted else ""
        act = self._press("reanchor", "Cite this source instead", place) if self.actions else ""
        reason = f" {escape(sentence(reanchor.reason))}" if reanchor.reason else ""
        return f'<div class="lr-note lr-reanchor"><p><b>{name}{pmid}.</b>{reason}</p>{said}{act}</div>'

    # -- [n] and its card
    def _cite(self, citation: CheckedCitation, place: int, k: int) -> str:
        state = state_of(citation)
        source = self.source_of(citation.record_id)
        if source is None:
            return f'<span class="lr-invalid">[{citation.n}] no such source</span>'
        card = f"{self.scope}-k{place}-{k}"
        label = attribute(f"Source {source.n}, {source.record.name[:120]}: {PALETTE[state].word}")
        return (
            f'<span class="lr-cite"><button type="button" class="lr-ref lr-{state}" id="{card}-b" '
            f'popovertarget="{card}" aria-label="{label}" data-lr-n="{source.n}">[{source.n}]</button>'
            f'<div popover class="lr lr-card" id="{card}" role="dialog" aria-label="{label}">'
            f"{self._card(citation, source, card)}</div></span>"
        )

    def _card(self, citation: CheckedCitation, source: Source, card: str) -> str:
        location = citation.location
        elsewhere = location.match is MatchKind.MISATTRIBUTED
        stands = self.source_of(location.record_id) if elsewhere else source
        body = [
            _card_top(source, card),
            chips(source.record),
            self._change_of(source.record),
            _given(citation),
            _stands_elsewhere(source, stands) if elsewhere else "",
            _card_excerpt(citation, stands),
            f'<p class="lr-found">{_verdict(state_of(citation), citation.judgement)} {escape(_found_words(citation))}</p>',
            f'<p class="lr-links">{links(source.record)}{self._jump(source)}</p>',
        ]
        return f'<div class="lr-card-body">{"".join(body)}</div>'

    def _jump(self, source: Source) -> str:
        if not self.actions:
            return ""
        return " " + _act("jump", "Go to source", f'data-lr-target="{self.scope}-s{source.n}"')

    # -- sources
    def marks(self, record_id: str, claims: Sequence[tuple[int, AuditedClaim]]) -> list[Mark]:
        """Everything that the given claims point at in a record, with the state of the citation that points."""
        found: list[Mark] = []
        for place, claim in claims:
            for citation in claim.citations:
                found += _citation_marks(citation, record_id, place)
            for conflict in claim.conflicts:
                if conflict.record_id == record_id:
                    found += [Mark(span, ("lr-m", "lr-contradicts"), place) for span in conflict.spans]
        return found

    def source(self, source: Source, claims: Sequence[tuple[int, AuditedClaim]], *, whole: bool = False) -> str:
        """A source card: what the record is, its marked spans, and its whole text."""
        record = source.record
        told = injections(record.text)
        marks = self.marks(record.record_id, claims)
        citing = [place for place, claim in claims if any(c.record_id == record.record_id for c in claim.citations)]
        body = [
            f'<div class="lr-source-top"><span class="lr-n">[{source.n}]</span>'
            f'<h3 class="lr-name">{escape(record.name)}</h3></div>',
            f'<p class="lr-title"{_scrolls(record.title, 240)}><bdi>{escape(record.title)}</bdi></p>'
            if record.title != record.name else "",
            f'<p class="lr-where">{where(record)}</p>' if where(record) else "",
            chips(record),
            self._change_of(record),
            _addressed(record, told),
            _bearing(record, marks) if marks and not whole else "",
            self._whole(record, [*marks, *(Mark((m.start, m.end), ("lr-i",)) for m in told)], opened=whole),
            f'<p class="lr-links">{links(record)}{self._claims_of(source, citing)}</p>',
        ]
        return (
            f'<article class="lr-source" id="{self.scope}-s{source.n}" data-lr-source="{source.n}" '
            f'aria-label="{attribute(f"Source {source.n}: {record.name}"[:200])}">{"".join(body)}</article>'
        )

    def _whole(self, record: Record, marks: Sequence[Mark], *, opened: bool) -> str:
        text = sectioned(record, marks)
        if opened:
            return f'<div class="lr-body">{text}</div>'
        kind = "digest" if record.digest else "abstract"
        return (
            f'<details class="lr-full"><summary>Whole {kind}</summary>'
            f'<div class="lr-body" tabindex="0" role="region" aria-label="{attribute(f"Text of {record.name}"[:200])}">'
            f"{text}</div></details>"
        )

    def _claims_of(self, source: Source, citing: Sequence[int]) -> str:
        if not citing or not self.actions:
            return ""
        label = "1 claim cites this" if len(citing) == 1 else f"{len(citing)} claims cite this"
        places = f'data-lr-places="{" ".join(map(str, citing))}" aria-pressed="false"'
        return " " + _act("claims", label, places)


def _addressed(record: Record, told: Sequence[Injection]) -> str:
    """A warning when a source speaks to automated readers, with the words that do."""
    if not told:
        return ""
    said = "; ".join(f"{escape(m.reason)}: <q>{escape(_clipped(record.text[m.start : m.end]))}</q>" for m in told[:3])
    more = f" and {len(told) - 3} more" if len(told) > 3 else ""
    return (
        f'<p class="lr-note lr-injected"><b>Speaks to automated readers.</b> This source {said}{more}. '
        "It is treated as text, never as an instruction.</p>"
    )


def _clipped(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 160 else f"{line[:160]}…"


def _bearing(record: Record, marks: Sequence[Mark]) -> str:
    """The parts of a source on which claims rest."""
    return f'<p class="lr-excerpt"><bdi>{excerpt(record.text, marks, context=90)}</bdi></p>'


# --- parts of a card
def _card_top(source: Source, card: str) -> str:
    named = f"<bdi>[{source.n}] {escape(source.record.name)}</bdi>"
    return (
        f'<div class="lr-card-top"><div><p class="lr-card-name">{named}</p>'
        f'<p class="lr-card-where">{where(source.record)}</p></div>'
        f'<button type="button" class="lr-close" popovertarget="{card}" popovertargetaction="hide" '
        f'aria-label="Close">×</button></div>'
    )


def _given(citation: CheckedCitation) -> str:
    """The quote as it was given, where it differs from the source, with the differing words marked."""
    if not citation.quote or not citation.quote_given:
        return ""
    if citation.location.match in (MatchKind.EXACT, MatchKind.NORMALIZED, MatchKind.MISATTRIBUTED):
        return ""
    differing = [Mark(d.quote_span, ("lr-d",)) for d in citation.location.differences if d.quote_span]
    return f'<p class="lr-given">Quote as given: <q>{marked(citation.quote, differing)}</q></p>'


def _stands_elsewhere(cited: Source, stands: Source | None) -> str:
    if stands is None:
        return '<p class="lr-given">The quote stands in another source.</p>'
    n = f"[{stands.n}] " if stands.n else ""
    name = escape(stands.record.name)
    return f'<p class="lr-given">Not in {escape(cited.record.name)}. The quote stands in <b>{n}{name}</b>:</p>'


def _card_excerpt(citation: CheckedCitation, stands: Source | None) -> str:
    if stands is None or not stands.record.text:
        return '<p class="lr-given lr-muted">No text of this source is stored.</p>'
    marks = _located_marks(citation, None)
    if not marks and citation.location.match is not MatchKind.MISATTRIBUTED:
        marks = [Mark(span, ("lr-m", f"lr-{state_of(citation)}")) for span in citation.judgement.spans]
    lead = "" if marks else '<p class="lr-given lr-muted">Nothing was located. The source begins:</p>'
    text = excerpt(stands.record.text, marks)
    label = attribute(f"Text of {stands.record.name}"[:200])
    return f'{lead}<div class="lr-excerpt" tabindex="0" role="region" aria-label="{label}"><bdi>{text}</bdi></div>'


def _found_words(citation: CheckedCitation) -> str:
    if not citation.quote_given and citation.location.match in FOUND:
        return match_words(citation)
    return citation.location.in_words()


def _citation_marks(citation: CheckedCitation, record_id: str, place: int) -> list[Mark]:
    """Marks of a citation in one record: the located quote where it stands, the deciding phrase where it was judged."""
    found: list[Mark] = []
    elsewhere = citation.location.match is MatchKind.MISATTRIBUTED
    stands = citation.location.record_id if elsewhere else citation.record_id
    if stands == record_id:
        found += _located_marks(citation, place)
    if citation.record_id == record_id:
        found += [Mark(span, ("lr-j",), place) for span in citation.judgement.spans]
    return found


def _located_marks(citation: CheckedCitation, place: int | None) -> list[Mark]:
    state = state_of(citation)
    located = [Mark(span, ("lr-m", f"lr-{state}"), place) for span in citation.location.spans]
    differing = [d.source_span for d in citation.location.differences if d.source_span]
    if citation.location.match is not MatchKind.MISATTRIBUTED:
        differing += [f.source_span for f in citation.judgement.findings if f.source_span]
    return located + [Mark(span, ("lr-d",), place) for span in differing]


def sectioned(record: Record, marks: Sequence[Mark]) -> str:
    """The record's text with its section labels as headings."""
    pieces: list[str] = []
    at = 0
    for section in sorted(record.sections, key=lambda s: s.start):
        if section.start < at:
            continue
        pieces += [marked(record.text, marks, window=(at, section.start)).strip(), f"<h4>{escape(section.label)}</h4>"]
        pieces.append(marked(record.text, marks, window=(section.start, section.end)).strip())
        at = section.end
    pieces.append(marked(record.text, marks, window=(at, len(record.text))).strip())
    return "".join(piece if piece.startswith("<h4>") else f"<p><bdi>{piece}</bdi></p>" for piece in pieces if piece)


def _scrolls(text: str, limit: int) -> str:
    """Attributes that make a box reachable by keyboard when its text is long enough to scroll."""
    return ' tabindex="0" role="region" aria-label="Title"' if len(text) > limit else ""


# --- the page's pieces
def answer_html(
    answer: AuditedAnswer,
    *,
    flagged_only: bool = False,
    actions: bool = True,
    sent: frozenset[str] = frozenset(),
    window: Span | None = None,
    notes: Mapping[str, str] | None = None,
    changes: Mapping[str, SourceChange] | None = None,
) -> str:
    """Claims and source cards side by side; of the claims a slice (`window`), or what needs attention only.

    `notes`, by claim id, stand beside the verdicts; `changes`, by record id, beside the sources.
    """
    if answer.abstention is not None:
        return f'<div class="lr">{abstention_html(answer)}</div>'
    view = View(answer, actions=actions, sent=sent, notes=notes, changes=changes)
    shown = shown_claims(answer, flagged_only=flagged_only, changed=changes or ())[slice(*window) if window else slice(None)]
    claims = "".join(view.claim(claim, place) for place, claim in shown) or _nothing_flagged(answer)
    wanted = {record_id for _, claim in shown for record_id in _records_of(claim)}
    cited = [s for s in answer.sources if s.record.record_id in wanted]
    sources = "".join(view.source(source, shown) for source in cited)
    label = attribute(f"Answer to: {answer.question}" if answer.question else "Checked text")
    return (
        f'<section class="lr lr-answer" id="{view.scope}" aria-label="{label[:300]}"><div class="lr-columns">'
        f'<div class="lr-claims"><div class="lr-heading"><h2>Claims</h2></div>'
        f'<ol class="lr-claims-list">{claims}</ol></div>'
        f'<div class="lr-sources" tabindex="0" role="region" aria-label="Sources">'
        f'<div class="lr-heading"><h2>Sources</h2></div>'
        f'<div class="lr-source-list">{sources}</div>{_also_retrieved(answer, wanted)}</div></div></section>'
    )


def shown_claims(
    answer: AuditedAnswer, *, flagged_only: bool = False, changed: Container[str] = (),
) -> list[tuple[int, AuditedClaim]]:
    """Claims with their place in the answer; all, or those that need attention, also since a source `changed`."""
    return [(place, claim) for place, claim in enumerate(answer.claims)
            if not flagged_only or claim.flagged or any(one in changed for one in _records_of(claim))]


def _records_of(claim: AuditedClaim) -> list[str]:
    found = [c.record_id for c in claim.citations] + [c.record_id for c in claim.conflicts]
    found += [c.location.record_id for c in claim.citations if c.location.record_id]
    return [*found, claim.reanchor.record_id] if claim.reanchor else found


def named_sources(answer: AuditedAnswer) -> list[Source]:
    """Sources that claims cite or that a conflict, a misplaced quote or a better source names, by their [n]."""
    named = {record_id for claim in answer.claims for record_id in _records_of(claim)}
    return [source for source in answer.sources if source.record.record_id in named]


def _nothing_flagged(answer: AuditedAnswer) -> str:
    said = "Nothing here needs attention: every claim is supported by its source." if answer.claims else "No claims."
    return f'<li class="lr-muted">{said}</li>'


def _also_retrieved(answer: AuditedAnswer, shown: set[str]) -> str:
    rest = [s.record for s in answer.sources if not s.cited and s.record.record_id not in shown]
    if not rest:
        return ""
    items = "".join(f"<li>{escape(record.name)} <span class='lr-muted'>{where(record)}</span> {links(record)}</li>"
                    for record in rest)
    told = f"Also retrieved, not cited ({len(rest)})"
    return f'<details class="lr-rest"><summary>{told}</summary><ul>{items}</ul></details>'


def header_html(
    answer: AuditedAnswer, *, judge_note: str = "", changes: Mapping[str, SourceChange] | None = None,
) -> str:
    """Question, date, what changed since, the strip of counts, coverage, sources, judge, time and cost, and notes."""
    question = f'<h2 class="lr-question"><bdi>{escape(answer.question)}</bdi></h2>' if answer.question else ""
    stamp = f'<p class="lr-stamp">{_stamp(answer.created_at)}{_corpus(answer)}</p>'
    counts = "".join(badge(state, count=n) for state in PALETTE if (n := answer.counts.get(state)))
    facts = "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in _facts(answer))
    shown = f'<div class="lr-counts">{counts}</div>' if counts else ""
    notes = "".join(f'<p class="lr-note">{escape(note)}</p>' for note in answer.notes)
    strip = f'<div class="lr-strip">{shown}<dl class="lr-facts">{facts}</dl></div>'
    known = f'<p class="lr-why">{escape(judge_note)}</p>' if judge_note else ""
    return f'<div class="lr">{question}{stamp}{_changes_html(answer, changes or {})}{strip}{known}{notes}</div>'


def changed_words(change: SourceChange) -> str:
    """What changed in a source, escaped."""
    return escape(sentence(change.in_words()))


def _changes_html(answer: AuditedAnswer, changes: Mapping[str, SourceChange]) -> str:
    """The sources on which the answer rests that are no longer what was judged."""
    named = [(source, changes[source.record.record_id]) for source in named_sources(answer)
             if source.record.record_id in changes]
    if not named:
        return ""
    listed = "".join(
        f"<li>[{source.n}] <bdi>{escape(source.record.name)}</bdi>"
        f"{f' (PMID {escape(change.pmid)})' if change.pmid else ''}: {changed_words(change)}</li>"
        for source, change in named
    )
    return (f'<div class="lr-note lr-changed" role="note"><p><b>{HEADLINE}</b> The verdicts are those of the text as it was '
            f'then; nothing was judged again.</p><ul class="lr-list">{listed}</ul></div>')


def _facts(answer: AuditedAnswer) -> list[tuple[str, str]]:
    facts = []
    if answer.coverage is not None:
        facts.append(("Citation coverage", f"{answer.coverage:.0%}"))
    facts.append(("Sources", str(sum(source.cited for source in answer.sources))))
    if answer.judge:
        facts.append(("Judge", escape(answer.judge)))
    if answer.seconds:
        facts.append(("Time", f"{sum(answer.seconds.values()):.1f} s"))
    if answer.cost_usd is not None:
        facts.append(("Cost", f"{answer.cost_usd:.4f} USD"))
    return facts


def _stamp(moment: datetime) -> str:
    return f'<time datetime="{moment.isoformat()}">{moment:%d %B %Y, %H:%M} {moment.tzname() or ""}</time>'


def _corpus(answer: AuditedAnswer) -> str:
    parts = [("corpus", answer.corpus), ("generator", answer.generator)]
    return "".join(f" · {escape(f'{name} {value}')}" for name, value in parts if value)


def abstention_html(answer: AuditedAnswer) -> str:
    """The declined answer: why, what was searched, what is missing, what came nearest, and a query to go on with."""
    abstention = answer.abstention or Abstention(reason="")
    names = {source.record.record_id: source for source in answer.sources}
    missing = ", ".join(escape(term) for term in abstention.missing)
    rows = [("Searched", escape(abstention.searched)), ("Missing", missing)]
    near = "".join(_near(hit.passage, names) for hit in abstention.nearest)
    query = abstention.pubmed_query
    return "".join([
        f'<div class="lr-abstention"><h3>{icon("not_found")}The evidence is insufficient</h3>',
        f"<p>{escape(abstention.reason)}</p>",
        "<dl>" + "".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in rows if value) + "</dl>",
        f'<h4>Nearest passages</h4><div class="lr-near">{near}</div>' if near else "",
        f'<h4>PubMed query to go on with</h4><code class="lr-query">{escape(query)}</code>' if query else "",
        "</div>",
    ])


def _near(passage: Passage, sources: dict[str, Source]) -> str:
    source = sources.get(passage.record_id)
    text = passage.text
    named = source.record.name if source else f"PMID {passage.pmid}" if passage.pmid else passage.record_id
    name = escape(named)
    placed = f' <span class="lr-muted">{where(source.record)}</span>' if source else ""
    linked = f" {links(source.record)}" if source else ""
    return (
        f"<figure><figcaption>{name}{placed}{linked}</figcaption>"
        f'<blockquote{_scrolls(text, 200)}><bdi>{escape(text)}</bdi></blockquote></figure>'
    )


# --- progress and history
STAGES = {
    "indexing": "Building the index", "retrieving": "Retrieving", "writing": "Writing", "locating": "Locating quotes",
    "judging": "Judging",
}


def progress_html(stages: Sequence[str], stage: str, done: int, total: int) -> str:
    """The stations of a run with the one that is at work; its count once it is known."""
    current = stages.index(stage) if stage in stages else -1
    items = []
    for place, name in enumerate(stages):
        state = "lr-now" if place == current else "lr-past" if place < current else "lr-next"
        count = f" {done} of {total}" if place == current and total > 1 else ""
        here = ' aria-current="step"' if place == current else ""
        items.append(f'<li class="{state}"{here}>{STAGES.get(name, escape(name))}{count}</li>')
    return f'<div class="lr" role="status"><ol class="lr-steps">{"".join(items)}</ol></div>'


def arriving_html(statements: Sequence[str], *, interrupted: bool = False) -> str:
    """What a model has written so far, as text that nothing has checked yet."""
    said = "Interrupted: this is not an answer, and nothing of it was checked or kept." if interrupted else (
        "Being written; not located or judged yet")
    items = "".join(f"<li><bdi>{escape(statement)}</bdi></li>" for statement in statements)
    return f'<div class="lr"><p class="lr-stamp">{said}</p><ol class="lr-arriving">{items}</ol></div>'


class PastRun(Protocol):
    """What the history needs to know of a run."""

    @property
    def run_id(self) -> str: ...
    @property
    def question(self) -> str: ...
    @property
    def created_at(self) -> str: ...
    @property
    def abstained(self) -> bool: ...
    @property
    def claims(self) -> int: ...
    @property
    def flagged(self) -> int: ...


def history_html(runs: Sequence[PastRun], *, page: str, current: str | None = None) -> str:
    """Links to kept answers, newest first; `page` is the path of the page that shows them, relative to the app."""
    items = "".join(_past(run, page, run.run_id == current) for run in runs)
    return f'<nav class="lr" aria-label="History"><ul class="lr-history">{items}</ul></nav>'


def _past(run: PastRun, page: str, current: bool) -> str:
    asked = run.question if len(run.question) <= 90 else run.question[:89] + "…"
    when = datetime.fromisoformat(run.created_at)
    checked = f"{run.claims} claim{'' if run.claims == 1 else 's'}"
    outcome = "abstained" if run.abstained else checked + (f", {run.flagged} to check" if run.flagged else "")
    here = ' aria-current="page"' if current else ""
    return (
        f'<li><a href="{page}?run={percent(run.run_id, safe="")}" target="_self" data-lr-act="press" '
        f'data-lr-key="{key(run.run_id, "open", 0)}"{here}><bdi>{escape(asked or "Checked text")}</bdi>'
        f'<span class="lr-when">{when:%d %b %Y, %H:%M} · {outcome}</span></a></li>'
    )
