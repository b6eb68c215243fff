"""What screens draw of sessions: lines of a list, and all that there is of one, told to one viewer, as values."""

import sqlite3
from collections.abc import Mapping, Sequence
from typing import TypeVar

from engine.errors import SessionError
from engine.knowledge_views import told
from engine.memory.sessions.triggers import check_collapse_trigger
from engine.mind.render import capital
from engine.mind.timewords import naturalize_time
from engine.records.base import EntityId, Record
from engine.records.knowledge import AuditAction, KnowledgeId
from engine.records.sessions import CollapseReport, CollapseRun, Session, SessionCollapseSummary, Turn
from engine.records.world import World
from engine.storage.session_list import LastRun, Listed, SessionState
from engine.storage.store import Store
from engine.views import LedgerLine, called, ledger_line

_BECAME: frozenset[AuditAction] = frozenset({"added", "merged", "retired", "flagged", "updated"})
_Told = TypeVar("_Told", bound=Record)


class SessionLine(Record):
    """A session as a list shows it."""

    session: Session
    agent: str
    """Whose it is, as the viewer calls it."""
    actor: str
    state: SessionState
    turns: int
    """That it holds now."""
    pinned: int
    tokens: int
    idle_seconds: int
    """World time since the last turn."""
    last: str
    """Time words of the last turn, or of its beginning."""
    ended: str
    """Time words of its end; empty while it has not ended."""
    run: LastRun | None
    """What the newest collapse came to, its goal told."""


class TurnLine(Record):
    """A turn, told."""

    turn: Turn
    speaker: str
    """Empty for a remark."""
    text: str
    when: str


class RunLine(Record):
    """A collapse, told."""

    run: CollapseRun
    summary: SessionCollapseSummary | None
    """With names for reference tokens."""
    people: tuple[str, ...]
    """Whom the summary takes to matter."""
    cut: tuple[str, ...]
    notes: tuple[str, ...]
    when: str


class Became(Record):
    """What a session did to a piece of knowledge."""

    knowledge_id: KnowledgeId
    did: tuple[AuditAction, ...]
    """In order."""
    text: str
    """As it reads now; as it read then when it is no more."""
    there: bool
    """Whether the piece still is in the save."""
    holds: bool


class SessionPage(Record):
    """All that there is of one session."""

    line: SessionLine
    report: CollapseReport
    scratch: Mapping[str, str]
    tasks: tuple[str, ...]
    found: tuple[str, ...]
    """Names of the entities found."""
    decided: tuple[str, ...]
    turns: tuple[TurnLine, ...]
    runs: tuple[RunLine, ...]
    """Oldest first."""
    episode: tuple[LedgerLine, ...]
    """The agent's memories that tell of it, as the agent tells them."""
    became: tuple[Became, ...]


def state_of(session: Session) -> SessionState:
    """The state as people tell it."""
    failed = session.promotion_state == "failed" and session.status in ("open", "collapsing")
    return "failed" if failed else session.status


def people_called(world: World, words: str, viewer: EntityId | None) -> tuple[EntityId, ...]:
    """Whose name holds these words, as the viewer calls them; case does not matter."""
    low = words.casefold()
    return tuple(entity for entity in world.entities if low in called(world, entity, viewer).casefold())


def session_line(world: World, listed: Listed, viewer: EntityId | None) -> SessionLine:
    """A line of the list."""
    session, size, run = listed
    return SessionLine(
        session=session, agent=capital(_name(world, session.agent_id, viewer)), actor=_name(world, session.actor_id, viewer),
        state=state_of(session), turns=size.turns, pinned=size.pinned, tokens=size.tokens,
        idle_seconds=max(0, int((world.now - session.last_turn_at).total_seconds())),
        last=naturalize_time(world.now, session.last_turn_at),
        ended=naturalize_time(world.now, session.ended) if session.ended else "",
        run=run._replace(goal=capital(told(world, run.goal, viewer))) if run is not None else None,
    )


def session_page(conn: sqlite3.Connection, store: Store, world: World, listed: Listed | None, viewer: EntityId | None) -> SessionPage:
    """All of one session. Raises `SessionError` when there is none."""
    if listed is None:
        raise SessionError("There is no such session any more.", "List them to see which there are.", kind="unknown_session")
    session = listed.session
    turns = store.sessions.turns(conn, session.id)
    runs = store.sessions.runs(conn, session.id)
    return SessionPage(
        line=session_line(world, listed, viewer), report=check_collapse_trigger(session, turns, world.now),
        scratch={key: told(world, text, viewer) for key, text in session.scratch.items()},
        tasks=_all_told(world, session.tasks, viewer), found=tuple(_name(world, one, viewer) for one in session.entities_found),
        decided=_all_told(world, session.decisions_made, viewer),
        turns=tuple(_turn_line(world, turn, viewer) for turn in turns), runs=tuple(_run_line(world, run, viewer) for run in runs),
        episode=tuple(ledger_line(world, entry) for entry in store.sessions.episode(conn, session)),
        became=_became(conn, store, world, session, viewer) if runs else (),
    )


def _turn_line(world: World, turn: Turn, viewer: EntityId | None) -> TurnLine:
    speaker = capital(_name(world, turn.speaker_id, viewer)) if turn.speaker_id else ""
    text = capital(told(world, turn.content, viewer)) if turn.role == "note" else turn.content
    return TurnLine(turn=turn, speaker=speaker, text=text, when=naturalize_time(world.now, turn.timestamp))


def _run_line(world: World, run: CollapseRun, viewer: EntityId | None) -> RunLine:
    summary = run.summary
    return RunLine(
        run=run, summary=_summary(world, summary, viewer) if summary is not None else None,
        people=tuple(_name(world, one, viewer) for one in summary.relevant_entities) if summary is not None else (),
        cut=_all_told(world, run.cut, viewer), notes=_all_told(world, run.notes, viewer), when=naturalize_time(world.now, run.timestamp),
    )


def _summary(world: World, summary: SessionCollapseSummary, viewer: EntityId | None) -> SessionCollapseSummary:
    def one(part: _Told, *fields: str) -> _Told:
        texts = {name: getattr(part, name) for name in fields}
        return part.model_copy(update={name: capital(told(world, text, viewer)) if text else text for name, text in texts.items()})

    changed = {
        "facts": tuple(one(fact, "content") for fact in summary.facts),
        "decisions": tuple(one(made, "content", "rationale", "supersedes") for made in summary.decisions),
        "strategies": tuple(
            one(way, "trigger", "context").model_copy(update={"action": told(world, way.action, viewer)}) for way in summary.strategies
        ),
        "discoveries": _all_told(world, summary.discoveries, viewer), "next_steps": _all_told(world, summary.next_steps, viewer),
    }
    return one(summary, "goal").model_copy(update=changed)


def _became(conn: sqlite3.Connection, store: Store, world: World, session: Session, viewer: EntityId | None) -> tuple[Became, ...]:
    """Each piece that the session's collapses changed, in order of the first change."""
    rows = store.audit.find(conn, session=session.id, actions=_BECAME, causes={"collapse"}, limit=500)
    rows = [row for row in reversed(rows) if row.knowledge_id is not None]
    now = {row.id: row for row in store.knowledge.get(conn, list(dict.fromkeys(row.knowledge_id or "" for row in rows)))}
    found: dict[KnowledgeId, Became] = {}
    for row in rows:
        key = row.knowledge_id or ""
        text = now[key].content if key in now else row.after or row.before
        before = found.get(key)
        did = (*before.did, row.action) if before else (row.action,)
        found[key] = Became(
            knowledge_id=key, did=tuple(dict.fromkeys(did)), text=capital(told(world, text, viewer)), there=key in now,
            holds=key in now and now[key].holds,
        )
    return tuple(found.values())


def _all_told(world: World, texts: Sequence[str], viewer: EntityId | None) -> tuple[str, ...]:
    return tuple(capital(told(world, text, viewer)) for text in texts)


def _name(world: World, entity: EntityId, viewer: EntityId | None) -> str:
    return called(world, entity, viewer) if entity in world.entities else entity
