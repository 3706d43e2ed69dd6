"""Readers: one module per file format, each from a path to records and rejections.

In: a file, or a folder that is walked in name order. Out: a `ReadReport`, the records with an account of
everything that could not be read. A damaged record never costs its neighbours, and nothing is dropped unsaid.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterator
from pathlib import Path

from litrag.errors import InputError
from litrag.models import Record
from litrag.readers.formats import FORMATS, Format, format_of
from litrag.readers.report import Deletion, ReadReport, Rejection

__all__ = [
    "FORMATS", "Deletion", "Format", "ReadReport", "Rejection", "files", "format_of", "read_items", "read_records",
    "source_hash",
]


def read_records(path: str | Path) -> ReadReport:
    """Every record of a file or folder, and what was rejected with file, record, field and reason.

    Of several versions of a PubMed record the one that was revised last is kept. A record that is read twice counts
    once; another record that claims the same id is rejected, or gets an id of its own when the reader made up the id.
    """
    found: dict[str, Record] = {}
    rejected: list[Rejection] = []
    deleted: dict[str, None] = {}
    for file in files(path):
        for item in read_items(file):
            if isinstance(item, Rejection):
                rejected.append(item)
            elif isinstance(item, Deletion):
                deleted[item.pmid] = None
                found.pop(item.pmid, None)
            else:
                deleted.pop(item.record_id, None)
                if refused := _add(item, found):
                    rejected.append(Rejection(file=str(file), record=item.record_id, field="id", reason=refused))
    return ReadReport(records=tuple(found.values()), rejected=tuple(rejected), deleted=tuple(deleted))


def read_items(file: Path) -> Iterator[Record | Rejection | Deletion]:
    """What stands in one file, in its order, doubles included."""
    try:
        known = format_of(file)
        if isinstance(known, str):
            yield Rejection(file=str(file), field="file", reason=known)
            return
        yield from known.read(file)
    except (EOFError, zlib.error, OSError) as error:
        reason = f"can't be read to its end: {error}; what stands before that was read"
        yield Rejection(file=str(file), field="file", reason=reason)
    except InputError as error:
        yield Rejection(file=str(file), field="file", reason=str(error))


def files(path: str | Path) -> list[Path]:
    """The file itself, or those of a folder in name order, without hidden ones and notes about the folder."""
    root = Path(path).expanduser()
    if not root.exists():
        raise InputError(f"There is no file or folder {str(path)!r}; give the path of a corpus.")
    return _files(root)


def source_hash(path: Path) -> str:
    """Hash of the names and bytes of the files that `read_records` would read."""
    digest = hashlib.sha256()
    for file in _files(path):
        name = file.name if path.is_file() else str(file.relative_to(path))
        digest.update(f"{name}\x00{file.stat().st_size}\x00".encode())
        with file.open("rb") as opened:
            digest.update(hashlib.file_digest(opened, "sha256").digest())
    return digest.hexdigest()


def _files(root: Path) -> list[Path]:
    if root.is_file():
        return [root]
    inside = (path for path in sorted(root.rglob("*")) if path.is_file())
    return [p for p in inside if not any(part.startswith(".") for part in p.relative_to(root).parts)
            and p.stem.upper() not in ("README", "LICENSE", "LICENCE", "NOTICE")]


def _add(record: Record, found: dict[str, Record]) -> str:
    """Put `record` among `found`; returns why it was refused, if it was."""
    earlier = found.get(record.record_id)
    if earlier is None:
        found[record.record_id] = record
        return ""
    if record.revised and (earlier.revised or "") <= record.revised and record.model_dump(
            exclude={"origin"}) != earlier.model_dump(exclude={"origin"}):
        found[record.record_id] = record
        return f"replaces the version from {earlier.origin}, which was revised {earlier.revised or 'at an unknown date'}"
    if earlier.version == record.version:
        return f"the same record was already read from {earlier.origin}"
    if record.record_id == record.doi and record.title != earlier.title:
        # Chapters and abstracts of a meeting share the DOI of the whole.
        own = record.model_copy(update={"record_id": f"{record.record_id}#{record.version[:8]}"})
        return _add(own, found)
    return f"another record with this id was already read from {earlier.origin}; give one of them another id"
