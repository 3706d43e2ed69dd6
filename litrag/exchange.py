"""What leaves the store: labels as CSV, the full event log, and the formats of Label Studio and Argilla.

A store goes in, lines of text come out, one page of items at a time, so that memory doesn't grow with the number of
rows. All of one export is read in a single transaction: it shows one moment.
"""

from __future__ import annotations

import csv
import io
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import Any, NamedTuple, TextIO

from sqlalchemy import Connection, RowMapping, Table, func, select

from .cells import protect
from .changes import SourceChange, changes
from .config import settings
from .kept import KeptRecords
from .labels import Label, Status
from .models import Verdict
from .reviews import Store, as_item, as_label
from .tables import adjudications, events, items, judgements, labels, runs

#: Version of the CSV's columns and of what they mean.
CSV_VERSION = 1

BOM = "\ufeff"

_PAGE = 500


class Kind(StrEnum):
    """How a column's cells are written."""

    TEXT = "text"
    WORD = "one of a fixed set"
    NUMBER = "number"
    FLAG = "true or false"
    TIME = "UTC time, ISO-8601"
    ID = "identifier"


class Column(NamedTuple):
    name: str
    kind: Kind
    meaning: str


COLUMNS = (
    Column("schema_version", Kind.NUMBER, "Version of these columns."),
    Column("item_id", Kind.ID, "The reviewed item: one citation of one claim. Rows are matched by it on import."),
    Column("run_id", Kind.TEXT, "The stored answer that the claim comes from."),
    Column("question_id", Kind.ID, "The question; wordings that differ in case and punctuation share it."),
    Column("question", Kind.TEXT, "The question as asked; empty for a checked text."),
    Column("claim_index", Kind.NUMBER, "Place of the claim in the answer, from 0."),
    Column("claim_text", Kind.TEXT, "The claim."),
    Column("citation_n", Kind.NUMBER, "The [n] that is judged."),
    Column("pmid", Kind.NUMBER, "PMID of the cited record; empty when it has none."),
    Column("passage_id", Kind.TEXT, "The cited passage, as the index names it."),
    Column("passage_text", Kind.TEXT, "The text that the reviewer saw: the record's whole text, frozen."),
    Column("quote_text", Kind.TEXT, "The quote as given."),
    Column("quote_match", Kind.WORD, "How the quote stands in the text."),
    Column("judge_verdict", Kind.WORD, "The judge's latest verdict; empty when unjudged or never judged."),
    Column("judge_confidence", Kind.NUMBER, "The judge's confidence, 0 to 1."),
    Column("judge_rationale", Kind.TEXT, "Why; for an unjudged item the reason, after “unjudged: ”."),
    Column("judge_model", Kind.TEXT, "Judge and model."),
    Column("judge_version", Kind.TEXT, "Version of the judge's prompt or weights."),
    Column("human_verdict_blind", Kind.WORD, "The label given before the verdict was shown; empty if there is none."),
    Column("human_verdict", Kind.WORD, "The label that stands now. May be edited and imported."),
    Column("human_confidence", Kind.WORD, "The reviewer's own confidence. May be edited and imported."),
    Column("reason_code", Kind.WORD, "Why the label differs from the judge. May be edited and imported."),
    Column("comment", Kind.TEXT, "The reviewer's comment. May be edited and imported."),
    Column("is_override", Kind.FLAG, "Whether human_verdict differs from judge_verdict; empty when either is."),
    Column("blinded", Kind.FLAG, "Whether a blind label stands behind this row: only such rows calibrate a judge."),
    Column("reviewer_id", Kind.TEXT, "The reviewer's pseudonym; empty when nobody has touched the item."),
    Column("review_role", Kind.WORD, "Role of the reviewer at the latest event."),
    Column("label_status", Kind.WORD, "Where the reviewer stands with the item."),
    Column("revision", Kind.NUMBER, "Number of events of this reviewer on this item; 0 when there is none."),
    Column("reviewed_at", Kind.TIME, "When the label was last set or annotated."),
    Column("duration_s", Kind.NUMBER, "Seconds spent on the item, over all events that stand."),
    Column("sampling_stratum", Kind.WORD, "Why the item is in the queue; only `uniform` may be used for rates."),
    Column("sampling_prob", Kind.NUMBER, "Probability with which it was drawn in its stratum; empty for `chosen`."),
    Column("split", Kind.WORD, "few_shot, dev or test; all items of a question share it."),
    Column("gold_verdict", Kind.WORD, "The latest adjudicated label; empty when the item was not adjudicated."),
)

HEADER = tuple(column.name for column in COLUMNS)
_TEXTS = tuple(column.kind is Kind.TEXT for column in COLUMNS)


# --- rows
def label_rows(store: Store) -> Iterator[dict[str, object]]:
    """One dictionary per item and reviewer, in the queue's order; an untouched item has one with no reviewer.

    Beside the CSV's columns it has `source_changed`: what changed in the source since it was judged, in words.
    """
    kept = KeptRecords(settings().index_dir)
    with store.snapshot() as connection:
        for page in _item_pages(connection):
            changed = {item["item_id"]: change for item, change in _changes_of(connection, page, kept)}
            for row in _rows_of(connection, page):
                found = changed.get(str(row["item_id"]))
                yield {**row, "source_changed": found.in_words() if found else ""}


def changed_items(store: Store) -> Iterator[tuple[str, SourceChange]]:
    """The items whose source is no longer what was judged, with what changed."""
    kept = KeptRecords(settings().index_dir)
    with store.snapshot() as connection:
        for page in _item_pages(connection):
            yield from ((item["item_id"], change) for item, change in _changes_of(connection, page, kept))


def changes_in_words(store: Store) -> str:
    """A sentence on how many items cite a source that changed since; empty when none does."""
    found = [change for _, change in changed_items(store)]
    if not found:
        return ""
    grave = sum(change.grave for change in found)
    which = f", {grave} of them by a retraction, withdrawal or concern" if grave else ""
    return (f"{len(found)} item{'s cite sources' if len(found) != 1 else ' cites a source'} that changed since they were judged"
            f"{which}; labels and verdicts are those of the earlier text.")


def _changes_of(
    connection: Connection, page: Sequence[RowMapping], kept: KeptRecords,
) -> Iterator[tuple[RowMapping, SourceChange]]:
    wanted = {item["run_id"] for item in page}
    query = select(runs.c.run_id, runs.c.corpus, runs.c.corpus_hash).where(runs.c.run_id.in_(wanted))
    corpora = {run_id: (corpus or "", corpus_hash or "") for run_id, corpus, corpus_hash in connection.execute(query)}
    for item in page:
        now = kept.differing(*corpora.get(item["run_id"], ("", "")))
        if now is not None:
            yield from ((item, change) for change in changes([as_item(item).record], now))


def _item_pages(connection: Connection) -> Iterator[Sequence[RowMapping]]:
    last = 0
    while True:
        query = select(items).where(items.c.seq > last).order_by(items.c.seq).limit(_PAGE)
        page = connection.execute(query).mappings().all()
        if not page:
            return
        yield page
        last = page[-1]["seq"]


def _rows_of(connection: Connection, page: Sequence[RowMapping]) -> Iterator[dict[str, object]]:
    mine, judged, gold = _labels_of(connection, page), _latest_judgements(connection, page), _gold_of(connection, page)
    for item in page:
        untouched = [Label(item_id=item["item_id"], reviewer_id="")]
        for label in mine.get(item["item_id"], untouched):
            yield _row(item, judged.get(item["item_id"]), label, gold.get(item["item_id"]))


def _labels_of(connection: Connection, page: Sequence[RowMapping]) -> dict[str, list[Label]]:
    found = defaultdict(list)
    query = select(labels).where(labels.c.seq.between(page[0]["seq"], page[-1]["seq"]))
    for row in connection.execute(query.order_by(labels.c.seq, labels.c.reviewer_id)).mappings():
        found[row["item_id"]].append(as_label(row))
    return found


def _latest_judgements(connection: Connection, page: Sequence[RowMapping]) -> dict[str, RowMapping]:
    return _latest(connection, judgements, judgements.c.judgement_id, page)


def _gold_of(connection: Connection, page: Sequence[RowMapping]) -> dict[str, RowMapping]:
    return _latest(connection, adjudications, adjudications.c.adjudication_id, page)


def _latest(connection: Connection, table: Table, key: Any, page: Sequence[RowMapping]) -> dict[str, RowMapping]:
    """The newest row of each item of the page."""
    wanted = table.c.item_id.in_([item["item_id"] for item in page])
    newest = select(func.max(key)).where(wanted).group_by(table.c.item_id)
    found = connection.execute(select(table).where(key.in_(newest))).mappings()
    return {row["item_id"]: row for row in found}


def _row(
    item: RowMapping, judged: RowMapping | None, label: Label, gold: RowMapping | None,
) -> dict[str, object]:
    verdict = judged["verdict"] if judged else None
    standing = label.verdict is not None
    return {
        "schema_version": CSV_VERSION, **{name: item[name] for name in HEADER if name in item},
        **_judge_fields(judged),
        "human_verdict_blind": label.blind_verdict, "human_verdict": label.verdict,
        "human_confidence": label.confidence, "reason_code": label.reason_code, "comment": label.comment,
        "is_override": label.verdict != verdict if standing and verdict else None,
        "blinded": label.blind_verdict is not None if standing else None,
        "reviewer_id": label.reviewer_id, "review_role": label.role if label.reviewer_id else None,
        "label_status": Status.NEEDS_DISCUSSION if label.flagged else label.status,
        "revision": label.revision, "reviewed_at": label.reviewed_at, "duration_s": round(label.seconds, 1),
        "gold_verdict": gold["verdict"] if gold else None,
    }


def _judge_fields(judged: RowMapping | None) -> dict[str, object]:
    if judged is None:
        return {}
    unjudged = f"unjudged: {judged['unjudged_reason']}"
    return {
        "judge_verdict": judged["verdict"], "judge_confidence": judged["confidence"],
        "judge_rationale": judged["rationale"] if judged["verdict"] else unjudged,
        "judge_model": " ".join(filter(None, [judged["judge"], judged["model"]])),
        "judge_version": judged["version"],
    }


# --- CSV
def csv_lines(store: Store, *, bom: bool = False) -> Iterator[str]:
    """The labels as RFC 4180 CSV, a record at a time; `bom` is for spreadsheets that take UTF-8 for something else."""
    yield (BOM if bom else "") + _record(HEADER)
    for row in label_rows(store):
        yield _record([_cell(row.get(name), text) for name, text in zip(HEADER, _TEXTS, strict=True)])


def _cell(value: object, text: bool) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return protect(str(value)) if text else str(value)


def _record(cells: Iterable[str]) -> str:
    line = io.StringIO(newline="")
    csv.writer(line, lineterminator="\r\n").writerow(cells)
    return line.getvalue()


# --- JSONL
def event_lines(store: Store) -> Iterator[str]:
    """Everything that ever happened, as JSONL: runs, items, judgements, events, adjudications, each in order.

    At the end stand the items whose source is no longer what was judged.
    """
    with store.snapshot() as connection:
        for table, key, kind in (
            (runs, runs.c.run_id, "run"), (items, items.c.seq, "item"),
            (judgements, judgements.c.judgement_id, "judgement"), (events, events.c.event_id, "event"),
            (adjudications, adjudications.c.adjudication_id, "adjudication"),
        ):
            for row in _by_key(connection, table, key):
                yield _json({"type": kind, **_log_fields(row)})
    for item_id, change in changed_items(store):
        yield _json({"type": "source_change", "item_id": item_id, **change.model_dump(mode="json")})


def _by_key(connection: Connection, table: Table, key: Any) -> Iterator[RowMapping]:
    last: object = None
    while True:
        query = select(table).order_by(key).limit(_PAGE)
        page = connection.execute(query if last is None else query.where(key > last)).mappings().all()
        if not page:
            return
        yield from page
        last = page[-1][key.name]


#: Columns that hold JSON already.
_NESTED = ("settings", "quote_spans", "study", "body")


def _log_fields(row: RowMapping) -> dict[str, object]:
    """A row for the log; the answer is left out, since its claims and citations are the items."""
    return {
        name: json.loads(value) if name in _NESTED else value for name, value in row.items() if name != "answer"
    }


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False) + "\n"


def label_studio_lines(store: Store) -> Iterator[str]:
    """A JSON array of Label Studio tasks, one per line; the judge is the prediction, each label an annotation."""
    yield "["
    for place, rows in enumerate(_by_item(store)):
        yield (",\n" if place else "\n") + _json(_task(rows)).rstrip("\n")
    yield "\n]\n"


def _by_item(store: Store) -> Iterator[list[dict[str, object]]]:
    rows: list[dict[str, object]] = []
    for row in label_rows(store):
        if rows and rows[0]["item_id"] != row["item_id"]:
            yield rows
            rows = []
        rows.append(row)
    if rows:
        yield rows


_SHOWN = ("question", "claim_text", "quote_text", "passage_text")
_FACTS = ("run_id", "question_id", "claim_index", "citation_n", "pmid", "split", "sampling_stratum", "sampling_prob",
          "source_changed")


def _task(rows: Sequence[dict[str, object]]) -> dict[str, object]:
    first = rows[0]
    return {
        "data": {name: first[name] for name in ("item_id", *_SHOWN, *_FACTS)},
        "predictions": [{
            "model_version": f"{first['judge_model']} {first['judge_version']}", "score": first["judge_confidence"],
            "result": _choice(first["judge_verdict"]),
        }] if first.get("judge_verdict") else [],
        "annotations": [
            {
                "result": _choice(row["human_verdict"]), "lead_time": row["duration_s"],
                "ground_truth": row["human_verdict"] == row["gold_verdict"],
                "meta": {"reviewer_id": row["reviewer_id"], "blinded": row["blinded"], "comment": row["comment"]},
            }
            for row in rows if row["human_verdict"]
        ],
    }


def _choice(verdict: object) -> list[dict[str, object]]:
    """A verdict in the terms of `LABEL_STUDIO_CONFIG`."""
    return [{"from_name": "verdict", "to_name": "claim", "type": "choices", "value": {"choices": [verdict]}}]


#: Labelling set-up that goes with the tasks.
LABEL_STUDIO_CONFIG = f"""<View>
  <Header value="$question"/>
  <Text name="claim" value="$claim_text"/>
  <Text name="quote" value="$quote_text"/>
  <Text name="passage" value="$passage_text"/>
  <Choices name="verdict" toName="claim" choice="single">
    {''.join(f'<Choice value="{verdict}"/>' for verdict in Verdict)}
  </Choices>
</View>
"""


#: Argilla's questions and the columns that answer them.
_ANSWERS = {"verdict": "human_verdict", "confidence": "human_confidence", "reason": "reason_code", "comment": "comment"}


def argilla_lines(store: Store) -> Iterator[str]:
    """JSONL in the shape of Argilla records: fields, suggestions, responses by reviewer, metadata."""
    for rows in _by_item(store):
        first = rows[0]
        suggestion = {
            "value": first.get("judge_verdict"), "score": first.get("judge_confidence"),
            "agent": first.get("judge_model"),
        }
        responses = {
            question: [
                {"user_id": row["reviewer_id"], "value": row[column], "status": "submitted"}
                for row in rows if row["human_verdict"] and row[column]
            ]
            for question, column in _ANSWERS.items()
        }
        yield _json({
            "id": first["item_id"], "fields": {name: first[name] for name in _SHOWN},
            "metadata": {name: first[name] for name in (*_FACTS, "gold_verdict")},
            "suggestions": {"verdict": suggestion} if suggestion["value"] else {},
            "responses": {question: given for question, given in responses.items() if given},
        })


class Format(StrEnum):
    """What can be exported."""

    CSV = "csv"
    EVENTS = "events"
    LABEL_STUDIO = "label-studio"
    ARGILLA = "argilla"


#: Format → file name.
FILE_NAMES = {
    Format.CSV: "litrag-labels.csv", Format.EVENTS: "litrag-events.jsonl",
    Format.LABEL_STUDIO: "litrag-label-studio.json", Format.ARGILLA: "litrag-argilla.jsonl",
}


def export_lines(store: Store, wanted: Format, *, bom: bool = False) -> Iterator[str]:
    """An export in one of the formats."""
    if wanted is Format.CSV:
        return csv_lines(store, bom=bom)
    makers = {
        Format.EVENTS: event_lines, Format.LABEL_STUDIO: label_studio_lines, Format.ARGILLA: argilla_lines,
    }
    return makers[wanted](store)


def export(store: Store, wanted: Format, file: TextIO, *, bom: bool = False) -> int:
    """Write an export to a text file that was opened with `newline=""`; says how many characters it has."""
    return sum(file.write(line) for line in export_lines(store, wanted, bom=bom))
