"""Atomic claims: a compound sentence becomes several claims when each part can stand alone.

In: one sentence. Out: parts with the spans of the sentence that make them up, subject restored. Rules over a small
lexicon of verbs, no model. In doubt a sentence stays whole: a wrong split makes a claim that nobody wrote, while a
compound claim is only judged more strictly. Comparisons (whereas, than, respectively), conditions, quotations and
lists of nouns are never split.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from litrag.citations import CitedStatement
from litrag.markers import Marker
from litrag.models import Model, Span
from litrag.sentences import split


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\S+", text))


#: What a treatment does to an outcome. Past forms may also be participles, so their use is checked.
EFFECTS = _words(
    "lowered reduced raised increased decreased improved worsened slowed prevented delayed halved doubled shortened"
    " prolonged lengthened cut"
)
PRESENT = _words(
    "lowers reduces raises increases decreases improves worsens slows prevents delays halves doubles shortens prolongs"
    " lengthens cuts"
)
BASE = _words("lower reduce raise increase decrease improve worsen slow prevent delay halve double shorten prolong cut")
#: Forms that are finite whatever stands around them.
FINITE = _words(
    "was were is are has had did does can could may might will would should rose fell became remained occurred"
    " appeared seemed began grew"
)
MODALS = _words("can could may might will would should")
#: Subjects that belong to a report, not to a treatment: "the trial showed that X lowered Y and raised Z".
REPORTS = re.compile(
    r"(?P<frame>.{0,160}?\b(?:show(?:s|ed)|found|finds|report(?:s|ed)|demonstrate[sd]|conclude[sd]|indicate[sd]"
    r"|suggest(?:s|ed)|confirm(?:s|ed)|observed) that )",
)
_NEVER = re.compile(
    r"\b(?:whereas|while|whilst|although|though|because|unless|until|if|whether|when|whenever|respectively|neither"
    r"|nor|either|not only|so that|in order to|even|as well as|rather than|instead of|except|how|what|why)\b|\?|[“”\"«»]|:\s",
    re.IGNORECASE,
)
_RELATIVE = re.compile(r"\b(?:who|whom|whose|which|that|where)\b", re.IGNORECASE)
_ADVERB = r"(?:(?:also|thus|further|still|even|then|significantly|[a-z]{3,}ly)\s+){0,2}"
_JOINT = re.compile(r"(?P<semicolon>;\s+(?:(?:and|but)\s+)?)|(?P<comma>,\s+)?\b(?P<word>and|but)\s+|(?P<bare>,\s+)")
_CAUSAL = re.compile(r"(?:therefore|thus|hence|consequently|so|then|thereby|yet|not|also not)\b", re.IGNORECASE)
_LEAD = re.compile(
    r"(?:(?:In|At|After|Over|During|Among|Within|Compared with|Compared to|Relative to|Versus|By|For|Across|Under|On)"
    r"\b[^,;]{1,120},\s+)+"
)
_DISCOURSE = re.compile(
    r"(?:However|Moreover|Furthermore|In addition|In conclusion|Additionally|Overall|Importantly|Notably|Finally),\s+"
)
_QUANTIFIED = re.compile(
    r"(?:no|none|few|fewer|only|nobody|not|most|half|many|some|any|each|every|one|two|three|\d\S*|at least|at most"
    r"|about|nearly|almost|up to|approximately|a (?:third|quarter|half|minority|majority|few|number|total))\b",
    re.IGNORECASE,
)
#: A word after which -ed can only be an adjective: "with reduced risk", "the increased dose".
_BEFORE_ADJECTIVE = _words(
    "a an the of in on with without for to from by at no more less very this that these those its their his her our"
    " and or as than had have has having between both is are was were be been being show shows showed exhibit exhibits"
    " exhibited display displays displayed reveal revealed demonstrate demonstrated cause causes caused induce induces"
    " induced produce produces produced include includes included experience experienced report reported suggest"
)
_DANGLING = re.compile(
    r"(?:they|these|those|he|she|we|you|this|such|both|its|their|his|her|how|what|why|the (?:former|latter|same|other|rest))\b"
    r"|(?:it|there|several|others?|some|many|few|most|all|one)$|.*\b(?:it|they|them|its|their)\b"
    r"|.*\b(?:as|than|of|in|for|to|with|by|from|at|on|and|or|but)$",
    re.IGNORECASE,
)
_CORRELATIVE = re.compile(r"\b(?:between|both|from)\b[^,;]*$", re.IGNORECASE)
_PREPOSITION = re.compile(r"(?:with|of|for|to|by|from|at|on|as|than|not|vs|versus)\b", re.IGNORECASE)
#: Words that point at something outside their clause, and clauses that say nothing without the one before.
_POINTS_BACK = re.compile(r"\b(?:it|them|they|she|he|these|those|this|former|latter|one|ones|so|too|vice versa)\b", re.IGNORECASE)
_ELLIPTICAL = re.compile(r"\s*(?:not|n't|never)?\s*(?:[.,;]|$)")
_TOKEN = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
_LONGEST_SUBJECT = 12
_OR = re.compile(r"\bor\s+(\w+)")
_LONGEST_SENTENCE = 2000
_CLEARLY_VERB = re.compile(r"\s+(?:the|a|an|its|their|this|these|both|all)\b|[^,;]{1,80}\bby \d")


class ClaimPart(Model):
    """One claim of a sentence: `text` is the slices at `spans`, in order, joined by a space."""

    text: str
    spans: tuple[Span, ...]
    restored: bool = False


class CitedClaim(Model):
    """A claim of a statement with what it, rather than the whole statement, cites."""

    part: ClaimPart
    numbers: tuple[int, ...] = ()
    pmids: tuple[str, ...] = ()
    dois: tuple[str, ...] = ()


class _Clause(NamedTuple):
    """A clause of the sentence: what leads in, its subject, its verb, and the joint that it follows."""

    lead: Span
    subject: Span
    verb: Span
    modal: Span | None


def split_claims(sentence: str) -> list[ClaimPart]:
    """The atomic claims of `sentence`; the sentence itself when it doesn't split safely."""
    whole = _trimmed(sentence, 0, len(sentence))
    if whole[0] == whole[1]:
        return []
    end = whole[1] - (sentence[whole[1] - 1] == ".")
    parts = _parts(sentence, whole[0], end) if _may_split(sentence[slice(*whole)]) else []
    return parts if len(parts) > 1 else [ClaimPart(text=sentence[slice(*whole)], spans=(whole,))]


def claims_of(statement: CitedStatement) -> list[CitedClaim]:
    """The claims of a statement, each with its own citations.

    A citation covers what stands before it, back to the citation before; one in a shared subject covers every part.
    A part behind the last citation cites nothing.
    """
    parts = split_claims(statement.text)
    own: list[list[Marker]] = [[] for _ in parts]
    for marker in statement.markers:
        holders = [n for n, part in enumerate(parts) if any(a < marker.at <= b or marker.at == a == 0 for a, b in part.spans)]
        before = [n for n, part in enumerate(parts) if part.spans[-1][0] < marker.at]
        for n in holders or [max(before, default=0)]:
            own[n].append(marker)
    claims: list[CitedClaim] = []
    for n, part in enumerate(parts):
        markers = next((found for found in own[n:] if found), [])
        claims.append(CitedClaim(
            part=part,
            numbers=tuple(dict.fromkeys(number for marker in markers for number in marker.numbers)),
            pmids=tuple(dict.fromkeys(pmid for marker in markers for pmid in marker.pmids)),
            dois=tuple(dict.fromkeys(doi for marker in markers for doi in marker.dois)),
        ))
    return claims


def _may_split(sentence: str) -> bool:
    if len(sentence) > _LONGEST_SENTENCE or _NEVER.search(sentence):
        return False
    if len(split(sentence)) != 1:
        return False
    return not any(word in EFFECTS | PRESENT | BASE | FINITE for word in _OR.findall(sentence))


def _trimmed(text: str, start: int, end: int) -> Span:
    piece = text[start:end]
    return (end - len(piece.lstrip()), start + len(piece.rstrip())) if piece.strip() else (start, start)


def _parts(text: str, start: int, end: int) -> list[ClaimPart]:
    """The parts at all joints that hold; an empty list when the first clause can't be read."""
    first = _clause(text, start, end)
    if first is None:
        return []
    cuts = _cuts(text, first, end)
    clauses: list[tuple[Span, ...]] = []
    begin: tuple[Span, ...] = ((start, start),)
    for joint, restart in [*cuts, ((end, end), ())]:
        left = _trimmed(text, begin[-1][0], joint[0])
        left = (left[0], left[0] + len(text[slice(*left)].rstrip(" –—-")))
        clauses.append((*begin[:-1], left))
        begin = restart
    return [_part(text, spans) for spans in clauses]


def _part(text: str, spans: tuple[Span, ...]) -> ClaimPart:
    kept: list[Span] = []
    for span in spans:
        if kept and not text[kept[-1][1] : span[0]].strip():
            kept[-1] = (kept[-1][0], span[1])
        elif span[0] < span[1]:
            kept.append(span)
    return ClaimPart(text=" ".join(text[slice(*span)] for span in kept), spans=tuple(kept), restored=len(kept) > 1)


def _clause(text: str, start: int, end: int) -> _Clause | None:
    """Lead, subject and main verb of the clause that begins at `start`."""
    if discourse := _DISCOURSE.match(text, start, end):
        start = discourse.end()
    begin = start
    if report := REPORTS.match(text, start, end):
        begin = report.end()
    if lead := _LEAD.match(text, begin, end):
        begin = lead.end()
    depth_free = _masked(text)
    if any(verb.group() in FINITE for verb in _verbs(depth_free, start, begin)) and not report:
        return None
    for verb in _verbs(depth_free, begin, end):
        subject = _trimmed(text, begin, verb.start())
        words = text[slice(*subject)].split()
        if not words or len(words) > _LONGEST_SUBJECT or _DANGLING.match(text[slice(*subject)]):
            return None
        if _joined_before(depth_free, begin, verb.start()):
            return None
        modal = verb.span() if verb.group() in MODALS else None
        return _Clause((start, begin), subject, verb.span(), modal)
    return None


def _joined_before(text: str, start: int, end: int) -> bool:
    """Whether the subject holds a clause border or a relative clause, so that it can't be trusted."""
    return bool(re.search(r"[,;]", text[start:end]) or _RELATIVE.search(text, start, end))


def _masked(text: str) -> str:
    """`text` with everything inside brackets blanked, same length."""
    depth, out = 0, []
    for char in text:
        depth += char in "(["
        out.append(" " if depth else char)
        depth -= char in ")]" and depth > 0
    return "".join(out)


def _verbs(text: str, start: int, end: int) -> Iterator[re.Match[str]]:
    """Finite verbs; a form in -ed counts only where it can't be an adjective."""
    previous = ""
    for match in _TOKEN.finditer(text, start, end):
        word = match.group()
        sure = word in FINITE and previous.lower() not in ("having", "to", "being")
        maybe = (word in EFFECTS or word in PRESENT) and previous.lower() not in _BEFORE_ADJECTIVE
        if (sure or maybe) and (previous or word.islower()) and match.start() > start:
            yield match
        previous = word


# --- joints
def _cuts(text: str, first: _Clause, end: int) -> list[tuple[Span, tuple[Span, ...]]]:
    """Joints at which the sentence splits, each with the spans that begin the part behind it."""
    masked = _masked(text)
    cuts: list[tuple[Span, tuple[Span, ...]]] = []
    pending: list[tuple[Span, tuple[Span, ...]]] = []
    clause, begin = first, first.verb[1]
    for joint in _JOINT.finditer(masked, first.verb[1], end):
        if joint.start() < begin:
            continue
        restart, new = _restart(text, masked, clause, joint, (begin, end))
        if restart is None and (joint["comma"] or joint["semicolon"]):
            break
        if restart is None:
            continue
        if joint["bare"]:
            pending.append((joint.span(), restart))
        else:
            cuts += [*pending, (joint.span(), restart)]
            pending = []
            clause = new or clause
        begin = new.verb[1] if new else joint.end()
    return cuts


def _restart(
    text: str, masked: str, clause: _Clause, joint: re.Match[str], bounds: Span
) -> tuple[tuple[Span, ...] | None, _Clause | None]:
    """The spans that begin the part behind `joint`, or None when it can't stand alone."""
    begin, end = bounds
    behind = joint.end()
    if _CORRELATIVE.search(masked, begin, joint.start()) or _CAUSAL.match(masked, behind):
        return None, None
    if _RELATIVE.search(masked, clause.verb[1], end):
        return None, None
    if joint["semicolon"] or joint["word"]:
        own = _own_clause(text, masked, clause, joint, bounds)
        if own is not None:
            return own
    if joint["semicolon"] or not _shares_subject(text, masked, clause, behind, (begin, joint.start(), end)):
        return None, None
    return (_trimmed(text, *clause.lead), clause.subject, clause.modal or (behind, behind), (behind, behind)), None


def _shares_subject(text: str, masked: str, clause: _Clause, behind: int, bounds: tuple[int, int, int]) -> bool:
    """Whether a verb of the same kind follows directly, so that the subject can be restored."""
    begin, joint, end = bounds
    match = re.compile(_ADVERB + r"(?P<verb>[a-z]+)\b").match(masked, behind, end)
    if match is None or _QUANTIFIED.match(text, *clause.subject):
        return False
    first, verb = masked[slice(*clause.verb)], match["verb"]
    rest = masked[match.end() : end].lstrip()
    if _POINTS_BACK.search(rest) or not rest or rest[0] in ".,;" or rest.startswith(("in ", "of ", "by ", "and ", "or ")):
        return False
    if clause.modal:
        return _modal_pair(masked, clause.verb[1], joint, verb)
    if any(sure.group() in FINITE for sure in _verbs(masked, max(begin, clause.verb[1]), joint)):
        return False
    reported = REPORTS.match(text, clause.lead[0], clause.lead[1]) is not None
    if first in EFFECTS and verb in EFFECTS:
        return _is_clear(masked, clause.verb[1], joint, match)
    if first in PRESENT:
        return verb in PRESENT
    return not reported and verb in FINITE and verb not in MODALS and first != "did"


def _is_clear(masked: str, verb_end: int, joint: int, match: re.Match[str]) -> bool:
    """Whether "reduced" behind "and" is a verb: in "cut the risk of falls and prolonged stay" it isn't."""
    ambiguous = " of " in masked[verb_end:joint] or match["verb"] in ("prolonged", "delayed", "shortened")
    adverb = match.start("verb") > match.start()
    comma = masked[joint : joint + 1] == ","
    return not ambiguous or adverb or comma or _CLEARLY_VERB.match(masked, match.end()) is not None


def _modal_pair(masked: str, verb_end: int, joint: int, verb: str) -> bool:
    """"may lower X and raise Y": the first verb is an effect in its base form, without "not"."""
    following = _TOKEN.findall(masked, verb_end, joint)
    return bool(following) and following[0] in BASE and verb in BASE and "not" not in following


def _own_clause(
    text: str, masked: str, clause: _Clause, joint: re.Match[str], bounds: Span
) -> tuple[tuple[Span, ...], _Clause] | None:
    """The start of a clause with a subject of its own; "it" is replaced by the first subject."""
    behind, end = joint.end(), bounds[1]
    if not joint["semicolon"] and "," in masked[bounds[0] : joint.start()]:
        return None
    stop = _next_border(masked, behind, end)
    verb = next(_verbs(masked, behind, stop), None)
    if verb is None:
        return None
    subject = _trimmed(text, behind, verb.start())
    words = text[slice(*subject)].split()
    if not words or len(words) > _LONGEST_SUBJECT or not _is_subject(text, subject):
        return None
    if clause.modal and " to " in text[slice(*subject)]:
        return None
    if _ELLIPTICAL.match(masked, verb.end(), end) or _POINTS_BACK.search(masked, verb.end(), end):
        return None
    if not (joint["semicolon"] or joint["comma"]) and not _both_sure(masked, clause, verb, joint.start()):
        return None
    lead = _trimmed(text, *clause.lead)
    if text[slice(*subject)].lower() == "it":
        if verb.group() not in EFFECTS | PRESENT:
            return None
        return (lead, clause.subject, (subject[1], subject[1])), clause
    return (lead, (behind, behind)), _Clause(clause.lead, subject, verb.span(), None)


def _both_sure(masked: str, clause: _Clause, verb: re.Match[str], joint: int) -> bool:
    """Whether two clauses meet even without a comma: a finite verb in each and none in between."""
    return (
        verb.group() in FINITE
        and masked[slice(*clause.verb)] in FINITE
        and not any(between.group() in FINITE for between in _verbs(masked, clause.verb[1], joint))
    )


def _next_border(masked: str, start: int, end: int) -> int:
    match = re.compile(r"[,;]").search(masked, start, end)
    return match.start() if match else end


def _is_subject(text: str, subject: Span) -> bool:
    """Whether the words before a verb name something by themselves."""
    shown = text[slice(*subject)]
    if _DANGLING.match(shown) and shown.lower() not in ("it", "there"):
        return False
    return not _PREPOSITION.match(shown) and not shown[0].isdigit() and not shown.startswith(("−", "-", "+"))
