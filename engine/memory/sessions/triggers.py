"""When a session is collapsed: a look at numbers, without a model (DESIGN 9)."""

import sqlite3
from collections.abc import Sequence
from datetime import datetime

from engine.llm.tokens import estimate_tokens
from engine.records.sessions import CollapseReason, CollapseReport, Session, Turn
from engine.storage.sessions import SessionSize
from engine.storage.store import Store

_NEWEST = 4
"""One in so many turns, the newest, stays when the older part is collapsed."""


def check_collapse_trigger(session: Session, turns: Sequence[Turn], now: datetime) -> CollapseReport:
    """Whether a session is to be collapsed at `now`, whole or in part, and the measurements behind the answer. Pure.

    `turns` are all that it holds, in order. What was asked for comes first, in every mode; then what forces the whole, what forces a
    part, and time without a turn, unless the policy leaves it all to somebody's word.
    """
    policy, tokens = session.policy, sum(estimate_tokens(turn.content) for turn in turns)
    idle = max(0, int((now - session.last_turn_at).total_seconds()))

    def report(reason: CollapseReason | None, text: str) -> CollapseReport:
        return CollapseReport(
            reason=reason, partial=reason == "max_tokens", text=text, turns=len(turns), max_turns=policy.max_turns,
            pinned=sum(turn.pinned for turn in turns), tokens=tokens, max_tokens=policy.max_tokens, idle_seconds=idle,
            inactivity_timeout=policy.inactivity_timeout,
        )

    if session.status not in ("open", "collapsing"):
        return report(None, "it has ended")
    if session.asked is not None:
        return report(session.asked, "asked for" if session.asked == "explicit" else f"begun for {session.asked}")
    if policy.mode == "explicit":
        return report(None, "only a word ends it")
    if len(turns) >= policy.max_turns:
        return report("max_turns", f"{len(turns)} turns, limit {policy.max_turns}")
    too_long = tokens > policy.max_tokens
    if too_long and older_part(turns):
        return report("max_tokens", f"{tokens} tokens, limit {policy.max_tokens}")
    if idle >= policy.inactivity_timeout:
        return report("inactivity", f"no turn for {idle} seconds, limit {policy.inactivity_timeout}")
    return report(None, "too long, but all that is old is pinned" if too_long else "nothing calls for it")


def older_part(turns: Sequence[Turn]) -> tuple[Turn, ...]:
    """What a partial collapse takes of a session: all but its newest quarter and what is pinned."""
    staying = -(-len(turns) // _NEWEST)
    return tuple(turn for turn in turns[: len(turns) - staying] if not turn.pinned)


def sessions_due(conn: sqlite3.Connection, store: Store, now: datetime, since: datetime) -> list[tuple[Session, CollapseReport]]:
    """The sessions that are to be collapsed at `now`, in order of their keys; those that are being collapsed among them. Those that
    had neither a turn since `since` nor time enough without one are not looked at; of the rest, only what may be due is read whole."""
    looked_at = store.sessions.to_look_at(conn, now, since)
    sizes = store.sessions.sizes(conn, [session.id for session in looked_at])
    found = []
    for session in looked_at:
        if _may_be_due(session, sizes.get(session.id, SessionSize(0, 0, 0)), now):
            report = check_collapse_trigger(session, store.sessions.turns(conn, session.id), now)
            if report.reason is not None:
                found.append((session, report))
    return found


def outgrown(session: Session, size: SessionSize) -> bool:
    """Whether a session may hold more than its policy allows: a look without reading it."""
    policy = session.policy
    return size.turns >= policy.max_turns or 2 * size.tokens > policy.max_tokens  # words of one letter: twice what their bytes make


def _may_be_due(session: Session, size: SessionSize, now: datetime) -> bool:
    idle = (now - session.last_turn_at).total_seconds()
    return session.asked is not None or outgrown(session, size) or idle >= session.policy.inactivity_timeout
