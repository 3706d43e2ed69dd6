"""Named corpora: what is added, updated, merged, parted and deleted, and that nothing else moves."""

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fakes.embeddings import WordEmbeddings

from benchmarks import kill_moments
from litrag import library, storage
from litrag.config import settings
from litrag.errors import InputError
from litrag.index import load_index

RIS = "TY  - JOUR\nTI  - {title}\nAU  - Lind, Bo\nPY  - 2019\nAB  - {text}\n{more}ER  - \n\n"


@pytest.fixture
def words():
    return WordEmbeddings()


def ris(folder, name, *entries):
    path = folder / name
    path.write_text("".join(RIS.format(title=title, text=text, more=more) for title, text, more in entries), encoding="utf-8")
    return path


def pubmed(folder, name, *entries):
    path = folder / name
    articles = "".join(
        f"<PubmedArticle><MedlineCitation><PMID>{pmid}</PMID><DateRevised><Year>2024</Year><Month>01</Month><Day>{day}</Day>"
        f"</DateRevised><Article><ArticleTitle>{title}</ArticleTitle><Abstract><AbstractText>{text}</AbstractText></Abstract>"
        "</Article></MedlineCitation></PubmedArticle>" for pmid, day, title, text in entries)
    path.write_text(f"<PubmedArticleSet>{articles}</PubmedArticleSet>", encoding="utf-8")
    return path


def open_one(name, words):
    return load_index(library.folder_of(name), embeddings=words)


def test_an_import_accounts_for_every_record(tmp_path, words):
    one = pubmed(tmp_path, "a.xml", ("11", "01", "Warm milk before sleep in nurses", "Sleep rose."),
                 ("12", "01", "Tea", "No effect."))
    two = ris(tmp_path, "b.ris", ("Warm milk before sleep in nurses", "Sleep rose.", "DO  - 10.1000/x\n"),
              ("Bare", "", ""), ("", "", ""))
    report = library.add("sleep", [one, two, one], embeddings=words)
    assert (report.read, report.loaded, report.unchanged, len(report.merges), len(report.lost)) == (6, 3, 2, 1, 1)
    assert report.read == report.loaded + len(report.updated) + report.unchanged + len(report.merges)
    assert report.without_abstract == 1
    assert [(f.file, f.format, f.records, f.rejected) for f in report.files] == [
        ("a.xml", "PubMed XML", 2, 0), ("b.ris", "RIS", 2, 1), ("a.xml", "PubMed XML", 2, 0)]
    records = {record.record_id: record for record in library.records_of("sleep")}
    assert records["11"].doi == "10.1000/x"
    assert "Bare" in {record.title for record in records.values()}
    assert library.names() == ["sleep"]


def test_adding_embeds_only_what_is_new_and_shifts_nothing(tmp_path, words):
    library.add("c", [pubmed(tmp_path, "a.xml",
        ("11", "01", "One", "First text."), ("12", "01", "Two", "Second text."))], embeddings=words)
    before = {p.passage_id: p.text for p in open_one("c", words).passages}
    words.embedded.clear()
    library.add("c", [pubmed(tmp_path, "b.xml", ("13", "01", "Three", "Third text."))], embeddings=words)
    assert words.embedded == ["Three\nThird text."]
    index = open_one("c", words)
    assert before.items() <= {p.passage_id: p.text for p in index.passages}.items()
    assert index.search("Second text", 1)[0][0].pmid == "12"
    assert index.search("Third text", 1)[0][0].pmid == "13"


def test_a_later_revision_replaces_the_text_and_an_older_one_does_not(tmp_path, words):
    library.add("c", [pubmed(tmp_path, "a.xml",
        ("11", "05", "One", "Relapse was 21%."), ("12", "01", "Two", "Other."))], embeddings=words)
    old = {p.record_id: p.record_version for p in open_one("c", words).passages}
    report = library.add("c", [pubmed(tmp_path, "b.xml", ("11", "09", "One", "Relapse was 12%."))], embeddings=words)
    assert report.updated == ("11",)
    late = library.add("c", [pubmed(tmp_path, "old.xml", ("11", "02", "One", "Relapse was 99%."))], embeddings=words)
    assert late.unchanged == 1
    index = open_one("c", words)
    assert index.records["11"].text == "Relapse was 12%."
    new = {p.record_id: p.record_version for p in index.passages}
    assert new["11"] != old["11"]
    assert new["12"] == old["12"]


def test_an_update_file_deletes_what_it_says(tmp_path, words):
    library.add("c", [pubmed(tmp_path, "a.xml", ("11", "01", "One", "First."), ("12", "01", "Two", "Second."))], embeddings=words)
    update = tmp_path / "u.xml"
    update.write_text("<PubmedArticleSet><DeleteCitation><PMID>12</PMID></DeleteCitation></PubmedArticleSet>")
    assert library.add("c", [update], embeddings=words).deleted == ("12",)
    assert list(open_one("c", words).records) == ["11"]


def test_a_merge_can_be_undone_and_stays_undone(tmp_path, words):
    one = pubmed(tmp_path, "a.xml", ("11", "01", "Warm milk before sleep in nurses", "Sleep rose."))
    two = ris(tmp_path, "b.ris", ("Warm milk before sleep in nurses", "Sleep rose, another copy.", "DO  - 10.1000/x\n"))
    library.add("c", [one], embeddings=words)
    (before,) = library.records_of("c")
    (merge,) = library.add("c", [two], embeddings=words).merges
    assert library.ledger_of("c").merges == (merge,)
    assert library.records_of("c")[0].doi == "10.1000/x"
    back = library.undo_merge("c", merge, embeddings=words)
    assert back == merge.record
    assert {record.record_id for record in library.records_of("c")} == {"11", "10.1000/x"}
    assert {record.record_id: record for record in library.records_of("c")}["11"] == before
    again = library.add("c", [two], embeddings=words)
    assert again.merges == ()
    assert again.unchanged == 1
    with pytest.raises(InputError, match="not merged"):
        library.undo_merge("c", merge, embeddings=words)


def test_deleting_records_and_corpora(tmp_path, words):
    library.add("c", [pubmed(tmp_path, "a.xml", ("11", "01", "One", "First."), ("12", "01", "Two", "Second."))], embeddings=words)
    assert library.delete_records("c", ["12", "nowhere"], embeddings=words) == ("12",)
    assert [record.record_id for record in library.records_of("c")] == ["11"]
    library.delete_corpus("c")
    assert library.names() == []
    with pytest.raises(InputError, match="no corpus"):
        library.delete_corpus("c")


def test_the_columns_of_a_table_can_be_named(tmp_path, words):
    table = tmp_path / "t.csv"
    table.write_text("Überschrift,Inhalt\nMilch,Der Schlaf nahm zu.\n", encoding="utf-8")
    library.add("c", [table], embeddings=words, mapping={"title": "Überschrift", "text": "Inhalt"})
    assert [(r.title, r.text) for r in library.records_of("c")] == [("Milch", "Der Schlaf nahm zu.")]


@pytest.mark.parametrize("name", ["", "../x", "a/b", ".hidden"])
def test_a_corpus_name_cannot_leave_its_folder(name):
    with pytest.raises(InputError, match="corpus name"):
        library.folder_of(name)


def test_an_import_without_any_record_changes_nothing(tmp_path, words):
    with pytest.raises(InputError, match="is empty"):
        library.add("c", [ris(tmp_path, "x.ris")], embeddings=words)
    assert library.names() == []


WORKER = """
import json, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from fakes.embeddings import WordEmbeddings
from litrag import library
from litrag.config import settings
words, folder = WordEmbeddings(), Path(sys.argv[1])
print("ready", flush=True)
n = 0
while True:
    n += 1
    file = folder / "round.jsonl"
    file.write_text("".join(json.dumps({"id": f"r{k}", "title": f"Title number {k} of a trial of milk {k}",
        "abstract": f"Round {n} found {n} of record {k}."}) + chr(10) for k in range(40)))
    library.add("c", [file], embeddings=words)
    library.delete_records("c", ["r39"], embeddings=words)
    print(n, flush=True)
"""


@pytest.mark.parametrize("seed", range(4))
def test_a_killed_import_leaves_one_whole_state(tmp_path, words, seed):
    run = [sys.executable, "-c", WORKER, str(tmp_path), str(Path(__file__).parent)]
    worker = subprocess.Popen(run, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[1], env=environment())
    assert worker.stdout is not None
    for _ in range(2):
        worker.stdout.readline()
    time.sleep(random.Random(seed).uniform(0, 0.4))
    worker.send_signal(signal.SIGKILL)
    worker.wait()
    worker.stdout.close()
    index = open_one("c", words)
    texts = {record_id: record.text for record_id, record in index.records.items()}
    rounds = {int(text.split()[1]) for text in texts.values()}
    assert len(rounds) == 1
    assert len(texts) in (39, 40)
    assert {p.record_id: p.text for p in index.passages} == texts
    report = library.add("c", [tmp_path / "round.jsonl"], embeddings=words)
    assert report.records == 40


def test_a_file_imported_twice_lists_its_merge_once(tmp_path, words):
    file = pubmed(tmp_path, "a.xml", ("11", "01", "One title of a trial of nausea", "First."))
    copy = tmp_path / "copy.ris"
    copy.write_text("TY  - JOUR\nTI  - One title of a trial of nausea\nPY  - 2021\nAN  - 11\nDO  - 10.1/x\nER  - \n", "utf-8")
    library.add("c", [file, copy], embeddings=words)
    merges = library.ledger_of("c").merges
    library.add("c", [copy], embeddings=words)
    assert library.ledger_of("c").merges == merges
    assert len(merges) == 1


@pytest.fixture(scope="module")
def killable(tmp_path_factory):
    return tmp_path_factory.mktemp("killable"), *kill_moments.prepared(tmp_path_factory.mktemp("moments"))


@pytest.mark.parametrize("operation", kill_moments.OPERATIONS)
def test_a_process_killed_at_any_step_leaves_the_old_or_the_new_corpus(killable, operation):
    folder, before, files = killable
    scene = kill_moments.Scene.of(operation, before, files, folder)
    step = random.Random(operation).randint(1, scene.steps)
    assert scene.killed(folder / "home", step=step)[0] in ("old", "new")


def test_a_report_is_kept_whole_or_not_at_all(tmp_path, words, monkeypatch):
    report = library.add("c", [pubmed(tmp_path, "a.xml", ("11", "01", "One", "First."))], embeddings=words)
    library.keep_report(report, "1")
    monkeypatch.setattr(storage.os, "replace", lambda *_: (_ for _ in ()).throw(OSError("killed")))
    with pytest.raises(OSError, match="killed"):
        library.keep_report(report, "2")
    assert library.reports_of("c") == [report]


def environment():
    import os

    return {**os.environ, "LITRAG_HOME": str(settings().home), "PYTHONPATH": str(Path(__file__).parents[1])}


def test_a_report_survives_as_json(tmp_path, words):
    report = library.add("c", [pubmed(tmp_path, "a.xml", ("11", "01", "One", "First."))], embeddings=words)
    assert library.ImportReport.model_validate(json.loads(report.model_dump_json())) == report
    assert "1 new" in report.in_words()
