"""From the store to a profile: an imported table is scored, calibrates the judge, and two judges are compared."""

import shutil

import numpy as np
import pytest
from fakes.labelled import ErringJudge, import_labels, truth

from litrag.calibration import JudgeKey
from litrag.calibration_report import as_html, as_markdown, as_text
from litrag.errors import InputError
from litrag.judges import LocalJudge
from litrag.models import Verdict
from litrag.profiles import CalibratedJudge, badge_sentence, open_history
from litrag.recalibration import (
    approve_examples,
    calibrate,
    compare,
    judge_keys,
    labelled_items,
    propose_examples,
    rescore,
)
from litrag.reviews import open_store
from litrag.sampling import Split

ERRING = JudgeKey(judge="erring", model="erring", version="1")


@pytest.fixture
def store(tmp_path):
    opened = open_store(f"sqlite:///{tmp_path / 'labels.db'}")
    yield opened
    opened.close()


@pytest.fixture
def history(tmp_path):
    return open_history(tmp_path)


@pytest.fixture(scope="module")
def labelled_file(tmp_path_factory):
    """300 blind labels of 150 questions, judged by a judge that errs on a fifth; written once, copied per test."""
    path = tmp_path_factory.mktemp("labelled") / "labels.db"
    opened = open_store(f"sqlite:///{path}")
    import_labels(opened, 300, questions=150)
    rescore(opened, ErringJudge())
    opened.close()
    return path


@pytest.fixture
def labelled(labelled_file, tmp_path):
    opened = open_store(f"sqlite:///{shutil.copy(labelled_file, tmp_path / 'copy.db')}")
    yield opened
    opened.close()


# --- scoring again
def test_an_imported_table_is_scored_once_and_its_labels_stay(store):
    import_labels(store, 20)
    before = [item.labels for item in labelled_items(store)]
    judge = ErringJudge()
    assert rescore(store, judge) == 20
    assert rescore(store, judge) == 0
    assert [item.labels for item in labelled_items(store)] == before
    assert judge_keys(labelled_items(store)) == [ERRING]


def test_a_stopped_scoring_keeps_what_was_done_and_resumes(store):
    import_labels(store, 40)

    def stop(stage, done, total):
        if done >= 16:
            raise InputError("stopped")

    with pytest.raises(InputError, match="stopped"):
        rescore(store, ErringJudge(), progress=stop)
    assert rescore(store, ErringJudge()) == 24


def test_scoring_again_adds_a_judgement_and_leaves_the_old_ones(labelled):
    rescore(labelled, ErringJudge("second"))
    item = labelled_items(labelled)[0]
    assert [j.judge for j in labelled.judgements(item.item_id)] == ["", "erring", "second"]


# --- calibrating
def test_a_calibration_counts_the_judges_errors_as_they_are(labelled, history):
    found = calibrate(labelled, history=history)
    judged = {item.item_id: item for item in labelled_items(labelled)}
    fair = [item for item in judged.values() if item.split is not Split.FEW_SHOT]
    supports = [item for item in fair if item.judgement_of(ERRING).verdict is Verdict.SUPPORTS]
    wrong = [item for item in supports if truth(item.claim) is not Verdict.SUPPORTS]
    rate = found.profile.wrong["supports"]
    assert (rate.hits, rate.n) == (len(wrong), len(supports))
    assert found.profile.judge == ERRING
    assert history.active(ERRING) == found.profile


def test_calibration_brings_stated_confidence_down_to_what_it_is_worth(labelled, history):
    found = calibrate(labelled, history=history)
    assert found.reliability_before.ece.value > 0.1
    assert found.reliability_after.ece.value < 0.7 * found.reliability_before.ece.value


def test_the_badge_of_a_verdict_changes_from_uncalibrated_to_a_rate_and_back(labelled, history):
    judge = CalibratedJudge(ErringJudge(), history)
    assert badge_sentence(Verdict.SUPPORTS, history.active(ERRING)) == "uncalibrated"
    calibrate(labelled, history=history)
    said = judge.judge("Claim number 4 about outcome 4.", "Abstract 4.")
    assert f"this judge's {said.verdict} were wrong in " in badge_sentence(said.verdict, history.get(said.profile))
    history.roll_back(ERRING)
    assert badge_sentence(Verdict.SUPPORTS, history.active(ERRING)) == "uncalibrated"


def test_scores_of_a_calibrated_judge_calibrate_as_its_own_statements(labelled, history):
    first = calibrate(labelled, history=history)
    rescore(labelled, CalibratedJudge(ErringJudge("twice"), history))
    again = calibrate(labelled, history=history, judge="erring")
    assert again.profile.profile_id == first.profile.profile_id
    assert again.looks == 1


def test_calibrating_again_with_a_new_label_is_a_new_profile_and_a_second_look(labelled, history):
    first = calibrate(labelled, history=history)
    import_labels(labelled, 3)
    rescore(labelled, ErringJudge())
    second = calibrate(labelled, history=history)
    assert second.profile.profile_id != first.profile.profile_id
    assert (first.looks, second.looks) == (1, 2)


def test_labels_given_after_the_verdict_was_shown_are_refused(store, history):
    import_labels(store, 30, blind=False)
    rescore(store, ErringJudge())
    with pytest.raises(InputError, match="30 labels were given after the verdict was shown"):
        calibrate(store, history=history)
    assert history.entries() == []


def test_labels_that_only_overrule_are_refused(store, history):
    import_labels(store, 30)
    rescore(store, ErringJudge(wrong=1.0))
    with pytest.raises(InputError, match="all 30 labels differ"):
        calibrate(store, history=history)


def test_an_always_yes_judge_is_shown_for_what_it_is(store, history):
    import_labels(store, 150, questions=75)
    rescore(store, ErringJudge("yes", always=Verdict.SUPPORTS))
    found = calibrate(store, history=history)
    assert found.report.agreement.kappa.value == 0
    assert found.profile.false_reassurance.value == pytest.approx(1 / 3, abs=0.05)
    assert found.profile.false_alarm.undefined == "the judge always says supports"
    assert found.profile.show_supports.value is None
    assert CalibratedJudge(ErringJudge("yes", always=Verdict.SUPPORTS), history).judge("Claim number 1", "").unsure


def test_labels_without_any_judgement_ask_for_one(store, history):
    import_labels(store, 5)
    with pytest.raises(InputError, match="score the items with a judge first"):
        calibrate(store, history=history)


def test_an_unknown_judge_is_answered_with_the_known_ones(labelled, history):
    with pytest.raises(InputError, match="judged by erring v1"):
        calibrate(labelled, history=history, judge="other")


def test_a_handful_of_labels_calibrates_nothing_but_still_reports(store, history):
    import_labels(store, 6)
    rescore(store, ErringJudge())
    found = calibrate(store, history=history)
    assert "too few" in found.trust or "Nobody has checked" in found.trust
    assert "NaN" not in found.model_dump_json()


# --- the report
def test_the_report_says_the_same_in_three_forms_and_loads_nothing(labelled, history):
    found = calibrate(labelled, history=history)
    text, markdown, html = as_text(found), as_markdown(found), as_html(found)
    rate = found.profile.false_reassurance.in_words()
    assert all(rate in form for form in (text, markdown, html))
    assert found.in_words() == text
    assert "opened 1 time for this judge" in text
    for word in ("http", "<script", "<link", "src="):
        assert word not in html
    assert "nan" not in text.casefold().replace("kennan", "")


def test_a_judges_name_cannot_write_markup_into_the_report(store, history):
    import_labels(store, 12)
    rescore(store, ErringJudge("<img src=x onerror=alert(1)>"))
    html = as_html(calibrate(store, history=history))
    assert "<img" not in html
    assert "&lt;img" in html


# --- refitting
class _Shifted:
    """A local model that knows the truth but leans to not_found, and to `partial` never."""

    model_id = "shifted"

    def predict(self, pairs):
        rows = []
        for claim, _ in pairs:
            supported = truth(claim) is Verdict.SUPPORTS
            noise = (int(claim.split()[2]) * 37 % 100) / 400
            rows.append((0.42 + noise - 0.1 if supported else 0.1 + noise / 3, 0.02, 0.03, 0.5))
        table = np.asarray(rows, dtype=np.float32).reshape(len(rows), 4)
        return (table / table.sum(axis=1, keepdims=True)).astype(np.float32)


def test_a_refitted_layer_is_kept_in_the_profile_and_speaks_under_its_own_name(store, history):
    import_labels(store, 300, questions=60)
    rescore(store, LocalJudge(_Shifted(), judge_id="local"))
    plain = calibrate(store, history=history)
    found = calibrate(store, history=history, model=_Shifted())
    assert found.refit.layer is not None
    assert found.profile.layer == found.refit.layer
    assert found.profile.judge.model == f"shifted+{found.refit.layer.layer_id}"
    assert found.profile.base == plain.profile.judge
    assert found.report.agreement.supports_balanced_accuracy.value > (
        plain.report.agreement.supports_balanced_accuracy.value
    )
    # Rates of a layer that was fitted on dev come from test alone.
    assert found.profile.wrong["supports"].n + found.profile.wrong["not_found"].n == found.report.splits["test"]


def test_a_refit_with_another_model_than_was_labelled_is_refused(labelled, history):
    with pytest.raises(InputError, match="score again"):
        calibrate(labelled, history=history, model=_Shifted())


# --- comparing
def test_two_judges_are_compared_on_test_items_only_and_the_look_is_noted(labelled, history):
    rescore(labelled, ErringJudge("better", wrong=0.02))
    found = compare(labelled, "erring", "better", history=history)
    test = [item for item in labelled_items(labelled) if item.split is Split.TEST]
    assert found.n == len(test)
    assert found.only_new_right > found.only_old_right
    assert found.may_replace
    assert len(history.looks(found.new)) == 1


def test_a_worse_judge_may_not_replace(labelled, history):
    rescore(labelled, ErringJudge("worse", wrong=0.45))
    assert not compare(labelled, "erring", "worse", history=history).may_replace


def test_a_judge_is_not_compared_with_itself(labelled, history):
    with pytest.raises(InputError, match="same judge"):
        compare(labelled, "erring", "erring v1", history=history)


# --- examples
def test_proposed_examples_are_overrules_of_the_few_shot_split_in_balance(labelled, history):
    proposed = propose_examples(labelled, ERRING, size=4)
    few_shot = {item.item_id for item in labelled_items(labelled) if item.split is Split.FEW_SHOT}
    assert proposed
    assert {example.item_id for example in proposed} <= few_shot
    assert all(example.verdict is not example.judged for example in proposed)
    assert len({example.item_id for example in proposed}) == len(proposed)


def test_approved_examples_make_a_profile_of_their_own(labelled, history):
    found = calibrate(labelled, history=history)
    proposed = propose_examples(labelled, ERRING)
    kept = approve_examples(history, found.profile, proposed[:1])
    assert history.active(ERRING) == kept
    assert kept.examples == proposed[:1]
    assert history.roll_back(ERRING) == found.profile
