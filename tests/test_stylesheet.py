"""The palette can be read by everyone, and the stylesheet stays harmless."""

import re
from itertools import combinations

import pytest

from litrag.models import Verdict
from litrag.stylesheet import PALETTE, stylesheet

#: Page and card backgrounds of .streamlit/config.toml and litrag/answer.css, light and dark.
SURFACES = (("#FFFFFF", "#F6F8FA"), ("#14181F", "#1F2630"))


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("state", PALETTE)
@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_every_state_is_readable_on_its_own_background_and_on_the_page(state, theme):
    text = PALETTE[state].text[theme]
    assert contrast(text, PALETTE[state].background[theme]) >= 4.5
    assert all(contrast(text, surface) >= 4.5 for surface in SURFACES[theme])


def test_every_verdict_has_a_look_and_no_two_share_word_or_icon():
    assert {verdict.value for verdict in Verdict} | {"unjudged", "uncited"} == set(PALETTE)
    for one, other in combinations(PALETTE.values(), 2):
        assert one.word != other.word
        assert one.shape != other.shape


def test_the_stylesheet_loads_nothing_and_holds_no_markup():
    css = stylesheet()
    assert "<" not in css
    assert "@import" not in css
    addresses = re.findall(r"url\(\"?([^,)]*)", css)
    assert set(addresses) == {"data:image/svg+xml"}


def test_only_classes_of_ours_are_styled():
    rules = re.sub(r"/\*.*?\*/|\"[^\"]*\"", "", stylesheet(), flags=re.DOTALL)
    selectors = [part.split("}")[-1].strip() for part in rules.split("{")[:-1]]
    foreign = [s for s in selectors if s and not s.startswith("@") and ".lr" not in s and s != "50%"]
    assert foreign == []
