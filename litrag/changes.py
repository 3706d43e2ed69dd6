"""What became of the sources of an answer since it was judged.

In: records as they were frozen into an answer or an item under review, and records as they are now (`litrag.kept`). Out:
a `SourceChange` for each whose text, status or presence differs. Nothing is judged again: a verdict stays that of the
text it was given for, and whoever shows or exports it says what has changed since.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from pydantic import computed_field

from litrag.models import AuditedAnswer, Model, Notice, Record
from litrag.status import KINDS

#: What a reader is told above the changes, in the pages and in what is exported.
HEADLINE = "The source changed since this was judged."


class SourceChange(Model):
    """How a record differs from what was judged: new text, new or withdrawn notices, or gone from its corpus."""

    record_id: str
    name: str
    pmid: str | None = None
    title_changed: bool = False
    text_changed: bool = False
    new_notices: tuple[Notice, ...] = ()
    lifted: tuple[str, ...] = ()
    gone: bool = False

    @computed_field  # type: ignore[prop-decorator]
    @property
    def what(self) -> tuple[str, ...]:
        """`status`, `text` and `gone`, as far as they apply."""
        parts = (("status", self.new_notices or self.lifted), ("text", self.title_changed or self.text_changed),
                 ("gone", self.gone))
        return tuple(name for name, applies in parts if applies)

    @property
    def grave(self) -> bool:
        """Whether the record may no longer be used as evidence, or is under suspicion."""
        return any(notice.kind in ("retracted", "withdrawn", "concern") for notice in self.new_notices)

    def in_words(self) -> str:
        """What changed, without the record's name: "status: Retracted (PMID 999); text: the abstract differs"."""
        parts = [f"status: {_noticed(notice)}" for notice in self.new_notices]
        parts += [f"status: no longer marked “{KINDS.get(kind, kind)}”" for kind in self.lifted]
        fields = [name for name, changed in (("title", self.title_changed), ("abstract", self.text_changed)) if changed]
        if fields:
            parts.append(f"text: the {' and the '.join(fields)} differ{'s' if len(fields) == 1 else ''} from what was judged")
        if self.gone:
            parts.append("it is no longer in the corpus")
        return "; ".join(parts)


class ExportedAnswer(AuditedAnswer):
    """An answer as it was judged, with what changed in its sources until it was exported."""

    source_changes: tuple[SourceChange, ...] = ()


def changes(judged: Iterable[Record], now: Mapping[str, Record]) -> Iterator[SourceChange]:
    """The changes between `judged` records and those of the same id, or else the same PMID, in `now`."""
    by_pmid: dict[str, Record] | None = None
    for old in judged:
        new = now.get(old.record_id)
        if new is None and old.pmid:
            by_pmid = by_pmid or {record.pmid: record for record in now.values() if record.pmid}
            new = by_pmid.get(old.pmid)
        change = _change(old, new)
        if change.what:
            yield change


def exported(answer: AuditedAnswer, found: Mapping[str, SourceChange]) -> ExportedAnswer:
    """The answer, unchanged, with the changes beside it."""
    return ExportedAnswer(**{name: getattr(answer, name) for name in AuditedAnswer.model_fields},
                          source_changes=tuple(found.values()))


def _change(old: Record, new: Record | None) -> SourceChange:
    who = SourceChange(record_id=old.record_id, name=old.name, pmid=old.pmid)
    if new is None:
        return who.model_copy(update={"gone": True})
    kinds = {notice.kind for notice in old.notices}
    # A notice that was known without its PMID and now has one is no news.
    known = {(one.kind, one.pmid) for one in old.notices}
    bare = {one.kind for one in old.notices if one.pmid is None}
    fresh = [one for one in new.notices if (one.kind, one.pmid) not in known and not (one.kind in bare or (
        one.pmid is None and one.kind in kinds))]
    return who.model_copy(update={
        "title_changed": old.title != new.title, "text_changed": old.text != new.text, "new_notices": tuple(fresh),
        "lifted": tuple(sorted(kinds - {one.kind for one in new.notices})),
    })


def _noticed(notice: Notice) -> str:
    named = KINDS.get(notice.kind, notice.kind)
    return f"{named} (notice: PMID {notice.pmid})" if notice.pmid else named
