"""The worlds that come with the program, and a quick look at any world."""

from pathlib import Path

from engine.errors import WorldFileError
from engine.files.problems import Report
from engine.files.sources import head_of
from engine.files.yamltree import Mapping, Scalar, compose
from engine.records.base import Record
from engine.records.clean import clean, one_line

_ENGINE = Path(__file__).resolve().parent.parent


class WorldInfo(Record):
    """What a list of worlds shows."""

    slug: str
    name: str
    description: str
    path: Path


def worlds_folder() -> Path:
    """Where the bundled worlds are: inside the installed package, else beside it in a checkout."""
    inside = _ENGINE / "worlds"
    return inside if inside.is_dir() else _ENGINE.parent / "worlds"


def bundled_worlds() -> list[WorldInfo]:
    """The worlds that come with the program, by name of folder. A broken one is left out."""
    folder = worlds_folder()
    found = []
    for child in sorted(folder.iterdir()) if folder.is_dir() else []:
        if (child / "world.yaml").is_file():
            try:
                found.append(peek(child))
            except WorldFileError:
                continue
    return found


def peek(path: Path) -> WorldInfo:
    """Name and description of a world without reading the rest of it. Raises `WorldFileError`."""
    report = Report()
    slug, source = head_of(path, report)
    node = compose(source, report) if source else None
    if not isinstance(node, Mapping):
        problems = tuple(report.sorted([]))
        raise WorldFileError(f"{path}: {problems[0].message if problems else 'this is no world'}", problems)

    def text(key: str) -> str:
        found = node.entries.get(key)
        return clean(found[1].text).strip() if found and isinstance(found[1], Scalar) else ""

    return WorldInfo(slug=slug, name=one_line(text("name")) or slug, description=text("description"), path=path)
