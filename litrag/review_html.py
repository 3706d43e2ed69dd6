"""An item under review as HTML: what a reviewer reads, what is revealed, and labels side by side; pure.

Every string passes `render.escape`. What is shown before a label is saved is made from an `Item`, which holds nothing
of the judge.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from .changes import HEADLINE, SourceChange
from .labels import Item, Label, Reason
from .models import Judgement, Span, Verdict
from .render import Mark, badge, changed_words, chips, escape, links, sectioned, sentence, where

#: What each label means, for the help and for the buttons.
MEANINGS = {
    Verdict.SUPPORTS: "The text says all of what the claim says.",
    Verdict.PARTIAL: "The text bears out a part of the claim, or a weaker form of it.",
    Verdict.CONTRADICTS: "The text says the opposite, or another number, group or direction.",
    Verdict.NOT_FOUND: "The text says neither that it is so nor that it isn't.",
    Verdict.HALLUCINATED_QUOTE: "The quote doesn't stand in the text, or was altered in a way that matters.",
}

REASON_WORDS = {
    Reason.NUMBER: "Number", Reason.DIRECTION: "Direction", Reason.POPULATION: "Population",
    Reason.OVERREACH: "Overreach", Reason.WRONG_SOURCE: "Wrong source", Reason.QUOTE_ALTERED: "Quote altered",
    Reason.OTHER: "Other",
}

_WORD = re.compile(r"\d+(?:[.,·]\d+)*|[^\W\d_]{3,}")

#: Words that say nothing of what a claim is about.
_COMMON = frozenset("""
about after also and are been before between both but can did does for from had has have having into its may more most
much nor not one only other our out over per same she should some such than that the their them then there these they
this those through under very was were what when where which while who will with within without would you
""".split())


@lru_cache(maxsize=1)
def review_stylesheet() -> str:
    """CSS of the Review page alone; colours of verdicts come from the answer view's."""
    return Path(__file__).with_name("review.css").read_text("utf-8")


def keyword_spans(claim: str, text: str) -> list[Span]:
    """Where words and numbers of the claim stand in the text, plural and case aside."""
    wanted = {_stem(word) for word in _WORD.findall(claim)} - {""}
    return [found.span() for found in _WORD.finditer(text) if _stem(found[0]) in wanted]


def _stem(word: str) -> str:
    folded = word.casefold()
    if folded in _COMMON:
        return ""
    return folded.removesuffix("s") if len(folded) > 4 else folded


def claim_html(item: Item) -> str:
    """The question, the claim and its quote."""
    parts = [
        f'<p class="lr-question"><bdi>{escape(item.question)}</bdi></p>' if item.question else "",
        '<h2 class="lr-rv-label">Claim</h2>',
        f'<p class="lr-rv-claim"><bdi>{escape(item.claim_text)}</bdi></p>',
        *_quote(item),
    ]
    return f'<section class="lr lr-rv" data-lr-item="{item.item_id}">{"".join(parts)}</section>'


def _quote(item: Item) -> Iterator[str]:
    """The author's quote; evidence that LitRAG chose is called that, since it can't be a wrong quote."""
    if not item.quote_text:
        yield '<p class="lr-muted">No quote was given.</p>'
        return
    yield f'<h2 class="lr-rv-label">{"Quote given" if item.quote_given else "No quote was given; likely evidence"}</h2>'
    yield f'<blockquote class="lr-rv-quote"><bdi>{escape(item.quote_text)}</bdi></blockquote>'


def source_html(item: Item, change: SourceChange | None = None) -> str:
    """The cited record: what it is, what changed in it since, and its whole text, quote and the claim's words marked."""
    record = item.record
    title = f'<p class="lr-title"><bdi>{escape(record.title)}</bdi></p>' if record.title != record.name else ""
    parts = [
        f'<div class="lr-source-top"><span class="lr-n">[{item.citation_n}]</span>'
        f'<h2 class="lr-name">{escape(record.name)}</h2></div>{title}',
        f'<p class="lr-where">{where(record)}</p>' if where(record) else "",
        chips(record),
        f'<p class="lr-note lr-changed" role="note"><b>{HEADLINE}</b> {changed_words(change)} Label by the text below.</p>'
        if change else "",
        f'<div class="lr-rv-text" tabindex="0" role="region" aria-label="Text of the source">{_text(item)}</div>',
        f'<p class="lr-links">{links(record)}</p>',
    ]
    return f'<article class="lr lr-rv-source">{"".join(parts)}</article>'


def _text(item: Item) -> str:
    if not item.passage_text:
        return '<p class="lr-muted">No text of this source is stored.</p>'
    marks = [Mark(span, ("lr-rv-word",)) for span in keyword_spans(item.claim_text, item.passage_text)]
    return sectioned(item.record, [*marks, *(Mark(span, ("lr-rv-span",)) for span in item.quote_spans)])


def reveal_html(label: Label | None, judgement: Judgement | None) -> str:
    """The judge's verdict, beside the reviewer's label when there is one."""
    mine = _side("You", badge(label.verdict)) if label and label.verdict else ""
    if judgement is None:
        return f'<section class="lr lr-rv-reveal">{mine}{_side("Judge", "No judgement is stored.")}</section>'
    state = judgement.verdict or "unjudged"
    sure = f", {judgement.confidence:.0%}" if judgement.confidence is not None and judgement.verdict else ""
    judge = _side(f"Judge ({escape(judgement.judge)}{sure})", badge(state))
    said = [judgement.rationale if judgement.verdict else judgement.unjudged_reason or ""]
    said += [finding.message for finding in judgement.findings if finding.message not in said[0]]
    why = "".join(f'<p class="lr-why">{escape(sentence(text))}</p>' for text in said if text)
    return f'<section class="lr lr-rv-reveal" data-lr-revealed>{mine}{judge}{why}</section>'


def _side(who: str, content: str) -> str:
    return f'<div class="lr-rv-side"><span class="lr-rv-who">{who}</span>{content}</div>'


def labels_html(labels: Sequence[Label]) -> str:
    """Labels of several reviewers side by side, for the adjudicator."""
    return f'<section class="lr lr-rv-labels">{"".join(map(_label_card, labels))}</section>'


def _label_card(label: Label) -> str:
    return f'<div class="lr-rv-card"><p class="lr-rv-who">{escape(label.reviewer_id)}</p>{"".join(_said(label))}</div>'


def _said(label: Label) -> Iterator[str]:
    if label.verdict:
        yield badge(label.verdict)
    if label.blind_verdict and label.blind_verdict != label.verdict:
        yield f'<p class="lr-muted">Blind: {badge(label.blind_verdict)}</p>'
    if not label.blind_verdict:
        yield '<p class="lr-muted">Not blind</p>'
    if label.confidence:
        yield f"<p>Confidence {label.confidence}</p>"
    if label.reason_code:
        yield f"<p>Reason: {escape(REASON_WORDS[label.reason_code])}</p>"
    if label.comment:
        yield f"<p><bdi>{escape(label.comment)}</bdi></p>"
