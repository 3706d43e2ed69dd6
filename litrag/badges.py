"""What is known of the judge behind an answer's verdicts, in words that stand beside them.

In: an answer, and the calibration profiles in force. Out: a sentence per claim and one for the answer. A verdict that
code gave (a quote that stands nowhere) has no judge and gets no sentence; a profile speaks for one version of a judge
only, and when the version has changed that is said instead of a rate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import Field

from litrag.calibration import QUOTE_CHECK, JudgeKey
from litrag.models import AuditedAnswer, Judgement, Model, Verdict
from litrag.profiles import Profile, ProfileHistory, badge_sentence

UNMEASURED = "uncalibrated: nobody has measured yet how often it is wrong"


class Notes(Model):
    """Sentences for an answer: by claim id, and one on its judge as a whole."""

    claims: Mapping[str, str] = Field(default_factory=dict)
    judge: str = ""


def badge_notes(answer: AuditedAnswer, history: ProfileHistory) -> Notes:
    """How often verdicts like these were wrong, by reviewers' blind labels."""
    in_force = history.in_force()
    deciding = {claim.claim_id: claim.judgement for claim in answer.claims if claim.judgement is not None}
    judged = {claim_id: judgement for claim_id, judgement in deciding.items() if _by_judge(judgement)}
    keys = list(dict.fromkeys(JudgeKey.of(judgement).name for judgement in judged.values()))
    first = next(iter(judged.values()), None)
    return Notes(
        claims={claim_id: _claim_note(judgement, in_force) for claim_id, judgement in judged.items()},
        judge=_judge_note(JudgeKey.of(first), in_force) if first is not None and len(keys) == 1 else "",
    )


def _by_judge(judgement: Judgement) -> bool:
    return judgement.verdict is not None and judgement.judge not in ("", QUOTE_CHECK)


def profile_of(key: JudgeKey, in_force: Sequence[Profile]) -> Profile | None:
    """The profile that speaks for this very version of a judge."""
    return next((profile for profile in in_force if profile.judge == key), None)


def stale_profile(key: JudgeKey, in_force: Sequence[Profile]) -> Profile | None:
    """A profile of another version of the judge, where none speaks for this one."""
    others = [profile for profile in in_force if profile.judge.judge == key.judge]
    return others[-1] if others and profile_of(key, in_force) is None else None


def _claim_note(judgement: Judgement, in_force: Sequence[Profile]) -> str:
    key = JudgeKey.of(judgement)
    if stale_profile(key, in_force) is not None:
        return "calibration out of date"
    return badge_sentence(judgement.verdict, profile_of(key, in_force))


def _judge_note(key: JudgeKey, in_force: Sequence[Profile]) -> str:
    stale = stale_profile(key, in_force)
    if stale is not None:
        return (
            f"The calibration is out of date: it measured {stale.judge.name}, and these verdicts are {key.name}'s. "
            "How often they are wrong isn't known until the judge is calibrated again."
        )
    profile = profile_of(key, in_force)
    if profile is None:
        return f"Judge {key.name} is {UNMEASURED}."
    rate = profile.wrong.get(Verdict.SUPPORTS.value)
    if rate is None or rate.hits is None:
        return f"Reviewers have checked none of the supports of judge {key.name} yet."
    return f"Judge {key.name}: its supports were wrong in {rate.in_words()}, by reviewers' blind labels ({profile.basis})."
