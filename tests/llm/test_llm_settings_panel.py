"""The settings panel: who writes and judges, what leaves, the offline switch, and a test of the connection."""

from __future__ import annotations

import pytest
from fakes import openai_server
from fakes.openai_server import OpenAIServer
from streamlit.testing.v1 import AppTest

from litrag.config import settings


def _panel() -> None:
    import streamlit as st

    from litrag.ui.settings_panel import chosen, settings_panel

    settings_panel()
    st.text(f"{chosen().generator} / {chosen().judge} / {chosen().offline}")


@pytest.fixture
def panel(own_server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setenv("LITRAG_SERVER_URL", own_server.url)
    monkeypatch.setenv("OPENAI_API_KEY", openai_server.KEY)
    settings.cache_clear()
    return AppTest.from_function(_panel, default_timeout=60).run()


def choose(panel: AppTest, provider: str, model: str) -> None:
    """Both to write and to judge."""
    for name in ("writer", "judge"):
        panel.selectbox(f"{name}-provider").set_value(provider)
        panel.text_input(f"{name}-model").set_value(model)
    next(button for button in panel.button if button.label == "Use these").click()
    panel.run()


def shown(panel: AppTest) -> str:
    return "\n".join(str(part.value) for part in [*panel.caption, *panel.error, *panel.success, *panel.text])


def test_without_a_choice_nothing_leaves_and_nothing_can_be_tested(panel: AppTest) -> None:
    assert panel.text[0].value == "extractive / local / False"
    assert "Nothing leaves this machine" in shown(panel)
    assert next(button for button in panel.button if button.label == "Test connection").disabled


def test_a_choice_holds_for_the_session_and_says_what_leaves(panel: AppTest) -> None:
    choose(panel, "server", "llama3:8b")
    assert panel.text[0].value == "server:llama3:8b / server:llama3:8b / False"
    assert "The question and the retrieved passages go to" in shown(panel)
    assert settings().generator == "extractive"


def test_the_connection_of_a_choice_is_tested_on_request(panel: AppTest, own_server: OpenAIServer) -> None:
    choose(panel, "server", next(iter(openai_server.MODELS)))
    assert own_server.asked == []
    next(button for button in panel.button if button.label == "Test connection").click().run()
    assert len(own_server.asked) == 1
    assert "answers and knows" in shown(panel).replace("\\", "")
    assert not panel.error


def test_the_offline_switch_makes_the_test_an_error_without_a_call(panel: AppTest, own_server: OpenAIServer) -> None:
    choose(panel, "server", "any")
    panel.toggle("offline").set_value(True).run()
    assert "offline switch" in shown(panel).replace("\\", "")
    next(button for button in panel.button if button.label == "Test connection").click().run()
    assert own_server.asked == []
    assert "LITRAG_OFFLINE" in shown(panel).replace("\\", "")


def test_a_key_is_never_in_the_page_or_the_session(panel: AppTest) -> None:
    choose(panel, "openai", "gpt-6.1-sol")
    assert "OPENAI_API_KEY is set" in shown(panel).replace("\\", "")
    assert openai_server.KEY not in shown(panel)
    assert openai_server.KEY not in repr(panel.session_state)
    assert "chosen_generator" in repr(panel.session_state)
