"""`otherminds saves`: what is done with saves from outside of play."""

import typer

from tui.cli_backups import backup, backups, check, restore
from tui.cli_history import history, redo, undo

saves = typer.Typer(
    add_completion=False, rich_markup_mode=None, no_args_is_help=True,
    help="Saves from outside of play: what has happened in one, taken back and brought again; whether it is sound, and its backups.",
)

saves.command()(history)
saves.command()(undo)
saves.command()(redo)
saves.command()(check)
saves.command()(backup)
saves.command()(backups)
saves.command()(restore)
