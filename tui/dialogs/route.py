"""Who answers a task: a model and those that answer when it cannot, out of a list or by any name."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from math import isfinite

from textual import events, getters, on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Label, Static

from tui.keybar import KeyBar
from tui.panes.rows import STYLES, Row, RowList
from tui.text import plain


@dataclass(frozen=True, slots=True)
class Choice:
    """A model that can be chosen."""

    name: str
    """What is written into the field."""
    about: str = ""
    api_base: str = ""
    """Where its server is, for one that settings do not know yet."""


@dataclass(frozen=True, slots=True)
class RouteDraft:
    """Who answers, as it stands in the dialog."""

    model: str = ""
    api_base: str = ""
    """Where its server is, when it was taken from the list and settings do not know it yet."""
    fallbacks: tuple[str, ...] = ()
    temperature: float | None = None
    timeout: float | None = None
    """Seconds."""

    @property
    def value(self) -> object:
        """As short as settings can say it: a name alone, a list of names, or a table."""
        told = {"temperature": self.temperature, "timeout": self.timeout}
        table = {key: value for key, value in told.items() if value is not None}
        if table:
            return {"model": self.model} | ({"fallbacks": list(self.fallbacks)} if self.fallbacks else {}) | table
        return [self.model, *self.fallbacks] if self.fallbacks else self.model


Keep = Callable[[RouteDraft], Awaitable[str]]
"""Keeps a draft. Returns what is wrong with it, or nothing when it is kept."""


class _Line(Input):
    BINDINGS = [Binding("enter", "submit", "Keep", show=False), Binding("down", "screen.to_choices", "To the list")]


class _Choices(RowList):
    BINDINGS = [Binding("enter", "take", "Take it", tooltip="Write this model into the field above")]

    def action_take(self) -> None:
        """Choose the row under the cursor."""
        self.pick()


class RouteDialog(ModalScreen[bool]):
    """Model, fallbacks, temperature and patience. It stays open until the draft could be kept; escape changes nothing."""

    COMPONENT_CLASSES = STYLES
    CSS_PATH = "dialogs.tcss"
    HELP = """\
Choose a model out of the list, or write any name that litellm knows: `openai/gpt-5-mini`, `anthropic/claude-haiku-4-5`,
`ollama_chat/llama3.2`. What you type narrows the list; **down** goes to it and **enter** takes from it.

**Fallbacks** answer, in this order, when the first is away, overloaded or silent; commas stand between them. A wrong key or a
name that nobody knows is no reason to fall back: then play pauses and says so. Empty **temperature** and **patience** (seconds of
silence) leave it to the model.
"""
    BINDINGS = [
        Binding("ctrl+s", "keep", "Keep", tooltip="Keep it as it stands here", priority=True),
        Binding("tab", "app.focus_next", "Next field", tooltip="To the next field; shift+tab goes back"),
        Binding("escape", "leave", "Leave it", tooltip="Change nothing"),
        Binding("f1", "app.show_help", "Help"),
    ]
    model = getters.query_one("#route-model", Input)
    others = getters.query_one("#route-fallbacks", Input)
    choices = getters.query_one("#route-choices", RowList)
    problem = getters.query_one("#problem", Static)

    def __init__(self, title: str, draft: RouteDraft, choices: Sequence[Choice], keep: Keep) -> None:
        super().__init__()
        self._title, self._draft, self._choices, self._keep = title, draft, choices, keep
        self._keeping = False
        self._into = "route-model"
        """The field that the list writes into."""
        self._taken_last = Choice("")

    def compose(self) -> ComposeResult:
        """The fields, the list, what is wrong, the keys."""
        draft = self._draft
        fields = (
            ("Model", "route-model", plain(draft.model)), ("Fallbacks", "route-fallbacks", plain(", ".join(draft.fallbacks))),
            ("Temperature", "route-temperature", _number(draft.temperature)),
            ("Patience, seconds", "route-timeout", _number(draft.timeout)),
        )
        with Vertical(id="dialog", classes="writing") as dialog:
            dialog.border_title = Content(plain(self._title))
            for label, key, value in fields:
                with Horizontal(classes="field tight"):
                    yield Label(label, markup=False)
                    yield _Line(value, id=key, compact=True, select_on_focus=key == "route-model")
            yield _Choices(id="route-choices")
            yield Static(id="problem", classes="problem last", markup=False)
            yield KeyBar()

    def on_mount(self) -> None:
        """Begin at the model, with the whole list."""
        self.query_one("#route-temperature", Input).placeholder = "0 to 2; empty leaves it to the model"
        self.query_one("#route-timeout", Input).placeholder = "of silence; empty leaves it to the model"
        self.others.placeholder = "names with commas between; none are needed"
        self._show("")
        self.model.focus()

    def _show(self, words: str) -> None:
        found = [choice for choice in self._choices if words.casefold() in f"{choice.name} {choice.about}".casefold()]
        rows = [
            Row(
                Content.styled(plain(one.name), ".name"), lead=Content(" "), tail=Content.styled(plain(one.about), ".quiet"),
                key=str(self._choices.index(one)),
            )
            for one in found
        ]
        nothing = Content.styled("None of the models here is called so. Any name that litellm knows will do.", ".quiet")
        self.choices.show(rows or [Row(nothing, lead=Content(" "))])
        self.choices.action_first()

    @on(Input.Changed)
    def _narrow(self, event: Input.Changed) -> None:
        event.stop()
        if event.input.id == self._into and event.input.has_focus:
            value = event.value.rpartition(",")[2] if self._into == "route-fallbacks" else event.value
            exact = value.strip() in {plain(choice.name) for choice in self._choices}
            self._show("" if exact else value.strip())

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """The list writes into the field one was in last."""
        if event.widget.id in ("route-model", "route-fallbacks") and event.widget.id != self._into:
            self._into = event.widget.id
            self._show("")

    def action_to_choices(self) -> None:
        """Go to the list."""
        self.choices.focus()
        self.choices.begin()

    @on(RowList.Picked)
    def _taken(self, event: RowList.Picked) -> None:
        event.stop()
        choice = self._choices[int(event.key)]
        if self._into == "route-model":
            self._taken_last = choice
            self.model.value = plain(choice.name)
            self.model.focus()
        else:
            before = [part.strip() for part in self.others.value.split(",")[:-1] if part.strip()]
            self.others.value = ", ".join([*before, plain(choice.name)])
            self.others.focus()
            self.others.action_end()

    @on(RowList.Moved)
    def _moved(self, event: RowList.Moved) -> None:
        event.stop()

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_keep()

    def action_keep(self) -> None:
        """Keep the draft if it can be kept."""
        if self._keeping:
            return
        draft = self.draft()
        if isinstance(draft, str):
            self._say(draft)
            return
        self._keeping = True
        self.keep(draft)

    def draft(self) -> RouteDraft | str:
        """What stands in the fields now, or what is wrong with it."""
        model = self.model.value.strip()
        if not model:
            return "Name a model. To take the setting back, leave with esc and press x."
        temperature = _value(self.query_one("#route-temperature", Input).value)
        timeout = _value(self.query_one("#route-timeout", Input).value)
        if isinstance(temperature, str) or (temperature is not None and not 0 <= temperature <= 2):
            return "Temperature is a number from 0 to 2, or empty."
        if isinstance(timeout, str) or (timeout is not None and not 0 < timeout <= 3600):
            return "Patience is a number of seconds up to 3,600, or empty."
        fallbacks = tuple(part.strip() for part in self.others.value.split(",") if part.strip())
        taken = self._taken_last if plain(self._taken_last.name) == model else Choice("")
        return RouteDraft(model, taken.api_base, fallbacks, temperature, timeout)

    @work(group="keep", exclusive=True)
    async def keep(self, draft: RouteDraft) -> None:
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
        """Change nothing. What is being written already is waited for."""
        if not self._keeping:
            self.dismiss(False)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:g}"


def _value(text: str) -> float | str | None:
    """A number, nothing, or the text that is neither."""
    text = text.strip().replace(",", ".")
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        return text
    return value if isfinite(value) else text
