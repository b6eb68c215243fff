"""A piece of knowledge in the reader's own words: written anew, changed, or mended before it is approved."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from math import isfinite

from textual import getters, on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.suggester import SuggestFromList
from textual.widgets import Input, Label, Static, TextArea

from engine.records.knowledge import KnowledgeKind
from tui.dialogs.form import FormDialog, Line
from tui.dialogs.memory import Tick
from tui.dialogs.one_of import OneOf
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


class KnowledgeDialog(FormDialog):
    """Words and what belongs to them. It stays open until the draft could be kept: nothing typed is lost. Escape changes nothing."""

    CSS_PATH = ["dialogs.tcss", "knowledge.tcss"]
    LOOK = "writing knowing"
    HELP = """\
Write in the third person what is known, and call people what you call them here or what its owner does: it reads with their names
as they are known later. Names are completed as you type them: **right** takes what is offered.

A *fact* is so; a *decision* is what somebody means to do, with why; a *strategy* is what works, with when. Pieces with the same **topic**
follow each other. **Sure** goes from 0 to 100 percent, **importance** from 1 to 10. What is pinned never sinks; what is sensitive waits
for a person before others come to know it. Above the keys stands who will know it.
"""
    content = getters.query_one("#known-text", TextArea)

    def __init__(
        self, title: str, draft: KnowledgeDraft, keep: Keep, foretell: Foretell, names: Sequence[str],
        holders: Sequence[tuple[str, str]] = (),
    ) -> None:
        """`names` complete what is typed; with `holders`, a new piece is asked for: whose it is, of what kind, and who holds it."""
        super().__init__(title)
        self._draft, self._keep, self._foretell = draft, keep, foretell
        self._names, self._holders = [plain(name) for name in names], holders

    def fields(self) -> ComposeResult:
        """The fields, and what keeping them would come to."""
        draft = self._draft
        yield TextArea(draft.text, id="known-text", placeholder="What is known, in the third person.", compact=True)
        if self._holders:
            yield from self.field("Whose", self._line(draft.owner, "known-owner", complete=True))
            yield from self.field("Who holds it", OneOf(self._holders, draft.holder, id="known-holder"))
            yield from self.field("Kind", OneOf(_KINDS, draft.kind, id="known-kind"))
        yield from self.field("About", self._line(draft.about, "known-about", "whom or what; it may be empty", complete=True))
        yield from self.field("Why, or when", self._line(draft.why, "known-why", "of a decision why, of a strategy when"))
        yield from self.field("Topic", self._line(draft.topic, "known-topic", "a few words, such as: the boat"))
        with Horizontal(classes="field tight"):
            yield Label("Sure, percent", markup=False)
            yield self._line(f"{draft.sure * 100:g}", "known-sure")
            yield Label("  importance, 1 to 10", classes="second", markup=False)
            yield self._line(str(draft.importance), "known-importance")
        with Horizontal(classes="field tight"):
            yield Tick("pinned", draft.pinned, id="known-pinned")
            yield Tick("sensitive", draft.sensitive, id="known-sensitive")
        yield Static(id="coming", markup=False)

    def _line(self, value: str, key: str, hint: str = "", *, complete: bool = False) -> Input:
        suggester = SuggestFromList(self._names, case_sensitive=False) if complete else None
        return Line(plain(value), hint, id=key, compact=True, select_on_focus=False, suggester=suggester)

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

    async def kept(self) -> str:
        """Keep the draft if it can be kept."""
        draft = self.draft()
        if not draft.text:
            return "Write what is known."
        if not 0 <= draft.sure <= 1:
            return "How sure it is, is a number from 0 to 100."
        if not 1 <= draft.importance <= 10:
            return "Importance is a number from 1 to 10."
        return await self._keep(draft)


def _number(text: str) -> float:
    """A number, or one out of bounds for what is none."""
    try:
        value = float(text.replace(",", "."))
    except ValueError:
        return -100.0
    return value if isfinite(value) else -100.0
