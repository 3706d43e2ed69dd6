"""Batches of claims: results in order, resumed after SIGKILL as if nothing had happened, fit for CI."""

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import pytest

from litrag.batch import (
    BatchOptions,
    BatchReport,
    explain,
    junit_xml,
    results_csv,
    results_jsonl,
    run_batch,
    write_results,
)
from litrag.claim_tables import read_claims
from litrag.errors import InputError
from litrag.judges import OverlapModel
from litrag.models import Judgement, Passage, Record, Verdict

TEXT = (
    "Semaglutide lowered body weight by 14.9% at week 68. Placebo lowered body weight by 2.4%. "
    "Nausea affected 44% of the semaglutide group."
)
RECORDS = {
    "33567185": Record(record_id="33567185", pmid="33567185", doi="10.1056/NEJMoa2032183", title="STEP 1", text=TEXT),
    "27633186": Record(record_id="27633186", pmid="27633186", title="SUSTAIN-6", text="MACE occurred in 6.6% vs 8.9%."),
}


class WordJudge:
    """Supports what shares most words with the passage; slow on demand, and logs what it judged."""

    judge_id = "words"
    version = "1"

    def __init__(self, *, pause: float = 0.0, log: Path | None = None, fails: str = "") -> None:
        self.asked: list[str] = []
        self._pause, self._log, self._fails = pause, log, fails

    def judge(self, claim: str, passage: str | Passage, quote: str | None = None) -> Judgement:
        return self.judge_many([(claim, passage, quote)])[0]

    def judge_many(self, pairs: Sequence[tuple[str, str | Passage, str | None]]) -> list[Judgement]:
        time.sleep(self._pause * len(pairs))
        rows = OverlapModel().predict([(c, p.text if isinstance(p, Passage) else p) for c, p, _ in pairs])
        self.asked += [claim for claim, _, _ in pairs]
        if self._log is not None:
            descriptor = os.open(self._log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            os.write(descriptor, "".join(f"{claim}\n" for claim, _, _ in pairs).encode())
            os.close(descriptor)
        return [self._judgement(claim, float(row[0])) for (claim, _, _), row in zip(pairs, rows, strict=True)]

    def _judgement(self, claim: str, share: float) -> Judgement:
        if claim == self._fails:
            return Judgement.unjudged("the model gave no answer", judge="words")
        verdict = Verdict.SUPPORTS if share > 0.5 else Verdict.NOT_FOUND
        return Judgement(verdict=verdict, confidence=share, judge="words", version="1", rationale=f"shares {share:.2f}")


def batch(text: str, home: Path, judge: WordJudge | None = None, options: BatchOptions | None = None) -> BatchReport:
    table = read_claims(text.encode())
    return run_batch(table, RECORDS, judge=judge or WordJudge(), journal=home / "journal.jsonl", options=options)


MIXED = (
    "claim,quote,pmid,doi\n"
    "Semaglutide lowered body weight by 14.9% at week 68.,,33567185,\n"
    "Insulin cured migraine in dolphins.,,33567185,\n"
    "Semaglutide lowered body weight by 14.9%.,Semaglutide lowered body weight by 19.4% at week 68.,33567185,\n"
    "Nausea affected 44% of the semaglutide group.,,,10.1056/nejmoa2032183\n"
    "MACE fell.,,11111111,\n"
    "Walking is good.,,,\n"
)


def test_results_come_in_the_order_of_the_table_each_with_its_state(tmp_path: Path) -> None:
    report = batch(MIXED, tmp_path)
    assert [result.claim.state for result in report.results] == [
        "supports", "not_found", "hallucinated_quote", "supports", "uncited", "uncited",
    ]
    assert [result.row.line for result in report.results] == [2, 3, 4, 5, 6, 7]
    assert report.supported == pytest.approx(2 / 6)


def test_a_claim_whose_record_is_missing_stays_and_says_how_to_get_it(tmp_path: Path) -> None:
    claim = batch(MIXED, tmp_path).results[4].claim
    assert "PMID 11111111 isn't in this corpus" in explain(claim)
    assert "litrag ingest" in explain(claim)


def test_an_invented_quote_is_told_apart_from_a_false_claim(tmp_path: Path) -> None:
    claim = batch(MIXED, tmp_path).results[2].claim
    assert claim.without_quote is not None
    assert "without its quote the claim is judged: supports" in explain(claim)


def test_sources_are_numbered_once_over_the_whole_batch(tmp_path: Path) -> None:
    rows = "".join(f"Claim number {n},{pmid}\n" for n, pmid in enumerate(["27633186", "33567185", "27633186"]))
    report = batch(f"claim,pmid\n{rows}", tmp_path, options=BatchOptions(chunk=1))
    assert [result.claim.citations[0].n for result in report.results] == [1, 2, 1]


def test_a_finished_batch_judges_nothing_again_and_gives_the_same_files(tmp_path: Path) -> None:
    first = batch(MIXED, tmp_path)
    judge = WordJudge()
    second = batch(MIXED, tmp_path, judge)
    assert judge.asked == []
    assert second.fresh == 0
    assert second.reused == first.fresh
    assert results_jsonl(first) == results_jsonl(second)
    assert results_csv(first) == results_csv(second)


def test_progress_counts_claims_and_an_exception_in_it_ends_the_run_without_losing_judgements(tmp_path: Path) -> None:
    seen: list[tuple[str, int, int]] = []

    def stop_at_four(stage: str, done: int, total: int) -> None:
        seen.append((stage, done, total))
        if done == 4:
            raise InterruptedError

    rows = "".join(f"Semaglutide lowered weight {n},33567185\n" for n in range(10))
    with pytest.raises(InterruptedError):
        batch(f"claim,pmid\n{rows}", tmp_path, options=BatchOptions(chunk=2, progress=stop_at_four))
    assert seen == [("judging", 0, 10), ("judging", 2, 10), ("judging", 4, 10)]
    judge = WordJudge()
    assert len(batch(f"claim,pmid\n{rows}", tmp_path, judge).results) == 10
    assert judge.asked == [f"Semaglutide lowered weight {n}" for n in range(4, 10)]


def test_a_failed_judgement_counts_as_unsupported_and_is_tried_again(tmp_path: Path) -> None:
    text = "claim,pmid\nNausea affected 44% of the semaglutide group.,33567185\n"
    failed = batch(text, tmp_path, WordJudge(fails="Nausea affected 44% of the semaglutide group."))
    assert failed.counts == {"unjudged": 1}
    assert failed.exit_code(0.5) == 1
    assert "unjudged: the model gave no answer" in explain(failed.results[0].claim)
    assert batch(text, tmp_path).counts == {"supports": 1}


# --- exit codes and files
def test_exit_codes_tell_passed_failed_and_unusable(tmp_path: Path) -> None:
    report = batch(MIXED, tmp_path)
    assert [report.exit_code(share) for share in (None, 0.0, 2 / 6, 0.34, 1.0)] == [0, 0, 0, 1, 1]
    broken = batch(MIXED + "A claim,,not-a-pmid,\n", tmp_path)
    assert broken.exit_code(0.0) == 2


@pytest.mark.parametrize("share", [90, -0.1, 1.01])
def test_a_share_outside_zero_to_one_is_refused(tmp_path: Path, share: float) -> None:
    with pytest.raises(InputError, match="between 0 and 1"):
        batch(MIXED, tmp_path).exit_code(share)


def test_csv_results_survive_a_spreadsheet(tmp_path: Path) -> None:
    report = batch('claim,pmid\n"=HYPERLINK(""http://x"",""y"")",33567185\n', tmp_path)
    (row,) = csv.DictReader(io.StringIO(results_csv(report)))
    assert row["claim"].startswith("'=")
    assert json.loads(results_jsonl(report))["claim"].startswith("=")


def test_junit_has_a_failing_case_with_its_explanation_per_flagged_claim(tmp_path: Path) -> None:
    report = batch(MIXED + "Bad <b>&\x00\x1b row,,33567185,\nA claim,,not-a-pmid,\n", tmp_path)
    root = ElementTree.fromstring(junit_xml(report))
    cases = root.findall("./testsuite/testcase")
    failures = root.findall("./testsuite/testcase/failure")
    flagged = [result for result in report.results if result.claim.flagged]
    assert len(cases) == len(report.results) + 1
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("8", str(len(flagged)), "1")
    assert len(failures) == len(flagged)
    assert "the quote says “19.4%”, the source “14.9%”" in "".join(failure.text or "" for failure in failures)
    (error,) = root.findall("./testsuite/testcase/error")
    assert "'not-a-pmid' is no PMID" in (error.get("message") or "")


@pytest.mark.parametrize("name", ["out.csv", "out.jsonl", "out.xml"])
def test_results_are_written_whole_as_the_ending_says(tmp_path: Path, name: str) -> None:
    report = batch(MIXED, tmp_path)
    write_results(report, tmp_path / "deep" / name)
    assert [path.name for path in (tmp_path / "deep").iterdir()] == [name]
    assert "Insulin cured migraine" in (tmp_path / "deep" / name).read_text(encoding="utf-8-sig")


def test_an_unknown_ending_is_refused_with_the_ones_that_work(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"\.csv, \.jsonl or \.xml"):
        write_results(batch(MIXED, tmp_path), tmp_path / "out.docx")


# --- killed and resumed
CHILD = """
import sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from test_batch import RECORDS, WordJudge
from litrag.batch import run_batch, write_results
from litrag.claim_tables import read_claims
home = Path({home!r})
judge = WordJudge(pause=0.004, log=home / "judged.log")
report = run_batch(read_claims(home / "claims.csv"), RECORDS, judge=judge, journal=home / "journal.jsonl")
write_results(report, home / "results.jsonl")
write_results(report, home / "results.csv")
"""


def start(home: Path) -> subprocess.Popen[bytes]:
    code = CHILD.format(tests=str(Path(__file__).parent), home=str(home))
    return subprocess.Popen([sys.executable, "-c", code], cwd=Path(__file__).parent.parent)


def journal_lines(home: Path) -> int:
    path = home / "journal.jsonl"
    return path.read_bytes().count(b"\n") if path.exists() else 0


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_batch_killed_by_sigkill_resumes_to_the_result_of_an_unbroken_run(tmp_path: Path) -> None:
    rows = [f"Semaglutide lowered body weight by {n / 10}% at week {n % 90}.,33567185" for n in range(240)]
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    for home in (whole, broken):
        home.mkdir()
        (home / "claims.csv").write_text("\n".join(["claim,pmid", *rows]) + "\n", encoding="utf-8")
    assert start(whole).wait(120) == 0
    for share in (3, 2):
        child = start(broken)
        while journal_lines(broken) <= len(rows) // share:
            assert child.poll() is None, "the batch ended before it could be killed"
            time.sleep(0.002)
        child.send_signal(signal.SIGKILL)
        assert child.wait() == -signal.SIGKILL
        assert not (broken / "results.jsonl").exists()
    with (broken / "journal.jsonl").open("ab") as journal:
        journal.write(b'{"key": "torn')
    assert start(broken).wait(120) == 0
    for name in ("results.jsonl", "results.csv"):
        assert (broken / name).read_bytes() == (whole / name).read_bytes()
    judged = Counter((broken / "judged.log").read_text(encoding="utf-8").splitlines())
    assert sorted(judged) == sorted(row.rpartition(",")[0] for row in rows)
    assert set(judged.values()) == {1}
