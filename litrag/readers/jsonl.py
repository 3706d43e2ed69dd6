"""JSON Lines: one JSON object per line, a record each.

Fields may be named in the usual ways (`pmid` or `id`, `title`, `abstract` or `text` or `sections`). A line
that can't be used is rejected by its number; all others are read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from litrag.models import Record
from litrag.readers.fields import record_from
from litrag.readers.report import Rejection


def read(path: Path) -> Iterator[Record | Rejection]:
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip(b" \t\r\n\xef\xbb\xbf"):
                yield from _read_line(line, str(path), f"line {number}")


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
    if not isinstance(row, dict):
        yield Rejection(file=file, record=place, reason=f"must be a JSON object, got {type(row).__name__}")
        return
    yield from record_from(row, file=file, place=place)
