"""What every exported column and JSON field means, as Markdown made from the code that writes them.

`python -m litrag.data_dictionary` writes `docs/data-dictionary.md`; a test compares the file with `dictionary()` and
fails when a field has no meaning here or a meaning has no field.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any

from pydantic import BaseModel
from sqlalchemy import Table

from litrag import cells
from litrag.batch import CSV_COLUMNS
from litrag.changes import SourceChange
from litrag.config import PROJECT
from litrag.exchange import COLUMNS, CSV_VERSION, FILE_NAMES, Format
from litrag.labels import Confidence, Kind, Reason, Role, Status
from litrag.models import (
    MATCH_WORDS,
    Abstention,
    AuditedAnswer,
    AuditedClaim,
    CheckedCitation,
    Conflict,
    Difference,
    Finding,
    Hit,
    Judgement,
    Location,
    MatchKind,
    Notice,
    OtherAbstract,
    Passage,
    Reanchor,
    Record,
    Section,
    Source,
    Verdict,
)
from litrag.report_fields import MEANINGS as REPORT_MEANINGS
from litrag.report_fields import PLAIN, REPORTS
from litrag.review_html import MEANINGS
from litrag.sampling import Split, Stratum
from litrag.tables import adjudications, events, items, judgements, runs

TARGET = PROJECT / "docs" / "data-dictionary.md"

STATUS_MEANINGS = {
    Status.UNLABELLED: "No label; perhaps opened, flagged or undone.",
    Status.SKIPPED: "Set aside; it comes again after all others.",
    Status.WITHDRAWN: "The label was taken back; a new one will not be blind.",
    Status.LABELLED: "A label stands; the reviewer has neither kept nor revised it.",
    Status.KEPT: "The reviewer kept the label after seeing the judge's verdict.",
    Status.REVISED: "The reviewer changed the label after seeing the judge's verdict.",
    Status.IMPORTED: "The label came, or was changed, by import.",
    Status.NEEDS_DISCUSSION: "Flagged for discussion, whatever else holds.",
}

KIND_MEANINGS = {
    Kind.LABEL: "The first label, or the first after one was taken back.",
    Kind.KEEP: "The label was kept after the reveal.",
    Kind.REVISE: "Another label after the reveal.",
    Kind.ANNOTATE: "Confidence, reason and comment were set; all three stand as given.",
    Kind.SKIP: "The item was set aside.",
    Kind.FLAG: "The item needs discussion.",
    Kind.UNFLAG: "It no longer does.",
    Kind.REVEAL: "The judge's verdict was shown. Can't be undone.",
    Kind.UNDO: "The event whose revision stands in `undoes` no longer counts.",
    Kind.IMPORT: "A label was taken from a file.",
}

STRATUM_MEANINGS = {
    Stratum.UNIFORM: "Drawn with equal probability: may be used for rates.",
    Stratum.UNCERTAIN: "Drawn in proportion to the judge's doubt: for finding errors.",
    Stratum.RARE: "Drawn in proportion to the rarity of the verdict: for finding errors.",
    Stratum.CHOSEN: "Sent to review by hand; it has no probability.",
}

SPLIT_MEANINGS = {
    Split.FEW_SHOT: "A tenth of the questions: may be shown to a judge as examples.",
    Split.DEV: "Four tenths: for choosing thresholds and prompts.",
    Split.TEST: "Half: for the final figures only.",
}

REASON_MEANINGS = {
    Reason.NUMBER: "A figure, unit, interval or P value is judged wrongly.",
    Reason.DIRECTION: "More and less, better and worse, or the sides of a comparison are confused.",
    Reason.POPULATION: "It holds for other people, another arm, dose or time.",
    Reason.OVERREACH: "The claim says more than the text: certainty, cause, scope.",
    Reason.WRONG_SOURCE: "Another source says it, not this one.",
    Reason.QUOTE_ALTERED: "The quote isn't what the text says.",
    Reason.OTHER: "Something else; the comment says what.",
}

CONFIDENCE_MEANINGS = {
    Confidence.LOW: "Could well be otherwise.", Confidence.MEDIUM: "Probably right.", Confidence.HIGH: "Certain.",
}

ROLE_MEANINGS = {
    Role.REVIEWER: "Labels.", Role.ADJUDICATOR: "Labels, adjudicates, draws samples, exports and imports.",
}

WORDS: tuple[tuple[str, type[StrEnum], Mapping[Any, str]], ...] = (
    ("Verdicts and labels", Verdict, MEANINGS), ("How a quote matches", MatchKind, MATCH_WORDS),
    ("Reason codes", Reason, REASON_MEANINGS), ("A reviewer's confidence", Confidence, CONFIDENCE_MEANINGS),
    ("Roles", Role, ROLE_MEANINGS), ("Status of a label", Status, STATUS_MEANINGS), ("Kinds of event", Kind, KIND_MEANINGS),
    ("Sampling strata", Stratum, STRATUM_MEANINGS), ("Splits", Split, SPLIT_MEANINGS),
)

#: Model → field → meaning, in the order in which the models are explained.
FIELDS: dict[type[BaseModel], dict[str, str]] = {
    AuditedAnswer: {
        "schema_version": "Version of this structure.",
        "run_id": "Id of the run; the link `?run=` of the pages.",
        "kind": "`ask` (LitRAG wrote it) or `verify` (somebody else did).",
        "question": "The question, or the title of a verified text; may be empty.",
        "created_at": "When the run ended, UTC, ISO-8601.",
        "claims": "The statements in order, uncited ones included.",
        "sources": "Records that are cited, point elsewhere or were retrieved, by their [n].",
        "abstention": "Why no answer was given; null when there is one.",
        "generator": "Who wrote the answer; empty for `verify`.",
        "judge": "Who judged it.",
        "judge_version": "Model and version behind the first model judgement.",
        "corpus": "Name of the corpus.",
        "corpus_hash": "Hash of the corpus's content at that time.",
        "seconds": "Seconds by station.",
        "cost_usd": "US dollars paid for model calls; null when none has a known price.",
        "notes": "What a reader should know of the run.",
        "abstained": "Whether the answer was declined; such answers are never counted as grounded.",
        "counts": "Claims by state.",
        "coverage": "Share of claims with at least one located citation, 0 to 1; null without claims.",
    },
    AuditedClaim: {
        "claim_id": "Id within the answer.",
        "text": "The statement.",
        "citations": "Its citations; empty for an uncited statement.",
        "without_quote": "The judgement of the claim alone where its quote was hallucinated; never replaces the verdict.",
        "conflicts": "Other retrieved sources that disagree.",
        "reanchor": "Another source that supports the claim, when the cited one doesn't.",
        "note": "What a reader should know of this claim, such as a cited record that is missing.",
        "verdict": "The verdict that speaks for the claim: of several the one a reader must not miss; null if none.",
        "state": "The verdict's name, or `uncited`, or `unjudged`.",
    },
    CheckedCitation: {
        "n": "The [n] that a reader sees.",
        "record_id": "The cited record.",
        "pmid": "Its PMID.",
        "passage_id": "The cited passage as the index names it.",
        "quote": "The quote as given, or the best evidence that was found.",
        "quote_given": "Whether the author gave the quote; false when LitRAG chose it.",
        "location": "Where the quote stands.",
        "judgement": "What the judge says of claim and source.",
        "verdict": "The judgement's verdict.",
    },
    Location: {
        "match": "How the quote matches.",
        "spans": "Where it stands in the record's stored text.",
        "score": "Similarity of the best alignment, 0 to 100. Decides nothing by itself.",
        "differences": "Where quote and source part.",
        "occurrences": "How often it occurs in the text.",
        "record_id": "For `misattributed`: the record in which it really stands.",
        "note": "Anything else worth saying.",
        "found": "Whether the quote may be believed to stand in the text.",
    },
    Difference: {
        "quote": "What the quote says; may be empty.",
        "source": "What the source says; may be empty.",
        "kind": "What sort of difference, such as `number` or `wording`.",
        "quote_span": "Where in the quote as given.",
        "source_span": "Where in the record's stored text.",
    },
    Judgement: {
        "verdict": "The verdict; null means unjudged.",
        "confidence": "Probability that the verdict is right, 0 to 1, as far as the judge can tell.",
        "rationale": "Why, in words.",
        "spans": "What decided it, in the record's stored text.",
        "findings": "Differences that code established.",
        "judge": "Name of the judge; `locator` when the quote decided alone.",
        "model": "Its model.",
        "version": "Version of its prompt or weights.",
        "unjudged_reason": "Why there is no verdict.",
        "unsure": "Whether the judge itself asks for a second look.",
        "votes": "Verdicts of a panel and how many gave each.",
        "seconds": "Seconds for this judgement.",
        "input_tokens": "Tokens sent.",
        "cached_tokens": "Tokens of these that the provider had cached.",
        "output_tokens": "Tokens received.",
        "cost_usd": "US dollars; null when the price isn't known.",
        "profile": "The calibration that was applied to the confidence; null if none.",
        "stated_confidence": "The judge's own confidence before calibration.",
    },
    Finding: {
        "kind": "Which check found it.",
        "message": "The difference in words.",
        "verdict": "The verdict that it forces.",
        "claim_span": "Where in the claim.",
        "source_span": "Where in the record's stored text.",
    },
    Conflict: {
        "n": "[n] of the source that disagrees.",
        "record_id": "That record.",
        "spans": "What it says, in its stored text.",
        "rationale": "How it disagrees.",
    },
    Reanchor: {
        "n": "[n] of the better source.",
        "record_id": "That record.",
        "pmid": "Its PMID.",
        "spans": "The evidence in its stored text.",
        "reason": "Why it is offered.",
    },
    Source: {
        "n": "Its [n].",
        "record": "The record, frozen as it was judged.",
        "passages": "Spans of its text that were retrieved.",
        "score": "Best retrieval score, 0 to 1; higher is better.",
        "cited": "Whether a claim cites it.",
    },
    Record: {
        "record_id": "Id within the corpus; the PMID where there is one.",
        "pmid": "PubMed id: 1–8 digits.",
        "pmcid": "PubMed Central id.",
        "doi": "DOI.",
        "title": "Title.",
        "vernacular_title": "Title in the original language.",
        "study": "Acronym of the study.",
        "authors": "Authors, surname first.",
        "journal": "Journal.",
        "year": "Year of publication.",
        "volume": "Volume.",
        "issue": "Issue.",
        "pages": "Pages.",
        "text": "The text that may be quoted, as stored; every span indexes it.",
        "sections": "Labelled parts of the text.",
        "language": "Language code.",
        "publication_types": "Publication types.",
        "mesh": "MeSH terms.",
        "keywords": "Keywords.",
        "nct": "Trial registrations.",
        "funding": "Funding statements.",
        "urls": "Links.",
        "overlaps": "Records that report the same patients.",
        "notices": "Retraction, concern, erratum and the like.",
        "other_abstracts": "Further abstracts of the item, such as a plain-language summary or another language's.",
        "revised": "Date on which the item was last revised at its source, ISO-8601.",
        "digest": "Whether the text is a digest and not the publisher's abstract.",
        "origin": "File and place that it was read from.",
    },
    Section: {
        "label": "Label, such as `RESULTS`.", "start": "First character of its text.", "end": "Behind its last character.",
    },
    OtherAbstract: {
        "language": "Its language.", "text": "The abstract; for reading, never searched or quoted.",
    },
    Notice: {
        "kind": "What happened, such as `retracted`, `concern`, `erratum`, `corrected`, `withdrawn`, `preprint`.",
        "pmid": "PMID of the notice.",
        "note": "Further words.",
    },
    Abstention: {
        "reason": "Why no answer is given.",
        "missing": "Terms of the question that no source bears out.",
        "searched": "What was searched.",
        "nearest": "The passages that came nearest.",
        "pubmed_query": "A query for PubMed.",
    },
    Hit: {
        "passage": "The passage.",
        "score": "Rank score, 0 to 1.",
        "similarity": "Similarity of meaning, 0 to 1.",
        "lexical": "Score of the words in common.",
    },
    Passage: {
        "passage_id": "Id within the index.",
        "record_id": "Its record.",
        "pmid": "PMID of the record.",
        "section": "Section that it stands in.",
        "text": "The passage: `record.text[start:end]`.",
        "start": "First character in the record's text.",
        "end": "Behind its last character.",
        "record_version": "Hash of the record's title and text.",
    },
    SourceChange: {
        "record_id": "The record, as it was judged.",
        "name": "What a reader calls the study.",
        "pmid": "PubMed id.",
        "title_changed": "Whether its title differs now.",
        "text_changed": "Whether its abstract differs now.",
        "new_notices": "Retractions, errata and other notices that weren't known then.",
        "lifted": "Kinds of notice that it no longer has.",
        "gone": "Whether the corpus no longer holds it.",
        "what": "`status`, `text`, `gone`: which of these changed.",
    },
}

#: Every structure that is explained: answers first, then the commands' reports.
EXPLAINED = FIELDS | REPORT_MEANINGS

#: Fields of the results of a batch, as JSONL holds them.
RESULT_FIELDS = {
    "line": "Line of the table on which the row begins.",
    "claim_id": "Id from the table, else `r` and the line.",
    "claim": "The claim.",
    "quote": "The quote given; null when there is none.",
    "pmids": "PMIDs given.",
    "dois": "DOIs given.",
    "state": "Verdict, or `uncited`, or `unjudged`.",
    "flagged": "Whether a reader should look before believing the claim.",
    "confidence": "The judge's confidence, 0 to 1.",
    "match": "How the quote matches.",
    "explanation": "Why, in words.",
    "judge": "Name of the judge.",
    "model": "Its model.",
    "version": "Version of its prompt or weights.",
    "citations": "Each citation: record, PMID, quote, verdict, confidence, rationale, match, spans, findings.",
    "reanchor": "A source that supports the claim when the cited one doesn't.",
    "note": "Anything else, such as a record that isn't in the corpus.",
}

#: Columns of the CSV of results that have no field of that name.
RESULT_COLUMNS = {
    "pmid": "PMIDs given, by `; `.",
    "doi": "DOIs given, by `; `.",
    "source_text": "The evidence that LitRAG chose where no quote was given.",
}

LOG_TYPES = {"run": runs, "item": items, "judgement": judgements, "event": events, "adjudication": adjudications}

#: Columns of the store that the event log leaves out.
LEFT_OUT = ("answer",)

#: Column of the store → meaning, where neither the CSV nor a model explains the name.
STORE_FIELDS = {
    "abstained": "Whether the answer was declined.",
    "actor": "Who caused the event: the reviewer, or `operator` for an import on the command line.",
    "adjudication_id": "Counts adjudications; the latest of an item is its gold label.",
    "adjudicator_id": "Pseudonym of the adjudicator.",
    "blind": "Whether the label was given before the verdict was shown to this reviewer.",
    "body": "The whole judgement, see below.",
    "claim_id": "Id of the claim within its answer.",
    "claims": "Number of claims.",
    "comment": "Comment of the reviewer or adjudicator; null where none was given.",
    "confidence": "Of an event the reviewer's own (`low`, `medium`, `high`), of a judgement the judge's, 0 to 1.",
    "corpus": "Name of the corpus.",
    "corpus_hash": "Hash of the corpus's content at that time.",
    "created_at": "When the row was written; of a run, when it ended.",
    "digest": "Hash of the stored answer.",
    "event_id": "Counts events; their order in time.",
    "flagged": "Number of claims that a reader should look at.",
    "judge": "Name of the judge.",
    "judgement_id": "Counts judgements; at an event, the latest one when it happened.",
    "key": "Makes a repeated send harmless: each key is written once.",
    "kind": "Kind of event; of a run, `ask` or `verify`.",
    "model": "The judge's model.",
    "needed": "How many reviewers the item takes.",
    "origin": "Where the event came from: `page`, `import` or `foreign`.",
    "quote_given": "Whether the author gave the quote; false when LitRAG chose it.",
    "quote_spans": "Where the quote stands in `passage_text`.",
    "rationale": "The judge's reasons.",
    "record_id": "The cited record.",
    "role": "Role of the reviewer at that time.",
    "seconds": "Seconds spent since the item was opened or last acted on.",
    "seq": "Place in the queue.",
    "settings": "Generator, judge, seconds and cost of the run.",
    "slot": "The seat of the reviewer at the item; null before a label.",
    "stored_at": "When the run was stored.",
    "study": "The cited record without its text.",
    "type": "What the line is: " + ", ".join(f"`{name}`" for name in LOG_TYPES) + ".",
    "undoes": "Revision of the event that is taken back.",
    "unjudged_reason": "Why there is no verdict.",
    "verdict": "Of an event or adjudication the label, of a judgement the judge's verdict.",
    "version": "Version of the judge's prompt or weights.",
}


def dictionary() -> str:
    """The whole document."""
    return "\n".join([
        "# Data dictionary", "",
        "Made from the code by `python -m litrag.data_dictionary`; edit it there. Spans are half-open `[start, end]`",
        "ranges of characters in a record's stored text. Times are UTC, ISO-8601. Absent values are null, empty in CSV.",
        "", *_labels(), *_words(), *_log(), *_others(), *_results(), *_answer(), *_reports(),
    ]).rstrip() + "\n"


def _labels() -> list[str]:
    rows = [(f"`{c.name}`", c.kind.value, c.meaning) for c in COLUMNS]
    return [
        f"## Labels, CSV (`{FILE_NAMES[Format.CSV]}`)", "",
        f"Version {CSV_VERSION}. One row per item and reviewer with the latest revision, and one for an item that nobody has",
        "touched. RFC 4180: commas, CRLF, quotes doubled, UTF-8, with a byte-order mark by choice. An edited file is",
        "imported again; columns that may not be edited are compared, and a row that was changed there is refused or noted.",
        "", *_table(("column", "cells", "meaning"), rows), "### Cells that a spreadsheet would change", "",
        *(cells.__doc__ or "").strip().splitlines(), "",
        "Columns whose cells are text are written in this way; import, and reading claims from a table, reverse it.", "",
    ]


def _words() -> list[str]:
    lines = ["## Words", ""]
    for title, words, meanings in WORDS:
        lines += [f"### {title}", "", *_table(("word", "meaning"), [(f"`{w}`", _sentence(meanings[w])) for w in words])]
    return lines


def _log() -> list[str]:
    lines = [
        f"## Event log, JSONL (`{FILE_NAMES[Format.EVENTS]}`)", "",
        "Everything that ever happened, an object a line: runs, items, judgements, events, adjudications, each in order.",
        "Nothing in it is ever changed or removed; labels are computed from it. E-mails of reviewers aren't in it. At the end",
        "stands, as `source_change` with its `item_id`, each item whose source is no longer what was judged, with the fields",
        "of [SourceChange](#sourcechange).", "",
    ]
    for kind, table in LOG_TYPES.items():
        lines += [f"### `{kind}`", "", *_table(("field", "meaning"), [(f"`{n}`", log_meaning(n)) for n in log_fields(table)])]
    return lines


def log_fields(table: Table) -> list[str]:
    """Fields of the log's lines about a table."""
    return ["type", *(name for name in table.columns.keys() if name not in LEFT_OUT)]  # noqa: SIM118 (not a dict)


def log_meaning(name: str) -> str:
    """What a field of the log means; KeyError when nothing explains it."""
    return STORE_FIELDS[name] if name in STORE_FIELDS else {c.name: c.meaning for c in COLUMNS}[name]


def _others() -> list[str]:
    return [
        f"## Label Studio, JSON (`{FILE_NAMES[Format.LABEL_STUDIO]}`)", "",
        "A list of tasks. `data` holds the item's columns as above and `source_changed` (what changed in the source since, in",
        "words; empty when nothing did), `predictions` the judge's verdict with its model and",
        "confidence, `annotations` one label per reviewer with `lead_time` in seconds, `ground_truth` when it equals the",
        "gold label, and `meta` with pseudonym, blindness and comment. The labelling set-up that goes with it is",
        "`litrag.exchange.LABEL_STUDIO_CONFIG`.", "",
        f"## Argilla, JSONL (`{FILE_NAMES[Format.ARGILLA]}`)", "",
        "A record a line: `fields` (question, claim, quote, passage), `metadata` (the item's other columns, `source_changed`",
        "and the gold label), `suggestions` (the judge's verdict, confidence, model) and `responses` by question (`verdict`,",
        "`confidence`, `reason`, `comment`), each with the reviewer's pseudonym. Readable with the `datasets` library too.", "",
    ]


def _results() -> list[str]:
    meanings = RESULT_FIELDS | RESULT_COLUMNS
    return [
        "## Results of `verify --batch`", "",
        "JSONL: an object per row of the table, exact. CSV: the same for a spreadsheet, cells protected as above. JUnit XML:",
        "a test case per claim, a failure for each that needs a look, an error for each row that can't be used.", "",
        *_table(("field", "JSONL", "CSV", "meaning"), [
            (f"`{name}`", "yes" if name in RESULT_FIELDS else "", "yes" if name in CSV_COLUMNS else "", meaning)
            for name, meaning in meanings.items()
        ]),
    ]


def _answer() -> list[str]:
    lines = [
        "## Answers, JSON (`ask`, `verify`, `demo` and `show` with `--json`; `to_json()`)", "",
        "One answer, or a list of them where there are several.",
        "What a page exports and `litrag show --json` prints has a further field, `source_changes`: a list of",
        "[SourceChange](#sourcechange), empty when the sources are what was judged.", "",
    ]
    return lines + [line for model in FIELDS for line in _model(model)]


def _reports() -> list[str]:
    """The commands' other reports: what each prints, then every structure once, then the plain ones."""
    prints = [(f"`{command}`", f"{'list of ' * (command == 'calibrate --history')}{_link(model.__name__)}")
              for command, model in REPORTS.items()]
    lines = ["## Reports of the commands, JSON (`--json`)", "", *_table(("command", "prints"), prints)]
    for model in REPORT_MEANINGS:
        lines += _model(model)
    for command, meanings in PLAIN.items():
        title = command[:1].upper() + command[1:] if " " in command.partition("any ")[1] else f"`{command}`"
        lines += [f"### {title}", "", *_table(("field", "meaning"), [(f"`{n}`", m) for n, m in meanings.items()])]
    return lines


def _model(model: type[BaseModel]) -> list[str]:
    """A structure's fields with types and meanings."""
    meanings, shapes = EXPLAINED[model], model.model_json_schema(mode="serialization")["properties"]
    rows = [(f"`{name}`", _type(shape), meanings[name]) for name, shape in shapes.items()]
    return [f"### {model.__name__}", "", *_first_paragraph(model), "", *_table(("field", "type", "meaning"), rows)]


def _link(name: str) -> str:
    return f"[{name}](#{name.lower()})" if name in {model.__name__ for model in EXPLAINED} else name


def _first_paragraph(model: type[BaseModel]) -> list[str]:
    return [line.strip() for line in (model.__doc__ or "").strip().split("\n\n")[0].splitlines()]


def _type(shape: Mapping[str, Any]) -> str:
    """A JSON schema's type in words."""
    if "$ref" in shape:
        return _link(shape["$ref"].rsplit("/", 1)[1])
    if "anyOf" in shape:
        return " or ".join(_type(option) for option in shape["anyOf"])
    if shape.get("type") == "array":
        if pair := shape.get("prefixItems"):
            return "[start, end]" if pair[0]["type"] == "integer" else f"[{', '.join(_type(one) for one in pair)}]"
        return f"list of {_type(shape['items'])}"
    if shape.get("type") == "object":
        return f"object of {_type(shape['additionalProperties'])}"
    return "time" if shape.get("format") == "date-time" else str(shape["type"])


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:].rstrip(".") + "."


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    written = ["| " + " | ".join(re.sub(r"\|", r"\\|", cell) for cell in row) + " |" for row in rows]
    return ["| " + " | ".join(head) + " |", "|" + "---|" * len(head), *written, ""]


if __name__ == "__main__":
    TARGET.write_text(dictionary(), encoding="utf-8")
