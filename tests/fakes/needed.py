"""What a test does when a program that it needs isn't installed."""

import os
from typing import NoReturn

import pytest


def unavailable(what: str) -> NoReturn:
    """Skip, or fail where everything is required (LITRAG_REQUIRE_ALL)."""
    if os.environ.get("LITRAG_REQUIRE_ALL"):
        pytest.fail(what)
    pytest.skip(what)
