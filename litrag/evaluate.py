"""A run of questions: questions go in, answers kept one by one and scores come out; it goes on where it was ended.

The folder holds `answers.jsonl` (append-only, a torn last line is cut off), `metrics.json`, `report.md` and
`report.html`. Metrics hold nothing that differs between two runs on the same inputs: no time, date or id of a run.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from litrag import __version__
from litrag.errors import GenerationError, InputError
from litrag.metrics import COUNTS, SHARES, AbstentionScores, Scores, abstention_scores, macro, pooled, scores_of
from litrag.models import AuditedAnswer, Model

#: Answers one question. Whatever failure it should survive is a GenerationError.
AnswerOne = Callable[[str], AuditedAnswer]

ANSWERS, METRICS = "answers.jsonl", "metrics.json"


class Question(Model):
    """One line of a questions file; `answerable` is what is known of it, if anything is."""

    id: str
    question: str
    answerable: bool | None = None


class QuestionScores(Model):
    """What became of one question."""

    id: str
    question: str
    scores: Scores = Scores()
    states: tuple[str, ...] = ()
    failed: str = ""


class Evaluation(Model):
    """The scores of a run: all of it is a function of questions, corpus, generator and judge."""

    litrag: str = __version__
    setup: dict[str, str]
    failed: int = 0
    total: Scores
    macro: dict[str, float | None]
    abstentions: AbstentionScores
    questions: tuple[QuestionScores, ...]

    def to_json(self) -> str:
        return json.dumps(self.model_dump(mode="json"), ensure_ascii=False, indent=2, sort_keys=True) + "\n"


def read_questions(path: Path) -> list[Question]:
    """Questions from JSONL; InputError names the line that can't be used."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"can't read {str(path)!r} as UTF-8 text: {error}") from error
    found: dict[str, Question] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
            fields = {"question": value} if isinstance(value, str) else value
            question = Question.model_validate({"id": f"q{number}", **fields})
        except (ValueError, TypeError, ValidationError) as error:
            raise InputError(f"{path}, line {number} is no question ({{\"question\": …}}): {error}") from error
        if not question.question.strip():
            raise InputError(f"{path}, line {number}: the question is empty")
        if question.id in found:
            raise InputError(f"{path}, line {number}: the id {question.id!r} occurs twice")
        found[question.id] = question
    if not found:
        raise InputError(f"{path} holds no question; write one JSON object a line: {{\"question\": …}}")
    return list(found.values())


def run(
    questions: Sequence[Question], answer_one: AnswerOne, setup: dict[str, str], folder: Path,
    progress: Callable[[int, int], None] | None = None,
) -> Evaluation:
    """Answer what the folder doesn't hold yet, then score everything and write the metrics.

    A question that fails is reported and tried again by the next run. Answers of another setup aren't used.
    """
    folder.mkdir(parents=True, exist_ok=True)
    fingerprint = _fingerprint(setup)
    known = _kept(folder / ANSWERS)
    results: list[QuestionScores] = []
    for place, question in enumerate(questions, start=1):
        key = _key(question, fingerprint)
        failed = ""
        if key not in known:
            try:
                known[key] = answer_one(question.question)
            except GenerationError as error:
                failed = str(error)
            else:
                _keep(folder / ANSWERS, key, known[key])
        results.append(_scored(question, known.get(key), failed))
        if progress is not None:
            progress(place, len(questions))
    evaluation = _evaluation(questions, results, setup)
    (folder / METRICS).write_text(evaluation.to_json(), encoding="utf-8")
    return evaluation


def _scored(question: Question, answer: AuditedAnswer | None, failed: str) -> QuestionScores:
    if answer is None:
        return QuestionScores(id=question.id, question=question.question, failed=failed)
    return QuestionScores(
        id=question.id, question=question.question, scores=scores_of(answer),
        states=tuple(claim.state for claim in answer.claims),
    )


def _evaluation(
    questions: Sequence[Question], results: Sequence[QuestionScores], setup: dict[str, str]
) -> Evaluation:
    done = [result for result in results if not result.failed]
    scores = [result.scores for result in done]
    answerable = {q.id: q.answerable for q in questions if q.answerable is not None}
    return Evaluation(
        setup=setup, failed=len(results) - len(done), total=pooled(scores), macro=macro(scores),
        abstentions=abstention_scores({r.id: bool(r.scores.abstained) for r in done}, answerable),
        questions=tuple(results),
    )


def load(folder: Path) -> Evaluation:
    """The metrics of an earlier run."""
    path = folder / METRICS if folder.is_dir() else folder
    try:
        return Evaluation.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, ValidationError, UnicodeDecodeError) as error:
        raise InputError(f"{path} holds no metrics of `litrag evaluate`: {error}") from error


# --- answers on disk
def _fingerprint(setup: dict[str, str]) -> str:
    return hashlib.sha256(json.dumps([__version__, setup], sort_keys=True).encode()).hexdigest()


def _key(question: Question, fingerprint: str) -> str:
    return hashlib.sha256(f"{fingerprint}\x00{question.question}".encode()).hexdigest()[:32]


def _kept(path: Path) -> dict[str, AuditedAnswer]:
    """Answers by key; a last line that a kill tore is cut off, so that the next one begins on its own line."""
    if not path.exists():
        return {}
    content = path.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    if len(whole) < len(content):
        with path.open("r+b") as file:
            file.truncate(len(whole))
    found: dict[str, AuditedAnswer] = {}
    for number, line in enumerate(whole.splitlines(), start=1):
        try:
            entry: dict[str, Any] = json.loads(line)
            found[entry["key"]] = AuditedAnswer.model_validate(entry["answer"])
        except (ValueError, KeyError, TypeError, ValidationError) as error:
            raise InputError(f"{path}, line {number} is damaged ({error}); remove the line to have it answered again") from error
    return found


def _keep(path: Path, key: str, answer: AuditedAnswer) -> None:
    line = json.dumps({"key": key, "answer": answer.model_dump(mode="json")}, ensure_ascii=False)
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")
        file.flush()
        os.fsync(file.fileno())


# --- comparison
class Change(Model):
    """A question that came out differently in two runs."""

    id: str
    question: str
    before: str
    after: str


class Comparison(Model):
    """Two runs on the questions that both answered; anything else is counted and not compared."""

    shares: dict[str, tuple[float | None, float | None]]
    counts: dict[str, tuple[int, int]]
    changed: tuple[Change, ...]
    compared: int
    left_out: int


def compare(before: Evaluation, after: Evaluation) -> Comparison:
    """Share by share and question by question, over the questions that both runs finished."""
    old = {q.question: q for q in before.questions if not q.failed}
    new = {q.question: q for q in after.questions if not q.failed}
    both = [text for text in new if text in old]
    one, two = (pooled([run[text].scores for text in both]) for run in (old, new))
    return Comparison(
        shares={name: (getattr(one, name).value, getattr(two, name).value) for name in SHARES},
        counts={name: (getattr(one, name), getattr(two, name)) for name in ("abstained", "empty", *COUNTS)},
        changed=tuple(
            Change(id=new[text].id, question=text, before=in_words(old[text]), after=in_words(new[text]))
            for text in both if in_words(old[text]) != in_words(new[text])
        ),
        compared=len(both), left_out=len({*old, *new}) - len(both),
    )


def in_words(result: QuestionScores) -> str:
    """What became of a question, in a line."""
    if result.failed:
        return f"failed: {result.failed}"
    if result.scores.abstained:
        return "abstained"
    counted = {state: result.states.count(state) for state in dict.fromkeys(sorted(result.states))}
    return ", ".join(f"{n} {state.replace('_', ' ')}" for state, n in counted.items()) or "no claim"
