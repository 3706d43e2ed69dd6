"""PubMed live: search and fetch by NCBI's E-utilities, politely, and resumable when it breaks off.

In: a query, or the PMIDs of a corpus. Out: files of original XML in `LITRAG_HOME/pubmed`, which are imported like any
other file. Requests name the tool and an address, keep to three a second (ten with a key), and are repeated after
passing failures. Protocol: NCBI, "Entrez Programming Utilities Help" (ESearch and EFetch with the history server).
"""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import httpx
from pydantic import ValidationError

from litrag import library
from litrag.config import Settings, settings
from litrag.contents import Progress
from litrag.embeddings import PassageEmbeddings
from litrag.errors import InputError, LitRAGError, OfflineError
from litrag.models import Model

TOOL = "litrag"
BATCH = 200
#: PubMed gives no more than this many records to one query.
MOST = 9999
TRIES = 5
_PASSING = frozenset({408, 429, 500, 502, 503, 504})


class PubMedError(LitRAGError):
    """PubMed can't be reached, or answers with an error that repeating doesn't mend."""


class Job(Model):
    """A download: what is fetched, and how PubMed understood the query."""

    query: str
    count: int
    translation: str = ""
    pmids: tuple[str, ...] = ()
    web_env: str = ""
    query_key: str = ""


class Refreshed(Model):
    """What a refresh found: changed records, those with a new notice, and PMIDs that PubMed no longer gives."""

    report: library.ImportReport
    new_notices: dict[str, tuple[str, ...]]
    missing: tuple[str, ...] = ()


class EUtilities:
    """The two E-utilities that are needed. One instance may be used by several threads."""

    def __init__(
        self, config: Settings | None = None, *, clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        config = config or settings()
        if config.offline:
            raise OfflineError("LITRAG_OFFLINE forbids calls to PubMed; unset it, or import a file.")
        self._url = config.ncbi_url.rstrip("/")
        self._key = config.ncbi_api_key.get_secret_value() if config.ncbi_api_key else ""
        self._email = config.ncbi_email
        self._pause = 0.1 if self._key else 1 / 3
        self._clock, self._sleep = clock, sleep
        self._next = 0.0
        self._lock = threading.Lock()
        self._client = httpx.Client(timeout=60, follow_redirects=True)

    def search(self, query: str, most: int) -> Job:
        """Search, and keep the result on the history server."""
        reply = self._call("esearch.fcgi", {
            "term": query, "retmax": str(most), "retmode": "json", "usehistory": "y", "sort": "relevance",
        })
        try:
            found = reply.json()["esearchresult"]
        except (ValueError, KeyError) as error:
            raise PubMedError(f"PubMed's reply to the search can't be read: {reply.text[:200]!r}") from error
        if message := found.get("ERROR") or found.get("error"):
            raise PubMedError(f"PubMed refuses the search {query!r}: {message}")
        return Job(
            query=query, count=int(found.get("count", 0)), translation=found.get("querytranslation", ""),
            pmids=tuple(found.get("idlist", ())), web_env=found.get("webenv", ""), query_key=found.get("querykey", ""),
        )

    def fetch_found(self, job: Job, start: int, size: int) -> bytes:
        """Records `start` to `start + size` of a search, as XML, from the history server."""
        return self._xml({
            "query_key": job.query_key, "WebEnv": job.web_env, "retstart": str(start), "retmax": str(size),
        })

    def fetch(self, pmids: Sequence[str]) -> bytes:
        """The records with these PMIDs, as XML."""
        return self._xml({"id": ",".join(pmids)})

    def _xml(self, parameters: Mapping[str, str]) -> bytes:
        return self._call("efetch.fcgi", {**parameters, "retmode": "xml"}, _complete).content

    def _call(
        self, utility: str, parameters: Mapping[str, str], problem: Callable[[httpx.Response], str] | None = None,
    ) -> httpx.Response:
        form = {"db": "pubmed", "tool": TOOL, **parameters}
        if self._email:
            form["email"] = self._email
        if self._key:
            form["api_key"] = self._key
        reason = ""
        for attempt in range(TRIES):
            self._wait_turn()
            waiting = float(2**attempt)
            try:
                reply = self._client.post(f"{self._url}/{utility}", data=form)
            except httpx.TransportError as error:
                reason = f"{type(error).__name__}: {error}"
            else:
                if reply.status_code in _PASSING:
                    reason = f"status {reply.status_code}"
                    waiting = _asked_wait(reply, waiting)
                elif reply.status_code != 200:
                    raise PubMedError(f"PubMed answers {utility} with status {reply.status_code}: {reply.text[:200]!r}")
                else:
                    reason = (problem(reply) if problem else "") or _rate_limited(reply)
                    if not reason:
                        return reply
            if attempt < TRIES - 1:
                self._sleep(waiting)
        raise PubMedError(f"PubMed could not be reached in {TRIES} tries ({reason}); try again later, it goes on from here.")

    def _wait_turn(self) -> None:
        with self._lock:
            now = self._clock()
            turn = max(now, self._next)
            self._next = turn + self._pause
        if turn > now:
            self._sleep(turn - now)


def download(
    query: str, most: int = 500, *, utilities: EUtilities | None = None, progress: Progress | None = None,
) -> tuple[Job, list[Path]]:
    """Fetch what `query` finds, `most` records at most; a download that broke off goes on where it stopped."""
    if not query.strip():
        raise InputError("The PubMed query is empty; give one, such as 'semaglutide AND obesity'.")
    if not 1 <= most <= MOST:
        raise InputError(f"PubMed gives 1 to {MOST} records per query, got {most}; narrow the query by years.")
    utilities = utilities or EUtilities()
    folder = settings().pubmed_dir / hashlib.sha256(f"{query}\x00{most}".encode()).hexdigest()[:16]
    folder.mkdir(parents=True, exist_ok=True)
    job = unfinished(folder)
    resumed = job is not None
    if job is None:
        job = utilities.search(query, most)
        for old in folder.glob("*.xml"):
            old.unlink()
        write(folder / "job.json", job.model_dump_json().encode())
    found = []
    for start in range(0, len(job.pmids), BATCH):
        path = folder / f"records-{start:05d}.xml"
        found.append(path)
        if path.exists():
            continue
        if progress:
            last = min(start + BATCH, len(job.pmids))
            progress(start / len(job.pmids), f"Fetching records {start + 1}–{last} of {len(job.pmids)}")
        pmids = job.pmids[start:start + BATCH]
        # A history is kept for some hours only, so what is resumed is fetched by PMID.
        xml = utilities.fetch(pmids) if resumed or not job.web_env else utilities.fetch_found(job, start, len(pmids))
        write(path, xml)
    write(folder / "done", b"")
    return job, found


def import_query(
    query: str, corpus: str, most: int = 500, *, utilities: EUtilities | None = None,
    embeddings: PassageEmbeddings | None = None, progress: Progress | None = None,
) -> tuple[Job, library.ImportReport]:
    """Search PubMed and import what it finds into a corpus."""
    library.folder_of(corpus)
    job, found = download(query, most, utilities=utilities, progress=progress)
    if not found:
        raise InputError(f"PubMed finds nothing for {query!r} (understood as {job.translation or 'nothing'}); widen it.")
    return job, library.add(corpus, found, embeddings=embeddings, progress=progress)


def refresh(
    corpus: str, *, utilities: EUtilities | None = None, embeddings: PassageEmbeddings | None = None,
    progress: Progress | None = None,
) -> Refreshed:
    """Fetch the records of a corpus anew and take over new versions, errata, concerns and retractions."""
    before = {record.pmid: record for record in library.records_of(corpus) if record.pmid}
    if not before:
        raise InputError(f"Corpus {corpus!r} holds no record with a PMID; there is nothing to refresh.")
    utilities = utilities or EUtilities()
    pmids = [pmid for pmid in before if pmid]
    folder = settings().pubmed_dir / f"refresh-{corpus}"
    folder.mkdir(parents=True, exist_ok=True)
    found = []
    for start in range(0, len(pmids), BATCH):
        if progress:
            progress(start / len(pmids), f"Refreshing {min(start + BATCH, len(pmids))} of {len(pmids)} records")
        path = folder / f"records-{start:05d}.xml"
        write(path, utilities.fetch(pmids[start:start + BATCH]))
        found.append(path)
    report = library.add(corpus, found, embeddings=embeddings, progress=progress)
    after = {record.pmid: record for record in library.records_of(corpus) if record.pmid}
    new = {pmid: tuple(one.kind for one in after[pmid].notices if one not in before[pmid].notices)
           for pmid in pmids if pmid in after}
    given = b"".join(path.read_bytes() for path in found)
    missing = tuple(pmid for pmid in pmids if f">{pmid}</PMID>".encode() not in given)
    return Refreshed(report=report, new_notices={pmid: kinds for pmid, kinds in new.items() if kinds}, missing=missing)


def unfinished(folder: Path) -> Job | None:
    """The job of a download that broke off; a finished one is searched anew, since PubMed grows."""
    done = folder / "done"
    if done.exists():
        done.unlink()
        return None
    try:
        return Job.model_validate_json((folder / "job.json").read_bytes())
    except (FileNotFoundError, ValidationError):
        return None


def write(path: Path, content: bytes) -> None:
    part = path.with_name(path.name + ".part")
    part.write_bytes(content)
    os.replace(part, path)


def _complete(reply: httpx.Response) -> str:
    """Why a reply of EFetch is not the whole set of records."""
    text = reply.content.strip()
    if text.endswith((b"</PubmedArticleSet>", b"<PubmedArticleSet/>", b"<PubmedArticleSet></PubmedArticleSet>")):
        return ""
    return f"the reply is cut short or no record set: {text[:120]!r}"


def _rate_limited(reply: httpx.Response) -> str:
    return "rate limit" if b"API rate limit exceeded" in reply.content[:300] else ""


def _asked_wait(reply: httpx.Response, otherwise: float) -> float:
    asked = reply.headers.get("Retry-After", "")
    return min(float(asked), 60.0) if asked.isdigit() else otherwise
