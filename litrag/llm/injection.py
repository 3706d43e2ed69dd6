"""Instructions inside a source: text goes in, the places that speak to an automated reader come out.

The marks are for the reader of a source card; nothing is removed from the stored text. Whether a model obeys is
decided elsewhere: passages are fenced, and a verdict that rests on a marked phrase isn't shown as proven.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from litrag.prompts import HIDDEN


@dataclass(frozen=True)
class Mark:
    """A place in a source that looks like an instruction: `source.text[start:end]`, and why it is marked."""

    start: int
    end: int
    reason: str


_VERDICT = r"(?:supports|supported|contradicts|contradicted|not[ _]found)"
_ORDER = "answer|reply|respond|output|return|rate|label|mark|judge|classify|score|record|vote|say|set"
_MACHINE = r"(?:automated|automatic|ai|a\.i\.|llm|machine|language[ -]model|gpt|claude|chatbot|model)"
_TOLD = (
    (r"\b(?:ignore|disregard|forget|override|bypass)\b[^.!?\n]{0,40}\b(?:above|previous|prior|preceding|earlier|all|"
     r"your|these|the)\b[^.!?\n]{0,40}\b(?:instructions?|prompts?|rules?|rubrics?|messages?|guidelines|context|"
     r"above)\b[^.!?\n]*", "asks to ignore instructions"),
    (r"\b(?:ignore|disregard|forget)\s+(?:everything|all|the|what is)\s*(?:above|before|that came before)\b[^.!?\n]*",
     "asks to ignore instructions"),
    (rf"\b(?:{_ORDER})\s+(?:[^.!?\n]{{0,60}}?\s(?:as|with|to|is|word|only|always)\s+|[:=]\s*)?[\"'“‘`]?{_VERDICT}"
     r"[\"'”’`]?\b(?!\s+by\b)[^.!?\n]*", "asks for a verdict"),
    (rf"\bverdict\s+(?:here\s+)?(?:is|must be|should be|[:=])\s*(?:always\s+)?[\"'“‘`]?{_VERDICT}\b[^.!?\n]*",
     "asks for a verdict"),
    (rf"\b(?:note|message|instructions?|attention|notice|dear|hint|hello|hey)\b[^.!?\n]{{0,15}}\b(?:to|for|,)?\s*"
     rf"(?:all|any|the)?\s*{_MACHINE}\s*(?:readers?|reviewers?|systems?|judges?|assistants?|graders?|models?|agents?|"
     r"raters?|checkers?)?\s*[:,–-][^.!?\n]*", "speaks to automated readers"),
    (r"\b(?:you are|act as|pretend to be|you must act as)\s+(?:now\s+)?(?:an?\s+|the\s+)?(?:helpful\s+)?(?:ai\b|"
     r"assistant|language model|judge|grader|dan\b|chatbot|system|unrestricted)[^.!?\n]*",
     "gives the reader a role"),
    (r"(?:(?<=\n)|(?<=>))[ \t]{0,9}(?:system|assistant|user|human|developer)\s*(?:prompt|message)?\s*:[^.!?\n]*[.!?]?",
     "imitates a system message"),
    (r"<[ \t]{0,3}/?[ \t]{0,3}(?:passage|sources?|documents?|context|claim|quote|question|system|assistant|user|"
     r"human|instructions?|tool_result|tool_use|tool_call|function_calls?|function_results?|invoke|result|antml:\w+|"
     r"\|im_(?:start|end)\||\|endoftext\|)[^>]{0,80}>", "imitates the marks of a prompt"),
    (r"\[/?(?:INST|SYS|SYSTEM)\]|<<\s*/?SYS\s*>>|<\|[a-z_]{2,30}\|>|```\s*(?:system|json|tool)\b[^`]{0,200}(?:```)?",
     "imitates the marks of a prompt"),
    (r"[{,]\s{0,9}[\"“](?:verdict|tool_use_id|tool_calls?|tool_result|role|insufficient_evidence|deciding_phrase)[\"”]\s*:"
     r"[^}\n]{0,160}\}?", "imitates a tool result"),
    (r"\b(?:tool|function)[ _](?:result|output|response|call)\b\s*(?:[:=]|returned)[^.!?\n]*",
     "imitates a tool result"),
    (r"\b(?:abstain from nothing|do not abstain|don't abstain|never abstain|jailbreak|"
     r"new (?:task|instructions?|system prompt)\s*:|reveal (?:your|the) (?:system )?prompt|"
     r"(?:system|developer) override|end of (?:the )?(?:passage|source|document|abstract|context|data)\b)[^.!?\n]*",
     "gives orders to the reader"),
    (r"\b(?:reply|respond|answer|output)\s+(?:only\s+)?(?:with|in)\s+(?:a single|exactly|the (?:word|single)|json|"
     r"one word)[^.!?\n]*", "asks for a format"),
    (r"\b(?:set|use|report|give)\s+(?:the\s+)?confidence\s*(?:to|of|=|:)\s*[\d.]+[^.!?\n]*", "asks for a verdict"),
)
_PATTERNS = [(re.compile(pattern, re.IGNORECASE), reason) for pattern, reason in _TOLD]


def marks(text: str) -> list[Mark]:
    """Places of `text` that look like instructions to an automated reader, in order, without overlaps."""
    found = [
        Mark(match.start(), match.end(), reason)
        for pattern, reason in _PATTERNS for match in pattern.finditer(text) if match.group().strip()
    ]
    found += [Mark(m.start(), m.end(), "holds characters that a page doesn't show")
              for m in re.finditer(f"{HIDDEN.pattern}+", text)]
    return _merged(sorted(found, key=lambda mark: (mark.start, -mark.end)))


def _merged(found: list[Mark]) -> list[Mark]:
    merged: list[Mark] = []
    for mark in found:
        if merged and mark.start < merged[-1].end:
            last = merged[-1]
            merged[-1] = Mark(last.start, max(last.end, mark.end), last.reason)
        else:
            merged.append(mark)
    return merged
