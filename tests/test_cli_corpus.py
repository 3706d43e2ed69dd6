"""Corpora and PubMed from the command line."""

import json

import pytest
from fakes.embeddings import WordEmbeddings
from fakes.eutils_server import an_article, fake_pubmed

from litrag import library
from litrag.cli import main
from litrag.config import settings


@pytest.fixture(autouse=True)
def _small_model(monkeypatch):
    monkeypatch.setattr("litrag.library.open_embeddings", WordEmbeddings)


def said(capsys):
    return json.loads(capsys.readouterr().out)


def test_files_of_several_formats_become_one_corpus_with_a_report(tmp_path, capsys):
    (tmp_path / "a.ris").write_text("TY  - JOUR\nTI  - Milk before sleep in night nurses\nAB  - It helps.\nER  - \n")
    (tmp_path / "b.csv").write_text("Thema,Inhalt\nTea,It does not.\n")
    (tmp_path / "c.pdf").write_bytes(b"%PDF-1.4")
    report = tmp_path / "report.json"
    code = main(["ingest", *(str(tmp_path / name) for name in ("a.ris", "b.csv", "c.pdf")), "--corpus", "mine", "--json",
                 "--column", "title=Thema", "--column", "text=Inhalt", "--report", str(report)])
    found = said(capsys)
    assert code == 1
    assert (found["records"], found["loaded"]) == (2, 2)
    assert next(one["reason"] for one in found["rejected"] if not one["record_kept"]).startswith("is a PDF")
    assert json.loads(report.read_text()) == found
    assert main(["corpora"]) == 0
    assert "mine: 2 records" in capsys.readouterr().out


def test_a_wrong_column_or_name_is_explained(tmp_path, capsys):
    (tmp_path / "a.ris").write_text("TY  - JOUR\nTI  - Milk\nAB  - It helps.\nER  - \n")
    assert main(["ingest", str(tmp_path / "a.ris"), "--corpus", "mine", "--column", "text"]) == 2
    assert "FIELD=HEADER" in capsys.readouterr().err
    assert main(["corpora", "nowhere"]) == 2
    assert "no corpus" in capsys.readouterr().err


def test_a_merge_is_listed_and_undone(tmp_path, capsys):
    entry = "TY  - JOUR\nTI  - Milk before sleep in night nurses\nAU  - Lind, B\nPY  - 2019\nAB  - It helps.\n{}ER  - \n"
    (tmp_path / "a.ris").write_text(entry.format("") + entry.format("DO  - 10.1000/x\n"))
    assert main(["ingest", str(tmp_path / "a.ris"), "--corpus", "mine"]) == 0
    assert "merged" in capsys.readouterr().out
    main(["corpora", "mine", "--json"])
    (merge,) = said(capsys)["merges"]
    assert main(["corpora", "mine", "--undo", merge["merged"]]) == 0
    assert len(library.records_of("mine")) == 2
    assert main(["corpora", "mine", "--delete-record", merge["merged"]]) == 0
    assert len(library.records_of("mine")) == 1
    assert main(["corpora", "mine", "--delete"]) == 0
    assert library.names() == []


def test_a_pubmed_query_and_a_refresh(monkeypatch, capsys):
    with fake_pubmed({"101": an_article("101", "Sleep rose."), "102": an_article("102", "It fell.")}) as server:
        monkeypatch.setenv("LITRAG_NCBI_URL", server.url)
        settings.cache_clear()
        assert main(["pubmed", "milk", "--max", "5", "--corpus", "live", "--json"]) == 0
        assert said(capsys)["loaded"] == 2
        server.articles["101"] = an_article("101", "Sleep rose.", day="07", more=(
            '<CommentsCorrectionsList><CommentsCorrections RefType="ExpressionOfConcernIn"><PMID>9</PMID></CommentsCorrections>'
            "</CommentsCorrectionsList>"))
        assert main(["pubmed", "--refresh", "--corpus", "live", "--json"]) == 1
        assert said(capsys)["new_notices"] == {"101": ["concern"]}
    main(["corpora", "live"])
    assert "Expression of concern: 101" in capsys.readouterr().out
    assert main(["pubmed"]) == 2
