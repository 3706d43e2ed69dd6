"""Settings in the sidebar: who writes, who judges, what leaves the machine, a test of the connection.

Choices hold for the session; what is to last is set in the environment or `.env`. Keys are never asked for, shown
or put into the session: the page only says whether one is set.
"""

from __future__ import annotations

import streamlit as st

from litrag.config import settings
from litrag.errors import LitRAGError
from litrag.llm.choice import Choice
from litrag.llm.probe import probe
from litrag.llm.specs import endpoint
from litrag.ui.shell import label

#: Providers by the word that begins a model's name.
WRITERS = {
    "extractive": "None: quote the sources", "anthropic": "Claude", "anthropic-citations": "Claude with its own citations",
    "openai": "OpenAI", "server": "A server of your own",
}
JUDGES = {
    "local": "Local (no key)", "checks": "Code only", "anthropic": "Claude", "openai": "OpenAI",
    "server": "A server of your own", "other": "As written below",
}
SUGGESTED = {"anthropic": "claude-sonnet-4-6", "anthropic-citations": "claude-sonnet-4-6", "openai": "gpt-6.1-sol"}


def chosen() -> Choice:
    """What this session uses: its own choice, else what is configured."""
    configured = Choice.configured(settings())
    return Choice(
        generator=str(st.session_state.get("chosen_generator") or configured.generator),
        judge=str(st.session_state.get("chosen_judge") or configured.judge),
        offline=bool(st.session_state.get("chosen_offline", configured.offline)) or configured.offline,
    )


def settings_panel() -> None:
    """The panel; what was chosen is in effect for the session's next run."""
    now = chosen()
    with st.popover("Models and privacy", icon=":material/tune:", width="stretch"):
        st.toggle("Offline: refuse every call to a model server", value=now.offline, key="offline",
                  disabled=settings().offline, on_change=_keep_offline,
                  help="Set by LITRAG_OFFLINE." if settings().offline else None)
        with st.form("models", border=False):
            _picker("Who writes", "writer", WRITERS, now.generator)
            _picker("Who judges", "judge", JUDGES, now.judge)
            st.form_submit_button("Use these", type="primary", on_click=_keep)
        st.caption(label(now.what_leaves(settings())))
        _keys(now)
        if st.button("Test connection", icon=":material/network_check:", disabled=not now.models()):
            _test(now)
        st.caption("Budget per answer: " + _budget() + ". To make a choice last, set LITRAG\\_GENERATOR, "
                   "LITRAG\\_JUDGE and LITRAG\\_OFFLINE in .env.")


def _picker(title: str, key: str, options: dict[str, str], current: str) -> None:
    provider, model = _split(current, options)
    st.selectbox(title, list(options), index=list(options).index(provider), format_func=options.__getitem__,
                 key=f"{key}-provider")
    st.text_input(f"Model ({title.lower()})", value=model, key=f"{key}-model",
                  placeholder="for example claude-sonnet-4-6; not needed without a provider")


def _split(spec: str, options: dict[str, str]) -> tuple[str, str]:
    provider, _, model = spec.partition(":")
    if provider in options and not any(mark in spec for mark in ">+*"):
        return provider, model
    return ("other", spec) if "other" in options else (next(iter(options)), "")


def _keep() -> None:
    """Take over the form; an unusable name changes nothing and says why."""
    state = st.session_state
    writer = _joined(state["writer-provider"], state["writer-model"])
    judge = _joined(state["judge-provider"], state["judge-model"])
    choice = Choice(writer, judge, chosen().offline)
    try:
        for name in choice.models():
            endpoint(name, settings())
    except LitRAGError as error:
        st.toast(label(str(error)), icon=":material/error:")
        return
    state["chosen_generator"], state["chosen_judge"] = writer, judge


def _joined(provider: str, model: str) -> str:
    model = model.strip()
    if provider == "other":
        return model or settings().judge
    if provider in ("extractive", "local", "checks"):
        return provider
    return f"{provider}:{model or SUGGESTED.get(provider, '')}"


def _keep_offline() -> None:
    st.session_state["chosen_offline"] = st.session_state["offline"]


def _keys(choice: Choice) -> None:
    """For each model that would be called: whether its key is set."""
    for name in choice.models():
        try:
            place = endpoint(name, settings())
        except LitRAGError as error:
            st.warning(label(str(error)), icon=":material/key_off:")
        else:
            held = f"{place.key_setting} is set" if place.key else "no key is sent"
            st.caption(f":material/key: {label(name)}: {label(held)}, called at {label(place.host)}")


def _test(choice: Choice) -> None:
    within = choice.within(settings())
    for name in choice.models():
        with st.spinner(f"Calling {label(name)}"):
            found = probe(name, within)
        show = st.success if found.ok else st.error
        show(f"{label(name)}: {label(found.message)} ({found.seconds:.1f} s)")


def _budget() -> str:
    limit = settings().budget_usd
    return "no limit" if limit is None else f"\\${limit:g}"
