"""The Corpus page: what it shows of a corpus, and its buttons, run without a browser."""

from pathlib import Path

import pytest
from fakes.embeddings import WordEmbeddings
from fakes.pubcrawl_server import Script, an_article, on_http
from streamlit.testing.v1 import AppTest

from litrag import library
from litrag.config import settings
from litrag.ui.shell import workbench

PAGE = str(Path(__file__).resolve().parents[1] / "pages" / "corpus.py")
ENTRY = "TY  - JOUR\nTI  - {title}\nAU  - Lind, B\nPY  - 2019\nAB  - {text}\n{more}ER  - \n"
MILK = "Milk before sleep in night nurses"


@pytest.fixture(autouse=True)
def _small_model(monkeypatch):
    monkeypatch.setattr("litrag.library.open_embeddings", WordEmbeddings)


@pytest.fixture
def mine(tmp_path):
    path = tmp_path / "a.ris"
    path.write_text("".join([
        ENTRY.format(title=MILK, text="It helps.", more=""),
        ENTRY.format(title=MILK, text="It helps too.", more="DO  - 10.1000/x\n"),
        ENTRY.format(title="RETRACTED: Tea before sleep in day nurses", text="It harms.", more=""),
        ENTRY.format(title="Coffee, of which nothing is told", text="", more=""), "TY  - JOUR\nER  - \n",
    ]))
    library.keep_report(library.add("mine", [path]), "run1")
    return "mine"


def opened():
    page = AppTest.from_file(PAGE, default_timeout=120)
    page.session_state["framed"] = True
    return page.run()


def test_an_empty_home_says_so():
    page = opened()
    assert not page.exception
    assert any("Nothing has been imported yet" in one.value for one in page.caption)


def test_the_state_the_report_and_the_records_are_shown(mine):
    page = opened()
    assert not page.exception
    assert [(one.label, one.value) for one in page.metric] == [
        ("Records", "3"), ("Passages", "2"), ("Without an abstract", "1"), ("Retracted or withdrawn", "1")]
    assert "1 rejected" in page.expander[0].label
    tables = [one.value for one in page.dataframe]
    assert any("neither a title" in str(table.value) for table in page.table)
    records = next(table for table in tables if "status" in table)
    assert list(records["status"]) == ["", "Retracted", ""]
    page.text_input(key="records-words").set_value("tea nurses").run()
    assert any(one.value.startswith("1 of 3 records") for one in page.caption)


def test_a_merge_is_listed_with_its_reason(mine):
    page = opened()
    merges = next(one.value for one in page.dataframe if "because of" in one.value)
    assert list(merges["into"]) == [library.ledger_of("mine").merges[0].kept]


def test_a_corpus_is_deleted_only_after_its_name_was_typed(mine):
    page = opened()
    assert page.button(key="delete-corpus").disabled
    page.text_input(key="delete-name").set_value("mine").run()
    page.button(key="delete-corpus").click().run()
    assert not page.exception
    assert library.names() == []


def test_a_file_name_as_corpus_name_never_leaves_the_home(mine):
    page = opened()
    page.text_input(key="import-name").set_value("../../elsewhere").run()
    page.text_input(key="pubmed-query").set_value("milk").run()
    search = next(one for one in page.button if one.label == "Search and import")
    search.click().run()
    for _ in range(40):
        if any("corpus name" in one.value for one in page.error):
            break
        page.run()
    assert any("corpus name" in one.value.replace("\\", "") for one in page.error)
    assert library.names() == ["mine"]


def test_pubcrawl_is_offered_where_there_is_one_and_what_it_gives_is_shown(mine, monkeypatch):
    assert not any(one.key == "pubmed-by-pubcrawl" for one in opened().toggle)
    script = Script(articles={"101": an_article("101", ("RESULTS", "Sleep rose by 26 minutes."))})
    with on_http(script) as address:
        monkeypatch.setenv("LITRAG_PUBCRAWL", address)
        settings.cache_clear()
        page = opened()
        page.text_input(key="pubmed-query").set_value("milk")
        page.toggle(key="pubmed-by-pubcrawl").set_value(True).run()
        page.text_input(key="import-name").set_value("searched")  # typed, and the button pressed at once
        next(button for button in page.button if button.label == "Search and import").click().run()
        workbench().job(page.session_state["import-run"]).future.result(60)
        page.run()
    assert not page.exception
    assert script.asked[0] == ["search_pubmed", "milk", 100]
    assert [record.pmid for record in library.records_of("searched")] == ["101"]
    assert page.text_input(key="import-name").value == "searched"
    assert page.selectbox(key="corpus-shown").value == "searched"
