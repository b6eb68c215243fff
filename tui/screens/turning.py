"""Taking back what has happened, and bringing it again, on the Play screen: shown first, then done, then all panes are as it was then."""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from textual import work

from engine.events import HistoryMoved
from tui.dialogs.turning import TurnDialog
from tui.pace import Heard
from tui.screens.calling import CallingScreen
from tui.text import plain
from tui.view import Note, WorldView

if TYPE_CHECKING:
    from engine.game import StoryLine
    from engine.records.history import Preview
    from tui.panes.story import Aside

_STEPS = 300
"""Steps that are shown at once."""


class TurningScreen(CallingScreen):
    """Undo and redo."""

    @work(group="by-hand")
    async def action_undo(self) -> None:
        """Show what would be taken back, and take it back when the reader says so."""
        await self._turn(back=True)

    @work(group="by-hand")
    async def action_redo(self) -> None:
        """Show what would be brought again, and bring it when the reader says so."""
        await self._turn(back=False)

    async def _turn(self, *, back: bool) -> None:
        game = self.host.game
        if game is None:
            return
        if self.host.running:
            text = "A round is being played. Escape stops it; then it can be taken back."
            self.notify(text, severity="warning", markup=False)  # a note would give way to what happens
            return
        history, viewer = game.history, self.view.played
        with self._telling():
            steps = await (history.done(_STEPS, viewer) if back else history.undone(_STEPS, viewer))
            if not steps:
                nothing = "Nothing has happened that could be taken back." if back else "There is nothing to bring again."
                self.view = replace(self.view, note=Note(nothing))
                return
            foretell = partial(history.preview if back else history.preview_redo, viewer=viewer)
            shown: Preview | None = await self.app.push_screen_wait(TurnDialog(steps, foretell, back=back))
            if shown is not None:
                await (self.host.undo(shown) if back else self.host.redo(shown))

    def _heard(self, view: WorldView, item: Heard, lines: "list[StoryLine | Aside]") -> WorldView:
        """Whoever took something back: nothing that is shown holds any more."""
        view = super()._heard(view, item, lines)
        event, game = item.event, self.host.game
        if not isinstance(event, HistoryMoved) or game is None:
            return view
        self._stale |= {"story", "ledger", "mind", "prompt"}
        self._tallies.clear()
        self._rested_at = -1
        self.read_minds()
        self.read_waiting()
        text = f"Taken back: {plain(event.text)}. U brings it again." if event.back else f"Brought again: {plain(event.text)}."
        names = self._names(view.played)
        return replace(view, world=game.world, names=names, acting=None, prose="", model_note=None, note=Note(text, "good"))
