"""The two tiers of memory and the runs that move entries between them."""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

from pydantic import Field

from engine.records.base import BufferId, EntityId, LedgerId, PlaceId, Record, RunId
from engine.records.intents import Intent, IntentType, Outcome

Pin = Literal["none", "model", "hand"]
Mode = Literal["said", "done", "thought"]
"""Whether a moment was said, done or only thought (invariant 6)."""
Grasp = Literal["full", "faint", "seen"]
"""How much of an event reached its perceiver: all; that somebody spoke; the sight without the words."""
Trigger = Literal["none", "voluntary", "involuntary"]
Fate = Literal["promoted", "forgotten"]
Origin = Literal["world", "handoff", "hand", "compression"]
"""Where a memory came from: authored with the world, a handoff, a person, or the compression of older ones. What a person wrote,
changed or brought back is `hand`; no maintenance takes it away."""
LedgerFate = Literal["consolidated", "merged", "removed"]
"""Why a memory left the ledger: compressed with others, told by a near-duplicate, or taken away by hand."""
RunKind = Literal["handoff", "compression"]
Decision = Literal["auto", "accepted", "rejected"]
"""Who decided on a run: nobody had to, or a person did."""
_MODES: Mapping[IntentType, Mode] = {"dialogue": "said", "action": "done", "monologue": "thought"}
AliasCause = Literal["authored", "label", "introduction", "overheard", "model", "by hand"]


class NewBufferEntry(Record):
    """One event as its owner perceived it, before storage gave it its place (tier 1)."""

    owner_id: EntityId
    timestamp: datetime
    """World time of the event."""
    location_id: PlaceId | None
    """Where the owner was at the time of writing. The event may have been elsewhere: `intent.place`."""
    round: int = Field(ge=0)
    """Round it was written in; 0 is authored backstory."""
    intent: Intent
    """The event. Words that did not reach the owner are already taken out."""
    outcome: Outcome | None = None
    """Present only for actions."""
    grasp: Grasp = "full"
    pinned: Pin = "none"

    @property
    def mode(self) -> Mode:
        """Said, done or thought."""
        return _MODES[self.intent.type]


class BufferEntry(NewBufferEntry):
    """A buffer entry as it is kept."""

    id: BufferId
    seq: int = Field(gt=0)
    """Order of writing, across all owners. Storage assigns it with the id."""


class ArchivedEntry(Record):
    """A buffer entry that left the buffer, and where it went."""

    entry: BufferEntry
    fate: Fate
    run_id: RunId
    ledger_id: LedgerId | None
    """The ledger entry that holds it, when promoted."""


class NewLedgerEntry(Record):
    """One moment an entity keeps, before storage gave it its place (tier 2)."""

    owner_id: EntityId
    timestamp: datetime
    """World time of the first source event."""
    ended: datetime
    """World time of the last source event."""
    location_id: PlaceId | None
    """Place of the source events."""
    involved_entity_ids: tuple[EntityId, ...] = ()
    content: str = Field(min_length=1)
    """Third-person account with reference tokens for all entities."""
    quotes: tuple[str, ...] = ()
    """Verbatim lines of dialogue."""
    importance: int = Field(ge=1, le=10)
    mode: Mode = "done"
    run_id: RunId | None = None
    """The run that wrote it last; None for authored memories."""
    origin: Origin = "world"
    created_round: int = Field(default=0, ge=0)
    """Round since which it has been in the ledger; 0 is backstory."""


class LedgerEntry(NewLedgerEntry):
    """A ledger entry as it is kept."""

    id: LedgerId
    seq: int = Field(gt=0)
    version: int = Field(default=1, ge=1)
    """Raised with every rewriting. Earlier wordings are kept."""


class ArchivedMemory(Record):
    """A ledger entry that left the ledger, and where it went."""

    entry: LedgerEntry
    source_ids: tuple[BufferId, ...]
    fate: LedgerFate
    round: int
    """Round in which it left."""
    run_id: RunId | None
    """The compression that took it; None by hand."""
    into_id: LedgerId | None
    """The memory that tells it now; None when removed."""


class Use(Record):
    """How often a memory has entered a prompt, and when last."""

    retrieval_count: int = Field(ge=1)
    last_retrieved_at: datetime
    """World time."""


class TriggerReport(Record):
    """Why a handoff would or would not run, with the measurements behind it."""

    trigger: Trigger
    reason: str
    """One line for people: `24 entries, limit 20`."""
    entries: int = 0
    """Entries that count towards the limit: pinned ones do not."""
    max_entries: int = 20
    tokens: int = 0
    """Of the serialized buffer section."""
    max_tokens: int = 0
    """The ceiling: a share of the context window."""
    idle_rounds: int = 0


class Partition(Record):
    """A buffer split at the watermark."""

    tail: tuple[BufferEntry, ...]
    """Protected: newest, still fresh. Chronological."""
    candidates: tuple[BufferEntry, ...]
    """Older entries that a handoff may promote or forget. Chronological."""
    held: tuple[BufferEntry, ...] = ()
    """Pinned by hand and older than the watermark: never candidates."""


class Chunk(Record):
    """One checked moment of a proposal: what would become a ledger entry."""

    source_ids: tuple[str, ...] = Field(min_length=1)
    """Buffer entries of a handoff, ledger entries of a compression."""
    content: str = Field(min_length=1)
    """With reference tokens."""
    quotes: tuple[str, ...] = ()
    importance: int = Field(ge=1, le=10)
    involved_entity_ids: tuple[EntityId, ...] = ()
    retain: bool = False
    """The sources stay in the buffer, pinned by the model."""
    updates: LedgerId | None = None
    """The ledger entry that this chunk rewrites instead of adding one."""
    version: int = Field(default=0, ge=0)
    """Version of that entry as read: commit refuses when it has changed since. 0 for a new entry."""
    repeats: bool = False
    """Whether it says nothing that the memory in `updates` does not: its sources go there, perhaps with more weight, and that memory
    keeps words, time, place and people."""
    by_hand: bool = False
    """Whether a person has changed it while it waited."""


class Proposal(Record):
    """What a handoff or a compression would do, checked and embedded, not yet committed."""

    kind: RunKind = "handoff"
    owner_id: EntityId
    trigger: Trigger
    report: TriggerReport
    candidates: tuple[BufferEntry, ...]
    """As read. Commit refuses when one of them has changed since. Empty for a compression."""
    pool: tuple[BufferId, ...] = ()
    """Everything that could have been handed over when it was made: the candidates, what the checks left undecided, and what did
    not fit into the call. Empty for a compression."""
    memories: tuple[LedgerEntry, ...] = ()
    """The memories that a compression would consolidate, as read. Empty for a handoff."""
    chunks: tuple[Chunk, ...]
    vectors: tuple[bytes, ...] = Field(default=(), exclude=True)
    """One little-endian float32 vector for each chunk. Not kept while a proposal waits: it is embedded when it is committed."""
    embedder: str
    dim: int = Field(gt=0)
    prompt: str
    reply: str
    model: str
    template: str
    """Name and version of the prompt template."""
    notes: tuple[str, ...] = ()
    """What the checks dropped, for people."""
    seconds: float = 0.0
    """Wall-clock time of the call. Goes to the run log only."""
    decision: Decision = "auto"
    """Who decided on it; goes to its run."""


class HandoffRun(Record):
    """A handoff or a compression as it is kept: also a failed one."""

    id: RunId
    kind: RunKind = "handoff"
    owner_id: EntityId
    round: int
    timestamp: datetime
    """World time."""
    trigger: Trigger
    reason: str
    status: Literal["committed", "failed"]
    """A run that a person rejected counts as failed: nothing was written but the run."""
    decision: Decision = "auto"
    error: str = ""
    """For people, when failed."""
    candidate_ids: tuple[str, ...] = ()
    """Buffer entries of a handoff, ledger entries of a compression."""
    prompt: str = ""
    reply: str = ""
    model: str = ""
    template: str = ""
    notes: tuple[str, ...] = ()
    added: int = 0
    """New ledger entries."""
    updated: int = 0
    """Ledger entries rewritten."""
    promoted: int = 0
    """Buffer entries archived as promoted."""
    forgotten: int = 0
    """Buffer entries archived as forgotten."""
    pinned: int = 0
    """Buffer entries that stay, pinned by the model."""


class NewAliasChange(Record):
    """One change of what a viewer calls a target, before storage gave it its place."""

    viewer_id: EntityId
    target_id: EntityId
    old: str | None
    new: str | None
    """None when the alias was removed."""
    timestamp: datetime
    round: int
    cause: AliasCause
    evidence: BufferId | None = None
    """The viewer's buffer entry that taught it."""


class AliasChange(NewAliasChange):
    """An alias change as it is kept."""

    seq: int = Field(gt=0)
