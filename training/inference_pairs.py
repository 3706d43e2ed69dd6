"""Stage 1: general inference pairs from sets whose licence is stated and permits reuse.

Sets without a stated licence are read only when asked for (`UNSTATED`), non-commercial sets never.
Templated sets are capped, so that "one word changed" does not come to mean "contradicts".
"""

from __future__ import annotations

from pathlib import Path

from training.pairs import NOT_ENOUGH, NOT_SUPPORTS, ONLY, Pair, bench_dir, deduplicate, read_rows, unit_interval

TARGETS = {
    "supports": ONLY["supports"],
    "contradicts": ONLY["contradicts"],
    "not_enough": NOT_ENOUGH,
    "not_supports": NOT_SUPPORTS,
}

# How many pairs of each set are used; None takes all of them.
CAPS: dict[str, int | None] = {
    "fever_dev": None,
    "fever_symmetric": None,
    "fm2": None,
    "vitaminc_small": None,
    "mnli_dev_m": None,
    "mnli_dev_mm_1k": None,
    "mnli_lifelong": None,
    "negation_mnli_snli": None,
    "negation_rte": None,
    "wice": None,
    "cad_snli": None,
    "snli_dev_test": 14000,
    "conjnli": 3600,
    "med_monotonicity": 2000,
    "breaking_nli": 2000,
    "scone": 1200,
    "hans_regenerated": 1200,
}

#: Their repositories state no licence; what they would add is measured with `inference --unstated`.
UNSTATED: dict[str, int | None] = {
    "lingnli": None,
    "sufficient_facts": None,
    "rte": None,
    "scitail_test": None,
    "ambient": None,
    "climate_fever": 3000,
}

DEV_SETS = ("mnli_dev_m", "fever_dev", "fm2", "snli_dev_test", "cad_snli", "conjnli", "wice")
DEV_SHARE = 0.03
NUMERIC_BONUS = 0.5


def load_inference_pairs(*, unstated: bool = False) -> tuple[list[Pair], list[Pair]]:
    """Stage-1 pairs as (train, dev); all pairs of one premise are on the same side."""
    folder = bench_dir() / "nli"
    sets = CAPS | UNSTATED if unstated else CAPS
    pairs = deduplicate([pair for name, cap in sets.items() for pair in _read_set(folder, name, cap)])
    held = {pair.group for pair in pairs if pair.source in DEV_SETS and _is_dev(pair)}
    dev = [pair for pair in pairs if pair.group in held and pair.source in DEV_SETS]
    return [pair for pair in pairs if pair.group not in held], dev


def _is_dev(pair: Pair) -> bool:
    return unit_interval("inference-dev", pair.group) < DEV_SHARE


def _read_set(folder: Path, name: str, cap: int | None) -> list[Pair]:
    rows = [row for row in read_rows(folder / f"{name}.jsonl.gz") if _usable(name, row)]
    if cap is not None:
        rows = sorted(rows, key=_sampling_order)[:cap]
    return [_pair(name, row) for row in rows]


def _usable(name: str, row: dict[str, object]) -> bool:
    """WiCE's long chunks do not fit stage 1, its single-sentence splits do; disputed rows teach little."""
    if name == "climate_fever":
        return not row["entropy"]
    return name != "wice" or str(row["split"]).startswith("nst_")


def _sampling_order(row: dict[str, object]) -> float:
    """A fixed random order in which pairs with numbers on both sides, and human labels, come earlier."""
    premise, hypothesis = str(row["premise"]), str(row["hypothesis"])
    numeric = all(any(c.isdigit() for c in text) for text in (premise, hypothesis))
    human = row["set"] == "conjnli" and row["split"] == "dev"
    return unit_interval(premise, hypothesis) - (NUMERIC_BONUS if numeric else 0.0) - (2.0 if human else 0.0)


def _pair(name: str, row: dict[str, object]) -> Pair:
    premise, hypothesis = str(row["premise"]), str(row["hypothesis"])
    targets = TARGETS[str(row["label"])]
    if row.get("orig_label") == "partially_supported":
        targets = ONLY["partial"]
    return Pair(hypothesis, premise, targets, name, group=" ".join(premise.lower().split()))
