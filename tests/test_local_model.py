"""The carried judge model: same answer everywhere, whatever stands beside a pair, and clear errors."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from litrag.config import PROJECT
from litrag.errors import ModelUnavailableError
from litrag.judges import LocalJudge
from litrag.local_model import DEFAULT_PATH, LABELS, EntailmentModel, read_card

EVIDENCE = "After 20 weeks, body weight fell by 7.9% with the drug and rose by 6.9% with placebo."
PAIRS = [
    ("Body weight fell by 7.9% with the drug.", EVIDENCE),
    ("Body weight rose by 7.9% with the drug.", EVIDENCE),
    ("The drug shortened hospital stays.", EVIDENCE),
    ("Weight fell.", "Weight fell."),
    ("Patients slept longer " * 40, EVIDENCE * 12),
]


@pytest.fixture(scope="module")
def model() -> EntailmentModel:
    return EntailmentModel.open()


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    return Path(shutil.copytree(DEFAULT_PATH, tmp_path / "judge_model"))



def edit_config(folder: Path, **changes: object) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def test_every_row_is_a_distribution_over_the_four_verdicts(model):
    probabilities = model.predict(PAIRS)
    assert probabilities.shape == (len(PAIRS), 4)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, atol=2e-4)
    assert (probabilities >= 0).all()


def test_no_pairs_give_no_rows(model):
    assert model.predict([]).shape == (0, 4)


def test_a_copied_sentence_is_supported_and_an_unrelated_one_is_not(model):
    support = LABELS.index("supports")
    same, _, unrelated = model.predict(PAIRS[:3])[:, support]
    assert same > 0.5
    assert unrelated < 0.5


def test_the_judge_around_the_model_sees_a_reversal_that_the_model_alone_may_miss(model):
    copied, reversed_, _ = PAIRS[:3]
    judge = LocalJudge(model)
    assert judge.judge(*copied).verdict == "supports"
    assert judge.judge(*reversed_).verdict == "contradicts"


def test_a_row_is_bit_for_bit_the_same_alone_and_among_others(model):
    together = model.predict(PAIRS * 5)
    alone = np.vstack([model.predict([pair]) for pair in PAIRS])
    assert (together == np.vstack([alone] * 5)).all()


def test_the_order_of_pairs_only_orders_the_rows(model):
    forward, backward = model.predict(PAIRS), model.predict(PAIRS[::-1])
    assert (forward == backward[::-1]).all()


def test_one_thread_and_two_give_the_same_rows(model):
    assert (EntailmentModel.open(threads=1).predict(PAIRS) == model.predict(PAIRS)).all()


def test_probabilities_carry_four_decimals(model):
    probabilities = model.predict(PAIRS)
    assert (np.round(probabilities.astype(float), 4).astype(np.float32) == probabilities).all()


def test_evidence_behind_the_token_limit_is_not_read(model):
    long = "The committee met again. " * 200
    assert model.token_count("Weight fell.", long) > model.card.max_tokens
    assert (model.predict([("Weight fell.", long)]) == model.predict([("Weight fell.", long + EVIDENCE)])).all()


def test_a_very_long_claim_leaves_room_for_evidence(model):
    claim = "Weight fell in the treated patients. " * 80
    first, second = model.predict([(claim, "Weight fell in them."), (claim, "Nothing was measured.")])
    assert (first != second).any()


def test_empty_texts_are_answered_without_an_error(model):
    assert model.predict([("", ""), ("Weight fell.", "")]).shape == (2, 4)


def test_a_missing_folder_is_named_with_the_remedy(tmp_path):
    with pytest.raises(ModelUnavailableError, match=r"nowhere.*reinstall"):
        EntailmentModel.open(tmp_path / "nowhere")


def test_missing_weights_are_named(copied):
    (copied / "model.onnx").unlink()
    with pytest.raises(ModelUnavailableError, match=r"model\.onnx can't be read"):
        EntailmentModel.open(copied)


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_one_changed_byte_is_refused(copied, name):
    data = bytearray((copied / name).read_bytes())
    data[len(data) // 2] ^= 1
    (copied / name).write_bytes(data)
    with pytest.raises(ModelUnavailableError, match=rf"{name} was altered"):
        EntailmentModel.open(copied)


def test_a_file_that_is_no_network_is_refused_even_with_a_fitting_checksum(copied):
    import hashlib

    (copied / "model.onnx").write_bytes(b"not a network")
    sums = read_card(copied).sha256 | {"model.onnx": hashlib.sha256(b"not a network").hexdigest()}
    edit_config(copied, sha256=sums)
    with pytest.raises(ModelUnavailableError, match="onnxruntime can't load"):
        EntailmentModel.open(copied)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"labels": ["entailment", "neutral", "contradiction"]}, "names the labels"),
        ({"temperature": 0}, "impossible calibration"),
        ({"bias": [0.0]}, "impossible calibration"),
        ({"sha256": {}}, "no checksum for model.onnx, tokenizer.json"),
        ({"max_tokens": "many"}, "not a judge model's configuration"),
    ],
)
def test_a_wrong_configuration_is_refused(copied, changes, message):
    edit_config(copied, **changes)
    with pytest.raises(ModelUnavailableError, match=message):
        EntailmentModel.open(copied)


def test_columns_follow_the_names_in_the_configuration_not_their_order(copied):
    edit_config(copied, bias=[0.0, 0.0, 0.0, 0.0])
    before = EntailmentModel.open(copied).predict(PAIRS)
    names = list(read_card(copied).labels)
    edit_config(copied, labels=names[::-1])
    after = EntailmentModel.open(copied).predict(PAIRS)
    for label, renamed in zip(names, names[::-1], strict=True):
        assert (before[:, LABELS.index(label)] == after[:, LABELS.index(renamed)]).all()


def test_the_carried_files_stay_below_45_megabytes():
    assert sum(path.stat().st_size for path in DEFAULT_PATH.iterdir()) <= 45e6


def test_running_the_model_does_not_import_torch():
    code = (
        "import sys; from litrag.local_model import EntailmentModel; "
        "EntailmentModel.open().predict([('a', 'b')]); sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=PROJECT, check=False).returncode == 0
