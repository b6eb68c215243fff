"""Reading one piece of knowledge in full: its past, who knows it, the talk that it came from, what holds it near."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from engine.errors import SessionError
from engine.records.base import EntityId
from engine.records.knowledge import Knowledge, KnowledgeId
from engine.records.tokens import substitute
from tui.host import date_words
from tui.panes.known_detail import Known, Source, SourceTurn
from tui.text import capital

if TYPE_CHECKING:
    from engine.game import Game
    from engine.records.sessions import Session

Name = Callable[[EntityId], str]
"""What the reader calls somebody."""


async def known_in_full(game: "Game", key: KnowledgeId, viewer: EntityId | None, name: Name) -> Known:
    """All that there is of a piece, also of one that is no more. Raises `OthermindsError`."""
    from engine.memory.knowledge.lifecycle import hours_until, score_parts

    past = await game.knowledge.history(key, viewer)
    if past.line is None:
        return Known(past)
    row, now, policy = past.line.row, game.world.now, game.policies.lifecycle
    limit = {"hot": policy.warm, "warm": policy.cold, "cold": policy.archived}.get(row.tier)
    return Known(
        past, tuple(name(one) for one in await game.knowledge.who_knows(key)), await _source(game, row, viewer, name),
        score_parts(row, now, policy), hours_until(row, now, policy, limit) if limit is not None else None,
    )


async def _source(game: "Game", row: Knowledge, viewer: EntityId | None, name: Name) -> Source | None:
    """The session behind a piece; None when there is none, or none is kept."""
    if row.session_id is None:
        return None
    try:
        session = await game.sessions.get(row.session_id)
        runs = await game.sessions.runs(session.id)
    except SessionError:
        return None
    turns = [line for line in await game.knowledge.sources(row.id, viewer) if line.text]
    summary = next((run.summary.goal for run in reversed(runs) if run.summary is not None), "")
    return Source(
        _title(session, name), substitute(summary, name),
        tuple(SourceTurn((one.speaker if one.said else "") or "remark", one.text, one.round or 0, one.when) for one in turns),
        len(row.turn_ids) - len(turns),
    )


def _title(session: "Session", name: Name) -> str:
    ended = f" to {session.ended_round}" if session.ended_round not in (None, session.started_round) else ""
    who = f"{capital(name(session.agent_id))} with {name(session.actor_id)}"
    return f"{who}, {date_words(session.started)}, round {session.started_round}{ended} (session {session.id}, {session.status})."
