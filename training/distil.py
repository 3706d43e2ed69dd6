"""The small network learns from the labels and from what the teacher thinks of the same pairs, and of unlabelled ones.

Three steps: `teacher` (training/teacher.py), `soften` (the teacher's logits of all pairs, kept in a file), `student`
(labels and softened probabilities in one loss; Hinton et al. 2015, "Distilling the knowledge in a neural network").
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch

from benchmarks.claim_sets import load_claims
from litrag.sentences import split
from training.domain_pairs import load_domain_dev
from training.loop import Plan, Run
from training.pairs import LABELS, Pair, deduplicate, training_dir, unit_interval
from training.restore import restore
from training.synthetic import trial_abstracts
from training.teacher import soft_labels, teacher_pairs

ANY = frozenset(LABELS)
#: Rows of these sets lend their claims to pairs that nobody labelled.
LENDING = ("scifact", "checkcovid_abstract", "evidence_inference", "expertqa")
CHUNKS_PER_CLAIM = 3
#: How much the labels weigh beside the teacher.
LABEL_SHARE = 0.4
TEMPERATURE = 2.0


def student_pairs() -> list[Pair]:
    """What the teacher met, and claims against other places of their own abstracts, which bear no label."""
    general, domain = teacher_pairs()
    labelled = deduplicate(general + domain)
    known = {pair.key for pair in labelled}
    return labelled + [pair for pair in deduplicate(list(unlabelled_pairs())) if pair.key not in known]


def unlabelled_pairs() -> Iterator[Pair]:
    """Claims of training rows and conclusions of trial abstracts, against some pairs of sentences of their source."""
    dev = {(row.claim, row.evidence) for source in LENDING for row in load_claims(source, "dev")}
    for source in LENDING:
        for row in load_claims(source, "train"):
            if (row.claim, row.evidence) not in dev:
                yield from _chunks(row.claim, row.evidence, row.group)
    for abstract in trial_abstracts():
        for number in abstract.conclusions[:2]:
            yield from _chunks(abstract.sentences[number], abstract.text(without=number), abstract.group)


def _chunks(claim: str, text: str, group: str) -> Iterator[Pair]:
    spans = split(text)
    chunks = [text[first[0] : second[1]] for first, second in pairwise(spans)]
    chosen = sorted(chunks, key=lambda chunk: unit_interval("chunk", claim, chunk))[:CHUNKS_PER_CLAIM]
    for chunk in chosen:
        yield Pair(claim, chunk, ANY, "unlabelled", group)


def soft_file() -> Path:
    """Where the teacher's logits are kept, with the fingerprint of the pairs that they belong to."""
    return training_dir() / "teacher" / "soft.npz"


def fingerprint(pairs: list[Pair]) -> str:
    """Changes with any pair and with their order."""
    digest = hashlib.sha256()
    for pair in pairs:
        digest.update("\x1f".join((pair.claim, pair.evidence, *sorted(pair.targets))).encode())
    return digest.hexdigest()


def soften(base: Path, weights: str) -> None:
    """Write the teacher's logits of all of the student's pairs."""
    pairs = student_pairs()
    logits = soft_labels(training_dir() / "teacher" / f"{weights}.pt", pairs, base)
    np.savez(soft_file(), logits=logits.astype(np.float16), pairs=fingerprint(pairs))
    print(f"{len(pairs)} pairs softened → {soft_file()}", flush=True)


class StudentRun(Run):
    """A run whose loss is the labels' and the teacher's together."""

    def __init__(self, plan: Plan, folder: Path) -> None:
        pairs = student_pairs()
        kept = np.load(soft_file())
        if str(kept["pairs"]) != fingerprint(pairs):
            raise SystemExit(f"{soft_file()} belongs to other pairs; run `python -m training soften` again.")
        super().__init__(plan, folder, pairs, load_domain_dev())
        logits = torch.from_numpy(kept["logits"].astype(np.float32))
        self.soft = torch.softmax(logits / TEMPERATURE, dim=-1)

    def loss(self, logits: torch.Tensor, allowed: torch.Tensor, rows: list[int]) -> torch.Tensor:
        """Per row: the labels' loss, and the cross-entropy to the teacher's softened probabilities."""
        student = torch.log_softmax(logits / TEMPERATURE, dim=-1)
        teacher = -(self.soft[rows] * student).sum(dim=-1) * TEMPERATURE**2
        share = torch.where(allowed.all(dim=-1), 0.0, LABEL_SHARE)
        return share * super().loss(logits, allowed, rows) + (1 - share) * teacher


def train_student(plan: Plan, *, from_shipped: bool) -> None:
    """Train the small network on labels and on the teacher's opinions."""
    run = StudentRun(plan, training_dir())
    print(f"{len(run.rows)} pairs, {len(run.batches)} steps", flush=True)
    if not run.resume():
        if from_shipped:
            run.network.load_state_dict(restore().state_dict())
        else:
            run.start_from(training_dir() / "inference" / "best.pt")
    run.train()
