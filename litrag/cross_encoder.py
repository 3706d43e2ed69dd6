"""Any Hugging Face inference or fact-checking cross-encoder as the model of the local judge.

In: a hub id or a folder. Out: probabilities over supports, partial, contradicts, not_found. The order of the labels
is read from the model's own config; labels that can't be told apart are refused, never guessed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from litrag.config import settings
from litrag.errors import ModelUnavailableError

#: Column of the result (supports, partial, contradicts, not_found) by the words that models use for their labels.
_MEANING = {
    "entailment": 0, "entail": 0, "supports": 0, "support": 0, "supported": 0, "true": 0, "consistent": 0,
    "partial": 1, "partially_supported": 1, "partially supported": 1,
    "contradiction": 2, "contradict": 2, "contradicts": 2, "refutes": 2, "refute": 2, "refuted": 2, "contradicted": 2,
    "neutral": 3, "not_entailment": 3, "not entailment": 3, "not_enough_info": 3, "not enough info": 3, "nei": 3,
    "not_found": 3, "unsupported": 3, "not_supported": 3, "inconsistent": 3, "false": 3,
}


class CrossEncoderModel:
    """A cross-encoder that reads (evidence, claim), as inference models read (premise, hypothesis)."""

    def __init__(self, name: str, encoder: Any, columns: Sequence[int]) -> None:
        self.model_id = f"hf:{name}"
        self._encoder = encoder
        self._columns = tuple(columns)

    @classmethod
    def open(cls, name: str) -> CrossEncoderModel:
        """Load by id or path; ModelUnavailableError says what is missing or what the labels are."""
        from safetensors import SafetensorError
        from sentence_transformers import CrossEncoder

        try:
            encoder = CrossEncoder(name, local_files_only=settings().offline)
        except (OSError, ValueError, RuntimeError, KeyError, SafetensorError) as error:
            raise ModelUnavailableError(
                f"the model {name!r} can't be loaded ({type(error).__name__}: {error}); "
                "give a folder, or an id that is in the local cache or can be reached"
            ) from error
        return cls(name, encoder, columns_of(encoder.config.id2label, name))

    def predict(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        """Probabilities for (claim, evidence) pairs, shape (n, 4); one pair at a time, so that none sways another."""
        rows = np.zeros((len(pairs), 4), dtype=np.float32)
        for place, (claim, evidence) in enumerate(pairs):
            [logits] = self._encoder.predict(
                [(evidence, claim)], activation_fn=_identity(), convert_to_numpy=True, show_progress_bar=False
            )
            values = np.atleast_1d(np.asarray(logits, dtype=np.float64))
            if len(values) == 1:
                supported = 1.0 / (1.0 + np.exp(-values[0]))
                rows[place, 0], rows[place, 3] = supported, 1.0 - supported
                continue
            shares = np.exp(values - values.max())
            for column, share in zip(self._columns, shares / shares.sum(), strict=True):
                rows[place, column] += share
        return rows


def columns_of(id2label: Mapping[int, str], name: str) -> tuple[int, ...]:
    """The result's column for each of the model's labels, in the model's order."""
    labels = [str(id2label[place]).strip().lower() for place in sorted(id2label)]
    if len(labels) == 1:
        return (0,)
    unknown = [label for label in labels if label not in _MEANING]
    columns = tuple(_MEANING.get(label, -1) for label in labels)
    if unknown or 0 not in columns or len(set(columns)) < 2:
        raise ModelUnavailableError(
            f"the labels of {name!r} are {', '.join(labels)}; LitRAG needs names such as entailment, neutral and "
            "contradiction in the model's config (id2label)"
        )
    return columns


def _identity() -> Any:
    from torch import nn

    return nn.Identity()
