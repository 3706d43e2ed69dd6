"""A real MCP server with PubCrawl's two tools, on stdio or on 127.0.0.1, that fails as its script tells it to.

Shapes of arguments and results follow PubCrawl's source. Run as a program it speaks stdio: `… SCRIPT ASKED`, where
SCRIPT is a JSON file of `Script` and ASKED the file that gets a line for each call.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.types import CallToolResult, TextContent


@dataclass
class Script:
    """What the server knows and where it fails; `fails` by PMID: `dies`, `hangs`, or the words of a tool error."""

    articles: dict[str, dict[str, Any]] = field(default_factory=dict)
    plain: dict[str, str] = field(default_factory=dict)
    fails: dict[str, list[str]] = field(default_factory=dict)
    search_error: str = ""
    search_reply: str = ""
    tools: list[str] = field(default_factory=lambda: ["search_pubmed", "get_abstract"])
    asked: list[list[Any]] = field(default_factory=list)


def an_article(pmid: str, *sections: tuple[str, str], **more: Any) -> dict[str, Any]:
    """A result of `get_abstract`."""
    return {
        "pmid": pmid, "title": f"Trial number {pmid}", "authors": ["Lind Berta Maria"], "journal": "The Lancet",
        "year": "2021", "doi": f"10.1000/{pmid}", "volume": "397", "issue": "10", "pages": "1-9",
        "abstract_sections": [{"label": label, "text": text} for label, text in sections], "keywords": ["sleep"],
        "mesh_terms": ["Milk"], "pmc_id": "",
    } | more


def _said(text: str, *, error: bool = False) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=text)], is_error=error)


def a_server(script: Script, note: Callable[[Sequence[Any]], Any] = lambda call: None) -> MCPServer:
    server = MCPServer("pubcrawl", log_level="CRITICAL")

    def asked(*call: Any) -> None:
        script.asked.append(list(call))
        note(call)

    def search_pubmed(query: str, maxResults: int = 10, sort: str = "relevance") -> CallToolResult:
        asked("search_pubmed", query, maxResults)
        if script.search_error:
            return _said(f"Error searching PubMed: {script.search_error}", error=True)
        if script.search_reply:
            return _said(script.search_reply)
        known = [] if query == "nothing" else [*script.articles, *script.plain]
        results = [{
            "pmid": pmid, "title": script.articles.get(pmid, {}).get("title", ""), "authors": ["Lind BM"],
            "journal": "Lancet (London, England)", "year": "2021", "doi": "",
        } for pmid in known[:maxResults]]
        return _said(json.dumps({"results": results, "total_count": len(known)}))

    def get_abstract(pmid: str, structured: bool = True) -> CallToolResult:
        asked("get_abstract", pmid)
        failures = script.fails.get(pmid)
        how = failures.pop(0) if failures else ""
        if how == "dies":
            print("Fatal error: out of beer", file=sys.stderr, flush=True)
            os._exit(3)
        if how == "hangs":
            time.sleep(1.5)
        elif how:
            return _said(f"Error fetching abstract: {how}", error=True)
        if pmid in script.plain:
            return _said(script.plain[pmid])
        return _said(json.dumps(script.articles[pmid]))

    for tool in (search_pubmed, get_abstract):
        if tool.__name__ in script.tools:
            server.tool(structured_output=False)(tool)
    return server


@contextmanager
def on_http(script: Script) -> Iterator[str]:
    """The server's address on 127.0.0.1."""
    import uvicorn

    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        app = a_server(script).streamable_http_app(stateless_http=True, json_response=True)
        running = uvicorn.Server(uvicorn.Config(app, log_level="critical", timeout_graceful_shutdown=1))
        thread = threading.Thread(target=running.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        while not running.started:
            time.sleep(0.01)
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
        finally:
            running.should_exit = True
            thread.join()


def as_command(script: Script, folder: Path) -> str:
    """The command that starts the server on stdio."""
    path = folder / "script.json"
    path.write_text(json.dumps(asdict(script)), encoding="utf-8")
    return f"{sys.executable} {Path(__file__).resolve()} {path} {folder / 'asked.jsonl'}"


def asked_of_command(folder: Path) -> list[list[Any]]:
    return [json.loads(line) for line in (folder / "asked.jsonl").read_text(encoding="utf-8").splitlines()]


if __name__ == "__main__":
    with Path(sys.argv[2]).open("a", encoding="utf-8", buffering=1) as log:
        a_server(Script(**json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))),
                 note=lambda call: log.write(json.dumps(call) + "\n")).run()
