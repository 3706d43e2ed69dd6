"""Kill a process with SIGKILL while it changes a corpus, and look whether the corpus is the old or the new one.

`python -m benchmarks.kill_moments [--moments 50] [--seed 1]`. Four operations take turns: an import that adds records and
merges a duplicate, an import that updates records, a deletion of records, and a re-index for another embedding model.
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
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import HashingVectorizer

from litrag import library
from litrag.config import PROJECT
from litrag.embeddings import Counter as Counting
from litrag.embeddings import PassageEmbeddings
from litrag.index import build_index, load_index

REPORT = PROJECT / "docs" / "benchmarks" / "kill-moments.md"
OPERATIONS = ("import", "update", "delete", "re-index")
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


# The worker


def work(operation: str, files: Path, die_at: int) -> None:
    """Carry out an operation and print its steps; with `die_at`, die before that step."""
    home = str(Path(os.environ["LITRAG_HOME"]).resolve())
    steps = 0

    def step(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal steps
        if event not in STEPS:
            return
        path = str(arguments[0])
        if os.path.isabs(path) and not path.startswith(home):
            return  # a folder that is removed names what lies in it by the bare name
        if event == "open" and not _writes(arguments):
            return
        steps += 1
        if steps == die_at:
            os.kill(os.getpid(), signal.SIGKILL)

    print("begun", flush=True)
    sys.addaudithook(step)
    start = time.perf_counter()
    carry_out(operation, files)
    print(json.dumps({"steps": steps, "seconds": time.perf_counter() - start}), flush=True)


def _writes(arguments: tuple[Any, ...]) -> bool:
    mode, flags = arguments[1], arguments[2]
    return any(char in mode for char in "wax+") if isinstance(mode, str) else bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))


def started(operation: str, home: Path, files: Path, die_at: int = 0) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "benchmarks.kill_moments", "--worker", operation, "--files", str(files),
               "--die-at", str(die_at)]
    environment = {**os.environ, "LITRAG_HOME": str(home), "PYTHONPATH": str(PROJECT)}
    worker = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=PROJECT, env=environment)
    assert worker.stdout is not None
    assert worker.stdout.readline() == "begun\n"
    return worker


def unbroken(operation: str, home: Path, files: Path) -> dict[str, float]:
    """Let a worker finish; its number of steps and its seconds."""
    worker = started(operation, home, files)
    out, _ = worker.communicate()
    if worker.returncode:
        raise SystemExit(f"{operation} ended with {worker.returncode}")
    counted: dict[str, float] = json.loads(out)
    return counted


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
        counted = unbroken(operation, after, files)
        scene = cls(operation, before, files, state(before), state(after), int(counted["steps"]), counted["seconds"])
        shutil.rmtree(after)
        if scene.old == scene.new:
            raise SystemExit(f"{operation} changes nothing")
        return scene

    def killed(self, home: Path, *, step: int = 0, seconds: float = 0.0) -> tuple[str, bool]:
        """("old", "new" or what is wrong, whether the kill came before the end); at `step`, else after `seconds`."""
        shutil.copytree(self.before, home)
        worker = started(self.operation, home, self.files, step)
        if not step:
            time.sleep(seconds)
            worker.send_signal(signal.SIGKILL)
        out, _ = worker.communicate()
        try:
            found = {self.old: "old", self.new: "new"}.get(state(home), "a mixture")
        except Exception as error:  # noqa: BLE001 - whatever keeps the corpus from being opened is what is looked for
            found = f"can't be opened: {error}"
        if found in ("old", "new"):
            unbroken(self.operation, home, self.files)
            if state(home) != self.new:
                found = "the repeated operation doesn't make the new state"
            elif rest := left_over(home):
                found = f"the repeated operation leaves {rest}"
        shutil.rmtree(home)
        return found, not out


def prepared(folder: Path) -> tuple[Path, Path]:
    """The home with the old corpus, and the folder of files to import."""
    files, before = folder / "files", folder / "before"
    files.mkdir()
    write_files(files)
    environment = {**os.environ, "LITRAG_HOME": str(before), "PYTHONPATH": str(PROJECT)}
    command = [sys.executable, "-m", "benchmarks.kill_moments", "--worker", "old", "--files", str(files)]
    subprocess.run(command, check=True, cwd=PROJECT, env=environment, stdout=subprocess.DEVNULL)
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
        "new state and leave nothing beside it.", "",
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
            lines.append(f"| {scene.operation} | {scene.steps} | {scene.seconds:.2f} | {kind} | {sum(mine.values())} | {early} | "
                         f"{states['old']} | {states['new']} | {states['neither']} |")
    return "\n".join([*lines, "", *(f"- {n} × {what}" for what, n in wrong.items() if n)]).rstrip() + "\n"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--moments", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--worker", choices=("old", *OPERATIONS), help=argparse.SUPPRESS)
    parser.add_argument("--files", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--die-at", type=int, default=0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work(options.worker, options.files, options.die_at)
        return
    with tempfile.TemporaryDirectory() as folder:
        scenes, counted = measured(options.moments, options.seed, Path(folder))
    text = report(scenes, counted, options.seed)
    REPORT.write_text(text, encoding="utf-8")
    print(text)
    if any(found not in ("old", "new") for _, _, found, _ in counted):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
