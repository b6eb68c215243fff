"""Sessions told to one viewer, as values that programs read: over HTTP and on the command line they are the same."""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

from engine.knowledge_views import told
from engine.mind.render import capital
from engine.records.base import EntityId, Record
from engine.records.sessions import (
    CollapsePolicy,
    CollapseReason,
    CollapseReport,
    GateReport,
    PromotionState,
    Session,
    SessionCollapseSummary,
    SessionId,
    SessionStatus,
    Turn,
)
from engine.records.world import World
from engine.session_views import Became, RunLine, SessionPage
from engine.views import called


class SessionState(Record):
    """Of whom a session is, since when, by what policy, and how far it has come."""

    agent_id: EntityId
    agent: str
    """What the agent is called."""
    actor_id: EntityId
    actor: str
    """What the other is called."""
    status: SessionStatus
    promotion_state: PromotionState
    """How far it has become knowledge."""
    started: datetime
    """World time."""
    started_round: int
    last_turn_at: datetime
    """World time."""
    ended: datetime | None
    """World time."""
    ended_round: int | None
    asked: CollapseReason | None
    """Why it is to be collapsed, once that is settled."""
    parts: int
    """Partial collapses so far."""
    policy: CollapsePolicy


class SessionMeta(Record):
    """What was found in a session so far."""

    entities_found: tuple[EntityId, ...]
    decisions_made: tuple[str, ...]


class SessionTold(Record):
    """A session without its turns."""

    id: SessionId
    state: SessionState
    scratch: Mapping[str, str]
    """The agent's notes by key."""
    tasks: tuple[str, ...]
    """Next steps of the session before."""
    meta: SessionMeta


class CollapseTold(Record):
    """One collapse of a session and what it came to."""

    id: str
    part: int
    partial: bool
    """Whether only the older part went."""
    reason: CollapseReason
    round: int
    timestamp: datetime
    """World time."""
    status: Literal["committed", "skipped", "failed"]
    """`skipped`: no model was asked, and `gate` says why. `failed`: nothing was changed, and `error` says why."""
    gate: GateReport
    summary: SessionCollapseSummary | None
    cut: tuple[str, ...]
    """Instruction-like text that was kept from becoming memory."""
    notes: tuple[str, ...]
    error: str
    model: str
    added: int
    merged: int
    retired: int


class SessionWhole(SessionTold):
    """A session with all that it holds."""

    turns: tuple[Turn, ...]
    """Oldest first. Those that were collapsed are gone."""
    report: CollapseReport
    """Whether it would be collapsed now, and why."""
    summary: SessionCollapseSummary | None
    """What its newest collapse left; None before the first."""
    collapses: tuple[CollapseTold, ...]
    """Oldest first, failed ones too."""
    became: tuple[Became, ...]
    """What they did to knowledge."""


def session_told(world: World, session: Session, viewer: EntityId | None = None) -> SessionTold:
    """A session told to a viewer, by true names for None."""
    return SessionTold.model_validate(_fields(world, session, viewer))


def session_whole(world: World, page: SessionPage, viewer: EntityId | None = None) -> SessionWhole:
    """All that there is of a session. `page` is told to the same viewer."""
    collapses = tuple(_collapse_told(world, line, viewer) for line in page.runs)
    summaries = [one.summary for one in collapses if one.summary is not None]
    held = {
        "turns": tuple(line.turn.model_copy(update={"content": line.text}) for line in page.turns), "report": page.report,
        "summary": summaries[-1] if summaries else None, "collapses": collapses, "became": page.became,
    }
    return SessionWhole.model_validate(_fields(world, page.line.session, viewer) | held)


def turn_told(world: World, turn: Turn, viewer: EntityId | None = None) -> Turn:
    """A turn told to a viewer: words as they were said, a remark in the viewer's names."""
    return turn.model_copy(update={"content": capital(told(world, turn.content, viewer))}) if turn.role == "note" else turn


def _collapse_told(world: World, line: RunLine, viewer: EntityId | None) -> CollapseTold:
    kept = {name: getattr(line.run, name) for name in CollapseTold.model_fields}
    error = told(world, line.run.error, viewer)
    return CollapseTold.model_validate(kept | {"summary": line.summary, "cut": line.cut, "notes": line.notes, "error": error})


def _fields(world: World, session: Session, viewer: EntityId | None) -> dict[str, object]:
    shared = SessionState.model_fields.keys() & type(session).model_fields.keys()
    names = {who: _name(world, key, viewer) for who, key in (("agent", session.agent_id), ("actor", session.actor_id))}
    return {
        "id": session.id,
        "state": SessionState(**{name: getattr(session, name) for name in shared}, **names),
        "scratch": {key: told(world, note, viewer) for key, note in session.scratch.items()},
        "tasks": tuple(told(world, task, viewer) for task in session.tasks),
        "meta": SessionMeta(
            entities_found=session.entities_found, decisions_made=tuple(told(world, text, viewer) for text in session.decisions_made)
        ),
    }


def _name(world: World, entity: EntityId, viewer: EntityId | None) -> str:
    return called(world, entity, viewer) if entity in world.entities else entity
