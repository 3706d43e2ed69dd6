"""Temperature and class offsets, fitted on dev rows so that a stated probability is one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from training.network import loss_towards
from training.pairs import LABELS, Pair

#: Offsets are shrunk towards zero: dev rows are few and their class shares are not those of use.
OFFSET_PENALTY = 0.05


@dataclass(frozen=True)
class Calibration:
    """logits / temperature + bias → softmax."""

    temperature: float
    bias: tuple[float, ...]

    def apply(self, logits: np.ndarray) -> np.ndarray:
        scaled = logits.astype(np.float64) / self.temperature + np.asarray(self.bias)
        weights = np.exp(scaled - scaled.max(axis=1, keepdims=True))
        return weights / weights.sum(axis=1, keepdims=True)


def fit_calibration(logits: np.ndarray, pairs: list[Pair]) -> Calibration:
    """Minimise the dev loss over one temperature and four offsets; every source weighs the same."""
    allowed = torch.tensor([[label in pair.targets for label in LABELS] for pair in pairs])
    counts = {source: sum(p.source == source for p in pairs) for source in {p.source for p in pairs}}
    weights = torch.tensor([1.0 / counts[pair.source] for pair in pairs], dtype=torch.float64)
    values = torch.tensor(logits, dtype=torch.float64)
    log_temperature = torch.zeros((), dtype=torch.float64, requires_grad=True)
    bias = torch.zeros(len(LABELS), dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([log_temperature, bias], max_iter=200, line_search_fn="strong_wolfe")

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        losses = loss_towards(values / log_temperature.exp() + bias, allowed)
        total = (losses * weights).sum() / weights.sum() + OFFSET_PENALTY * (bias**2).sum()
        total.backward()
        return total

    optimizer.step(closure)
    centred = bias.detach() - bias.detach().mean()
    return Calibration(float(log_temperature.exp().detach()), tuple(float(value) for value in centred))
