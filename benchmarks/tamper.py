"""How many falsified quotes the locator catches, how many honest ones it refuses, and how fast.

    python -m benchmarks.tamper [--per-kind N] [--seed N] [--timed N] [--markdown docs/benchmarks/tamper.md] [--misses FILE]

Every sentence of the sample corpus and of the open SciFact and PubMedQA abstracts in `LITRAG_BENCH_DIR` is falsified and
made to drift in seeded ways (`benchmarks/tamperings.py`). Beside the locator stands the usual recipe, rapidfuzz's
`partial_ratio` of at least 90, on the same rows. A falsified quote that stands verbatim elsewhere in its text is no
falsification and is dropped.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rapidfuzz.fuzz import partial_ratio

from benchmarks.tamperings import DRIFTS, STRICT, TAMPERINGS, Setting
from litrag.folding import fold
from litrag.locate import locate_quote
from litrag.models import Location
from litrag.readers import read_records
from litrag.sentences import split

ROOT = Path(__file__).resolve().parent.parent
BASELINE = 90
ALL = 1_000_000
_TURN = 400


@dataclass(frozen=True)
class Row:
    """A quote to check: what was done to which sentence of which text."""

    kind: str
    falsified: bool
    quote: str
    text: str
    start: int
    end: int


def texts() -> list[str]:
    """The sample corpus and the open abstracts; exits with a remedy when those aren't there."""
    folder = Path(os.environ.get("LITRAG_BENCH_DIR", ROOT.parent / "shared"))
    folder = folder / "bench" if (folder / "bench").is_dir() else folder
    found = [record.text for record in read_records(ROOT / "data" / "semaglutide").records]
    for name, field in (("claims_scifact/open.jsonl", "evidence"), ("qa_pubmedqa/open.jsonl", "context")):
        path = folder / name
        if not path.is_file():
            sys.exit(f"{path} is missing: set LITRAG_BENCH_DIR to the folder that holds the open benchmark sets")
        found += [json.loads(line)[field] for line in path.read_text(encoding="utf-8").splitlines()]
    return list(dict.fromkeys(found))


def make_rows(found: Sequence[str], per_kind: int, seed: int) -> list[Row]:
    """Up to `per_kind` rows of every kind, from sentences in random order; the rows of a text stand together."""
    rng = random.Random(seed)
    words = frozenset(word for text in found for word in re.findall(r"[a-z]{4,}", text.lower()))
    places = [(text, span) for text in found for span in split(text) if span[1] - span[0] >= 40]
    rows: list[Row] = []
    for falsified, ways in ((True, TAMPERINGS), (False, DRIFTS)):
        for kind, way in ways.items():
            made = 0
            for text, (start, end) in rng.sample(places, len(places)):
                others = tuple(text[a:b] for a, b in split_cached(text) if (a, b) != (start, end))
                quote = way(rng, Setting(text[start:end], text, others, words))
                if quote is None or (falsified and _stands(quote, text)):
                    continue
                rows.append(Row(kind, falsified, quote, text, start, end))
                made += 1
                if made == per_kind:
                    break
    return rows


_SPLITS: dict[str, list[tuple[int, int]]] = {}


def split_cached(text: str) -> list[tuple[int, int]]:
    if text not in _SPLITS:
        _SPLITS[text] = split(text)
    return _SPLITS[text]


def _plain(text: str) -> str:
    return " ".join(re.findall(r"[^\W_]+|[^\w\s.,;:'\"-]", text.lower()))


def _stands(quote: str, text: str) -> bool:
    """Whether the falsified quote stands in the text after all, by a check of its own."""
    return f" {_plain(quote)} " in f" {_plain(text)} " and bool(
        re.findall(r"[-−–]?\d[\d.,]*", quote) == [] or quote.strip(" .") in text)


def spans_are_exact(row: Row, location: Location) -> bool:
    """Whether the spans cover the sentence, or the part of it that was quoted: outer punctuation may differ."""
    pieces = [row.text[start:end] for start, end in location.spans]
    if not pieces or any(start < row.start or end > row.end for start, end in location.spans):
        return _stands_again(row, location)
    if row.kind in ("ellipsis", "part of a sentence"):
        wanted = [_bare(piece) for piece in re.split(r"\s*[\[(]?(?:…|\.\.\.|\. \. \.)[\])]?\s*", row.quote)]
        return [_bare(piece) for piece in pieces] == [piece for piece in wanted if piece]
    start, end = location.spans[0][0], location.spans[-1][1]
    before, after = row.text[row.start:start], row.text[end:row.end]
    if row.kind == "aside left out":
        after = re.sub(r"^\s*\([^()]*\)", "", after)
    return not re.search(r"\w", before + after)


def _stands_again(row: Row, location: Location) -> bool:
    """Whether the spans lie at another copy of the very same sentence."""
    start, end = location.spans[0][0], location.spans[-1][1]
    return _letters(row.text[start:end]) in (_letters(row.text[row.start:row.end]), _letters(row.quote))


def _letters(text: str) -> str:
    return re.sub(r"[\W_]", "", text).lower()


def _bare(text: str) -> str:
    return re.sub(r"^\W+|\W+$", "", text)


@dataclass
class Tally:
    """Counts of one kind: rows, those that the locator and the baseline found, and inexact spans."""

    rows: int = 0
    found: int = 0
    baseline: int = 0
    inexact: int = 0


def measure(rows: Iterable[Row]) -> tuple[dict[tuple[bool, str], Tally], list[tuple[Row, Location]]]:
    """Counts by kind, and every row on which the locator was wrong."""
    tallies: dict[tuple[bool, str], Tally] = defaultdict(Tally)
    wrong: list[tuple[Row, Location]] = []
    for row in rows:
        location = locate_quote(row.quote, row.text)
        tally = tallies[(row.falsified, row.kind)]
        tally.rows += 1
        tally.found += location.found
        tally.baseline += partial_ratio(row.quote, row.text) >= BASELINE
        inexact = location.found and not row.falsified and not spans_are_exact(row, location)
        tally.inexact += inexact
        if location.found == row.falsified or inexact:
            wrong.append((row, location))
    return dict(tallies), wrong


@dataclass(frozen=True)
class Timing:
    """Processor time in microseconds a row, ours and the baseline's, and the median of their ratios."""

    ours: float
    baseline: float
    ratio: float


def speed(rows: Sequence[Row], runs: int = 5, *, cold: bool = False) -> Timing:
    """Median of several runs over the same rows, the locator's cache of folded texts emptied before each.

    Processor time, so that other work on the machine doesn't count. The rows of a text follow each other, as they do
    when an answer is checked, and both take turns every few hundred rows, so that a slow moment hits both. `cold`
    empties the cache before every row, as if no text were ever asked for twice; `partial_ratio` keeps nothing anyway.
    """
    ours, theirs = [], []
    pairs = [(row.quote, row.text) for row in sorted(rows, key=lambda row: row.text)]
    for _ in range(runs):
        fold.cache_clear()
        mine = other = 0.0
        for first in range(0, len(pairs), _TURN):
            turn = pairs[first:first + _TURN]
            begin = time.process_time()
            for quote, text in turn:
                if cold:
                    fold.cache_clear()
                locate_quote(quote, text)
            middle = time.process_time()
            for quote, text in turn:
                partial_ratio(quote, text)
            mine, other = mine + middle - begin, other + time.process_time() - middle
        ours.append(mine / len(pairs) * 1e6)
        theirs.append(other / len(pairs) * 1e6)
    ratios = [mine / other for mine, other in zip(ours, theirs, strict=True)]
    return Timing(statistics.median(ours), statistics.median(theirs), statistics.median(ratios))


def timings(rows: Sequence[Row], most: int) -> dict[str, Timing]:
    """Of all rows, then of the verbatim, the honest and the falsified ones, for as many whole texts as give `most` rows."""
    of_text: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        of_text[row.text].append(row)
    chosen: list[Row] = []
    for some in of_text.values():
        if len(chosen) < most:
            chosen += some
    return {
        "all": speed(chosen),
        "verbatim": speed([row for row in chosen if row.kind == "verbatim"]),
        "honest": speed([row for row in chosen if not row.falsified]),
        "falsified": speed([row for row in chosen if row.falsified]),
        "all, each text folded anew": speed(chosen[:most // 5], cold=True),
    }


def report(
    tallies: dict[tuple[bool, str], Tally], timing: dict[str, Timing], count: int, options: argparse.Namespace
) -> str:
    """The tables, as Markdown."""
    caught = [t for (falsified, _), t in tallies.items() if falsified]
    honest = [t for (falsified, _), t in tallies.items() if not falsified]
    accepted, inexact = sum(t.found for t in honest), sum(t.inexact for t in honest)
    lines = [
        "# Tamper benchmark", "",
        f"`python -m benchmarks.tamper{_chosen(options)}`: {count} abstracts (sample corpus, open SciFact and PubMedQA), "
        f"{sum(t.rows for t in tallies.values()):,} quotes. "
        f"Baseline: `rapidfuzz.fuzz.partial_ratio` ≥ {BASELINE} on the same rows.", "",
        "| | LitRAG | partial_ratio ≥ 90 |", "|---|---:|---:|",
        f"| falsified quotes caught | {_rate(_missed(caught, 'found'))} | {_rate(_missed(caught, 'baseline'))} |",
        f"| honest quotes refused | {_rate(_missed(honest, 'found'))} | {_rate(_missed(honest, 'baseline'))} |",
        f"| spans exact on accepted quotes | {accepted - inexact} of {accepted} | – |",
        "", "## Speed", "",
        "Processor time, median of 5 runs over the same pairs, one thread, both in turns. The rows of a text follow each "
        "other and share its folded form, as the claims of an answer do; `partial_ratio` keeps nothing between calls, so "
        "the last line empties that cache before every row.", "",
        "| quotes | LitRAG, µs | partial_ratio, µs | ratio |", "|---|---:|---:|---:|",
        *(f"| {name} | {t.ours:.1f} | {t.baseline:.1f} | {t.ratio:.2f} |" for name, t in timing.items()), "",
        "## Falsified quotes: caught", "", "| kind | n | LitRAG | partial_ratio |", "|---|---:|---:|---:|",
    ]
    for (falsified, kind), tally in tallies.items():
        if falsified:
            lines.append(_line(f"{kind} †" if kind in STRICT else kind, tally))
    lines += ["", "† changes a number, sign, unit or negation.", "", "## Honest drift: refused", "",
              "| kind | n | LitRAG | partial_ratio |", "|---|---:|---:|---:|"]
    for (falsified, kind), tally in tallies.items():
        if not falsified:
            lines.append(_line(kind, tally))
    return "\n".join(lines) + "\n"


def _chosen(options: argparse.Namespace) -> str:
    """The arguments that decide which rows are made."""
    limit = "" if options.per_kind >= ALL else f" --per-kind {options.per_kind}"
    return f"{limit} --seed {options.seed}"


def _line(name: str, tally: Tally) -> str:
    return f"| {name} | {tally.rows} | {_rate(_missed([tally], 'found'))} | {_rate(_missed([tally], 'baseline'))} |"


def _missed(tallies: Sequence[Tally], by: str) -> float:
    rows = sum(tally.rows for tally in tallies)
    return 1 - sum(getattr(tally, by) for tally in tallies) / rows if rows else 0.0


def _rate(value: float) -> str:
    return f"{100 * value:.2f} %"


def goals_missed(tallies: dict[tuple[bool, str], Tally], ratio: float) -> list[str]:
    """What falls short of the goals, in words."""
    falsified = {kind: tally for (is_false, kind), tally in tallies.items() if is_false}
    honest = [tally for (is_false, _), tally in tallies.items() if not is_false]
    short = [f"{kind}: {_rate(_missed([t], 'found'))} caught" for kind, t in falsified.items()
             if kind in STRICT and _missed([t], "found") < 0.99]
    if _missed(list(falsified.values()), "found") < 0.995:
        short.append("fewer than 99.5 % of falsified quotes caught")
    if _missed(honest, "found") > 0.005:
        short.append("more than 0.5 % of honest quotes refused")
    if any(tally.inexact for tally in honest):
        short.append(f"{sum(tally.inexact for tally in honest)} spans inexact")
    if ratio > 1:
        short.append(f"slower than partial_ratio ({ratio:.2f} ×)")
    return short


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--per-kind", type=int, default=ALL, help="rows of each kind at most (default: all)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--timed", type=int, default=20_000, help="rows whose speed is compared (default: %(default)s)")
    parser.add_argument("--markdown", type=Path, help="file to write the tables to")
    parser.add_argument("--misses", type=Path, help="file for the rows on which the locator was wrong, as JSONL")
    options = parser.parse_args(argv)
    found = texts()
    rows = make_rows(found, options.per_kind, options.seed)
    tallies, wrong = measure(rows)
    timing = timings(rows, options.timed)
    table = report(tallies, timing, len(found), options)
    print(table)
    short = goals_missed(tallies, timing["all"].ratio)
    print("goals missed: " + "; ".join(short) if short else "all goals met")
    if options.markdown:
        options.markdown.parent.mkdir(parents=True, exist_ok=True)
        options.markdown.write_text(table, encoding="utf-8")
    if options.misses:
        options.misses.write_text("".join(
            json.dumps({"kind": row.kind, "falsified": row.falsified, "quote": row.quote, "sentence": row.text[row.start:row.end],
                        "match": loc.match, "in_words": loc.in_words(), "spans": [row.text[a:b] for a, b in loc.spans]},
                       ensure_ascii=False) + "\n" for row, loc in wrong), encoding="utf-8")
    return 1 if short else 0


if __name__ == "__main__":
    raise SystemExit(main())
