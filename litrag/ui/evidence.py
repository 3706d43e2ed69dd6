"""The evidence map in the page: what the other records say of each claim; a judge is asked only on request."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from litrag.evidence_html import map_html
from litrag.evidence_map import MOST_JUDGED, Relation, evidence_map
from litrag.models import AuditedAnswer
from litrag.ui import runs
from litrag.ui.settings_panel import chosen
from litrag.ui.shell import label, workbench


def evidence_section(answer: AuditedAnswer, places: Sequence[int]) -> None:
    """The claims at `places` beside every record of the answer, in a section that opens where sources disagree."""
    if not places:
        return
    bench = workbench()
    rows = bench.judged_map(answer.run_id) or evidence_map(answer)
    rows = [row for row in rows if row.place in set(places)]
    disagreeing = any(row.of(Relation.CONTRADICTS) for row in rows)
    with st.expander("Evidence map: each claim beside every retrieved record", expanded=disagreeing,
                     icon=":material/compare:"):
        st.html(map_html(rows, answer))
        _offer(answer, sum(not stand.cited for row in rows for stand in row.of(Relation.OPEN)))


def _offer(answer: AuditedAnswer, left: int) -> None:
    """A button for what code left open, or the progress of the judge that was asked."""
    bench = workbench()
    job = bench.job(f"map:{answer.run_id}")
    if job is not None and job.running:
        runs.follow(job.run_id)
        return
    if job is not None and job.error is not None:
        st.warning(label(str(job.error)))
    if left and bench.judged_map(answer.run_id) is None:
        asked = f"Ask the judge about {min(left, MOST_JUDGED)} pairs that code left open"
        st.button(asked, icon=":material/gavel:", key=f"map-{answer.run_id}", on_click=bench.judge_map,
                  args=(answer, chosen()), help=label(f"{chosen().judge}: {chosen().what_leaves(bench.settings)}"))
