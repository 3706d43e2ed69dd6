"""The Calibrate page: how often is this judge wrong, which labels say so, and which profile is in force.

Everything is worked out by `litrag.recalibration`; this module lays it out. The test split is opened only by the
buttons “Calibrate” and “Compare”, and each look is counted there.
"""

from __future__ import annotations

from functools import partial

import streamlit as st

from litrag import calibration_report as said
from litrag.agreement import LABELS
from litrag.calibration import JudgeKey, LabelledItem, labels_hash, sort_out, trust
from litrag.calibration_html import (
    calibration_stylesheet,
    cell_key,
    cell_name,
    history_table,
    items_html,
    matrix_html,
    needs_html,
    tables_html,
    trust_html,
)
from litrag.errors import LitRAGError
from litrag.local_model import EntailmentModel
from litrag.profiles import Example, Profile, ProfileHistory
from litrag.rates import plan
from litrag.recalibration import (
    BOUND,
    Calibration,
    approve_examples,
    calibrate,
    calibration_of,
    compare,
    judge_keys,
    labelled_items,
    needs,
    propose_examples,
)
from litrag.reviews import Store
from litrag.ui.calibration_charts import reliability_chart, risk_coverage_chart
from litrag.ui.shell import hidden, workbench
from litrag.ui.shell import label as plain

#: Items behind a cell that are shown at a time.
SHOWN = 25

#: Events of the history that are shown.
EVENTS = 20


class Desk:
    """What the page is about: the labelled items, the judge that was chosen, and the profile in force for it."""

    def __init__(self, store: Store, history: ProfileHistory) -> None:
        self.store, self.history = store, history
        self.items = labelled_items(store)
        self.keys = judge_keys(self.items)
        names = [key.name for key in self.keys]
        wanted = st.session_state.get("calibrate_judge")
        self.key: JudgeKey | None = self.keys[names.index(wanted) if wanted in names else 0] if self.keys else None
        self.sorted = sort_out(self.items, self.key) if self.key else None
        self.profile: Profile | None = history.active(self.key) if self.key else None
        self.found: Calibration | None = calibration_of(history, self.profile) if self.profile else None


def open_desk(store: Store, history: ProfileHistory) -> Desk:
    """The desk, and the page's own look."""
    st.html(f"<style>{calibration_stylesheet()}</style>")
    return Desk(store, history)


def trust_view(desk: Desk) -> None:
    """How much can I trust this? In two sentences, and whether they are still about the judge in use."""
    st.subheader("How much can I trust this?", anchor=False)
    st.html(trust_html(desk.found.trust if desk.found else trust(None)))
    current = getattr(workbench().judge(), "key", None)
    if desk.key is not None and current is not None and desk.key.judge == current.judge and desk.key != current and (
        desk.profile is None or desk.profile.judge != current
    ):
        st.warning(
            f"The judge in use is {plain(current.name)}; these labels measure {plain(desk.key.name)}. Score the labelled "
            "items with the judge in use, then calibrate it.", icon=":material/update:",
        )
    if desk.found and desk.sorted and labels_hash(desk.sorted.pairs) != desk.found.report.labels_hash and (
        desk.found.profile.layer is None
    ):
        st.info("Labels have changed since: calibrate again.", icon=":material/update:")


def actions(desk: Desk) -> None:
    """Choice of the judge, and the button that measures it."""
    if desk.key is None:
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox("Judge", [key.name for key in desk.keys], key="calibrate_judge", format_func=str, width=380)
        bound = st.number_input(
            "At most this % shown as settled and wrong", 1, 50, round(100 * BOUND), key="calibrate_bound", width=250)
        if desk.key.judge == "local":
            st.checkbox("Also refit its last layer", key="calibrate_refit")
        st.button("Calibrate", type="primary", icon=":material/tune:", on_click=_calibrate, args=(desk, int(bound) / 100))


def _calibrate(desk: Desk, bound: float) -> None:
    if desk.key is None:
        return
    try:
        model = EntailmentModel.open() if st.session_state.get("calibrate_refit") and desk.key.judge == "local" else None
        found = calibrate(desk.store, judge=desk.key.name, history=desk.history, bound=bound, model=model)
    except LitRAGError as error:
        _complain(error)
        return
    refused = found.refit is not None and found.refit.layer is None
    more = f" The layer was not refitted: {found.refit.reason}." if refused and found.refit else ""
    st.toast(plain(f"Profile {found.profile.profile_id} is in force.{more}"), icon=":material/check:")


def labels_view(desk: Desk) -> None:
    """How many labels there are, what for, and what more of them would tell."""
    st.subheader("Labels", anchor=False)
    if desk.sorted is None:
        st.write(f"{len(desk.items)} labelled items, none of them judged yet." if desk.items else "No labels yet.")
        return
    counts, left = desk.sorted.pairs, desk.sorted.counts
    st.write(f"{len(counts)} blind labels beside a verdict of this judge. "
             + ("Left out: " + "; ".join(f"{n} {reason}" for reason, n in left.items()) + "." if left else ""))
    st.html(needs_html(needs(counts)))
    known = desk.found.profile.false_reassurance.value if desk.found else None
    rows = [("supports checked", "expected interval of the error rate"), *(
        (str(row.n), f"{100 * row.low:.1f}–{100 * row.high:.1f} %, {100 * row.width:.1f} points wide")
        for row in plan(max(0.01, 0.1 if known is None else known))
    )]
    assumed = "10 %, an assumption" if known is None else f"{100 * known:.1f} %, as measured"
    with st.expander("What more labels would tell", icon=":material/straighten:"):
        st.html(tables_html([said.Block(text=f"For a rate of {assumed}.", rows=tuple(rows))]))


def errors_view(desk: Desk) -> None:
    """Error rates, and the table of verdicts whose cells open."""
    if desk.found is None or desk.key is None or desk.sorted is None:
        return
    st.subheader("Errors", anchor=False)
    st.html(tables_html([block._replace(title="") for block in said.errors(desk.found)]))
    opened = st.session_state.get("calibrate_cell")
    key = desk.found.profile.judge if any(i.judgement_of(desk.found.profile.judge) for i in desk.items) else desk.key
    pairs = sort_out(desk.items, key).pairs
    st.html(matrix_html(pairs, opened))
    st.caption("All blind labels, the few-shot split included; a number opens what is behind it.")
    cells = {(pair.human, pair.judge) for pair in pairs}
    with hidden("lr-native-answer"):
        for human in LABELS:
            for judge in LABELS:
                if (human, judge) in cells:
                    st.button(f"Open {human.value} {judge.value}", key=cell_key(human, judge), on_click=_open_cell,
                              args=(cell_name(human, judge),))
    if opened:
        chosen = {pair.item_id for pair in pairs if cell_name(pair.human, pair.judge) == opened}
        _items([item for item in desk.items if item.item_id in chosen], key, opened)


def _open_cell(name: str) -> None:
    st.session_state["calibrate_cell"] = None if st.session_state.get("calibrate_cell") == name else name


def _items(chosen: list[LabelledItem], key: JudgeKey, cell: str) -> None:
    """The items behind a cell; those that the reviewer at this page has still to label are held back."""
    reviewer = st.session_state.get("reviewer")
    open_to = [i for i in chosen if reviewer is None or any(label.reviewer_id == reviewer for label in i.labels)]
    human, _, judge = cell.partition("-")
    words = said.VERDICT_WORDS
    st.markdown(f"**Reviewers: {words[human]}; judge: {words[judge]}** ({len(chosen)})")
    if len(open_to) < len(chosen):
        st.caption(f"{len(chosen) - len(open_to)} that {plain(str(reviewer))} hasn't labelled are held back: a label "
                   "given after the verdict was seen doesn't count.")
    with st.container(height=460, border=True):
        st.html(items_html(open_to[:SHOWN], key))
    if len(open_to) > SHOWN:
        st.caption(f"The first {SHOWN} of {len(open_to)}.")


def confidence_view(desk: Desk) -> None:
    """Whether its confidence means what it says."""
    if desk.found is None:
        return
    st.subheader("Confidence", anchor=False)
    dark = st.context.theme.type == "dark"
    left, right = st.columns(2, gap="medium")
    with left:
        st.altair_chart(reliability_chart(desk.found.reliability_before, desk.found.reliability_after, dark=dark), theme=None)
    with right:
        st.altair_chart(risk_coverage_chart(desk.found.risk_coverage, desk.found.profile.show_supports.bound, dark=dark),
                        theme=None)
    st.html(tables_html([block._replace(title="") for block in said.confidence(desk.found)]))


def agreement_view(desk: Desk) -> None:
    """Coefficients, reviewers among each other, anchoring, and the claims nobody labelled."""
    if desk.found is None:
        return
    st.subheader("Agreement", anchor=False)
    st.html(tables_html(said.people(desk.found)))
    with st.expander("All measures", icon=":material/functions:"):
        st.html(tables_html(said.measures(desk.found)))
    with st.expander("Claims nobody labelled", icon=":material/calculate:"):
        st.html(tables_html(said.unlabelled(desk.found)[:1]))


# --- comparing
def compare_view(desk: Desk) -> None:
    """Two judges on the same labelled test items."""
    st.subheader("Compare judges", anchor=False)
    names = [key.name for key in desk.keys]
    if len(names) < 2:
        st.caption("Score the labelled items with a second judge first.")
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        old = st.selectbox("In use", names, key="compare_old", format_func=str, width=320)
        new = st.selectbox("Candidate", names, index=1, key="compare_new", format_func=str, width=320)
        if st.button("Compare", icon=":material/compare_arrows:"):
            st.session_state["compared"] = [old, new]
    if st.session_state.get("compared") != [old, new]:
        return
    try:
        found = compare(desk.store, str(old), str(new), history=desk.history)
    except LitRAGError as error:
        st.error(plain(str(error)))
        return
    st.html(tables_html(said.comparison(found)))
    if found.flips:
        claims = {item.item_id: item.claim for item in desk.items}
        words = said.VERDICT_WORDS
        with st.expander(f"The {len(found.flips)} that differ", icon=":material/swap_horiz:"):
            st.dataframe([
                {"claim": claims[f.item_id], "reviewers": words[f.human], "old": words[f.old], "new": words[f.new],
                 "better": "yes" if f.better else "no"} for f in found.flips
            ], hide_index=True)


# --- history
def history_view(desk: Desk) -> None:
    """What happened to this judge's profiles, with the way back."""
    if desk.key is None:
        return
    entries = desk.history.entries(desk.key)[::-1][:EVENTS]
    if not entries:
        return
    st.subheader("Profiles", anchor=False)
    profiles = [desk.history.get(entry.profile_id) if entry.profile_id else None for entry in entries]
    st.html(history_table(entries, profiles))
    others = list(dict.fromkeys(p.profile_id for p in profiles if p and p.profile_id != getattr(desk.profile, "profile_id", "")))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if desk.profile is not None:
            st.button("Roll back", icon=":material/undo:", on_click=_roll_back, args=(desk,))
        if others:
            wanted = st.selectbox("Earlier profile", others, key="calibrate_profile", format_func=str, width=220)
            st.button("Put in force", icon=":material/publish:", on_click=_put_in_force, args=(desk, str(wanted)))


def _roll_back(desk: Desk) -> None:
    if desk.key is None:
        return
    try:
        profile = desk.history.roll_back(desk.key)
    except LitRAGError as error:
        _complain(error)
        return
    st.toast(f"Profile {profile.profile_id} is in force again" if profile else "The judge is uncalibrated again",
             icon=":material/undo:")


def _put_in_force(desk: Desk, profile_id: str) -> None:
    try:
        desk.history.put_in_force(profile_id)
    except LitRAGError as error:
        _complain(error)


def examples_view(desk: Desk) -> None:
    """Overruled items of the few-shot split, proposed as examples for a language model's prompt."""
    if desk.key is None or ":" not in desk.key.judge or desk.profile is None:
        return
    proposed = propose_examples(desk.store, desk.key)
    if not proposed:
        return
    with st.expander("Examples for this judge's prompt", icon=":material/school:"):
        words = said.VERDICT_WORDS
        chosen = [example for place, example in enumerate(proposed) if st.checkbox(plain(
            f"{example.claim} (reviewers: {words[example.verdict.value]}, judge: {words[example.judged.value]})"
        ), key=f"example-{place}")]
        st.button("Approve these", icon=":material/check:", disabled=not chosen,
                  on_click=_approve, args=(desk, desk.profile, chosen))


def _approve(desk: Desk, profile: Profile, chosen: list[Example]) -> None:
    approve_examples(desk.history, profile, chosen)


def report_view(desk: Desk) -> None:
    """The report as files."""
    if desk.found is None:
        return
    st.subheader("Report", anchor=False)
    st.html(tables_html([block._replace(title="") for block in said.provenance(desk.found)]))
    name = f"litrag-calibration-{desk.found.profile.profile_id}"
    with st.container(horizontal=True):
        st.download_button("One page (HTML)", partial(said.as_html, desk.found), f"{name}.html", "text/html",
                           on_click="ignore", icon=":material/download:")
        st.download_button("Markdown", partial(said.as_markdown, desk.found), f"{name}.md", "text/markdown",
                           on_click="ignore", icon=":material/download:")
        st.download_button("Profile (JSON)", partial(desk.found.profile.model_dump_json, indent=2), f"{name}.json",
                           "application/json", on_click="ignore", icon=":material/download:")


def _complain(error: LitRAGError) -> None:
    st.toast(plain(str(error)), icon=":material/error:", duration="long")
