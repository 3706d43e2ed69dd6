"""Whether two words are one word spelled differently: British and American forms, and typing errors.

In: two lower-case words. Out: yes or no; when in doubt, no. A typing error is one slip of a finger in a long word whose
result is not itself a word, and never one that turns a medical word into its counterpart (hypo-, hyper-).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container
from functools import lru_cache

from rapidfuzz.distance import OSA, Levenshtein, Prefix

from litrag.wordlists import known_words

#: Words shorter than this are too close to other words for a slip to be told from a change.
LONG_WORD = 7

_OUR = (
    "arbour|ardour|armour|behaviour|candour|clamour|colour|demeanour|discolour|endeavour|favour|fervour|flavour|harbour|"
    "honour|humour|labour|neighbour|odour|rancour|rigour|rumour|saviour|savour|splendour|tumour|valour|vapour|vigour"
)
_New = str | Callable[[re.Match[str]], str]
_RULES: tuple[tuple[re.Pattern[str], _New], ...] = tuple((re.compile(pattern), new) for pattern, new in (
    (r"(?<=^prac)tis", "tic"),
    (r"leuc(?=o)", "leuk"),
    (rf"({_OUR})", r"<\1>"),
    (r"<(\w+)our>", r"\1or"),
    (r"[ao]e(?=[a-z])", "e"),
    (r"(?<=[a-z]{3})is(?=(?:e|ed|er|ers|es|ing|able|ation|ations|ational)$)", "iz"),
    (r"(?<=[a-z]{2}[aeiou]l)ys(?=(?:e|ed|er|ers|es|ing)$)", "yz"),
    (r"(?<=[a-z]{2})(cent|fib|lit|met|tit|goit|calib|spect|lust|theat|meag|och)re(?=s?$)", r"\1er"),
    (r"(?<=\bcent)red$", "ered"),
    (r"^(cent|fib|lit|met|tit)re(?=s?$)", r"\1er"),
    (r"(?<=[a-z]{3}[aeiou])ll(?=(?:ed|ing|er|ers|ation)$)", "l"),
    (r"(?<=[a-z]{3})ogue(?=s?$)", "og"),
    (r"gramme(?=s?$|d$)", "gram"),
    (r"(def|off|lic|pret)ence(?=s?$|d$)", r"\1ense"),
    (r"sulph", "sulf"),
    (r"^gr[ea]y(?=\w*$)", "gray"),
    (r"^(?:ageing)$", "aging"),
    (r"mould", "mold"),
    (r"^artefact", "artifact"),
    (r"^alumini?um", "aluminum"),
    (r"^sceptic", "skeptic"),
    (r"manoeuv|maneuv", "maneuv"),
    (r"^(?:manoeuvre|maneuvre)", "maneuver"),
    (r"^(judge|acknowledge)ment", lambda m: m[1][:-1] + "ment"),
    (r"^(fulfil|instal|instil|distil|enrol|enthral)l?(?=$|s$|ment)", r"\1l"),
    (r"^skilful", "skillful"),
    (r"^(while|whil)st$", "while"),
    (r"^amongst$", "among"),
    (r"^(to|on|up|down|after|back|for)wards$", r"\1ward"),
    (r"^disks?$", lambda m: m[0].replace("k", "c")),
    (r"^(learn|spell|spoil|burn)t$", r"\1ed"),
    (r"^(foc|bias)ss(?=ed|ing)", r"\1s"),
    (r"^focuss", "focus"),
    (r"^orientated$", "oriented"),
    (r"yogh(?:o)?urt", "yogurt"),
    (r"^adrenalin$", "adrenaline"),
    (r"^(homo|hetero)logue", r"\1log"),
    (r"ph(?:oe|e)nix", "phenix"),
))
_ANY_RULE = re.compile("|".join(f"(?:{pattern.pattern})" for pattern, _ in _RULES))
#: In a short word "ae" and "oe" are part of another word too often: "loess" is not "less".
_SHORT_RULES = tuple(rule for rule in _RULES if "[ao]e" not in rule[0].pattern)

_NEGATING = ("a", "an", "un", "in", "im", "il", "ir", "non", "dis", "de", "anti", "mis")
_PREFIXES = (
    ("hypo", "hyper"), ("inter", "intra"), ("ante", "anti"), ("pre", "pro"), ("pre", "per"), ("pro", "per"),
    ("ab", "ad"), ("af", "ef"), ("endo", "ecto"), ("endo", "exo"), ("macro", "micro"), ("im", "em"), ("in", "un"),
    ("para", "peri"), ("supra", "infra"), ("sub", "sup"), ("ortho", "patho"), ("oligo", "poly"), ("up", "down"),
)
_SUFFIXES = (
    "aemia emia uria", "itis osis asis", "ectomy otomy ostomy tomy stomy", "phagia phasia plasia plegia pnea",
    "gen gon gram graph", "cyte cide", "trophy tropy", "ate ite ide ine ane ene yne one ol al yl in ase ose",
    "ic ous", "er or ed", "able ably ible",
)
_FAMILIES = tuple(tuple(family.split()) for family in _SUFFIXES)
_LONGEST_PREFIX = max(len(prefix) for pair in _PREFIXES for prefix in pair)
_ENDING_PAIRS = frozenset((one, other) for family in _FAMILIES for one in family for other in family if one != other)
_LONGEST_ENDING = max(len(ending) for family in _FAMILIES for ending in family)
_ENDINGS = ("s", "es", "ed", "d", "ing", "ly", "al", "ally", "er", "ers")


@lru_cache(maxsize=50_000)
def american(word: str) -> str:
    """The word in a form in which British and American spellings are equal; not always a real word."""
    if _ANY_RULE.search(word):
        for pattern, new in _RULES if len(word) > 5 else _SHORT_RULES:
            word = pattern.sub(new, word)
    return word


def same_spelled(one: str, other: str) -> bool:
    """Whether both are the same word in British and American spelling."""
    return Levenshtein.distance(one, other, score_cutoff=4) < 5 and american(one) == american(other)


def is_typo(written: str, meant: str, vocabulary: Container[str] = frozenset()) -> bool:
    """Whether `written` is a slip for `meant`: one letter changed, lost, added or two swapped in a long word.

    `vocabulary` holds further words that are no slips, such as those of the source and of the corpus.
    """
    if len(meant) < LONG_WORD or len(written) < LONG_WORD - 1 or not (written.isalpha() and meant.isalpha()):
        return False
    if OSA.distance(written, meant, score_cutoff=1) > 1:
        return False
    return not (written in vocabulary or _is_word(written) or _are_counterparts(written, meant))


@lru_cache(maxsize=20_000)
def _is_word(word: str) -> bool:
    """Whether the word, or what it is plainly built from, is in the word list."""
    words = known_words()
    if word in words:
        return True
    return any(word.endswith(e) and len(word) - len(e) >= 4 and word[: -len(e)] in words for e in _ENDINGS)


def _are_counterparts(one: str, other: str) -> bool:
    """Whether only a prefix or an ending that carries meaning tells the words apart."""
    if one[:_LONGEST_PREFIX] != other[:_LONGEST_PREFIX]:
        for prefix in _NEGATING:
            if prefix + one == other or prefix + other == one:
                return True
        for first, second in _PREFIXES:
            for left, right in ((one, other), (other, one)):
                if left.startswith(first) and right.startswith(second) and left[len(first):] == right[len(second):]:
                    return True
    stem = Prefix.similarity(one, other)
    return any((one[cut:], other[cut:]) in _ENDING_PAIRS for cut in range(max(0, stem - _LONGEST_ENDING), stem + 1))
