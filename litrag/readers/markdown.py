"""Markdown digests: YAML front matter with the bibliographic fields, then `## Section` headings with prose.

The record's text is the prose of the sections joined by blank lines; headings become section labels and are
not part of the text. Lines of a paragraph are joined, so that a quote doesn't depend on their breaks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import yaml

from litrag.models import Record
from litrag.readers.fields import join_sections, record_from
from litrag.readers.report import Rejection

_FRONT = re.compile(r"\A---[^\S\n]*\n(.*?)\n?^---[^\S\n]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_HEADING = re.compile(r"^##[^\S\n]+(.+?)[^\S\n]*#*[^\S\n]*$", re.MULTILINE)
_TITLE = re.compile(r"\A\s*#[^\S\n]+(.+?)[^\S\n]*$", re.MULTILINE)
_LIST_ITEM = re.compile(r"\s*(?:[-*•]|\d{1,2}[.)])\s")


def read(path: Path) -> Iterator[Record | Rejection]:
    file = str(path)
    try:
        content = path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        yield Rejection(file=file, reason=f"not UTF-8 at byte {error.start}; save the file as UTF-8")
        return
    front = _FRONT.match(content)
    if front is None:
        reason = "must begin with YAML between two lines of ---"
        yield Rejection(file=file, field="front matter", reason=reason)
        return
    try:
        fields = yaml.safe_load(front.group(1))
    except (yaml.YAMLError, ValueError) as error:
        yield Rejection(file=file, field="front matter", reason=f"not YAML: {' '.join(str(error).split())}")
        return
    if not isinstance(fields, dict):
        yield Rejection(file=file, field="front matter", reason="must be `name: value` lines")
        return
    body = content[front.end():]
    if title := _TITLE.match(body):
        fields.setdefault("title", title.group(1))
        body = body[title.end():]
    text, sections = join_sections(_sections(body))
    row = {str(name): value for name, value in fields.items()}
    row |= {"text": text, "sections": [section.model_dump() for section in sections]}
    yield from record_from(row, file=file, place="")


def _sections(body: str) -> list[tuple[str, str]]:
    """(label, prose) in order; prose before the first heading has an empty label."""
    pieces = _HEADING.split(body)
    labels = ["", *pieces[1::2]]
    return [(label.strip(), _unwrapped(prose)) for label, prose in zip(labels, pieces[0::2], strict=True)]


def _unwrapped(prose: str) -> str:
    paragraphs = (p for p in re.split(r"\n[^\S\n]*\n", prose.strip()) if p.strip())
    return "\n\n".join(_one_paragraph(paragraph) for paragraph in paragraphs)


def _one_paragraph(paragraph: str) -> str:
    joined = ""
    for line in paragraph.split("\n"):
        separator = "\n" if _LIST_ITEM.match(line) else " "
        joined += (separator if joined else "") + line.strip()
    return joined
