"""The Review page: one claim on the screen, labelled blind, then compared with the judge. Every action saves at once.

Nothing of the judge is fetched from the store before the label is saved (`Store.reveal`), except in assisted mode,
which says so and marks the label as not blind. Session state holds ids and times only.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from litrag.errors import LitRAGError
from litrag.labels import Confidence, Item, Kind, Label, Reason, Reviewer, Status
from litrag.models import Judgement, Verdict
from litrag.queues import Progress, View, next_item, progress
from litrag.review_html import (
    MEANINGS,
    REASON_WORDS,
    claim_html,
    labels_html,
    reveal_html,
    review_stylesheet,
    source_html,
)
from litrag.reviews import Action, Store
from litrag.stylesheet import PALETTE
from litrag.ui.shell import label as plain
from litrag.ui.shell import workbench

ICONS = {
    Verdict.SUPPORTS: "check_circle", Verdict.PARTIAL: "contrast", Verdict.CONTRADICTS: "cancel",
    Verdict.NOT_FOUND: "search_off", Verdict.HALLUCINATED_QUOTE: "format_quote",
}

_ITEM, _OPENED = "review_item", "review_opened"


def review_view(store: Store, reviewer: Reviewer) -> None:
    """Controls, and the item at hand or what to do when there is none."""
    st.html(f"<style>{review_stylesheet()}</style>")
    # Our own file, never anything from a model, a source or a reviewer.
    st.html(f"<script>{Path(__file__).with_name('review.js').read_text('utf-8')}</script>", unsafe_allow_javascript=True)
    view, assisted = _controls(store, reviewer)
    item = _item_at_hand(store, reviewer, view)
    if item is None:
        _nothing_left(view)
        return
    _Screen(store, reviewer, item, view).show(assisted=assisted)


def _controls(store: Store, reviewer: Reviewer) -> tuple[View, bool]:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        view = st.selectbox(
            "Queue", list(View), key="review_view", format_func=str.capitalize, width=230,
            persist_state="session", on_change=_let_go,
        )
        assisted = st.toggle(
            "Assisted: show the judge first", key="review_assisted", persist_state="session",
            help="The label is then marked as not blind and doesn't calibrate the judge.",
        )
        _progress(store, reviewer)
    return View(view or View.UNREVIEWED), bool(assisted)


def _progress(store: Store, reviewer: Reviewer) -> None:
    found = progress(store, reviewer.reviewer_id, earlier=counted(store, reviewer.reviewer_id))
    todo = found.labelled + found.left
    pace = f", {found.pace:.0f} an hour" if found.pace else ""
    words = f"{found.labelled} labelled, {found.left} to go{pace}"
    st.progress(found.labelled / todo if todo else 0.0, text=words, width=300)


@st.cache_data(ttl=60, max_entries=500, show_spinner=False)
def counted(_store: Store, reviewer_id: str) -> Progress:
    """The queue counted in full, at most once a minute; clear it where items are added."""
    return progress(_store, reviewer_id)


def _let_go() -> None:
    """Forget the item at hand: another queue begins at its top."""
    st.session_state.pop(_ITEM, None)
    st.query_params.pop("item", None)


def _item_at_hand(store: Store, reviewer: Reviewer, view: View) -> Item | None:
    """The item of the link, else the one on the screen, else the first of the queue."""
    wanted = st.query_params.get("item") or st.session_state.get(_ITEM)
    item = store.item(wanted) if wanted else None
    if wanted and item is None:
        st.warning(f"There is no item {wanted!r} in this store; the queue goes on.")
    item = item or next_item(store, reviewer.reviewer_id, view)
    _open(item)
    return item


def _open(item: Item | None) -> None:
    if item is None:
        _let_go()
        return
    if st.session_state.get(_ITEM) != item.item_id or _OPENED not in st.session_state:
        st.session_state[_OPENED] = time.time()
    st.session_state[_ITEM] = item.item_id
    st.query_params["item"] = item.item_id


def _nothing_left(view: View) -> None:
    if view is View.UNREVIEWED:
        st.success("Nothing is left for you to review.", icon=":material/done_all:")
        st.caption("Send claims to review on the Ask and Verify pages, or draw a sample below.")
    else:
        st.info(f"No item in the queue “{view}”.")


class _Screen:
    """One item in front of one reviewer."""

    def __init__(self, store: Store, reviewer: Reviewer, item: Item, view: View) -> None:
        self.store, self.reviewer, self.item, self.view = store, reviewer, item, view
        self.label = store.label(item.item_id, reviewer.reviewer_id)
        self.adjudicating = view is View.DISAGREEMENTS and reviewer.adjudicates

    def show(self, *, assisted: bool) -> None:
        st.html(claim_html(self.item))
        source, controls = st.columns([3, 2], gap="medium")
        with source:
            st.html(source_html(self.item, workbench().change_of(self.item)))
        with controls:
            if self.adjudicating:
                self._adjudicate()
            else:
                self._label(assisted)

    # -- labelling
    def _label(self, assisted: bool) -> None:
        judgement = self._judgement(assisted)
        if self.label.verdict is None:
            self._verdicts()
            self._steps()
        else:
            # What comes next stands first once the label is given, so that it doesn't move below the fold.
            self._steps()
            if self.label.reason_code or (judgement and judgement.verdict not in (None, self.label.verdict)):
                self._reason()
            self._verdicts()
        self._remarks()

    def _judgement(self, assisted: bool) -> Judgement | None:
        """The judge's word, shown and returned: after the label is saved, or before it in assisted mode."""
        if self.label.verdict is None and not assisted:
            return None
        judgement = self.store.reveal(self.item.item_id, self.reviewer.reviewer_id)
        self.label = self.store.label(self.item.item_id, self.reviewer.reviewer_id)
        st.html(reveal_html(self.label, judgement))
        if self.label.verdict is None:
            st.caption("Assisted: this label will not count as blind.")
        gold = self.store.gold(self.item.item_id) if self.label.verdict is not None else None
        if gold is not None:
            st.caption(f"Adjudicated: {PALETTE[gold].word}")
        return judgement

    def _verdicts(self) -> None:
        """The five labels on keys 1–5: the first one labels, a later one revises."""
        kind = Kind.LABEL if self.label.verdict is None else Kind.REVISE
        st.caption("Does the text bear out the claim?" if kind is Kind.LABEL else "Revise your label")
        with st.container(gap="xsmall"):
            for number, verdict in enumerate(Verdict, start=1):
                self._button(
                    PALETTE[verdict].word, kind, str(number), verdict=verdict, icon=f":material/{ICONS[verdict]}:",
                    help=MEANINGS[verdict], width="stretch", disabled=verdict == self.label.verdict,
                )

    def _reason(self) -> None:
        st.pills(
            "Why it differs from the judge", list(Reason), key=self._key("reason"), format_func=REASON_WORDS.__getitem__,
            default=self.label.reason_code, on_change=self._annotate, wrap=True,
        )

    def _remarks(self) -> None:
        st.segmented_control(
            "Your confidence", list(Confidence), key=self._key("confidence"), format_func=str.capitalize,
            default=self.label.confidence, on_change=self._annotate,
        )
        st.text_area(
            "Comment", self.label.comment, key=self._key("comment"), height=68, max_chars=8_000,
            on_change=self._annotate,
        )

    def _annotate(self) -> None:
        """Save confidence, reason and comment; before the label is given they wait for it."""
        if self.label.verdict is not None:
            self._do(Kind.ANNOTATE, **self._said())

    def _said(self) -> dict[str, object]:
        state = st.session_state
        return {
            "confidence": state.get(self._key("confidence")), "comment": state.get(self._key("comment"), ""),
            "reason_code": state.get(self._key("reason"), self.label.reason_code),
        }

    # -- adjudicating
    def _adjudicate(self) -> None:
        st.html(labels_html(self.store.labels(self.item.item_id)))
        gold = self.store.gold(self.item.item_id)
        st.caption(f"Gold label: {PALETTE[gold].word}. A new one replaces it." if gold else "Give the gold label")
        with st.container(gap="xsmall"):
            for number, verdict in enumerate(Verdict, start=1):
                st.button(
                    PALETTE[verdict].word, key=self._key(f"gold-{verdict}-{gold}"), shortcut=str(number), width="stretch",
                    icon=f":material/{ICONS[verdict]}:", help=MEANINGS[verdict], on_click=self._give_gold,
                    args=(verdict, gold), disabled=verdict == gold,
                )
        self._steps()
        st.text_area("Comment", key=self._key("gold-comment"), height=68, max_chars=8_000)

    def _give_gold(self, verdict: Verdict, before: Verdict | None) -> None:
        said = st.session_state.get(self._key("gold-comment"), "")
        try:
            self.store.adjudicate(
                self.item.item_id, self.reviewer.reviewer_id, verdict, comment=said,
                key=f"gold:{self.item.item_id}:{self.reviewer.reviewer_id}:{before}:{verdict}:{_opened()}",
            )
        except LitRAGError as error:
            _complain(error)

    # -- the other keys
    def _steps(self) -> None:
        labelled = self.label.verdict is not None
        with st.container(horizontal=True, gap="xsmall"):
            if self.label.status is Status.LABELLED and not self.adjudicating:
                self._button("Keep", Kind.KEEP, "K", icon=":material/check:", help="Keep your label after seeing the judge's.")
            st.button("Next", key=self._key("next"), shortcut="N", icon=":material/arrow_forward:", on_click=self._next)
            st.button("Undo", key=self._key("undo"), shortcut="U", icon=":material/undo:", on_click=self._undo)
            if not labelled and not self.adjudicating:
                self._button("Skip", Kind.SKIP, "S", icon=":material/skip_next:", then=self._next)
            self._flag()
            with st.container(key="review-help", width="content"):
                st.button("Help", key=self._key("help"), icon=":material/keyboard:", on_click=_help, help="Key: ?")

    def _flag(self) -> None:
        kind = Kind.UNFLAG if self.label.flagged else Kind.FLAG
        words = "Flagged" if self.label.flagged else "Flag"
        self._button(words, kind, "F", icon=":material/flag:", help="Needs discussion")

    def _undo(self) -> None:
        """Take back this reviewer's latest action, and show its item."""
        last = self.store.last_action(self.reviewer.reviewer_id)
        if last is None:
            st.toast("There is nothing to undo.", icon=":material/undo:")
            return
        try:
            after = self.store.act(last.item_id, last.reviewer_id, Action(
                kind=Kind.UNDO, undoes=last.revision, key=f"{last.item_id}:{last.reviewer_id}:undo:{last.revision}",
            ))
        except LitRAGError as error:
            _complain(error)
            return
        self._reset_remarks(last.item_id, after)
        _open(self.store.item(last.item_id))
        st.toast(f"Taken back: {last.kind}", icon=":material/undo:")

    def _reset_remarks(self, item_id: str, after: Label) -> None:
        for name, value in (
            ("confidence", after.confidence), ("comment", after.comment), ("reason", after.reason_code),
        ):
            st.session_state[f"review-{name}-{item_id}-{self.reviewer.reviewer_id}"] = value

    def _next(self) -> None:
        st.session_state.pop(_OPENED, None)
        item = next_item(self.store, self.reviewer.reviewer_id, self.view, after=self.item.seq)
        if item is not None and item.item_id == self.item.item_id:
            st.toast("This is the only item left in this queue.")
        _open(item)

    # -- saving
    def _key(self, name: str) -> str:
        """Keys derive from the item and the reviewer, never from text."""
        return f"review-{name}-{self.item.item_id}-{self.reviewer.reviewer_id}"

    def _button(
        self, words: str, kind: Kind, shortcut: str, *, verdict: Verdict | None = None,
        then: Callable[[], None] | None = None, **look: Any,
    ) -> None:
        """A button that saves one action. Its key holds the revision, so that a second click on it does nothing."""
        st.button(
            words, key=self._key(f"{kind}-{verdict or ''}-{self.label.revision}"), shortcut=shortcut,
            on_click=partial(self._press, kind, verdict, then), **look,
        )

    def _press(self, kind: Kind, verdict: Verdict | None, then: Callable[[], None] | None) -> None:
        said = self._said() if kind in (Kind.LABEL, Kind.REVISE) else {}
        if self._do(kind, verdict=verdict, **said) and then is not None:
            then()

    def _do(self, kind: Kind, **fields: object) -> bool:
        """Save an action that was offered at the revision on the screen; says whether it was."""
        revision = self.label.revision
        verdict = fields.get("verdict") or ""
        key = f"{self.item.item_id}:{self.reviewer.reviewer_id}:{revision}:{kind}:{verdict}"
        action = Action.model_validate(fields | {
            "kind": kind, "blind": kind is Kind.LABEL, "expected": revision, "key": key, "seconds": _seconds(),
        })
        try:
            self.store.act(self.item.item_id, self.reviewer.reviewer_id, action)
        except LitRAGError as error:
            _complain(error)
            return False
        st.session_state[_OPENED] = time.time()
        return True


def _opened() -> float:
    return float(st.session_state.get(_OPENED, 0.0))


def _seconds() -> float:
    """Seconds since the item was opened or last acted on."""
    return max(0.0, time.time() - (_opened() or time.time()))


def _complain(error: LitRAGError) -> None:
    st.toast(plain(str(error)), icon=":material/error:")


@st.dialog("Keys and labels")
def _help() -> None:
    for number, verdict in enumerate(Verdict, start=1):
        st.markdown(f"**{number}** {PALETTE[verdict].word}: {MEANINGS[verdict]}")
    st.markdown(
        "**K** keep your label after seeing the judge's, **1–5** revise it  \n**U** undo your last action  \n**S** skip  \n"
        "**N** next  \n**F** flag for discussion  \n**Esc** leave the comment, so that keys work again  \n**?** this help"
    )
    st.caption("Judge by the text alone. You see the judge's verdict once your label is saved.")
