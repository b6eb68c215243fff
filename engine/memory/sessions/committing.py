"""A collapse becomes rows: summary, knowledge, audit and what goes, in one transaction or not at all (DESIGN 9, persist and clean)."""

import sqlite3
from typing import NamedTuple

from engine.errors import ChangedError
from engine.memory.knowledge.engine import KnowledgeEngine, Origin, Placed
from engine.memory.sessions.collapse import Collapse
from engine.records.knowledge import AuditAction
from engine.records.sessions import CollapseRun, Session
from engine.records.tokens import token
from engine.records.world import World
from engine.storage.knowledge_audit import Change
from engine.storage.store import Store


class Committed(NamedTuple):
    """What a collapse wrote."""

    run: CollapseRun
    placed: Placed
    following: Session | None
    """The pair's next session, with the turns that came meanwhile."""


def commit(conn: sqlite3.Connection, store: Store, knowledge: KnowledgeEngine, world: World, collapse: Collapse) -> Committed:
    """Write a collapse. Raises `ChangedError` when the session, its turns or what is known has changed since it was read: then it has to
    be proposed anew, and nothing may be committed. A collapse is written once: the database refuses a part of a session twice."""
    session = _unchanged(conn, store, collapse)
    at = collapse.run.timestamp
    key = store.sessions.new_run_id(conn)
    placed = knowledge.place(conn, collapse.settlement, Origin("collapse", at, key, session.id))
    label = f"the session with {token(session.actor_id)} came to {_counted(len(placed.added) + len(placed.flagged))}"
    store.journal.note(conn, "collapse", f"{token(session.agent_id)}: {label}")
    cited = {turn for step in collapse.settlement.steps for turn in step.row.turn_ids}
    run = store.sessions.add_run(
        conn,
        collapse.run.model_copy(
            update={
                "id": key, "round": world.round, "added": len(placed.added) + len(placed.flagged), "merged": len(placed.merged),
                "retired": len(placed.retired),
                "events": {turn.id: turn.source_id for turn in collapse.turns if turn.source_id is not None},
                "kept": tuple(turn for turn in collapse.turns if turn.source_id is None and turn.id in cited),
            }
        ),
    )
    for words in run.cut:
        change = Change("cut", "collapse", "it gave orders to the one who remembers", at, key)
        store.audit.add(conn, change, owner=session.agent_id, session=session.id, before=words)
    action: AuditAction = "skipped" if run.status == "skipped" else "collapsed"
    sources = [turn.source_id or turn.id for turn in collapse.turns]
    store.sessions.add_sources(conn, session.id, dict.fromkeys(sources), run.part, world.round)
    store.sessions.update(conn, _ended(session, run, world), Change(action, "collapse", run.gate.reason, at, key))
    store.sessions.remove_turns(conn, session.id, [turn.id for turn in collapse.turns])
    following = None
    if not run.partial:
        opened = Change("added", "collapse", "words that came while the session before was being collapsed", at, key)
        following = store.sessions.carry_on(conn, session, world.round, opened)
    return Committed(run, placed, following)


def record_failure(conn: sqlite3.Connection, store: Store, world: World, collapse: Collapse) -> CollapseRun:
    """Keep the run of a collapse that failed; the session stays as it is, to be collapsed later."""
    run = store.sessions.add_run(conn, collapse.run.model_copy(update={"round": world.round}))
    store.journal.note(conn, "collapse", f"{token(collapse.session.agent_id)}: a session could not be collapsed")
    session = store.sessions.get(conn, collapse.session.id)
    if session is not None and session.status in ("open", "collapsing"):
        store.sessions.update(conn, session.model_copy(update={"promotion_state": "failed"}))
    return run


def _counted(pieces: int) -> str:
    return f"{pieces or 'no'} piece{'s' * (pieces != 1)} of knowledge"


def _unchanged(conn: sqlite3.Connection, store: Store, collapse: Collapse) -> Session:
    now = store.sessions.get(conn, collapse.session.id)
    if now is None or now.status not in ("open", "collapsing") or now.parts != collapse.session.parts:
        raise ChangedError("The session was ended otherwise meanwhile.", "Nothing was written.")
    held = {turn.id: turn for turn in store.sessions.turns(conn, now.id)}
    if any(held.get(turn.id) != turn for turn in collapse.turns) or now.scratch != collapse.session.scratch:
        raise ChangedError("The session was changed meanwhile.", "Nothing was written; it is collapsed anew.")
    return now


def _ended(session: Session, run: CollapseRun, world: World) -> Session:
    """The session after its collapse: ended, or open still without its older part."""
    summary = run.summary
    found = () if summary is None else summary.relevant_entities
    decided = () if summary is None else tuple(one.content for one in summary.decisions)
    update: dict[str, object] = {
        "promotion_state": "extracted" if run.status == "committed" else "skipped", "asked": None,
        "entities_found": tuple(dict.fromkeys([*session.entities_found, *found])),
        "decisions_made": tuple(dict.fromkeys([*session.decisions_made, *decided])), "parts": session.parts + run.partial,
    }
    if run.partial:
        update |= {"status": "open", "tasks": session.tasks if summary is None else summary.next_steps or session.tasks}
    else:
        update |= {"status": "collapsed", "ended": run.timestamp, "ended_round": world.round}
    return session.model_copy(update=update)
