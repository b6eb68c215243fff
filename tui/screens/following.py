"""A screen that follows the engine while it is open: what happens is read anew, never faster than it can be read."""

import asyncio
from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, Literal

from textual import on, work
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Static

from engine.errors import OthermindsError
from tui.host import GameHost
from tui.screens.playbars import said
from tui.taking_back import RUNNING, ask_and_turn
from tui.text import plain
from tui.view import Note

if TYPE_CHECKING:
    from engine.events import EngineEvent

_GAP = 0.05
"""Seconds between two readings while play goes on."""


class Stirred(Message):
    """Something has happened that may read otherwise now."""


class FollowingScreen(Screen[None]):
    """Listens to the open game from mount to unmount. A burst of events is read once."""

    STIRRING: ClassVar[frozenset[str]] = frozenset()
    """Kinds of events after which it is read anew."""
    NOTE: ClassVar[str] = ""
    """Selector of the line in which things are said."""

    def __init__(self, host: GameHost) -> None:
        super().__init__()
        self.host = host
        self._stirred = self._again = self._reading = False
        self._playing = False
        """Whether a round was begun from here that is not over."""
        self._silence: Callable[[], None] | None = None

    @abstractmethod
    async def refresh_reading(self) -> None:
        """Read anew and show it. Raises `OthermindsError`."""

    def hear(self, event: "EngineEvent") -> None:
        """Look at an event as it comes. Must be quick."""

    def on_mount(self) -> None:
        """Listen, and read for the first time."""
        if self.host.game is not None:
            self._silence = self.host.game.listen(self._hear)
        self.start_reading()

    def on_unmount(self) -> None:
        """Listen no more."""
        if self._silence is not None:
            self._silence()
            self._silence = None

    def _hear(self, event: "EngineEvent") -> None:
        self.hear(event)
        if event.kind == "trouble":
            self.call_later(self.say, event.text, "bad")
        elif event.kind == "model_note" and event.task in ("collapse", "validate"):
            self.call_later(self.say, f"{event.model}: {event.text}")
        elif event.kind == "call_changed" and event.call.state == "held":
            self.call_later(self.say, f"A call for {event.call.task} waits for your word: f4 in Play shows it.")
        elif event.kind == "history_moved":
            told = f"Taken back: {event.text}. U brings it again." if event.back else f"Brought again: {event.text}."
            self.call_later(self.say, told, "good")
        if self._playing and event.kind in ("round_ended", "paused"):
            self._playing = False
            self.call_later(self.say, f"Round {event.round} was played." if event.kind == "round_ended" else event.reason)
        if event.kind in self.STIRRING and not self._stirred:
            self._stirred = True
            self.post_message(Stirred())

    @on(Stirred)
    def _stir(self, event: Stirred) -> None:
        event.stop()
        self._stirred = False
        self.start_reading()

    def action_round(self) -> None:
        """Play one round; what happens is seen here as it does."""
        if self.host.game is not None:
            self.host.pacer.hurry()
            self.host.start_step()
            self._playing = True
            self.say("A round is being played.")

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
        if game is None or self.host.running:
            self.say(RUNNING, "bad")
            return
        try:
            if nothing := await ask_and_turn(self.app, self.host, game.played, back=back):
                self.say(nothing)
        except OthermindsError as error:
            self.say(str(error), "bad")

    @property
    def alive(self) -> bool:
        """Whether there is anything to draw on: leaving takes the panes away before it ends what the screen still does."""
        return self.is_attached and bool(self.query(self.NOTE))

    def start_reading(self) -> None:
        """Read anew, once more when a reading is under way."""
        self._again = True
        if not self._reading:
            self._reading = True
            self._read()

    @work(group="reading")
    async def _read(self) -> None:
        """Read until nothing has changed since."""
        try:
            while self._again and self.alive:
                self._again = False
                await self.refresh_reading()
                if self._again:
                    await asyncio.sleep(_GAP)
        except OthermindsError as error:
            self.say(str(error), "bad")
        finally:
            self._reading = False

    def say(self, text: str, kind: Literal["plain", "good", "bad"] = "plain") -> None:
        """Say it in the last line but one; over the screen too when it is too long for that."""
        if not self.alive:
            return
        if kind == "bad" and len(text) > self.size.width - 4:
            self.notify(plain(text), severity="warning", markup=False)
        self.query_one(self.NOTE, Static).update(said(Note(text, kind)), layout=False)
