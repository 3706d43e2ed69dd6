"""Fixtures for all tests: a home of their own, the sample records and index, and a judge that keeps its calls."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

from litrag.config import SAMPLE_CORPUS, settings
from litrag.index import Index, build_index
from litrag.ingest import read_records
from litrag.models import Judgement, Passage, Record, Verdict

# How fast a busy machine draws and runs an example says nothing about the code.
hypothesis_settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
hypothesis_settings.load_profile("unhurried")


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No test reads or writes the user's files, environment or keys."""
    for name in list(os.environ):
        if name.startswith("LITRAG_") and name not in ("LITRAG_REQUIRE_ALL", "LITRAG_BENCH_DIR"):
            monkeypatch.delenv(name)
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "NCBI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LITRAG_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    settings.cache_clear()
    main = sys.modules["__main__"]
    yield
    # Streamlit's tests of pages put their script in its place, which processes started later would then import.
    sys.modules["__main__"] = main
    settings.cache_clear()


@pytest.fixture
def hangs() -> Iterator[None]:
    """Ends a test that has worked for a minute of processor time, as reading in quadratic time does on long text."""
    before = signal.signal(signal.SIGVTALRM, _hung)
    signal.setitimer(signal.ITIMER_VIRTUAL, 60)
    yield
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    signal.signal(signal.SIGVTALRM, before)


def _hung(*_: object) -> None:
    raise TimeoutError("still not read after a minute of processor time")


@pytest.fixture(scope="session")
def sample_records() -> dict[str, Record]:
    return {record.record_id: record for record in read_records(SAMPLE_CORPUS).records}


@pytest.fixture(scope="session")
def by_study(sample_records: dict[str, Record]) -> dict[str, Record]:
    return {record.study: record for record in sample_records.values() if record.study}


@pytest.fixture(scope="session")
def sample_index(tmp_path_factory: pytest.TempPathFactory, sample_records: dict[str, Record]) -> Index:
    """The sample corpus, indexed once for the whole run."""
    home = tmp_path_factory.mktemp("index")
    patch = pytest.MonkeyPatch()
    patch.setenv("LITRAG_HOME", str(home))
    settings.cache_clear()
    try:
        return build_index(list(sample_records.values()), home / "index" / "sample")
    finally:
        patch.undo()
        settings.cache_clear()


class RecordingJudge:
    """Gives queued verdicts, `supports` when none is queued, and keeps what it was asked."""

    judge_id = "recording"

    def __init__(self) -> None:
        self.calls: list[tuple[str, str, str | None]] = []
        self.queue: list[Judgement] = []

    def enqueue(self, *verdicts: Verdict | Judgement) -> None:
        for verdict in verdicts:
            self.queue.append(
                verdict if isinstance(verdict, Judgement) else Judgement(verdict=verdict, confidence=0.9)
            )

    def judge(self, claim: str, passage: str | Passage, quote: str | None = None) -> Judgement:
        return self.judge_many([(claim, passage, quote)])[0]

    def judge_many(self, pairs: Sequence[tuple[str, str | Passage, str | None]]) -> list[Judgement]:
        found = []
        for claim, passage, quote in pairs:
            self.calls.append((claim, passage if isinstance(passage, str) else passage.text, quote))
            given = self.queue.pop(0) if self.queue else Judgement(verdict=Verdict.SUPPORTS, confidence=0.9)
            found.append(given.model_copy(update={"judge": self.judge_id, "model": "recording", "version": "1"}))
        return found


@pytest.fixture
def judge() -> RecordingJudge:
    return RecordingJudge()
