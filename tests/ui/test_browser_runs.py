"""A run with a slow model: no click, reload or page change repeats its call; a stop ends it."""

from __future__ import annotations

import json
import re
import shutil
import threading

import pytest
from fakes.openai_server import OpenAIServer, says
from ui.conftest import App, serving, visiting

from litrag.reviews import open_store

pytestmark = pytest.mark.browser

QUESTION = "How much weight do adults without diabetes lose on semaglutide 2.4 mg?"
ENABLED = "[data-testid=stBaseButton-primaryFormSubmit]:not([disabled])"


class Model:
    """Quotes the passage that holds the figure once it is let go."""

    def __init__(self):
        self.go = threading.Event()
        self.fails = False

    def __call__(self, body):
        assert self.go.wait(120)
        if self.fails:
            return says("I'd rather not write JSON.")
        prompt = body["messages"][-1]["content"]
        number, line = next(
            (number, found[0]) for number, text in re.findall(r' id="p(\d+)">\n(.*?)\n</passage', prompt, re.S)
            if (found := re.search(r"At week 68, mean body weight[^\n]*?\.(?= |\n|$)", text))
        )
        return says(json.dumps({"insufficient_evidence": False, "missing": [], "statements": [
            {"text": f"In STEP 1, {line}", "citations": [{"passage_id": f"p{number}", "quote": line}]},
        ]}, ensure_ascii=False))


@pytest.fixture(scope="module")
def server():
    with OpenAIServer(compatible=True) as running:
        yield running


@pytest.fixture
def model(server):
    server.reply = made = Model()
    server.asked.clear()
    yield made
    made.go.set()


@pytest.fixture(scope="module")
def slow_app(home, server, tmp_path_factory):
    """An app whose answers are written by the model, with a second corpus beside the sample."""
    fresh = tmp_path_factory.mktemp("slow") / "home"
    for folder in ("models", "index"):
        shutil.copytree(home / folder, fresh / folder)
    store = open_store(f"sqlite:///{fresh / 'litrag.db'}")
    options = {"LITRAG_GENERATOR": "server:slow", "LITRAG_SERVER_URL": server.url, "LITRAG_JUDGE": "checks"}
    with serving(fresh, **options) as url:
        yield App(url, fresh, store)


@pytest.fixture
def visit(slow_app, browser):
    with visiting(slow_app, browser) as opened:
        yield opened


def ask(page, question=QUESTION):
    page.wait_for_selector(ENABLED)
    page.get_by_placeholder("For example").fill(question)
    page.keyboard.press("Enter")


def calls(server):
    return sum(asked.path.endswith("/chat/completions") for asked in server.asked)


def writing(page):
    page.locator(".lr-now", has_text="Writing").wait_for()


def test_clicks_reloads_and_page_changes_neither_repeat_a_call_nor_lose_the_answer(slow_app, server, model, visit, picture):
    before = slow_app.runs()
    page = visit("/")
    ask(page)
    writing(page)
    picture(page)
    link = page.url
    page.get_by_role("link", name="Verify").click()
    page.get_by_text("What to verify").wait_for()
    page.get_by_role("link", name="Ask").click()
    writing(page)
    assert page.url == link, "the page goes on with the run that it started"
    page.reload()
    writing(page)
    other = visit(link.removeprefix(slow_app.url))
    writing(other)
    model.go.set()
    for one in (page, other):
        one.wait_for_selector(".lr-claim")
    page.get_by_text("Only what needs attention").click()
    page.get_by_text("Only what needs attention").click()
    page.reload()
    page.wait_for_selector(".lr-claim")
    assert "−14.9%" in page.inner_text(".lr-claim")
    assert calls(server) == 1
    assert slow_app.runs() == before + 1


def test_a_run_ends_and_is_kept_though_its_page_was_closed(slow_app, server, model, visit):
    before = slow_app.runs()
    page = visit("/")
    ask(page)
    writing(page)
    link = page.url.removeprefix(slow_app.url)
    page.close()
    model.go.set()
    again = visit(link, ready=".lr-claim")
    assert "−14.9%" in again.inner_text(".lr-claim")
    assert (calls(server), slow_app.runs()) == (1, before + 1)


def test_a_stop_ends_the_run_at_once_and_keeps_every_earlier_answer(slow_app, server, model, visit, picture):
    page = visit("/")
    model.go.set()
    ask(page)
    page.wait_for_selector(".lr-claim")
    kept, text = page.url, page.inner_text(".lr-answer")
    model.go.clear()
    before = slow_app.runs()
    ask(page, "How much weight do adults without diabetes lose?")
    writing(page)
    page.get_by_role("button", name="Stop the run").click()
    page.get_by_text("The run was stopped before there was an answer").wait_for()
    picture(page)
    model.go.set()
    page.get_by_role("button", name="Try again").click()
    page.wait_for_selector(".lr-claim")
    assert slow_app.runs() == before + 1
    page.goto(kept)
    page.wait_for_selector(".lr-claim")
    assert page.inner_text(".lr-answer") == text


def test_a_failing_model_is_named_with_its_remedy_and_nothing_is_shown_as_an_answer(slow_app, server, model, visit):
    model.fails = True
    model.go.set()
    before = slow_app.runs()
    page = visit("/")
    ask(page)
    page.get_by_test_id("stAlert").wait_for()
    assert page.locator(".lr-claim").count() == 0
    page.get_by_role("button", name="Try again").wait_for()
    assert slow_app.runs() == before
