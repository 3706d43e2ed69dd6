"""What the fields of the commands' JSON reports mean (`--json`), for the data dictionary.

Answers are explained by `data_dictionary.FIELDS`; here stand the reports of `ingest`, `pubmed`, `corpora`, `import`,
`export`, `evaluate`, `calibrate`, `compare` and `verify --batch`. Tests hold both against what the commands print.
"""

from __future__ import annotations

from pydantic import BaseModel

from litrag.agreement import ClassMeasures
from litrag.calibration import Agreement, Anchoring, Errors, JudgeKey, Report, Reviewers
from litrag.comparison import Comparison, Flip, Reason, Running
from litrag.confidence import Bin, Reliability, RiskPoint, Scale, Threshold
from litrag.dedup import Merge
from litrag.estimates import Estimate
from litrag.evaluate import Evaluation, QuestionScores
from litrag.label_import import Change, Outcome, Problem
from litrag.library import FileReport, ImportReport
from litrag.metrics import AbstentionScores, Scores, Share
from litrag.profiles import Example, HistoryEntry, Layer, Profile
from litrag.pubmed import Refreshed
from litrag.rates import Correction, PlanRow
from litrag.readers.report import Rejection
from litrag.recalibration import Calibration
from litrag.refit import Refit

#: Command → the report that it prints; what these refer to is explained once, behind them.
REPORTS: dict[str, type[BaseModel]] = {
    "ingest": ImportReport, "pubmed": ImportReport, "pubmed --refresh": Refreshed, "import": Outcome, "evaluate": Evaluation,
    "calibrate": Calibration, "calibrate --history": HistoryEntry, "compare": Comparison,
}

#: Command → field → meaning, for reports that are plain objects. `a.b` is field b of each object in a.
PLAIN: dict[str, dict[str, str]] = {
    "any command that can't be carried out": {"error": "Why, in words. The exit code is 2."},
    "verify --batch": {
        "claims": "Claims that were checked.",
        "counts": "Claims by verdict, `uncited` or `unjudged`.",
        "supported": "Share of claims that are supported, 0 to 1.",
        "fail_under": "The share that was asked for; null when none was.",
        "exit_code": "The command's exit code.",
        "judge": "Name of the judge.",
        "fresh": "Judgements that were made now.",
        "reused": "Judgements that an interrupted run had kept.",
        "seconds": "Seconds for the whole batch.",
        "notes": "How the table was read.",
        "problems": "Rows that can't be used.",
        "problems.line": "Line of the table.",
        "problems.column": "Its column; empty when the whole row is meant.",
        "problems.message": "Why, in words.",
        "written": "Files that were written.",
    },
    "corpora": {"corpus": "Name of the corpus; one object for each.", "records": "Number of its records."},
    "corpora NAME": {
        "corpus": "Name of the corpus.",
        "records": "Number of its records.",
        "notices": "What became of its papers.",
        "notices.record": "The record.",
        "notices.kind": "What happened, such as `retracted`.",
        "notices.pmid": "PMID of the notice.",
        "notices.note": "Further words.",
        "merges": "Duplicates that were merged and can be parted again.",
        "merges.kept": "The record that stayed.",
        "merges.merged": "The record that was taken into it.",
        "merges.reason": "Why they are held to be the same.",
    },
    "corpora NAME --undo": {"parted": "The record that stands by itself again."},
    "corpora NAME --delete-record": {"deleted": "The records that were there and are gone."},
    "corpora NAME --delete": {"deleted": "The corpus that is gone."},
    "export FILE": {"written": "The file.", "format": "`csv`, `events`, `label-studio` or `argilla`."},
    "calibrate --roll-back, --use": {"done": "What was done, in words."},
}

MEANINGS: dict[type[BaseModel], dict[str, str]] = {
    ImportReport: {
        "corpus": "Name of the corpus.",
        "at": "When the import ended, UTC, ISO-8601.",
        "files": "The files.",
        "read": "Records that were read: new, updated, unchanged and merged ones.",
        "loaded": "Records that are new in the corpus.",
        "updated": "Records whose content changed.",
        "unchanged": "Records that the corpus held already, as they are.",
        "merges": "Duplicates that were merged.",
        "deleted": "Records that a file took back.",
        "without_abstract": "Records without a text that could be quoted.",
        "rejected": "What was not loaded, and fields that were left out.",
        "records": "Records in the corpus afterwards.",
        "passages": "Passages in its index afterwards.",
    },
    FileReport: {
        "file": "The file.", "format": "Format that its content shows; empty when it wasn't read.",
        "records": "Records that came out of it.", "rejected": "Records of it that were not loaded.",
    },
    Merge: {
        "kept": "The record that stayed.", "merged": "The record that was taken into it.",
        "reason": "Why they are held to be the same.", "record": "The merged record as it was.",
        "gave": "Fields of the kept record that come from the merged one.",
        "notices": "Notices of the kept record that come from the merged one.",
    },
    Rejection: {
        "file": "The file.", "record": "The record in it: its id or place.", "field": "The field, if one is meant.",
        "reason": "Why, in words.", "record_kept": "Whether only the field was left out and the record was loaded.",
    },
    Refreshed: {
        "report": "What changed in the corpus.", "new_notices": "PMID to kinds of notice that are new.",
        "missing": "PMIDs that PubMed no longer gives.",
    },
    Outcome: {
        "changes": "Labels that change.", "unchanged": "Rows that say what the store says already.",
        "problems": "Rows that can't be imported; with one of them nothing is.",
        "notes": "What else should be known, such as columns that were not read.",
        "saved": "Whether it was written: not for a preview or with a problem.",
    },
    Change: {
        "line": "Line of the table.", "item_id": "The reviewed item.", "reviewer_id": "Pseudonym of the reviewer.",
        "before": "The label before, in words.", "after": "The label afterwards, in words.",
    },
    Problem: {"line": "Line of the table.", "column": "Its column.", "message": "Why, in words."},
    Evaluation: {
        "litrag": "Version of LitRAG.",
        "setup": "What the answers depend on: corpus, generator, judge, their versions and a hash of the settings.",
        "failed": "Questions that failed; the same command tries them again.",
        "total": "Scores over all claims, each counting the same.",
        "macro": "Mean of each share over the answers that have it, each answer counting the same.",
        "abstentions": "Declined questions against what is known of them.",
        "questions": "Each question.",
    },
    QuestionScores: {
        "id": "Id of the question.", "question": "The question.", "scores": "Its scores.",
        "states": "State of each claim, in order.", "failed": "Why there is no answer; empty when there is one.",
    },
    Scores: {
        "answers": "Number of answers.",
        "abstained": "Answers that were declined; nothing else of them is counted.",
        "empty": "Answers without a claim that weren't declined.",
        "claims": "Number of claims.",
        "coverage": "Claims with at least one located citation.",
        "citation_recall": "Claims that their citations together bear out (ALCE).",
        "citation_precision": "Citations that are needed for that (ALCE).",
        "attributed": "Claims supported by the source that they cite, of all that aren't unjudged.",
        "faithful": "Claims supported by that source or another one of the corpus, of all that aren't unjudged.",
        "supports": "Claims with this verdict.",
        "partial": "Claims with this verdict.",
        "contradicts": "Claims with this verdict.",
        "not_found": "Claims with this verdict.",
        "hallucinated_quote": "Claims with this verdict.",
        "uncited": "Claims that cite nothing.",
        "unjudged": "Claims whose judgement failed.",
        "altered": "Citations whose quote was altered.",
        "misattributed": "Citations whose quote stands in another source.",
        "conflicts": "Claims that another retrieved source disagrees with.",
    },
    Share: {"hits": "How many.", "of": "Of how many.", "value": "The share, 0 to 1; null of none."},
    AbstentionScores: {
        "right": "Declined, and can't be answered.", "wrong": "Declined, and can be answered.",
        "missed": "Answered, and can't be answered.", "answered": "Answered, and can be answered.",
        "unknown": "Questions of which it isn't known.",
    },
    Calibration: {
        "profile": "The profile that is now in force.",
        "report": "Everything that the labels say of the judge.",
        "reliability_before": "Stated confidence against how often it was right.",
        "reliability_after": "The same for the calibrated confidence.",
        "risk_coverage": "Share of wrong verdicts among those kept, as fewer are kept.",
        "certain": "From which confidence on a *supports* is right with high certainty, rather than on average.",
        "looks": "How often the test split has been opened for this judge.",
        "refit": "What came of refitting the last layer; null when it wasn't asked for.",
        "trust": "What a reader may rely on, in words.",
    },
    Profile: {
        "judge": "Whose verdicts it speaks for.",
        "base": "The judge below a refitted layer; the same judge when there is none.",
        "made_at": "When it was made, UTC, ISO-8601.",
        "labels_hash": "Hash of the labels that it was made from.",
        "label_counts": "Labels by split.",
        "scale": "The map from stated to calibrated confidence.",
        "show_supports": "From which confidence on a *supports* is shown as settled.",
        "settle": "From which confidence on any other verdict is.",
        "wrong": "By verdict: how often reviewers say otherwise.",
        "false_reassurance": "How often reviewers don't say *supports* where the judge does.",
        "false_alarm": "How often reviewers say *supports* where the judge doesn't.",
        "balanced_accuracy": "Mean recall of the verdicts.",
        "ece_before": "Expected calibration error of the stated confidence.",
        "ece_after": "That of the calibrated confidence.",
        "shown_wrong": "On the test split: share wrong among the *supports* that are shown as settled.",
        "looks": "How often the test split had been opened.",
        "basis": "On which items the rates rest, in words.",
        "layer": "The refitted last layer; null when there is none.",
        "examples": "Labelled claims that an LLM judge is shown.",
    },
    JudgeKey: {"judge": "Name of the judge.", "model": "Its model.", "version": "Version of its prompt or weights."},
    Scale: {
        "kind": "`none`, `temperature`, `logistic` or `isotonic`.",
        "temperature": "What the logit is divided by.",
        "offset": "What is added to it.",
        "offsets": "What is added by verdict, instead.",
        "knots": "Isotonic: stated and calibrated confidence at the points of the line.",
        "n": "Labels that it was fitted on.",
    },
    Threshold: {
        "value": "The confidence; null when no threshold keeps the bound.",
        "bound": "Largest share of verdicts that may be both shown as settled and wrong.",
        "n": "Labels that it rests on.",
        "kept": "Share of verdicts that it shows as settled.",
        "promise": "What it promises, in words.",
        "groups": "Questions that the labels come from.",
    },
    Layer: {
        "weights": "Matrix that the log-probabilities of the four verdicts are multiplied by.",
        "bias": "What is added.", "n": "Labels that it was fitted on.",
    },
    Example: {
        "item_id": "The reviewed item.", "claim": "The claim.", "passage": "The passage.",
        "verdict": "The reviewers' verdict.", "judged": "The judge's verdict.",
    },
    Estimate: {
        "value": "The value; null when it is undefined.",
        "low": "Lower end of its 95 % interval.",
        "high": "Upper end.",
        "n": "Items that it rests on.",
        "hits": "Items that count, where the value is a share of items counted alike.",
        "undefined": "Why there is no value.",
        "method": "How value and interval were computed.",
    },
    Report: {
        "judge": "The judge.",
        "made_at": "When it was made, UTC, ISO-8601.",
        "labels_hash": "Hash of the labels.",
        "n": "Labelled items that the judge has judged.",
        "splits": "Items by split.",
        "left_out": "Items that are in no measure, by reason.",
        "unsure": "Items of which the judge itself is unsure.",
        "agreement": "How far reviewer and judge agree.",
        "errors": "How often the judge misleads.",
        "quote_check": "Share of quotes that code calls hallucinated and reviewers don't.",
        "reviewers": "How far reviewers agree with each other.",
        "anchoring": "What seeing the verdict does to labels.",
        "unlabelled": "Share of supported claims among unlabelled ones, the judge's errors taken out.",
        "powered": "The same with the judge's verdicts on unlabelled claims as a control variate.",
        "plan": "What more labels would tell.",
    },
    Agreement: {
        "accuracy": "Share of equal verdicts.",
        "kappa": "Cohen's κ.",
        "ordered_kappa": "Linearly weighted κ over contradicts, partial, supports.",
        "alpha": "Krippendorff's α.",
        "ac1": "Gwet's AC1.",
        "mcc": "Matthews's correlation coefficient.",
        "balanced_accuracy": "Mean recall of the verdicts.",
        "supports_balanced_accuracy": "The same for *supports* against all else.",
        "classes": "Precision, recall and F1 by verdict.",
        "table": "Items by reviewers' verdict (rows) and judge's verdict (columns), in the order of `classes`.",
    },
    ClassMeasures: {
        "verdict": "The verdict.", "precision": "Share of the judge's verdicts of this kind that reviewers give too.",
        "recall": "Share of the reviewers' that the judge gives too.", "f1": "Harmonic mean of both.",
    },
    Errors: {
        "false_reassurance": "How often reviewers don't say *supports* where the judge does.",
        "false_alarm": "How often reviewers say *supports* where the judge doesn't.",
        "wrong": "By verdict: how often reviewers say otherwise.",
        "weighted_false_reassurance": "False reassurance over all claims that could have been drawn; null without such a sample.",
        "basis": "On which items the rates rest, in words.",
    },
    Reviewers: {
        "items": "Items that two or more reviewers labelled blind.", "agreement": "Share of pairs that agree.",
        "kappa": "Cohen's κ.", "alpha": "Krippendorff's α.",
        "false_reassurance": "How often another reviewer doesn't say *supports* where one does.",
    },
    Anchoring: {
        "revealed": "Blind labels that were kept or revised after the verdict was shown.",
        "before": "Agreement with the judge before.", "after": "Agreement with the judge after.",
        "towards": "Labels that moved to the judge's verdict.",
        "away": "Labels that moved away from it.",
    },
    Correction: {
        "as_judged": "Share of *supports* as judged.", "sensitivity": "Share of truly supported claims that the judge finds.",
        "specificity": "Share of the others that it finds.", "corrected": "The share with these errors taken out.",
    },
    PlanRow: {
        "n": "Number of labelled *supports*.", "low": "Lower end of the interval to expect.", "high": "Upper end.",
    },
    Reliability: {
        "bins": "By stated confidence.", "ece": "Expected calibration error.", "brier": "Brier score.", "n": "Verdicts.",
    },
    Bin: {
        "low": "Confidence from.", "high": "Confidence below; in the last bin including 1.", "n": "Verdicts in it.",
        "confidence": "Their mean confidence.", "right": "How many of them were right.",
    },
    RiskPoint: {
        "threshold": "Confidence from which verdicts are kept.", "coverage": "Share that is kept.",
        "risk": "Share of these that is wrong.", "n": "Verdicts kept.",
    },
    Refit: {
        "layer": "The layer; null when it isn't used.", "before": "Balanced accuracy without it, on left-out questions.",
        "after": "Balanced accuracy with it.", "strength": "Strength of regularisation.", "n": "Labels.",
        "reason": "Why it is used or not.",
    },
    HistoryEntry: {
        "at": "When, UTC, ISO-8601.", "action": "`made`, `rolled back` or `put in force`.", "base": "The judge.",
        "profile_id": "The profile in force since then; null for none.",
    },
    Comparison: {
        "old": "The judge in use.",
        "new": "The candidate.",
        "n": "Labelled test items that both judged.",
        "both_right": "Items on which both are right.",
        "only_old_right": "Items on which only the old one is.",
        "only_new_right": "Items on which only the new one is.",
        "both_wrong": "Items on which neither is.",
        "mcnemar_p": "P value of McNemar's exact test; null without items.",
        "old_false_reassurance": "How often reviewers don't say *supports* where the old one does.",
        "new_false_reassurance": "The same for the new one.",
        "accuracy": "Difference in accuracy, new less old.",
        "balanced_accuracy": "Difference in balanced accuracy.",
        "false_reassurance": "Difference in false reassurance.",
        "old_classes": "Precision, recall and F1 of the old one.",
        "new_classes": "The same of the new one.",
        "flips": "Items on which their verdicts differ.",
        "old_running": "What judging by the old one cost.",
        "new_running": "What judging by the new one cost.",
        "may_replace": "Whether every condition is met.",
        "reasons": "The conditions.",
    },
    Flip: {
        "item_id": "The reviewed item.", "human": "The reviewers' verdict.", "old": "The old judge's.",
        "new": "The new judge's.",
    },
    Running: {
        "judged": "Items with a verdict.", "unjudged": "Items without.", "seconds": "Mean seconds per item.",
        "cost_usd": "Mean US dollars per item; null when no price is known.",
    },
    Reason: {"met": "Whether the condition is met.", "text": "The condition, in words."},
}
