"""Verify: a text or table that cites abstracts, checked claim by claim, whoever wrote it."""

import streamlit as st

from litrag.ui import runs
from litrag.ui.answers import answer_view
from litrag.ui.entries import verify_input
from litrag.ui.shell import heading

heading("Verify")
run_id = runs.current("verify")
ready = runs.ready()
with st.expander("What to verify", expanded=run_id is None):
    verify_input(enabled=ready)
if run_id is not None:
    answer = runs.finished(run_id)
    if answer is not None:
        answer_view("verify", answer)
runs.history("verify", "verify", "verify")
