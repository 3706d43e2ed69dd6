"""axe-core finds no serious or critical fault on any page, in both themes, on desktop and phone."""

import pytest
from ui.conftest import axe_faults, axe_script, looks, settled, visiting

pytestmark = pytest.mark.browser

STATES = {
    "ask": ("/", "[data-testid=stHeading]"),
    "answer": ("/?run=every-state", ".lr-claim"),
    "abstention": ("/?run=abstained", ".lr-abstention"),
    "verify": ("/verify", "[data-testid=stHeading]"),
    "verified": ("/verify?run=every-state", ".lr-claim"),
}


@pytest.fixture(scope="module")
def axe():
    return axe_script()


@pytest.mark.parametrize("size", ["desktop", "phone"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_serious_fault_on_either_page_in_any_state(app, visit, axe, theme, size):
    page = visit("/", theme=theme, size=size)
    found = {}
    for state, (path, ready) in STATES.items():
        page.goto(app.url + path)
        page.wait_for_selector(ready)
        page.wait_for_selector("[data-testid=stBaseButton-primaryFormSubmit]:not([disabled])", state="attached")
        page.wait_for_selector("html.lr-alive", state="attached")
        page.wait_for_timeout(500)  # colours fade in
        page.evaluate(axe)
        if wrong := axe_faults(page):
            found[state] = wrong
    assert found == {}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_serious_fault_with_a_card_open_and_a_claim_selected(visit, axe, theme):
    page = visit("/?run=every-state", theme=theme, ready=".lr-claim")
    page.locator(".lr-claim").nth(6).get_by_text("Show in sources").click()
    page.locator(".lr-claim .lr-ref").nth(5).click()
    page.wait_for_selector(".lr-card:popover-open")
    page.wait_for_timeout(500)
    page.evaluate(axe)
    assert axe_faults(page) == []


@pytest.fixture
def stocked_visit(stocked, browser):
    with visiting(stocked, browser) as opened:
        yield opened


def faults_of_looks(page, axe, picture, name):
    """What axe finds in each look of the page, which must also fit its width."""
    settled(page)
    page.evaluate(axe)
    found = {}
    for look in looks(page):
        picture(page, f"{name}.{look}")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), look
        if wrong := axe_faults(page):
            found[f"{name} {look}"] = wrong
    return found


def test_no_serious_fault_in_review_before_and_after_a_label(stocked_visit, axe, picture):
    page = stocked_visit("/review")
    chooser = page.get_by_role("combobox", name="Reviewer")
    chooser.click()
    chooser.fill("Ann")
    page.get_by_role("option", name="Ann", exact=True).click()
    page.wait_for_selector("[data-lr-item]")
    page.get_by_role("button", name="Help", exact=True).wait_for()
    assert faults_of_looks(page, axe, picture, "blind") == {}
    page.set_viewport_size({"width": 1440, "height": 900})
    page.get_by_role("button", name="Partial").click()
    page.wait_for_selector("[data-lr-revealed]")
    assert faults_of_looks(page, axe, picture, "revealed") == {}


def test_no_serious_fault_in_calibrate_before_and_after_calibrating(stocked_visit, axe, picture):
    page = stocked_visit("/calibrate")
    page.get_by_role("button", name="Compare", exact=True).wait_for()
    assert faults_of_looks(page, axe, picture, "before") == {}
    page.set_viewport_size({"width": 1440, "height": 900})
    page.get_by_role("button", name="Calibrate", exact=True).click()
    page.get_by_test_id("stToast").wait_for()  # a message at the edge of the page is looked at too
    page.get_by_role("heading", name="Errors").wait_for()
    assert faults_of_looks(page, axe, picture, "after") == {}


def test_no_serious_fault_in_trends(stocked_visit, axe, picture):
    page = stocked_visit("/trends")
    page.locator("[data-testid=stVegaLiteChart] canvas, [data-testid=stVegaLiteChart] svg").first.wait_for()
    assert faults_of_looks(page, axe, picture, "trends") == {}


def test_no_serious_fault_in_corpus(stocked_visit, axe, picture):
    page = stocked_visit("/corpus")
    page.get_by_text("Last import:").click()
    page.get_by_test_id("stTable").first.wait_for()
    page.locator(".st-key-records-table canvas").first.wait_for()
    assert faults_of_looks(page, axe, picture, "corpus") == {}
