"""Readers of bibliographic files: complete, truthful about what was left out, and robust against what isn't."""

import gzip

import pytest

from litrag import locate_quote
from litrag.readers import FORMATS, format_of, read_items, read_records
from litrag.readers.markup import tidy
from litrag.readers.names import author, doi


def written(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def article(pmid, body, *, title="A trial of milk", more="", data="", types="<PublicationType>Journal Article</PublicationType>"):
    return (
        f'<PubmedArticle><MedlineCitation><PMID Version="1">{pmid}</PMID><Article><ArticleTitle>{title}</ArticleTitle>'
        f"<Abstract>{body}</Abstract><PublicationTypeList>{types}</PublicationTypeList></Article>{more}"
        f"</MedlineCitation><PubmedData>{data}</PubmedData></PubmedArticle>"
    )


def article_set(*articles):
    return '<?xml version="1.0" encoding="utf-8"?>\n<PubmedArticleSet>\n' + "\n".join(articles) + "\n</PubmedArticleSet>"


def one_abstract(folder, inner):
    (record,) = read_records(written(folder, "r.xml", article_set(article("7001", f"<AbstractText>{inner}</AbstractText>"))))
    return record


# --- PubMed XML
def test_text_goes_on_behind_inline_tags(tmp_path):
    record = one_abstract(tmp_path, "<b>Goal</b> reached. Fever fell (<i>p</i> = 0.02); there was <b>no</b> death.")
    assert record.text == "Goal reached. Fever fell (p = 0.02); there was no death."
    assert locate_quote("there was no death", record.text).found


def test_a_power_of_ten_stays_one(tmp_path):
    record = one_abstract(
        tmp_path, "Dose 3 × 10<sup>8</sup>/kg, 1.73 m<sup>2</sup> at entry, CO<sub>2</sub>, C<sub>max</sub>, 10<sup>5.5</sup>, "
        "5<sup>th</sup>, Ca<sup>2+</sup>, 10<sup>−3</sup>")
    assert record.text == "Dose 3 × 10⁸/kg, 1.73 m² at entry, CO₂, Cmax, 10^5.5, 5th, Ca²⁺, 10⁻³"
    assert locate_quote("Dose 3 × 10^8/kg", record.text).found
    assert not locate_quote("Dose 3 × 108/kg", record.text).found


def test_markup_that_was_escaped_twice_is_read_as_markup():
    escaped = "p &lt; 0.05 in CD4&lt;sup&gt;+&lt;/sup&gt; cells &amp; 10&lt;sup&gt;4&lt;/sup&gt;"
    assert tidy(escaped) == "p < 0.05 in CD4⁺ cells & 10⁴"


def test_formulas_are_written_on_one_line(tmp_path):
    record = one_abstract(
        tmp_path, 'Rate <mml:math xmlns:mml="http://www.w3.org/1998/Math/MathML"><mml:msup><mml:mn>10</mml:mn><mml:mn>6'
        "</mml:mn></mml:msup><mml:mo>=</mml:mo><mml:mfrac><mml:mi>a</mml:mi><mml:mi>b</mml:mi></mml:mfrac></mml:math>.")
    assert record.text == "Rate 10⁶=a/b."


def test_ids_come_from_the_record_and_not_from_what_it_cites(tmp_path):
    data = (
        "<ReferenceList><Reference><ArticleIdList><ArticleId IdType='doi'>10.9/cited</ArticleId><ArticleId IdType='pubmed'>8002"
        "</ArticleId></ArticleIdList></Reference></ReferenceList><ArticleIdList><ArticleId IdType='pubmed'>8001</ArticleId>"
        "<ArticleId IdType='doi'>10.5555/own.1</ArticleId><ArticleId IdType='pmc'>PMC812345</ArticleId></ArticleIdList>"
    )
    comments = (
        '<CommentsCorrectionsList><CommentsCorrections RefType="CommentIn"><PMID>8009</PMID></CommentsCorrections>'
        "</CommentsCorrectionsList>"
    )
    report = read_records(written(tmp_path, "r.xml", article_set(
        article("8001", "<AbstractText>Own.</AbstractText>", more=comments, data=data),
        article("8002", "<AbstractText>Cited.</AbstractText>"))))
    assert [(r.record_id, r.doi, r.pmcid, r.notices) for r in report] == [
        ("8001", "10.5555/own.1", "PMC812345", ()), ("8002", None, None, ())]


def test_sections_keep_their_labels_and_other_languages_stand_apart(tmp_path):
    body = (
        '<AbstractText Label="AIMS">We asked 50 nurses.</AbstractText><AbstractText Label="RESULTS">Sleep rose by 1 hour.'
        '</AbstractText><AbstractText Label="UNLABELLED">Registered.</AbstractText>'
    )
    more = '<OtherAbstract Type="Publisher" Language="ger"><AbstractText>Der Schlaf nahm zu.</AbstractText></OtherAbstract>'
    path = written(tmp_path, "r.xml", article_set(article("7002", body, title="[Not Available].", more=more).replace(
        "</Abstract>", "</Abstract><VernacularTitle>Schlaf und Milch.</VernacularTitle>")))
    (record,) = read_records(path)
    assert [(s.label, record.text[s.start:s.end]) for s in record.sections] == [
        ("AIMS", "We asked 50 nurses."), ("RESULTS", "Sleep rose by 1 hour.")]
    assert [(one.language, one.text) for one in record.other_abstracts] == [("ger", "Der Schlaf nahm zu.")]
    assert "Schlaf nahm" not in record.text
    assert record.title == record.vernacular_title == "Schlaf und Milch"


def test_the_notice_of_a_retraction_is_found_with_its_pmid(tmp_path):
    more = (
        '<CommentsCorrectionsList><CommentsCorrections RefType="RetractionIn"><RefSource>J Milk. 2020</RefSource>'
        '<PMID>7999</PMID></CommentsCorrections><CommentsCorrections RefType="CommentIn"><PMID>7998</PMID>'
        "</CommentsCorrections></CommentsCorrectionsList>"
    )
    (record,) = read_records(written(tmp_path, "r.xml", article_set(article(
        "7003", "<AbstractText>T.</AbstractText>", more=more, types="<PublicationType>Retracted Publication</PublicationType>"))))
    assert [(n.kind, n.pmid, n.note) for n in record.notices] == [("retracted", "7999", "J Milk. 2020")]


def test_a_broken_record_costs_that_record_only(tmp_path):
    good = [article(str(7100 + n), f"<AbstractText>Text {n}.</AbstractText>") for n in range(4)]
    path = written(tmp_path, "r.xml", article_set(
        good[0], good[1].replace("</Article>", ""), "<PubmedArticle><MedlineCitation><PMID>1</PMID>", good[2],
        article("7777", "<AbstractText>&unknown;</AbstractText>"), good[3]))
    report = read_records(path)
    assert [r.record_id for r in report] == ["7100", "7102", "7103"]
    assert len(report.rejected) == 3
    assert any("unknown" in r.reason for r in report.rejected)
    assert any("not closed" in r.reason for r in report.rejected)


def test_a_file_that_was_cut_short_gives_what_it_holds(tmp_path):
    whole = article_set(*(article(str(7200 + n), "<AbstractText>T.</AbstractText>") for n in range(30))).encode()
    packed = gzip.compress(whole)
    cut = read_records(written(tmp_path, "a.xml", whole[:-300]))
    assert len(cut) == 29
    assert "cut short" in cut.rejected[0].reason
    torn = read_records(written(tmp_path, "b.xml.gz", packed[:-9]))
    assert torn.rejected
    assert torn.rejected[-1].field == "file"
    assert len(read_records(written(tmp_path, "named.anything", packed))) == 30


def test_entities_are_neither_expanded_nor_fetched(tmp_path):
    secret = written(tmp_path, "secret.txt", "the secret")
    levels = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 12))
    path = written(tmp_path, "bomb.xml", (
        f'<?xml version="1.0"?><!DOCTYPE PubmedArticleSet [<!ENTITY a0 "ha">{levels}'
        f'<!ENTITY file SYSTEM "file://{secret}">]>' + article_set(
            article("1", "<AbstractText>&a11;</AbstractText>"), article("2", "<AbstractText>&file;</AbstractText>"),
            article("3", "<AbstractText>Fine.</AbstractText>")).partition("\n")[2]))
    report = read_records(path)
    assert [r.record_id for r in report] == ["3"]
    assert len([r for r in report.rejected if not r.record_kept]) == 2


def test_named_characters_of_html_are_read(tmp_path):
    assert one_abstract(tmp_path, "&alpha;-blocker &ge; 5 &micro;g").text == "α-blocker ≥ 5 µg"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "iso-8859-1", "windows-1252"])
def test_the_declared_or_marked_encoding_is_followed(tmp_path, encoding):
    text = article_set(article("5", "<AbstractText>Müller: 5 µg</AbstractText>")).replace(
        "utf-8", encoding.removesuffix("-sig"))
    (record,) = read_records(written(tmp_path, "r.xml", text.encode(encoding)))
    assert record.text == "Müller: 5 µg"


def test_the_later_revision_of_a_record_wins_and_deletions_delete(tmp_path):
    def dated(pmid, text, day):
        revised = f"<DateRevised><Year>2024</Year><Month>02</Month><Day>{day}</Day></DateRevised>"
        return article(pmid, f"<AbstractText>{text}</AbstractText>").replace("<Article>", revised + "<Article>")

    written(tmp_path, "update1.xml", article_set(dated("60", "Relapse was 21%.", "09"), dated("61", "Gone.", "01")))
    written(tmp_path, "update2.xml", article_set(
        dated("60", "Relapse was 12%.", "17"), "<DeleteCitation><PMID>61</PMID><PMID>62</PMID></DeleteCitation>"))
    report = read_records(tmp_path)
    assert [(r.record_id, r.text, r.revised) for r in report] == [("60", "Relapse was 12%.", "2024-02-17")]
    assert report.deleted == ("61", "62")


def test_a_book_record_names_chapter_and_book(tmp_path):
    book = (
        "<PubmedArticleSet><PubmedBookArticle><BookDocument><PMID>900</PMID><Book><Publisher><PublisherName>Milk Press"
        "</PublisherName></Publisher><BookTitle>Milk Reviews</BookTitle><PubDate><Year>2011</Year></PubDate></Book>"
        "<ArticleTitle>Warm milk</ArticleTitle><AuthorList Type='authors'><Author><LastName>Lind</LastName><ForeName>Bo Arne"
        "</ForeName></Author><Author><CollectiveName>Milk Group</CollectiveName></Author></AuthorList><Abstract><AbstractText>"
        "It is warm.</AbstractText></Abstract></BookDocument></PubmedBookArticle></PubmedArticleSet>"
    )
    (record,) = read_records(written(tmp_path, "b.xml", book))
    assert (record.title, record.journal, record.year, record.authors) == (
        "Warm milk", "Milk Reviews", 2011, ("Lind BA", "Milk Group"))


# --- MEDLINE text
def test_only_the_first_column_holds_a_tag(tmp_path):
    text = (
        "PMID- 7300\nTI  - Relapse in carriers.\nAB  - In carriers of the\n      QX1 - deleted form, 3 of 9 fell ill; with\n"
        "      DP  - based care 1 of 9 did.\nAU  - Lind B\n\nPMID- 7301\n"
        "TI  - Second.\nRIN - J Milk. PMID: 7302\nPT  - Preprint\n"
    )
    one, two = read_records(written(tmp_path, "x.txt", text))
    assert one.text == "In carriers of the QX1 - deleted form, 3 of 9 fell ill; with DP - based care 1 of 9 did."
    assert (one.year, one.authors, one.title) == (None, ("Lind B",), "Relapse in carriers")
    assert [(n.kind, n.pmid) for n in two.notices] == [("retracted", "7302"), ("preprint", None)]


# --- RIS
def test_what_databases_print_between_records_is_skipped_and_counted(tmp_path):
    text = (
        "\ufeffRecord #1 of 2\nProvider: Milk Press\n\nTY  - JOUR\nTI  - First\n"
        "AB  - Change was 4.1 (SD 2.0).\n   It was 3 in men.\n"
        "ER  -\n\nC1  - Database: Milk\nSearch Strategy: milk AND sleep\n----\n2. \n"
        "TY  - JOUR\nTI  - Second\nN2  - None was seen.\n"
        "HR - 0.5 was the ratio.\nER  - \n"
    )
    report = read_records(written(tmp_path, "x.ris", text))
    assert [(r.title, r.text) for r in report] == [
        ("First", "Change was 4.1 (SD 2.0). It was 3 in men."), ("Second", "None was seen. HR - 0.5 was the ratio.")]
    assert [r.reason for r in report.rejected if r.field == "lines"] == ["6 lines stand outside the records and were skipped"]


def test_a_file_that_is_not_ris_is_told_so(tmp_path):
    report = read_records(written(tmp_path, "x.ris", "Dear colleague,\nplease find attached.\n"))
    assert "not RIS" in report.rejected[0].reason
    assert "encoding" not in report.rejected[0].reason.lower()


@pytest.mark.parametrize(("tags", "pmid"), [
    ("DP  - NLM\nAN  - 29657938", "29657938"), ("DB  - Embase\nAN  - 29657938", None), ("N1  - PMID: 777", "777"),
    ("N1  - Comment on PMID: 777", None), ("UR  - https://pubmed.ncbi.nlm.nih.gov/778/", "778"),
    ("DB  - Ovid MEDLINE(R)\nL2  - http://ovidsp.ovid.com/ovidweb.cgi?T=JS&D=medp&AN=39012781", "39012781"),
])
def test_a_pmid_is_taken_only_where_a_database_says_it_is_one(tmp_path, tags, pmid):
    (record,) = read_records(written(tmp_path, "x.ris", f"TY  - JOUR\nTI  - T\nAB  - A.\n{tags}\nER  - \n"))
    assert record.pmid == pmid


def test_old_and_broken_encodings_are_read_and_named(tmp_path):
    text = "TY  - JOUR\nTI  - Schlaf für Ärzte\nAB  - 5 µg – täglich.\nER  - \n"
    for encoding in ("cp1252", "utf-16", "utf-8-sig"):
        report = read_records(written(tmp_path, f"{encoding}.ris", text.encode(encoding)))
        assert [(r.title, r.text) for r in report] == [("Schlaf für Ärzte", "5 µg – täglich.")], encoding
    mixed = text.encode() + text.replace("Schlaf", "Traum").encode("cp1252")
    report = read_records(written(tmp_path, "mixed.ris", mixed))
    assert [r.title for r in report] == ["Schlaf für Ärzte", "Traum für Ärzte"]
    assert "Windows-1252" in report.rejected[0].reason


def test_an_identifier_that_cannot_be_one_is_left_out_and_named(tmp_path):
    report = read_records(written(tmp_path, "x.ris", "TY  - JOUR\nTI  - T\nAB  - A.\nDO  - none\nPY  - n.d.\nER  - \n"))
    assert [(r.doi, r.year) for r in report] == [(None, None)]
    assert {(r.field, r.record_kept) for r in report.rejected} == {("doi", True), ("year", True)}
    assert any("'none'" in r.reason for r in report.rejected)


# --- other formats
JATS = """<article xmlns:xlink="http://www.w3.org/1999/xlink" article-type="research-article"><front><journal-meta><journal-id
 journal-id-type="nlm-ta">J Milk</journal-id></journal-meta><article-meta><article-id pub-id-type="pmid">7400</article-id>
<article-id pub-id-type="pmc">812345</article-id>
<title-group><article-title>Milk<xref ref-type="fn">*</xref> at night</article-title></title-group>
<contrib-group><contrib contrib-type="author"><name><surname>Lind</surname><given-names>Bo</given-names></name>
</contrib></contrib-group><pub-date><year>2019</year></pub-date>
<abstract><sec><title>Results</title><p>Sleep rose.</p></sec></abstract></article-meta></front><body>
<sec><title>Methods</title><p>We gave milk.</p><sec><title>Patients</title><p>Fifty nurses
 <xref ref-type="bibr">1</xref>.</p><table-wrap><table><tr><td>left out</td></tr></table></table-wrap></sec></sec></body>
<back><ref-list><ref><article-title>Cited title</article-title></ref></ref-list></back></article>"""


def test_the_full_text_follows_the_abstract_in_sections(tmp_path):
    (record,) = read_records(written(tmp_path, "a.nxml", JATS))
    assert [(s.label, record.text[s.start:s.end]) for s in record.sections] == [
        ("Abstract › Results", "Sleep rose."), ("Methods", "We gave milk."), ("Methods › Patients", "Fifty nurses 1.")]
    assert (record.pmid, record.pmcid, record.title, record.authors, record.journal, record.year) == (
        "7400", "PMC812345", "Milk at night", ("Lind B",), "J Milk", 2019)


ENDNOTE = """<xml><records><record><ref-type name="Journal Article">17</ref-type><contributors><authors><author>
<style>Lind, Bo A.</style></author></authors></contributors><titles><title><style>Dose of 10</style><style
face="superscript">6</style><style> cells</style></title></titles>
<abstract><style>It &amp; that.</style></abstract><accession-num>7500</accession-num>
<remote-database-provider>NLM</remote-database-provider><dates><year><style>2018</style></year></dates></record></records></xml>"""
BIOC_JSON = """{"documents": [{"id": "7600", "passages": [{"infons": {"type": "title"}, "offset": 0, "text": "Milk"},
 {"infons": {"type": "abstract"}, "offset": 5, "text": "It helps."}]}]}"""
BIOC_XML = """<collection><source>PubMed</source><document><id>7600</id><passage><infon key="type">title</infon>
<text>Milk</text></passage>
<passage><infon key="type">abstract</infon><text>It helps.</text></passage></document></collection>"""
REFER = "%0 Journal Article\n%A Lind, Bo\n%T Milk\n%X It helps.\n%D 2001\n"
WOS = "FN Clarivate Analytics Web of Science\nVR 1.0\nPT J\n" \
    "AU Lind, Bo\n   Okafor, A\nTI Milk at\n   night\nAB It helps.\nPM 7700\nPY 2003\nER\n\nEF\n"
REFWORKS = "RT Journal Article\nA1 Lind,Bo\nT1 Milk\nAB It helps.\nYR 2002\n"
OVID = "<1. >\nVN  - Ovid Technologies\nAU  - Lind, Bo\nTI  - Milk. [Article]\nAB  - It helps.\nYR  - 2004\n"


@pytest.mark.parametrize(("name", "text", "expected"), [
    ("EndNote XML", ENDNOTE, ("7500", "Dose of 10⁶ cells", "It & that.", ("Lind BA",), 2018)),
    ("BioC JSON", BIOC_JSON, ("7600", "Milk", "It helps.", (), None)),
    ("BioC XML", BIOC_XML, ("7600", "Milk", "It helps.", (), None)),
    ("tagged export", REFER, (None, "Milk", "It helps.", ("Lind B",), 2001)),
    ("tagged export", WOS, ("7700", "Milk at night", "It helps.", ("Lind B", "Okafor A"), 2003)),
    ("tagged export", REFWORKS, (None, "Milk", "It helps.", ("Lind B",), 2002)),
    ("tagged export", OVID, (None, "Milk", "It helps.", ("Lind B",), 2004)),
])
def test_a_format_is_told_by_its_content(tmp_path, name, text, expected):
    path = written(tmp_path, "export.dat", text)
    assert format_of(path) == FORMATS[name]
    (record,) = read_records(path)
    assert (record.pmid, record.title, record.text, record.authors, record.year) == expected


@pytest.mark.parametrize(("text", "authors"), [
    ("Title;Abstract;Year;Authors\nMilk;It helps.;2001;\"Lind, Bo; Okafor, A\"\n", ("Lind B", "Okafor A")),
    ("PMID,Title,Authors,Journal/Book,Publication Year,Abstract\n"
     "77,Milk,\"Lind B, Okafor AC.\",J Milk,2001,It helps.\n", ("Lind B", "Okafor AC")),
    ("TI\tAB\tPY\tAU\r\nMilk\tIt helps.\t2001\tLind, Bo; Okafor, A\r\n", ("Lind B", "Okafor A")),
    ("title,abstract,publication_year,authors\n"
     "Milk,\"It helps.\",2001//,\"['Lind, Bo', 'Okafor, A']\"\n", ("Lind B", "Okafor A")),
])
def test_the_columns_of_a_table_are_told_from_its_header(tmp_path, text, authors):
    (record,) = read_records(written(tmp_path, "t.csv", text))
    assert (record.title, record.text, record.year, record.authors) == ("Milk", "It helps.", 2001, authors)


def test_rows_that_do_not_fit_the_header_are_rejected_and_unused_columns_named(tmp_path):
    report = read_records(written(tmp_path, "t.csv", "title,abstract,my notes\nMilk,It helps.,x\nTea,It, too, helps.\n"))
    assert [r.title for r in report] == ["Milk"]
    assert {(r.record, r.field, r.record_kept) for r in report.rejected} == {("", "columns", True), ("line 3", "", False)}
    assert "my notes" in report.rejected[0].reason


@pytest.mark.parametrize(("content", "words"), [
    (b"", "empty"), (b"%PDF-1.7 x", "PDF"), (b"PK\x03\x04xx", "ZIP"),
    (b"<eSearchResult><Count>1</Count></eSearchResult>", "search results"),
    (b"<html><body>x</body></html>", "web page"), (b"@article{a, title={x}}", "BibTeX"), (b"<unknown/>", "unknown kind"),
])
def test_a_file_that_cannot_be_read_is_refused_with_the_remedy(tmp_path, content, words):
    report = read_records(written(tmp_path, "x.bin", content))
    assert not report.records
    assert words in report.rejected[0].reason


def test_a_jsonl_line_is_not_cut_at_a_line_separator(tmp_path):
    text = '{"pmid":"7801","title":"A","abstract":"One.\u2028Two\u2029 and\u0085 5 mg."}\r\n'
    text += '{"pmid":"7802","title":"B","abstract":"Other."}\r\n'
    one, two = read_records(written(tmp_path, "a.jsonl", text))
    assert one.text == "One.\u2028Two\u2029 and\u0085 5 mg."
    assert locate_quote("and\u0085 5 mg.", one.text).found
    assert two.text == "Other."


@pytest.mark.parametrize(("given", "expected"), [
    ("Lind, Bo Arne", "Lind BA"), ("Lind, B.A.", "Lind BA"), ("van Raaij, M J", "van Raaij MJ"), ("Liu R.", "Liu R."),
    ("Lind, Bo, Jr", "Lind B Jr"), ("Milk Study Group", "Milk Study Group"), ("Sartre, Jean-Paul", "Sartre JP"), ("余敏", "余敏"),
])
def test_names_have_one_form(given, expected):
    assert author(given) == expected


@pytest.mark.parametrize(("given", "expected"), [
    ("https://doi.org/10.1000/ab(1)c", "10.1000/ab(1)c"), ("doi: 10.1000/x.", "10.1000/x"), ("10.1", None),
    ("(10.1000/x)", "10.1000/x"), ("10.1000%2Fx", "10.1000/x"),
])
def test_a_doi_is_taken_without_host_and_punctuation(given, expected):
    assert doi(given) == expected


def test_items_of_a_file_come_with_their_doubles(tmp_path):
    text = "TY  - JOUR\nTI  - T\nDO  - 10.1000/x\nAB  - A.\nER  - \n" * 2
    assert len([item for item in read_items(written(tmp_path, "x.ris", text)) if hasattr(item, "record_id")]) == 2


# --- A broken record costs that record only
def kept_and_lost(folder, name, content):
    items = list(read_items(written(folder, name, content)))
    titles = [item.title for item in items if hasattr(item, "title")]
    return titles, [item.reason for item in items if hasattr(item, "reason") and not item.record_kept]


def test_an_unclosed_quotation_mark_costs_its_own_row(tmp_path):
    table = 'Title,Abstract,Year\nOne,First.,2001\nTwo,"Second,2002\nThree,Third.,2003\n"Four, too","Fourth,\nwrapped.",2004\n'
    titles, lost = kept_and_lost(tmp_path, "t.csv", table)
    assert titles == ["One", "Three", "Four, too"]
    assert len(lost) == 1
    assert "quotation mark isn't closed" in lost[0]


def test_an_unclosed_quotation_mark_in_the_last_row_loses_no_other(tmp_path):
    titles, _ = kept_and_lost(tmp_path, "t.csv", 'Title,Abstract\n"One,First.\nTwo,Second.\n')
    assert titles == ["Two"]


def test_a_cell_with_sloppy_quotation_marks_over_several_lines_is_kept(tmp_path):
    titles, lost = kept_and_lost(tmp_path, "t.csv", 'Title,Abstract\n"A "new" diet","They\nrose."\nTwo,Second.\n')
    assert (titles, lost) == (['A new" diet"', "Two"], [])


def test_a_record_of_web_of_science_without_its_end_does_not_swallow_the_next(tmp_path):
    text = "FN Clarivate Analytics\nPT J\nTI One\nAB First.\nPT J\nTI Two\nAB Second.\nER\n"
    assert kept_and_lost(tmp_path, "w.txt", text)[0] == ["One", "Two"]


def test_a_medline_record_that_lost_its_beginning_is_not_added_to_another(tmp_path):
    text = ("PMID- 71\nTI  - One.\nAB  - First.\n\nstray words\nTI  - Lost its number.\nAB  - Second.\n\n"
            "PT  - Review\nPMID- 73\nTI  - Three.\nAB  - Third.\n")
    titles, _ = kept_and_lost(tmp_path, "m.nbib", text)
    assert titles == ["One", "Lost its number", "Three"]


@pytest.mark.parametrize(("begun", "end"), [
    ("PMID- 71\nTI  - One.\nAB  - First.\n\n", ""), ("%0 Journal Article\n%T One\n%X First.\n\n", ""),
    ("RT Journal Article\nT1 One\nAB First.\n\n", ""), ("Title,Abstract\nOne,First.\n", "Two,Second.\n"),
    ("TY  - JOUR\nTI  - One\nAB  - First.\nER  - \n", "TY  - JOUR\nTI  - Two\nER  - \n"),
])
@pytest.mark.parametrize("foreign", ["TY  - JOUR\n", "<9. >\n", "PMID- 5\n", "%0 Book\n"])
def test_lines_of_another_format_do_not_make_another_file_of_it(tmp_path, begun, end, foreign):
    titles, _ = kept_and_lost(tmp_path, "f.txt", f"{begun}{foreign}{end}")
    assert titles[0].rstrip(".") == "One"


def test_an_unclosed_citation_leaves_the_next_article_whole(tmp_path):
    whole = article("7002", "<AbstractText>Two.</AbstractText>", title="Two",
                    data="<ArticleIdList><ArticleId IdType='doi'>10.1000/two</ArticleId></ArticleIdList>")
    for broken in ("<Pubmed Article><MedlineCitation><PMID>1</PMID>", "<DeleteCitation><PMID>12</PMID>"):
        records = read_records(written(tmp_path, "p.xml", article_set(broken, whole)))
        assert [(r.pmid, r.doi, r.text) for r in records] == [("7002", "10.1000/two", "Two.")]
        assert records.deleted == ()


@pytest.mark.parametrize("encoding", ["hex", "zip", "rot13", "idna", "undefined", "utf-16", "cp037", "no-such-one"])
def test_a_declared_encoding_that_cannot_be_is_not_believed(tmp_path, encoding):
    text = article_set(article("7001", "<AbstractText>Rose by 4 %.</AbstractText>")).replace("utf-8", encoding)
    (record,) = read_records(written(tmp_path, "p.xml", text))
    assert record.text == "Rose by 4 %."


def test_a_declaration_inside_a_record_changes_no_other(tmp_path):
    inner = article("7001", "<?xml version='1.0' encoding='latin-1'?><AbstractText>One.</AbstractText>")
    text = "<PubmedArticleSet>" + inner + article("7002", "<AbstractText>Cafés.</AbstractText>") + "</PubmedArticleSet>"
    assert read_records(written(tmp_path, "p.xml", text))[-1].text == "Cafés."


def test_a_run_of_zero_bytes_is_no_utf_16(tmp_path):
    text = "TY  - JOUR\nTI  - One\nAB  - First" + "\0" * 90 + ".\nER  - \n"
    assert kept_and_lost(tmp_path, "r.ris", text)[0] == ["One"]
