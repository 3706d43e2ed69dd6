"""A short soak: the promises that `benchmarks/soak.py` checks at length hold for a few answers, and can be broken."""

from __future__ import annotations

from benchmarks import soak


def test_a_few_answers_with_many_faults_keep_every_promise() -> None:
    _, calm, _ = soak.run(12, 0.0, seed=3, at_once=4)
    outcomes, server, _ = soak.run(12, 0.2, seed=3, at_once=4)
    assert sum(server.books.injected.values()) > 0
    # So few calls scatter widely about their mean; the ratio is promised for 300 answers.
    assert soak.problems(outcomes, server, fault_free_calls=2 * len(calm.asked)) == []


def test_a_lost_claim_or_a_passed_budget_would_be_noticed() -> None:
    outcomes, server, _ = soak.run(2, 0.0, seed=3, at_once=1)
    outcomes[0].claims.pop()
    server.books.cost[2] = 99.0
    found = soak.problems(outcomes, server, fault_free_calls=1)
    assert len(found) == 3
    assert "has claims" in found[0]
    assert "cost $99" in found[1]
    assert "more than 1.3" in found[2]
