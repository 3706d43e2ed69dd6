"""A run in the page: started once, followed while it works, reopened by its link, kept in a history."""

from __future__ import annotations

import logging
import uuid

import streamlit as st

from litrag.errors import GenerationError, LitRAGError
from litrag.models import AuditedAnswer
from litrag.render import arriving_html, history_html, key, progress_html
from litrag.ui.shell import corpus, hidden, label, workbench
from litrag.ui.workbench import INDEX_STAGES, Job, Workbench

#: Seconds between looks at a run that works.
POLL = 0.4

HISTORY = 12

log = logging.getLogger(__name__)


def new_id() -> str:
    return uuid.uuid4().hex[:12]


def current(page: str) -> str | None:
    """The run that this page shows: the one of the link, else the session's last one, which the link then names."""
    linked = st.query_params.get("run")
    run_id = linked or st.session_state.get(f"{page}_run")
    if run_id and not linked:
        st.query_params["run"] = run_id
    st.session_state[f"{page}_run"] = run_id
    return run_id


def show(page: str, run_id: str | None) -> None:
    """Make `run_id` the run that the page shows; None clears the page."""
    st.session_state[f"{page}_run"] = run_id
    if run_id:
        st.query_params["run"] = run_id
    elif "run" in st.query_params:
        del st.query_params["run"]


def finished(run_id: str) -> AuditedAnswer | None:
    """The stored answer; while the run works, or when it failed, the page says so and there is none."""
    job = workbench().job(run_id)
    if job is not None and job.running:
        follow(run_id)
        return None
    answer = workbench().store.run(run_id)
    if answer is None:
        _explain(job, run_id)
    return answer


@st.fragment(run_every=POLL)
def follow(run_id: str) -> None:
    """A run at work: its stations, what has arrived, and a button to stop it; the page runs again at its end."""
    job = workbench().job(run_id)
    if job is None or not job.running:
        st.rerun()
    with st.container(border=True):
        st.html(progress_html(job.stages, job.stage, job.done, job.total))
        if job.partial:
            st.html(arriving_html(job.partial))
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption("You may leave this page: the answer will be kept." if job.stage else "Waiting for its turn")
            if st.button("Stop the run", icon=":material/stop_circle:", key=f"stop-{run_id}"):
                job.stop()
                st.rerun()


def _explain(job: Job | None, run_id: str) -> None:
    if job is None:
        st.warning(f"No answer with the id {run_id!r} is kept here. Ask again, or check the link.")
    elif job.stopped:
        st.info("The run was stopped before there was an answer.")
    elif isinstance(job.error, LitRAGError):
        st.error(label(str(job.error)))
        if isinstance(job.error, GenerationError) and job.error.partial:
            st.html(arriving_html(job.error.partial, interrupted=True))
    else:
        log.error("run %s failed", run_id, exc_info=job.error)
        st.error(f"The run failed ({type(job.error).__name__}). The server's log says why.")
    if job is not None and job.stages != INDEX_STAGES:
        st.button("Try again", icon=":material/refresh:", key=f"retry-{run_id}", on_click=workbench().retry, args=(run_id,))


def ready() -> bool:
    """Whether the session's corpus is open; opens or builds it in the background and shows how far it is."""
    # The place is always taken, so that what stands below isn't drawn anew when the progress goes.
    with st.container():
        return _ready(corpus(), workbench())


def _ready(name: str, bench: Workbench) -> bool:
    if bench.opened(name) is not None:
        return True
    job = bench.prepare(name)
    if job.running:
        _follow_index(name)
        return False
    if job.error is None and bench.opened(name) is not None:
        return True
    bench.forget(job.run_id)
    if job.error is None:
        st.rerun()
    _explain(job, job.run_id)
    st.button("Try again", icon=":material/refresh:")
    return False


@st.fragment(run_every=POLL)
def _follow_index(name: str) -> None:
    job = workbench().job(f"index:{name}")
    if job is None or not job.running:
        st.rerun()
    st.progress(min(job.done, 100), text=job.message or "Opening the corpus")


def history(page: str, kind: str, path: str) -> None:
    """Earlier answers of this kind in the sidebar, newest first."""
    runs = [run for run in workbench().store.runs(limit=200) if run.kind == kind][:HISTORY]
    if not runs:
        return
    with st.sidebar:
        st.caption("History")
        st.html(history_html(runs, page=path, current=st.session_state.get(f"{page}_run")))
        with hidden("lr-native-history"):
            for run in runs:
                st.button(f"Open {run.run_id}", key=key(run.run_id, "open", 0), on_click=show, args=(page, run.run_id))
