"""Writing and judging by language models: Claude, OpenAI and OpenAI-compatible servers.

`open_llm_generator` and `open_llm_judge` turn a name into an opened model; no provider's package is imported
before. Nothing is called while the offline switch is on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from litrag.config import Settings
from litrag.errors import InputError
from litrag.llm.specs import endpoint, parse_spec

if TYPE_CHECKING:
    from litrag.generate import Generator
    from litrag.llm.judges import LLMJudge
    from litrag.llm.retry import Caller
    from litrag.models import Judge

#: Temperature of votes by one and the same judge, which would otherwise all be alike.
VOTE_TEMPERATURE = 0.7
MAX_VOTES = 9


def open_llm_generator(spec: str, settings: Settings) -> Generator:
    """`anthropic:<model>`, `anthropic-citations:<model>`, `openai:<model>` or `server:<model>`."""
    from litrag.llm.generators import CitationsGenerator, StructuredGenerator

    caller = _caller(spec, settings)
    if caller.place.provider == "anthropic-citations":
        return CitationsGenerator(caller)
    return StructuredGenerator(caller)


def open_llm_judge(spec: str, settings: Settings) -> Judge:
    """A single judge, `a+b` for a panel, `a*3` for three votes of one, `a>b` for a second opinion where unsure."""
    from litrag.llm.panel import Escalation, Panel

    first, escalates, second = spec.partition(">")
    if escalates:
        return Escalation(_member(first, settings), open_llm_judge(second.strip(), settings),
                          below=settings.escalate_below)
    members = [judge for part in spec.split("+") for judge in _voters(part.strip(), settings)]
    return members[0] if len(members) == 1 else Panel(members, judge_id=spec)


def _voters(part: str, settings: Settings) -> list[Judge]:
    name, starred, count = part.partition("*")
    if not starred:
        return [_member(name, settings)]
    if not count.strip().isdigit() or not 2 <= int(count) <= MAX_VOTES:
        raise InputError(f"{part!r} asks for {count.strip() or 'no'} votes; use 2 to {MAX_VOTES}, as in '{name}*3'")
    return [_llm_judge(name.strip(), settings, VOTE_TEMPERATURE, vote) for vote in range(1, int(count) + 1)]


def _member(spec: str, settings: Settings) -> Judge:
    spec = spec.strip()
    if ":" not in spec or spec.startswith("hf:"):
        from litrag.judges import open_judge

        return open_judge(spec)
    return _llm_judge(spec, settings, settings.temperature)


def _llm_judge(spec: str, settings: Settings, temperature: float, vote: int = 0) -> LLMJudge:
    from litrag.llm.cache import JudgementCache
    from litrag.llm.judges import AnthropicJudge, ChatJudge

    provider, _ = parse_spec(spec)
    if provider == "anthropic-citations":
        raise InputError(f"{spec!r} writes answers; as a judge use 'anthropic:<model>'")
    kind = AnthropicJudge if provider == "anthropic" else ChatJudge
    cache = JudgementCache(settings.judgement_cache)
    return kind(_caller(spec, settings), cache, temperature=temperature, vote=vote)


def _caller(spec: str, settings: Settings) -> Caller:
    from litrag.llm.prices import price_of
    from litrag.llm.retry import Caller, shared_gate

    place = endpoint(spec, settings)
    return Caller(place, settings, price_of(place, settings), shared_gate(place.url, settings.llm_concurrency))
