"""The training loop: length-bucketed batches, warm-up and linear decay, checkpoints, resuming."""

from __future__ import annotations

import json
import random
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from tokenizers import Encoding, Tokenizer
from torch import Tensor

from training.network import JudgeNetwork, loss_towards, open_tokenizer
from training.pairs import LABELS, Pair


@dataclass(frozen=True)
class Plan:
    """Everything that decides a run; the same plan and pairs give the same batches."""

    name: str
    epochs: float
    max_tokens: int
    learning_rate: float
    final_share: float = 0.1
    warmup_steps: int = 100
    tokens_per_batch: int = 1536
    rows_per_batch: int = 32
    seed: int = 13
    minutes_between_checkpoints: float = 3.0
    threads: int = 2
    #: Matrix products in bfloat16; weights, optimizer and evaluation stay in single precision.
    brain_floats: bool = torch.cpu._is_amx_tile_supported()
    #: The same for the scores of a checkpoint, where a network is too large to score in single precision.
    brain_scores: bool = False


@dataclass(frozen=True)
class Encoded:
    """One tokenised pair."""

    ids: list[int]
    types: list[int]
    allowed: tuple[bool, ...]


def encode(pairs: list[Pair], tokenizer: Tokenizer) -> list[Encoded]:
    """Tokenise claim and evidence as one sequence each."""
    encodings = tokenizer.encode_batch([(pair.claim, pair.evidence) for pair in pairs])
    return [
        Encoded(e.ids, _segments(e), tuple(label in pair.targets for label in LABELS))
        for e, pair in zip(encodings, pairs, strict=True)
    ]


def _segments(encoding: Encoding) -> list[int]:
    """0 up to the evidence, 1 from its first token on, whether or not the base's tokenizer says so itself."""
    sequences = encoding.sequence_ids
    start = sequences.index(1) if 1 in sequences else len(sequences)
    return [int(place >= start) for place in range(len(sequences))]


def plan_batches(lengths: list[int], plan: Plan, epoch: int) -> list[list[int]]:
    """Row numbers per batch: shuffled, then grouped by length inside large chunks."""
    shuffler = random.Random(plan.seed * 1000 + epoch)
    order = list(range(len(lengths)))
    shuffler.shuffle(order)
    batches: list[list[int]] = []
    for start in range(0, len(order), 2048):
        chunk = sorted(order[start : start + 2048], key=lambda row: lengths[row])
        batches.extend(_cut(chunk, lengths, plan))
    shuffler.shuffle(batches)
    return batches


def _cut(chunk: list[int], lengths: list[int], plan: Plan) -> list[list[int]]:
    batches: list[list[int]] = [[]]
    for row in chunk:
        full = len(batches[-1]) >= plan.rows_per_batch
        if batches[-1] and (full or (len(batches[-1]) + 1) * padded(lengths[row]) > plan.tokens_per_batch):
            batches.append([])
        batches[-1].append(row)
    return batches


def padded(length: int) -> int:
    """Widths in steps of 16: few shapes, so that the matrix library prepares each of them once."""
    return -(-length // 16) * 16


def to_tensors(rows: list[Encoded]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Ids, mask, types and allowed classes, padded to the longest row."""
    width = padded(max(len(row.ids) for row in rows))
    ids = torch.zeros(len(rows), width, dtype=torch.long)
    mask, types = torch.zeros_like(ids), torch.zeros_like(ids)
    for number, row in enumerate(rows):
        length = len(row.ids)
        ids[number, :length] = torch.tensor(row.ids)
        types[number, :length] = torch.tensor(row.types)
        mask[number, :length] = 1
    return ids, mask, types, torch.tensor([row.allowed for row in rows])


def predict_logits(
    network: JudgeNetwork, rows: list[Encoded], batch: int = 32, brain_floats: bool = False
) -> np.ndarray:
    """Logits in the order of `rows`."""
    order = sorted(range(len(rows)), key=lambda row: len(rows[row].ids))
    logits = np.zeros((len(rows), len(LABELS)), dtype=np.float32)
    network.eval()
    with torch.inference_mode(), torch.autocast("cpu", dtype=torch.bfloat16, enabled=brain_floats):
        for start in range(0, len(order), batch):
            chosen = order[start : start + batch]
            ids, mask, types, _ = to_tensors([rows[row] for row in chosen])
            logits[chosen] = network(ids, mask, types).float().numpy()
    return logits


def dev_scores(logits: np.ndarray, pairs: list[Pair]) -> dict[str, float]:
    """Share of dev pairs whose top class is allowed, balanced over the targets of each source, then averaged."""
    by_source: dict[str, dict[frozenset[str], list[bool]]] = defaultdict(lambda: defaultdict(list))
    for row, pair in zip(logits, pairs, strict=True):
        by_source[pair.source][pair.targets].append(LABELS[int(row.argmax())] in pair.targets)
    scores = {
        source: float(np.mean([np.mean(hits) for hits in targets.values()]))
        for source, targets in sorted(by_source.items())
    }
    scores["mean"] = float(np.mean(list(scores.values())))
    return scores


class Run:
    """One resumable training run; its state lives in `<folder>/<plan.name>/`."""

    def __init__(self, plan: Plan, folder: Path, train: list[Pair], dev: list[Pair], base: Path | None = None) -> None:
        torch.manual_seed(plan.seed)
        torch.set_num_threads(plan.threads)
        torch.set_flush_denormal(True)
        self.plan, self.dev_pairs = plan, dev
        self.folder = folder / plan.name
        self.folder.mkdir(parents=True, exist_ok=True)
        tokenizer = open_tokenizer(plan.max_tokens, base)
        self.rows, self.dev_rows = encode(train, tokenizer), encode(dev, tokenizer)
        self.batches = self._all_batches()
        self.network = JudgeNetwork(base)
        self.optimizer = torch.optim.AdamW(self.network.parameters(), lr=plan.learning_rate, weight_decay=0.01, fused=True)
        self.step, self.best = 0, -1.0

    def _all_batches(self) -> list[list[int]]:
        lengths = [len(row.ids) for row in self.rows]
        whole = int(np.ceil(self.plan.epochs))
        batches = [batch for epoch in range(whole) for batch in plan_batches(lengths, self.plan, epoch)]
        return batches[: max(1, round(len(batches) * self.plan.epochs / whole))]

    def start_from(self, weights: Path) -> None:
        """Begin with another run's weights; has no effect on a run that is resumed."""
        self.network.load_state_dict(torch.load(weights, weights_only=True))

    def resume(self) -> bool:
        """Continue from this run's own checkpoint, if there is one."""
        path = self.folder / "checkpoint.pt"
        if not path.exists():
            return False
        state = torch.load(path, weights_only=True)
        self.network.load_state_dict(state["network"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.step, self.best = state["step"], state["best"]
        return True

    def train(self) -> None:
        """Run to the end of the plan, writing checkpoints, the best weights and a log."""
        last, tokens, losses = time.monotonic(), 0, []
        began = last
        while self.step < len(self.batches):
            rows = self.batches[self.step]
            batch = to_tensors([self.rows[row] for row in rows])
            losses.append(self._update(*batch, rows))
            tokens += batch[0].numel()
            if time.monotonic() - last > self.plan.minutes_between_checkpoints * 60:
                self._checkpoint(float(np.mean(losses)), tokens / (time.monotonic() - began))
                last, losses = time.monotonic(), []
        self._checkpoint(float(np.mean(losses)) if losses else 0.0, tokens / (time.monotonic() - began + 1e-9))

    def loss(self, logits: Tensor, allowed: Tensor, rows: list[int]) -> Tensor:
        """Loss of each pair of a batch; `rows` are the pairs' places among the run's pairs."""
        return loss_towards(logits, allowed)

    def _update(self, ids: Tensor, mask: Tensor, types: Tensor, allowed: Tensor, rows: list[int]) -> float:
        self.network.train()
        for group in self.optimizer.param_groups:
            group["lr"] = self.plan.learning_rate * self._rate(self.step)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=self.plan.brain_floats):
            logits = self.network(ids, mask, types)
        losses = self.loss(logits.float(), allowed, rows)
        # A fixed divisor: rows weigh the same in a batch of few long pairs and one of many short ones.
        (losses.sum() / 32).backward()
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.step += 1
        return float(losses.detach().mean())

    def _rate(self, step: int) -> float:
        warm = min(1.0, (step + 1) / self.plan.warmup_steps)
        left = 1.0 - step / len(self.batches)
        return warm * (self.plan.final_share + (1.0 - self.plan.final_share) * left)

    def _checkpoint(self, loss: float, tokens_per_second: float) -> None:
        scores = dev_scores(
            predict_logits(self.network, self.dev_rows, brain_floats=self.plan.brain_scores), self.dev_pairs
        )
        if scores["mean"] > self.best:
            self.best = scores["mean"]
            _save(self.network.state_dict(), self.folder / "best.pt")
        _save(self.network.state_dict(), self.folder / f"step-{self.step}.pt")
        state = {"network": self.network.state_dict(), "optimizer": self.optimizer.state_dict()}
        _save({**state, "step": self.step, "best": self.best}, self.folder / "checkpoint.pt")
        line = {"step": self.step, "of": len(self.batches), "loss": round(loss, 4)}
        rounded = {source: round(score, 3) for source, score in scores.items()}
        entry = {**line, "tokens_per_s": round(tokens_per_second), "dev": rounded, "time": time.strftime("%H:%M:%S")}
        with (self.folder / "log.jsonl").open("a", encoding="utf-8") as log:
            log.write(json.dumps(entry) + "\n")
        print(json.dumps(entry), flush=True)


def _save(state: dict[str, object], path: Path) -> None:
    """Write beside the target and move: an interrupted write leaves the old file whole."""
    temporary = path.with_suffix(".tmp")
    torch.save(state, temporary)
    temporary.replace(path)
