"""From the store to a calibration profile and back: composes the calibration's parts, as the pipeline does its own.

In: the store of runs and reviews, a judge. Out: what its labels say (`calibrate`), how two judges differ (`compare`),
and judgements added by a judge that was not there before (`rescore`). Labels and old judgements are only read.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
from pydantic import ValidationError
from sqlalchemy import select

from litrag.calibration import (
    FEW,
    QUOTE_CHECK,
    JudgeKey,
    LabelledItem,
    LeftOut,
    Pair,
    Report,
    error_rates,
    labels_hash,
    measure,
    reference,
    representative,
    sort_out,
    trust,
)
from litrag.comparison import FEWEST_ITEMS, FEWEST_SUPPORTS, Comparison, Running, compare_pairs
from litrag.confidence import (
    Reliability,
    RiskPoint,
    Scale,
    Threshold,
    certain_threshold,
    conformal_threshold,
    fit_scale,
    reliability,
    risk_coverage,
)
from litrag.errors import InputError
from litrag.estimates import Estimate, proportion
from litrag.judges import CLASSES, Entailment
from litrag.models import Judge, Judgement, Model, Verdict
from litrag.profiles import Example, Layer, Profile, ProfileHistory, open_history
from litrag.refit import FEWEST, Refit, RefitJudge, refit, refitted_id
from litrag.reviews import Store, as_label, cited, item_id_of
from litrag.sampling import Split
from litrag.tables import adjudications, items, judgements, labels, runs

Progress = Callable[[str, int, int], None]

#: Share of verdicts that may be both shown as settled and wrong, unless told otherwise.
BOUND = 0.05

#: Latest runs whose claims count as unlabelled answers.
_RECENT_RUNS = 500

_CHUNK = 16


class Calibration(Model):
    """What `calibrate` found: the profile that is now in force, and everything that the page and the report show."""

    profile: Profile
    report: Report
    reliability_before: Reliability
    reliability_after: Reliability
    risk_coverage: tuple[RiskPoint, ...]
    certain: Threshold
    looks: int
    refit: Refit | None = None
    trust: str

    def in_words(self) -> str:
        """The calibration as text for a terminal."""
        from litrag.calibration_report import as_text

        return as_text(self)


# --- reading the store
def labelled_items(store: Store) -> list[LabelledItem]:
    """Every item that somebody labelled or skipped, with its labels, gold label and judgements."""
    with store.reading() as connection:
        said: dict[str, list[object]] = {}
        for row in connection.execute(select(labels).order_by(labels.c.item_id, labels.c.reviewer_id)).mappings():
            said.setdefault(row["item_id"], []).append(as_label(row))
        order = adjudications.c.adjudication_id
        query = select(adjudications.c.item_id, adjudications.c.verdict).order_by(order)
        gold = {item_id: Verdict(verdict) for item_id, verdict in connection.execute(query)}
        judged: dict[str, dict[str, Judgement]] = {}
        query = select(judgements.c.item_id, judgements.c.body).order_by(judgements.c.judgement_id)
        for item_id, body in connection.execute(query):
            if item_id in said:
                judgement = Judgement.model_validate_json(body)
                judged.setdefault(item_id, {})[JudgeKey.of(judgement).name] = judgement
        rows = connection.execute(select(items).order_by(items.c.seq)).mappings()
        return [
            LabelledItem.model_validate({
                "item_id": row["item_id"], "question_id": row["question_id"], "split": row["split"],
                "claim": row["claim_text"], "passage": row["passage_text"], "quote": row["quote_text"] or "",
                "stratum": row["sampling_stratum"], "probability": row["sampling_prob"],
                "labels": tuple(said[row["item_id"]]), "gold": gold.get(row["item_id"]),
                "judgements": tuple(judged.get(row["item_id"], {}).values()),
            })
            for row in rows if row["item_id"] in said
        ]


def judge_keys(found: Sequence[LabelledItem]) -> list[JudgeKey]:
    """Judges that judged labelled items, the one with most items first."""
    counts = Counter(
        JudgeKey.of(j).name for item in found for j in item.judgements if j.judge not in ("", QUOTE_CHECK)
    )
    keys = {JudgeKey.of(j).name: JudgeKey.of(j) for item in found for j in item.judgements}
    return [keys[name] for name, _ in counts.most_common()]


def key_named(found: Sequence[LabelledItem], name: str | None) -> JudgeKey:
    """The judge of that full name or id; without a name, the one with most labelled items."""
    keys = judge_keys(found)
    if not keys:
        raise InputError("no labelled item has been judged yet: score the items with a judge first (`--rescore`)")
    chosen = [key for key in keys if name is None or name in (key.name, key.judge)]
    if not chosen:
        raise InputError(f"no judge is called {name!r}; labelled items were judged by {', '.join(k.name for k in keys)}")
    return chosen[0]


def unlabelled_verdicts(store: Store, key: JudgeKey, labelled: Sequence[LabelledItem]) -> list[tuple[str, Verdict]]:
    """(question, verdict) of each citation in recent runs that this judge decided and nobody labelled."""
    known = {item.item_id for item in labelled}
    query = select(runs.c.run_id, runs.c.question_id).order_by(runs.c.created_at.desc()).limit(_RECENT_RUNS)
    with store.reading() as connection:
        recent = connection.execute(query).all()
    found: list[tuple[str, Verdict]] = []
    for run_id, question in recent:
        answer = store.run(run_id)
        for _, claim, place, citation in cited(answer) if answer else ():
            judgement = citation.judgement
            fresh = item_id_of(run_id, claim.claim_id, place) not in known
            if fresh and judgement.verdict is not None and JudgeKey.of(judgement) == key:
                found.append((question, judgement.verdict))
    return found


# --- calibrate
def calibrate(
    store: Store, *, judge: str | None = None, history: ProfileHistory | None = None, bound: float = BOUND,
    model: Entailment | None = None,
) -> Calibration:
    """Measure a judge on the blind labels, fit its confidence on dev, validate on test, and put the profile in force.

    With a `model` the local judge's last layer is refitted on dev too, and used only if that helps. Raises InputError
    when no blind label of this judge's items exists, or when there are only overrides.
    """
    history = history or open_history()
    found = labelled_items(store)
    base = key_named(found, judge)
    refitted = None
    key, unlabelled = base, unlabelled_verdicts(store, base, found)
    if model is not None:
        found, refitted = _refitted(found, base, model)
        if refitted.layer is not None:
            key, unlabelled = _key_with(base, refitted.layer), []
    report = measure(found, key, unlabelled=unlabelled)
    return _calibrated(found, report, base, history, bound=bound, refitted=refitted)


def _calibrated(
    found: Sequence[LabelledItem], report: Report, base: JudgeKey, history: ProfileHistory, *, bound: float,
    refitted: Refit | None,
) -> Calibration:
    pairs = sort_out(found, report.judge).pairs
    looks = history.look(report.judge, report.labels_hash)
    dev, test = _split(pairs, Split.DEV), _split(pairs, Split.TEST)
    scale = _fit(dev)
    show, settle, certain = _thresholds(representative(dev), scale, bound)
    before, after = _reliability(test, Scale()), _reliability(test, scale)
    layer = refitted.layer if refitted else None
    # A layer was fitted on dev: what it gets wrong there says nothing about new claims.
    fair = [p for p in pairs if p.split is Split.TEST or (layer is None and p.split is Split.DEV)]
    errors = error_rates(fair)
    profile = history.add(Profile(
        judge=report.judge, base=base, labels_hash=report.labels_hash,
        label_counts={"all": report.n, **report.splits}, scale=scale, show_supports=show, settle=settle,
        wrong=errors.wrong, false_reassurance=errors.false_reassurance, false_alarm=errors.false_alarm,
        balanced_accuracy=report.agreement.supports_balanced_accuracy, ece_before=before.ece, ece_after=after.ece,
        shown_wrong=_shown_wrong(representative(test), scale, show), looks=looks, basis=errors.basis, layer=layer,
    ))
    calibration = Calibration(
        profile=profile, report=report, reliability_before=before, reliability_after=after,
        risk_coverage=risk_coverage(_scaled(test, scale), [not p.right for p in test if p.confidence is not None]),
        certain=certain, looks=looks, refit=refitted, trust=trust(errors, report.reviewers),
    )
    history.keep_report(profile.profile_id, calibration.model_dump_json())
    return calibration


def calibration_of(history: ProfileHistory, profile: Profile) -> Calibration | None:
    """What was found when a profile was made; None for one whose report this version can't read or that has none."""
    text = history.report_of(profile.profile_id)
    try:
        return Calibration.model_validate_json(text) if text is not None else None
    except ValidationError:
        return None


class Need(Model):
    """Labels at hand for something, and how many it takes."""

    purpose: str
    have: int
    needed: int

    @property
    def met(self) -> bool:
        return self.have >= self.needed


def needs(pairs: Sequence[Pair], *, bound: float = BOUND) -> tuple[Need, ...]:
    """Blind labels of one judge's verdicts against what each use of them takes."""
    dev, test = _split(pairs, Split.DEV), _split(pairs, Split.TEST)
    supports = [p for p in pairs if p.judge is Verdict.SUPPORTS]
    questions = len({p.question_id for p in dev if p.judge is Verdict.SUPPORTS and p.confidence is not None})
    return (
        Need(purpose="error rate: supports checked by reviewers", have=len(supports), needed=FEW),
        Need(purpose="threshold for supports: questions in dev", have=questions, needed=math.ceil(1 / bound) - 1),
        Need(purpose="refitting the local judge: labels in dev", have=len(dev), needed=FEWEST),
        Need(purpose="replacing a judge: labels in test", have=len(test), needed=FEWEST_ITEMS),
        Need(purpose="replacing a judge: supports in test", have=sum(p.judge is Verdict.SUPPORTS for p in test),
             needed=FEWEST_SUPPORTS),
    )


def _split(pairs: Sequence[Pair], split: Split) -> list[Pair]:
    return [pair for pair in pairs if pair.split is split]


def _scaled(pairs: Sequence[Pair], scale: Scale) -> list[float]:
    return [scale.apply(p.confidence, p.judge) for p in pairs if p.confidence is not None]


def _fit(dev: Sequence[Pair]) -> Scale:
    known = [p for p in dev if p.confidence is not None]
    return fit_scale(
        _scaled(known, Scale()), [p.right for p in known], [p.judge.value for p in known], [p.question_id for p in known],
    )


def _thresholds(dev: Sequence[Pair], scale: Scale, bound: float) -> tuple[Threshold, Threshold, Threshold]:
    """For *supports*, for any other verdict, and the stricter one among the kept *supports*."""
    known = [p for p in dev if p.confidence is not None]
    yes, rest = ([p for p in known if (p.judge is Verdict.SUPPORTS) is flag] for flag in (True, False))
    show, settle = (
        conformal_threshold(
            _scaled(side, scale), [not p.right for p in side], [p.question_id for p in side], bound=bound,
        )
        for side in (yes, rest)
    )
    return show, settle, certain_threshold(_scaled(yes, scale), [not p.right for p in yes], bound=bound)


def _reliability(pairs: Sequence[Pair], scale: Scale) -> Reliability:
    known = [p for p in pairs if p.confidence is not None]
    return reliability(_scaled(known, scale), [p.right for p in known], [p.question_id for p in known])


def _shown_wrong(test: Sequence[Pair], scale: Scale, show: Threshold) -> Estimate:
    """On test: the share wrong among the *supports* that the threshold lets through."""
    kept = [
        p for p in test
        if p.judge is Verdict.SUPPORTS and p.confidence is not None and show.value is not None
        and scale.apply(p.confidence, p.judge) >= show.value
    ]
    return proportion(
        [not p.right for p in kept], [p.question_id for p in kept],
        none_reason="the threshold lets no supports of the test split through",
    )


# --- refitting the local judge
def _key_with(base: JudgeKey, layer: Layer) -> JudgeKey:
    return base.model_copy(update={"model": refitted_id(base.model, layer)})


def _refitted(
    found: Sequence[LabelledItem], base: JudgeKey, model: Entailment,
) -> tuple[list[LabelledItem], Refit]:
    """Refit on dev, and, when the layer is used, the items with the refitted judge's judgements added."""
    if model.model_id != base.model:
        raise InputError(f"the labels are of {base.name!r}, but the model at hand is {model.model_id!r}: score again")
    judge = RefitJudge(model, judge_id=base.judge)
    usable = [item for item in found if item.judgement_of(base) is not None and item.checked_by_code is None]
    dev = [item for item in usable if item.split is Split.DEV and reference(item) in CLASSES]
    # Items that code decides alone never reach the model, so they can't teach it.
    asked = [(item, pair) for item in dev if (pair := judge.pair(item.claim, item.passage, item.quote or None))]
    rows = np.asarray(judge.recorder.predict([pair for _, pair in asked]), dtype=float)
    known = [item for item, _ in asked]

    def verdicts(layer: Layer | None, places: Sequence[int]) -> list[Verdict | None]:
        return [j.verdict for j in judge.judge_with(layer, [_triple(known[place]) for place in places])]

    references = [Verdict(reference(item)) for item in known]
    result = refit(rows, references, [item.question_id for item in known], verdicts)
    if result.layer is None:
        return list(found), result
    said = judge.judge_with(result.layer, [_triple(item) for item in usable])
    fresh = {item.item_id: judgement for item, judgement in zip(usable, said, strict=True)}
    return [
        item.model_copy(update={"judgements": (*item.judgements, fresh[item.item_id])}) if item.item_id in fresh else item
        for item in found
    ], result


def _triple(item: LabelledItem) -> tuple[str, str, str | None]:
    return item.claim, item.passage, item.quote or None


# --- comparing and scoring again
def compare(
    store: Store, old: str, new: str, *, history: ProfileHistory | None = None,
) -> Comparison:
    """Compare two judges on the labelled test items that both judged; counts as a look at the test split."""
    history = history or open_history()
    found = labelled_items(store)
    keys = key_named(found, old), key_named(found, new)
    if keys[0] == keys[1]:
        raise InputError(f"{old!r} and {new!r} are the same judge ({keys[0].name}): name two")
    test = [item for item in found if item.split is Split.TEST]
    sides = [sort_out(test, key).pairs for key in keys]
    for key, pairs in zip(keys, sides, strict=True):
        history.look(key, labels_hash(pairs))
    judged = [[j for item in test if (j := item.judgement_of(key)) is not None] for key in keys]
    return compare_pairs(sides[0], sides[1], keys, (Running.of(judged[0]), Running.of(judged[1])))


def rescore(store: Store, judge: Judge, *, progress: Progress | None = None) -> int:
    """Let a judge judge every labelled item that it hasn't judged yet; says how many it did.

    Quotes that failed the quote check stay with it. Each judgement is stored as soon as it is there, so that a stop
    loses nothing.
    """
    found = [item for item in labelled_items(store) if item.checked_by_code is None]
    waiting = _not_judged(found, judge)
    for start in range(0, len(waiting), _CHUNK):
        if progress is not None:
            progress("judging", start, len(waiting))
        chunk = waiting[start : start + _CHUNK]
        said = judge.judge_many([_triple(item) for item in chunk])
        for item, judgement in zip(chunk, said, strict=True):
            store.add_judgement(item.item_id, judgement)
    if progress is not None:
        progress("judging", len(waiting), len(waiting))
    return len(waiting)


def _not_judged(found: Sequence[LabelledItem], judge: Judge) -> list[LabelledItem]:
    """Items without a verdict of this judge as it is now; one judgement tells its model and version."""
    if not found:
        return []
    probe = judge.judge(found[0].claim, found[0].passage, found[0].quote or None)
    key = JudgeKey.of(probe)
    return [item for item in found if (j := item.judgement_of(key)) is None or j.verdict is None]


# --- few-shot examples
def propose_examples(store: Store, key: JudgeKey, *, size: int = 6) -> tuple[Example, ...]:
    """Overruled items of the few-shot split, for a person to approve: verdicts in turn, and unlike each other."""
    pool: dict[Verdict, list[Example]] = {}
    for item in labelled_items(store):
        human, judgement = reference(item), item.judgement_of(key)
        if item.split is not Split.FEW_SHOT or isinstance(human, LeftOut) or judgement is None:
            continue
        if judgement.verdict is not None and judgement.verdict is not human:
            example = Example(
                item_id=item.item_id, claim=item.claim, passage=item.passage, verdict=human, judged=judgement.verdict,
            )
            pool.setdefault(human, []).append(example)
    chosen: list[Example] = []
    while len(chosen) < size and any(pool.values()):
        for examples in pool.values():
            if examples and len(chosen) < size:
                best = min(examples, key=lambda e: (max((_likeness(e, c) for c in chosen), default=0.0), e.item_id))
                examples.remove(best)
                chosen.append(best)
    return tuple(chosen)


def _likeness(a: Example, b: Example) -> float:
    """Share of common words of two claims."""
    words, others = set(a.claim.casefold().split()), set(b.claim.casefold().split())
    return len(words & others) / max(1, len(words | others))


def approve_examples(history: ProfileHistory, profile: Profile, examples: Sequence[Example]) -> Profile:
    """The profile with the examples that a person approved, in force from now on."""
    kept = history.add(profile.model_copy(update={"examples": tuple(examples)}))
    found = calibration_of(history, profile)
    if found is not None:
        history.keep_report(kept.profile_id, found.model_copy(update={"profile": kept}).model_dump_json())
    return kept
