"""Cross-encoders by id or path: label order from the config, clear refusals."""

import pytest

from litrag.cross_encoder import CrossEncoderModel, columns_of
from litrag.errors import ModelUnavailableError
from litrag.judges import open_judge

WORDS = "[PAD] [UNK] [CLS] [SEP] [MASK] drug a b lowers raises risk of relapse . the by".split()


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """A BERT of a few thousand weights with inference labels in an order of its own."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    folder = tmp_path_factory.mktemp("tiny")
    (folder / "vocab.txt").write_text("\n".join(WORDS), encoding="utf-8")
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(WORDS), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
        id2label={0: "contradiction", 1: "entailment", 2: "neutral"},
        label2id={"contradiction": 0, "entailment": 1, "neutral": 2},
    )
    model = BertForSequenceClassification(config)
    with torch.no_grad():
        model.classifier.weight.zero_()
        model.classifier.bias.copy_(torch.tensor([0.0, 3.0, -1.0]))
    model.save_pretrained(folder)
    BertTokenizerFast(vocab_file=str(folder / "vocab.txt")).save_pretrained(folder)
    return folder


def test_the_label_order_is_read_from_the_config(tiny):
    [row] = CrossEncoderModel.open(str(tiny)).predict([("drug a lowers risk", "the drug lowers risk of relapse .")])
    assert row.argmax() == 0  # the second of the model's labels is "entailment"
    assert row.sum() == pytest.approx(1.0, abs=1e-5)
    assert row[1] == 0.0


def test_it_is_opened_as_a_judge(tiny):
    judge = open_judge(f"hf:{tiny}")
    judgement = judge.judge("Drug B lowers the risk of relapse by a lot.", "Drug B lowers the risk of relapse.")
    assert judgement.model == f"hf:{tiny}"
    assert judgement.verdict == "supports"


@pytest.mark.parametrize(
    "labels", [{0: "LABEL_0", 1: "LABEL_1", 2: "LABEL_2"}, {0: "neutral", 1: "contradiction"}, {0: "true", 1: "entailment"}]
)
def test_labels_that_cannot_be_told_apart_are_refused(labels):
    with pytest.raises(ModelUnavailableError, match="id2label"):
        columns_of(labels, "x/y")


def test_a_model_that_is_not_there_is_named_with_the_remedy(tmp_path):
    with pytest.raises(ModelUnavailableError, match="give a folder"):
        CrossEncoderModel.open(str(tmp_path / "nothing"))


def test_corrupted_weights_are_an_error_and_no_verdict(tiny, tmp_path):
    import shutil

    broken = tmp_path / "broken"
    shutil.copytree(tiny, broken)
    (broken / "model.safetensors").write_bytes(b"not weights")
    with pytest.raises(ModelUnavailableError):
        CrossEncoderModel.open(str(broken))
