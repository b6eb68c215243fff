"""One piece of knowledge in full: what it says, where it comes from, who knows it, what holds it near, and how it came to be."""

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

from textual.content import Content

from engine.mind.timewords import naturalize_time
from engine.records.knowledge import LifecyclePolicy
from tui.glyphs import CANDIDATE, JUDGED, PIN_HAND, REFUSED
from tui.panes.known import percent_sure
from tui.panes.pane import bar
from tui.panes.paragraphs import gap, head, keys, quiet, text
from tui.panes.rows import Row
from tui.text import capital, count, plain

if TYPE_CHECKING:
    from engine.knowledge_views import AuditLine, KnowledgeLine, PastLine, WordingLine
    from engine.memory.knowledge.lifecycle import ScoreParts

WORDING: Final = "version "
"""Begins the key of an earlier wording; its number follows."""
_CAUSES: Final = {
    "collapse": "from a session", "promotion": "by promotion", "hand": "by hand", "world": "by the world",
    "lifecycle": "by use, or for want of it", "leaving": "on leaving a faction", "play": "in play",
}
_RATIONALE: Final = {"fact": "Why", "decision": "Why", "strategy": "When"}
_WIDTH: Final = 12


@dataclass(frozen=True, slots=True)
class SourceTurn:
    """A turn of the session that a piece came from."""

    speaker: str
    text: str
    """Empty when the words are no longer there."""
    round: int = 0
    when: str = ""
    """Time words."""


@dataclass(frozen=True, slots=True)
class Source:
    """The session that a piece came from."""

    title: str
    """Who dealt with whom, and when."""
    summary: str = ""
    turns: tuple[SourceTurn, ...] = ()
    lost: int = 0
    """Turns whose words are gone."""


@dataclass(frozen=True, slots=True)
class Known:
    """All that is read of one piece."""

    past: "PastLine"
    who: tuple[str, ...] = ()
    """Who knows it now."""
    source: Source | None = None
    parts: "ScoreParts | None" = None
    """What its score is made of now; None for one that is no more."""
    sinks: float | None = None
    """World hours after which it sinks when it is not used; None when it does not."""


def detail_rows(known: Known, policy: LifecyclePolicy, now: datetime) -> list[Row]:
    """All of it, from top to bottom."""
    line, past = known.past.line, known.past
    if line is None:
        return [*_lost(past), *_history(past)]
    return [
        *words_of(line), *_about(line), *_who(known), *_origin(known), *_use(known, line, policy, now), *_history(past),
    ]


def words_of(line: "KnowledgeLine") -> list[Row]:
    """What a piece says, whole."""
    rows = [text(plain(line.text), ".deed")]
    if line.rationale:
        why = Content.assemble((f"{_RATIONALE[line.row.kind]}: ", ".quiet"), (plain(line.rationale), ".thought"))
        rows.append(Row(why, lead=Content(" ")))
    if line.waits:
        rows.append(text(f"{CANDIDATE} Waits for your word (2): {plain(line.waits)}", ".candidate"))
    if line.until:
        rows.append(text(f"{REFUSED} Believed no longer: it ended {line.until}.", ".bad"))
    return rows


def _lost(past: "PastLine") -> list[Row]:
    last = past.wordings[-1].text if past.wordings else ""
    return [
        text(plain(last), ".thought"),
        text(f"{REFUSED} It is no more: it was deleted, or merged into another.", ".bad"),
        keys("b", "brings it back"),
    ]


def _about(line: "KnowledgeLine") -> list[Row]:
    row = line.row
    term = "short-term: not promoted yet" if row.term == "short" else "long-term"
    subject = f" about {plain(line.subject)}" if line.subject else ""
    facts = (
        (True, f"{capital(row.kind)}{subject}, held by {plain(line.holder)}. It began to hold {line.since}."),
        (True, f"{capital(percent_sure(row.confidence))}, importance {row.importance} of 10, {term}, {row.tier}."),
        (line.owner != line.holder, f"{capital(plain(line.owner))} came to know it first."),
        (bool(row.topic_key), f"Topic: {plain(row.topic_key)}."),
        (row.pinned, f"{PIN_HAND} Pinned: it never sinks, and no merge rewords it."),
        (row.sensitivity == "sensitive", "Sensitive: it waits for a person before it is widened."),
        (row.authored, "Written by the world's author: it never sinks, and no model ends it."),
    )
    return [gap(), *(quiet(words) for so, words in facts if so)]


def _who(known: Known) -> list[Row]:
    names = ", ".join(plain(name) for name in known.who)
    return [gap(), head(f"Who knows it now{f' · {len(known.who)}' if known.who else ''}"), text(names) if names else quiet("Nobody.")]


def _origin(known: Known) -> list[Row]:
    rows = [gap(), head("Where it comes from")]
    source = known.source
    if source is None:
        first = known.past.audit[0] if known.past.audit else None
        how = {"hand": "Written by hand", "world": "It came with the world", "leaving": "Kept on leaving a faction"}
        told = how.get(first.row.cause, capital(_CAUSES[first.row.cause])) if first else "It came with the world"
        return [*rows, quiet(f"{told}{f', in round {first.row.round}' if first and first.row.round else ''}.")]
    rows.append(quiet(source.title))
    for turn in source.turns:
        when = f"  {turn.when}, round {turn.round}" if turn.when else f"  round {turn.round}"
        said = Content.assemble((f"{plain(turn.speaker)}: ", ".quiet"), (plain(turn.text), ".quote"), (when, ".quiet"))
        rows.append(Row(said, lead=Content.styled("   ↳ ", ".quiet")))
    if source.lost:
        rows.append(quiet(f"The words of {count(source.lost, 'turn')} are gone: a collapse keeps what they came to."))
    if source.summary:
        rows.append(Row(Content.assemble(("It was about: ", ".quiet"), (plain(source.summary), ".thought")), lead=Content(" ")))
    return rows


def _use(known: Known, line: "KnowledgeLine", policy: LifecyclePolicy, now: datetime) -> list[Row]:
    row, parts = line.row, known.parts
    if parts is None:
        return []
    total = parts.use + parts.recency + parts.importance + parts.confidence
    often = count(row.retrieval_count, "time")
    last = f", {naturalize_time(now, row.last_retrieved_at)} the last time" if row.last_retrieved_at else ""
    rows = [gap(), head(f"How near it is · score {total:.2f}"), quiet(f"In prompts {often}{last}; activation {row.activation:.2f}.")]
    top = max(total, 1.0)
    told = (
        ("use", parts.use, "in prompts"), ("recency", parts.recency, "fades unused"),
        ("importance", parts.importance, f"{row.importance} of 10"), ("sureness", parts.confidence, percent_sure(row.confidence)),
    )
    for name, value, why in told:
        lead = Content.styled(f" {name:<11}", ".quiet")
        rows.append(Row(Content.assemble(bar(value / top, _WIDTH), (f" {value:.2f} ", ".deed"), (why, ".quiet")), lead=lead))
    return [*rows, quiet(_sinking(known, line, policy))]


def _sinking(known: Known, line: "KnowledgeLine", policy: LifecyclePolicy) -> str:
    row = line.row
    if row.pinned or row.authored:
        return "It never sinks: it is pinned." if row.pinned else "It never sinks: it came with the world."
    if row.tier == "archived":
        return "It lies as deep as it can: b brings it back."
    limit = {"hot": policy.warm, "warm": policy.cold, "cold": policy.archived}[row.tier]
    if known.sinks is None:
        return f"Below {limit:.2f} it would sink from {row.tier}; unused it stays above that."
    if known.sinks <= 0:
        return f"It is below {limit:.2f}: the next sweep lets it sink from {row.tier}, unless it comes to be used."
    return f"Below {limit:.2f} it sinks from {row.tier}: unused, in about {_span(known.sinks)} of the world's time."


def _span(hours: float) -> str:
    return count(round(hours / 24), "day") if hours >= 36 else count(max(round(hours), 1), "hour")


def _history(past: "PastLine") -> list[Row]:
    rows = [gap(), head(f"How it came to read as it does · {count(len(past.wordings), 'wording')}")]
    rows += [_wording(one) for one in reversed(past.wordings)]
    rows += [gap(), head("What was done to it")]
    return rows + ([_deed(one) for one in reversed(past.audit)] or [quiet("Nothing is noted.")])


def _wording(one: "WordingLine") -> Row:
    now = one.last_round is None
    until = "now" if now else str(one.last_round)
    rounds = f"round {one.first_round}" if str(one.first_round) == until else f"rounds {one.first_round} to {until}"
    facts = [rounds, f"held by {plain(one.holder)}", percent_sure(one.confidence), one.tier, f"{one.term}-term"]
    if not one.holds:
        facts.append("not believed")
    body = Content.assemble((plain(one.text), ".deed" if now else ".thought"), "\n", (" · ".join(facts), ".quiet"))
    if one.cause is not None:
        body += Content.styled(f"\nthen changed {_CAUSES[one.cause]}{_why(one.why)}", ".quiet")
    lead = Content.styled(f" {JUDGED} ", ".key") if now else Content.styled(f" {CANDIDATE} ", ".quiet")
    return Row(body, lead=lead, key=f"{WORDING}{one.version}")


def _deed(one: "AuditLine") -> Row:
    body = Content.assemble((one.row.action, ".name"), (f" {_CAUSES[one.row.cause]}{_why(one.why)}", ".quiet"))
    if changed := _changed(one):
        body += Content.styled(f"\n{changed}", ".deed")
    return Row(body, lead=Content.styled(f"  r{one.row.round:<4} ", ".quiet"))


def _why(why: str) -> str:
    return f": {plain(why)}" if why and why not in ("by hand", "written by hand") else ""


def _changed(one: "AuditLine") -> str:
    """Other values than the words that a change changed: `tier: hot → warm`. The words stand among the wordings."""
    before, after = one.before.split("\n")[1:], one.after.split("\n")[1:]
    if len(before) != len(after):
        return ""
    return plain(" · ".join(f"{old or 'nothing'} → {new.partition(': ')[2] or 'nothing'}" for old, new in zip(before, after, strict=True)))
