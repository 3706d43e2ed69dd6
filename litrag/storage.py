"""The folder in which an index is kept: written whole or not at all, and checked when it is read.

`manifest.json` names the current build, a subfolder that never changes, with the SHA-256 of each of its files.
A new build is written under a temporary name, moved into place, and takes effect when the manifest is replaced.
Nothing in the folder can run code: no pickles are written, and a folder that holds one is refused.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout
from pydantic import ValidationError

from litrag.errors import IndexUnusableError, InputError
from litrag.models import Model

FORMAT_VERSION = 3
MANIFEST = "manifest.json"
LIBRARY = "library.json"
_PICKLES = (".pkl", ".pickle")
_WAIT_SECONDS = 900.0
_OURS = re.compile(r"[0-9a-f]{16}|\.writing-.*|\.?manifest\.json(?:\.part)?|index\.(?:pkl|faiss)")


class Manifest(Model):
    """What an index was made of, and the files that belong to it."""

    format_version: int = FORMAT_VERSION
    build: str
    model_id: str
    dimension: int
    records: int
    passages: int
    corpus_hash: str
    source: str = ""
    source_hash: str = ""
    files: dict[str, str]


#: From the build's name and the hashes of its files to the manifest.
Describe = Callable[[str, dict[str, str]], Manifest]


@contextmanager
def locked(folder: Path, wait_seconds: float = _WAIT_SECONDS) -> Iterator[None]:
    """Keeps other writers out; they wait, and are refused when it takes too long."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder.parent / f".{folder.name}.lock", timeout=wait_seconds)
    try:
        lock.acquire()
    except Timeout as error:
        message = f"Index {folder} is being written by another process; try again when that has finished."
        raise IndexUnusableError(message) from error
    try:
        yield
    finally:
        lock.release()


def write_build(folder: Path, write: Callable[[Path], None], describe: Describe) -> Manifest:
    """Let `write` fill a new build and make it the current one; call while holding the lock."""
    _refuse_foreign(folder)
    folder.mkdir(parents=True, exist_ok=True)
    aside = Path(tempfile.mkdtemp(prefix=".writing-", dir=folder))
    try:
        write(aside)
        files = _hashes(aside)
        build = hashlib.sha256(repr(sorted(files.items())).encode()).hexdigest()[:16]
        # A build that is there and intact stays: the current one must never be taken away to be put back.
        if _hashes(folder / build) != files:
            shutil.rmtree(folder / build, ignore_errors=True)
            os.replace(aside, folder / build)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    manifest = describe(build, files)
    replace_text(folder / MANIFEST, manifest.model_dump_json(indent=2))
    _remove_all_but(folder, build)
    return manifest


def replace_text(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    part = path.with_name(f".{path.name}.part")
    part.write_text(text, encoding="utf-8")
    os.replace(part, path)


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a folder that looks sound; its files are checked by `checked_build`."""
    if pickles := sorted(p.name for p in folder.rglob("*") if p.suffix.lower() in _PICKLES):
        message = (
            f"Index {folder} holds {pickles[0]}, a pickle, which could run code when opened. It was not opened; "
            "rebuild the index from its records."
        )
        raise IndexUnusableError(message)
    try:
        text = (folder / MANIFEST).read_text(encoding="utf-8")
        manifest = Manifest.model_validate_json(text)
    except FileNotFoundError as error:
        raise IndexUnusableError(f"There is no index in {folder}; build it from its records.") from error
    except (ValidationError, UnicodeDecodeError) as error:
        raise IndexUnusableError(f"{folder / MANIFEST} is damaged; rebuild the index.") from error
    if manifest.format_version != FORMAT_VERSION:
        message = (
            f"Index {folder} has format {manifest.format_version}, this version reads {FORMAT_VERSION}; rebuild it."
        )
        raise IndexUnusableError(message)
    return manifest


def checked_build(folder: Path, manifest: Manifest) -> Path:
    """The folder of the current build, after each file was found to be the one that was written."""
    build = folder / Path(manifest.build).name
    for name, expected in manifest.files.items():
        path = build / name
        if not path.resolve().is_relative_to(build.resolve()) or not path.is_file() or _sha256(path) != expected:
            raise IndexUnusableError(f"{path} is missing or was changed after it was written; rebuild the index.")
    return build


def read_beside(folder: Path) -> dict[str, str]:
    """What a corpus keeps beside its index (`library.json`), so that a rebuilt index keeps it too."""
    try:
        manifest = read_manifest(folder)
    except IndexUnusableError:
        return {}
    path = folder / Path(manifest.build).name / LIBRARY
    intact = path.is_file() and _sha256(path) == manifest.files.get(LIBRARY)
    return {LIBRARY: path.read_text(encoding="utf-8")} if intact else {}


def remove(folder: Path) -> None:
    """Delete an index, its manifest first so that nothing half-deleted is ever opened; call while holding the lock."""
    (folder / MANIFEST).unlink(missing_ok=True)
    _remove_all_but(folder, "")
    if not any(folder.iterdir()):
        folder.rmdir()


def _refuse_foreign(folder: Path) -> None:
    """Builds replace what lies in the folder, so it must be empty or an index."""
    if not folder.exists() or (folder / MANIFEST).exists():
        return
    foreign = [path.name for path in folder.iterdir() if not _is_ours(path)]
    if foreign:
        raise InputError(f"{folder} holds {sorted(foreign)[0]!r} and is no index; give an empty or a new folder.")


def _is_ours(path: Path) -> bool:
    """Whether an index, or LangChain's own way of saving one, leaves files of that name."""
    return bool(_OURS.fullmatch(path.name))


def _remove_all_but(folder: Path, build: str) -> None:
    for path in folder.iterdir():
        if path.name in (MANIFEST, build) or not _is_ours(path):
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def _hashes(build: Path) -> dict[str, str]:
    return {str(path.relative_to(build)): _sha256(path) for path in sorted(build.rglob("*")) if path.is_file()}


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
