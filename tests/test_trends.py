"""Scores per day and judge version: pooled, each answer once, undefined stays undefined."""

from datetime import UTC, date, datetime

import pytest
from fakes import answers
from streamlit.testing.v1 import AppTest

from litrag.config import settings
from litrag.metrics import Share
from litrag.models import Abstention, AuditedAnswer, Verdict
from litrag.reviews import open_store
from litrag.stored_events import StoredEvents
from litrag.trends import Trends, by_day, table

S, C = Verdict.SUPPORTS, Verdict.CONTRADICTS


def judged(verdicts, run_id, day, version="m v1"):
    return answers.answer(verdicts, run_id=run_id).model_copy(update={
        "created_at": datetime(2026, 3, day, 12, tzinfo=UTC), "judge_version": version,
    })


@pytest.fixture
def store(tmp_path):
    return open_store(f"sqlite:///{tmp_path / 'litrag.db'}")


def test_days_and_judge_versions_are_kept_apart_and_claims_pooled():
    rows = by_day([judged([S, S, C], "a", 1), judged([S], "b", 1), judged([C], "c", 1, "m v2"), judged([S], "d", 2)])
    assert [(row.day.day, row.judge_version, row.scores.attributed) for row in rows] == [
        (1, "m v1", Share(hits=3, of=4)), (1, "m v2", Share(hits=0, of=1)), (2, "m v1", Share(hits=1, of=1))]


def test_a_day_of_abstentions_has_no_share():
    declined = AuditedAnswer(run_id="x", created_at=datetime(2026, 3, 1, tzinfo=UTC), abstention=Abstention(reason="none"))
    [row] = table(by_day([declined]))
    assert row["Attributed"] is None
    assert (row["answers"], row["abstained"]) == (1, 1)


def test_the_store_is_read_on_and_no_answer_counts_twice(store):
    trends = Trends(StoredEvents(store))
    assert trends.rows() == []
    store.save_run(judged([S], "a", 1))
    assert len(trends.rows()) == len(trends.rows()) == 1
    store.save_run(judged([C], "b", 1))
    [row] = trends.rows()
    assert (row.day, row.scores.answers, row.scores.attributed) == (date(2026, 3, 1), 2, Share(hits=1, of=2))


def test_the_page_shows_a_chart_and_its_table():
    def page():
        import streamlit as st

        st.session_state["framed"] = True
        from litrag.ui.trends import trends_view

        st.cache_resource.clear()  # the store of another test's home
        trends_view()

    shown = AppTest.from_function(page, default_timeout=60).run()
    assert "No answer is kept yet" in shown.info[0].value
    opened = open_store(settings().database_url)
    opened.save_run(judged([S, C], "a", 1))
    shown = AppTest.from_function(page, default_timeout=60).run()
    assert not shown.exception
    assert shown.dataframe[0].value["Attributed"].tolist() == [0.5]
    shown.selectbox[1].set_value("Citation coverage").run()
    assert not shown.exception
