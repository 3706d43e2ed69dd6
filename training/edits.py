"""Small edits that turn a true claim into a false, an overreaching or an equally true one.

Each edit takes a claim and returns the changed claim, or None where it has nothing to change. `pick` is a number in
[0, 1) that decides between several places or wordings, so that a corpus of edits needs no seed.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable

Edit = Callable[[str, float], str | None]

_DIRECTIONS = (
    ("increased", "decreased"),
    ("increase", "decrease"),
    ("increases", "decreases"),
    ("increasing", "decreasing"),
    ("higher", "lower"),
    ("highest", "lowest"),
    ("greater", "smaller"),
    ("more", "less"),
    ("improved", "worsened"),
    ("improves", "worsens"),
    ("improve", "worsen"),
    ("improvement", "deterioration"),
    ("improvements", "deteriorations"),
    ("improving", "worsening"),
    ("better", "worse"),
    ("longer", "shorter"),
    ("faster", "slower"),
    ("superior", "inferior"),
    ("effective", "ineffective"),
    ("efficacious", "ineffective"),
    ("safe", "unsafe"),
    ("beneficial", "harmful"),
    ("positive", "negative"),
    ("positively", "negatively"),
    ("rise", "fall"),
    ("rose", "fell"),
    ("gain", "loss"),
    ("enhanced", "impaired"),
    ("enhances", "impairs"),
    ("enhance", "impair"),
    ("prevented", "promoted"),
    ("stronger", "weaker"),
    ("well tolerated", "poorly tolerated"),
    ("majority", "minority"),
    ("prolonged", "shortened"),
    ("earlier", "later"),
    ("success", "failure"),
    ("feasible", "not feasible"),
    ("upregulated", "downregulated"),
    ("upregulates", "downregulates"),
    ("upregulation", "downregulation"),
    ("activates", "inhibits"),
    ("activated", "inhibited"),
    ("promotes", "suppresses"),
    ("promote", "suppress"),
    ("promoted", "suppressed"),
    ("induces", "blocks"),
    ("induce", "block"),
    ("induced", "blocked"),
    ("accelerates", "delays"),
    ("required", "dispensable"),
    ("essential", "dispensable"),
    ("necessary", "unnecessary"),
    ("sufficient", "not sufficient"),
    ("present", "absent"),
    ("gained", "lost"),
    ("similar", "clearly different"),
    ("comparable", "clearly different"),
)
_ONE_WAY = (
    ("reduced", "increased"),
    ("reduces", "increases"),
    ("reduce", "increase"),
    ("reduction", "increase"),
    ("reductions", "increases"),
    ("reducing", "increasing"),
    ("decline", "increase"),
    ("declined", "increased"),
    ("alleviated", "aggravated"),
    ("prevents", "causes"),
    ("prevent", "cause"),
    ("attenuated", "amplified"),
    ("fewer", "more"),
    ("lowered", "raised"),
    ("lowers", "raises"),
    ("inhibited", "stimulated"),
    ("inhibits", "stimulates"),
    ("shorter", "longer"),
    ("protective", "harmful"),
    ("inhibit", "stimulate"),
    ("impairs", "improves"),
    ("impaired", "improved"),
    ("suppress", "promote"),
    ("blocks", "stimulates"),
    ("abolished", "strengthened"),
    ("protects", "endangers"),
)
_OPPOSITE = dict(_DIRECTIONS) | {b: a for a, b in _DIRECTIONS if " " not in b} | dict(_ONE_WAY)
_DIRECTION = re.compile(
    r"\b(" + "|".join(sorted(map(re.escape, _OPPOSITE), key=len, reverse=True)) + r")\b", re.IGNORECASE
)

_NEGATIONS = (
    (r"\bdid not (?:significantly )?(\w+)", r"did \1"),
    (r"\bdoes not (?:significantly )?(\w+)", r"does \1"),
    (r"\bdo not (?:significantly )?(\w+)", r"do \1"),
    (r"\b(was|were|is|are) not\b", r"\1"),
    (r"\bcannot\b", "can"),
    (r"\bno (?:statistically )?significant difference", "a significant difference"),
    (r"\bno significant (\w+)", r"a significant \1"),
    (r"\b[Nn]o (difference|effect|association|evidence|benefit)", r"a clear \1"),
    (r"\bnot significantly\b", "significantly"),
    (r"\bthere were no\b", "there were"),
    (r"\bThere were no\b", "There were"),
    (r"\bthere was no\b", "there was a"),
    (r"\bThere was no\b", "There was a"),
    (r"\bwithout\b", "with"),
)
_AFFIRMATIONS = (
    (
        r"\b(was|were|is|are) (significantly|associated|more|less|higher|lower|superior|effective|safe|well|"
        r"similar|reduced|"
        r"increased|improved|observed|found|able)\b",
        r"\1 not \2",
    ),
    (r"\bhad (a |an )?(significant|lower|higher|greater|better)", r"did not have \1\2"),
    (r"\b(may|might|could|can|should) (?!not\b)(\w+)", r"\1 not \2"),
    (
        r"\bsignificantly (improved|reduced|increased|decreased|lowered|enhanced|prolonged|affected)\b",
        r"did not significantly \1",
    ),
    (r"\b(?<!significantly )(?:improves|reduces|prevents|provides|lowers|enhances)\b", "did not change"),
    (r"\bA significant (difference|increase|decrease|reduction|improvement)", r"No significant \1"),
    (r"\ba significant (difference|increase|decrease|reduction|improvement)", r"no significant \1"),
    (r"\bsignificant (differences|increases|decreases|reductions|improvements)", r"no significant \1"),
    (r"\b(showed|demonstrated|resulted in|produced) (?!no\b|that\b|not\b|by\b|in\b|at\b|to\b|an?\b|the\b)", r"\1 no "),
)
_BASE = {
    "improved": "improve",
    "reduced": "reduce",
    "increased": "increase",
    "decreased": "decrease",
    "lowered": "lower",
    "enhanced": "enhance",
    "prolonged": "prolong",
    "affected": "affect",
}

_OVERREACH = (
    (
        r"\b(?:was|were|is|are) (?:significantly |independently |strongly |positively )?associated with\b",
        ("directly caused", "was the cause of", "led to"),
    ),
    (r"\b(?:was|were|is|are) (?:inversely|negatively) associated with\b", ("prevented",)),
    (r"\b(?:was|were|is|are) correlated with\b", ("caused", "is responsible for")),
    (r"\b(?:was|were|is|are) (?:linked|related) to\b", ("caused", "is the cause of")),
    (r"\bassociation between\b", ("causal effect between", "cause-and-effect relation between")),
    (r"\b(?<!No )(?:may|might|could) be\b", ("is definitely", "is proven to be", "is")),
    (r"\b(?:may|might|could) (?:have|help)\b", ("has been proven to have", "certainly has")),
    (
        r"\b(?:may|might|could|can potentially) (reduce|increase|improve|prevent|decrease|provide|enhance|lower|"
        r"affect|delay|lead|result|play|contribute|support|benefit|explain|represent|cause|offer|require)\b",
        (r"has been proven to \1", r"always \1s", r"is certain to \1"),
    ),
    (r"\b(?:appears?|seems?) to be\b", ("is proven to be", "is beyond doubt")),
    (r"\b(?:appears?|seems?|tends?|tended) to\b", ("is certain to", "is proven to")),
    (r"\bsuggests? that\b", ("proves that", "establishes beyond doubt that")),
    (r"\bsuggesting that\b", ("proving that",)),
    (r"\bsuggest(?:s|ed)?\b", ("prove", "definitively proves")),
    (r"\bnon-?inferior to\b", ("superior to", "better than")),
    (
        r"\b(?:as effective as|equivalent to|comparable (?:to|with)|similar to)\b",
        ("superior to", "more effective than"),
    ),
    (r"\bpotential(ly)?\b", ("proven",)),
    (r"\bpromising\b", ("definitively proven",)),
    (r"\bin the short[- ]term\b", ("permanently", "in the long term")),
    (r"\bshort-term\b", ("lifelong", "long-term")),
    (r"\bsome\b", ("all",)),
    (r"\b[Mm]ost (?=patients|participants|subjects|women|men|children|adults)", ("All ",)),
    (r"\bin selected patients\b", ("in every patient",)),
    (r"\btrend (?:to|towards?)\b", ("highly significant effect on",)),
    (r"\bpreliminary evidence\b", ("conclusive proof",)),
    (r"\bsubgroup of\b", ("whole population of",)),
    (r"\bpartially\b", ("completely",)),
    (r"\bpartly\b", ("entirely",)),
    (r"\bmodest(?:ly)?\b", ("dramatic",)),
    (r"\bslight(?:ly)?\b", ("dramatically",)),
)
_POPULATION = re.compile(
    r"\b(?:in|among|for) (?:(?:adult|elderly|older|young|healthy|obese|overweight|hospitalized|hospitalised|"
    r"female|male|pregnant|"
    r"postmenopausal|critically ill|preterm|diabetic|hypertensive|high-risk|HIV-infected|sedentary|"
    r"Chinese|Japanese|Korean|"
    r"Iranian|Brazilian|type \w+ diabetic) )+(patients|adults|women|men|children|subjects|individuals|people|"
    r"participants|infants|"
    r"volunteers|students|adolescents)(?: (?:with|undergoing|suffering from) [\w\s-]{3,60}?)?"
    r"(?=[.,;(]| (?:was|were|is|are|and|who|after|at|by)\b|$)"
    r"|\b(?:in|among) (?:patients|adults|women|men|children|subjects|individuals|people|infants) "
    r"(?:with|undergoing|suffering from) [\w\s-]{3,60}?(?=[.,;(]|$)"
)
_EVERYONE = (
    "in all patients",
    "in everyone, whatever their condition",
    "in the general population",
    "in patients of every kind",
    "in people of any age or illness",
)
_EXTRAS = (
    " and also prolonged survival",
    " and lowered mortality",
    " and reduced the number of hospital admissions",
    " and improved quality of life",
    ", with no adverse events at all",
    " and lowered costs",
    " and this effect lasted for five years",
    ", and the effect was the same in men and women",
    " and reduced the risk of cardiovascular events",
    " and led to fewer infections",
    ", and the benefit was greatest in smokers",
    ", and these effects were confirmed in a second trial",
    " and improved cognitive function",
    " and was cheaper than usual care",
    ", and patients preferred it",
    " and shortened the stay in hospital",
    " and reduced depression",
    ", which had been shown before in children",
    " and improved sleep",
    ", particularly in patients with kidney disease",
)

_NUMBER = re.compile(r"(?<![\w.,·-])(\d{1,3}(?:,\d{3})+|\d+(?:[.·]\d+)?)(?![\w]|[.,·]\d|-\w)")
_TIME = re.compile(r"\b(\d+|one|two|three|four|five|six|eight|twelve)([- ])(day|week|month|year|hour|minute)(s?)\b")
_DOSE = re.compile(r"\b(\d+(?:\.\d+)?)(\s?)(mg|g|µg|μg|mcg|ml|mL|IU|mg/kg|mg/day|g/day)\b")
_UNITS = ("day", "week", "month", "year", "hour", "minute")


def change_direction(claim: str, pick: float) -> str | None:
    """Turn one direction word into its opposite."""
    found = list(_DIRECTION.finditer(claim))
    if not found or (len(found) > 1 and re.search(r"\b(?:but|whereas|while|however)\b", claim)):
        return None
    # A claim that is reversed everywhere is still reversed; the first place is where the main statement stands.
    match = found[0] if pick < 0.7 else found[int(pick * 97) % len(found)]
    return _replace(claim, match, _like(match.group(), _OPPOSITE[match.group().lower()]))


def change_negation(claim: str, pick: float) -> str | None:
    """Drop a negation, or add one where there is none."""
    for pattern, wording in _NEGATIONS:
        match = re.search(pattern, claim)
        if match:
            return _replace(claim, match, match.expand(wording))
    for pattern, wording in _AFFIRMATIONS:
        match = re.search(pattern, claim)
        if match:
            return _replace(claim, match, _unconjugate(match.expand(wording)))
    return None


def change_number(claim: str, pick: float) -> str | None:
    """Replace one number (not a P value's bound or a confidence level) by a different one of the same form."""
    found = [match for match in _NUMBER.finditer(claim) if not _is_frame(claim, match)]
    if not found:
        return None
    match = found[int(pick * 101) % len(found)]
    return _replace(claim, match, _other_number(match.group(), pick))


def swap_numbers(claim: str, pick: float) -> str | None:
    """Exchange two different numbers of the same form, as when two arms are mixed up."""
    found = [match for match in _NUMBER.finditer(claim) if not _is_frame(claim, match)]
    for first, second in itertools.pairwise(found):
        between = claim[first.end() : second.start()]
        alike = first.group().count(".") == second.group().count(".") and first.group() != second.group()
        if alike and re.search(r"\b(?:versus|vs|and|compared|than|while|whereas)\b", between) and len(between) < 70:
            return claim[: first.start()] + second.group() + between + first.group() + claim[second.end() :]
    return None


def change_time_point(claim: str, pick: float) -> str | None:
    """Another duration: the number or the unit of a time span."""
    match = _TIME.search(claim)
    if match is None:
        return None
    unit = match.group(3)
    if pick < 0.5 and match.group(1).isdigit():
        return _replace(claim, match, f"{_other_number(match.group(1), pick)}{match.group(2)}{unit}{match.group(4)}")
    other = _UNITS[(_UNITS.index(unit) + 1 + int(pick * 3)) % len(_UNITS)]
    return _replace(claim, match, f"{match.group(1)}{match.group(2)}{other}{match.group(4)}")


def change_dose(claim: str, pick: float) -> str | None:
    """Another dose in the same unit."""
    match = _DOSE.search(claim)
    if match is None:
        return None
    factor = (0.5, 2.0, 10.0, 0.1, 4.0)[int(pick * 5)]
    return _replace(claim, match, f"{float(match.group(1)) * factor:g}{match.group(2)}{match.group(3)}")


def change_significance(claim: str, pick: float) -> str | None:
    """Claim significance where none was reported, or the reverse."""
    rules = (
        (r"\bnot statistically significant\b", "statistically significant"),
        (r"\b(?<!no )statistically significant\b", "not statistically significant"),
        (r"\bdid not (?:significantly )?differ\b", "differed significantly"),
        (r"\bno significant differences?\b", "significant differences"),
        (r"\bwas not significant\b", "was significant"),
        (r"\bwas significant\b", "was not significant"),
        (
            r"\bsignificantly (higher|lower|greater|better|longer|shorter|more|less|different)\b",
            r"not significantly \1",
        ),
        (r"\b(was|were) similar\b", r"\1 significantly different"),
        (r"\bdiffered significantly\b", "did not differ"),
    )
    for pattern, wording in rules:
        match = re.search(pattern, claim)
        if match:
            return _replace(claim, match, match.expand(wording))
    return None


def swap_arms(claim: str, pick: float) -> str | None:
    """Exchange what is compared: "A … than B" becomes "B … than A"."""
    match = re.match(
        r"^((?:The |In conclusion, )?)(.{3,70}?) ((?:was|were|is|are|had|has|showed|produced|provided|"
        r"resulted in|led to)\b.{3,90}?"
        r"\b(?:than|compared (?:with|to)|versus|in comparison (?:with|to)|superior to|inferior to)) "
        r"((?:the )?[\w\s,/®+-]{3,60}?)"
        r"((?: (?:in|for|at|after|during|on|when|among|with)\b.*)?[.]?)$",
        claim,
    )
    if match is None or not _COMPARED.search(match.group(3)) or match.group(4).split()[0].lower() in ("that", "those"):
        return None
    lead, first, middle, second, rest = match.groups()
    return f"{lead}{_upper(second, bool(lead))} {middle} {_lower(first)}{rest}"


def swap_groups(claim: str, pick: float) -> str | None:
    """Exchange two named arms that both occur: intervention and control, drug and placebo."""
    for a, b in (
        ("intervention group", "control group"),
        ("treatment group", "control group"),
        ("experimental group", "control group"),
        ("treatment group", "placebo group"),
        ("men", "women"),
        ("boys", "girls"),
        ("group A", "group B"),
        ("group 1", "group 2"),
        ("Group A", "Group B"),
        ("Group 1", "Group 2"),
        ("intervention", "control"),
        ("treatment", "placebo"),
    ):
        if re.search(rf"\b{a}\b", claim) and re.search(rf"\b{b}\b", claim) and _COMPARED.search(claim):
            return re.sub(rf"\b({a}|{b})\b", lambda m, a=a, b=b: b if m.group() == a else a, claim)
    return None


def overreach(claim: str, pick: float) -> str | None:
    """State more than was found: causation, certainty, superiority, everyone."""
    options: list[str] = []
    for pattern, wordings in _OVERREACH:
        match = re.search(pattern, claim)
        if match:
            options.append(_replace(claim, match, match.expand(wordings[int(pick * 89) % len(wordings)])))
    return options[int(pick * 83) % len(options)] if options else None


def widen_population(claim: str, pick: float) -> str | None:
    """Extend a finding from the patients studied to everybody."""
    match = _POPULATION.search(claim)
    return _replace(claim, match, _EVERYONE[int(pick * 79) % len(_EVERYONE)]) if match else None


def add_unsupported_part(claim: str, pick: float) -> str | None:
    """A true statement with a second one added that the source does not make."""
    extra = _EXTRAS[int(pick * 73) % len(_EXTRAS)]
    words = set(re.findall(r"[a-z]{5,}", extra))
    if words & set(re.findall(r"[a-z]{5,}", claim.lower())) or len(claim) > 220:
        return None
    return claim.rstrip(". ") + extra + "."


def reword(claim: str, pick: float) -> str | None:
    """The same statement in slightly other words."""
    rules = (
        (r"\s*\([^()]*\)", ""),
        (r"\bcompared (?:with|to)\b", "versus"),
        (r"\bparticipants\b", "subjects"),
        (r"\bpatients\b", "people treated"),
        (r"\bdemonstrated\b", "showed"),
        (r"\bin comparison (?:with|to)\b", "compared with"),
        (r"\bdecreased\b", "fell"),
        (r"\bdid not differ\b", "were similar"),
        (r"\bsignificantly\b", "statistically significantly"),
        (r"\breduced\b", "lowered"),
        (r"\bgreater\b", "larger"),
        (r"\bwell tolerated\b", "tolerated well"),
        (r"\bimproved\b", "got better with regard to"),
        (r"\beffective\b", "efficacious"),
        (r"\badverse events\b", "side effects"),
        (r"\bbeneficial\b", "helpful"),
        (r"\bno significant difference(s?)\b", r"no statistically significant difference\1"),
        (r"\bmortality\b", "death rate"),
        (r"\bresulted in\b", "led to"),
        (r"\bhigher\b", "greater"),
        (r"\bshould be\b", "ought to be"),
        (r"\bin addition,? \b", ""),
        (
            r"^(?:In conclusion|In summary|Overall|Thus|Therefore|However|Moreover|Furthermore|"
            r"In addition|Conclusions?:?),?\s*",
            "",
        ),
        (
            r"^(?:(?:The|These|Our) (?:results|findings|data|study|present study) "
            r"(?:suggest|indicate|show|demonstrate)s?(?:ed)? that)\s*",
            "",
        ),
        (r"^We (?:conclude|found|demonstrated|showed) that\s*", ""),
    )
    changed = claim
    for number, (pattern, wording) in enumerate(rules):
        if (int(pick * 1000) + number) % 3 and wording != "got better with regard to":
            changed = re.sub(pattern, wording, changed, count=2)
    changed = changed.strip()
    return changed[:1].upper() + changed[1:] if len(changed) > 25 and changed != claim else None


def round_number(claim: str, pick: float) -> str | None:
    """A percentage rounded, which stays true."""
    match = re.search(r"(?<!± )(?<!±)\b(\d{1,2})\.(\d)\d?(\s?)%", claim)
    if match is None:
        return None
    value = round(float(match.group().rstrip("% ")))
    return _replace(claim, match, f"about {value}{match.group(3)}%")


CONTRADICTING: dict[str, Edit] = {
    "direction": change_direction,
    "negation": change_negation,
    "number": change_number,
    "mixed-up numbers": swap_numbers,
    "time": change_time_point,
    "dose": change_dose,
    "significance": change_significance,
    "arms": swap_arms,
    "groups": swap_groups,
}
OVERREACHING: dict[str, Edit] = {"overreach": overreach, "population": widen_population, "added": add_unsupported_part}
PRESERVING: dict[str, Edit] = {"reword": reword, "rounding": round_number}

_COMPARED = re.compile(
    r"\b(?:higher|lower|greater|less|more|better|worse|longer|shorter|superior|inferior|faster|fewer|larger|smaller|"
    r"increased|decreased|reduced|improved|earlier|later)\b"
)


def _replace(claim: str, match: re.Match[str], wording: str) -> str:
    return claim[: match.start()] + wording + claim[match.end() :]


def _like(original: str, wording: str) -> str:
    return wording.capitalize() if original[:1].isupper() else wording


def _unconjugate(wording: str) -> str:
    return re.sub(r"(did not significantly )(\w+)", lambda m: m.group(1) + _BASE.get(m.group(2), m.group(2)), wording)


def _upper(text: str, inside: bool) -> str:
    return text if inside else text[:1].upper() + text[1:]


def _lower(text: str) -> str:
    """Lower the first letter of an ordinary word; acronyms and names stay."""
    return text[:1].lower() + text[1:] if len(text) > 1 and text[1].islower() and text.split()[0] in _ORDINARY else text


_ORDINARY = frozenset(
    "The A An This These Patients Treatment Oral Intravenous Combined Early Late Women Men Children Both Daily".split()
)


def _is_frame(claim: str, match: re.Match[str]) -> bool:
    before, after = claim[max(0, match.start() - 6) : match.start()], claim[match.end() : match.end() + 6]
    return bool(re.search(r"[Pp]\s?[<=>≤]\s?$|type $|phase $|Type $", before)) or bool(re.match(r"\s?% ?CI", after))


def _other_number(text: str, pick: float) -> str:
    plain = text.replace(",", "").replace("·", ".")
    decimals = len(plain.partition(".")[2])
    if len(plain) >= 3 and pick < 0.35 and plain[0] != plain[1] and plain[1] not in ".0":
        swapped = plain[1] + plain[0] + plain[2:]
        return swapped
    factor = (0.5, 1.4, 0.75, 1.9, 2.6, 0.3, 1.2)[int(pick * 61) % 7]
    value = float(plain) * factor
    value = value + 1 if f"{value:.{decimals}f}" == plain else value
    if "%" not in text and value > 100 >= float(plain):
        value = float(plain) * 0.6
    changed = f"{value:.{decimals}f}"
    return changed if changed != plain else f"{float(plain) + 2:.{decimals}f}"
