"""Calibration profiles: what labels taught about one judge, kept with their history, and applied to its verdicts.

In: a judgement and the profile of the judge that gave it. Out: the same verdict with a confidence that means what it
says, and a sentence on how often such verdicts were wrong. A profile never changes a verdict and never speaks for
another version of the judge than the one that was labelled.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from pydantic import Field, ValidationError

from litrag.calibration import JudgeKey
from litrag.confidence import Scale, ScaleKind, Threshold
from litrag.config import settings
from litrag.errors import InputError, StoreError
from litrag.estimates import Estimate, percent_range
from litrag.models import Judge, Judgement, Model, Passage, Verdict

UNCALIBRATED = "uncalibrated"

_NAME = re.compile(r"p-[0-9a-f]{12}")


class Layer(Model):
    """A last layer refitted on labels: new logits = weights · (log-probabilities of the four verdicts) + bias."""

    weights: tuple[tuple[float, ...], ...]
    bias: tuple[float, ...]
    n: int = 0

    @property
    def layer_id(self) -> str:
        return hashlib.sha256(self.model_dump_json(include={"weights", "bias"}).encode()).hexdigest()[:8]


class Example(Model):
    """A labelled claim that an LLM judge is shown; chosen from the few-shot split and approved by a person."""

    item_id: str
    claim: str
    passage: str
    verdict: Verdict
    judged: Verdict


def examples_id(examples: Sequence[Example]) -> str:
    """Short name of a choice of examples: part of the version of the judge that is shown them."""
    text = "\n".join(f"{e.claim}\t{e.passage}\t{e.verdict}" for e in examples)
    return "x" + hashlib.sha256(text.encode()).hexdigest()[:8]


class Profile(Model):
    """What the labels say of one judge, and how to read its confidence.

    `judge` is whose verdicts it speaks for; with a refitted `layer` these come from `base` with that layer on top.
    """

    judge: JudgeKey
    base: JudgeKey
    made_at: datetime = Field(default_factory=lambda: datetime.now(UTC))
    labels_hash: str
    label_counts: dict[str, int]
    scale: Scale = Field(default_factory=Scale)
    show_supports: Threshold
    settle: Threshold
    wrong: dict[str, Estimate]
    false_reassurance: Estimate
    false_alarm: Estimate
    balanced_accuracy: Estimate
    ece_before: Estimate
    ece_after: Estimate
    shown_wrong: Estimate
    looks: int = 0
    basis: str = ""
    layer: Layer | None = None
    examples: tuple[Example, ...] = ()

    @property
    def profile_id(self) -> str:
        """Follows from the content, the date and the looks apart: the same labels make the same profile."""
        content = self.model_dump_json(exclude={"made_at", "looks"})
        return "p-" + hashlib.sha256(content.encode()).hexdigest()[:12]


# --- applying
def apply_profile(judgement: Judgement, profile: Profile | None) -> Judgement:
    """The judgement with calibrated confidence, `unsure` by the profile's thresholds, and the profile's name.

    Left as it is when there is no profile, when the profile is another judge's, or when one was applied before.
    """
    if profile is None or judgement.profile is not None or JudgeKey.of(judgement) != profile.judge:
        return judgement
    changed: dict[str, object] = {"profile": profile.profile_id}
    if judgement.verdict is not None and judgement.confidence is not None:
        confidence = profile.scale.apply(judgement.confidence, judgement.verdict)
        changed |= {"confidence": confidence, "stated_confidence": judgement.confidence}
        threshold = profile.show_supports if judgement.verdict is Verdict.SUPPORTS else profile.settle
        if threshold.enough:
            changed["unsure"] = threshold.value is None or confidence < threshold.value
    return judgement.model_copy(update=changed)


def badge_sentence(verdict: Verdict | None, profile: Profile | None) -> str:
    """How often this judge's verdicts of this kind were wrong, for a badge: counts and interval, or `uncalibrated`."""
    if profile is None or verdict is None:
        return UNCALIBRATED
    rate = profile.wrong.get(verdict.value)
    if rate is None or rate.hits is None:
        return f"reviewers have checked none of this judge's {verdict.value}"
    times = "was" if rate.n == 1 else "were"
    return f"this judge's {verdict.value} {times} wrong in {rate.hits} of {rate.n} ({percent_range(rate.low, rate.high)})"


class CalibratedJudge:
    """A judge whose judgements carry the profile that is in force for it at that moment."""

    def __init__(self, judge: Judge, history: ProfileHistory) -> None:
        self._judge = judge
        self._history = history

    @property
    def judge_id(self) -> str:
        return self._judge.judge_id

    def judge(self, claim: str, passage: str | Passage, quote: str | None = None) -> Judgement:
        """Judge one claim; see `judge_many`."""
        return self.judge_many([(claim, passage, quote)])[0]

    @property
    def version(self) -> str:
        """The judge's version with the profiles in force for it: what it says depends on both."""
        names = sorted(p.profile_id for p in self._history.in_force() if p.judge.judge == self.judge_id)
        return "+".join([str(getattr(self._judge, "version", "")), *names])

    @property
    def model_id(self) -> str:
        return str(getattr(self._judge, "model_id", ""))

    @property
    def key(self) -> JudgeKey | None:
        """Under which name its judgements are stored, as far as the judge tells before it judges."""
        version = str(getattr(self._judge, "version", ""))
        return JudgeKey(judge=self.judge_id, model=self.model_id, version=version) if self.model_id else None

    def judge_many(self, pairs: Sequence[tuple[str, str | Passage, str | None]]) -> list[Judgement]:
        return self._history.apply(self._judge.judge_many(pairs))


def calibrated(judge: Judge, history: ProfileHistory | None = None) -> CalibratedJudge:
    """The judge with whatever profile is in force when it judges."""
    return CalibratedJudge(judge, history or open_history())


# --- keeping
class HistoryEntry(Model):
    """One thing that happened to the profiles of a judge; the latest says which one is in force."""

    at: datetime = Field(default_factory=lambda: datetime.now(UTC))
    action: str
    base: JudgeKey
    profile_id: str | None = None


class Look(Model):
    """The test split was opened for a judge with these labels."""

    at: datetime = Field(default_factory=lambda: datetime.now(UTC))
    judge: JudgeKey
    labels_hash: str


class ProfileHistory:
    """Profiles in a folder: one JSON file each, and an append-only list of what was put in force when."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def add(self, profile: Profile) -> Profile:
        """Keep a profile and put it in force; one that is kept already is only put in force again."""
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / f"{profile.profile_id}.json"
        known = path.exists()
        if not known:
            aside = path.with_suffix(f".{os.getpid()}.tmp")
            aside.write_text(profile.model_dump_json(indent=2), encoding="utf-8")
            aside.replace(path)
        current = self.active(profile.base)
        if current is None or current.profile_id != profile.profile_id:
            self._note("made" if not known else "put in force", profile.base, profile.profile_id)
        return self.get(profile.profile_id)

    def get(self, profile_id: str) -> Profile:
        """A kept profile; InputError when there is none of that name."""
        path = self.folder / f"{profile_id}.json"
        if not _NAME.fullmatch(profile_id) or not path.exists():
            raise InputError(f"there is no calibration profile {profile_id!r}; `litrag calibrate` makes one")
        try:
            return Profile.model_validate_json(path.read_text(encoding="utf-8"))
        except ValidationError as error:
            raise StoreError(f"{path} isn't a readable profile ({error.error_count()} errors); delete it") from error

    def keep_report(self, profile_id: str, text: str) -> None:
        """Keep what was found when a profile was made, beside it."""
        self.get(profile_id)
        aside = self.folder / f"{profile_id}.{os.getpid()}.tmp"
        aside.write_text(text, encoding="utf-8")
        aside.replace(self.folder / f"{profile_id}.report.json")

    def report_of(self, profile_id: str) -> str | None:
        """What was kept for a profile, None where nothing was."""
        self.get(profile_id)
        path = self.folder / f"{profile_id}.report.json"
        return path.read_text(encoding="utf-8") if path.exists() else None

    def entries(self, base: JudgeKey | None = None) -> list[HistoryEntry]:
        """What happened, oldest first."""
        found = [HistoryEntry.model_validate_json(line) for line in _lines(self.folder / "history.jsonl")]
        return [entry for entry in found if base is None or entry.base == base]

    def active(self, base: JudgeKey) -> Profile | None:
        """The profile in force for a judge, None when it is uncalibrated."""
        entries = self.entries(base)
        if not entries or entries[-1].profile_id is None:
            return None
        return self.get(entries[-1].profile_id)

    def put_in_force(self, profile_id: str) -> Profile:
        profile = self.get(profile_id)
        self._note("put in force", profile.base, profile_id)
        return profile

    def roll_back(self, base: JudgeKey) -> Profile | None:
        """Put the profile in force that was so before the present one; None leaves the judge uncalibrated."""
        stack: list[str | None] = [None]
        for entry in self.entries(base):
            if entry.action == "rolled back":
                stack = stack[:-1] or [None]
            else:
                stack.append(entry.profile_id)
        if len(stack) == 1:
            raise InputError(f"judge {base.name!r} has no calibration profile in force: there is nothing to roll back")
        self._note("rolled back", base, stack[-2])
        return None if stack[-2] is None else self.get(stack[-2])

    def apply(self, judgements: Sequence[Judgement]) -> list[Judgement]:
        """Apply to each judgement the profile in force for the judge that gave it."""
        in_force = {profile.judge.name: profile for profile in self.in_force()}
        return [apply_profile(judgement, in_force.get(JudgeKey.of(judgement).name)) for judgement in judgements]

    def in_force(self) -> list[Profile]:
        """One profile per calibrated judge."""
        latest = {entry.base.name: entry for entry in self.entries()}
        return [self.get(entry.profile_id) for entry in latest.values() if entry.profile_id is not None]

    def layer_for(self, judge: str, model: str) -> Layer | None:
        """The refitted last layer in force for a local model, whatever the version of the code around it."""
        for profile in self.in_force():
            if profile.layer is not None and (profile.base.judge, profile.base.model) == (judge, model):
                return profile.layer
        return None

    def examples_for(self, judge: str) -> tuple[Example, ...]:
        """The examples in force that a person approved for a language model, whatever the version they were found at."""
        return next((p.examples for p in self.in_force() if p.examples and p.base.judge == judge), ())

    def look(self, judge: JudgeKey, hash_of_labels: str) -> int:
        """Note that the test split is opened for a judge; the same labels again are the same look. Says how many."""
        seen = self.looks(judge)
        if not any(look.labels_hash == hash_of_labels for look in seen):
            _append(self.folder / "looks.jsonl", Look(judge=judge, labels_hash=hash_of_labels))
        return len({look.labels_hash for look in self.looks(judge)})

    def looks(self, judge: JudgeKey) -> list[Look]:
        found = [Look.model_validate_json(line) for line in _lines(self.folder / "looks.jsonl")]
        return [look for look in found if look.judge == judge]

    def _note(self, action: str, base: JudgeKey, profile_id: str | None) -> None:
        _append(self.folder / "history.jsonl", HistoryEntry(action=action, base=base, profile_id=profile_id))


def open_history(home: Path | None = None) -> ProfileHistory:
    """The calibration profiles kept in LITRAG_HOME."""
    return ProfileHistory((home or settings().home) / "calibration")


def _lines(path: Path) -> Iterator[str]:
    """Whole lines of a file that grows; a last line cut by a crash is not one."""
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            if _is_json(line):
                yield line


def _is_json(line: str) -> bool:
    try:
        json.loads(line)
    except json.JSONDecodeError:
        return False
    return True


def _append(path: Path, value: Model) -> None:
    """Add a line in one write; it begins on a line of its own even behind one that a crash cut short."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        os.write(descriptor, b"\n" + value.model_dump_json().encode() + b"\n")
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def scale_in_words(scale: Scale) -> str:
    """What was fitted, for a reader."""
    if scale.kind is ScaleKind.NONE:
        return "confidence left as the judge states it"
    if scale.kind is ScaleKind.ISOTONIC:
        return f"isotonic line through {len(scale.knots)} points, fitted on {scale.n} labels"
    return f"temperature {scale.temperature:.2f}, offset {scale.offset:+.2f}, fitted on {scale.n} labels"
