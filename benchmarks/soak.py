"""Soak of the LLM side: many answers at once against a loopback server that fails every fifth request.

    python -m benchmarks.soak [--answers 300] [--faults 0.2] [--at-once 8] [--markdown docs/benchmarks/soak.md]

Prints what became of every answer and claim, and exits with 1 unless: every claim ended judged or unjudged with a
reason, none was lost or doubled, calls stayed within 1.3 times the fault-free number, and no run passed its budget
by the server's own books.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from fakes import anthropic_server as claude
from fakes.loopback import Cut, Drop, ErrorEvent, Fault, Hang, Status

from litrag.config import Settings
from litrag.errors import BudgetExceededError, GenerationError
from litrag.grounding import ClaimInput, ground_claims
from litrag.llm import open_llm_generator, open_llm_judge
from litrag.llm.budget import spending
from litrag.llm.prices import Usage, price_of
from litrag.llm.specs import endpoint
from litrag.models import AuditedClaim, Hit, Record

SPEC = "anthropic:claude-sonnet-4-6"
CLAIMS = 4

#: Every third answer has little money and a model that writes at length, so that the budget is met.
WIDE, TIGHT = 1.0, 0.15
LONG, SHORT = 7000, 300

#: Faults of the transport and of what the model says, and how often each occurs among them.
TRANSPORT: list[tuple[Fault, int]] = [
    (Status(529, "overloaded_error"), 3), (Status(429, "rate_limit_error", headers={"retry-after": "0.05"}), 3),
    (Status(500), 2), (Status(408), 1), (Status(409), 1), (Drop(), 2), (Cut(4), 1), (Cut(4, reset=False), 1),
    (ErrorEvent(4), 1), (Hang(0.8), 1),
]
SAID = ["refusal", "cut", "off menu", "empty call"]
SAID_SHARE = 0.2


def record(number: int) -> Record:
    findings = " ".join(
        f"Outcome {n} fell by {number % 40 + n}.{n}% in study {number}." for n in range(1, CLAIMS + 1))
    return Record(record_id=f"r{number}", title=f"Study {number}", text=f"RESULTS: {findings}")


def quote(number: int, n: int) -> str:
    return f"Outcome {n} fell by {number % 40 + n}.{n}% in study {number}."


@dataclass
class Books:
    """The server's side: who was charged what, and what it was made to say."""

    faulty: float
    seed: int
    cost: Counter[int] = field(default_factory=Counter)
    injected: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)
        self._lock = threading.Lock()
        self._price = price_of(endpoint(SPEC, settings("http://127.0.0.1:9", Path("."))), Settings(_env_file=None))

    def fault(self, number: int, body: dict[str, Any]) -> Fault | None:
        with self._lock:
            if self._random.random() >= self.faulty * (1 - SAID_SHARE):
                return None
            faults, weights = zip(*TRANSPORT, strict=True)
            fault = self._random.choices(faults, weights)[0]
            self.injected[type(fault).__name__ + str(getattr(fault, "code", ""))] += 1
            return fault

    def reply(self, body: dict[str, Any]) -> claude.Reply:
        with self._lock:
            odd = self._random.random() < self.faulty * SAID_SHARE
            said = self._random.choice(SAID) if odd else ""
            if odd:
                self.injected[said] += 1
        if said == "refusal":
            return claude.refuses()
        number = int(re.findall(r"study (\d+)", json.dumps(body["messages"]))[0])
        reply = self._judgement(body) if "tools" in body else self._answer(number)
        if said == "cut":
            reply.stop_reason = "max_tokens"
        elif said == "off menu":
            reply = claude.calls("record_judgement", {"verdict": "perhaps"}) if "tools" in body else claude.says("Hm.")
        elif said == "empty call":
            reply = claude.calls("record_judgement", {}) if "tools" in body else claude.Reply([])
        return reply

    @staticmethod
    def _answer(number: int) -> claude.Reply:
        statements = [{"text": f"In study {number}, outcome {n} fell by {number % 40 + n}.{n}%.",
                       "citations": [{"passage_id": "p1", "quote": quote(number, n)}]} for n in range(1, CLAIMS + 1)]
        written = json.dumps({"insufficient_evidence": False, "missing": [], "statements": statements})
        return claude.says(written, output_tokens=LONG if number % 3 == 0 else SHORT)

    @staticmethod
    def _judgement(body: dict[str, Any]) -> claude.Reply:
        text = body["messages"][0]["content"][1]["text"]
        n, number = re.findall(r"study (\d+), outcome (\d+)", text)[0][::-1]
        return claude.calls("record_judgement", {
            "deciding_phrase": quote(int(number), int(n)), "rationale": "It says so.", "verdict": "supports",
            "confidence": 0.9})

    def charge(self, body: dict[str, Any], usage: dict[str, int]) -> None:
        """Book an answer that was produced, whether or not it arrived."""
        number = int(re.findall(r"study (\d+)", json.dumps(body["messages"]))[0])
        tokens = Usage(usage["input_tokens"], usage["cache_read_input_tokens"], usage["cache_creation_input_tokens"],
                       usage["output_tokens"])
        with self._lock:
            self.cost[number] += self._price.cost(tokens) if self._price else 0.0


class Server(claude.AnthropicServer):
    """Charges for every answer that it produces."""

    def __init__(self, books: Books) -> None:
        super().__init__(books.reply)
        self.books = books
        self.fault_for = books.fault
        self.delay = 0.03

    def answer(self, asked: Any) -> dict[str, Any]:
        body = super().answer(asked)
        self.books.charge(asked.body, body["usage"])
        return body


def settings(url: str, home: Path) -> Settings:
    return Settings(
        _env_file=None, anthropic_api_key=claude.KEY, anthropic_url=url, home=home, llm_first_wait=0.02,
        llm_longest_wait=1.0, llm_timeout=0.5, llm_retries=4, llm_concurrency=8,
    )


@dataclass
class Outcome:
    """What became of one answer."""

    number: int
    budget: float
    claims: list[AuditedClaim] = field(default_factory=list)
    failed: str = ""


def one_answer(number: int, generator: Any, judge: Any) -> Outcome:
    source = record(number)
    outcome = Outcome(number, TIGHT if number % 3 == 0 else WIDE)
    with spending(outcome.budget):
        try:
            draft = generator.generate(
                f"What fell in study {number}?", [Hit(passage=source.as_passage(), score=1.0)], {source.record_id: source})
        except (GenerationError, BudgetExceededError) as error:
            outcome.failed = str(error)
            return outcome
        items = [ClaimInput(claim_id=f"c{n}", text=s.text, citations=tuple((source.record_id, c.quote) for c in s.citations))
                 for n, s in enumerate(draft.statements, start=1)]
        outcome.claims = ground_claims(items, {source.record_id: source}, judge)
    return outcome


def run(answers: int, faulty: float, seed: int, at_once: int) -> tuple[list[Outcome], Server, float]:
    """All answers against one server; outcomes in order, the server with its books, and seconds."""
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as home, Server(Books(faulty, seed)) as server:
        options = settings(server.url, Path(home))
        generator, judge = open_llm_generator(SPEC, options), open_llm_judge(SPEC, options)
        with ThreadPoolExecutor(at_once) as pool:
            outcomes = list(pool.map(lambda n: one_answer(n, generator, judge), range(1, answers + 1)))
    return outcomes, server, time.perf_counter() - started


def problems(outcomes: list[Outcome], server: Server, fault_free_calls: int) -> list[str]:
    """Everything that breaks a promise; empty when all are kept."""
    found = []
    for outcome in outcomes:
        ids = [claim.claim_id for claim in outcome.claims]
        if not outcome.failed and ids != [f"c{n}" for n in range(1, CLAIMS + 1)]:
            found.append(f"answer {outcome.number} has claims {ids}")
        found += [f"answer {outcome.number} {claim.claim_id} has neither verdict nor reason" for claim in outcome.claims
                  if len(claim.citations) != 1 or not (claim.verdict or claim.citations[0].judgement.unjudged_reason)]
        if server.books.cost[outcome.number] > outcome.budget:
            found.append(f"answer {outcome.number} cost ${server.books.cost[outcome.number]:.4f} of ${outcome.budget}")
    if len(server.asked) > 1.3 * fault_free_calls:
        found.append(f"{len(server.asked)} calls are more than 1.3 × {fault_free_calls}")
    if server.rejected:
        found.append(f"{len(server.rejected)} requests were off the format: {server.rejected[0]}")
    return found


def report(outcomes: list[Outcome], server: Server, fault_free_calls: int, seconds: float) -> str:
    """What happened, as a Markdown table."""
    claims = [claim for outcome in outcomes for claim in outcome.claims]
    reasons = [c.citations[0].judgement.unjudged_reason or "" for c in claims if c.state == "unjudged"]
    over = sum("LITRAG_BUDGET_USD" in reason for reason in reasons)
    failed = sum(bool(outcome.failed) for outcome in outcomes)
    injected, calls = sum(server.books.injected.values()), len(server.asked)
    most = max(server.books.cost[o.number] / o.budget for o in outcomes)
    kinds = ", ".join(f"{name} {count}" for name, count in sorted(server.books.injected.items()))
    rows = {
        "answers": f"{len(outcomes)}, {failed} of them failed with a reason",
        "claims": f"{len(claims)} = {len(outcomes) - failed} answers × {CLAIMS}",
        "judged": f"{len(claims) - len(reasons)}",
        "unjudged with a reason": f"{len(reasons)}, {over} of them for want of budget",
        "requests that failed on purpose": f"{injected} of {calls} ({injected / calls:.1%}): {kinds}",
        "calls": f"{calls}; {fault_free_calls} without faults; ratio {calls / fault_free_calls:.3f}",
        "cost by the server's books": f"${sum(server.books.cost.values()):.2f}; dearest run at {most:.1%} of its budget",
        "requests under way at once": f"{server.busiest} at most, those that the client had given up included",
        "seconds": f"{seconds:.0f}",
    }
    return "\n".join(["| | |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows.items())])


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--answers", type=int, default=300)
    parser.add_argument("--faults", type=float, default=0.2)
    parser.add_argument("--at-once", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--markdown", type=Path)
    options = parser.parse_args()
    _, calm, _ = run(options.answers, 0.0, options.seed, options.at_once)
    outcomes, server, seconds = run(options.answers, options.faults, options.seed, options.at_once)
    table = report(outcomes, server, len(calm.asked), seconds)
    print(table)
    if options.markdown:
        options.markdown.parent.mkdir(parents=True, exist_ok=True)
        command = f"python -m benchmarks.soak --answers {options.answers} --faults {options.faults}"
        said = "Claude's client against a loopback server that fails on purpose; no model is called."
        options.markdown.write_text(
            f"## Soak of the LLM side\n\n`{command} --at-once {options.at_once}`: {said}\n\n{table}\n", encoding="utf-8")
    broken = problems(outcomes, server, len(calm.asked))
    for problem in broken[:20]:
        print(f"BROKEN: {problem}")
    print("all promises kept" if not broken else f"{len(broken)} promises broken")
    return 1 if broken else 0


if __name__ == "__main__":
    raise SystemExit(main())
