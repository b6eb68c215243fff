"""What one entity calls another, how it came to, and changing it by hand."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from tui.keybar import KeyBar
from tui.panes.rows import STYLES, Row, RowList
from tui.text import plain

if TYPE_CHECKING:
    from engine.records.memory import AliasChange

_CAUSES = {
    "authored": "from the world's files", "label": "from its looks", "introduction": "heard it introduce itself",
    "overheard": "overheard it", "model": "the model's choice", "by hand": "set by hand",
}


class _AliasLine(Input):
    BINDINGS = [Binding("enter", "submit", "Save")]


class AliasDialog(ModalScreen[str | None]):
    """Shows the timeline of an alias and takes a new one. Empty removes it, escape changes nothing."""

    COMPONENT_CLASSES = STYLES
    CSS_PATH = "dialogs.tcss"
    BINDINGS = [Binding("escape", "leave", "Leave it")]
    line = getters.query_one("#alias", Input)

    def __init__(self, viewer: str, target: str, alias: str, now: str, changes: "Sequence[AliasChange]") -> None:
        """`alias` is what has been learned or set, empty for none; `now` what is said instead then."""
        super().__init__()
        self._viewer, self._target, self._alias, self._now, self._changes = viewer, target, alias, now, changes

    def compose(self) -> ComposeResult:
        """The line and the timeline."""
        with Vertical(id="dialog") as dialog:
            dialog.border_title = Content(f"What {plain(self._viewer)} calls {plain(self._target)}")
            yield Static(Content("A name, or words like “the tall sailor”. Empty: back to what the looks suggest."))
            yield _AliasLine(self._alias, plain(self._now), id="alias", max_length=80)
            yield RowList(id="timeline", classes="last")
            yield KeyBar()

    def on_mount(self) -> None:
        """Show how the alias came to be."""
        rows = [change_row(change) for change in reversed(self._changes)]
        self.query_one("#timeline", RowList).show(rows or [Row(Content.styled("No change yet: this is what the looks suggest.", ".quiet"))])
        self.line.focus()

    @on(Input.Submitted)
    def _save(self, event: Input.Submitted) -> None:
        event.stop()
        self.dismiss(event.value.strip())

    def action_leave(self) -> None:
        """Change nothing."""
        self.dismiss(None)


def change_row(change: "AliasChange") -> Row:
    """One change: when, from what to what, and why."""
    old = f"“{plain(change.old)}”" if change.old else "no name"
    new = f"“{plain(change.new)}”" if change.new else "no name"
    when = f"round {change.round}, {change.timestamp:%H:%M}"
    body = Content.assemble((old, ".quiet"), " → ", (new, ".name"), (f"\n{_CAUSES[change.cause]}", ".quiet"))
    return Row(body, tail=Content.styled(when, ".quiet"), lead=Content(" "))
