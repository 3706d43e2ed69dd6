"""An answer in the page: its header, filter, export, review buttons, and the claims beside their sources."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import streamlit as st

from litrag import render, report
from litrag.badges import badge_notes
from litrag.changes import SourceChange, exported
from litrag.errors import LitRAGError
from litrag.models import AuditedAnswer
from litrag.profiles import open_history
from litrag.reviews import item_id_of
from litrag.ui import runs
from litrag.ui.evidence import evidence_section
from litrag.ui.shell import hidden, workbench
from litrag.ui.tables import result_files

#: Claims that are shown at a time; a checked table may hold thousands.
PAGE_SIZE = 40


def answer_view(page: str, answer: AuditedAnswer) -> None:
    """Everything a reader sees of one answer."""
    notes = badge_notes(answer, open_history())
    changes = workbench().changes(answer)
    st.html(render.header_html(answer, judge_note=notes.judge, changes=changes))
    flagged_only = _toolbar(answer, changes)
    claims = render.shown_claims(answer, flagged_only=flagged_only, changed=changes)
    window = _pages(answer.run_id, len(claims))
    shown = claims[slice(*window)]
    sent = frozenset(c.claim_id for _, c in shown if c.citations and _queued(answer.run_id, c.claim_id))
    st.html(render.answer_html(
        answer, flagged_only=flagged_only, sent=sent, window=window, notes=notes.claims, changes=changes,
    ))
    evidence_section(answer, [place for place, _ in shown])
    with hidden("lr-native-answer"):
        for place, claim in shown:
            if claim.citations and claim.claim_id not in sent:
                st.button(f"Send claim {place + 1} to review", key=render.key(answer.run_id, "review", place),
                          on_click=_send, args=(answer, [claim.claim_id]))
            if claim.reanchor is not None:
                st.button(f"Re-anchor claim {place + 1}", key=render.key(answer.run_id, "reanchor", place),
                          on_click=_reanchor, args=(page, answer, claim.claim_id))


def _reanchor(page: str, answer: AuditedAnswer, claim_id: str) -> None:
    run_id = runs.new_id()
    workbench().reanchor(run_id, answer, claim_id)
    runs.show(page, run_id)


def _toolbar(answer: AuditedAnswer, changes: Mapping[str, SourceChange]) -> bool:
    """Filter, review and export; says whether only flagged claims are wanted."""
    flagged = len(render.shown_claims(answer, flagged_only=True, changed=changes))
    flagged_only = False
    with st.container(horizontal=True, vertical_alignment="center"):
        if answer.claims:
            flagged_only = st.toggle(f"Only what needs attention ({flagged})", key=f"filter-{answer.run_id}")
            st.button("Send all to review", icon=":material/rate_review:", key=f"review-{answer.run_id}",
                      on_click=_send, args=(answer, None))
        _export(answer, changes)
    return flagged_only


def _export(answer: AuditedAnswer, changes: Mapping[str, SourceChange]) -> None:
    name = f"litrag-{answer.run_id}"
    with st.popover("Export", icon=":material/download:"):
        st.download_button("Evidence report (HTML)", partial(report.report, answer, changes), f"{name}.html", "text/html",
                           on_click="ignore", width="stretch", key=f"html-{answer.run_id}")
        st.download_button("Answer with references (Markdown)", partial(report.markdown, answer, changes), f"{name}.md",
                           "text/markdown", on_click="ignore", width="stretch", key=f"md-{answer.run_id}")
        st.download_button("Everything (JSON)", exported(answer, changes).to_json, f"{name}.json", "application/json",
                           on_click="ignore", width="stretch", key=f"json-{answer.run_id}")
        for path in result_files(workbench().tables, answer.run_id):
            if path.exists():
                st.download_button(f"Results of the table ({path.suffix[1:].upper()})", path.read_bytes,
                                   f"{name}{path.suffix}", on_click="ignore", width="stretch",
                                   key=f"table{path.suffix}-{answer.run_id}")
        st.caption("Or copy the answer with its references:")
        st.code(report.markdown(answer, changes), language=None, wrap_lines=True, height=160)


def _send(answer: AuditedAnswer, claim_ids: list[str] | None) -> None:
    try:
        new = workbench().store.send_to_review(answer.run_id, claim_ids)
    except LitRAGError as error:
        st.toast(str(error), icon=":material/error:")
        return
    said = f"{new} citation{'s' if new != 1 else ''} sent to review" if new else "Already in review"
    st.toast(said, icon=":material/rate_review:")


def _queued(run_id: str, claim_id: str) -> bool:
    return workbench().store.item(item_id_of(run_id, claim_id, 0)) is not None


def _pages(run_id: str, claims: int) -> tuple[int, int]:
    """Which slice of the claims is shown; asks for a page when there are too many for one."""
    if claims <= PAGE_SIZE:
        return 0, claims
    last = -(-claims // PAGE_SIZE)
    number = st.number_input(f"Page of {last}", 1, last, key=f"page-{run_id}", width=140)
    return (int(number) - 1) * PAGE_SIZE, int(number) * PAGE_SIZE
