"""A call to a model that waits for the reader's word: what would be sent to whom, how long it is and what it may cost."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from engine.records.base import EntityId
from tui.keybar import KeyBar
from tui.panes.calls import call_rows, takes, whom
from tui.panes.rows import STYLES, RowList

if TYPE_CHECKING:
    from engine.records.models import CallView

Word = Literal["send", "all", "stop", "later"]
"""Send this one; send all and ask no more; stop play; look around first."""


class HeldDialog(ModalScreen[Word]):
    """Asks before a call. Nothing goes out without an answer."""

    COMPONENT_CLASSES = STYLES
    CSS_PATH = ["dialogs.tcss", "held.tcss"]
    BINDINGS = [
        Binding("enter", "answer('send')", "Send it", tooltip="Let this call go out"),
        Binding("escape", "answer('stop')", "Stop", tooltip="Stop play; nothing is sent"),
        Binding("a", "answer('all')", "Send all", tooltip="Let this call and all that follow go out"),
        Binding("o,f4", "answer('later')", "Look around", tooltip="Back to the screen while the call waits; f4 shows it again"),
    ]

    def __init__(self, call: "CallView", more: int, name: Callable[[EntityId], str]) -> None:
        """`more` is how many others wait; `name` is what the reader calls people."""
        super().__init__()
        self.call, self._more, self._called = call, more, name

    def compose(self) -> ComposeResult:
        """What it takes, then the text."""
        with Vertical(id="dialog") as dialog:
            dialog.border_title = Content("Send this?")
            dialog.border_subtitle = Content(f"{self._more} more after it" if self._more else "")
            yield Static(self._about(), id="held-about")
            yield RowList(id="held-rows")
            yield KeyBar()

    def _about(self) -> Content:
        return whom(self.call, self._called) + Content.styled(f"\n{takes(self.call)}", ".candidate")

    def on_mount(self) -> None:
        """Show the text."""
        rows = self.query_one(RowList)
        rows.show(call_rows(self.call, self._called)[4:])  # who, what and how much stand above
        rows.focus()

    def action_answer(self, word: Word) -> None:
        """Close with the answer."""
        self.dismiss(word)
