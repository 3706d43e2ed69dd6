"""Broken files of every format through the readers: none may crash, hang or expand entities, nor cost its neighbours.

`python -m benchmarks.fuzz_readers [--engine mutators|hypothesis|atheris] [--inputs N] [--seed N]` makes the runs of
`RUNS`, or those of one engine, each in a process of its own. Three engines make the inputs out of small files of every
format (synthetic ones, and the real ones of the bench folder when it is there):

- `mutators` flips bytes, cuts, doubles and splices pieces, and inserts tags and markers;
- `hypothesis` draws files piece by piece: lines and tags of the formats, any text, any bytes;
- `atheris` (requirements-fuzz.txt) lets libFuzzer mutate what reached new branches of `litrag.readers`.

Every item that is read must be a record, a rejection with its reason or a deletion; sections must lie in their text; a
read must end within seconds; all texts together may not be longer than what the file can hold. Every third input is a
broken record between two whole ones, which must be read as if it were not there. Adds to the journal in the folder
that `--keep` names, keeps inputs that fail there, and writes docs/benchmarks/fuzz-readers.md from the journal; `--anew`
begins with an empty one.
"""

from __future__ import annotations

import argparse
import faulthandler
import importlib.util
import json
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

REPORT = Path(__file__).resolve().parents[1] / "docs" / "benchmarks" / "fuzz-readers.md"
RUNS = (
    ("mutators", 1, 70_000), ("mutators", 2, 70_000), ("hypothesis", 3, 10_000),
    ("atheris", 4, 25_000), ("atheris", 5, 25_000),
)
SECONDS = 10.0
LONGEST_SEED = 6000
LONGEST_INPUT = 60_000
FRAMED = 3
INSERTS = (
    b"<", b">", b"&", b"&a;", b"&lt;", b"]]>", b"<![CDATA[", b"<!--", b"-->", b"<PubmedArticle>", b"</PubmedArticle>",
    b"<!DOCTYPE x [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;&a;&a;'>]>", b"&b;", b"<article", b"</record>", b"\x00", b"\xff\xfe",
    b"\xef\xbb\xbf", b"\r", b"\n\n", b"\nTY  - ", b"\nER  - \n", b"\nPMID- ", b"\nAB  - ", b"\n%0 ", b"\nRT ", b"\n<9. >\n",
    b"\"", b",", b";;;;", b"\t", b"{", b"[", b"}", b"\xe2\x80\xa8", b"\xed\xa0\x80", b"<sup>", b"</sup>", b"<mml:msup>",
    b"99999999999999999999", b"-1", b"null", b"'", b"\\", b"---\n", b"## ", b"*a", b"&#x110000;", b"&#0;",
)
#: Where lines and tags begin: hypothesis draws the pieces between.
_PIECES = re.compile(rb"(?<=\n)|(?<=>)|(?=<)|(?<=[,;:}\]])")

if "--engine" in sys.argv and "--worker" in sys.argv and sys.argv[sys.argv.index("--engine") + 1] == "atheris":
    # Only what is imported from here on reports its branches.
    import atheris

    with atheris.instrument_imports(include=["litrag.readers"]):
        import litrag.readers  # noqa: F401

from benchmarks.fuzz_seeds import FRAMES, SEEDS  # noqa: E402
from litrag.models import Record  # noqa: E402
from litrag.readers import Deletion, Rejection, read_items  # noqa: E402


class Hang(BaseException):
    """A read that doesn't end; not an Exception, so that no reader can take it for a fault of the file."""


def mutated(seed: bytes, others: list[bytes], rng: random.Random) -> bytes:
    """`seed` with one to eight faults."""
    data = bytearray(seed)
    for _ in range(rng.randint(1, 8)):
        place = rng.randrange(len(data) + 1)
        fault = rng.randrange(7)
        if fault == 0 and data:
            data[min(place, len(data) - 1)] = rng.randrange(256)
        elif fault == 1:
            del data[place:place + rng.randint(1, 200)]
        elif fault == 2:
            data[place:place] = rng.choice(INSERTS)
        elif fault == 3:
            data[place:place] = data[place:place + rng.randint(1, 400)] * rng.randint(1, 6)
        elif fault == 4:
            other = rng.choice(others)
            start = rng.randrange(len(other) + 1)
            data[place:place] = other[start:start + rng.randint(1, 300)]
        elif fault == 5:
            data = data[:place]
        else:
            data[place:place] = rng.choice(INSERTS) * rng.randint(1, 300)
    return bytes(data[:LONGEST_INPUT])


def problem_of(path: Path, content: bytes) -> tuple[str, Counter[str]]:
    """What is wrong with how `content` is read, if anything, and what came out of it."""
    problem, items = _read(path, content)
    return problem, Counter(type(item).__name__ for item in items)


def framed_problem_of(path: Path, name: str, broken: bytes) -> tuple[str, Counter[str]]:
    """What is wrong with how `broken` is read between two whole records of the format `name`."""
    frame = FRAMES[name]
    problem, items = _read(path, frame.around(broken))
    found = [_said(item) for item in items if isinstance(item, Record)]
    if not problem and (lost := [one["title"] for one in _neighbours(path, name) if one not in found]):
        problem = f"{name}: a whole record beside a broken one is lost or changed: {lost[-1]!r}"
    return problem, Counter(type(item).__name__ for item in items)


_whole: dict[str, list[dict[str, Any]]] = {}


def _neighbours(path: Path, name: str) -> list[dict[str, Any]]:
    """The whole records of the frame as they are read when nothing stands between them."""
    if name not in _whole:
        items = _read(path, FRAMES[name].empty())[1]
        _whole[name] = [_said(item) for item in items if isinstance(item, Record)]
        if len(_whole[name]) != 2:
            raise SystemExit(f"the frame of {name} gives {len(_whole[name])} records, not 2")
    return _whole[name]


def _said(record: Record) -> dict[str, Any]:
    return record.model_dump(exclude={"origin"})


def _read(path: Path, content: bytes) -> tuple[str, list[Record | Rejection | Deletion]]:
    path.write_bytes(content)
    items: list[Record | Rejection | Deletion] = []
    start = time.perf_counter()
    before = signal.signal(signal.SIGALRM, _too_long)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    faulthandler.dump_traceback_later(3 * SECONDS, exit=True)  # for what doesn't return to the interpreter
    try:
        items += read_items(path)
    except Hang:
        return f"takes longer than {SECONDS:.0f} s", items
    except Exception as error:  # noqa: BLE001 - whatever a reader raises is what is looked for
        return f"{type(error).__name__}: {error}"[:200], items
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        faulthandler.cancel_dump_traceback_later()
    _longest[0] = max(_longest[0], time.perf_counter() - start)
    return _wrong_item(items, content), items


_longest = [0.0]


def _wrong_item(items: list[Record | Rejection | Deletion], content: bytes) -> str:
    for item in items:
        if isinstance(item, Record):
            if any(not 0 <= s.start <= s.end <= len(item.text) for s in item.sections):
                return "a section lies outside its text"
        elif not isinstance(item, Rejection | Deletion) or (isinstance(item, Rejection) and not item.reason):
            return f"an item without a reason: {item!r}"
    texts = sum(len(item.title) + len(item.text) for item in items if isinstance(item, Record))
    return "the texts are longer than their file" if texts > 4 * len(content) + 100 else ""


def real_seeds() -> list[bytes]:
    """Small real files, when the bench folder is at hand."""
    from training.pairs import bench_dir

    try:
        folder = bench_dir() / "bench" / "bibliographic"
    except SystemExit:
        return []
    found = (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.name.endswith((".json", ".tsv")))
    return [path.read_bytes() for path in found if path.stat().st_size <= LONGEST_SEED]


class Run:
    """One run of an engine: checks inputs, counts what came out of them, and keeps those that fail."""

    def __init__(self, engine: str, seed: int, keep: Path, folder: Path) -> None:
        self.engine, self.seed, self.keep = engine, seed, keep
        self.path = folder / "input"
        self.seeds = [*SEEDS.values(), *real_seeds()]
        self.frames = sorted(FRAMES)
        self.inputs = self.framed = 0
        self.kinds: Counter[str] = Counter()
        self.problems: Counter[str] = Counter()
        self.start = time.perf_counter()

    def check(self, content: bytes, frame: str = "") -> str:
        """The problem with `content`, which stands between two whole records when `frame` names a format."""
        self.inputs += 1
        self.framed += bool(frame)
        problem, found = framed_problem_of(self.path, frame, content) if frame else problem_of(self.path, content)
        self.kinds += found
        if problem:
            self.problems[problem] += 1
            self.keep.mkdir(parents=True, exist_ok=True)
            whole = FRAMES[frame].around(content) if frame else content
            (self.keep / f"{self.engine}-{self.seed}-{self.inputs}").write_bytes(whole)
        return problem

    def noted(self) -> dict[str, Any]:
        return {"engine": self.engine, "seed": self.seed, "inputs": self.inputs, "framed": self.framed,
                "seconds": round(time.perf_counter() - self.start), "longest": round(_longest[0], 2),
                "kinds": dict(self.kinds), "problems": dict(self.problems)}


def mutate(run: Run, inputs: int) -> None:
    rng = random.Random(run.seed)
    for number in range(inputs):
        if number % FRAMED == 0:
            frame = rng.choice(run.frames)
            # Of its own format only: a piece that begins another format makes another file of the whole.
            run.check(mutated(SEEDS[frame], [SEEDS[frame]], rng), frame)
        else:
            run.check(mutated(rng.choice(run.seeds), run.seeds, rng))


def draw(run: Run, inputs: int) -> None:
    import hypothesis
    from hypothesis import strategies as st

    pieces = sorted({piece for seed in SEEDS.values() for piece in _PIECES.split(seed) if piece})
    piece = st.one_of(st.sampled_from(pieces), st.sampled_from(INSERTS), st.binary(max_size=30),
                      st.text(max_size=30).map(lambda text: text.encode("utf-8", "replace")))
    files = st.lists(piece, max_size=60).map(b"".join)
    begun = st.tuples(st.sampled_from(sorted(SEEDS.values())), st.integers(0, 400), files).map(
        lambda parts: parts[0][:parts[1]] + parts[2])

    @hypothesis.seed(run.seed)
    @hypothesis.settings(max_examples=inputs, deadline=None, database=None, phases=[hypothesis.Phase.generate],
                         suppress_health_check=list(hypothesis.HealthCheck))
    @hypothesis.given(content=st.one_of(files, begun))
    def every(content: bytes) -> None:
        run.check(content)

    every()


def guide(run: Run, inputs: int) -> None:
    """libFuzzer with our faults among its own; ends the process, so that counts are written on the way."""
    corpus = run.path.parent / "corpus"
    corpus.mkdir()
    for number, seed in enumerate(run.seeds):
        (corpus / str(number)).write_bytes(seed)
    journal, noted = run.keep / part_name(run.engine, run.seed), Counter[str]()

    def one_input(content: bytes) -> None:
        # libFuzzer would stop at what is raised here; problems are counted instead, and the run goes on.
        run.check(content)
        noted["inputs"] += 1
        if noted["inputs"] % 500 == 0 or noted["inputs"] >= inputs:
            journal.write_text(json.dumps(run.noted()), encoding="utf-8")

    def mutation(content: bytes, longest: int, seed: int) -> bytes:
        rng = random.Random(seed)
        changed = atheris.Mutate(content, longest) if rng.random() < 0.6 else mutated(content, run.seeds, rng)
        return bytes(changed[:longest])

    atheris.Setup(
        [sys.argv[0], f"-runs={inputs}", f"-seed={run.seed}", f"-max_len={LONGEST_INPUT}", f"-timeout={3 * SECONDS:.0f}",
         "-rss_limit_mb=4096", f"-artifact_prefix={run.keep}/", "-print_final_stats=1", str(corpus)],
        one_input, custom_mutator=mutation)
    atheris.Fuzz()


ENGINES: dict[str, Callable[[Run, int], None]] = {"mutators": mutate, "hypothesis": draw, "atheris": guide}


def work(engine: str, seed: int, inputs: int, keep: Path) -> None:
    """One run in this process; its counts go to the journal."""
    faulthandler.enable()
    if engine != "atheris":  # which has a limit of its own
        # Memory that an expansion would need is refused, so that it shows as an error instead of a slow machine.
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    with tempfile.TemporaryDirectory() as folder:
        run = Run(engine, seed, keep, Path(folder))
        ENGINES[engine](run, inputs)
        (keep / part_name(engine, seed)).write_text(json.dumps(run.noted()), encoding="utf-8")


def part_name(engine: str, seed: int) -> str:
    return f"{engine}-{seed}.part"


def _too_long(signal_number: int, frame: FrameType | None) -> None:
    raise Hang


def supervised(engine: str, seed: int, inputs: int, keep: Path) -> dict[str, Any]:
    """What a run in a process of its own counted; that the process died is a problem like any other."""
    part = keep / part_name(engine, seed)
    part.unlink(missing_ok=True)
    command = [sys.executable, "-m", "benchmarks.fuzz_readers", "--worker", "--engine", engine, "--seed", str(seed),
               "--inputs", str(inputs), "--keep", str(keep)]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, errors="replace", check=False)
    noted: dict[str, Any] = json.loads(part.read_text(encoding="utf-8")) if part.exists() else {
        "engine": engine, "seed": seed, "inputs": 0, "framed": 0, "seconds": 0, "longest": 0, "kinds": {}, "problems": {}}
    if done.returncode:
        last = " ".join(done.stderr.strip().splitlines()[-3:])[-300:]
        noted["problems"][f"the process ended with {done.returncode}: {last}"] = 1
    covered = re.findall(r"\bcov: (\d+) ", done.stderr)
    noted["branches"] = [int(covered[0]), int(covered[-1])] if covered else []
    return noted


def report(runs: list[dict[str, Any]]) -> str:
    kinds, problems = Counter[str](), Counter[str]()
    lines = [
        "# Fuzzing of the readers", "",
        "Command: `python -m benchmarks.fuzz_readers` (the engine atheris needs `pip install -r requirements-fuzz.txt`).", "",
        "Inputs are broken files of every format, synthetic and real. An input fails when a reader raises, takes longer than "
        f"{SECONDS:.0f} s, gives an item without a reason, a section outside its text or more text than the file can hold "
        "(entity expansion). Between whole records: the broken record stands between two whole ones of its format, which must "
        "be read as if it were not there. Branches: how many of the instrumented ones libFuzzer saw after the first and after "
        "the last input.", "",
        "| engine | seed | inputs | between whole records | seconds | longest read, s | branches | failed |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for run in runs:
        kinds += Counter(run["kinds"])
        problems += Counter(run["problems"])
        branches = " → ".join(f"{count:,}" for count in run["branches"]) or "–"
        lines.append(f"| {run['engine']} | {run['seed']} | {run['inputs']:,} | {run['framed']:,} | {run['seconds']:,} | "
                     f"{run['longest']} | {branches} | {sum(run['problems'].values())} |")
    inputs, framed = sum(run["inputs"] for run in runs), sum(run["framed"] for run in runs)
    lines += [
        "", f"Together {inputs:,} inputs, {framed:,} of them between whole records; {sum(problems.values())} failed.", "",
        f"Items read: {kinds['Record']:,} records, {kinds['Rejection']:,} rejections, {kinds['Deletion']:,} deletions.", "",
        *(f"- {count} × {problem}" for problem, count in problems.most_common(20)),
    ]
    return "\n".join(lines).rstrip() + "\n"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--engine", choices=sorted(ENGINES))
    parser.add_argument("--inputs", type=int)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--keep", type=Path, default=Path(tempfile.gettempdir()) / "litrag-fuzz")
    parser.add_argument("--anew", action="store_true")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.keep.mkdir(parents=True, exist_ok=True)
    if options.worker:
        work(options.engine, options.seed, options.inputs, options.keep)
        return
    journal = options.keep / "journal.jsonl"
    if options.anew:
        journal.unlink(missing_ok=True)
    planned = [run for run in RUNS if options.engine in (None, run[0])]
    if options.engine and (options.inputs or options.seed):
        planned = [(options.engine, options.seed or planned[0][1], options.inputs or planned[0][2])]
    for engine, seed, inputs in planned:
        if engine == "atheris" and importlib.util.find_spec("atheris") is None:
            print("atheris isn't installed (requirements-fuzz.txt): left out")
            continue
        noted = supervised(engine, seed, inputs, options.keep)
        with journal.open("a", encoding="utf-8") as file:
            file.write(json.dumps(noted) + "\n")
        text = report([json.loads(line) for line in journal.read_text(encoding="utf-8").splitlines()])
        REPORT.write_text(text, encoding="utf-8")
    print(REPORT.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
