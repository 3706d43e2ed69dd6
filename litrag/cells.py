"""Text that survives a spreadsheet: `protect` before writing a cell, `restore` after reading it; exact inverses.

Two things are done to a text, and nothing else:

1. A character that a spreadsheet or XML drops or changes (control characters but line feed, half characters, the
   `_x000D_` notation of XLSX) becomes `␛` + code point in hex + `␛`; so does `␛` itself, and a semicolon or line feed
   behind which a formula would begin if a spreadsheet took it for the end of the cell.
2. An apostrophe is put before a text that would be run as a formula (it begins with `=`, `+`, `-`, `@` or their
   full-width forms, blanks aside) or come back as something else (`007`, `1-2`, `SEPT2`, `1e5`, `TRUE`, `NA`). A text
   that has such apostrophes of its own gets one more. A plain number that comes back as it is stays one: `-14.9`.
"""

from __future__ import annotations

import re

GUARD = "'"
_MARK = "␛"

_FRAGILE = re.compile(
    f"[\x00-\x09\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufeff\ufffe\uffff{_MARK}]|_(?=x[0-9A-Fa-f]{{4}}_)"
    r"|[;\n](?=[\s\"']*[=+\-@＝＋－＠])"
)
_MARKED = re.compile(f"{_MARK}([0-9A-F]{{1,6}}){_MARK}")

_FORMULA = re.compile(r"\s*[=+\-@＝＋－＠]")
_PLAIN_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]*[1-9])?")
#: Digits of a number that every spreadsheet shows in full.
_DIGITS = 9
_VALUE = re.compile(r"(?:[\s\d.,:;/\-+%$€£¥°'()]|(?<=\d)[eE](?=[+\-\d])|(?<=\d)[TZtz]|(?<=\d)\s*[AaPp][Mm])+")
_MONTH = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    "|nov(?:ember)?|dec(?:ember)?"
)
_DAY = "(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?)?"
_DATE = re.compile(rf"{_DAY}[\s\d.,:/'-]*(?:{_MONTH})[\s\d.,:/'-]*(?:[ap]m)?\s*", re.IGNORECASE)
_WORDS = frozenset({
    "true", "false", "na", "n/a", "nan", "-nan", "null", "none", "<na>", "#n/a", "#n/a n/a", "#na", "1.#ind",
    "1.#qnan", "-1.#ind", "-1.#qnan", "inf", "-inf", "+inf", "infinity", "-infinity", "+infinity",
})


def protect(text: str) -> str:
    """A text as it is written to a cell."""
    marked = _FRAGILE.sub(lambda found: f"{_MARK}{ord(found[0]):X}{_MARK}", text)
    return GUARD + marked if _is_risky(marked.lstrip(GUARD)) else marked


def restore(cell: str) -> str:
    """The text that `protect` was given; a cell that was typed by hand comes back as it is."""
    if cell.startswith(GUARD) and _is_risky(cell.lstrip(GUARD)):
        cell = cell[1:]
    return _MARKED.sub(lambda found: chr(int(found[1], 16)), cell)


def _is_risky(text: str) -> bool:
    """Whether a spreadsheet would run `text`, or give it back as something else."""
    if _PLAIN_NUMBER.fullmatch(text) and text != "-0" and sum(map(str.isdigit, text)) <= _DIGITS:
        return False
    if _FORMULA.match(text) or text.strip().casefold() in _WORDS:
        return True
    if not any(map(str.isdigit, text)):
        return False
    return bool(_VALUE.fullmatch(text) or _DATE.fullmatch(text))
