"""A calibration on one page: as text for a terminal, as Markdown, as one self-contained HTML file.

In: a `Calibration`. Out: strings. The three say the same from one list of blocks; the HTML loads nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, NamedTuple

from litrag.agreement import LABELS
from litrag.comparison import points
from litrag.estimates import Estimate
from litrag.profiles import scale_in_words

if TYPE_CHECKING:
    from litrag.comparison import Comparison
    from litrag.recalibration import Calibration

VERDICT_WORDS = {label.value: label.value.replace("_", " ") for label in LABELS}


class Block(NamedTuple):
    """A heading, a paragraph (no rows), or a table whose first row is its header."""

    title: str = ""
    text: str = ""
    rows: tuple[tuple[str, ...], ...] = ()


def blocks(found: Calibration) -> list[Block]:
    """The report, top to bottom."""
    return [
        Block(f"How often is {found.profile.judge.name} wrong?", found.trust), *errors(found), *agreement(found),
        *confidence(found), *people(found), *unlabelled(found), *provenance(found),
    ]


def errors(found: Calibration) -> list[Block]:
    """How often the judge misleads, by verdict."""
    rows = [("verdict", "wrong"), *((VERDICT_WORDS[v], _wrong(e)) for v, e in found.profile.wrong.items())]
    weighted = found.report.errors.weighted_false_reassurance
    more = f" Weighted over all strata of the sample: {weighted.in_words()}." if weighted else ""
    text = (
        f"False reassurance (the judge says supports, reviewers don't): {found.profile.false_reassurance.in_words()}. "
        f"False alarm (the judge doesn't, reviewers do): {found.profile.false_alarm.in_words()}. "
        f"Basis: {found.profile.basis}.{more}"
    )
    check = found.report.quote_check
    quotes = (
        f"Quotes that code calls hallucinated and reviewers don't: {check.in_words()}. No judge is asked there."
        if check.defined else "No quote that code calls hallucinated has been labelled; no judge is asked there."
    )
    return [Block("Errors", text), Block(rows=tuple(rows)), Block(text=quotes)]


def _wrong(rate: Estimate) -> str:
    return rate.in_words() if rate.defined else "none checked"


def agreement(found: Calibration) -> list[Block]:
    """The table of verdicts, and every measure of agreement."""
    words = [VERDICT_WORDS[label.value] for label in LABELS]
    table: list[tuple[str, ...]] = [("reviewer ↓ judge →", *words)]
    table += [
        (word, *(str(cell) for cell in row)) for word, row in zip(words, found.report.agreement.table, strict=False)
    ]
    return [Block("Agreement with reviewers"), Block(rows=tuple(table)), *measures(found)]


def measures(found: Calibration) -> list[Block]:
    """Precision, recall and F1 by verdict, and the coefficients."""
    measures = found.report.agreement
    classes: list[tuple[str, ...]] = [("verdict", "precision", "recall", "F1")]
    classes += [
        (VERDICT_WORDS[row.verdict.value], *(_short(e) for e in (row.precision, row.recall, row.f1)))
        for row in measures.classes
    ]
    coefficients = [
        ("measure", "value"), ("agreement", measures.accuracy.in_words()), ("Cohen's κ", measures.kappa.as_number()),
        ("κ, linear weights, contradicts < partial < supports", measures.ordered_kappa.as_number()),
        ("Krippendorff's α", measures.alpha.as_number()), ("Gwet's AC1", measures.ac1.as_number()),
        ("Matthews' correlation", measures.mcc.as_number()),
        ("balanced accuracy, all verdicts", measures.balanced_accuracy.as_number()),
        ("balanced accuracy, supports against the rest", measures.supports_balanced_accuracy.as_number()),
    ]
    return [Block(rows=tuple(classes)), Block(rows=tuple(coefficients))]


def _short(estimate: Estimate) -> str:
    return estimate.in_words() if estimate.defined else "–"


def confidence(found: Calibration) -> list[Block]:
    """Whether its confidence means what it says, on the test split."""
    before, after = found.reliability_before, found.reliability_after
    rows = [("calibrated confidence", "verdicts", "mean confidence", "right")]
    rows += [
        (f"{b.low:.1f}–{b.high:.1f}", str(b.n), f"{b.confidence:.2f}", b.right.in_words())
        for b in after.bins if b.confidence is not None
    ]
    show = found.profile.show_supports
    if show.value is not None:
        said = f"Supports are shown as settled from confidence {show.value:.2f} on: {show.promise}."
    elif show.enough:
        said = "No confidence keeps the bound, so every supports is shown as unsure."
    else:
        said = f"Too few labelled supports ({show.n}) for a threshold; the judge's own flag stays."
    text = (
        f"On the test split: calibration error {before.ece.as_number()} before, {after.ece.as_number()} after "
        f"({scale_in_words(found.profile.scale)} of the dev split); Brier score {before.brier.as_number()} before, "
        f"{after.brier.as_number()} after. {said} On test, {found.profile.shown_wrong.in_words()} of those were wrong."
    )
    return [Block("Confidence", text), *([Block(rows=tuple(rows))] if len(rows) > 1 else [])]


def people(found: Calibration) -> list[Block]:
    """Reviewers among each other, and what seeing the verdict did to them."""
    people, anchoring = found.report.reviewers, found.report.anchoring
    text = (
        f"{people.items} items have blind labels of two or more reviewers: agreement {people.agreement.in_words()}, "
        f"κ {people.kappa.as_number()}, α {people.alpha.as_number()}. Where one says supports, the other doesn't in "
        f"{people.false_reassurance.in_words()}: a judge can't be asked for less."
        if people.items else "No item has blind labels of two reviewers: how far people agree isn't known."
    )
    shown = (
        f"After seeing the verdict, reviewers agreed with the judge in {anchoring.after.in_words()} of the labels they "
        f"kept or revised, before in {anchoring.before.in_words()}; {anchoring.towards} moved towards it, "
        f"{anchoring.away} away." if anchoring.revealed else "No label was kept or revised after the verdict was shown."
    )
    return [Block("Reviewers", text), Block("Anchoring", shown)]


def unlabelled(found: Calibration) -> list[Block]:
    """What the judge's errors make of the claims nobody labelled, and what more labels would tell."""
    correction = found.report.unlabelled
    text = (
        f"The judge says supports in {correction.as_judged.in_words()} of the claims nobody labelled. Corrected for its "
        f"errors (sensitivity {correction.sensitivity.in_words()}, specificity {correction.specificity.in_words()}), the "
        f"true share is {correction.corrected.in_words()}; prediction-powered: {found.report.powered.in_words()}."
    )
    plan = [("labelled supports", "expected interval"), *(
        (str(row.n), f"{100 * row.low:.1f}–{100 * row.high:.1f} %") for row in found.report.plan
    )]
    return [Block("Claims nobody labelled", text), Block("What more labels would tell", rows=tuple(plan))]


def provenance(found: Calibration) -> list[Block]:
    """Labels, splits and looks behind it."""
    report, profile = found.report, found.profile
    splits = ", ".join(f"{count} {name.replace('_', '-')}" for name, count in sorted(report.splits.items()))
    left = "; ".join(f"{count} {reason}" for reason, count in report.left_out.items()) or "none"
    refit = ""
    if found.refit is not None:
        used = "used" if found.refit.layer else f"not used ({found.refit.reason})"
        refit = f" Refitted last layer: {used}, on {found.refit.n} labels."
    text = (
        f"Profile {profile.profile_id}, {profile.made_at:%Y-%m-%d %H:%M} UTC, labels {report.labels_hash}. {report.n} blind "
        f"labels ({splits}), {report.unsure} verdicts unsure. Left out: {left}. The test split has been opened "
        f"{found.looks} time{'s' if found.looks != 1 else ''} for this judge.{refit}"
    )
    return [Block("Where this comes from", text)]


def comparison(c: Comparison) -> list[Block]:
    """Two judges on the same labelled test items: the decision, its reasons, and what changes."""
    p = "" if c.mcnemar_p is None else f" Exact McNemar p = {c.mcnemar_p:.3g}."
    verdict = f"{c.new.name} {'may' if c.may_replace else 'may not'} replace {c.old.name}"
    gate = [("condition", "met"), *((r.text.replace("*", ""), "yes" if r.met else "no") for r in c.reasons)]
    rates = [
        ("measure", "old", "new", "change"),
        ("false reassurance", c.old_false_reassurance.in_words(), c.new_false_reassurance.in_words(),
         points(c.false_reassurance)),
        ("accuracy", "", "", points(c.accuracy)),
        ("balanced accuracy, supports against the rest", "", "", points(c.balanced_accuracy)),
        ("seconds per claim", _number(c.old_running.seconds), _number(c.new_running.seconds), ""),
        ("dollars per claim", _number(c.old_running.cost_usd), _number(c.new_running.cost_usd), ""),
        ("unjudged", str(c.old_running.unjudged), str(c.new_running.unjudged), ""),
    ]
    classes: list[tuple[str, ...]] = [("verdict", "recall, old", "recall, new", "precision, old", "precision, new")]
    classes += [
        (VERDICT_WORDS[a.verdict.value], *(_short(e) for e in (a.recall, b.recall, a.precision, b.precision)))
        for a, b in zip(c.old_classes, c.new_classes, strict=True)
    ]
    text = (
        f"On {c.n} labelled test items: both right {c.both_right}, only the old one {c.only_old_right}, only the new one "
        f"{c.only_new_right}, neither {c.both_wrong}.{p} {len(c.flips)} verdicts differ, "
        f"{sum(f.better for f in c.flips)} of them for the better."
    )
    return [Block(verdict, text), Block(rows=tuple(gate)), Block(rows=tuple(rates)), Block(rows=tuple(classes))]


def _number(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.3g}"


# --- three forms
def as_text(found: Calibration) -> str:
    """For a terminal."""
    lines: list[str] = []
    for block in blocks(found):
        lines += [f"\n{block.title}\n{'─' * len(block.title)}"] if block.title else []
        lines += [block.text.replace("*", "")] if block.text else []
        lines += _columns(block.rows)
    return "\n".join(lines).strip()


def _columns(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))] if rows else []
    return ["  " + "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]


def as_markdown(found: Calibration) -> str:
    """For a repository or a notebook."""
    lines: list[str] = []
    for number, block in enumerate(blocks(found)):
        lines += [f"{'#' if number == 0 else '##'} {block.title}", ""] if block.title else []
        lines += [block.text, ""] if block.text else []
        if block.rows:
            head, *rest = block.rows
            lines += [_md_row(head), _md_row(["---"] * len(head)), *(_md_row(row) for row in rest), ""]
    return "\n".join(lines)


def _md_row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def as_html(found: Calibration) -> str:
    """One file that opens offline, in light and dark."""
    first, *rest = blocks(found)
    body = f"<h1>{escape(first.title)}</h1><p>{_emphasis(first.text)}</p>{blocks_html(rest)}"
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" '
        f'content="width=device-width"><title>Calibration of {escape(found.profile.judge.name)}</title>'
        f"<style>{_STYLE}</style></head><body>{body}</body></html>"
    )


def blocks_html(chosen: Sequence[Block]) -> str:
    """Blocks as headings, paragraphs and tables; every string is escaped."""
    body: list[str] = []
    for block in chosen:
        body += [f"<h2>{escape(block.title)}</h2>"] if block.title else []
        body += [f"<p>{_emphasis(block.text)}</p>"] if block.text else []
        body += [_html_table(block.rows)] if block.rows else []
    return "".join(body)


def _emphasis(text: str) -> str:
    """The words between single asterisks as emphasis, everything escaped."""
    parts = escape(text).split("*")
    return "".join(f"<em>{part}</em>" if i % 2 and i < len(parts) - 1 else part for i, part in enumerate(parts))


def _html_table(rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in rows[0])
    body = "".join(
        f'<tr><th scope="row">{escape(row[0])}</th>{"".join(f"<td>{escape(cell)}</td>" for cell in row[1:])}</tr>'
        for row in rows[1:]
    )
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="wide" tabindex="0" role="region" aria-label="{escape(rows[0][0])}">{table}</div>'


_STYLE = (
    ":root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:52rem;margin:2rem auto;padding:0 1rem}"
    "h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:1.6rem}table{border-collapse:collapse;margin:.6rem 0;font-size:.9rem}"
    "th,td{border:1px solid color-mix(in srgb,currentColor 25%,transparent);padding:.25rem .6rem;text-align:left}"
    ".wide{overflow-x:auto}td{font-variant-numeric:tabular-nums}"
)
