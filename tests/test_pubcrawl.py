"""PubMed by PubCrawl, against a real MCP server: complete where it can be, and plain about what is missing."""

import json
import socket

import pytest
from fakes.embeddings import WordEmbeddings
from fakes.pubcrawl_server import Script, an_article, as_command, asked_of_command, on_http

from litrag import library, pubcrawl
from litrag.cli import main
from litrag.config import settings
from litrag.errors import InputError, OfflineError
from litrag.pipeline import Stopped
from litrag.pubmed import PubMedError

RESULTS = ("RESULTS", "Sleep rose by 26 minutes.")


def three():
    return {str(n): an_article(str(n), ("BACKGROUND", "Nurses sleep badly."), RESULTS) for n in (101, 102, 103)}


@pytest.fixture
def script():
    return Script(articles=three())


@pytest.fixture
def server(script, monkeypatch):
    with on_http(script) as address:
        use(monkeypatch, address)
        yield script


def use(monkeypatch, server, **variables):
    for name, value in {"LITRAG_PUBCRAWL": server, **variables}.items():
        monkeypatch.setenv(name, value)
    settings.cache_clear()


def imported(query="milk sleep", corpus="live", most=100, **more):
    return pubcrawl.import_query(query, corpus, most, embeddings=WordEmbeddings(), **more)


def test_a_search_becomes_a_corpus_with_labelled_sections_and_the_raw_results_kept(server):
    job, report = imported(most=2)
    assert (job.count, job.pmids) == (3, ("101", "102"))
    assert server.asked == [["search_pubmed", "milk sleep", 2], ["get_abstract", "101"], ["get_abstract", "102"]]
    first = library.records_of("live")[0]
    assert (first.pmid, first.doi, first.year, first.authors) == ("101", "10.1000/101", 2021, ("Lind BM",))
    assert [(s.label, first.text[s.start:s.end]) for s in first.sections] == [("BACKGROUND", "Nurses sleep badly."), RESULTS]
    assert (report.loaded, report.lost) == (2, ())
    (kept,) = settings().pubmed_dir.rglob("101.json")
    assert json.loads(json.loads(kept.read_text())["content"][0]["text"]) == server.articles["101"]


def test_what_pubcrawl_cannot_give_is_said_once_for_each_import(server):
    _, report = imported()
    (note,) = [one for one in report.rejected if one.record_kept]
    assert "retractions" in note.reason
    assert "--refresh" in note.reason


def test_a_server_that_is_started_by_a_command_gets_the_same(script, monkeypatch, tmp_path):
    use(monkeypatch, as_command(script, tmp_path))
    assert imported()[1].loaded == 3
    assert asked_of_command(tmp_path) == [["search_pubmed", "milk sleep", 100], *(["get_abstract", p] for p in script.articles)]


def test_a_record_without_an_abstract_is_loaded_for_browsing_and_counted(server):
    server.articles["102"]["abstract_sections"] = []
    _, report = imported()
    assert (report.loaded, report.without_abstract) == (3, 1)
    assert {record.pmid: bool(record.text) for record in library.records_of("live")}["102"] is False
    assert any(one.record == "PMID 102" and "no abstract" in one.reason for one in report.rejected)


@pytest.mark.parametrize(("reply", "field", "words"), [
    ("No article found", "result", "must be a JSON object, the tool answered 'No article found'"),
    ("[1, 2]", "result", "must be a JSON object"),
    (json.dumps(an_article("999", RESULTS)), "pmid", "was asked for PMID 104 and answered with PMID '999'"),
    (json.dumps({"pmid": "104"}), "title", "neither a title nor an abstract"),
    (json.dumps(an_article("104") | {"abstract_sections": "Sleep rose."}), "sections", "must be a list"),
    ("", "result", "must be a JSON object"),
])
def test_a_malformed_result_costs_that_record_only_and_is_named(server, reply, field, words):
    server.plain["104"] = reply
    _, report = imported()
    assert report.loaded == 3
    (lost,) = report.lost
    assert (lost.record, lost.field) == ("PMID 104", field)
    assert words in lost.reason


def test_a_tool_error_is_asked_again_and_then_reported_in_the_tools_words(server):
    server.fails = {"101": ["rate limit"], "102": ["NCBI is down", "NCBI is still down"]}
    _, report = imported()
    assert report.loaded == 2
    (lost,) = report.lost
    assert lost.record == "PMID 102"
    assert "NCBI is still down" in lost.reason
    assert [call[1] for call in server.asked[1:]] == ["101", "102", "103", "101", "102"]


def test_a_refused_search_says_what_the_server_said_and_loads_nothing(server):
    server.search_error = "term is malformed"
    with pytest.raises(PubMedError, match=r"'milk sleep'.*term is malformed"):
        imported()
    assert library.names() == []


@pytest.mark.parametrize(("reply", "words"), [
    ('{"hits": 3}', "must be a list, the tool's answer has hits"), ("nothing to say", "must be a JSON object"),
    ('{"results": [{"pmid": "PMC12"}]}', "result 1 has 'PMC12'"), ('{"results": "101"}', "must be a list"),
])
def test_a_malformed_search_result_is_named(server, reply, words):
    server.search_reply = reply
    with pytest.raises(PubMedError) as refused:
        imported()
    assert words in str(refused.value)


def test_results_in_other_words_are_understood(server):
    server.articles["101"] = {"title": "Milk", "abstract": "Sleep rose.", "pmid": 101}
    server.search_reply = '{"articles": ["101"]}'
    job, report = imported()
    assert (job.count, report.loaded) == (1, 1)
    assert library.records_of("live")[0].text == "Sleep rose."


def test_a_server_that_dies_midway_is_named_and_the_next_call_goes_on_from_there(script, monkeypatch, tmp_path):
    script.fails = {"102": ["dies"]}
    use(monkeypatch, as_command(script, tmp_path))
    with pytest.raises(PubMedError) as died:
        imported()
    for words in ("get_abstract of PMID 102", "out of beer", "The 1 records that came are kept", "goes on from there"):
        assert words in str(died.value)
    script.fails = {}
    as_command(script, tmp_path)
    (tmp_path / "asked.jsonl").unlink()
    assert imported()[1].loaded == 3
    assert asked_of_command(tmp_path) == [["get_abstract", "102"], ["get_abstract", "103"]]


def test_a_slow_server_is_given_up_after_the_set_time_and_what_came_is_kept(server, monkeypatch):
    server.fails = {"102": ["hangs"]}
    use(monkeypatch, settings().pubcrawl, LITRAG_PUBCRAWL_TIMEOUT="0.5")
    with pytest.raises(PubMedError, match=r"PMID 102 in 0\.5 seconds.*LITRAG_PUBCRAWL_TIMEOUT.*The 1 records"):
        imported()
    assert imported()[1].loaded == 3
    assert [call[1] for call in server.asked].count("101") == 1


def test_a_stop_in_between_leaves_the_corpus_as_it_was(server):
    def stops(share, message):
        if "record 2" in message:
            raise Stopped("the run was stopped")

    with pytest.raises(Stopped):
        imported(progress=stops)
    assert library.names() == []


@pytest.mark.parametrize("command", ["no-such-program --at-all", "/etc/hostname", "true"])
def test_a_command_that_is_no_server_is_named_with_what_to_do(monkeypatch, command):
    use(monkeypatch, command, LITRAG_PUBCRAWL_TIMEOUT="5")
    with pytest.raises(PubMedError) as refused:
        imported()
    assert repr(command) in str(refused.value)
    assert "try again" in str(refused.value) or "LITRAG_PUBCRAWL" in str(refused.value)


def test_an_address_where_nobody_listens_is_named(monkeypatch):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{unused.getsockname()[1]}/mcp"
        use(monkeypatch, address, LITRAG_PUBCRAWL_TIMEOUT="5")
        with pytest.raises(PubMedError) as refused:
            imported()
    assert address in str(refused.value)


def test_a_server_of_something_else_is_told_by_its_tools(server, script, monkeypatch):
    with on_http(Script(tools=["get_abstract"])) as address:
        use(monkeypatch, address)
        with pytest.raises(PubMedError, match="no tool 'search_pubmed', it has get_abstract"):
            imported()


def test_what_cannot_be_searched_is_refused_before_any_call(server, monkeypatch):
    for query, most in (("", 5), ("milk", 0), ("milk", 101)):
        with pytest.raises(InputError):
            imported(query, most=most)
    with pytest.raises(InputError, match="sample"):
        imported(corpus="sample")
    assert server.asked == []
    with pytest.raises(InputError, match="finds nothing"):
        imported("nothing")
    use(monkeypatch, settings().pubcrawl, LITRAG_OFFLINE="1")
    with pytest.raises(OfflineError, match="PubCrawl"):
        imported()


def test_the_command_line_imports_and_says_how_many_there_were(server, monkeypatch, capsys):
    monkeypatch.setattr("litrag.library.open_embeddings", WordEmbeddings)
    assert main(["pubmed", "milk", "--from-pubcrawl", "--max", "2", "--corpus", "mine"]) == 0
    printed = capsys.readouterr().out
    assert "mine: 2 records" in printed
    assert "left out" in printed
    assert main(["pubmed", "milk", "--from-pubcrawl", "--max", "500", "--corpus", "mine"]) == 2
    assert "1 to 100" in capsys.readouterr().err
    assert main(["pubmed", "--refresh", "--from-pubcrawl", "--corpus", "mine"]) == 2


def test_a_known_record_is_not_made_poorer_by_pubcrawl(server, tmp_path):
    original = tmp_path / "a.xml"
    original.write_text(
        "<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>101</PMID><DateRevised><Year>2024</Year><Month>01</Month>"
        "<Day>01</Day></DateRevised><Article><ArticleTitle>Trial</ArticleTitle><Abstract><AbstractText>Counts fell to "
        "10<sup>6</sup>.</AbstractText></Abstract><PublicationTypeList><PublicationType>Retracted Publication"
        "</PublicationType></PublicationTypeList></Article></MedlineCitation></PubmedArticle></PubmedArticleSet>")
    library.add("live", [original], embeddings=WordEmbeddings())
    imported()
    record = next(record for record in library.records_of("live") if record.pmid == "101")
    assert record.text == "Counts fell to 10⁶."
    assert record.retracted
