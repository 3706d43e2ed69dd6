"""A hostile corpus shows as text: no dialog, no request leaves the page (the visit fixture asserts both), no leak.

First an answer that holds every hostile string everywhere, then a corpus of them, read, indexed and asked in the app.
"""

import json
import shutil
import subprocess
import sys

import pytest
from fakes.shown import HOSTILE
from ui.conftest import PROJECT, App, environment, serving, visiting

from litrag.reviews import open_store

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("size", ["desktop", "phone"])
def test_hostile_strings_show_as_themselves(visit, picture, size):
    page = visit("/?run=hostile%3Cscript%3E", size=size, ready=".lr-claim")
    text = page.inner_text(".lr-answer")
    for evil in HOSTILE:
        assert f"Claim {shown(evil)} end." in text, evil
    assert page.title() == "Ask · LitRAG"
    picture(page)


def test_nothing_of_it_became_an_element(visit):
    page = visit("/?run=hostile%3Cscript%3E", ready=".lr-claim")
    strange = "script, iframe, img, form, input, svg, style, math, base, link, object, embed, [style], [onerror], [onload]"
    assert page.locator(f".lr-answer :is({strange})").count() == 0
    assert page.locator(".lr-answer details:not(.lr-full):not(.lr-rest)").count() == 0
    addresses = page.eval_on_selector_all(".lr a[target=_blank]", "links => links.map(link => link.href)")
    assert addresses
    assert all(a.startswith(("https://pubmed.ncbi.nlm.nih.gov/9900", "https://doi.org/10.5555/")) for a in addresses)


def outside_their_cards(page):
    """How many cards have a part that stands out at a side."""
    return page.evaluate(
        """() => [...document.querySelectorAll('.lr-claim, .lr-source')].filter(card => {
          const box = card.getBoundingClientRect()
          return [...card.querySelectorAll('.lr-text, .lr-why, .lr-title, .lr-excerpt, .lr-chips, .lr-where, .lr-name')]
            .map(part => part.getBoundingClientRect())
            .filter(inner => inner.width > 0)  // what stands in a closed card takes no room
            .some(inner => inner.right > box.right + 1 || inner.left < box.left - 1)
        }).length"""
    )


@pytest.mark.parametrize("size", ["desktop", "phone"])
def test_nothing_leaves_its_card(visit, size):
    page = visit("/?run=hostile%3Cscript%3E", size=size, ready=".lr-claim")
    assert outside_their_cards(page) == 0
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "the page doesn't scroll sideways"
    longest = page.locator(".lr-title").last
    assert longest.evaluate("node => node.clientHeight < 200"), "20,000 characters scroll inside their card"


def test_dollars_tildes_and_directives_stay_as_typed_everywhere(visit):
    page = visit("/?run=hostile%3Cscript%3E", ready=".lr-claim")
    assert page.locator(".katex, del, s, .stMarkdownColoredText").count() == 0
    page.get_by_role("button", name="Export").click()
    page.wait_for_selector("[data-testid=stCode]")
    assert page.locator("[data-testid=stPopoverBody] img").count() == 0


# --- a corpus
QUESTION = "Does brimafol lower knee pain in adults?"


def hostile_records():
    for n, evil in enumerate(HOSTILE, start=1):
        yield {
            "pmid": f"9900{n:04d}", "title": f"Brimafol for knee pain {evil}", "study": f"KNEE-{n} {evil}", "year": 2020,
            "journal": f"J {evil}", "publication_types": [evil], "authors": [evil], "doi": f"10.5555/x{n}\"><b>",
            "abstract": f"Brimafol lowered knee pain by {n}.5 points in adults {evil} at week 12.",
        }
    yield {"pmid": "99000999", "title": "W" * 20_000, "abstract": "Brimafol lowered knee pain by 99.5 points in adults."}


@pytest.fixture(scope="module")
def two_corpora(home, tmp_path_factory):
    """An app with the sample and a hostile corpus; every claim of an answer is shown."""
    folder = tmp_path_factory.mktemp("hostile")
    fresh, records = folder / "home", folder / "records.jsonl"
    for name in ("models", "index"):
        shutil.copytree(home / name, fresh / name)
    records.write_text("\n".join(json.dumps(record) for record in hostile_records()), "utf-8")
    ingest = [sys.executable, "-m", "litrag", "ingest", str(records), "--corpus", "hostile"]
    subprocess.run(ingest, cwd=PROJECT, env=environment(fresh), check=True, timeout=300)
    options = {"LITRAG_JUDGE": "checks", "LITRAG_MAX_CLAIMS": "30", "LITRAG_PASSAGES": "60"}
    with serving(fresh, **options) as url:
        yield App(url, fresh, open_store(f"sqlite:///{fresh / 'litrag.db'}"))


def ask(page, question, *, shows=".lr-claim"):
    page.wait_for_selector("[data-testid=stBaseButton-primaryFormSubmit]:not([disabled])")
    page.get_by_placeholder("For example").fill(question)
    page.keyboard.press("Enter")
    page.wait_for_selector(shows)


def choose_corpus(page, name):
    page.get_by_role("combobox", name="Corpus").click()
    page.get_by_role("option", name=name).click()
    page.get_by_text("29 records").wait_for()


def test_a_hostile_corpus_that_is_asked_and_verified_shows_as_text(two_corpora, browser, picture):
    with visiting(two_corpora, browser) as visit:
        page = visit("/")
        choose_corpus(page, "hostile")
        ask(page, QUESTION)
        picture(page)
        shows_as_text(page)
        page.locator(".lr-claim .lr-ref").first.click()
        page.wait_for_selector(".lr-card:popover-open")
        page.keyboard.press("Escape")
        page.get_by_role("link", name="Verify").click()
        page.wait_for_selector("[data-testid=stBaseButton-primaryFormSubmit]:not([disabled])")
        claims = [f"{evil} helped adults (PMID 9900{n:04d})." for n, evil in enumerate(HOSTILE, start=1)]
        page.get_by_label("Text to verify").fill("\n\n".join(claims))
        page.get_by_role("button", name="Verify", exact=True).click()
        page.wait_for_selector(".lr-claim")
        shows_as_text(page)
        sources = page.inner_text(".lr-sources")
        assert [evil for evil in HOSTILE if shown(evil) not in sources] == []


def shown(evil):
    return evil.replace("\u202e", "U+202E").replace("\u202c", "U+202C")


def shows_as_text(page):
    strange = "script, iframe, img, form, input, svg, style, math, base, link, object, embed, [style], [onerror]"
    assert page.locator(f".lr-answer :is({strange})").count() == 0
    assert outside_their_cards(page) == 0


def test_two_sessions_with_two_corpora_see_nothing_of_each_other(two_corpora, browser):
    with visiting(two_corpora, browser) as visit:
        first, second = visit("/"), visit("/")
        choose_corpus(second, "hostile")
        ask(second, QUESTION)
        ask(first, QUESTION, shows=".lr-abstention")
        assert "99000" in second.inner_text(".lr-answer")
        assert "99000" not in first.content()
        first.reload()
        first.wait_for_selector(".lr-abstention")
        assert "15 records" in first.inner_text("[data-testid=stSidebar]")
        assert "99000" not in first.content()
