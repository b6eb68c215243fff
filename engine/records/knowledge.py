"""Knowledge: facts, decisions and strategies that somebody holds, with where they come from and how sure they are (DESIGN 10)."""

from datetime import datetime
from typing import Literal, TypeAlias

from pydantic import Field

from engine.records.base import EntityId, Record
from engine.records.sessions import SessionId, TurnId

KnowledgeId: TypeAlias = str
"""Key of a piece of knowledge: `kno-` and a number."""
KnowledgeKind = Literal["fact", "decision", "strategy"]
Scope = Literal["entity", "faction", "world"]
Term = Literal["short", "long"]
"""`short` until promotion has looked at it."""
Tier = Literal["hot", "warm", "cold", "archived"]
Sensitivity = Literal["plain", "sensitive"]
Cause = Literal["collapse", "promotion", "hand", "world", "lifecycle", "leaving", "play"]
"""What changed a row: `leaving` a faction, whose knowledge one keeps; `play`, when a session opens by talk."""
AuditAction = Literal[
    "added", "merged", "updated", "retired", "promoted", "discarded", "flagged", "approved", "edited", "rejected", "widened",
    "narrowed", "demoted", "lifted", "restored", "reversed", "deleted", "cut", "skipped", "collapsed", "kept", "opened",
]


class NewKnowledge(Record):
    """A piece of knowledge before it has a key."""

    owner_id: EntityId
    """Who came to know it first."""
    subject_id: EntityId | None = None
    """Whom or what it is about, when that is one."""
    kind: KnowledgeKind
    content: str = Field(min_length=1)
    """With reference tokens, third person."""
    rationale: str = ""
    """Of a decision; trigger and context of a strategy."""
    topic_key: str = ""
    """Lower-case words joined by `_` that name what it is about: `gareth_boat`. Rows of one holder with one key follow each other."""
    term: Term = "short"
    scope: Scope = "entity"
    scope_id: str = ""
    """The entity that holds it, or the faction; empty for the world."""
    confidence: float = Field(ge=0, le=1)
    importance: int = Field(default=5, ge=1, le=10)
    sensitivity: Sensitivity = "plain"
    session_id: SessionId | None = None
    turn_ids: tuple[TurnId, ...] = ()
    valid_from: datetime
    valid_to: datetime | None = None
    """When it ceased to hold; None while it does."""
    supersedes: KnowledgeId | None = None
    pinned: bool = False
    authored: bool = False
    """Written by a world's author: never sinks, never retired by a model."""


class Knowledge(NewKnowledge):
    """A piece of knowledge as it is kept."""

    id: KnowledgeId
    seq: int
    version: int = Field(default=1, ge=1)
    created: datetime
    created_round: int
    updated: datetime
    updated_round: int
    promoted_round: int | None = None
    superseded_by: KnowledgeId | None = None
    retrieval_count: int = Field(default=0, ge=0)
    last_retrieved_at: datetime | None = None
    activation: float = 0.0
    """ACT-R base level: ln of the sum of ages in hours to the power -0.5."""
    strength: float = 0.0
    """The sum behind `activation`, as of `last_retrieved_at`: kept so that it can be brought up to date without all retrievals."""
    tier: Tier = "hot"

    @property
    def holds(self) -> bool:
        """Whether it is believed now."""
        return self.valid_to is None


class KnowledgeVersion(Record):
    """How a row read before it was changed."""

    knowledge_id: KnowledgeId
    version: int
    before: Knowledge
    replaced_round: int
    cause: Cause
    why: str


class AuditRow(Record):
    """One change to sessions or knowledge: what, before, after, why, by what."""

    seq: int
    round: int
    timestamp: datetime
    action: AuditAction
    cause: Cause
    owner_id: EntityId | None = None
    knowledge_id: KnowledgeId | None = None
    session_id: SessionId | None = None
    run_id: str | None = None
    """The collapse or promotion behind it."""
    before: str = ""
    after: str = ""
    """With reference tokens."""
    why: str = ""


class ReviewItem(Record):
    """Knowledge that waits for a person's word."""

    id: str
    """`rev-` and a number."""
    knowledge_id: KnowledgeId
    reason: str
    scope: Scope
    scope_id: str
    """What it would be promoted to."""
    round: int
    timestamp: datetime


class PromotionPolicy(Record):
    """When short-term knowledge becomes long-term, and whose it becomes."""

    every_hours: float = Field(default=6.0, gt=0)
    """World time between runs."""
    confidence: float = Field(default=0.7, ge=0, le=1)
    age_hours: float = Field(default=2.0, ge=0)
    same: float = Field(default=0.94, gt=0, le=1)
    """Cosine from which two are one, numbers, negation and names agreeing."""
    conflict: float = Field(default=0.82, gt=0, le=1)
    """Cosine from which two are held against each other."""
    scope: Scope = "entity"
    """What promoted knowledge is scoped to: `faction` means each faction of its owner."""
    sensitive: tuple[str, ...] = ("secret", "kill", "murder", "steal", "stole", "poison", "betray", "affair", "blackmail")
    """Words that make a piece sensitive: it waits for a person before it is widened or when it fails validation."""


class LifecyclePolicy(Record):
    """How knowledge sinks when it is not used (DESIGN 10)."""

    w_f: float = 0.3
    w_r: float = 0.3
    w_i: float = 0.2
    w_c: float = 0.2
    decay_hours: float = Field(default=72.0, gt=0)
    """Hours after which the recency of a retrieval has fallen to 1/e."""
    warm: float = 0.45
    cold: float = 0.25
    archived: float = 0.12
    """Scores below which a row sinks to that tier, one tier a sweep."""
    every_hours: float = Field(default=24.0, gt=0)


class PromotionRun(Record):
    """One promotion: `pro-` and a number."""

    id: str
    round: int
    timestamp: datetime
    scanned: int = Field(default=0, ge=0)
    promoted: tuple[KnowledgeId, ...] = ()
    merged: tuple[KnowledgeId, ...] = ()
    flagged: tuple[KnowledgeId, ...] = ()
    discarded: tuple[KnowledgeId, ...] = ()
    retired: tuple[KnowledgeId, ...] = ()
    tokens: int = Field(default=0, ge=0)
    notes: tuple[str, ...] = ()
    error: str = ""


class FactionChange(Record):
    """Somebody has joined or left a faction."""

    entity_id: EntityId
    faction: str
    joined: bool
    round: int
    timestamp: datetime
