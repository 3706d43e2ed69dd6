"""A hostile corpus shows as text: no dialog, no request leaves the page (the visit fixture asserts both), no leak."""

import pytest
from fakes.shown import HOSTILE

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("size", ["desktop", "phone"])
def test_hostile_strings_show_as_themselves(visit, picture, size):
    page = visit("/?run=hostile%3Cscript%3E", size=size, ready=".lr-claim")
    text = page.inner_text(".lr-answer")
    for evil in HOSTILE:
        shown = evil.replace("\u202e", "U+202E").replace("\u202c", "U+202C")
        assert f"Claim {shown} end." in text, evil
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


@pytest.mark.parametrize("size", ["desktop", "phone"])
def test_nothing_leaves_its_card(visit, size):
    page = visit("/?run=hostile%3Cscript%3E", size=size, ready=".lr-claim")
    outside = page.evaluate(
        """() => [...document.querySelectorAll('.lr-claim, .lr-source')].filter(card => {
          const box = card.getBoundingClientRect()
          return [...card.querySelectorAll('.lr-text, .lr-why, .lr-title, .lr-excerpt, .lr-chips, .lr-where, .lr-name')]
            .map(part => part.getBoundingClientRect())
            .filter(inner => inner.width > 0)  // what stands in a closed card takes no room
            .some(inner => inner.right > box.right + 1 || inner.left < box.left - 1)
        }).length"""
    )
    assert outside == 0
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "the page doesn't scroll sideways"
    longest = page.locator(".lr-title").last
    assert longest.evaluate("node => node.clientHeight < 200"), "20,000 characters scroll inside their card"


def test_dollars_tildes_and_directives_stay_as_typed_everywhere(visit):
    page = visit("/?run=hostile%3Cscript%3E", ready=".lr-claim")
    assert page.locator(".katex, del, s, .stMarkdownColoredText").count() == 0
    page.get_by_role("button", name="Export").click()
    page.wait_for_selector("[data-testid=stCode]")
    assert page.locator("[data-testid=stPopoverBody] img").count() == 0
