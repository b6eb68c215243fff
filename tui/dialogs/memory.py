"""A memory in the reader's own words: written anew, changed, or mended before it is kept."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from textual import getters, on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Label, Static, TextArea

from tui.keybar import KeyBar
from tui.panes.rows import STYLES
from tui.text import plain


@dataclass(frozen=True, slots=True)
class Draft:
    """A memory as it stands in the dialog."""

    text: str = ""
    """Third person; people by the names its owner uses."""
    quotes: tuple[str, ...] = ()
    importance: int = 5
    people: str = ""
    """Names, with commas between them."""
    retain: bool = False
    """The moments it was made of stay in mind."""


def draft_of(text: str, quotes: Sequence[str], importance: int, people: str = "", retain: bool = False) -> Draft:
    """A memory as the dialog would give it back unchanged."""
    return Draft(" ".join(plain(text).split()), tuple(plain(quote).strip() for quote in quotes), importance, plain(people), retain)


Keep = Callable[[Draft], Awaitable[str]]
"""Keeps a draft. Returns what is wrong with it, or nothing when it is kept."""


class _OneLine(Input):
    BINDINGS = [Binding("enter", "submit", "Keep")]


class Tick(Static, can_focus=True):
    """Yes or no, told apart by a sign and not by colour."""

    BINDINGS = [Binding("space,enter", "turn", "Yes or no", tooltip="Change between yes and no")]

    def __init__(self, text: str, value: bool, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id, markup=False)
        self._text, self.value = text, value
        self._draw()

    def _draw(self) -> None:
        self.update(Content(f"[{'x' if self.value else ' '}] {self._text}"))

    def action_turn(self) -> None:
        """The other of the two."""
        self.value = not self.value
        self._draw()

    def on_click(self) -> None:
        """A click does the same."""
        self.action_turn()


class MemoryDialog(ModalScreen[bool]):
    """Text, quotes and importance. It stays open until the draft could be kept: nothing typed is lost. Escape changes nothing."""

    COMPONENT_CLASSES = STYLES
    CSS_PATH = "dialogs.tcss"
    HELP = """\
Write what the memory says in the third person and call people what its owner calls them: it reads with their names as they are
known later. Quotes are kept word for word, one a line. Importance goes from 1 to 10.
"""
    BINDINGS = [
        Binding("ctrl+s", "keep", "Keep", tooltip="Keep it as it stands here", priority=True),
        Binding("tab", "app.focus_next", "Next field", tooltip="To the next field; shift+tab goes back"),
        Binding("escape", "leave", "Leave it", tooltip="Change nothing"),
        Binding("f1", "app.show_help", "Help"),
    ]
    content = getters.query_one("#memory-text", TextArea)
    problem = getters.query_one("#problem", Static)

    def __init__(self, title: str, draft: Draft, keep: Keep, *, people: bool = True, retain: bool = False) -> None:
        """`people` and `retain` say whether those fields are asked for."""
        super().__init__()
        self._title, self._draft, self._keep, self._people, self._retain = title, draft, keep, people, retain
        self._keeping = False

    def compose(self) -> ComposeResult:
        """The fields, what is wrong with them, the keys."""
        draft = self._draft
        with Vertical(id="dialog", classes="writing") as dialog:
            dialog.border_title = Content(plain(self._title))
            yield TextArea(draft.text, id="memory-text", placeholder="What is remembered, in the third person.", compact=True)
            yield Label("Quotes, word for word, one a line", markup=False)
            yield TextArea("\n".join(draft.quotes), id="quotes", compact=True)
            with Horizontal(classes="field"):
                yield Label("Importance, 1 to 10", markup=False)
                yield _OneLine(str(draft.importance), type="integer", max_length=2, id="importance", compact=True)
            if self._people:
                with Horizontal(classes="field"):
                    yield Label("With, by commas", markup=False)
                    yield _OneLine(draft.people, id="people-names", select_on_focus=False, compact=True)
            if self._retain:
                yield Tick("its moments stay in mind too", draft.retain, id="retain")
            yield Static(id="problem", classes="problem last", markup=False)
            yield KeyBar()

    def on_mount(self) -> None:
        """Begin at the end of the text."""
        self.content.move_cursor(self.content.document.end)
        self.content.focus()

    def draft(self) -> Draft:
        """What stands in the fields now. An importance that is no number counts as 0."""
        number = self.query_one("#importance", Input).value
        return Draft(
            text=" ".join(self.content.text.split()),
            quotes=tuple(line.strip() for line in self.query_one("#quotes", TextArea).text.splitlines() if line.strip()),
            importance=int(number) if number.isascii() and number.isdigit() else 0,
            people=self.query_one("#people-names", Input).value if self._people else "",
            retain=self.query_one("#retain", Tick).value if self._retain else False,
        )

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_keep()

    def action_keep(self) -> None:
        """Keep the draft if it can be kept."""
        if self._keeping:
            return
        draft = self.draft()
        if not draft.text:
            self._say("Write what is remembered.")
        elif not 1 <= draft.importance <= 10:
            self._say("Importance is a number from 1 to 10.")
        else:
            self._keeping = True
            self.keep(draft)

    @work(group="keep", exclusive=True)
    async def keep(self, draft: Draft) -> None:
        """Hand the draft over and stay when it comes back."""
        self._say("")
        problem = await self._keep(draft)
        self._keeping = False
        if problem:
            self._say(problem)
        else:
            self.dismiss(True)

    def _say(self, text: str) -> None:
        self.problem.update(Content(plain(text)))

    def action_leave(self) -> None:
        """Change nothing."""
        self.dismiss(False)
