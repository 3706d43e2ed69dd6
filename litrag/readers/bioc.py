"""BioC, XML and JSON: the passages of PubMed and PubMed Central articles as text miners exchange them.

In: a collection with documents. Out: records; the first title passage is the title, every other passage a part of the
text, labelled by its section. Annotations are not read. Format: BioC (Comeau et al. 2013, Database).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from litrag.models import Record
from litrag.readers import content, rows
from litrag.readers.fields import join_sections
from litrag.readers.markup import plain, tidy
from litrag.readers.report import Rejection
from litrag.readers.xml_records import read_each

#: (infons, text) of the passages of one document.
Passages = list[tuple[dict[str, str], str]]
_LEFT_OUT = frozenset({"REF", "TABLE", "FIG", "COMP_INT", "AUTH_CONT", "ACK_FUND", "SUPPL"})


def read_xml(path: Path) -> Iterator[Record | Rejection]:
    yield from read_each(path, ("document",), _document, kind="document")


def _document(element: Any, file: str, place: str) -> Iterator[Record | Rejection]:
    found = [({node.get("key") or "": plain(node) for node in passage.iterfind("infon")}, _text(passage))
             for passage in element.iterfind("passage")]
    yield from rows.items(_row(plain(element.find("id")), found), file=file, place=place)


def read_json(path: Path) -> Iterator[Record | Rejection]:
    file = str(path)
    text, _ = content.text(path)
    try:
        loaded = json.loads(text)
    except (ValueError, RecursionError) as error:
        yield Rejection(file=file, reason=f"not JSON: {error}"[:300])
        return
    collections = loaded if isinstance(loaded, list) else [loaded]
    documents = [document for one in collections if isinstance(one, dict) and isinstance(one.get("documents"), list)
                 for document in one["documents"]]
    for number, document in enumerate(documents, start=1):
        place = f"document {number}"
        passages = document.get("passages") if isinstance(document, dict) else None
        if not isinstance(passages, list):
            yield Rejection(file=file, record=place, field="passages", reason="must be a list of passages")
            continue
        found = [(_infons(one.get("infons")), _passage_text(one)) for one in passages if isinstance(one, dict)]
        yield from rows.items(_row(str(document.get("id") or ""), found), file=file, place=place)


def _infons(given: Any) -> dict[str, str]:
    if isinstance(given, list):  # the form of older PubMed Central exports
        given = {str(one.get("key")): one.get("value") for one in given if isinstance(one, dict)}
    return {str(key): str(value) for key, value in given.items()} if isinstance(given, dict) else {}


def _passage_text(passage: dict[str, Any]) -> str:
    if passage.get("text"):
        return tidy(str(passage["text"]))
    sentences = passage.get("sentences")
    parts = sentences if isinstance(sentences, list) else []
    return tidy(" ".join(str(one.get("text") or "") for one in parts if isinstance(one, dict)))


def _text(passage: Any) -> str:
    return plain(passage.find("text")) or " ".join(plain(node) for node in passage.iterfind("sentence/text"))


def _row(identity: str, passages: Passages) -> dict[str, object]:
    front: dict[str, str] = {}
    title, parts = "", []
    for infons, text in passages:
        kind = (infons.get("type") or "").lower()
        section = infons.get("section_type") or infons.get("section") or kind
        front = front or infons
        if not title and (kind in ("title", "front") or section.upper() == "TITLE"):
            title, front = text, infons
        elif section.upper() not in _LEFT_OUT and "title" not in kind and text:
            parts.append((section, text))
    text, sections = join_sections(parts)
    pmcid = front.get("article-id_pmc") or ""
    return {
        "pmid": front.get("article-id_pmid") or (identity if identity.isdigit() else None),
        "pmcid": f"PMC{pmcid.removeprefix('PMC')}" if pmcid else (identity if identity.startswith("PMC") else None),
        "doi": front.get("article-id_doi"), "title": title, "year": front.get("year"), "journal": front.get("journal"),
        "text": text, "sections": [section.model_dump() for section in sections],
        "record_id": "" if identity.isdigit() or identity.startswith("PMC") else identity,
    }
