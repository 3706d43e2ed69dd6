"""Where a quote stands in a text, decided by code alone: no model, no network, the same answer every time.

In: a quote and the stored text it is said to come from. Out: a `Location` whose spans index that text exactly. Found
are quotes that stand there word for word, typography aside, with harmless slips, or with words honestly left out.
Everything else is refused: a similarity threshold would let a changed digit or a dropped "not" pass, so a fuzzy match
counts only when every difference is explained as harmless. A quote too short to identify anything is absent.

The score is the similarity of the folded quote and the place found, 0–1 (rapidfuzz's 0–100, scaled); 1.0 when only
typography differs. It informs a reader and decides nothing.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from itertools import islice, pairwise

from rapidfuzz.fuzz import ratio

from litrag.alignment import ALTERED_FLOOR, Alignment, Gap, alignments, laid
from litrag.alterations import (
    ARTICLES,
    Step,
    explain,
    kind_of_change,
    weight_of_elision,
)
from litrag.folding import Folded, fold, fold_tokens
from litrag.models import Difference, Location, MatchKind, Span

#: Similarity (0–1) below which a place is too far from the quote to be called a copy with slips.
FUZZY_FLOOR = 0.90
#: Most tokens that one ellipsis may skip: two or three sentences.
NEAR = 80

_STOP = frozenset(
    "a an the and or of in on to for with by at from as is was were are be been it its this that these those there than "
    "then which who we our not no had has have did do does but if so such".split()
)
_BULLET = re.compile(r"\s*(?:>+|#+|[-*•–])\s+(?=[^\W\d])")
_BULLETS = frozenset(">#-*•–")
_ELLIPSIS = re.compile(r"\s*[\[(]?\s*(?:…|\.{3,}|(?:\. ){2,}\.)\s*[\])]?\s*")
_AROUND = " \n\t…._*'\"‘’“”[]()"
_LABEL = re.compile(r"\s*[A-Z][A-Za-z,/& ]{2,40}:\s+(?=\S)")
_LABEL_WORDS = frozenset(
    "abstract background context introduction aim aims objective objectives purpose importance rationale design setting "
    "settings participants patients subjects population intervention interventions exposure exposures method methods "
    "measurements measures outcome outcomes main result results finding findings discussion interpretation conclusion "
    "conclusions funding limitations relevance significance data extraction sources synthesis study selection trial "
    "registration materials hypothesis analysis and of".split()
)
_NEGATED = re.compile(
    r"(?:^|\W)(?:(?:no|not|never|nor|neither|without|cannot)\s+"
    r"(?:\w+ly\s+|significant\s+|(?:clear\s+|significant\s+)?(?:evidence|difference)\s+(?:of|that|in)\s+)?|"
    r"n['’]t\s+|fail(?:ed|s|ing|ure)?\s+to\s+|lack(?:ed|s|ing)?\s+(?:of\s+)?|absence\s+of\s+|instead\s+of\s+|"
    r"rather\s+than\s+|unlikely\s+to\s+|unable\s+to\s+|(?:non|un|in|anti|a|dis|de|pre|post|hypo|hyper)[-‐‑])$",
    re.IGNORECASE,
)
_CHANGES_NUMBER = re.compile(
    r"(?:[\d%]\s?[-–−‐—]\s?|(?:^|[\s(\[=<>:;,])[-–−+±]\s?|[<>≤≥±~≈]=?\s?|&[gl][te];=?\s?|\d[./,·^×]|\b(?:minus|over|under|"
    r"above|below|up\sto|at\s(?:least|most)|(?:less|more|fewer|greater|lower|higher)\sthan)\s)$",
    re.IGNORECASE,
)
_A_FEW = re.compile(r"(?:few|little|number)\b", re.IGNORECASE)
_GOES_ON = re.compile(
    r"\s?(?:%|‰|per\s?cent)|[.,·]\d|\s?[-–−]\s?\d|[\^⁰¹²³⁴-⁹½]|\s?[×x]\s?10|/\d|°|-fold|\s(?:million|billion|thousand)\b",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.?!][\"'”’)\]]*\s+(?=[\"'“‘(\[]?[A-Z0-9])")
_WORD_GLUE = re.compile(
    r"(?:abstract|background|context|introduction|aims?|objectives?|purpose|importance|rationale|design|settings?|"
    r"participants|patients|subjects|interventions?|exposures?|methods?|measure(?:s|ments?)|outcomes?|results?|"
    r"findings?|discussion|interpretation|conclusions?|funding|relevance|significance|extraction|sources?|synthesis)$",
    re.IGNORECASE,
)
_LONGEST_SHOWN = 240

_LONGEST_LABEL = 45

_TOO_SHORT = "too short to verify"


def locate_quote(
    quote: str, text: str, *, claim: str | None = None, vocabulary: frozenset[str] | None = None
) -> Location:
    """Where `quote` stands in `text`: spans, how it matched, and what differs.

    A phrase that stands several times goes to the copy whose neighbourhood fits `claim` best. `vocabulary` adds words
    of the corpus, lower case, that no typing error may turn into.
    """
    exact = _exactly(quote, text)
    if exact is not None:
        return exact
    return _Search(quote, text, claim, vocabulary or frozenset()).run()


def locate_among(
    quote: str, texts: Mapping[str, str], cited: str, *, claim: str | None = None
) -> Location:
    """Where `quote` stands in the cited text or, failing that, in another one: then it is *misattributed*.

    `record_id` says which text the spans index. An altered or absent quote is reported for the cited text.
    """
    here = locate_quote(quote, texts[cited], claim=claim) if cited in texts else _absent("the cited source is not here")
    if here.found:
        return here.model_copy(update={"record_id": cited})
    others = (name for name in texts if name != cited)
    located = [(name, locate_quote(quote, texts[name], claim=claim)) for name in others]
    found = [(name, location) for name, location in located if location.found]
    if not found:
        return here.model_copy(update={"record_id": cited})
    name, best = max(found, key=lambda pair: pair[1].score)
    return best.model_copy(update={"match": MatchKind.MISATTRIBUTED, "record_id": name})


def _exactly(quote: str, text: str) -> Location | None:
    """The quick way for a long quote that stands once, letter for letter; everything else takes the long way."""
    size = len(quote)
    start = text.find(quote) if size >= 40 else -1
    if start < 0 or text.find(quote, start + 1) >= 0 or quote[0].isspace() or quote[-1].isspace():
        return None
    if not _stands_free(text, start, start + size):
        return None
    return Location(match=MatchKind.EXACT, spans=((start, start + size),), score=1.0, occurrences=1)


def _stands_free(text: str, start: int, end: int) -> bool:
    """Whether nothing right before or after a passage belongs to it: half a word, a sign, a "not", a "%"."""
    return _free_before(text, start) and _free_after(text, end)


def _free_before(text: str, start: int) -> bool:
    if start == 0:
        return True
    first, before = text[start], text[start - 1]
    if first.isalnum() and before.isalnum():
        glued = first.isupper() and before.islower() and _WORD_GLUE.search(text[max(0, start - 16):start])
        return bool(glued)
    if before == "\n" or text[start - 2:start] == ". ":
        return True
    lead = text[max(0, start - 40):start]
    if (first.isdigit() or first in ".·") and _CHANGES_NUMBER.search(lead[-16:]):
        return False
    if lead[-3:].lower() in (" a ", "\na ", "a ") and _A_FEW.match(text, start):
        return False
    return _NEGATED.search(lead) is None


def _free_after(text: str, end: int) -> bool:
    if end == len(text):
        return True
    last, after = text[end - 1], text[end]
    if (last.isalnum() and after.isalnum()) or "\u0300" <= after <= "\u036f":
        return False
    if last in ".,·" and after.isdigit() and text[end - 2:end - 1].isdigit():
        return False  # what looks like the quote's full stop is the point of a figure that goes on
    return not (last.isdigit() and _GOES_ON.match(text, end))


def _absent(note: str = "", score: float = 0.0) -> Location:
    return Location(match=MatchKind.ABSENT, score=score, note=note)


class _Search:
    """One quote against one text, by ever more lenient ways; the first that applies decides."""

    def __init__(self, quote: str, text: str, claim: str | None, vocabulary: frozenset[str]) -> None:
        self.quote = quote
        self.claim = claim
        self.vocabulary = vocabulary
        self.source = fold(text)
        self._explanations: dict[Gap, list[Step] | None] = {}

    def run(self) -> Location:
        quote = self.quote
        if quote[:1] in _BULLETS and (bullet := _BULLET.match(quote)):
            return _Search(quote[bullet.end():], self.source.text, self.claim, self.vocabulary).run()
        inner = quote.strip(_AROUND)
        if ("…" in inner or "..." in inner) and "…" not in self.source.tokens:
            return self._elided()
        folded, quick = laid(quote, self.source) or (Folded(quote, labels=False), None)
        if quick and (decided := self._settled(folded, quick)):
            return decided
        tokens, joined = folded.tokens, folded.joined
        if "…" in tokens:
            tokens = _bare(tokens)
            joined = f" {' '.join(tokens)} "
        if not _has_content(tokens):
            return _absent(_TOO_SHORT)
        if verbatim := self._verbatim(tokens, joined):
            return verbatim
        if "…" in tokens or (("…" in quote or "..." in quote or ". ." in quote) and _ELLIPSIS.search(quote)):
            return self._elided()
        return self._unlabelled(tokens, joined) or self._nearest(folded, quick)

    def _unlabelled(self, tokens: list[str], joined: str) -> Location | None:
        """A quote that starts with a section label which the stored text keeps elsewhere."""
        label = _LABEL.match(self.quote) if ":" in self.quote[:_LONGEST_LABEL] else None
        if not label:
            return None
        words = fold_tokens(label.group())
        if not all(word in _LABEL_WORDS for word in words) or tokens[:len(words)] != words:
            return None
        rest = tokens[len(words):]
        location = self._verbatim(rest, joined[len(_join(words)) - 1:]) if _has_content(rest) else None
        if location is None or not location.found:
            return None
        first, _ = self.source.tokens_in(location.spans[0])
        return location.model_copy(update={"match": MatchKind.NORMALIZED}) if self.source.begins_sentence(first) else None

    def _settled(self, quoted: Folded, alignment: Alignment) -> Location | None:
        """The answer when no other place can fit as well: what the quote repeats holds a token that stands only once."""
        quote, source, first, last = self.quote, self.source, alignment.first, alignment.last
        if "…" in quote or "..." in quote or ". ." in quote or not _has_letters(quoted.tokens):
            return None
        if not alignment.gaps:
            if source.once.isdisjoint(quoted.tokens) or not self._is_free(first, last):
                return None
            return self._word_for_word(first, last, 1)
        gap = alignment.gaps[0]
        q0, q1, s0, s1, is_open, _ = gap
        if (is_open and ":" in quote[:_LONGEST_LABEL]) or q1 - q0 > min(16, len(quoted.tokens) // 3):
            return None
        if source.tokens[s0:s0 + 1] == quoted.tokens[q0:q0 + 1]:
            return None
        before = not source.once.isdisjoint(source.tokens[first:s0])
        if not (before and s1 - s0 <= q1 - q0 + 6):
            after = not source.once.isdisjoint(source.tokens[s1:last])
            if not after or not (before or s1 - s0 <= q1 - q0 + 6):
                return None
        if self._explained(quoted, gap) is not None:
            return self._accepted(quoted, alignment)
        return self._altered(quoted, alignment, alignment.gaps)

    # --- word for word
    def _verbatim(self, tokens: list[str], joined: str) -> Location | None:
        places = self._places(joined)
        if not places:
            return None
        free = [place for place in places if self._is_free(place, place + len(tokens))]
        if not free:
            return self._cut_short(places[0], places[0] + len(tokens))
        if len(free) > 1 and not _has_letters(tokens):
            return _absent(_TOO_SHORT)
        place, note = self._choose(free, len(tokens))
        return self._word_for_word(place, place + len(tokens), len(free), note)

    def _word_for_word(self, first: int, last: int, occurrences: int, note: str = "") -> Location:
        span = self._widened(self.source.span(first, last), self.quote)
        kind = MatchKind.EXACT if self.source.text[span[0]:span[1]] == self.quote.strip() else MatchKind.NORMALIZED
        return Location(match=kind, spans=(span,), score=1.0, occurrences=occurrences, note=note)

    def _places(self, wanted: str, least: int = 0) -> list[int]:
        """Numbers of the source tokens at which the joined tokens stand, from token `least` on."""
        joined, number, counted = self.source.joined, 0, 0
        places: list[int] = []
        place = joined.find(wanted)
        while place >= 0:
            number += joined.count(" ", counted, place)
            counted = place
            places.append(number)
            place = joined.find(wanted, place + 1)
        return [place for place in places if place >= least] if least else places

    def _is_free(self, first: int, last: int) -> bool:
        start, end = self.source.span(first, last)
        return _stands_free(self.source.text, start, end)

    def _cut_short(self, first: int, last: int) -> Location:
        """A passage whose quote leaves out what belongs to it: a sign, a "not", a "%", half a word."""
        text = self.source.text
        start, end = self.source.span(first, last)
        if _free_before(text, start):
            missing = last, min(last + 2 if text[end:end + 1] in "-–−" else last + 1, len(self.source))
        else:
            missing = max(0, first - 1), first
        span = self.source.span(*missing) if missing[0] < missing[1] else (start, end)
        left_out = self.source.tokens[missing[0]:missing[1]]
        if text[span[0]:span[1]] == "" or (text[start - 1:start].isalnum() or text[end:end + 1].isalnum()):
            return _absent("stands only inside longer words")
        kind = kind_of_change((), left_out)
        difference = Difference(quote="", source=text[slice(*span)], kind=kind, source_span=span)
        return Location(match=MatchKind.ALTERED, spans=((start, end),), score=1.0, differences=(difference,),
                        occurrences=1)

    def _choose(self, places: Sequence[int], size: int) -> tuple[int, str]:
        """The copy whose neighbourhood holds most of the claim's words, nearer ones counting more."""
        if len(places) == 1:
            return places[0], ""
        times = f"stands {len(places)} times"
        words = set(fold_tokens(self.claim or "")) - _STOP - set(self.source.tokens[places[0]:places[0] + size])
        fits = [self._fit(place, size, words) for place in places]
        if max(fits) == 0:
            return places[0], f"{times}; the first copy was taken"
        return places[fits.index(max(fits))], f"{times}; the copy nearest the claim's words was taken"

    def _fit(self, place: int, size: int, words: set[str]) -> float:
        fit = 0.0
        for word in words:
            spots = self.source.places.get(word, ())
            distances = [place - spot if spot < place else spot - place - size + 1 for spot in spots]
            if distances and min(distances) < 60:
                fit += (2.0 if word[0].isdigit() else 1.0) / (4 + min(distances))
        return fit

    def _widened(self, span: Span, quote: str) -> Span:
        """The span with the outer punctuation that quote and text share."""
        text, (start, end) = self.source.text, span
        for char in _outer(quote, -1):
            if end < len(text) and _alike(text[end], char):
                end += 1
        for char in _outer(quote, 1):
            if start > 0 and _alike(text[start - 1], char):
                start -= 1
        return start, end

    # --- with words left out by an ellipsis
    def _elided(self) -> Location:
        parts = [(piece, tokens) for piece in _ELLIPSIS.split(self.quote) if (tokens := fold_tokens(piece))]
        pieces = [piece for piece, _ in parts]
        if len(pieces) < 2:
            inner = _Search(pieces[0].strip(), self.source.text, self.claim, self.vocabulary) if pieces else None
            return inner.run() if inner else _absent(_TOO_SHORT)
        folded = [_bare(tokens) for _, tokens in parts]
        if sum(map(len, folded)) < 4 or any(len(piece) < 3 and not _has_letters(piece, 3) for piece in folded):
            return _absent(_TOO_SHORT)
        placed = self._chain(folded)
        if placed is None:
            return self._with_slips(pieces, folded)
        return self._judge_elision(pieces, folded, placed)

    def _chain(self, folded: Sequence[Sequence[str]]) -> list[int] | None:
        """Places of the pieces in order, each as soon as possible after the last, with the least left out."""
        best: tuple[int, list[int]] | None = None
        for first in self._places(_join(folded[0])):
            chain = [first]
            for previous, piece in pairwise(folded):
                following = self._places(_join(piece), chain[-1] + len(previous))
                if not following:
                    return None if best is None else best[1]
                chain.append(following[0])
            length = chain[-1] - chain[0]
            if best is None or length < best[0]:
                best = length, chain
        return None if best is None else best[1]

    def _judge_elision(
        self, pieces: Sequence[str], folded: Sequence[Sequence[str]], placed: Sequence[int]
    ) -> Location:
        text, source = self.source.text, self.source
        spans = [source.span(place, place + len(piece)) for place, piece in zip(placed, folded, strict=True)]
        kept = [token for piece in folded for token in piece]
        differences: list[Difference] = []
        harmful: list[Difference] = []
        for number in range(1, len(spans)):
            s0, s1 = placed[number - 1] + len(folded[number - 1]), placed[number]
            if s0 >= s1:
                continue
            skipped = source.span(s0, s1)
            heavy = weight_of_elision(source.tokens[s0:s1], kept)
            if heavy:
                token = source.span(s0 + heavy[1], s0 + heavy[1] + 1)
                harmful.append(self._left_out(token, heavy[0]))
            elif s1 - s0 > NEAR or self._joins_sentences(spans[number - 1][1], spans[number][0]):
                harmful.append(self._left_out(skipped, "omission"))
            differences.append(self._left_out(skipped, "elision"))
        free = _free_before(text, spans[0][0]) and _free_after(text, spans[-1][1])
        altered = bool(harmful) or not free
        wide = [self._widened(span, piece) for span, piece in zip(spans, pieces, strict=True)]
        return Location(
            match=MatchKind.ALTERED if altered else MatchKind.ELIDED, spans=tuple(wide), score=1.0,
            differences=tuple(harmful if harmful else differences), occurrences=1,
        )

    def _joins_sentences(self, end: int, start: int) -> bool:
        """Whether an ellipsis makes one sentence of the parts of two."""
        text = self.source.text
        borders = [m.end() for m in _SENTENCE_END.finditer(text, max(0, end - 1), start)]
        if not borders:
            return False
        ends_sentence = re.match(r"[.?!\"'”’)\]]*\s", text[end:]) and text[end:end + 1] in ".?!"
        return not ends_sentence and text[borders[-1]:start].strip("\"'“‘([ ") != ""

    def _with_slips(self, pieces: Sequence[str], folded: Sequence[Sequence[str]]) -> Location:
        """Pieces of which one isn't word for word: each is searched by itself, then judged like the rest."""
        placed: list[int] = []
        sizes: list[Sequence[str]] = []
        for piece, tokens in zip(pieces, folded, strict=True):
            least = placed[-1] + len(sizes[-1]) if placed else 0
            places = self._places(_join(tokens), least)
            if places:
                placed.append(places[0])
                sizes.append(tokens)
                continue
            location = self._nearest(Folded(piece, labels=False))
            if location.match is not MatchKind.FUZZY:
                return location if location.match is MatchKind.ALTERED else _absent("not every piece stands there")
            first, last = self.source.tokens_in(location.spans[0])
            if first < least:
                return _absent("the pieces stand in another order")
            placed.append(first)
            sizes.append(self.source.tokens[first:last])
        return self._judge_elision(pieces, sizes, placed)

    def _left_out(self, span: Span, kind: str) -> Difference:
        return Difference(quote="", source=_shown(self.source.text[slice(*span)]), kind=kind, source_span=span)

    # --- with differences
    def _nearest(self, quoted: Folded, quick: Alignment | None = None) -> Location:
        tokens, joined = quoted.tokens, quoted.joined
        if len(tokens) > len(self.source):
            return _absent("longer than its source")
        if len(tokens) < 3 or not _has_letters(tokens):
            return _absent(_TOO_SHORT)
        self._explanations.clear()
        best: tuple[float, Alignment] | None = None
        for alignment in islice(alignments(tokens, joined, self.source, quick), 4):
            agreement = self._agreement(tokens, alignment)
            if best is None or agreement > best[0]:
                best = agreement, alignment
            if agreement < ALTERED_FLOOR:
                continue
            if accepted := self._accepted(quoted, alignment):
                return accepted
            if self._is_settled(alignment, tokens):
                break
        if best is None or best[0] < ALTERED_FLOOR:
            return _absent(score=self._similarity(tokens, best[1]) if best else 0.0)
        gaps = [gap for gap in best[1].gaps if self._explained(quoted, gap) is None]
        if not gaps and not self._is_free(best[1].first, best[1].last):
            return self._cut_short(best[1].first, best[1].last)
        return self._altered(quoted, best[1], gaps or best[1].gaps)

    def _explained(self, quoted: Folded, gap: Gap) -> list[Step] | None:
        if gap not in self._explanations:
            known = _Known(self.source.joined, self.vocabulary)
            self._explanations[gap] = explain(quoted, self.source, gap, known)
        return self._explanations[gap]

    def _is_settled(self, alignment: Alignment, tokens: Sequence[str]) -> bool:
        """Whether no other place can fit better: what surrounds the only gap stands nowhere else."""
        if len(alignment.gaps) != 1:
            return False
        gap = alignment.gaps[0]
        if gap.q1 - gap.q0 > 16:
            return False
        before = self._is_unique(tokens[:gap.q0])
        if before and gap.s1 - gap.s0 <= gap.q1 - gap.q0 + 6:
            return True
        after = self._is_unique(tokens[gap.q1:])
        return after and (before or gap.s1 - gap.s0 <= gap.q1 - gap.q0 + 6)

    def _is_unique(self, tokens: Sequence[str]) -> bool:
        if len(tokens) < 4:
            return False
        if not self.source.once.isdisjoint(tokens):
            return True
        wanted, text = _join(tokens), self.source.joined
        place = text.find(wanted)
        return place >= 0 and text.find(wanted, place + 1) < 0

    def _similarity(self, tokens: Sequence[str], alignment: Alignment) -> float:
        return ratio(_join(tokens), _join(self.source.tokens[alignment.first:alignment.last])) / 100

    def _agreement(self, tokens: Sequence[str], alignment: Alignment) -> float:
        """Share of the quote's characters that stand in the source, in order."""
        missing = sum(len(token) for gap in alignment.gaps for token in tokens[gap.q0:gap.q1])
        return 1 - missing / sum(map(len, tokens))

    def _accepted(self, quoted: Folded, alignment: Alignment) -> Location | None:
        """A location for a quote whose every difference is harmless, unless there are too many or it is cut short."""
        steps: list[Step] = []
        for gap in alignment.gaps:
            explained = self._explained(quoted, gap)
            if explained is None:
                return None
            steps += explained
        first, last = self._tightened(alignment, steps)
        if sum(step.kind == "typo" for step in steps) > 1 + len(quoted.tokens) // 12:
            return None
        asides = [step for step in steps if step.kind in ("aside", "label")]
        kept = self.source.tokens[first:last]
        for step in reversed(asides):
            del kept[step.s0 - first:step.s1 - first]
        score = ratio(quoted.joined, _join(kept)) / 100
        if score < FUZZY_FLOOR or not self._is_free(first, last):
            return None
        span = self._widened(self.source.span(first, last), quoted.text)
        kind = MatchKind.ELIDED if any(step.kind == "aside" for step in asides) else MatchKind.FUZZY
        return Location(
            match=kind, spans=(span,), score=score, occurrences=1,
            differences=tuple(self._difference(quoted, step.q0, step.q1, step.s0, step.s1, step.kind) for step in steps),
        )

    @staticmethod
    def _tightened(alignment: Alignment, steps: Sequence[Step]) -> tuple[int, int]:
        """The source tokens that the quote covers, with the borders of open gaps where the steps put them."""
        first, last = alignment.first, alignment.last
        for gap in alignment.gaps:
            inside = [step for step in steps if gap.q0 <= step.q0 and step.q1 <= gap.q1]
            drift = sum((step.s1 - step.s0) - (step.q1 - step.q0) for step in inside)
            if gap.open_start:
                first = gap.s1 - (gap.q1 - gap.q0) - drift
            if gap.open_end:
                last = gap.s0 + (gap.q1 - gap.q0) + drift
        return first, last

    def _difference(self, quoted: Folded, q0: int, q1: int, s0: int, s1: int, kind: str) -> Difference:
        source_span = self.source.span(s0, s1) if s0 < s1 else None
        quote_span: Span | None = None
        if q0 < q1:
            shift = self.quote.find(quoted.text) if quoted.text != self.quote else 0
            start, end = quoted.span(q0, q1)
            quote_span = start + shift, end + shift
        return Difference(
            quote=_shown(self.quote[slice(*quote_span)]) if quote_span else "",
            source=_shown(self.source.text[slice(*source_span)]) if source_span else "",
            kind=kind, quote_span=quote_span, source_span=source_span,
        )

    def _altered(self, quoted: Folded, alignment: Alignment, gaps: Sequence[Gap]) -> Location:
        differences = [self._change(quoted, gap) for gap in gaps]
        return Location(
            match=MatchKind.ALTERED, spans=self._spans(alignment), score=self._similarity(quoted.tokens, alignment),
            differences=tuple(differences), occurrences=1,
        )

    def _change(self, quoted: Folded, gap: Gap) -> Difference:
        """The gap as a reader should see it: without tokens that agree, with the unit of a changed number."""
        quote, source = quoted.tokens, self.source.tokens
        q0, q1, s0, s1 = gap.q0, gap.q1, gap.s0, gap.s1
        while gap.open_start and s0 < s1 and q0 < q1 and self._ends_sentence(s1 - 1) and q1 - q0 <= s1 - s0:
            s0 = s1
        while q0 < q1 and s0 < s1 and quote[q0] == source[s0]:
            q0, s0 = q0 + 1, s0 + 1
        while q0 < q1 and s0 < s1 and quote[q1 - 1] == source[s1 - 1]:
            q1, s1 = q1 - 1, s1 - 1
        kind = kind_of_change(quote[q0:q1], source[s0:s1])
        if kind == "number" and quote[q1:q1 + 1] == source[s1:s1 + 1] == ["%"]:
            q1, s1 = q1 + 1, s1 + 1
        return self._difference(quoted, q0, q1, s0, s1, kind)

    def _ends_sentence(self, token: int) -> bool:
        return self.source.text[self.source.end(token):][:1] in (".", "?", "!")

    def _spans(self, alignment: Alignment) -> tuple[Span, ...]:
        """One span, or several when far-apart parts of the source were joined."""
        if all(gap.s1 - gap.s0 <= 25 for gap in alignment.gaps):
            return (self.source.span(alignment.first, alignment.last),)
        borders = [alignment.first]
        for gap in alignment.gaps:
            if gap.s1 - gap.s0 > 25 and not (gap.open_start or gap.open_end):
                borders += [gap.s0, gap.s1]
        borders.append(alignment.last)
        return tuple(self.source.span(a, b) for a, b in zip(borders[::2], borders[1::2], strict=True) if a < b)


class _Known:
    """The words of the source and of the corpus, which no typing error may turn into."""

    def __init__(self, joined: str, vocabulary: Container[str]) -> None:
        self._joined, self._vocabulary = joined, vocabulary

    def __contains__(self, word: object) -> bool:
        return word in self._vocabulary or f" {word} " in self._joined


def _join(tokens: Sequence[str]) -> str:
    return f" {' '.join(tokens)} "


def _bare(tokens: list[str]) -> list[str]:
    """Tokens without an outer ellipsis, which says only that the quote is a part."""
    start, end = 0, len(tokens)
    while start < end and tokens[start] == "…":
        start += 1
    while end > start and tokens[end - 1] == "…":
        end -= 1
    return tokens if end - start == len(tokens) else tokens[start:end]


def _has_letters(tokens: Sequence[str], enough: int = 8) -> bool:
    """Whether the words that say something have so many letters together."""
    for token in tokens:
        if token.isalpha() and token not in _STOP:
            enough -= len(token)
            if enough <= 0:
                return True
    return False


def _has_content(tokens: Sequence[str]) -> bool:
    """Whether the quote says enough to be looked for: more than a short word or bare digits."""
    return _has_letters(tokens, 8 if len(tokens) == 1 else 1)


def _outer(quote: str, side: int) -> list[str]:
    """The punctuation at the quote's beginning (1) or end (-1), from the inside out."""
    chars: list[str] = []
    for char in quote[::side]:
        if char.isalnum():
            break
        chars.append(char)
    return [char for char in reversed(chars) if not char.isspace()]


def _alike(one: str, other: str) -> bool:
    """Whether two marks are one mark but for their typographic form."""
    return one == other or (one in _MARKS and _MARKS.get(one) == _MARKS.get(other))


_MARKS = dict.fromkeys("'\"‘’‚‛“”„‟«»‹›", "quote") | {".": "stop", "…": "stop"}


def _shown(text: str) -> str:
    """A long passage cut in its middle, for a reader; the span keeps the whole."""
    if len(text) <= _LONGEST_SHOWN:
        return text
    return f"{text[:_LONGEST_SHOWN // 2]} … {text[-_LONGEST_SHOWN // 2:]}"


__all__ = ["ALTERED_FLOOR", "ARTICLES", "FUZZY_FLOOR", "NEAR", "locate_among", "locate_quote"]
