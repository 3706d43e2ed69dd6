"""What runs did is told to logs, metrics and traces, and no sink can slow, break or change an answer."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import threading
import time
import urllib.parse
import urllib.request
from pathlib import Path

import pytest
from fakes import answers
from fakes.collectors import Collector
from fakes.needed import unavailable

from litrag import observability
from litrag.cli_metrics import serve
from litrag.config import Settings, settings
from litrag.errors import InputError
from litrag.extractive import ExtractiveGenerator
from litrag.judges import open_judge
from litrag.labels import Kind
from litrag.models import AuditedAnswer, Verdict
from litrag.observability import AnswerFinished, LabelGiven, Lane, ModelCalled, RunFailed, Watch, watch
from litrag.pipeline import ask
from litrag.reviews import Action, item_id_of, open_store
from litrag.sinks.log import KEPT, LogSink, lines

S, P = Verdict.SUPPORTS, Verdict.PARTIAL


def stored_answer(run_id: str) -> AuditedAnswer:
    return answers.answer([S, P], run_id=run_id)


QUESTION = "Does semaglutide protect the kidneys?"
SECRET = "sk-lf-secret-0123456789abcdef"


def use(monkeypatch, **values):
    """These settings for the process."""
    for name, value in values.items():
        monkeypatch.setenv(name, str(value))
    settings.cache_clear()
    return settings()


@pytest.fixture(autouse=True)
def _ended():
    yield
    watch().close(2.0)


@pytest.fixture
def asked(sample_index):
    return lambda: ask(QUESTION, index=sample_index, judge=open_judge("checks"),
                       generator=ExtractiveGenerator(sample_index.embeddings))


def logged() -> list[dict]:
    assert watch().flush(10)
    return [json.loads(line) for line in (settings().home / "logs" / "events.jsonl").read_text("utf-8").splitlines()]


# --- the log
def test_a_run_is_logged_with_stages_counts_and_ids(asked):
    answer = asked()
    found = logged()
    assert {line["stage"] for line in found if line["event"] == "stage"} == set(answer.seconds)
    (run,) = [line for line in found if line["event"] == "ask"]
    assert (run["run_id"], run["claims"], run["verdicts"]) == (answer.run_id, len(answer.claims), answer.counts)
    assert run["coverage"] == answer.coverage
    assert run["seconds"] > 0


def test_no_text_and_no_key_is_in_the_log(asked, monkeypatch):
    use(monkeypatch, ANTHROPIC_API_KEY="sk-ant-api03-very-secret-value", LANGFUSE_SECRET_KEY=SECRET)
    answer = asked()
    with pytest.raises(InputError):
        ask(" ", index=None)
    text = "\n".join(json.dumps(line, ensure_ascii=False) for line in logged())
    assert '"run_failed"' in text
    assert "InputError" in text
    assert "secret" not in text
    for held in (answer.question, *(c.text for c in answer.claims), *(s.record.title for s in answer.sources)):
        assert held not in text
    for source in answer.sources:
        words = source.record.text.split()
        assert not any(" ".join(words[at : at + 5]) in text for at in range(0, len(words) - 5, 5))


def test_texts_are_logged_when_they_are_asked_for(asked, monkeypatch):
    use(monkeypatch, LITRAG_LOG_TEXTS="1")
    answer = asked()
    (run,) = [line for line in logged() if line["event"] == "ask"]
    assert run["question"] == answer.question
    assert run["claim_texts"] == [claim.text for claim in answer.claims]


def test_the_log_never_outgrows_its_bound(tmp_path):
    sink = LogSink(Settings(_env_file=None, home=tmp_path, log_megabytes=0.002))
    for number in range(400):
        sink.emit(RunFailed("ask", f"Error{number}", 0.1))
    sink.close()
    files = list((tmp_path / "logs").iterdir())
    assert len(files) == KEPT + 1
    assert sum(path.stat().st_size for path in files) <= 2000 * (KEPT + 1)


def test_every_kind_of_event_is_logged_under_its_name():
    events = [RunFailed("ask", "X", 1.0), ModelCalled("openai", "m", 0.5, 3, 1, 2, 0.1),
              LabelGiven("r", "i", "c", "supports", "partial", 60.0), AnswerFinished(stored_answer("r1"), 1.0)]
    assert [lines(event)[-1][0] for event in events] == ["run_failed", "model_call", "label", "ask"]


def test_with_the_log_off_nothing_is_written(asked, monkeypatch):
    use(monkeypatch, LITRAG_LOG_EVENTS="0")
    asked()
    assert watch().flush(5)
    assert not (settings().home / "logs").exists()


# --- sinks can't harm
class Stuck:
    """A sink that answers only when it is released."""

    def __init__(self):
        self.release, self.got = threading.Event(), []

    def emit(self, event):
        self.release.wait(60)
        self.got.append(event)

    def close(self):
        self.release.set()


class Refusing:
    def emit(self, event):
        raise ConnectionError("refused")

    def close(self):
        pass


def test_a_stuck_sink_holds_nobody_up_and_what_doesnt_fit_is_counted():
    stuck = Stuck()
    lane = Lane("stuck", lambda: stuck, waiting=5)
    event = RunFailed("ask", "X", 0.0)
    for _ in range(100):
        lane.offer(event)
    assert 94 <= lane.dropped <= 95  # five wait, and one may be in the sink's hands
    assert lane.flush(0.01) is False
    stuck.release.set()
    assert lane.flush(10)
    assert len(stuck.got) + lane.dropped == 100


def test_a_closed_lane_counts_what_still_waits_as_lost_and_stops_trying():
    stuck = Stuck()
    lane = Lane("stuck", lambda: stuck)
    for _ in range(50):
        lane.offer(RunFailed("ask", "X", 0.0))
    lane.close(0.5)
    stuck.release.set()
    lane.close(10)
    assert not lane._thread.is_alive()
    assert (len(stuck.got), lane.dropped) == (1, 49)


def test_a_refusing_or_missing_sink_loses_events_and_nothing_else():
    def missing():
        raise ImportError("no module named langfuse")

    both = Watch({"refusing": Refusing, "missing": missing})
    for _ in range(3):
        both.tell(RunFailed("ask", "X", 0.0))
    assert both.flush(10)
    assert both.dropped() == {"refusing": 3, "missing": 3}


def test_an_answer_is_the_same_whatever_becomes_of_its_sinks(asked, monkeypatch):
    plain = asked()
    for sink in (Stuck(), Refusing()):
        other = Watch({"bad": lambda sink=sink: sink})
        monkeypatch.setattr(observability, "watch", lambda other=other: other)
        watched = asked()
        varying = {"run_id", "created_at", "seconds", "claims"}
        assert watched.model_dump(exclude=varying) == plain.model_dump(exclude=varying)
        assert [c.state for c in watched.claims] == [c.state for c in plain.claims]
        if isinstance(sink, Stuck):
            assert sink.got == [], "the answer was there before the sink had taken anything"
            sink.release.set()
        other.close(5)


def test_offline_sends_nothing_to_another_machine(monkeypatch):
    with Collector() as collector:
        use(monkeypatch, LITRAG_OFFLINE="1", LITRAG_LANGFUSE="1", LANGFUSE_BASE_URL=collector.url,
            LANGFUSE_PUBLIC_KEY="pk", LANGFUSE_SECRET_KEY=SECRET, LITRAG_OTLP_URL=f"{collector.url}/v1/traces")
        watch().tell(RunFailed("ask", "X", 0.0))
        assert watch().flush(10)
        assert set(watch().dropped()) == {"log"}
        assert collector.asked == []


# --- Prometheus
def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def scraped(port: int) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as reply:
        return str(reply.read().decode())


def test_metrics_count_answers_claims_stages_calls_and_labels(asked, monkeypatch):
    port = free_port()
    use(monkeypatch, LITRAG_METRICS_PORT=port)
    answer = asked()
    watch().tell(RunFailed("verify", "X", 0.0))
    watch().tell(ModelCalled("anthropic", "claude-sonnet-4-6", 0.5, 100, 40, 7, 0.25))
    watch().tell(LabelGiven("r", "i", "c", "supports", "partial", 90.0))
    assert watch().flush(10)
    text = scraped(port)
    for line in (
        'litrag_answers_total{kind="ask",outcome="answered"} 1.0', 'litrag_answers_total{kind="verify",outcome="failed"} 1.0',
        f'litrag_claims_total{{judge="checks",verdict="supports"}} {float(answer.counts["supports"])}',
        "litrag_abstentions_total 0.0", "litrag_citation_coverage_count 1.0",
        'litrag_stage_seconds_count{stage="judging"} 1.0',
        'litrag_llm_tokens_total{model="claude-sonnet-4-6",type="cached"} 40.0',
        'litrag_llm_cost_usd_total{model="claude-sonnet-4-6"} 0.25', 'litrag_labels_total{agrees="false",verdict="supports"} 1.0',
        'litrag_label_lag_seconds_bucket{le="600.0"} 1.0', "litrag_queue_length 0.0",
        'litrag_events_dropped_total{sink="log"} 0.0',
    ):
        assert line in text, line
    assert QUESTION not in text
    assert answer.run_id not in text


def test_a_taken_port_switches_metrics_off_and_nothing_else(asked, monkeypatch):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        use(monkeypatch, LITRAG_METRICS_PORT=taken.getsockname()[1])
        assert asked().claims
        assert watch().flush(10)
        assert watch().dropped()["prometheus"] == 1


def test_the_command_serves_what_the_store_holds_and_counts_each_run_once(tmp_path):
    store = open_store(f"sqlite:///{tmp_path / 'litrag.db'}")
    store.save_run(stored_answer("one"))
    port = free_port()
    close = serve(store, "127.0.0.1", port)
    try:
        first = scraped(port)
        assert scraped(port).count("litrag_answers_total{") == first.count("litrag_answers_total{") == 1
        assert 'outcome="answered"} 1.0' in scraped(port)
        store.save_run(stored_answer("two"))
        store.send_to_review("two")
        assert 'outcome="answered"} 2.0' in scraped(port)
        assert "litrag_review_queue_length 0.0" not in scraped(port)
    finally:
        close()


def test_a_real_prometheus_scrapes_the_app(asked, monkeypatch, tmp_path):
    binary = shutil.which("prometheus")
    if binary is None:
        unavailable("no Prometheus found: install Debian's package prometheus")
    app, own = free_port(), free_port()
    use(monkeypatch, LITRAG_METRICS_PORT=app)
    asked()
    assert watch().flush(10)
    config = tmp_path / "prometheus.yml"
    config.write_text(
        "global: {scrape_interval: 1s}\nscrape_configs:\n  - job_name: litrag\n    static_configs:\n"
        f"      - targets: ['127.0.0.1:{app}']\n", encoding="utf-8")
    server = subprocess.Popen(
        [binary, f"--config.file={config}", f"--storage.tsdb.path={tmp_path / 'data'}",
         f"--web.listen-address=127.0.0.1:{own}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        assert _queried(own, 'litrag_answers_total{outcome="answered"}', server) == [1.0]
        assert _queried(own, "sum(litrag_claims_total)", server)[0] >= 1
    finally:
        server.terminate()
        server.wait(30)


def _queried(port: int, query: str, server: subprocess.Popen) -> list[float]:
    """Values of a query, asked until there are some."""
    url = f"http://127.0.0.1:{port}/api/v1/query?{urllib.parse.urlencode({'query': query})}"
    for _ in range(240):
        assert server.poll() is None, "Prometheus ended"
        try:
            with urllib.request.urlopen(url, timeout=5) as reply:
                found = json.load(reply)["data"]["result"]
        except OSError:
            found = []
        if found:
            return [float(row["value"][1]) for row in found]
        time.sleep(0.25)
    return []


# --- Langfuse and OpenTelemetry
def langfuse(monkeypatch, collector, **more):
    return use(monkeypatch, LITRAG_LANGFUSE="1", LANGFUSE_BASE_URL=collector.url, LANGFUSE_PUBLIC_KEY="pk-lf-test",
               LANGFUSE_SECRET_KEY=SECRET, **more)


def test_the_official_sdk_sends_a_trace_with_scores_to_langfuse(asked, monkeypatch):
    from litrag.sinks.langfuse import trace_id

    with Collector(user="pk-lf-test", password=SECRET) as collector:
        langfuse(monkeypatch, collector)
        answer = asked()
        watch().tell(LabelGiven(answer.run_id, "item-1", "c1", "contradicts", "supports", 5.0))
        assert watch().flush(20)
        watch().close(20)
        assert collector.problems == []
        (span,) = [span for span in collector.spans if span["name"] == "ask"]
        assert span["trace_id"] == trace_id(answer.run_id)
        scores = {score["name"]: score for score in collector.scores}
        assert {score["traceId"] for score in collector.scores} == {trace_id(answer.run_id)}
        assert scores["citation_coverage"]["value"] == 1.0
        assert scores["abstained"]["value"] == 0
        assert scores["human_verdict"]["value"] == "contradicts"
        assert {"faithfulness", "attribution", "citation_precision"} <= set(scores)
        sent = collector.text()
        assert QUESTION not in sent
        assert not any(claim.text in sent for claim in answer.claims)


def test_spans_follow_the_conventions_for_generative_ai(asked, monkeypatch):
    with Collector() as collector:
        use(monkeypatch, LITRAG_OTLP_URL=f"{collector.url}/v1/traces")
        answer = asked()
        watch().tell(ModelCalled("anthropic-citations", "claude-sonnet-4-6", 0.5, 100, 40, 7, 0.25, "RateLimitError"))
        assert watch().flush(20)
        spans = {span["name"]: span for span in collector.spans}
        assert collector.problems == []
    assert {"litrag ask", "litrag judging", "litrag retrieving", "chat claude-sonnet-4-6"} <= set(spans)
    assert spans["litrag judging"]["parent_id"] == spans["litrag ask"]["span_id"]
    call = spans["chat claude-sonnet-4-6"]["attributes"]
    assert call["gen_ai.operation.name"] == "chat"
    assert call["gen_ai.provider.name"] == "anthropic"
    assert (call["gen_ai.usage.input_tokens"], call["gen_ai.usage.output_tokens"]) == (100, 7)
    assert call["error.type"] == "RateLimitError"
    events = {e["gen_ai.evaluation.name"]: e["gen_ai.evaluation.score.value"] for e in spans["litrag ask"]["events"]}
    assert events["citation_coverage"] == answer.coverage


def test_a_collector_that_refuses_is_a_counted_drop(asked, monkeypatch):
    with Collector(status=400) as collector:
        use(monkeypatch, LITRAG_OTLP_URL=f"{collector.url}/v1/traces")
        assert asked().claims
        assert watch().flush(20)
        assert watch().dropped() == {"log": 0, "opentelemetry": 1}


def test_langfuse_without_its_keys_is_off_and_says_so(monkeypatch, caplog):
    use(monkeypatch, LITRAG_LANGFUSE="1")
    watch().tell(RunFailed("ask", "X", 0.0))
    assert watch().flush(10)
    assert watch().dropped()["langfuse"] == 1
    assert "LANGFUSE_PUBLIC_KEY" in caplog.text


def test_every_sink_dead_or_silent_costs_an_answer_no_wait(asked, monkeypatch):
    with Collector(silent=30.0) as collector:
        langfuse(monkeypatch, collector, LITRAG_OTLP_URL=f"{collector.url}/v1/traces", LITRAG_METRICS_PORT=free_port())
        answer: AuditedAnswer = asked()
        assert answer.claims
        for _ in range(3000):
            watch().tell(RunFailed("ask", "X", 0.0))
        assert watch().dropped()["opentelemetry"] > 0
        collector.release()
        watch().close(0.1)


def test_a_reviewers_label_is_told_beside_the_judges_word(tmp_path):
    store = open_store(f"sqlite:///{tmp_path / 'litrag.db'}")
    store.save_run(stored_answer("one"))
    store.send_to_review("one")
    store.add_reviewer("ada")
    item = store.item(item_id_of("one", "c1", 0))
    store.act(item.item_id, "ada", Action(kind=Kind.LABEL, verdict=Verdict.PARTIAL))
    (label,) = [line for line in logged() if line["event"] == "label"]
    assert (label["run_id"], label["item_id"], label["verdict"]) == ("one", item.item_id, "partial")
    assert label["judged"] == store.judgements(item.item_id)[-1].verdict
    assert label["lag_seconds"] >= 0
    assert Path(settings().home / "logs").is_dir()
