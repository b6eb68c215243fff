"""What a path on the command line stands for: a world, or a save."""

from pathlib import Path
from typing import Annotated

import typer

from engine.errors import OthermindsError

WorldOrSave = Annotated[Path, typer.Argument(help="A world folder, a world.yaml, the name of a bundled world, or a save.")]
WorldPath = Annotated[Path, typer.Argument(help="A world folder, a world.yaml, or the name of a bundled world.")]


def is_save(path: Path) -> bool:
    """Whether a file is a save, whatever its name; one named as a save is taken for one, so that opening it can say what is wrong."""
    if not path.is_file():
        return path.suffix == ".db"
    with path.open("rb") as file:
        return path.suffix == ".db" or file.read(6) == b"SQLite"


def world_path(path: Path) -> Path:
    """The path as given, or that of the bundled world of this name. Raises `OthermindsError` when there is neither."""
    if path.exists():
        return path
    from engine.files.bundled import bundled_worlds

    worlds = {info.slug: info.path for info in bundled_worlds()}
    slug = path.name if len(path.parts) == 1 or path.parts[0] == "worlds" else ""
    if slug in worlds:
        return worlds[slug]
    raise OthermindsError(f"There is no world at {path}.", f"Bundled worlds: {', '.join(sorted(worlds))}.")
