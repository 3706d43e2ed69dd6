"""Who reviews: a pseudonym picked from a list, or, with `[auth]` in the secrets, the person who signed in.

The page only finds out who it is; what that person may do is checked by the store in every call.
"""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st
from streamlit.errors import StreamlitSecretNotFoundError

from litrag.errors import LitRAGError
from litrag.labels import Reviewer, Role
from litrag.reviews import Store
from litrag.ui.shell import label


def current_reviewer(store: Store) -> Reviewer | None:
    """The person at this page, or None while nobody is chosen or signed in; the page then says what to do."""
    secrets = _secrets()
    if "auth" in secrets:
        return _signed_in(store, allowed_people(secrets.get("review", {})))
    return _picked(store)


def may_calibrate(store: Store) -> bool:
    """Whether the person at this page may see the judge's verdicts of labelled items and put profiles in force.

    Without sign-in everybody at this machine may; with it, adjudicators. Otherwise the page says what to do.
    """
    if "auth" not in _secrets():
        return True
    person = current_reviewer(store)
    if person is not None and not person.adjudicates:
        st.info("Calibrating is for adjudicators, since it shows the judge's verdicts.", icon=":material/lock:")
    return person is not None and person.adjudicates


def _secrets() -> Mapping[str, Mapping[str, object]]:
    try:
        return {name: st.secrets[name] for name in ("auth", "review") if name in st.secrets}
    except StreamlitSecretNotFoundError:
        return {}


def allowed_people(listed: Mapping[str, object]) -> dict[str, Role]:
    """E-mail → role from the `[review]` section: its lists `reviewers` and `adjudicators`."""
    found: dict[str, Role] = {}
    for name, role in (("reviewers", Role.REVIEWER), ("adjudicators", Role.ADJUDICATOR)):
        emails = listed.get(name, ())
        found |= {str(email): role for email in emails} if isinstance(emails, list | tuple) else {}
    return found


def _signed_in(store: Store, allowed: Mapping[str, Role]) -> Reviewer | None:
    if not st.user.is_logged_in:
        st.info("Reviewing needs a sign-in.", icon=":material/lock:")
        st.button("Sign in", type="primary", on_click=st.login)
        return None
    try:
        store.admit(allowed)
        return store.signed_in(verified_email(st.user.to_dict()))
    except LitRAGError as error:
        st.error(str(error))
        return None
    finally:
        with st.sidebar:
            st.button("Sign out", icon=":material/logout:", on_click=st.logout)


def verified_email(claims: Mapping[str, object]) -> str:
    """The e-mail of an identity; refused when the provider says that it wasn't verified."""
    email = claims.get("email")
    if not isinstance(email, str) or claims.get("email_verified") is False:
        raise LitRAGError(f"your sign-in carries no verified e-mail (got {email!r}): ask your identity provider")
    return email


def _picked(store: Store) -> Reviewer | None:
    people = {p.reviewer_id: p for p in store.reviewers() if p.active and p.login is None}
    if not people:
        _newcomer(store, first=True)
        return None
    if st.session_state.get("reviewer") not in people:
        # On a phone the sidebar is closed: whoever must choose first chooses on the page.
        st.selectbox(
            "Reviewer", list(people), key="choose_reviewer", index=None, placeholder="Choose your pseudonym",
            format_func=str, on_change=_choose, width=420,
        )
        with st.popover("New reviewer", icon=":material/person_add:"):
            _newcomer(store, first=False)
        return None
    with st.sidebar:
        name = st.selectbox("Reviewer", list(people), key="reviewer", format_func=str, persist_state="session")
        with st.popover("New reviewer", icon=":material/person_add:"):
            _newcomer(store, first=False)
    return people.get(str(name))


def _choose() -> None:
    st.session_state["reviewer"] = st.session_state["choose_reviewer"]


def _newcomer(store: Store, *, first: bool) -> None:
    """A form for a new pseudonym."""
    if first:
        st.write("Labels are stored under a pseudonym. Choose one to begin.")
    with st.form("newcomer", border=False, width=420):
        st.text_input("Pseudonym", key="new_reviewer", max_chars=60, placeholder="For example: Reviewer A")
        st.checkbox("May also adjudicate, import and export", value=first, key="new_adjudicates")
        st.form_submit_button("Begin", type="primary", on_click=_add, args=(store,))


def _add(store: Store) -> None:
    role = Role.ADJUDICATOR if st.session_state["new_adjudicates"] else Role.REVIEWER
    try:
        person = store.add_reviewer(st.session_state["new_reviewer"], role)
    except LitRAGError as error:
        st.toast(label(str(error)), icon=":material/error:")
        return
    st.session_state["reviewer"] = person.reviewer_id
