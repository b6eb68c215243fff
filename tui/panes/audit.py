"""Rows of the audit trail, as a list and in full: what was done to sessions and knowledge, by what and why."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, get_args

from textual.content import Content

from engine.mind.timewords import naturalize_time
from engine.records.knowledge import AuditAction, Cause
from tui.host import date_words
from tui.panes.rows import Row
from tui.panes.sessions_ended import Rows
from tui.text import capital, count, plain

if TYPE_CHECKING:
    from engine.knowledge_views import AuditLine, PastLine, WordingLine

ACTIONS: tuple[AuditAction, ...] = get_args(AuditAction)
CAUSES: Mapping[Cause, str] = {
    "collapse": "a collapse", "promotion": "a promotion", "hand": "by hand", "world": "the world's files", "lifecycle": "disuse",
    "leaving": "leaving a faction", "play": "play",
}
"""What changed something, in words."""
_GOOD, _BAD = frozenset({"added", "promoted", "approved", "restored", "lifted", "collapsed"}), frozenset({"cut", "rejected", "deleted"})
_LONGEST = 160
_VALUE = re.compile(r"([a-z_]+): ?(.*)")
"""A value under the words of a row: `confidence: 0.8`."""
EMPTY = """\
Nothing was done to sessions or knowledge yet. Each session that opens or ends leaves a row here, and so does all that is learned,
merged, retired, promoted, shared, changed by hand or taken away."""


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Which rows are looked for. Empty parts leave nothing out."""

    action: str = ""
    cause: str = ""
    owner: str = ""
    first: int | None = None
    last: int | None = None
    """Rounds, both within."""
    session: str = ""
    knowledge: str = ""
    run: str = ""

    @property
    def any(self) -> bool:
        """Whether anything is left out."""
        return self != AuditFilter()

    def words(self, owner_name: str) -> str:
        """What is looked for, in one line."""
        rounds = ""
        if self.first is not None or self.last is not None:
            low, high = self.first, self.last
            rounds = f"round {low}" if low == high else f"rounds {low or 0} to {high}" if high is not None else f"from round {low} on"
        by = CAUSES.get(self.cause, "")  # type: ignore[call-overload]
        parts = (self.action, by, owner_name, rounds, self.session, self.knowledge, self.run)
        return " · ".join(plain(part) for part in parts if part)

    def turned(self, **parts: str) -> "AuditFilter":
        """With these parts, or without them when they hold already."""
        held = all(getattr(self, name) == value for name, value in parts.items())
        return replace(self, **dict.fromkeys(parts, "")) if held else replace(self, **parts)  # type: ignore[arg-type]


def key_of(line: "AuditLine") -> str:
    """By which its row is known."""
    return f"audit {line.row.seq}"


def holds(line: "AuditLine", words: list[str]) -> bool:
    """Whether a row tells of all these words, which are in lower case."""
    row = line.row
    keys = f"{row.knowledge_id or ''} {row.session_id or ''} {row.run_id or ''}"
    text = f"{row.action} {CAUSES[row.cause]} {line.owner} {line.before} {line.after} {line.why} {keys}".casefold()
    return all(word in text for word in words)


def _style(action: str) -> str:
    return ".good" if action in _GOOD else ".bad" if action in _BAD else ".key"


def row_of(line: "AuditLine", now: datetime, whom: str = "") -> Row:
    """Its row in the list. `whom` says whose session it concerns, with whom."""
    row = line.row
    change, owner = _change(line), f"{plain(capital(line.owner))} {whom}".strip()
    what = change or Content.assemble((owner if whom else "", ".deed"), (f"  {_about(line)}" if whom else _about(line), ".quiet"))
    parts = (owner if change or not whom else "", CAUSES[row.cause], "" if line.why == CAUSES[row.cause] else line.why)
    about = " · ".join(plain(part) for part in parts if part)
    body = Content.assemble((f"{row.action:<9} ", _style(row.action)), what, (f"\n{about}", ".quiet"))
    tail = Content.styled(naturalize_time(now, row.timestamp), ".quiet")
    return Row(body, lead=Content.styled(f"{row.round:>4} ", ".quiet"), tail=tail, key=key_of(line))


def _change(line: "AuditLine") -> Content | None:
    before, was = _parted(line.before)
    after, now = _parted(line.after)
    if before and after and before != after:
        said = Content.assemble((_short(before), ".thought"), (" → ", ".key"), (_short(after), ".deed"))
    elif before or after:
        said = Content.styled(_short(after or before), ".deed" if after else ".thought")
    else:
        return None
    values = ", ".join(_value(name, was.get(name, ""), now.get(name, "")) for name in dict.fromkeys((*was, *now)))
    return Content.assemble(said, (f"  {values}", ".quiet")) if values else said


def _parted(text: str) -> tuple[str, dict[str, str]]:
    """The words of a row, and the other values that were changed with them, by name."""
    first, *rest = text.splitlines() or [""]
    named = [found for one in rest if (found := _VALUE.fullmatch(one))]
    if len(named) < len(rest):  # several lines of words
        return " ".join(text.split()), {}
    return first, {found[1]: found[2] for found in named}


def _value(name: str, was: str, now: str) -> str:
    """A value that was changed, in words."""
    match name:
        case "valid_to":
            return "believed no longer" if now else "believed again"
        case "pinned":
            return "pinned" if now == "True" else "let go of"
        case "superseded_by" if now and not was:
            return f"replaced by {now}"
        case _:
            return f"{name.replace('_', ' ')} {was or 'nothing'} → {now or 'nothing'}"


def _about(line: "AuditLine") -> str:
    """What a row without words is about."""
    return plain(line.row.session_id or line.row.knowledge_id or line.row.run_id or "")


def _short(text: str) -> str:
    one = plain(text)
    one = capital(one) if " " in one else one  # a lone word is a state, not a sentence
    return one if len(one) <= _LONGEST else one[: _LONGEST - 1].rstrip() + "…"


def detail_of(line: "AuditLine", now: datetime, whom: str = "") -> list[Row]:
    """All that a row says."""
    row, rows = line.row, Rows()
    who = f" · {plain(capital(line.owner))} {plain(whom)}".rstrip() if line.owner else ""
    rows.row(Content.assemble((row.action, _style(row.action)), (f", by {_by(row.cause)}{who}", ".deed")))
    rows.quiet(f"Round {row.round} · {naturalize_time(now, row.timestamp)} · {date_words(row.timestamp)} · row {row.seq:,}")
    before, was = _parted(line.before)
    after, is_now = _parted(line.after)
    for title, text, style in (("Before", before, ".thought"), ("After", after, ".deed")):
        if text and not (title == "After" and text == before):
            rows.head(title if before != after else "What it says")
            rows.text(capital(text) if " " in text else text, style)
    values = dict.fromkeys((*was, *is_now))
    if values:
        rows.head("Changed")
        for name in values:
            rows.text(capital(_value(name, was.get(name, ""), is_now.get(name, ""))))
    if line.why:
        rows.head("Why")
        rows.text(capital(plain(line.why)))
    rows.head("Where to look further")
    for key, name, value in (("s", "session", row.session_id), ("p", "piece of knowledge", row.knowledge_id), ("r", "run", row.run_id)):
        if value:
            rows.row(Content.assemble((key, ".key"), (f"  only this {name}: ", ".quiet"), (plain(value), ".deed")))
    if row.knowledge_id:
        rows.key("enter", "the history of this piece")
        rows.key("K", "the piece itself, where it can be changed")
    elif row.session_id:
        rows.key("enter", "the session itself")
    if not (row.session_id or row.knowledge_id or row.run_id):
        rows.quiet("It belongs to no session and no piece of knowledge.")
    return rows.made


def _by(cause: Cause) -> str:
    return CAUSES[cause].removeprefix("by ")


def history_of(past: "PastLine", now: datetime) -> list[Row]:
    """The history of a piece of knowledge: how it read, and what was done to it, oldest first."""
    rows = Rows()
    line = past.line
    if line is not None:
        rows.text(line.text)
        ended = f" · ended {plain(line.until)}" if line.until else ""
        waits = f" · waits for a person: {plain(line.waits)}" if line.waits else ""
        rows.quiet(f"{line.row.kind} · held by {plain(line.holder)} · sure {line.row.confidence:.2f} · {line.row.tier}{ended}{waits}")
        rows.quiet(" · ".join(part for part in (plain(line.row.id), plain(line.row.topic_key), f"since {plain(line.since)}") if part))
    else:
        rows.quiet("It is no more: it was deleted, or merged into another.")
    rows.head(f"How it read ({count(len(past.wordings), 'wording')})")
    for one in past.wordings:
        body = Content.assemble((plain(one.text), ".deed"), (f"\n{_wording(one)}", ".quiet"))
        rows.row(body, lead=Content.styled(f"{one.version:>2} ", ".key"))
    rows.head("What was done to it")
    for done in past.audit:
        about = f"\nround {done.row.round}, {naturalize_time(now, done.row.timestamp)} · {CAUSES[done.row.cause]}"
        rows.row(Content.assemble((done.row.action, _style(done.row.action)), (f"  {plain(done.why)}", ".deed"), (about, ".quiet")))
    return rows.made


def _wording(one: "WordingLine") -> str:
    to = "now" if one.last_round is None else f"round {one.last_round}"
    span = f"round {one.first_round} to {to}"
    parts = [span, f"sure {one.confidence:.2f}", f"held by {plain(one.holder)}", one.term + "-term", one.tier]
    parts += [] if one.holds else ["believed no longer"]
    parts += [plain(one.why)] if one.why else []
    return " · ".join(parts)
