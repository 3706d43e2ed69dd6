"""Records of corpora as they are kept now, to be set beside those that an answer froze.

In: a corpus's name and its hash when an answer was judged. Out: what changed since (`litrag.changes`). A corpus whose hash
is still the same is not read at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from litrag import storage
from litrag.changes import SourceChange, changes
from litrag.contents import read_stored_records
from litrag.errors import IndexUnusableError
from litrag.models import AuditedAnswer, Record


class KeptRecords:
    """The records of corpora as they are kept now; of the corpus that was looked at last they stay in memory."""

    def __init__(self, index_dir: Path) -> None:
        self._index_dir = index_dir
        self._known: tuple[str, str, Mapping[str, Record]] | None = None

    def differing(self, corpus: str, corpus_hash: str) -> Mapping[str, Record] | None:
        """The records of `corpus` by id; None when it is as it was at that hash, or when nothing is known of it."""
        folder = self._index_dir / Path(corpus).name
        if not corpus or not corpus_hash or not (folder / storage.MANIFEST).exists():
            return None
        try:
            manifest = storage.read_manifest(folder)
            if manifest.corpus_hash == corpus_hash:
                return None
            if self._known is None or self._known[:2] != (corpus, manifest.build):
                records = read_stored_records(storage.checked_build(folder, manifest))
                self._known = corpus, manifest.build, {record.record_id: record for record in records}
        except IndexUnusableError:
            # Replaced at this moment, or damaged: it is rebuilt when it is opened, until then nothing is known of it.
            return None
        return self._known[2]

    def change(self, corpus: str, corpus_hash: str, judged: Record) -> SourceChange | None:
        """How one record of a corpus differs from what was judged."""
        now = self.differing(corpus, corpus_hash)
        return None if now is None else next(iter(changes([judged], now)), None)

    def changes(self, answer: AuditedAnswer) -> dict[str, SourceChange]:
        """What changed in the sources of an answer, by record id, in the order of their [n]."""
        now = self.differing(answer.corpus, answer.corpus_hash)
        found = changes((source.record for source in answer.sources), now) if now is not None else ()
        return {change.record_id: change for change in found}
