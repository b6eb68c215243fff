"""The shelf of saves and the notes beside them."""

import os
from pathlib import Path

import pytest

from engine.folders import data_folder
from tui.saves import SaveNote, SaveShelf

NOTE = SaveNote("The Inn", 12, "1 March 1247, 18:05", "bryn", "Bryn", ("Somebody came in.",))


def test_new_saves_get_free_names_from_the_world(tmp_path: Path) -> None:
    shelf = SaveShelf(tmp_path)
    first = shelf.new_path(Path("worlds/The Salt  Lantern!"))
    assert first.name == "the-salt-lantern-1.db"
    first.touch()
    first.with_name(first.name + ".lock").touch()
    assert shelf.new_path(Path("worlds/The Salt  Lantern!")).name == "the-salt-lantern-2.db"
    assert shelf.new_path(Path("/")).name == "world-1.db"


def test_saves_are_listed_latest_first_with_their_notes(tmp_path: Path) -> None:
    shelf = SaveShelf(tmp_path)
    assert shelf.all() == []
    for number, name in enumerate(("a", "b", "c")):
        path = shelf.new_path(Path(name))
        path.write_bytes(b"x")
        os.utime(path, (1000 + number, 1000 + number))
    shelf.write_note(tmp_path / "saves" / "b-1.db", NOTE)
    assert [(save.path.name, save.note) for save in shelf.all()] == [("c-1.db", SaveNote()), ("b-1.db", NOTE), ("a-1.db", SaveNote())]


@pytest.mark.parametrize("text", ["", "[]", "{", '{"world": 1}', '{"world": "x", "round": "x"}', "\udcff"])
def test_a_broken_note_is_no_note(tmp_path: Path, text: str) -> None:
    shelf = SaveShelf(tmp_path)
    path = shelf.new_path(Path("inn"))
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "inn-1.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    assert shelf.note(path) == SaveNote()


def test_saves_elsewhere_get_no_note_and_are_never_deleted(tmp_path: Path) -> None:
    shelf = SaveShelf(tmp_path / "home")
    other = tmp_path / "mine.db"
    other.touch()
    shelf.write_note(other, NOTE)
    shelf.delete(other)
    assert other.exists()
    assert shelf.note(other) == SaveNote()


def test_deleting_takes_all_files_of_one_save(tmp_path: Path) -> None:
    shelf = SaveShelf(tmp_path)
    keep = shelf.new_path(Path("inn"))
    keep.touch()
    gone = shelf.new_path(Path("inn"))
    for end in ("", "-wal", "-shm", ".lock"):
        gone.with_name(gone.name + end).touch()
    shelf.write_note(gone, NOTE)
    shelf.delete(gone)
    assert [path.name for path in (tmp_path / "saves").iterdir()] == [keep.name]
    assert list((tmp_path / "notes").iterdir()) == []


def test_the_folder_can_be_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTHERMINDS_HOME", str(tmp_path))
    assert data_folder() == tmp_path
    monkeypatch.delenv("OTHERMINDS_HOME")
    assert data_folder().name == "otherminds"
