"""A note in full, when it is too long for its line: what to do first, then what has happened."""

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from tui.keybar import KeyBar
from tui.panes.paragraphs import gap, head, text
from tui.panes.rows import STYLES, Row, RowList
from tui.text import plain


class NoteDialog(ModalScreen[None]):
    """Shows a text, as long as it may be."""

    COMPONENT_CLASSES = STYLES
    CSS_PATH = ["dialogs.tcss", "held.tcss"]
    BINDINGS = [Binding("escape,enter,q,f3", "close", "Back", key_display="esc")]

    def __init__(self, words: str, advice: str = "") -> None:
        super().__init__()
        self._words, self._advice = words, advice

    def compose(self) -> ComposeResult:
        """What to do, and what it is about."""
        with Vertical(id="dialog") as dialog:
            dialog.border_title = Content("In full")
            yield RowList(id="note-rows")
            yield KeyBar()

    def on_mount(self) -> None:
        """Show it."""
        rows = self.query_one(RowList)
        rows.show(note_rows(self._words, self._advice))
        rows.focus()

    def action_close(self) -> None:
        """Back to the screen."""
        self.dismiss(None)


def note_rows(words: str, advice: str) -> list[Row]:
    """A note with its advice first, where that is known apart."""
    about = " ".join(words.replace(advice, " ").split()) if advice else words
    if not advice:
        return [text(plain(about))]
    return [head("What to do"), text(plain(advice), ".name"), gap(), head("What has happened"), text(plain(about))]
