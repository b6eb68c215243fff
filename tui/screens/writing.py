"""What the player wrote stands in the story at once and until it is told, however long other things take that come first."""

from typing import TYPE_CHECKING

from engine.events import BeatEnded
from engine.records.base import EntityId
from tui.host import GameHost
from tui.pace import Heard
from tui.screens.turning import TurningScreen
from tui.view import WorldView

if TYPE_CHECKING:
    from engine.game import StoryLine
    from tui.panes.story import Aside


class WritingScreen(TurningScreen):
    """Keeps what was written and has not been told yet."""

    def __init__(self, host: GameHost) -> None:
        super().__init__(host)
        self._unsaid: list[tuple[EntityId, str]] = []

    def wrote(self, text: str) -> None:
        """Somebody who is played is to do this, in this round or a later one."""
        if text and self.view.played is not None:
            self._unsaid.append((self.view.played, text))
            self._show_unsaid()

    def tick(self) -> None:
        """Show what is due, then what is still to come."""
        super().tick()
        if self.is_mounted:
            self._show_unsaid()

    def _heard(self, view: WorldView, item: Heard, lines: "list[StoryLine | Aside]") -> WorldView:
        """What has been told waits no longer."""
        event = item.event
        if isinstance(event, BeatEnded):
            done = next((index for index, (entity, _) in enumerate(self._unsaid) if entity == event.entity), None)
            if done is not None:
                del self._unsaid[done]
        return super()._heard(view, item, lines)

    def _show_unsaid(self) -> None:
        waits = self.host.waits
        if not len(self.host.pacer):  # all is shown: what waits for nothing has been told, or was given back
            self._unsaid = self._unsaid[max(len(self._unsaid) - len(waits), 0) :]
        known = ("",) * (len(self._unsaid) - len(waits)) + waits
        self.story.show_unsaid(tuple((text, wait) for (_, text), wait in zip(self._unsaid, known, strict=False)))
