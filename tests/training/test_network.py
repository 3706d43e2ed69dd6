"""The trained network's loss and its inputs."""

import pytest
import torch

from training.loop import encode, padded, plan_batches
from training.network import loss_towards, open_tokenizer
from training.pairs import LABELS, ONLY, Pair, deduplicate


def test_the_loss_towards_one_class_is_its_cross_entropy():
    logits = torch.tensor([[2.0, 0.0, -1.0, 0.5]])
    allowed = torch.tensor([[True, False, False, False]])
    assert loss_towards(logits, allowed).item() == pytest.approx(
        torch.nn.functional.cross_entropy(logits, torch.tensor([0])).item()
    )


def test_a_row_that_allows_every_class_teaches_nothing():
    logits = torch.tensor([[2.0, 0.0, -1.0, 0.5]], requires_grad=True)
    loss_towards(logits, torch.ones(1, 4, dtype=torch.bool)).sum().backward()
    assert logits.grad is not None
    assert logits.grad.abs().max().item() < 1e-6


def test_only_the_evidence_is_cut_when_a_pair_is_too_long():
    row = encode([Pair("a short claim", "word " * 200, ONLY["supports"], "x", "g")], open_tokenizer(32))[0]
    assert len(row.ids) == 32
    assert row.types[:5] == [0, 0, 0, 0, 0]
    assert set(row.types[5:]) == {1}
    assert row.allowed == tuple(label == "supports" for label in LABELS)


def test_batches_hold_every_row_once_and_stay_within_their_tokens():
    from training.loop import Plan

    plan = Plan("x", epochs=1, max_tokens=64, learning_rate=1e-4, tokens_per_batch=256, rows_per_batch=8)
    lengths = [5 + (7 * n) % 60 for n in range(500)]
    batches = plan_batches(lengths, plan, 0)
    assert sorted(row for batch in batches for row in batch) == list(range(500))
    assert all(len(batch) <= 8 for batch in batches)
    assert all(len(batch) * padded(max(lengths[row] for row in batch)) <= 256 for batch in batches)
    assert batches == plan_batches(lengths, plan, 0)


def test_a_pair_with_two_labels_is_dropped_whole():
    pairs = [Pair("C", "e", ONLY["supports"], "x", "g"), Pair("c", "E ", ONLY["contradicts"], "y", "g")]
    assert deduplicate([*pairs, Pair("other", "e", ONLY["partial"], "x", "g")]) == [
        Pair("other", "e", ONLY["partial"], "x", "g")
    ]
