"""A loopback server that answers like PubMed's ESearch and EFetch, with failures on demand."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs


class FakePubMed:
    """Holds articles (XML by PMID) and what was asked of it; `failures` are given out before any real answer."""

    def __init__(self, articles: Mapping[str, str]) -> None:
        self.articles = dict(articles)
        self.asked: list[tuple[str, dict[str, str]]] = []
        self.failures: list[tuple[int, str]] = []
        self.url = ""

    def answer(self, utility: str, form: dict[str, str]) -> tuple[int, str]:
        self.asked.append((utility, form))
        if self.failures:
            return self.failures.pop(0)
        if utility == "esearch.fcgi":
            found = [] if form["term"] == "nothing" else list(self.articles)
            return 200, json.dumps({"esearchresult": {
                "count": str(len(found)), "idlist": found[:int(form["retmax"])], "webenv": "MCID_1", "querykey": "1",
                "querytranslation": form["term"].upper()}})
        if "id" in form:
            pmids = form["id"].split(",")
        elif form.get("WebEnv") == "MCID_1":
            start = int(form["retstart"])
            pmids = list(self.articles)[start:start + int(form["retmax"])]
        else:
            return 400, "<ERROR>Unable to obtain query</ERROR>"
        return 200, "<PubmedArticleSet>" + "".join(self.articles.get(pmid, "") for pmid in pmids) + "</PubmedArticleSet>"


def an_article(pmid: str, text: str, *, more: str = "", day: str = "01") -> str:
    return (
        f"<PubmedArticle><MedlineCitation><PMID>{pmid}</PMID><DateRevised><Year>2024</Year><Month>01</Month><Day>{day}</Day>"
        f"</DateRevised><Article><ArticleTitle>Trial number {pmid}</ArticleTitle><Abstract><AbstractText>{text}</AbstractText>"
        f"</Abstract></Article>{more}</MedlineCitation></PubmedArticle>"
    )


@contextmanager
def fake_pubmed(articles: Mapping[str, str]) -> Iterator[FakePubMed]:
    fake = FakePubMed(articles)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode(), keep_blank_values=True)
            code, body = fake.answer(self.path.rsplit("/", 1)[1], {name: values[0] for name, values in form.items()})
            self.send_response(code)
            self.send_header("Content-Length", str(len(body.encode())))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *arguments: object) -> None:
            """Tests read `asked` instead."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    fake.url = f"http://127.0.0.1:{server.server_address[1]}/entrez/eutils"
    try:
        yield fake
    finally:
        server.shutdown()
        server.server_close()
