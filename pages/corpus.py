"""Corpus: load files and PubMed searches, see what was not loaded and why, browse records, undo merges, delete."""

import streamlit as st

from litrag.ui import corpus as view
from litrag.ui.shell import heading

heading("Corpus")
view.load_view()
name = view.choose()
if name is None:
    st.caption("Nothing has been imported yet. The sample corpus is carried with LitRAG and needs no import.")
else:
    view.state_view(name)
    view.report_view(name)
    view.records_view(name)
    view.merges_view(name)
    view.delete_view(name)
