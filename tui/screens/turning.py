"""Taking back what has happened, and bringing it again, on the Play screen: shown first, then done, then all panes are as it was then."""

from dataclasses import replace
from typing import TYPE_CHECKING

from textual import work

from engine.events import HistoryMoved
from tui.pace import Heard
from tui.screens.calling import CallingScreen
from tui.taking_back import RUNNING, ask_and_turn
from tui.text import plain
from tui.view import Note, WorldView

if TYPE_CHECKING:
    from engine.game import StoryLine
    from tui.panes.story import Aside


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
        if self.host.running:
            self.notify(RUNNING, severity="warning", markup=False)  # a note would give way to what happens
            return
        with self._telling():
            if nothing := await ask_and_turn(self.app, self.host, self.view.played, back=back):
                self.view = replace(self.view, note=Note(nothing))

    def forget_news(self) -> None:
        """Called when what was counted as new may be no more."""

    def _heard(self, view: WorldView, item: Heard, lines: "list[StoryLine | Aside]") -> WorldView:
        """Whoever took something back: nothing that is shown holds any more."""
        view = super()._heard(view, item, lines)
        event, game = item.event, self.host.game
        if not isinstance(event, HistoryMoved) or game is None:
            return view
        self._stale |= {"story", "ledger", "mind", "prompt"}
        self._tallies.clear()
        self._rested_at = None
        self.read_minds()
        self.read_waiting()
        self.forget_news()
        text = f"Taken back: {plain(event.text)}. U brings it again." if event.back else f"Brought again: {plain(event.text)}."
        names = self._names(view.played)
        return replace(view, world=game.world, names=names, acting=None, prose="", model_note=None, note=Note(text, "good"))
