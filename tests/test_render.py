"""What a reader sees of an answer: everything escaped, every state visible, every mark on its span."""

from html.parser import HTMLParser

import pytest
from fakes import shown as answers
from fakes.shown import HOSTILE, PAIN

from litrag.models import (
    AuditedAnswer,
    AuditedClaim,
    CheckedCitation,
    Location,
    MatchKind,
    Source,
    Verdict,
)
from litrag.render import (
    Mark,
    abstention_html,
    answer_html,
    badge,
    escape,
    excerpt,
    header_html,
    history_html,
    marked,
    progress_html,
    sentence,
)
from litrag.stylesheet import PALETTE

VOID = {"img", "input", "br", "hr", "meta", "link"}
ALLOWED = {
    "div", "section", "ol", "ul", "li", "span", "bdi", "p", "b", "q", "h2", "h3", "h4", "button", "mark", "article", "a",
    "details", "summary", "dl", "dt", "dd", "time", "figure", "figcaption", "blockquote", "code", "nav",
}


class Tree(HTMLParser):
    """Parses strictly: elements must close in order, and only what render.py writes may occur."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.in_marks: list[str] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        assert tag in ALLOWED, tag
        assert not any(name.startswith("on") or name in ("style", "src", "srcset") for name, _ in attrs), attrs
        self.open.append(tag)
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)
        if "mark" in self.open:
            self.in_marks.append(data)

    @property
    def text(self) -> str:
        return "".join(self.texts)

    def all(self, name: str) -> list[str]:
        return [attrs[name] for _, attrs in self.seen if attrs.get(name)]


# --- text
@pytest.mark.parametrize("evil", HOSTILE)
def test_hostile_text_shows_as_itself(evil):
    shown = Tree(escape(evil)).text
    assert shown == evil.replace("\u202e", "U+202E").replace("\u202c", "U+202C")


def test_control_and_direction_characters_are_named():
    assert Tree(escape("a\x00b\u2066c")).text == "aU+0000bU+2066c"


def test_dollars_tildes_and_asterisks_stay_as_typed_and_citations_beside_them_work():
    said = "Cost was $410 in arm A and $75 in arm B; weight fell (~4 kg) and (~2 kg); the X*3 allele *fell* in C_min."
    tree = Tree(answer_html(answers.single(said, said, said)))
    assert said in tree.text
    assert len([a for tag, a in tree.seen if tag == "button" and a.get("popovertarget") and a.get("data-lr-n")]) == 1


def test_a_number_in_brackets_inside_a_claim_is_no_citation():
    tree = Tree(answer_html(answers.single("The interval was [2, 6] and see [1].", PAIN, "Sleep did not improve")))
    assert tree.all("data-lr-n") == ["1"]


# --- marks
def test_marks_may_overlap_and_keep_the_text():
    text = "abcdefghij"
    html = marked(text, [Mark((1, 5), ("lr-m",), 0), Mark((3, 8), ("lr-m",), 1)])
    tree = Tree(html)
    assert tree.text == text
    assert tree.in_marks == ["bc", "de", "fgh"]
    assert tree.all("data-lr-claims") == ["0", "0 1", "1"]


def test_where_marks_overlap_the_louder_verdict_gives_the_colour():
    html = marked("abcd", [Mark((0, 4), ("lr-m", "lr-supports")), Mark((1, 3), ("lr-m", "lr-contradicts"))])
    assert Tree(html).all("class") == ["lr-m lr-supports", "lr-m lr-contradicts", "lr-m lr-supports"]


def test_a_mark_outside_the_text_is_cut_to_it():
    assert Tree(marked("abc", [Mark((2, 99), ("lr-m",)), Mark((-5, 1), ("lr-m",))])).in_marks == ["a", "c"]


def test_a_mark_never_splits_an_escaped_character():
    assert marked("a<b", [Mark((1, 2), ("lr-m",))]) == 'a<mark class="lr-m">&lt;</mark>b'


def test_an_excerpt_shows_distant_spans_and_says_what_it_leaves_out():
    text = "First sentence here. " + "Filler words stand here. " * 60 + "Last sentence here."
    spans = [(0, 14), (text.index("Last"), len(text))]
    shown = Tree(excerpt(text, [Mark(span, ("lr-m",)) for span in spans], context=60))
    assert shown.in_marks == ["First sentence", "Last sentence here."]
    assert "…" in shown.text
    assert len(shown.text) < 400


def test_an_excerpt_without_marks_is_the_beginning():
    assert Tree(excerpt("One. Two.", [])).text == "One. Two."


# --- claims
def test_every_state_is_shown_by_icon_word_and_class():
    html = answer_html(answers.every_state())
    for state in PALETTE:
        assert badge(state) in html, state
    assert 'data-lr-state="uncited"' in html
    assert "cites nothing, so nothing was checked" in html
    assert "Unjudged: the judge" in html


def test_the_located_span_is_marked_in_card_and_source():
    tree = Tree(answer_html(answers.single("Sleep stayed.", PAIN, "Sleep did not improve")))
    assert tree.in_marks.count("Sleep did not improve") == 3  # card, source card, whole text


def test_a_quote_over_the_border_of_two_sections_says_so():
    sections = answers.sources()[0].record.sections
    inside, over = "pain fell by 21.5 points", "410 adults with knee pain. At week 12, pain fell"
    assert "sections" not in Tree(answer_html(answers.single("Pain fell.", PAIN, inside, sections=sections))).text
    tree = Tree(answer_html(answers.single("Pain fell.", PAIN, over, sections=sections)))
    assert "The quote runs across sections: METHODS, RESULTS." in tree.text


def test_an_altered_quote_shows_both_versions_of_what_differs():
    tree = Tree(answer_html(answers.every_state()))
    assert "31.5" in tree.in_marks
    assert "21.5" in tree.in_marks
    assert "the quote says “31.5”, the source “21.5”" in tree.text


def test_a_misattributed_quote_shows_where_it_stands_and_offers_that_source():
    text = Tree(answer_html(answers.every_state())).text
    assert "Not in KNEE-1. The quote stands in [2] NIGHT-2" in text
    assert "Cite this source instead" in text


def test_an_invented_quote_is_told_apart_from_a_false_claim():
    answer = answers.every_state()
    assert "The claim itself is false as well" in Tree(answer_html(answer)).text
    fifth = answer.claims[4]
    true = fifth.model_copy(update={"without_quote": answers.judged(Verdict.SUPPORTS, "It says so.")})
    only = answer.model_copy(update={"claims": (true,)})
    assert "The cited abstract supports the claim itself; only the quote" in Tree(answer_html(only)).text


def test_a_conflict_names_both_sides_with_their_words():
    text = Tree(answer_html(answers.every_state())).text
    assert "Sources disagree: REGISTER." in text
    assert "[3] REGISTER: brimafol users had no less pain" in text
    assert "[1] KNEE-1: pain fell by 21.5 points" in text


def test_a_retraction_is_on_the_card_of_the_source():
    assert "Retracted: data could not be verified" in Tree(answer_html(answers.every_state())).text


def test_the_filter_keeps_the_numbers_and_places_of_what_needs_attention():
    answer = answers.every_state()
    tree = Tree(answer_html(answer, flagged_only=True))
    places = [attrs["data-lr-place"] for tag, attrs in tree.seen if tag == "li" and "data-lr-state" in attrs]
    assert places == [str(n) for n, claim in enumerate(answer.claims) if claim.flagged]
    assert "7" not in places


def test_the_filter_says_so_when_nothing_needs_attention():
    calm = answers.single("Sleep stayed.", PAIN, "Sleep did not improve")
    assert "Nothing here needs attention" in Tree(answer_html(calm, flagged_only=True)).text


def test_a_window_shows_a_slice_of_the_claims():
    tree = Tree(answer_html(answers.every_state(), window=(2, 4)))
    assert [a["data-lr-place"] for t, a in tree.seen if t == "li" and "data-lr-state" in a] == ["2", "3"]


# --- numbering
def test_a_citation_of_a_source_that_does_not_exist_opens_nothing():
    answer = answers.every_state()
    astray = CheckedCitation(n=6, record_id="99990000", quote="x", location=Location(match=MatchKind.ABSENT),
                             judgement=answers.judged(Verdict.NOT_FOUND))
    zero = astray.model_copy(update={"n": 0})
    claim = AuditedClaim(claim_id="c1", text="Mood rose.", citations=(astray, zero))
    tree = Tree(answer_html(answer.model_copy(update={"claims": (claim,)})))
    assert "[6] no such source" in tree.text
    assert "[0] no such source" in tree.text
    assert tree.all("popovertarget") == []


def test_one_record_has_one_number_in_text_card_and_list():
    knee, night, _ = answers.sources()
    twice = tuple(
        AuditedClaim(claim_id=f"c{n}", text="Said.", citations=(
            answers.cited(source.model_copy(update={"n": n}), source.record.text[:20], Verdict.SUPPORTS),))
        for n, source in enumerate((knee, night, knee), start=1)
    )
    answer = AuditedAnswer(run_id="r", claims=twice, sources=(knee, night))
    tree = Tree(answer_html(answer))
    assert tree.all("data-lr-n") == ["1", "2", "1"]
    assert tree.all("data-lr-source") == ["1", "2"]
    assert "[3]" not in tree.text


def test_ids_are_unique_and_claims_with_the_same_words_stay_apart():
    knee, night, _ = answers.sources()
    same = [answers.cited(s, s.record.text[:20], Verdict.SUPPORTS) for s in (knee, knee, night)]
    claims = tuple(AuditedClaim(claim_id="same", text="Pain fell.", citations=(c,)) for c in same)
    tree = Tree(answer_html(AuditedAnswer(run_id="r", claims=claims, sources=(knee, night))))
    ids = tree.all("id")
    assert len(ids) == len(set(ids))
    keys = tree.all("data-lr-key")
    assert len(keys) == len(set(keys)) == 3


# --- hostile answers
def test_a_hostile_answer_adds_no_element_attribute_or_link():
    answer = answers.hostile()
    for html in (answer_html(answer), header_html(answer)):
        for address in Tree(html).all("href"):
            assert address.startswith(("https://pubmed.ncbi.nlm.nih.gov/9900", "https://doi.org/10.5555/"))


def test_every_hostile_string_is_there_as_text():
    text = Tree(answer_html(answers.hostile())).text
    for evil in HOSTILE:
        shown = evil.replace("\u202e", "U+202E").replace("\u202c", "U+202C")
        assert text.count(shown) >= 4, evil


def test_only_a_well_formed_doi_becomes_a_link():
    for doi, linked in (("10.5555/abc.1", 1), ("javascript:alert(1)", 0), ("https://evil.test", 0), ("10.5/x y", 0)):
        answer = answers.single("Sleep stayed.", PAIN, "Sleep did not improve", doi=doi, pmid=None)
        found = Tree(answer_html(answer)).all("href")
        assert len(found) == linked * 2, doi


# --- header, abstention, progress, history
def test_the_header_counts_verdicts_coverage_sources_judge_time_and_cost():
    text = " ".join(Tree(header_html(answers.every_state())).texts)
    for part in ("Supports 2", "Hallucinated quote 2", "Uncited 1", "60%", "local", "1.5 s", "0.0123 USD"):
        assert part in text


def test_a_cost_that_is_not_known_is_not_shown():
    assert "USD" not in header_html(answers.every_state().model_copy(update={"cost_usd": None}))


def test_an_abstention_says_what_was_searched_what_is_missing_what_is_near_and_how_to_go_on():
    text = Tree(abstention_html(answers.abstained())).text
    for part in ("The evidence is insufficient", "Searched", "stroke", "KNEE-1", "brimafol[tiab] AND stroke[tiab]"):
        assert part in text
    assert "lr-claim" not in answer_html(answers.abstained())


def test_progress_names_the_stage_at_work_and_counts():
    tree = Tree(progress_html(("retrieving", "writing", "locating", "judging"), "judging", 3, 6))
    assert "Judging 3 of 6" in tree.text
    assert [a["class"] for t, a in tree.seen if t == "li"] == ["lr-past", "lr-past", "lr-past", "lr-now"]


class Past:
    run_id, question, created_at = "<run>", "<b>Q</b> :red[x]", "2026-03-04T09:30:00+00:00"
    abstained, claims, flagged = False, 3, 1


def test_history_links_to_the_run_and_escapes_its_question():
    tree = Tree(history_html([Past()], page="verify", current="<run>"))
    assert "<b>Q</b> :red[x]" in tree.text
    assert "3 claims, 1 to check" in tree.text
    assert tree.all("href") == ["verify?run=%3Crun%3E"]
    assert tree.all("aria-current") == ["page"]


def test_sources_without_text_say_so():
    empty = Source(n=1, record=answers.record(1, "EMPTY", ""))
    claim = AuditedClaim(claim_id="c", text="T.", citations=(
        answers.cited(empty, "q", Verdict.NOT_FOUND, match=MatchKind.ABSENT, spans=()),))
    assert "No text of this source is stored" in answer_html(AuditedAnswer(run_id="r", claims=(claim,), sources=(empty,)))


def test_a_verdict_of_which_the_judge_is_unsure_says_so_and_needs_attention():
    sure = answers.repeated()
    claim = sure.claims[0]
    doubted = claim.citations[0].judgement.model_copy(update={"unsure": True, "confidence": 0.4})
    unsure = claim.model_copy(update={"citations": (claim.citations[0].model_copy(update={"judgement": doubted}),)})
    html = answer_html(sure.model_copy(update={"claims": (unsure, *sure.claims[1:])}))
    assert Tree(html).text.count("unsure") == 2  # beside the verdict, and in its card
    assert unsure.flagged
    assert not claim.flagged


def test_a_claim_whose_source_is_not_in_the_corpus_is_not_said_to_cite_nothing():
    missing = AuditedClaim(claim_id="c", text="T.", note="PMID 1 isn't in this corpus")
    text = Tree(answer_html(AuditedAnswer(run_id="r", claims=(missing,)))).text
    assert "PMID 1 isn't in this corpus" in text
    assert "cites nothing" not in text


def test_a_quote_at_the_end_of_a_reason_gets_its_full_stop():
    assert sentence("the claim says “a”, the source “b”") == "The claim says “a”, the source “b”."
    assert sentence("it says “So it is.”") == "It says “So it is.”"
