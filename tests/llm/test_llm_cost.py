"""Money and memory: price tables, the budget of a run, and judgements kept on disk."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fakes.anthropic_server import AnthropicServer
from fakes.loopback import Hang, Status
from llm.conftest import CLAIM, TEXT, answer, judged

from litrag.config import Settings
from litrag.errors import BudgetExceededError, InputError, StoreError
from litrag.llm import open_llm_generator, open_llm_judge
from litrag.llm.budget import Budget, spending, within_budget
from litrag.llm.cache import JudgementCache
from litrag.llm.prices import Price, Usage, price_of
from litrag.llm.specs import endpoint
from litrag.models import Hit, Judgement, Record, Verdict

SONNET = "anthropic:claude-sonnet-4-6"


# --- prices
def test_cached_tokens_cost_what_the_table_says() -> None:
    price = Price(input=3.0, output=15.0, cache_read=0.3, cache_write=3.75)
    usage = Usage(fresh=100_000, cache_read=1_000_000, cache_write=200_000, output=10_000)
    assert price.cost(usage) == pytest.approx(0.3 + 0.3 + 0.75 + 0.15)
    assert usage.input == 1_300_000


def test_the_users_table_replaces_and_adds_prices(settings_for: Callable[..., Settings], tmp_path: Path) -> None:
    (tmp_path / "prices.toml").write_text(
        '["anthropic:claude-sonnet-4-6"]\ninput = 1\noutput = 2\n["server:mine"]\ninput = 0.5\noutput = 0.5\n')
    settings = settings_for()
    assert price_of(endpoint(SONNET, settings), settings) == Price(1.0, 2.0, 1.0, 1.0)
    assert price_of(endpoint("server:mine", settings), settings) == Price(0.5, 0.5, 0.5, 0.5)
    haiku = price_of(endpoint("anthropic:claude-haiku-4-5-20251001", settings), settings)
    assert haiku == Price(1.0, 5.0, 0.1, 1.25), "a dated id is the model it is a date of"


def test_a_server_of_ones_own_costs_nothing(settings_for: Callable[..., Settings]) -> None:
    settings = settings_for()
    assert price_of(endpoint("server:llama3.1:8b", settings), settings) is None


def test_a_commercial_model_without_a_price_needs_one_as_soon_as_there_is_a_budget(
    settings_for: Callable[..., Settings]
) -> None:
    settings = settings_for()
    with pytest.raises(InputError, match=r"no price is known for 'openai:gpt-9'.*prices.toml.*LITRAG_BUDGET_USD"):
        price_of(endpoint("openai:gpt-9", settings), settings)
    free = settings_for(budget_usd=None)
    assert price_of(endpoint("openai:gpt-9", free), free) is None


@pytest.mark.parametrize("content", ["not toml", '["a:b"]\ninput = "much"', '["a:b"]\noutput = 1', "a = 1"])
def test_a_broken_price_table_names_its_file(
    settings_for: Callable[..., Settings], tmp_path: Path, content: str
) -> None:
    (tmp_path / "prices.toml").write_text(content)
    settings = settings_for()
    with pytest.raises(InputError, match=r"prices\.toml"):
        price_of(endpoint(SONNET, settings), settings)


def test_a_price_file_that_doesnt_exist_is_an_error(settings_for: Callable[..., Settings], tmp_path: Path) -> None:
    settings = settings_for(price_file=tmp_path / "mine.toml")
    with pytest.raises(InputError, match="LITRAG_PRICE_FILE"):
        price_of(endpoint(SONNET, settings), settings)


# --- budget
def test_a_budget_refuses_what_could_exceed_it_and_says_how_much_is_left() -> None:
    budget = Budget(0.10)
    budget.set_aside(0.06)
    budget.book(0.06, 0.05)
    with pytest.raises(BudgetExceededError, match=r"\$0\.0500 is spent.*LITRAG_BUDGET_USD"):
        budget.set_aside(0.06)
    budget.set_aside(0.05)


def test_a_call_waits_for_those_under_way_before_it_is_refused() -> None:
    budget = Budget(0.10)
    budget.set_aside(0.08)
    threading.Timer(0.05, lambda: budget.book(0.08, 0.001)).start()
    budget.set_aside(0.08)
    assert budget.spent == 0.001


def test_writing_and_judging_share_the_budget_of_a_run(
    claude: AnthropicServer, settings_for: Callable[..., Settings], hits: list[Hit], record: Record
) -> None:
    settings = settings_for(claude, budget_usd=100.0)
    from fakes.anthropic_server import says

    with spending(0.20) as budget:
        claude.reply = says(answer(("A claim.", "p1", "a quote")), output_tokens=8000)
        draft = open_llm_generator(SONNET, settings).generate("Why?", hits, {"r1": record})
        claude.reply = judged()
        judgements = open_llm_judge(SONNET, settings).judge_many([(f"Claim {n}.", TEXT, None) for n in range(30)])
    assert draft.cost_usd is not None
    assert draft.cost_usd > 0.12
    refused = [j for j in judgements if j.verdict is None]
    assert refused
    assert all("LITRAG_BUDGET_USD" in (j.unjudged_reason or "") for j in refused)
    assert budget.spent <= 0.20
    total = draft.cost_usd + sum(j.cost_usd or 0.0 for j in judgements)
    assert budget.spent == pytest.approx(total)


def test_no_call_is_made_that_could_pass_the_budget(
    claude: AnthropicServer, settings_for: Callable[..., Settings], hits: list[Hit], record: Record
) -> None:
    settings = settings_for(claude, budget_usd=0.01)
    with pytest.raises(BudgetExceededError, match="LITRAG_BUDGET_USD"):
        open_llm_generator(SONNET, settings).generate("Why?", hits, {"r1": record})
    assert claude.asked == []


def test_a_call_that_may_have_been_billed_counts_in_full(
    claude: AnthropicServer, settings_for: Callable[..., Settings]
) -> None:
    claude.reply = judged()
    settings = settings_for(claude, llm_timeout=0.3)
    judge = open_llm_judge(SONNET, settings)
    with spending(None) as refused_first:
        claude.faults.append(Status(529))
        judge.judge(CLAIM, TEXT)
    with spending(None) as timed_out_first:
        claude.faults.append(Hang(0.6))
        judge.judge("Another claim.", TEXT)
    assert refused_first.spent < 0.01
    assert timed_out_first.spent > 0.03


def test_a_decorated_run_has_one_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("litrag.llm.budget.settings", lambda: Settings(_env_file=None, budget_usd=0.5))
    from litrag.llm.budget import current_budget

    @within_budget
    def run() -> tuple[Budget, Budget]:
        return current_budget(9.0), current_budget(9.0)

    one, two = run()
    assert one is two
    assert one.limit == 0.5
    assert current_budget(9.0).limit == 9.0


# --- judgements kept
def test_a_claim_is_judged_once_and_costs_nothing_the_second_time(
    claude: AnthropicServer, settings_for: Callable[..., Settings]
) -> None:
    claude.reply = judged()
    first = open_llm_judge(SONNET, settings_for(claude)).judge(CLAIM, TEXT)
    again = open_llm_judge(SONNET, settings_for(claude)).judge(CLAIM, TEXT)
    assert len(claude.asked) == 1
    assert (again.verdict, again.spans, again.rationale) == (first.verdict, first.spans, first.rationale)
    assert (again.cost_usd, again.input_tokens, again.output_tokens) == (0.0, 0, 0)


@pytest.mark.parametrize("change", ["claim", "quote", "passage", "model", "temperature"])
def test_another_claim_quote_passage_or_judge_is_judged_anew(
    claude: AnthropicServer, settings_for: Callable[..., Settings], change: str
) -> None:
    claude.reply = judged()
    open_llm_judge(SONNET, settings_for(claude)).judge(CLAIM, TEXT)
    case: dict[str, Any] = {"claim": CLAIM, "passage": TEXT, "quote": None}
    if change in case:
        case[change] = "Stones recurred. " + (case[change] or "")
    spec = "anthropic:claude-haiku-4-5" if change == "model" else SONNET
    options = {"temperature": 0.5} if change == "temperature" else {}
    open_llm_judge(spec, settings_for(claude, **options)).judge(**case)
    assert len(claude.asked) == 2


def test_a_new_version_of_the_rubric_is_judged_anew(
    claude: AnthropicServer, settings_for: Callable[..., Settings], monkeypatch: pytest.MonkeyPatch
) -> None:
    claude.reply = judged()
    open_llm_judge(SONNET, settings_for(claude)).judge(CLAIM, TEXT)
    monkeypatch.setattr("litrag.llm.judges.LLMJudge.version", "judge-next")
    assert open_llm_judge(SONNET, settings_for(claude)).judge(CLAIM, TEXT).version == "judge-next"
    assert len(claude.asked) == 2


def test_only_verdicts_are_kept(tmp_path: Path) -> None:
    cache = JudgementCache(tmp_path / "judgements.db")
    cache.put("a", Judgement.unjudged("the server was down"))
    cache.put("b", Judgement(verdict=Verdict.PARTIAL))
    assert cache.get("a") is None
    kept = cache.get("b")
    assert kept is not None
    assert kept.verdict is Verdict.PARTIAL


def test_a_broken_cache_names_its_file_and_the_remedy(tmp_path: Path) -> None:
    path = tmp_path / "judgements.db"
    path.write_text("this is no database, whatever its name says" * 50)
    with pytest.raises(StoreError, match=r"judgements\.db.*delete the file"):
        JudgementCache(path).get("a")


def test_no_key_is_written_to_the_cache(
    claude: AnthropicServer, settings_for: Callable[..., Settings], tmp_path: Path
) -> None:
    claude.reply = judged()
    open_llm_judge(SONNET, settings_for(claude)).judge(CLAIM, TEXT)
    written = b"".join(path.read_bytes() for path in tmp_path.iterdir() if path.is_file())
    assert b"The trial says so." in written
    assert b"sk-ant" not in written
