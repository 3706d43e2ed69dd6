"""Readers: one module per file format, each from a path to records and rejections.

In: a file, or a folder that is walked in name order. Out: a `ReadReport`, the records with an account of
everything that could not be read. A damaged record never costs its neighbours, and nothing is dropped unsaid.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path

from litrag.errors import InputError
from litrag.models import Record
from litrag.readers import jsonl, markdown
from litrag.readers.report import ReadReport, Rejection

__all__ = ["READERS", "ReadReport", "Reader", "Rejection", "read_records", "source_hash"]

Reader = Callable[[Path], Iterator[Record | Rejection]]

#: Which reader opens which file; a new format is a module and a line here.
READERS: dict[str, Reader] = {
    ".jsonl": jsonl.read,
    ".ndjson": jsonl.read,
    ".md": markdown.read,
    ".markdown": markdown.read,
}


def read_records(path: str | Path) -> ReadReport:
    """Every record of a file or folder, and what was rejected with file, record, field and reason."""
    root = Path(path).expanduser()
    if not root.exists():
        raise InputError(f"There is no file or folder {str(path)!r}; give the path of a corpus.")
    found: dict[str, Record] = {}
    rejected: list[Rejection] = []
    for file in _files(root):
        reader = READERS.get(file.suffix.lower())
        if reader is None:
            rejected.append(Rejection(file=str(file), field="file", reason=_unsupported(file)))
            continue
        for item in reader(file):
            if isinstance(item, Rejection):
                rejected.append(item)
            elif clash := _clash(item, found.get(item.record_id)):
                rejected.append(Rejection(file=str(file), record=item.record_id, field="id", reason=clash))
            else:
                found[item.record_id] = item
    return ReadReport(records=tuple(found.values()), rejected=tuple(rejected))


def source_hash(path: Path) -> str:
    """Hash of the names and bytes of the files that `read_records` would read."""
    digest = hashlib.sha256()
    for file in _files(path):
        name = file.name if path.is_file() else str(file.relative_to(path))
        digest.update(f"{name}\x00{file.stat().st_size}\x00".encode())
        with file.open("rb") as content:
            digest.update(hashlib.file_digest(content, "sha256").digest())
    return digest.hexdigest()


def _files(root: Path) -> list[Path]:
    if root.is_file():
        return [root]
    inside = (path for path in sorted(root.rglob("*")) if path.is_file())
    return [p for p in inside if not any(part.startswith(".") for part in p.relative_to(root).parts)
            and p.stem.upper() not in ("README", "LICENSE", "LICENCE", "NOTICE")]


def _unsupported(file: Path) -> str:
    kind = f"type {file.suffix!r}" if file.suffix else "no type"
    return f"files of {kind} can't be read; use {', '.join(sorted(READERS))}"


def _clash(record: Record, earlier: Record | None) -> str:
    if earlier is None:
        return ""
    if earlier.version == record.version:
        return f"the same record was already read from {earlier.origin}"
    return f"another record with this id was already read from {earlier.origin}; give one of them another id"
