"""How knowledge sinks when it is not used and rises when it is (DESIGN 10).

`score = w_f * ln(1 + count) + w_r * recency + w_i * importance / 10 + w_c * confidence`, recency `exp(-hours / decay_hours)` since the last
time it was in a prompt, or since it was learned when it never was. Below a threshold a row sinks, one tier a sweep; being in a prompt
lifts it by one. What is pinned, or written by the world's author, never sinks; nothing is deleted by age.
"""

import math
import sqlite3
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from engine.memory.knowledge.activation import activation_of, strength_of
from engine.memory.knowledge.placing import Origin
from engine.records.knowledge import Knowledge, KnowledgeId, LifecyclePolicy, Tier
from engine.records.world import World
from engine.storage.knowledge import EVERYTHING, KnowledgeUse
from engine.storage.store import Store
from engine.storage.sweeps import last_sweep, set_last_sweep

TIERS: Final[tuple[Tier, ...]] = ("hot", "warm", "cold", "archived")
"""From the top."""


class Uses(NamedTuple):
    """How often a piece has been in prompts since that was written down last."""

    times: int
    at: datetime
    """World time of the last of them."""


class ScoreParts(NamedTuple):
    """What the score of a piece is made of, each part weighted."""

    use: float
    """Times it was in prompts."""
    recency: float
    """The last time, or since it was learned."""
    importance: float
    confidence: float


def score_parts(row: Knowledge, now: datetime, policy: LifecyclePolicy) -> ScoreParts:
    """What the score of a piece is made of at a world time."""
    recency = math.exp(-_idle(row, now) / policy.decay_hours)
    return ScoreParts(
        policy.w_f * math.log1p(row.retrieval_count), policy.w_r * recency, policy.w_i * row.importance / 10, policy.w_c * row.confidence
    )


def score(row: Knowledge, now: datetime, policy: LifecyclePolicy) -> float:
    """What a piece is worth keeping near, 0 and more."""
    parts = score_parts(row, now, policy)
    return parts.use + parts.recency + parts.importance + parts.confidence


def hours_until(row: Knowledge, now: datetime, policy: LifecyclePolicy, threshold: float) -> float | None:
    """World hours after which the score falls below a threshold if the piece is in no prompt; 0 when it is below now, None when it never
    falls so far."""
    parts = score_parts(row, now, policy)
    rest = threshold - (parts.use + parts.importance + parts.confidence)
    if rest <= 0 or policy.w_r <= 0:
        return None if rest <= 0 else 0.0
    return max(0.0, -policy.decay_hours * math.log(rest / policy.w_r) - _idle(row, now)) if rest < policy.w_r else 0.0


def _idle(row: Knowledge, now: datetime) -> float:
    """Hours since a piece was in a prompt, or was learned when it never was."""
    return max(0.0, (now - (row.last_retrieved_at or row.created)).total_seconds() / 3600)


def tier_by(value: float, policy: LifecyclePolicy) -> Tier:
    """The tier that a score is enough for."""
    if value < policy.archived:
        return "archived"
    return "cold" if value < policy.cold else "warm" if value < policy.warm else "hot"


def sunk(row: Knowledge, now: datetime, policy: LifecyclePolicy) -> Tier:
    """The tier of a row after a sweep: one lower when its score is not enough for the one it has, else the same."""
    if row.pinned or row.authored:
        return row.tier
    at = TIERS.index(row.tier)
    return TIERS[at + 1] if TIERS.index(tier_by(score(row, now, policy), policy)) > at else row.tier


def lifted(tier: Tier) -> Tier:
    """One tier higher."""
    return TIERS[max(0, TIERS.index(tier) - 1)]


def used(row: Knowledge, uses: Uses) -> KnowledgeUse:
    """What a row comes to by having been in prompts."""
    after = row.model_copy(update={"retrieval_count": row.retrieval_count + uses.times, "last_retrieved_at": uses.at})
    return KnowledgeUse(row.id, uses.times, uses.at, strength_of(after, uses.at), activation_of(after, uses.at))


def reinforce(conn: sqlite3.Connection, store: Store, found: Mapping[KnowledgeId, Uses]) -> None:
    """Note what entered prompts, and lift it by one tier. Runs inside one transaction; rows that are gone are left out.

    For what entered a prompt, never for what was merely looked at.
    """
    rows = store.knowledge.get(conn, found)
    store.knowledge.touch(conn, [used(row, found[row.id]) for row in rows])
    for row in rows:
        if row.tier != (higher := lifted(row.tier)):
            change = Origin("lifecycle", found[row.id].at).change("lifted", "it was of use")
            store.knowledge.update(conn, row.model_copy(update={"tier": higher}), change)


def sweep_due(conn: sqlite3.Connection, store: Store, world: World, policy: LifecyclePolicy) -> bool:
    """Whether it is time for a sweep: the last one, or the first knowledge, is long enough ago."""
    since = last_sweep(conn)
    if since is None:
        first = store.knowledge.find(conn, limit=1)
        if not first:
            return False
        since = first[0].created
    return world.now - since >= timedelta(hours=policy.every_hours)


def sweep(conn: sqlite3.Connection, store: Store, world: World, policy: LifecyclePolicy) -> tuple[Knowledge, ...]:
    """Let sink what is not used, by one tier, and bring activations up to now. Runs inside one transaction. Returns what sank."""
    rows = store.knowledge.find(conn, holding=True, tiers=TIERS[:-1], limit=EVERYTHING)
    sinking = [(row, tier) for row in rows if (tier := sunk(row, world.now, policy)) != row.tier]
    origin = Origin("lifecycle", world.now)
    gone = tuple(
        store.knowledge.update(conn, row.model_copy(update={"tier": tier}), origin.change("demoted", f"it was not used: now {tier}"))
        for row, tier in sinking
    )
    store.knowledge.set_activation(conn, [(row.id, activation_of(row, world.now)) for row in rows])
    set_last_sweep(conn, world.now)
    store.journal.note(conn, "upkeep", "What was not used sank")
    return gone
