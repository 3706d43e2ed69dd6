"""Calibrate in a real browser: a labelled table comes in, the badge on Ask changes, two judges compare, all rolls back."""

import csv
import re
import shutil

import pytest
from ui.conftest import App, serving, visiting

from litrag.profiles import open_history
from litrag.reviews import open_store

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
QUESTIONS = 60


@pytest.fixture
def knee(home, browser, tmp_path):
    """An app of its own over one record, so that no other test sees its labels and profiles."""
    corpus, fresh = tmp_path / "corpus", tmp_path / "own"
    corpus.mkdir()
    (corpus / "knee.md").write_text(RECORD, "utf-8")
    shutil.copytree(home / "models", fresh / "models")
    store = open_store(f"sqlite:///{fresh / 'litrag.db'}")
    with serving(fresh, LITRAG_CORPUS=str(corpus)) as url:
        app = App(url, fresh, store)
        with visiting(app, browser) as visit:
            yield app, visit
    store.close()


def labelled_table(path):
    """Two claims per question: one that its text says word for word, one that it doesn't speak of.

    Reviewers call every fifth of the former partial, so that the judge is wrong there.
    """
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["question", "claim", "abstract", "label"])
        for n in range(QUESTIONS):
            said = f"At week {n + 2}, pain fell by {n + 5}.5 points with brimafol in trial {n}."
            text = f"The trial enrolled {200 + n} adults. {said} Nausea was rare."
            writer.writerow([f"Does brimafol help in trial {n}?", said, text, "partial" if n % 5 == 0 else "Supports"])
            writer.writerow([f"Does brimafol help in trial {n}?", "Hair grew faster in children with asthma.", text, "not found"])


def settled(page):
    page.wait_for_function(
        "document.querySelector('[data-testid=stApp]').getAttribute('data-test-script-state') === 'notRunning'"
    )


def import_labels(page, table):
    page.get_by_text("Import a labelled table").click()
    page.set_input_files("input[type=file]", table)
    page.get_by_text(f"{2 * QUESTIONS} labels, 0 rows with a problem").wait_for()
    page.get_by_text("The reviewers saw no verdict").click()
    settled(page)
    page.get_by_role("button", name="Import the labels").click()
    page.get_by_text(f"{2 * QUESTIONS} labels imported").wait_for()


def score(page, judge):
    chooser = page.get_by_role("combobox", name="Score the labelled items with")
    chooser.click()
    chooser.fill(judge)
    page.get_by_role("option", name=judge, exact=True).click()
    settled(page)
    page.get_by_role("button", name="Score", exact=True).click()
    page.get_by_role("button", name="Compare", exact=True).wait_for()


def test_labels_change_the_badge_on_ask_two_judges_compare_and_a_profile_rolls_back(knee, tmp_path, picture):
    app, visit = knee
    table = tmp_path / "labels.csv"
    labelled_table(table)

    ask = visit("/")
    ask.wait_for_selector("[data-testid=stBaseButton-primaryFormSubmit]:not([disabled])")
    ask.get_by_placeholder("For example").fill("Does brimafol reduce knee pain?")
    ask.keyboard.press("Enter")
    ask.wait_for_selector(".lr-claim")
    assert "uncalibrated" in ask.inner_text(".lr-claim .lr-meta")
    answer = ask.url.removeprefix(app.url)

    page = visit("/calibrate")
    page.get_by_text("nothing is known about how often it is wrong").wait_for()
    import_labels(page, table)
    page.get_by_role("button", name="Calibrate", exact=True).click()
    page.get_by_text("that reviewers checked blind were wrong").wait_for()
    page.wait_for_selector(".lr-cb-grave .lr-cb-cell")
    picture(page, "calibrated", full=True)
    page.locator(".lr-cb-grave .lr-cb-cell").first.click()
    page.wait_for_selector(".lr-cb-items [data-lr-item]")
    assert "pain fell by" in page.inner_text(".lr-cb-items")

    (profile,) = open_history(app.home).in_force()
    rate = profile.wrong["supports"]
    assert rate.hits > 0
    again = visit(answer, ready=".lr-claim")
    assert f"this judge's supports were wrong in {rate.hits} of {rate.n}" in again.inner_text(".lr-claim .lr-meta")
    again.get_by_text("by reviewers' blind labels").wait_for()
    picture(again, "badge")

    score(page, "checks")
    page.get_by_role("button", name="Compare", exact=True).click()
    page.get_by_text(re.compile(r"^checks .* may (not )?replace local .*")).wait_for()
    picture(page, "compared")

    page.get_by_role("button", name="Roll back").click()
    page.get_by_text("nothing is known about how often it is wrong").wait_for()
    assert open_history(app.home).in_force() == []
    back = visit(answer, ready=".lr-claim")
    assert "uncalibrated" in back.inner_text(".lr-claim .lr-meta")
