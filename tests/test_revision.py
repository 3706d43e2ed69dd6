"""Moving a claim's citation makes a new answer and asks the judge about that claim only."""

import pytest
from fakes import shown as answers

from litrag.errors import InputError
from litrag.models import MatchKind, Verdict
from litrag.revision import reanchored


def test_the_claim_cites_the_source_that_holds_the_quote(judge):
    before = answers.every_state()
    after = reanchored(before, "c7", judge)
    moved = after.claims[6]
    assert moved.citation.n == 2
    assert moved.location.match is MatchKind.EXACT
    assert moved.verdict is Verdict.SUPPORTS
    assert moved.reanchor is None
    assert "was moved from [1] to [2] NIGHT-2" in after.notes[-1]


def test_the_other_claims_stay_as_they_were_and_only_one_is_judged(judge):
    before = answers.every_state()
    after = reanchored(before, "c7", judge)
    assert after.claims[:6] + after.claims[7:] == before.claims[:6] + before.claims[7:]
    assert [claim for claim, _, _ in judge.calls] == [before.claims[6].text]


def test_a_claim_without_a_better_source_is_refused(judge):
    with pytest.raises(InputError, match="no other source"):
        reanchored(answers.every_state(), "c1", judge)
    with pytest.raises(InputError, match="c99"):
        reanchored(answers.every_state(), "c99", judge)
