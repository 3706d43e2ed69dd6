"""What is said of an answer, an item under review or an export whose sources changed since they were judged."""

import json

import pytest
from fakes.embeddings import WordEmbeddings
from fakes.eutils_server import an_article
from streamlit.testing.v1 import AppTest

from litrag import library
from litrag.changes import HEADLINE, changes
from litrag.cli import main
from litrag.config import PROJECT, settings
from litrag.exchange import Format, changes_in_words, csv_lines, export_lines, label_rows
from litrag.index import open_index
from litrag.kept import KeptRecords
from litrag.models import AuditedAnswer, Notice, Record, Verdict
from litrag.pipeline import verify
from litrag.render import answer_html, header_html
from litrag.report import markdown, report
from litrag.reviews import Action, open_store
from litrag.ui.shell import workbench

RETRACTED = (
    '<CommentsCorrectionsList><CommentsCorrections RefType="RetractionIn"><PMID>999</PMID></CommentsCorrections>'
    "</CommentsCorrectionsList>"
)
TEXT = "Sleep rose by 101 minutes (PMID 101). Sleep rose by 102 minutes (PMID 102)."


def load(tmp_path, *articles):
    path = tmp_path / "articles.xml"
    path.write_text(f"<PubmedArticleSet>{''.join(articles)}</PubmedArticleSet>")
    return library.add("live", [path], embeddings=WordEmbeddings())


@pytest.fixture(autouse=True)
def _small_model(monkeypatch):
    monkeypatch.setattr("litrag.library.open_embeddings", WordEmbeddings)
    monkeypatch.setattr("litrag.index.open_embeddings", WordEmbeddings)


@pytest.fixture
def judged(tmp_path, judge):
    """An answer that cites two records of the corpus `live`, stored."""
    load(tmp_path, *(an_article(pmid, f"Sleep rose by {pmid} minutes.") for pmid in ("101", "102")))
    answer = verify(TEXT, index=open_index("live", embeddings=WordEmbeddings()), judge=judge)
    store = open_store()
    store.save_run(answer)
    store.send_to_review(answer.run_id)
    store.close()
    return answer


def now(answer):
    return KeptRecords(settings().index_dir).changes(answer)


def retract(tmp_path):
    """PMID 101 is retracted, the abstract of 102 corrected; both as PubMed gives them later."""
    load(tmp_path, an_article("101", "Sleep rose by 101 minutes.", more=RETRACTED, day="09"),
         an_article("102", "Sleep fell by 2 minutes.", day="09"))


def a_record(**more):
    return Record(**{"record_id": "1", "pmid": "1", "title": "Milk", "text": "Sleep rose."} | more)


@pytest.mark.parametrize(("then", "later", "what", "words"), [
    ({}, {"text": "Sleep fell."}, ("text",), "text: the abstract differs from what was judged"),
    ({}, {"title": "Tea", "text": "Sleep fell."}, ("text",), "text: the title and the abstract differ from what was judged"),
    ({}, {"notices": (Notice(kind="retracted", pmid="9"),)}, ("status",), "status: Retracted (notice: PMID 9)"),
    ({"notices": (Notice(kind="erratum", pmid="8"),)}, {"notices": (Notice(kind="erratum", pmid="8"),
     Notice(kind="erratum", pmid="9"))}, ("status",), "status: Erratum (notice: PMID 9)"),
    ({"notices": (Notice(kind="concern"),)}, {}, ("status",), "status: no longer marked “Expression of concern”"),
    ({}, {"notices": (Notice(kind="withdrawn"),), "text": "Withdrawn."}, ("status", "text"),
     "status: Withdrawn; text: the abstract differs from what was judged"),
])
def test_a_change_says_what_became_of_text_and_status(then, later, what, words):
    (change,) = changes([a_record(**then)], {"1": a_record(**later)})
    assert change.what == what
    assert change.in_words() == words


@pytest.mark.parametrize(("then", "later"), [
    ({}, {}), ({}, {"journal": "Lancet", "mesh": ("Sleep",), "origin": "b.xml"}),
    ({"notices": (Notice(kind="retracted", note="said by the title only"),)}, {"notices": (Notice(kind="retracted", pmid="9"),)}),
])
def test_what_changes_neither_text_nor_status_is_no_change(then, later):
    assert list(changes([a_record(**then)], {"1": a_record(**later)})) == []


def test_a_record_that_is_gone_is_told_and_one_under_another_id_is_found_by_its_pmid():
    (change,) = changes([a_record()], {})
    assert change.what == ("gone",)
    assert list(changes([a_record()], {"other": a_record(record_id="other")})) == []


def test_an_answer_stays_as_it_was_and_nothing_is_judged_again(judged, tmp_path, judge):
    calls = len(judge.calls)
    assert now(judged) == {}
    retract(tmp_path)
    found = now(judged)
    assert {one: change.what for one, change in found.items()} == {"101": ("status",), "102": ("text",)}
    assert (found["101"].grave, found["102"].grave) == (True, False)
    store = open_store()
    assert store.run(judged.run_id) == judged
    store.close()
    assert len(judge.calls) == calls


def test_the_page_the_report_and_the_markdown_name_the_changed_sources(judged, tmp_path):
    assert HEADLINE not in header_html(judged, changes=now(judged)) + report(judged, now(judged)) + markdown(judged)
    retract(tmp_path)
    found = now(judged)
    for shown in (header_html(judged, changes=found), answer_html(judged, changes=found), report(judged, found)):
        assert HEADLINE in shown
        assert "Status: Retracted (notice: PMID 999)." in shown
        assert "Text: the abstract differs from what was judged." in shown
    text = markdown(judged, found).replace("\\", "")
    assert f"**{HEADLINE}**" in text
    assert "- [1] Trial number 101: status: Retracted (notice: PMID 999)" in text
    assert "Sleep rose by 102 minutes." in report(judged, found), "the text that was judged is shown, not the new one"


def test_a_claim_on_a_changed_source_needs_attention(judged, tmp_path):
    retract(tmp_path)
    assert not any(claim.flagged for claim in judged.claims)
    assert answer_html(judged, flagged_only=True, changes=now(judged)).count('class="lr-claim ') == 2


def test_a_deleted_record_and_a_corpus_of_which_nothing_is_known(judged):
    library.delete_records("live", ["102"])
    assert now(judged)["102"].what == ("gone",)
    library.delete_corpus("live")
    assert now(judged) == {}


def test_the_verify_page_says_it_when_an_earlier_answer_is_opened_again(judged, tmp_path, monkeypatch):
    monkeypatch.chdir(PROJECT)
    workbench.clear()

    def page():
        shown = AppTest.from_file(str(PROJECT / "pages" / "verify.py"), default_timeout=90)
        shown.session_state["framed"] = True
        shown.session_state["corpus"] = "live"
        shown.query_params["run"] = judged.run_id
        shown.run()
        assert not shown.exception
        return " ".join(block.proto.body for block in shown.get("html"))

    assert HEADLINE not in page()
    retract(tmp_path)
    assert "Status: Retracted (notice: PMID 999)." in page()
    workbench.clear()


def test_the_review_page_says_it_beside_the_text_to_be_judged_and_still_hides_the_verdict(judged, tmp_path, monkeypatch):
    monkeypatch.chdir(PROJECT)
    retract(tmp_path)
    store = open_store()
    store.add_reviewer("ann")
    store.close()
    workbench.clear()
    shown = AppTest.from_file(str(PROJECT / "pages" / "review.py"), default_timeout=90)
    shown.session_state["framed"] = True
    shown.session_state["reviewer"] = "ann"
    shown.run()
    assert not shown.exception
    html = " ".join(block.proto.body for block in shown.get("html"))
    assert f"{HEADLINE}</b> Status: Retracted (notice: PMID 999)." in html
    assert "Sleep rose by 101 minutes." in html
    assert '<section class="lr lr-rv-reveal"' not in html
    workbench.clear()


def test_exports_of_labels_name_the_items_whose_source_changed(judged, tmp_path, capsys):
    store = open_store()
    store.add_reviewer("ann")
    item_id = next(iter(label_rows(store)))["item_id"]
    store.act(item_id, "ann", Action(kind="label", verdict=Verdict.SUPPORTS, blind=True))
    before = list(csv_lines(store))
    assert changes_in_words(store) == ""
    assert not any('"source_change"' in line for line in export_lines(store, Format.EVENTS))
    retract(tmp_path)
    assert list(csv_lines(store)) == before, "the CSV keeps its agreed columns and the frozen text"
    assert changes_in_words(store).startswith("2 items cite sources that changed since they were judged, 1 of them by a retr")
    told = [json.loads(line) for line in export_lines(store, Format.EVENTS) if '"source_change"' in line]
    assert [(one["type"], one["pmid"], one["what"]) for one in told] == [
        ("source_change", "101", ["status"]), ("source_change", "102", ["text"])]
    tasks = json.loads("".join(export_lines(store, Format.LABEL_STUDIO)))
    assert tasks[0]["data"]["source_changed"] == "status: Retracted (notice: PMID 999)"
    store.close()
    assert main(["export", str(tmp_path / "out.csv")]) == 0
    assert "2 items cite sources that changed" in " ".join(capsys.readouterr().err.split())


def test_an_exported_answer_is_shown_again_with_what_changed(judged, tmp_path, capsys):
    path = tmp_path / "answer.json"
    path.write_text(judged.to_json(), encoding="utf-8")
    assert main(["show", str(path)]) == 0
    assert HEADLINE not in capsys.readouterr().out
    retract(tmp_path)
    assert main(["show", str(path), "--html", str(tmp_path / "report.html")]) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert HEADLINE in said
    assert "[1] Trial number 101: status: Retracted (notice: PMID 999)" in said
    assert HEADLINE in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert main(["show", judged.run_id, "--json"]) == 1
    shown = capsys.readouterr().out
    assert [one["what"] for one in json.loads(shown)["source_changes"]] == [["status"], ["text"]]
    assert AuditedAnswer.from_json(shown) == judged
    (tmp_path / "else.json").write_text("[]")
    assert main(["show", str(tmp_path / "else.json")]) == 2
    assert main(["show", "nowhere"]) == 2
