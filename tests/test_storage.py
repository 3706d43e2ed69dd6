"""The folder of an index: whole or not at all, checked, and never more than its own files touched."""

import json

import pytest

from litrag import storage
from litrag.errors import IndexUnusableError, InputError


def describe(build, files):
    return storage.Manifest(
        build=build, model_id="m:1", dimension=3, records=1, passages=1, corpus_hash="c", files=files,
    )


def writer(**contents):
    def write(folder):
        for name, content in contents.items():
            (folder / "parts").mkdir(exist_ok=True)
            (folder / "parts" / name).write_text(content)

    return write


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "index"
    storage.write_build(folder, writer(a="one", b="two"), describe)
    return folder


def test_the_manifest_names_every_file_of_the_build(folder):
    manifest = storage.read_manifest(folder)
    assert sorted(manifest.files) == ["parts/a", "parts/b"]
    build = storage.checked_build(folder, manifest)
    assert (build / "parts" / "a").read_text() == "one"


def test_the_same_contents_make_the_same_build(folder):
    first = storage.read_manifest(folder)
    assert storage.write_build(folder, writer(a="one", b="two"), describe) == first


def test_a_build_that_is_current_is_never_taken_away_to_be_put_back(folder, monkeypatch):
    build = folder / storage.read_manifest(folder).build
    moved = []
    monkeypatch.setattr(storage.os, "replace", lambda source, target: moved.append(target))
    monkeypatch.setattr(storage.shutil, "rmtree", lambda path, **_: moved.append(path) if path == build else None)
    storage.write_build(folder, writer(a="one", b="two"), describe)
    assert build not in moved


def test_a_damaged_build_is_replaced_by_the_same_one_intact(folder):
    build = folder / storage.read_manifest(folder).build
    (build / "parts" / "a").write_text("harmed")
    (build / "deep.pkl").write_bytes(b"cos")
    storage.write_build(folder, writer(a="one", b="two"), describe)
    assert (storage.checked_build(folder, storage.read_manifest(folder)) / "parts" / "a").read_text() == "one"
    assert not (build / "deep.pkl").exists()


def test_a_new_build_replaces_the_old_one(folder):
    old = storage.read_manifest(folder).build
    storage.write_build(folder, writer(a="other"), describe)
    assert storage.read_manifest(folder).build != old
    assert sorted(p.name for p in folder.iterdir()) == sorted(["manifest.json", storage.read_manifest(folder).build])


def test_a_writer_that_fails_changes_nothing(folder):
    before = {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}

    def write(aside):
        (aside / "a").write_text("half")
        raise RuntimeError("interrupted")

    with pytest.raises(RuntimeError, match="interrupted"):
        storage.write_build(folder, write, describe)
    assert {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()} == before


def test_a_crash_before_the_manifest_is_replaced_leaves_the_old_build_current(folder):
    def fail(build, files):
        raise RuntimeError("power cut")

    with pytest.raises(RuntimeError, match="power cut"):
        storage.write_build(folder, writer(a="new"), fail)
    build = storage.checked_build(folder, storage.read_manifest(folder))
    assert (build / "parts" / "a").read_text() == "one"


@pytest.mark.parametrize("harm", ["changed", "missing"])
def test_a_file_that_is_not_as_written_is_named(folder, harm):
    manifest = storage.read_manifest(folder)
    target = folder / manifest.build / "parts" / "b"
    target.write_text("twö") if harm == "changed" else target.unlink()
    with pytest.raises(IndexUnusableError, match=r"parts/b.*rebuild"):
        storage.checked_build(folder, manifest)


def test_a_link_that_leads_out_of_the_build_is_refused(folder, tmp_path):
    manifest = storage.read_manifest(folder)
    target = folder / manifest.build / "parts" / "b"
    outside = tmp_path / "outside"
    outside.write_text("two")
    target.unlink()
    target.symlink_to(outside)
    with pytest.raises(IndexUnusableError):
        storage.checked_build(folder, manifest)


def test_a_build_name_cannot_climb_out_of_the_folder(folder, tmp_path):
    path = folder / storage.MANIFEST
    manifest = json.loads(path.read_text())
    (tmp_path / "elsewhere").mkdir()
    manifest["build"] = "../elsewhere"
    path.write_text(json.dumps(manifest))
    with pytest.raises(IndexUnusableError):
        storage.checked_build(folder, storage.read_manifest(folder))


def test_a_pickle_anywhere_in_the_folder_is_named_and_not_opened(folder):
    (folder / storage.read_manifest(folder).build / "deep.PKL").write_bytes(b"cos\nsystem\n")
    with pytest.raises(IndexUnusableError, match=r"deep\.PKL.*could run code"):
        storage.read_manifest(folder)


def test_an_older_format_asks_for_a_rebuild(folder):
    path = folder / storage.MANIFEST
    path.write_text(json.dumps(json.loads(path.read_text()) | {"format_version": storage.FORMAT_VERSION - 1}))
    with pytest.raises(IndexUnusableError, match="rebuild"):
        storage.read_manifest(folder)


def test_a_folder_that_is_no_index_is_not_written_to(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match=r"notes\.txt"):
        storage.write_build(tmp_path, writer(a="one"), describe)
    assert [p.name for p in tmp_path.iterdir()] == ["notes.txt"]


def test_foreign_files_that_came_later_are_left_alone(folder):
    (folder / "notes.txt").write_text("mine")
    storage.write_build(folder, writer(a="other"), describe)
    assert (folder / "notes.txt").read_text() == "mine"


def test_removing_an_index_leaves_what_is_not_its_own(folder):
    (folder / "notes.txt").write_text("mine")
    storage.remove(folder)
    assert [p.name for p in folder.iterdir()] == ["notes.txt"]
    with pytest.raises(IndexUnusableError, match="no index"):
        storage.read_manifest(folder)
