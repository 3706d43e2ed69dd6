"""The pages' components: the only part of LitRAG that imports streamlit.

`workbench` holds what all sessions share and runs the work in the background; `shell` is what every page has;
`runs` starts, follows and reopens a run; `answers` shows one; `entries` are the inputs. Session state holds ids only.
"""
