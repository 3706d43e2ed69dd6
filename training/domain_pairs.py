"""Stage 2: medical claims against the sentences that decide them.

Only rows whose licence permits weights that ship, and of those only the training part. Evidence is always cut by
`litrag.evidence.select_window`, the function that cuts it in use, so that the model meets in training what it will
meet later. Expert rows are shown with several windows; the annotated sentences are one of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from benchmarks.claim_sets import TRAINABLE, ClaimRow, load_claims
from litrag.evidence import select_window, window_text
from training.edits import CONTRADICTING, OVERREACHING, PRESERVING
from training.inference_pairs import load_inference_pairs
from training.pairs import NOT_ENOUGH, ONLY, Pair, bench_dir, deduplicate, read_rows, unit_interval
from training.science import load_science_pairs
from training.synthetic import load_synthetic_pairs

#: Window sizes (in sentences) with which each row of a set is shown; others are shown once, with four.
REPEATS = {"scifact": (4, 3), "checkcovid_abstract": (4, 3), "evidence_inference": (4,), "expertqa": (4,)}
REPLAYED = {
    "mnli_dev_m": 6000,
    "fever_dev": 5000,
    "fm2": 2400,
    "cad_snli": 2000,
    "conjnli": 1500,
    "negation_mnli_snli": 1500,
    "fever_symmetric": 1000,
    "wice": 600,
    "breaking_nli": 500,
    "vitaminc_small": 400,
}
EDITED = ("scifact", "checkcovid", "checkcovid_abstract")
PUBMEDQA_DEV_SHARE = 0.15


def load_domain_pairs() -> tuple[list[Pair], list[Pair]]:
    """Stage-2 pairs as (train, dev)."""
    train = [pair for source in TRAINABLE for row in load_claims(source, "train") for pair in expert_pairs(row)]
    train += [pair for row in load_claims("evidence_inference", "train") for pair in trial_relations(row)]
    train += [pair for row in load_claims("scifact", "train") for pair in unrelated_part(row)]
    train += [pair for source in EDITED for row in load_claims(source, "train") for pair in edited_claims(row)]
    train += list(exchanged_abstracts("checkcovid_abstract"))
    train += [pair for pair in pubmedqa_pairs() if not _is_dev(pair)]
    train += list(wice_pairs()) + load_synthetic_pairs() + load_science_pairs() + replayed_pairs()
    dev = load_domain_dev()
    held = {pair.key for pair in dev}
    return [pair for pair in deduplicate(train) if pair.key not in held], dev


def load_domain_dev() -> list[Pair]:
    """Expert rows of the dev part as the judge will see them: one window each."""
    rows = [row for source in TRAINABLE for row in load_claims(source, "dev")]
    return [dev_pair(row) for row in rows] + [pair for pair in pubmedqa_pairs() if _is_dev(pair)]


def dev_pair(row: ClaimRow) -> Pair:
    """A row as the judge will see it."""
    return Pair(row.claim, cut(row.claim, row.evidence), ONLY[row.verdict], row.source, row.group)


def cut(claim: str, text: str, sentences: int = 4) -> str:
    """The evidence window as one string."""
    return window_text(text, select_window(claim, text, sentences))


def expert_pairs(row: ClaimRow) -> Iterator[Pair]:
    """A labelled row with windows of several sizes, and with its annotated sentences where they exist."""
    windows = [cut(row.claim, row.evidence, size) for size in REPEATS.get(row.source, (4,))]
    rationale = row.meta.get("rationale") or row.meta.get("evidence_span") or []
    gold = [rationale] if isinstance(rationale, str) else list(rationale)
    if gold:
        windows.append(" ".join(gold[:3]))
        if not _contains(windows[0], gold):
            # The window misses what decides: the label would teach guessing, so the sentence is put in.
            windows[0] = f"{gold[0]} {windows[1] if len(windows) > 2 else ''}".strip()
            windows = [windows[0], windows[-1]]
    for window in windows:
        yield Pair(row.claim, window, ONLY[row.verdict], row.source, row.group)


def _contains(window: str, gold: list[str]) -> bool:
    plain = re.sub(r"\W+", "", window.lower())
    return any(re.sub(r"\W+", "", sentence.lower())[-60:] in plain for sentence in gold)


_RELATIONS = {
    "significantly increased": (
        "{I} significantly increased {O} compared with {C}.",
        "{O} was significantly higher with {I} than with {C}.",
        "Compared with {C}, {I} led to higher {O}.",
        "{I} raises {O} relative to {C}.",
    ),
    "significantly decreased": (
        "{I} significantly decreased {O} compared with {C}.",
        "{O} was significantly lower with {I} than with {C}.",
        "Compared with {C}, {I} led to lower {O}.",
        "{I} reduces {O} relative to {C}.",
    ),
    "no significant difference": (
        "There was no significant difference in {O} between {I} and {C}.",
        "{I} and {C} did not differ significantly in {O}.",
        "{O} was similar with {I} and {C}.",
        "{I} had no significant effect on {O} compared with {C}.",
    ),
}


def trial_relations(row: ClaimRow) -> Iterator[Pair]:
    """Doctors' relation of an intervention, comparator and outcome, stated truly and falsely in several wordings."""
    names = {key: str(row.meta[key]).strip().rstrip(".") for key in "ICO"}
    true = str(row.meta["gold_relation"])
    for relation, wordings in _RELATIONS.items():
        place = unit_interval("relation", row.row_id, relation)
        if relation != true and place > 0.62:
            continue
        count = 2 if relation == true else 1
        for offset in range(count):
            claim = wordings[(int(place * 40) + offset) % len(wordings)].format(**names)
            claim = claim[0].upper() + claim[1:]
            label = "supports" if relation == true else "contradicts"
            window = cut(claim, row.evidence, 4 if offset == 0 else 3)
            span = str(row.meta["evidence_span"])
            if not _contains(window, [span]):
                window = f"{window} {span}"
            yield Pair(claim, window, ONLY[label], "evidence_inference", row.group)


def unrelated_part(row: ClaimRow) -> Iterator[Pair]:
    """SciFact claims that the abstract settles, held against the sentences that do not settle them."""
    gold = row.meta.get("rationale") or []
    if row.verdict not in ("supports", "contradicts") or not gold:
        return
    plain = [re.sub(r"\W+", "", sentence.lower()) for sentence in gold]
    spans = select_window(row.claim, row.evidence, 8)
    rest = [row.evidence[start:end] for start, end in spans]
    rest = [
        s
        for s in rest
        if not any(re.sub(r"\W+", "", s.lower())[-50:] in p or p[-50:] in re.sub(r"\W+", "", s.lower()) for p in plain)
    ]
    if len(rest) >= 2:
        # Sentences that were not annotated may still say part of it.
        yield Pair(row.claim, " ".join(rest[:2]), NOT_ENOUGH, "scifact_rest", row.group)


def edited_claims(row: ClaimRow) -> Iterator[Pair]:
    """A supported expert claim, changed: what was true becomes false, overreaching or stays true."""
    if row.verdict != "supports":
        return
    gold = row.meta.get("rationale") or []
    named = [gold] if isinstance(gold, str) else list(gold)
    pick = unit_interval("edit", row.claim)
    kinds = [(edit, "contradicts", 0.8) for edit in CONTRADICTING.values()]
    kinds += [(edit, "partial", 0.5) for edit in OVERREACHING.values()]
    kinds += [(edit, "supports", 0.6) for edit in PRESERVING.values()]
    for edit, label, keep in kinds:
        changed = edit(row.claim, pick)
        if changed is None or unit_interval("keep", row.source, str(edit.__name__), row.claim) > keep:
            continue
        window = cut(changed, row.evidence, 4 if pick < 0.5 else 3)
        if named and not _contains(window, named):
            window = " ".join(named[:3])
        yield Pair(changed, window, ONLY[label], f"edited_{row.source}", row.group)


def exchanged_abstracts(source: str) -> Iterator[Pair]:
    """Claims against the abstract of another group that shares the most words with them."""
    rows = load_claims(source, "train")
    words = {row.row_id: set(re.findall(r"[a-z]{5,}", row.evidence.lower())) for row in rows}
    for row in rows:
        if unit_interval("exchange", row.row_id) > 0.4:
            continue
        claim = set(re.findall(r"[a-z]{5,}", row.claim.lower()))
        others = [other for other in rows if other.group != row.group and other.claim != row.claim]
        best = max(others, key=lambda other: (len(claim & words[other.row_id]), other.row_id))
        yield Pair(row.claim, cut(row.claim, best.evidence), NOT_ENOUGH, f"exchanged_{source}", row.group)


_POLAR = {"yes": ONLY["supports"], "no": ONLY["contradicts"], "maybe": NOT_ENOUGH}


def pubmedqa_pairs() -> Iterator[Pair]:
    """Questions with the experts' answer, and the authors' conclusion, against the abstract without it."""
    for row in read_rows(bench_dir() / "bench" / "qa_pubmedqa" / "open.jsonl"):
        if row["split"] != "train+dev":
            continue
        question, context, group = str(row["question"]), str(row["context"]), str(row["pmid"])
        yield Pair(question, cut(question, context), _POLAR[str(row["final_decision"])], "pubmedqa", group)
        conclusion = str(row["long_answer"])
        if row["final_decision"] != "maybe" and len(conclusion) < 260:
            yield Pair(conclusion, cut(conclusion, context), ONLY["supports"], "pubmedqa_conclusion", group)


def _is_dev(pair: Pair) -> bool:
    return pair.source.startswith("pubmedqa") and unit_interval("pubmedqa-dev", pair.group) < PUBMEDQA_DEV_SHARE


_WICE = {
    "supported": ONLY["supports"],
    "partially_supported": ONLY["partial"],
    "not_supported": frozenset({"not_found", "contradicts"}),
}


def wice_pairs() -> Iterator[Pair]:
    """Wikipedia claims against windows of the pages they cite: the largest licensed source of `partial`."""
    for row in read_rows(bench_dir() / "nli" / "wice.jsonl.gz"):
        if str(row["split"]).startswith("nst_"):
            continue
        claim, premise = str(row["hypothesis"]), str(row["premise"])
        yield Pair(claim, cut(claim, premise, 3), _WICE[str(row["orig_label"])], "wice_chunks", claim.lower())


def replayed_pairs() -> list[Pair]:
    """Some of stage 1 again, so that inference in general is not unlearned."""
    general, _ = load_inference_pairs()
    chosen: list[Pair] = []
    for source, count in REPLAYED.items():
        pairs = [pair for pair in general if pair.source == source]
        chosen += sorted(pairs, key=lambda pair: unit_interval("replay", *pair.key))[:count]
    return chosen
