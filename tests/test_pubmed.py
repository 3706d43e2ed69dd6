"""PubMed live, against a loopback server: polite, patient, resumable, and truthful about what changed."""

import pytest
from fakes.embeddings import WordEmbeddings
from fakes.eutils_server import an_article, fake_pubmed

from litrag import library, pubmed
from litrag.config import settings
from litrag.errors import InputError, OfflineError


class Time:
    """A clock that only sleeping moves."""

    def __init__(self):
        self.now, self.slept = 0.0, []

    def sleep(self, seconds):
        self.now += seconds
        self.slept.append(seconds)

    def clock(self):
        return self.now


@pytest.fixture
def server():
    with fake_pubmed({str(n): an_article(str(n), f"Sleep rose by {n} minutes.") for n in range(101, 106)}) as fake:
        yield fake


@pytest.fixture
def utilities(server, monkeypatch):
    return connected(server, monkeypatch)


def connected(server, monkeypatch, **variables):
    monkeypatch.setenv("LITRAG_NCBI_URL", server.url)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    settings.cache_clear()
    time = Time()
    made = pubmed.EUtilities(clock=time.clock, sleep=time.sleep)
    made.time = time
    return made


def test_a_query_becomes_a_corpus_and_the_original_is_kept(server, utilities):
    job, report = pubmed.import_query("milk sleep", "live", 4, utilities=utilities, embeddings=WordEmbeddings())
    assert (job.count, len(job.pmids), job.translation) == (5, 4, "MILK SLEEP")
    assert [record.pmid for record in library.records_of("live")] == ["101", "102", "103", "104"]
    assert report.loaded == 4
    (kept,) = settings().pubmed_dir.rglob("records-*.xml")
    assert b"Sleep rose by 101 minutes." in kept.read_bytes()
    assert [utility for utility, _ in server.asked] == ["esearch.fcgi", "efetch.fcgi"]
    assert server.asked[1][1]["WebEnv"] == "MCID_1"


@pytest.mark.parametrize(("key", "pause"), [("", 1 / 3), ("secret", 0.1)])
def test_requests_keep_their_distance_and_say_who_asks(server, monkeypatch, key, pause):
    variables = {"LITRAG_NCBI_EMAIL": "a@example.org"} | ({"NCBI_API_KEY": key} if key else {})
    utilities = connected(server, monkeypatch, **variables)
    for _ in range(4):
        utilities.fetch(["101"])
    assert utilities.time.slept == pytest.approx([pause] * 3)
    form = server.asked[0][1]
    assert (form["tool"], form["email"], form.get("api_key", "")) == ("litrag", "a@example.org", key)


@pytest.mark.parametrize("failure", [
    (429, "slow down"), (500, "oops"), (200, '{"error":"API rate limit exceeded"}'), (200, "<PubmedArticleSet><PubmedArticle>"),
])
def test_a_passing_failure_is_repeated(server, utilities, failure):
    server.failures = [failure, failure]
    assert b"101 minutes" in utilities.fetch(["101"])
    assert len(server.asked) == 3


def test_a_lasting_failure_says_so(server, utilities):
    server.failures = [(503, "")] * 5
    with pytest.raises(pubmed.PubMedError, match="5 tries"):
        utilities.fetch(["101"])
    server.failures = [(400, "bad request")]
    with pytest.raises(pubmed.PubMedError, match="bad request"):
        utilities.fetch(["101"])
    assert len(server.asked) == 6


def test_a_download_that_broke_off_goes_on_by_pmid(server, utilities, monkeypatch):
    monkeypatch.setattr(pubmed, "BATCH", 2)
    real = utilities.fetch_found

    def breaks(job, start, size):
        if start >= 2:
            raise pubmed.PubMedError("connection lost")
        return real(job, start, size)

    monkeypatch.setattr(utilities, "fetch_found", breaks)
    with pytest.raises(pubmed.PubMedError, match="lost"):
        pubmed.download("milk", 5, utilities=utilities)
    before = len(server.asked)
    _, files = pubmed.download("milk", 5, utilities=utilities)
    assert len(files) == 3
    again = server.asked[before:]
    assert [(utility, form.get("id")) for utility, form in again] == [("efetch.fcgi", "103,104"), ("efetch.fcgi", "105")]


def test_a_refresh_finds_retractions_and_new_versions(server, utilities):
    words = WordEmbeddings()
    pubmed.import_query("milk", "live", 5, utilities=utilities, embeddings=words)
    notice = (
        '<CommentsCorrectionsList><CommentsCorrections RefType="RetractionIn"><PMID>999</PMID></CommentsCorrections>'
        "</CommentsCorrectionsList>"
    )
    server.articles["102"] = an_article("102", "Sleep rose by 102 minutes.", more=notice, day="09")
    server.articles["103"] = an_article("103", "Sleep fell by 3 minutes.", day="09")
    del server.articles["105"]
    found = pubmed.refresh("live", utilities=utilities, embeddings=words)
    assert found.new_notices == {"102": ("retracted",)}
    assert set(found.report.updated) == {"102", "103"}
    assert found.missing == ("105",)
    records = {record.pmid: record for record in library.records_of("live")}
    assert records["102"].retracted
    assert records["103"].text == "Sleep fell by 3 minutes."
    assert "105" in records


def test_what_cannot_be_searched_is_refused_before_any_call(server, utilities):
    for query, most in (("", 5), ("milk", 0), ("milk", 20000)):
        with pytest.raises(InputError):
            pubmed.download(query, most, utilities=utilities)
    assert server.asked == []
    with pytest.raises(InputError, match="finds nothing"):
        pubmed.import_query("nothing", "live", utilities=utilities, embeddings=WordEmbeddings())


def test_offline_means_no_call(monkeypatch):
    monkeypatch.setenv("LITRAG_OFFLINE", "1")
    settings.cache_clear()
    with pytest.raises(OfflineError, match="PubMed"):
        pubmed.EUtilities()
