"""Which corpus is meant, where its index lies and what it is made of."""

from __future__ import annotations

import hashlib
import logging
import re
from dataclasses import dataclass
from pathlib import Path

from litrag import storage
from litrag.config import SAMPLE_CORPUS
from litrag.contents import read_stored_records
from litrag.errors import InputError
from litrag.models import Record
from litrag.readers import read_records, source_hash

SAMPLE = "sample"
_NAME = re.compile(r"\w[\w. -]{0,80}")

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Corpus:
    """A named corpus; without `source` its records are only known from its index."""

    name: str
    directory: Path
    source: Path | None = None

    @classmethod
    def find(cls, name_or_path: str | Path, index_dir: Path) -> Corpus:
        """The corpus of that name, or the one that a file or folder of records makes."""
        text = str(name_or_path)
        path = Path(text).expanduser()
        if text == SAMPLE or path.resolve() == SAMPLE_CORPUS.resolve():
            return cls(SAMPLE, index_dir / SAMPLE, SAMPLE_CORPUS)
        if _NAME.fullmatch(text) and (index_dir / text / storage.MANIFEST).exists():
            return cls(text, index_dir / text)
        if path.exists():
            name = _name_of(path)
            return cls(name, index_dir / name, path)
        known = sorted({SAMPLE, *(p.parent.name for p in index_dir.glob(f"*/{storage.MANIFEST}"))})
        raise InputError(f"There is no corpus or path {text!r}; known corpora: {', '.join(known)}.")

    def source_hash(self) -> str:
        return source_hash(self.source) if self.source else ""

    def records(self) -> tuple[Record, ...]:
        """The records as the source has them now, or as the index stored them."""
        if self.source is None:
            return read_stored_records(storage.checked_build(self.directory, storage.read_manifest(self.directory)))
        report = read_records(self.source)
        for rejection in report.rejected:
            log.warning("%s: %s", "Field left out" if rejection.record_kept else "Not read", rejection.in_words())
        if not report.records:
            reasons = "; ".join(rejection.in_words() for rejection in report.rejected[:3])
            raise InputError(f"{self.source} holds no record that can be read. {reasons}".strip())
        return report.records


def _name_of(path: Path) -> str:
    """A name that says which path it is, and differs for paths of the same stem."""
    place = hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:8]
    stem = re.sub(r"[^A-Za-z0-9]+", "-", path.stem).strip("-")
    return f"{stem or 'corpus'}-{place}"
