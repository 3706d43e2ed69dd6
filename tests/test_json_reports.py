"""What every command prints with `--json` is what the data dictionary explains, field by field."""

import json
import re

import pytest
from fakes.answers import answer
from fakes.embeddings import WordEmbeddings
from fakes.eutils_server import an_article, fake_pubmed
from fakes.labelled import ErringJudge, import_labels

from litrag.changes import ExportedAnswer
from litrag.cli import _parser, main
from litrag.config import PROJECT, settings
from litrag.data_dictionary import EXPLAINED, TARGET
from litrag.models import AuditedAnswer, Verdict
from litrag.profiles import HistoryEntry, open_history
from litrag.recalibration import rescore
from litrag.report_fields import MEANINGS, PLAIN, REPORTS
from litrag.reviews import open_store

#: Commands whose output is held against the dictionary here, by the name that they have in it.
ANSWERS = {"ask", "verify", "demo", "show"}
TESTED = {*REPORTS, *PLAIN, *ANSWERS}

RIS = "TY  - JOUR\nTI  - Milk before sleep in night nurses\nAU  - Lind, B\nPY  - 2019\nAB  - It helps.\n{}ER  - \n"


@pytest.fixture
def printed(capsys):
    """Runs a command with --json; returns its exit code and what it printed."""
    def run(*arguments):
        capsys.readouterr()
        code = main([*map(str, arguments), "--json"])
        return code, json.loads(capsys.readouterr().out)

    return run


@pytest.fixture
def sample(sample_index, monkeypatch):
    monkeypatch.setattr("litrag.index.open_index", lambda *_, **__: sample_index)


@pytest.fixture
def labelled():
    store = open_store()
    import_labels(store, 240, questions=120)
    rescore(store, ErringJudge())
    rescore(store, ErringJudge("better", wrong=0.02))
    yield store
    store.close()


def check(value, shape, parts, further=()):
    """Every object of a printed value has exactly the fields that the dictionary explains for its structure."""
    if "$ref" in shape:
        shape = parts[shape["$ref"].rsplit("/", 1)[1]]
    if "anyOf" in shape:
        options = [option for option in shape["anyOf"] if (option.get("type") == "null") == (value is None)]
        assert options, value
        check(value, options[0], parts)
    elif "properties" in shape:
        model = next(model for model in EXPLAINED if model.__name__ == shape["title"])
        assert set(value) == {*EXPLAINED[model], *further}, shape["title"]
        for name, inner in shape["properties"].items():
            check(value[name], inner, parts)
    elif shape.get("type") == "array" and "items" in shape:
        for one in value:
            check(one, shape["items"], parts)
    elif shape.get("type") == "object":
        for one in value.values():
            check(one, shape["additionalProperties"], parts)


def as_explained(value, model, further=()):
    schema = model.model_json_schema(mode="serialization")
    check(value, schema, schema.get("$defs", {}), further)


def as_listed(value, command):
    """A plain report has the fields that are listed for it, also within its lists."""
    names = PLAIN[command]
    assert set(value) == {name for name in names if "." not in name}
    for name in {name.partition(".")[0] for name in names if "." in name}:
        inner = {field.partition(".")[2] for field in names if field.startswith(f"{name}.")}
        assert value[name], f"{command}: {name} is empty, so that its fields aren't shown here"
        assert all(set(one) == inner for one in value[name])


def test_every_command_that_prints_json_is_explained():
    commands = set(_parser()._subparsers._group_actions[0].choices) - {"serve-metrics"}
    assert commands == {name.split()[0] for name in TESTED if name.split()[0] != "any"}


@pytest.mark.parametrize("model", MEANINGS, ids=lambda model: model.__name__)
def test_every_field_of_a_report_has_a_meaning_and_no_meaning_lacks_a_field(model):
    assert set(MEANINGS[model]) == {*model.model_fields, *model.model_computed_fields}


@pytest.mark.parametrize("model", sorted(set(REPORTS.values()), key=lambda m: m.__name__), ids=lambda model: model.__name__)
def test_every_structure_within_a_report_is_explained(model):
    parts = model.model_json_schema(mode="serialization").get("$defs", {})
    within = {name for name, shape in parts.items() if shape.get("type") == "object"}
    assert within <= {explained.__name__ for explained in EXPLAINED}


def test_no_two_structures_share_a_name_and_every_link_leads_somewhere():
    names = [model.__name__ for model in EXPLAINED]
    assert len(set(names)) == len(names)
    text = TARGET.read_text("utf-8")
    headings = {re.sub(r"[^\w\s-]", "", line.lstrip("# ")).strip().lower().replace(" ", "-")
                for line in text.splitlines() if line.startswith("#")}
    assert set(re.findall(r"\]\(#([\w-]+)\)", text)) <= headings


def test_answers_of_every_command_are_as_explained(sample, printed, tmp_path):
    _, asked = printed("ask", "Does semaglutide protect the kidneys?", "--judge", "checks")
    as_explained(asked, AuditedAnswer)
    _, declined = printed("ask", "How does semaglutide compare with bariatric surgery?", "--judge", "checks")
    assert declined["abstention"]
    as_explained(declined, AuditedAnswer)
    _, verified = printed("verify", PROJECT / "data" / "sample_answers.json", "--judge", "checks")
    for one in verified:
        as_explained(one, AuditedAnswer)
    _, demo = printed("demo", "--judge", "checks")
    assert len(demo) > 3
    for one in demo:
        as_explained(one, AuditedAnswer)
    (tmp_path / "answer.json").write_text(json.dumps(asked), encoding="utf-8")
    _, shown = printed("show", tmp_path / "answer.json")
    as_explained(shown, AuditedAnswer, {"source_changes"})
    assert set(ExportedAnswer.model_fields) - set(AuditedAnswer.model_fields) == {"source_changes"}


def test_what_goes_wrong_is_told_in_one_field(printed):
    code, said = printed("ask", "  ")
    assert code == 2
    as_listed(said, "any command that can't be carried out")


def test_a_batch_is_as_explained(sample, printed, tmp_path):
    table = tmp_path / "claims.csv"
    table.write_text("claim,pmid\nSemaglutide was given once weekly.,33567185\n,33567185\n", encoding="utf-8")
    _, said = printed("verify", "--batch", table, "--judge", "checks")
    as_listed(said, "verify --batch")


def test_an_evaluation_is_as_explained(sample, printed, tmp_path):
    questions = tmp_path / "questions.jsonl"
    questions.write_text('{"question": "Does semaglutide protect the kidneys?", "answerable": true}\n', encoding="utf-8")
    _, said = printed("evaluate", questions, "--judge", "checks", "--out", tmp_path / "out")
    as_explained(said, REPORTS["evaluate"])
    assert json.loads((tmp_path / "out" / "metrics.json").read_text("utf-8")) == said


def test_reports_on_corpora_are_as_explained(monkeypatch, printed, tmp_path):
    monkeypatch.setattr("litrag.library.open_embeddings", WordEmbeddings)
    (tmp_path / "a.ris").write_text(RIS.format("") + RIS.format("DO  - 10.1000/x\n"), encoding="utf-8")
    (tmp_path / "b.pdf").write_bytes(b"%PDF-1.4")
    _, report = printed("ingest", tmp_path / "a.ris", tmp_path / "b.pdf", "--corpus", "mine")
    assert report["merges"]
    assert report["rejected"]
    as_explained(report, REPORTS["ingest"])
    _, corpora = printed("corpora")
    for one in corpora:
        as_listed(one, "corpora")
    with fake_pubmed({"101": an_article("101", "Sleep rose.", more=(
        '<CommentsCorrectionsList><CommentsCorrections RefType="ExpressionOfConcernIn"><PMID>9</PMID></CommentsCorrections>'
        "</CommentsCorrectionsList>"))}) as server:
        monkeypatch.setenv("LITRAG_NCBI_URL", server.url)
        settings.cache_clear()
        _, found = printed("pubmed", "milk", "--corpus", "mine")
        as_explained(found, REPORTS["pubmed"])
        _, refreshed = printed("pubmed", "--refresh", "--corpus", "mine")
        as_explained(refreshed, REPORTS["pubmed --refresh"])
    _, one = printed("corpora", "mine")
    as_listed(one, "corpora NAME")
    _, parted = printed("corpora", "mine", "--undo", report["merges"][0]["merged"])
    as_listed(parted, "corpora NAME --undo")
    _, gone = printed("corpora", "mine", "--delete-record", "101")
    as_listed(gone, "corpora NAME --delete-record")
    _, gone = printed("corpora", "mine", "--delete")
    as_listed(gone, "corpora NAME --delete")


def test_reports_on_labels_are_as_explained(printed, tmp_path):
    store = open_store()
    store.save_run(answer([Verdict.SUPPORTS]))
    store.send_to_review("run-a")
    store.close()
    _, said = printed("export", tmp_path / "labels.csv")
    as_listed(said, "export FILE")
    (tmp_path / "theirs.csv").write_text("statement,abstract,tag\nA works.,A worked.,yes\nB works.,B worked.,perhaps\n", "utf-8")
    foreign = ("import", tmp_path / "theirs.csv", "--map", "claim_text=statement", "--map", "passage_text=abstract",
               "--map", "human_verdict=tag", "--value", "yes=supports")
    _, problem = printed(*foreign)
    assert problem["problems"]
    as_explained(problem, REPORTS["import"])
    _, preview = printed(*foreign, "--value", "perhaps=partial", "--preview")
    assert preview["changes"]
    as_explained(preview, REPORTS["import"])


def test_reports_on_judges_are_as_explained(labelled, printed):
    _, found = printed("calibrate", "--judge", "erring")
    as_explained(found, REPORTS["calibrate"])
    name = open_history().in_force()[0].profile_id
    for arguments in (("--judge", "erring", "--roll-back"), ("--use", name)):
        _, said = printed("calibrate", *arguments)
        as_listed(said, "calibrate --roll-back, --use")
    _, history = printed("calibrate", "--judge", "erring", "--history")
    assert len(history) == 3
    for entry in history:
        as_explained(entry, HistoryEntry)
    _, compared = printed("compare", "better", "erring")
    assert compared["flips"]
    as_explained(compared, REPORTS["compare"])
