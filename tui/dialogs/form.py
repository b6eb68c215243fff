"""Dialogs of several fields that stay open until what stands in them could be kept."""

from abc import abstractmethod

from textual import getters, on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Input, Label, Static

from tui.keybar import KeyBar
from tui.panes.rows import STYLES
from tui.text import plain


class Line(Input):
    """A field of one line."""

    BINDINGS = [Binding("enter", "submit", "Keep")]


class FormDialog(ModalScreen[bool]):
    """Fields, what is wrong with them, keys. Nothing typed is lost when it cannot be kept; escape changes nothing."""

    COMPONENT_CLASSES = STYLES
    CSS_PATH = ["dialogs.tcss"]
    BINDINGS = [
        Binding("ctrl+s", "keep", "Keep", tooltip="Keep it as it stands here", priority=True),
        Binding("enter", "keep", "Keep", show=False),
        Binding("tab", "app.focus_next", "Next field", tooltip="To the next field; shift+tab goes back"),
        Binding("escape", "leave", "Leave it", tooltip="Change nothing"),
        Binding("f1", "app.show_help", "Help"),
    ]
    LOOK = "writing"
    """Classes by which the style sheets know it."""
    problem = getters.query_one("#problem", Static)

    def __init__(self, title: str) -> None:
        super().__init__()
        self._title = title
        self._keeping = False

    def compose(self) -> ComposeResult:
        """The fields, what is wrong, the keys."""
        with Vertical(id="dialog", classes=self.LOOK) as dialog:
            dialog.border_title = Content(plain(self._title))
            yield from self.fields()
            yield Static(id="problem", classes="problem last", markup=False)
            yield KeyBar()

    @abstractmethod
    def fields(self) -> ComposeResult:
        """The fields."""

    @abstractmethod
    async def kept(self) -> str:
        """Keep what stands in the fields. Returns what is wrong with it, or nothing when it is kept."""

    def field(self, label: str, widget: Widget) -> ComposeResult:
        """A field beside its label."""
        with Horizontal(classes="field tight"):
            yield Label(label, markup=False)
            yield widget

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_keep()

    def action_keep(self) -> None:
        """Keep what stands in the fields, if it can be kept."""
        if not self._keeping:
            self._keeping = True
            self.keep()

    @work(group="keep", exclusive=True)
    async def keep(self) -> None:
        """Hand it over and stay when it comes back."""
        self.say("")
        problem = await self.kept()
        self._keeping = False
        if problem:
            self.say(problem)
        else:
            self.dismiss(True)

    def say(self, text: str) -> None:
        """Say what is wrong."""
        self.problem.update(Content(plain(text)))

    def action_leave(self) -> None:
        """Change nothing. What is being written already is waited for."""
        if not self._keeping:
            self.dismiss(False)
