"""What leaves the app: an `AuditedAnswer` as Markdown with references, or as one self-contained HTML report.

The report opens offline, loads nothing and runs nothing (its content policy says so to the browser as well).
References follow the Vancouver style of the US National Library of Medicine as far as the record's fields go.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from litrag.changes import HEADLINE, SourceChange
from litrag.models import AuditedAnswer, AuditedClaim, CheckedCitation, Record
from litrag.render import (
    DIGEST_NOTE,
    DISCLAIMER,
    View,
    abstention_html,
    attribute,
    confidence,
    escape,
    header_html,
    match_words,
    named_sources,
    shown_claims,
    state_of,
)
from litrag.stylesheet import PALETTE, stylesheet

#: Vancouver style names six authors, then "et al."
_AUTHORS = 6
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>&$~|@])")
_LINE_START = re.compile(r"^([#+-]|\d+(?=[.)]))")


def plain(text: str) -> str:
    """`text` as Markdown that renders as itself: no link, emphasis, formula, heading or HTML can arise."""
    line = _SPECIAL.sub(r"\\\1", " ".join(text.split())).replace("://", "\\://").replace("www.", "www\\.")
    return _LINE_START.sub(lambda m: f"\\{m[1]}" if not m[1].isdigit() else f"{m[1]}\\", line)


def vancouver(record: Record) -> str:
    """The record as a reference: authors, title, journal, year;volume(issue):pages, doi, PMID."""
    authors = ", ".join(record.authors[:_AUTHORS]) + (", et al" if len(record.authors) > _AUTHORS else "")
    volume = record.volume or ""
    issue = f"({record.issue})" if record.issue else ""
    pages = f":{record.pages}" if record.pages else ""
    date = f"{record.year or ''}{';' if volume or issue or pages else ''}{volume}{issue}{pages}"
    parts = [authors, record.title, record.journal or "", date, f"doi:{record.doi}" if record.doi else ""]
    reference = " ".join(_stopped(part) for part in parts if part)
    return f"{reference} PMID: {record.pmid}." if record.pmid else reference


def _stopped(part: str) -> str:
    return part if part.endswith((".", "?", "!")) else f"{part}."


# --- Markdown
def markdown(answer: AuditedAnswer, changes: Mapping[str, SourceChange] | None = None) -> str:
    """The answer with [n], each claim's verdict, and the reference list; `changes` in its sources stand first."""
    lines = [f"# {plain(answer.question) if answer.question else 'Checked text'}", ""]
    changed = [f"- [{s.n}] {plain(s.record.name)}: {plain(changes[s.record.record_id].in_words())}"
               for s in named_sources(answer) if s.record.record_id in changes] if changes else []
    if changed:
        lines += [f"**{HEADLINE}** The verdicts are those of the text as it was then; nothing was judged again.", ""]
        lines += [*changed, ""]
    if answer.abstention is not None:
        lines += _abstention_lines(answer)
    else:
        lines += [_claim_line(answer, claim) for claim in answer.claims]
        lines += ["", "## Sources", ""]
        lines += [f"{s.n}. {plain(vancouver(s.record))}{_digest(s.record)}" for s in named_sources(answer)]
    lines += ["", "---", "", f"{_signed(answer)} {DISCLAIMER}", ""]
    return "\n".join(lines)


def _claim_line(answer: AuditedAnswer, claim: AuditedClaim) -> str:
    numbers = {source.record.record_id: source.n for source in answer.sources}
    cited = "".join(f"[{numbers[c.record_id]}]" for c in claim.citations if c.record_id in numbers)
    verdict = PALETTE[claim.state].word
    why = claim.judgement.rationale if claim.judgement else ""
    said = f": {plain(why)}" if why else ""
    against = [f"[{numbers[c.record_id]}]" for c in claim.conflicts if c.record_id in numbers]
    disagree = f"\n  Sources disagree: see {', '.join(against)}." if against else ""
    return f"- {plain(claim.text)} {cited}\n  *{verdict}*{said}{disagree}"


def _abstention_lines(answer: AuditedAnswer) -> list[str]:
    abstention = answer.abstention
    if abstention is None:
        return []
    lines = ["**The evidence is insufficient.** " + plain(abstention.reason)]
    if abstention.missing:
        lines += ["", "Missing: " + plain(", ".join(abstention.missing))]
    if abstention.pubmed_query:
        lines += ["", "PubMed query:", "", f"    {' '.join(abstention.pubmed_query.split())}"]
    return lines


def _digest(record: Record) -> str:
    return f" ({DIGEST_NOTE}.)" if record.digest else ""


def _signed(answer: AuditedAnswer) -> str:
    judge = " ".join(part for part in (answer.judge, answer.judge_version) if part)
    return f"LitRAG, {answer.created_at:%d %B %Y}." + (f" Judged by {plain(judge)}." if judge else "")


# --- HTML
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
_PAGE_STYLE = """
:root { color-scheme: light dark; }
body { margin: 0 auto; padding: 1.5rem 1.25rem 3rem; max-width: 54rem; background: light-dark(#FFFFFF, #14181F); }
.lr-report > section { margin-top: 1.5rem; }
.lr-report h1 { margin: 0 0 .75rem; font-size: .8125rem; font-weight: 600; color: var(--lr-muted); }
.lr-report h2:not(.lr-question) { padding-bottom: .375rem; font-size: 1rem; }
.lr-report footer { margin-top: 1.5rem; padding-top: .75rem; border-top: 1px solid var(--lr-line); font-size: .875rem; }
.lr-report .lr-body { max-height: none; }
.lr-refs { display: grid; gap: .375rem; font-size: .9375rem; }
.lr-evidence { margin-top: .375rem; font-size: .8125rem; color: var(--lr-muted); }
"""


def report(answer: AuditedAnswer, changes: Mapping[str, SourceChange] | None = None) -> str:
    """One HTML file: answer, what changed in its sources since, verdicts, marked sources, references, judges and date."""
    title = attribute(answer.question[:120] or "Checked text")
    body = [
        '<h1>LitRAG evidence report</h1>',
        header_html(answer, changes=changes),
        abstention_html(answer) if answer.abstained else _evidence(answer, changes),
        f"<footer><p>{DISCLAIMER}</p><p>{_provenance(answer)}</p></footer>",
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}: LitRAG evidence report</title><style>{stylesheet()}{_PAGE_STYLE}</style></head>"
        f'<body><main class="lr lr-report">{"".join(body)}</main></body></html>\n'
    )


def _evidence(answer: AuditedAnswer, changes: Mapping[str, SourceChange] | None) -> str:
    view = View(answer, actions=False, changes=changes)
    claims = shown_claims(answer)
    listed = "".join(view.claim(claim, place) for place, claim in claims)
    sources = "".join(view.source(source, claims, whole=True) for source in named_sources(answer))
    refs = "".join(f"<li>{s.n}. {escape(vancouver(s.record))}</li>" for s in named_sources(answer))
    judged = "".join(f"<li>{row}</li>" for row in _judgements(answer))
    return (
        f'<section><h2>Claims</h2><ol class="lr-claims-list">{listed}</ol></section>'
        f'<section><h2>Sources</h2><div class="lr-source-list">{sources}</div></section>'
        f'<section><h2>References</h2><ol class="lr-refs">{refs}</ol></section>'
        f'<section><h2>Judgements</h2><ol class="lr-refs">{judged}</ol></section>'
    )


def _judgements(answer: AuditedAnswer) -> list[str]:
    return [
        f"Claim {place}, [{citation.n}]: {PALETTE[state_of(citation)].word}; {escape(_judged_by(citation))}"
        for place, claim in enumerate(answer.claims, start=1)
        for citation in claim.citations
    ]


def _judged_by(citation: CheckedCitation) -> str:
    judgement = citation.judgement
    parts = [match_words(citation), f"judge {judgement.judge}" if judgement.judge else "", judgement.model,
             f"version {judgement.version}" if judgement.version else "", confidence(judgement),
             "unsure" if judgement.unsure else ""]
    return "; ".join(part for part in parts if part)


def _provenance(answer: AuditedAnswer) -> str:
    parts = [
        f"Run {answer.run_id}", f"{answer.created_at:%d %B %Y, %H:%M %Z}",
        f"generator {answer.generator}" if answer.generator else "",
        f"judge {answer.judge} {answer.judge_version}".strip() if answer.judge else "",
        f"corpus {answer.corpus} {answer.corpus_hash[:12]}".strip() if answer.corpus else "",
    ]
    return escape(" · ".join(part for part in parts if part))
