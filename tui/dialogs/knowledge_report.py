"""What has been done, to be read: it changes nothing."""

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from tui.keybar import KeyBar
from tui.panes.rows import STYLES, Row, RowList
from tui.text import plain


class ReportDialog(ModalScreen[None]):
    """Rows under a title."""

    COMPONENT_CLASSES = STYLES
    CSS_PATH = ["dialogs.tcss", "knowledge.tcss"]
    BINDINGS = [Binding("escape,enter,q", "leave", "Close", key_display="esc")]

    def __init__(self, title: str, rows: Sequence[Row]) -> None:
        super().__init__()
        self._title, self._rows = title, rows

    def compose(self) -> ComposeResult:
        """The rows."""
        with Vertical(id="dialog", classes="picking") as dialog:
            dialog.border_title = Content(plain(self._title))
            yield RowList(id="report", classes="last")
            yield KeyBar()

    def on_mount(self) -> None:
        """Show them."""
        rows = self.query_one(RowList)
        rows.show(self._rows)
        rows.focus()

    def action_leave(self) -> None:
        """Close it."""
        self.dismiss(None)
