"""The story: what happened, as the narrator or the played entity tells it, and the line one writes in."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import getters, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

from tui.glyphs import ASIDE, CURSOR, DEED, REFUSED, SPEECH, THOUGHT
from tui.panes.pane import Pane
from tui.panes.rows import Row, RowList
from tui.text import capital, plain, prose
from tui.view import WorldView

if TYPE_CHECKING:
    from engine.game import StoryLine

_KEPT = 700
"""Rows of the transcript that can be scrolled back to."""
_QUOTED = re.compile(r'"[^"]*"?')
_REASON = re.compile(r"\(Outcome: .*\)$")
_LEADS = {"dialogue": (f"{SPEECH} ", ".speech"), "action": (f"{DEED} ", ".quiet"), "monologue": (f"{THOUGHT} ", ".thought")}
_TEXT = {"dialogue": ".deed", "action": ".deed", "monologue": ".thought"}


@dataclass(frozen=True, slots=True)
class Aside:
    """A quiet line about minds rather than deeds."""

    round: int
    when: str
    text: str
    who: str = ""
    """Ends the sentence. Lines in a row with the same text become one, with all of them."""
    bad: bool = False


class SayLine(Input):
    """The line for what the played entity does. Keeps what was written before."""

    BINDINGS = [
        Binding("up", "earlier", "Earlier", tooltip="Bring back what you wrote before", show=False),
        Binding("down", "later", "Later", show=False),
        Binding("enter", "submit", "Do it", tooltip="Play a round in which this is done; empty waits"),
    ]

    def __init__(self) -> None:
        super().__init__(id="say", compact=True, disabled=True)
        self._history: list[str] = []
        self._at = 0
        self._draft = ""

    def remember(self, text: str) -> None:
        """Keep a line that was sent."""
        if text and (not self._history or self._history[-1] != text):
            self._history.append(text)
        self._at, self._draft = len(self._history), ""

    def give_back(self, text: str) -> None:
        """Put a refused line back, marked so that the next key replaces it, unless something new was begun."""
        if not self.value and text:
            self.value = text
            self.action_select_all()

    def action_earlier(self) -> None:
        """The line before."""
        if self._at == len(self._history):
            self._draft = self.value
        self._go(self._at - 1)

    def action_later(self) -> None:
        """The line after; after the last, what was being written."""
        self._go(self._at + 1)

    def _go(self, to: int) -> None:
        if 0 <= to <= len(self._history):
            self._at = to
            self.value = self._draft if to == len(self._history) else self._history[to]
            self.cursor_position = len(self.value)


class StoryPane(Pane):
    """The transcript with the voice of whoever acts now, and the input line."""

    NUMBER = 1
    TITLE = "Story"
    HELP = f"""\
What happened, oldest first. Watching, you read it with true names; playing somebody, only what they perceived, in their words.

`{SPEECH}` speech · `{DEED}` deed · `{THOUGHT}` thought · `{REFUSED}` a deed that was refused · `{ASIDE}` what a mind did
with it: names learned, memories kept.

Below is the line for what the entity you play does. Write prose (*I wipe the counter. "Evening," I say.*) or commands:
`say`, `whisper`, `go`, `look`, `take`, `give`. **enter** plays a round in which it is done, an empty line waits, **up** brings
back what you wrote before, **escape** leaves the line.
"""

    @dataclass
    class Said(Message):
        """The player wants a round in which this is done."""

        text: str

    say = getters.query_one(SayLine)

    def __init__(self) -> None:
        super().__init__()
        self._rows: list[Row] = []
        self._round = -1
        self._place = ""
        self._joined: tuple[str, list[str]] = ("", [])
        """Text of the last line, when it is an aside, and all it is about."""
        self._live: tuple[str | None, str] = (None, "")
        self._unsaid: Sequence[tuple[str, str]] = ()

    def compose(self) -> ComposeResult:
        """Transcript above, input below."""
        yield RowList(follow=True, id="transcript")
        with Horizontal(id="say-line"):
            yield Static(CURSOR, id="say-mark", markup=False)
            yield SayLine()

    def on_mount(self) -> None:
        """Notice when the reader is at the end again."""
        super().on_mount()
        self.watch(self.rows, "scroll_y", self._scrolled, init=False)

    def _scrolled(self) -> None:
        if self.rows.at_end:
            self.border_subtitle = Content("")

    def restart(self, lines: "Iterable[StoryLine | Aside]") -> None:
        """Show these lines only."""
        self._rows, self._round, self._place, self._joined = [], -1, "", ("", [])
        self.extend(lines)

    def extend(self, lines: "Iterable[StoryLine | Aside]") -> None:
        """Add what happened next."""
        for line in lines:
            self._begin_round(line.round, line.when)
            if isinstance(line, Aside):
                self._add_aside(line)
                continue
            self._joined = ("", [])
            if line.place != self._place:
                self._place = line.place
                self._rows.append(Row(Content.styled(capital(plain(line.place)), ".place"), lead=Content("  ")))
            self._rows.append(told(line))
        self._rows = self._rows[-_KEPT:]
        self._show()
        if not self.rows.at_end:
            self.border_subtitle = Content("↓ new below · end")

    def show_unsaid(self, unsaid: Sequence[tuple[str, str]]) -> None:
        """Show at the end what was written and is not told yet, each with what it waits for."""
        if unsaid != self._unsaid:
            self._unsaid = unsaid
            self._ask()
            self._show()

    def _ask(self) -> None:
        """Say what the line is for."""
        name = plain(self.view.name(self.view.played))
        asks = f"What does {name} do after that? escape stops." if self._unsaid else f"What does {name} do? Enter alone waits."
        self.say.placeholder = asks if self.view.played else "You are watching. t takes over whom you have chosen."

    def _add_aside(self, line: Aside) -> None:
        text, style = plain(line.text), ".bad" if line.bad else ".quiet"
        if line.who:
            if self._joined[0] == text:
                self._rows.pop()
            else:
                self._joined = (text, [])
            self._joined[1].append(plain(line.who))
            text = f"{text} {', '.join(self._joined[1])}."
        else:
            self._joined = ("", [])
        self._rows.append(Row(Content.styled(text, style), lead=Content.styled(f"{ASIDE} ", style)))

    def _begin_round(self, number: int, when: str) -> None:
        if number != self._round:
            if self._rows:
                self._rows.append(Row(Content("")))
            self._rows.append(Row(Content.styled(f"Round {number}", ".head"), tail=Content.styled(when, ".quiet"), rule="─"))
            self._round, self._place = number, ""

    def watch_view(self, old: WorldView, new: WorldView) -> None:
        """Draw the voice of whoever acts, and what the input line is for."""
        if (new.acting, new.prose) != self._live or new.world is None or old.world is None:
            self._live = (new.acting, new.prose)
            self._show()
        if (old.played, old.names) != (new.played, new.names) or not self.border_title:
            self.entitle(f"as {plain(new.name(new.played))}" if new.played else "as the narrator")
            self.say.disabled = new.played is None
            self._ask()

    def _show(self) -> None:
        rows = self._rows or ([] if self._unsaid else self._opening())
        acting, prose = self._live
        if acting is not None and not (self._unsaid and acting == self.view.played):
            name = capital(plain(self.view.name(acting)))
            body = Content.assemble((name, ".name"), ("  ", ""), (plain(prose) or "…", ".thought"), ("▌", ".key"))
            rows = [*rows, Row(body, lead=Content.styled("… ", ".key"))]
        for text, waits in self._unsaid:
            body = Content.assemble(("You: ", ".name"), (plain(text), ".quiet"), (f"  · {waits}" if waits else "", ".candidate"))
            rows = [*rows, Row(body, lead=Content.styled("… ", ".key"))]
        self.rows.show(rows)

    def _opening(self) -> list[Row]:
        world = self.view.world
        if world is None:
            return [Row(Content.styled("Opening…", ".quiet"))]
        rows = [Row(Content("")), Row(Content.styled(plain(world.name), ".head")), Row(Content(""))]
        rows += [Row(Content.styled(line, ".deed")) for line in prose(world.description)]
        rows += [
            Row(Content("")),
            Row(Content.assemble("Nothing has happened yet. Press ", ("n", ".key"), " and everybody acts once.")),
            Row(Content.assemble(("t", ".key"), " takes over somebody; then you write here what they do.")),
        ]
        return rows

    @on(Input.Submitted)
    def _say(self, event: Input.Submitted) -> None:
        event.stop()
        text = event.value.strip()
        self.say.remember(text)
        self.say.clear()
        self.rows.to_end()  # who acts wants to see what comes of it
        self.post_message(self.Said(text))


def told(line: "StoryLine") -> Row:
    """One line of the story: speaker, deed and words told apart by shape as well as by colour."""
    mark, style = _LEADS.get(line.kind, _LEADS["action"]) if line.ok else (f"{REFUSED} ", ".bad")
    text = plain(line.text)
    content = Content.styled(text, _TEXT.get(line.kind, ".deed"))
    speaker = plain(line.speaker)
    if speaker and text.startswith(speaker):
        content = content.stylize(".name", 0, len(speaker))
    if line.kind == "dialogue":
        for match in _QUOTED.finditer(text):
            content = content.stylize(".speech", match.start(), match.end())
    elif not line.ok:
        content = content.highlight_regex(_REASON, style=".bad")
    return Row(content, lead=Content.styled(mark, style))
