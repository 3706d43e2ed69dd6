"""PubMed by way of PubCrawl, a server of the Model Context Protocol (MCP): an optional source.

In: a query. Out: a file of the server's unchanged results in `LITRAG_HOME/pubmed`, which is imported like any other
file (`litrag.readers.pubcrawl`). The server is a command that is started for the time of a download, or an address.
What came before a failure is kept, and the same call goes on from there. Tools and results: PubCrawl's README and source
(github.com/nickjlamb/pubcrawl, MIT); protocol: modelcontextprotocol.io, by its Python SDK.
"""

from __future__ import annotations

import hashlib
import json
import shlex
import shutil
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from litrag import library
from litrag.config import Settings, settings
from litrag.contents import Progress
from litrag.embeddings import PassageEmbeddings
from litrag.errors import InputError, LitRAGError, OfflineError
from litrag.models import PMID_PATTERN
from litrag.pubmed import Job, PubMedError, unfinished, write
from litrag.readers.pubcrawl import START, TOOL, ResultError, answered

if TYPE_CHECKING:
    from mcp import Client

SEARCH = "search_pubmed"
#: PubCrawl gives no more than this many records to one search.
MOST = 100
#: What servers call the number of results; PubCrawl's own name first.
_MOST_NAMES = ("maxResults", "max_results", "limit", "retmax")
_RESULTS = "pubcrawl.json"


def at_hand() -> bool:
    """Whether there seems to be a server: its address is set, or its command is installed."""
    server = settings().pubcrawl
    return _is_address(server) or bool(server.split() and shutil.which(shlex.split(server)[0]))


def import_query(
    query: str, corpus: str, most: int = MOST, *, embeddings: PassageEmbeddings | None = None,
    progress: Progress | None = None,
) -> tuple[Job, library.ImportReport]:
    """Search by PubCrawl and import what it gives; records that it can't give are rejected in the report.

    Raises PubMedError when the server is absent, ends, is too slow or refuses the search.
    """
    library.changeable(corpus)
    job, results = download(query, most, progress=progress)
    return job, library.add(corpus, [results], embeddings=embeddings, progress=progress)


def download(query: str, most: int = MOST, *, progress: Progress | None = None) -> tuple[Job, Path]:
    """Get the records that `query` finds, `most` at most, one by one; a download that broke off goes on.

    A record that the server reports an error for is asked for once more at the end; what it says then is kept.
    """
    config = settings()
    if config.offline:
        raise OfflineError("LITRAG_OFFLINE forbids calls to PubCrawl; unset it, or import a file.")
    if not query.strip():
        raise InputError("The PubMed query is empty; give one, such as 'semaglutide AND obesity'.")
    if not 1 <= most <= MOST:
        raise InputError(f"PubCrawl gives 1 to {MOST} records per query, got {most}; ask PubMed itself for more.")
    name = hashlib.sha256(f"{query}\x00{most}".encode()).hexdigest()[:16]
    return _Download(config, config.pubmed_dir / f"pubcrawl-{name}", query, most, progress or _silent).run()


@dataclass
class _Download:
    """One search and its abstracts; `doing` is said when the server fails."""

    config: Settings
    folder: Path
    query: str
    most: int
    progress: Progress
    doing: str = "the connection"

    def run(self) -> tuple[Job, Path]:
        import anyio

        self.folder.mkdir(parents=True, exist_ok=True)
        done = anyio.run(self._connected)
        if isinstance(done, Exception):
            raise done
        found = json.loads((self.folder / "search.json").read_text(encoding="utf-8"))["found"]
        write(self.folder / _RESULTS, "".join(self._kept(pmid, found) for pmid in done.pmids).encode())
        write(self.folder / "done", b"")
        return done, self.folder / _RESULTS

    async def _connected(self) -> Job | Exception:
        """The finished job, or why there is none: what is raised inside the SDK's task groups comes out wrapped."""
        try:
            from mcp import Client
        except ModuleNotFoundError as error:
            return PubMedError(f"PubCrawl needs the package {error.name!r}; run: pip install -r requirements.txt")
        failures = _failures()
        with (self.folder / "server.log").open("w+", encoding="utf-8") as log:
            try:
                async with Client(self._server(log), read_timeout_seconds=self.config.pubcrawl_timeout) as client:
                    try:
                        return await self._fetch(client)
                    except failures as error:
                        return self._explained(error, log)
            except failures as error:
                return self._explained(error, log)

    def _server(self, log: TextIO) -> str | AbstractAsyncContextManager[Any]:
        from mcp import StdioServerParameters
        from mcp.client.stdio import stdio_client

        if _is_address(self.config.pubcrawl):
            return self.config.pubcrawl
        command = shlex.split(self.config.pubcrawl)
        if not command:
            raise InputError("LITRAG_PUBCRAWL is empty; give the command of PubCrawl's MCP server, or its address.")
        key = self.config.ncbi_api_key
        parameters = StdioServerParameters(
            command=command[0], args=command[1:], env={"NCBI_API_KEY": key.get_secret_value()} if key else None)
        return stdio_client(parameters, errlog=log)

    async def _fetch(self, client: Client) -> Job:
        job = unfinished(self.folder)
        if job is None:
            job = await self._search(client)
        open_ones = [pmid for pmid in job.pmids if not self._is_there(pmid)]
        for done, pmid in enumerate(open_ones, start=len(job.pmids) - len(open_ones)):
            self.progress(done / len(job.pmids), f"Fetching record {done + 1} of {len(job.pmids)} from PubCrawl")
            await self._abstract(client, pmid)
        for pmid in [pmid for pmid in open_ones if not self._is_there(pmid)]:
            await self._abstract(client, pmid)
        return job

    async def _search(self, client: Client) -> Job:
        self.doing = "the list of tools"
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        if missing := [name for name in (SEARCH, TOOL) if name not in tools]:
            raise PubMedError(
                f"The MCP server {self._named()} has no tool {missing[0]!r}, it has {', '.join(sorted(tools)) or 'none'}; "
                "set LITRAG_PUBCRAWL to PubCrawl's command or address.")
        self.doing = f"the search {self.query!r}"
        known = tools[SEARCH].input_schema.get("properties") or {}
        arguments = {"query": self.query, **{name: self.most for name in _MOST_NAMES if name in known}}
        result = await self._call(client, SEARCH, arguments)
        try:
            given = answered(result)
            job, found = _searched(self.query, self.most, given)
        except ResultError as error:
            raise PubMedError(f"PubCrawl's search for {self.query!r} failed ({error.field}): {error}") from error
        if not job.pmids:
            raise InputError(f"PubCrawl finds nothing for {self.query!r}; widen it.")
        for old in self.folder.glob("[0-9]*.json"):
            old.unlink()
        write(self.folder / "search.json", json.dumps({"result": result, "found": found}, ensure_ascii=False).encode())
        write(self.folder / "job.json", job.model_dump_json().encode())
        return job

    async def _abstract(self, client: Client, pmid: str) -> None:
        self.doing = f"{TOOL} of PMID {pmid}"
        write(self.folder / f"{pmid}.json", json.dumps(
            await self._call(client, TOOL, {"pmid": pmid}), ensure_ascii=False).encode())

    async def _call(self, client: Client, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        result = await client.call_tool(tool, dict(arguments))
        return result.model_dump(mode="json", by_alias=True, exclude_none=True)

    def _is_there(self, pmid: str) -> bool:
        """Whether a result is kept that is no error."""
        try:
            answered(json.loads((self.folder / f"{pmid}.json").read_bytes()))
        except (FileNotFoundError, ValueError):
            return False
        return True

    def _kept(self, pmid: str, found: Mapping[str, Any]) -> str:
        """A line of the file of results."""
        result = json.loads((self.folder / f"{pmid}.json").read_bytes())
        rest = json.dumps({"pmid": pmid, "found": found.get(pmid), "result": result}, ensure_ascii=False)
        return f"{START}, {rest[1:]}\n"

    def _named(self) -> str:
        return repr(self.config.pubcrawl)

    def _explained(self, error: Exception, log: TextIO) -> LitRAGError:
        """What went wrong with the server, in words that name it and say what to do."""
        from mcp import MCPError
        from mcp_types import REQUEST_TIMEOUT

        while isinstance(error, ExceptionGroup):
            error = error.exceptions[0]
        if isinstance(error, LitRAGError):
            return error
        if not isinstance(error, _failures()):
            raise error
        came = sum(1 for _ in self.folder.glob("[0-9]*.json"))
        kept = f" The {came} records that came are kept; the same call goes on from there." if came else ""
        if isinstance(error, OSError) and not _is_address(self.config.pubcrawl) and self.doing == "the connection":
            return PubMedError(f"PubCrawl's server can't be started by {self._named()} ({error.strerror or error}); install "
                               "PubCrawl, or set LITRAG_PUBCRAWL to its command or address.")
        if isinstance(error, MCPError) and error.code == REQUEST_TIMEOUT:
            return PubMedError(f"PubCrawl's server {self._named()} gave no answer to {self.doing} in "
                               f"{self.config.pubcrawl_timeout:g} seconds; try again later, or raise "
                               f"LITRAG_PUBCRAWL_TIMEOUT.{kept}")
        log.seek(0)
        last = next(reversed([line.strip() for line in log if line.strip()]), "")
        why = f"{type(error).__name__}: {error}" + (f"; its last words: {last[:200]!r}" if last else "")
        return PubMedError(f"PubCrawl's server {self._named()} failed at {self.doing} ({why}); check that it runs, and try "
                           f"again.{kept}")


def _searched(query: str, most: int, given: Mapping[str, Any]) -> tuple[Job, dict[str, Any]]:
    """The job that a search's result describes, and what it says of each record, by PMID."""
    results = next((given[name] for name in ("results", "articles", "papers") if name in given), None)
    if not isinstance(results, list):
        raise ResultError("results", f"must be a list, the tool's answer has {', '.join(map(str, given)) or 'nothing'}")
    found: dict[str, Any] = {}
    for place, one in enumerate(results, start=1):
        pmid = str(one.get("pmid", "") if isinstance(one, Mapping) else one)
        if not PMID_PATTERN.fullmatch(pmid):
            raise ResultError("pmid", f"must be 1–8 digits without a leading zero, result {place} has {pmid[:60]!r}")
        found[pmid] = one if isinstance(one, Mapping) else {}
    pmids = tuple(found)[:most]
    total = given.get("total_count")
    return Job(query=query, count=total if isinstance(total, int) else len(pmids), pmids=pmids), found


def _failures() -> tuple[type[Exception], ...]:
    """What comes out of a download when a server is absent, ends, is too slow or breaks the protocol."""
    import anyio
    import httpx2
    from mcp import MCPError
    from pydantic import ValidationError

    return (
        LitRAGError, OSError, MCPError, ValidationError, httpx2.HTTPError, anyio.BrokenResourceError,
        anyio.ClosedResourceError, ExceptionGroup,
    )


def _is_address(server: str) -> bool:
    return server.startswith(("http://", "https://"))


def _silent(share: float, message: str) -> None:
    """Nobody wants to know."""
