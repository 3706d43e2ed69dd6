"""From labelled items to what is known of a judge: which labels count, and every measure on them.

In: items with reviewers' labels and the judgements of one judge. Out: pairs that may be compared, what was left out
and why, and a `Report`. Only labels given before the verdict was shown count; labels that exist only where somebody
overruled the judge are refused, because they can't tell how often it is right.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from enum import StrEnum

from pydantic import Field

from litrag.agreement import (
    LABELS,
    ClassMeasures,
    Table,
    accuracy,
    balanced_accuracy,
    collapsed,
    gwet_ac1,
    kappa,
    krippendorff_alpha,
    mcc,
    ordered_kappa,
    per_class,
)
from litrag.errors import InputError
from litrag.estimates import Estimate, proportion
from litrag.labels import Label, Status
from litrag.models import Judgement, Model, Span, Verdict
from litrag.rates import (
    Correction,
    PlanRow,
    corrected_rate,
    design_weights,
    false_alarm,
    false_reassurance,
    plan,
    prediction_powered_rate,
    reviewer_ceiling,
    wrong_when,
)
from litrag.sampling import Split, Stratum

#: Who decides a verdict that no judge is asked for: code that looks the quote up.
QUOTE_CHECK = "locator"

#: With fewer labels than this, none of them agreeing with the judge says nothing about how they came about.
_OVERRIDES_FROM = 5


class JudgeKey(Model):
    """Which judge gave a verdict: the same key, the same errors."""

    judge: str
    model: str = ""
    version: str = ""

    @classmethod
    def of(cls, judgement: Judgement) -> JudgeKey:
        return cls(judge=judgement.judge, model=judgement.model, version=judgement.version)

    @property
    def name(self) -> str:
        parts = [self.judge, self.model if self.model != self.judge else "", f"v{self.version}" if self.version else ""]
        return " ".join(part for part in parts if part)


class LabelledItem(Model):
    """One citation of one claim with all that reviewers and judges said of it; latest judgement per judge."""

    item_id: str
    question_id: str
    split: Split
    claim: str
    passage: str = ""
    quote: str = ""
    quote_spans: tuple[Span, ...] = ()
    stratum: Stratum = Stratum.CHOSEN
    probability: float | None = None
    labels: tuple[Label, ...] = ()
    gold: Verdict | None = None
    judgements: tuple[Judgement, ...] = ()

    def judgement_of(self, key: JudgeKey) -> Judgement | None:
        return next((j for j in self.judgements if JudgeKey.of(j) == key), None)

    @property
    def checked_by_code(self) -> Judgement | None:
        """The quote check's verdict, where the quote was found false and no judge was asked."""
        return next((j for j in self.judgements if j.judge == QUOTE_CHECK), None)


class Pair(Model):
    """A reviewer's verdict beside the judge's."""

    item_id: str
    question_id: str
    split: Split
    human: Verdict
    judge: Verdict
    confidence: float | None = None
    unsure: bool = False
    stratum: Stratum = Stratum.CHOSEN
    probability: float | None = None

    @property
    def right(self) -> bool:
        return self.human is self.judge


class LeftOut(StrEnum):
    """Why an item is in no measure."""

    NO_LABEL = "no label yet"
    SKIPPED = "skipped by the reviewer"
    SEEN = "labelled after the verdict was shown"
    DISAGREE = "reviewers disagree and nobody has adjudicated"
    DISCUSS = "flagged for discussion"
    UNKNOWN = "a word that is no verdict"
    NOT_JUDGED = "not judged by this judge"
    UNJUDGED = "the judge gave no verdict"
    QUOTE_CHECK = "decided by the quote check, not by the judge"


class Sorted(Model):
    """Pairs that count, and the items that don't by reason."""

    pairs: tuple[Pair, ...] = ()
    left_out: dict[LeftOut, tuple[str, ...]] = Field(default_factory=dict)

    @property
    def counts(self) -> dict[str, int]:
        return {reason.value: len(items) for reason, items in self.left_out.items()}


# --- which labels count
def reference(item: LabelledItem) -> Verdict | LeftOut:
    """What reviewers say of an item: the adjudicated label, else the majority of blind ones; or why nothing counts."""
    blind = [label.blind_verdict for label in item.labels if label.blind_verdict is not None]
    if not blind:
        return _why_no_label(item.labels)
    if item.gold is not None:
        return item.gold
    if any(label.flagged for label in item.labels):
        return LeftOut.DISCUSS
    (first, most), *others = Counter(blind).most_common(2)
    return LeftOut.DISAGREE if others and others[0][1] == most else first


def _why_no_label(labels: Sequence[Label]) -> LeftOut:
    if any(label.verdict is not None for label in labels):
        return LeftOut.SEEN
    return LeftOut.SKIPPED if any(label.status is Status.SKIPPED for label in labels) else LeftOut.NO_LABEL


def sort_out(items: Iterable[LabelledItem], key: JudgeKey) -> Sorted:
    """Pair what reviewers and one judge say; each item that can't be paired is listed with its reason."""
    pairs: list[Pair] = []
    left_out: dict[LeftOut, list[str]] = {}
    for item in items:
        found = _pair(item, key)
        if isinstance(found, Pair):
            pairs.append(found)
        else:
            left_out.setdefault(found, []).append(item.item_id)
    return Sorted(pairs=tuple(pairs), left_out={reason: tuple(ids) for reason, ids in left_out.items()})


def _pair(item: LabelledItem, key: JudgeKey) -> Pair | LeftOut:
    human = reference(item)
    if isinstance(human, LeftOut):
        return human
    judgement = item.judgement_of(key)
    if judgement is None:
        return LeftOut.QUOTE_CHECK if item.checked_by_code else LeftOut.NOT_JUDGED
    if judgement.verdict is None:
        return LeftOut.UNJUDGED
    stated = judgement.confidence if judgement.stated_confidence is None else judgement.stated_confidence
    return Pair(
        item_id=item.item_id, question_id=item.question_id, split=item.split, human=human, judge=judgement.verdict,
        confidence=stated, unsure=judgement.unsure, stratum=item.stratum, probability=item.probability,
    )


def pairs_of_words(rows: Iterable[tuple[str | None, str | None]]) -> Sorted:
    """Pairs from plain words (judge, reviewer), as a table has them: spaces and case don't matter, blanks never match."""
    pairs: list[Pair] = []
    left_out: dict[LeftOut, list[str]] = {}
    for place, (judge, human) in enumerate(rows, start=1):
        name = f"row {place}"
        said, label = _word(judge), _word(human)
        if isinstance(said, Verdict) and isinstance(label, Verdict):
            pairs.append(Pair(item_id=name, question_id=name, split=Split.DEV, human=label, judge=said))
            continue
        blank = LeftOut.NO_LABEL if label is None else LeftOut.UNJUDGED
        reason = LeftOut.UNKNOWN if isinstance(said, str) and not isinstance(said, Verdict) and label else blank
        if isinstance(label, str) and not isinstance(label, Verdict):
            reason = LeftOut.UNKNOWN
        left_out.setdefault(reason, []).append(name)
    return Sorted(pairs=tuple(pairs), left_out={reason: tuple(ids) for reason, ids in left_out.items()})


def _word(text: str | None) -> Verdict | str | None:
    word = "_".join((text or "").casefold().split())
    return Verdict(word) if word in set(LABELS) else word or None


def check_usable(found: Sorted) -> None:
    """Refuse labels that can't calibrate: none that count, or only overrides."""
    seen = len(found.left_out.get(LeftOut.SEEN, ()))
    if not found.pairs:
        remedy = f"{seen} labels were given after the verdict was shown" if seen else "label some items on the Review page"
        raise InputError(f"no blind label of an item that this judge has judged: {remedy}")
    if len(found.pairs) >= _OVERRIDES_FROM and not any(pair.right for pair in found.pairs):
        raise InputError(
            f"all {len(found.pairs)} labels differ from the judge: labels that exist only where somebody overruled it "
            "can't tell how often it is right; label a uniform sample, blind"
        )


def labels_hash(pairs: Iterable[Pair]) -> str:
    """Changes with any label that counts."""
    text = "\n".join(sorted(f"{pair.item_id} {pair.human}" for pair in pairs))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def representative(pairs: Sequence[Pair]) -> tuple[Pair, ...]:
    """The pairs that rates may be computed on as they are: the uniform sample, or all when none was drawn."""
    uniform = tuple(pair for pair in pairs if pair.stratum is Stratum.UNIFORM)
    return uniform or tuple(pairs)


# --- what is known
class Agreement(Model):
    """How far reviewer and judge agree."""

    accuracy: Estimate
    kappa: Estimate
    ordered_kappa: Estimate
    alpha: Estimate
    ac1: Estimate
    mcc: Estimate
    balanced_accuracy: Estimate
    supports_balanced_accuracy: Estimate
    classes: tuple[ClassMeasures, ...]
    table: tuple[tuple[int, ...], ...]


class Errors(Model):
    """How often the judge misleads."""

    false_reassurance: Estimate
    false_alarm: Estimate
    wrong: dict[str, Estimate]
    weighted_false_reassurance: Estimate | None = None
    basis: str = ""


class Reviewers(Model):
    """How far reviewers agree with each other, blind: no judge can be asked to do better."""

    items: int
    agreement: Estimate
    kappa: Estimate
    alpha: Estimate
    false_reassurance: Estimate


class Anchoring(Model):
    """What seeing the verdict does to labels: agreement with the judge before and after, and who moved where."""

    revealed: int
    before: Estimate
    after: Estimate
    towards: int
    away: int


class Report(Model):
    """Everything that the labels say of one judge."""

    judge: JudgeKey
    made_at: datetime = Field(default_factory=lambda: datetime.now(UTC))
    labels_hash: str
    n: int
    splits: dict[str, int]
    left_out: dict[str, int]
    unsure: int
    agreement: Agreement
    errors: Errors
    quote_check: Estimate
    reviewers: Reviewers
    anchoring: Anchoring
    unlabelled: Correction
    powered: Estimate
    plan: tuple[PlanRow, ...]


def measure(
    items: Sequence[LabelledItem], key: JudgeKey, *, unlabelled: Sequence[tuple[str, Verdict]] = (),
) -> Report:
    """All measures of one judge. `unlabelled`: (question, verdict) of its judgements that nobody labelled."""
    found = sort_out(items, key)
    check_usable(found)
    pairs = found.pairs
    errors = error_rates(pairs)
    expected = errors.false_reassurance.value
    correction, powered = _unlabelled_rates(representative(pairs), unlabelled)
    return Report(
        judge=key, labels_hash=labels_hash(pairs), n=len(pairs), splits=dict(Counter(p.split.value for p in pairs)),
        left_out=found.counts, unsure=sum(p.unsure for p in pairs), agreement=agreement(pairs), errors=errors,
        quote_check=quote_check(items), reviewers=between_reviewers(items), anchoring=anchoring(items, key),
        unlabelled=correction, powered=powered, plan=plan(0.05 if expected is None else max(expected, 0.01)),
    )


def agreement(pairs: Sequence[Pair]) -> Agreement:
    human, judge, groups = _columns(pairs)
    table = Table(human, judge, groups)
    return Agreement(
        accuracy=accuracy(table), kappa=kappa(table), ordered_kappa=ordered_kappa(human, judge, groups),
        alpha=krippendorff_alpha(list(zip(human, judge, strict=True)), groups), ac1=gwet_ac1(table), mcc=mcc(table),
        balanced_accuracy=balanced_accuracy(table),
        supports_balanced_accuracy=balanced_accuracy(collapsed(table, Verdict.SUPPORTS)), classes=per_class(table),
        table=tuple(tuple(int(cell) for cell in row) for row in table.counts) if table.n else (),
    )


def _columns(pairs: Sequence[Pair]) -> tuple[list[Verdict], list[Verdict], list[str]]:
    return [p.human for p in pairs], [p.judge for p in pairs], [p.question_id for p in pairs]


def error_rates(pairs: Sequence[Pair]) -> Errors:
    """Error rates on the uniform sample, or, where none was drawn, on the items as they are, which is then said."""
    chosen = representative(pairs)
    human, judge, groups = _columns(chosen)
    weighted = None
    if any(pair.stratum in (Stratum.UNCERTAIN, Stratum.RARE) for pair in pairs):
        weights = design_weights([p.stratum for p in pairs], [p.probability for p in pairs])
        weighted = false_reassurance(*_columns(pairs), weights=weights)
    drawn = any(pair.stratum is Stratum.UNIFORM for pair in pairs)
    return Errors(
        false_reassurance=false_reassurance(human, judge, groups), false_alarm=false_alarm(human, judge, groups),
        wrong={verdict.value: wrong_when(verdict, human, judge, groups) for verdict in LABELS},
        weighted_false_reassurance=weighted,
        basis="uniform sample" if drawn else "items picked by hand: rates hold for these items only",
    )


def quote_check(items: Iterable[LabelledItem]) -> Estimate:
    """Share of quotes that code calls hallucinated and reviewers don't; no judge is involved."""
    found = [(item, reference(item)) for item in items if item.checked_by_code]
    labelled = [(item, human) for item, human in found if isinstance(human, Verdict)]
    return proportion(
        [human is not Verdict.HALLUCINATED_QUOTE for _, human in labelled],
        [item.question_id for item, _ in labelled], none_reason="no quote that failed the check is labelled",
    )


def between_reviewers(items: Iterable[LabelledItem]) -> Reviewers:
    """Agreement of blind labels on items that several reviewers labelled; κ only where it is one pair of reviewers."""
    rows: list[dict[str, Verdict]] = []
    groups: list[str] = []
    for item in items:
        blind = {label.reviewer_id: label.blind_verdict for label in item.labels if label.blind_verdict is not None}
        if len(blind) > 1:
            rows.append(blind)
            groups.append(item.question_id)
    first_two = [sorted(row)[:2] for row in rows]
    table = Table(
        [row[a] for row, (a, _) in zip(rows, first_two, strict=True)],
        [row[b] for row, (_, b) in zip(rows, first_two, strict=True)], groups,
    )
    return Reviewers(
        items=len(rows), agreement=accuracy(table), kappa=kappa(table),
        alpha=krippendorff_alpha([list(row.values()) for row in rows], groups),
        false_reassurance=reviewer_ceiling([list(row.values()) for row in rows], groups),
    )


def anchoring(items: Iterable[LabelledItem], key: JudgeKey) -> Anchoring:
    """Labels given blind and kept or revised after the verdict was shown."""
    rows: list[tuple[bool, bool, str]] = []
    moved = Counter[str]()
    for item in items:
        judgement = item.judgement_of(key)
        for label in item.labels:
            if judgement is None or judgement.verdict is None or label.blind_verdict is None or label.verdict is None:
                continue
            if label.status not in (Status.KEPT, Status.REVISED):
                continue
            before, after = label.blind_verdict is judgement.verdict, label.verdict is judgement.verdict
            rows.append((before, after, item.question_id))
            moved["towards"] += after and not before
            moved["away"] += before and not after
    groups = [question for _, _, question in rows]
    reason = "no blind label was kept or revised after the verdict was shown"
    return Anchoring(
        revealed=len(rows), before=proportion([b for b, _, _ in rows], groups, none_reason=reason),
        after=proportion([a for _, a, _ in rows], groups, none_reason=reason),
        towards=moved["towards"], away=moved["away"],
    )


def _unlabelled_rates(
    pairs: Sequence[Pair], unlabelled: Sequence[tuple[str, Verdict]],
) -> tuple[Correction, Estimate]:
    human, judge, groups = _columns(pairs)
    truth, said = [h is Verdict.SUPPORTS for h in human], [j is Verdict.SUPPORTS for j in judge]
    rest = [verdict is Verdict.SUPPORTS for _, verdict in unlabelled]
    more = [question for question, _ in unlabelled]
    return (
        corrected_rate(rest, truth, said, judged_groups=more, groups=groups),
        prediction_powered_rate(truth, said, rest, groups=groups, judged_groups=more),
    )


# --- in plain words
#: Checked verdicts below which a rate is called unknown rather than small.
FEW = 30


def trust(errors: Errors | None, reviewers: Reviewers | None = None) -> str:
    """How much a reader may trust this judge, in two sentences."""
    rate = errors.false_reassurance if errors else None
    if rate is None or rate.value is None or rate.low is None or rate.high is None:
        return (
            "Nobody has checked this judge's *supports* yet, so nothing is known about how often it is wrong. "
            "Read every source yourself until at least 50 of them have been labelled blind."
        )
    counted = f"{rate.hits} of the {rate.n} *supports* that reviewers checked blind were wrong"
    interval = f"the true rate could lie anywhere between {100 * rate.low:.1f} and {100 * rate.high:.1f} %"
    if rate.n < FEW:
        return f"Only {rate.n} *supports* have been checked: {counted}, and {interval}. That is too few to rely on."
    second = f"With 95 % confidence {interval}: expect up to one wrong *supports* in {max(1, int(1 / rate.high))}."
    ceiling = reviewers.false_reassurance if reviewers else None
    if ceiling is not None and ceiling.value is not None and ceiling.n >= FEW:
        second = second.removesuffix(".") + f"; reviewers contradict each other's *supports* in {ceiling.in_words()}."
    return f"{counted} ({100 * rate.value:.1f} %). {second}"
