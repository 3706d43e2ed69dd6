"""Which differences between a quote and its source are harmless, and what the others change.

In: a gap of an alignment. Out: the harmless differences that explain it whole, or nothing. The rule is to deny: a gap is
harmless only if a small grammar (spacing, hyphens, articles, spelling, typing errors, a bracketed aside left out) can
consume it to the last token. Whatever it can't consume gets a name: number, unit, sign, negation, direction …
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from litrag.alignment import Gap
from litrag.folding import Folded
from litrag.spelling import LONG_WORD, is_typo, same_spelled

#: Kinds that are no change of meaning.
HARMLESS = frozenset({"article", "hyphenation", "spelling", "typo", "aside", "label", "case", "elision"})

#: The longest gap that may be explained, in tokens of the quote.
_LONGEST = 16
_LONGEST_ASIDE = 80


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ARTICLES = _words("a an the")
#: After these a single letter is a name ("group A"), not an article.
_LETTERED = _words(
    "arm arms class cohort complex factor figure grade group groups hepatitis influenza level panel part phase "
    "population protein regimen schedule serotype stage strain study subtype table trial type types vitamin vitamins "
    "apolipoprotein haemophilia hemophilia botulinum toxin ebola cyclosporin ciclosporin immunoglobulin streptococcus "
    "streptococci or and versus vs"
)
#: Before these an article changes the sense: "few" and "a few".
_ARTICLE_MATTERS = _words("few little number")
NEGATIONS = _words(
    "no not never none nor neither without cannot nobody nothing nowhere t non absence absent lack lacks lacked lacking "
    "fail fails failed failing failure unable unlikely except excluding excluded unless instead rather barely hardly "
    "scarcely rarely seldom neither nonsignificant insignificant insufficient denied refuted ruled"
)
_DIGITS = frozenset("0123456789")
COMPARATORS = _words("< > ≤ ≥ = ≠ ~ ±")
UNITS = _words(
    "% ‰ mg ug g kg ng pg mcg gram grams milligram milligrams microgram micrograms kilogram kilograms ml l dl ul "
    "litre litres liter liters millilitre milliliter mmol umol nmol pmol mol molar mmolar umolar nmolar pmolar fmolar mm "
    "cm m um nm km pm iu u mu miu mmhg hg kpa pa hz khz megahz mhz ghz kcal cal kj j w mw kw v mv ma gy mgy sv msv ci "
    "mci bq mbq °c c f k bpm s sec secs second seconds min mins minute minutes h hr hrs hour hours d day days wk wks "
    "week weeks month months mo yr yrs year years decade decades daily weekly monthly yearly annually fold percentage "
    "point points kda da bp kb mb db meq mosm °"
)
NUMBER_WORDS = _words(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred hundreds thousand thousands million "
    "millions billion half third thirds quarter quarters twice thrice once double doubled triple tripled first second "
    "fourth fifth sixth seventh eighth ninth tenth dozen i ii iii iv v vi vii viii ix x single both"
)
#: Number words whose skipping by an ellipsis counts; "one", "first" and "both" are too often no numbers.
_COUNTS = NUMBER_WORDS - _words("one first second third single both once half i ii iii iv v vi vii viii ix x")
#: After a number word, or a single digit, these make a name of it: double-blind, two-sided, second-line, single-centre.
_NAMED_BY_NUMBER = _words(
    "blind blinded blinding mask masked masking dummy sided tailed centre center centred centered line way arm armed stage "
    "step layer tier stranded strand edged"
)
_UP = re.compile(
    r"(?:increas|rais|ris(?:e|es|en|ing)$|rose$|elevat|higher|highest|high$|greater|greatest|more$|most$|longer|longest|larger|"
    r"largest|upregulat|enhanc|gain|grew$|growth|grow|better|best$|improv|superior|above$|over$|exceed|accelerat|"
    r"strengthen|stimulat|activat|promot|augment|positive|after$|maximum|maximal|older|heavier|stronger|faster|"
    r"earlier|benefi|favo[u]?r|gained|upward|overexpress|hyper|often|frequent|common|success|effective|adequate|"
    r"likely|possible|significant|safe$|safer|agree|accept|always|include|present$|similar|same$|sensitive|major)"
)
_DOWN = re.compile(
    r"(?:decreas|reduc|lower|lowest|low$|less$|least$|fewer|fewest|shorter|shortest|smaller|smallest|declin|diminish|drop|fell$|"
    r"fall|fallen|loss|lose|lost$|downregulat|attenuat|worse|worst|deteriorat|inferior|below$|under$|decelerat|weaken|"
    r"inhibit|suppress|prevent|block|impair|negative|before$|minimum|minimal|younger|lighter|weaker|slower|later$|"
    r"harm|detriment|downward|hypo|rare|infrequent|uncommon|ineffective|unsafe|different|resistant|minor|exclude)"
)
_RISE = re.compile(r"(?:increas|elevat|higher$|greater$|more$|longer$|larger$|better$|rose$)")
_FALL = re.compile(r"(?:decreas|reduc|lower$|less$|fewer$|shorter$|smaller$|declin|worse|fell$)")
ARMS = _words("placebo control controls comparator sham arm arms intervention untreated vehicle")
POPULATIONS = _words(
    "men man male males boys boy women woman female females girls girl children child adults adult adolescents adolescent "
    "infants infant neonates elderly pregnant patients patient participants participant subjects volunteers mice mouse "
    "rats rat humans human animals monkeys pigs dogs mothers fathers black white hispanic asian caucasian smokers "
    "nonsmokers diabetic nondiabetic obese overweight lean healthy premenopausal postmenopausal"
)
DRUG = re.compile(
    r"(?!\w*(?:peptide|nucleotide|concept|accept|except|intercept|april)$)\w{2,}(?:glutide|natide|gliptin|gliflozin|statin|sartan|pril|prilat|olol|dipine|mab|tinib|nib|ciclib|parib|prazole|"
    r"tidine|setron|triptan|azole|cillin|mycin|micin|cycline|floxacin|vir|caine|barbital|azepam|azolam|oxetine|"
    r"formin|glitazone|coxib|profen|parin|xaban|gatran|grelor|grel|fibrate|buterol|meterol|moterol|tropium|sone|solone|lukast|platin|"
    r"taxel|rubicin|thiazide|semide|tide|cept|stim|poetin|amide|azine|idone|apine|urea|dronate|dronic|penem|sulfa)$|"
    r"(?:insulin|aspirin|warfarin|heparin|metformin|digoxin|morphine|lithium|estrogen|oestrogen|tamoxifen|"
    r"paracetamol|acetaminophen|clopidogrel|interferon|ivermectin|hydroxychloroquine|chloroquine|azithromycin)$"
)
_LABELS = _words(
    "background context introduction aim aims objective objectives purpose importance rationale design setting settings "
    "participants patients subjects intervention interventions exposure exposures method methods measurements measures "
    "measure outcome outcomes main result results finding findings discussion interpretation conclusion conclusions "
    "funding limitations relevance significance data extraction sources source synthesis and study selection trial "
    "registration materials hypothesis analysis"
)
_MAY_BE_LEFT_OUT = ARTICLES | _LABELS | {"("}
#: Words that a space makes of a prefix: "a symptomatic" is no spelling of "asymptomatic".
_RISKY_PREFIXES = _words("a an in im il ir no not un dis de anti hypo hyper on as")
_MEGA = {"megahz": "mhz", "megaw": "mw", "megav": "mv", "megapa": "mpa", "megabq": "mbq", "megaj": "mj", "megaev": "mev"}


class Step(NamedTuple):
    """A harmless difference: its kind and the tokens of quote and source that it covers."""

    kind: str
    q0: int
    q1: int
    s0: int
    s1: int


def explain(quote: Folded, source: Folded, gap: Gap, vocabulary: Container[str]) -> list[Step] | None:
    """The harmless differences that make up the gap, or None when it holds anything else.

    An open gap is laid against as much of the source as it takes; it may not begin or end with something left out.
    """
    if gap.q1 - gap.q0 > _LONGEST or _has_foreign_mark(quote.tokens, source.tokens, gap):
        return None
    if not (gap.open_start or gap.open_end) and _is_plainly_harmful(quote.tokens, source.tokens, gap):
        return None
    if gap.open_start:
        grammar = _Grammar(quote, source, vocabulary, (gap.q1, gap.s1))
        return _first(grammar.begin(gap.q0, place) for place in _starts(quote.tokens, source.tokens, gap))
    if gap.open_end:
        return _Grammar(quote, source, vocabulary, (gap.q1, len(source)), free=True).parse(gap.q0, gap.s0)
    if gap.q1 > gap.q0:
        return _Grammar(quote, source, vocabulary, (gap.q1, gap.s1)).parse(gap.q0, gap.s0)
    return _first(
        _Grammar(quote, source, vocabulary, (q1, s1)).parse(q0, s0)
        for q0, q1, s0, s1 in _slid(gap, quote.tokens, source.tokens)
    )


def _is_plainly_harmful(quote: Sequence[str], source: Sequence[str], gap: Gap) -> bool:
    """Whether words were only added, or only left out, among which none is of a kind that may be: quick to see."""
    added, left_out = quote[gap.q0:gap.q1], source[gap.s0:gap.s1]
    if not left_out:
        return not ARTICLES.issuperset(added)
    return not added and _MAY_BE_LEFT_OUT.isdisjoint(left_out)


def _first(ways: Iterable[list[Step] | None]) -> list[Step] | None:
    return next((steps for steps in ways if steps is not None), None)


def _has_foreign_mark(quote: Sequence[str], source: Sequence[str], gap: Gap) -> bool:
    """Whether a number or mark of the quote is missing from the source nearby: never harmless, and quick to see."""
    if "".join(quote[gap.q0:gap.q1]).isalpha():
        return False
    reach = _LONGEST_ASIDE if gap.open_start or gap.open_end else 0
    near = source[max(0, gap.s0 - reach):gap.s1 + reach]
    for mark in quote[gap.q0:gap.q1]:
        if mark.isalpha() or mark in near:
            continue
        if not mark.isdigit() or not any(mark in other or other in mark for other in near if other.isdigit()):
            return True
    return False


def _starts(quote: Sequence[str], source: Sequence[str], gap: Gap) -> Iterator[int]:
    """Source tokens at which an open gap may begin: those near where it should, then those that agree farther off."""
    expected, first = gap.s1 - (gap.q1 - gap.q0), quote[gap.q0]
    near = (expected, expected - 1, expected + 1, expected - 2, expected + 2)
    yield from (place for place in near if 0 <= place < gap.s1 and _may_begin(first, source[place]))
    far = range(expected - 3, max(-1, expected - _LONGEST_ASIDE), -1)
    yield from islice((place for place in far if source[place] == first), 4)


def _may_begin(written: str, meant: str) -> bool:
    """Whether one word can be the other, to see at a glance: most words near a border cannot."""
    return written[0] == meant[0] or written in ARTICLES or meant in ARTICLES or min(len(written), len(meant)) >= LONG_WORD - 1


def _slid(gap: Gap, quote: Sequence[str], source: Sequence[str]) -> Iterator[tuple[int, int, int, int]]:
    """A gap whose quote side is empty, as it is and slid over tokens that agree on both sides of it."""
    q0, q1, s0, s1 = gap.q0, gap.q1, gap.s0, gap.s1
    yield q0, q1, s0, s1
    for shift in (1, 2, 3):
        if q0 < shift or quote[q0 - shift] != source[s1 - shift]:
            break
        yield q0 - shift, q1 - shift, s0 - shift, s1 - shift
    for shift in (1, 2, 3):
        if q0 + shift > len(quote) or s1 + shift > len(source) or quote[q0 + shift - 1] != source[s0 + shift - 1]:
            break
        yield q0 + shift, q1 + shift, s0 + shift, s1 + shift


class _Grammar:
    """What may differ without harm; `parse` tries to consume a gap to the end, left to right."""

    def __init__(
        self, quote: Folded, source: Folded, vocabulary: Container[str], end: tuple[int, int], *, free: bool = False
    ) -> None:
        self.quote = quote
        self.source = source
        self.vocabulary = vocabulary
        self._end = end
        self._free = free
        self._dead: set[tuple[int, int]] = set()

    def begin(self, q: int, s: int) -> list[Step] | None:
        """As `parse`, for a gap at the beginning of the quote; an article there may stand for a word left out."""
        for step in self._steps(q, s):
            added = step.s0 == step.s1
            if step.q0 == step.q1 or (added and not self.source.begins_sentence(s)):
                continue
            rest = self.parse(step.q1, step.s1)
            if rest is not None:
                return rest if step.kind == "equal" else [step, *rest]
        return None

    def parse(self, q: int, s: int) -> list[Step] | None:
        """Harmless differences from here to the end of the gap, in order; None when there are others."""
        if q == self._end[0] and (self._free or s == self._end[1]):
            return []
        if (q, s) in self._dead:
            return None
        for step in self._steps(q, s):
            if self._free and step.s0 == step.s1 and step.q1 == self._end[0]:
                continue
            rest = self.parse(step.q1, step.s1)
            if rest is not None:
                return rest if step.kind == "equal" else [step, *rest]
        self._dead.add((q, s))
        return None

    def _steps(self, q: int, s: int) -> list[Step]:
        """Harmless steps from here, the likeliest first."""
        q1, s1 = self._end
        quote, source = self.quote.tokens, self.source.tokens
        steps: list[Step] = []
        if q < q1 and s < s1:
            if quote[q] == source[s]:
                steps.append(Step("equal", q, q + 1, s, s + 1))
            elif kind := self._same_word(quote[q], source[s]):
                steps.append(Step(kind, q, q + 1, s, s + 1))
            elif joined := self._joined(q, s):
                steps.append(joined)
        if q < q1 and quote[q] in ARTICLES and self._is_article(self.quote, q):
            steps.append(Step("article", q, q + 1, s, s))
        if s < s1:
            if source[s] in ARTICLES and self._is_article(self.source, s):
                steps.append(Step("article", q, q, s, s + 1))
            if source[s] == "(" and (end := _aside_end(source, s, s1)):
                steps.append(Step("aside", q, q, s, end))
                if source[end:end + 1] == [","] and end < s1:
                    steps.append(Step("aside", q, q, s, end + 1))
            elif source[s] in _LABELS and (end := self._label_end(s, s1)):
                steps.append(Step("label", q, q, s, end))
        return steps

    def _same_word(self, written: str, meant: str) -> str:
        if not (written.isalpha() and meant.isalpha()):
            return ""
        if same_spelled(written, meant):
            return "spelling"
        if self._same_unit(written, meant) or self._same_unit(meant, written):
            return "case"
        return "typo" if is_typo(written, meant, self.vocabulary) else ""

    def _same_unit(self, one: str, other: str) -> bool:
        """`10 NM` for `10 nM`, when the whole text is in capitals or in small letters."""
        plain = other[:-4] if other.endswith("molar") else _MEGA.get(other)
        return one == plain and (self._is_recased())

    def _is_recased(self) -> bool:
        written = self.quote.text
        return written.isupper() or written.islower() or written.istitle() or self.source.text.isupper()

    def _joined(self, q: int, s: int) -> Step | None:
        """A few words written as one, or one as a few."""
        quote, source = self.quote.tokens, self.source.tokens
        q1, s1 = self._end
        for parts in (2, 3, 4, 5):
            if s + parts <= s1 and quote[q] == "".join(source[s:s + parts]):
                return self._if_harmless(self.source, s, Step("hyphenation", q, q + 1, s, s + parts))
            if q + parts <= q1 and source[s] == "".join(quote[q:q + parts]):
                return self._if_harmless(self.quote, q, Step("hyphenation", q, q + parts, s, s + 1))
        return None

    def _if_harmless(self, parted: Folded, first: int, step: Step) -> Step | None:
        last = first + max(step.q1 - step.q0, step.s1 - step.s0)
        words = parted.tokens[first:last]
        if all(word.isdigit() for word in words):
            return step if len(words[0]) <= 3 and all(len(word) == 3 for word in words[1:]) else None
        if not all(word.isalpha() for word in words):
            return None
        between = parted.text[parted.end(first):parted.start(first + 1)]
        return step if words[0] not in _RISKY_PREFIXES or not between.isspace() else None

    @staticmethod
    def _is_article(folded: Folded, number: int) -> bool:
        """Whether the token is an article whose absence changes nothing; the A of "arm A" isn't."""
        tokens = folded.tokens
        if number + 1 < len(tokens) and tokens[number + 1] in _ARTICLE_MATTERS:
            return False
        if tokens[number] != "a":
            return True
        before = tokens[number - 1] if number else ""
        if before in _LETTERED:
            return False
        start = folded.start(number)
        if folded.text[start] == "a" or folded.text.isupper():
            return True
        return not before or folded.text[:start].rstrip()[-1:] in ".:;!?("

    def _label_end(self, s: int, s1: int) -> int:
        """End of a section label such as `RESULTS:` that begins at `s`; 0 when there is none."""
        for end in range(s + 1, min(s + 5, s1) + 1):
            if self.source.tokens[end - 1] not in _LABELS:
                return 0
            first, last = self.source.span(s, end)
            text = self.source.text
            follows = text[last:last + 1] == ":" or (text[first:last].isupper() and last - first > 3)
            if follows and text[:first].rstrip()[-1:] in ("", ".", "?", "!", ")"):
                return end
        return 0


def _aside_end(tokens: Sequence[str], start: int, limit: int) -> int:
    """End of the bracketed aside that opens at `start`, 0 if it doesn't close in time or holds a negation."""
    depth = 0
    for place in range(start, min(limit, start + _LONGEST_ASIDE)):
        token = tokens[place]
        if token == "(":
            depth += 1
        elif token == ")":
            depth -= 1
            if depth == 0:
                return place + 1
        elif _negates(tokens, place):
            return 0
    return 0


def _negates(tokens: Sequence[str], place: int) -> bool:
    """Whether the token is a negation; the T of "(T6SS)" is the end of no "don't", and "(NO2)" is a gas."""
    token, before = tokens[place], tokens[place - 1] if place else ""
    if token == "t":
        return before.endswith("n")
    if token == "no" and before == "(":
        return tokens[place + 2:place + 3] != [")"]
    return token in NEGATIONS


def kind_of_change(quote: Sequence[str], source: Sequence[str]) -> str:
    """What a change touches, the gravest first: both arguments are the tokens of one gap."""
    changed = set(quote) ^ set(source) or set(_surplus(quote, source))
    if not changed:
        return "order"
    if not NEGATIONS.isdisjoint(changed) or _negated_pair(quote, source):
        return "negation"
    has_digits = not _DIGITS.isdisjoint([token[0] for token in changed])
    if not has_digits and ("-" in changed or "+" in changed):
        return "sign"
    if has_digits or not NUMBER_WORDS.isdisjoint(changed):
        return "number"
    if not COMPARATORS.isdisjoint(changed):
        return "comparator"
    if not (quote and source):
        return "omission" if source else "addition"
    return min(map(_kind_of_word, changed), key=_GRAVITY.index)


@lru_cache(maxsize=20_000)
def _kind_of_word(word: str) -> str:
    return next((kind for kind, applies in _KINDS.items() if applies(word)), "wording")


def _surplus(quote: Sequence[str], source: Sequence[str]) -> Counter[str]:
    mine, theirs = Counter(quote), Counter(source)
    return (mine - theirs) + (theirs - mine)


def _negated_pair(quote: Sequence[str], source: Sequence[str]) -> bool:
    """Whether a word became its negative by a prefix."""
    for words, others in ((quote, source), (source, quote)):
        for word in words:
            for cut in (1, 2, 3):
                if word[cut:] in others and len(word) > 3 + cut and word[:cut] in _NEGATIVE_PREFIXES:
                    return True
    return False


_NEGATIVE_PREFIXES = _words("a an un in im il ir non dis")
#: What a word may be, the gravest first.
_KINDS: dict[str, Callable[[str], object]] = {
    "unit": UNITS.__contains__,
    "direction": lambda word: _UP.match(word) or _DOWN.match(word),
    "drug": DRUG.match,
    "arm": ARMS.__contains__,
    "population": POPULATIONS.__contains__,
}
_GRAVITY = (*_KINDS, "wording")


def weight_of_elision(skipped: Sequence[str], kept: Sequence[str]) -> tuple[str, int] | None:
    """Kind and place of the first thing that an ellipsis may not skip: a negation, a number, an arm; else None.

    A whole bracketed aside without a negation may be skipped, numbers included, as it may without an ellipsis. A
    population counts when the quote names one too, a direction when it is opposite to the quote's.
    """
    kept_words = set(kept)
    ups, downs = any(map(_RISE.match, kept_words)), any(map(_FALL.match, kept_words))
    place = 0
    while place < len(skipped):
        token = skipped[place]
        if token == "(" and (end := _aside_end(skipped, place, len(skipped))):
            place = end
            continue
        if _negates(skipped, place):
            return "negation", place
        if _is_name(skipped, place):
            place += 2
            continue
        if token[0].isdigit() or token in _COUNTS:
            return "number", place
        if token in ARMS or DRUG.match(token):
            return "arm", place
        if token in _SEXES_AND_AGES and kept_words & _SEXES_AND_AGES:
            return "population", place
        if (ups and not downs and _FALL.match(token)) or (downs and not ups and _RISE.match(token)):
            return "direction", place
        place += 1
    return None


def _is_name(tokens: Sequence[str], place: int) -> bool:
    """Whether a number only names a kind of thing here: the two of "two-sided" counts nothing."""
    if place + 1 >= len(tokens) or tokens[place + 1] not in _NAMED_BY_NUMBER:
        return False
    token = tokens[place]
    return token in NUMBER_WORDS or (token.isdigit() and len(token) == 1)


_SEXES_AND_AGES = _words(
    "men man male males boys women woman female females girls children child adults adult adolescents adolescent infants"
)
