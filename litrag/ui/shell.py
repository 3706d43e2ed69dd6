"""What every page has: page set-up, stylesheet and behaviour of the answer view, and the status in the sidebar."""

from __future__ import annotations

import re
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from litrag.config import settings
from litrag.observability import watch
from litrag.render import DISCLAIMER
from litrag.stylesheet import stylesheet
from litrag.ui.workbench import Workbench

_HERE = Path(__file__).parent


@st.cache_resource(show_spinner=False)
def workbench() -> Workbench:
    """The server's one workbench: holds no key and nothing of a single session."""
    watch()  # so that metrics are served before the first run
    return Workbench(settings())


def set_up() -> None:
    """Page title, width and stylesheet; call first."""
    st.session_state["framed"] = True
    _configure()
    st.html(f"<style>{stylesheet()}</style>")


def _configure() -> None:
    # A file of ours: a Material icon as page icon would be fetched from Google's servers.
    st.set_page_config(page_title="LitRAG", page_icon=str(_HERE / "icon.svg"), layout="wide")


def pages() -> list[st.Page]:
    """The app's pages, in the order of its navigation."""
    return [
        st.Page("pages/ask.py", title="Ask", icon=":material/search:", default=True),
        st.Page("pages/verify.py", title="Verify", icon=":material/fact_check:", url_path="verify"),
        st.Page("pages/review.py", title="Review", icon=":material/rate_review:", url_path="review"),
        st.Page("pages/calibrate.py", title="Calibrate", icon=":material/tune:", url_path="calibrate"),
        st.Page("pages/trends.py", title="Trends", icon=":material/monitoring:", url_path="trends"),
        st.Page("pages/corpus.py", title="Corpus", icon=":material/library_books:", url_path="corpus"),
    ]


def heading(title: str) -> None:
    """A page's title; call it first in a page.

    A server whose very first visitor follows a link to a page runs that page alone, without app.py, since a folder
    `pages/` exists; naming the pages ends that, and the page starts again in its frame.
    """
    if "framed" not in st.session_state:
        _configure()
        st.navigation(pages())
        st.rerun()
    st.title(title, anchor=False)


def corpus() -> str:
    """The corpus that this session asks."""
    return str(st.session_state.get("corpus") or settings().corpus)


def finish() -> None:
    """The status in the sidebar, and the behaviour of the answer view; call last."""
    _status_line()
    # Our own file, never anything from a model, a source or a reader.
    st.html(f"<script>{(_HERE / 'behaviour.js').read_text('utf-8')}</script>", unsafe_allow_javascript=True)


def _status_line() -> None:
    """Which corpus is asked, in what state it is, and who writes and judges."""
    from litrag.ui.settings_panel import settings_panel  # as above

    bench = workbench()
    with st.sidebar:
        names = bench.corpora()
        if len(names) > 1:
            st.selectbox("Corpus", names, key="corpus", persist_state="session", format_func=str)
        settings_panel()
        st.caption(_status(bench, corpus()))


def _status(bench: Workbench, name: str) -> str:
    from litrag.ui.settings_panel import chosen  # that panel is written with this module's `label`

    index = bench.opened(name)
    held = f"{len(index.records):,} records" if index else bench.held(name)
    lines = [f"Corpus **{label(name)}**: {held}"]
    if index and any(record.digest for record in index.records.values()):
        lines.append("These are digests written for LitRAG, not the publishers' abstracts.")
    lines.append(f"Generator {label(chosen().generator)}, judge {label(chosen().judge)}")
    return "  \n".join([*lines, DISCLAIMER])


def label(text: str) -> str:
    """`text` for a widget's label, which is Markdown: every character shows as itself."""
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", " ".join(text.split()))


def hidden(key: str) -> DeltaGenerator:
    """A place for native buttons that buttons in the text press; they show themselves when the script didn't run."""
    return st.container(key=key, horizontal=True)
