"""The index station: passages on disk by meaning and by words, and the search that joins both.

In: records, then questions. Out: ranked passages; of every score higher is better. An index knows the model and
the corpus that it was made of, and one that doesn't fit them is rebuilt with a message, never searched. LangChain's
FAISS wraps the vectors; it is imported here only, and its way of saving is not used: it runs code when it is opened.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from litrag import storage
from litrag.config import settings
from litrag.contents import Contents, Progress, corpus_hash
from litrag.corpora import Corpus
from litrag.embeddings import PassageEmbeddings, open_embeddings
from litrag.errors import IndexUnusableError, InputError
from litrag.models import Hit, Passage, Record
from litrag.ranking import DEEPER, rank, several_records

if TYPE_CHECKING:
    from langchain_community.vectorstores import FAISS
    from langchain_core.retrievers import BaseRetriever

__all__ = ["Index", "Progress", "build_index", "corpus_hash", "load_index", "open_index"]

log = logging.getLogger(__name__)


class Index:
    """An opened index. It never changes and may be searched from several threads."""

    def __init__(self, name: str, manifest: storage.Manifest, contents: Contents, embeddings: PassageEmbeddings) -> None:
        self.name = name
        self.manifest = manifest
        self.embeddings = embeddings
        self.records: Mapping[str, Record] = {record.record_id: record for record in contents.records}
        self.passages: Sequence[Passage] = contents.passages
        self._contents = contents

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
        vector = np.asarray(self.embeddings.embed_query(question), dtype=np.float32)
        contents = self._contents
        lexical = contents.lexical.scores(question)
        deep = rank(contents.matrix, contents.owners, vector, lexical, DEEPER * k, signs=contents.signs)
        return [Hit(passage=self.passages[one.place], score=one.score, similarity=one.cosine, lexical=one.lexical)
                for one in several_records(deep, contents.owners, k)]

    @cached_property
    def vectorstore(self) -> FAISS:
        """The same vectors as a LangChain vector store: cosine only, without the words."""
        with warnings.catch_warnings():
            # langchain-community says on import that it is no longer developed; requirements.txt pins it.
            warnings.filterwarnings("ignore", message=".*langchain-community.*", category=DeprecationWarning)
            from langchain_community.docstore.in_memory import InMemoryDocstore
            from langchain_community.vectorstores import FAISS
            from langchain_community.vectorstores.utils import DistanceStrategy

        from litrag.retriever import document

        documents = {p.passage_id: document(p, self.records[p.record_id], self.name) for p in self.passages}
        return FAISS(
            self.embeddings, self._contents.vectors, InMemoryDocstore(dict(documents)), dict(enumerate(documents)),
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
    corpus = Corpus.find(name_or_path if name_or_path is not None else settings().corpus, settings().index_dir)
    embeddings = embeddings or open_embeddings()
    try:
        return _open_current(corpus, embeddings)
    except IndexUnusableError:
        with storage.locked(corpus.directory):
            try:
                return _open_current(corpus, embeddings)
            except IndexUnusableError as reason:
                log.warning("Building index %s. %s", corpus.name, reason)
                # Hashed before it is read: what is saved meanwhile must count as a change.
                source_hash = corpus.source_hash()
                return _build(corpus.records(), corpus, embeddings, progress, source_hash)


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
    contents = Contents.load(storage.checked_build(folder, manifest))
    counts = (len(contents.records), len(contents.passages), contents.vectors.d)
    if counts != (manifest.records, manifest.passages, manifest.dimension):
        raise IndexUnusableError(f"{folder / storage.MANIFEST} is of another build; rebuild the index.")
    return Index(folder.name, manifest, contents, embeddings)


def build_index(
    records: Iterable[Record], directory: str | Path, *, embeddings: PassageEmbeddings | None = None,
    progress: Progress | None = None,
) -> Index:
    """Index `records` in `directory`, replacing what was indexed there; a second writer waits."""
    folder = Path(directory)
    with storage.locked(folder):
        return rebuild(tuple(records), folder, embeddings or open_embeddings(), progress)


def rebuild(
    records: Sequence[Record], folder: Path, embeddings: PassageEmbeddings, progress: Progress | None = None,
    beside: Mapping[str, str] | None = None,
) -> Index:
    """Replace what is indexed in `folder`, which the caller has locked; unchanged records aren't embedded again.

    `beside` are further files of the build, by name, that become current together with it.
    """
    try:
        earlier: Contents | None = load_index(folder, embeddings=embeddings)._contents
    except IndexUnusableError:
        earlier = None
    return _build(records, Corpus(folder.name, folder), embeddings, progress, earlier=earlier, beside=beside)


def _open_current(corpus: Corpus, embeddings: PassageEmbeddings) -> Index:
    index = load_index(corpus.directory, embeddings=embeddings)
    if corpus.source is not None and index.manifest.source_hash != corpus.source_hash():
        raise IndexUnusableError(f"{corpus.source} was changed after it was indexed.")
    return index


def _build(
    records: Sequence[Record], corpus: Corpus, embeddings: PassageEmbeddings, progress: Progress | None,
    source_hash: str = "", earlier: Contents | None = None, beside: Mapping[str, str] | None = None,
) -> Index:
    contents = Contents.make(records, embeddings, progress, earlier)
    beside = storage.read_beside(corpus.directory) if beside is None else beside

    def write(build: Path) -> None:
        contents.save(build)
        for name, text in beside.items():
            (build / name).write_text(text, encoding="utf-8")

    def describe(build: str, files: dict[str, str]) -> storage.Manifest:
        return storage.Manifest(
            build=build, model_id=embeddings.model_id, dimension=embeddings.dimension, records=len(records),
            passages=len(contents.passages), corpus_hash=corpus_hash(records), source=str(corpus.source or ""),
            source_hash=source_hash, files=files,
        )

    manifest = storage.write_build(corpus.directory, write, describe)
    if progress:
        progress(1.0, f"{len(records)} records in {len(contents.passages)} passages are ready")
    return Index(corpus.name, manifest, contents, embeddings)
