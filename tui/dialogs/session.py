"""Sessions by hand: one begun, a turn, a note."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from textual.app import ComposeResult
from textual.widgets import Input, Label, Static, TextArea

from tui.dialogs.form import FormDialog, Line
from tui.dialogs.memory import Tick
from tui.dialogs.one_of import OneOf

Options = Sequence[tuple[str, str]]
"""Values with their words."""


@dataclass(frozen=True, slots=True)
class NewSession:
    """A session that is to be begun."""

    agent: str
    actor: str
    goal: str
    only_by_word: bool


@dataclass(frozen=True, slots=True)
class TurnDraft:
    """A turn that is to be added."""

    role: str
    text: str
    hint: str
    pinned: bool


class StartDialog(FormDialog):
    """Whose session, with whom, to what end."""

    HELP = """\
Choose **whose** session it is, somebody with a mind, and **with** whom or what it deals. **Left** and **right** go through the
names; a letter goes to the next name that begins with it. The **goal** is kept as a note of that name on its scratchpad: it stands in
prompts while the session is open. People may be named in it by true name, as its owner calls them, or as `@id`.
"""

    def __init__(
        self, agents: Options, others: Options, agent: str, keep: Callable[[NewSession], Awaitable[str]], actor: str = "",
    ) -> None:
        super().__init__("Begin a session")
        self._agents, self._others, self._agent, self._actor, self._keep = agents, others, agent, actor, keep

    def fields(self) -> ComposeResult:
        """Whose, with whom, the goal, how it ends."""
        yield from self.field("Whose", OneOf(self._agents, self._agent, id="agent"))
        actor = self._actor or next((key for key, _ in self._others if key != self._agent), "")
        yield from self.field("With", OneOf(self._others, actor, id="actor"))
        yield from self.field("Goal, if any", Line("", id="goal", compact=True, max_length=2000))
        ends = (("", "as this world has it"), ("word", "only when somebody says so"))
        yield from self.field("It ends", OneOf(ends, id="ends"))

    async def kept(self) -> str:
        """Begin it."""
        agent, actor, ends = (self.query_one(key, OneOf).value for key in ("#agent", "#actor", "#ends"))
        if agent == actor:
            return "A session is with somebody else. Choose another below."
        return await self._keep(NewSession(agent, actor, self.query_one("#goal", Input).value.strip(), ends == "word"))


class TurnDialog(FormDialog):
    """What was said, or a remark."""

    HELP = """\
A turn is what one of the two **said**, word for word, or a **remark**: something that happened between them. In a remark people may be
named by true name, as the owner of the session calls them, or as `@id`. A **hint** tells whoever looks through the session what to
notice. A **pinned** turn is reason enough to ask a model what is left of the session.
"""

    def __init__(self, title: str, agent: str, actor: str, keep: Callable[[TurnDraft], Awaitable[str]]) -> None:
        super().__init__(title)
        self._roles = (("actor", f"{actor} said"), ("agent", f"{agent} said"), ("note", "a remark"))
        self._keep = keep

    def fields(self) -> ComposeResult:
        """Who, what, hint and pin."""
        yield from self.field("Who", OneOf(self._roles, id="role"))
        yield TextArea(id="turn-text", placeholder="The words as they were said, or what happened.", compact=True)
        yield from self.field("Hint, if any", Line("", id="hint", compact=True, max_length=200))
        yield Tick("pinned", False, id="pinned")

    def on_mount(self) -> None:
        """Begin with the words."""
        self.query_one("#turn-text", TextArea).focus()

    async def kept(self) -> str:
        """Add it."""
        text = self.query_one("#turn-text", TextArea).text
        if not text.strip():
            return "Write what was said."
        role, hint = self.query_one("#role", OneOf).value, self.query_one("#hint", Input).value
        return await self._keep(TurnDraft(role, text, hint, self.query_one("#pinned", Tick).value))


class ScratchDialog(FormDialog):
    """A note on the scratchpad: a key and its words."""

    HELP = """\
Notes stand on the scratchpad of a session under keys such as `hypothesis`, `ruled_out` or `goal`, and in the agent's prompt while the
session is open. A key that is there already gets the new words. People may be named by true name, as the owner calls them, or as `@id`.
"""

    def __init__(self, key: str, text: str, keep: Callable[[str, str], Awaitable[str]]) -> None:
        """With a `key` its note is changed; the key stays."""
        super().__init__(f"Change the note “{key}”" if key else "Write a note")
        self._key, self._text, self._keep = key, text, keep

    def fields(self) -> ComposeResult:
        """Key and words."""
        if self._key:
            yield Static("It is shown as the owner of the session reads it.", markup=False)
        else:
            yield from self.field("Key", Line("", id="key", compact=True, max_length=60, placeholder="hypothesis"))
        yield Label("Words", markup=False)
        yield TextArea(self._text, id="note-text", compact=True)

    def on_mount(self) -> None:
        """Begin with what is missing."""
        area = self.query_one("#note-text", TextArea)
        area.move_cursor(area.document.end)
        (area if self._key else self.query_one("#key", Input)).focus()

    async def kept(self) -> str:
        """Write it."""
        key = self._key or self.query_one("#key", Input).value.strip()
        text = self.query_one("#note-text", TextArea).text
        if not key:
            return "Give it a key, such as hypothesis."
        if not text.strip():
            return "Write what is noted. To take a note away, press d on it."
        return await self._keep(key, text)
