"""`otherminds saves check`, `backup`, `backups`, `restore`: whether a save is sound, and its copies (DESIGN 16)."""

import json
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Annotated, Final

import typer

from engine.errors import CommandError
from engine.storage.backups import Backup, Reason, back_up, backups_of
from engine.storage.checks import checked
from engine.storage.opening import open_save
from engine.storage.restoring import restore as put_back
from tui.cli_games import Json, SavePath, agreed, printed, said

_REASONS: Final[dict[Reason, str]] = {
    "play": "while it was played", "migration": "before a newer version opened it", "import": "before an import",
    "restore": "before another was put back", "hand": "by hand",
}
Sure = Annotated[bool, typer.Option("--yes", help="Do not ask whether it is meant.")]


def check(save: SavePath, as_json: Json = False) -> None:
    """Look at a save as closely as can be; nothing is changed. Exit code 1 when it is not sound."""
    found = checked(save)
    if as_json:
        printed(found)
    else:
        for fault in found.faults:
            said(fault)
        if found.faults:
            said(_what_now(save))
        else:
            said(f"{save} is sound: {', '.join(f'{count:,} {what}' for what, count in found.counts)}.")
    if found.faults:
        raise typer.Exit(1)


def backup(save: SavePath, as_json: Json = False) -> None:
    """Copy a save, which may be in use, into the folder of its backups."""
    with closing(open_save(save, read_only=True)) as opened:
        if opened.damage:
            raise CommandError(f"{save} is damaged: {opened.damage}.", _what_now(save))
        made = back_up(opened.conn, save, "hand")
    if as_json:
        printed(made)
    else:
        said(f"{made.path}: round {made.round}, {_size(made.size)}.")


def backups(save: SavePath, as_json: Json = False) -> None:
    """List the copies of a save, the newest first."""
    found = backups_of(save)
    if as_json:
        typer.echo(json.dumps([one.model_dump(mode="json") for one in found], indent=2))
        return
    for number, one in enumerate(found, 1):
        said(f"{number:>3}  {_when(one.made)}  round {one.round:>5}  {_size(one.size):>9}  {_REASONS[one.reason]}")
    if not found:
        said(f"There is no backup of {save}. `otherminds saves backup {save}` makes one; play on the screen does every ten minutes.")


def restore(
    save: SavePath,
    which: Annotated[str, typer.Argument(help="A number in the list of backups, or a file. The newest when left out.")] = "1",
    yes: Sure = False,
) -> None:
    """Put a copy in the place of a save. What stands there now is kept among the copies."""
    found = backups_of(save)
    chosen = _chosen(save, which, found)
    known = next((one for one in found if one.path == chosen), None)
    what = f"the backup of {_when(known.made)} (round {known.round})" if known else str(chosen)
    agreed(f"This puts {what} in the place of {save}.", yes)
    kept = put_back(save, chosen)
    said(f"Done. What stood there is kept as {kept}." if kept is not None else "Done.")


def _chosen(save: Path, which: str, found: list[Backup]) -> Path:
    if which.isdecimal() and which.isascii():
        if not found:
            raise CommandError(f"There is no backup of {save}.", "Give a file to put in its place.")
        if not 1 <= int(which) <= len(found):
            raise CommandError(f"There is no backup {which} of {save}.", f"It has 1 (the newest) to {len(found)}.")
        return found[int(which) - 1].path
    path = Path(which)
    if not path.is_file():
        raise CommandError(f"There is no file {which}.", f"`otherminds saves backups {save}` lists those there are.")
    return path


def _what_now(save: Path) -> str:
    if backups_of(save):
        return f"`otherminds saves restore {save}` puts its newest backup back; what stands there is kept."
    return "There is no backup of it. Play in another copy if there is one; nothing writes to this one."


def _when(made: datetime) -> str:
    """A moment by the local clock."""
    return f"{made.astimezone():%Y-%m-%d %H:%M}"


def _size(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.0f} kB"
