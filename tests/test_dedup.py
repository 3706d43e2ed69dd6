"""Duplicates are merged and can be given back; versions, notices and parts of a series are left alone."""

import pytest

from litrag.dedup import completed, deduplicate, duplicates, parted
from litrag.models import Notice, Record

TITLE = "Warm milk before sleep in nurses on night shift: a randomised trial"


def record(record_id, title=TITLE, **fields):
    given = {"authors": ("Lind B", "Okafor A"), "year": 2019, "volume": "12", "pages": "34-41", "journal": "J Milk"} | fields
    return Record(record_id=record_id, title=title, **given)


SAME = [
    (record("a", pmid="5", pages=None), record("b", "Another spelling of it", pmid="5"), "PMID"),
    (record("a", doi="10.1/X"), record("b", doi="10.1/x", year=2020, volume=None), "DOI"),
    (record("a"), record("b", TITLE.upper() + ".", journal="Journal of Milk"), "authors"),
    (record("a"), record("b", TITLE.replace("nurses", "nurrses"), authors=("Lind, Bo",)), "authors"),
    (record("a"), record("b", TITLE + ".[Erratum appears in J Milk. 2020;13:4]"), "authors"),
    (record("a", year=2019), record("b", year=2020, volume=None, pages=None), "authors"),
    (record("a", pages="34-41"), record("b", "[Leite chaud avant le sommeil]", pages="34-41"), "pages"),
    (record("a", doi="10.1/x"), record("b", TITLE, doi=None, pmid="7"), "authors"),
    (record("a", "Effect on CO₂"), record("b", "Effect on CO<sub>2</sub>"), "authors"),
]


@pytest.mark.parametrize(("one", "other", "reason"), SAME)
def test_the_same_publication_is_found(one, other, reason):
    (pair,) = duplicates([one, other])
    assert (pair.first, pair.second) == (0, 1)
    assert reason in pair.reason


DIFFERENT = [
    (record("a", pmid="5"), record("b", pmid="6")),
    (record("a", "Milk part 1: method and design of the study"), record("b", "Milk part 2: method and design of the study")),
    (record("a", "Milk in sleep, part I, method and results"), record("b", "Milk in sleep, part II, method and results")),
    (record("a", doi="10.1002/14651858.CD1.pub2"), record("b", doi="10.1002/14651858.CD1.pub3", volume="13", pages="1")),
    (record("a", doi="10.1101/1", publication_types=("Preprint",)), record("b", doi="10.1/x", volume=None, pages=None)),
    (record("a", pmid="5"), record("b", notices=(Notice(kind="retraction_of", pmid="5"),))),
    (record("a"), record("b", notices=(Notice(kind="erratum_for"),))),
    (record("a", "Editorial", pages="1-2"), record("b", "Editorial", pages="90-91")),
    (record("a"), record("b", authors=("Silva C",), pages=None)),
    (record("a"), record("b", year=2010)),
    (record("a", pages="S12-14", volume="10"), record("b", pages="434-441", volume="10")),
    (record("a", "Chapter one: what milk is made of", doi="10.1/book"),
     record("b", "Who drinks tea and why at all", doi="10.1/book")),
]


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_what_only_looks_alike_stays_apart(one, other):
    assert duplicates([one, other]) == []


def test_the_fullest_record_stays_and_takes_what_it_lacks():
    bare = record("a", pmid="5", doi=None, urls=("https://example.org/1",))
    full = record("b", doi="10.1/x", text="Sleep rose.", pmid=None)
    result = deduplicate([bare, full])
    (kept,) = result.records
    assert (kept.record_id, kept.pmid, kept.doi, kept.text, kept.urls) == (
        "b", "5", "10.1/x", "Sleep rose.", ("https://example.org/1",))
    (merge,) = result.merges
    assert (merge.kept, merge.merged, merge.record) == ("b", "a", bare)


def test_a_record_without_an_abstract_takes_it_with_its_sections():
    other = record("b", text="A. B.", sections=({"label": "X", "start": 0, "end": 2},))
    kept = completed(record("a"), [other])
    assert (kept.text, kept.sections) == (other.text, other.sections)


def test_a_group_never_joins_two_pmids():
    result = deduplicate([record("a", pmid="5"), record("b"), record("c", pmid="6")])
    assert len(result.records) == 2
    assert {one.pmid for one in result.records} == {"5", "6"}


def test_pairs_that_a_person_parted_stay_apart():
    assert deduplicate([record("a"), record("b")], [frozenset({"a", "b"})]).merges == ()


def test_a_retraction_known_to_one_copy_is_known_to_the_merged_record():
    notice = Notice(kind="retracted", pmid="9")
    (kept,) = deduplicate([record("a", text="T."), record("b", notices=(notice,))]).records
    assert kept.notices == (notice,)
    assert kept.retracted


def test_many_records_of_one_topic_are_not_compared_pairwise_without_end():
    many = [record(str(n), f"Warm milk before sleep number {n} of a long series about milk", pages=str(n), volume=str(n))
            for n in range(3000)]
    assert duplicates(many) == []


def test_a_parted_record_loses_what_only_the_other_gave_and_keeps_what_a_third_gives_too():
    first = Record(record_id="1", pmid="1", title="Milk before sleep in nurses: a trial", text="Sleep rose.", year=2019)
    second = Record(record_id="2", title=first.title, text="Sleep rose.", year=2019, journal="Sleep", doi="10.1/a")
    third = Record(record_id="3", title=first.title, text="Sleep rose.", year=2019, doi="10.1/a")
    found = deduplicate([first, second, third])
    assert (found.records[0].journal, found.records[0].doi) == ("Sleep", "10.1/a")
    merge = next(one for one in found.merges if one.merged == "2")
    alone = parted(found.records[0], merge, [third])
    assert (alone.journal, alone.doi, alone.pmid) == (None, "10.1/a", "1")
    assert parted(found.records[0], merge, []) == first
