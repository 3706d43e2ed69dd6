"""What reviewers' labels do for the local judge: rows of public claim sets stand in for their labels.

    python -m benchmarks.recalibration [--sets scifact,…] [--write]          dev rows only, for development
    python -m benchmarks.recalibration --final --write                       test rows, once

Two questions. Does its confidence mean more after calibration? The scale is fitted on four fifths of the questions and
applied to the fifth that it hasn't seen. Does refitting its last layer on 200 labels of the set make it better? Labels
are the dev rows, topped up, where these are fewer, from test rows of other folds; no row is judged by a layer or a
scale that saw its question. Intervals come from resampling questions.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from benchmarks.claim_sets import ClaimRow, load_claims, share
from litrag.confidence import calibration_error, fit_scale
from litrag.config import PROJECT
from litrag.estimates import Floats, group_index, resampled_items
from litrag.local_model import EntailmentModel
from litrag.models import Judgement, Verdict
from litrag.profiles import Layer
from litrag.refit import Refit, RefitJudge, refit, supports_accuracy

DOCUMENT = PROJECT / "docs" / "benchmarks" / "recalibration.md"
SETS = ("scifact", "healthver", "checkcovid", "expertqa")
FOLDS = 5
LABELS = 200
#: Draws for the calibration error that chance alone makes.
CHANCES = 1000


@dataclass(frozen=True)
class Change:
    """A figure before and after, and the interval of the difference."""

    before: float
    after: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.before:.3f} → {self.after:.3f} ({self.after - self.before:+.3f}; {self.low:+.3f} to {self.high:+.3f})"


class Bench:
    """One set: its rows, and what the judge says of them as it is."""

    def __init__(self, judge: RefitJudge, dev: list[ClaimRow], test: list[ClaimRow]) -> None:
        self.judge, self.dev, self.test = judge, dev, test
        self.plain = dict(zip(
            (row.row_id for row in [*dev, *test]), judge.judge_with(None, _triples([*dev, *test])), strict=True,
        ))

    def said(self, rows: Sequence[ClaimRow]) -> list[Judgement]:
        return [self.plain[row.row_id] for row in rows]


def _triples(rows: Sequence[ClaimRow]) -> list[tuple[str, str, str | None]]:
    return [(row.claim, row.evidence, None) for row in rows]


def _folds(rows: Sequence[ClaimRow]) -> Floats:
    """Fold of each row by its question: questions dealt out in a fixed shuffled order, so that folds are alike."""
    groups = sorted({row.group for row in rows}, key=lambda group: share("recalibration", group))
    place = {group: number % FOLDS for number, group in enumerate(groups)}
    return np.asarray([place[row.group] for row in rows])


def _change(rows: Sequence[ClaimRow], figures: tuple[object, object], statistic: object) -> Change:
    before, after = (statistic(figure, np.arange(len(rows))) for figure in figures)  # type: ignore[operator]
    interval = resampled_items(
        [row.group for row in rows], len(rows),
        lambda chosen: statistic(figures[1], chosen) - statistic(figures[0], chosen),  # type: ignore[operator]
    ) or (float("nan"), float("nan"))
    return Change(before, after, *interval)


# --- confidence
@dataclass(frozen=True)
class Confidence:
    """Calibration error and Brier score of the stated and of the cross-fitted confidence.

    `chance` is the calibration error that confidences like the fitted ones show if every one of them is exactly right.
    """

    error: Change
    brier: Change
    chance: float


def confidence(bench: Bench, rows: list[ClaimRow]) -> Confidence:
    said = bench.said(rows)
    stated = [j.confidence or 0.0 for j in said]
    right = [j.verdict == row.verdict for j, row in zip(said, rows, strict=True)]
    folds, scaled = _folds(rows), np.zeros(len(rows))
    for fold in range(FOLDS):
        inside = np.flatnonzero(folds != fold)
        scale = fit_scale(
            [stated[i] for i in inside], [right[i] for i in inside], [said[i].verdict or "" for i in inside],
            [rows[i].group for i in inside],
        )
        for i in np.flatnonzero(folds == fold):
            scaled[i] = scale.apply(stated[i], said[i].verdict or "")
    truth = np.asarray(right, dtype=float)

    def error(figure: Floats, chosen: Floats) -> float:
        return calibration_error(figure[chosen], truth[chosen])

    def brier(figure: Floats, chosen: Floats) -> float:
        return float(((figure[chosen] - truth[chosen]) ** 2).mean())

    draw = np.random.default_rng(0)
    chance = [calibration_error(scaled, (draw.random(len(rows)) < scaled).astype(float)) for _ in range(CHANCES)]
    figures = np.asarray(stated), scaled
    return Confidence(_change(rows, figures, error), _change(rows, figures, brier), float(np.mean(chance)))


# --- the last layer
def labels_for(bench: Bench, rows: Sequence[ClaimRow], fold: int, folds: Floats) -> list[ClaimRow]:
    """At most 200 labels outside the fold: dev rows first."""
    other = [row for row, place in zip(rows, folds, strict=True) if place != fold]
    held = {row.group for row, place in zip(rows, folds, strict=True) if place == fold}
    dev = [row for row in bench.dev if row.group not in held]
    known = {row.row_id for row in dev}
    shuffled = sorted((row for row in other if row.row_id not in known), key=lambda row: share("labels", row.row_id))
    return [*sorted(dev, key=lambda row: share("labels", row.row_id)), *shuffled][:LABELS]


def fitted(judge: RefitJudge, labels: Sequence[ClaimRow]) -> Refit:
    """What the product does with these labels, by the same functions."""
    asked = [(row, pair) for row in labels if (pair := judge.pair(row.claim, row.evidence))]
    known = [row for row, _ in asked]
    rows = np.asarray(judge.recorder.predict([pair for _, pair in asked]), dtype=float)

    def verdicts(layer: Layer | None, places: Sequence[int]) -> list[Verdict | None]:
        return [j.verdict for j in judge.judge_with(layer, _triples([known[place] for place in places]))]

    return refit(rows, [Verdict(row.verdict) for row in known], [row.group for row in known], verdicts)


@dataclass(frozen=True)
class Layered:
    """What refitting did: fits that were used, labels per fit, and balanced accuracy."""

    used: int
    labels: int
    accuracy: Change


def last_layer(bench: Bench, rows: list[ClaimRow]) -> Layered:
    """Balanced accuracy before and after, every row judged by a layer that didn't see its question."""
    folds, said = _folds(rows), bench.said(rows)
    after: list[Judgement] = list(said)
    used, sizes, cache = 0, [], {}
    for fold in range(FOLDS):
        labels = labels_for(bench, rows, fold, folds)
        key = tuple(row.row_id for row in labels)
        if key not in cache:
            cache[key] = fitted(bench.judge, labels)
        found = cache[key]
        used += found.layer is not None
        sizes.append(len(labels))
        places = np.flatnonzero(folds == fold)
        if found.layer is not None:
            for place, judgement in zip(
                places, bench.judge.judge_with(found.layer, _triples([rows[i] for i in places])), strict=True,
            ):
                after[place] = judgement
    truth = [Verdict(row.verdict) for row in rows]

    def accuracy(figure: Sequence[Verdict | None], chosen: Floats) -> float:
        return supports_accuracy([truth[i] for i in chosen], [figure[i] for i in chosen])

    figures = [j.verdict for j in said], [j.verdict for j in after]
    return Layered(used, round(float(np.mean(sizes))), _change(rows, figures, accuracy))


# --- the table
HEAD = (
    "| set | rows (questions) | calibration error before → after (difference; 95 %) | by chance alone "
    "| Brier score before → after (difference; 95 %) | balanced accuracy, refitted (difference) | labels per fit "
    "| fits used |\n|---|---|---|---|---|---|---|---|"
)


def line(name: str, rows: list[ClaimRow], sure: Confidence, layer: Layered) -> str:
    questions = int(group_index([row.group for row in rows], len(rows)).max()) + 1
    return (f"| {name} | {len(rows)} ({questions}) | {sure.error} | {sure.chance:.3f} | {sure.brier} | {layer.accuracy} | "
            f"{layer.labels} | {layer.used} of {FOLDS} |")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.recalibration", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--final", action="store_true", help="score the test rows; to be run once")
    parser.add_argument("--write", action="store_true", help=f"write docs/benchmarks/{DOCUMENT.name}")
    options = parser.parse_args(arguments)
    model = EntailmentModel.open()
    lines, halved, better, gained, evident, began = [HEAD], 0, 0, 0, 0, perf_counter()
    print(HEAD, flush=True)
    for name in options.sets.split(","):
        dev = load_claims(name, "dev")
        test = load_claims(name, "test") if options.final else []
        bench = Bench(RefitJudge(model), dev, test)
        rows = test or dev
        sure, layer = confidence(bench, [*dev, *test]), last_layer(bench, rows)
        halved += sure.error.after <= sure.error.before / 2
        better += sure.brier.high < 0
        gained += layer.accuracy.after > layer.accuracy.before
        evident += layer.accuracy.low > 0
        lines.append(line(name, rows, sure, layer))
        print(lines[-1], flush=True)
    sets = len(options.sets.split(","))
    said = (
        f"Calibration error halved or better in {halved} of {sets} sets; the Brier score fell in {better} of {sets} with an "
        f"interval below 0; balanced accuracy gained by refitting in {gained} of "
        f"{sets}, in {evident} with an interval above 0. "
        "Calibration changes confidences only, so balanced accuracy stays as it was under “before”."
    )
    print(f"\n{said} ({perf_counter() - began:.0f} s)")
    if options.write:
        _write(lines, said, model.model_id, final=options.final)
    return 0


def _write(lines: list[str], said: str, model_id: str, *, final: bool) -> None:
    which = "dev and test rows (confidence), test rows (refitting)" if final else "dev rows"
    command = "python -m benchmarks.recalibration" + (" --final" if final else "")
    DOCUMENT.parent.mkdir(parents=True, exist_ok=True)
    DOCUMENT.write_text(
        f"## What reviewers' labels do for the local judge\n\n`{command}`, model {model_id}, {which}. Labels of public claim "
        "sets stand in for reviewers' labels.\nConfidence: the scale is fitted on four fifths of the questions and applied to "
        "the fifth that it hasn't seen; “by chance alone” is the calibration "
        "error that\nexactly right confidences would show on so many rows. Refitting: the last\n"
        "layer is fitted on at most 200 labels of the set (dev rows, topped "
        "up from test rows of other folds) and used only if it helps on\nleft-out questions; no row is judged by a "
        f"layer that saw its question. Intervals resample questions; "
        f"rows are those of refitting.\n\n{chr(10).join(lines)}\n\n{said}\n", encoding="utf-8",
    )


if __name__ == "__main__":
    sys.exit(main())
