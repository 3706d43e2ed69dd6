"""JATS, the XML of PubMed Central and of publishers: the abstract, then the sections of the full text.

In: an `article` or a `pmc-articleset`, streamed article by article. Out: records whose text is the abstract and the
body; labels of the abstract's sections begin with "Abstract". Tables, figures and the reference list are left out.
Format: NISO Z39.96 (JATS).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from litrag import status
from litrag.models import OtherAbstract, Record
from litrag.readers import names, rows
from litrag.readers.fields import join_sections
from litrag.readers.markup import plain
from litrag.readers.report import Rejection
from litrag.readers.xml_records import read_each

_LEFT_OUT = frozenset({
    "table-wrap", "fig", "fig-group", "ref-list", "tex-math", "supplementary-material", "fn-group", "fn", "object-id",
    "graphic", "media", "inline-graphic", "sec-meta", "boxed-text", "table", "label", "title", "sec",
})
_ABSTRACT_LEFT_OUT = _LEFT_OUT - {"boxed-text"}
_RELATED = {
    "retracted-article": "RetractionOf", "corrected-article": "ErratumFor", "retraction-forward": "RetractionIn",
    "correction-forward": "ErratumIn", "object-of-concern": "ExpressionOfConcernFor",
    "concern-forward": "ExpressionOfConcernIn", "preprint": "UpdateOf",
}
_TYPES = {
    "retraction": "Retraction of Publication", "correction": "Published Erratum", "preprint": "Preprint",
    "expression-of-concern": "Expression of Concern", "research-article": "Journal Article", "review-article": "Review",
}


def read(path: Path) -> Iterator[Record | Rejection]:
    yield from read_each(path, ("article",), _record, kind="article")


def _record(element: Any, file: str, place: str) -> Iterator[Record | Rejection]:
    _drop_namespaces(element)
    meta = element.find("front/article-meta")
    if meta is None:
        yield Rejection(file=file, record=place, field="front", reason="has no article-meta; download it again")
    else:
        yield from rows.items(row(element, meta), file=file, place=place)


def _drop_namespaces(element: Any) -> None:
    for node in element.iter():
        if isinstance(node.tag, str) and "}" in node.tag:
            node.tag = node.tag.rpartition("}")[2]


def row(article: Any, meta: Any) -> dict[str, object]:
    """LitRAG's fields of an article."""
    ids = {node.get("pub-id-type"): plain(node) for node in reversed(list(meta.iterfind("article-id")))}
    pmcid = ids.get("pmcid") or ids.get("pmc") or ids.get("pmc-uid") or ""
    group = meta.find("title-group")
    kind = article.get("article-type") or ""
    text, sections = join_sections([*_abstract(meta), *_body(article.find("body"))])
    journal = article.find("front/journal-meta")
    return {
        "pmid": ids.get("pmid"), "pmcid": f"PMC{pmcid}" if pmcid.isdigit() else pmcid, "doi": ids.get("doi"),
        "title": _title(group), "vernacular_title": _found(group, "trans-title-group/trans-title"),
        "authors": list(_authors(meta)), "journal": _journal(journal), "year": _year(meta),
        "volume": _found(meta, "volume"), "issue": _found(meta, "issue"), "pages": rows.pages_of(
            _found(meta, "fpage"), _found(meta, "lpage")) or _found(meta, "elocation-id"),
        "text": text, "sections": [section.model_dump() for section in sections],
        "other_abstracts": [
            OtherAbstract(language=node.get("{http://www.w3.org/XML/1998/namespace}lang") or "", text=plain(node))
            for node in meta.iterfind("trans-abstract") if plain(node)
        ],
        "language": article.get("{http://www.w3.org/XML/1998/namespace}lang") or "",
        "publication_types": [_TYPES[kind]] if kind in _TYPES else [],
        "keywords": [plain(node) for node in meta.iterfind("kwd-group/kwd")],
        "funding": list(dict.fromkeys(filter(None, (
            plain(node) for node in meta.iterfind("funding-group/award-group/funding-source"))))),
        "links": [
            status.Link(_RELATED[node.get("related-article-type") or ""], _related_pmid(node))
            for node in meta.iterfind("related-article") if node.get("related-article-type") in _RELATED
        ],
    }


def _abstract(meta: Any) -> list[tuple[str, str]]:
    """The first abstract that is none of the graphical, teaser or author-summary kind."""
    chosen = next((node for node in meta.iterfind("abstract") if node.get("abstract-type") is None), None)
    return list(_sections(chosen, "Abstract")) if chosen is not None else []


def _body(body: Any) -> list[tuple[str, str]]:
    return list(_sections(body, "")) if body is not None else []


def _sections(parent: Any, label: str) -> Iterator[tuple[str, str]]:
    """(label, prose) of `parent` and of the sections in it; labels tell the way there."""
    own = "\n\n".join(filter(None, (
        _prose(node) for node in parent if isinstance(node.tag, str) and node.tag not in _LEFT_OUT)))
    if own:
        yield label, own
    for section in parent.iterfind("sec"):
        title = plain(section.find("title"))
        yield from _sections(section, " › ".join(filter(None, (label, title))))


def _prose(node: Any) -> str:
    return plain(node, _ABSTRACT_LEFT_OUT - {"title", "label"})


def _title(group: Any) -> str:
    if group is None:
        return ""
    title = plain(group.find("article-title"), frozenset({"fn", "xref"}))
    subtitle = plain(group.find("subtitle"), frozenset({"fn", "xref"}))
    return f"{title}: {subtitle}" if title and subtitle and not title.endswith(":") else f"{title} {subtitle}".strip()


def _authors(meta: Any) -> Iterator[str]:
    for node in meta.iterfind("contrib-group/contrib"):
        if node.get("contrib-type") not in (None, "author"):
            continue
        name = node.find("name") if node.find("name") is not None else node.find("name-alternatives/name")
        family, given = _found(name, "surname"), _found(name, "given-names")
        whole = " ".join(filter(None, (family, names.initials(given), _found(name, "suffix"))))
        whole = whole or plain(node.find("collab"), frozenset({"contrib-group", "contrib"}))
        if whole:
            yield whole


def _journal(journal: Any) -> str:
    if journal is None:
        return ""
    known = {node.get("journal-id-type"): plain(node) for node in journal.iterfind("journal-id")}
    return (known.get("nlm-ta") or known.get("iso-abbrev") or _found(journal, "journal-title-group/journal-title")
            or _found(journal, "journal-title"))


def _year(meta: Any) -> str:
    years = [plain(node.find("year")) for node in meta.iterfind("pub-date")]
    return min((year for year in years if re.fullmatch(r"[0-9]{4}", year)), default="")


def _related_pmid(node: Any) -> str | None:
    if node.get("ext-link-type") not in ("pubmed", "pmid"):
        return None
    link = next((value for key, value in node.attrib.items() if key.endswith("href")), "")
    return names.bare_pmid(link)


def _found(parent: Any, path: str) -> str:
    if parent is None:
        return ""
    node = parent.find(path)
    return plain(node) if node is not None else ""
