"""LitRAG's corpus, embeddings and FAISS under LlamaIndex's `CitationQueryEngine`, and its answers under LitRAG's grounding.

    pip install -r requirements-llamaindex.txt
    python -m examples.llamaindex_variant "Does semaglutide protect the kidneys?"

LlamaIndex retrieves, cuts the passages into "Source N:" blocks and puts them to a model; here that is LitRAG's
extractive generator behind LlamaIndex's LLM interface, so that no key and no network is needed. The answer's [n] are
led back to records, and every sentence goes as claim and as quote through `litrag.verify`.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from typing import Any

import faiss
from llama_index.core import StorageContext, VectorStoreIndex
from llama_index.core.base.response.schema import Response
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.llms import CompletionResponse, CompletionResponseGen, CustomLLM, LLMMetadata
from llama_index.core.llms.callbacks import llm_completion_callback
from llama_index.core.query_engine import CitationQueryEngine
from llama_index.core.schema import TextNode
from llama_index.vector_stores.faiss import FaissVectorStore

import litrag
from litrag.citations import parse_cited_text
from litrag.config import settings
from litrag.embeddings import PassageEmbeddings
from litrag.extractive import ExtractiveGenerator
from litrag.grounding import ClaimInput
from litrag.index import Index
from litrag.models import AuditedAnswer, Hit, Judge, Passage, Record
from litrag.passages import embedded_title

#: Tokens that the model takes: enough for all passages of a question, so that the synthesizer asks only once.
CONTEXT_WINDOW = 8192
CITATION_CHUNK_SIZE = 512  # LlamaIndex's own default, in tokens of its tokenizer
#: What the engine's prompts put before and behind the sources.
FENCE = "\n------\n"
_SOURCE = re.compile(r"^Source (\d+):\n", re.MULTILINE)
_QUESTION = re.compile(r"Query: (.*)\nAnswer:", re.DOTALL)
_EXISTING = re.compile(r"We have provided an existing answer: (.*?)Below are several numbered sources", re.DOTALL)


class PassageVectors(BaseEmbedding):
    """LitRAG's embedding model through LlamaIndex's interface."""

    _model: PassageEmbeddings = PrivateAttr()

    def __init__(self, model: PassageEmbeddings) -> None:
        super().__init__(model_name=model.model_id, embed_batch_size=256)
        self._model = model

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._model.embed_query(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return self._model.embed_documents(texts)


class ExtractiveLLM(CustomLLM):
    """Answers the engine's prompt with sentences of its numbered sources, each followed by [n].

    All it knows is the prompt, as any model: text in front of the first "Source N:" belongs to no number and is left out.
    """

    context_window: int = CONTEXT_WINDOW
    _generator: ExtractiveGenerator = PrivateAttr()

    def __init__(self, model: PassageEmbeddings, **fields: Any) -> None:
        super().__init__(**fields)
        self._generator = ExtractiveGenerator(model, max_claims=settings().max_claims)

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(context_window=self.context_window, num_output=512, model_name="extractive")

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        question, existing, blocks = read_prompt(prompt)
        records = {number: Record(record_id=number, title="", text=text) for number, text in blocks.items()}
        hits = [Hit(passage=record.as_passage(), score=1.0) for record in records.values()]
        draft = self._generator.generate(question, hits, records)
        number_of = {hit.passage.passage_id: hit.passage.record_id for hit in hits}
        said = [_cited(c.quote or "", number_of[c.passage_id]) for s in draft.statements for c in s.citations]
        if draft.abstention and not existing:
            return CompletionResponse(text=draft.abstention.reason)
        return CompletionResponse(text=" ".join([*([existing] if existing else []), *said]))

    @llm_completion_callback()
    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseGen:
        whole = self.complete(prompt, formatted=formatted, **kwargs)
        yield CompletionResponse(text=whole.text, delta=whole.text)


def read_prompt(prompt: str) -> tuple[str, str, dict[str, str]]:
    """Question, existing answer and numbered texts of a prompt of `CitationQueryEngine`; ValueError for any other."""
    _, opened, rest = prompt.partition(FENCE)
    context, closed, end = rest.rpartition(FENCE)
    question, existing = _QUESTION.search(end), _EXISTING.search(prompt)
    if not (opened and closed and question):
        raise ValueError(f"not a prompt with numbered sources and a query: {prompt[:80]!r}")
    _, *pieces = _SOURCE.split(context)
    blocks: dict[str, str] = {}
    for number, text in zip(pieces[::2], pieces[1::2], strict=True):
        blocks[number] = f"{blocks[number]}\n{text.strip()}" if number in blocks else text.strip()
    return question[1].strip(), existing[1].strip() if existing else "", blocks


def _cited(sentence: str, number: str) -> str:
    return f"{sentence[:-1]} [{number}]{sentence[-1]}" if sentence.endswith((".", "!", "?")) else f"{sentence} [{number}]."


def nodes_of(index: Index, *, show_title: bool = False) -> list[TextNode]:
    """The index's passages as nodes that LlamaIndex embeds exactly as LitRAG does, the title in front.

    A node's metadata would stand in the prompt in front of its "Source N:" line, so that a model reads them as the end
    of the source before: they are hidden unless `show_title`.
    """
    hidden = [] if show_title else ["title"]
    return [_node(passage, index.records[passage.record_id], index.embeddings, hidden) for passage in index.passages]


def _node(passage: Passage, record: Record, model: PassageEmbeddings, hidden: list[str]) -> TextNode:
    return TextNode(
        id_=passage.passage_id, text=passage.text,
        metadata={"title": embedded_title(record, model), "record_id": record.record_id, "pmid": record.pmid or ""},
        excluded_embed_metadata_keys=["record_id", "pmid"], excluded_llm_metadata_keys=["record_id", "pmid", *hidden],
        metadata_template="{value}", text_template="{metadata_str}\n{content}",
    )


def open_engine(
    index: Index, nodes: Sequence[TextNode] | None = None, *, k: int | None = None,
    citation_chunk_size: int = CITATION_CHUNK_SIZE, context_window: int = CONTEXT_WINDOW,
) -> CitationQueryEngine:
    """LlamaIndex's engine over the passages of `index`, or over `nodes`: the `k` nearest by cosine, in a FAISS of its own.

    Nodes need `record_id` and `pmid` among their metadata. `citation_chunk_size` is in tokens of LlamaIndex's tokenizer.
    """
    vectors = FaissVectorStore(faiss_index=faiss.IndexFlatIP(index.embeddings.dimension))
    store = VectorStoreIndex(
        nodes_of(index) if nodes is None else list(nodes), storage_context=StorageContext.from_defaults(vector_store=vectors),
        embed_model=PassageVectors(index.embeddings),
    )
    return CitationQueryEngine.from_args(
        store, llm=ExtractiveLLM(index.embeddings, context_window=context_window),
        similarity_top_k=k or settings().passages, citation_chunk_size=citation_chunk_size,
    )


def claims_of(response: Response) -> list[ClaimInput]:
    """Each sentence of an answer as a claim that quotes itself from the records behind its [n].

    A number that no source has is no citation: the sentence stays, uncited.
    """
    sources = response.source_nodes
    claims: list[ClaimInput] = []
    for statement in parse_cited_text(response.response or "").statements:
        cited = dict.fromkeys(sources[n - 1].metadata["record_id"] for n in statement.numbers if n <= len(sources))
        claims.append(ClaimInput(
            claim_id=f"c{len(claims) + 1}", text=statement.text,
            citations=tuple((record_id, statement.text) for record_id in cited),
        ))
    return claims


def ask(question: str, engine: CitationQueryEngine, index: Index, judge: Judge | None = None) -> AuditedAnswer:
    """The engine's answer with every sentence located and judged; without a cited sentence it declined."""
    return litrag.verify(claims_of(engine.query(question)), index=index, judge=judge, question=question)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("question")
    parser.add_argument("--corpus", default=settings().corpus)
    options = parser.parse_args()
    index = litrag.open_index(options.corpus)
    answer = ask(options.question, open_engine(index), index)
    for claim in answer.claims:
        print(f"{claim.state:<18} {claim.text}")
        for citation in claim.citations:
            print(f"{'':<18} PMID {citation.pmid}, {citation.location.match}: {citation.judgement.rationale}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
