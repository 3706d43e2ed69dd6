"""What LangChain adds to a call: the same judgement through the raw Anthropic client and through a LangChain chat model.

    python -m benchmarks.frameworks [--calls 40] [--markdown docs/benchmarks/frameworks.md]

Both speak to a loopback server that answers at once, in turns; compared are processor seconds, that server's included.
Import times are taken in processes of their own.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from fakes import anthropic_server as claude

from litrag.config import Settings
from litrag.llm import open_llm_judge
from litrag.llm.budget import spending
from litrag.llm.cache import JudgementCache
from litrag.llm.judges import ChatJudge, LLMJudge
from litrag.llm.retry import Caller, Gate
from litrag.llm.specs import endpoint

SPEC = "anthropic:claude-sonnet-4-6"
TEXT = "RESULTS: Pain fell by 12% with drug Z and by 4% with placebo (P=0.01)."
REPLY = {"deciding_phrase": "Pain fell by 12% with drug Z", "rationale": "It says so.", "verdict": "supports", "confidence": 0.9}
MODULES = ("anthropic", "langchain_anthropic", "openai", "langchain_openai")


def reply(body: dict[str, object]) -> claude.Reply:
    """The same judgement in the form that was asked for."""
    return claude.calls("record_judgement", REPLY) if "tools" in body else claude.says(json.dumps(REPLY))


def imported(module: str) -> float:
    """Seconds that a first import takes, by the module's own process."""
    code = f"import time; t = time.process_time(); import {module}; print(time.process_time() - t)"
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True)
    return float(done.stdout)


def calls(number: int) -> dict[str, list[float]]:
    """Processor seconds per judgement by each way, in turns; every claim is new, so that nothing comes from the cache."""
    spent: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as home, claude.AnthropicServer(reply) as server:
        options = Settings(_env_file=None, home=Path(home), anthropic_api_key=claude.KEY, anthropic_url=server.url)
        raw = open_llm_judge(SPEC, options)
        caller = Caller(endpoint(SPEC, options), options, None, Gate(1))
        chat = ChatJudge(caller, JudgementCache(Path(home) / "chat.db"), temperature=0.0)
        with spending(None):
            for turn in range(number + 3):
                for name, judge in (("raw client", raw), ("LangChain", chat)):
                    assert isinstance(judge, LLMJudge)
                    started = time.process_time()
                    judgement = judge.judge(f"Claim {turn}: pain fell by 12% with drug Z.", TEXT)
                    if turn >= 3:  # the first calls open connections and compile schemas
                        spent.setdefault(name, []).append(time.process_time() - started)
                    if judgement.verdict is None:
                        raise SystemExit(f"{name} gave no verdict: {judgement.unjudged_reason}")
    return spent


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--calls", type=int, default=40)
    parser.add_argument("--markdown", type=Path)
    options = parser.parse_args()
    spent = calls(options.calls)
    rows = [f"| {name} | {1000 * median(values):.1f} ms |" for name, values in spent.items()]
    rows += [f"| import {module} | {imported(module):.1f} s |" for module in MODULES]
    table = "\n".join(["| what | processor time, median |", "|---|---|", *rows])
    print(table)
    if options.markdown:
        options.markdown.parent.mkdir(parents=True, exist_ok=True)
        options.markdown.write_text(
            f"## What LangChain adds to a call\n\n`python -m benchmarks.frameworks --calls {options.calls}`: one judgement "
            f"against a loopback server, whose own time is included in both.\n\n{table}\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
