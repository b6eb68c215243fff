"""The prompt that the chosen entity would be sent now: sections, what was cut, how memories were chosen, and the exact text."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.message import Message

from engine.records.base import EntityId
from tui.glyphs import REFUSED
from tui.panes.calls import call_rows
from tui.panes.pane import Pane, bar, ruled
from tui.panes.receipts import POOL, RECEIPT, considered
from tui.panes.rows import Row, RowList
from tui.text import capital, paragraphs, plain

if TYPE_CHECKING:
    from engine.records.models import CallView
    from engine.records.prompts import Prompt, Task

_BLANK = Row(Content(""))
_BAR = 10


class PromptPane(Pane):
    """What a model would read. Enter on a section goes to its text."""

    NUMBER = 6
    TITLE = "Prompt"
    HELP = """\
What the chosen entity would be sent if it acted now, byte for byte. A preview changes nothing.

First the sections with their share of the tokens, then what was cut and why. **enter** on a section goes to its text.

Then how memories were chosen: what memory was asked, who was in focus, and of each memory its place in the ranking and its
score. The bar shows what the score is made of, a letter for each part. **enter** on a memory shows the numbers and how it was
found; at the end, **enter** shows all that were looked at, those that did not go in too.

**c** goes on to what is really sent: the calls under way, from the moment they are, with the exact text; then the last call of each
task on behalf of the chosen entity, with its reply; then back to the preview. **H** lets each call wait for your word.
"""

    BINDINGS = [
        Binding("enter", "pick", "Open", tooltip="Go to the text of this section; numbers of this memory", id="prompt-section"),
        Binding("c", "next_call", "Calls", tooltip="The calls under way, the last call of each task, the preview again", id="prompt-calls"),
    ]

    @dataclass
    class PoolWanted(Message):
        """The reader wants to see all candidates: their accounts are needed."""

        owner: EntityId

    def __init__(self) -> None:
        super().__init__()
        self._prompt: Prompt | None = None
        self._called: Callable[[EntityId], str] = str
        self._opened: set[str] = set()
        self._texts: Mapping[str, str] = {}
        self._live: Sequence[CallView] = ()
        self._last: Sequence[CallView] = ()
        self._mode: Task | Literal["preview", "live"] = "preview"
        self._calls: Sequence[CallView] = ()
        """Those that are shown."""

    def compose(self) -> ComposeResult:
        """One list."""
        yield RowList(id="prompt-rows")

    def draw(self, prompt: "Prompt", name: Callable[[EntityId], str]) -> None:
        """Show a prompt. `name` is what its entity calls others."""
        if self._prompt is None or self._prompt.entity != prompt.entity:
            self._opened, self._texts = set(), {}
        self._prompt, self._called = prompt, name
        self._show()
        if POOL in self._opened:
            self.post_message(self.PoolWanted(prompt.entity))

    def show_pool(self, texts: Mapping[str, str]) -> None:
        """The accounts of the memories that were looked at, by their ids."""
        self._texts = texts
        self._show()

    def follow(self, live: "Sequence[CallView]", last: "Sequence[CallView]") -> None:
        """Take the calls that are under way and the last one of each task of the chosen entity."""
        self._live, self._last = live, last
        if self._mode == "preview":
            return
        if self._mode not in self._modes():
            self._turn_to("preview")
        elif (calls := self._chosen_calls()) != self._calls:
            anew = [call.key for call in calls] != [call.key for call in self._calls]
            self._calls = calls
            self._show()
            if anew:
                self.rows.scroll_home(animate=False)

    def say(self, text: str) -> None:
        """Why there is no preview yet."""
        if self._prompt is None and self._mode == "preview":
            self.rows.show([Row(Content.styled(text, ".quiet"), lead=Content(" "))])

    def action_next_call(self) -> None:
        """What is sent, then what was, then the preview."""
        modes = self._modes()
        self._turn_to(modes[(modes.index(self._mode) + 1) % len(modes)])

    def _modes(self) -> "list[Task | Literal['preview', 'live']]":
        modes: list[Task | Literal["preview", "live"]] = ["preview"]
        if self._live:
            modes.append("live")
        return modes + [call.task for call in self._last]

    def _turn_to(self, mode: "Task | Literal['preview', 'live']") -> None:
        self._mode = mode
        self._calls = self._chosen_calls()
        self._show()
        self.rows.scroll_home(animate=False)

    def _chosen_calls(self) -> "Sequence[CallView]":
        if self._mode == "live":
            return self._live
        return [call for call in self._last if call.task == self._mode]

    def _show(self) -> None:
        if self._calls:
            self._show_calls()
        elif self._prompt is not None:
            self.entitle(plain(self.view.name(self._prompt.entity)), self._prompt.template)
            self.rows.show(rows_of(self._prompt, self._called, self._opened, self._texts))

    def _show_calls(self) -> None:
        first, more = self._calls[0], len(self._calls) - 1
        when = ("sent last" if first.over else "under way") if self._mode == "live" else "the last"
        about = f"{first.task} of {plain(self.view.name(first.entity))}, {when}" + (f" +{more}" if more else "")
        self.entitle(about, first.template)
        rows = [row for call in self._calls for row in (*call_rows(call, self.view.name), _BLANK)]
        self.rows.show(rows[:-1])

    @on(RowList.Picked)
    def _open(self, event: RowList.Picked) -> None:
        event.stop()
        if event.key == POOL or event.key.startswith(RECEIPT):
            self._opened ^= {event.key}
            self._show()
            if event.key in self._opened and event.key == POOL and self._prompt is not None:
                self.post_message(self.PoolWanted(self._prompt.entity))
        else:
            self.rows.cursor = "text:" + event.key.removeprefix("text:")
            self.rows.reveal(self.rows.cursor, above=0)


def rows_of(
    prompt: "Prompt", name: Callable[[EntityId], str], opened: Collection[str] = (), texts: Mapping[str, str] | None = None,
) -> list[Row]:
    """The whole pane, from the sum of tokens to the last line of text."""
    report = prompt.report
    room = max(report.context_window - report.reserved, 1)
    kept = (f", {report.reserved:,} for the answer", ".quiet")
    total = Content.assemble(bar(report.tokens / room, 2 * _BAR), f" {report.tokens:,} of {room:,} tokens", kept)
    sign = Content.styled(f"{REFUSED} ", ".bad")
    rows = [Row(Content.styled(f"Left out: {plain(problem)}", ".bad"), lead=sign) for problem in report.problems]
    rows += [Row(total, lead=Content(" ")), _BLANK]
    most = max((section.tokens for section in prompt.sections), default=1) or 1
    for section in prompt.sections:
        why = f" {plain(section.why_empty)}" if section.why_empty and not section.text else ""
        body = Content.assemble(capital(plain(section.title).lower()), (why, ".quiet"))
        tail = Content.assemble(bar(section.tokens / most, _BAR), f"{section.tokens:>6,}")
        rows.append(Row(body, lead=Content(" "), tail=tail, key=section.key))
    rows += _cuts(prompt)
    if report.receipts or report.query or report.candidates:
        rows += [_BLANK, ruled("How memories were chosen"), *considered(report, name, opened, texts)]
    return rows + _text(prompt)


def _cuts(prompt: "Prompt") -> list[Row]:
    report = prompt.report
    told = {receipt.source: receipt.text for receipt in report.receipts}
    titles = {section.key: capital(plain(section.title).lower()) for section in prompt.sections}
    rows = [_BLANK, ruled("Cut")] if report.cuts else []
    for cut in report.cuts:
        about = f"  {plain(told.get(cut.source, cut.source)).rstrip('.')}: {plain(cut.reason)}"
        body = Content.assemble(titles.get(cut.section, plain(cut.section)), (about, ".quiet"))
        rows.append(Row(body, lead=Content.styled(f"{REFUSED} ", ".bad")))
    return rows


def _text(prompt: "Prompt") -> list[Row]:
    """The exact text. Its headings can be gone to by the key of their section."""
    rows = [_BLANK, ruled("Exact text")]
    by_heading = {f"=== {section.title.upper()} ===": section.key for section in prompt.sections}
    for message in prompt.messages:
        rows.append(Row(Content.styled(message.role, ".place")))
        for line in paragraphs(message.content):
            key = by_heading.get(line)
            style = ".name" if key else ".deed"
            name = f"text:{key}" if key else ""
            rows.append(Row(Content.styled(line, style), key=name, name=name))
        rows.append(_BLANK)
    return rows
