"""Which factions somebody is in, with what joining and leaving would come to while one writes."""

from collections.abc import Awaitable, Callable, Sequence

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from engine.errors import OthermindsError
from tui.keybar import KeyBar
from tui.panes.rows import STYLES, Row, RowList
from tui.text import plain

Keep = Callable[[Sequence[str]], Awaitable[str]]
"""Keeps these factions. Returns what is wrong with them, or nothing when they are kept."""
Foretell = Callable[[Sequence[str]], Awaitable[Sequence[Row]]]
"""What being in these factions would come to."""


class _Line(Input):
    BINDINGS = [Binding("enter", "submit", "Keep")]


class FactionsDialog(ModalScreen[bool]):
    """Names with commas between. It stays open until they could be kept; escape changes nothing."""

    COMPONENT_CLASSES = STYLES
    CSS_PATH = ["dialogs.tcss", "knowledge.tcss"]
    BINDINGS = [
        Binding("tab", "app.focus_next", "To the list", tooltip="Read what it would come to; shift+tab goes back"),
        Binding("escape", "leave", "Leave it", tooltip="Change nothing"),
    ]

    def __init__(self, title: str, factions: Sequence[str], there: Sequence[str], foretell: Foretell, keep: Keep) -> None:
        """`there` are all factions that somebody is in."""
        super().__init__()
        self._title, self._factions, self._there, self._foretell, self._keep = title, factions, there, foretell, keep
        self._keeping = False

    def compose(self) -> ComposeResult:
        """The line, what it would come to, what is wrong."""
        there = ", ".join(plain(one) for one in self._there[:20]) or "none yet"
        with Vertical(id="dialog", classes="picking") as dialog:
            dialog.border_title = Content(plain(self._title))
            yield Static(Content(f"Names with commas between; empty for none. There are: {there}. A new name begins a new faction."))
            yield _Line(plain(", ".join(self._factions)), id="factions", compact=True, select_on_focus=False)
            yield RowList(id="learned")
            yield Static(id="problem", classes="problem last", markup=False)
            yield KeyBar()

    def on_mount(self) -> None:
        """Begin at the line."""
        self.query_one("#factions").focus()
        self.look_ahead(self._factions)

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        self.look_ahead(names_in(event.value))

    @work(group="coming", exclusive=True)
    async def look_ahead(self, factions: Sequence[str]) -> None:
        """Show what these would come to."""
        try:
            rows = await self._foretell(factions)
        except OthermindsError as error:
            self.query_one("#problem", Static).update(Content(plain(str(error))))
            return
        self.query_one("#learned", RowList).show(rows)

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if not self._keeping:
            self._keeping = True
            self.keep(names_in(event.value))

    @work(group="keep", exclusive=True)
    async def keep(self, factions: Sequence[str]) -> None:
        """Hand them over and stay when they come back."""
        problem = await self._keep(factions)
        self._keeping = False
        if problem:
            self.query_one("#problem", Static).update(Content(plain(problem)))
        else:
            self.dismiss(True)

    def action_leave(self) -> None:
        """Change nothing. What is being written already is waited for."""
        if not self._keeping:
            self.dismiss(False)


def names_in(text: str) -> list[str]:
    """Names between commas, each once."""
    return list(dict.fromkeys(" ".join(part.split()) for part in text.split(",") if part.strip()))
