"""The look of verdicts: one palette, from which every page, report and test takes colour, icon and word.

A state is shown by colour *and* icon *and* word, in light and in dark; each text colour has at least 4.5:1
contrast on its background and on the page (tests/test_stylesheet.py computes it).
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote


class Look(NamedTuple):
    """How a state is shown; colours are (light, dark)."""

    word: str
    text: tuple[str, str]
    background: tuple[str, str]
    shape: str


_RING = "M12 2a10 10 0 1 0 0 20 10 10 0 0 0 0-20z"
_HOLLOW = "M12 2a10 10 0 1 0 0 20 10 10 0 0 0 0-20zm0 2.2a7.8 7.8 0 1 1 0 15.6 7.8 7.8 0 0 1 0-15.6z"

#: A claim's state (verdict, or `unjudged`, or `uncited`) → its look. Shapes are SVG path data in a 24 × 24 box.
PALETTE = {
    "supports": Look(
        "Supports", ("#0067C2", "#A3D9FF"), ("#E5F1FC", "#0C2A45"),
        f"{_RING}m-1.6 14.6-4.3-4.3 1.6-1.6 2.7 2.7 5.9-5.9 1.6 1.6z",
    ),
    "partial": Look(
        "Partial", ("#8F6400", "#FFD324"), ("#FFF3D6", "#3B2C00"), f"{_HOLLOW}M12 6.2v11.6a5.8 5.8 0 0 0 0-11.6z"
    ),
    "contradicts": Look(
        "Contradicts", ("#8C1D18", "#F26A55"), ("#FDE9E7", "#431511"),
        f"{_RING}m4.6 13-1.6 1.6-3-3-3 3L7.4 15l3-3-3-3L9 7.4l3 3 3-3L16.6 9l-3 3z",
    ),
    "not_found": Look(
        "Not found", ("#4A4E54", "#9096A0"), ("#EEF0F2", "#262A30"),
        "M10 3a7 7 0 1 0 4.2 12.6l5.1 5.1 1.6-1.6-5.1-5.1A7 7 0 0 0 10 3z"
        "m0 2.2a4.8 4.8 0 1 1 0 9.6 4.8 4.8 0 0 1 0-9.6zm-3 3.7v2.2h6V8.9z",
    ),
    "hallucinated_quote": Look(
        "Hallucinated quote", ("#4C005C", "#D98CFF"), ("#F3E8F8", "#331540"),
        "M4 6h6.5v6.2L8 18H4.6L6.6 12.5H4zM13.5 6H20v6.2L17.5 18h-3.4l2-5.5h-2.6z",
    ),
    "unjudged": Look(
        "Unjudged", ("#4A4E54", "#B4BAC3"), ("#FFFFFF", "#14181F"),
        "M6 2h12v2.2h-1v3.4L13.4 12l3.6 4.4v3.4h1V22H6v-2.2h1v-3.4L10.6 12 7 7.6V4.2H6z"
        "m3.2 2.2v2.6L12 10.2l2.8-3.4V4.2z",
    ),
    "uncited": Look(
        "Uncited", ("#4A4E54", "#B4BAC3"), ("#EEF0F2", "#262A30"),
        "M3.4 2 2 3.4l3.6 3.6A5 5 0 0 0 7 17h4v-2.2H7a2.8 2.8 0 0 1-.2-5.6l2 2V13h2l8.8 8.8 1.4-1.4zM17 7h-4v2.2h4"
        "a2.8 2.8 0 0 1 1.1 5.4l1.6 1.6A5 5 0 0 0 17 7z",
    ),
}


@lru_cache(maxsize=1)
def stylesheet() -> str:
    """CSS of the answer view, palette included; it holds no `<`, loads nothing and styles only `.lr-` classes."""
    return "\n".join([*map(_state_rule, PALETTE), Path(__file__).with_name("answer.css").read_text("utf-8")])


def _state_rule(state: str) -> str:
    look = PALETTE[state]
    text, background = ", ".join(look.text), ", ".join(look.background)
    return (
        f".lr-{state} {{ --lr-fg: light-dark({text}); --lr-bg: light-dark({background}); }}\n"
        f".lr-icon.lr-{state} {{ --lr-shape: url(\"{_data_uri(look.shape)}\"); }}"
    )


def _data_uri(path: str) -> str:
    svg = f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24'><path fill-rule='evenodd' d='{path}'/></svg>"
    return "data:image/svg+xml," + quote(svg, safe="=:/ '")
