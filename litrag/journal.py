"""A journal of judgements: append-only, one JSON line each, safe against being killed at any moment.

In: claims with passages, as a judge gets them. Out: the same judgements as the judge's, but what stands in the
journal isn't judged again. A line is on the disk before its judgement is handed on; a torn last line is cut off. The
key covers claim, quote, passage, judge, its version, LitRAG's and that of its code, so nothing outdated is reused and
a run that goes on after an upgrade doesn't mix judgements of two versions; *unjudged* is never kept.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from pydantic import ValidationError

from litrag import __version__
from litrag.errors import InputError
from litrag.models import Judge, Judgement, Passage

if sys.platform != "win32":
    import fcntl

Pair = tuple[str, str | Passage, str | None]

_FORMAT = 1
#: Folders of the package whose code takes part in judging.
_JUDGING = (".", "checks", "llm")
_MAGIC = b'{"litrag_journal": '


class Journal:
    """The judgements of one file by their key; open it with `with`, one process at a time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.damaged = 0
        self._known: dict[str, Judgement] = {}
        self._file: BinaryIO | None = None

    def __enter__(self) -> Journal:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        created = not self.path.exists()
        self._file = self.path.open("a+b")
        self._lock(self._file)
        self._read(self._file)
        if created:
            _sync_folder(self.path.parent)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def __len__(self) -> int:
        return len(self._known)

    def get(self, key: str) -> Judgement | None:
        """The judgement kept under `key`; None when there is none."""
        return self._known.get(key)

    def add(self, judgements: Sequence[tuple[str, Judgement]]) -> None:
        """Keep judgements: all of them are on the disk when this returns."""
        if self._file is None:
            raise ValueError(f"the journal {self.path} isn't open; use it in a with statement")
        kept = [(key, judgement) for key, judgement in judgements if judgement.verdict is not None]
        lines = [json.dumps({"key": key, "judgement": judgement.model_dump(mode="json")}) for key, judgement in kept]
        if lines:
            self._write(self._file, ("\n".join(lines) + "\n").encode())
            self._known.update(kept)

    def _lock(self, file: BinaryIO) -> None:
        if sys.platform != "win32":
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                file.close()
                raise InputError(f"another run writes {self.path}; wait for it, or name another journal") from error

    def _read(self, file: BinaryIO) -> None:
        """Take in every whole line, mend or cut off a torn one at the end, count damaged ones in between."""
        file.seek(0)
        content = file.read()
        if not (content.startswith(_MAGIC) or _MAGIC.startswith(content)):
            raise InputError(f"{self.path} isn't a journal of LitRAG; name a new file (nothing was changed in this one)")
        whole = content.rfind(b"\n") + 1
        lines, torn = content[:whole].split(b"\n")[:-1], content[whole:]
        self.damaged = sum(not self._take(line) for line in lines[1:])
        if not lines:
            file.truncate(0)
            self._write(file, _MAGIC + f'{_FORMAT}, "litrag": "{__version__}"}}\n'.encode())
        elif torn and self._take(torn):
            self._write(file, b"\n")
        elif torn:
            file.truncate(whole)
            os.fsync(file.fileno())

    def _write(self, file: BinaryIO, content: bytes) -> None:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())

    def _take(self, line: bytes) -> bool:
        """Whether `line` is a whole entry; if so it is known from now on."""
        try:
            entry = json.loads(line)
            self._known[entry["key"]] = Judgement.model_validate(entry["judgement"])
        except (ValueError, KeyError, TypeError, ValidationError):
            return False
        return True


class JournaledJudge:
    """A judge that asks another one only what the journal doesn't hold; counts both."""

    def __init__(self, judge: Judge, journal: Journal, *, at_once: int = 16) -> None:
        self._judge = judge
        self._journal = journal
        self._at_once = at_once
        self._identity = identity(judge)
        self.fresh = 0
        self.reused = 0

    @property
    def judge_id(self) -> str:
        return self._judge.judge_id

    def judge(self, claim: str, passage: str | Passage, quote: str | None = None) -> Judgement:
        """One judgement; see `judge_many`."""
        return self.judge_many([(claim, passage, quote)])[0]

    def judge_many(self, pairs: Sequence[Pair]) -> list[Judgement]:
        """Judgements in order; new ones are written to the journal a few at a time, before the next are asked for."""
        keys = [self._key(pair) for pair in pairs]
        missing = {key: pair for key, pair in zip(keys, pairs, strict=True) if self._journal.get(key) is None}
        self.reused += sum(key not in missing for key in keys)
        self.fresh += len(missing)
        fresh: dict[str, Judgement] = {}
        wanted = list(missing.items())
        for start in range(0, len(wanted), self._at_once):
            part = wanted[start : start + self._at_once]
            judgements = self._judge.judge_many([pair for _, pair in part])
            answered = list(zip([key for key, _ in part], judgements, strict=True))
            self._journal.add(answered)
            fresh.update(answered)
        return [fresh[key] if key in fresh else self._kept(key) for key in keys]

    def _kept(self, key: str) -> Judgement:
        judgement = self._journal.get(key)
        if judgement is None:
            raise KeyError(key)
        return judgement

    def _key(self, pair: Pair) -> str:
        claim, passage, quote = pair
        record = (passage.record_id, passage.record_version) if isinstance(passage, Passage) else ("", "")
        text = passage.text if isinstance(passage, Passage) else passage
        parts = json.dumps([__version__, code_version(), *self._identity, claim, quote, *record, text])
        return hashlib.sha256(parts.encode()).hexdigest()


@lru_cache(maxsize=1)
def code_version(package: Path = Path(__file__).parent) -> str:
    """Short digest of the code that a verdict can depend on: checks, windows, prompts, whatever isn't a page.

    Version numbers change with releases only; between two of them a check may have been mended.
    """
    digest = hashlib.sha256()
    for folder in _JUDGING:
        for path in sorted((package / folder).glob("*.py")):
            digest.update(f"{folder}/{path.name}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:12]


def identity(judge: Judge) -> tuple[str, str, str]:
    """Id, version and model of a judge, as far as it tells them."""
    return judge.judge_id, str(getattr(judge, "version", "")), str(getattr(judge, "model_id", ""))


def _sync_folder(folder: Path) -> None:
    """Make a new file's name survive a power cut."""
    if sys.platform != "win32":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
