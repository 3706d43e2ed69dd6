"""The index as a LangChain retriever, for chains and evaluation tools that expect one."""

from __future__ import annotations

from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

from litrag.models import Passage, Record


class PassageRetriever(BaseRetriever):
    """Passages by meaning and words. Score metadata: higher is better."""

    index: Any
    k: int = 12

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        return [
            document(hit.passage, self.index.records[hit.passage.record_id], self.index.name, score=hit.score)
            for hit in self.index.hits(query, self.k)
        ]


def document(passage: Passage, record: Record, source: str, **further: Any) -> Document:
    """A passage as a document; `source` names the corpus, `start` and `end` index the record's text."""
    metadata = {
        "pmid": passage.pmid, "title": record.title, "source": source, "start": passage.start, "end": passage.end,
        "passage_id": passage.passage_id, "record_id": passage.record_id, "section": passage.section, **further,
    }
    return Document(id=passage.passage_id, page_content=passage.text, metadata=metadata)
