"""Judges that a trained one has to beat: the most frequent verdict, lexical features, and quoting.

They follow the same protocol as the product's judges, so that the harness measures all of them alike.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from benchmarks.claim_sets import ClaimRow
from litrag.evidence import select_window, window_text
from litrag.local_model import LABELS, EntailmentModel
from litrag.models import Judgement, Passage, Verdict

Triple = tuple[str, "str | Passage", "str | None"]

_NEGATION = re.compile(r"\b(?:no|not|never|without|none|neither|nor|cannot|un\w+able|fail(?:ed|s)?)\b", re.IGNORECASE)
_UP = re.compile(r"\b(?:increas|higher|greater|more|improv|rais|longer|better|superior)", re.IGNORECASE)
_DOWN = re.compile(r"\b(?:decreas|lower|smaller|less|fewer|reduc|worse|shorter|declin|inferior)", re.IGNORECASE)


class MajorityJudge:
    """Always the verdict that is most frequent among the set's training rows."""

    def __init__(self, rows: Sequence[ClaimRow]) -> None:
        counts = Counter(row.verdict for row in rows)
        self._verdict, count = counts.most_common(1)[0]
        self._share = count / len(rows)

    def judge_many(self, pairs: Sequence[Triple]) -> list[Judgement]:
        return [Judgement(verdict=Verdict(self._verdict), confidence=self._share) for _ in pairs]


class LexicalJudge:
    """Gradient boosting on overlap, numbers, negation and direction words; no understanding at all."""

    def __init__(self, rows: Sequence[ClaimRow]) -> None:
        self._model = HistGradientBoostingClassifier(max_iter=150, learning_rate=0.06, random_state=0)
        self._model.fit(self._features([(row.claim, row.evidence) for row in rows]), [row.verdict for row in rows])

    def judge_many(self, pairs: Sequence[Triple]) -> list[Judgement]:
        texts = [(claim, text_of(passage)) for claim, passage, _ in pairs]
        shares = self._model.predict_proba(self._features(texts))
        names = [str(name) for name in self._model.classes_]
        return [Judgement(verdict=Verdict(names[int(row.argmax())]), confidence=float(row.max())) for row in shares]

    def _features(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        return np.array([lexical_features(claim, evidence) for claim, evidence in pairs])


class QuoteJudge:
    """Supports if most words of the claim stand in one sentence window, in order; what quote matching can do."""

    def __init__(self, threshold: float = 0.8) -> None:
        self._threshold = threshold

    def judge_many(self, pairs: Sequence[Triple]) -> list[Judgement]:
        return [self._judge(claim, text_of(passage)) for claim, passage, _ in pairs]

    def _judge(self, claim: str, text: str) -> Judgement:
        window = window_text(text, select_window(claim, text, 2))
        share = lexical_features(claim, window)[0]
        verdict = Verdict.SUPPORTS if share >= self._threshold else Verdict.NOT_FOUND
        return Judgement(verdict=verdict, confidence=max(share, 1.0 - share))


class NetworkJudge:
    """The carried network over the evidence window, without any deterministic check: the ablation."""

    def __init__(self, model: EntailmentModel, sentences: int = 4) -> None:
        self._model, self._sentences = model, sentences

    def judge_many(self, pairs: Sequence[Triple]) -> list[Judgement]:
        texts = [(claim, text_of(passage)) for claim, passage, _ in pairs]
        windows = [(claim, window_text(t, select_window(claim, t, self._sentences))) for claim, t in texts]
        return [
            Judgement(verdict=Verdict(LABELS[int(row.argmax())]), confidence=float(row.max()))
            for row in self._model.predict(windows)
        ]


def lexical_features(claim: str, evidence: str) -> list[float]:
    """Shares of shared words and numbers, and whether negation and direction agree."""
    window = window_text(evidence, select_window(claim, evidence))
    words, there = _words(claim), _words(window)
    numbers, numbers_there = set(re.findall(r"\d+(?:\.\d+)?", claim)), set(re.findall(r"\d+(?:\.\d+)?", evidence))
    return [
        len(words & there) / max(1, len(words)),
        len(words & _words(evidence)) / max(1, len(words)),
        len(numbers & numbers_there) / len(numbers) if numbers else -1.0,
        float(bool(_NEGATION.search(claim))) - float(bool(_NEGATION.search(window))),
        float(bool(_NEGATION.search(claim))),
        float(bool(_UP.search(claim)) and bool(_DOWN.search(window))),
        float(bool(_DOWN.search(claim)) and bool(_UP.search(window))),
        float(len(words)), float(len(there)),
    ]


def text_of(passage: str | Passage) -> str:
    """The text that a judge is given, whichever way it is wrapped."""
    return passage if isinstance(passage, str) else passage.text


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z]{3,}", text.lower()))


