"""What programs are replied with, over HTTP and by the command line, apart from what the engine's views are already."""

from engine.knowledge_sources import SourceLine
from engine.knowledge_views import AuditLine, BeliefLine, KnowledgeLine, ReviewLine, WordingLine
from engine.memory.knowledge.history import Question
from engine.records.base import EntityId, Record
from engine.records.sessions import CollapseReport, PromotionState, SessionCollapseSummary, SessionId, SessionStatus, Turn
from engine.session_told import CollapseTold, SessionTold, SessionWhole


class TurnAdded(Record):
    """A turn that is safe on disk."""

    turn: Turn
    report: CollapseReport
    """Whether the session is to be collapsed now: at its policy's limit it takes no more turns, and its collapse has begun."""


class CollapseState(Record):
    """How far a session's collapse has come."""

    session_id: SessionId
    status: SessionStatus
    """`collapsed` when it is done, `collapsing` while it is under way."""
    promotion_state: PromotionState
    summary: SessionCollapseSummary | None
    """What is left of the session; None while it is under way."""
    collapse: CollapseTold | None
    """The newest attempt that has ended, which may have failed."""


def collapse_state(whole: SessionWhole) -> CollapseState:
    """How far a session's collapse has come."""
    state = whole.state
    return CollapseState(
        session_id=whole.id, status=state.status, promotion_state=state.promotion_state,
        summary=whole.summary if state.status == "collapsed" else None, collapse=whole.collapses[-1] if whole.collapses else None,
    )


class Sessions(Record):
    """A page of sessions, newest first."""

    sessions: tuple[SessionTold, ...]
    next: SessionId | None
    """Ask with it as `before` for the next page; None on the last."""


class Pieces(Record):
    """A page of knowledge, in order of writing."""

    knowledge: tuple[KnowledgeLine, ...]
    next: int | None
    """Ask with it as `after` for the next page; None on the last."""


class PiecePast(Record):
    """A piece of knowledge with its past."""

    knowledge: KnowledgeLine | None
    """As it is now; None when it is no more."""
    known_by: tuple[EntityId, ...]
    """Who knows it now."""
    sources: tuple[SourceLine, ...]
    """Who said what, and when, that it was taken from."""
    wordings: tuple[WordingLine, ...]
    """Oldest first."""
    audit: tuple[AuditLine, ...]
    """Oldest first."""


class Trail(Record):
    """A page of the audit trail, newest first."""

    audit: tuple[AuditLine, ...]
    next: int | None
    """Ask with it as `before` for the next page; None on the last."""


class Waiting(Record):
    """All that waits for a person, oldest first."""

    waiting: tuple[ReviewLine, ...]


class Answered(Record):
    """What somebody believed."""

    question: Question
    """As it was understood."""
    beliefs: tuple[BeliefLine, ...]
