"""Inline markup as plain text that keeps its meaning: 10⁶ stays a power of ten, a bold "no" stays a word.

In: an XML element, or text in which tags and entities stand as characters. Out: one line of text. Superscripts and
subscripts become Unicode ones where these exist; an exponent that has none is written with `^`.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import Any

_SUPER = str.maketrans("0123456789+-−–=()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻⁼⁽⁾ⁿ")
_SUB = str.maketrans("0123456789+-−–=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₋₌₍₎")
_SUPER_ONLY = re.compile(r"[0-9+\-−–=()n]+")
_SUB_ONLY = re.compile(r"[0-9+\-−–=()]+")
_SPACE = re.compile(r"[ \t\r\n\f\v]+")
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_SCRIPT = re.compile(r"<(sup|sub|inf)\b[^<>]{0,200}>([^<>]{0,60})</\1\s*>", re.IGNORECASE)
_TAG = re.compile(
    r"</?(?:i|b|u|em|strong|italic|bold|underline|sc|sup|sub|inf|p|br|span|div|jats:[a-z-]{1,20})(?:\s[^<>]{0,200})?/?>",
    re.IGNORECASE,
)
_BLOCKS = frozenset({"p", "title", "list-item", "tr", "td", "th", "label", "br", "break"})


def superscript(content: str, before: str) -> str:
    """`content` raised, readable as such after the text `before`."""
    bare = content.strip()
    if not bare:
        return content
    if _SUPER_ONLY.fullmatch(bare):
        return bare.translate(_SUPER)
    if bare.lower() in ("st", "nd", "rd", "th") or not any(char.isalnum() for char in bare):
        return content
    if before[-1:].isdigit() or before[-1:] == ")":
        return f"^{bare}" if re.fullmatch(r"[-−–]?[\w.,]+", bare) else f"^({bare})"
    return content


def subscript(content: str, before: str) -> str:
    """`content` lowered; letters are written on the line, as in Cmax."""
    bare = content.strip()
    if not bare:
        return content
    if _SUB_ONLY.fullmatch(bare):
        return bare.translate(_SUB)
    return f"_{bare}" if before[-1:].isdigit() and bare[0].isalnum() else content


def plain(element: Any, skip: frozenset[str] = frozenset()) -> str:
    """All text of `element` on one line, without the elements named in `skip`."""
    if element is None:
        return ""
    if len(element) == 0:
        return tidy(element.text or "")
    pieces: list[str] = []
    _collect(element, pieces, skip)
    return tidy("".join(pieces))


def tidy(text: str) -> str:
    """One line; tags and entities that stand in it as characters are read as markup."""
    if "&" in text:
        text = _ENTITY.sub(lambda match: html.unescape(match[0]), text)
    if "<" in text:
        text = _SCRIPT.sub(_script, text)
        text = _TAG.sub("", text)
    return _SPACE.sub(" ", text).strip()


def _script(match: re.Match[str]) -> str:
    before = match.string[max(0, match.start() - 1):match.start()]
    render = superscript if match[1].lower() == "sup" else subscript
    return render(match[2], before)


def _collect(element: Any, pieces: list[str], skip: frozenset[str]) -> None:
    if element.text:
        pieces.append(element.text)
    for child in element:
        if isinstance(child.tag, str):
            name = child.tag.rpartition("}")[2].rpartition(":")[2]
            if name not in skip:
                _child(child, name, pieces, skip)
        if child.tail:
            pieces.append(child.tail)


def _child(child: Any, name: str, pieces: list[str], skip: frozenset[str]) -> None:
    if name in _RENDERED:
        before = next((piece for piece in reversed(pieces) if piece), "")
        pieces.append(_RENDERED[name](child, before))
        return
    if name in _BLOCKS and pieces:
        pieces.append(" ")
    _collect(child, pieces, skip)
    if name in _BLOCKS:
        pieces.append(" ")


def _inner(element: Any) -> str:
    pieces: list[str] = []
    _collect(element, pieces, frozenset())
    return _SPACE.sub(" ", "".join(pieces))


def _parts(element: Any) -> list[str]:
    return [_inner_of(child).strip() for child in element if isinstance(child.tag, str)]


def _inner_of(child: Any) -> str:
    pieces: list[str] = []
    _child(child, child.tag.rpartition("}")[2].rpartition(":")[2], pieces, frozenset())
    return "".join(pieces)


def _raised(element: Any, before: str) -> str:
    return superscript(_inner(element), before)


def _lowered(element: Any, before: str) -> str:
    return subscript(_inner(element), before)


def _power(element: Any, before: str) -> str:
    base, high, *_ = [*_parts(element), "", ""]
    return base + superscript(high, base or before)


def _indexed(element: Any, before: str) -> str:
    base, low, *_ = [*_parts(element), "", ""]
    return base + subscript(low, base or before)


def _both(element: Any, before: str) -> str:
    base, low, high, *_ = [*_parts(element), "", "", ""]
    return base + subscript(low, base or before) + superscript(high, base or before)


def _fraction(element: Any, before: str) -> str:
    over, under, *_ = [*_parts(element), "", ""]
    return "/".join(part if re.fullmatch(r"\w+", part) else f"({part})" for part in (over, under))


def _root(element: Any, before: str) -> str:
    return f"√({_inner(element).strip()})"


def _styled(element: Any, before: str) -> str:
    """EndNote writes its raised text as a face of the style."""
    face = element.get("face") or ""
    inner = _inner(element)
    if "superscript" in face:
        return superscript(inner, before)
    return subscript(inner, before) if "subscript" in face else inner


_RENDERED: dict[str, Callable[[Any, str], str]] = {
    "sup": _raised, "sub": _lowered, "inf": _lowered, "msup": _power, "msub": _indexed, "msubsup": _both,
    "mfrac": _fraction, "msqrt": _root, "style": _styled,
}
