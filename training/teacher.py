"""A larger network that teaches the small one: MPNet (12 layers, 768 wide) on both stages' pairs in one run.

The product is too small a place for it (438 MB), but what it thinks of a pair says more than one label: which wrong
class is nearly right, and how sure one can be. Hinton et al. 2015, "Distilling the knowledge in a neural network".
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from training.domain_pairs import load_domain_dev, load_domain_pairs
from training.inference_pairs import load_inference_pairs
from training.loop import Plan, Run, encode, plan_batches, predict_logits
from training.network import JudgeNetwork, open_tokenizer
from training.pairs import Pair, training_dir, unit_interval

#: Lower layers keep what pre-training taught them: a third less time per step.
FROZEN_LAYERS = 4
#: Shares of general sets: of captions and templates, which teach little about findings, only a part.
KEPT = {"snli_dev_test": 0.25, "cad_snli": 0.35, "fever_dev": 0.5, "conjnli": 0.5, "negation_rte": 0.5}
LEFT_OUT = ("med_monotonicity", "scone", "hans_regenerated")


def teacher_pairs() -> tuple[list[Pair], list[Pair]]:
    """General pairs and medical pairs, in the order in which the teacher meets them."""
    general, _ = load_inference_pairs()
    kept = [pair for pair in general if unit_interval("teacher", *pair.key) < KEPT.get(pair.source, 1.0)]
    replayed = {pair.key for pair in general}
    domain, _ = load_domain_pairs()
    return [p for p in kept if p.source not in LEFT_OUT], [p for p in domain if p.key not in replayed]


class TeacherRun(Run):
    """First the general pairs, then the medical ones, under one falling learning rate."""

    def __init__(self, plan: Plan, folder: Path, base: Path) -> None:
        self.general, domain = teacher_pairs()
        super().__init__(plan, folder, self.general + domain, load_domain_dev(), base)
        for layer in self.network.encoder.encoder.layer[:FROZEN_LAYERS]:
            layer.requires_grad_(False)

    def _all_batches(self) -> list[list[int]]:
        split = len(self.general)
        lengths = [len(row.ids) for row in self.rows]
        first = plan_batches(lengths[:split], self.plan, 0)
        second = plan_batches(lengths[split:], replace(self.plan, rows_per_batch=32), 1)
        return first + [[row + split for row in batch] for batch in second]


def soft_labels(weights: Path, pairs: list[Pair], base: Path, max_tokens: int = 256) -> np.ndarray:
    """The teacher's logits for `pairs`, shape (pairs, 4)."""
    network = JudgeNetwork(base)
    network.load_state_dict(torch.load(weights, weights_only=True))
    rows = encode(pairs, open_tokenizer(max_tokens, base))
    return predict_logits(network, rows, brain_floats=torch.cpu._is_amx_tile_supported())


def train_teacher(base: Path, threads: int) -> None:
    """Train or go on training; checkpoints are in `<training dir>/teacher`."""
    plan = Plan(
        "teacher",
        epochs=1,
        max_tokens=256,
        learning_rate=5e-5,
        final_share=0.05,
        tokens_per_batch=3072,
        rows_per_batch=48,
        minutes_between_checkpoints=8.0,
        threads=threads,
        brain_scores=True,
    )
    run = TeacherRun(plan, training_dir(), base)
    print(f"{len(run.rows)} pairs, {len(run.batches)} steps, resumed: {run.resume()}", flush=True)
    run.train()
