"""Scores over time in the page: one line per version of the judge, since a new judge is a new ruler."""

from __future__ import annotations

import altair as alt
import pandas as pd
import streamlit as st

from litrag.metrics import SHARES
from litrag.stored_events import StoredEvents
from litrag.trends import Trends, table
from litrag.ui.shell import workbench

KINDS = {"ask": "Answers to questions", "verify": "Verified texts"}


@st.cache_resource(show_spinner=False)
def _trends() -> Trends:
    return Trends(StoredEvents(workbench().store))


def trends_view() -> None:
    """A chart of one score and the table behind it."""
    rows = [row for row in _trends().rows() if row.kind in KINDS]
    if not rows:
        st.info("No answer is kept yet. Ask or verify something; scores per day then stand here.")
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kind = st.selectbox("Of", [k for k in KINDS if any(row.kind == k for row in rows)], format_func=KINDS.__getitem__)
        score = st.selectbox("Score", list(SHARES.values()))
    frame = pd.DataFrame(table(row for row in rows if row.kind == kind))
    st.altair_chart(_chart(frame, str(score)), width="stretch")
    st.caption("Per day, all claims pooled. A line belongs to one version of the judge: two lines aren't comparable. "
               "Abstentions are in no share; a day without a claim has no point.")
    st.dataframe(frame.drop(columns="kind"), hide_index=True, width="stretch", column_config={
        label: st.column_config.NumberColumn(format="percent") for label in SHARES.values()
    })


def _chart(frame: pd.DataFrame, score: str) -> alt.Chart:
    shown = frame.dropna(subset=[score]).rename(columns={score: "share"})
    told = [alt.Tooltip("share:Q", format=".1%", title=score), "judge version:N", "claims:Q", "answers:Q", "abstained:Q"]
    chart: alt.Chart = alt.Chart(shown).mark_line(point={"size": 70}).encode(
        x=alt.X("day:T", title="Day", axis=alt.Axis(format="%d %b %Y", labelOverlap=True)),
        y=alt.Y("share:Q", title=score, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%")),
        color=alt.Color("judge version:N", title="Judge version", legend=alt.Legend(orient="bottom")),
        shape=alt.Shape("judge version:N"), tooltip=told,
    )
    return chart
