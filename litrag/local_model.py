"""The trained cross-encoder that judges without a key: (claim, evidence) → probabilities of four verdicts.

In: pairs of texts, the evidence already cut to the sentences that matter. Out: one row of probabilities per pair, in
the order of `LABELS`, rounded to four decimals. A row depends on its own pair only: pairs are padded to a width that
follows from their own length, never to that of a neighbour. Refuses weights whose checksum is not the recorded one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from litrag.errors import ModelUnavailableError

DEFAULT_PATH = Path(__file__).resolve().parent / "judge_model"
LABELS = ("supports", "partial", "contradicts", "not_found")

_WIDTH_STEP = 16
_BATCH = 4
_DECIMALS = 4

Probabilities = npt.NDArray[np.float32]


@dataclass(frozen=True)
class ModelCard:
    """What `config.json` says of the weights beside it."""

    version: str
    labels: tuple[str, ...]
    max_tokens: int
    temperature: float
    bias: tuple[float, ...]
    sha256: dict[str, str]


class EntailmentModel:
    """The judge's network, loaded once; safe to call from several threads."""

    def __init__(self, card: ModelCard, session: Any, tokenizer: Any) -> None:
        self.card = card
        self._session = session
        self._tokenizer = tokenizer
        self._special = tuple(int(tokenizer.token_to_id(token)) for token in ("[CLS]", "[SEP]", "[PAD]"))

    @classmethod
    def open(cls, path: Path | str | None = None, *, threads: int = 2) -> EntailmentModel:
        """Load the carried model, or the one in the folder `path`.

        Raises ModelUnavailableError when a file is missing, was altered, or can't be run here.
        """
        folder = Path(path) if path is not None else DEFAULT_PATH
        card = read_card(folder)
        for name, expected in card.sha256.items():
            _check(folder / name, expected)
        return cls(card, _open_session(folder / "model.onnx", threads), _open_tokenizer(folder / "tokenizer.json"))

    @property
    def model_id(self) -> str:
        """Name and version of the weights, as stored with every judgement."""
        return f"litrag-judge-{self.card.version}"

    @property
    def version(self) -> str:
        """Changes whenever the weights or their calibration change."""
        return self.card.version

    def predict(self, pairs: Sequence[tuple[str, str]]) -> Probabilities:
        """Probabilities of shape (len(pairs), 4); evidence beyond the token limit is not read."""
        rows = self._encode(pairs)
        logits = np.zeros((len(rows), len(LABELS)), dtype=np.float32)
        for width, places in _by_width(rows).items():
            for start in range(0, len(places), _BATCH):
                chosen = places[start : start + _BATCH]
                logits[chosen] = self._run([rows[place] for place in chosen], width)
        return self._calibrate(logits)

    def token_count(self, claim: str, evidence: str) -> int:
        """How many tokens the pair has, special tokens included, before anything is cut."""
        counts = [len(self._tokenizer.encode(text, add_special_tokens=False).ids) for text in (claim, evidence)]
        return sum(counts) + 3

    def _encode(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[list[int], list[int]]]:
        """Token ids and types; the claim is kept whole as long as it leaves room for evidence."""
        texts = [text for pair in pairs for text in pair]
        ids = [e.ids for e in self._tokenizer.encode_batch(texts, add_special_tokens=False)]
        return [self._join(ids[2 * n], ids[2 * n + 1]) for n in range(len(pairs))]

    def _join(self, claim: list[int], evidence: list[int]) -> tuple[list[int], list[int]]:
        start, stop, _ = self._special
        head = [start, *claim[: self.card.max_tokens // 2], stop]
        tail = [*evidence[: self.card.max_tokens - len(head) - 1], stop]
        return head + tail, [0] * len(head) + [1] * len(tail)

    def _run(self, rows: list[tuple[list[int], list[int]]], width: int) -> npt.NDArray[np.float32]:
        ids = np.full((len(rows), width), self._special[2], dtype=np.int64)
        mask, types = np.zeros_like(ids), np.zeros_like(ids)
        for number, (tokens, kinds) in enumerate(rows):
            ids[number, : len(tokens)] = tokens
            types[number, : len(kinds)] = kinds
            mask[number, : len(tokens)] = 1
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}
        result: npt.NDArray[np.float32] = self._session.run(["logits"], feed)[0]
        return result

    def _calibrate(self, logits: npt.NDArray[np.float32]) -> Probabilities:
        scaled = logits.astype(np.float64) / self.card.temperature + np.asarray(self.card.bias)
        scaled -= scaled.max(axis=1, keepdims=True, initial=-np.inf) if len(scaled) else 0.0
        weights = np.exp(scaled)
        columns = [self.card.labels.index(label) for label in LABELS]
        shares = np.round(weights / weights.sum(axis=1, keepdims=True), _DECIMALS)[:, columns]
        rounded: Probabilities = shares.astype(np.float32)
        return rounded


def read_card(folder: Path) -> ModelCard:
    """`config.json` of a judge model's folder."""
    path = folder / "config.json"
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
        card = ModelCard(
            version=str(raw["version"]), labels=tuple(raw["labels"]), max_tokens=int(raw["max_tokens"]),
            temperature=float(raw["temperature"]), bias=tuple(map(float, raw["bias"])), sha256=dict(raw["sha256"]),
        )
    except OSError as error:
        raise ModelUnavailableError(
            f"No judge model at {folder} ({error.strerror}); reinstall LitRAG or choose another judge."
        ) from error
    except (ValueError, KeyError, TypeError) as error:
        raise ModelUnavailableError(
            f"{path} is not a judge model's configuration ({error!r}); reinstall LitRAG."
        ) from error
    _check_card(card, path)
    return card


def _check_card(card: ModelCard, path: Path) -> None:
    if sorted(card.labels) != sorted(LABELS):
        raise ModelUnavailableError(f"{path} names the labels {card.labels}, expected {LABELS} in any order.")
    if len(card.bias) != len(card.labels) or card.temperature <= 0:
        raise ModelUnavailableError(f"{path} has an impossible calibration: T={card.temperature}, bias={card.bias}.")
    missing = {"model.onnx", "tokenizer.json"} - set(card.sha256)
    if missing:
        raise ModelUnavailableError(f"{path} records no checksum for {', '.join(sorted(missing))}; reinstall LitRAG.")


def _check(path: Path, expected: str) -> None:
    try:
        found = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise ModelUnavailableError(f"{path} can't be read ({error.strerror}); reinstall LitRAG.") from error
    if found != expected:
        raise ModelUnavailableError(
            f"{path} was altered: its SHA-256 is {found[:12]}…, expected {expected[:12]}…; reinstall LitRAG."
        )


def _open_session(path: Path, threads: int) -> Any:
    import onnxruntime
    from onnxruntime.capi.onnxruntime_pybind11_state import Fail, InvalidGraph, InvalidProtobuf, RuntimeException

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # Waiting threads sleep: beside Streamlit or another model, spinning costs more than it saves.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except (Fail, InvalidGraph, InvalidProtobuf, RuntimeException) as error:
        raise ModelUnavailableError(f"onnxruntime can't load {path}: {error}") from error


def _open_tokenizer(path: Path) -> Any:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def _by_width(rows: list[tuple[list[int], list[int]]]) -> dict[int, list[int]]:
    """Places of rows by the width that each is padded to."""
    widths: dict[int, list[int]] = {}
    for place, (tokens, _) in enumerate(rows):
        widths.setdefault(-(-len(tokens) // _WIDTH_STEP) * _WIDTH_STEP, []).append(place)
    return widths
