"""One call to a model as rows: who is asked what for whom, the exact text that is sent, and what came of it."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.content import Content

from engine.records.base import EntityId
from tui.figures import money
from tui.glyphs import REFUSED
from tui.panes.pane import ruled
from tui.panes.rows import Row
from tui.text import count, paragraphs, plain

if TYPE_CHECKING:
    from engine.records.models import CallView

_BLANK = Row(Content(""))
_STATES = {
    "held": ("waits for your word: nothing has been sent", ".candidate"),
    "waiting": ("waits for its turn: nothing has been sent", ".quiet"),
    "sent": ("has been sent; the reply is waited for", ".candidate"), "replied": ("was answered", ".good"), "failed": ("failed", ".bad"),
}


def call_rows(call: "CallView", name: Callable[[EntityId], str]) -> list[Row]:
    """All that is known of a call. `name` is what the reader calls people."""
    state, style = _STATES[call.state]
    rows = [Row(whom(call, name), lead=Content(" ")), Row(Content.styled(f"It {state}.", style), lead=Content(" "))]
    if call.state == "held":
        rows.append(Row(Content.styled(takes(call), ".quiet"), lead=Content(" ")))
    rows += [_BLANK, ruled("Exact text")]
    for message in call.messages:
        rows.append(Row(Content.styled(message.role, ".place")))
        rows += [Row(Content.styled(line, ".deed")) for line in paragraphs(message.content)]
        rows.append(_BLANK)
    if call.shape:
        rows += [ruled("Sent beside it: the shape of the reply"), Row(Content.styled(plain(call.shape), ".quiet")), _BLANK]
    if call.state == "failed":
        rows += [ruled("What went wrong"), Row(Content.styled(plain(call.failed), ".bad"), lead=Content.styled(f"{REFUSED} ", ".bad"))]
    if call.state == "replied":
        rows += [ruled("Reply"), *(Row(Content.styled(line, ".speech")) for line in paragraphs(call.reply))]
    return rows


def whom(call: "CallView", name: Callable[[EntityId], str]) -> Content:
    """What it is for, and who is asked."""
    return Content.assemble((call.task, ".name"), f" for {plain(name(call.entity))}, by ", (plain(call.model), ".name"))


def takes(call: "CallView") -> str:
    """What a held call is going to take: `1,240 tokens; with the reply 1,752 at most, $0.0021 at most`."""
    price = "price unknown" if call.most_cost is None else f"{money(call.most_cost)} at most" if call.most_cost else "free"
    return f"{count(call.prompt_tokens, 'token')}; with the reply {call.most_tokens:,} at most, {price}"
