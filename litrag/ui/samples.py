"""The sample questions of `data/`; no streamlit."""

from __future__ import annotations

import json
from functools import lru_cache

from litrag.config import PROJECT

QUESTIONS = PROJECT / "data" / "sample_questions.json"
ANSWERS = PROJECT / "data" / "sample_answers.json"

#: How many of each kind: answerable ones, one on which sources differ, one that must be declined.
SHARES = {"answerable": 4, "conflicting": 1, "unanswerable": 1}


@lru_cache(maxsize=1)
def sample_questions() -> tuple[str, ...]:
    """A few questions to begin with."""
    groups = json.loads(QUESTIONS.read_text("utf-8"))
    return tuple(item["question"] for kind, share in SHARES.items() for item in groups[kind][:share])
