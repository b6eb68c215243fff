"""Sessions as a list: with whom, in what state, how near to their end or what they came to."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from textual.content import Content

from tui.figures import short_tokens
from tui.glyphs import CANDIDATE, DEED, JUDGED, PIN_HAND, REFUSED
from tui.panes.pane import bar
from tui.panes.rows import Row, RowList
from tui.text import capital, count, plain

if TYPE_CHECKING:
    from engine.records.sessions import CollapsePolicy, CollapseStage
    from engine.session_views import SessionLine

GAUGE = 6
"""Cells of the gauge in a row."""
_LONGEST_GOAL = 96
STATE_STYLES = {"open": ".key", "collapsing": ".candidate", "collapsed": ".good", "discarded": ".quiet", "failed": ".bad"}
SIGNS = {"open": CANDIDATE, "collapsing": "…", "collapsed": JUDGED, "discarded": REFUSED, "failed": "!"}
STAGES: "Mapping[CollapseStage, str]" = {
    "guard": "looking for orders", "assess": "weighing it", "extract": "asking the model", "settle": "holding it against what is known",
    "write": "waiting to be written",
}
"""What a collapse is at, in words."""
REASONS = {
    "inactivity": "nobody spoke any more", "explicit": "somebody asked for it", "max_turns": "it had as many turns as it may have",
    "max_tokens": "it was too long: its older part went",
}
"""Why a session was collapsed, in words."""


class Nearest(NamedTuple):
    """The trigger that is nearest to ending a session."""

    trigger: str
    """`turns`, `tokens` or `silence`; empty when only a word ends it."""
    share: float
    words: str


def empty_words(pairs: str, played: str, who: str, others: int) -> str:
    """Why there is no session, and what makes one. `pairs` is what the world says of who has sessions, `played` and `who` are the names of
    the played one and of the one whose sessions are shown, `others` is how many sessions there are of others. Names may be empty."""
    begins = f"{capital(plain(who))} takes part in no session yet." if who else "No session yet."
    talk = f"one opens when {plain(played)} talks with somebody" if played else "t in Play takes somebody over; then talking opens one"
    how = {
        "none": "In this world nobody has sessions by themselves (sessions: pairs: none in its policies).",
        "all": "In this world all who talk to each other have sessions: n plays a round.",
    }.get(pairs, f"In this world those have sessions who talk to whom you play: {talk}.")
    rest = f" esc shows the {others:,} of others." if others and who else ""
    return f"{begins} {how} + begins one by hand.{rest}"


class StillList(RowList):
    """A list whose chosen row stays where it is on the screen when rows above it come or go."""

    def show(self, rows: Sequence[Row]) -> None:
        """Show these rows instead, with the chosen one at the same height. When it is gone, the one in its place is chosen."""
        held, keys = self.keys, [row.key for row in rows if row.key]
        if keys and self.cursor in held and self.cursor not in keys:
            self.cursor = keys[min(held.index(self.cursor), len(keys) - 1)]
        before = self._line_of(self.cursor)
        super().show(rows)
        after = self._line_of(self.cursor)
        if before is not None and after is not None and before != after:
            top = int(self.scroll_offset.y) + after - before
            self.scroll_to(y=max(top, 0), animate=False, force=True, immediate=True)

    def _line_of(self, key: str) -> int | None:
        """The first line of the row with this key."""
        if not key:
            return None
        for row, line in zip(self._wrapped.rows, self._wrapped.first, strict=False):
            if row.key == key:
                return line
        return None


def nearest(policy: "CollapsePolicy", turns: int, tokens: int, idle: int) -> Nearest:
    """Which trigger is nearest, and how near, as a share and in words. `idle` is in seconds of world time."""
    if policy.mode == "explicit":
        return Nearest("", 0.0, "only a word ends it")
    found = [
        Nearest("silence", _share(idle, policy.inactivity_timeout), f"silent for {spans(idle, policy.inactivity_timeout)}"),
        Nearest("turns", _share(turns, policy.max_turns), f"{turns} of {count(policy.max_turns, 'turn')}"),
        Nearest("tokens", _share(tokens, policy.max_tokens), f"{short_tokens(tokens)} of {short_tokens(policy.max_tokens)} tokens"),
    ]
    return max(found, key=lambda one: one.share)


def _share(value: float, limit: float) -> float:
    return min(value / limit, 1.0) if limit > 0 else 1.0


def spans(value: int, limit: int) -> str:
    """World time against a limit, in the limit's unit: `12 of 30 min`, `0.5 of 6 h`, `40 of 90 s`."""
    if limit < 120:
        return f"{value} of {limit} s"
    if limit < 7_200:
        return f"{value // 60} of {limit / 60:.3g} min"
    if limit < 172_800:
        return f"{value / 3_600:.2g} of {limit / 3_600:.3g} h"
    return f"{value / 86_400:.2g} of {limit / 86_400:.3g} d"


def pair(line: "SessionLine") -> Content:
    """The two, whose it is first."""
    return Content.assemble((plain(line.agent), ".name"), (" with ", ".quiet"), (plain(line.actor), ".name"))


def pair_words(line: "SessionLine") -> str:
    """The same as plain text."""
    return f"{plain(line.agent)} with {plain(line.actor)}"


def row_of(line: "SessionLine", stage: "CollapseStage | None" = None) -> Row:
    """Its row in the list. `stage` is what its collapse is at, as far as that was told."""
    match line.state:
        case "open":
            about = _open(line)
        case "collapsing":
            about = Content.styled(f"{STAGES[stage] if stage else 'being collapsed'}… · {held(line)}", ".candidate")
        case "failed":
            about = Content.assemble(
                (_short(line.run.error if line.run else "It could not be collapsed."), ".bad"), (f"\n{held(line)}", ".quiet")
            )
        case "collapsed":
            about = _collapsed(line)
        case "discarded":
            about = Content.styled(f"{held(line)} · {plain(line.ended)}", ".quiet")
    state = Content.styled(line.state, STATE_STYLES[line.state])
    empty = line.state == "collapsed" and not taken(line)
    sign = DEED if empty else SIGNS[line.state]
    lead = Content.styled(f"{sign} ", ".quiet" if empty else STATE_STYLES[line.state])
    return Row(Content.assemble(pair(line), "\n", about), lead=lead, tail=state, key=line.session.id)


def taken(line: "SessionLine") -> bool:
    """Whether anything became of an ended session."""
    return line.run is not None and line.run.status == "committed"


def held(line: "SessionLine") -> str:
    """How much a session holds, in words."""
    parts = [count(line.turns, "turn"), f"{short_tokens(line.tokens)} tokens"]
    parts += [f"{PIN_HAND} {line.pinned} pinned"] if line.pinned else []
    return " · ".join(parts)


def _open(line: "SessionLine") -> Content:
    near = nearest(line.session.policy, line.turns, line.tokens, line.idle_seconds)
    high = near.share >= 0.8
    gauge = bar(near.share, GAUGE, ".candidate" if high else ".bar") if near.trigger else Content("")
    words = (near.words, ".candidate" if high else ".deed")
    parts = [] if near.trigger == "turns" else [count(line.turns, "turn")]
    parts += [] if near.trigger == "tokens" else [f"{short_tokens(line.tokens)} tokens"]
    parts += [f"{PIN_HAND} {line.pinned}"] if line.pinned else []
    parts += [] if near.trigger == "silence" else [plain(line.last)]
    return Content.assemble(gauge, " " if near.trigger else "", words, (f" · {' · '.join(parts)}", ".quiet"))


def _collapsed(line: "SessionLine") -> Content:
    run = line.run
    if run is None:
        return Content.styled(plain(line.ended), ".quiet")
    tail = f"{count(run.turns, 'turn')} · {plain(line.ended)}"
    if not taken(line):
        why = capital(_short(run.goal).removeprefix("Nothing was taken from it: "))
        return Content.styled(f"{why}\n{tail}", ".quiet")
    about = f"\n{run.outcome} · {gains(run.added, run.merged, run.retired)} · {tail}"
    return Content.assemble((_short(run.goal), ".deed"), (about, ".quiet"))


def gains(added: int, merged: int, retired: int) -> str:
    """What became of knowledge: `3 learned, 1 merged`."""
    parts = [f"{number} {word}" for number, word in ((added, "learned"), (merged, "merged"), (retired, "retired")) if number]
    return ", ".join(parts) or "nothing learned"


def _short(text: str) -> str:
    line = plain(text)
    return line if len(line) <= _LONGEST_GOAL else line[: _LONGEST_GOAL - 1].rstrip() + "…"
