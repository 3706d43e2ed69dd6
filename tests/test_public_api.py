"""The names that notebooks and benchmarks use."""

import subprocess
import sys

import pytest

import litrag
from litrag.config import PROJECT


def test_every_public_name_is_there():
    for name in litrag.__all__:
        assert getattr(litrag, name) is not None


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="nonsense"):
        _ = litrag.nonsense


def test_locating_a_quote_needs_nothing_but_two_strings():
    text = "In ½ of the ﬁeld sites,   pain eﬀects were null (naïve arm, 𝛃-blocker). Relapse was 9 of 40."
    location = litrag.locate_quote("Relapse was 9 of 40.", text)
    [(start, end)] = location.spans
    assert (location.match, location.found, text[start:end]) == ("exact", True, "Relapse was 9 of 40.")


def test_importing_litrag_loads_no_heavy_library():
    code = "import sys, litrag; print({'torch', 'streamlit', 'faiss', 'anthropic'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=PROJECT)
    assert done.stdout.strip() == "set()"
