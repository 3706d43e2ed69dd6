"""What stands beside a verdict: the rate of the profile in force, `uncalibrated`, or that the calibration is out of date."""

import pytest
from fakes.answers import answer
from fakes.shown import every_state
from test_profiles import _profile

from litrag.badges import UNMEASURED, badge_notes
from litrag.calibration import QUOTE_CHECK, JudgeKey
from litrag.models import Verdict
from litrag.profiles import ProfileHistory
from litrag.render import answer_html, header_html


@pytest.fixture
def history(tmp_path):
    return ProfileHistory(tmp_path)


def checked():
    """An answer of one judge: three supported claims and one that isn't."""
    return answer([Verdict.SUPPORTS, Verdict.SUPPORTS, Verdict.SUPPORTS, Verdict.PARTIAL])


def key_of(shown):
    return JudgeKey.of(shown.claims[0].judgement)


def test_without_a_profile_each_verdict_is_uncalibrated_and_the_header_says_what_that_means(history):
    notes = badge_notes(checked(), history)
    assert set(notes.claims.values()) == {"uncalibrated"}
    assert UNMEASURED in notes.judge


def test_a_profile_in_force_gives_each_verdict_its_own_rate(history):
    shown = checked()
    profile = history.add(_profile(base=key_of(shown)))
    notes = badge_notes(shown, history)
    supports = profile.wrong["supports"]
    said = notes.claims[shown.claims[0].claim_id]
    assert said == f"this judge's supports were wrong in {supports.hits} of 112 (0.9–7.6 %)"
    assert notes.claims[shown.claims[3].claim_id] == "reviewers have checked none of this judge's partial"
    assert supports.in_words() in notes.judge


def test_a_new_version_of_the_judge_makes_the_profile_stale_and_no_rate_is_shown(history):
    shown = checked()
    older = key_of(shown).model_copy(update={"version": "0"})
    history.add(_profile(base=older))
    notes = badge_notes(shown, history)
    assert set(notes.claims.values()) == {"calibration out of date"}
    assert "isn't known until the judge is calibrated again" in notes.judge


def test_a_profile_of_another_judge_says_nothing(history):
    other = JudgeKey(judge="other", model="m", version="1")
    history.add(_profile(base=other))
    assert set(badge_notes(checked(), history).claims.values()) == {"uncalibrated"}


def test_after_a_rollback_verdicts_are_uncalibrated_again(history):
    shown = checked()
    history.add(_profile(base=key_of(shown)))
    history.roll_back(key_of(shown))
    assert set(badge_notes(shown, history).claims.values()) == {"uncalibrated"}


def test_verdicts_that_code_gave_have_no_rate(history):
    shown = every_state()
    coded = [c.claim_id for c in shown.claims if c.judgement is None or c.judgement.judge in ("", QUOTE_CHECK)]
    assert coded
    assert not set(coded) & set(badge_notes(shown, history).claims)


def test_notes_stand_in_the_markup_as_text_only():
    shown = checked()
    hostile = "<img src=x onerror=alert(1)>"
    html = answer_html(shown, notes={shown.claims[0].claim_id: hostile}) + header_html(shown, judge_note=hostile)
    assert "<img" not in html
    assert html.count("&lt;img src=x") == 2
