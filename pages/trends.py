"""Trends: how answers scored over time, by version of the judge."""

import streamlit as st

from litrag.ui.shell import heading
from litrag.ui.trends import trends_view

heading("Trends")
st.caption("Scores say what the judge says. How often the judge is wrong stands on Calibrate.")
trends_view()
