"""Named corpora that change: files are added, records updated, merged, parted again and deleted.

In: files of any format that can be read, and what to do with a corpus. Out: an `ImportReport` that accounts for every
record. Each change makes one new build of the index, in which unchanged records keep their passages, vectors and ids;
it takes effect at once or not at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from pydantic import Field, ValidationError

from litrag import storage
from litrag.config import settings
from litrag.contents import Progress, read_stored_records
from litrag.corpora import SAMPLE
from litrag.dedup import Merge, completed, deduplicate, parted
from litrag.embeddings import PassageEmbeddings, open_embeddings
from litrag.errors import IndexUnusableError, InputError
from litrag.index import rebuild
from litrag.models import Model, Record
from litrag.readers import FORMATS, Deletion, Format, Rejection, files, format_of, read_items
from litrag.readers.delimited import has_columns
from litrag.readers.delimited import read as read_table

NAME = re.compile(r"\w[\w. -]{0,80}")


class Ledger(Model):
    """What a corpus knows beside its records: merges that can be undone, and pairs that a person parted."""

    merges: tuple[Merge, ...] = ()
    apart: tuple[tuple[str, str], ...] = ()


class FileReport(Model):
    """One imported file: its format and how many records came out of it."""

    file: str
    format: str
    records: int = 0
    rejected: int = 0


class ImportReport(Model):
    """What became of every record of an import; `read` = loaded + updated + unchanged + merged."""

    corpus: str
    at: str = Field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    files: tuple[FileReport, ...] = ()
    read: int = 0
    loaded: int = 0
    updated: tuple[str, ...] = ()
    unchanged: int = 0
    merges: tuple[Merge, ...] = ()
    deleted: tuple[str, ...] = ()
    without_abstract: int = 0
    rejected: tuple[Rejection, ...] = ()
    records: int = 0
    passages: int = 0

    @property
    def lost(self) -> tuple[Rejection, ...]:
        """The records and files that were not loaded."""
        return tuple(one for one in self.rejected if not one.record_kept)

    def in_words(self) -> str:
        parts = [f"{self.read} records read", f"{self.loaded} new"]
        counts = ((len(self.updated), "updated"), (self.unchanged, "unchanged"), (len(self.merges), "merged as duplicates"),
                  (len(self.deleted), "deleted"), (self.without_abstract, "without an abstract"), (len(self.lost), "rejected"))
        return ", ".join([*parts, *(f"{count} {word}" for count, word in counts if count)])


@dataclass
class _Change:
    """A corpus while it is being changed."""

    records: dict[str, Record]
    ledger: Ledger
    updated: list[str] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    merges: list[Merge] = field(default_factory=list)
    unchanged: int = 0
    loaded: int = 0


def names() -> list[str]:
    """The corpora that are kept, in name order."""
    return sorted(path.parent.name for path in settings().index_dir.glob(f"*/{storage.MANIFEST}"))


def folder_of(name: str) -> Path:
    if not NAME.fullmatch(name):
        raise InputError(f"A corpus name must be letters, digits, spaces, '.', '_' or '-', got {name[:80]!r}; choose another.")
    return settings().index_dir / name


def changeable(name: str) -> Path:
    """The folder of a corpus that may be changed; one that is made from a file or folder is changed there."""
    folder = folder_of(name)
    if name == SAMPLE:
        raise InputError(f"The corpus {SAMPLE!r} is carried with LitRAG and can't be changed; import under another name.")
    if (folder / storage.MANIFEST).exists() and (source := storage.read_manifest(folder).source):
        raise InputError(f"Corpus {name!r} is made from {source}; change the files there, or import under another name.")
    return folder


def records_of(name: str) -> tuple[Record, ...]:
    """The records of a corpus, those without an abstract included; none when there is no such corpus."""
    folder = folder_of(name)
    if not (folder / storage.MANIFEST).exists():
        return ()
    return read_stored_records(storage.checked_build(folder, storage.read_manifest(folder)))


def ledger_of(name: str) -> Ledger:
    """Merges and partings of a corpus."""
    text = storage.read_beside(folder_of(name)).get(storage.LIBRARY)
    try:
        return Ledger.model_validate_json(text) if text else Ledger()
    except ValidationError as error:
        message = f"The list of merges of corpus {name!r} is damaged; import its files again."
        raise IndexUnusableError(message) from error


def add(
    name: str, paths: Iterable[str | Path], *, embeddings: PassageEmbeddings | None = None,
    progress: Progress | None = None, mapping: Mapping[str, str] | None = None,
) -> ImportReport:
    """Import files or folders into a corpus, which is made when it doesn't exist.

    A record that is known already (same PMID) is updated when it was revised later or says more; duplicates are
    merged; records that a PubMed update file deletes are deleted. `mapping` names the columns of a table.
    """
    folder = changeable(name)
    found = [file for path in paths for file in files(path)]
    items, reports = _read(found, mapping or {}, progress)
    incoming = [item for item in items if isinstance(item, Record)]
    rejected = tuple(item for item in items if isinstance(item, Rejection))
    gone = {item.pmid for item in items if isinstance(item, Deletion)}
    with storage.locked(folder):
        change = _Change({record.record_id: record for record in records_of(name)}, ledger_of(name))
        _take_in(change, incoming)
        for record in [one for one in change.records.values() if one.pmid in gone]:
            del change.records[record.record_id]
            change.deleted.append(record.record_id)
        before = len(change.records)
        if not before and not incoming:
            reasons = "; ".join(one.in_words() for one in rejected[:3])
            raise InputError(f"None of the files holds a record that can be read. {reasons}".strip())
        passages = _write(folder, change, embeddings, progress)
    return ImportReport(
        corpus=name, files=tuple(reports), read=len(incoming), loaded=change.loaded, updated=tuple(change.updated),
        unchanged=change.unchanged, merges=tuple(change.merges), deleted=tuple(change.deleted), rejected=rejected,
        without_abstract=sum(not record.text for record in incoming), records=len(change.records), passages=passages,
    )


def delete_records(name: str, record_ids: Iterable[str], *, embeddings: PassageEmbeddings | None = None) -> tuple[str, ...]:
    """Take records out of a corpus; returns the ids that it held."""
    folder = changeable(name)
    with storage.locked(folder):
        change = _Change({record.record_id: record for record in records_of(name)}, ledger_of(name))
        gone = tuple(one for one in dict.fromkeys(record_ids) if change.records.pop(one, None) is not None)
        if gone:
            _write(folder, change, embeddings, None)
    return gone


def undo_merge(name: str, merge: Merge, *, embeddings: PassageEmbeddings | None = None) -> Record:
    """Give back the record that was merged, unchanged, take what it gave from the other, and keep the two apart from now on."""
    folder = changeable(name)
    with storage.locked(folder):
        change = _Change({record.record_id: record for record in records_of(name)}, ledger_of(name))
        if merge not in change.ledger.merges:
            raise InputError(f"Record {merge.merged!r} is not merged in corpus {name!r}; reload the page.")
        back = _named(merge.record, change.records)
        change.records[back.record_id] = back
        if (kept := change.records.get(merge.kept)) is not None:
            rest = [one.record for one in change.ledger.merges if one.kept == merge.kept and one != merge]
            change.records[merge.kept] = parted(kept, merge, rest)
        change.ledger = Ledger(
            merges=tuple(one for one in change.ledger.merges if one != merge),
            apart=(*change.ledger.apart, (merge.kept, back.record_id)),
        )
        _write(folder, change, embeddings, None)
    return back


def delete_corpus(name: str) -> None:
    """Remove a corpus and its index."""
    folder = folder_of(name)
    if not (folder / storage.MANIFEST).exists():
        raise InputError(f"There is no corpus {name!r}; known corpora: {', '.join(names()) or 'none'}.")
    with storage.locked(folder):
        storage.remove(folder)


def keep_report(report: ImportReport, run_id: str) -> None:
    """Keep the report of an import for `reports_of`."""
    folder = settings().home / "imports" / report.corpus
    folder.mkdir(parents=True, exist_ok=True)
    storage.replace_text(folder / f"{run_id}.json", report.model_dump_json())


def reports_of(name: str) -> list[ImportReport]:
    """The kept reports of a corpus's imports, newest first."""
    found = (settings().home / "imports" / folder_of(name).name).glob("*.json")
    read = [ImportReport.model_validate_json(path.read_text(encoding="utf-8")) for path in found]
    return sorted(read, key=lambda report: report.at, reverse=True)


def _read(
    found: Sequence[Path], mapping: Mapping[str, str], progress: Progress | None,
) -> tuple[list[Record | Rejection | Deletion], list[FileReport]]:
    items: list[Record | Rejection | Deletion] = []
    reports = []
    for number, file in enumerate(found):
        if progress:
            progress(0.1 * number / len(found), f"Reading {file.name}")
        known = format_of(file)
        read = list(_items(file, known, mapping))
        items += read
        reports.append(FileReport(
            file=file.name, format=known.name if isinstance(known, Format) else "",
            records=sum(isinstance(one, Record) for one in read),
            rejected=sum(isinstance(one, Rejection) and not one.record_kept for one in read),
        ))
    return items, reports


def _items(file: Path, known: Format | str, mapping: Mapping[str, str]) -> Iterator[Record | Rejection | Deletion]:
    if mapping and ((isinstance(known, str) and has_columns(file, mapping)) or known == FORMATS["table"]):
        yield from read_table(file, mapping)
    else:
        yield from read_items(file)


def _take_in(change: _Change, incoming: Sequence[Record]) -> None:
    """Known records are updated or left, new ones added, duplicates among them merged."""
    by_pmid = {record.pmid: record.record_id for record in change.records.values() if record.pmid}
    fresh: list[Record] = []
    for record in incoming:
        known = by_pmid.get(record.pmid) if record.pmid else None
        known = known or _same_given_id(record, change.records)
        if known is None:
            fresh.append(_named(record, change.records))
            change.records[fresh[-1].record_id] = fresh[-1]
            if record.pmid:
                by_pmid[record.pmid] = fresh[-1].record_id
            change.loaded += 1
        else:
            _update(change, known, record)
    standing = [record for record in change.records.values() if record.record_id not in {one.record_id for one in fresh}]
    fresh = [change.records[record.record_id] for record in fresh]
    result = deduplicate([*standing, *fresh], [frozenset(pair) for pair in change.ledger.apart], standing=len(standing))
    merged = list(result.merges)
    change.records = {record.record_id: record for record in result.records}
    change.merges += merged
    change.loaded -= len(merged)
    change.ledger = change.ledger.model_copy(update={"merges": _listed(change.ledger.merges, merged)})


def _listed(known: Sequence[Merge], new: Sequence[Merge]) -> tuple[Merge, ...]:
    """All merges; that of a record merged once more, from a file imported twice, takes the place of the first."""
    listed = {(one.kept, one.merged, one.record.version): one for one in known}
    for one in new:
        key = (one.kept, one.merged, one.record.version)
        first = listed.get(key, one)
        listed[key] = one.model_copy(update={
            "gave": tuple(dict.fromkeys((*first.gave, *one.gave))),
            "notices": tuple(dict.fromkeys((*first.notices, *one.notices))),
        })
    return tuple(listed.values())


def _same_given_id(record: Record, known: Mapping[str, Record]) -> str | None:
    """The id of a record without a PMID that is the same text, or that its file names by the same id of its own."""
    other = known.get(record.record_id)
    if other is None or record.pmid or other.pmid:
        return None
    return other.record_id if other.version == record.version or record.record_id not in (record.doi, record.pmcid) else None


def _update(change: _Change, known: str, record: Record) -> None:
    old = change.records[known]
    newer = (record.revised or "") >= (old.revised or "") and (record.text or not old.text)
    new = completed(record, [old]) if newer else completed(old, [record])
    new = new.model_copy(update={"record_id": known})
    if new.model_dump(exclude={"origin"}) == old.model_dump(exclude={"origin"}):
        change.unchanged += 1
        return
    change.records[known] = new
    change.updated.append(known)


def _named(record: Record, known: Mapping[str, Record]) -> Record:
    """`record` under an id that no other one has."""
    if record.record_id not in known:
        return record
    number = 2
    while f"{record.record_id}~{number}" in known:
        number += 1
    return record.model_copy(update={"record_id": f"{record.record_id}~{number}"})


def _write(folder: Path, change: _Change, embeddings: PassageEmbeddings | None, progress: Progress | None) -> int:
    beside = {storage.LIBRARY: change.ledger.model_dump_json()}
    tell = (lambda share, message: progress(0.1 + 0.9 * share, message)) if progress else None
    index = rebuild(tuple(change.records.values()), folder, embeddings or open_embeddings(), tell, beside)
    return len(index.passages)
