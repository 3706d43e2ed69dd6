"""The first start: the index is built with its progress shown, and a link to a page works on a cold server."""

import shutil

import pytest
from ui.conftest import App, serving, visiting

pytestmark = pytest.mark.browser

RECORD = """---
pmid: "99000001"
title: Brimafol for knee pain
study: KNEE-1
year: 2021
---
## Results
At week 12, pain fell by 21.5 points with brimafol and by 9.8 points with placebo in adults with knee pain.
"""


def test_the_first_visit_may_be_to_any_page_and_builds_the_index(home, browser, tmp_path, picture):
    corpus, fresh = tmp_path / "corpus", tmp_path / "home"
    corpus.mkdir()
    (corpus / "knee.md").write_text(RECORD, "utf-8")
    shutil.copytree(home / "models", fresh / "models")
    with serving(fresh, LITRAG_CORPUS=str(corpus)) as url, visiting(App(url, fresh, None), browser) as visit:
        page = visit("/verify")
        assert page.url == f"{url}/verify"
        assert page.locator("[data-testid=stSidebarNav] a").count() >= 2
        assert page.title() == "Verify · LitRAG"
        page.wait_for_selector("[data-testid=stBaseButton-primaryFormSubmit]:not([disabled])")
        page.get_by_role("link", name="Ask").click()
        page.get_by_placeholder("For example").fill("Does brimafol reduce knee pain?")
        page.keyboard.press("Enter")
        page.wait_for_selector(".lr-claim")
        assert "21.5" in page.inner_text(".lr-claim")
        picture(page)
    assert list((fresh / "index").glob("*/manifest.json"))
