"""What code can say against a claim, and that it says nothing against honest ones."""

import json

import pytest

from litrag.checks import agrees, check_claim
from litrag.checks.case import content, open_case
from litrag.config import PROJECT
from litrag.models import Verdict
from litrag.sentences import split


def _first(claim: str, text: str):
    findings = check_claim(claim, text)
    return (findings[0].kind, findings[0].verdict) if findings else None


WEIGHT = (
    "At week 68, mean body weight had changed by −14.9% with semaglutide 2.4 mg and by −2.4% with placebo "
    "(difference −12.4 percentage points, 95% CI −13.4 to −11.5; P<0.001). A loss of at least 5% of body weight was "
    "reached by 86.4% of the semaglutide group and 31.5% of the placebo group."
)
KIDNEY = (
    "Major kidney disease events did not differ significantly between oral semaglutide and placebo, 8.4% vs 9.0% "
    "(HR 0.91, 95% CI 0.80–1.05; P=0.19). Participants had type 2 diabetes."
)
EYES = "Retinopathy complications were more frequent with semaglutide than with placebo (HR 1.76, 95% CI 1.11–2.78)."


@pytest.mark.parametrize(
    ("claim", "text", "kind", "verdict"),
    [
        ("68.4% of the semaglutide group lost at least 5% of body weight.", WEIGHT, "number", Verdict.CONTRADICTS),
        ("Weight fell by 2.4% with semaglutide and by 14.9% with placebo.", WEIGHT, "arms", Verdict.CONTRADICTS),
        ("86.4% of the semaglutide group lost at least 10% of body weight.", WEIGHT, "number", Verdict.CONTRADICTS),
        ("Semaglutide 1.0 mg lowered body weight by 14.9% at week 68.", WEIGHT, "dose", Verdict.CONTRADICTS),
        ("Semaglutide significantly reduced major kidney disease events.", KIDNEY, "significance", Verdict.CONTRADICTS),
        ("Participants did not have diabetes, people without diabetes were enrolled.", KIDNEY, "population",
         Verdict.CONTRADICTS),
        ("Retinopathy complications were less frequent with semaglutide.", EYES, "direction", Verdict.CONTRADICTS),
        ("The hazard ratio for retinopathy complications was 0.57.", EYES, "ratio", Verdict.CONTRADICTS),
        ("Liraglutide made retinopathy complications more frequent.", EYES, "drug", Verdict.NOT_FOUND),
        ("Retinopathy complications were more frequent in pregnancy.", EYES, "population", Verdict.NOT_FOUND),
    ],
)
def test_a_wrong_claim_is_found_out(claim, text, kind, verdict):
    assert _first(claim, text) == (kind, verdict)


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("Semaglutide lowered body weight by about 15% at week 68.", WEIGHT),
        ("86.4% on semaglutide and 31.5% on placebo lost at least 5% of their weight.", WEIGHT),
        ("The difference between the groups was 12.4 percentage points.", WEIGHT),
        ("Major kidney disease events were not significantly reduced by oral semaglutide.", KIDNEY),
        ("The risk of retinopathy complications was higher with semaglutide.", EYES),
        ("Retinopathy complications were less frequent with placebo than with semaglutide.", EYES),
    ],
)
def test_an_honest_claim_raises_nothing(claim, text):
    assert check_claim(claim, text) == []


def test_the_message_names_both_figures():
    [finding, *_] = check_claim("68.4% of the semaglutide group lost at least 5% of body weight.", WEIGHT)
    assert finding.message == "the claim says 68.4%, the source 86.4%"
    assert WEIGHT[slice(*finding.source_span)] == "86.4"


def test_a_relative_reduction_follows_from_a_hazard_ratio():
    text = "The primary outcome was less frequent with semaglutide (hazard ratio 0.80, 95% CI 0.72–0.90)."
    assert check_claim("Semaglutide lowered the risk of the primary outcome by 20%.", text) == []
    assert _first("Semaglutide lowered the risk of the primary outcome by 80%.", text) is not None


def test_a_borderline_interval_makes_a_significant_effect_partial():
    text = "For death from any cause the hazard ratio was 0.81 with semaglutide (95% CI 0.66–1.00)."
    assert _first("Semaglutide significantly lowered all-cause mortality.", text) == ("significance", Verdict.PARTIAL)


def test_non_inferior_is_not_superior():
    text = "Semaglutide was non-inferior to placebo for major cardiovascular events."
    claim = "Semaglutide was superior to placebo for major cardiovascular events."
    assert _first(claim, text) == ("overreach", Verdict.PARTIAL)
    failed = text + " Superiority was not shown."
    assert _first(claim, failed) == ("overreach", Verdict.CONTRADICTS)


def test_an_observational_study_proves_no_cause():
    text = "In this observational cohort, weight loss was greater with tirzepatide than with semaglutide."
    claim = "Tirzepatide causes more weight loss than semaglutide."
    assert _first(claim, text) == ("overreach", Verdict.PARTIAL)


def test_no_sentence_of_a_digest_is_held_against_its_own_digest(sample_records):
    alarms = [
        (record.record_id, record.text[start:end])
        for record in sample_records.values()
        for start, end in split(record.text)
        if check_claim(record.text[start:end], record.text)
    ]
    assert alarms == []


def test_no_true_case_about_the_sample_corpus_is_held_wrong(sample_records):
    by_pmid = {record.pmid: record for record in sample_records.values()}
    cases = [json.loads(line) for line in (PROJECT / "data" / "judge_cases.jsonl").read_text("utf-8").splitlines()]
    true = [case for case in cases if case["expected"] == "supports"]
    alarms = [case["claim"] for case in true if check_claim(case["claim"], by_pmid[case["pmid"]].text)]
    assert len(true) >= 60
    assert alarms == []


def test_a_comparison_of_groups_that_the_source_does_not_make_is_not_in_it():
    text = "Weight loss was seen in both women and men. Weight fell by 9% with semaglutide."
    assert _first("Women lost more weight than men.", text) == ("population", Verdict.NOT_FOUND)
    assert check_claim("Women lost more weight than men.", "Women lost more weight than men did (11% vs 8%).") == []


TRIAL = (
    "Participants took tablets for a median of 20.5 months. Hospital admission for asthma was the primary outcome; it "
    "happened less often (HR 0.70, 95% CI 0.52–0.94). School absence was a secondary outcome. At entry, 40.2% of them had "
    "eczema. The trial was stopped early. The analysis of eczema was prespecified."
)


@pytest.mark.parametrize(
    ("claim", "kind", "verdict"),
    [
        ("Median follow-up was 36 months.", "time", Verdict.CONTRADICTS),
        ("The confidence interval of the hazard ratio for admission ran from 0.52 to 1.20.", "interval", Verdict.CONTRADICTS),
        ("School absence was the primary outcome.", "design", Verdict.CONTRADICTS),
        ("None of the participants had eczema.", "population", Verdict.CONTRADICTS),
        ("The trial ran to its planned end.", "design", Verdict.CONTRADICTS),
        ("The analysis of eczema was post hoc.", "design", Verdict.CONTRADICTS),
    ],
)
def test_a_study_described_wrongly_is_found_out(claim, kind, verdict):
    assert _first(claim, TRIAL) == (kind, verdict)


@pytest.mark.parametrize(
    "claim",
    [
        "Median follow-up was 20.5 months.",
        "The confidence interval of the hazard ratio for admission ran from 0.52 to 0.94.",
        "Hospital admission for asthma was the primary outcome.",
        "School absence was a secondary outcome.",
        "The trial ended early.",
        "The analysis of eczema was not post hoc.",
    ],
)
def test_a_study_described_rightly_raises_nothing(claim):
    assert _first(claim, TRIAL) is None


def test_a_finding_widened_to_people_who_were_not_studied_is_partly_right():
    text = "In people without diabetes, semaglutide lowered major cardiovascular events compared with placebo."
    findings = check_claim("Semaglutide lowers major cardiovascular events in everyone, including people with diabetes.", text)
    assert {finding.verdict for finding in findings} == {Verdict.PARTIAL}


def test_a_ratio_below_one_for_survival_is_no_loss_of_survival():
    text = "Progression-free survival was longer with axitinib than with sorafenib (hazard ratio 0.39, 95% CI 0.23–0.65)."
    assert _first("Axitinib increased progression-free survival compared with sorafenib.", text) is None


def test_an_interval_that_may_be_a_ratios_is_not_read_as_a_difference():
    text = "Response did not depend on the paper used for the questionnaire (0.59, 95% CI 0.33 to 1.05)."
    assert _first("There was no significant difference in response between the papers of the questionnaire.", text) is None


COMPARED = (
    "Postoperative pain was significantly lower in the ketamine group than in the saline group (P=0.01). "
    "There was no significant difference in nausea between the groups. Rescue analgesia was needed by fewer patients."
)


@pytest.mark.parametrize(
    ("claim", "kind"),
    [
        ("There was no significant difference in postoperative pain between ketamine and saline.", "significance"),
        ("Ketamine significantly increased postoperative pain compared with saline.", "direction"),
        ("Saline significantly decreased postoperative pain compared with ketamine.", "direction"),
        ("Ketamine significantly reduced nausea compared with saline.", "significance"),
    ],
)
def test_a_comparison_is_held_against_what_the_source_says_of_that_outcome(claim, kind):
    assert _first(claim, COMPARED) == (kind, Verdict.CONTRADICTS)


@pytest.mark.parametrize(
    "claim",
    [
        "Ketamine significantly decreased postoperative pain compared with saline.",
        "Saline significantly increased postoperative pain compared with ketamine.",
        "There was no significant difference in nausea between ketamine and saline.",
    ],
)
def test_a_comparison_that_the_source_makes_raises_nothing(claim):
    assert _first(claim, COMPARED) is None


def test_an_effect_on_something_that_the_source_never_names_is_not_in_it():
    finding = check_claim("Semaglutide slowed the decline of memory.", WEIGHT)[0]
    assert (finding.kind, finding.verdict) == ("outcome", Verdict.NOT_FOUND)
    assert "memory" in finding.message


def test_figures_agree_only_where_a_result_of_the_claim_stands_on_the_same_matter():
    assert agrees("86.4% of the semaglutide group lost at least 5% of body weight.", WEIGHT)
    assert not agrees("At week 68, semaglutide had no effect on mood.", WEIGHT)


def test_a_direction_agrees_when_the_source_says_the_same_of_the_same_treatment():
    assert agrees("Retinopathy complications were more frequent with semaglutide.", EYES)
    assert not agrees("Retinopathy complications were less frequent with semaglutide.", EYES)


def test_a_figure_that_fell_did_not_rise():
    text = "After 20 weeks, body weight fell by 7.9% with the drug and rose by 6.9% with placebo."
    assert _first("Body weight rose by 7.9% with the drug.", text) == ("direction", Verdict.CONTRADICTS)
    assert _first("Body weight fell by 7.9% with the drug.", text) is None
    assert _first("Body weight rose by 6.9% with placebo.", text) is None


@pytest.mark.parametrize(
    ("study", "claim", "meant"),
    [
        ("SELECT", "The hazard ratio for death from any cause was 0.81 (95% CI 0.71–0.90).", "0.71–0.93"),
        ("SELECT", "Death from any cause was less frequent with semaglutide (95% CI 0.71–0.98).", "0.71–0.93"),
        ("SELECT", "For the heart-failure composite, the hazard ratio was 0.82 (95% CI 0.71–0.99).", "0.71–0.96"),
        ("PIONEER 6", "For nonfatal stroke, the HR was 0.74 (95% CI 0.73–1.57).", "0.35–1.57"),
        ("PIONEER 6", "Fewer people died of cardiovascular causes (HR 0.49, 95% CI 0.31–0.84).", "0.27–0.92"),
        ("SOUL", "The HR for nonfatal myocardial infarction was 0.74 (95% CI 0.80–0.89).", "0.61–0.89"),
    ],
)
def test_of_intervals_that_share_a_limit_the_one_of_the_claimed_result_is_shown(by_study, study, claim, meant):
    text = by_study[study].text
    (finding,) = [finding for finding in check_claim(claim, text) if finding.kind == "interval"]
    assert (finding.verdict, finding.message.endswith(f"the source 95% CI {meant}")) == (Verdict.CONTRADICTS, True)
    assert text[slice(*finding.source_span)] == f"95% CI {meant}"


def test_an_interval_with_its_own_estimate_raises_nothing_though_another_shares_a_limit(by_study):
    for study, claim in (
        ("SELECT", "For death from any cause the hazard ratio was 0.81 (95% CI 0.71–0.93)."),
        ("SELECT", "For the heart-failure composite the hazard ratio was 0.82 (95% CI 0.71–0.96)."),
        ("PIONEER 6", "Cardiovascular death was rarer on oral semaglutide (HR 0.49, 95% CI 0.27–0.92)."),
    ):
        assert [f for f in check_claim(claim, by_study[study].text) if f.kind == "interval"] == []


def test_all_checks_of_a_claim_share_one_reading_of_its_source():
    text = "Mortality fell by 12% with drug Z (HR 0.88, 95% CI 0.80–0.97)."
    assert open_case("Drug Z lowered mortality.", text) is open_case("Drug Z lowered mortality.", text)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("dying of any cause", "all-cause mortality"), ("deaths from any reason", "total mortality"),
        ("any death", "all-cause death"),
        ("3-point MACE", "major adverse cardiovascular events"), ("CV events", "cardiovascular events"),
        ("renal events", "kidney events"), ("heart attacks", "myocardial infarction"), ("MIs", "myocardial infarction"),
        ("HbA1c", "glycosylated hemoglobin"), ("side effects", "adverse reactions"), ("AEs", "adverse events"),
        ("withdrawal", "discontinuation"), ("came off", "quit"), ("gave up", "stopping"), ("BMI", "body mass index"),
        ("body weight", "weight"), ("GI events", "digestive events"), ("T2D", "type II diabetes"),
        ("CKD", "chronic kidney disease"), ("HF", "heart-failure"), ("ages", "age"),
    ],
)
def test_names_of_one_thing_count_as_the_same_words(one, other):
    assert content(f"risk of {one}") == content(f"risk of {other}") != frozenset()


ENROLMENT = (
    "Of 900 participants (90.0%) who could be assessed, 477 (53.0%) with preserved, 283 (31.4%) with reduced and 140 (15.6%) "
    "with unclassified pump function were followed. Treatment was stopped by 2.2% after randomisation and by 5.3% during "
    "the run-in. In a 20-week run-in, all took drug Z; this is not an independent sample. None had diabetes."
)


@pytest.mark.parametrize(
    ("claim", "kind"),
    [
        ("Of those assessed, 53.0% had a reduced pump function.", "number"),
        ("5.3% stopped treatment after randomisation.", "number"),
        ("The run-in lasted 12 weeks.", "time"),
        ("The analysis is a trial with its own, independent sample.", "design"),
        ("The analysis covered people with type 2 diabetes.", "population"),
    ],
)
def test_a_share_a_length_or_a_sample_that_the_source_gives_otherwise_is_found_out(claim, kind):
    assert _first(claim, ENROLMENT) == (kind, Verdict.CONTRADICTS)


@pytest.mark.parametrize(
    "claim",
    [
        "Of those assessed, 53.0% had a preserved pump function.",
        "Pump function was reduced in 31.4% and preserved in 53.0%.",
        "2.2% stopped treatment after randomisation.",
        "The run-in lasted 20 weeks.",
        "The sample was not an independent sample.",
        "Nobody in the analysis had diabetes.",
    ],
)
def test_a_share_a_length_or_a_sample_as_the_source_gives_it_raises_nothing(claim):
    assert check_claim(claim, ENROLMENT) == []


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("The review reports a single randomised trial.", "We pooled seven placebo-controlled outcome trials of drug Z."),
        ("It was designed to show no more than non-inferiority.", "This was a randomised superiority trial at 80 sites."),
    ],
)
def test_the_design_of_another_study_is_found_out(claim, text):
    assert _first(claim, text) == ("design", Verdict.CONTRADICTS)


def test_a_likelihood_of_losing_weight_said_of_the_wrong_drug_names_both_drugs():
    text = "People on tirzepatide were more likely than matched people on semaglutide to lose at least 15% of body weight."
    (finding,) = check_claim("People on semaglutide were more likely than people on tirzepatide to lose 15% of weight.", text)
    assert finding.message == "the claim says “lose” of semaglutide, the source of tirzepatide"
    assert check_claim("People on tirzepatide were more likely than people on semaglutide to lose 15% of weight.", text) == []
    assert check_claim("Semaglutide users were less likely than tirzepatide users to lose at least 15% of weight.", text) == []


def test_an_arm_that_gained_did_not_lose():
    text = "Body weight changed by −7.9% on semaglutide and by +6.9% in those switched to placebo (difference −14.8 points)."
    (finding,) = check_claim("Participants who were moved to placebo kept losing weight.", text)
    assert finding.message == "the claim says “losing” of the control arm, the source +6.9"
    assert check_claim("Participants who were moved to placebo gained weight.", text) == []


def test_no_effect_agrees_where_the_source_says_so_of_the_same_outcome():
    assert agrees("There was no significant difference in major kidney disease events.", KIDNEY)
    assert not agrees("There was no significant difference in broken hips.", KIDNEY)
    assert not agrees("There was no significant difference in retinopathy complications.", EYES)


def test_reference_numbers_names_and_numbers_of_lists_are_no_figures_of_a_claim():
    for claim in ("1. Drug Z lowers weight [2,5].", "Covid 19 lowers weight under Rule 19 [3]."):
        assert [finding for finding in check_claim(claim, "Drug Z and infection lower weight.") if finding.kind == "number"] == []


BLEEDING = (
    "The risk of bleeding was higher with brimafol than with placebo (risk ratio 1.60, 95% CI 1.24–2.07). Compared with "
    "placebo, brimafol changed diastolic pressure by −4.2 mm Hg (95% CI −6.0 to −2.4). The risk was also raised in people "
    "aged 70 years or older. Of the participants, 11.6% came from Norway."
)


@pytest.mark.parametrize(
    ("claim", "kind"),
    [
        ("Bleeding was less frequent with brimafol than with placebo.", "direction"),
        ("Diastolic pressure was 4.2 mm Hg higher with brimafol than with placebo.", "direction"),
        ("The risk was raised in people younger than 70 years.", "population"),
    ],
)
def test_a_comparison_or_an_age_turned_round_is_found_out(claim, kind):
    assert _first(claim, BLEEDING) == (kind, Verdict.CONTRADICTS)


@pytest.mark.parametrize(
    "claim",
    [
        "Bleeding was more frequent with brimafol than with placebo.",
        "Diastolic pressure was 4.2 mm Hg lower with brimafol than with placebo.",
        "Diastolic pressure was 4.2 mm Hg higher with placebo than with brimafol.",
        "The risk was raised in people older than 70 years.",
        "About one in nine participants came from Norway.",
    ],
)
def test_a_comparison_an_age_or_a_share_in_other_words_raises_nothing(claim):
    assert _first(claim, BLEEDING) is None
