"""Working memory: what its owner still has in mind, what a handoff may take, and how soon."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import getters
from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from engine.records.base import BufferId
from tui.glyphs import CANDIDATE, DEED, JUDGED, PIN_HAND, PIN_MODEL, SPEECH, THOUGHT
from tui.minds import Mind, MindLine
from tui.panes.pane import Pane, bar
from tui.panes.rows import Row, RowList
from tui.text import capital, plain
from tui.view import WorldView

if TYPE_CHECKING:
    from engine.records.review import PendingProposal

_PINS = {"hand": PIN_HAND, "model": PIN_MODEL}
_LEGEND = f"{PIN_HAND} your pin  {PIN_MODEL} model's pin  {CANDIDATE} candidate"
_DONE = " (Outcome: succeeded)"
"""Goes without saying here. Prompts say it."""
_FAILED = re.compile(r"\(Outcome: .*\)$")
_WATERMARK = "watermark"
_ONE_LINE = 76
"""Columns in which what a handoff waits for stands in one line with its reason. Narrower panes have a line more for it."""
_MODES = {"said": SPEECH, "done": DEED, "thought": THOUGHT}


class BufferPane(Pane):
    """Entries newest first: they sink below the watermark and from there into the ledger, or into oblivion."""

    NUMBER = 4
    TITLE = "Mind"
    HELP = f"""\
The working memory of the chosen entity, newest first: events as it perceived them, under the words it would use for when.

The **watermark** is the line below the entries that are safe. What lies below it are candidates (`{CANDIDATE}`): the next
handoff keeps them in the ledger or lets them go. While one runs they are lit, and each gets the number of its memory.

`{PIN_HAND}` pinned by your hand: never a candidate until you let go. `{PIN_MODEL}` pinned by the model: an open thread; it
stays and its memory is brought up to date. **p** pins or lets go of the entry under the cursor.

With review on, candidates of a proposal that waits for your word are marked `waits`; **v** opens it.

The gauges count entries and tokens against their limits; the line below them says what would start a handoff.
"""
    BINDINGS = [Binding("p", "pin", "Pin", tooltip="Pin the entry under the cursor, or let go of it", id="buffer-pin")]

    @dataclass
    class PinToggled(Message):
        """The reader pins an entry, or lets go of it."""

        entry: BufferId
        on: bool

    gauges = getters.query_one("#gauges", Static)

    def compose(self) -> ComposeResult:
        """Gauges above, entries below."""
        yield Static(id="gauges", markup=False)
        yield RowList(id="entries")

    def watch_view(self, old: WorldView, new: WorldView) -> None:
        """Draw the mind when it is another one."""
        rested = old.running and not new.running
        waits = new.waiting.get(new.chosen or "")
        same = (old.chosen, old.mind, old.names, old.waiting) == (new.chosen, new.mind, new.names, new.waiting)
        if same and self.rows.keys and not rested:
            return
        self.entitle(plain(new.name(new.chosen)) if new.chosen else "", _LEGEND)
        self.gauges.update(gauges(new.mind, self.size.width, waits is not None), layout=False)
        self.rows.show(rows_of(new.mind, waits))
        if new.mind.judging and not old.mind.judging:
            self.rows.reveal(_WATERMARK)
        elif old.chosen != new.chosen or (rested and not self.rows.has_focus):
            self.rows.scroll_home(animate=False)

    def on_resize(self) -> None:
        """Gauges fill the width."""
        waits = self.view.chosen in self.view.waiting
        self.gauges.update(gauges(self.view.mind, self.size.width, waits), layout=False)

    def action_pin(self) -> None:
        """Pin the entry under the cursor or let go of it."""
        for line in self.view.mind.lines:
            if line.entry.id == self.rows.cursor:
                self.post_message(self.PinToggled(line.entry.id, line.entry.pinned == "none"))


def gauges(mind: Mind, width: int, waits: bool = False) -> Content:
    """Entries and tokens against their limits, and what a handoff waits for. `waits`: a proposal waits for the reader's word."""
    report = mind.report
    room = max(min(width - 46, 30), 6)
    high = report.entries > report.max_entries
    pinned = sum(line.entry.pinned != "none" for line in mind.lines)
    lines = [
        Content.assemble(
            ("entries ", ".quiet"), bar(report.entries / max(report.max_entries, 1), room, ".candidate" if high else ".bar"),
            f" {report.entries} of {report.max_entries}", (f" and {pinned} pinned" if pinned else "", ".quiet"),
        ),
        Content.assemble(
            ("tokens  ", ".quiet"), bar(report.tokens / max(report.max_tokens, 1), room), f" {report.tokens:,} of {report.max_tokens:,}",
            ("" if mind.counted else " before this round", ".quiet"),
        ),
    ]
    text, style = ("a proposal waits for your word (v)", ".candidate") if waits else _due(mind)
    reason = plain(report.reason)
    due = Content.assemble(("next    ", ".quiet"), (text, style))
    if reason and width < _ONE_LINE:
        lines += [due + ":", Content.styled(f"        {reason}", ".quiet")]
    else:
        lines.append(due + Content.styled(f": {reason}" if reason else "", ".quiet"))
    return Content("\n").join(lines)


def _due(mind: Mind) -> tuple[str, str]:
    """When the next handoff comes, and how that is coloured."""
    if mind.judging:
        return "a handoff is running", ".candidate"
    if mind.report.trigger == "none":
        return "no handoff due", ".quiet"
    if not mind.below - mind.held:
        return "a handoff once a moment has sunk below the watermark", ".quiet"
    return f"handoff next round, {'it must' if mind.report.trigger == 'involuntary' else 'by choice'}", ".candidate"


def rows_of(mind: Mind, waits: "PendingProposal | None" = None) -> list[Row]:
    """All entries, newest first, with the watermark between what is safe and what is not. Candidates of a proposal that waits say so."""
    if not mind.lines:
        return [Row(Content.styled("Nothing in mind yet. n plays a round.", ".quiet"), lead=Content(" "))]
    above = [line for line in mind.lines if line.entry.id not in mind.below]
    below = [line for line in mind.lines if line.entry.id in mind.below]
    rows = _section(above, mind, waits)
    mark = Content.styled("▲ safe   watermark   candidates ▼", ".candidate")
    rows.append(Row(mark, lead=Content.styled("── ", ".rule"), rule="─", name=_WATERMARK))
    if below:
        return rows + _section(below, mind, waits)
    return [*rows, Row(Content.styled("Nothing has sunk this far.", ".quiet"), lead=Content("   "))]


def _section(lines: Sequence[MindLine], mind: Mind, waits: "PendingProposal | None") -> list[Row]:
    rows: list[Row] = []
    when = ""
    chunks = waits.proposal.chunks if waits else mind.chunks
    decided = {source: number for number, chunk in enumerate(chunks, 1) for source in chunk.source_ids}
    waiting = frozenset(entry.id for entry in waits.proposal.candidates) if waits else frozenset()
    for line in reversed(lines):
        if line.when != when:
            when = line.when
            rows.append(Row(Content.styled(capital(plain(when)), ".head"), lead=Content(" ")))
        rows.append(_entry(line, mind, decided.get(line.entry.id, 0), line.entry.id in waiting))
    return rows


def _entry(line: MindLine, mind: Mind, number: int, waits: bool) -> Row:
    entry = line.entry
    candidate = entry.id in mind.below and entry.id not in mind.held
    judged = entry.id in mind.judging
    mark = _PINS.get(entry.pinned) or (JUDGED if judged else CANDIDATE if candidate else " ")
    style = ".candidate" if candidate or judged else ".key" if entry.pinned != "none" else ".quiet"
    text = ".thought" if entry.mode == "thought" else ".deed"
    lead = Content.assemble((f"{mark} ", style), (f"{_MODES[entry.mode]} ", ".quiet"))
    doing = "waits" if waits else "judged" if judged else ""
    tail = Content.styled(f"memory {number} {'waits' if waits else ''}".strip(), ".good") if number else Content.styled(doing, ".candidate")
    body = Content.styled(plain(line.text).removesuffix(_DONE) or "…", text).highlight_regex(_FAILED, style=".bad")
    return Row(body, lead=lead, tail=tail, key=entry.id, tint="lit" if judged else "")
