"""Calibration as HTML for the page: the table of verdicts whose cells open, the items behind a cell, label counts.

Pure: values go in, escaped markup comes out. Every string of a claim, source, judge or reviewer passes
`render.escape`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from html import escape as plain
from pathlib import Path

from litrag.agreement import LABELS
from litrag.calibration import JudgeKey, LabelledItem, Pair
from litrag.calibration_report import VERDICT_WORDS, Block, blocks_html
from litrag.models import Verdict
from litrag.profiles import HistoryEntry, Profile
from litrag.recalibration import Need
from litrag.render import badge, escape

#: Characters of a source that are shown behind a cell; the whole stands on the Review page.
EXCERPT = 900


@lru_cache(maxsize=1)
def calibration_stylesheet() -> str:
    """CSS of the Calibrate page alone."""
    return Path(__file__).with_name("calibrate.css").read_text("utf-8")


def trust_html(sentences: str) -> str:
    """The two sentences at the top, with their emphasis."""
    return f'<div class="lr lr-cb-trust">{blocks_html([Block(text=sentences)])}</div>'


def tables_html(blocks: Sequence[Block]) -> str:
    """Headings, paragraphs and tables of a report's part."""
    return f'<div class="lr lr-cb">{blocks_html(blocks)}</div>'


def needs_html(found: Sequence[Need]) -> str:
    """What labels suffice for, as a table whose last column says what is missing."""
    rows = [("what labels are for", "at hand", "needed", "")]
    rows += [
        (n.purpose, str(n.have), str(n.needed), "enough" if n.met else f"{n.needed - n.have} more") for n in found
    ]
    return tables_html([Block(rows=tuple(rows))])


# --- the table of verdicts
def cell_name(human: Verdict, judge: Verdict) -> str:
    """Name of a cell, for keys and the session."""
    return f"{human.value}-{judge.value}"


def cell_key(human: Verdict, judge: Verdict) -> str:
    """Key of the native button that a cell presses."""
    return f"lr-cell-{cell_name(human, judge)}"


def matrix_html(pairs: Sequence[Pair], opened: str | None = None) -> str:
    """Reviewers' labels (rows) against the judge's verdicts (columns); a cell with items is a button."""
    counts = {(h, j): 0 for h in LABELS for j in LABELS}
    for pair in pairs:
        counts[pair.human, pair.judge] += 1
    head = "".join(f'<th scope="col">{badge(judge.value)}</th>' for judge in LABELS)
    body = "".join(
        f'<tr><th scope="row">{badge(human.value)}</th>'
        + "".join(_cell(human, judge, counts[human, judge], opened) for judge in LABELS) + "</tr>"
        for human in LABELS
    )
    corner = '<td><span class="lr-muted">reviewers ↓ judge →</span></td>'
    return (
        '<div class="lr lr-cb"><div class="wide" tabindex="0" role="region" aria-label="Reviewers against the judge">'
        f'<table class="lr-cb-matrix"><thead><tr>{corner}{head}</tr></thead><tbody>{body}</tbody></table></div></div>'
    )


def _cell(human: Verdict, judge: Verdict, count: int, opened: str | None) -> str:
    kind = "lr-cb-right" if human is judge else "lr-cb-grave" if judge is Verdict.SUPPORTS else "lr-cb-wrong"
    if count == 0:
        return '<td class="lr-cb-none">0</td>'
    name = cell_name(human, judge)
    said = f"{count} where reviewers say {VERDICT_WORDS[human.value]} and the judge {VERDICT_WORDS[judge.value]}"
    return (
        f'<td class="{kind}"><button type="button" class="lr-cb-cell" data-lr-act="press" data-lr-key="{cell_key(human, judge)}"'
        f' aria-pressed="{"true" if name == opened else "false"}" aria-label="{plain(said)}">{count}</button></td>'
    )


def items_html(items: Sequence[LabelledItem], key: JudgeKey) -> str:
    """The items behind a cell: claim, source, what reviewers and the judge said and why."""
    return f'<div class="lr"><ul class="lr-cb-items">{"".join(_item(item, key) for item in items)}</ul></div>'


def _item(item: LabelledItem, key: JudgeKey) -> str:
    judgement = item.judgement_of(key)
    said = "".join(
        f'<span class="lr-fact">{escape(label.reviewer_id)} {badge(label.blind_verdict.value)}</span>'
        for label in item.labels if label.blind_verdict is not None
    )
    gold = f'<span class="lr-fact">adjudicated {badge(item.gold.value)}</span>' if item.gold else ""
    judged, why = "", ""
    if judgement is not None and judgement.verdict is not None:
        sure = "" if judgement.confidence is None else f" {judgement.confidence:.0%}"
        judged = f'<span class="lr-fact">judge {badge(judgement.verdict.value)}{sure}</span>'
        why = f'<p class="lr-why">{escape(judgement.rationale)}</p>' if judgement.rationale else ""
    comments = "".join(f'<p class="lr-why">“{escape(label.comment)}”</p>' for label in item.labels if label.comment)
    source = item.passage if len(item.passage) <= EXCERPT else item.passage[:EXCERPT].rsplit(" ", 1)[0] + " …"
    return (
        f'<li data-lr-item="{plain(item.item_id)}"><p class="lr-text"><bdi>{escape(item.claim)}</bdi></p>'
        f'<div class="lr-meta">{said}{gold}{judged}</div>{why}{comments}'
        f'<details><summary>Source</summary><p class="lr-why"><bdi>{escape(source)}</bdi></p></details></li>'
    )


# --- history
def history_table(entries: Sequence[HistoryEntry], profiles: Sequence[Profile | None]) -> str:
    """What happened to a judge's profiles, latest first; the first line is in force."""
    rows = [("when (UTC)", "what", "profile", "labels", "supports wrong", "calibration error", "looks at test")]
    rows += [_event(entry, profile) for entry, profile in zip(entries, profiles, strict=True)]
    return tables_html([Block(rows=tuple(rows))])


def _event(entry: HistoryEntry, profile: Profile | None) -> tuple[str, str, str, str, str, str, str]:
    when = f"{entry.at:%Y-%m-%d %H:%M}"
    if profile is None:
        return when, entry.action, "none: uncalibrated", "–", "–", "–", "–"
    layer = " with a refitted layer" if profile.layer else ""
    change = f"{profile.ece_before.value:.2f} → {profile.ece_after.value:.2f}" if (
        profile.ece_before.value is not None and profile.ece_after.value is not None) else "–"
    return (
        when, entry.action, profile.profile_id + layer, str(profile.label_counts.get("all", 0)),
        profile.false_reassurance.in_words(), change, str(profile.looks),
    )
