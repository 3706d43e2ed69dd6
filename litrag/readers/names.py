"""Authors' names and identifiers as bibliographic files spell them, in one form.

In: "Wilding, John P. H.", "Liu R.", a DOI with or without its host, a PMID in a sentence. Out: "Wilding JPH", the bare
DOI, the bare PMID, or None for what isn't one. Nothing is repaired by guessing.
"""

from __future__ import annotations

import re
from urllib.parse import unquote

from litrag.models import PMID_PATTERN

_DOI = re.compile(r"\b(10\.[0-9]{4,9}(?:\.[0-9]+)*/[^\s\"<>]{1,250})", re.IGNORECASE)
_PMID = re.compile(r"\bPMID:?\s{0,3}([1-9][0-9]{0,7})\b", re.IGNORECASE)
_PMCID = re.compile(r"\b(PMC[1-9][0-9]{3,8})\b")
_NCT = re.compile(r"\bNCT[0-9]{8}\b")
_SUFFIX = re.compile(r"(?:Jr|Sr|[IVX]{1,4}|[1-9](?:st|nd|rd|th))\.?")
_MAX_NAME = 200


def author(name: str) -> str:
    """ "Surname Initials" when the name is written with a comma; any other form is kept."""
    name = " ".join(name.split())[:_MAX_NAME].strip(" ,;")
    if name.lower() in ("et al", "et al.", "and others"):
        return ""
    if "," not in name:
        return name
    family, given, *more = (part.strip() for part in name.split(","))
    suffix = "".join(f" {part}" for part in more if _SUFFIX.fullmatch(part))
    if _SUFFIX.fullmatch(given) and more:
        given, suffix = more[0], f" {given}"
    return " ".join(f"{family} {initials(given)}{suffix}".split())


def initials(given: str) -> str:
    """The initials of given names: "John P. H." and "J.P.H." are JPH, "Jean-Luc" is JL."""
    given = re.sub(r"\[[^\]]*\]|\([^)]*\)", " ", given)
    letters = []
    for part in re.split(r"[\s.\-‐-―]+", given):
        if not part:
            continue
        capitals = part.isupper() and len(part) <= 3 and part.isalpha()
        letters.append(part if capitals else part[0].upper() if part[0].isalpha() else "")
    return "".join(letters)


def doi(text: str) -> str | None:
    """The DOI in `text`, without host, label and trailing punctuation."""
    text = text.strip()
    match = _DOI.search(unquote(text) if "%2" in text else text)
    if match is None:
        return None
    found = match[1]
    for stop in ("&partnerID", "&amp;", ";jsessionid"):
        found = found.split(stop)[0]
    found = found.rstrip(".,;:'")
    while found.endswith(")") and found.count(")") > found.count("("):
        found = found[:-1].rstrip(".,;")
    while found.endswith("]") and found.count("]") > found.count("["):
        found = found[:-1].rstrip(".,;")
    return found


def labelled_pmid(text: str) -> str | None:
    """The PMID that `text` names as such ("… PMID: 123")."""
    found = _PMID.findall(text)
    return found[-1] if found else None


def bare_pmid(text: str) -> str | None:
    bare = text.strip()
    return bare if PMID_PATTERN.fullmatch(bare) else None


def pmcid(text: str) -> str | None:
    match = _PMCID.search(text.strip().upper())
    return match[1] if match else None


def registrations(text: str) -> tuple[str, ...]:
    """The ClinicalTrials.gov numbers that stand in `text`, each once."""
    return tuple(dict.fromkeys(_NCT.findall(text)))
