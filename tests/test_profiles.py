"""Profiles: what they do to a judgement, what badges say, and how their history is kept."""

import multiprocessing
import re

import pytest

from litrag.calibration import JudgeKey
from litrag.comparison import FEWEST_ITEMS, FEWEST_SUPPORTS, MARGIN
from litrag.confidence import Scale, ScaleKind, Threshold
from litrag.config import PROJECT
from litrag.errors import InputError, StoreError
from litrag.estimates import proportion, undefined
from litrag.models import Judgement, Verdict
from litrag.profiles import (
    CalibratedJudge,
    Profile,
    ProfileHistory,
    apply_profile,
    badge_sentence,
    open_history,
)

KEY = JudgeKey(judge="recording", model="recording", version="1")
NONE = undefined("not measured here")


def _profile(*, threshold=0.8, temperature=2.0, labels="aa", base=KEY, hits=3):
    rate = proportion([True] * hits + [False] * (112 - hits))
    limit = Threshold(value=threshold, bound=0.05, n=112, groups=112)
    return Profile(
        judge=base, base=base, labels_hash=labels, label_counts={"all": 112}, show_supports=limit,
        scale=Scale(kind=ScaleKind.TEMPERATURE, temperature=temperature, n=112),
        settle=Threshold(value=None, bound=0.05, n=5, groups=5), wrong={"supports": rate, "partial": NONE},
        false_reassurance=rate, false_alarm=NONE, balanced_accuracy=NONE, ece_before=NONE, ece_after=NONE,
        shown_wrong=NONE,
    )


def _judgement(verdict=Verdict.SUPPORTS, confidence=0.9, **more):
    return Judgement(verdict=verdict, confidence=confidence, judge="recording", model="recording", version="1", **more)


@pytest.fixture
def history(tmp_path):
    return ProfileHistory(tmp_path / "calibration")


# --- applying
def test_a_profile_scales_the_confidence_and_keeps_what_the_judge_stated():
    found = apply_profile(_judgement(confidence=0.9), _profile())
    # logit 0.9 = ln 9; halved it is ln 3
    assert found.confidence == pytest.approx(0.75)
    assert found.stated_confidence == 0.9
    assert found.profile == _profile().profile_id


def test_supports_below_the_threshold_are_unsure_and_above_it_are_not():
    assert apply_profile(_judgement(confidence=0.9), _profile()).unsure
    assert not apply_profile(_judgement(confidence=0.99, unsure=True), _profile()).unsure


def test_a_threshold_from_too_few_labels_leaves_the_judges_own_flag():
    assert apply_profile(_judgement(Verdict.PARTIAL, 0.5, unsure=True), _profile()).unsure
    assert not apply_profile(_judgement(Verdict.PARTIAL, 0.5), _profile()).unsure


def test_when_no_threshold_keeps_the_bound_every_supports_is_unsure():
    assert apply_profile(_judgement(confidence=0.9999), _profile(threshold=None)).unsure


def test_a_profile_never_changes_a_verdict_nor_judges_what_was_unjudged():
    for verdict in Verdict:
        assert apply_profile(_judgement(verdict), _profile()).verdict is verdict
    unjudged = _judgement(None, None, unjudged_reason="refused")
    found = apply_profile(unjudged, _profile())
    assert (found.verdict, found.confidence, found.unjudged_reason) == (None, None, "refused")
    assert found.profile == _profile().profile_id


def test_another_version_of_the_judge_stays_uncalibrated():
    other = _judgement().model_copy(update={"version": "2"})
    assert apply_profile(other, _profile()) == other
    assert apply_profile(_judgement(), None) == _judgement()


def test_a_profile_is_applied_once():
    once = apply_profile(_judgement(), _profile())
    assert apply_profile(once, _profile(temperature=3)) == once


# --- badges
def test_a_badge_counts_the_wrong_verdicts_of_its_kind():
    assert badge_sentence(Verdict.SUPPORTS, _profile()) == "this judge's supports were wrong in 3 of 112 (0.9–7.6 %)"


def test_a_badge_without_profile_or_labels_says_so():
    assert badge_sentence(Verdict.SUPPORTS, None) == "uncalibrated"
    assert badge_sentence(Verdict.PARTIAL, _profile()) == "reviewers have checked none of this judge's partial"
    assert badge_sentence(Verdict.CONTRADICTS, _profile()) == "reviewers have checked none of this judge's contradicts"


# --- history
def test_the_same_labels_make_the_same_profile_and_another_label_another():
    assert _profile().profile_id == _profile().profile_id
    assert _profile().profile_id != _profile(labels="bb").profile_id


def test_a_kept_profile_is_in_force_and_reads_back_unchanged(history):
    kept = history.add(_profile())
    assert history.active(KEY) == kept
    assert ProfileHistory(history.folder).get(kept.profile_id) == kept


def test_adding_what_is_in_force_notes_nothing_new(history):
    history.add(_profile())
    history.add(_profile())
    assert [entry.action for entry in history.entries()] == ["made"]


def test_rolling_back_goes_through_earlier_profiles_down_to_uncalibrated(history):
    first, second, third = (history.add(_profile(labels=name)) for name in ("aa", "bb", "cc"))
    assert history.roll_back(KEY) == second
    assert history.roll_back(KEY) == first
    assert history.roll_back(KEY) is None
    assert history.active(KEY) is None
    with pytest.raises(InputError, match="nothing to roll back"):
        history.roll_back(KEY)
    assert len(history.entries()) == 6
    assert history.put_in_force(third.profile_id) == third
    assert history.roll_back(KEY) is None


def test_judges_have_profiles_of_their_own(history):
    other = JudgeKey(judge="anthropic:x", model="x", version="3")
    history.add(_profile())
    theirs = history.add(_profile(base=other))
    history.roll_back(KEY)
    assert history.active(KEY) is None
    assert history.active(other) == theirs


@pytest.mark.parametrize("name", ["p-123", "../../etc/passwd", "p-000000000000"])
def test_a_profile_that_is_not_kept_is_named_in_the_error(history, name):
    with pytest.raises(InputError, match="no calibration profile"):
        history.get(name)


def test_a_damaged_profile_is_an_error_that_names_the_file(history):
    kept = history.add(_profile())
    (history.folder / f"{kept.profile_id}.json").write_text('{"judge": 3}')
    with pytest.raises(StoreError, match=kept.profile_id):
        history.active(KEY)


def test_a_line_cut_by_a_crash_loses_only_itself(history):
    first = history.add(_profile())
    with (history.folder / "history.jsonl").open("a") as file:
        file.write('{"at": "2026-01-0')
    second = history.add(_profile(labels="bb"))
    assert [entry.profile_id for entry in history.entries()] == [first.profile_id, second.profile_id]


def _add(folder, name):
    ProfileHistory(folder).add(_profile(labels=name))


def test_four_processes_writing_at_once_lose_no_entry(history):
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_add, args=(history.folder, f"hash{i}")) for i in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(history.entries()) == 4


def test_looks_at_the_test_split_count_label_sets_not_clicks(history):
    assert history.look(KEY, "aa") == 1
    assert history.look(KEY, "aa") == 1
    assert history.look(KEY, "bb") == 2
    assert history.look(JudgeKey(judge="other"), "aa") == 1


# --- the judge with its profile
def test_a_calibrated_judge_names_the_profile_in_force_and_follows_a_rollback(history, judge):
    calibrated = CalibratedJudge(judge, history)
    assert calibrated.judge("c", "p").profile is None
    kept = history.add(_profile())
    said = calibrated.judge("c", "p")
    assert (said.profile, said.stated_confidence) == (kept.profile_id, 0.9)
    history.roll_back(KEY)
    assert calibrated.judge("c", "p").profile is None


def test_a_calibrated_judges_version_changes_with_its_profile(history, judge):
    calibrated = CalibratedJudge(judge, history)
    before = calibrated.version
    history.add(_profile())
    assert calibrated.version != before


def test_profiles_live_in_the_home_folder(tmp_path):
    assert open_history(tmp_path).folder == tmp_path / "calibration"


# --- the document
def test_every_field_of_a_profile_is_explained():
    text = (PROJECT / "docs" / "calibration.md").read_text("utf-8")
    explained = re.findall(r"^\| `(\w+)` \|", text, flags=re.MULTILINE)
    assert sorted(explained) == sorted(Profile.model_fields)


def test_the_document_names_the_limits_that_the_gate_uses():
    text = " ".join((PROJECT / "docs" / "calibration.md").read_text("utf-8").split())
    assert f"at least {FEWEST_ITEMS} test labels and {FEWEST_SUPPORTS} *supports*" in text
    assert f"rises by at most {100 * MARGIN:g} points" in text
