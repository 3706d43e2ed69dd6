"""Claims made from science abstracts: what SciFact's corpus says, in the form that experts' claims have.

In: abstracts of the retrieval corpus that no SciFact claim cites, so none that tunes or tests a judge. "Here we show
that X inhibits Y" becomes "X inhibits Y", is edited as trial claims are, and is held against its own abstract, with or
without the sentence it came from.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from benchmarks.claim_sets import PARTS, load_claims
from litrag.sentences import split
from training.pairs import Pair, bench_dir, read_rows
from training.synthetic import SHARE, Abstract, nearest_siblings, pairs_of

_SHOWN = re.compile(
    r"^(?:(?:Here|Thus|Therefore|Overall|Together|Taken together|In conclusion|In summary|Finally|Furthermore|Moreover|"
    r"Importantly|In addition|Collectively|These|Our|This|The|Using|By|In)\b[^.;]{0,90}?)?\b(?:we|results|data|findings|"
    r"study|studies|observations|analysis|work|experiments)(?: here| also| further| now| therefore| thus)? "
    r"(?:have |strongly |clearly |directly )?(?:show(?:ed|n|s)?|demonstrate[ds]?|report(?:ed)?|f(?:ou|i)nd|"
    r"reveal(?:ed|s)?|establish(?:ed)?|identif(?:y|ied)|conclude[d]?|indicate[ds]?|discover(?:ed)?|observed?|"
    r"determined?|suggest(?:ed|s)?|confirm(?:ed|s)?|provide evidence) that,? (?=\S)",
    re.IGNORECASE,
)
#: Laboratory findings offer fewer places for an edit than trials do, so more of each kind is kept.
_SHARES = SHARE | {"reword": 1.0, "direction": 0.9, "negation": 0.8, "number": 0.6, "added": 0.1, "sibling": 0.3}
_SAID_BEFORE = re.compile(r"\b(?:this|these|those|such|here|our|we|it|they|its|their|the latter)\b", re.IGNORECASE)


def load_science_pairs() -> list[Pair]:
    """All pairs from science abstracts; the choice depends on the texts alone."""
    abstracts = list(science_abstracts())
    siblings = nearest_siblings(abstracts)
    return [pair for a in abstracts for pair in pairs_of(a, siblings.get(a.group), [], "science")]


def science_abstracts() -> Iterator[Abstract]:
    """Abstracts with at least one sentence that states a finding on its own."""
    folder = bench_dir() / "bench" / "retrieval_scifact"
    cited = {str(row["did"]) for row in read_rows(folder / "qrels.jsonl")}
    cited |= {str(row.meta["s2orc_id"]) for part in PARTS for row in load_claims("scifact", part)}
    for row in read_rows(folder / "corpus.jsonl"):
        identity, text = str(row["id"]), str(row["text"])
        if identity in cited:
            continue
        # As in SciFact, the title opens the text: it often says the same in other words.
        sentences = (str(row["title"]), *(text[start:end] for start, end in split(text)))
        stated = {number: claim for number, s in enumerate(sentences) if (claim := statement(s))}
        if stated and len(sentences) >= 4:
            yield Abstract(f"science {identity}", str(row["title"]), sentences, tuple(stated), (), stated, _SHARES)


def statement(sentence: str) -> str | None:
    """The finding that a sentence reports, as a claim of its own; None where it reports none or leans on others."""
    found = _SHOWN.match(sentence)
    if found is None:
        return None
    claim = sentence[found.end() :]
    if not 35 < len(claim) < 220 or _SAID_BEFORE.search(claim):
        return None
    return claim[0].upper() + claim[1:]
