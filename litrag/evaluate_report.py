"""An evaluation as a report: metrics go in, Markdown or one self-contained HTML page comes out; pure."""

from __future__ import annotations

from collections.abc import Sequence

from litrag.evaluate import Comparison, Evaluation, in_words
from litrag.metrics import COUNTS, SHARES, Share
from litrag.render import escape
from litrag.report import plain
from litrag.stylesheet import stylesheet

Table = tuple[str, tuple[str, ...], list[tuple[str, ...]]]

NOTES = (
    "Shares are over claims, all answers pooled; the mean per answer stands beside. Abstentions and answers without a "
    "claim are in no share. Recall and precision follow ALCE (Gao et al., EMNLP 2023), with the judge's verdict on each "
    "citation in place of its entailment model. The judge makes mistakes: see its error rates before you compare."
)


def tables(evaluation: Evaluation, comparison: Comparison | None = None) -> list[Table]:
    """Everything that a report shows, as (title, columns, rows)."""
    total = evaluation.total
    found: list[Table] = [
        ("Shares", ("score", "share", "counts", "mean per answer"), [
            (label, _percent(getattr(total, name).value), _counts(getattr(total, name)),
             _percent(evaluation.macro.get(name)))
            for name, label in SHARES.items()
        ]),
        ("Answers", ("", "number"), [
            ("questions", str(len(evaluation.questions))),
            ("answered with claims", str(total.answers - total.abstained - total.empty)),
            ("abstained", str(total.abstained)), ("without a claim", str(total.empty)), ("failed", str(evaluation.failed)),
            *((f"declining: {name}", str(n)) for name, n in evaluation.abstentions.model_dump().items()),
        ]),
        ("Claims", ("", "number"), [(name.replace("_", " "), str(getattr(total, name))) for name in COUNTS]),
        ("Questions", ("id", "question", "outcome"), [(q.id, q.question, in_words(q)) for q in evaluation.questions]),
        ("Set-up", ("", "value"), [("LitRAG", evaluation.litrag), *sorted(evaluation.setup.items())]),
    ]
    return ([*_compared(comparison), *found]) if comparison else found


def _compared(comparison: Comparison) -> list[Table]:
    shares = [(SHARES[name], _percent(a), _percent(b), _difference(a, b)) for name, (a, b) in comparison.shares.items()]
    counts = [(name.replace("_", " "), str(a), str(b), f"{b - a:+d}") for name, (a, b) in comparison.counts.items() if a or b]
    title = f"Compared with the earlier run ({comparison.compared} questions in both, {comparison.left_out} left out)"
    return [
        (title, ("", "before", "after", "difference"), [*shares, *counts]),
        ("Questions that came out differently", ("id", "question", "before", "after"),
         [(c.id, c.question, c.before, c.after) for c in comparison.changed]),
    ]


def _percent(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.1%}"


def _counts(share: Share) -> str:
    return f"{share.hits} of {share.of}"


def _difference(before: float | None, after: float | None) -> str:
    return "undefined" if before is None or after is None else f"{100 * (after - before):+.1f} points"


def markdown(evaluation: Evaluation, comparison: Comparison | None = None) -> str:
    """The report as Markdown tables."""
    parts = ["# Evaluation", "", NOTES, ""]
    for title, columns, rows in tables(evaluation, comparison):
        parts += [f"## {title}", "", _line(columns), "|" + "---|" * len(columns), *(_line(row) for row in rows), ""]
    return "\n".join(parts)


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(plain(cell) for cell in cells) + " |"


def page(evaluation: Evaluation, comparison: Comparison | None = None) -> str:
    """The report as HTML that loads and runs nothing."""
    body = "".join(_section(*table) for table in tables(evaluation, comparison))
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>LitRAG evaluation</title>'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; style-src \'unsafe-inline\'; img-src data:">'
        f"<style>{stylesheet()} body {{ margin: 2rem auto; max-width: 70rem; padding: 0 1rem; }} "
        "table { border-collapse: collapse; margin: .5rem 0 1.5rem; } th, td { text-align: left; vertical-align: top; "
        "padding: .25rem .75rem .25rem 0; border-bottom: 1px solid #8884; }</style></head>"
        f'<body class="lr"><h1>Evaluation</h1><p>{escape(NOTES)}</p>{body}</body></html>'
    )


def _section(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in columns)
    lines = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<h2>{escape(title)}</h2><table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>"
