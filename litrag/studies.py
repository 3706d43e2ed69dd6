"""What a record says of its study: type, size, people, dose, comparator, status; read by code, nothing guessed.

In: a record. Out: `StudyFacts`, each value in the record's own words where it has them, empty where it doesn't say.
"""

from __future__ import annotations

import re

from litrag.checks.design import asserted_of
from litrag.figures import arm_mentions, fold
from litrag.models import Model, Record

_PEOPLE = r"(?:participants|patients|adults|people|individuals|subjects|persons|women|men|children|adolescents|infants)"
#: A number, at most two words that don't begin another phrase, and what people are called.
_SIZE = re.compile(
    r"(?<![\d.,–-])(\d{1,3}(?:,\d{3})+|\d{2,6})(?![\d.%]) "
    rf"(?:(?!(?:in|to|and|of|with|from|until) )[A-Za-z0-9-]+ ){{0,2}}?{_PEOPLE}\b"
)
_DOSE = re.compile(
    r"(?<![\d.])\d+(?:\.\d+)?(?:(?:, | or |, or | and )\d+(?:\.\d+)?)* ?(?:mg|µg|mcg|g|ml|mL|IU|units)(?:/kg|/day|/m2)?\b(?!/)"
)
_ROUTE = (("oral", r"\boral(?:ly)?\b|\bby mouth\b"), ("subcutaneous", r"\bsubcutaneous(?:ly)?\b|\binject"),
          ("intravenous", r"\bintravenous(?:ly)?\b"))
_OFTEN = (("daily", r"\bonce[- ]daily\b|\bonce a day\b|\bdaily\b"),
          ("weekly", r"\bonce[- ]weekly\b|\bonce a week\b|\bweekly\b"))
_WHOM = (
    ("without diabetes", r"\bwithout diabetes\b|\bno diabetes\b|\bnone had diabetes\b|diabetes was an exclusion"),
    ("type 2 diabetes", r"\b(?:with|(?<!% )had) (?:both )?type 2 diabetes\b"),
    ("type 1 diabetes", r"\b(?:with|had) type 1 diabetes\b"),
    ("cardiovascular disease", r"\b(?:atherosclerotic |established )?cardiovascular (?:or chronic kidney )?disease\b"),
    ("chronic kidney disease", r"\bchronic kidney disease\b"),
    ("overweight or obesity", r"\bobes(?:ity|e)\b|\boverweight\b|body-mass index of (?:2[5-9]|3\d)"),
)
_METHODS = re.compile(r"method|design|participants|patients", re.IGNORECASE)
_TYPES = ("Meta-Analysis", "Systematic Review", "Randomized Controlled Trial", "Observational Study", "Clinical Trial")


class StudyFacts(Model):
    """One study as its record describes it; an empty value means that the record doesn't say."""

    kind: str = ""
    size: str = ""
    population: str = ""
    dose: str = ""
    comparator: str = ""
    status: str = ""


def facts_of(record: Record) -> StudyFacts:
    """Type, size, people, dose, comparator and status of a record's study."""
    methods = _methods(record)
    own = asserted_of(methods)
    return StudyFacts(
        kind=next((t for t in _TYPES if t in record.publication_types), next(iter(record.publication_types), "")),
        size=_size(methods), population=", ".join(_named(_WHOM, own)), dose=_dose(own),
        comparator=", ".join(_comparators(methods, record)),
        status=", ".join(notice.kind for notice in record.notices),
    )


def _methods(record: Record) -> str:
    """The part that says who was studied and how; the whole text where no part is labelled so."""
    parts = [record.text[s.start : s.end] for s in record.sections if _METHODS.search(s.label)]
    return " ".join(parts) or record.text


def _size(text: str) -> str:
    """The largest number of people, with what they are called."""
    found = [(int(match[1].replace(",", "")), match[0]) for match in _SIZE.finditer(fold(text))]
    return max(found, key=lambda pair: pair[0])[1] if found else ""


def _named(table: tuple[tuple[str, str], ...], text: str) -> list[str]:
    return [name for name, pattern in table if re.search(pattern, text, re.IGNORECASE)]


def _dose(text: str) -> str:
    doses = list(dict.fromkeys(match[0] for match in _DOSE.finditer(text)))
    return ", ".join([*_named(_ROUTE, text)[:2], *_named(_OFTEN, text)[:2], *doses[:4]])


def _comparators(methods: str, record: Record) -> list[str]:
    """Placebo, an active comparator, and drugs that are named besides the one the title speaks of first."""
    plain = fold(methods).lower()
    found = [name for name in ("placebo", "active comparator", "usual care", "standard care") if name in plain]
    drugs = list(dict.fromkeys(m.name for m in arm_mentions(methods) if m.name != "control"))
    titled = [drug for drug in drugs if drug in record.title.lower()]
    first = min(titled, key=record.title.lower().index) if titled else next(iter(drugs), "")
    return list(dict.fromkeys([*found, *(drug for drug in drugs if drug != first)]))
