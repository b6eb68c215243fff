"""What the engine tells whoever watches. Events follow commits: what they say is already safe on disk."""

from collections.abc import Callable
from datetime import datetime
from typing import Literal

from engine.records.base import BufferId, EntityId, LedgerId, PlaceId, PortalId, Record
from engine.records.intents import Intent, Outcome
from engine.records.knowledge import FactionChange, Knowledge, KnowledgeId, PromotionRun
from engine.records.memory import AliasChange, BufferEntry, Chunk, HandoffRun, LedgerEntry, TriggerReport
from engine.records.models import Call, CallView
from engine.records.prompts import Task
from engine.records.review import PendingProposal
from engine.records.sessions import CollapseRun, CollapseStage, SessionId
from engine.records.world import PortalState


class RoundStarted(Record):
    kind: Literal["round_started"] = "round_started"
    round: int
    now: datetime


class RoundEnded(Record):
    kind: Literal["round_ended"] = "round_ended"
    round: int
    now: datetime


class BeatStarted(Record):
    """An agent is about to act."""

    kind: Literal["beat_started"] = "beat_started"
    round: int
    entity: EntityId


class ProseStreamed(Record):
    """A piece of the agent's prose as it comes. Not committed: a beat that fails takes it back."""

    kind: Literal["prose"] = "prose"
    entity: EntityId
    text: str


class ProseTakenBack(Record):
    """The prose streamed so far is void: the model broke off, and the beat is asked for anew."""

    kind: Literal["prose_taken_back"] = "prose_taken_back"
    entity: EntityId


class Happened(Record):
    """One intent as it turned out, with each perceiver's entry of it."""

    kind: Literal["happened"] = "happened"
    round: int
    now: datetime
    place: PlaceId | None
    intent: Intent
    outcome: Outcome | None
    entries: tuple[BufferEntry, ...]
    """One for each entity that perceived it, the actor first."""


class BeatEnded(Record):
    """The beat is committed."""

    kind: Literal["beat_ended"] = "beat_ended"
    round: int
    entity: EntityId
    now: datetime
    prose: str


class BeatFailed(Record):
    """The beat was not consumed and left no trace."""

    kind: Literal["beat_failed"] = "beat_failed"
    entity: EntityId
    reason: str
    advice: str = ""
    """The end of the reason: what to do next."""


class EntityMoved(Record):
    kind: Literal["moved"] = "moved"
    entity: EntityId
    origin: PlaceId | None
    to: PlaceId | None


class PortalChanged(Record):
    kind: Literal["portal"] = "portal"
    portal: PortalId
    state: PortalState


class AliasLearned(Record):
    """What a viewer calls a target has changed."""

    kind: Literal["alias"] = "alias"
    change: AliasChange


class PinChanged(Record):
    kind: Literal["pin"] = "pin"
    entry: BufferEntry
    """As it is now."""


class HandoffStarted(Record):
    """Candidates are being judged."""

    kind: Literal["handoff_started"] = "handoff_started"
    entity: EntityId
    report: TriggerReport
    candidate_ids: tuple[BufferId, ...]


class ChunkDecided(Record):
    """One moment has been decided on; not yet committed."""

    kind: Literal["chunk"] = "chunk"
    entity: EntityId
    chunk: Chunk


class HandoffCommitted(Record):
    kind: Literal["handoff_committed"] = "handoff_committed"
    entity: EntityId
    run: HandoffRun
    ledger: tuple[LedgerEntry, ...]
    """Added or rewritten."""
    promoted_ids: tuple[BufferId, ...]
    forgotten_ids: tuple[BufferId, ...]
    pinned_ids: tuple[BufferId, ...]
    gone_ids: tuple[LedgerId, ...] = ()
    """Memories that left the ledger, told by a new one: of a compression only."""


class HandoffFailed(Record):
    kind: Literal["handoff_failed"] = "handoff_failed"
    entity: EntityId
    run: HandoffRun


class HandoffProposed(Record):
    """A proposal waits for a person. Told again when a part of it has changed."""

    kind: Literal["handoff_proposed"] = "handoff_proposed"
    entity: EntityId
    pending: PendingProposal


class ProposalClosed(Record):
    """A proposal waits no longer: it was committed, rejected, or what it was made of has changed."""

    kind: Literal["proposal_closed"] = "proposal_closed"
    entity: EntityId
    reason: str


class MemoryChanged(Record):
    """A person added, edited, removed, merged or restored memories."""

    kind: Literal["memory_changed"] = "memory_changed"
    entity: EntityId
    changed: tuple[LedgerEntry, ...] = ()
    """As they are now."""
    gone_ids: tuple[LedgerId, ...] = ()


class EntryRestored(Record):
    """A forgotten or promoted event is back in the buffer."""

    kind: Literal["entry_restored"] = "entry_restored"
    entry: BufferEntry


class SessionsChanged(Record):
    """Sessions have opened, got turns, or were changed by hand or by a collapse."""

    kind: Literal["sessions_changed"] = "sessions_changed"
    session_ids: tuple[SessionId, ...]


class CollapseStep(Record):
    """How far a collapse has come that is drafted beside play: nothing of it is written before `written`."""

    kind: Literal["collapse_step"] = "collapse_step"
    session_id: SessionId
    step: CollapseStage
    note: str = ""
    """What the step found, in one line for people; may be empty."""


class SessionCollapsed(Record):
    """A session, or its older part, has come to something, or to nothing, or could not be collapsed: the run says which."""

    kind: Literal["session_collapsed"] = "session_collapsed"
    run: CollapseRun


class KnowledgeChanged(Record):
    """Knowledge was added, changed or taken away: by a collapse, a promotion, a sweep or a person."""

    kind: Literal["knowledge_changed"] = "knowledge_changed"
    changed: tuple[Knowledge, ...] = ()
    """As they are now."""
    gone_ids: tuple[KnowledgeId, ...] = ()


class PromotionCommitted(Record):
    """Short-term knowledge has been looked at, and what became of it is safe."""

    kind: Literal["promotion_committed"] = "promotion_committed"
    run: PromotionRun


class FactionsChanged(Record):
    """Somebody has joined or left factions."""

    kind: Literal["factions_changed"] = "factions_changed"
    changes: tuple[FactionChange, ...]


class HistoryMoved(Record):
    """Something was taken back, or brought again: nothing of the save may be held to be as it was told before."""

    kind: Literal["history_moved"] = "history_moved"
    back: bool
    """Whether it was taken back; else it was brought again."""
    text: str
    """What it was, for people."""
    round: int
    now: datetime


class Embedding(Record):
    """How far the background job has come that embeds memories for the present embedder. `done == total` ends it."""

    kind: Literal["embedding"] = "embedding"
    model: str
    done: int
    total: int


class ModelNote(Record):
    """Something about models that play goes on with: one is waited for, another answers instead, a prompt was made smaller."""

    kind: Literal["model_note"] = "model_note"
    task: Task
    model: str
    text: str


class CallChanged(Record):
    """A call is held for a person's word, waits its turn, has been sent, or has ended. Told as it is so: what is said of a call is true
    now, and not after a commit."""

    kind: Literal["call_changed"] = "call_changed"
    call: CallView


class Called(Record):
    """A call has reached a model and ended. What the meter counts."""

    kind: Literal["called"] = "called"
    call: Call


class Paused(Record):
    """Play stops before a model call that would pass a cap. The running beat is not consumed."""

    kind: Literal["paused"] = "paused"
    cap: str
    reason: str
    advice: str = ""
    """The end of the reason: what to do next."""


class Trouble(Record):
    """Something went wrong that play goes on without."""

    kind: Literal["trouble"] = "trouble"
    text: str


EngineEvent = (
    RoundStarted | RoundEnded | BeatStarted | ProseStreamed | ProseTakenBack | Happened | BeatEnded | BeatFailed
    | EntityMoved | PortalChanged | AliasLearned | PinChanged | HandoffStarted | ChunkDecided | HandoffCommitted
    | HandoffFailed | HandoffProposed | ProposalClosed | MemoryChanged | EntryRestored | SessionsChanged
    | CollapseStep | SessionCollapsed | KnowledgeChanged | PromotionCommitted | FactionsChanged | HistoryMoved
    | Embedding | ModelNote | CallChanged | Called | Paused | Trouble
)
Listener = Callable[[EngineEvent], None]
"""Called on the event loop, in order. Must be quick and must not raise."""
