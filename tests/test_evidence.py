"""The evidence window: whole sentences, exact spans, those that bear on the claim."""

from __future__ import annotations

import pytest

from litrag.evidence import select_window, window_text

ABSTRACT = (
    "Obesity is a growing problem in many countries. We aimed to evaluate whether zelavutide lowers body weight in "
    "adults without diabetes. In total 611 adults were randomised at 41 sites. Mean body weight fell by 11.2% with "
    "zelavutide and by 2.1% with placebo (P<0.001). Nausea was reported by 38.5% of those given zelavutide. Heart rate "
    "rose by 2.4 beats per minute. Four participants died during follow-up. Adherence was recorded in diaries. "
    "In conclusion, zelavutide lowered body weight more than placebo did."
)


def chosen(claim: str, text: str = ABSTRACT, most: int = 4) -> list[str]:
    return [text[start:end] for start, end in select_window(claim, text, most)]


def test_a_short_passage_is_read_whole():
    text = "Weight fell by 11.2%. Nausea was common. Nobody died."
    assert chosen("Nobody died.", text) == ["Weight fell by 11.2%.", "Nausea was common.", "Nobody died."]


def test_spans_cut_whole_trimmed_sentences_in_text_order():
    spans = select_window("Zelavutide lowered body weight by 11.2%.", ABSTRACT)
    assert spans == sorted(spans)
    assert all(ABSTRACT[start:end].endswith((".", ")")) for start, end in spans)
    assert all(ABSTRACT[start:end] == ABSTRACT[start:end].strip() for start, end in spans)


def test_the_sentence_with_the_claims_figure_is_among_them():
    assert any("38.5%" in sentence for sentence in chosen("Nausea occurred in 38.5% of patients."))


def test_a_rare_word_brings_in_its_sentence_without_any_figure():
    assert any("died" in sentence for sentence in chosen("Participants died on zelavutide.", most=2))


def test_the_conclusion_is_read_along_with_the_result():
    sentences = chosen("Zelavutide lowered body weight compared with placebo.", most=2)
    assert any("11.2%" in sentence for sentence in sentences)
    assert any(sentence.startswith("In conclusion") for sentence in sentences)


def test_an_aim_gives_way_to_the_finding_it_shares_its_words_with():
    assert not any("aimed to" in sentence for sentence in chosen("Zelavutide lowers body weight in adults.", most=2))


@pytest.mark.parametrize("most", [1, 2, 3, 5])
def test_no_more_sentences_are_chosen_than_allowed(most):
    assert 1 <= len(chosen("Zelavutide lowered body weight and heart rate.", most=most)) <= most


def test_long_sentences_do_not_pile_up_beyond_what_the_model_reads():
    sentence = "Patients with " + "moderate or severe disease, " * 20 + "fared better on zelavutide. "
    spans = select_window("Patients fared better on zelavutide.", sentence * 6)
    assert sum(end - start for start, end in spans) <= 900


def test_one_enormous_sentence_is_still_chosen():
    sentence = "Patients fared better on zelavutide " + "and in other ways " * 80 + "too."
    assert len(select_window("Patients fared better.", sentence)) == 1


def test_empty_text_has_no_window():
    assert select_window("Anything.", "") == []


def test_a_claim_that_shares_no_word_still_gets_the_findings():
    assert chosen("Completely different matters.")


def test_the_window_is_the_same_every_time():
    claim = "Zelavutide lowered body weight."
    assert select_window(claim, ABSTRACT) == select_window(claim, ABSTRACT)


def test_window_text_joins_the_sentences_as_the_judge_reads_them():
    assert window_text("One fell. Two rose. Three stayed.", [(0, 9), (20, 33)]) == "One fell. Three stayed."
