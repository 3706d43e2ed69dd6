"""What a sentence does in an abstract: an aim or open question is no finding and can't support one."""

from __future__ import annotations

import re
from functools import lru_cache

_AIM = re.compile(
    r"\b(?:we|authors?|study|trial|analysis|review|paper|objectives?|aims?|purpose|goals?)\b[^.;]{0,60}?"
    r"\b(?:aim(?:ed|s)?|sought|set out|intend(?:ed|s)?|plan(?:ned|s)?|hypothesi[sz]ed?|wanted|asked|was (?:designed|to)|"
    r"were to|is to|are to|whether)\b"
    r"|^(?:aims?|objectives?|purpose|goals?|hypothesis)\b\W*(?:to\b|was\b|were\b|is\b|of\b)"
    r"|^to (?:assess|compare|determine|evaluate|examine|explore|identify|investigate|study|test|describe|estimate)\b"
    r"|\b(?:remains?|is|are|was|were) (?:still )?(?:unclear|unknown|uncertain|controversial|not known|poorly understood)\b"
    r"|\bto (?:estimate|assess|determine|evaluate|examine|find out|learn|test|see) (?:how|whether|if|the (?:effects?|role))\b"
    r"|\bit (?:is|was) (?:not known|unknown|unclear)\b",
    re.IGNORECASE,
)
_RESULT = re.compile(r"\d+(?:\.\d+)?\s*%|\b(?:HR|RR|OR|CI|P)\b\s*[=<>,0-9.]|\bP\s*[<=>]", re.IGNORECASE)


@lru_cache(maxsize=2048)
def is_aim(sentence: str) -> bool:
    """Whether the sentence only says what was to be found out; one that reports figures doesn't."""
    text = sentence.strip()
    return text.endswith("?") or (bool(_AIM.search(text)) and not _RESULT.search(text))
