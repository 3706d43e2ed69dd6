"""The evidence map as HTML: rows of `evidence_map` go in, escaped markup comes out; pure, as `render` is."""

from __future__ import annotations

from collections.abc import Sequence

from litrag.evidence_map import MapRow, Relation, Stand, voices
from litrag.models import AuditedAnswer, Record, Source
from litrag.render import attribute, escape, icon, sentence
from litrag.studies import facts_of

#: Word and verdict palette of each relation.
LOOK = {
    Relation.SUPPORTS: ("Supports", "supports"), Relation.PARTIAL: ("Partial", "partial"),
    Relation.CONTRADICTS: ("Contradicts", "contradicts"), Relation.SILENT: ("Silent", "not_found"),
    Relation.OPEN: ("Not compared", "unjudged"),
}
COLUMNS = ("Study", "On this claim", "Type", "Year", "Size", "Population", "Dose", "Comparator", "Status")
_SPEAKING = (Relation.SUPPORTS, Relation.PARTIAL, Relation.CONTRADICTS)
_LONGEST = 320


def map_html(rows: Sequence[MapRow], answer: AuditedAnswer) -> str:
    """Every claim with the records that speak on it side by side, and the names of those that don't."""
    sources = {source.record.record_id: source for source in answer.sources}
    shown = "".join(_row(row, answer, sources) for row in rows)
    return f'<section class="lr lr-map" aria-label="Evidence map">{shown}</section>'


def _row(row: MapRow, answer: AuditedAnswer, sources: dict[str, Source]) -> str:
    claim = answer.claims[row.place]
    records = {record_id: source.record for record_id, source in sources.items()}
    counts = "".join(_count(relation, row.of(relation), records) for relation in _SPEAKING)
    speaking = [stand for stand in row.stands if stand.relation in _SPEAKING]
    opened = " open" if row.of(Relation.CONTRADICTS) else ""
    quiet = "".join(_names(relation, row.of(relation), sources) for relation in (Relation.SILENT, Relation.OPEN))
    return (
        f'<details{opened}><summary><span class="lr-said"><bdi>{escape(_clipped(claim.text, 220))}</bdi></span> '
        f'<span class="lr-counts">{counts}</span></summary>{_table(speaking, sources, row.place)}{quiet}</details>'
    )


def _count(relation: Relation, stands: Sequence[Stand], records: dict[str, Record]) -> str:
    if not stands:
        return ""
    number = voices(stands, records)
    studies = f"{number} independent {'study' if number == 1 else 'studies'}"
    return f"{_badge(relation)}<span class='lr-muted'>{studies}</span>"


def _badge(relation: Relation) -> str:
    word, state = LOOK[relation]
    return f'<span class="lr-badge lr-{state}">{icon(state)}{word}</span>'


def _table(stands: Sequence[Stand], sources: dict[str, Source], place: int) -> str:
    if not stands:
        return ""
    head = "".join(f'<th scope="col">{name}</th>' for name in COLUMNS)
    body = "".join(_study(stand, sources[stand.record_id]) for stand in stands)
    return (
        f'<div class="lr-scroll" tabindex="0" role="region" aria-label="Studies on claim {place + 1}">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _study(stand: Stand, source: Source) -> str:
    record, facts = source.record, facts_of(source.record)
    cells = (facts.kind, str(record.year or ""), facts.size, facts.population, facts.dose, facts.comparator,
             facts.status or "no notice")
    cited = '<span class="lr-muted">cited</span>' if stand.cited else ""
    name = f'[{source.n}] <bdi>{escape(record.name)}</bdi> {cited}'
    rest = "".join(f"<td>{escape(cell) or '–'}</td>" for cell in cells)
    return f'<tr><th scope="row">{name}</th><td>{_badge(stand.relation)}{_because(stand, record)}</td>{rest}</tr>'


def _because(stand: Stand, record: Record) -> str:
    quoted = " … ".join(record.text[a:b] for a, b in stand.spans[:2] if 0 <= a < b <= len(record.text))
    parts = [f"<p><q>{escape(_clipped(quoted, _LONGEST))}</q></p>"] if quoted else []
    if stand.why:
        parts.append(f'<p class="lr-muted">{escape(sentence(_clipped(stand.why, _LONGEST)))}</p>')
    if stand.shared:
        parts.append(f'<p class="lr-muted">Shares participants with {escape(stand.shared)}: no independent voice.</p>')
    return "".join(parts)


def _names(relation: Relation, stands: Sequence[Stand], sources: dict[str, Source]) -> str:
    if not stands:
        return ""
    names = ", ".join(
        f"[{sources[s.record_id].n}] {escape(sources[s.record_id].record.name)}"
        + (f" ({escape(_clipped(s.why, 120))})" if s.why and relation is Relation.OPEN else "")
        for s in stands
    )
    word = "Say nothing on it" if relation is Relation.SILENT else "Not compared"
    return f'<p class="lr-why">{attribute(word)}: {names}</p>'


def _clipped(text: str, most: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[:most]}…"
