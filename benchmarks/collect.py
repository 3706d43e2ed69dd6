"""Puts the tables that the benchmark commands wrote (docs/benchmarks/*.md) together as docs/benchmarks.md.

    python -m benchmarks.collect
"""

from __future__ import annotations

from litrag.config import PROJECT

FOLDER, TARGET = PROJECT / "docs" / "benchmarks", PROJECT / "docs" / "benchmarks.md"
ORDER = ("tamper", "retrieval", "abstention", "judges", "ask_latency", "batch_resume")
OPENING = """# Benchmarks

Every table below was written by the command named in it. Data sets are read from a folder beside the project
(`LITRAG_BENCH_DIR`), never shipped. Weights and thresholds are chosen on train and dev rows; test rows are scored once.
Speed is given as a ratio to a named peer in the same run.
"""


def collected() -> str:
    """The whole page, parts in a fixed order and unknown ones behind."""
    parts = sorted(FOLDER.glob("*.md"), key=lambda p: (ORDER.index(p.stem) if p.stem in ORDER else len(ORDER), p.stem))
    return OPENING + "".join("\n" + part.read_text("utf-8").strip() + "\n" for part in parts)


if __name__ == "__main__":
    TARGET.write_text(collected(), encoding="utf-8")
    print(f"{TARGET.relative_to(PROJECT)}: {len(list(FOLDER.glob('*.md')))} parts")
