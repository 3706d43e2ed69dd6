"""How far two sets of labels agree: confusion tables, per-class measures, chance-corrected coefficients.

In: a table of counts (rows: reviewer, columns: judge, one fixed order of labels) or ratings per item. Out: estimates
with intervals. Measures that the data leave undefined say why: one label only, a verdict never given, no items.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

import numpy as np

from litrag.estimates import Estimate, Floats, Statistic, effective_size, group_index, resampled, undefined, wilson
from litrag.models import Model, Verdict

#: The order of rows and columns in every table.
LABELS = tuple(Verdict)

#: Verdicts that have an order; κ is weighted over these only.
ORDERED = (Verdict.CONTRADICTS, Verdict.PARTIAL, Verdict.SUPPORTS)

NO_ITEMS = "no labels yet"
ONE_LABEL = "only one label used"


class ClassMeasures(Model):
    """Precision, recall and F1 of one verdict."""

    verdict: Verdict
    precision: Estimate
    recall: Estimate
    f1: Estimate


class Table:
    """Counts of (reviewer's label, judge's verdict), kept per question so that intervals can resample questions."""

    def __init__(
        self, human: Sequence[str], judge: Sequence[str], groups: Sequence[Hashable] | None = None, *,
        labels: Sequence[str] = LABELS, rounds: int = 2000,
    ) -> None:
        self.rounds = rounds
        self.labels = tuple(labels)
        size = len(self.labels)
        place = {label: i for i, label in enumerate(self.labels)}
        cells = np.asarray([place[h] * size + place[j] for h, j in zip(human, judge, strict=True)], dtype=np.int64)
        self.groups = group_index(groups, len(cells))
        count = int(self.groups.max()) + 1 if len(cells) else 0
        flat = np.bincount(self.groups * size * size + cells, minlength=count * size * size)
        self.by_group: Floats = flat.reshape(count, size * size).astype(float)
        self.cells = cells

    @property
    def n(self) -> int:
        return len(self.cells)

    @property
    def counts(self) -> Floats:
        """Rows: reviewer's label; columns: judge's verdict."""
        size = len(self.labels)
        table: Floats = self.by_group.sum(axis=0).reshape(size, size)
        return table

    def estimate(self, statistic: Statistic, why_not: str, *, seed: int = 0) -> Estimate:
        """A statistic of flat tables with an interval over questions; `why_not` explains where it is NaN."""
        if self.n == 0:
            return undefined(NO_ITEMS)
        value = float(statistic(self.counts.reshape(1, -1))[0])
        if math.isnan(value):
            return undefined(why_not, self.n)
        interval = resampled(self.by_group, statistic, rounds=self.rounds, seed=seed)
        if interval is None or interval[0] == interval[1]:
            return Estimate(value=value, n=self.n, method="too little variation for an interval")
        return Estimate(
            value=value, low=interval[0], high=interval[1], n=self.n, method="bootstrap over questions",
        )

    def share(self, of: Sequence[bool], among: Sequence[bool], none_reason: str) -> Estimate:
        """Share of cells `of` among cells `among` (masks over the flat table), Wilson with grouping."""
        chosen = np.asarray(among)[self.cells] if self.n else np.zeros(0, dtype=bool)
        flags = np.asarray(of)[self.cells[chosen]].astype(float)
        if not len(flags):
            return undefined(none_reason)
        size = effective_size(flags, self.groups[chosen].tolist(), np.ones(len(flags)))
        low, high = wilson(float(flags.mean()) * size, size)
        return Estimate(
            value=float(flags.mean()), low=low, high=high, n=len(flags), hits=int(flags.sum()), method="Wilson",
        )


# --- agreement
def accuracy(table: Table) -> Estimate:
    """Share of items with the same label."""
    size = len(table.labels)
    return table.share(np.eye(size, dtype=bool).ravel().tolist(), [True] * size**2, NO_ITEMS)


def kappa(table: Table) -> Estimate:
    """Cohen's κ, nominal."""
    size = len(table.labels)
    return table.estimate(_kappas(1.0 - np.eye(size)), ONE_LABEL)


def ordered_kappa(
    human: Sequence[str], judge: Sequence[str], groups: Sequence[Hashable] | None = None, *, rounds: int = 2000,
) -> Estimate:
    """Cohen's κ with linear weights over contradicts < partial < supports; items with other labels are left out."""
    groups = list(range(len(human))) if groups is None else groups
    kept = [
        (h, j, g) for h, j, g in zip(human, judge, groups, strict=True) if h in ORDERED and j in ORDERED
    ]
    if not kept:
        return undefined("no item where both chose contradicts, partial or supports")
    table = Table([h for h, _, _ in kept], [j for _, j, _ in kept], [g for _, _, g in kept], labels=ORDERED, rounds=rounds)
    places = np.arange(len(ORDERED))
    distance = np.abs(places[:, None] - places[None, :]).astype(float)
    return table.estimate(_kappas(distance), ONE_LABEL)


def _kappas(distance: Floats) -> Statistic:
    """κ of flat tables as 1 − observed/expected disagreement; NaN where chance alone would agree always."""
    size = len(distance)

    def statistic(flat: Floats) -> Floats:
        tables = flat.reshape(-1, size, size)
        n = tables.sum(axis=(1, 2))
        rows, columns = tables.sum(axis=2), tables.sum(axis=1)
        expected = np.einsum("bi,ij,bj->b", rows, distance, columns)
        observed = (tables * distance).sum(axis=(1, 2)) * n
        return 1.0 - _divide(observed, expected)

    return statistic


def mcc(table: Table) -> Estimate:
    """Matthews' correlation for several classes (R_K)."""
    size = len(table.labels)

    def statistic(flat: Floats) -> Floats:
        tables = flat.reshape(-1, size, size)
        n, right = tables.sum(axis=(1, 2)), np.einsum("bii->b", tables)
        rows, columns = tables.sum(axis=2), tables.sum(axis=1)
        above = right * n - (rows * columns).sum(axis=1)
        below = np.sqrt((n**2 - (rows**2).sum(axis=1)) * (n**2 - (columns**2).sum(axis=1)))
        return _divide(above, below)

    return table.estimate(statistic, "the judge or the reviewers used only one label")


def gwet_ac1(table: Table) -> Estimate:
    """Gwet's AC1 over the labels of the table, whether or not each occurs."""
    size = len(table.labels)

    def statistic(flat: Floats) -> Floats:
        tables = flat.reshape(-1, size, size)
        n = tables.sum(axis=(1, 2))
        share = (tables.sum(axis=2) + tables.sum(axis=1)) / (2 * n[:, None])
        chance = (share * (1 - share)).sum(axis=1) / (size - 1)
        coefficient: Floats = (np.einsum("bii->b", tables) / n - chance) / (1 - chance)
        return coefficient

    return table.estimate(statistic, "a single label is offered")


def balanced_accuracy(table: Table) -> Estimate:
    """Mean recall over the labels that reviewers used; interval from the recalls' own (MOVER), so never of width 0."""
    recalls = [recall for recall in (_recall(table, i) for i in range(len(table.labels))) if recall.defined]
    if not recalls:
        return undefined(NO_ITEMS)
    if len(recalls) < 2:
        return undefined("reviewers used only one label", table.n)
    values = [(r.value or 0.0, r.low or 0.0, 1.0 if r.high is None else r.high) for r in recalls]
    mean = sum(v for v, _, _ in values) / len(values)
    below = math.sqrt(sum((v - low) ** 2 for v, low, _ in values)) / len(values)
    above = math.sqrt(sum((high - v) ** 2 for v, _, high in values)) / len(values)
    return Estimate(value=mean, low=max(0.0, mean - below), high=min(1.0, mean + above), n=table.n, method="MOVER")


def collapsed(table: Table, label: str, *, name: str = "rest") -> Table:
    """The same items as `label` against the rest."""
    size = len(table.labels)
    place = table.labels.index(label)
    human = [label if cell // size == place else name for cell in table.cells]
    judge = [label if cell % size == place else name for cell in table.cells]
    return Table(human, judge, table.groups.tolist(), labels=(label, name))


# --- per class
def per_class(table: Table) -> tuple[ClassMeasures, ...]:
    """Precision, recall and F1 of each label of the table."""
    return tuple(
        ClassMeasures(
            verdict=Verdict(label), precision=_precision(table, i), recall=_recall(table, i), f1=_f1(table, i),
        )
        for i, label in enumerate(table.labels)
    )


def _masks(size: int, place: int) -> tuple[list[bool], list[bool], list[bool]]:
    """Flat masks: reviewer says it, judge says it, both do."""
    row, column = np.zeros((size, size), dtype=bool), np.zeros((size, size), dtype=bool)
    row[place, :] = True
    column[:, place] = True
    return row.ravel().tolist(), column.ravel().tolist(), (row & column).ravel().tolist()


def _recall(table: Table, place: int) -> Estimate:
    row, _, both = _masks(len(table.labels), place)
    return table.share(both, row, f"no item is labelled {table.labels[place]}")


def _precision(table: Table, place: int) -> Estimate:
    _, column, both = _masks(len(table.labels), place)
    return table.share(both, column, f"the judge never says {table.labels[place]}")


def _f1(table: Table, place: int) -> Estimate:
    """F1 = 2J / (1 + J) with J the share of items with both among items with either, so J's interval carries over."""
    row, column, both = _masks(len(table.labels), place)
    either = [a or b for a, b in zip(row, column, strict=True)]
    overlap = table.share(both, either, f"nobody says {table.labels[place]}")
    if overlap.value is None or overlap.low is None or overlap.high is None:
        return overlap
    value, low, high = (2 * j / (1 + j) for j in (overlap.value, overlap.low, overlap.high))
    return Estimate(value=value, low=low, high=high, n=overlap.n, method="Wilson")


# --- several reviewers
def krippendorff_alpha(
    ratings: Sequence[Sequence[str | None]], groups: Sequence[Hashable] | None = None, *, rounds: int = 2000,
) -> Estimate:
    """Krippendorff's α, nominal: one row of ratings per item; None is missing, and items with one rating drop out."""
    rows = [[value for value in row if value is not None] for row in ratings]
    kept = [i for i, row in enumerate(rows) if len(row) > 1]
    if not kept:
        return undefined("no item with two labels")
    labels = sorted({value for i in kept for value in rows[i]})
    places = {label: i for i, label in enumerate(labels)}
    index = group_index(None if groups is None else [groups[i] for i in kept], len(kept))
    counts = np.zeros((int(index.max()) + 1, len(labels) ** 2))
    for group, i in zip(index, kept, strict=True):
        counts[group] += _coincidences([places[value] for value in rows[i]], len(labels))
    return _alpha(counts, len(labels), len(kept), rounds)


def _coincidences(values: Sequence[int], size: int) -> Floats:
    """Pairs of ratings within one item, each item weighing as much as it has ratings."""
    found = np.bincount(values, minlength=size).astype(float)
    pairs = np.outer(found, found) - np.diag(found)
    result: Floats = (pairs / (len(values) - 1)).ravel()
    return result


def _alpha(counts: Floats, size: int, items: int, rounds: int) -> Estimate:
    def statistic(flat: Floats) -> Floats:
        tables = flat.reshape(-1, size, size)
        n, margin = tables.sum(axis=(1, 2)), tables.sum(axis=2)
        observed = n - np.einsum("bii->b", tables)
        expected = (n**2 - (margin**2).sum(axis=1)) / np.maximum(n - 1, 1)
        return 1.0 - _divide(observed, expected)

    value = float(statistic(counts.sum(axis=0).reshape(1, -1))[0])
    if math.isnan(value):
        return undefined(ONE_LABEL, items)
    interval = resampled(counts, statistic, rounds=rounds)
    if interval is None or interval[0] == interval[1]:
        return Estimate(value=value, n=items, method="too little variation for an interval")
    return Estimate(value=value, low=interval[0], high=interval[1], n=items, method="bootstrap over questions")


def _divide(above: Floats, below: Floats) -> Floats:
    """Quotients, NaN where the divisor is 0."""
    result = np.full(len(below), np.nan)
    np.divide(above, below, out=result, where=below > 1e-12)
    return result
