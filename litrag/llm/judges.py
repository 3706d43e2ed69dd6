"""Judging by an LLM: claims and passages go in, judgements come out, in order and one for each.

`AnthropicJudge` speaks to Claude with the raw client: a forced tool (or a JSON schema where the model refuses to be
forced) and cache marks, so that further claims on one passage read it from the prompt cache. `ChatJudge` puts the
same rubric to any LangChain chat model. Whatever fails ends as *unjudged* with its reason, for that claim alone;
a failure that would befall all claims is met once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

from litrag.checks import check_claim
from litrag.errors import BudgetExceededError
from litrag.llm.budget import Budget, current_budget
from litrag.llm.cache import JudgementCache
from litrag.llm.capabilities import SAMPLING_VERSION, takes_forced_tool, takes_temperature
from litrag.llm.chat import Unusable, asking_for, open_chat_model, reply_of, system_prompt, usage_of
from litrag.llm.prices import Usage
from litrag.llm.replies import read_reply
from litrag.llm.retry import Caller, CallError
from litrag.models import Judgement, Passage, Verdict
from litrag.profiles import Example, examples_id, open_history
from litrag.prompts import (
    JUDGE_SYSTEM,
    JUDGE_TOOL,
    JUDGE_TOOL_DESCRIPTION,
    JUDGE_VERSION,
    JudgeReply,
    judge_claim,
    judge_passage,
    judge_rubric,
)

if TYPE_CHECKING:
    from anthropic.types import Message
    from langchain_core.messages import AIMessage

Pair = tuple[str, str | Passage, str | None]
_EPHEMERAL = {"type": "ephemeral"}
_LIMIT = "LITRAG_JUDGE_MAX_TOKENS"


@dataclass(frozen=True)
class _Case:
    """One question to the judge, without the object it came in."""

    claim: str
    passage: str
    quote: str | None


class LLMJudge(ABC):
    """What both judges share: the cache, the order of calls, and how a failure becomes a state."""

    def __init__(self, caller: Caller, cache: JudgementCache, *, temperature: float, vote: int = 0) -> None:
        self._caller = caller
        self._cache = cache
        self._temperature = temperature
        self._vote = vote
        self._warm: set[str] = set()
        self._history = open_history()
        self._examples: tuple[Example, ...] = self._history.examples_for(caller.place.spec)

    @property
    def judge_id(self) -> str:
        return self._caller.place.spec

    @property
    def version(self) -> str:
        """Version of the rubric, and of the examples that reviewers approved for this judge."""
        return f"{JUDGE_VERSION}+{examples_id(self._examples)}" if self._examples else JUDGE_VERSION

    @property
    def rubric(self) -> str:
        return judge_rubric([(e.claim, e.passage, e.verdict) for e in self._examples])

    @abstractmethod
    def _ask(self, case: _Case) -> tuple[Any, Usage]:
        """Put one case to the model, once: its message and what it used."""

    @abstractmethod
    def _reply(self, message: Any) -> str | dict[str, Any] | Unusable:
        """What a message says: arguments or text, or why it is no reply."""

    def judge(self, claim: str, passage: str | Passage, quote: str | None = None) -> Judgement:
        """Judge one claim; see `judge_many`."""
        return self.judge_many([(claim, passage, quote)])[0]

    def judge_many(self, pairs: Sequence[Pair]) -> list[Judgement]:
        """Judge claims at the same time, the same question once; spans index the passage's text.

        Claims on a passage that wasn't sent before wait for one of them, so that they find it in the prompt cache.
        """
        self._examples = self._history.examples_for(self.judge_id)
        cases = [_Case(c, p.text if isinstance(p, Passage) else p, q) for c, p, q in pairs]
        run = _Run(current_budget(self._caller.settings.budget_usd))
        done: dict[_Case, Judgement] = {}
        for wave in self._waves(list(dict.fromkeys(cases))):
            with ThreadPoolExecutor(min(len(wave), self._caller.settings.llm_concurrency)) as pool:
                done |= dict(zip(wave, pool.map(lambda case: self._judge(case, run), wave), strict=True))
        return [done[case] for case in cases]

    def _waves(self, cases: list[_Case]) -> list[list[_Case]]:
        first: list[_Case] = []
        rest: list[_Case] = []
        for case in cases:
            (rest if case.passage in self._warm else first).append(case)
            self._warm.add(case.passage)
        return [wave for wave in (first, rest) if wave]

    def _judge(self, case: _Case, run: _Run) -> Judgement:
        if not case.claim.strip() or not case.passage.strip():
            return self._unjudged("there is no claim" if not case.claim.strip() else "there is no text")
        key = self._cache.key(
            self.judge_id, self._caller.place.url, self.version, f"{self._temperature:g}", str(self._vote),
            case.claim, case.quote, case.passage,
        )
        if (kept := self._cache.get(key)) is not None:
            return kept
        if run.stopped:
            return self._unjudged(run.stopped)
        judgement = self._call(case, run)
        self._cache.put(key, judgement)
        return judgement

    def _call(self, case: _Case, run: _Run) -> Judgement:
        started = perf_counter()
        settings = self._caller.settings
        try:
            message, usage, cost = self._caller.call(
                lambda: self._ask(case), characters=prompt_size(case.claim, case.passage, case.quote, self.rubric),
                max_tokens=settings.judge_max_tokens, budget=run.budget,
            )
        except CallError as error:
            if error.setting:
                run.stopped = str(error)
            return self._unjudged(str(error))
        except BudgetExceededError as error:
            return self._unjudged(str(error))
        reply = self._reply(message)
        if isinstance(reply, Unusable):
            judgement = Judgement.unjudged(reply.reason)
        else:
            judgement = _checked(read_reply(reply, case.claim, case.passage), case)
        return judgement.model_copy(update={**self._label(usage, cost), "seconds": perf_counter() - started})

    def _unjudged(self, reason: str) -> Judgement:
        return Judgement.unjudged(reason).model_copy(update=self._label(Usage(), None))

    def _label(self, usage: Usage, cost: float | None) -> dict[str, Any]:
        return {
            "judge": self.judge_id, "model": self._caller.place.model, "version": self.version,
            "input_tokens": usage.input, "cached_tokens": usage.cache_read, "output_tokens": usage.output,
            "cost_usd": cost,
        }


class _Run:
    """What the claims of one `judge_many` share: the budget, and a failure that ends it for all."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.stopped = ""


def prompt_size(claim: str, passage: str, quote: str | None, rubric: str = JUDGE_SYSTEM) -> int:
    """Characters (in bytes) that a case sends, for the estimate of its cost."""
    sent = (rubric, passage, claim, quote or "", str(JudgeReply.model_json_schema()))
    return sum(len(text.encode("utf-8", "surrogatepass")) for text in sent)


def _checked(judgement: Judgement, case: _Case) -> Judgement:
    """A `supports` that code can refute is unsure, with what code found."""
    if judgement.verdict is not Verdict.SUPPORTS:
        return judgement
    against = tuple(f for f in check_claim(case.claim, case.passage) if f.verdict is Verdict.CONTRADICTS)
    if not against:
        return judgement
    said = "; ".join(finding.message for finding in against)
    return judgement.model_copy(update={
        "unsure": True, "findings": against, "rationale": f"{judgement.rationale} (Code objects: {said}.)".strip(),
    })


class AnthropicJudge(LLMJudge):
    """Claude through its own client."""

    def __init__(self, caller: Caller, cache: JudgementCache, *, temperature: float, vote: int = 0) -> None:
        super().__init__(caller, cache, temperature=temperature, vote=vote)
        from anthropic import Anthropic

        place, settings = caller.place, caller.settings
        self._client = Anthropic(
            api_key=place.key.get_secret_value() if place.key else None, base_url=place.url, max_retries=0,
            timeout=settings.llm_timeout,
        )
        self._forced = takes_forced_tool(place.model)
        self._sampled = takes_temperature(place.provider, place.model)

    def _ask(self, case: _Case) -> tuple[Message, Usage]:
        from anthropic import BadRequestError

        forced, sampled = self._forced, self._sampled
        try:
            message = self._client.messages.create(**self._request(case, forced, sampled))
        except BadRequestError as error:
            if not self._learn(str(error), forced, sampled):
                raise
            return self._ask(case)
        return message, anthropic_usage(message)

    def _learn(self, said: str, forced: bool, sampled: bool) -> bool:
        """Take from a refusal what this model doesn't take; False when it says nothing of the kind."""
        if forced and "tool_choice" in said:
            self._forced = False
            return True
        if sampled and "temperature" in said:
            self._sampled = False
            return True
        return False

    def _request(self, case: _Case, forced: bool, sampled: bool) -> dict[str, Any]:
        """The request: rubric and passage first, byte for byte the same for every claim on the passage."""
        from anthropic import transform_schema

        schema = transform_schema(JudgeReply)
        request: dict[str, Any] = {
            "model": self._caller.place.model,
            "max_tokens": self._caller.settings.judge_max_tokens,
            "system": [{"type": "text", "text": self.rubric, "cache_control": _EPHEMERAL}],
            "messages": [{"role": "user", "content": [
                {"type": "text", "text": judge_passage(case.passage), "cache_control": _EPHEMERAL},
                {"type": "text", "text": judge_claim(case.claim, case.quote)},
            ]}],
        }
        if forced:
            request["tools"] = [
                {"name": JUDGE_TOOL, "description": JUDGE_TOOL_DESCRIPTION, "input_schema": schema}]
            request["tool_choice"] = {
                "type": "tool", "name": JUDGE_TOOL, "disable_parallel_tool_use": True}
        else:
            request["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
        if sampled:
            request |= {"extra_body": {"temperature": self._temperature}, "extra_headers": SAMPLING_VERSION}
        return request

    def _reply(self, message: Message) -> str | dict[str, Any] | Unusable:
        if (trouble := anthropic_trouble(message, _LIMIT)) is not None:
            return trouble
        for block in message.content:
            if block.type == "tool_use":
                arguments = block.input
                return arguments if isinstance(arguments, dict) and arguments else Unusable(
                    "the model called the tool without filling it in")
        return "".join(block.text for block in message.content if block.type == "text")


def anthropic_usage(message: Message) -> Usage:
    """Tokens of a message; Claude counts cached input apart from the rest."""
    usage = message.usage
    return Usage(usage.input_tokens, usage.cache_read_input_tokens or 0, usage.cache_creation_input_tokens or 0,
                 usage.output_tokens)


def anthropic_trouble(message: Message, limit_setting: str) -> Unusable | None:
    """Why a message of Claude's is no reply, judged by how it ended; None when it ended well."""
    match message.stop_reason:
        case "refusal":
            category = getattr(message.stop_details, "category", None)
            return Unusable(f"the model declined (refusal{f': {category}' if category else ''})")
        case "max_tokens":
            return Unusable(f"the reply was cut at the token limit; raise {limit_setting}")
        case "model_context_window_exceeded":
            return Unusable("the request and the reply don't fit the model's context")
        case None:
            return Unusable("the reply broke off before its end")
    return None


class ChatJudge(LLMJudge):
    """Any LangChain chat model, with the same rubric."""

    def __init__(self, caller: Caller, cache: JudgementCache, *, temperature: float, vote: int = 0) -> None:
        super().__init__(caller, cache, temperature=temperature, vote=vote)
        place, settings = caller.place, caller.settings
        model = open_chat_model(
            place, settings, max_tokens=settings.judge_max_tokens, temperature=temperature,
        )
        self._model = asking_for(JudgeReply, model, place, include_raw=True)

    def _ask(self, case: _Case) -> tuple[AIMessage, Usage]:
        turn = f"{judge_passage(case.passage)}\n\n{judge_claim(case.claim, case.quote)}"
        system = system_prompt(self.rubric, JudgeReply, self._caller.place)
        message: AIMessage = self._model.invoke([("system", system), ("human", turn)])["raw"]
        return message, usage_of(message)

    def _reply(self, message: AIMessage) -> str | dict[str, Any] | Unusable:
        return reply_of(message, _LIMIT)
