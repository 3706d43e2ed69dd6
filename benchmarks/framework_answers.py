"""The same questions through LitRAG's own way and through LlamaIndex's citation engine, both grounded by LitRAG.

Used by `benchmarks.frameworks`. Compared are retrieved records, quotes, verdicts and seconds up to the written answer;
locating and judging is the same code for both and isn't timed.
"""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from statistics import mean, median

from llama_index.core import Document
from llama_index.core.base.response.schema import Response
from llama_index.core.llms import MockLLM
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.schema import QueryBundle, TextNode

import litrag
from examples import llamaindex_variant as variant
from litrag.config import PROJECT, settings
from litrag.extractive import ExtractiveGenerator
from litrag.index import Index
from litrag.models import AuditedAnswer, Judge, MatchKind, Verdict
from litrag.sentences import split

LITRAG, LLAMA, OWN_CHUNKS = "LitRAG", "LlamaIndex", "LlamaIndex, own chunks"
#: Nodes made of whole records for one question: about as many records as LitRAG's passages come from.
RECORDS = 5
_POINT = re.compile(r"\d\W*$")


@dataclass
class Question:
    id: str
    text: str
    pmids: tuple[str, ...] = ()


@dataclass
class Tally:
    """What one way did with all questions."""

    answered: int = 0
    declined: int = 0
    matches: Counter[str] = field(default_factory=Counter)
    states: Counter[str] = field(default_factory=Counter)
    whole: int = 0
    records: list[int] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    prompts: int = 0
    unnumbered: int = 0
    parts: list[tuple[str, str, str, str]] = field(default_factory=list)
    wrong: list[tuple[str, str, str, str]] = field(default_factory=list)

    @property
    def quotes(self) -> int:
        return sum(self.matches.values())


def questions() -> list[Question]:
    """All sample questions; those that the corpus can't answer have no PMIDs."""
    document = json.loads((PROJECT / "data" / "sample_questions.json").read_text("utf-8"))
    return [
        Question(entry["id"], entry["question"], tuple(entry.get("pmids", ())))
        for part in ("answerable", "further", "conflicting", "unanswerable") for entry in document[part]
    ]


def engines(index: Index) -> dict[str, variant.CitationQueryEngine]:
    """The engine over LitRAG's passages, over LlamaIndex's own chunks of the records, and with three options changed."""
    return {
        LLAMA: variant.open_engine(index),
        OWN_CHUNKS: variant.open_engine(index, own_chunks(index), k=RECORDS),
        "LlamaIndex, titles shown": variant.open_engine(index, variant.nodes_of(index, show_title=True)),
        "LlamaIndex, citation chunks of 64 tokens": variant.open_engine(index, citation_chunk_size=64),
        "LlamaIndex, window of 1,536 tokens": variant.open_engine(index, context_window=1536),
    }


def own_chunks(index: Index) -> list[TextNode]:
    """The records as LlamaIndex itself cuts them, by its defaults."""
    hidden = ["title", "record_id", "pmid"]
    documents = [
        Document(
            text=record.text, metadata={"title": record.title, "record_id": record.record_id, "pmid": record.pmid or ""},
            excluded_embed_metadata_keys=hidden[1:], excluded_llm_metadata_keys=hidden,
        )
        for record in index.records.values()
    ]
    return [node for node in SentenceSplitter().get_nodes_from_documents(documents) if isinstance(node, TextNode)]


def retrieved(
    asked: Sequence[Question], index: Index, ways: dict[str, variant.CitationQueryEngine],
) -> dict[str, list[list[str]]]:
    """PMIDs for each question, best first and once each, by LitRAG and over both kinds of nodes by LlamaIndex."""
    found = {LITRAG: [[hit.passage.pmid or "" for hit in index.hits(q.text, settings().passages)] for q in asked]}
    for name in (LLAMA, OWN_CHUNKS):
        found[name] = [[node.metadata["pmid"] for node in ways[name].retrieve(QueryBundle(q.text))] for q in asked]
    return {name: [list(dict.fromkeys(pmids)) for pmids in lists] for name, lists in found.items()}


def count(tally: Tally, question: Question, answer: AuditedAnswer, index: Index, numbers: int) -> None:
    """Add one answer; `numbers` is how many numbered sources the model was shown."""
    cited = [(claim, citation) for claim in answer.claims for citation in claim.citations]
    if not cited:
        tally.declined += not question.pmids
        return
    tally.answered += bool(question.pmids)
    tally.numbers.append(numbers)
    tally.records.append(len({citation.record_id for _, citation in cited}))
    tally.states.update(claim.state for claim in answer.claims)
    for claim, citation in cited:
        tally.matches[citation.location.match] += 1
        text = index.records[citation.record_id].text
        if citation.quote in {text[start:end] for start, end in split(text)}:
            tally.whole += 1
            continue
        example = (question.id, citation.pmid or "", citation.location.match.value, citation.quote)
        (tally.wrong if claim.state == Verdict.HALLUCINATED_QUOTE else tally.parts).append(example)


def run_all(
    asked: Sequence[Question], index: Index, judge: Judge, ways: dict[str, variant.CitationQueryEngine],
) -> dict[str, Tally]:
    """Every question by every way."""
    tallies = {LITRAG: Tally()}
    for question in asked:
        answer = litrag.ask(question.text, index=index, judge=judge)
        count(tallies[LITRAG], question, answer, index, len(answer.sources))
    for name, engine in ways.items():
        tallies[name] = Tally()
        for question in asked:
            response = _watched(engine, question, tallies[name])
            answer = litrag.verify(variant.claims_of(response), index=index, judge=judge, question=question.text)
            count(tallies[name], question, answer, index, len(response.source_nodes))
    return tallies


def _watched(engine: variant.CitationQueryEngine, question: Question, tally: Tally) -> Response:
    """The engine's response; of the prompts on the way it is counted how many begin with text that has no number."""
    read = variant.read_prompt

    def reading(prompt: str) -> tuple[str, str, dict[str, str]]:
        tally.prompts += 1
        tally.unnumbered += not prompt.partition(variant.FENCE)[2].startswith("Source ")
        return read(prompt)

    variant.read_prompt = reading
    try:
        return engine.query(question.text)
    finally:
        variant.read_prompt = read


def seconds(
    asked: Sequence[Question], index: Index, engine: variant.CitationQueryEngine, rounds: int,
) -> dict[str, list[float]]:
    """Processor seconds of each question by each way, in turns: up to the written answer, then retrieval alone.

    For the latter the questions' vectors are remembered, so that what the frameworks add isn't lost beside embedding.
    """
    k = settings().passages
    generator = ExtractiveGenerator(index.embeddings, max_claims=settings().max_claims)
    spent = _in_turns(asked, rounds, {
        "answer, LitRAG": lambda text: generator.generate(text, index.hits(text, k), index.records),
        "answer, LlamaIndex": engine.query,
        "embedding of the question": index.embeddings.embed_query,
    })
    numbered = variant.CitationQueryEngine(engine.retriever, llm=MockLLM(max_tokens=1))
    model = index.embeddings
    model.embed_query = cache(model.embed_query)  # type: ignore[method-assign]
    try:
        spent |= _in_turns(asked, rounds, {
            "passages, LitRAG's `index.hits`": lambda text: index.hits(text, k),
            "passages, the same as LangChain retriever": index.as_retriever(k).invoke,
            "passages, LangChain's FAISS": lambda text: index.vectorstore.similarity_search(text, k=k),
            "passages, LlamaIndex's retriever": engine.retriever.retrieve,
            "passages cut, numbered and put into a prompt, LlamaIndex": numbered.query,
        })
    finally:
        del model.embed_query
    return spent


def _in_turns(asked: Sequence[Question], rounds: int, ways: dict[str, Callable[[str], object]]) -> dict[str, list[float]]:
    spent: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(rounds + 1):
        for question in asked:
            for name, way in ways.items():
                started = time.process_time()
                way(question.text)
                if turn:  # the first round opens models and tokenizers and fills the cache of sentences
                    spent[name].append(time.process_time() - started)
    return spent


def retrieval_table(asked: Sequence[Question], found: dict[str, list[list[str]]]) -> list[str]:
    """Where the right record stands, and how far LlamaIndex agrees with LitRAG."""
    known = [place for place, question in enumerate(asked) if question.pmids]
    lines = [f"| of {len(known)} answerable questions | " + " | ".join(found) + " |", "|---|" + "---|" * len(found)]

    def row(name: str, cell: Callable[[list[list[str]]], object]) -> None:
        lines.append(f"| {name} | " + " | ".join(str(cell(lists)) for lists in found.values()) + " |")

    def among(first: int, lists: list[list[str]]) -> int:
        return sum(bool(set(asked[place].pmids) & set(lists[place][:first])) for place in known)

    row("a right record is first", lambda lists: among(1, lists))
    row("a right record is among the first three", lambda lists: among(3, lists))
    row("all right records are retrieved", lambda lists: sum(set(asked[p].pmids) <= set(lists[p]) for p in known))
    row("records per question, mean", lambda lists: f"{mean(len(pmids) for pmids in lists):.1f}")
    ours = found[LITRAG]
    for name in (LLAMA, OWN_CHUNKS):
        pairs = list(zip(ours, found[name], strict=True))
        shared = mean(len(set(a) & set(b)) / len(set(a) | set(b)) for a, b in pairs)
        same = sum(a[:1] == b[:1] for a, b in pairs)
        lines += ["", f"{name} and LitRAG put the same record first in {same} of {len(asked)} questions; of the records that "
                      f"either retrieves, both retrieve {shared:.0%} (mean)."]
    return lines


def answers_table(asked: Sequence[Question], tallies: dict[str, Tally]) -> list[str]:
    """Quotes and verdicts by way."""
    answerable = sum(bool(question.pmids) for question in asked)
    verdicts = [*Verdict, "uncited", "unjudged"]
    lines = ["| | " + " | ".join(tallies) + " |", "|---|" + "---|" * len(tallies)]

    def row(name: str, cell: Callable[[Tally], str]) -> None:
        lines.append(f"| {name} | " + " | ".join(cell(tally) for tally in tallies.values()) + " |")

    row(f"answered, of {answerable} answerable", lambda t: str(t.answered))
    row(f"declined, of {len(asked) - answerable} unanswerable", lambda t: str(t.declined))
    row("quotes", lambda t: str(t.quotes))
    row("verbatim in the cited record", lambda t: f"{t.matches[MatchKind.EXACT] / t.quotes:.1%}")
    row("whole sentences of the record", lambda t: f"{t.whole / t.quotes:.1%}")
    for kind in MatchKind:
        row(f"quote {kind}", lambda t, kind=kind: str(t.matches[kind]))  # type: ignore[misc]
    for verdict in verdicts:
        row(f"verdict {str(verdict).replace('_', ' ')}", lambda t, verdict=verdict: str(t.states[verdict]))  # type: ignore[misc]
    row("quotes cut short and not refused", lambda t: str(len(t.parts)))
    row("records cited per answer, mean", lambda t: f"{mean(t.records):.1f}")
    row("numbered sources per answer, mean", lambda t: f"{mean(t.numbers):.1f}")
    row("prompts to the model", lambda t: str(t.prompts or "–"))
    row("of these, beginning with text that has no number", lambda t: str(t.unnumbered) if t.prompts else "–")
    return lines


def seconds_table(spent: dict[str, list[float]]) -> list[str]:
    """Medians, and each question's ratio to LitRAG's own way in the same run."""
    lines = ["| what | processor time, median | ratio to LitRAG, median |", "|---|---|---|"]
    for name, values in spent.items():
        peer = spent["passages, LitRAG's `index.hits`" if name.startswith("passages") else "answer, LitRAG"]
        ratio = median(own / other for own, other in zip(values, peer, strict=True))
        lines.append(f"| {name} | {1000 * median(values):.2f} ms | {ratio:.2f} |")
    return lines


def examples(tallies: dict[str, Tally]) -> list[str]:
    """Quotes that aren't whole sentences, as they came: first refused ones, then ones that stand and are cut."""
    lines = ["| way | question | PMID | quote | the sentence given as a quote |", "|---|---|---|---|---|"]
    for name, tally in tallies.items():
        cut = [one for one in tally.parts if _POINT.search(one[3])] or tally.parts
        for question, pmid, match, quote in [*tally.wrong[:2], *cut[:2]]:
            lines.append(f"| {name} | {question} | {pmid} | {match} | {quote.replace('|', '∣')} |")
    return lines
