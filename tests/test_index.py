"""The index: what is found, with which scores, and what happens when its folder doesn't fit."""

import json
import pickle
import threading
import time
from pathlib import Path

import pytest
from fakes.embeddings import WordEmbeddings

from litrag import storage
from litrag.config import SAMPLE_CORPUS, Settings
from litrag.errors import IndexUnusableError, InputError
from litrag.index import build_index, corpus_hash, load_index, open_index
from litrag.models import Record

SENTENCES = ("Pain fell by 3 points.", "Relapse was 12%.", "Price was not examined.")


def a_record(number, text, title="", **fields):
    return Record(record_id=str(number), pmid=str(number), title=title, text=text, **fields)


@pytest.fixture
def words():
    return WordEmbeddings()


@pytest.fixture
def three():
    return [a_record(number, text) for number, text in enumerate(SENTENCES, start=11)]


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home of our own, so that opening by name or path writes nowhere else."""
    own = Settings(home=tmp_path / "home")
    monkeypatch.setattr("litrag.index.settings", lambda: own)
    return own.home


def jsonl(path, rows):
    path.write_text("".join(json.dumps({"pmid": str(n), "title": "", "text": text}) + "\n" for n, text in rows))
    return path


# --- scores
def test_an_identical_sentence_comes_first_with_a_score_near_one(tmp_path, words, three):
    index = build_index(three, tmp_path / "i", embeddings=words)
    first = index.hits("Relapse was 12%.", 8)[0]
    assert first.passage.record_id == "12"
    assert first.score == pytest.approx(1, abs=0.05)
    assert first.similarity == pytest.approx(1, abs=1e-5)


def test_an_unrelated_question_scores_low_everywhere(tmp_path, words, three):
    index = build_index(three, tmp_path / "i", embeddings=words)
    hits = index.hits("volcanic soil", 8)
    assert max(hit.score for hit in hits) < 0.2
    assert max(hit.lexical for hit in hits) == 0


def test_asking_for_more_than_there_is_gives_each_passage_once_and_no_empty_slot(tmp_path, words, three):
    index = build_index(three, tmp_path / "i", embeddings=words)
    found = index.search("Relapse was 12%.", 50)
    assert sorted(passage.record_id for passage, _ in found) == ["11", "12", "13"]
    scores = [score for _, score in found]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)


def test_higher_is_better_for_each_kind_of_score(tmp_path, words):
    records = [a_record(1, "Nausea was common in adults."), a_record(2, "Nausea was rare."), a_record(3, "It rained.")]
    hits = build_index(records, tmp_path / "i", embeddings=words).hits("nausea was rare", 3)
    for kind in ("score", "similarity", "lexical"):
        values = {hit.passage.record_id: getattr(hit, kind) for hit in hits}
        assert values["2"] > values["1"] > values["3"], kind


@pytest.mark.parametrize(("question", "k", "message"), [("  ", 3, "empty"), ("pain", 0, "1 or more")])
def test_a_question_that_cannot_be_searched_is_an_input_error(tmp_path, words, three, question, k, message):
    index = build_index(three, tmp_path / "i", embeddings=words)
    with pytest.raises(InputError, match=message):
        index.search(question, k)


def test_a_question_of_unknown_words_or_signs_only_is_searched(tmp_path, words, three):
    index = build_index(three, tmp_path / "i", embeddings=words)
    assert len(index.search("???", 2)) == 2
    assert len(index.search("the of and", 2)) == 2


def test_passages_are_slices_of_their_records(tmp_path, words):
    text = " ".join(f"Finding number {n} was written down." for n in range(60))
    index = build_index([a_record(1, text, "Many findings")], tmp_path / "i", embeddings=words)
    assert len(index.passages) > 3
    assert all(index.records["1"].text[p.start:p.end] == p.text for p in index.passages)


# --- LangChain
def test_the_retriever_gives_documents_with_places(tmp_path, words, three):
    index = build_index(three, tmp_path / "corpus", embeddings=words)
    documents = index.as_retriever(k=2).invoke("Relapse was 12%.")
    assert len(documents) == 2
    metadata = documents[0].metadata
    assert {k: metadata[k] for k in ("pmid", "title", "source", "start", "end")} == {
        "pmid": "12", "title": "", "source": "corpus", "start": 0, "end": 16,
    }
    assert documents[0].page_content == "Relapse was 12%."


def test_the_vector_store_is_langchains_faiss_over_the_same_vectors(tmp_path, words, three):
    index = build_index(three, tmp_path / "i", embeddings=words)
    (document, cosine), *_ = index.vectorstore.similarity_search_with_score("Relapse was 12%.", k=2)
    assert document.metadata["pmid"] == "12"
    assert cosine == pytest.approx(1, abs=1e-5)


# --- the folder
def test_a_saved_index_finds_the_same_as_the_built_one(tmp_path, words, three):
    built = build_index(three, tmp_path / "i", embeddings=words)
    loaded = load_index(tmp_path / "i", embeddings=WordEmbeddings())
    for question in (*SENTENCES, "points of relapse"):
        assert loaded.hits(question, 3) == built.hits(question, 3)
    assert dict(loaded.records) == dict(built.records)
    assert loaded.corpus_hash == built.corpus_hash == corpus_hash(three)


def test_nothing_in_the_folder_is_a_pickle(tmp_path, words, three):
    build_index(three, tmp_path / "i", embeddings=words)
    for path in (tmp_path / "i").rglob("*"):
        if path.is_file():
            with pytest.raises((pickle.UnpicklingError, EOFError, ValueError, KeyError, IndexError, AttributeError)):
                pickle.loads(path.read_bytes())  # noqa: S301


class Canary:
    """Writes a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (Path.touch, (self.path,))


def test_a_planted_pickle_is_refused_and_never_run(tmp_path, words, three):
    build_index(three, tmp_path / "i", embeddings=words)
    canary = tmp_path / "canary.txt"
    (tmp_path / "i" / "index.pkl").write_bytes(pickle.dumps(Canary(canary)))
    with pytest.raises(IndexUnusableError, match=r"index\.pkl.*rebuild"):
        load_index(tmp_path / "i", embeddings=words)
    build_index(three, tmp_path / "i", embeddings=words)
    assert len(load_index(tmp_path / "i", embeddings=words).passages) == 3
    assert not canary.exists()


@pytest.mark.parametrize(
    ("other", "names"),
    [
        (WordEmbeddings(dimension=768), "512.*768"),
        (WordEmbeddings(model_id="words:2"), "words:1.*words:2"),
    ],
)
def test_an_index_of_another_model_is_refused(tmp_path, words, three, other, names):
    build_index(three, tmp_path / "i", embeddings=words)
    with pytest.raises(IndexUnusableError, match=names):
        load_index(tmp_path / "i", embeddings=other)


def build_of(folder):
    return folder / json.loads((folder / storage.MANIFEST).read_text())["build"]


@pytest.mark.parametrize("name", ["records.jsonl", "passages.json", "vectors.faiss", "lexical/vocab.index.json"])
@pytest.mark.parametrize("harm", ["older", "half", "gone"])
def test_a_build_that_is_out_of_step_is_refused(tmp_path, words, three, name, harm):
    build_index(three, tmp_path / "i", embeddings=words)
    older = (build_of(tmp_path / "i") / name).read_bytes()
    more = [*three, a_record(21, "Sleep was longer."), a_record(22, "Falls were fewer.")]
    build_index(more, tmp_path / "i", embeddings=words)
    target = build_of(tmp_path / "i") / name
    if harm == "gone":
        target.unlink()
    else:
        target.write_bytes(older if harm == "older" else target.read_bytes()[: target.stat().st_size // 2])
    with pytest.raises(IndexUnusableError, match="rebuild"):
        load_index(tmp_path / "i", embeddings=words)


@pytest.mark.parametrize("content", [b"", b"{", b'{"build": "x"}', b"\xff\xfe"])
def test_a_damaged_manifest_is_refused(tmp_path, words, three, content):
    build_index(three, tmp_path / "i", embeddings=words)
    (tmp_path / "i" / storage.MANIFEST).write_bytes(content)
    with pytest.raises(IndexUnusableError, match="rebuild"):
        load_index(tmp_path / "i", embeddings=words)


def test_an_older_manifest_put_back_is_refused(tmp_path, words, three):
    build_index(three, tmp_path / "i", embeddings=words)
    older = (tmp_path / "i" / storage.MANIFEST).read_bytes()
    build_index(three[:2], tmp_path / "i", embeddings=words)
    (tmp_path / "i" / storage.MANIFEST).write_bytes(older)
    with pytest.raises(IndexUnusableError):
        load_index(tmp_path / "i", embeddings=words)


def test_a_manifest_cannot_point_outside_its_folder(tmp_path, words, three):
    build_index(three, tmp_path / "i", embeddings=words)
    path = tmp_path / "i" / storage.MANIFEST
    manifest = json.loads(path.read_text())
    manifest["files"]["../../secret"] = "0" * 64
    path.write_text(json.dumps(manifest))
    with pytest.raises(IndexUnusableError):
        load_index(tmp_path / "i", embeddings=words)


def test_a_future_format_is_refused(tmp_path, words, three):
    build_index(three, tmp_path / "i", embeddings=words)
    path = tmp_path / "i" / storage.MANIFEST
    path.write_text(path.read_text().replace(f'"format_version": {storage.FORMAT_VERSION}', '"format_version": 99'))
    with pytest.raises(IndexUnusableError, match="99"):
        load_index(tmp_path / "i", embeddings=words)


def test_a_build_that_fails_leaves_the_old_index_in_place(tmp_path, words, three, monkeypatch):
    build_index(three, tmp_path / "i", embeddings=words)

    def full_disk(*arguments):
        raise OSError("no space left")

    monkeypatch.setattr("litrag.contents.faiss.write_index", full_disk)
    with pytest.raises(OSError, match="no space"):
        build_index(three[:1], tmp_path / "i", embeddings=words)
    assert len(load_index(tmp_path / "i", embeddings=words).records) == 3
    assert not list((tmp_path / "i").glob(".writing-*"))


def test_a_folder_with_other_things_in_it_is_left_alone(tmp_path, words, three):
    (tmp_path / "thesis.docx").write_bytes(b"years of work")
    with pytest.raises(InputError, match=r"thesis\.docx"):
        build_index(three, tmp_path, embeddings=words)
    assert (tmp_path / "thesis.docx").read_bytes() == b"years of work"


def test_a_second_writer_waits_for_the_first(tmp_path, words, three):
    events = []

    def first():
        with storage.locked(tmp_path / "i"):
            started.set()
            time.sleep(0.3)
            events.append("first done")

    started = threading.Event()
    thread = threading.Thread(target=first)
    thread.start()
    started.wait()
    build_index(three, tmp_path / "i", embeddings=words)
    events.append("second done")
    thread.join()
    assert events == ["first done", "second done"]


def test_a_writer_that_waited_too_long_is_refused(tmp_path):
    refused = []

    def second():
        try:
            with storage.locked(tmp_path / "i", wait_seconds=0.05):
                pass
        except IndexUnusableError as error:
            refused.append(str(error))

    with storage.locked(tmp_path / "i"):
        thread = threading.Thread(target=second)
        thread.start()
        thread.join()
    assert "another process" in refused[0]


def test_records_with_the_same_id_are_refused(tmp_path, words, three):
    with pytest.raises(InputError, match="same id"):
        build_index([*three, three[0]], tmp_path / "i", embeddings=words)


def test_records_without_any_text_are_refused(tmp_path, words):
    with pytest.raises(InputError, match="abstract"):
        build_index([a_record(1, "", "Only a title")], tmp_path / "i", embeddings=words)


# --- opening by name and by path
def test_a_path_is_indexed_once_and_then_reused(tmp_path, home, words):
    path = jsonl(tmp_path / "study.jsonl", [(1, "Relapse was 12%.")])
    first = open_index(path, embeddings=words)
    embedded = len(words.embedded)
    assert open_index(str(path), embeddings=words).manifest == first.manifest
    assert len(words.embedded) == embedded


def test_a_changed_figure_in_the_source_is_noticed(tmp_path, home, words):
    path = jsonl(tmp_path / "study.jsonl", [(1, "Relapse was 12%."), (2, "Pain fell.")])
    open_index(path, embeddings=words)
    jsonl(path, [(1, "Relapse was 21%."), (2, "Pain fell.")])
    texts = {passage.text for passage, _ in open_index(path, embeddings=words).search("relapse", 5)}
    assert "Relapse was 21%." in texts
    assert "Relapse was 12%." not in texts


def test_records_added_to_the_source_are_found(tmp_path, home, words):
    path = jsonl(tmp_path / "study.jsonl", [(1, "Relapse was 12%.")])
    open_index(path, embeddings=words)
    jsonl(path, [(1, "Relapse was 12%."), *((n, f"Outcome {n} was seen.") for n in range(2, 12))])
    index = open_index(path, embeddings=words)
    assert len(index.records) == 11
    assert index.search("Outcome 7 was seen.", 1)[0][0].record_id == "7"


@pytest.mark.parametrize("other", [WordEmbeddings(dimension=768), WordEmbeddings(model_id="words:2")])
def test_a_change_of_model_rebuilds_by_path_and_by_name(tmp_path, home, words, three, other, caplog):
    path = jsonl(tmp_path / "study.jsonl", [(1, "Relapse was 12%.")])
    open_index(path, embeddings=words)
    build_index(three, home / "index" / "mine", embeddings=words)
    assert open_index(path, embeddings=other).manifest.model_id == other.model_id
    again = open_index("mine", embeddings=other)
    assert again.manifest.dimension == other.dimension
    assert again.hits("Relapse was 12%.", 1)[0].passage.record_id == "12"
    assert "rebuild the index or change the model" in caplog.text


def test_a_half_written_index_is_rebuilt_from_its_source(tmp_path, home, words):
    path = jsonl(tmp_path / "study.jsonl", [(1, "Relapse was 12%."), (2, "Pain fell.")])
    index = open_index(path, embeddings=words)
    folder = home / "index" / index.name
    (build_of(folder) / "passages.json").write_bytes(b"")
    (folder / "index.pkl").write_bytes(b"junk")
    assert len(open_index(path, embeddings=words).passages) == 2
    assert not (folder / "index.pkl").exists()


def test_two_that_open_at_once_build_once(tmp_path, home):
    path = jsonl(tmp_path / "study.jsonl", [(n, f"Outcome {n} was seen.") for n in range(1, 40)])
    models = [WordEmbeddings(), WordEmbeddings()]
    threads = [threading.Thread(target=open_index, args=(path,), kwargs={"embeddings": m}) for m in models]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(len(model.embedded) for model in models) == [0, 39]


def test_the_sample_corpus_is_known_by_name_and_by_path(home, words):
    shown = []
    words = WordEmbeddings(max_tokens=200)
    index = open_index("sample", embeddings=words, progress=lambda share, message: shown.append(share))
    assert index.name == "sample"
    assert len(index.records) == 15
    assert (shown[0], shown[-1]) == (0.0, 1.0)
    assert shown == sorted(shown)
    assert open_index(SAMPLE_CORPUS, embeddings=words).manifest == index.manifest
    assert [p.name for p in (home / "index").iterdir() if not p.name.startswith(".")] == ["sample"]


@pytest.mark.parametrize("name", ["unheard-of", "../outside", "/no/such/path"])
def test_an_unknown_corpus_is_named_with_those_that_are_known(home, words, three, name):
    build_index(three, home / "index" / "mine", embeddings=words)
    with pytest.raises(InputError, match="mine"):
        open_index(name, embeddings=words)


def test_a_source_without_readable_records_says_why(tmp_path, home, words):
    path = tmp_path / "bad.jsonl"
    path.write_text("{broken\n")
    with pytest.raises(InputError, match="not JSON"):
        open_index(path, embeddings=words)


def test_moving_a_corpus_or_reordering_it_does_not_change_its_hash(three):
    moved = [record.model_copy(update={"origin": "elsewhere"}) for record in reversed(three)]
    assert corpus_hash(moved) == corpus_hash(three)
    assert corpus_hash([three[0].model_copy(update={"text": "Pain fell by 4 points."}), *three[1:]]) != corpus_hash(three)
