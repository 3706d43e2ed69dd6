"""Review: reviewers judge claims themselves, blind first; their labels measure the judge."""

import streamlit as st

from litrag.ui.review import review_view
from litrag.ui.review_tools import review_tools
from litrag.ui.reviewer import current_reviewer
from litrag.ui.shell import heading, workbench

heading("Review")
store = workbench().store
reviewer = current_reviewer(store)
if reviewer is not None:
    review_view(store, reviewer)
    st.divider()
    review_tools(store, reviewer)
