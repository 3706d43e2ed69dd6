"""axe-core finds no serious or critical fault on either page, in both themes, on desktop and phone."""

import pytest
from fakes.needed import unavailable
from ui.conftest import AXE, AXE_COMMAND

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
    if not AXE.exists():
        unavailable(f"axe-core is missing: {AXE_COMMAND}")
    return AXE.read_text("utf-8")


def faults(page):
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
    return [
        (fault["id"], node["target"], node["failureSummary"][:300])
        for fault in found if fault["impact"] in ("serious", "critical") for node in fault["nodes"]
    ]


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
        if wrong := faults(page):
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
    assert faults(page) == []
