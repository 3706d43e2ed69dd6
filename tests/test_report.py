"""What leaves the app: Markdown that renders as itself, and a report that opens offline."""

import re

import pytest
from fakes import shown as answers
from fakes.shown import HOSTILE

from litrag.report import markdown, plain, report, vancouver


def test_a_reference_follows_vancouver_style():
    record = answers.record(1, "KNEE-1", "", title="Brimafol for knee pain", authors=("Onuora AB", "Weiss C"))
    assert vancouver(record) == (
        "Onuora AB, Weiss C. Brimafol for knee pain. J Test Med. 2021;12(1):1-9. doi:10.5555/brimafol.1. PMID: 99000001."
    )


def test_a_reference_names_six_authors_and_leaves_out_what_is_unknown():
    record = answers.record(1, "K", "", title="What?", authors=tuple(f"A{n}" for n in range(8)), journal=None, volume=None,
                            issue=None, pages=None, doi=None)
    assert vancouver(record) == "A0, A1, A2, A3, A4, A5, et al. What? 2021. PMID: 99000001."


def test_markdown_carries_numbers_verdicts_and_references():
    text = markdown(answers.every_state())
    assert "- In KNEE-1, pain fell by 21.5 points with brimafol. [1]\n  *Supports*: The source gives the same figure." in text
    assert "*Uncited*" in text
    assert "\n2. Onuora AB, Weiss C. NIGHT-2" in text
    assert "Sources disagree: see [3]." in text
    assert "\n3. Onuora AB, Weiss C. REGISTER" in text
    assert "Not medical advice" in text


def test_what_was_retrieved_and_bears_on_no_claim_is_no_reference():
    answer = answers.repeated()
    unused = answers.sources()[2].model_copy(update={"n": 3})
    text = markdown(answer.model_copy(update={"sources": (*answer.sources, unused)}))
    assert "2. Onuora" in text
    assert "REGISTER" not in text


def test_markdown_of_an_abstention_gives_reason_and_query():
    text = markdown(answers.abstained())
    assert "The evidence is insufficient" in text
    assert "    brimafol[tiab] AND stroke[tiab]" in text


@pytest.mark.parametrize("evil", [*HOSTILE, "# head", "- item", "1. item", "> quote", "a | b", "line\n\n# two"])
def test_hostile_text_can_make_no_markdown(evil):
    line = plain(evil)
    assert "\n" not in line
    assert re.search(r"(?<!\\)[`*_\[\]<>$~|]", line) is None
    assert re.match(r"[#+-]|\d+[.)]", line) is None
    assert "://" not in line.replace("\\://", "")


@pytest.mark.parametrize("answer", [answers.every_state(), answers.abstained(), answers.hostile()], ids=lambda a: a.run_id)
def test_the_report_is_one_file_that_loads_and_runs_nothing(answer):
    html = report(answer)
    assert "default-src 'none'" in html
    assert re.search(r"<script|<link|<iframe|<img|\son\w+=\"|javascript:[^a]", re.sub(r"<body>.*", "", html, flags=re.S)) is None
    body = html.split("<body>")[1]
    assert re.search(r"<(script|link|iframe|img|form|svg|style)\b", body) is None
    assert re.search(r'href="(?!https://(pubmed\.ncbi\.nlm\.nih\.gov|doi\.org)/)', body) is None


def test_the_report_holds_answer_verdicts_marked_sources_judge_and_date():
    html = report(answers.every_state())
    for part in ("LitRAG evidence report", "Does brimafol help with knee pain?", "<mark", "Hallucinated quote", "judge local",
                 "version 1", "04 March 2026", "Not medical advice", "Onuora AB, Weiss C. KNEE-1", "Sources disagree"):
        assert part in html
    assert "Send to review" not in html
