"""One of several, or none: a line to turn through, and a list that says what taking a choice would come to before it is taken."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from textual import getters, on, work
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


@dataclass(frozen=True, slots=True)
class Pick:
    """A thing that can be chosen."""

    key: str
    label: str
    about: str = ""


Foretell = Callable[[str], Awaitable[str]]
"""What choosing the thing of a key would come to."""


class _Narrow(Input):
    BINDINGS = [
        Binding("enter", "submit", "Take it", show=False), Binding("down", "screen.to_list", "To the list", show=False),
    ]


class _Picks(RowList):
    BINDINGS = [Binding("enter", "take", "Take it", tooltip="Choose what the cursor is on")]

    def action_take(self) -> None:
        """Choose the row under the cursor."""
        self.pick()


class PickDialog(ModalScreen[str | None]):
    """A list, narrowed by typing behind `/`. Below it stands what the one under the cursor would come to. Escape chooses nothing."""

    COMPONENT_CLASSES = STYLES
    CSS_PATH = ["dialogs.tcss", "knowledge.tcss"]
    HELP = "**up** and **down** move, **enter** takes, **/** narrows the list by a few letters, **esc** leaves everything as it is."
    BINDINGS = [
        Binding("slash", "narrow", "Narrow", key_display="/", tooltip="Show only names that hold these letters"),
        Binding("escape", "leave", "Leave it", tooltip="Change nothing"),
        Binding("f1,question_mark", "app.show_help", "Help"),
    ]
    line = getters.query_one("#narrow", Input)
    picks = getters.query_one("#picks", RowList)

    def __init__(self, title: str, picks: Sequence[Pick], now: str = "", foretell: Foretell | None = None) -> None:
        """`now` is the key of what holds now: the cursor begins there."""
        super().__init__()
        self._title, self._picks, self._now, self._foretell = title, picks, now, foretell

    def compose(self) -> ComposeResult:
        """The list, what it would come to, the keys."""
        with Vertical(id="dialog", classes="picking") as dialog:
            dialog.border_title = Content(plain(self._title))
            yield _Narrow(id="narrow", compact=True, placeholder="a few letters of its name")
            yield _Picks(id="picks")
            yield Static(id="coming", markup=False, classes="last")
            yield KeyBar()

    def on_mount(self) -> None:
        """Begin where things are."""
        self.line.display = False
        self.query_one("#coming").display = self._foretell is not None
        self._show("")
        self.picks.cursor = self._now if self._now in self.picks.keys else ""
        self.picks.focus()

    def _show(self, words: str) -> None:
        found = [one for one in self._picks if words.casefold() in plain(f"{one.label} {one.about}").casefold()]
        rows = [
            Row(
                Content.styled(plain(one.label)[:120], ".name"), lead=Content("● " if one.key == self._now else "  "),
                tail=Content.styled(plain(one.about)[:40], ".quiet"), key=one.key or " ",
            )
            for one in found
        ]
        self.picks.show(rows or [Row(Content.styled("Nobody and nothing is called so.", ".quiet"), lead=Content("  "))])

    def action_narrow(self) -> None:
        """Go to the line that narrows."""
        self.line.display = True
        self.line.focus()

    @on(Input.Changed)
    def _narrowed(self, event: Input.Changed) -> None:
        event.stop()
        self._show(event.value.strip())
        self.picks.action_first()

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if self.picks.keys:
            self.picks.begin()
            self.picks.pick()

    def action_to_list(self) -> None:
        """Go to the list."""
        self.picks.focus()

    @on(RowList.Moved)
    def _moved(self, event: RowList.Moved) -> None:
        event.stop()
        if self._foretell is not None:
            self.look_ahead(event.key)

    @work(group="coming", exclusive=True)
    async def look_ahead(self, key: str) -> None:
        """Say what choosing this would come to."""
        if self._foretell is None:
            return
        try:
            words = await self._foretell(key.strip()) if key else ""
        except OthermindsError as error:
            words = str(error)
        self.query_one("#coming", Static).update(Content(plain(words)))

    @on(RowList.Picked)
    def _picked(self, event: RowList.Picked) -> None:
        event.stop()
        self.dismiss(event.key.strip())

    def action_leave(self) -> None:
        """Choose nothing."""
        self.dismiss(None)
