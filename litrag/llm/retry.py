"""One call to a provider: failures are told apart, passing ones are tried again, and every try is paid for.

The clients' own retries are switched off: they know neither the budget nor the other calls under way, and wait as
long as a Retry-After asks. A failure ends as `CallError` with a message for the reader, without any key in it.
"""

from __future__ import annotations

import random
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import Any, TypeVar

from litrag.config import Settings
from litrag.llm.budget import Budget
from litrag.llm.prices import Price, Usage
from litrag.llm.specs import Endpoint, refuse_offline
from litrag.observability import ModelCalled, tell

T = TypeVar("T")

_RETRY_STATUS = frozenset({408, 409, 425, 429, 529})
_RETRY_KIND = frozenset({"overloaded_error", "rate_limit_error", "api_error", "timeout_error", "server_error"})
_KEY_LIKE = re.compile(r"\b(sk|lsv2|Bearer)[-_ ][\w*.…-]{6,}")


class CallError(Exception):
    """A call that failed for good. `setting` failures would befall every further call as well."""

    def __init__(self, message: str, *, setting: bool = False) -> None:
        super().__init__(message)
        self.setting = setting


@dataclass(frozen=True)
class Trouble:
    """What went wrong in one try; `billed` when the provider may have charged for it."""

    message: str
    again: bool = False
    wait: float | None = None
    billed: bool = False
    setting: bool = False


class Gate:
    """What all callers of one provider share: how many may call at once, and a wait that it asked one of them for."""

    def __init__(self, at_once: int) -> None:
        self.slots = threading.BoundedSemaphore(at_once)
        self._lock = threading.Lock()
        self._open_at = 0.0

    def hold(self, seconds: float) -> None:
        with self._lock:
            self._open_at = max(self._open_at, time.monotonic() + seconds)

    def wait(self) -> None:
        """Sleep until the gate is open; spread out, so that callers don't all return at once."""
        while (remaining := self._open_at - time.monotonic()) > 0:
            time.sleep(remaining * random.uniform(1.0, 1.2))


@lru_cache(maxsize=64)
def shared_gate(url: str, at_once: int) -> Gate:
    """The process's one gate to a provider."""
    return Gate(at_once)


@dataclass(frozen=True)
class Caller:
    """How calls to one model are made: where, for how much, and how patiently."""

    place: Endpoint
    settings: Settings
    price: Price | None
    gate: Gate

    def call(
        self, attempt: Callable[[], tuple[T, Usage]], *, characters: int, max_tokens: int, budget: Budget,
        again: Callable[[], bool] = lambda: True,
    ) -> tuple[T, Usage, float | None]:
        """What `attempt` returns and its cost; CallError when it fails for good.

        `again` says whether a further try is still possible; after text has reached the reader it isn't.
        Raises OfflineError or BudgetExceededError before a socket is opened.
        """
        refuse_offline(self.place, self.settings)
        tries = 0
        while True:
            self.gate.wait()
            aside = self.price.most(characters, max_tokens) if self.price else 0.0
            budget.set_aside(aside)
            cost, trouble = 0.0, None
            started = time.perf_counter()
            try:
                with self.gate.slots:
                    value, usage = attempt()
                cost = self.price.cost(usage) if self.price else 0.0
                self._tell(started, usage, cost if self.price else None)
                return value, usage, cost if self.price else None
            except self.errors() as error:
                trouble = diagnose(error, self.place)
                cost = aside if trouble.billed else 0.0
                self._tell(started, Usage(), None, type(error).__name__)
            finally:
                budget.book(aside, cost)
            tries += 1
            self._pause_or_raise(trouble, tries, again())

    def _tell(self, started: float, usage: Usage, cost: float | None, error: str = "") -> None:
        tell(ModelCalled(
            self.place.provider, self.place.model, time.perf_counter() - started, usage.input, usage.cache_read,
            usage.output, cost, error,
        ))

    def _pause_or_raise(self, trouble: Trouble, tries: int, possible: bool) -> None:
        settings = self.settings
        if not trouble.again or not possible or tries > settings.llm_retries:
            times = f" (tried {tries} times)" if tries > 1 else ""
            raise CallError(scrubbed(f"{trouble.message}{times}", self.place), setting=trouble.setting)
        wait = min(settings.llm_first_wait * 2 ** (tries - 1), settings.llm_longest_wait)
        wait *= random.uniform(0.75, 1.0)
        if trouble.wait is not None:
            if trouble.wait > settings.llm_longest_wait:
                raise CallError(scrubbed(
                    f"{trouble.message}; it asks to wait {trouble.wait:.0f} s, longer than "
                    f"LITRAG_LLM_LONGEST_WAIT ({settings.llm_longest_wait:g} s)", self.place,
                ))
            wait = max(wait, trouble.wait)
            self.gate.hold(wait)
        else:
            time.sleep(wait)

    def errors(self) -> tuple[type[Exception], ...]:
        """Exceptions of the provider's client; ValueError and the like are how clients tell of a bad reply."""
        if self.place.anthropic:
            import anthropic
            import httpx2

            return (anthropic.AnthropicError, httpx2.HTTPError, *_MALFORMED)
        import httpx
        import httpx2
        import openai
        from langchain_core.exceptions import LangChainException

        return (openai.OpenAIError, httpx.HTTPError, httpx2.HTTPError, LangChainException, *_MALFORMED)


_MALFORMED = (ValueError, KeyError, TypeError)


def diagnose(error: Exception, place: Endpoint) -> Trouble:
    """What an exception of a client means for the reader and for the next try."""
    status = getattr(error, "status_code", None)
    kind = str(getattr(error, "type", None) or getattr(error, "code", None) or "")
    name = type(error).__name__
    if isinstance(status, int):
        return _status_trouble(status, kind, error, place)
    if "Timeout" in name or isinstance(error.__cause__, TimeoutError) or "Timeout" in type(error.__cause__).__name__:
        return Trouble(f"{place.host} didn't answer in time (LITRAG_LLM_TIMEOUT)", again=True, billed=True)
    if _is_connection_error(error):
        sent = "Connect" not in type(error.__cause__).__name__
        return Trouble(f"the connection to {place.host} broke off or couldn't be made; check {place.url_setting}",
                       again=True, billed=sent)
    if name == "LengthFinishReasonError":
        return Trouble("the reply was cut at the token limit", billed=True)
    if name == "ContentFilterFinishReasonError" or "Refusal" in name:
        return Trouble(f"{place.model} declined: {_short(error)}", billed=True)
    if kind in _RETRY_KIND:
        return Trouble(f"{place.host} reported {kind}", again=True, billed=True)
    return Trouble(f"{place.host} sent something that isn't a reply: {_short(error)}", billed=True)


def _status_trouble(status: int, kind: str, error: Exception, place: Endpoint) -> Trouble:
    response = getattr(error, "response", None)
    headers = getattr(response, "headers", {})
    said = _said(error)
    if status == 200:
        return Trouble(f"{place.host} broke off with {kind or 'an error'}", again=kind in _RETRY_KIND, billed=True)
    if status == 401:
        return Trouble(f"{place.host} refused the key: check {place.key_setting}", setting=True)
    if status == 403:
        return Trouble(f"the key in {place.key_setting} may not use {place.model}: {said}", setting=True)
    if status == 404:
        return Trouble(f"{place.host} knows no model {place.model!r}: check LITRAG_GENERATOR and LITRAG_JUDGE "
                       f"(and {place.url_setting}): {said}", setting=True)
    if status == 402 or "credit balance" in said or kind == "insufficient_quota" or "spend limit" in said:
        return Trouble(f"the account behind {place.key_setting} has no credit left: {said}", setting=True)
    if status in _RETRY_STATUS or status >= 500:
        again = headers.get("x-should-retry") != "false"
        return Trouble(f"{place.host} answered {status} ({kind or said})", again=again, wait=retry_after(headers))
    return Trouble(f"{place.host} rejected the request ({status}): {said}")


def retry_after(headers: Any) -> float | None:
    """Seconds that a response asks to wait, from milliseconds, seconds or a date."""
    if milliseconds := headers.get("retry-after-ms"):
        return _number(milliseconds, scale=0.001)
    asked = headers.get("retry-after")
    if not asked:
        return None
    if (seconds := _number(asked)) is not None:
        return seconds
    try:
        return max((parsedate_to_datetime(asked) - datetime.now(UTC)).total_seconds(), 0.0)
    except (ValueError, TypeError):
        return None


def _number(text: str, scale: float = 1.0) -> float | None:
    try:
        return max(float(text) * scale, 0.0)
    except ValueError:
        return None


def _is_connection_error(error: Exception) -> bool:
    """Whether the transport failed: by the client's own class, or by httpx's when it broke off in a stream."""
    names = {kind.__name__ for kind in type(error).__mro__}
    return bool(names & {"APIConnectionError", "TransportError", "StreamError"})


def _said(error: Exception) -> str:
    body = getattr(error, "body", None)
    inner = body.get("error", body) if isinstance(body, dict) else None
    message = inner.get("message") if isinstance(inner, dict) else None
    return _clip(str(message)) if message else _short(error)


def _short(error: Exception) -> str:
    return _clip(str(error) or type(error).__name__)


def _clip(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 200 else f"{line[:200]}…"


def scrubbed(text: str, place: Endpoint) -> str:
    """`text` without the key, anything that looks like one, or a password from the URL."""
    for secret in place.secrets:
        text = text.replace(secret, "…")
    return _KEY_LIKE.sub("…", text)
