"""A run of questions: resumable, the same bytes twice, a report and a comparison."""

import json

import pytest

from litrag.cli import main
from litrag.errors import GenerationError, InputError
from litrag.evaluate import ANSWERS, METRICS, compare, load, read_questions, run
from litrag.evaluate_report import markdown, page
from litrag.models import (
    Abstention,
    AuditedAnswer,
    AuditedClaim,
    CheckedCitation,
    Judgement,
    Location,
    MatchKind,
    Verdict,
)

SETUP = {"corpus": "toy", "judge": "recording"}


def questions(tmp_path, *lines):
    path = tmp_path / "questions.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return path


class Answers:
    """Answers by what the question says; keeps what it was asked."""

    def __init__(self, failing=()):
        self.asked, self.failing = [], set(failing)

    def __call__(self, question):
        self.asked.append(question)
        if question in self.failing:
            raise GenerationError("the model gave no usable answer: it stopped")
        if "unknown" in question:
            return AuditedAnswer(run_id=f"r{len(self.asked)}", abstention=Abstention(reason="nothing"))
        verdict = Verdict.CONTRADICTS if "wrong" in question else Verdict.SUPPORTS
        citation = CheckedCitation(n=1, record_id="r1", location=Location(match=MatchKind.EXACT),
                                   judgement=Judgement(verdict=verdict, seconds=0.1 * len(self.asked)))
        return AuditedAnswer(run_id=f"r{len(self.asked)}", question=question, seconds={"writing": len(self.asked)},
                             claims=(AuditedClaim(claim_id="c1", text="A claim.", citations=(citation,)),))


ASKED = ({"id": "a", "question": "first?", "answerable": True}, {"id": "b", "question": "unknown?", "answerable": False},
         {"id": "c", "question": "wrong?"})


def test_two_runs_on_the_same_inputs_give_the_same_bytes(tmp_path):
    asked = read_questions(questions(tmp_path, *ASKED))
    for name in ("one", "two"):
        run(asked, Answers(), SETUP, tmp_path / name)
    first, second = ((tmp_path / name / METRICS).read_bytes() for name in ("one", "two"))
    assert first == second
    assert json.loads(first)["total"]["attributed"] == {"hits": 1, "of": 2, "value": 0.5}


def test_a_run_that_was_ended_goes_on_and_asks_nothing_twice(tmp_path):
    asked = read_questions(questions(tmp_path, *ASKED))

    class Killed(Exception):
        pass

    answers = Answers()

    def killed(question):
        if question == "wrong?":
            raise Killed
        return answers(question)

    with pytest.raises(Killed):
        run(asked, killed, SETUP, tmp_path / "out")
    with (tmp_path / "out" / ANSWERS).open("ab") as file:
        file.write(b'{"key": "torn in the midd')
    again = Answers()
    evaluation = run(asked, again, SETUP, tmp_path / "out")
    assert again.asked == ["wrong?"]
    assert [q.states for q in evaluation.questions] == [("supports",), (), ("contradicts",)]
    assert evaluation.abstentions.right == 1
    run(asked, Answers(), SETUP, tmp_path / "fresh")
    assert (tmp_path / "fresh" / METRICS).read_bytes() == (tmp_path / "out" / METRICS).read_bytes()


def test_answers_of_another_setup_arent_used(tmp_path):
    asked = read_questions(questions(tmp_path, *ASKED))
    run(asked, Answers(), SETUP, tmp_path / "out")
    other = Answers()
    run(asked, other, SETUP | {"judge": "another"}, tmp_path / "out")
    assert len(other.asked) == 3


def test_a_failure_is_reported_kept_out_of_the_scores_and_tried_again(tmp_path):
    asked = read_questions(questions(tmp_path, *ASKED))
    evaluation = run(asked, Answers(failing={"first?"}), SETUP, tmp_path / "out")
    assert (evaluation.failed, evaluation.total.answers) == (1, 2)
    assert "it stopped" in markdown(evaluation)
    again = Answers()
    assert run(asked, again, SETUP, tmp_path / "out").failed == 0
    assert again.asked == ["first?"]


def test_two_runs_are_compared_on_the_questions_that_both_have(tmp_path):
    one = run(read_questions(questions(tmp_path, *ASKED)), Answers(), SETUP, tmp_path / "one")
    changed = ({"id": "a", "question": "first?"}, {"id": "n", "question": "new?"})
    two = run(read_questions(questions(tmp_path, *changed)), lambda q: Answers()("wrong?"), SETUP, tmp_path / "two")
    found = compare(one, two)
    assert (found.compared, found.left_out) == (1, 3)
    assert found.shares["attributed"] == (1.0, 0.0)
    assert [(c.question, c.before, c.after) for c in found.changed] == [("first?", "1 supports", "1 contradicts")]
    assert "-100.0 points" in markdown(two, found).replace("\\", "")
    assert load(tmp_path / "one") == one


@pytest.mark.parametrize(("lines", "named"), [
    (["{"], "line 1"),
    (['{"question": ""}'], "empty"),
    (['{"id": "x", "question": "a?"}', '{"id": "x", "question": "b?"}'], "twice"),
    ([], "no question"), (["[1]"], "line 1"),
])
def test_a_questions_file_that_cant_be_used_says_where(tmp_path, lines, named):
    path = tmp_path / "q.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(InputError, match=named):
        read_questions(path)


def test_a_hostile_question_is_text_in_both_reports(tmp_path):
    hostile = "<script>alert(1)</script> | [x](javascript:1)"
    evaluation = run(read_questions(questions(tmp_path, {"question": hostile})), Answers(), SETUP, tmp_path / "out")
    assert "<script" not in page(evaluation)
    assert "&lt;script&gt;" in page(evaluation)
    assert "<script>" not in markdown(evaluation)


def test_the_command_gives_the_same_metrics_twice_over_the_sample_corpus(tmp_path, sample_index, monkeypatch, capsys):
    monkeypatch.setattr("litrag.index.open_index", lambda *_, **__: sample_index)
    path = questions(
        tmp_path, {"id": "k", "question": "Does semaglutide protect the kidneys?", "answerable": True},
        {"id": "d", "question": "Does semaglutide slow Alzheimer's disease or dementia?", "answerable": False},
    )
    for name in ("one", "two"):
        assert main(["evaluate", str(path), "--judge", "checks", "--out", str(tmp_path / name)]) == 0
    assert (tmp_path / "one" / METRICS).read_bytes() == (tmp_path / "two" / METRICS).read_bytes()
    capsys.readouterr()
    again = ["evaluate", str(path), "--judge", "checks", "--out", str(tmp_path / "two"), "--against", str(tmp_path / "one")]
    assert main([*again, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["abstentions"]["right"] == 1
    assert printed["total"]["coverage"]["value"] == 1.0
    assert "Compared with the earlier run" in (tmp_path / "two" / "report.html").read_text("utf-8")
