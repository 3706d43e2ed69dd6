"""Verify in a real browser: prepared answers, pasted text, tables, re-anchoring."""

import json
import re

import pytest
from ui.conftest import downloaded

from litrag.config import PROJECT
from litrag.stylesheet import PALETTE

pytestmark = pytest.mark.browser

ENABLED = "[data-testid=stBaseButton-primaryFormSubmit]:not([disabled])"
ANSWERS = json.loads((PROJECT / "data" / "sample_answers.json").read_text("utf-8"))["answers"]


def choose(page, kind):
    page.get_by_text(kind, exact=True).click()


@pytest.mark.parametrize("prepared", ANSWERS, ids=lambda answer: answer["id"])
def test_every_seeded_fault_of_a_prepared_answer_gets_its_verdict_and_an_explanation(visit, picture, prepared):
    page = visit("/verify")
    page.wait_for_selector(ENABLED)
    choose(page, "Prepared answers")
    page.get_by_role("button", name=prepared["title"]).click()
    page.wait_for_selector(".lr-claim")
    shown = page.locator(".lr-claim").all()
    assert len(shown) == len(prepared["claims"])
    wrong = []
    for wanted, claim in zip(prepared["claims"], shown, strict=True):
        state = claim.get_attribute("data-lr-state")
        if state != (wanted["expected_verdict"] if wanted["citations"] else "uncited"):
            wrong.append((wanted["id"], wanted["expected_verdict"], state))
        assert PALETTE[state].word in claim.inner_text()
        assert claim.locator(".lr-why").count() >= 1, wanted["id"]
    picture(page, full=True)
    assert wrong == []


def test_a_pasted_text_is_split_resolved_and_judged(visit, picture):
    page = visit("/verify", theme="dark")
    page.wait_for_selector(ENABLED)
    page.get_by_label("Text to verify").fill(
        "Semaglutide 2.4 mg lowered body weight by 14.9% in STEP 1 (PMID 33567185). It cures baldness (PMID 12345678).\n"
    )
    page.get_by_role("button", name="Verify", exact=True).click()
    page.wait_for_selector(".lr-claim")
    text = page.inner_text(".lr-answer")
    assert "STEP 1" in text
    assert "12345678 isn't in this corpus" in text or "PMID 12345678" in text
    picture(page)


def test_a_table_gives_claims_results_and_files(visit, tmp_path):
    table = tmp_path / "claims.csv"
    table.write_text("claim,pmid,quote\nWaist shrank by 99 m.,33567185,waist shrank by 99 m in all arms\nX.,12345678,\n")
    page = visit("/verify")
    page.wait_for_selector(ENABLED)
    choose(page, "Upload a table")
    page.set_input_files("input[type=file]", table)
    page.get_by_text("claims.csv").first.wait_for()
    page.get_by_role("button", name="Verify the table").click()
    page.wait_for_selector(".lr-claim")
    states = [claim.get_attribute("data-lr-state") for claim in page.locator(".lr-claim").all()]
    assert states == ["hallucinated_quote", "uncited"]
    page.get_by_role("button", name="Export").click()
    rows = [json.loads(line) for line in downloaded(page, "Results of the table (JSONL)").read_text("utf-8").splitlines()]
    assert [row["state"] for row in rows] == states


def test_one_click_moves_a_citation_to_the_source_that_holds_the_quote(app, visit, picture):
    page = visit("/verify?run=every-state", ready=".lr-claim")
    before = app.runs()
    page.get_by_role("button", name="Cite this source instead").click()
    page.wait_for_url(re.compile(r"run=[0-9a-f]{12}$"))
    page.get_by_text("was moved from [1] to [2] NIGHT-2").wait_for()
    moved = page.locator('.lr-claim[data-lr-place="6"]')
    assert moved.locator(".lr-ref").all_inner_texts() == ["[2]"]
    assert app.runs() == before + 1
    assert app.store.run("every-state").claims[6].citation.n == 1, "the first answer stays as it was"
    picture(page)


def test_an_empty_text_starts_nothing(app, visit):
    page = visit("/verify")
    page.wait_for_selector(ENABLED)
    before = app.runs()
    page.get_by_role("button", name="Verify", exact=True).click()
    page.get_by_text("Paste a text first").wait_for()
    assert app.runs() == before
