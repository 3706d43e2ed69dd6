"""Reading tables of claims: headers, formats, encodings, and a clear word on every row that can't be used."""

import json
from pathlib import Path

import pytest

from litrag.cells import protect
from litrag.claim_tables import ClaimTable, read_claims
from litrag.errors import InputError


def table(text: str, name: str = "") -> ClaimTable:
    return read_claims(text.encode(), name=name)


def words(read: ClaimTable) -> list[str]:
    return [problem.in_words() for problem in read.problems]


def test_a_csv_with_claim_quote_and_pmid_is_read_in_order() -> None:
    read = table('claim,quote,pmid\nWeight fell,"It fell, by 5%",33567185\nMACE fell,,27633186\n')
    assert [(r.line, r.claim, r.quote, r.pmids) for r in read.rows] == [
        (2, "Weight fell", "It fell, by 5%", ("33567185",)), (3, "MACE fell", None, ("27633186",)),
    ]
    assert (read.problems, read.format) == ((), "csv")


@pytest.mark.parametrize("header", [
    "claim,pmid", "Claim;PMID", "Statement\tPubMed ID", "Assertion|PMIDs", "sentence,source",
])
def test_usual_headers_and_separators_are_understood(header: str) -> None:
    separator = next(char for char in ",;\t|" if char in header)
    read = table(f"{header}\nWeight fell{separator}33567185\n")
    assert [(r.claim, r.pmids) for r in read.rows] == [("Weight fell", ("33567185",))]


def test_a_table_without_a_header_is_understood_by_its_content() -> None:
    read = table("33567185,Body weight fell by 14.9%,It fell by 14.9% in 68 weeks\n27633186,MACE fell by a quarter,\n")
    assert [(r.line, r.claim, r.quote, r.pmids) for r in read.rows] == [
        (1, "Body weight fell by 14.9%", "It fell by 14.9% in 68 weeks", ("33567185",)),
        (2, "MACE fell by a quarter", None, ("27633186",)),
    ]


@pytest.mark.parametrize(("cell", "expected"), [
    ("33567185", ("33567185",)),
    ("33567185.0", ("33567185",)),
    ("PMID: 33567185", ("33567185",)),
    ("33567185; 27633186", ("33567185", "27633186")),
    ("https://pubmed.ncbi.nlm.nih.gov/33567185/", ("33567185",)),
    ("", ()),
])
def test_a_cell_may_hold_pmids_in_any_usual_form(cell: str, expected: tuple[str, ...]) -> None:
    assert table(f"claim,pmid\nWeight fell,{cell}\n").rows[0].pmids == expected


def test_dois_are_read_bare_labelled_and_linked() -> None:
    read = table("claim,doi\nA,10.1056/NEJMoa2032183\nB,doi:10.1056/NEJMoa2032183\nC,https://doi.org/10.1056/NEJMoa2032183\n")
    assert {r.dois for r in read.rows} == {("10.1056/NEJMoa2032183",)}


def test_unusable_rows_are_named_by_line_and_column_and_cost_no_other_row() -> None:
    read = table("text,pmid\nA fell,1\n,2\nB fell,PMC12\n\nC fell,3.36E+07\nD, E fell,4\nF fell,012\nG fell,5\n")
    assert [r.claim for r in read.rows] == ["A fell", "G fell"]
    assert words(read) == [
        "line 3, column text: is empty; write the statement to be checked",
        "line 4, column pmid: 'PMC12' is no PMID; a PMID has 1–8 digits without a leading zero",
        "line 6, column pmid: '3.36E+07' was shortened by a spreadsheet; format the column as text and enter it again",
        "line 7: the row has 3 cells, 2 are expected; put texts that hold a ',' in quotes",
        "line 8, column pmid: '012' is no PMID; a PMID has 1–8 digits without a leading zero",
    ]


def test_lines_count_line_breaks_inside_cells() -> None:
    read = table('claim,pmid\n"A\nfell",1\nB fell,x\n')
    assert (read.rows[0].line, read.problems[0].line) == (2, 4)


def test_a_quotation_mark_that_never_closes_is_a_problem_not_a_loss() -> None:
    read = table('claim,pmid\nA fell,1\n"B fell,2\nC fell,3\n')
    assert [r.claim for r in read.rows] == ["A fell"]
    assert words(read)[0].startswith("line 3: ")
    assert "nothing from this line on could be read" in words(read)[0]


def test_an_id_that_stands_twice_is_refused() -> None:
    read = table("id,claim,pmid\nx,A fell,1\nx,B fell,2\n")
    assert words(read) == ["line 3, column id: 'x' stands in line 2 already"]


def test_jsonl_is_read_line_by_line() -> None:
    lines = [
        {"claim": "A fell", "pmid": 33567185}, {"statement": "B fell", "pmids": ["1", 2], "quote": "q"},
        {"claim": "C fell", "doi": "10.1056/NEJMoa2032183", "quote": None},
    ]
    read = table("\n".join(map(json.dumps, lines)))
    assert [(r.claim, r.quote, r.pmids, r.dois) for r in read.rows] == [
        ("A fell", None, ("33567185",), ()), ("B fell", "q", ("1", "2"), ()),
        ("C fell", None, (), ("10.1056/NEJMoa2032183",)),
    ]
    assert read.format == "jsonl"


def test_faulty_json_lines_are_named() -> None:
    read = table('{"claim": "A fell", "pmid": 1}\n{"claim": \n[1]\n{"claim": "B", "pmid": true}\n{"pmid": 2}\n')
    assert [problem.line for problem in read.problems] == [2, 3, 4, 5]
    assert "isn't JSON" in words(read)[0]
    assert "must be an object" in words(read)[1]
    assert "must be text, got bool" in words(read)[2]
    assert len(read.rows) == 1


def test_a_json_list_is_read_too() -> None:
    assert [r.claim for r in table('[{"claim": "A fell", "pmid": 1}]').rows] == ["A fell"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_usual_encodings_are_read(encoding: str) -> None:
    read = read_claims("claim,pmid\nDiarrhée – fréquente,1\n".encode(encoding))
    assert read.rows[0].claim == "Diarrhée – fréquente"
    assert bool(read.notes) == (encoding == "cp1252")


@pytest.mark.parametrize("claim", ["=1+1", "-14.9% of weight", "'quoted' first", "@handle", "plain"])
def test_cells_that_were_protected_for_a_spreadsheet_come_back(claim: str) -> None:
    assert table(f"claim,pmid\n{protect(claim)},1\n").rows[0].claim == claim


@pytest.mark.parametrize(("text", "message"), [
    ("", "is empty"), ("  \n", "is empty"), ("claim,pmid\n", "holds no claim"), ("foo,bar\n1,2\n", "no claim column"),
    ("claim,quote\nA fell,q\n", "no column with PMIDs or DOIs"), ("[1", "isn't JSON"),
])
def test_a_table_that_can_not_be_used_at_all_says_why(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        table(text)


def test_a_binary_file_is_refused() -> None:
    with pytest.raises(InputError, match="isn't a text file"):
        read_claims(b"PK\x03\x04\xff\xfe\x00\x00\x81")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.csv"):
        read_claims(tmp_path / "none.csv")


def test_a_claim_that_is_too_long_is_refused_with_its_length() -> None:
    assert "has 5001 characters" in words(table(f"claim,pmid\n{'a' * 5001},1\n"))[0]


def test_a_file_is_read_by_its_ending(tmp_path: Path) -> None:
    path = tmp_path / "claims.tsv"
    path.write_text('claim\tpmid\nThe 5" scar faded\t1\n', encoding="utf-8")
    read = read_claims(path)
    assert (read.format, read.rows[0].claim) == ("tsv", 'The 5" scar faded')
