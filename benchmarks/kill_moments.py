"""Kill a process with SIGKILL while it changes a corpus, and look whether the corpus is the old or the new one.

`python -m benchmarks.kill_moments [--moments 50] [--seed 1]`. Operations take turns: an import that adds records and merges
a duplicate, an import that updates records, a deletion of records, a re-index for another embedding model, and an import
of what is there already.
Every other moment is a time drawn from the length of the operation; the others are steps: the worker kills itself
before the n-th thing that it does to the file system (creating, opening for writing, renaming or removing), n drawn from
those that the unbroken operation takes. Then the corpus is opened and must be, in records, passages, vectors, words and
merges, what it was before or what an unbroken run makes of it; the same operation, repeated, must make the new one
without waiting for a lock or leaving anything beside it. Embeddings are hashed words: what they mean doesn't matter here.
Writes docs/benchmarks/kill-moments.md and exits 1 when a state is neither.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import HashingVectorizer

from litrag import library
from litrag.config import PROJECT, settings
from litrag.embeddings import Counter as Counting
from litrag.embeddings import PassageEmbeddings
from litrag.index import build_index, load_index

REPORT = PROJECT / "docs" / "benchmarks" / "kill-moments.md"
OPERATIONS = ("import", "update", "delete", "re-index", "old")
WORDS = {"old": "import of the same again"}
CORPUS = "c"
RECORDS = 120
#: What the interpreter reports before it happens (sys.addaudithook).
STEPS = frozenset({"open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.truncate", "os.utime"})


class HashedWords(PassageEmbeddings):
    """Vectors of word counts; another `model_id` stands for another model."""

    def __init__(self, model_id: str = "hashed words:1", dimension: int = 256) -> None:
        self._model_id, self._dimension = model_id, dimension
        self._vectorizer = HashingVectorizer(n_features=dimension, alternate_sign=False, dtype=np.float32)

    @property
    def model_id(self) -> str:
        return self._model_id

    @property
    def dimension(self) -> int:
        return self._dimension

    @property
    def max_tokens(self) -> int:
        return 64

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) + 2 for text in texts]

    def embed(self, texts: Sequence[str], counter: Counting | None = None) -> np.ndarray:
        if not texts:
            return np.zeros((0, self._dimension), dtype=np.float32)
        rows: np.ndarray = self._vectorizer.transform(texts).toarray()
        return rows

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [[float(one) for one in row] for row in self.embed(texts)]

    def embed_query(self, text: str) -> list[float]:
        return [float(one) for one in self.embed([text])[0]]


def write_files(folder: Path) -> None:
    """The files that the operations import."""
    def lines(ids: range, found: str) -> str:
        return "".join(json.dumps({
            "id": f"r{n}", "title": f"Trial number {n} of warm milk before sleep in ward {n}", "authors": [f"Lind{n} B"],
            "year": 2019, "abstract": f"In ward {n} sleep {found} by {n} minutes. Nobody left the trial."}) + "\n" for n in ids)

    (folder / "old.jsonl").write_text(lines(range(RECORDS), "rose"), encoding="utf-8")
    copy = {"id": "copy", "title": "Trial number 3 of warm milk before sleep in ward 3", "authors": ["Lind3 B"], "year": 2019,
            "abstract": "Sleep rose."}
    (folder / "import.jsonl").write_text(
        lines(range(RECORDS, RECORDS + 40), "rose") + json.dumps(copy) + "\n", encoding="utf-8")
    (folder / "update.jsonl").write_text(lines(range(RECORDS), "fell"), encoding="utf-8")


def carry_out(operation: str, files: Path) -> None:
    """One change of the corpus in LITRAG_HOME."""
    if operation == "delete":
        library.delete_records(CORPUS, [f"r{n}" for n in range(0, RECORDS, 2)], embeddings=HashedWords())
    elif operation == "re-index":
        other = HashedWords("hashed words:2", 128)
        build_index(library.records_of(CORPUS), library.folder_of(CORPUS), embeddings=other)
    else:
        library.add(CORPUS, [files / f"{operation}.jsonl"], embeddings=HashedWords())


def state(home: Path) -> str:
    """Hash of all that the corpus in `home` says, after its files were checked; raises when they don't fit together."""
    folder = home / "index" / CORPUS
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    model = HashedWords(manifest["model_id"], manifest["dimension"])
    index = load_index(folder, embeddings=model)
    contents = index._contents
    hits = [(passage.passage_id, round(score, 4)) for passage, score in index.search("Did sleep fall in ward 7?", 5)]
    merges = (folder / manifest["build"] / "library.json").read_text(encoding="utf-8")
    said = [
        [record.model_dump_json(exclude={"origin"}) for record in index.records.values()],
        [(p.passage_id, p.text, p.record_version) for p in index.passages], hits, len(contents.lexical),
        manifest["model_id"], [one["merged"] for one in json.loads(merges)["merges"]],
    ]
    return hashlib.sha256(json.dumps(said).encode() + contents.matrix.tobytes()).hexdigest()


def left_over(home: Path) -> list[str]:
    """What lies in the corpus' folder beside the manifest and its build."""
    folder = home / "index" / CORPUS
    build = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["build"]
    return sorted(path.name for path in folder.iterdir() if path.name not in ("manifest.json", build))


# The worker: forked by a server that has imported everything and opened nothing

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(["benchmarks.kill_moments"])


def work(operation: str, home: Path, files: Path, die_at: int, tell: Connection) -> None:
    """Carry out an operation and tell its steps and seconds; with `die_at`, die before that step."""
    os.environ["LITRAG_HOME"] = str(home)
    settings.cache_clear()
    steps = 0

    def step(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal steps
        if event not in STEPS:
            return
        path = str(arguments[0])
        if os.path.isabs(path) and not path.startswith(str(home)):
            return  # a folder that is removed names what lies in it by the bare name
        if event == "open" and not _writes(arguments):
            return
        steps += 1
        if steps == die_at:
            os.kill(os.getpid(), signal.SIGKILL)

    tell.send("begun")
    sys.addaudithook(step)
    start = time.perf_counter()
    carry_out(operation, files)
    tell.send((steps, time.perf_counter() - start))


def _writes(arguments: tuple[Any, ...]) -> bool:
    mode, flags = arguments[1], arguments[2]
    return any(char in mode for char in "wax+") if isinstance(mode, str) else bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))


def started(operation: str, home: Path, files: Path, die_at: int = 0) -> tuple[ForkServerProcess, Connection]:
    """A process that has begun the operation, and where it tells of the end."""
    hear, tell = _context.Pipe(duplex=False)
    worker = _context.Process(target=work, args=(operation, home.resolve(), files, die_at, tell))
    worker.start()
    tell.close()
    if hear.recv() != "begun":
        raise SystemExit(f"{operation} didn't begin")
    return worker, hear


def ended(worker: ForkServerProcess, hear: Connection) -> tuple[int, float] | None:
    """Steps and seconds of the operation, None when the process was killed before its end."""
    try:
        told: tuple[int, float] | None = hear.recv()
    except EOFError:
        told = None
    worker.join()
    return told


def unbroken(operation: str, home: Path, files: Path) -> tuple[int, float]:
    """Let the operation come to its end; its number of steps and its seconds."""
    told = ended(*started(operation, home, files))
    if told is None:
        raise SystemExit(f"{operation} failed")
    return told


# The moments


@dataclass(frozen=True)
class Scene:
    """An operation with the corpus before and after it."""

    operation: str
    before: Path
    files: Path
    old: str
    new: str
    steps: int
    seconds: float

    @classmethod
    def of(cls, operation: str, before: Path, files: Path, folder: Path) -> Scene:
        """Copy the corpus in `before`, carry the operation out on the copy and note both states."""
        after = folder / "after"
        shutil.copytree(before, after)
        steps, seconds = unbroken(operation, after, files)
        scene = cls(operation, before, files, state(before), state(after), steps, seconds)
        shutil.rmtree(after)
        if (scene.old == scene.new) != (operation == "old"):
            raise SystemExit(f"{operation} changes nothing")
        return scene

    def killed(self, home: Path, *, step: int = 0, seconds: float = 0.0) -> tuple[str, bool]:
        """("old", "new" or what is wrong, whether the kill came before the end); at `step`, else after `seconds`."""
        shutil.copytree(self.before, home)
        worker, hear = started(self.operation, home, self.files, step)
        if not step:
            time.sleep(seconds)
            worker.kill()
        told = ended(worker, hear)
        try:
            found = {self.old: "old", self.new: "new"}.get(state(home), "a mixture")
        except Exception as error:  # noqa: BLE001 - whatever keeps the corpus from being opened is what is looked for
            found = f"can't be opened: {error}"
        if found in ("old", "new"):
            unbroken(self.operation, home, self.files)
            if state(home) != self.new:
                found = "the repeated operation doesn't make the new state"
            elif (rest := left_over(home)) and (self.operation, found) != ("delete", "new"):
                # Records that are gone already are no reason to write; the next change tidies up.
                found = f"the repeated operation leaves {rest}"
        shutil.rmtree(home)
        return found, told is None


def prepared(folder: Path) -> tuple[Path, Path]:
    """The home with the old corpus, and the folder of files to import."""
    files, before = folder / "files", folder / "before"
    files.mkdir()
    write_files(files)
    unbroken("old", before, files)
    return before, files


def measured(moments: int, seed: int, folder: Path) -> tuple[list[Scene], Counter[tuple[str, str, str, bool]]]:
    rng = random.Random(seed)
    before, files = prepared(folder)
    scenes = [Scene.of(operation, before, files, folder) for operation in OPERATIONS]
    counted: Counter[tuple[str, str, str, bool]] = Counter()
    for number in range(moments):
        scene = scenes[number % len(scenes)]
        if number // len(scenes) % 2:
            kind, found = "time", scene.killed(folder / "home", seconds=rng.uniform(0, scene.seconds))
        else:
            kind, found = "step", scene.killed(folder / "home", step=rng.randint(1, scene.steps))
        counted[scene.operation, kind, *found] += 1
        print(number + 1, scene.operation, kind, *found, flush=True)
    return scenes, counted


def report(scenes: list[Scene], counted: Counter[tuple[str, str, str, bool]], seed: int) -> str:
    lines = [
        "# Killed while a corpus changes", "", "Command: `python -m benchmarks.kill_moments`.", "",
        f"SIGKILL at {sum(counted.values())} random moments (seed {seed}): at a time within the operation, or before one of the "
        f"steps that it takes in the file system. The corpus of {RECORDS} records was then opened and compared with the old and "
        "the new one in records, passages, vectors, words and merges; after that the operation was repeated, which must give the "
        "new state and leave nothing beside it. An import of the same again has one state, which counts as old.", "",
        "| operation | steps | seconds | killed by | moments | before the end | old | new | neither |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    wrong: Counter[str] = Counter()
    for scene in scenes:
        for kind in ("time", "step"):
            mine = {key[2:]: n for key, n in counted.items() if key[:2] == (scene.operation, kind)}
            states: Counter[str] = Counter()
            for (found, _), n in mine.items():
                states[found if found in ("old", "new") else "neither"] += n
                wrong[f"{scene.operation}, {kind}: {found}"] += n if found not in ("old", "new") else 0
            early = sum(n for (_, before_end), n in mine.items() if before_end)
            lines.append(f"| {WORDS.get(scene.operation, scene.operation)} | {scene.steps} | {scene.seconds:.2f} | {kind} | "
                         f"{sum(mine.values())} | {early} | {states['old']} | {states['new']} | {states['neither']} |")
    return "\n".join([*lines, "", *(f"- {n} × {what}" for what, n in wrong.items() if n)]).rstrip() + "\n"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--moments", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        scenes, counted = measured(options.moments, options.seed, Path(folder))
    text = report(scenes, counted, options.seed)
    REPORT.write_text(text, encoding="utf-8")
    print(text)
    if any(found not in ("old", "new") for _, _, found, _ in counted):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
