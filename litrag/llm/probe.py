"""Testing a connection: a model's name goes in, whether it can be called and what is wrong if not comes out.

Asks for the list of models only, which costs nothing and sends no text.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

from litrag.config import Settings
from litrag.errors import LitRAGError
from litrag.llm.budget import Budget
from litrag.llm.prices import Usage
from litrag.llm.retry import Caller, CallError, Gate
from litrag.llm.specs import Endpoint, endpoint

#: A person waits for this answer.
TIMEOUT = 10.0


@dataclass(frozen=True)
class Probe:
    """What a test of a connection found, in words for the reader."""

    ok: bool
    message: str
    seconds: float = 0.0


def probe(spec: str, settings: Settings) -> Probe:
    """Whether `spec` can be called with these settings."""
    started = perf_counter()
    quick = settings.model_copy(update={"llm_timeout": min(settings.llm_timeout, TIMEOUT), "llm_retries": 0})
    try:
        place = endpoint(spec, quick)
        known = _call(place, quick)
    except (LitRAGError, CallError) as error:
        return Probe(False, str(error), perf_counter() - started)
    seconds = perf_counter() - started
    if not known:
        return Probe(False, f"{place.host} answers, but doesn't list {place.model!r} among its models", seconds)
    return Probe(True, f"{place.host} answers and knows {place.model}", seconds)


def _call(place: Endpoint, settings: Settings) -> bool:
    caller = Caller(place, settings, None, Gate(1))
    look = _known_to_claude if place.anthropic else _listed
    known, _, _ = caller.call(
        lambda: (look(place, settings), Usage()), characters=0, max_tokens=0, budget=Budget(None),
    )
    return known


def _known_to_claude(place: Endpoint, settings: Settings) -> bool:
    from anthropic import Anthropic

    key = place.key.get_secret_value() if place.key else None
    client = Anthropic(api_key=key, base_url=place.url, max_retries=0, timeout=settings.llm_timeout)
    client.models.retrieve(place.model)
    return True


def _listed(place: Endpoint, settings: Settings) -> bool:
    from openai import OpenAI

    key = place.key.get_secret_value() if place.key else "none"
    client = OpenAI(api_key=key, base_url=place.url, max_retries=0, timeout=settings.llm_timeout)
    return any(model.id == place.model for model in client.models.list())
