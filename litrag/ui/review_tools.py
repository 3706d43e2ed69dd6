"""Below the item: agreement of reviewers, and for adjudicators samples, export and import.

Exports show the judge's verdicts, which would end blindness; so they are for adjudicators.
"""

from __future__ import annotations

from functools import partial

import streamlit as st

from litrag.errors import LitRAGError
from litrag.exchange import FILE_NAMES, Format, changes_in_words, export_lines
from litrag.label_import import Outcome, import_labels, read_table
from litrag.labels import Reviewer
from litrag.queues import TOO_FEW, View, count, reviewer_agreement, send_sample
from litrag.reviews import Store
from litrag.ui.review import counted
from litrag.ui.shell import label as plain

_WORDS = {
    Format.CSV: "Labels (CSV)", Format.EVENTS: "Full event log (JSONL)", Format.LABEL_STUDIO: "Label Studio (JSON)",
    Format.ARGILLA: "Argilla records (JSONL)",
}


def review_tools(store: Store, reviewer: Reviewer) -> None:
    """What is done with labels rather than to them; each part is worked out only while it is open."""
    agreement = st.expander("Agreement of reviewers", icon=":material/group:", key="tools-agreement", on_change="rerun")
    if agreement.open:
        with agreement:
            _agreement(store, reviewer)
    if not reviewer.adjudicates:
        st.caption("Samples, export and import are for adjudicators, since they show the judge's verdicts.")
        return
    tools = st.expander("Sample, export, import", icon=":material/import_export:", key="tools-files", on_change="rerun")
    if tools.open:
        with tools:
            _sample(store)
            _exports(store)
            _imports(store, reviewer)


def _agreement(store: Store, reviewer: Reviewer) -> None:
    found = reviewer_agreement(store)
    if not found:
        st.write("No item has blind labels of two reviewers yet.")
    for name, figure in found:
        st.text(f"{name}: {figure.as_number()}" + (f"; too few (below {TOO_FEW})" if figure.n < TOO_FEW else ""))
    waiting = count(store, reviewer.reviewer_id, View.DISAGREEMENTS)
    st.caption(f"Blind labels only. {waiting} disagreement{'s' if waiting != 1 else ''} wait for adjudication.")


# --- sample
def _sample(store: Store) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        size = st.number_input("Claims to draw from stored answers", 1, 10_000, 50, key="sample-size", width=240)
        seed = st.number_input("Seed", 0, 2**31 - 1, 1, key="sample-seed", width=120)
        needed = st.number_input("Reviewers per item", 1, 20, 2, key="sample-needed", width=150)
        st.button("Draw", icon=":material/casino:", on_click=_draw, args=(store, int(size), int(seed), int(needed)))
    st.caption("Half uniformly, for rates; half by uncertainty and rare verdicts, to find errors.")


def _draw(store: Store, size: int, seed: int, needed: int) -> None:
    try:
        queued = send_sample(store, size, seed=seed, needed=needed)
    except LitRAGError as error:
        st.toast(plain(str(error)), icon=":material/error:")
        return
    counted.clear()
    st.toast(f"{queued} item{'s' if queued != 1 else ''} queued", icon=":material/casino:")


# --- export and import
def _exports(store: Store) -> None:
    bom = st.checkbox(
        "CSV for Excel (with a byte-order mark)", key="export-bom", help="Without it older Excel garbles µ, β and accents.",
    )
    if changed := _changed(store):
        st.warning(changed, icon=":material/update:")
    with st.container(horizontal=True):
        for wanted in Format:
            st.download_button(
                _WORDS[wanted], partial(_content, store, wanted, bom), FILE_NAMES[wanted], on_click="ignore",
                key=f"export-{wanted}", icon=":material/download:",
            )


@st.cache_data(ttl=60, max_entries=10, show_spinner=False)
def _changed(_store: Store) -> str:
    """Which items cite a changed source, looked up at most once a minute."""
    return changes_in_words(_store)


def _content(store: Store, wanted: Format, bom: bool) -> bytes:
    return b"".join(line.encode() for line in export_lines(store, wanted, bom=bom))


def _imports(store: Store, reviewer: Reviewer) -> None:
    file = st.file_uploader("Import an edited export", type=["csv", "xlsx"], key="import-file")
    if file is None:
        return
    try:
        rows = read_table(file.getvalue(), file.name)
        outcome = import_labels(store, rows, adjudicator=reviewer.reviewer_id, dry_run=True)
    except LitRAGError as error:
        st.error(plain(str(error)))
        return
    _preview(outcome)
    if outcome.changes and not outcome.problems:
        st.button("Import these changes", type="primary", on_click=_import, args=(store, reviewer))


def _preview(outcome: Outcome) -> None:
    st.write(f"{len(outcome.changes)} changed, {outcome.unchanged} unchanged, {len(outcome.problems)} with a problem")
    if outcome.problems:
        st.dataframe([problem.model_dump() for problem in outcome.problems], hide_index=True)
        st.caption("Nothing is imported while a row has a problem.")
    if outcome.changes:
        st.dataframe([change.model_dump() for change in outcome.changes], hide_index=True)
    for note in outcome.notes:
        st.caption(plain(note))


def _import(store: Store, reviewer: Reviewer) -> None:
    file = st.session_state["import-file"]
    try:
        outcome = import_labels(store, read_table(file.getvalue(), file.name), adjudicator=reviewer.reviewer_id)
    except LitRAGError as error:
        st.toast(plain(str(error)), icon=":material/error:")
        return
    counted.clear()
    words = f"{len(outcome.changes)} labels imported" if outcome.saved else "Nothing was imported: see the problems"
    st.toast(words, icon=":material/upload:")
