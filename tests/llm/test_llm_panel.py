"""Several judges: votes, agreement, and a second opinion only where the first judge is unsure."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from fakes.anthropic_server import AnthropicServer, refuses
from llm.conftest import CLAIM, TEXT, judged

from litrag.config import Settings
from litrag.errors import InputError
from litrag.llm import open_llm_judge
from litrag.llm.panel import Escalation, Panel
from litrag.models import Judge, Judgement, Passage, Verdict

SUPPORTS, PARTIAL, CONTRADICTS = Verdict.SUPPORTS, Verdict.PARTIAL, Verdict.CONTRADICTS


class Says:
    """A judge that always says the same, and remembers what it was asked."""

    def __init__(self, judge_id: str, verdict: Verdict | None, confidence: float | None = 0.9, *,
                 unsure: bool = False) -> None:
        self.judge_id = judge_id
        self.asked: list[str] = []
        self._judgement = Judgement(
            verdict=verdict, confidence=confidence if verdict else None, unsure=unsure, judge=judge_id, model=judge_id,
            version="1", rationale=f"{judge_id} thinks so.", cost_usd=0.01, output_tokens=5,
            unjudged_reason=None if verdict else "it was down",
        )

    def judge(self, claim: str, passage: str | Passage, quote: str | None = None) -> Judgement:
        return self.judge_many([(claim, passage, quote)])[0]

    def judge_many(self, pairs: Sequence[tuple[str, str | Passage, str | None]]) -> list[Judgement]:
        self.asked += [claim for claim, _, _ in pairs]
        return [self._judgement for _ in pairs]


def vote(*verdicts: Verdict | None) -> Judgement:
    judges: list[Judge] = [Says(f"j{number}", verdict) for number, verdict in enumerate(verdicts)]
    return Panel(judges, judge_id="panel").judge(CLAIM, TEXT)


def test_judges_who_agree_are_sure() -> None:
    judgement = vote(SUPPORTS, SUPPORTS, SUPPORTS)
    assert (judgement.verdict, judgement.unsure, judgement.votes) == (SUPPORTS, False, {"supports": 3})
    assert "all 3 votes say supports" in judgement.rationale
    assert judgement.cost_usd == pytest.approx(0.03)
    assert judgement.judge == "panel"


def test_a_majority_decides_but_disagreement_is_shown_and_unsure() -> None:
    judgement = vote(SUPPORTS, PARTIAL, SUPPORTS)
    assert (judgement.verdict, judgement.unsure) == (SUPPORTS, True)
    assert judgement.votes == {"supports": 2, "partial": 1}
    assert "2 say supports, 1 says partial" in judgement.rationale
    assert judgement.confidence == pytest.approx(0.6)


@pytest.mark.parametrize("votes", [(SUPPORTS, CONTRADICTS), (SUPPORTS, PARTIAL, CONTRADICTS), (SUPPORTS, SUPPORTS,
                                   PARTIAL, PARTIAL)])
def test_without_a_majority_a_claim_is_unjudged_with_the_votes_as_reason(votes: tuple[Verdict, ...]) -> None:
    judgement = vote(*votes)
    assert judgement.verdict is None
    assert "the judges disagree" in (judgement.unjudged_reason or "")
    assert sum(judgement.votes.values()) == len(votes)


def test_a_judge_who_fails_doesnt_vote_and_leaves_the_rest_unsure() -> None:
    judgement = vote(SUPPORTS, None, SUPPORTS)
    assert (judgement.verdict, judgement.unsure) == (SUPPORTS, True)
    assert judgement.votes == {"supports": 2, "unjudged": 1}


def test_a_panel_in_which_nobody_judges_gives_the_reasons() -> None:
    judgement = vote(None, None)
    assert judgement.verdict is None
    assert "it was down" in (judgement.unjudged_reason or "")


def test_a_panel_of_one_is_refused() -> None:
    with pytest.raises(InputError, match="two votes"):
        Panel([Says("a", SUPPORTS)], judge_id="a")


def test_the_second_judge_is_only_asked_where_the_first_is_unsure() -> None:
    second = Says("second", CONTRADICTS)
    sure = Escalation(Says("first", SUPPORTS, 0.95), second, below=0.7).judge(CLAIM, TEXT)
    assert (sure.verdict, second.asked) == (SUPPORTS, [])
    for first in (Says("first", SUPPORTS, 0.5), Says("first", SUPPORTS, 0.95, unsure=True), Says("first", None)):
        judgement = Escalation(first, second, below=0.7).judge(CLAIM, TEXT)
        assert (judgement.verdict, judgement.judge) == (CONTRADICTS, "second")
        assert "first had said" in judgement.rationale
        assert judgement.cost_usd == pytest.approx(0.02)
    assert len(second.asked) == 3


def test_when_the_second_judge_fails_the_firsts_word_stays_and_is_unsure() -> None:
    judgement = Escalation(Says("first", PARTIAL, 0.5), Says("second", None), below=0.7).judge(CLAIM, TEXT)
    assert (judgement.verdict, judgement.unsure, judgement.judge) == (PARTIAL, True, "first")
    assert "second was asked and gave no verdict: it was down" in judgement.rationale


# --- by name
def test_a_name_opens_a_panel_of_models(claude: AnthropicServer, settings_for: Callable[..., Settings]) -> None:
    claude.reply = lambda body: judged("supports" if "sonnet" in body["model"] else "partial")
    judge = open_llm_judge("anthropic:claude-sonnet-4-6+anthropic:claude-haiku-4-5*2", settings_for(claude))
    judgement = judge.judge(CLAIM, TEXT)
    assert judgement.votes == {"partial": 2, "supports": 1}
    assert judgement.judge == "anthropic:claude-sonnet-4-6+anthropic:claude-haiku-4-5*2"
    assert judgement.unsure


def test_votes_of_one_judge_are_drawn_with_a_temperature_and_kept_apart(
    claude: AnthropicServer, settings_for: Callable[..., Settings]
) -> None:
    said = iter(["supports", "supports", "partial"])
    claude.reply = lambda body: judged(next(said))
    judge = open_llm_judge("anthropic:claude-sonnet-4-6*3", settings_for(claude))
    assert judge.judge(CLAIM, TEXT).votes == {"supports": 2, "partial": 1}
    assert [asked.body["temperature"] for asked in claude.asked] == [0.7] * 3
    assert judge.judge(CLAIM, TEXT).votes == {"supports": 2, "partial": 1}
    assert len(claude.asked) == 3, "each vote is kept on its own"


def test_a_name_opens_an_escalation_from_the_code_only_judge(
    claude: AnthropicServer, settings_for: Callable[..., Settings]
) -> None:
    claude.reply = judged()
    judge = open_llm_judge("checks>anthropic:claude-sonnet-4-6", settings_for(claude, escalate_below=1.0))
    judgement = judge.judge(CLAIM, TEXT)
    assert (judgement.verdict, judgement.judge) == (SUPPORTS, "anthropic:claude-sonnet-4-6")
    claude.reply = refuses()
    assert judge.judge("Drug Z changed the colour of urine.", TEXT).unsure


@pytest.mark.parametrize("spec", [
    "anthropic:claude-sonnet-4-6*1", "anthropic:claude-sonnet-4-6*99", "anthropic:claude-sonnet-4-6*", "mistral:large",
    "anthropic:", "anthropic-citations:claude-sonnet-4-6",
])
def test_a_name_that_means_nothing_says_what_would(settings_for: Callable[..., Settings], spec: str) -> None:
    with pytest.raises(InputError, match="use"):
        open_llm_judge(spec, settings_for())
