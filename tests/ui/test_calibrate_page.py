"""The Calibrate page by Streamlit's own test runner: every state of it, without a browser."""

import re
from html import unescape

import pytest
from fakes.labelled import COLUMNS, ErringJudge, import_labels, rows
from streamlit.testing.v1 import AppTest

from litrag.calibration import JudgeKey
from litrag.calibration_html import items_html
from litrag.calibration_report import as_html, as_markdown
from litrag.config import PROJECT
from litrag.foreign_labels import Mapped, import_foreign
from litrag.labels import Kind
from litrag.models import Verdict
from litrag.profiles import open_history
from litrag.recalibration import calibration_of, labelled_items, rescore
from litrag.reviews import Action, open_store
from litrag.ui.shell import workbench

ERRING = JudgeKey(judge="erring", model="erring", version="1")


@pytest.fixture
def store(monkeypatch):
    monkeypatch.chdir(PROJECT)
    workbench.clear()
    opened = open_store()
    yield opened
    opened.close()
    workbench.clear()


@pytest.fixture
def labelled(store):
    """120 blind labels, judged by two judges."""
    import_labels(store, 120, questions=60)
    rescore(store, ErringJudge())
    rescore(store, ErringJudge("better", wrong=0.02))
    return store


def page():
    shown = AppTest.from_file(str(PROJECT / "pages" / "calibrate.py"), default_timeout=90)
    shown.session_state["framed"] = True
    shown.run()
    assert not shown.exception
    return shown


def press(shown, label):
    next(button for button in shown.button if button.label == label).click().run()
    assert not shown.exception
    return shown


def headings(shown):
    return [heading.value for heading in shown.subheader]


def words(shown):
    shown_html = [unescape(block.proto.body) for block in shown.get("html")]
    return " ".join([*shown_html, *(m.value for m in shown.markdown), *(c.value for c in shown.caption)])


def test_without_labels_the_page_says_that_nothing_is_known(store):
    shown = page()
    assert "Nobody has checked this judge's" in words(shown)
    assert "Errors" not in headings(shown)
    assert "No labels yet." in words(shown)


def test_labels_alone_open_no_test_split_and_show_what_they_suffice_for(labelled):
    shown = page()
    assert headings(shown) == ["How much can I trust this?", "Labels", "Compare judges"]
    assert "120 blind labels beside a verdict of this judge." in words(shown)
    assert "replacing a judge: labels in test" in words(shown)
    assert not list(open_history().folder.glob("looks.jsonl"))


def test_calibrating_shows_every_part_and_puts_a_profile_in_force(labelled):
    shown = press(page(), "Calibrate")
    assert headings(shown) == [
        "How much can I trust this?", "Labels", "Errors", "Confidence", "Agreement", "Compare judges", "Profiles", "Report",
    ]
    (profile,) = open_history().in_force()
    assert profile.false_reassurance.in_words() in words(shown)
    assert len(shown.get("vega_lite_chart") or shown.get("arrow_vega_lite_chart")) == 2


def test_a_cell_opens_the_items_behind_it_and_closes_again(labelled):
    shown = press(press(page(), "Calibrate"), "Open not_found supports")
    wrong = [item for item in labelled_items(labelled) if item.labels[0].blind_verdict is Verdict.NOT_FOUND
             and item.judgement_of(ERRING).verdict is Verdict.SUPPORTS]
    assert wrong
    assert f"({len(wrong)})" in words(shown)
    assert wrong[0].claim in words(shown)
    assert wrong[0].claim not in words(press(shown, "Open not_found supports"))


def test_items_that_the_reviewer_has_still_to_label_are_held_back(labelled):
    labelled.add_reviewer("Newcomer")
    shown = AppTest.from_file(str(PROJECT / "pages" / "calibrate.py"), default_timeout=90)
    shown.session_state["framed"] = True
    shown.session_state["reviewer"] = "Newcomer"
    shown.run()
    shown = press(press(shown, "Calibrate"), "Open supports supports")
    assert "Newcomer hasn't labelled are held back" in words(shown)
    assert "Claim number" not in words(shown)


def test_a_hostile_claim_behind_a_cell_shows_as_text(store):
    hostile = "<script>alert(1)</script> lowers pain."
    import_labels(store, 1)
    rescore(store, ErringJudge())
    item = labelled_items(store)[0]
    shown = items_html([item.model_copy(update={"claim": hostile, "passage": hostile})], ERRING)
    assert "<script" not in shown
    assert shown.count("&lt;script&gt;") == 2


def test_two_judges_are_compared_on_demand(labelled):
    shown = press(page(), "Compare")
    assert "replace erring v1" in words(shown)
    assert "labelled test items judged by both" in words(shown)


def test_a_rollback_brings_back_uncalibrated_and_the_earlier_profile_can_be_put_in_force(labelled):
    shown = press(press(page(), "Calibrate"), "Roll back")
    assert open_history().in_force() == []
    assert "Errors" not in headings(shown)
    press(shown, "Put in force")
    assert len(open_history().in_force()) == 1


def test_labels_that_changed_since_are_told(labelled):
    shown = press(page(), "Calibrate")
    import_labels(labelled, 3)
    rescore(labelled, ErringJudge())
    shown.run()
    assert any("Labels have changed since" in info.value for info in shown.info)


def test_only_overrides_are_refused_with_the_reason(store):
    import_labels(store, 30)
    rescore(store, ErringJudge(wrong=1.0))
    shown = press(page(), "Calibrate")
    assert any("all 30 labels differ" in toast.value for toast in shown.toast)
    assert open_history().in_force() == []


def test_a_revised_label_shows_in_the_anchoring_report(labelled):
    item = labelled_items(labelled)[0]
    labelled.reveal(item.item_id, "imported")
    labelled.act(item.item_id, "imported", Action(kind=Kind.KEEP))
    shown = press(page(), "Calibrate")
    agreed = int(item.judgement_of(ERRING).verdict is item.labels[0].blind_verdict)
    assert f"After seeing the verdict, reviewers agreed with the judge in {agreed} of 1" in words(shown)


def test_labels_of_one_kind_leave_kappa_undefined_with_n_and_no_nan_on_the_page_or_in_the_report(store):
    supported = [row for row in rows(18) if row.cells["label"] == Verdict.SUPPORTS]
    import_foreign(store, supported, Mapped(columns=COLUMNS, blind=True))
    rescore(store, ErringJudge(always=Verdict.SUPPORTS))
    shown = press(page(), "Calibrate")
    assert len(supported) == 12
    assert "undefined (only one label used), n = 12" in words(shown)
    assert "12 of 12 (" in words(shown)
    found = calibration_of(open_history(), open_history().in_force()[0])
    for text in (words(shown), as_html(found), as_markdown(found), found.model_dump_json()):
        assert not re.search(r"\bnan\b", text, flags=re.IGNORECASE)
