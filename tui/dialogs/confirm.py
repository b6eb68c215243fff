"""A yes or no."""

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from tui.panes.rows import STYLES


class ConfirmDialog(ModalScreen[bool]):
    """Asks before something that cannot be taken back. Only `y` says yes."""

    COMPONENT_CLASSES = STYLES
    CSS_PATH = "dialogs.tcss"
    BINDINGS = [
        Binding("y", "answer(True)", "Yes"),
        Binding("escape,n", "answer(False)", "No"),
    ]

    def __init__(self, title: str, question: str, yes: str) -> None:
        super().__init__()
        self._title, self._question, self._yes = title, question, yes

    def compose(self) -> ComposeResult:
        """The question and its keys."""
        with Vertical(id="dialog") as dialog:
            dialog.border_title = Content(self._title)
            yield Static(Content(self._question))
            yield Static(Content(f"\ny  {self._yes}     esc  leave it"))

    def action_answer(self, answer: bool) -> None:
        """Close with the answer."""
        self.dismiss(answer)
