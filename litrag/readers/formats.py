"""Which reader opens a file: told from its content, so that a wrong or missing file name changes nothing.

In: a path. Out: a `Format`, or the reason why no reader takes the file and what to do about it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from litrag.models import Record
from litrag.readers import (
    bioc,
    content,
    delimited,
    endnote_xml,
    exports,
    jats,
    jsonl,
    markdown,
    medline,
    pubcrawl,
    pubmed_xml,
    ris,
)
from litrag.readers.report import Deletion, Rejection

Reader = Callable[[Path], Iterator[Record | Rejection | Deletion]]


@dataclass(frozen=True)
class Format:
    """A file format that can be read, by the name that reports use."""

    name: str
    read: Reader


FORMATS = {one.name: one for one in (
    Format("PubMed XML", pubmed_xml.read), Format("JATS XML", jats.read), Format("EndNote XML", endnote_xml.read),
    Format("BioC XML", bioc.read_xml), Format("BioC JSON", bioc.read_json), Format("JSON Lines", jsonl.read),
    Format("Markdown digest", markdown.read), Format("RIS", ris.read), Format("MEDLINE text", medline.read),
    Format("tagged export", exports.read), Format("table", delimited.read),
    Format("PubCrawl results", pubcrawl.read),
)}

_XML_ROOTS = (
    ("PubMed XML", re.compile(r"<(?:PubmedArticleSet|PubmedBookArticleSet|MedlineCitationSet|PubmedArticle|"
                              r"PubmedBookArticle|MedlineCitation|DeleteCitation|DeleteDocument)[\s>/]")),
    ("EndNote XML", re.compile(r"<xml>\s*<records>|<records>\s*<record>")),
    ("BioC XML", re.compile(r"<collection[\s>].*?<(?:document|source|key|date)[\s>]", re.DOTALL)),
    ("JATS XML", re.compile(r"<(?:pmc-articleset|article)[\s>]")),
)
_NOT_RECORDS = (
    (re.compile(r"<(?:eSearchResult|eSummaryResult|eLinkResult|eInfoResult)[\s>]"),
     "is a list of search results or summaries without abstracts; fetch the records themselves (efetch, XML)"),
    (re.compile(r"<pmc-articleset>\s*<Reply|<OAI-PMH"), "is a server's reply without an article; download it again"),
    (re.compile(r"<(?:!doctype\s+)?html\b", re.IGNORECASE), "is a web page; export the records from the database instead"),
)
_BIBTEX = re.compile(r"^\s*@[A-Za-z]{3,20}\s*\{", re.MULTILINE)
_BINARY = (
    (b"PK\x03\x04", "is a ZIP archive or an office file; unpack it, or save the table as CSV"),
    (b"%PDF", "is a PDF; load the record of the article (PubMed, RIS or JATS XML) instead"),
    (b"\xd0\xcf\x11\xe0", "is an old Excel or Word file; save the table as CSV"),
    (b"BZh", "is packed with bzip2; unpack it"), (b"\xfd7zXZ", "is packed with xz; unpack it"),
    (b"SQLite format 3", "is a database; export its records as RIS, XML or CSV"),
)
_NAMES = {".jsonl": "JSON Lines", ".ndjson": "JSON Lines", ".md": "Markdown digest", ".markdown": "Markdown digest"}


def format_of(path: Path) -> Format | str:
    """The format of the file, or why it can't be read."""
    start = content.head(path)
    if start.startswith(pubcrawl.START.encode()):
        return FORMATS["PubCrawl results"]
    if named := _NAMES.get(path.suffix.lower()):
        return FORMATS[named]
    if not start.strip():
        return "is empty"
    if reason := next((reason for magic, reason in _BINARY if start.startswith(magic)), None):
        return reason
    text = content.decode(start)[0].lstrip("\ufeff \t\r\n").replace("\r\n", "\n").replace("\r", "\n")
    if text.startswith("<") and not text.startswith(("<1", "<2", "<3", "<4", "<5", "<6", "<7", "<8", "<9")):
        return _xml(text)
    if text.startswith("---\n"):
        return FORMATS["Markdown digest"]
    if text.startswith(("{", "[")) and '"' in text:
        bioc_like = '"documents"' in text and ('"passages"' in text or '"infons"' in text)
        return FORMATS["BioC JSON" if bioc_like else "JSON Lines"]
    return _plain_text(text, path)


def _xml(text: str) -> Format | str:
    for pattern, reason in _NOT_RECORDS:
        if pattern.search(text[:2000]):
            return reason
    places = [(match.start(), name) for name, pattern in _XML_ROOTS if (match := pattern.search(text))]
    if places:
        return FORMATS[min(places)[1]]
    return "is XML of an unknown kind; PubMed, JATS (PMC), EndNote and BioC can be read"


def _plain_text(text: str, path: Path) -> Format | str:
    # What begins first decides: a broken record further on may hold lines of any other format.
    place, layout = exports.first_layout(text)
    first = min((one for one in (place, ris.first_record(text), medline.first_record(text)) if one is not None), default=None)
    header_end = delimited.header_end(text)
    if header_end is not None and (first is None or first > header_end):
        return FORMATS["table"]
    if first is not None and first == ris.first_record(text):
        return FORMATS["RIS"]
    if layout and first == place and (layout.name == "Ovid" or not medline.looks_like(text[:place])):
        return FORMATS["tagged export"]
    if medline.looks_like(text):
        return FORMATS["MEDLINE text"]
    if _BIBTEX.search(text):
        return "is BibTeX, which usually lacks the abstract; export RIS instead"
    if delimited.looks_like(text):
        return FORMATS["table"]
    kind = f"type {path.suffix!r}" if path.suffix else "no type"
    hint = "not RIS: no line begins with TY  -. " if path.suffix.lower() == ".ris" else ""
    return f"{hint}files of {kind} with this content can't be read; use {', '.join(FORMATS)}"
