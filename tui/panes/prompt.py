"""The prompt that the chosen entity would be sent now: sections, what was cut, how memories were chosen, and the exact text."""

from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content

from tui.glyphs import REFUSED
from tui.panes.pane import Pane, bar
from tui.panes.rows import Row, RowList
from tui.text import capital, paragraphs, plain

if TYPE_CHECKING:
    from engine.records.prompts import Prompt, Receipt

_BLANK = Row(Content(""))
_BAR = 10


class PromptPane(Pane):
    """What a model would read. Enter on a section goes to its text."""

    NUMBER = 6
    TITLE = "Prompt"
    HELP = """\
What the chosen entity would be sent if it acted now, byte for byte. A preview changes nothing.

First the sections with their share of the tokens, then what was cut and why, then how memories were chosen: the score of
each, split into its parts, and those that just missed. **enter** on a section goes to its text.
"""

    BINDINGS = [Binding("enter", "pick", "Go to text", tooltip="Go to the text of this section", id="prompt-section")]

    def compose(self) -> ComposeResult:
        """One list."""
        yield RowList(id="prompt-rows")

    def draw(self, name: str, prompt: "Prompt") -> None:
        """Show a prompt of the entity called `name`."""
        self.entitle(plain(name), prompt.template)
        self.rows.show(rows_of(prompt))

    @on(RowList.Picked)
    def _jump(self, event: RowList.Picked) -> None:
        event.stop()
        self.rows.cursor = "text:" + event.key.removeprefix("text:")


def rows_of(prompt: "Prompt") -> list[Row]:
    """The whole pane, from the sum of tokens to the last line of text."""
    report = prompt.report
    room = max(report.context_window - report.reserved, 1)
    kept = (f", {report.reserved:,} for the answer", ".quiet")
    total = Content.assemble(bar(report.tokens / room, 2 * _BAR), f" {report.tokens:,} of {room:,} tokens", kept)
    rows = [Row(total, lead=Content(" ")), _BLANK]
    most = max((section.tokens for section in prompt.sections), default=1) or 1
    for section in prompt.sections:
        why = f" {plain(section.why_empty)}" if section.why_empty and not section.text else ""
        body = Content.assemble(capital(plain(section.title).lower()), (why, ".quiet"))
        tail = Content.assemble(bar(section.tokens / most, _BAR), f"{section.tokens:>6,}")
        rows.append(Row(body, lead=Content(" "), tail=tail, key=section.key))
    rows += _cuts(prompt)
    if report.receipts:
        rows += [_BLANK, _head("Memories considered")]
        rows += [receipt_row(receipt) for receipt in report.receipts]
    return rows + _text(prompt)


def _head(text: str) -> Row:
    return Row(Content.styled(text, ".head"), lead=Content.styled("── ", ".rule"), rule="─")


def _cuts(prompt: "Prompt") -> list[Row]:
    report = prompt.report
    rows = [Row(Content.styled(f"Left out: {plain(problem)}", ".bad"), lead=Content(" ")) for problem in report.problems]
    titles = {section.key: capital(plain(section.title).lower()) for section in prompt.sections}
    if report.cuts:
        rows += [_BLANK, _head("Cut")]
    for cut in report.cuts:
        body = Content.assemble(titles.get(cut.section, plain(cut.section)), (f"  {plain(cut.source)}: {plain(cut.reason)}", ".quiet"))
        rows.append(Row(body, lead=Content.styled(f"{REFUSED} ", ".bad")))
    return rows


def receipt_row(receipt: "Receipt") -> Row:
    """One memory with its score in parts."""
    mark, style = ("✓ ", ".good") if receipt.chosen else ("  ", ".quiet")
    parts = (
        ("recency", receipt.recency), ("importance", receipt.importance), ("meaning", receipt.cosine), ("words", receipt.words),
        ("people", receipt.involved), ("neighbours", receipt.smoothed),
    )
    split = "  ".join(f"{name} {value:.2f}" for name, value in parts if abs(value) >= 0.005)
    text = Content.styled(plain(receipt.text), ".deed" if receipt.chosen else ".quiet")
    body = Content("\n").join([text, Content.styled(f"{split}  {plain(receipt.reason)}".strip(), ".quiet")])
    return Row(body, lead=Content.assemble((mark, style), (f"{receipt.score:.2f}  ", style)))


def _text(prompt: "Prompt") -> list[Row]:
    """The exact text. Its headings can be gone to by the key of their section."""
    rows = [_BLANK, _head("Exact text")]
    by_heading = {f"=== {section.title.upper()} ===": section.key for section in prompt.sections}
    for message in prompt.messages:
        rows.append(Row(Content.styled(message.role, ".place")))
        for line in paragraphs(message.content):
            key = by_heading.get(line)
            style = ".name" if key else ".deed"
            rows.append(Row(Content.styled(line, style), key=f"text:{key}" if key else ""))
        rows.append(_BLANK)
    return rows
