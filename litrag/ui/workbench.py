"""What all sessions of a server share: the store, the judge, opened indexes, and runs at work in the background.

A run belongs to its id, not to a session: whoever opens its link sees it work or finds the stored answer. The worker
itself stores a finished answer, so that no rerun, click, page change or closed browser can lose or repeat it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from litrag import storage
from litrag.changes import SourceChange
from litrag.config import Settings
from litrag.errors import LitRAGError
from litrag.evidence_map import MapRow, evidence_map, judged
from litrag.generate import Generator
from litrag.grounding import ClaimInput, Progress
from litrag.index import Index, open_index
from litrag.kept import KeptRecords
from litrag.labels import Item
from litrag.llm.budget import spending
from litrag.llm.choice import Choice
from litrag.models import AuditedAnswer, Draft, Hit, Judge, Record
from litrag.observability import count_waiting
from litrag.pipeline import Stopped, ask, verify
from litrag.reviews import Store, open_store
from litrag.revision import reanchored
from litrag.ui.tables import verify_table

ASK_STAGES = ("retrieving", "writing", "locating", "judging")
VERIFY_STAGES = ("locating", "judging")
TABLE_STAGES = ("judging",)
INDEX_STAGES = ("indexing",)

#: Runs that work at the same time; others wait for their turn. Most of a run with a model is waiting for its server.
WORKERS = 4

#: Finished runs whose outcome is remembered here; their answers stay in the store for good.
REMEMBERED = 500


@dataclass
class Job:
    """A run at work, waiting, or ended. Written by its worker, read by pages."""

    run_id: str
    stages: tuple[str, ...]
    stage: str = ""
    done: int = 0
    total: int = 0
    message: str = ""
    partial: tuple[str, ...] = ()
    work: Callable[[Job], None] | None = None
    future: Future[None] = field(default_factory=Future)
    _stop: threading.Event = field(default_factory=threading.Event)

    def report(self, stage: str, done: int, total: int) -> None:
        """Note progress; raises Stopped once the run was stopped or the server is going down."""
        if self._stop.is_set() or not threading.main_thread().is_alive():
            raise Stopped("the run was stopped")
        self.stage, self.done, self.total = stage, done, total

    def arrived(self, statements: tuple[str, ...]) -> None:
        """Note what a model has written so far."""
        self.partial = statements

    def stop(self) -> None:
        self._stop.set()
        self.future.cancel()

    @property
    def running(self) -> bool:
        """Whether an answer may still come; a stopped run is over at once, though its worker ends a call under way."""
        return not self.future.done() and not self._stop.is_set()

    @property
    def stopped(self) -> bool:
        return self._stop.is_set() or isinstance(self.error, Stopped)

    @property
    def error(self) -> BaseException | None:
        """What ended the run, or None while it works, after it succeeded and after it was cancelled."""
        if not self.future.done() or self.future.cancelled():
            return None
        return self.future.exception()


Work = Callable[[Job], None]


class Workbench:
    """Opens each thing once and runs jobs, each once per id."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._lock = threading.RLock()
        self._opening = threading.Lock()
        self._reading = threading.Lock()
        self._pool = ThreadPoolExecutor(max_workers=WORKERS, thread_name_prefix="litrag-run")
        self._jobs: dict[str, Job] = {}
        self._indexes: dict[str, Index] = {}
        self._judges: dict[tuple[str, bool], Judge] = {}
        self._maps: dict[str, list[MapRow]] = {}
        self._store: Store | None = None
        self._kept = KeptRecords(settings.index_dir)
        count_waiting(self.at_work)

    # -- shared things
    @property
    def store(self) -> Store:
        with self._lock:
            if self._store is None:
                self._store = open_store(self.settings.database_url)
            return self._store

    def judge(self, choice: Choice | None = None) -> Judge:
        """The chosen judge, else the configured one; each is opened once."""
        choice = choice or Choice.configured(self.settings)
        name = (choice.judge, choice.within(self.settings).offline)
        with self._opening:
            if name not in self._judges:
                self._judges[name] = choice.open_judge(self.settings)
            return self._judges[name]

    def index(self, corpus: str, progress: Callable[[float, str], None] | None = None) -> Index:
        """The index of a corpus; opened, or built, when it isn't yet or was replaced on disk since."""
        with self._opening:
            known = self.opened(corpus)
            if known is None:
                known = self._indexes[corpus] = open_index(corpus, progress=progress)
            return known

    def opened(self, corpus: str) -> Index | None:
        """The index of a corpus if it is open and still the one on disk."""
        index = self._indexes.get(corpus)
        if index is None:
            return None
        manifest = self.settings.index_dir / index.name / storage.MANIFEST
        if not manifest.exists() or storage.read_manifest(manifest.parent).build != index.manifest.build:
            return None
        return index

    def held(self, corpus: str) -> str:
        """How much an index holds that isn't open, as its manifest says."""
        try:
            return f"{storage.read_manifest(self.settings.index_dir / Path(corpus).name).records:,} records, opened when asked"
        except LitRAGError:
            return "indexed when asked"

    def corpora(self) -> list[str]:
        """Names of the corpora that have an index, the configured one first."""
        found = {path.parent.name for path in self.settings.index_dir.glob(f"*/{storage.MANIFEST}")}
        return [self.settings.corpus, *sorted(found - {self.settings.corpus})]

    @property
    def tables(self) -> Path:
        """Folder of the journals and results of tables."""
        return self.settings.table_dir

    def changes(self, answer: AuditedAnswer) -> dict[str, SourceChange]:
        """What changed in an answer's sources since it was judged, by record id."""
        with self._reading:
            return self._kept.changes(answer)

    def change_of(self, item: Item) -> SourceChange | None:
        """What changed in the source of an item under review."""
        corpus, corpus_hash = self.store.corpus_of(item.run_id)
        with self._reading:
            return self._kept.change(corpus, corpus_hash, item.record)

    # -- jobs
    def job(self, run_id: str) -> Job | None:
        with self._lock:
            return self._jobs.get(run_id)

    def at_work(self) -> int:
        """Jobs that wait or run."""
        with self._lock:
            return sum(job.running for job in self._jobs.values())

    def forget(self, run_id: str) -> None:
        with self._lock:
            self._jobs.pop(run_id, None)

    def start(self, run_id: str, stages: tuple[str, ...], work: Work) -> Job:
        """Run `work` in the background; an id that is known already is never run again."""
        with self._lock:
            known = self._jobs.get(run_id)
            if known is not None:
                return known
            while len(self._jobs) >= REMEMBERED:
                self._jobs.pop(next(iter(self._jobs)))
            job = self._jobs[run_id] = Job(run_id, stages, work=work)
            job.future = self._pool.submit(work, job)
            return job

    def retry(self, run_id: str) -> None:
        """Run a job that failed or was stopped once more, under the same id."""
        with self._lock:
            job = self._jobs.get(run_id)
            if job is None or job.running or job.work is None:
                return
            self.forget(run_id)
            self.start(run_id, job.stages, job.work)

    def prepare(self, corpus: str) -> Job:
        """Open or build the index of a corpus."""
        return self.start(f"index:{corpus}", INDEX_STAGES, lambda job: self._prepare(corpus, job))

    def _prepare(self, corpus: str, job: Job) -> None:
        def tell(share: float, message: str) -> None:
            job.report("indexing", round(100 * share), 100)
            job.message = message

        self.index(corpus, tell)

    def ask(self, run_id: str, question: str, corpus: str, choice: Choice | None = None) -> Job:
        """Answer a question; a further try after a stop or a failure takes the draft that was finished before."""
        chosen = choice or Choice.configured(self.settings)
        drafts: dict[str, Draft] = {}

        def work(job: Job) -> None:
            def answer(progress: Progress) -> AuditedAnswer:
                index = self.index(corpus)
                writing = _watched(chosen.open_generator(self.settings, index.embeddings), job)
                generator = _Once(writing, drafts, index.corpus_hash)
                return ask(question, index=index, generator=generator, judge=self.judge(chosen), progress=progress)

            self._finish(answer, job)

        return self.start(run_id, ASK_STAGES, work)

    def verify(self, run_id: str, text: str, corpus: str, question: str = "", choice: Choice | None = None) -> Job:
        def answer(progress: Progress) -> AuditedAnswer:
            return verify(text, index=self.index(corpus), judge=self.judge(choice), progress=progress, question=question)

        return self.start(run_id, VERIFY_STAGES, partial(self._finish, answer))

    def verify_claims(
        self, run_id: str, items: tuple[ClaimInput, ...], corpus: str, title: str, choice: Choice | None = None
    ) -> Job:
        def answer(progress: Progress) -> AuditedAnswer:
            return verify(items, index=self.index(corpus), judge=self.judge(choice), progress=progress, question=title)

        return self.start(run_id, VERIFY_STAGES, partial(self._finish, answer))

    def verify_table(
        self, run_id: str, content: bytes, name: str, corpus: str, choice: Choice | None = None
    ) -> Job:
        def answer(progress: Progress) -> AuditedAnswer:
            return verify_table(run_id, content, name, index=self.index(corpus), judge=self.judge(choice),
                                folder=self.tables, progress=progress)

        return self.start(run_id, TABLE_STAGES, partial(self._finish, answer))

    def reanchor(self, run_id: str, answer: AuditedAnswer, claim_id: str) -> Job:
        """A new run: `answer` with one claim citing the source that was found for it."""
        def revised(progress: Progress) -> AuditedAnswer:
            return reanchored(answer, claim_id, self.judge(), progress=progress)

        return self.start(run_id, VERIFY_STAGES, partial(self._finish, revised))

    def judged_map(self, run_id: str) -> list[MapRow] | None:
        """The evidence map of a run with the judge's word, when it was asked for since the server began."""
        with self._lock:
            return self._maps.get(run_id)

    def judge_map(self, answer: AuditedAnswer, choice: Choice | None = None) -> None:
        """Ask the judge about the pairs of claim and record that code left open, within one answer's budget."""
        def work(job: Job) -> None:
            job.report("judging", 0, 0)
            with spending(self.settings.budget_usd):
                rows = judged(evidence_map(answer), answer, self.judge(choice))
            with self._lock:
                while len(self._maps) >= REMEMBERED:
                    self._maps.pop(next(iter(self._maps)))
                self._maps[answer.run_id] = rows

        self.forget(f"map:{answer.run_id}")
        self.start(f"map:{answer.run_id}", TABLE_STAGES, work)

    def _finish(self, answer: Callable[[Progress], AuditedAnswer], job: Job) -> None:
        job.report(job.stages[0], 0, 0)
        self.store.save_run(answer(job.report).model_copy(update={"run_id": job.run_id}))
        job.work = None  # done: what it would need again may be a large file


def _watched(generator: Generator, job: Job) -> Generator:
    """The generator, telling the job what has arrived while it writes, if it can."""
    watched_by: Callable[[Callable[[tuple[str, ...]], None]], Generator] | None = getattr(generator, "watched_by", None)
    return generator if watched_by is None else watched_by(job.arrived)


class _Once:
    """A generator that is called once per state of the corpus; after that, its draft stands in `drafts`."""

    def __init__(self, generator: Generator, drafts: dict[str, Draft], corpus_hash: str) -> None:
        self._generator, self._drafts, self._corpus_hash = generator, drafts, corpus_hash

    @property
    def generator_id(self) -> str:
        return self._generator.generator_id

    def generate(self, question: str, hits: Sequence[Hit], records: Mapping[str, Record]) -> Draft:
        if self._corpus_hash not in self._drafts:
            self._drafts[self._corpus_hash] = self._generator.generate(question, hits, records)
        return self._drafts[self._corpus_hash]
