"""Where quotes stand: exact places for every kind of match, and no way past a changed number, sign, unit or "not"."""

import json
import re
import unicodedata
from pathlib import Path

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from litrag import locate_quote
from litrag.locate import locate_among
from litrag.models import MatchKind

TRIAL = (
    "BACKGROUND: Velutide lowers appetite in adults with obesity.\n"
    "METHODS: In this randomised, double-blind, placebo-controlled trial at 41 sites, 1,206 adults were given velutide "
    "2.5 mg or placebo once weekly for 68 weeks. The primary endpoint was the change in body weight.\n"
    "RESULTS: Mean weight change was −12.4% (95% CI −13.1 to −11.7) with velutide and −2.3% with placebo (P < 0.001). "
    "Nausea (usually mild, 31% of patients) was more frequent with velutide. Velutide did not increase heart failure "
    "(hazard ratio 0·94; 0.81–1.09). Haemoglobin concentrations in the “high‑dose” arm rose by 5 µmol/L, and "
    "anaemia was therefore significantly less common.\n"
    "CONCLUSIONS: In adults with obesity, velutide led to a large and sustained reduction in body weight."
)


def found(quote, text=TRIAL, **options):
    """The location and the pieces of the stored text that it points to."""
    location = locate_quote(quote, text, **options)
    assert location.found, location.in_words()
    return location, [text[start:end] for start, end in location.spans]


def refused(quote, text=TRIAL):
    location = locate_quote(quote, text)
    assert not location.found, f"accepted as {location.match}: {quote}"
    return location


# --- word for word
def test_a_quote_that_stands_letter_for_letter_is_exact():
    quote = "Mean weight change was −12.4% (95% CI −13.1 to −11.7) with velutide and −2.3% with placebo (P < 0.001)."
    location, [piece] = found(quote)
    assert location.match is MatchKind.EXACT
    assert piece == quote
    assert (location.score, location.occurrences, location.differences) == (1.0, 1, ())


def test_a_short_quote_that_stands_letter_for_letter_is_exact_too():
    location, [piece] = found("sustained reduction in body weight")
    assert location.match is MatchKind.EXACT
    assert piece == "sustained reduction in body weight"


@pytest.mark.parametrize("quote", [
    'in the "high-dose" arm rose by 5 μmol/L',
    "Velutide did not increase heart failure (hazard ratio 0.94; 0.81-1.09)",
    "velutide did not increase heart failure [hazard ratio 0.94; 0.81 – 1.09].",
    "MEAN WEIGHT CHANGE WAS −12.4% (95% CI −13.1 TO −11.7) WITH VELUTIDE",
    "Mean  weight\nchange was -12.4 percent (95 % CI -13.1 to -11.7)",
    "1206 adults were given velutide 2.5mg or placebo",
    "Mean weight change was &minus;12.4% (95% CI &#8722;13.1 to −11.7) with velutide and −2.3% with placebo (P &lt; .001)",
    "Mean weight change was −12.4% (95% CI −13.1 to −11.7) with velu-\ntide",
    "“The primary endpoint was the change in body weight.”",
    "- The **primary** endpoint was the change in body weight",
    "Results: Nausea (usually mild, 31% of patients) was more frequent with velutide",
    "…the primary endpoint was the change in body weight…",
])
def test_typography_alone_makes_a_quote_normalized(quote):
    location, [piece] = found(quote)
    assert location.match is MatchKind.NORMALIZED
    assert location.score == 1.0
    first = re.search(r"primary|nausea|mean|high|did|1206", quote.replace("\n", " "), re.IGNORECASE).group()
    assert first.lower() in piece.replace(",", "").lower()


@pytest.mark.parametrize(("quote", "piece"), [
    ('in the "high-dose" arm rose by 5 μmol/L', "in the “high‑dose” arm rose by 5 µmol/L"),
    ("heart failure (hazard ratio 0.94; 0.81-1.09)", "heart failure (hazard ratio 0·94; 0.81–1.09)"),
    ("1206 adults were given velutide 2.5mg", "1,206 adults were given velutide 2.5 mg"),
    ("the change in body weight. RESULTS: Mean weight", "the change in body weight.\nRESULTS: Mean weight"),
    ("Nausea [usually mild, 31 percent of patients] was", "Nausea (usually mild, 31% of patients) was"),
])
def test_the_span_is_cut_from_the_text_as_stored(quote, piece):
    assert found(quote)[1] == [piece]


def test_marks_that_fold_to_another_length_before_a_quote_do_not_move_its_span():
    text = "In ¼ of the ﬂoor wards,   staﬀ were asked (naïve arm, 𝛂-blocker 😀). Falls were seen in 7 of 60."
    assert found("Falls were seen in 7 of 60.", text)[1] == ["Falls were seen in 7 of 60."]


def test_dashes_spaces_and_ascii_signs_do_not_make_a_figure_false():
    text = "Ferritin fell by 0.5–1.2 % (95 % CI −1.4 to −0.2) in the “low‑iron” arm; n ≥ 30; dose 5 µg."
    location, [piece] = found('Ferritin fell by 0.5-1.2 % (95 % CI -1.4 to -0.2) in the "low-iron" arm; n >= 30', text)
    assert location.match is MatchKind.NORMALIZED
    assert piece == text[:text.index("; dose")]
    assert found("arm; n ≥ 30; dose 5 μg", text)[1] == ["arm; n ≥ 30; dose 5 µg"]
    refused("arm; n ≥ 30; dose 5 mg", text)
    refused("(95 % CI 1.4 to 0.2) in the low-iron arm", text)
    refused("CI 1.4 to 0.2", text)


@pytest.mark.parametrize("mark", ["> ", "- ", "* ", "• ", "## "])
def test_the_mark_of_a_list_or_a_quotation_is_no_part_of_a_quote(mark):
    assert found(f"{mark}The primary endpoint was the change in body weight")[1] == [
        "The primary endpoint was the change in body weight"]


# --- borders
@pytest.mark.parametrize("quote", ["renal", "no", "5 mg", "responders", "line was given"])
def test_a_quote_is_not_found_inside_a_longer_word_or_number(quote):
    location = refused(quote, "Adrenaline was given to nonresponders at 15 mg.")
    assert location.match in (MatchKind.ABSENT, MatchKind.ALTERED)


@pytest.mark.parametrize(("quote", "text"), [
    ("increase heart failure", TRIAL),
    ("12.4% (95% CI −13.1 to −11.7) with velutide", TRIAL),
    ("symptomatic patients were treated early", "The non-symptomatic patients were treated early."),
    ("evidence of harm in the treated group", "There was no evidence of harm in the treated group."),
    ("the rate of relapse was 12", "In all the rate of relapse was 12.5 in the year."),
    ("the rate of relapse was 12", "In all the rate of relapse was 12% in the year."),
    ("the rate of relapse was 12", "In all the rate of relapse was 12–15 in the year."),
    ("12 patients relapsed within the year", "In all, fewer than 12 patients relapsed within the year."),
    ("12 patients relapsed within the year", "In all, at least 12 patients relapsed within the year."),
    ("few of the patients relapsed in a year", "Only a few of the patients relapsed in a year."),
    ("0.001 for every comparison made", "The value was <0.001 for every comparison made."),
])
def test_a_quote_may_not_leave_out_what_belongs_to_its_first_or_last_word(quote, text):
    location = refused(quote, text)
    assert location.match is MatchKind.ALTERED
    assert location.differences


# --- copies
LOOKALIKES = (
    "In arm A, the new dose cut relapse by 14 percent over one year. In arm B, the new dose cut relapse by 41 percent "
    "over one year. The difference was significant (p = 0.04)."
)


@pytest.mark.parametrize("quote", [
    "In arm B, the new dose cut relapse by 14 percent over one year.",
    "In arm A, the new dose cut relapse by 41 percent over one year.",
    "The difference was significant (p = 0.4).",
])
def test_a_sentence_that_only_looks_like_one_of_the_source_is_altered(quote):
    location = refused(quote, LOOKALIKES)
    assert location.match is MatchKind.ALTERED
    assert location.differences[0].in_words() in location.in_words()


def test_a_phrase_that_stands_twice_says_so_and_goes_to_the_copy_nearest_the_claim():
    location, _ = found("the new dose cut relapse by", LOOKALIKES)
    assert location.occurrences == 2
    assert "stands 2 times" in location.note
    second = LOOKALIKES.index("the new dose", LOOKALIKES.index("arm B"))
    location, _ = found("the new dose cut relapse by", LOOKALIKES, claim="In arm B relapse fell by 41 percent.")
    assert location.spans == ((second, second + len("the new dose cut relapse by")),)


# --- left out
def test_an_ellipsis_that_skips_nothing_of_weight_is_elided_and_shows_what_was_left_out():
    quote = "In this randomised, … placebo-controlled trial at 41 sites"
    location, pieces = found(quote)
    assert location.match is MatchKind.ELIDED
    assert pieces == ["In this randomised,", "placebo-controlled trial at 41 sites"]
    [left_out] = location.differences
    assert left_out.source == "double-blind"
    assert TRIAL[slice(*left_out.source_span)] == "double-blind"


@pytest.mark.parametrize("design", [
    "double-blind", "double blinded", "single-blind", "triple-masked", "double-dummy", "two-sided", "two-tailed", "one-sided",
    "single-centre", "two-center", "first-line", "second-line", "third-line", "three-way", "two-arm", "2-arm", "three-stage",
    "once-weekly", "one-step", "double-stranded", "single-arm",
])
def test_a_number_that_only_names_a_design_may_be_skipped(design):
    text = f"This was a carefully conducted, {design}, controlled study of the vaccine in healthy volunteers."
    location, _ = found("This was a carefully conducted, … controlled study of the vaccine", text)
    assert location.match is MatchKind.ELIDED


@pytest.mark.parametrize("weight", [
    "12-week", "twelve-week", "two-thirds", "twofold three", "two dose", "non-inferior", "not", "unless", "30 mg",
    "placebo", "semaglutide", "two", "twice-daily", "control", "seven of the",
])
def test_an_ellipsis_may_not_skip_a_number_a_negation_or_an_arm(weight):
    text = f"This was a carefully conducted and {weight} controlled study of the vaccine in healthy volunteers."
    location = refused("This was a carefully conducted … controlled study of the vaccine", text)
    assert location.match is MatchKind.ALTERED
    assert location.differences[0].kind in ("number", "negation", "arm")


@pytest.mark.parametrize("mark", ["…", "...", "[…]", "[...]", "(...)", ". . ."])
def test_every_form_of_an_ellipsis_is_one(mark):
    location, pieces = found(f"velutide led to a large {mark} reduction in body weight")
    assert location.match is MatchKind.ELIDED
    assert pieces == ["velutide led to a large", "reduction in body weight"]


def test_an_ellipsis_may_not_make_one_sentence_of_two():
    location = refused("The primary endpoint was the change in … with velutide and −2.3% with placebo")
    assert location.match is MatchKind.ALTERED


def test_pieces_in_another_order_are_no_quote():
    refused("led to a large and sustained reduction … In adults with obesity, velutide")


def test_a_whole_aside_may_be_left_out_without_a_mark_numbers_included():
    location, [piece] = found("Nausea was more frequent with velutide.")
    assert location.match is MatchKind.ELIDED
    assert piece == "Nausea (usually mild, 31% of patients) was more frequent with velutide."
    assert [d.kind for d in location.differences] == ["aside"]


@pytest.mark.parametrize(("quote", "text"), [
    ("Of 300 eligible adults, 180 were followed for the whole time.",
     "Of 300 eligible adults (210 of them women), 180 were followed for the whole time."),
    ("The type VI secretion system of these bacteria was seen here.",
     "The type VI secretion system (T6SS) of these bacteria was seen here."),
    ("Ozone and nitrogen dioxide concentrations were measured daily.",
     "Ozone and nitrogen dioxide (NO2) concentrations were measured daily."),
    ("Age was similar and male sex was dominant.", "Age was similar and male sex (88 or 72.1%) was dominant."),
    ("Nitrosylated GAPDH binds to the ligase and is then moved.",
     "Earlier work said little. Nitrosylated GAPDH (SNO-GAPDH) binds to the ligase and is then moved."),
])
def test_an_aside_may_stand_anywhere_in_the_sentence(quote, text):
    location, [piece] = found(quote, text)
    assert location.match is MatchKind.ELIDED
    assert (piece[:4], piece[-4:]) == (quote[:4], quote[-4:])


@pytest.mark.parametrize("aside", ["not in men", "which never recovered", "without treatment", "none of them", "don't ask"])
def test_an_aside_that_negates_may_not_be_left_out(aside):
    refused("All of the treated patients recovered in a year.", f"All of the treated patients ({aside}) recovered in a year.")


# --- slips
@pytest.mark.parametrize(("quote", "kind"), [
    ("Hemoglobin concentrations in the high-dose arm rose by 5 µmol/L", "spelling"),
    ("anemia was therefore significantly less common", "spelling"),
    ("In this randomized, double-blind, placebo-controlled trial", "spelling"),
    ("Haemoglobin concentratons in the high-dose arm rose", "typo"),
    ("anaemia was therefore significanlty less common", "typo"),
    ("In this randomised, doubleblind, placebo-controlled trial", "hyphenation"),
    ("Primary endpoint was change in body weight", "article"),
    ("The primary end point was the change in body weight", "hyphenation"),
])
def test_a_harmless_slip_is_fuzzy_and_is_named(quote, kind):
    location, [piece] = found(quote)
    assert location.match is MatchKind.FUZZY
    assert kind in {difference.kind for difference in location.differences}
    assert 0.9 <= location.score <= 1
    assert piece.split()[-1].rstrip(".") == quote.split()[-1].rstrip(".")


@pytest.mark.parametrize(("text", "quote"), [
    ("Despite the high incidence of fever, its course is mild.", "Despite high incidence of fever, its course is mild."),
    ("Eighty patients met the study criteria.", "Eighty patients met study criteria."),
    ("It was integrated into the CRISPR array.", "It was integrated into CRISPR array."),
    ("It binds the IκB kinase and the factor-κB pathway.", "It binds the IkappaB kinase and the factor-kappaB pathway."),
    ("RESULTS Of 314,019 women in the cohort, most were well.", "RESULTS Of 314 019 women in the cohort, most were well."),
])
def test_a_slip_next_to_the_edge_of_a_quote_is_still_a_slip(text, quote):
    text = f"Nothing else was said before. {text} Much was said after it."
    location, [piece] = found(quote, text)
    assert location.match is MatchKind.FUZZY
    assert piece == text[30:-24]


def test_a_typing_error_may_not_be_a_word_of_the_corpus():
    text = "The treatment of the gastritis patients was well tolerated."
    quote = "The treatment of the gastritus patients was well tolerated."
    assert locate_quote(quote, text).match is MatchKind.FUZZY
    assert locate_quote(quote, text, vocabulary=frozenset({"gastritus"})).match is MatchKind.ALTERED


# --- altered
ALTERED = [
    ("number", "Mean weight change was −12.5% (95% CI −13.1 to −11.7) with velutide"),
    ("number", "Mean weight change was −1.24% (95% CI −13.1 to −11.7) with velutide"),
    ("number", "Mean weight change was −12.4% (95% CI −13.1 to −11.5) with velutide"),
    ("number", "−2.3% with placebo (P < 0.01). Nausea (usually mild, 31% of patients) was more frequent"),
    ("number", "trial at fourteen sites, 1,206 adults were given velutide 2.5 mg or placebo"),
    ("sign", "Mean weight change was 12.4% (95% CI −13.1 to −11.7) with velutide"),
    ("comparator", "and −2.3% with placebo (P > 0.001). Nausea (usually mild"),
    ("unit", "1,206 adults were given velutide 2.5 g or placebo once weekly for 68 weeks"),
    ("unit", "1,206 adults were given velutide 2.5 mg or placebo once daily for 68 weeks"),
    ("negation", "Velutide did increase heart failure (hazard ratio 0·94; 0.81–1.09)"),
    ("negation", "In adults with obesity, velutide led not to a large and sustained reduction"),
    ("direction", "velutide led to a large and sustained increase in body weight"),
    ("direction", "anaemia was therefore significantly more common"),
    ("arm", "1,206 adults were given velutide 2.5 mg or control once weekly for 68 weeks"),
    ("population", "In children with obesity, velutide led to a large and sustained reduction"),
    ("wording", "velutide led to a large and sustained reduction in waist weight"),
    ("omission", "velutide led to a large reduction in body weight"),
    ("addition", "velutide led to a large and very sustained reduction in body weight"),
]


@pytest.mark.parametrize(("kind", "quote"), ALTERED)
def test_what_differs_is_named_with_its_kind_and_both_places(kind, quote):
    location = refused(quote)
    assert location.match is MatchKind.ALTERED
    difference = location.differences[0]
    assert difference.kind == kind
    if difference.quote:
        assert quote[slice(*difference.quote_span)] == difference.quote
    if difference.source:
        assert TRIAL[slice(*difference.source_span)] == difference.source
    assert difference.in_words() in location.in_words()


@pytest.mark.parametrize(("quote", "text"), [
    ("Severe hypotension was seen in some patients", "Severe hypertension was seen in some patients"),
    ("The outcome was decreased in treated patients", "The outcome was increased in treated patients"),
    ("The patients were unresponsive to the second drug", "The patients were responsive to the second drug"),
    ("Treatment was with prednisone in all the patients", "Treatment was with prednisolone in all the patients"),
    ("A symptomatic course was usual in these patients", "Asymptomatic course was usual in these patients, as it is"),
    ("Few patients in the cohort had recovered by then", "A few patients in the cohort had recovered by then"),
    ("Patients in arm had recovered by the end of it", "Patients in arm A had recovered by the end of it"),
    ("The showed an effect on survival of the patients", "The study showed an effect on survival of the patients"),
    ("Velutide was compared with placebo in men", "Placebo was compared with velutide in men"),
    ("Patents with this disease had recovered by then", "Patients with this disease had recovered by then"),
])
def test_what_is_one_letter_away_may_be_another_word(quote, text):
    assert refused(quote, text).match is MatchKind.ALTERED


def test_two_sentences_joined_are_altered_and_both_places_are_shown():
    text = (
        "Relapse was seen in nine of the treated patients during the first winter. It is of note that the wards were full "
        "and that few of the nurses had been trained in the use of the new device before the study began. Costs were "
        "borne by the ministry of health of the country."
    )
    location = refused("Relapse was seen in nine of the treated patients by the ministry of health of the country.", text)
    assert location.match is MatchKind.ALTERED
    assert len(location.spans) == 2


# --- absent
@pytest.mark.parametrize("quote", [
    "Tirzepatide halved the rate of stroke in every subgroup that was studied.",
    "", " ", "\n\t", "…", "...", "?!", "of the", "5", "12.4", "a", "\u200b\u00ad",
])
def test_what_does_not_stand_there_or_says_too_little_is_absent(quote):
    location = refused(quote)
    assert location.match is MatchKind.ABSENT
    assert location.spans == ()


def test_a_quote_that_holds_its_whole_source_and_more_is_absent():
    text = "Relapse was seen in nine of forty patients."
    location = refused(f"{text} It was fatal in all of them, whatever the treatment that had been given before.", text)
    assert location.match is MatchKind.ABSENT
    assert "longer than its source" in location.note


def test_a_short_quote_says_why_it_can_not_be_verified():
    assert "too short" in refused("of the").note


# --- any text
WORDS = (
    "relapse patients during winter with mild anaemia severe cough after surgery the of and dose protein serum level cohort "
    "observed rate median score tumour lesion scan early response treated group 7 12% 3.5 40 1,206 0.04"
).split()
MARKS = [" "] * 60 + ["  ", "\n", ", ", "; ", " (", ") ", ". ", " – ", "\u00a0", " “", "” ", " ½ ", " ﬁeld ", " α-"]


@st.composite
def passages(draw):
    random = draw(st.randoms(use_true_random=False))
    return "".join(random.choice(WORDS) + random.choice(MARKS) for _ in range(random.randint(20, 60)))


@st.composite
def excerpts(draw):
    """A text and the range of an excerpt from one of its spaces to another."""
    text = draw(passages())
    places = [0, *(match.end() for match in re.finditer(r"\s", text)), len(text)]
    start = draw(st.integers(0, max(0, len(places) - 10)))
    quote = text[places[start]:places[draw(st.integers(start + 6, len(places) - 1))]].strip()
    assume(len(re.findall(r"[a-z]{5,}", quote)) >= 3)
    return text, quote


@given(excerpts())
def test_any_part_of_a_text_is_found_where_it_stands(case):
    text, quote = case
    assume(quote[0].isalpha() and quote[-1].isalpha())
    location = locate_quote(quote, text)
    assert location.match is MatchKind.EXACT
    [(start, end)] = location.spans
    assert text[start:end] == quote


@given(excerpts(), st.data())
def test_a_part_of_a_text_that_begins_or_ends_within_a_word_is_never_exact(case, data):
    text, quote = case
    assume(len(re.findall(r"[a-z]{5,}", quote)) >= 4 and quote[0].isalpha() and quote[1].isalpha() and quote[2].isalpha())
    cut = quote[1:]
    assume(f" {cut}" not in f" {text}")
    assert not locate_quote(cut, text).found or locate_quote(cut, text).match is MatchKind.FUZZY


DRIFTS = {
    "dashes": lambda text: re.sub("[-–−]", "‑", text),
    "minus": lambda text: text.replace("−", "-"),
    "quotation marks": lambda text: re.sub("[“”]", '"', text),
    "spaces": lambda text: text.replace(" ", "\u2009"),
    "line ends": lambda text: text.replace(" ", "\r\n  "),
    "case": str.swapcase,
    "capitals": str.upper,
    "ligatures": lambda text: text.replace("fi", "ﬁ").replace("ff", "ﬀ").replace("fl", "ﬂ"),
    "decimals": lambda text: re.sub(r"(?<=\d)[.·](?=\d)", "∙", text),
    "entities": lambda text: text.replace("&", "&amp;").replace("<", "&lt;").replace("µ", "&micro;").replace("“", "&ldquo;"),
    "soft hyphens": lambda text: re.sub(r"(?<=[a-z]{3})(?=[a-z]{3})", "\u00ad", text),
    "decomposed": lambda text: unicodedata.normalize("NFD", text),
    "thousands": lambda text: re.sub(r"(?<=\d),(?=\d{3})", "\u202f", text),
    "percent": lambda text: re.sub(r"(?<=\d)%", " percent", text),
}
SENTENCES = [sentence.strip() for sentence in re.split(r"(?<=[.])\s(?=[A-Z])", TRIAL)]


@settings(max_examples=150)
@given(st.sampled_from(SENTENCES), st.lists(st.sampled_from(sorted(DRIFTS)), min_size=1, max_size=4, unique=True))
@example(SENTENCES[2], ["line ends", "capitals", "percent", "thousands"])
def test_any_mix_of_typographic_drift_is_found_at_the_very_place(sentence, names):
    quote = sentence
    for name in sorted(names, key=lambda name: name == "entities"):  # an entity in capitals is none
        quote = DRIFTS[name](quote)
    location, [piece] = found(quote)
    assert piece == sentence
    assert location.match in (MatchKind.EXACT, MatchKind.NORMALIZED)


@given(st.sampled_from(SENTENCES), st.data())
def test_no_changed_digit_is_ever_accepted(sentence, data):
    places = [match.start() for match in re.finditer(r"\d", sentence)]
    assume(places)
    place = data.draw(st.sampled_from(places))
    digit = data.draw(st.sampled_from([d for d in "0123456789" if d != sentence[place]]))
    refused(sentence[:place] + digit + sentence[place + 1:])


@given(st.sampled_from(SENTENCES), st.data())
def test_no_digit_dropped_doubled_or_moved_is_ever_accepted(sentence, data):
    numbers = [match for match in re.finditer(r"\d+(?:[.·,]\d+)*", sentence) if len(set(match.group())) > 1]
    assume(numbers)
    number = data.draw(st.sampled_from(numbers))
    old = number.group()
    place = data.draw(st.integers(0, len(old) - 1))
    assume(old[place].isdigit())
    new = data.draw(st.sampled_from([old[:place] + old[place + 1:], old[:place] + old[place] + old[place:], old[::-1],
                                     re.sub(r"[.·]", "", old), f"{old}.5", f"-{old}", f"1{old}"]))
    plain = [token.replace("·", ".").replace(",", "").lstrip("0") for token in (new, old)]
    assume(not (new[0] == "-" and sentence[number.start() - 1] in "−–‑"))
    assume(plain[0] != plain[1] and plain[0].strip(".") != plain[1])
    refused(sentence[:number.start()] + new + sentence[number.end():])


@pytest.mark.parametrize("sentence", [s for s in SENTENCES if "−" in s])
def test_no_sign_dropped_is_ever_accepted(sentence):
    for match in re.finditer("−", sentence):
        refused(sentence[:match.start()] + sentence[match.end():])


@given(st.sampled_from(SENTENCES), st.data(), st.sampled_from("not never hardly without non fewer no".split()))
def test_no_negation_added_is_ever_accepted(sentence, data, word):
    place = data.draw(st.sampled_from([match.end() for match in re.finditer(r"(?<=[a-z]) (?=[a-z])", sentence)]))
    refused(f"{sentence[:place]}{word} {sentence[place:]}")


@given(st.sampled_from(SENTENCES), st.data())
def test_no_dropped_word_of_content_is_ever_accepted(sentence, data):
    words = list(re.finditer(r"(?<=[a-z] )[a-z]{3,} (?=[a-z])", sentence))
    assume(words)
    match = data.draw(st.sampled_from(words))
    assume(match.group().strip() != "the")
    refused(sentence[:match.start()] + sentence[match.end():])


@given(st.text(max_size=60), st.text(max_size=200))
def test_any_two_texts_give_an_answer_whose_spans_lie_in_the_text(quote, text):
    location = locate_quote(quote, text)
    assert all(0 <= start < end <= len(text) for start, end in location.spans)
    assert location.found <= bool(location.spans)
    assert locate_quote(quote, text) == location


# --- hard cases
LONG = "The rate of relapse in the treated patients was twelve in the first year of the study and rose later. "


@pytest.mark.parametrize(("quote", "text"), [
    ("a" * 100_000, "a" * 100_000 + "b"),
    ("a " * 50_000, "a " * 50_000 + "b"),
    ("(" * 20_000, "(" * 100_000),
    ("… " * 5_000, "word … " * 10_000),
    ("- " * 5_000 + "relapse was seen", "relapse was seen " * 5_000),
    ("> " * 2_000 + "relapse was seen in patients", "relapse was seen in patients"),
    ("the relapse " * 400, "the relapse " * 10_000 + "rate"),
    ("&amp;" * 20_000, "&" * 100_000),
    ("\u0301" * 50_000, "e\u0301" * 50_000),
    ("1,234," * 10_000, "1,234," * 10_000 + "5"),
    ("-\n" * 30_000 + "relapse", "x-\n" * 30_000),
    ("relapse of … disease " * 100, LONG * 1_000),
    ("Results: " * 5_000 + "relapse rose", "Results: " * 5_000),
    (" " * 100_000, "\n" * 100_000),
    ("not " * 10_000 + "relapse", "no " * 30_000 + "relapse"),
    ("ResultsOf" * 10_000, "Results" * 10_000),
])
def test_a_hostile_pair_ends_with_an_answer(quote, text):
    location = locate_quote(quote, text)
    assert all(0 <= start < end <= len(text) for start, end in location.spans)


def test_a_quote_is_found_in_a_very_long_text_with_or_without_a_slip():
    wanted = "Haemoglobin concentrations in the northern cohort rose by 7 units in the second winter."
    text = LONG * 600 + wanted + " " + LONG * 600
    start = text.index("Haemoglobin")
    assert locate_quote(wanted, text).spans == ((start, start + len(wanted)),)
    location = locate_quote(wanted.replace("Haem", "Hem").replace("concentrations", "concentratons"), text)
    assert location.match is MatchKind.FUZZY
    assert location.spans == ((start, start + len(wanted)),)
    assert locate_quote(wanted.replace("7", "8"), text).match is MatchKind.ALTERED


def test_text_written_from_right_to_left_keeps_its_places():
    text = "قال الباحثون إن العلاج خفض معدل الانتكاس بنسبة 14% خلال سنة واحدة. ولم تكن هناك آثار جانبية."
    quote = "العلاج خفض معدل الانتكاس بنسبة 14% خلال سنة واحدة."
    assert found(quote, text)[1] == [quote]
    refused(quote.replace("14", "41"), text)


def test_combining_marks_belong_to_their_letters():
    text = unicodedata.normalize("NFD", "Sjögren’s naïve café cohort had élan and more énergie than others.")
    quote = "naïve café cohort had élan and more énergie"
    _, [piece] = found(quote, text)
    assert unicodedata.normalize("NFC", piece) == quote
    assert text[text.index(piece) + len(piece)] == " "


# --- the wrong source
OTHER = "In a cohort of 900 nurses, shift work was associated with worse sleep and a higher body mass index."


@pytest.mark.parametrize(("quote", "whole"), [
    ("At week 68 body weight had changed by −7.9% with the drug and by +6.", "6.9"),
    ("At week 68 body weight had changed by −7.9% in those who stayed, 1,", "1,234"),
    ("At week 68 body weight had changed by −7.9% in those who stayed, 1·", "1·5"),
])
def test_a_quote_that_ends_at_the_point_within_a_figure_is_altered(quote, whole):
    text = f"{quote[:-2]}{whole} of them with placebo (P=0.01)."
    location = locate_quote(quote, text)
    assert location.match == MatchKind.ALTERED
    assert [difference.source for difference in location.differences] == [whole]


def test_a_quote_from_another_text_is_misattributed_and_its_place_is_given_there():
    quote = "shift work was associated with worse sleep"
    location = locate_among(quote, {"trial": TRIAL, "cohort": OTHER}, "trial")
    assert location.match is MatchKind.MISATTRIBUTED
    assert location.record_id == "cohort"
    assert [OTHER[start:end] for start, end in location.spans] == [quote]
    assert not location.found


def test_a_quote_that_stands_in_the_cited_text_stays_there():
    location = locate_among("The primary endpoint was the change", {"other": TRIAL, "trial": TRIAL}, "trial")
    assert (location.match, location.record_id) == (MatchKind.EXACT, "trial")


def test_a_quote_that_stands_nowhere_is_reported_for_the_cited_text():
    location = locate_among("velutide led to a large and sustained increase in body weight", {"t": TRIAL, "o": OTHER}, "t")
    assert (location.match, location.record_id) == (MatchKind.ALTERED, "t")


def test_a_cited_text_that_is_not_there_is_said_to_be_missing():
    assert "cited source is not here" in locate_among("The primary endpoint was lost", {"o": OTHER}, "t").note


# --- the prepared answers
ROOT = Path(__file__).resolve().parent.parent
PREPARED = [
    (claim["id"], claim["expected_match"], citation["pmid"], citation["quote"], claim["text"])
    for answer in json.loads((ROOT / "data" / "sample_answers.json").read_text(encoding="utf-8"))["answers"]
    for claim in answer["claims"] for citation in claim["citations"] if citation.get("quote")
]


@pytest.fixture(scope="module")
def corpus():
    from litrag.readers import read_records

    return {record.pmid: record.text for record in read_records(ROOT / "data" / "semaglutide").records}


@pytest.mark.parametrize(("name", "match", "pmid", "quote", "claim"), PREPARED, ids=[case[0] for case in PREPARED])
def test_the_prepared_quotes_match_as_they_were_made_to(name, match, pmid, quote, claim, corpus):
    assert locate_among(quote, corpus, pmid, claim=claim).match == match


# --- quotes that repeat most of the text letter for letter
CELLS = (
    "The recipients were treated early. A mean dose of 2 × 10⁶/kg CD34-positive cells was infused into all recipients "
    "with a body mass index below 25 kg/m² in the trial. Evidence of benefit emerged within a year."
)


@pytest.mark.parametrize("written", ["10(6)", "10^6", "10<sup>6</sup>"])
def test_a_power_of_ten_may_be_written_as_text_exports_do(written):
    location, [piece] = found(f"A mean dose of 2 × {written}/kg CD34-positive cells was infused into all recipients", CELLS)
    assert location.match is MatchKind.NORMALIZED
    assert piece == "A mean dose of 2 × 10⁶/kg CD34-positive cells was infused into all recipients"


@pytest.mark.parametrize("written", ["106", "10(5)", "10", "10 6"])
def test_another_figure_is_no_power_of_ten(written):
    location = refused(f"A mean dose of 2 × {written}/kg CD34-positive cells was infused into all recipients", CELLS)
    assert location.match is MatchKind.ALTERED


def test_a_spelling_at_the_end_is_not_laid_over_letters_of_a_later_word():
    text = "Dendritic cells contribute to innate and adaptive immune defense. Emerging evidence is reviewed."
    location, [piece] = found("Dendritic cells contribute to innate and adaptive immune defence.", text)
    assert location.match is MatchKind.FUZZY
    assert piece.rstrip(".") == "Dendritic cells contribute to innate and adaptive immune defense"


def test_a_changed_end_is_shown_against_the_end_and_not_against_an_earlier_copy_of_its_last_word():
    text = ("Patients underwent removal of diminutive polyps from October 2012 to July 2013, yielding a total of 159 polyps. "
            "No complication was seen.")
    location = refused(text[:text.index(" No")].replace("159", "157"), text)
    [difference] = location.differences
    assert (difference.quote, difference.source) == ("157", "159")
    assert text[slice(*difference.source_span)] == "159"


def test_a_word_left_out_near_the_end_is_named_alone():
    text = "The presentation of patients with suspected disease also did not differ significantly. Nor did their age."
    location = refused("The presentation of patients with suspected disease also did differ significantly.", text)
    [difference] = location.differences
    assert (difference.quote, difference.source, difference.kind) == ("", "not", "negation")


def test_an_entity_at_the_end_is_read_whole():
    text = 'Reasons for not wearing it were "its use is not mandatory", and "it costs too much". None was new.'
    location, [piece] = found(
        "Reasons for not wearing it were &quot;its use is not mandatory&quot;, and &quot;it costs too much&quot;.", text)
    assert location.match is MatchKind.NORMALIZED
    assert piece.startswith("Reasons for")
    assert "too much" in piece


def test_a_copy_that_differs_in_case_alone_wins_over_a_nearer_looking_change():
    text = "Relapse was reduced by the new drug by 41 percent. In all, RELAPSE WAS REDUCED BY THE NEW DRUG BY 14 PERCENT."
    location, [piece] = found("Relapse was reduced by the new drug by 14 percent.", text)
    assert location.match is MatchKind.NORMALIZED
    assert piece.startswith("RELAPSE WAS REDUCED")


def test_a_quote_is_not_glued_to_the_figure_of_which_it_holds_the_end():
    location = refused("200 mg of the compound was given to every patient in the trial",
                       "Then 1,200 mg of the compound was given to every patient in the trial.")
    assert location.match is MatchKind.ALTERED or location.match is MatchKind.ABSENT


def test_a_long_aside_left_out_whole_is_no_change_though_its_last_word_comes_again():
    text = ("Specimens were examined for smooth muscle, striated muscle (present in three females and five other males), and "
            "perimuscular connective tissue (present in 12 females and seven males). None was lost.")
    location = locate_quote(
        "Specimens were examined for smooth muscle, striated muscle, and perimuscular connective tissue (present in 12 "
        "females and seven males).", text)
    assert location.match is MatchKind.ELIDED
