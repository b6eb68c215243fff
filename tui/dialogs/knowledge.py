"""A piece of knowledge in the reader's own words: written anew, changed, or mended before it is approved."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from math import isfinite

from textual import getters, on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.suggester import SuggestFromList
from textual.widgets import Input, Label, Static, TextArea

from engine.records.knowledge import KnowledgeKind
from tui.dialogs.memory import Tick
from tui.dialogs.one_of import OneOf
from tui.keybar import KeyBar
from tui.panes.rows import STYLES
from tui.text import plain

_KINDS: Sequence[tuple[str, str]] = (("fact", "fact"), ("decision", "decision"), ("strategy", "strategy"))


@dataclass(frozen=True, slots=True)
class KnowledgeDraft:
    """A piece as it stands in the dialog."""

    text: str = ""
    """Third person; people by the names one uses."""
    owner: str = ""
    """Whose it is, by name."""
    holder: str = "entity"
    """Who holds it: `entity` for its owner alone, `faction NAME`, or `world`."""
    kind: str = "fact"
    about: str = ""
    """Whom or what it is about, by name; empty for no one."""
    why: str = ""
    topic: str = ""
    sure: float = 1.0
    """0 to 1."""
    importance: int = 5
    sensitive: bool = False
    pinned: bool = False

    @property
    def known_kind(self) -> KnowledgeKind:
        """The kind as the engine has it."""
        return "decision" if self.kind == "decision" else "strategy" if self.kind == "strategy" else "fact"


Keep = Callable[[KnowledgeDraft], Awaitable[str]]
"""Keeps a draft. Returns what is wrong with it, or nothing when it is kept."""
Foretell = Callable[[KnowledgeDraft], str]
"""What keeping a draft would come to."""


class _OneLine(Input):
    BINDINGS = [Binding("enter", "submit", "Keep")]


class KnowledgeDialog(ModalScreen[bool]):
    """Words and what belongs to them. It stays open until the draft could be kept: nothing typed is lost. Escape changes nothing."""

    COMPONENT_CLASSES = STYLES
    CSS_PATH = ["dialogs.tcss", "knowledge.tcss"]
    HELP = """\
Write in the third person what is known, and call people what you call them here or what its owner does: it reads with their names
as they are known later. Names are completed as you type them: **right** takes what is offered.

A *fact* is so; a *decision* is what somebody means to do, with why; a *strategy* is what works, with when. Pieces with the same **topic**
follow each other. **Sure** goes from 0 to 100 percent, **importance** from 1 to 10. What is pinned never sinks; what is sensitive waits
for a person before others come to know it. Above the keys stands who will know it.
"""
    BINDINGS = [
        Binding("ctrl+s", "keep", "Keep", tooltip="Keep it as it stands here", priority=True),
        Binding("enter", "keep", "Keep", show=False),
        Binding("tab", "app.focus_next", "Next field", tooltip="To the next field; shift+tab goes back"),
        Binding("escape", "leave", "Leave it", tooltip="Change nothing"),
        Binding("f1", "app.show_help", "Help"),
    ]
    content = getters.query_one("#known-text", TextArea)
    problem = getters.query_one("#problem", Static)

    def __init__(
        self, title: str, draft: KnowledgeDraft, keep: Keep, foretell: Foretell, names: Sequence[str],
        holders: Sequence[tuple[str, str]] = (),
    ) -> None:
        """`names` complete what is typed; with `holders`, a new piece is asked for: whose it is, of what kind, and who holds it."""
        super().__init__()
        self._title, self._draft, self._keep, self._foretell = title, draft, keep, foretell
        self._names, self._holders = [plain(name) for name in names], holders
        self._keeping = False

    def compose(self) -> ComposeResult:
        """The fields, what keeping them would come to, what is wrong, the keys."""
        draft = self._draft
        with Vertical(id="dialog", classes="writing knowing") as dialog:
            dialog.border_title = Content(plain(self._title))
            yield TextArea(draft.text, id="known-text", placeholder="What is known, in the third person.", compact=True)
            if self._holders:
                yield from self._field("Whose", self._line(draft.owner, "known-owner", complete=True))
                yield from self._field("Who holds it", OneOf(self._holders, draft.holder, id="known-holder"))
                yield from self._field("Kind", OneOf(_KINDS, draft.kind, id="known-kind"))
            yield from self._field("About", self._line(draft.about, "known-about", "whom or what; it may be empty", complete=True))
            yield from self._field("Why, or when", self._line(draft.why, "known-why", "of a decision why, of a strategy when"))
            yield from self._field("Topic", self._line(draft.topic, "known-topic", "a few words, such as: the boat"))
            with Horizontal(classes="field tight"):
                yield Label("Sure, percent", markup=False)
                yield self._line(f"{draft.sure * 100:g}", "known-sure")
                yield Label("  importance, 1 to 10", classes="second", markup=False)
                yield self._line(str(draft.importance), "known-importance")
            with Horizontal(classes="field tight"):
                yield Tick("pinned", draft.pinned, id="known-pinned")
                yield Tick("sensitive", draft.sensitive, id="known-sensitive")
            yield Static(id="coming", markup=False)
            yield Static(id="problem", classes="problem last", markup=False)
            yield KeyBar()

    def _field(self, label: str, widget: Input | OneOf) -> ComposeResult:
        with Horizontal(classes="field tight"):
            yield Label(label, markup=False)
            yield widget

    def _line(self, value: str, key: str, hint: str = "", *, complete: bool = False) -> Input:
        suggester = SuggestFromList(self._names, case_sensitive=False) if complete else None
        return _OneLine(plain(value), hint, id=key, compact=True, select_on_focus=False, suggester=suggester)

    def on_mount(self) -> None:
        """Begin at the end of the text."""
        self.content.move_cursor(self.content.document.end)
        self.content.focus()
        self._look_ahead()

    def draft(self) -> KnowledgeDraft:
        """What stands in the fields now. Numbers that are none come out of their bounds."""
        new = bool(self._holders)
        sure, weight = self._value("known-sure").rstrip(" %"), self._value("known-importance")
        return KnowledgeDraft(
            text=" ".join(self.content.text.split()), owner=self._value("known-owner") if new else self._draft.owner,
            holder=self.query_one("#known-holder", OneOf).value if new else self._draft.holder,
            kind=self.query_one("#known-kind", OneOf).value if new else self._draft.kind, about=self._value("known-about"),
            why=self._value("known-why"), topic=self._value("known-topic"), sure=_number(sure) / 100,
            importance=int(weight) if weight.isascii() and weight.isdigit() and len(weight) < 4 else 0,
            sensitive=self.query_one("#known-sensitive", Tick).value, pinned=self.query_one("#known-pinned", Tick).value,
        )

    def _value(self, key: str) -> str:
        return self.query_one(f"#{key}", Input).value.strip()

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        self._look_ahead()

    @on(OneOf.Turned)
    def _turned(self, event: OneOf.Turned) -> None:
        event.stop()
        self._look_ahead()

    def _look_ahead(self) -> None:
        self.query_one("#coming", Static).update(Content(plain(self._foretell(self.draft()))))

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
            self._say("Write what is known.")
        elif not 0 <= draft.sure <= 1:
            self._say("How sure it is, is a number from 0 to 100.")
        elif not 1 <= draft.importance <= 10:
            self._say("Importance is a number from 1 to 10.")
        else:
            self._keeping = True
            self.keep(draft)

    @work(group="keep", exclusive=True)
    async def keep(self, draft: KnowledgeDraft) -> None:
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


def _number(text: str) -> float:
    """A number, or one out of bounds for what is none."""
    try:
        value = float(text.replace(",", "."))
    except ValueError:
        return -100.0
    return value if isfinite(value) else -100.0
