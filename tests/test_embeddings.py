"""The carried model: same vectors as sentence-transformers, fast to start, cached, and checked."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from litrag import embeddings as module
from litrag.embeddings import HubEmbeddings, MiniLMEmbeddings, open_embeddings
from litrag.errors import ModelUnavailableError
from litrag.vector_cache import VectorCache

TEXTS = [
    "Semaglutide lowered body weight by 14.9% (95% CI −16.1 to −13.7).",
    "short",
    "Placebo was given to 655 people with overweight; " * 40,
    "Ångström — naïve “quotes” 0·05 μg",
]


@pytest.fixture(scope="session")
def model_dir(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    MiniLMEmbeddings(folder).embed_query("export once")
    return folder


@pytest.fixture
def minilm(model_dir):
    return MiniLMEmbeddings(model_dir)


def test_vectors_equal_those_of_sentence_transformers(minilm):
    from sentence_transformers import SentenceTransformer

    reference = SentenceTransformer(str(module._carried_model()), device="cpu").encode(TEXTS)
    ours = minilm.embed(TEXTS)
    assert (ours * reference).sum(axis=1).min() > 0.9999
    assert np.allclose(np.linalg.norm(ours, axis=1), 1, atol=1e-5)


def test_a_text_has_the_same_vector_in_any_company(minilm):
    together = minilm.embed(TEXTS)
    alone = np.stack([minilm.embed([text])[0] for text in TEXTS])
    assert np.allclose(together, alone, atol=1e-5)
    assert np.allclose(minilm.embed_query(TEXTS[0]), together[0], atol=1e-5)


def test_tokens_are_counted_uncut(minilm):
    assert minilm.count_tokens(["weight", "weight " * 500]) == [3, 502]


def test_no_texts_give_no_vectors(minilm):
    assert minilm.embed([]).shape == (0, 384)


def test_a_warm_start_imports_neither_torch_nor_sentence_transformers(model_dir):
    code = (
        "import sys; from pathlib import Path; from litrag.embeddings import MiniLMEmbeddings\n"
        f"assert len(MiniLMEmbeddings(Path({str(model_dir)!r})).embed_query('hello')) == 384\n"
        "print([m for m in ('torch', 'transformers', 'sentence_transformers') if m in sys.modules])"
    )
    root = Path(module.__file__).parents[1]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root)
    assert done.stdout.strip() == "[]"


def test_weights_that_are_not_the_pinned_ones_are_refused(tmp_path, monkeypatch):
    (tmp_path / "model.safetensors").write_bytes(b"other weights")
    monkeypatch.setattr(module, "_carried_model", lambda: tmp_path)
    with pytest.raises(ModelUnavailableError, match="reinstall"):
        MiniLMEmbeddings(tmp_path / "out")._model()
    assert not (tmp_path / "out").exists()


def test_a_damaged_export_says_what_to_delete(tmp_path, model_dir):
    name = next(model_dir.glob("*.onnx")).name
    (tmp_path / name).write_bytes(b"half a file")
    with pytest.raises(ModelUnavailableError, match="delete it"):
        MiniLMEmbeddings(tmp_path).embed_query("x")


def test_vectors_are_cached_by_text(tmp_path, model_dir, monkeypatch):
    cached = MiniLMEmbeddings(model_dir, cache=VectorCache(tmp_path / "sub" / "vectors.db"))
    first = cached.embed(["one", "two", "one"])
    assert np.array_equal(first[0], first[2])
    ran: list[str] = []
    again = MiniLMEmbeddings(model_dir, cache=VectorCache(tmp_path / "sub" / "vectors.db"))
    run = again._run
    monkeypatch.setattr(again, "_run", lambda texts, counter: (ran.extend(texts), run(texts, counter))[1])
    assert np.array_equal(again.embed(["two", "three"])[0], first[1])
    assert ran == ["three"]


def test_progress_counts_up_to_all_texts(minilm):
    told = []
    minilm.embed(TEXTS, lambda done, total: told.append((done, total)))
    assert told[-1] == (4, 4)


def test_another_model_runs_through_langchain_and_is_known_by_its_weights():
    path = str(module._carried_model())
    model = HubEmbeddings(path, offline=True)
    assert model.model_id == f"{Path(path).name}:{module.MINILM_WEIGHTS_SHA256[:12]}"
    assert (model.dimension, model.max_tokens) == (384, 256)
    assert model.count_tokens(["weight " * 500]) == [502]
    assert np.allclose(np.linalg.norm(model.embed(["a", "b"]), axis=1), 1, atol=1e-5)


def test_a_model_that_does_not_exist_is_named(tmp_path):
    with pytest.raises(ModelUnavailableError, match="no-such-model"):
        HubEmbeddings(str(tmp_path / "no-such-model"), offline=True).embed_query("x")


def test_the_name_minilm_opens_the_carried_model():
    assert isinstance(open_embeddings("minilm"), MiniLMEmbeddings)
    assert isinstance(open_embeddings("some/other-model"), HubEmbeddings)
