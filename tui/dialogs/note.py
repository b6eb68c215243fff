"""A note in full, when it is too long for its line: what to do first, then what has happened."""

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from tui.keybar import KeyBar
from tui.panes.rows import STYLES
from tui.text import plain


class NoteDialog(ModalScreen[None]):
    """Shows a text, as long as it may be."""

    COMPONENT_CLASSES = STYLES
    CSS_PATH = ["dialogs.tcss", "held.tcss"]
    BINDINGS = [
        Binding("escape,enter,q,f3,N", "close", "Back", key_display="esc"),
        Binding("up,k", "scroll(-1)", "Up", show=False),
        Binding("down,j", "scroll(1)", "Down", show=False),
    ]

    def __init__(self, words: str, advice: str = "") -> None:
        super().__init__()
        self._words, self._advice = words, advice

    def compose(self) -> ComposeResult:
        """What to do, and what it is about."""
        with Vertical(id="dialog") as dialog:
            dialog.border_title = Content("In full")
            with VerticalScroll(id="note-scroll", classes="last"):
                yield Static(in_full(self._words, self._advice), id="note-text")
            yield KeyBar()

    def action_scroll(self, by: int) -> None:
        """Scroll the text."""
        self.query_one("#note-scroll").scroll_relative(y=by, animate=False)

    def action_close(self) -> None:
        """Back to the screen."""
        self.dismiss(None)


def in_full(words: str, advice: str) -> Content:
    """A note with its advice first, where that is known apart."""
    if not advice:
        return Content(plain(words))
    about = " ".join(words.replace(advice, " ").split())
    return Content.assemble(
        ("What to do", ".head"), "\n", (plain(advice), ".name"), "\n\n", ("What has happened", ".head"), "\n", plain(about)
    )
