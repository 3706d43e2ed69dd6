"""The real app on a free port of 127.0.0.1 with a home of its own, and a headless Chromium to drive it."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

import pytest
from fakes import shown
from fakes.embeddings import WordEmbeddings
from fakes.labelled import ErringJudge, import_labels
from fakes.needed import unavailable
from playwright.sync_api import Browser, Page, Playwright, sync_playwright

from litrag import library
from litrag.config import settings
from litrag.labels import Role
from litrag.recalibration import rescore
from litrag.reviews import Store, open_store

PROJECT = Path(__file__).resolve().parents[2]
ARTEFACTS = PROJECT / "artefacts" / "ui"
AXE = PROJECT / "artefacts" / "axe" / "node_modules" / "axe-core" / "axe.min.js"
AXE_COMMAND = "npm install --no-save --no-audit --no-fund --prefix artefacts/axe axe-core@4.14.1"

BROWSER_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)
#: Milliseconds that a browser waits; a run with a model on a busy machine takes its time.
PATIENCE = 90_000
SIZES = {"desktop": {"width": 1440, "height": 900}, "phone": {"width": 390, "height": 844}}


@dataclass
class App:
    """A running app: its address, home and store, and what a browser on it did that it shouldn't."""

    url: str
    home: Path
    store: Store
    requests: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def runs(self) -> int:
        return len(self.store.runs(limit=1000))


@contextmanager
def serving(home: Path, **settings: str) -> Iterator[str]:
    """The app as a user starts it, with a home of its own; gives its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = home / "server.log"
    with log.open("wb") as output:
        server = subprocess.Popen(
            [sys.executable, "-m", "streamlit", "run", "app.py", "--server.address", "127.0.0.1", "--server.port", str(port),
             "--server.headless", "true", "--browser.gatherUsageStats", "false", "--server.fileWatcherType", "none"],
            cwd=PROJECT, env=environment(home) | settings, stdout=output, stderr=subprocess.STDOUT,
        )
    try:
        _wait_for(f"http://127.0.0.1:{port}/_stcore/health", server, log)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(30)


def environment(home: Path) -> dict[str, str]:
    """The environment of a process with a home of its own and no setting of the tester's."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("LITRAG_", "STREAMLIT_"))}
    return kept | {"LITRAG_HOME": str(home), "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home whose sample index is built and whose store holds the hand-built answers."""
    folder = tmp_path_factory.mktemp("app") / "home"
    folder.mkdir()
    build = "from litrag.index import open_index; open_index('sample')"
    subprocess.run([sys.executable, "-c", build], cwd=PROJECT, env=environment(folder), check=True, timeout=900)
    return folder


@pytest.fixture(scope="session")
def app(home: Path) -> Iterator[App]:
    store = open_store(f"sqlite:///{home / 'litrag.db'}")
    for answer in (shown.every_state(), shown.abstained(), shown.hostile(), shown.repeated()):
        store.save_run(answer)
    with serving(home) as url:
        yield App(url, home, store)


@pytest.fixture(scope="session")
def stocked(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """Another app, whose home holds an imported corpus, a reviewer with items, and labels that two judges were scored on."""
    own = tmp_path_factory.mktemp("stocked") / "home"
    shutil.copytree(home, own, ignore=shutil.ignore_patterns("litrag.db*", "*.log", "logs"))
    patch = pytest.MonkeyPatch()
    patch.setenv("LITRAG_HOME", str(own))
    settings.cache_clear()
    try:
        table = own / "exported list.csv"
        table.write_text("Title,Abstract,PMID\nCocoa and naps,Cocoa lengthened naps by 9 minutes.,99000201\n"
                         "RETRACTED: Cocoa at noon,Cocoa had no effect.,99000202\nCocoa without an abstract,,99000203\n,,7\n")
        library.keep_report(library.add("Cocoa", [table], embeddings=WordEmbeddings()), "first")
    finally:
        patch.undo()
        settings.cache_clear()
    store = open_store(f"sqlite:///{own / 'litrag.db'}")
    for answer in (shown.every_state(), shown.abstained()):
        store.save_run(answer)
    import_labels(store, 120, questions=60)
    rescore(store, ErringJudge())
    rescore(store, ErringJudge("better", wrong=0.02))
    store.send_to_review("every-state")
    store.add_reviewer("Ann", Role.ADJUDICATOR)
    with serving(own) as url:
        yield App(url, own, store)
    store.close()


def _wait_for(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(240):
        if server.poll() is not None:
            pytest.fail(f"the app ended: {log.read_text(errors='replace')[-2000:]}")
        try:
            with urllib.request.urlopen(url, timeout=2) as answer:
                if answer.status == 200:
                    return
        except OSError:
            time.sleep(0.25)
    pytest.fail(f"the app didn't answer within a minute: {log.read_text(errors='replace')[-2000:]}")


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as running:
        yield running


@pytest.fixture(scope="session")
def browser(playwright: Playwright) -> Iterator[Browser]:
    path = shutil.which("chromium")
    if path is None:
        unavailable("no Chromium found: install Debian's package chromium")
    opened = playwright.chromium.launch(executable_path=path, args=list(BROWSER_FLAGS))
    yield opened
    opened.close()


Visit = Callable[..., Page]


@pytest.fixture
def visit(app: App, browser: Browser) -> Iterator[Visit]:
    """Open a page of the app; dialogs, script errors and requests to elsewhere are noted, and none may occur."""
    with visiting(app, browser) as opened:
        yield opened


@contextmanager
def visiting(app: App, browser: Browser) -> Iterator[Visit]:
    contexts = []
    for noted in (app.requests, app.dialogs, app.errors):
        noted.clear()

    def opened(path: str, *, theme: str = "light", size: str = "desktop", ready: str = "[data-testid=stHeading]") -> Page:
        phone = size == "phone"
        context = browser.new_context(color_scheme=theme, viewport=SIZES[size], has_touch=phone, is_mobile=phone)
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        page = context.new_page()
        page.on("request", lambda request: _note(app, request.url))
        page.on("dialog", lambda dialog: (app.dialogs.append(dialog.message), dialog.dismiss()))
        page.on("pageerror", lambda error: app.errors.append(str(error)))
        page.goto(app.url + path)
        page.wait_for_selector(ready)
        page.wait_for_selector("html.lr-alive", state="attached")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert app.dialogs == []
    assert app.errors == []
    assert app.requests == []


def _note(app: App, url: str) -> None:
    if not url.startswith((app.url, app.url.replace("http", "ws", 1), "data:", "blob:")):
        app.requests.append(url)


def settled(page: Page) -> None:
    """Wait until the server has finished its run."""
    page.wait_for_function(
        "document.querySelector('[data-testid=stApp]').getAttribute('data-test-script-state') === 'notRunning'"
    )


def downloaded(page: Page, button: str) -> Path:
    """Where the file lies that a button gives; a click during a run of the server would be lost."""
    settled(page)
    with page.expect_download() as download:
        page.get_by_role("button", name=button).click()
    return download.value.path()


def looks(page: Page) -> Iterator[str]:
    """The open page in both themes, on desktop and phone, one after the other, each by its name."""
    for size, theme in product(SIZES, ("light", "dark")):
        page.set_viewport_size(SIZES[size])
        page.emulate_media(color_scheme=theme)
        page.wait_for_timeout(600)  # colours fade, and the sidebar slides
        yield f"{theme}-{size}"


def axe_script() -> str:
    """axe-core's source, to be evaluated in a page."""
    if not AXE.exists():
        unavailable(f"axe-core is missing: {AXE_COMMAND}")
    return AXE.read_text("utf-8")


def axe_faults(page: Page) -> list[tuple[str, list[str], str]]:
    """Serious and critical faults that axe-core finds in the page as it is now."""
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
    return [
        (fault["id"], node["target"], node["failureSummary"][:300])
        for fault in found if fault["impact"] in ("serious", "critical") for node in fault["nodes"]
    ]


@pytest.fixture
def picture(request: pytest.FixtureRequest) -> Callable[..., None]:
    """Keep a screenshot of the page as an artefact, named after the test."""
    ARTEFACTS.mkdir(parents=True, exist_ok=True)
    name = "".join(c if c.isalnum() or c in "-_" else "-" for c in request.node.name.removeprefix("test_"))

    def taken(page: Page, label: str = "", *, full: bool = False) -> None:
        page.screenshot(path=ARTEFACTS / f"{name}{f'.{label}' if label else ''}.png", full_page=full)

    return taken
