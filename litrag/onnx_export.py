"""One-time export of a BERT sentence encoder to ONNX: token ids and mask in, unit vectors out.

Imports torch and transformers, which take seconds; so this is done once and the file is kept.
"""

from __future__ import annotations

import os
import tempfile
import warnings
from pathlib import Path


def export_sentence_encoder(model: Path, target: Path) -> None:
    """Write mean-pooled, normalised `model` to `target`, which appears whole or not at all."""
    import torch
    from transformers import AutoModel

    class Encoder(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.bert = AutoModel.from_pretrained(str(model), local_files_only=True, attn_implementation="eager")

        def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
            states = self.bert(
                input_ids=ids, attention_mask=mask, token_type_ids=torch.zeros_like(ids)
            ).last_hidden_state
            weights = mask.unsqueeze(-1).to(states.dtype)
            mean = (states * weights).sum(1) / weights.sum(1).clamp(min=1e-9)
            return torch.nn.functional.normalize(mean, dim=1)

    example = torch.ones((2, 7), dtype=torch.long)
    shape = {0: "texts", 1: "tokens"}
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, aside = tempfile.mkstemp(dir=target.parent, suffix=".onnx.part")
    os.close(handle)
    try:
        with torch.no_grad(), warnings.catch_warnings():
            # Tracing warns of branches that are the same for every input, and of its own age.
            warnings.simplefilter("ignore")
            torch.onnx.export(
                Encoder().eval(), (example, torch.ones_like(example)), aside, dynamo=False, opset_version=17,
                input_names=["ids", "mask"], output_names=["vectors"],
                dynamic_axes={"ids": shape, "mask": shape, "vectors": {0: "texts"}},
            )
        os.replace(aside, target)
    finally:
        Path(aside).unlink(missing_ok=True)
