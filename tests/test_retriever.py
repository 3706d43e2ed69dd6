"""The index inside LangChain: documents that can be traced to the record's text."""

import asyncio

import pytest
from fakes.embeddings import WordEmbeddings
from langchain_core.runnables import RunnableLambda

from litrag.index import build_index
from litrag.models import Record


@pytest.fixture
def index(tmp_path):
    text = " ".join(f"Outcome {number} was counted in group {number % 7}." for number in range(40))
    records = [
        Record(record_id="x-1", pmid="101", title="Many outcomes", text=text),
        Record(record_id="x-2", title="No PMID", text="Relapse was 12%."),
    ]
    return build_index(records, tmp_path / "outcomes", embeddings=WordEmbeddings())


def test_documents_come_in_the_order_and_with_the_scores_of_the_index(index):
    documents = index.as_retriever(k=4).invoke("outcome 7")
    hits = index.hits("outcome 7", 4)
    assert [d.id for d in documents] == [h.passage.passage_id for h in hits]
    assert [d.metadata["score"] for d in documents] == [h.score for h in hits]


def test_start_and_end_slice_the_records_text(index):
    for document in index.as_retriever(k=5).invoke("outcome 20 group"):
        metadata = document.metadata
        record = index.records[metadata["record_id"]]
        assert record.text[metadata["start"]:metadata["end"]] == document.page_content
        assert (metadata["title"], metadata["source"]) == (record.title, "outcomes")


def test_a_record_without_pmid_says_so(index):
    first = index.as_retriever(k=1).invoke("Relapse was 12%.")[0]
    assert first.metadata["pmid"] is None
    assert first.metadata["record_id"] == "x-2"


def test_it_runs_as_a_step_of_a_chain_and_asynchronously(index):
    retriever = index.as_retriever(k=2)
    chain = retriever | RunnableLambda(lambda documents: [d.id for d in documents])
    assert chain.invoke("relapse") == [d.id for d in asyncio.run(retriever.ainvoke("relapse"))]
