"""LitRAG's app: set-up, the pages, and the status in the sidebar."""

import streamlit as st

from litrag.ui.shell import finish, pages, set_up

set_up()
page = st.navigation(pages())
st.set_page_config(page_title=f"{page.title} · LitRAG")
page.run()
finish()
