"""Do the intervals and bounds of the calibration hold? Simulations in which the truth is known.

    python -m benchmarks.calibration_coverage [--rounds 4000] [--seed 0] [--write]

Every round draws a truth (a rate, a judge's sensitivity and specificity, how alike the claims of one question are),
then labels, and asks whether the 95 % interval holds the truth. Exit code 1 when one covers less than 93 % or more than
97 %, a conformal bound is broken, or the sampling weights leave a bias. `--write` keeps what was printed in
docs/benchmarks/calibration_coverage.md.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import sys
from collections.abc import Callable
from time import perf_counter

import numpy as np
from numpy.random import Generator

from litrag.agreement import Table, balanced_accuracy, kappa
from litrag.calibration import Pair, Sorted, check_usable
from litrag.confidence import certain_threshold, conformal_threshold
from litrag.config import PROJECT
from litrag.errors import InputError
from litrag.estimates import Estimate, proportion
from litrag.models import Verdict
from litrag.rates import corrected_rate, design_weights, false_reassurance, prediction_powered_rate
from litrag.sampling import Candidate, Split, draw

DOCUMENT = PROJECT / "docs" / "benchmarks" / "calibration_coverage.md"

SIZES = (50, 100, 400)
LOWEST, HIGHEST = 0.93, 0.97

Trial = Callable[[Generator, int], tuple[Estimate, float]]


# --- worlds
def questions(rng: Generator, n: int, share: float) -> tuple[np.ndarray, list[int]]:
    """True labels of n claims, one to four per question, claims of a question alike to a random degree."""
    likeness = rng.uniform(0.02, 0.3)
    sizes: list[int] = []
    while sum(sizes) < n:
        sizes.append(min(int(rng.integers(1, 5)), n - sum(sizes)))
    a, b = share * (1 - likeness) / likeness, (1 - share) * (1 - likeness) / likeness
    chances = np.repeat(rng.beta(a, b, len(sizes)), sizes)
    return rng.random(n) < chances, np.repeat(np.arange(len(sizes)), sizes).tolist()


def judged(rng: Generator, truth: np.ndarray, sensitivity: float, specificity: float) -> np.ndarray:
    return np.where(truth, rng.random(len(truth)) < sensitivity, rng.random(len(truth)) >= specificity)


def words(flags: np.ndarray) -> list[str]:
    return [Verdict.SUPPORTS if flag else Verdict.NOT_FOUND for flag in flags]


def table(truth: np.ndarray, judge: np.ndarray, groups: list[int]) -> Table:
    return Table(words(truth), words(judge), groups, labels=(Verdict.SUPPORTS, Verdict.NOT_FOUND))


# --- what is tried
def wilson_alone(rng: Generator, n: int) -> tuple[Estimate, float]:
    share = rng.uniform(0.02, 0.5)
    return proportion((rng.random(n) < share).tolist()), share


def wilson_grouped(rng: Generator, n: int) -> tuple[Estimate, float]:
    share = rng.uniform(0.03, 0.5)
    flags, groups = questions(rng, n, share)
    return proportion(flags.tolist(), groups), share


def kappa_bootstrap(rng: Generator, n: int) -> tuple[Estimate, float]:
    share, se, sp = rng.uniform(0.3, 0.7), rng.uniform(0.7, 0.95), rng.uniform(0.7, 0.95)
    truth, groups = questions(rng, n, share)
    agree, said = share * se + (1 - share) * sp, share * se + (1 - share) * (1 - sp)
    chance = share * said + (1 - share) * (1 - said)
    return kappa(table(truth, judged(rng, truth, se, sp), groups)), (agree - chance) / (1 - chance)


def balanced(rng: Generator, n: int) -> tuple[Estimate, float]:
    share, se, sp = rng.uniform(0.3, 0.7), rng.uniform(0.7, 0.95), rng.uniform(0.7, 0.95)
    truth, groups = questions(rng, n, share)
    return balanced_accuracy(table(truth, judged(rng, truth, se, sp), groups)), (se + sp) / 2


def corrected(rng: Generator, n: int) -> tuple[Estimate, float]:
    share, se, sp = rng.uniform(0.2, 0.8), rng.uniform(0.7, 0.95), rng.uniform(0.7, 0.95)
    truth, groups = questions(rng, n, share)
    unseen, more = questions(rng, 1000, share)
    found = corrected_rate(
        judged(rng, unseen, se, sp).tolist(), truth.tolist(), judged(rng, truth, se, sp).tolist(),
        judged_groups=more, groups=groups,
    )
    return found.corrected, share


def powered(rng: Generator, n: int) -> tuple[Estimate, float]:
    share, se, sp = rng.uniform(0.2, 0.8), rng.uniform(0.7, 0.95), rng.uniform(0.7, 0.95)
    truth, groups = questions(rng, n, share)
    unseen, more = questions(rng, 1000, share)
    return prediction_powered_rate(
        truth.tolist(), judged(rng, truth, se, sp).tolist(), judged(rng, unseen, se, sp).tolist(),
        groups=groups, judged_groups=more,
    ), share


TRIALS: dict[str, Trial] = {
    "Wilson, independent claims": wilson_alone,
    "Wilson, claims grouped by question": wilson_grouped,
    "Cohen's κ, bootstrap over questions": kappa_bootstrap,
    "Balanced accuracy (MOVER), grouped": balanced,
    "Corrected rate (Rogan–Gladen), grouped": corrected,
    "Prediction-powered rate, grouped": powered,
}


def coverage(trial: Trial, n: int, rounds: int, seed: int) -> tuple[float, float, float]:
    """Share of intervals that hold the truth, their mean width, share of rounds without an interval."""
    rng = np.random.default_rng([seed, n])
    held, widths = 0, []
    for _ in range(rounds):
        estimate, truth = trial(rng, n)
        if estimate.low is not None and estimate.high is not None:
            held += estimate.low <= truth <= estimate.high
            widths.append(estimate.high - estimate.low)
    return held / len(widths), float(np.mean(widths)), 1 - len(widths) / rounds


def intervals(rounds: int, seed: int) -> bool:
    print(f"\n95 % intervals: share that hold the truth (goal {LOWEST:.0%}–{HIGHEST:.0%}), {rounds} rounds each")
    print(f"{'method':42} {'n':>4} {'coverage':>9} {'width':>7} {'no interval':>12}")
    good = True
    for name, trial in TRIALS.items():
        for n in SIZES:
            share, width, without = coverage(trial, n, rounds, seed)
            inside = LOWEST <= share <= HIGHEST
            good &= inside
            note = "" if inside else "  outside"
            print(f"{name:42} {n:4} {share:9.1%} {width:7.3f} {without:12.1%}{note}", flush=True)
    return good


def bounds(rounds: int, seed: int) -> bool:
    print("\nThresholds: confidence is informative but off; 20,000 further claims show the truth")
    print(f"{'method':34} {'bound':>6} {'n':>4} {'risk':>8} {'kept':>6} {'broken':>8}")
    good = True
    for bound in (0.05, 0.10):
        for n in SIZES:
            good &= _conformal(bound, n, rounds, seed)
    for bound in (0.05, 0.10):
        for n in (100, 400):
            good &= _certain(bound, n, rounds, seed)
    return good


def _verdicts(rng: Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Confidences and whether the verdict is wrong; the odds of an error fall with confidence."""
    confidence = np.round(0.4 + 0.6 * rng.beta(2, 1, n), 3)
    return confidence, rng.random(n) < 0.5 * (1 - confidence) ** 0.7


def _conformal(bound: float, n: int, rounds: int, seed: int) -> bool:
    rng = np.random.default_rng([seed, n, 1])
    risks, kept = [], []
    fresh, wrong = _verdicts(rng, 20_000)
    for _ in range(rounds):
        confidence, errors = _verdicts(rng, n)
        found = conformal_threshold(confidence.tolist(), errors.tolist(), bound=bound).value
        shown = fresh >= (2.0 if found is None else found)
        risks.append(float((shown & wrong).mean()))
        kept.append(float(shown.mean()))
    mean, error = float(np.mean(risks)), float(np.std(risks) / np.sqrt(rounds))
    holds = mean - 3 * error <= bound
    print(_row("conformal risk control (mean risk)", bound, n, mean, kept) + f" {'no' if holds else 'YES':>8}")
    return holds


def _certain(bound: float, n: int, rounds: int, seed: int) -> bool:
    rng = np.random.default_rng([seed, n, 2])
    fresh, wrong = _verdicts(rng, 20_000)
    broken, risks, kept = 0, [], []
    for _ in range(rounds):
        confidence, errors = _verdicts(rng, n)
        found = certain_threshold(confidence.tolist(), errors.tolist(), bound=bound, doubt=0.1).value
        shown = fresh >= (2.0 if found is None else found)
        risk = float(wrong[shown].mean()) if shown.any() else 0.0
        broken += risk > bound
        risks.append(risk)
        kept.append(float(shown.mean()))
    share = broken / rounds
    print(_row("risk among the kept, 90 % certain", bound, n, float(np.mean(risks)), kept) + f" {share:8.1%}")
    return share <= 0.1 + 3 * np.sqrt(0.09 / rounds)


def _row(name: str, bound: float, n: int, risk: float, kept: list[float]) -> str:
    return f"{name:34} {bound:6.0%} {n:4} {risk:8.2%} {np.mean(kept):6.0%}"


def always_yes(seed: int) -> bool:
    rng = np.random.default_rng([seed, 3])
    truth, groups = questions(rng, 400, 0.7)
    judge = np.ones(400, dtype=bool)
    found = table(truth, judge, groups)
    rate = false_reassurance(words(truth), words(judge), groups)
    print("\nA judge that always says supports, 400 claims, 30 % of them unsupported on average")
    print(f"  κ {kappa(found).as_number()}; balanced accuracy {balanced_accuracy(found).as_number()}")
    print(f"  false reassurance {rate.in_words()}; share not supported {float((~truth).mean()):.1%}")
    return kappa(found).value == 0 and rate.value == float((~truth).mean())


def sampling(rounds: int, seed: int) -> bool:
    """A sample half by uncertainty and rarity: the weighted false-reassurance rate against the plain one."""
    rng = np.random.default_rng([seed, 4])
    plain, weighted, uniform, held = [], [], [], 0
    for round_ in range(rounds):
        confidence, wrong = _verdicts(rng, 1000)
        rate = float(wrong.mean())
        pool = [Candidate(key=str(i), uncertainty=1 - c, verdict="supports") for i, c in enumerate(confidence)]
        drawn = draw(pool, 200, seed=round_)
        places = [int(d.key) for d in drawn]
        human = words(~wrong[places])
        judge = [Verdict.SUPPORTS] * len(places)
        weights = design_weights([d.stratum for d in drawn], [d.probability for d in drawn])
        estimate = false_reassurance(human, judge, weights=weights)
        plain.append((false_reassurance(human, judge).value or 0.0) - rate)
        weighted.append((estimate.value or 0.0) - rate)
        held += (estimate.low or 0.0) <= rate <= (estimate.high or 1.0)
        first = [i for i, d in enumerate(drawn) if d.stratum == "uniform"]
        uniform.append((false_reassurance([human[i] for i in first], [judge[i] for i in first]).value or 0.0) - rate)
    print(f"\nSampling: 200 of 1,000 claims, half uniform, half by uncertainty and rarity, {rounds} rounds")
    for name, errors in (("all, unweighted", plain), ("uniform half only", uniform), ("all, weighted", weighted)):
        print(f"  {name:18} bias {np.mean(errors):+.4f}, standard error {np.std(errors):.4f}")
    print(f"  weighted interval holds the rate of the 1,000 in {held / rounds:.1%} of rounds")
    return abs(float(np.mean(weighted))) <= 4 * float(np.std(weighted)) / np.sqrt(rounds) + 0.001


def overrides(seed: int) -> bool:
    """Labels that exist only where a reviewer overruled the judge: what a rate of them would say, and the refusal."""
    rng = np.random.default_rng([seed, 5])
    truth, groups = questions(rng, 400, 0.7)
    judge = judged(rng, truth, 0.9, 0.9)
    pairs = [
        Pair(item_id=str(i), question_id=str(g), split=Split.DEV, human=h, judge=j)
        for i, (h, j, g) in enumerate(zip(words(truth), words(judge), groups, strict=True)) if h != j
    ]
    print(f"\nOverride-only labels: {len(pairs)} of 400 claims, though the judge is right in 90 %")
    try:
        check_usable(Sorted(pairs=tuple(pairs)))
    except InputError as error:
        print(f"  refused: {error}")
        return True
    print("  NOT REFUSED")
    return False


class _Copy(io.StringIO):
    """Keeps what is printed and lets it through."""

    def write(self, text: str) -> int:
        sys.__stdout__.write(text)  # type: ignore[union-attr]
        return super().write(text)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true", help=f"keep the tables in docs/benchmarks/{DOCUMENT.name}")
    options = parser.parse_args(arguments)
    started = perf_counter()
    with contextlib.redirect_stdout(_Copy()) as said:
        results = [
            intervals(options.rounds, options.seed), bounds(min(options.rounds, 500), options.seed),
            always_yes(options.seed), sampling(min(options.rounds, 300), options.seed), overrides(options.seed),
        ]
        print(f"\n{'all hold' if all(results) else 'NOT ALL HOLD'} ({perf_counter() - started:.0f} s)")
    if options.write:
        command = f"python -m benchmarks.calibration_coverage --rounds {options.rounds} --seed {options.seed}"
        DOCUMENT.parent.mkdir(parents=True, exist_ok=True)
        DOCUMENT.write_text(
            f"## Do the intervals of the calibration hold?\n\n`{command}`: simulations in which the truth is known.\n\n"
            f"```text\n{said.getvalue().strip()}\n```\n", encoding="utf-8",
        )
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
