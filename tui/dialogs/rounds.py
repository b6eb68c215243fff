"""How many rounds to play."""

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from tui.keybar import KeyBar
from tui.panes.rows import STYLES

_MOST = 1_000


class _NumberLine(Input):
    BINDINGS = [Binding("enter", "submit", "Play")]


class RoundsDialog(ModalScreen[int | None]):
    """Asks for a number."""

    COMPONENT_CLASSES = STYLES
    CSS_PATH = "dialogs.tcss"
    BINDINGS = [Binding("escape", "leave", "Leave it")]

    def compose(self) -> ComposeResult:
        """The question, the number, what is wrong with it."""
        with Vertical(id="dialog") as dialog:
            dialog.border_title = Content("Play rounds")
            yield Static(Content("How many? Space pauses after the running one, escape stops at once."))
            yield _NumberLine("10", type="integer", id="number")
            yield Static(id="problem", classes="problem last", markup=False)
            yield KeyBar()

    @on(Input.Changed)
    def _check(self, event: Input.Changed) -> None:
        event.stop()
        self._say(bool(event.value) and not _number(event.value))

    @on(Input.Submitted)
    def _play(self, event: Input.Submitted) -> None:
        event.stop()
        if number := _number(event.value):
            self.dismiss(number)
        else:
            self._say(wrong=True)

    def _say(self, wrong: bool) -> None:
        self.query_one("#problem", Static).update(Content(f"A number from 1 to {_MOST:,}, please." if wrong else ""))

    def action_leave(self) -> None:
        """Play none."""
        self.dismiss(None)


def _number(text: str) -> int:
    """How many rounds are asked for; 0 when it is no number of rounds that can be played."""
    number = int(text) if text.isascii() and text.isdigit() and len(text) <= len(str(_MOST)) else 0
    return number if number <= _MOST else 0
