"""One value: a cap, the name of an embedder. It stays open until the value could be kept."""

from collections.abc import Awaitable, Callable

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from tui.keybar import KeyBar
from tui.panes.rows import STYLES
from tui.text import plain

Keep = Callable[[str], Awaitable[str]]
"""Keeps what was written. Returns what is wrong with it, or nothing when it is kept."""


class _ValueLine(Input):
    BINDINGS = [Binding("enter", "submit", "Keep")]


class ValueDialog(ModalScreen[bool]):
    """Asks for one value. Escape changes nothing."""

    COMPONENT_CLASSES = STYLES
    CSS_PATH = "dialogs.tcss"
    BINDINGS = [Binding("escape", "leave", "Leave it")]

    def __init__(self, title: str, about: str, value: str, keep: Keep) -> None:
        super().__init__()
        self._title, self._about, self._value, self._keep = title, about, value, keep
        self._keeping = False

    def compose(self) -> ComposeResult:
        """What is asked for, the line, what is wrong with it."""
        with Vertical(id="dialog") as dialog:
            dialog.border_title = Content(plain(self._title))
            yield Static(Content(self._about))
            yield _ValueLine(self._value, id="value", max_length=300)
            yield Static(id="problem", classes="problem last", markup=False)
            yield KeyBar()

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if not self._keeping:
            self._keeping = True
            self.keep(event.value.strip())

    @work(group="keep", exclusive=True)
    async def keep(self, value: str) -> None:
        """Hand the value over and stay when it comes back."""
        problem = await self._keep(value)
        self._keeping = False
        if problem:
            self.query_one("#problem", Static).update(Content(plain(problem)))
        else:
            self.dismiss(True)

    def action_leave(self) -> None:
        """Change nothing. What is being written already is waited for."""
        if not self._keeping:
            self.dismiss(False)
