"""The index station: passages on disk by meaning and by words, and the search that joins both.

In: records, then questions. Out: ranked passages; of every score higher is better. An index knows the model and
the corpus that it was made of, and one that doesn't fit them is rebuilt with a message, never searched. LangChain's
FAISS holds the vectors; it is imported here only, and only its search is used: its way of saving runs code when it
is opened, so the folder is `litrag.storage`'s.
"""

from __future__ import annotations

import hashlib
import logging
import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import faiss
import numpy as np

from litrag import storage
from litrag.config import SAMPLE_CORPUS, settings
from litrag.embeddings import PassageEmbeddings, open_embeddings
from litrag.errors import IndexUnusableError, InputError
from litrag.lexical import LexicalIndex
from litrag.models import Hit, Passage, Record
from litrag.passages import embedded_text, embedded_title, passages
from litrag.ranking import Candidates, fuse
from litrag.readers import read_records, source_hash

if TYPE_CHECKING:
    from langchain_community.vectorstores import FAISS
    from langchain_core.retrievers import BaseRetriever

T = TypeVar("T", Record, Passage)

SAMPLE = "sample"
RECORDS, PASSAGES, VECTORS, LEXICAL = "records.jsonl", "passages.jsonl", "vectors.faiss", "lexical"

#: Told the share that is done, 0–1, and what is going on.
Progress = Callable[[float, str], None]

log = logging.getLogger(__name__)


class Index:
    """An opened index. It is immutable and may be searched from several threads."""

    def __init__(
        self, name: str, manifest: storage.Manifest, records: Mapping[str, Record], found: Sequence[Passage],
        *, vectors: Any, lexical: LexicalIndex, embeddings: PassageEmbeddings,
    ) -> None:
        self.name = name
        self.manifest = manifest
        self.records = records
        self.passages = tuple(found)
        self.embeddings = embeddings
        self._vectors = vectors
        self._lexical = lexical

    @property
    def corpus_hash(self) -> str:
        return self.manifest.corpus_hash

    def search(self, question: str, k: int = 12) -> list[tuple[Passage, float]]:
        """The best `k` passages at most, each with its score: 0–1, higher is better."""
        return [(hit.passage, hit.score) for hit in self.hits(question, k)]

    def hits(self, question: str, k: int = 12) -> list[Hit]:
        """The best `k` passages at most, best first, with the cosine and the lexical score behind each score."""
        if k < 1:
            raise InputError(f"The number of passages must be 1 or more, got {k}.")
        if not question.strip():
            raise InputError("The question is empty; ask one.")
        vector = np.asarray([self.embeddings.embed_query(question)], dtype=np.float32)
        candidates = Candidates.gather(self._vectors, vector, self._lexical.scores(question))
        ranked = fuse(candidates)[:k]
        return [Hit(passage=self.passages[place], score=score, similarity=cosine, lexical=lexical)
                for place, score, cosine, lexical in ranked]

    @cached_property
    def vectorstore(self) -> FAISS:
        """The same vectors as a LangChain vector store: cosine only, without the words."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*langchain-community.*", category=DeprecationWarning)
            from langchain_community.docstore.in_memory import InMemoryDocstore
            from langchain_community.vectorstores import FAISS
            from langchain_community.vectorstores.utils import DistanceStrategy

        from litrag.retriever import document

        documents = {p.passage_id: document(p, self.records[p.record_id], self.name) for p in self.passages}
        return FAISS(
            self.embeddings, self._vectors, InMemoryDocstore(dict(documents)), dict(enumerate(documents)),
            distance_strategy=DistanceStrategy.MAX_INNER_PRODUCT,
        )

    def as_retriever(self, k: int = 12) -> BaseRetriever:
        """A LangChain retriever whose documents carry pmid, title, source, start and end."""
        from litrag.retriever import PassageRetriever

        return PassageRetriever(index=self, k=k)


def open_index(
    name_or_path: str | Path | None = None, *, embeddings: PassageEmbeddings | None = None,
    progress: Progress | None = None,
) -> Index:
    """The index of a corpus by name, or of a file or folder of records, which is read and indexed at need.

    It is rebuilt, and the log says why, when it doesn't fit its records, the embedding model or itself.
    """
    name, source = _corpus(name_or_path if name_or_path is not None else settings().corpus)
    embeddings = embeddings or open_embeddings()
    directory = settings().index_dir / name
    try:
        return _open_current(directory, source, embeddings)
    except IndexUnusableError as error:
        with storage.locked(directory):
            try:
                return _open_current(directory, source, embeddings)
            except IndexUnusableError:
                log.warning("Building index %s: %s", name, error)
                return _rebuild(directory, source, embeddings, progress)


def load_index(directory: str | Path, *, embeddings: PassageEmbeddings | None = None) -> Index:
    """The index in `directory` as it is; IndexUnusableError when it is damaged or fits another model."""
    folder = Path(directory)
    embeddings = embeddings or open_embeddings()
    manifest = storage.read_manifest(folder)
    if (manifest.model_id, manifest.dimension) != (embeddings.model_id, embeddings.dimension):
        message = (
            f"Index {folder} was made with {manifest.model_id} ({manifest.dimension} numbers per passage), the model "
            f"in use is {embeddings.model_id} ({embeddings.dimension}); rebuild the index or change the model."
        )
        raise IndexUnusableError(message)
    build = storage.checked_build(folder, manifest)
    records = {record.record_id: record for record in _read_lines(build / RECORDS, Record)}
    found = _read_lines(build / PASSAGES, Passage)
    vectors, lexical = faiss.read_index(str(build / VECTORS)), LexicalIndex.load(build / LEXICAL)
    counts = (len(records), len(found), vectors.ntotal, len(lexical), vectors.d)
    if counts != (manifest.records, manifest.passages, manifest.passages, manifest.passages, manifest.dimension):
        raise IndexUnusableError(f"The files of index {folder} don't belong together; rebuild the index.")
    return Index(folder.name, manifest, records, found, vectors=vectors, lexical=lexical, embeddings=embeddings)


def build_index(
    records: Iterable[Record], directory: str | Path, *, embeddings: PassageEmbeddings | None = None,
    progress: Progress | None = None, source: str | Path = "",
) -> Index:
    """Index `records` in `directory`, replacing what was indexed there; a second writer waits."""
    folder = Path(directory)
    with storage.locked(folder):
        return _build(tuple(records), folder, embeddings or open_embeddings(), progress, source)


def corpus_hash(records: Iterable[Record]) -> str:
    """Hash of all that records say; where they were read from doesn't count."""
    texts = sorted(record.model_dump_json(exclude={"origin"}) for record in records)
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()


def _corpus(name_or_path: str | Path) -> tuple[str, Path | None]:
    """Name of the corpus, and its source where it is known."""
    text = str(name_or_path)
    if text == SAMPLE or Path(text).expanduser().resolve() == SAMPLE_CORPUS.resolve():
        return SAMPLE, SAMPLE_CORPUS
    named = re.fullmatch(r"[\w][\w. -]{0,80}", text) is not None
    if named and (settings().index_dir / text / storage.MANIFEST).exists():
        return text, None
    path = Path(text).expanduser()
    if path.exists():
        place = hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:8]
        return f"{re.sub(r'[^A-Za-z0-9]+', '-', path.stem).strip('-') or 'corpus'}-{place}", path
    known = sorted(p.parent.name for p in settings().index_dir.glob(f"*/{storage.MANIFEST}"))
    raise InputError(f"There is no corpus or path {text!r}; known corpora: {', '.join({SAMPLE, *known})}.")


def _open_current(directory: Path, source: Path | None, embeddings: PassageEmbeddings) -> Index:
    index = load_index(directory, embeddings=embeddings)
    if source is not None and index.manifest.source_hash != source_hash(source):
        raise IndexUnusableError(f"{source} was changed after it was indexed")
    return index


def _rebuild(
    directory: Path, source: Path | None, embeddings: PassageEmbeddings, progress: Progress | None,
) -> Index:
    """A new index from the source, or, for a corpus whose source isn't known, from the records stored in the old."""
    if source is None:
        manifest = storage.read_manifest(directory)
        records = _read_lines(storage.checked_build(directory, manifest) / RECORDS, Record)
        return _build(records, directory, embeddings, progress, manifest.source)
    report = read_records(source)
    if not report.records:
        reasons = "; ".join(rejection.in_words() for rejection in report.rejected[:3])
        raise InputError(f"{source} holds no record that can be read. {reasons}".strip())
    for rejection in report.rejected:
        log.warning("Not read: %s", rejection.in_words())
    return _build(report.records, directory, embeddings, progress, source)


def _build(
    records: Sequence[Record], folder: Path, embeddings: PassageEmbeddings, progress: Progress | None,
    source: str | Path,
) -> Index:
    tell = progress or (lambda share, message: None)
    if len({record.record_id for record in records}) != len(records):
        raise InputError("Two records have the same id; every record of an index needs its own.")
    tell(0.0, f"Cutting {len(records)} records into passages")
    found = [(record, passage) for record in records for passage in passages(record, embeddings)]
    if not found:
        raise InputError("None of the records has an abstract, so there is nothing to index; add records with text.")
    titles = {record.record_id: embedded_title(record, embeddings) for record in records}
    tell(0.05, f"Embedding {len(found)} passages")
    matrix = embeddings.embed(
        [embedded_text(titles[record.record_id], passage.text) for record, passage in found],
        lambda done, total: tell(0.05 + 0.85 * done / total, f"Embedded {done} of {total} passages"),
    )
    vectors = faiss.IndexFlatIP(embeddings.dimension)
    vectors.add(matrix)
    tell(0.9, "Indexing words")
    lexical = LexicalIndex.build([f"{record.title}\n{passage.text}" for record, passage in found])

    def write(aside: Path) -> None:
        _write_lines(aside / RECORDS, records)
        _write_lines(aside / PASSAGES, [passage for _, passage in found])
        faiss.write_index(vectors, str(aside / VECTORS))
        lexical.save(aside / LEXICAL)

    def describe(build: str, files: dict[str, str]) -> storage.Manifest:
        return storage.Manifest(
            build=build, model_id=embeddings.model_id, dimension=embeddings.dimension, records=len(records),
            passages=len(found), corpus_hash=corpus_hash(records), source=str(source),
            source_hash=source_hash(Path(source)) if source and Path(source).exists() else "", files=files,
        )

    manifest = storage.write_build(folder, write, describe)
    tell(1.0, f"{len(records)} records in {len(found)} passages are ready")
    return Index(folder.name, manifest, {record.record_id: record for record in records},
                 [passage for _, passage in found], vectors=vectors, lexical=lexical, embeddings=embeddings)


def _write_lines(path: Path, values: Iterable[Record | Passage]) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(value.model_dump_json() + "\n" for value in values)


def _read_lines(path: Path, kind: type[T]) -> list[T]:
    with path.open(encoding="utf-8", newline="\n") as lines:
        return [kind.model_validate_json(line) for line in lines]
