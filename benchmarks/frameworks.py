"""LangChain and LlamaIndex beside LitRAG's own code: calls, answers, seconds, lines, imports and installed weight.

    python -m benchmarks.frameworks [--calls 40] [--rounds 3] [--markdown docs/benchmarks/frameworks.md]

The same judgement goes through the raw Anthropic client and through a LangChain chat model: both speak to a loopback
server that answers at once, in turns; compared are processor seconds, that server's included. The sample questions go
through LitRAG and through `examples/llamaindex_variant.py` (see `benchmarks.framework_answers`). Import times are taken
in processes of their own. Needs requirements-dev.txt.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from statistics import median

from packaging.requirements import Requirement

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from fakes import anthropic_server as claude

import litrag
from benchmarks import framework_answers as answers
from litrag.config import PROJECT, Settings
from litrag.llm import open_llm_judge
from litrag.llm.budget import spending
from litrag.llm.cache import JudgementCache
from litrag.llm.judges import ChatJudge, LLMJudge
from litrag.llm.retry import Caller, Gate
from litrag.llm.specs import endpoint

SPEC = "anthropic:claude-sonnet-4-6"
TEXT = "RESULTS: Pain fell by 12% with drug Z and by 4% with placebo (P=0.01)."
REPLY = {"deciding_phrase": "Pain fell by 12% with drug Z", "rationale": "It says so.", "verdict": "supports", "confidence": 0.9}
MODULES = ("anthropic", "langchain_anthropic", "openai", "langchain_openai", "faiss", "langchain_community.vectorstores.faiss",
           "llama_index.core.query_engine", "llama_index.vector_stores.faiss")
LANGCHAIN = re.compile(r"lang(chain|graph|smith)")
#: Code that exists for a framework or does its work: what it is → file and the names of its parts (all when none).
CODE = {
    "LangChain: vector store and retriever": {
        "litrag/retriever.py": (), "litrag/index.py": ("vectorstore", "as_retriever")},
    "LangChain: chat models": {"litrag/llm/chat.py": ()},
    "beside LangChain: how a reply arrived and ended": {"litrag/llm/generators.py": ("_Arrivals",)},
    "in place of the clients' retries: budget, limits, waits": {"litrag/llm/retry.py": ()},
    "LlamaIndex: embeddings, nodes, engine": {
        "examples/llamaindex_variant.py": ("PassageVectors", "nodes_of", "_node", "open_engine")},
    "LlamaIndex: a model of one's own and its prompt": {
        "examples/llamaindex_variant.py": ("ExtractiveLLM", "read_prompt", "_cited")},
    "LlamaIndex: from [n] back to records": {"examples/llamaindex_variant.py": ("claims_of",)},
    "LitRAG's own: search and ranking": {
        "litrag/ranking.py": (), "litrag/lexical.py": (), "litrag/index.py": ("hits",)},
    "LitRAG's own: from quotes to numbered sources": {
        "litrag/pipeline.py": ("_claim_inputs",), "litrag/grounding.py": ("number_sources",)},
}


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


def code_lines(path: Path, names: tuple[str, ...]) -> int:
    """Lines of code of the named functions and classes, or of the whole file: no blanks, comments or docstrings."""
    source = path.read_text("utf-8")
    tree = ast.parse(source)
    nodes = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.ClassDef)]
    parts = [n for n in nodes if n.name in names]
    if missing := set(names) - {n.name for n in parts}:
        raise SystemExit(f"{path} has no {', '.join(sorted(missing))}")
    prose = {
        line for n in ast.walk(tree) if isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant)
        and isinstance(n.value.value, str) for line in range(n.lineno, (n.end_lineno or n.lineno) + 1)
    }
    wanted = {line for n in parts for line in range(n.lineno, (n.end_lineno or n.lineno) + 1)}
    return sum(
        1 for number, line in enumerate(source.splitlines(), start=1)
        if line.strip() and not line.strip().startswith("#") and number not in prose and (not names or number in wanted)
    )


def required(file: str) -> list[str]:
    """Names of the packages that a file of requirements asks for, files that it includes left out."""
    lines = (PROJECT / file).read_text("utf-8").splitlines()
    return [Requirement(line).name for line in lines if line.strip() and not line.startswith(("#", "-"))]


def closure(roots: Iterable[str]) -> set[str]:
    """The packages that `roots` bring, themselves included, as they are installed here."""
    todo, found = [Requirement(root) for root in roots], set()
    seen: set[tuple[str, str]] = set()
    while todo:
        requirement = todo.pop()
        name = re.sub(r"[-_.]+", "-", requirement.name).lower()
        for extra in ("", *sorted(requirement.extras)):
            if (name, extra) in seen:
                continue
            seen.add((name, extra))
            try:
                asked = distribution(name).requires or []
            except PackageNotFoundError:
                continue  # for another system, or an optional part that isn't installed
            found.add(name)
            todo += [r for r in map(Requirement, asked) if r.marker is None or r.marker.evaluate({"extra": extra})]
    return found


def megabytes(names: Iterable[str]) -> float:
    """Size of the files that packages installed, compiled Python left out."""
    files = (file for name in names for file in distribution(name).files or () if not str(file).endswith(".pyc"))
    return sum(path.stat().st_size for path in map(Path, (str(file.locate()) for file in files)) if path.is_file()) / 1e6


def weight_table() -> list[str]:
    """What each framework installs beyond everything else that LitRAG needs."""
    ours = required("requirements.txt")
    whole = closure(ours)
    without = closure(name for name in ours if not LANGCHAIN.match(name))
    llama = closure([*ours, *required("requirements-llamaindex.txt")]) - whole
    added = {"LangChain (as LitRAG uses it)": whole - without, "LlamaIndex (core and FAISS)": llama}
    return ["| framework | packages of its own | MB installed |", "|---|---|---|",
            *(f"| {name} | {len(names)} | {megabytes(names):.1f} |" for name, names in added.items())]


def lines_table() -> list[str]:
    """Lines of code by what they are for."""
    return ["| what | lines of code |", "|---|---|", *(
        f"| {what} | {sum(code_lines(PROJECT / file, names) for file, names in places.items())} |"
        for what, places in CODE.items()
    )]


def compared(rounds: int) -> list[str]:
    """The sample questions by both ways."""
    asked, index, judge = answers.questions(), litrag.open_index("sample"), litrag.open_judge("local")
    ways = answers.engines(index)
    tallies = answers.run_all(asked, index, judge, ways)
    found, spent = answers.retrieved(asked, index, ways), answers.seconds(asked, index, ways[answers.LLAMA], rounds)
    return [
        "## LitRAG and LlamaIndex on the same questions", "",
        f"`python -m benchmarks.frameworks --rounds {rounds}`: the {len(asked)} sample questions, the same passages, vectors, "
        "extractive writer and grounding; no key. LitRAG ranks by meaning and words, LlamaIndex's FAISS store by meaning "
        f"alone. \"Own chunks\": LlamaIndex cuts the records itself, {answers.RECORDS} chunks for a question.", "",
        "### Retrieved records", "", *answers.retrieval_table(asked, found), "",
        "### Quotes and verdicts", "", *answers.answers_table(asked, tallies), "",
        "Quotes that aren't whole sentences, up to four by way:", "", *answers.examples(tallies), "",
        "### Seconds", "",
        f"Of the processor, so that other work on the machine matters less; in turns, {rounds} rounds after one that isn't "
        "counted. An answer is timed until it is written, locating and judging left out. For `passages` the question's vector "
        "is remembered.", "", *answers.seconds_table(spent), "",
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--calls", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--markdown", type=Path)
    options = parser.parse_args()
    spent = calls(options.calls)
    text = "\n".join([
        "## What LangChain adds to a call", "",
        f"`python -m benchmarks.frameworks --calls {options.calls}`: one judgement against a loopback server, whose own time "
        "is included in both.", "",
        "| what | processor time, median |", "|---|---|",
        *(f"| {name} | {1000 * median(values):.1f} ms |" for name, values in spent.items()), "",
        *compared(options.rounds),
        "### Code, imports, installed weight", "", *lines_table(), "",
        "| first import, in a process of its own | processor time |", "|---|---|",
        *(f"| `{module}` | {imported(module):.1f} s |" for module in MODULES), "", *weight_table(),
    ])
    print(text)
    if options.markdown:
        options.markdown.parent.mkdir(parents=True, exist_ok=True)
        options.markdown.write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
