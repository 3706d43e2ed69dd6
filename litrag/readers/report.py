"""What reading a corpus gave: the records, and an account of what was refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

from litrag.models import Model, Record


class Rejection(Model):
    """Something that could not be read. With `record_kept` only the named field was left out."""

    file: str
    record: str = ""
    field: str = ""
    reason: str
    record_kept: bool = False

    def in_words(self) -> str:
        where = f"{self.file}, {self.record}" if self.record else self.file
        field = f"{self.field}: " if self.field else ""
        return f"{where}: {field}{self.reason}"


class Deletion(Model):
    """A record that an update file of PubMed takes back."""

    file: str
    pmid: str


@dataclass(frozen=True)
class ReadReport(Sequence[Record]):
    """The records that were read, as a sequence, with `rejected` beside them."""

    records: tuple[Record, ...] = ()
    rejected: tuple[Rejection, ...] = ()
    deleted: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.records)

    @overload
    def __getitem__(self, place: int) -> Record: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Record, ...]: ...
    def __getitem__(self, place: int | slice) -> Record | tuple[Record, ...]:
        return self.records[place]

    def in_words(self) -> str:
        """One line for a log or a page: how many came in and how many did not."""
        lost = sum(not rejection.record_kept for rejection in self.rejected)
        left_out = len(self.rejected) - lost
        parts = [f"{len(self.records)} records read"]
        if lost:
            parts.append(f"{lost} rejected")
        if left_out:
            parts.append(f"{left_out} with a field left out")
        if self.deleted:
            parts.append(f"{len(self.deleted)} deleted")
        return ", ".join(parts)
