"""Ask in a real browser: the card of a citation, filter, link, export, selection, history, stop."""

import re

import pytest
from ui.conftest import downloaded

QUESTION = "How much weight do adults without diabetes lose on semaglutide 2.4 mg?"

pytestmark = pytest.mark.browser

ENABLED = "[data-testid=stBaseButton-primaryFormSubmit]:not([disabled])"
OPEN = ".lr-card:popover-open"


def claim(page, place):
    return page.locator(f'.lr-claim[data-lr-place="{place}"]')


def ref(page, place, k=0):
    return claim(page, place).locator(".lr-ref").nth(k)


def seen(page):
    """Whether the open card lies wholly inside the window and isn't covered at its corners."""
    return page.evaluate(
        """selector => {
          const card = document.querySelector(selector), box = card.getBoundingClientRect()
          const inside = box.left >= 0 && box.top >= 0 && box.right <= innerWidth + 0.5 && box.bottom <= innerHeight + 0.5
          const points = [[box.left + 12, box.top + 12], [box.right - 12, box.top + 12], [box.left + 12, box.bottom - 12]]
          return inside && points.every(([x, y]) => card.contains(document.elementFromPoint(x, y)))
        }""",
        OPEN,
    )


@pytest.mark.parametrize("size", ["desktop", "phone"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_question_is_answered_and_its_link_reopens_it_without_a_new_run(app, visit, picture, theme, size):
    page = visit("/", theme=theme, size=size)
    page.wait_for_selector(ENABLED)
    before = app.runs()
    page.get_by_placeholder("For example").fill(QUESTION)
    page.keyboard.press("Enter")
    page.wait_for_selector(".lr-claim")
    text = page.inner_text(".lr-answer")
    assert "−14.9%" in text
    assert "−2.4%" in text
    page.wait_for_url(re.compile(r"\?run=[0-9a-f]{12}$"))
    assert app.runs() == before + 1
    picture(page)

    again = visit("/?run=" + page.url.split("run=")[1], theme=theme, size=size, ready=".lr-claim")
    assert again.inner_text(".lr-answer") == text
    assert again.inner_html(".lr-answer") == page.inner_html(".lr-answer")
    assert app.runs() == before + 1


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_hovering_a_citation_shows_its_excerpt_with_the_right_span_marked(visit, picture, theme):
    page = visit("/?run=every-state", theme=theme, ready=".lr-claim")
    ref(page, 2).hover()
    page.wait_for_selector(OPEN)
    assert "".join(page.locator(f"{OPEN} mark").all_inner_texts()) == "Sleep did not improve"
    assert "KNEE-1" in page.inner_text(OPEN)
    assert seen(page)
    picture(page)
    page.locator(OPEN).hover()
    page.wait_for_timeout(600)
    assert page.locator(OPEN).count() == 1, "the card can be hovered"
    page.mouse.move(3, 3)
    page.wait_for_selector(OPEN, state="detached")


def test_the_keyboard_opens_reads_and_closes_the_excerpt(visit, picture):
    page = visit("/?run=every-state", ready=".lr-claim")
    ref(page, 0).evaluate("node => node.scrollIntoView()")
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.classList.contains('lr-ref')"):
            break
    page.wait_for_selector(OPEN)
    picture(page)
    page.keyboard.press("Escape")
    page.wait_for_selector(OPEN, state="detached")
    assert page.evaluate("document.activeElement.classList.contains('lr-ref')"), "focus stays on the citation"
    page.wait_for_timeout(500)
    assert page.locator(OPEN).count() == 0, "it doesn't open again by itself"
    page.keyboard.press("Enter")
    page.wait_for_selector(OPEN)
    page.keyboard.press("Tab")
    assert page.evaluate(f"document.querySelector('{OPEN}').contains(document.activeElement)"), "Tab goes into the card"
    page.keyboard.press("Escape")
    page.wait_for_selector(OPEN, state="detached")


def test_a_click_keeps_the_excerpt_open_until_escape(visit):
    page = visit("/?run=every-state", ready=".lr-claim")
    ref(page, 2).click()
    page.wait_for_selector(OPEN)
    page.mouse.move(3, 3)
    page.wait_for_timeout(700)
    assert page.locator(OPEN).count() == 1
    page.keyboard.press("Escape")
    page.wait_for_selector(OPEN, state="detached")


def test_a_tap_opens_the_excerpt_on_a_phone_and_it_fits(visit, picture):
    page = visit("/?run=every-state", theme="dark", size="phone", ready=".lr-claim")
    ref(page, 4).tap()
    page.wait_for_selector(OPEN)
    page.wait_for_timeout(300)
    assert seen(page)
    picture(page)
    page.locator(f"{OPEN} .lr-close").tap()
    page.wait_for_selector(OPEN, state="detached")


@pytest.mark.parametrize("width", [1024, 390])
def test_the_excerpt_is_never_clipped_at_an_edge(visit, width):
    page = visit("/?run=every-state", ready=".lr-claim")
    page.set_viewport_size({"width": width, "height": 600})
    count = page.locator(".lr-claim .lr-ref").count()
    for place in range(count):
        for block in ("start", "end"):
            one = page.locator(".lr-claim .lr-ref").nth(place)
            one.evaluate("(node, block) => node.scrollIntoView({block})", block)
            one.focus()
            page.keyboard.press("Enter")
            page.wait_for_selector(OPEN)
            page.wait_for_timeout(60)
            assert seen(page), (place, block)
            page.keyboard.press("Escape")
            page.wait_for_selector(OPEN, state="detached")


def test_a_fault_in_a_quote_is_marked_on_both_sides(visit):
    page = visit("/?run=every-state", ready=".lr-claim")
    ref(page, 4).click()
    page.wait_for_selector(OPEN)
    assert page.locator(f"{OPEN} .lr-given mark").all_inner_texts() == ["31.5"]
    assert "21.5" in page.locator(f"{OPEN} .lr-excerpt mark.lr-d").all_inner_texts()


def test_a_misattributed_quote_is_shown_where_it_stands(visit, picture):
    page = visit("/?run=every-state", ready=".lr-claim")
    ref(page, 6).click()
    page.wait_for_selector(OPEN)
    assert "Not in KNEE-1. The quote stands in [2] NIGHT-2" in page.inner_text(OPEN)
    assert page.locator(f"{OPEN} .lr-excerpt mark").all_inner_texts() == ["brimafol didn't change sleep time"]
    picture(page)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_filter_leaves_what_needs_attention(visit, picture, theme):
    page = visit("/?run=every-state", theme=theme, ready=".lr-claim")
    assert page.locator(".lr-claim").count() == 10
    page.get_by_text("Only what needs attention (9)").click()
    page.wait_for_function("document.querySelectorAll('.lr-claim').length === 9")
    assert page.locator('.lr-claim[data-lr-place="7"]').count() == 0
    picture(page)


def test_selecting_a_claim_marks_its_spans_and_selecting_a_source_marks_its_claims(visit, picture):
    page = visit("/?run=every-state", ready=".lr-claim")
    claim(page, 6).get_by_text("Show in sources").click()
    chosen = page.locator(".lr-source .lr-excerpt mark.lr-on")
    assert chosen.all_inner_texts() == ["brimafol didn't change sleep time"]
    picture(page, "claim")
    claim(page, 6).get_by_text("Show in sources").click()
    assert chosen.count() == 0, "a second press takes the selection back"
    page.locator('.lr-source[data-lr-source="2"]').get_by_text("1 claim cites this").click()
    assert [c.get_attribute("data-lr-place") for c in page.locator(".lr-claim.lr-on").all()] == ["1"]
    picture(page, "source")


def test_the_abstention_is_a_state_of_its_own(visit, picture):
    page = visit("/?run=abstained", ready=".lr-abstention")
    text = page.inner_text(".lr-abstention")
    for part in ("The evidence is insufficient", "Searched", "stroke", "Nearest passages", "brimafol[tiab] AND stroke[tiab]"):
        assert part in text
    assert page.locator(".lr-claim").count() == 0
    picture(page)


def test_a_question_that_the_corpus_can_not_answer_is_declined(visit):
    page = visit("/")
    page.wait_for_selector(ENABLED)
    page.get_by_role("button", name="Does semaglutide slow Alzheimer").click()
    page.wait_for_selector(".lr-abstention")
    assert page.locator(".lr-claim").count() == 0


def test_the_evidence_report_opens_offline(visit, browser, tmp_path, picture):
    page = visit("/?run=every-state", ready=".lr-claim")
    page.get_by_role("button", name="Export").click()
    path = tmp_path / "report.html"
    path.write_bytes(downloaded(page, "Evidence report").read_bytes())
    context = browser.new_context(offline=True)
    opened = context.new_page()
    asked = []
    opened.on("request", lambda request: asked.append(request.url))
    opened.goto(path.as_uri())
    text = opened.inner_text("body")
    for part in ("Does brimafol help with knee pain?", "Hallucinated quote", "judge local", "Not medical advice", "References"):
        assert part in text
    assert opened.locator(".lr-source mark").count() > 3
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    picture(opened, full=True)
    context.close()


def test_claims_go_to_review_one_by_one_and_all_together(app, visit):
    page = visit("/?run=repeated", ready=".lr-claim")
    claim(page, 1).get_by_text("Send to review").click()
    page.get_by_text("1 citation sent to review").wait_for()
    claim(page, 1).get_by_text("In review").wait_for()
    assert claim(page, 0).get_by_text("Send to review").count() == 1, "the same quote in another claim is another item"
    page.get_by_role("button", name="Send all to review").click()
    page.get_by_text("2 citations sent to review").wait_for()
    page.wait_for_function("document.querySelectorAll('.lr-done').length === 3")


def test_the_history_reopens_an_earlier_answer_without_reloading(visit):
    page = visit("/?run=abstained", ready=".lr-abstention")
    page.evaluate("window.stillHere = true")
    page.locator(".lr-history a", has_text="Does brimafol help with knee pain?").click()
    page.wait_for_selector(".lr-claim")
    assert "run=every-state" in page.url
    assert page.evaluate("window.stillHere") is True


def test_a_page_change_loses_nothing(app, visit):
    page = visit("/?run=every-state", ready=".lr-claim")
    text = page.inner_text(".lr-answer")
    before = app.runs()
    page.get_by_role("link", name="Verify").click()
    page.get_by_text("What to verify").wait_for()
    page.get_by_role("link", name="Ask").click()
    page.wait_for_selector(".lr-claim")
    assert page.inner_text(".lr-answer") == text
    assert app.runs() == before


def test_an_unknown_link_says_so(visit):
    page = visit("/?run=no-such-run")
    page.get_by_text("No answer with the id").wait_for()


def test_what_a_card_shows_is_also_on_the_page_for_print_and_screen_readers(visit):
    page = visit("/?run=every-state", ready=".lr-claim")
    page.emulate_media(media="print")
    sources = page.locator(".lr-sources")
    assert sources.get_attribute("aria-label") == "Sources"
    assert sources.evaluate("node => node.scrollHeight <= node.clientHeight + 1"), "nothing is cut off on paper"
    shown = sources.locator(".lr-source > .lr-excerpt mark:visible").all_inner_texts()
    for marked in ("Sleep did not improve", "brimafol didn't change sleep time"):
        assert any(marked in text for text in ["".join(shown), *shown])
    assert page.locator(".lr-acts:visible").count() == 0


def test_claims_and_sources_stand_side_by_side_on_a_small_desktop_and_below_each_other_on_a_phone(visit):
    page = visit("/?run=every-state", ready=".lr-claim")
    boxes = {}
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 800})
        page.wait_for_timeout(300)
        boxes[width] = [page.locator(part).bounding_box() for part in (".lr-claims", ".lr-sources")]
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), width
    claims, sources = boxes[1280]
    assert sources["x"] >= claims["x"] + claims["width"]
    claims, sources = boxes[390]
    assert sources["y"] >= claims["y"] + claims["height"]
