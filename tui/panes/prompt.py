"""The prompt that the chosen entity would be sent now: sections, what was cut, how memories were chosen, and the exact text."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.message import Message

from engine.records.base import EntityId
from tui.glyphs import REFUSED
from tui.panes.pane import Pane, bar
from tui.panes.receipts import POOL, RECEIPT, considered
from tui.panes.rows import Row, RowList
from tui.text import capital, paragraphs, plain

if TYPE_CHECKING:
    from engine.records.prompts import Prompt

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
"""

    BINDINGS = [Binding("enter", "pick", "Open", tooltip="Go to the text of this section; numbers of this memory", id="prompt-section")]

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

    def compose(self) -> ComposeResult:
        """One list."""
        yield RowList(id="prompt-rows")

    def draw(self, prompt: "Prompt", name: Callable[[EntityId], str]) -> None:
        """Show a prompt. `name` is what its entity calls others."""
        if self._prompt is None or self._prompt.entity != prompt.entity:
            self._opened, self._texts = set(), {}
        self._prompt, self._called = prompt, name
        self.entitle(plain(self.view.name(prompt.entity)), prompt.template)
        self._show()
        if POOL in self._opened:
            self.post_message(self.PoolWanted(prompt.entity))

    def show_pool(self, texts: Mapping[str, str]) -> None:
        """The accounts of the memories that were looked at, by their ids."""
        self._texts = texts
        self._show()

    def _show(self) -> None:
        if self._prompt is not None:
            self.rows.show(rows_of(self._prompt, self._called, self._opened, self._texts))

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
        rows += [_BLANK, _head("How memories were chosen"), *considered(report, name, opened, texts)]
    return rows + _text(prompt)


def _head(text: str) -> Row:
    return Row(Content.styled(text, ".head"), lead=Content.styled("── ", ".rule"), rule="─")


def _cuts(prompt: "Prompt") -> list[Row]:
    report = prompt.report
    told = {receipt.source: receipt.text for receipt in report.receipts}
    titles = {section.key: capital(plain(section.title).lower()) for section in prompt.sections}
    rows = [_BLANK, _head("Cut")] if report.cuts else []
    for cut in report.cuts:
        about = f"  {plain(told.get(cut.source, cut.source))}: {plain(cut.reason)}"
        body = Content.assemble(titles.get(cut.section, plain(cut.section)), (about, ".quiet"))
        rows.append(Row(body, lead=Content.styled(f"{REFUSED} ", ".bad")))
    return rows


def _text(prompt: "Prompt") -> list[Row]:
    """The exact text. Its headings can be gone to by the key of their section."""
    rows = [_BLANK, _head("Exact text")]
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
