"""A review queue of 100,000 items: how long the next item takes, and what an export of all of it needs.

    python -m benchmarks.review_queue [--items 100000] [--markdown docs/benchmarks/review_queue.md]

The store is filled with items of abstract length, two seats each; one reviewer has labelled the first half of them.
Times are medians in this process. The yardstick is a Streamlit page that holds nothing but a title, run in the same
process without a browser; the promise is that a next item takes less than ten of those. It is measured twice: the store's
answer alone, and the whole Review page when its Next button is pressed. Exits 1 when a promise is broken.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from sqlalchemy import insert, select
from streamlit.testing.v1 import AppTest

from litrag.config import PROJECT, settings
from litrag.labels import Role
from litrag.models import (
    AuditedAnswer,
    AuditedClaim,
    CheckedCitation,
    Judgement,
    Location,
    MatchKind,
    Record,
    Source,
    Verdict,
)
from litrag.queues import View, next_item, progress
from litrag.reviews import Store, open_store
from litrag.tables import assignments, events, items, judgements, labels

BATCH = 5_000
VERDICTS = list(Verdict)
QUOTE = "Morning glucose fell by 1.2 mmol/l on verolin."


def template() -> AuditedAnswer:
    """A made-up answer with one claim, whose item all others are copied from."""
    text = f"Adults took verolin or placebo for 26 weeks. {QUOTE} " + "Secondary outcomes were reported in full. " * 30
    start = text.index(QUOTE)
    citation = CheckedCitation(
        n=1, record_id="r1", pmid="90000001", passage_id="r1:0", quote=QUOTE,
        location=Location(match=MatchKind.EXACT, spans=((start, start + len(QUOTE)),), score=100.0, occurrences=1),
        judgement=Judgement(verdict=Verdict.SUPPORTS, confidence=0.8, rationale="Same figure.", judge="made up", model="none"),
    )
    record = Record(record_id="r1", pmid="90000001", title="A made-up trial", journal="J Made Up", year=2024, text=text)
    claim = AuditedClaim(claim_id="c1", text="Verolin lowered morning glucose.", citations=(citation,))
    return AuditedAnswer(run_id="bench", question="Does verolin work?", claims=(claim,), sources=(Source(n=1, record=record),))


def fill(store: Store, size: int) -> None:
    """`size` items; `half` has labelled the first half, `other` every tenth, `fresh` nothing."""
    store.save_run(template())
    store.send_to_review("bench")
    for name in ("half", "other", "fresh"):
        store.add_reviewer(name, Role.ADJUDICATOR)
    with store.reading() as connection:
        first = dict(connection.execute(select(items)).mappings().one())
        judged = dict(connection.execute(select(judgements)).mappings().one())
    for begin in range(2, size + 1, BATCH):
        places = range(begin, min(begin + BATCH, size + 1))
        with store.engine.begin() as connection:
            connection.execute(insert(items), [first | {"seq": n, "item_id": f"it-{n}"} for n in places])
            connection.execute(insert(assignments), [
                {"item_id": f"it-{n}", "slot": slot, "seq": n, "reviewer_id": _sits(n, slot, size)}
                for n in places for slot in (1, 2)
            ])
            connection.execute(insert(judgements), [
                judged | {"judgement_id": n, "item_id": f"it-{n}", "verdict": VERDICTS[n % 5]} for n in places
            ])
            said = [(n, slot) for n in places for slot in (1, 2) if _sits(n, slot, size)]
            if said:
                connection.execute(insert(events), [_event(n, slot, size) for n, slot in said])
                connection.execute(insert(labels), [_label(n, slot, size) for n, slot in said])


def _sits(n: int, slot: int, size: int) -> str | None:
    """Who has the seat, if anybody."""
    if slot == 1:
        return "half" if n <= size // 2 else None
    return "other" if n % 10 == 0 else None


def _event(n: int, slot: int, size: int) -> dict[str, Any]:
    return {
        "item_id": f"it-{n}", "reviewer_id": _sits(n, slot, size), "revision": 1, "kind": "label", "slot": slot,
        "verdict": VERDICTS[(n + slot) % 5], "blind": True, "seconds": 20.0, "role": "reviewer", "origin": "bench",
        "actor": "bench", "created_at": "2026-01-01T00:00:00.000000Z", "key": f"{n}:{slot}",
    }


def _label(n: int, slot: int, size: int) -> dict[str, Any]:
    verdict = VERDICTS[(n + slot) % 5]
    return {
        "item_id": f"it-{n}", "reviewer_id": _sits(n, slot, size), "seq": n, "revision": 1, "status": "labelled",
        "verdict": verdict, "blind_verdict": verdict, "comment": "", "flagged": n % 1000 == 0, "revealed": True,
        "role": "reviewer", "seconds": 20.0, "reviewed_at": "2026-01-01T00:00:00.000000Z",
    }


def milliseconds(call: Callable[[], object], times: int) -> float:
    """Median time of a call in ms, after one that isn't counted."""
    call()
    taken = []
    for _ in range(times):
        started = perf_counter()
        call()
        taken.append(perf_counter() - started)
    return median(taken) * 1000


def _empty_page() -> None:
    import streamlit as st

    st.title("Empty")


def _review_page() -> None:
    from litrag.labels import Reviewer, Role
    from litrag.ui.review import review_view
    from litrag.ui.shell import workbench

    review_view(workbench().store, Reviewer(reviewer_id="half", role=Role.ADJUDICATOR))


def page_times(times: int) -> tuple[float, float]:
    """ms of a run of the empty page, and of the Review page when Next is pressed."""
    empty = AppTest.from_function(_empty_page)
    nothing = milliseconds(lambda: empty.run(), times * 5)
    review = AppTest.from_function(_review_page, default_timeout=120).run()
    if review.exception:
        raise SystemExit(f"the page failed: {review.exception[0].message}")

    def press_next() -> None:
        button = next(b for b in review.button if b.key.startswith("review-next-"))
        before = button.key
        button.click().run()
        if review.exception or all(b.key == before for b in review.button if b.key.startswith("review-next-")):
            raise SystemExit("Next showed no other item")

    return nothing, milliseconds(press_next, times)


def export_peak(home: Path, target: Path) -> tuple[int, float, float]:
    """(rows, peak MB of memory, seconds) of `litrag export` in a process of its own."""
    started = perf_counter()
    child = subprocess.Popen(
        [sys.executable, "-m", "litrag", "export", str(target)], cwd=PROJECT, stdout=subprocess.DEVNULL,
        env=os.environ | {"LITRAG_HOME": str(home)},
    )
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit("the export failed")
    with target.open("rb") as file:
        rows = sum(line.count(b"\r\n") for line in file) - 1
    return rows, usage.ru_maxrss / 1024, perf_counter() - started


def measure(size: int, times: int, folder: Path) -> tuple[list[tuple[str, str]], bool]:
    """The table, and whether the promises hold."""
    homes = {count: folder / f"home-{count}" for count in (size // 10, size)}
    exports = {}
    for count, home in homes.items():
        store = open_store(f"sqlite:///{home / 'litrag.db'}")
        fill(store, count)
        store.close()
        exports[count] = export_peak(home, folder / "labels.csv")
    os.environ["LITRAG_HOME"] = str(homes[size])
    settings.cache_clear()
    empty, page = page_times(times)
    store = open_store()
    rows = [("items, labels", f"{size:,}, {count_labels(store):,}"), ("a run of an empty page, ms", f"{empty:.1f}")]
    ratios = [page / empty]
    rows.append(("Next on the Review page, ms (of an empty page)", f"{page:.1f} ({page / empty:.1f}×)"))
    middle = store.item(f"it-{size // 2 + 5}")
    for who, view in [
        ("half", View.UNREVIEWED), ("fresh", View.UNREVIEWED), ("fresh", View.SECOND), ("half", View.DISAGREEMENTS),
        ("half", View.FLAGGED), ("half", View.MINE), ("half", View.ALL),
    ]:
        for after, where in ((0, "from the top"), (middle.seq if middle else 0, "from the middle")):
            taken = milliseconds(lambda w=who, v=view, a=after: next_item(store, w, v, after=a), times)
            ratios.append(taken / empty)
            words = "has labelled half" if who == "half" else "new reviewer"
            rows.append((f"next item, “{view}”, {words}, {where}, ms", f"{taken:.1f} ({taken / empty:.1f}×)"))
    rows.append(("progress bar and pace, ms", f"{milliseconds(lambda: progress(store, 'half'), times):.1f}"))
    store.close()
    for count, (written, megabytes, seconds) in exports.items():
        rows.append((f"export of {count:,} items as CSV", f"{written:,} rows, peak {megabytes:.0f} MB, {seconds:.1f} s"))
    small, large = (exports[count][1] for count in homes)
    rows.append(("peak memory, ten times the items", f"{large / small:.2f}×"))
    return rows, max(ratios) < 10 and large < 1.15 * small


def count_labels(store: Store) -> int:
    with store.reading() as connection:
        return len(connection.execute(select(labels.c.seq)).all())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--times", type=int, default=15)
    parser.add_argument("--markdown", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        rows, held = measure(options.items, options.times, Path(name))
    lines = ["| | |", "|---|---|", *(f"| {label} | {value} |" for label, value in rows)]
    print("\n".join(lines))
    print(json.dumps({"promises held": held}))
    if options.markdown:
        options.markdown.parent.mkdir(parents=True, exist_ok=True)
        opening = (
            "## Review queue\n\n`python -m benchmarks.review_queue --markdown docs/benchmarks/review_queue.md`. Medians on"
            " SQLite; the yardstick is a run of a Streamlit page that holds only a title.\n\n"
        )
        options.markdown.write_text(opening + "\n".join(lines) + "\n", encoding="utf-8")
    return 0 if held else 1


if __name__ == "__main__":
    raise SystemExit(main())
