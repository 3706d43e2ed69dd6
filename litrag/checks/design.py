"""Who was studied, how, and with what: population, design, route, frequency, drug, and how far a claim may go."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from litrag.checks.case import SAME_MATTER, Case, content, inside
from litrag.checks.effects import direction
from litrag.figures import arm_mentions, figures, fold
from litrag.models import Finding, Verdict
from litrag.sentences import split

_DIABETES = r"(?:established |known )?(?:type[ -](?:2|1|II|I) |both )?(?:diabetes|T2DM?|T1D)\b"
#: (kind, one, its opposite): a claim may not name one when the source names only the other.
_OPPOSITES: tuple[tuple[str, str, str], ...] = (
    (
        "population",
        rf"\b(?:with|having|(?<!not )had|(?<!not )have) {_DIABETES}|\bdiabetic (?:patients|people|adults)|"
        r"\bdiabetes (?:patients|population)|\bT2DM? patients",
        rf"\b(?:without|no|not have|free of|absence of|excluding|excluded people with) (?:(?:a )?history of )?{_DIABETES}|"
        r"\bnon-?diabetic\b|\bdiabetes (?:was|were) (?:excluded|an exclusion)|"
        rf"\bnone (?:of (?:them|whom) )?had {_DIABETES}",
    ),
    (
        "design",
        r"(?<!non-)\brandomi[sz]ed\b|\bRCTs?\b",
        r"\bobservational\b|\bcohort study\b|\b(?:retrospective|prospective|matched) cohort\b|\bpropensity\b|"
        r"\belectronic (?:health )?records?\b|\bregistry (?:study|data)\b|\bcase-control\b|\bcross-sectional\b",
    ),
    ("design", r"\bdouble-?[ ]?blind\w*|\bmasked\b", r"\bopen-?[ ]?label\b|\bunblinded\b|\bunmasked\b"),
    ("design", r"\bpost[ -]?hoc\b", r"\bpre-?specified\b|\bpre-?planned\b"),
    ("design", r"\bnon-?inferiority\b", r"\bsuperiority (?:trial|study|design)\b"),
    (
        "design", r"\b(?:a|one) single (?:[\w-]+ ){0,3}?(?:trial|study)\b",
        r"\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\d+) (?:[\w-]+ ){0,4}?(?:trials|studies)\b",
    ),
    (
        "design",
        r"\b(?:stopp?ed|terminated|halted|ended|closed) (?:early|ahead of|before its)\b|\bearly (?:termination|stopping)\b",
        r"\bplanned end\b|\bran to (?:completion|its end)\b|\bcompleted as planned\b|\bfull planned (?:length|duration)\b",
    ),
    ("route", r"\boral(?:ly)?\b|\bby mouth\b|\btablets?\b|\bpills?\b",
     r"\bsubcutaneous(?:ly)?\b|\binject\w*|\bs\.c\.|\bintravenous\w*"),
    ("frequency", r"\b(?:once|twice)?[ -]?daily\b|\b(?:once|twice) a day\b|\b(?:every|per|each) day\b",
     r"\b(?:once|twice)?[ -]?weekly\b|\b(?:once|twice) a week\b|\b(?:every|per|each) week\b"),
)
_POLES = tuple((kind, re.compile(one, re.I), re.compile(other, re.I)) for kind, one, other in _OPPOSITES)
_EXCLUSION = re.compile(
    r"\bexclu\w+|\bcould(?: not|n't)|"
    r"\bnot (?:studied|tested|eligible|enrol\w*|includ\w+|take part|admitted)|\bbarred\b|\binelig\w+", re.I
)
#: Sentences about what a study is not, or doesn't show: they assert nothing of its own population or design.
_DISCLAIMER = re.compile(
    r"\b(?:not studied|does not show|do not show|do not describe|cannot be|can't be|not a randomi[sz]ed|remains? unknown|"
    r"not applicable|other trials)\b", re.I
)


@lru_cache(maxsize=64)
def asserted_of(text: str) -> str:
    """The text, folded, without the sentences about what its study is not or doesn't show."""
    plain = fold(text)
    return " ".join(plain[s:e] for s, e in split(text) if not _DISCLAIMER.search(plain[s:e]))


def check_poles(case: Case) -> Iterable[Finding]:
    """Population, design, route and frequency: the claim must not name the opposite of the source's only one."""
    claim, source = fold(case.claim), fold(case.text)
    for kind, one, other in _POLES:
        for said, opposite in ((one, other), (other, one)):
            here = said.search(claim)
            if here is None or opposite.search(claim) or _negated(claim, here):
                continue
            if kind == "population" and _EXCLUSION.search(claim):
                continue
            there = opposite.search(source)
            asserted = asserted_of(case.text)
            if there is None or any(not _negated(asserted, match) for match in said.finditer(asserted)):
                continue
            # "in everyone, including people with diabetes" says the source's finding and more of it.
            wider = kind == "population" and _WIDENED.search(claim)
            yield Finding(
                kind=kind, verdict=Verdict.PARTIAL if wider else Verdict.CONTRADICTS,
                claim_span=here.span(), source_span=there.span(),
                message=f"the claim says “{case.claim[here.start() : here.end()].strip()}”, "
                        f"the source “{case.text[there.start() : there.end()].strip()}”",
            )


#: Sides of an age: "younger than 60", and "60 years or older".
_BELOW = re.compile(
    r"\b(?:younger than|under(?: the age of)?|below(?: the age of)?|less than) (?P<n>\d{2})\b(?: years)?(?! ?%)", re.I
)
_FROM = re.compile(
    r"\b(?P<n>\d{2}) (?:years )?(?:or|and) (?:older|over|above)\b|"
    r"\b(?:older than|over the age of|at least) (?P<m>\d{2})\b(?= years| and|,|\.|;)", re.I
)


def check_ages(case: Case) -> Iterable[Finding]:
    """A result in people on one side of an age is not one in those on the other side."""
    claim, source = fold(case.claim), asserted_of(case.text)
    for said, opposite in ((_BELOW, _FROM), (_FROM, _BELOW)):
        here = said.search(claim)
        if here is None or opposite.search(claim) or not re.search(r"\b(?:age|years?|older|younger)\b", claim, re.I):
            continue
        age = _age(here)
        there = next((match for match in opposite.finditer(source) if _age(match) == age), None)
        if there is None or any(_age(match) == age for match in said.finditer(source)):
            continue
        shown = opposite.search(fold(case.text), max(0, fold(case.text).find(there[0])))
        yield Finding(
            kind="population", verdict=Verdict.CONTRADICTS, claim_span=here.span(), source_span=shown.span() if shown else None,
            message=f"the claim says “{here[0]}”, the source “{there[0]}”",
        )


def _age(match: re.Match[str]) -> str | None:
    groups = match.groupdict()
    return groups["n"] or groups.get("m")


_DENIED = re.compile(r"\bnot (?:an?|the) (?P<what>[a-z][\w-]+ [a-z][\w-]+)", re.I)


def check_denied(case: Case) -> Iterable[Finding]:
    """What the source says that something is not ("not an independent sample") must not be claimed of it."""
    claim, source = fold(case.claim), fold(case.text)
    for there in _DENIED.finditer(source):
        phrase = re.compile(rf"\b{re.escape(there['what'])}\b", re.I)
        here = phrase.search(claim)
        if here is None or _negated(claim, here) or any(not _negated(source, match) for match in phrase.finditer(source)):
            continue
        yield Finding(
            kind="design", verdict=Verdict.CONTRADICTS, claim_span=here.span(), source_span=there.span(),
            message=f"the claim says “{case.claim[slice(*here.span())]}”, the source “{case.text[slice(*there.span())]}”",
        )


_WIDENED = re.compile(
    r"\b(?:everyone|everybody|anyone|all (?:patients|people|adults|participants)|whether or not|regardless of|including|"
    r"with (?:and|or) without)\b", re.I
)
_RANK = {"primary": re.compile(r"\bprimary\b", re.I), "secondary": re.compile(r"\bsecondary\b|\bexploratory\b", re.I)}
_ENDPOINT = re.compile(r"\b(?:outcome|end-?point|measure)s?\b", re.I)


def check_endpoint_rank(case: Case) -> Iterable[Finding]:
    """A secondary outcome must not be called the primary one, nor the other way round."""
    if not _ENDPOINT.search(case.claim):
        return
    for rank, other in (("primary", "secondary"), ("secondary", "primary")):
        here = _RANK[rank].search(case.claim)
        if here is None or _RANK[other].search(case.claim) or _negated(case.claim, here):
            continue
        found = case.best(lambda unit: _ENDPOINT.search(unit.text) is not None)
        if found is None or found[1] < SAME_MATTER:
            continue
        unit, there = found[0], _RANK[other].search(found[0].text)
        if there and not _RANK[rank].search(unit.text):
            start = unit.span[0]
            yield Finding(
                kind="design", verdict=Verdict.CONTRADICTS, claim_span=here.span(),
                source_span=(start + there.start(), start + there.end()),
                message=f"the claim says “{here[0]}”, the source “{there[0]}”",
            )


_NOBODY = re.compile(
    r"^(?:none of|no(?:body| one)?\b)[^.;]{0,80}?\b(?:had|have|has|was|were|with|took|died|received)\b", re.I
)


def check_none(case: Case) -> Iterable[Finding]:
    """“None of them had X” is wrong where the source counts people who had X."""
    said = _LEAD.sub("", case.claim)
    here = _NOBODY.search(said)
    if here is None:
        return
    offset = len(case.claim) - len(said)
    about = content(case.claim[offset + here.end() :])
    if not about:
        return
    for unit in sorted(case.units, key=lambda unit: len(unit.text)):
        counted = next(
            (f for f in figures(case.text)
             if inside(f.span, unit.span) and f.kind in ("percent", "people") and f.value > 0 and f.comparator is None),
            None,
        )
        covered = len(about & unit.words) > _MOSTLY * len(about)
        if counted and covered and not _NONE_SAID.search(unit.text):
            yield Finding(
                kind="population", verdict=Verdict.CONTRADICTS, claim_span=(offset, offset + here.end()),
                source_span=counted.span,
                message=f"the claim says “{here[0].split()[0]}”, the source “{unit.text.strip()}”",
            )
            return


_MOSTLY = 0.7
_LEAD = re.compile(r"^(?:In|Among) [^,]{1,60}, ", re.I)
_NONE_SAID = re.compile(r"\b(?:none|no|not|without|neither)\b", re.I)


_NEGATION = re.compile(
    r"\b(?:without|no(?! (?:more|less|fewer) than)|not|non|none|never|rather than|nobody)\b[^.;,]{0,40}$", re.I
)


def _negated(text: str, match: re.Match[str]) -> bool:
    return _NEGATION.search(text[: match.start()]) is not None


_GROUPS = {
    "children or adolescents": r"\b(?:child\w*|adolescen\w+|teen\w*|pa?ediatric|infants?|youths?)\b",
    "pregnancy": r"\b(?:pregnan\w+|breast-?feeding|lactating)\b",
    "kidney disease": r"\b(?:kidney|renal|CKD|nephropath\w+|albumin\w+|eGFR)\b",
    "heart failure": r"\bheart[ -]failure\b|\bHF\w*\b",
    "liver disease": r"\b(?:liver|hepat\w+|steatohepatitis|NASH|MASH|cirrhosis)\b",
    "type 1 diabetes": r"\btype[ -](?:1|I) diabetes\b",
    "cancer": r"\b(?:cancers?|tumou?rs?|malignan\w+|carcinoma\w*|neoplas\w+|leuk\w+|lymphom\w+|melanom\w+)\b",
}


def check_groups(case: Case) -> Iterable[Finding]:
    """A claim about a group or disease that the source never mentions isn't in the source."""
    for name, pattern in _GROUPS.items():
        here = re.search(pattern, fold(case.claim), re.I)
        if here and not re.search(pattern, fold(case.text), re.I):
            yield Finding(
                kind="population", verdict=Verdict.NOT_FOUND, claim_span=here.span(),
                message=f"the source doesn't mention {name}",
            )


_PAIRED_GROUPS = (
    ("women with men", r"\b(?:women|females?)\b", r"\b(?:men|males?)\b"),
    ("older with younger people", r"\bolder\b", r"\byounger\b"),
)


def check_group_comparison(case: Case) -> Iterable[Finding]:
    """A claim that compares two groups of people needs a sentence that speaks of both."""
    claim = fold(case.claim)
    if not re.search(r"\bthan\b|\bcompared\b|\bversus\b|\bvs\b", claim, re.IGNORECASE):
        return
    for name, one, other in _PAIRED_GROUPS:
        here = re.search(one, claim, re.I)
        if not here or not re.search(other, claim, re.I):
            continue
        if any(
            re.search(one, unit.text, re.I) and re.search(other, unit.text, re.I) and _COMPARES.search(unit.text)
            for unit in case.units
        ):
            continue
        yield Finding(
            kind="population", verdict=Verdict.NOT_FOUND, claim_span=here.span(),
            message=f"the source doesn't compare {name}",
        )


_COMPARES = re.compile(
    r"\bthan\b|\bcompared\b|\bversus\b|\bvs\b|\bdiffer\w*|\bsimilar\w*|\binteraction\b|\bmore in\b|\bless in\b", re.I
)


def check_drugs(case: Case) -> Iterable[Finding]:
    """A drug in the claim that the source never names."""
    source = fold(case.text).lower()
    given = {m.name for m in arm_mentions(case.text)} - {"control"}
    for mention in arm_mentions(case.claim):
        if mention.name == "control" or not given or mention.name in source:
            continue
        if mention.name.rstrip("s") in source:
            continue
        yield Finding(
            kind="drug", verdict=Verdict.NOT_FOUND, claim_span=mention.span,
            message=f"the claim is about {mention.name}, the source about {', '.join(sorted(given)[:3])}",
        )


_UNIVERSAL = re.compile(
    r"\b(?:all (?:patients|people|adults|participants|women|men)|every (?:person|patient|participant|one|adult)|everyone|"
    r"everybody|always|never|cures?|cured|eliminat\w+|guarantee\w*|completely|whether or not|regardless of|no risk|"
    r"with (?:and|or) without|in anyone)\b", re.I
)
_CAUSAL = re.compile(r"\b(?:causes?|caused|proves?|proved|proven|is responsible for|itself)\b", re.I)
_OBSERVATIONAL = re.compile(
    r"\b(?:observational|cohort stud\w+|cross-sectional|case-control|retrospective|confound\w+|registry)\b", re.I
)


_RANDOMISED = re.compile(r"(?<!not a )(?<!not )\brandomi[sz]ed\b", re.I)


def check_overreach(case: Case) -> Iterable[Finding]:
    """Universality or causation that the source doesn't state."""
    effect = direction(case.claim) is not None or _CAUSAL.search(case.claim) is not None
    universal = _UNIVERSAL.search(case.claim) if effect else None
    if universal and universal[0].lower() not in case.text.lower():
        yield Finding(
            kind="overreach", verdict=Verdict.PARTIAL, claim_span=universal.span(),
            message=f"the source doesn't go as far as “{universal[0]}”",
        )
    causal = _CAUSAL.search(case.claim)
    observational = _OBSERVATIONAL.search(case.text) if causal else None
    if causal and observational and not _RANDOMISED.search(fold(case.text)) and not _CAUSAL.search(case.text):
        yield Finding(
            kind="overreach", verdict=Verdict.PARTIAL, claim_span=causal.span(), source_span=observational.span(),
            message=f"the claim says “{causal[0]}”, the source reports an association",
        )
