"""Inputs of the pages: each returns nothing and starts a run by its callback, so that a rerun never starts a second."""

from __future__ import annotations

import streamlit as st

from litrag.errors import LitRAGError
from litrag.grounding import ClaimInput
from litrag.pipeline import MAX_QUESTION
from litrag.samples import prepared_answers
from litrag.ui import runs
from litrag.ui.samples import ANSWERS, sample_questions
from litrag.ui.settings_panel import chosen
from litrag.ui.shell import corpus, label, workbench


def question_form(*, enabled: bool) -> None:
    """The question box."""
    with st.form("ask", border=False), st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input(
            "Question", key="question", label_visibility="collapsed", persist_state="session", max_chars=MAX_QUESTION,
            placeholder="For example: does semaglutide lower cardiovascular risk without diabetes?",
        )
        st.form_submit_button("Ask", type="primary", icon=":material/search:", disabled=not enabled,
                              on_click=_ask_typed)


def sample_buttons(*, enabled: bool) -> None:
    """Questions to begin with, each one click."""
    with st.container(horizontal=True):
        for place, question in enumerate(sample_questions()):
            st.button(label(question), key=f"sample-{place}", disabled=not enabled, on_click=ask, args=(question,))


def _ask_typed() -> None:
    ask(st.session_state.get("question", ""))


def ask(question: str) -> None:
    """Start a run for a question and show it."""
    if not question.strip():
        st.toast("Write a question first.", icon=":material/edit:")
        return
    st.session_state["question"] = question
    run_id = runs.new_id()
    workbench().ask(run_id, question, corpus(), chosen())
    runs.show("ask", run_id)


def pasted_text(*, enabled: bool) -> None:
    """A text that cites abstracts."""
    with st.form("verify", border=False):
        st.text_area("Text to verify", key="text", persist_state="session", height=220, placeholder=(
            "Paste an answer with [1] and a reference list, or with PMIDs or DOIs in the text, e.g. (PMID 33567185)."))
        st.form_submit_button("Verify", type="primary", icon=":material/fact_check:", disabled=not enabled,
                              on_click=_verify_typed)


def _verify_typed() -> None:
    text = st.session_state.get("text", "")
    if not text.strip():
        st.toast("Paste a text first.", icon=":material/edit:")
        return
    run_id = runs.new_id()
    workbench().verify(run_id, text, corpus(), choice=chosen())
    runs.show("verify", run_id)


def prepared(*, enabled: bool) -> None:
    """The prepared answers, with faults planted on purpose."""
    st.caption("Written for LitRAG as if by another assistant; several statements and quotes are false on purpose.")
    index = workbench().opened(corpus())
    try:
        answers = prepared_answers(ANSWERS, index.records) if index else []
    except LitRAGError as error:
        st.info(f"{error}. Choose the sample corpus to try them.")
        return
    with st.container(gap="small"):
        for item in answers:
            st.button(label(item.title), key=f"prepared-{item.id}", disabled=not enabled, on_click=_verify_prepared,
                      args=(item.title, item.claims))


def _verify_prepared(title: str, claims: tuple[ClaimInput, ...]) -> None:
    run_id = runs.new_id()
    workbench().verify_claims(run_id, claims, corpus(), title, chosen())
    runs.show("verify", run_id)


def table(*, enabled: bool) -> None:
    """A file of claims with PMIDs or DOIs."""
    with st.form("table", border=False):
        st.file_uploader("CSV, TSV or JSONL with the columns claim, pmid (or doi), and quote if there is one",
                         type=["csv", "tsv", "txt", "jsonl", "json"], key="table-file")
        st.form_submit_button("Verify the table", type="primary", icon=":material/fact_check:", disabled=not enabled,
                              on_click=_verify_table)
    st.caption("A table that was stopped goes on where it was when it is given again; nothing is judged twice.")


def _verify_table() -> None:
    file = st.session_state.get("table-file")
    if file is None:
        st.toast("Choose a file first.", icon=":material/upload_file:")
        return
    run_id = runs.new_id()
    workbench().verify_table(run_id, file.getvalue(), file.name, corpus(), chosen())
    runs.show("verify", run_id)


INPUTS = {"text": "Paste a text", "table": "Upload a table", "prepared": "Prepared answers"}


def verify_input(*, enabled: bool) -> None:
    """What to verify: a text, a table or a prepared answer."""
    chosen = st.radio("Kind of input", list(INPUTS), format_func=INPUTS.__getitem__, horizontal=True, key="input",
                      label_visibility="collapsed", persist_state="session")
    {"text": pasted_text, "table": table, "prepared": prepared}[chosen](enabled=enabled)
