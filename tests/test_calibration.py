"""Which labels count, what is left out and why, and the sentences that readers see."""

import pytest

from litrag.calibration import (
    JudgeKey,
    LabelledItem,
    LeftOut,
    agreement,
    anchoring,
    between_reviewers,
    check_usable,
    error_rates,
    labels_hash,
    measure,
    pairs_of_words,
    quote_check,
    reference,
    sort_out,
    trust,
)
from litrag.errors import InputError
from litrag.labels import Label, Status
from litrag.models import Judgement, Verdict
from litrag.sampling import Split, Stratum

S, P, C, N, H = Verdict
KEY = JudgeKey(judge="local", model="m", version="1")


def _label(verdict, *, reviewer="anna", blind=True, status=Status.LABELLED, after=None, flagged=False):
    return Label(
        item_id="x", reviewer_id=reviewer, verdict=after or verdict, blind_verdict=verdict if blind else None,
        status=status, flagged=flagged,
    )


def _judged(verdict, confidence=0.8, **more):
    return Judgement(verdict=verdict, confidence=confidence, judge="local", model="m", version="1", **more)


def _item(number, *labels, judge=S, gold=None, stratum=Stratum.UNIFORM, judgements=None, split=Split.DEV):
    return LabelledItem(
        item_id=f"i{number}", question_id=f"q{number}", split=split, claim=f"claim {number}", labels=labels, gold=gold,
        stratum=stratum, probability=None if stratum is Stratum.CHOSEN else 0.5,
        judgements=(_judged(judge),) if judgements is None else judgements,
    )


# --- which label counts
def test_the_majority_of_blind_labels_is_the_reference():
    assert reference(_item(1, _label(S), _label(S, reviewer="ben"), _label(N, reviewer="cleo"))) is S


def test_an_adjudicated_label_outweighs_the_reviewers():
    assert reference(_item(1, _label(S), _label(S, reviewer="ben"), gold=P)) is P


def test_a_blind_label_counts_as_it_was_given_even_when_revised_after_the_verdict():
    assert reference(_item(1, _label(N, after=S, status=Status.REVISED))) is N


@pytest.mark.parametrize(("labels", "reason"), [
    ((), LeftOut.NO_LABEL),
    ((Label(item_id="x", reviewer_id="anna", status=Status.SKIPPED),), LeftOut.SKIPPED),
    ((_label(S, blind=False),), LeftOut.SEEN),
    ((_label(S, blind=False, status=Status.IMPORTED),), LeftOut.SEEN),
    ((_label(S), _label(N, reviewer="ben")), LeftOut.DISAGREE),
    ((_label(S, flagged=True),), LeftOut.DISCUSS),
])
def test_items_without_a_usable_label_say_why(labels, reason):
    assert reference(_item(1, *labels)) is reason


def test_an_adjudication_of_labels_that_saw_the_verdict_does_not_make_them_blind():
    assert reference(_item(1, _label(S, blind=False), gold=S)) is LeftOut.SEEN


def test_unjudged_skipped_and_disputed_items_are_counted_apart_and_enter_no_measure():
    items = [
        _item(1, _label(S)), _item(2, _label(N)),
        _item(3, _label(S), judgements=()),
        _item(4, _label(S), judgements=(_judged(None, None, unjudged_reason="refused"),)),
        _item(5, _label(S), _label(N, reviewer="ben")),
        _item(6, _label(H), judgements=(Judgement(verdict=H, judge="locator"),)),
        _item(7, _label(S), judgements=(Judgement(verdict=S, judge="local", model="m", version="2"),)),
    ]
    found = sort_out(items, KEY)
    assert [p.item_id for p in found.pairs] == ["i1", "i2"]
    assert found.left_out == {
        LeftOut.NOT_JUDGED: ("i3", "i7"), LeftOut.UNJUDGED: ("i4",), LeftOut.DISAGREE: ("i5",),
        LeftOut.QUOTE_CHECK: ("i6",),
    }


def test_the_judges_own_confidence_is_used_where_a_profile_was_applied():
    judged = _judged(S, 0.6, stated_confidence=0.95, profile="p-000000000000")
    assert sort_out([_item(1, _label(S), judgements=(judged,))], KEY).pairs[0].confidence == 0.95


# --- plain words
def test_words_pair_whatever_their_case_and_spaces_and_blanks_never_match():
    rows = [
        ("supports", "supports"), ("partial", "supports"), ("not_found", "not_found"),
        ("supports", None), ("", "supports"), (None, "  "), ("error", "supports"), ("supports", "don't know"),
        (" Supports ", "supports"), ("not found", "Not_Found"),
    ]
    found = pairs_of_words(rows)
    assert [p.item_id for p in found.pairs] == ["row 1", "row 2", "row 3", "row 9", "row 10"]
    measures = agreement(found.pairs)
    assert (measures.accuracy.hits, measures.accuracy.n) == (4, 5)
    assert measures.kappa.n == 5
    assert found.left_out == {
        LeftOut.NO_LABEL: ("row 4", "row 6"), LeftOut.UNJUDGED: ("row 5",), LeftOut.UNKNOWN: ("row 7", "row 8"),
    }


def test_observed_and_expected_agreement_use_the_same_items():
    # Over the five pairs: observed 4/5; margins supports 3·2, partial 0·1, not_found 2·2 of 25
    rows = [("supports", "supports")] * 2 + [("partial", "supports")] + [("not_found", "not_found")] * 2
    alone = agreement(pairs_of_words(rows).pairs).kappa.value
    noisy = agreement(pairs_of_words([*rows, ("supports", None), (None, "not_found"), ("x", "supports")]).pairs)
    assert alone == pytest.approx((0.8 - 10 / 25) / (1 - 10 / 25))
    assert noisy.kappa.value == alone


# --- refusals
def test_no_blind_label_is_refused_and_says_what_there_is():
    found = sort_out([_item(i, _label(S, blind=False)) for i in range(4)], KEY)
    with pytest.raises(InputError, match="4 labels were given after the verdict was shown"):
        check_usable(found)


def test_labels_that_exist_only_where_the_judge_was_overruled_are_refused():
    found = sort_out([_item(i, _label(N), judge=S) for i in range(12)], KEY)
    with pytest.raises(InputError, match="all 12 labels differ"):
        check_usable(found)


def test_overrides_among_confirmations_are_fine():
    check_usable(sort_out([_item(i, _label(N if i < 11 else S)) for i in range(12)], KEY))


def test_the_hash_of_labels_changes_with_a_label_and_not_with_their_order():
    pairs = sort_out([_item(1, _label(S)), _item(2, _label(N))], KEY).pairs
    other = sort_out([_item(1, _label(S)), _item(2, _label(S))], KEY).pairs
    assert labels_hash(pairs) == labels_hash(pairs[::-1]) != labels_hash(other)


# --- what is measured
def test_rates_come_from_the_uniform_sample_alone():
    items = [_item(i, _label(S)) for i in range(10)]
    items += [_item(100 + i, _label(N), stratum=Stratum.UNCERTAIN) for i in range(10)]
    errors = error_rates(sort_out(items, KEY).pairs)
    assert (errors.false_reassurance.hits, errors.false_reassurance.n) == (0, 10)
    assert errors.basis == "uniform sample"
    assert errors.weighted_false_reassurance.value > 0


def test_items_picked_by_hand_give_rates_that_say_so():
    errors = error_rates(sort_out([_item(i, _label(S), stratum=Stratum.CHOSEN) for i in range(3)], KEY).pairs)
    assert errors.false_reassurance.n == 3
    assert "hold for these items only" in errors.basis


def test_quotes_that_code_refused_are_counted_apart_from_the_judge():
    refused = (Judgement(verdict=H, judge="locator"),)
    items = [_item(i, _label(H if i else S), judgements=refused) for i in range(5)]
    assert (quote_check(items).hits, quote_check(items).n) == (1, 5)


def test_reviewers_are_compared_on_blind_labels_of_shared_items_only():
    items = [
        _item(1, _label(S), _label(S, reviewer="ben")), _item(2, _label(S), _label(N, reviewer="ben")),
        _item(3, _label(S)), _item(4, _label(S), _label(N, reviewer="ben", blind=False)),
    ]
    found = between_reviewers(items)
    assert found.items == 2
    assert (found.agreement.hits, found.agreement.n) == (1, 2)
    assert (found.false_reassurance.hits, found.false_reassurance.n) == (1, 3)


def test_anchoring_shows_how_many_labels_moved_towards_the_judge():
    items = [
        _item(1, _label(N, after=S, status=Status.REVISED)), _item(2, _label(S, status=Status.KEPT)),
        _item(3, _label(N, status=Status.KEPT)), _item(4, _label(S, after=N, status=Status.REVISED)),
        _item(5, _label(N)),
    ]
    found = anchoring(items, KEY)
    assert (found.revealed, found.before.hits, found.after.hits) == (4, 2, 2)
    assert (found.towards, found.away) == (1, 1)


def test_a_report_has_no_number_where_nothing_is_known():
    report = measure([_item(1, _label(S))], KEY)
    text = report.model_dump_json()
    assert "NaN" not in text
    assert report.agreement.kappa.undefined == "only one label used"
    assert report.unlabelled.corrected.undefined == "no unlabelled claims"


# --- the two sentences
def _errors(wrong, right):
    items = [_item(i, _label(N if i < wrong else S)) for i in range(wrong + right)]
    return error_rates(sort_out(items, KEY).pairs)


def test_trust_names_the_rate_and_the_worst_that_is_plausible():
    assert trust(_errors(3, 109)) == (
        "3 of the 112 *supports* that reviewers checked blind were wrong (2.7 %). With 95 % confidence the true rate "
        "could lie anywhere between 0.9 and 7.6 %: expect up to one wrong *supports* in 13."
    )


def test_trust_in_few_labels_says_that_they_are_too_few_even_without_an_error():
    said = trust(_errors(0, 8))
    assert said.startswith("Only 8 *supports* have been checked: 0 of the 8")
    assert "0.0 and 32.4 %" in said
    assert said.endswith("That is too few to rely on.")


def test_trust_without_labels_asks_for_them():
    assert trust(None).startswith("Nobody has checked this judge's *supports* yet")


def test_judges_that_differ_in_version_have_different_names():
    assert KEY.name == "local m v1"
    assert JudgeKey.of(_judged(S)) == KEY
