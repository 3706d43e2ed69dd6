"""Mutated files of every format through the readers: none may crash, hang or expand entities.

`python -m benchmarks.fuzz_readers [--inputs 200000] [--seed 1]` takes small files of every format (synthetic ones, and
the real ones of the bench folder when it is there), breaks them (bytes flipped, pieces cut, doubled, spliced with other
files, tags and markers inserted) and reads each. Every item must be a record, a rejection or a deletion; spans must lie
in their text; a read must end within seconds, and no text may be longer than what its file holds. Prints and writes
docs/benchmarks/fuzz-readers.md. Inputs that fail are kept in the folder that is named.
"""

from __future__ import annotations

import argparse
import faulthandler
import random
import resource
import tempfile
import time
from collections import Counter
from pathlib import Path

from benchmarks.fuzz_seeds import SEEDS
from litrag.models import Record
from litrag.readers import Deletion, Rejection, read_items

REPORT = Path(__file__).resolve().parents[1] / "docs" / "benchmarks" / "fuzz-readers.md"
SECONDS = 10.0
LONGEST_SEED = 6000
INSERTS = (
    b"<", b">", b"&", b"&a;", b"&lt;", b"]]>", b"<![CDATA[", b"<!--", b"-->", b"<PubmedArticle>", b"</PubmedArticle>",
    b"<!DOCTYPE x [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;&a;&a;'>]>", b"&b;", b"<article", b"</record>", b"\x00", b"\xff\xfe",
    b"\xef\xbb\xbf", b"\r", b"\n\n", b"\nTY  - ", b"\nER  - \n", b"\nPMID- ", b"\nAB  - ", b"\n%0 ", b"\nRT ", b"\n<9. >\n",
    b"\"", b",", b";;;;", b"\t", b"{", b"[", b"}", b"\xe2\x80\xa8", b"\xed\xa0\x80", b"<sup>", b"</sup>", b"<mml:msup>",
    b"99999999999999999999", b"-1", b"null", b"'", b"\\", b"---\n", b"## ", b"*a", b"&#x110000;", b"&#0;",
)


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
    return bytes(data[:60_000])


def problem_of(path: Path, content: bytes) -> tuple[str, Counter[str]]:
    """What is wrong with how `content` is read, if anything, and what came out of it."""
    path.write_bytes(content)
    kinds: Counter[str] = Counter()
    start = time.perf_counter()
    try:
        for item in read_items(path):
            kinds[type(item).__name__] += 1
            if isinstance(item, Record):
                if any(not 0 <= s.start <= s.end <= len(item.text) for s in item.sections):
                    return "a section lies outside its text", kinds
                if len(item.text) > 4 * len(content) + 100:
                    return "a text is longer than its file", kinds
            elif not isinstance(item, Rejection | Deletion) or (isinstance(item, Rejection) and not item.reason):
                return f"an item without a reason: {item!r}", kinds
    except Exception as error:  # noqa: BLE001 - whatever a reader raises is what is looked for
        return f"{type(error).__name__}: {error}"[:200], kinds
    seconds = time.perf_counter() - start
    return (f"took {seconds:.1f} s" if seconds > SECONDS else ""), kinds


def real_seeds() -> list[bytes]:
    """Small real files, when the bench folder is at hand."""
    from training.pairs import bench_dir

    try:
        folder = bench_dir() / "bench" / "bibliographic"
    except SystemExit:
        return []
    found = (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.name.endswith((".json", ".tsv")))
    return [path.read_bytes() for path in found if path.stat().st_size <= LONGEST_SEED]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--inputs", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, default=Path(tempfile.gettempdir()) / "litrag-fuzz")
    options = parser.parse_args()
    faulthandler.enable()
    # Memory that an expansion would need is refused, so that it shows as an error instead of a slow machine.
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    rng = random.Random(options.seed)
    seeds = [*SEEDS.values(), *real_seeds()]
    kinds: Counter[str] = Counter()
    problems: Counter[str] = Counter()
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "input"
        for number in range(options.inputs):
            content = mutated(rng.choice(seeds), seeds, rng)
            # The last input that was begun, for a crash that leaves no other trace.
            problem, found = problem_of(path, content)
            kinds += found
            if problem:
                problems[problem] += 1
                options.keep.mkdir(parents=True, exist_ok=True)
                (options.keep / f"{options.seed}-{number}").write_bytes(content)
    lines = [
        "# Fuzzing of the readers", "", "Command: `python -m benchmarks.fuzz_readers`.", "",
        f"{options.inputs:,} mutated inputs from {len(seeds)} files of every format, seed {options.seed}, "
        f"{time.perf_counter() - start:.0f} s.", "",
        f"Items read: {kinds['Record']:,} records, {kinds['Rejection']:,} rejections, {kinds['Deletion']:,} deletions.", "",
        f"Crashes, hangs, expansions, spans outside a text: {sum(problems.values())}.", "",
        *(f"- {count} × {problem}" for problem, count in problems.most_common(20)),
    ]
    print("\n".join(lines))
    REPORT.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
