"""Other people's offline checkers behind the same protocol, measured on the same rows.

`pip install anchorcite==0.1.0 grounded-check==0.1.2` (both MIT) to measure them; neither is needed by the product.
Both only tell whether a statement is anchored in a text, so a claim that is not becomes `not_found`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.baselines import Triple, text_of
from litrag.models import Judgement, Verdict


class AnchorCiteJudge:
    """anchorcite's core: BM25 and lexical support of the best sentence, threshold of its own."""

    def __init__(self) -> None:
        from anchorcite import CitationAnchorer, LexicalScorer

        # Its default scorer would fetch models; what installs without a download is measured.
        self._anchorer = CitationAnchorer(scorer=LexicalScorer())

    def judge_many(self, pairs: Sequence[Triple]) -> list[Judgement]:
        return [self._judge(claim, text_of(passage)) for claim, passage, _ in pairs]

    def _judge(self, claim: str, text: str) -> Judgement:
        anchor = self._anchorer.anchor(claim, text)
        if anchor is None:
            return Judgement(verdict=Verdict.NOT_FOUND)
        return Judgement(verdict=Verdict.SUPPORTS, spans=((anchor.start_offset, anchor.end_offset),))


class GroundedCheckJudge:
    """grounded-check: numbers, names and quotations literally present, and the sentence's word overlap."""

    def __init__(self) -> None:
        import grounded

        self._grounded = grounded

    def judge_many(self, pairs: Sequence[Triple]) -> list[Judgement]:
        return [self._judge(claim, text_of(passage)) for claim, passage, _ in pairs]

    def _judge(self, claim: str, text: str) -> Judgement:
        tool = self._grounded
        source = tool.Source(path=Path("passage"), raw=text)
        result = tool.verify(tool.extract(claim, kinds=set(tool.Kind), min_sentence_words=3), [source])
        grounded = all(finding.verdict is tool.Verdict.GROUNDED for finding in result.findings)
        return Judgement(verdict=Verdict.SUPPORTS if grounded and result.findings else Verdict.NOT_FOUND)


PEERS = {"anchorcite": AnchorCiteJudge, "grounded-check": GroundedCheckJudge}
