"""What code can decide about a claim and the text it cites, and say in words.

In: a claim and the stored text. Out: `Finding`s, each a disagreement with its reason ("the claim says 68.4%, the
source 86.4%") and the verdict it forces. No finding means that code has nothing against the claim, not that it is
supported. Checks stay silent where the words leave room for doubt: a false alarm on an honest claim is a fault too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from litrag.checks.case import Case, open_case
from litrag.checks.design import (
    check_ages,
    check_denied,
    check_drugs,
    check_endpoint_rank,
    check_group_comparison,
    check_groups,
    check_none,
    check_overreach,
    check_poles,
)
from litrag.checks.effects import (
    check_arm_change,
    check_direction,
    check_signed_change,
    check_significance,
    check_superiority,
    direction_agrees,
    no_effect_agrees,
)
from litrag.checks.numbers import check_arms, check_figures, check_intervals, check_ratio_reading, figures_agree
from litrag.checks.outcomes import check_outcome_named, check_stated_outcome
from litrag.models import Finding, Verdict

CHECKS: tuple[Callable[[Case], Iterable[Finding]], ...] = (
    check_figures, check_intervals, check_ratio_reading, check_arms,
    check_direction, check_stated_outcome, check_signed_change, check_arm_change, check_significance, check_superiority,
    check_poles, check_ages, check_denied, check_endpoint_rank, check_none, check_groups, check_group_comparison,
    check_drugs, check_outcome_named, check_overreach,
)

_OF_OUTCOMES = frozenset({"direction", "significance"})
_GRAVITY = {Verdict.CONTRADICTS: 0, Verdict.NOT_FOUND: 1, Verdict.PARTIAL: 2}


def check_claim(claim: str, text: str) -> list[Finding]:
    """All findings against a claim, the gravest first; empty when code sees nothing wrong."""
    case = open_case(claim, text)
    unique = {(finding.kind, finding.message): finding for check in CHECKS for finding in check(case)}
    if any(finding.verdict is Verdict.NOT_FOUND and finding.kind in ("population", "outcome") for finding in unique.values()):
        # What the source never mentions it can't contradict: its effects are on something else.
        unique = {key: finding for key, finding in unique.items() if finding.kind not in _OF_OUTCOMES}
    return sorted(unique.values(), key=lambda finding: _GRAVITY[finding.verdict])


def agrees(claim: str, text: str) -> bool:
    """Whether code finds the claim's figures, or its direction, to be the source's own on the same matter.

    It is no verdict: a claim without findings whose figures agree may still say more than the source does.
    """
    case = open_case(claim, text)
    return figures_agree(case) or direction_agrees(case) or no_effect_agrees(case)


__all__ = ["CHECKS", "agrees", "check_claim"]
