"""Loopback servers, settings that point at them, and a small corpus of one passage or two."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fakes import anthropic_server, openai_server
from fakes.anthropic_server import AnthropicServer
from fakes.openai_server import OpenAIServer

from litrag.config import Settings
from litrag.models import Hit, Record

TEXT = (
    "BACKGROUND: Kidney stones are common. We aimed to test whether drug Z prevents them. "
    "RESULTS: Among 412 adults, stones recurred in 12.1% with drug Z and in 19.4% with placebo "
    "(hazard ratio 0.62; 95% CI 0.41 to 0.93) at 24 months. Quality of life didn't differ."
)
CLAIM = "Drug Z lowered the recurrence of kidney stones."
PHRASE = "stones recurred in 12.1% with drug Z and in 19.4% with placebo"


@pytest.fixture
def claude() -> Iterator[AnthropicServer]:
    with AnthropicServer() as server:
        yield server


@pytest.fixture
def gpt() -> Iterator[OpenAIServer]:
    with OpenAIServer() as server:
        yield server


@pytest.fixture
def own_server() -> Iterator[OpenAIServer]:
    with OpenAIServer(compatible=True) as server:
        yield server


@pytest.fixture
def settings_for(tmp_path: Path) -> Callable[..., Settings]:
    """Settings with test keys and short waits; `claude=`, `gpt=`, `own=` name the servers to call."""

    def make(
        claude: AnthropicServer | None = None, gpt: OpenAIServer | None = None, own: OpenAIServer | None = None,
        **options: Any,
    ) -> Settings:
        nowhere = "http://127.0.0.1:9"
        return Settings(_env_file=None, **{
            "home": tmp_path, "anthropic_api_key": anthropic_server.KEY, "openai_api_key": openai_server.KEY,
            "anthropic_url": claude.url if claude else nowhere, "openai_url": gpt.url if gpt else nowhere,
            "server_url": own.url if own else nowhere, "llm_first_wait": 0.01, "llm_longest_wait": 0.5,
            "llm_timeout": 2.0, **options,
        })

    return make


def verdict(value: str = "supports", phrase: str = PHRASE, **fields: Any) -> dict[str, Any]:
    """The arguments of a judge's reply."""
    return {"deciding_phrase": phrase, "rationale": "The trial says so.", "verdict": value, "confidence": 0.9, **fields}


def judged(value: str = "supports", phrase: str = PHRASE, **fields: Any) -> anthropic_server.Reply:
    return anthropic_server.calls("record_judgement", verdict(value, phrase, **fields))


def answer(*statements: tuple[str, str, str], missing: tuple[str, ...] = ()) -> str:
    """A generator's reply in JSON: (text, passage id, quote) each, or nothing and what is missing."""
    return json.dumps({
        "insufficient_evidence": not statements, "missing": list(missing),
        "statements": [{"text": text, "citations": [{"passage_id": p, "quote": q}]} for text, p, q in statements],
    }, ensure_ascii=False)


@pytest.fixture
def record() -> Record:
    return Record(record_id="r1", pmid="101", title="Drug Z and stones", study="STONE-1", text=TEXT)


@pytest.fixture
def hits(record: Record) -> list[Hit]:
    return [Hit(passage=record.as_passage(), score=0.9)]
