"""The workbench: a run is carried out once, stops at once, goes on from what was finished, and sees a replaced corpus."""

from __future__ import annotations

import threading

import pytest
from fakes.embeddings import WordEmbeddings

from litrag.config import settings
from litrag.errors import InputError
from litrag.index import Index, build_index
from litrag.llm.choice import Choice
from litrag.models import Citation, Draft, Record, Statement
from litrag.ui.workbench import Workbench

TEXT = "At week 12, pain fell by 21.5 points with brimafol and by 9.8 points with placebo in adults with knee pain."
QUESTION = "Does brimafol reduce knee pain?"


def corpus(text: str = TEXT, name: str = "knee") -> Index:
    record = Record(record_id="99000001", pmid="99000001", title="Brimafol for knee pain", study="KNEE-1", text=text)
    return build_index([record], settings().index_dir / name, embeddings=WordEmbeddings())


class Writer:
    """Copies the first passage; counts its calls."""

    generator_id = "writer"

    def __init__(self) -> None:
        self.calls = 0

    def generate(self, question, hits, records):
        self.calls += 1
        passage = hits[0].passage
        cited = Citation(passage_id=passage.passage_id, quote=passage.text)
        return Draft(statements=(Statement(text=f"In KNEE-1, {passage.text}", citations=(cited,)),))


class Waiting:
    """Lets another thread know that it is at work, and waits to be let go."""

    def __init__(self) -> None:
        self.reached, self.go = threading.Event(), threading.Event()

    def __call__(self) -> None:
        self.reached.set()
        assert self.go.wait(30)


@pytest.fixture
def writer(monkeypatch):
    made = Writer()
    monkeypatch.setattr(Choice, "open_generator", lambda *_: made)
    return made


@pytest.fixture
def bench(monkeypatch, judge):
    index = corpus()
    monkeypatch.setattr(Workbench, "index", lambda *_, **__: index)
    monkeypatch.setattr(Workbench, "judge", lambda *_: judge)
    return Workbench(settings())


def test_an_id_is_run_once_however_often_it_is_started(bench, writer, judge):
    jobs = [bench.ask("r1", QUESTION, "knee") for _ in range(3)]
    jobs[0].future.result(30)
    bench.ask("r1", QUESTION, "knee").future.result(30)
    assert jobs[0] is jobs[1] is jobs[2]
    assert writer.calls == 1
    assert len(judge.calls) == 1
    assert bench.store.run("r1").question == QUESTION


def test_a_finished_answer_outlives_its_job(bench, writer):
    bench.ask("r1", QUESTION, "knee").future.result(30)
    bench.forget("r1")
    assert Workbench(settings()).store.run("r1") is not None


def test_a_stopped_run_is_over_at_once_and_its_worker_stores_nothing(bench, writer, monkeypatch):
    waiting = Waiting()
    plain = writer.generate
    monkeypatch.setattr(writer, "generate", lambda *args: (waiting(), plain(*args))[1])
    job = bench.ask("r1", QUESTION, "knee")
    assert waiting.reached.wait(30)
    assert job.running
    job.stop()
    assert (job.running, job.stopped, job.error) == (False, True, None)
    waiting.go.set()
    job.future.exception(30)
    assert job.stopped
    assert bench.store.run("r1") is None


def test_another_try_after_a_stop_takes_the_draft_that_was_finished(bench, writer, judge, monkeypatch):
    waiting = Waiting()
    plain = judge.judge_many
    monkeypatch.setattr(judge, "judge_many", lambda pairs: (waiting(), plain(pairs))[1])
    job = bench.ask("r1", QUESTION, "knee")
    assert waiting.reached.wait(30)
    job.stop()
    waiting.go.set()
    job.future.exception(30)
    bench.retry("r1")
    bench.job("r1").future.result(30)
    assert bench.store.run("r1").claims[0].verdict == "supports"
    assert writer.calls == 1


def test_a_run_that_works_is_not_started_again(bench, writer, judge, monkeypatch):
    waiting = Waiting()
    plain = judge.judge_many
    monkeypatch.setattr(judge, "judge_many", lambda pairs: (waiting(), plain(pairs))[1])
    job = bench.ask("r1", QUESTION, "knee")
    assert waiting.reached.wait(30)
    bench.retry("r1")
    assert bench.job("r1") is job
    waiting.go.set()
    job.future.result(30)
    assert writer.calls == 1


def test_what_ended_a_run_is_kept_for_whoever_opens_its_link(bench):
    job = bench.ask("r1", "?" * 3000, "knee")
    assert isinstance(job.future.exception(30), InputError)
    assert isinstance(bench.job("r1").error, InputError)
    assert not job.running
    assert not job.stopped


def test_a_corpus_that_was_replaced_on_disk_is_opened_anew(monkeypatch):
    monkeypatch.setattr("litrag.index.open_embeddings", lambda *_: WordEmbeddings())
    corpus("Pain fell by 11 points with brimafol.")
    bench = Workbench(settings())
    assert "11 points" in bench.index("knee").records["99000001"].text
    assert bench.opened("knee") is bench.index("knee")
    corpus("Pain rose by 22 points with brimafol.")
    assert bench.opened("knee") is None
    assert "22 points" in bench.index("knee").records["99000001"].text
    assert bench.corpora()[0] == settings().corpus
    assert "knee" in bench.corpora()
