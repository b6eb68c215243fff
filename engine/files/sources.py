"""Which files make up a world, and their texts. Bounded, and never outside the world's own folder."""

import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from engine.files.problems import Mark, Report, meant, near, quoted
from engine.files.yamltree import Source
from engine.records.clean import one_line

MAX_FILE_BYTES = 2 * 1024 * 1024
MAX_WORLD_CHARACTERS = 8 * 1024 * 1024
MAX_FILES = 2000
SECTIONS = ("places", "entities", "lore")
"""Folders of a world, and the keys of the same name in `world.yaml`."""
TEMPLATES = "prompts"
"""Folder of a world with its own templates."""
_SUFFIXES = (".yaml", ".yml")
_TEXT = ".txt"


@dataclass(frozen=True, slots=True)
class Files:
    """The files of a world, in reading order."""

    slug: str
    """Name of the folder, or of the single file without its ending."""
    head: Source | None
    """`world.yaml`, or None when it could not be read."""
    items: list[tuple[str, Source]] = field(default_factory=list)
    """Section and text of the files in `places/`, `entities/` and `lore/`, by name."""
    templates: list[tuple[str, Source]] = field(default_factory=list)
    """Name without folder, and text, of the files in `prompts/`, by name."""
    names: list[str] = field(default_factory=list)
    """All files in reading order, for sorting problems."""
    lost: bool = False
    """A file could not be read: what it held is unknown."""


def gather(path: Path, report: Report) -> Files:
    """The texts of the world at `path`: a folder, its `world.yaml`, or any single YAML file that holds a whole world."""
    try:
        return _gather(path, report)
    except (OSError, ValueError) as error:  # a folder that cannot be listed, a path that cannot be one
        report.add(_top(path), "", f"cannot be read: {getattr(error, 'strerror', None) or error}")
        return Files(slug="world", head=None, names=[shown_path(path)], lost=True)


def head_of(path: Path, report: Report) -> tuple[str, Source | None]:
    """Slug and head file of the world at `path`, without a look at its other files."""
    try:
        _, file, slug = _place(path)
        if file is None:
            _no_head(path, report)
        return slug, _read(file, file.parent, report) if file else None
    except (OSError, ValueError) as error:
        report.add(_top(path), "", f"cannot be read: {getattr(error, 'strerror', None) or error}")
        return "world", None


def shown_path(path: Path) -> str:
    """A path as text that any terminal can show."""
    return one_line(str(path))


def _gather(path: Path, report: Report) -> Files:
    folder, file, slug = _place(path)
    if file is None:
        _no_head(path, report)
        return Files(slug=slug, head=None, names=[shown_path(path)], lost=True)
    head = _read(file, file.parent, report)
    if folder is None:
        return Files(slug=slug, head=head, names=[shown_path(file)], lost=head is None)
    items: list[tuple[str, Source]] = []
    templates: list[tuple[str, Source]] = []
    names, lost, total = [shown_path(file)], head is None, len(head.text) if head else 0
    other = file.with_name("world.yml")
    if file != other and other.exists():
        report.add(_top(other), "", "a world has one head file", f"remove this one or {file.name}")
    lost = _strangers(folder, report) or lost
    for section, item in _listed(folder):
        names.append(shown_path(item))
        if len(names) > MAX_FILES:
            report.add(_top(item), "", f"a world may hold {MAX_FILES} files, this one is beyond that", "put several items in one file")
            lost = True
            break
        source = _read(item, folder, report)
        lost = lost or (source is None and section != TEMPLATES)  # no template declares an id
        if source:
            total += len(source.text)
            if section == TEMPLATES:
                templates.append((item.name, source))
            else:
                items.append((section, source))
        if total > MAX_WORLD_CHARACTERS:
            report.add(_top(item), "", f"the files up to this one hold more than {MAX_WORLD_CHARACTERS} characters", "leave some out")
            lost = True
            break
    return Files(slug=slug, head=head, items=items, templates=templates, names=names, lost=lost)


def _place(path: Path) -> tuple[Path | None, Path | None, str]:
    """Folder (None for a world in a single file), head file (None when missing) and slug of the world at `path`."""
    if not path.is_dir() and path.name not in ("world.yaml", "world.yml"):
        return None, path, one_line(path.stem) or "world"
    folder = path if path.is_dir() else path.parent
    slug = one_line(folder.absolute().name if folder.name not in ("", "..") else folder.resolve().name) or "world"
    heads = [file for suffix in _SUFFIXES if (file := folder / f"world{suffix}").exists()]
    return folder, heads[0] if heads else None, slug


def _listed(folder: Path) -> Iterator[tuple[str, Path]]:
    for section in (*SECTIONS, TEMPLATES):
        if (folder / section).is_dir():
            for file in sorted((folder / section).iterdir(), key=lambda found: found.name):
                if file.suffix in _read_in(section) and not file.name.startswith("."):
                    yield section, file


def _read_in(section: str) -> tuple[str, ...]:
    """Endings of the files that are read in a folder of this name."""
    return (_TEXT,) if section == TEMPLATES else _SUFFIXES


def _strangers(folder: Path, report: Report) -> bool:
    """Whether there are folders that look like misspelt sections; they are reported: their files would be silently left out."""
    found = False
    for child in sorted(folder.iterdir()):
        if child.is_dir() and child.name not in (*SECTIONS, TEMPLATES) and not child.name.startswith("."):
            names = near(child.name, (*SECTIONS, TEMPLATES))
            if names and any(file.suffix in _read_in(names[0]) for file in child.iterdir()):
                report.add(_top(child), "", f"no folder {quoted(child.name)} belongs to a world, its files are not read", meant(names))
                found = True
    return found


def _read(path: Path, folder: Path, report: Report) -> Source | None:
    """The text of one file, or None after reporting why there is none."""
    problem, hint = "", ""
    try:
        if not path.resolve().is_relative_to(folder.resolve()):
            problem, hint = "a link that leads out of the world's folder", "put the file itself here"
        elif not stat.S_ISREG(path.stat().st_mode):
            problem = "not a file"
        else:
            with path.open("rb") as file:
                data = file.read(MAX_FILE_BYTES + 1)
            if len(data) > MAX_FILE_BYTES:
                problem, hint = f"larger than {MAX_FILE_BYTES // 1024 // 1024} MiB", "split it into several files"
            else:
                text = data.decode("utf-8-sig")
                return Source(shown_path(path), text.replace("\r\n", "\n").replace("\r", "\n"))
    except FileNotFoundError:
        problem, hint = "there is no such file or folder", "give the folder that holds world.yaml"
    except UnicodeDecodeError as error:
        before = data[: error.start]
        column = len(before[before.rfind(b"\n") + 1 :].decode("utf-8", "replace")) + 1
        mark = Mark(file=shown_path(path), line=before.count(b"\n") + 1, column=column)
        report.add(mark, "", "not UTF-8 text", "save the file as UTF-8")
        return None
    except (OSError, RuntimeError) as error:  # RuntimeError: a loop of links
        problem = f"cannot be read: {getattr(error, 'strerror', None) or error}"
    report.add(_top(path), "", problem, hint)
    return None


def _no_head(folder: Path, report: Report) -> None:
    found = near("world.yaml", [child.name for child in folder.iterdir()]) if folder.is_dir() else []
    report.add(_top(folder), "", "no world.yaml in this folder", meant(found) or "give the folder that holds world.yaml")


def _top(path: Path) -> Mark:
    return Mark(file=shown_path(path), line=1, column=1)
