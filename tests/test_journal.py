"""The journal of judgements: durable, mended after a kill, never a home for failures."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from litrag.errors import InputError
from litrag.journal import Journal, JournaledJudge, Pair, code_version
from litrag.models import Judgement, Passage, Verdict

ROOT = Path(__file__).resolve().parent.parent


class Counting:
    """Supports everything but what fails; remembers what it was asked."""

    judge_id = "counting"
    version = "1"
    model_id = "m"

    def __init__(self, failing: str = "") -> None:
        self.asked: list[str] = []
        self.calls: list[int] = []
        self.failing = failing

    def judge(self, claim: str, passage: str | Passage, quote: str | None = None) -> Judgement:
        return self.judge_many([(claim, passage, quote)])[0]

    def judge_many(self, pairs: Sequence[Pair]) -> list[Judgement]:
        self.asked += [claim for claim, _, _ in pairs]
        self.calls.append(len(pairs))
        return [
            Judgement.unjudged("no answer") if claim == self.failing
            else Judgement(verdict=Verdict.SUPPORTS, confidence=0.1 + 0.2, rationale=f"“{claim}” €") for claim, _, _ in pairs
        ]


def pairs(*claims: str) -> list[Pair]:
    return [(claim, "text", None) for claim in claims]


def test_what_stands_in_the_journal_is_not_judged_again(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "j.jsonl"
    first, second = Counting(), Counting()
    with Journal(path) as journal:
        before = JournaledJudge(first, journal).judge_many(pairs("a", "b"))
    with Journal(path) as journal:
        judge = JournaledJudge(second, journal)
        after = judge.judge_many(pairs("b", "c", "a"))
    assert second.asked == ["c"]
    assert (judge.fresh, judge.reused) == (1, 2)
    assert [after[2], after[0]] == before


def test_the_same_question_is_asked_once_even_in_one_call(tmp_path: Path) -> None:
    judge = Counting()
    with Journal(tmp_path / "j") as journal:
        assert len(JournaledJudge(judge, journal).judge_many(pairs("a", "a", "a"))) == 3
    assert judge.asked == ["a"]


def test_judgements_are_written_a_few_at_a_time(tmp_path: Path) -> None:
    judge = Counting()
    with Journal(tmp_path / "j") as journal:
        JournaledJudge(judge, journal, at_once=4).judge_many(pairs(*"abcdefghij"))
    assert judge.calls == [4, 4, 2]


def test_a_failed_judgement_is_passed_on_and_never_kept(tmp_path: Path) -> None:
    path = tmp_path / "j"
    with Journal(path) as journal:
        found = JournaledJudge(Counting(failing="b"), journal).judge_many(pairs("a", "b"))
    assert [judgement.verdict for judgement in found] == [Verdict.SUPPORTS, None]
    again = Counting()
    with Journal(path) as journal:
        assert JournaledJudge(again, journal).judge_many(pairs("a", "b"))[1].verdict is Verdict.SUPPORTS
    assert again.asked == ["b"]


@pytest.mark.parametrize("change", ["claim", "quote", "text", "record", "judge", "version", "model", "code"])
def test_whatever_could_change_the_verdict_is_part_of_the_key(
    tmp_path: Path, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    passage = Passage(passage_id="r:0-4", record_id="r", text="text", start=0, end=4, record_version="v1")
    with Journal(tmp_path / "j") as journal:
        JournaledJudge(Counting(), journal).judge_many([("a", passage, "q")])
        other, claim, quote = Counting(), "a", "q"
        if change == "claim":
            claim = "b"
        elif change == "quote":
            quote = "p"
        elif change == "text":
            passage = passage.model_copy(update={"text": "next"})
        elif change == "record":
            passage = passage.model_copy(update={"record_version": "v2"})
        elif change == "code":
            monkeypatch.setattr("litrag.journal.code_version", lambda: "after an upgrade")
        else:
            setattr(other, {"judge": "judge_id", "version": "version", "model": "model_id"}[change], "other")
        JournaledJudge(other, journal).judge_many([(claim, passage, quote)])
    assert other.asked == [claim]


@pytest.mark.parametrize("changed", ["judges.py", "checks/numbers.py", "llm/prompts.py", "local_model.py"])
def test_an_upgrade_of_any_code_that_judges_changes_the_code_version(tmp_path: Path, changed: str) -> None:
    for name in ("judges.py", "checks/numbers.py", "llm/prompts.py", "local_model.py", "ui/pages.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("LIMIT = 1\n", encoding="utf-8")
    before = code_version.__wrapped__(tmp_path)
    (tmp_path / "ui" / "pages.py").write_text("LIMIT = 2\n", encoding="utf-8")
    assert code_version.__wrapped__(tmp_path) == before
    (tmp_path / changed).write_text("LIMIT = 2\n", encoding="utf-8")
    assert code_version.__wrapped__(tmp_path) != before


@pytest.mark.parametrize("cut", [1, 5, 40, 150])
def test_a_torn_last_line_is_cut_off_and_judged_again(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "j"
    with Journal(path) as journal:
        JournaledJudge(Counting(), journal).judge_many(pairs("a", "b"))
    content = path.read_bytes()
    path.write_bytes(content[:-cut])
    again = Counting()
    with Journal(path) as journal:
        JournaledJudge(again, journal).judge_many(pairs("a", "b"))
    assert again.asked == ([] if cut == 1 else ["b"])
    assert path.read_bytes() == content


def test_a_torn_first_line_starts_the_journal_anew(tmp_path: Path) -> None:
    path = tmp_path / "j"
    path.write_bytes(b'{"litrag_jour')
    with Journal(path) as journal:
        JournaledJudge(Counting(), journal).judge_many(pairs("a"))
    with Journal(path) as journal:
        assert len(journal) == 1


def test_a_damaged_line_in_between_costs_only_itself(tmp_path: Path) -> None:
    path = tmp_path / "j"
    with Journal(path) as journal:
        JournaledJudge(Counting(), journal).judge_many(pairs("a", "b", "c"))
    lines = path.read_bytes().splitlines(keepends=True)
    lines[2] = b"\x00\x00" + lines[2][10:]
    path.write_bytes(b"".join(lines))
    again = Counting()
    with Journal(path) as journal:
        assert journal.damaged == 1
        JournaledJudge(again, journal).judge_many(pairs("a", "b", "c"))
    assert again.asked == ["b"]


@pytest.mark.parametrize("content", [b"claim,pmid\nA fell,1\n", b"notes without an end", b'{"a": 1}\n'])
def test_a_file_that_is_no_journal_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "claims.csv"
    path.write_bytes(content)
    with pytest.raises(InputError, match="isn't a journal"), Journal(path):
        pass
    assert path.read_bytes() == content


@pytest.mark.skipif(sys.platform == "win32", reason="file locks differ")
def test_two_runs_can_not_write_one_journal(tmp_path: Path) -> None:
    path = tmp_path / "j"
    code = f"from litrag.journal import Journal\nfrom pathlib import Path\nwith Journal(Path({str(path)!r})): pass"
    with Journal(path):
        other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT)
    assert "another run writes" in other.stderr
    assert subprocess.run([sys.executable, "-c", code], check=False, cwd=ROOT).returncode == 0


def test_lines_are_plain_json_with_the_judgement(tmp_path: Path) -> None:
    path = tmp_path / "j"
    with Journal(path) as journal:
        JournaledJudge(Counting(), journal).judge("a", "text")
    entry = json.loads(path.read_text(encoding="utf-8").splitlines()[1])
    assert Judgement.model_validate(entry["judgement"]).rationale == "“a” €"


def test_a_closed_journal_refuses_to_be_written(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j")
    with pytest.raises(ValueError, match="isn't open"):
        journal.add([("k", Judgement(verdict=Verdict.SUPPORTS))])
