"""Ask: a question over the corpus, answered with claims that can be checked."""

import streamlit as st

from litrag.ui import runs
from litrag.ui.answers import answer_view
from litrag.ui.entries import question_form, sample_buttons
from litrag.ui.shell import heading

heading("Ask")
run_id = runs.current("ask")
ready = runs.ready()
question_form(enabled=ready)
if run_id is None:
    st.caption("Sample questions")
    sample_buttons(enabled=ready)
else:
    with st.popover("Sample questions", type="tertiary"):
        sample_buttons(enabled=ready)
    answer = runs.finished(run_id)
    if answer is not None:
        answer_view("ask", answer)
runs.history("ask", "ask", "./")
