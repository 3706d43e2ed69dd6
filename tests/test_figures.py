"""Figures of medical prose: value, unit, sign, arm, and what is no figure at all."""

import pytest

from litrag.figures import arm_mentions, figures, intervals


def _kinds(text: str) -> list[tuple[str, str]]:
    return [(figure.text, figure.kind) for figure in figures(text)]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("a loss of 14.9%", "percent"), ("12.4 percentage points", "points"), ("2.4 mg once weekly", "mg"),
        ("after 68 weeks", "week"), ("at week 68", "week"), ("HR 0.80", "ratio"),
        ("a hazard ratio of 0.80", "ratio"), ("P<0.001", "p"), ("P = 0.04", "p"), ("17,604 participants", "people"),
        ("−12.7 kg", "kg"), ("444 sites", "site"), ("a phase 3 trial", "phase"), ("four trials in people", "trial"),
    ],
)
def test_a_number_has_the_unit_or_role_its_words_give_it(text, kind):
    [figure] = figures(text)
    assert figure.kind == kind


@pytest.mark.parametrize(
    "text",
    ["GLP-1 receptor agonists", "STEP 4 was a trial", "type 2 diabetes", "SARS-CoV-2", "Covid-19 cases", "SF-36 scores",
     "HbA1c", "a 2:1 ratio", "MEK 1/2 inhibitors", "on July 17 it began", "in 2019 it began"],
)
def test_a_number_in_a_name_a_date_or_an_allocation_is_no_figure(text):
    assert figures(text) == ()


def test_signs_are_kept_and_ranges_have_none():
    [change] = figures("changed by −14.9%")
    low, high = figures("a haemoglobin of 6.5–10.0%")
    assert (change.sign, low.sign, high.sign) == (-1, 0, 0)


def test_a_middle_dot_is_a_decimal_point():
    [figure] = figures("a ratio of 0·80")
    assert figure.value == 0.80


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("95% CI 0.72–0.90", 0.72, 0.90), ("95% CI −13.4 to −11.5", -13.4, -11.5), ("(95 % CI, 1.11 to 2.78)", 1.11, 2.78),
        ("95% confidence interval 0.43-1.06", 0.43, 1.06),
    ],
)
def test_intervals_are_read_with_their_signs(text, low, high):
    [interval] = intervals(text)
    assert (interval.low, interval.high) == (low, high)
    assert figures(text) == ()


def test_an_interval_that_ends_at_one_touches_no_effect_without_excluding_it():
    [interval] = intervals("HR 0.81, 95% CI 0.66–1.00")
    assert interval.touches(1.0)
    assert not interval.excludes(1.0)


def test_a_figure_belongs_to_the_arm_named_after_it():
    text = "weight changed by −14.9% with semaglutide 2.4 mg and by −2.4% with placebo"
    assert [(f.text, f.arm) for f in figures(text) if f.kind == "percent"] == [
        ("-14.9", "semaglutide"), ("-2.4", "control"),
    ]


def test_a_bracketed_share_belongs_to_the_arm_behind_the_bracket():
    text = "occurred in 108 of 1648 patients (6.6%) given semaglutide and 146 of 1649 (8.9%) given placebo"
    assert [f.arm for f in figures(text) if f.kind == "percent"] == ["semaglutide", "control"]


def test_a_placebo_controlled_design_names_no_arm():
    assert [m.name for m in arm_mentions("a placebo-controlled trial of semaglutide")] == ["semaglutide"]


def test_spans_index_the_text_as_it_stands():
    text = "In ½ of the ﬁeld sites, relapse was 9 of 40 (22·5 %)."
    for figure in figures(text):
        start, end = figure.span
        assert text[start:end].replace("·", ".").strip() == figure.text
