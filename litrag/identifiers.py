"""PMIDs and DOIs in running text, links to them included.

In: any text. Out: identifiers with their spans, in order. What calls itself a PMID but can't be one is returned
with its problem in words, never repaired. Every pattern is bounded, so that hostile text costs linear time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import unquote

from litrag.models import PMID_PATTERN, Model, Span

_PMIDS = re.compile(
    r"(?<![A-Za-z])(?:pubmed\s{0,2})?(?:pmids?|(?<=pubmed )ids?|(?<=pubmed)id)"
    r"\s{0,3}[:#=]?\s{0,3}(?P<first>[0-9]+)(?P<more>(?:\s{0,2}(?:[,;/&]|and)\s{0,2}(?:pmid\s{0,2}:?\s{0,2})?[0-9]{5,})*)"
    r"|(?<![A-Za-z])pubmed\s{0,2}:?\s{0,2}(?P<plain>[0-9]{5,})",
    re.IGNORECASE,
)
_PUBMED_URL = re.compile(
    r"(?:https?://)?(?:www\.)?(?:pubmed\.ncbi\.nlm\.nih\.gov|ncbi\.nlm\.nih\.gov/(?:m/)?pubmed|pubmed\.gov"
    r"|europepmc\.org/(?:abstract|article)/med)/(?:\?term=)?(?P<digits>[0-9]+)(?:/?[?#][\w=&%#.-]{0,200})?/?",
    re.IGNORECASE,
)
_DOI = re.compile(
    r"(?:https?://(?:dx\.|www\.)?doi\.org/|(?<![a-z])doi\.org/|(?<![a-z])doi\s{0,2}[:=]?\s{0,2}(?:https?://doi\.org/)?)?"
    r"(?<![0-9.])(?P<doi>10\.[0-9]{4,9}(?:/|%2F)[^\s\"<>“”【】]{1,200})",
    re.IGNORECASE,
)
_TRAILING = ".,;:!?'’”*_"
_CLOSERS = {")": "(", "]": "[", "}": "{"}


class Identifier(Model):
    """A PMID or DOI and where it stands, its label ("PMID", "doi:", the host) included in the span."""

    kind: str
    value: str
    span: Span
    problem: str = ""


def find_identifiers(text: str) -> list[Identifier]:
    """All identifiers of `text` in order; a PMID that can't be one carries a problem."""
    found = [*_dois(text), *_pubmed_links(text), *_pmids(text)]
    found.sort(key=lambda item: (item.span[0], -item.span[1]))
    kept: list[Identifier] = []
    for item in found:
        if not kept or item.span[0] >= kept[-1].span[1] or item.span == kept[-1].span:
            kept.append(item)
    return kept


def normal_pmid(text: str) -> str | None:
    """The PMID that `text` is, bare, labelled or linked; None when it is none."""
    bare = text.strip()
    if PMID_PATTERN.fullmatch(bare):
        return bare
    found = find_identifiers(bare)
    whole = len(found) == 1 and found[0].kind == "pmid" and found[0].span == (0, len(bare)) and not found[0].problem
    return found[0].value if whole else None


def normal_doi(text: str) -> str | None:
    """The DOI that `text` is, bare, labelled or linked; None when it is none."""
    bare = text.strip()
    found = find_identifiers(bare)
    return found[0].value if len(found) == 1 and found[0].kind == "doi" and found[0].span[0] == 0 else None


def _dois(text: str) -> Iterator[Identifier]:
    for match in _DOI.finditer(text):
        value = trim_url(match["doi"])
        end = match.start("doi") + len(value)
        yield Identifier(kind="doi", value=unquote(value), span=(match.start(), end))


def trim_url(value: str) -> str:
    """`value` without the punctuation and unopened brackets that prose put behind it."""
    while value:
        last = value[-1]
        unopened = last in _CLOSERS and value.count(last) > value.count(_CLOSERS[last])
        if last not in _TRAILING and not unopened:
            break
        value = value[:-1]
    # "…/abc](https://…" and "…/abc)[2]": a bracket that closes something opened before the identifier.
    for place, char in enumerate(value):
        if char in _CLOSERS and value.count(char, 0, place + 1) > value.count(_CLOSERS[char], 0, place):
            return trim_url(value[:place])
    return value


def _pubmed_links(text: str) -> Iterator[Identifier]:
    for match in _PUBMED_URL.finditer(text):
        yield _pmid(match["digits"], match.span())


def _pmids(text: str) -> Iterator[Identifier]:
    for match in _PMIDS.finditer(text):
        for digits in [match["first"] or match["plain"], *re.findall("[0-9]+", match["more"] or "")]:
            yield _pmid(digits, match.span())


def _pmid(digits: str, span: Span) -> Identifier:
    if PMID_PATTERN.fullmatch(digits):
        return Identifier(kind="pmid", value=digits, span=span)
    shown = digits if len(digits) <= 20 else digits[:20] + "…"
    problem = f"PMID {shown} can't exist: a PMID has 1–8 digits without a leading zero"
    return Identifier(kind="pmid", value=shown, span=span, problem=problem)
