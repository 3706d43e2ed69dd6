"""What became of a paper, from publication types, links between records and, last, the title.

In: publication types, typed links (PubMed's `CommentsCorrections`, MEDLINE's RIN, EIN, …) and the title. Out:
`Notice`s, gravest first. A link counts by its direction only: the notice of a retraction is not retracted, and a
comment says nothing of either. The types and link names are those of the PubMed DTD and the MEDLINE field list.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from litrag.models import Hit, Notice, Record

#: Every kind of notice in words, gravest first. The first group speaks against using a record as evidence.
KINDS = {
    "retracted": "Retracted", "withdrawn": "Withdrawn", "concern": "Expression of concern",
    "corrected": "Corrected and republished", "erratum": "Erratum", "preprint": "Preprint",
    "updated": "A newer version exists", "retraction_of": "Notice of a retraction",
    "withdrawal_of": "Notice of a withdrawal", "concern_for": "Notice of concern", "erratum_for": "Notice of an erratum",
    "corrected_from": "Corrected version", "update_of": "Newer version",
}
#: Kinds of a record that is itself a notice about another one.
NOTICE_KINDS = frozenset({"retraction_of", "withdrawal_of", "concern_for", "erratum_for"})
#: Kinds that tie a record to another version of itself.
VERSION_KINDS = frozenset({"corrected", "corrected_from", "preprint", "updated", "update_of"})

_LINKS = {
    "RetractionIn": "retracted", "RIN": "retracted", "RetractedandRepublishedIn": "retracted", "RRI": "retracted",
    "PartialRetractionIn": "concern", "PRIN": "concern",
    "ExpressionOfConcernIn": "concern", "ECI": "concern",
    "CorrectedandRepublishedIn": "corrected", "CRI": "corrected",
    "ErratumIn": "erratum", "EIN": "erratum",
    "UpdateIn": "updated", "UIN": "updated",
    "RetractionOf": "retraction_of", "ROF": "retraction_of",
    "PartialRetractionOf": "concern_for", "PROF": "concern_for",
    "ExpressionOfConcernFor": "concern_for", "ECF": "concern_for",
    "ErratumFor": "erratum_for", "EFR": "erratum_for",
    "CorrectedandRepublishedFrom": "corrected_from", "CRF": "corrected_from",
    "RetractedandRepublishedFrom": "corrected_from", "RRF": "corrected_from",
    "UpdateOf": "update_of", "UOF": "update_of",
}
_TYPES = {
    "retracted publication": "retracted", "retraction of publication": "retraction_of",
    "retraction notice": "retraction_of", "expression of concern": "concern_for", "published erratum": "erratum_for",
    "corrected and republished article": "corrected_from", "preprint": "preprint",
    "withdrawn publication": "withdrawn", "retracted": "retracted", "retracted article": "retracted",
    "retraction": "retraction_of", "erratum": "erratum_for", "corrigendum": "erratum_for",
}
_NOTICE_TITLE = re.compile(
    r"\W{0,3}(?:notice of )?(?:"
    r"(?P<what>retraction|expression of concern|erratum|corrigendum)(?: notice| note)?"
    r"(?:\s*(?:[:.]|--|[–—])|\s+(?:to|for)\b|\s+of\s*[:“\"'])"
    r"|(?P<named>retraction|withdrawal) (?:notice|note)\b)",
    re.IGNORECASE,
)
_NOTICE_TITLES = {
    "retraction": "retraction_of", "withdrawal": "withdrawal_of", "expression of concern": "concern_for",
    "erratum": "erratum_for", "corrigendum": "erratum_for",
}
_FLAGGED_TITLE = re.compile(
    r"\s*[\[(*]*(?P<what>RETRACTED|Retracted|WITHDRAWN|Withdrawn)"
    r"(?: ARTICLE| Article| article| PAPER| Paper| paper| CHAPTER| Chapter| chapter)?\s*(?:[\])*]+[.:]?\s|[:：]\s*)"
)


@dataclass(frozen=True)
class Link:
    """A typed link from a record to another one, such as `RetractionIn` with the notice's PMID."""

    kind: str
    pmid: str | None = None
    note: str = ""


def known_type(name: str) -> bool:
    """Whether a publication type says what became of a paper."""
    return name.strip().lower() in _TYPES


def notices(types: Iterable[str], links: Iterable[Link], title: str) -> tuple[Notice, ...]:
    """The notices of a record, gravest first; of one kind those with a PMID make the bare one superfluous."""
    found = [Notice(kind=_LINKS[link.kind], pmid=link.pmid, note=link.note) for link in links if link.kind in _LINKS]
    named = [_TYPES[kind.strip().lower()] for kind in types if kind.strip().lower() in _TYPES]
    if "preprint" in named:
        # What PubMed calls the update of a preprint is its publication.
        found = [one.model_copy(update={"kind": "preprint"}) if one.kind == "updated" else one for one in found]
    known = {one.kind for one in found}
    found += [Notice(kind=kind) for kind in dict.fromkeys(named) if kind not in known]
    titled = _from_title(title)
    if titled and not any(one.kind == titled.kind for one in found):
        found.append(titled)
    order = list(KINDS)
    return tuple(sorted(dict.fromkeys(found), key=lambda one: order.index(one.kind)))


def _from_title(title: str) -> Notice | None:
    """What only the title says, as publishers mark what databases have not yet marked."""
    if flagged := _FLAGGED_TITLE.match(title):
        return Notice(kind=flagged["what"].lower(), note="said by the title only")
    if notice := _NOTICE_TITLE.match(title):
        what = notice["what"] or notice["named"]
        return Notice(kind=_NOTICE_TITLES[what.lower()], note="said by the title only")
    return None


def without_retracted(hits: Sequence[Hit], records: Mapping[str, Record]) -> tuple[list[Hit], tuple[str, ...]]:
    """The hits that may be used to answer, and a sentence for each retracted or withdrawn record among the others."""
    used = [hit for hit in hits if not records[hit.passage.record_id].retracted]
    left_out = dict.fromkeys(hit.passage.record_id for hit in hits if records[hit.passage.record_id].retracted)
    return used, tuple(
        f"{_named(records[one])} was among the best matches but {_fate(records[one])}; it was not used." for one in left_out)


def of_cited(record_ids: Iterable[str], records: Mapping[str, Record]) -> tuple[str, ...]:
    """A sentence for each cited record that is retracted, withdrawn or under an expression of concern."""
    found = (records[one] for one in dict.fromkeys(record_ids) if one in records)
    return tuple(f"The text cites {_named(record)}, which {_fate(record)}." for record in found if _fate(record))


def _named(record: Record) -> str:
    return f"{record.name} (PMID {record.pmid})" if record.pmid else record.name


def _fate(record: Record) -> str:
    """What speaks against using the record, gravest first; empty when nothing does."""
    words = {"retracted": "is retracted", "withdrawn": "is withdrawn", "concern": "is under an expression of concern"}
    for kind, fate in words.items():
        found = [notice for notice in record.notices if notice.kind == kind]
        if found:
            pmids = ", ".join(notice.pmid for notice in found if notice.pmid)
            return f"{fate} (notice: PMID {pmids})" if pmids else fate
    return ""


def is_notice(record: Record) -> bool:
    """Whether the record reports on another one instead of reporting research."""
    return any(notice.kind in NOTICE_KINDS for notice in record.notices)


def are_versions(one: Record, other: Record) -> bool:
    """Whether one of two records says of the other that it is a version or a notice of it."""
    return _points(one, other) or _points(other, one)


def _points(one: Record, other: Record) -> bool:
    return other.pmid is not None and any(notice.pmid == other.pmid for notice in one.notices)
