"""The public claim sets, and which of their rows may train, tune or test a judge.

In: `bench/claims_*/open.jsonl` below `LITRAG_BENCH_DIR`. Out: rows of one part. The parts never share a group
(an abstract, an article, a question): where a set's own splits do, the rows in between belong to no part.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

#: Sets with rows that may train a judge whose weights ship.
TRAINABLE = ("scifact", "checkcovid", "checkcovid_abstract", "evidence_inference", "expertqa")
#: Sets that no judge of ours is trained on: they show how it carries over.
UNSEEN = ("healthver", "healthfc", "nli4ct", "covidfact", "covert", "attributionbench")
PARTS = ("train", "dev", "test")

_VERDICTS = {"not_enough": "not_found"}


@dataclass(frozen=True)
class ClaimRow:
    """A labelled claim with the text it is held against; `verdict` is in the judge's words."""

    row_id: str
    claim: str
    evidence: str
    verdict: str
    source: str
    split: str
    group: str
    meta: dict[str, Any] = field(default_factory=dict, compare=False)


def bench_dir() -> Path:
    """The folder with the public data sets (`LITRAG_BENCH_DIR`, default: `shared` beside the repository)."""
    default = Path(__file__).resolve().parents[2] / "shared"
    folder = Path(os.environ.get("LITRAG_BENCH_DIR", default))
    if not (folder / "bench").is_dir():
        raise SystemExit(f"No claim sets in {folder}; set LITRAG_BENCH_DIR to the folder that holds bench/.")
    return folder


def load_claims(source: str, part: str) -> list[ClaimRow]:
    """Rows of `source` that belong to `part` (train, dev or test), in file order."""
    if part not in PARTS:
        raise ValueError(f"part must be one of {PARTS}, got {part!r}")
    path = bench_dir() / "bench" / f"claims_{source}" / "open.jsonl"
    with path.open(encoding="utf-8") as lines:
        rows = [_row(source, json.loads(line)) for line in lines]
    own = {row.row_id: _own_part(row) for row in rows}
    parts: dict[str, set[str]] = {}
    for row in rows:
        parts.setdefault(row.group, set()).add(own[row.row_id])
    # A later part keeps its rows; an earlier one gives up groups that it shares.
    later = {"train": {"dev", "test"}, "dev": {"test"}, "test": set()}[part]
    return [row for row in rows if own[row.row_id] == part and not parts[row.group] & later]


def share(*parts: str) -> float:
    """A number in [0, 1) that depends only on `parts`."""
    return int.from_bytes(hashlib.sha256("\x1f".join(parts).encode()).digest()[:8], "big") / 2**64


def _row(source: str, raw: dict[str, Any]) -> ClaimRow:
    verdict = _VERDICTS.get(raw["label"], raw["label"])
    return ClaimRow(
        raw["id"], raw["claim"], raw["evidence"], verdict, source, raw["split"], str(raw["group"]), raw.get("meta", {})
    )


def _own_part(row: ClaimRow) -> str:
    if row.source == "scifact":
        return "test" if row.split == "dev" else _hashed(row, dev=0.2, test=0.0)
    if row.source in ("checkcovid", "checkcovid_abstract", "evidence_inference"):
        return {"validation": "dev"}.get(row.split, row.split)
    if row.source == "expertqa":
        return _hashed(row, dev=0.15, test=0.25)
    return _hashed(row, dev=0.3, test=0.7)


def _hashed(row: ClaimRow, *, dev: float, test: float) -> str:
    place = share("judge-parts", row.source, row.group)
    return "test" if place < test else "dev" if place < test + dev else "train"
