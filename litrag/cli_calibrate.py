"""`litrag calibrate` and `litrag compare`: the same functions as on the Calibrate page, for programs.

Exit codes: 0 all is well; 1 the labels are too few for a rate, a layer that was asked for was refused, or the new judge
may not replace the old one; 2 the call can't be carried out.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from litrag.config import settings
from litrag.errors import InputError

if TYPE_CHECKING:
    from litrag.profiles import ProfileHistory
    from litrag.recalibration import Calibration
    from litrag.reviews import Store

Add = Callable[[str, Callable[[argparse.Namespace], int], str], argparse.ArgumentParser]


def add_commands(add: Add) -> None:
    """The two commands with their options."""
    measure = add("calibrate", _calibrate, "say how often a judge is wrong by reviewers' labels, and adjust its confidence")
    measure.add_argument("--judge", help="name as in the report; default: the judge of most labelled items")
    measure.add_argument("--rescore", metavar="SPEC", help="first let this judge judge the labelled items it hasn't: local, …")
    measure.add_argument("--refit", action="store_true", help="refit the local judge's last layer; used only if that helps")
    measure.add_argument("--bound", type=float, default=0.05, metavar="SHARE",
                         help="share of supports that may be both shown as settled and wrong; default: 0.05")
    measure.add_argument("--report", type=Path, action="append", default=[], metavar="FILE", help="write .md, .html or .json")
    other = measure.add_mutually_exclusive_group()
    other.add_argument("--history", action="store_true", help="only list what was in force when")
    other.add_argument("--roll-back", action="store_true", help="only put the profile in force that was so before")
    other.add_argument("--use", metavar="PROFILE", help="only put this profile in force")
    gate = add("compare", _compare, "compare two judges on the labelled test items: may the new one replace the old one?")
    gate.add_argument("old", help="the judge in use: local, or its full name as in the report")
    gate.add_argument("new", help="the candidate")
    gate.add_argument("--rescore", metavar="SPEC", action="append", default=[],
                      help="first let this judge judge the labelled items it hasn't; repeatable")


def _calibrate(options: argparse.Namespace) -> int:
    from litrag.profiles import open_history
    from litrag.reviews import open_store

    store, history = open_store(settings().database_url), open_history()
    if options.use:
        return _say_event(options, f"in force: {history.put_in_force(options.use).profile_id}")
    if options.history or options.roll_back:
        return _past(options, store, history)
    _check(options)
    if options.rescore:
        _rescore(options, store, options.rescore)
    return _measure(options, store, history)


def _check(options: argparse.Namespace) -> None:
    if not 0 < options.bound < 1:
        raise InputError(f"--bound must lie between 0 and 1, got {options.bound}")
    wrong = [path for path in options.report if path.suffix.casefold() not in _FORMS]
    if wrong:
        raise InputError(f"--report {wrong[0]} must end in {', '.join(_FORMS)}")


def _measure(options: argparse.Namespace, store: Store, history: ProfileHistory) -> int:
    from litrag.calibration import FEW
    from litrag.local_model import EntailmentModel
    from litrag.recalibration import calibrate

    model = EntailmentModel.open() if options.refit else None
    found = calibrate(store, judge=options.judge, history=history, bound=options.bound, model=model)
    for path in options.report:
        _write(path, found)
    print(found.model_dump_json(indent=2) if options.json else found.in_words())
    refused = found.refit is not None and found.refit.layer is None
    return 1 if refused or found.profile.false_reassurance.n < FEW else 0


def _as_json(found: Calibration) -> str:
    return found.model_dump_json(indent=2)


def _as_markdown(found: Calibration) -> str:
    from litrag.calibration_report import as_markdown

    return as_markdown(found)


def _as_html(found: Calibration) -> str:
    from litrag.calibration_report import as_html

    return as_html(found)


_FORMS: dict[str, Callable[[Calibration], str]] = {".md": _as_markdown, ".html": _as_html, ".json": _as_json}


def _write(path: Path, found: Calibration) -> None:
    try:
        path.write_text(_FORMS[path.suffix.casefold()](found), encoding="utf-8")
    except OSError as error:
        raise InputError(f"can't write {str(path)!r}: {error.strerror or error}") from error


def _past(options: argparse.Namespace, store: Store, history: ProfileHistory) -> int:
    from litrag.recalibration import key_named, labelled_items

    key = key_named(labelled_items(store), options.judge)
    if options.roll_back:
        profile = history.roll_back(key)
        return _say_event(options, f"in force: {profile.profile_id}" if profile else f"{key.name} is uncalibrated again")
    entries = history.entries(key)
    if options.json:
        print(json.dumps([entry.model_dump(mode="json") for entry in entries], ensure_ascii=False, indent=2))
        return 0
    console = Console()
    console.print(Text(f"{key.name}: {len(entries)} events", style="bold"))
    for entry in entries:
        console.print(Text(f"  {entry.at:%Y-%m-%d %H:%M} {entry.action}: {entry.profile_id or 'uncalibrated'}"))
    return 0


def _say_event(options: argparse.Namespace, said: str) -> int:
    if options.json:
        print(json.dumps({"done": said}, ensure_ascii=False))
    else:
        Console().print(Text(said))
    return 0


def _rescore(options: argparse.Namespace, store: Store, spec: str) -> None:
    """Judge what this judge hasn't judged, with progress on standard error."""
    from litrag.judges import open_judge
    from litrag.recalibration import rescore

    console = Console(stderr=True)

    def tell(stage: str, done: int, total: int) -> None:
        if not options.json and done % 160 == 0:
            console.print(Text(f"{stage} {done} of {total}", style="dim"))

    count = rescore(store, open_judge(spec), progress=tell)
    if not options.json:
        console.print(Text(f"{spec}: {count} labelled items judged"))


def _compare(options: argparse.Namespace) -> int:
    from litrag.comparison import in_words
    from litrag.recalibration import compare
    from litrag.reviews import open_store

    store = open_store(settings().database_url)
    for spec in options.rescore:
        _rescore(options, store, spec)
    found = compare(store, options.old, options.new)
    print(found.model_dump_json(indent=2) if options.json else in_words(found).replace("*", ""))
    return 0 if found.may_replace else 1
