"""Where saves live, and the note beside each that Home can read without opening it."""

import re
from dataclasses import asdict, dataclass, field
from pathlib import Path

SUFFIX = ".db"
_SIDE_FILES = ("", "-wal", "-shm", "-journal", ".lock")


@dataclass(frozen=True, slots=True)
class SaveNote:
    """What Home shows of a save. Not part of it: without the note a save is listed by its file name."""

    world: str = ""
    """Name of the world as people read it."""
    round: int = 0
    now: str = ""
    """World time for people: `1 March 1247, 18:05`."""
    played: str = ""
    """Id of the entity the player had taken over."""
    played_name: str = ""
    lines: tuple[str, ...] = field(default_factory=tuple)
    """The last lines of the story."""
    waiting: int = 0
    """Proposals that wait for the player's word."""


@dataclass(frozen=True, slots=True)
class SaveInfo:
    """A save in the saves folder."""

    path: Path
    note: SaveNote
    changed: float
    """Seconds since the epoch when it was last written."""


class SaveShelf:
    """The saves of one folder, and pictures of the screen beside them."""

    def __init__(self, folder: Path) -> None:
        self.pictures = folder / "pictures"
        """Where pictures are kept. Made with the first."""
        self._saves = folder / "saves"
        self._notes = folder / "notes"

    def new_path(self, world: Path) -> Path:
        """A free file name for a new save of the world in this folder. Makes the folder."""
        self._saves.mkdir(parents=True, exist_ok=True)
        slug = re.sub(r"[^a-z0-9]+", "-", world.resolve().name.lower()).strip("-")[:40] or "world"
        taken = {path.name for path in self._saves.iterdir()}
        number = 1
        while any(name.startswith(f"{slug}-{number}{SUFFIX}") for name in taken):
            number += 1
        return self._saves / f"{slug}-{number}{SUFFIX}"

    def all(self) -> list[SaveInfo]:
        """All saves, the one written last first."""
        if not self._saves.is_dir():
            return []
        found = []
        for path in self._saves.iterdir():
            if path.suffix == SUFFIX and path.is_file():
                stamps = [side.stat().st_mtime for side in (path, path.with_name(path.name + "-wal")) if side.exists()]
                found.append(SaveInfo(path, self.note(path), max(stamps, default=0.0)))
        return sorted(found, key=lambda save: (-save.changed, save.path.name))

    def note(self, save: Path) -> SaveNote:
        """The note of a save. An empty one when there is none, or none that can be read."""
        import json  # not before the first paint

        try:
            found = json.loads(self._note_path(save).read_text(encoding="utf-8"))
            return SaveNote(
                world=str(found["world"]), round=int(found["round"]), now=str(found["now"]), played=str(found["played"]),
                played_name=str(found["played_name"]), lines=tuple(str(line) for line in found["lines"]),
                waiting=int(found.get("waiting", 0)),
            )
        except (OSError, ValueError, KeyError, TypeError):
            return SaveNote()

    def write_note(self, save: Path, note: SaveNote) -> None:
        """Replace the note of a save of this shelf. Other saves get none; a full disk is no reason to stop play."""
        if save.parent != self._saves:
            return
        import json

        path = self._note_path(save)
        fresh = path.with_suffix(".new")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            fresh.write_text(json.dumps(asdict(note), ensure_ascii=True), encoding="utf-8")
            fresh.replace(path)
        except OSError:
            return

    def keep_picture(self, text: str) -> Path:
        """Write a picture (SVG) under a free name and return its path. Raises `OSError`."""
        self.pictures.mkdir(parents=True, exist_ok=True)
        number = 1
        while (path := self.pictures / f"otherminds-{number}.svg").exists():
            number += 1
        path.write_text(text, encoding="utf-8")
        return path

    def delete(self, save: Path) -> None:
        """Take a save of this shelf away for good, with its note. Raises `OSError`."""
        if save.parent != self._saves:
            return
        for side in _SIDE_FILES:
            save.with_name(save.name + side).unlink(missing_ok=True)
        self._note_path(save).unlink(missing_ok=True)

    def _note_path(self, save: Path) -> Path:
        return self._notes / f"{save.stem}.json"
