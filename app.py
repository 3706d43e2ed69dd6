"""LitRAG's app: set-up, status in the sidebar, and the pages."""

import streamlit as st

from litrag.ui.shell import finish, set_up

set_up()
page = st.navigation([
    st.Page("pages/ask.py", title="Ask", icon=":material/search:", default=True),
    st.Page("pages/verify.py", title="Verify", icon=":material/fact_check:", url_path="verify"),
])
page.run()
finish()
