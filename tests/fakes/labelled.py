"""A store with labelled claims, as an imported table leaves it, and judges that err in a known way."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from litrag.foreign_labels import Mapped, import_foreign
from litrag.label_import import TableRow
from litrag.models import Judgement, Passage, Verdict
from litrag.reviews import Store

COLUMNS = {"claim_text": "claim", "passage_text": "abstract", "human_verdict": "label", "question": "question"}


def rows(count: int, *, questions: int | None = None) -> list[TableRow]:
    """`count` labelled claims: of each three, two are supported and one isn't spoken of."""
    return [
        TableRow(number + 2, {
            "claim": f"Claim number {number} about outcome {number % 7}.", "abstract": f"Abstract {number}.",
            "label": truth(f"Claim number {number} about outcome {number % 7}."),
            "question": f"question {number % (questions or count)}",
        })
        for number in range(count)
    ]


def truth(claim: str) -> Verdict:
    """What reviewers say of one of these claims."""
    return Verdict.NOT_FOUND if int(claim.split()[2]) % 3 == 0 else Verdict.SUPPORTS


def import_labels(store: Store, count: int, *, blind: bool = True, questions: int | None = None) -> None:
    """Fill the store with labelled claims that no judge has seen."""
    import_foreign(store, rows(count, questions=questions), Mapped(columns=COLUMNS, blind=blind))


class ErringJudge:
    """Wrong on a fixed share of claims, and overconfident: says 0.95 of nearly everything."""

    def __init__(self, judge_id: str = "erring", *, wrong: float = 0.2, always: Verdict | None = None) -> None:
        self.judge_id = judge_id
        self.wrong = wrong
        self.always = always
        self.asked = 0

    def judge(self, claim: str, passage: str | Passage, quote: str | None = None) -> Judgement:
        return self.judge_many([(claim, passage, quote)])[0]

    def judge_many(self, pairs: Sequence[tuple[str, str | Passage, str | None]]) -> list[Judgement]:
        self.asked += len(pairs)
        return [self._judge(claim) for claim, _, _ in pairs]

    def _judge(self, claim: str) -> Judgement:
        draw = int(hashlib.sha256(f"{self.judge_id} {claim}".encode()).hexdigest()[:8], 16) / 2**32
        right = truth(claim)
        other = Verdict.NOT_FOUND if right is Verdict.SUPPORTS else Verdict.SUPPORTS
        verdict = self.always or (other if draw < self.wrong else right)
        confidence = 0.97 if draw > 0.5 else 0.93
        return Judgement(
            verdict=verdict, confidence=confidence, judge=self.judge_id, model=self.judge_id, version="1", seconds=0.01,
        )
