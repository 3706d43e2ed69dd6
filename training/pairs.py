"""A training pair and the label sets it may be trained towards.

The four classes are the verdicts a judge can give on a quote that exists. A source that
only says "not supported" is trained towards the sum of the classes that it allows, so that
two-way and three-way sets can be mixed without inventing labels.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

LABELS = ("supports", "partial", "contradicts", "not_found")
ONLY = {label: frozenset({label}) for label in LABELS}
NOT_SUPPORTS = frozenset({"partial", "contradicts", "not_found"})
NOT_ENOUGH = frozenset({"partial", "not_found"})


@dataclass(frozen=True)
class Pair:
    """A claim, the evidence it is held against, and the labels that would be right."""

    claim: str
    evidence: str
    targets: frozenset[str]
    source: str
    group: str

    @property
    def key(self) -> tuple[str, str]:
        """Identity for deduplication: both texts without case and spacing."""
        return (" ".join(self.claim.lower().split()), " ".join(self.evidence.lower().split()))


def unit_interval(*parts: str) -> float:
    """A number in [0, 1) that depends only on `parts`: splits and samples without a seed."""
    digest = hashlib.sha256("\x1f".join(parts).encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def bench_dir() -> Path:
    """The folder with the public data sets (`LITRAG_BENCH_DIR`, default: beside the repository)."""
    default = Path(__file__).resolve().parents[2] / "shared"
    folder = Path(os.environ.get("LITRAG_BENCH_DIR", default))
    if not folder.is_dir():
        raise SystemExit(f"No data sets at {folder}; set LITRAG_BENCH_DIR to the folder that holds nli/ and bench/.")
    return folder


def training_dir() -> Path:
    """Where checkpoints and logs go (`LITRAG_TRAINING_DIR`, default: the user's cache)."""
    default = Path.home() / ".cache" / "litrag" / "training"
    folder = Path(os.environ.get("LITRAG_TRAINING_DIR", default))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def read_rows(path: Path) -> Iterator[dict[str, object]]:
    """Rows of a .jsonl or .jsonl.gz file."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def deduplicate(pairs: list[Pair]) -> list[Pair]:
    """Drop repeated pairs over the union; a pair with two labels is dropped whole."""
    first: dict[tuple[str, str], Pair] = {}
    disputed: set[tuple[str, str]] = set()
    for pair in pairs:
        seen = first.setdefault(pair.key, pair)
        if not seen.targets & pair.targets:
            disputed.add(pair.key)
    return [pair for key, pair in first.items() if key not in disputed]
