"""Labels for a calibration: a labelled table from elsewhere comes in, and a judge scores the labelled items.

Scoring runs in the background and only adds judgements: labels and earlier judgements stay as they are.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Sequence

import streamlit as st

from litrag.config import settings
from litrag.errors import LitRAGError
from litrag.foreign_labels import NEEDED, Mapped, import_foreign
from litrag.label_import import Outcome, TableRow, read_table
from litrag.llm.choice import Choice
from litrag.models import Judge, Verdict
from litrag.recalibration import rescore
from litrag.reviews import Store
from litrag.stylesheet import PALETTE
from litrag.ui.shell import label as plain
from litrag.ui.shell import workbench
from litrag.ui.workbench import Job

log = logging.getLogger(__name__)

POLL = 0.5

#: Our field → what it is called here, and words by which a column is guessed.
_FIELDS = {
    "claim_text": ("Claim", ("claim_text", "claim", "statement", "sentence")),
    "passage_text": ("Source text", ("passage_text", "passage", "abstract", "evidence", "source", "text", "context")),
    "human_verdict": ("Reviewer's label", ("human_verdict_blind", "human_verdict", "label", "verdict", "gold", "answer")),
    "question": ("Question", ("question", "query", "topic")),
    "quote_text": ("Quote", ("quote_text", "quote")),
    "reviewer_id": ("Reviewer", ("reviewer_id", "reviewer", "annotator", "rater")),
}

#: Foreign words for a label that are offered a meaning of their own.
_MOST_WORDS = 12

_NONE = "(none)"


def labels_in(store: Store) -> None:
    """Import of a labelled table, and scoring."""
    with st.expander("Import a labelled table", icon=":material/upload_file:"):
        _import_form(store)
    _scoring(store)


# --- import
def _import_form(store: Store) -> None:
    file = st.file_uploader("CSV or XLSX with claims, source texts and reviewers' labels", type=["csv", "xlsx"],
                            key="calibrate_file")
    if file is None:
        return
    try:
        rows = read_table(file.getvalue(), file.name)
    except LitRAGError as error:
        st.error(plain(str(error)))
        return
    if not rows:
        st.error("The table has no rows.")
        return
    columns = _columns(list(rows[0].cells))
    meanings = _meanings(rows, columns.get("human_verdict"))
    blind = st.checkbox("The reviewers saw no verdict before they labelled", key="calibrate_blind",
                        help="Only blind labels calibrate a judge: who has seen a verdict leans towards it.")
    if any(field not in columns for field in NEEDED):
        st.caption("Say which columns hold the claim, the source text and the label.")
        return
    mapped = Mapped(columns=columns, values=meanings, blind=bool(blind))
    try:
        outcome = import_foreign(store, rows, mapped, dry_run=True)
    except LitRAGError as error:
        st.error(plain(str(error)))
        return
    _preview(outcome)
    st.button("Import the labels", type="primary", icon=":material/upload:", disabled=bool(outcome.problems),
              on_click=_import, args=(store, rows, mapped))


def _columns(names: list[str]) -> dict[str, str]:
    """Which column holds which field; guessed by name."""
    chosen = {}
    folded = {name.casefold().strip().replace(" ", "_"): name for name in names}
    with st.container(horizontal=True):
        for field, (title, words) in _FIELDS.items():
            guess = next((folded[word] for word in words if word in folded), _NONE)
            options = [_NONE, *names]
            found = st.selectbox(title, options, index=options.index(guess), key=f"map-{field}", format_func=str, width=180)
            if found and found != _NONE:
                chosen[field] = str(found)
    return chosen


def _meanings(rows: Sequence[TableRow], column: str | None) -> dict[str, Verdict]:
    """What labels that aren't ours mean."""
    said = dict.fromkeys(row.cells.get(column, "").strip() for row in rows) if column else {}
    ours = {verdict.value for verdict in Verdict}
    foreign = [word for word in said if word and "_".join(word.casefold().split()) not in ours][:_MOST_WORDS]
    if not foreign:
        return {}
    found = {}
    with st.container(horizontal=True):
        for place, word in enumerate(foreign):
            meaning = st.selectbox(plain(f"“{word}” means"), list(Verdict), index=None, key=f"meaning-{place}", width=200,
                                   format_func=lambda v: PALETTE[v].word)
            if meaning:
                found[word] = Verdict(meaning)
    return found


def _preview(outcome: Outcome) -> None:
    st.write(f"{len(outcome.changes)} labels, {len(outcome.problems)} rows with a problem")
    if outcome.problems:
        st.dataframe([problem.model_dump() for problem in outcome.problems[:50]], hide_index=True)
        st.caption("Nothing is imported while a row has a problem.")


def _import(store: Store, rows: Sequence[TableRow], mapped: Mapped) -> None:
    try:
        outcome = import_foreign(store, rows, mapped)
    except LitRAGError as error:
        st.toast(plain(str(error)), icon=":material/error:", duration="long")
        return
    st.toast(f"{len(outcome.changes)} labels imported", icon=":material/check:")
    _start(store, settings().judge)


# --- scoring
def _scoring(store: Store) -> None:
    job_id = st.session_state.get("scoring")
    job = workbench().job(str(job_id)) if job_id else None
    if job is not None and job.running:
        _follow(str(job_id))
        return
    if job is not None and job.error is not None and not job.stopped:
        _explain(job)
    known = list(dict.fromkeys([settings().judge, "local", "checks"]))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        spec = st.selectbox(
            "Score the labelled items with", known, key="score_judge", format_func=str, accept_new_options=True, width=320,
            help="local, checks, hf:<id> or <provider>:<model>; a provider's model is sent the claims and source texts.",
        )
        st.button("Score", icon=":material/gavel:", on_click=_start, args=(store, str(spec)), disabled=not spec)


def _start(store: Store, spec: str) -> None:
    """Let a judge judge what it hasn't judged, in the background."""
    job_id = f"score-{uuid.uuid4().hex[:12]}"
    configured = Choice.configured(settings())

    def work(job: Job) -> None:
        judge: Judge = workbench_judge(Choice(configured.generator, spec, configured.offline))
        rescore(store, judge, progress=job.report)

    workbench_judge = workbench().judge
    workbench().start(job_id, ("judging",), work)
    st.session_state["scoring"] = job_id


@st.fragment(run_every=POLL)
def _follow(job_id: str) -> None:
    job = workbench().job(job_id)
    if job is None or not job.running:
        st.rerun()
    share = job.done / job.total if job.total else 0.0
    st.progress(share, text=f"Scoring: {job.done} of {job.total} labelled items" if job.total else "Opening the judge")
    if st.button("Stop", icon=":material/stop_circle:", key=f"stop-{job_id}"):
        job.stop()
        st.rerun()


def _explain(job: Job) -> None:
    if isinstance(job.error, LitRAGError):
        st.error(plain(str(job.error)))
        return
    log.error("scoring failed", exc_info=job.error)
    st.error(f"Scoring failed ({type(job.error).__name__}). The server's log says why.")
