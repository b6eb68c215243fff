"""`otherminds saves`: what is done with saves from outside of play."""

import typer

from tui.cli_history import history, redo, undo

saves = typer.Typer(
    add_completion=False, rich_markup_mode=None, no_args_is_help=True,
    help="Saves from outside of play: what has happened in one, taken back and brought again.",
)

saves.command()(history)
saves.command()(undo)
saves.command()(redo)
