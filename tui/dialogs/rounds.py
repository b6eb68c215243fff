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
            yield _NumberLine("10", type="integer", max_length=4, select_on_focus=True, id="number")
            yield Static(id="problem", classes="problem last", markup=False)
            yield KeyBar()

    @on(Input.Submitted)
    def _play(self, event: Input.Submitted) -> None:
        event.stop()
        number = int(event.value) if event.value.isascii() and event.value.isdigit() else 0
        if 1 <= number <= _MOST:
            self.dismiss(number)
        else:
            self.query_one("#problem", Static).update(Content(f"A number from 1 to {_MOST:,}, please."))

    def action_leave(self) -> None:
        """Play none."""
        self.dismiss(None)
