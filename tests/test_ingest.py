"""Reading records and cutting them into passages."""

import json

import pytest
from fakes.embeddings import WordEmbeddings

from litrag.config import SAMPLE_CORPUS
from litrag.errors import InputError
from litrag.ingest import embedded_text, embedded_title, passages, read_records
from litrag.models import Record, Section

DIGEST = """---
pmid: "31234567"
title: "Nightly milk: a trial"
authors: [Okafor A, Lind B]
year: 2021
publication_types: ["Clinical Trial, Phase II", Randomized Controlled Trial]
digest: true
---
## Methods
Ninety adults drank milk
or water at night.

## Results
Sleep was longer by 12 min (95% CI 4–20).

- Nobody left.
"""


def written(folder, name, content):
    path = folder / name
    if isinstance(content, list):
        content = "\n".join(row if isinstance(row, str) else json.dumps(row) for row in content)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_a_markdown_digest_keeps_labels_outside_the_text(tmp_path):
    (record,) = read_records(written(tmp_path, "a.md", DIGEST))
    assert record.text == (
        "Ninety adults drank milk or water at night.\n\nSleep was longer by 12 min (95% CI 4–20).\n\n- Nobody left."
    )
    assert [(s.label, record.text[s.start:s.end].split()[0]) for s in record.sections] == [
        ("Methods", "Ninety"), ("Results", "Sleep"),
    ]
    assert record.pmid == record.record_id == "31234567"
    assert record.title == "Nightly milk: a trial"
    assert record.publication_types == ("Clinical Trial, Phase II", "Randomized Controlled Trial")
    assert record.digest
    assert record.year == 2021


def test_windows_line_ends_and_a_byte_order_mark_change_nothing(tmp_path):
    plain = read_records(written(tmp_path, "a.md", DIGEST))[0]
    other = read_records(written(tmp_path, "b.md", b"\xef\xbb\xbf" + DIGEST.replace("\n", "\r\n").encode()))[0]
    assert other.version == plain.version
    assert other.sections == plain.sections


@pytest.mark.parametrize(
    ("content", "field"),
    [
        ("no front matter", "front matter"),
        ("---\ntitle: [unclosed\n---\n## A\nText.", "front matter"),
        ("---\n- a list\n---\n## A\nText.", "front matter"),
        ("---\npmid: PMC12\ntitle: T\n---\n## A\nText.", "pmid"),
        ("---\nyear: 2020\n---\n", "title"),
    ],
)
def test_a_digest_that_cannot_be_read_is_rejected_with_its_reason(tmp_path, content, field):
    report = read_records(written(tmp_path, "bad.md", content))
    assert len(report) == 0
    assert [(r.field, r.file.endswith("bad.md"), bool(r.reason)) for r in report.rejected] == [(field, True, True)]


def test_bad_lines_are_rejected_by_number_and_cost_no_other_line(tmp_path):
    path = written(tmp_path, "mixed.jsonl", [
        {"pmid": 101, "title": "One", "abstract": "Text one."},
        "{broken",
        "",
        "[1, 2]",
        {"pmid": "PMC7", "title": "Bad id", "abstract": "Text."},
        {"pmid": "102", "title": "Odd year", "abstract": "Text two.", "year": "n.d."},
        {"year": 2020},
        '{"pmid": "103", "title": "half \\ud800 character", "abstract": "Text."}',
        {"_id": "a-1", "title": "Last", "text": ["Text three.", "More."]},
    ])
    report = read_records(path)
    assert [(r.record_id, r.text) for r in report] == [
        ("101", "Text one."), ("102", "Text two."), ("a-1", "Text three. More."),
    ]
    assert [(r.record, r.field, r.record_kept) for r in report.rejected] == [
        ("line 2", "", False), ("line 4", "", False), ("line 5", "pmid", False), ("line 6", "year", True),
        ("line 7", "title", False), ("line 8", "title", False),
    ]
    assert "n.d." in report.rejected[3].reason
    assert report.in_words() == "3 records read, 5 rejected, 1 with a field left out"


def test_numbers_from_a_table_are_taken_as_the_ids_they_stand_for(tmp_path):
    path = written(tmp_path, "t.jsonl", ['{"pmid": 31234567.0, "title": "Two\\nlines", "text": "T.", "doi": NaN}'])
    (record,) = read_records(path)
    assert (record.pmid, record.title, record.doi) == ("31234567", "Two lines", None)


def test_a_yaml_bomb_is_rejected_without_being_written_out(tmp_path):
    levels = "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 30))
    report = read_records(written(tmp_path, "bomb.md", f"---\na0: &a0 [x]\n{levels}title: *a29\n---\n## A\nText."))
    assert [(r.field, len(r.reason) < 300) for r in report.rejected] == [("title", True)]


def test_a_line_that_is_not_utf8_is_rejected_alone(tmp_path):
    lines = b'{"id": 1, "text": "caf\xe9"}\n{"id": 2, "text": "caf\xc3\xa9"}\n'
    report = read_records(written(tmp_path, "a.jsonl", lines))
    assert [r.text for r in report] == ["café"]
    assert "UTF-8" in report.rejected[0].reason


def test_sections_of_a_row_become_one_text_with_spans(tmp_path):
    row = {"id": "s", "title": "T", "sections": [
        {"label": "METHODS", "text": "We asked."}, {"label": "", "text": "Unlabelled."},
        {"label": "RESULTS", "text": "They said."},
    ]}
    (record,) = read_records(written(tmp_path, "s.jsonl", [row]))
    assert record.text == "We asked.\n\nUnlabelled.\n\nThey said."
    assert [(s.label, record.text[s.start:s.end]) for s in record.sections] == [
        ("METHODS", "We asked."), ("RESULTS", "They said."),
    ]


def test_labels_inside_a_text_become_sections_and_stay_in_it(tmp_path):
    text = "BACKGROUND: Why. METHODS AND SETTING: How. RESULTS: What (CI: 1-2)."
    (record,) = read_records(written(tmp_path, "s.jsonl", [{"id": "s", "title": "T", "abstract": text}]))
    assert record.text == text
    assert [(s.label, text[s.start:s.end]) for s in record.sections] == [
        ("BACKGROUND", "Why."), ("METHODS AND SETTING", "How."), ("RESULTS", "What (CI: 1-2)."),
    ]


def test_a_record_survives_being_written_and_read_again(tmp_path):
    record = read_records(written(tmp_path, "a.md", DIGEST))[0]
    again = read_records(written(tmp_path, "b.jsonl", [record.model_dump(mode="json")]))[0]
    assert again.model_dump(exclude={"origin"}) == record.model_dump(exclude={"origin"})


def test_a_section_span_outside_the_text_is_rejected(tmp_path):
    row = {"id": "s", "title": "T", "text": "Short.", "sections": [{"label": "A", "start": 0, "end": 99}]}
    report = read_records(written(tmp_path, "s.jsonl", [row]))
    assert [r.field for r in report.rejected] == ["sections"]
    assert not report.records


def test_a_folder_is_read_in_name_order_and_says_what_it_cannot_read(tmp_path):
    written(tmp_path, "b.jsonl", [{"id": "2", "text": "Two."}, {"id": "1", "text": "Another one."}])
    written(tmp_path, "a.jsonl", [{"id": "1", "text": "One."}])
    written(tmp_path, "c.jsonl", [{"id": "2", "text": "Two."}])
    written(tmp_path, "scan.tiff", b"II*")
    written(tmp_path, "README.md", "About this folder.")
    written(tmp_path, ".hidden.jsonl", "{")
    report = read_records(tmp_path)
    assert [(r.record_id, r.text) for r in report] == [("1", "One."), ("2", "Two.")]
    reasons = {(r.file.rsplit("/", 1)[1], r.field): r.reason for r in report.rejected}
    assert "another record with this id" in reasons["b.jsonl", "id"]
    assert "same record" in reasons["c.jsonl", "id"]
    assert ".tiff" in reasons["scan.tiff", "file"]
    assert len(reasons) == 3


def test_a_path_that_does_not_exist_is_an_input_error(tmp_path):
    with pytest.raises(InputError, match="nowhere"):
        read_records(tmp_path / "nowhere")


def test_every_sample_digest_is_read_whole():
    report = read_records(SAMPLE_CORPUS)
    assert len(report) == 15
    assert report.rejected == ()
    assert all(record.pmid and record.digest and len(record.sections) >= 4 for record in report)


def test_a_record_without_an_abstract_is_kept_and_reported(tmp_path):
    report = read_records(written(tmp_path, "a.jsonl", [{"pmid": "5", "title": "Only a title"}]))
    assert [r.title for r in report] == ["Only a title"]
    assert [(r.field, r.record_kept) for r in report.rejected] == [("text", True)]
    assert passages(report[0], WordEmbeddings()) == []


# --- passages
def a_record(text, sections=(), title="A title"):
    return Record(record_id="7", pmid="7", title=title, text=text, sections=sections)


def test_three_equal_sentences_have_three_places():
    record = a_record("No adverse events. No adverse events. Dose was 5 mg. No adverse events.", title="")
    found = passages(record, WordEmbeddings(max_tokens=7))
    alone = [p.start for p in passages(record, WordEmbeddings(max_tokens=6)) if p.text == "No adverse events."]
    assert alone == [0, 19, 53]
    assert all(p.text == record.text[p.start:p.end] for p in found)


def test_neighbours_share_one_sentence_and_no_more():
    record = a_record(" ".join(f"Number {n} stands here." for n in range(8)), title="")
    found = passages(record, WordEmbeddings(max_tokens=14))
    assert [p.text for p in found[:2]] == [
        "Number 0 stands here. Number 1 stands here. Number 2 stands here.",
        "Number 2 stands here. Number 3 stands here. Number 4 stands here.",
    ]
    assert found[-1].text.endswith("Number 7 stands here.")


def test_no_passage_crosses_a_section():
    text = "We asked. We noted.\n\nThey said."
    record = a_record(text, (Section(label="METHODS", start=0, end=19), Section(label="RESULTS", start=21, end=31)))
    found = passages(record, WordEmbeddings())
    assert [(p.section, p.text) for p in found] == [("METHODS", "We asked. We noted."), ("RESULTS", "They said.")]
    assert len({p.passage_id for p in found}) == 2


@pytest.mark.parametrize("limit", [8, 12, 20, 64])
@pytest.mark.parametrize("title", ["", "Short title", "A title that goes on and on " * 10])
def test_everything_is_embedded_and_nothing_is_longer_than_the_model_reads(limit, title):
    budget = WordEmbeddings(max_tokens=limit)
    long = "the " * 40 + "dose, which was halved; " + "word " * 30 + "end."
    text = f"First it fell. {long} Then it rose by 5 mg.\n\nUnlabelled part."
    record = a_record(text, (Section(label="RESULTS", start=0, end=text.index("\n")),), title=title)
    found = passages(record, budget)
    head = embedded_title(record, budget)
    assert all(budget.count_tokens([embedded_text(head, p.text)])[0] <= limit for p in found)
    covered = {i for p in found for i in range(p.start, p.end)}
    assert "".join(text[i] for i in range(len(text)) if i not in covered).strip() == ""
    assert all(p.text == text[p.start:p.end] == p.text.strip() for p in found)


def test_a_word_without_spaces_is_still_cut_to_fit():
    class Characters(WordEmbeddings):
        def count_tokens(self, texts):
            return [len(text) for text in texts]

    record = a_record("x" * 100, title="")
    found = passages(record, Characters(max_tokens=16))
    assert "".join(p.text for p in found) == record.text
    assert max(len(p.text) for p in found) <= 16


def test_the_last_sentence_of_a_long_abstract_is_in_a_passage():
    filler = "Baseline characteristics were noted at every visit. " * 80
    record = a_record(filler + "The main outcome occurred in 23 of 61 people.")
    found = passages(record, WordEmbeddings())
    assert found[-1].text.endswith("The main outcome occurred in 23 of 61 people.")
