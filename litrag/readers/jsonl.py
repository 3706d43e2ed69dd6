"""JSON Lines: one JSON object per line, a record each; or one JSON list of such objects.

Fields may be named in the usual ways (`pmid` or `id`, `title`, `abstract` or `text` or `sections`). A line
that can't be used is rejected by its number; all others are read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from litrag.models import Record
from litrag.readers import content
from litrag.readers.fields import record_from
from litrag.readers.report import Rejection


def read(path: Path) -> Iterator[Record | Rejection]:
    if content.head(path).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"[") and (rows := _list(path)) is not None:
        for number, row in enumerate(rows, start=1):
            yield from _read_row(row, str(path), f"item {number}")
        return
    with content.open_bytes(path) as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip(b" \t\r\n\xef\xbb\xbf"):
                yield from _read_line(line, str(path), f"line {number}")


def _list(path: Path) -> list[Any] | None:
    """The items of a file that is one JSON list; None when it isn't, and its lines have to be read."""
    try:
        loaded = json.loads(content.text(path)[0])
    except (ValueError, RecursionError):
        return None
    return loaded if isinstance(loaded, list) and any(isinstance(one, dict) for one in loaded) else None


def _read_line(line: bytes, file: str, place: str) -> Iterator[Record | Rejection]:
    try:
        row: Any = json.loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        reason = f"not UTF-8 at byte {error.start}; save the file as UTF-8"
        yield Rejection(file=file, record=place, reason=reason)
        return
    except json.JSONDecodeError as error:
        yield Rejection(file=file, record=place, reason=f"not JSON: {error.msg} at column {error.colno}")
        return
    except (RecursionError, ValueError) as error:
        yield Rejection(file=file, record=place, reason=f"JSON that can't be read: {error}")
        return
    yield from _read_row(row, file, place)


def _read_row(row: Any, file: str, place: str) -> Iterator[Record | Rejection]:
    if not isinstance(row, dict):
        yield Rejection(file=file, record=place, reason=f"must be a JSON object, got {type(row).__name__}")
        return
    yield from record_from(row, file=file, place=place)
