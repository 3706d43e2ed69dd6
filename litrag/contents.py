"""What an index holds: records, their passages, the vectors and the words of these.

In: records and an embedding model. Out: a value that is saved to and loaded from a folder without pickles. It knows
nothing of names, locks or whether it is up to date; that is `litrag.index` and `litrag.storage`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import faiss
import numpy as np

from litrag.embeddings import PassageEmbeddings
from litrag.errors import IndexUnusableError, InputError
from litrag.lexical import LexicalIndex
from litrag.models import Record
from litrag.passages import PassageTable, embedded_text, embedded_title, passages
from litrag.ranking import Signs

RECORDS, PASSAGES, VECTORS, LEXICAL = "records.jsonl", "passages.json", "vectors.faiss", "lexical"

#: Passages up to which comparing all of them number by number takes no longer than reading their signs.
_FEW = 2000

#: Told the share that is done, 0–1, and what is going on.
Progress = Callable[[float, str], None]


@dataclass(frozen=True)
class Contents:
    """The parts of an index: place n of `passages` and `vectors` is the same passage, of `records` and `lexical` the
    same record. Words are counted over whole records, since a passage alone seldom has all that a question names."""

    records: tuple[Record, ...]
    passages: PassageTable
    vectors: Any
    lexical: LexicalIndex

    @classmethod
    def make(
        cls, records: Sequence[Record], embeddings: PassageEmbeddings, progress: Progress | None,
        earlier: Contents | None = None,
    ) -> Contents:
        """Cut, embed and index `records`; what `earlier` (of the same model) has of unchanged ones is taken over."""
        tell = progress or _silent
        if len({record.record_id for record in records}) != len(records):
            raise InputError("Two records have the same id; every record of an index needs its own.")
        tell(0.0, f"Cutting {len(records)} records into passages")
        kept = earlier.unchanged(records) if earlier else {}
        found = [(place, passage) for place, record in enumerate(records) if place not in kept
                 for passage in passages(record, embeddings)]
        if not found and not any(kept.values()):
            raise InputError("None of the records has an abstract, so there is nothing to index; add records with text.")
        titles = {place: embedded_title(records[place], embeddings) for place in {place for place, _ in found}}
        tell(0.05, f"Embedding {len(found)} passages")
        fresh = embeddings.embed(
            [embedded_text(titles[place], passage.text) for place, passage in found],
            lambda done, total: tell(0.05 + 0.85 * done / max(total, 1), f"Embedded {done} of {total} passages"),
        )
        tell(0.9, "Indexing words")
        vectors = faiss.IndexFlatIP(embeddings.dimension)
        table = PassageTable(records, [place for place, _ in found], [(p.start, p.end) for _, p in found])
        if earlier and kept:
            table, matrix = _joined(table, fresh, earlier, kept)
            vectors.add(matrix)
        else:
            vectors.add(fresh)
        lexical = LexicalIndex.build([f"{record.title}\n{record.text}" for record in records])
        return cls(tuple(records), table, vectors, lexical)

    @cached_property
    def owners(self) -> np.ndarray:
        """Of each passage the place of its record."""
        return np.asarray(self.passages.places, dtype=np.intp)

    @cached_property
    def matrix(self) -> np.ndarray:
        """The vectors as rows, read from where they lie in `vectors`; not to be kept longer than that."""
        flat = faiss.rev_swig_ptr(self.vectors.get_xb(), self.vectors.ntotal * self.vectors.d)
        matrix: np.ndarray = flat.reshape(self.vectors.ntotal, self.vectors.d)
        return matrix

    @cached_property
    def signs(self) -> Signs | None:
        """The signs of the vectors, by which a search passes over most of them; None where all are compared as fast."""
        return Signs(self.matrix) if len(self.passages) > _FEW else None

    def unchanged(self, records: Sequence[Record]) -> dict[int, list[int]]:
        """Places in `records` whose title, text and sections are as they are here, with the places of their passages."""
        mine = {record.record_id: place for place, record in enumerate(self.records)}
        cut: dict[int, list[int]] = {}
        for row, place in enumerate(self.passages.places):
            cut.setdefault(place, []).append(row)
        found = {}
        for place, record in enumerate(records):
            old = mine.get(record.record_id)
            if old is not None and _same_text(record, self.records[old]):
                found[place] = cut.get(old, [])
        return found

    def save(self, folder: Path) -> None:
        with (folder / RECORDS).open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(record.model_dump_json() + "\n" for record in self.records)
        columns = {"record": list(self.passages.places), "start": [start for start, _ in self.passages.spans],
                   "end": [end for _, end in self.passages.spans]}
        (folder / PASSAGES).write_text(json.dumps(columns), encoding="utf-8")
        faiss.write_index(self.vectors, str(folder / VECTORS))
        self.lexical.save(folder / LEXICAL)

    @classmethod
    def load(cls, folder: Path) -> Contents:
        """What `save` wrote; IndexUnusableError when the parts don't belong together."""
        records = read_stored_records(folder)
        columns = json.loads((folder / PASSAGES).read_text(encoding="utf-8"))
        spans = list(zip(columns["start"], columns["end"], strict=True))
        vectors, lexical = faiss.read_index(str(folder / VECTORS)), LexicalIndex.load(folder / LEXICAL)
        if not len(columns["record"]) == len(spans) == vectors.ntotal or len(lexical) != len(records):
            raise IndexUnusableError(f"The files in {folder} don't belong together; rebuild the index.")
        return cls(records, PassageTable(records, columns["record"], spans), vectors, lexical)


def _same_text(one: Record, other: Record) -> bool:
    return (one.title, one.text, one.sections) == (other.title, other.text, other.sections)


def _joined(
    table: PassageTable, fresh: np.ndarray, earlier: Contents, kept: dict[int, list[int]],
) -> tuple[PassageTable, np.ndarray]:
    """The passages and vectors of new and of unchanged records, in the order of the records."""
    old = earlier.matrix
    rows = [(place, span, fresh[n]) for n, (place, span) in enumerate(zip(table.places, table.spans, strict=True))]
    rows += [(place, earlier.passages.spans[n], old[n]) for place, places in kept.items() for n in places]
    rows.sort(key=lambda row: (row[0], row[1]))
    joined = PassageTable(table.records, [place for place, _, _ in rows], [span for _, span, _ in rows])
    return joined, np.stack([vector for _, _, vector in rows])


def read_stored_records(folder: Path) -> tuple[Record, ...]:
    with (folder / RECORDS).open(encoding="utf-8", newline="\n") as lines:
        return tuple(Record.model_validate_json(line) for line in lines)


def corpus_hash(records: Iterable[Record]) -> str:
    """Hash of all that records say; where they were read from doesn't count."""
    texts = sorted(record.model_dump_json(exclude={"origin"}) for record in records)
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()


def _silent(share: float, message: str) -> None:
    """Nobody wants to know."""
