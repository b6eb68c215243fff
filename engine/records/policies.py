"""What a world may set about memory, with the defaults of DESIGN 7 and 8."""

from typing import Literal

from pydantic import Field

from engine.records.base import Record
from engine.records.knowledge import LifecyclePolicy, PromotionPolicy
from engine.records.sessions import SessionPolicy


class HandoffPolicy(Record):
    """When and how much a handoff promotes (DESIGN 7)."""

    floor: int = Field(default=8, ge=1)
    """The newest entries that are always protected."""
    max_entries: int = Field(default=20, ge=2)
    ceiling: float = Field(default=0.6, gt=0, le=1)
    """Share of the actor model's context window that the buffer section may fill."""
    idle_rounds: int = Field(default=5, ge=1)
    batch: int = Field(default=4, ge=1)
    """New candidates that a soft trigger waits for within `idle_rounds` rounds of the last handoff, so that one move from
    room to room does not cost a call for each entry that ages past the watermark."""
    concurrency: int = Field(default=4, ge=1)
    """Handoff calls that may run at the same time."""
    review: Literal["auto", "ask"] = "auto"
    """`ask`: a proposal waits for a person instead of being committed."""


class CompressionPolicy(Record):
    """When old, unimportant memories are told as one (the size that a ledger may have)."""

    limit: int = Field(default=2_000, ge=10)
    """Memories of one owner from which compression begins."""
    importance: int = Field(default=4, ge=1, le=10)
    """Memories above this are left alone."""
    group: int = Field(default=8, ge=2, le=40)
    """Neighbours in time that become one at the most."""
    newest: int = Field(default=200, ge=1)
    """The newest memories, which are left alone."""


class RecallPolicy(Record):
    """How ledger entries are chosen for a prompt (DESIGN 8). Figures from measurements there."""

    pool: int = Field(default=100, ge=3)
    alpha: float = 0.1
    """Weight of recency."""
    beta: float = 0.1
    """Weight of importance / 10."""
    gamma: float = 1.0
    """Weight of relevance."""
    decay: float = Field(default=0.99, gt=0, le=1)
    """Recency is `decay ** hours`."""
    meaning: float | None = Field(default=None, ge=0, le=1)
    """Share of cosine against words in relevance. None takes the embedder's own: 0.6, or 0.3 without weights."""
    involved: float = 0.2
    """Bonus for an entry that involves somebody in focus."""
    smoothing: float = 0.2
    """Share of the better neighbour's score that an entry gains."""
    chained: int = Field(default=3, ge=0)
    """How many of the best pull in their chronological neighbours."""
    focus_entries: int = Field(default=10, ge=1)
    """Newest buffer entries that are scanned for focus."""
    focus_limit: int = Field(default=3, ge=1)
    share: float = Field(default=0.25, gt=0, lt=1)
    """Share of the context window that memories and knowledge may fill."""
    section_limit: int = Field(default=12, ge=1)
    """Memories in a prompt at the most, whatever the window."""
    patience: float = Field(default=10.0, gt=0)
    """Seconds after which a tier of memory that does not answer is left out of the prompt."""


class Policies(Record):
    """All policies of a world."""

    handoff: HandoffPolicy = HandoffPolicy()
    recall: RecallPolicy = RecallPolicy()
    compression: CompressionPolicy = CompressionPolicy()
    sessions: SessionPolicy = SessionPolicy()
    promotion: PromotionPolicy = PromotionPolicy()
    lifecycle: LifecyclePolicy = LifecyclePolicy()
