"""Asks how far to go back, or forth again, and goes there: the same on every screen."""

from functools import partial
from typing import TYPE_CHECKING, Any

from engine.records.base import EntityId
from tui.dialogs.turning import TurnDialog
from tui.host import GameHost

if TYPE_CHECKING:
    from textual.app import App

    from engine.records.history import Preview

STEPS = 300
"""Steps that are shown at once."""
RUNNING = "A round is being played. Escape stops it; then it can be taken back."


async def ask_and_turn(app: "App[Any]", host: GameHost, viewer: EntityId | None, *, back: bool) -> str:
    """Show what would be taken back, or brought again, and do it when the reader says so. Returns what to say when there is nothing.
    To be called in a worker. Raises `OthermindsError`."""
    game = host.game
    if game is None:
        return ""
    steps = await (game.history.done(STEPS, viewer) if back else game.history.undone(STEPS, viewer))
    if not steps:
        return "Nothing has happened that could be taken back." if back else "There is nothing to bring again."
    foretell = partial(game.history.preview if back else game.history.preview_redo, viewer=viewer)
    first = 1 if back else await game.history.together()  # what was taken back at once is brought again at once
    shown: Preview | None = await app.push_screen_wait(TurnDialog(steps, foretell, back=back, first=first))
    if shown is not None:
        await (host.undo(shown) if back else host.redo(shown))
    return ""
