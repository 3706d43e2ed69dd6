"""PubMed XML: article and book records of EFetch, of the yearly baseline and of the daily update files.

In: `PubmedArticleSet`, the older `MedlineCitationSet`, `PubmedBookArticle`s, packed or not, streamed. Out: records with
their sections, what became of them, and the PMIDs that an update file deletes. Identifiers are taken from a record's
own places, never from its reference list or its comments. Format: NLM's PubMed DTD.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from litrag import status
from litrag.models import PMID_PATTERN, OtherAbstract, Record
from litrag.readers import names
from litrag.readers.fields import join_sections
from litrag.readers.markup import plain, tidy
from litrag.readers.report import Deletion, Rejection
from litrag.readers.xml_records import read_each

ROOTS = ("PubmedArticle", "PubmedBookArticle", "MedlineCitation", "DeleteCitation", "DeleteDocument")
HOLDS = {"PubmedArticle": "MedlineCitation"}
_YEAR = re.compile(r"\b(1[5-9]\d\d|20\d\d)\b")
_PLACEHOLDERS = ("[not available]", "[in process citation]", "[untitled]", "not available")

Item = Record | Rejection | Deletion


def read(path: Path) -> Iterator[Item]:
    yield from read_each(path, ROOTS, _items, holds=HOLDS)


def _items(element: Any, file: str, place: str) -> Iterator[Item]:
    yield from _deletions(element, file) if element.tag.startswith("Delete") else _record(element, file, place)


def _deletions(element: Any, file: str) -> Iterator[Deletion]:
    for pmid in element.iterfind("PMID"):
        if names.bare_pmid(pmid.text or ""):
            yield Deletion(file=file, pmid=(pmid.text or "").strip())


def _record(element: Any, file: str, place: str) -> Iterator[Item]:
    if element.tag == "PubmedBookArticle":
        citation, article = element.find("BookDocument"), element.find("BookDocument")
    else:
        citation = element if element.tag == "MedlineCitation" else element.find("MedlineCitation")
        article = citation.find("Article") if citation is not None else None
    if citation is None or article is None:
        yield Rejection(file=file, record=place, reason="holds no citation with an article; download it again")
        return
    pmid = _text(citation, "PMID")
    place = f"{place}, PMID {pmid}" if pmid else place
    if pmid and not PMID_PATTERN.fullmatch(pmid):
        reason = f"must be 1–8 digits without a leading zero, got {pmid[:40]!r}"
        yield Rejection(file=file, record=place, field="pmid", reason=reason)
        return
    fields = _book(citation) if element.tag == "PubmedBookArticle" else _article(citation, article)
    fields |= _identifiers(element, article)
    text, sections = join_sections(_abstract(article.find("Abstract")))
    title, vernacular = _title(fields.pop("title"), fields.pop("vernacular_title", ""))
    if not title and not text:
        reason = "neither a title nor an abstract; a record needs one of them"
        yield Rejection(file=file, record=place, field="title", reason=reason)
        return
    fields["nct"] = fields.get("nct") or _sole(names.registrations(text))
    identity = pmid or fields.get("pmcid") or fields.get("doi")
    if not identity:
        yield Rejection(file=file, record=place, field="pmid", reason="has neither PMID, PMCID nor DOI; download it again")
        return
    if not text:
        reason = "no abstract: the record is kept, but nothing of it can be found or quoted"
        yield Rejection(file=file, record=place, field="text", reason=reason, record_kept=True)
    try:
        yield Record(
            record_id=identity, pmid=pmid or None, title=title, vernacular_title=vernacular or None, text=text,
            sections=sections, notices=status.notices(fields["publication_types"], _links(citation), title),
            other_abstracts=_other_abstracts(citation), revised=_revised(citation), origin=f"{file}, {place}", **fields,
        )
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        yield Rejection(file=file, record=place, field=field, reason=first["msg"])


def _article(citation: Any, article: Any) -> dict[str, Any]:
    issue = article.find("Journal/JournalIssue")
    return {
        "title": plain(article.find("ArticleTitle")), "vernacular_title": plain(article.find("VernacularTitle")),
        "authors": _authors(article.find("AuthorList")),
        "journal": _text(article, "Journal/ISOAbbreviation") or _text(citation, "MedlineJournalInfo/MedlineTA")
        or plain(article.find("Journal/Title")) or None,
        "year": _year(article.find("Journal/JournalIssue/PubDate")) or _year(article.find("ArticleDate")),
        "volume": _text(issue, "Volume"), "issue": _text(issue, "Issue"), "pages": _pages(article),
        "language": _text(article, "Language"), "publication_types": _all(article, "PublicationTypeList/PublicationType"),
        "mesh": tuple(_headings(citation)), "keywords": _all(citation, "KeywordList/Keyword"),
        "nct": _registered(article), "funding": tuple(_grants(article)),
    }


def _book(document: Any) -> dict[str, Any]:
    chapter, book = plain(document.find("ArticleTitle")), plain(document.find("Book/BookTitle"))
    lists = {node.get("Type", "authors"): node for node in document.iterfind("AuthorList")}
    lists = {node.get("Type", "authors"): node for node in document.iterfind("Book/AuthorList")} | lists
    return {
        "title": chapter or book, "vernacular_title": plain(document.find("VernacularTitle")),
        "authors": _authors(lists.get("authors") if "authors" in lists else lists.get("editors")),
        "journal": (book if chapter else _text(document, "Book/Publisher/PublisherName")) or None,
        "year": _year(document.find("Book/PubDate")) or _year(document.find("ContributionDate")),
        "volume": _text(document, "Book/Volume"), "pages": _text(document, "Pagination/MedlinePgn"),
        "language": _text(document, "Language"), "publication_types": _all(document, "PublicationType"),
        "keywords": _all(document, "KeywordList/Keyword"), "funding": tuple(_grants(document)),
    }


def _identifiers(element: Any, article: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    places = ("PubmedData/ArticleIdList/ArticleId", "PubmedBookData/ArticleIdList/ArticleId",
              "BookDocument/ArticleIdList/ArticleId")
    for node in (node for place in places for node in element.iterfind(place)):
        kind, value = node.get("IdType"), plain(node)
        if kind == "doi" and "doi" not in found and (doi := names.doi(value)):
            found["doi"] = doi
        elif kind in ("pmc", "pmcid") and "pmcid" not in found and (pmcid := names.pmcid(value)):
            found["pmcid"] = pmcid
    for node in [*article.iterfind("ELocationID"), *article.iterfind("Book/ELocationID")]:
        valid = node.get("EIdType") == "doi" and node.get("ValidYN", "Y") == "Y"
        if valid and "doi" not in found and (doi := names.doi(plain(node))):
            found["doi"] = doi
    return found


def _title(title: str, vernacular: str) -> tuple[str, str]:
    """Title and original title, without the full stop that PubMed sets behind both."""
    title, vernacular = _unstopped(title), _unstopped(vernacular)
    if not title or title.lower() in _PLACEHOLDERS:
        return vernacular, vernacular
    return title, vernacular


def _unstopped(title: str) -> str:
    return title[:-1] if title.endswith(".") and not title.endswith("..") else title


def _abstract(abstract: Any) -> list[tuple[str, str]]:
    if abstract is None:
        return []
    parts = [(tidy(node.get("Label") or ""), plain(node)) for node in abstract.iterfind("AbstractText")]
    labelled = [("" if label.upper() == "UNLABELLED" else label, text) for label, text in parts]
    return labelled or [("", plain(abstract, frozenset({"CopyrightInformation"})))]


def _other_abstracts(citation: Any) -> tuple[OtherAbstract, ...]:
    found = []
    for node in citation.iterfind("OtherAbstract"):
        text = "\n\n".join(filter(None, (plain(part) for part in node.iterfind("AbstractText"))))
        if text and text != "Abstract available from the publisher.":
            found.append(OtherAbstract(language=node.get("Language") or "", text=text))
    return tuple(found)


def _authors(authors: Any) -> tuple[str, ...]:
    if authors is None:
        return ()
    found = []
    for node in authors.iterfind("Author"):
        if node.get("ValidYN") == "N":
            continue
        family = plain(node.find("LastName"))
        first = _text(node, "Initials") or names.initials(plain(node.find("ForeName")) or plain(node.find("FirstName")))
        suffix = _text(node, "Suffix")
        name = " ".join(filter(None, (family, first, suffix))) or plain(node.find("CollectiveName"))
        if name:
            found.append(name)
    return tuple(found)


def _year(date: Any) -> int | None:
    if date is None:
        return None
    match = _YEAR.search(_text(date, "Year") or _text(date, "MedlineDate") or _text(date, "Season") or "")
    return int(match[1]) if match else None


def _pages(article: Any) -> str | None:
    pages = _text(article, "Pagination/MedlinePgn")
    if pages:
        return pages
    first, last = _text(article, "Pagination/StartPage"), _text(article, "Pagination/EndPage")
    return f"{first}-{last}" if first and last else first


def _revised(citation: Any) -> str | None:
    date = citation.find("DateRevised")
    parts = [_text(date, name) or "" for name in ("Year", "Month", "Day")] if date is not None else []
    return "-".join(part.zfill(2) for part in parts) if len(parts) == 3 and all(p.isdigit() for p in parts) else None


def _headings(citation: Any) -> Iterator[str]:
    for node in citation.iterfind("MeshHeadingList/MeshHeading"):
        descriptor = plain(node.find("DescriptorName")) or plain(node.find("Descriptor"))
        qualifiers = [plain(qualifier) for qualifier in node.iterfind("QualifierName")]
        if descriptor:
            yield "/".join([descriptor, *qualifiers])


def _registered(article: Any) -> tuple[str, ...]:
    found = [
        plain(node) for bank in article.iterfind("DataBankList/DataBank")
        if (_text(bank, "DataBankName") or "").lower() == "clinicaltrials.gov"
        for node in bank.iterfind("AccessionNumberList/AccessionNumber")
    ]
    return tuple(dict.fromkeys(filter(None, found)))


def _grants(article: Any) -> Iterator[str]:
    seen = set()
    for node in article.iterfind("GrantList/Grant"):
        grant = " ".join(filter(None, (_text(node, "Agency"), _text(node, "GrantID"))))
        if grant and grant not in seen:
            seen.add(grant)
            yield grant


def _links(citation: Any) -> Iterator[status.Link]:
    for node in citation.iterfind("CommentsCorrectionsList/CommentsCorrections"):
        pmid = names.bare_pmid(_text(node, "PMID") or "")
        yield status.Link(node.get("RefType") or "", pmid, _text(node, "RefSource") or "")


def _sole(numbers: tuple[str, ...]) -> tuple[str, ...]:
    """A registration number that the abstract names, unless it names several: those may be other trials."""
    return numbers if len(numbers) == 1 else ()


def _all(parent: Any, path: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, (plain(node) for node in parent.iterfind(path)))))


def _text(parent: Any, path: str) -> str | None:
    if parent is None:
        return None
    node = parent.find(path)
    return (plain(node) or None) if node is not None else None
