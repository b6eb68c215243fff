"""When a handoff runs: a look at numbers, without a model (DESIGN 7)."""

from collections.abc import Sequence
from datetime import datetime

from engine.records.memory import BufferEntry, Trigger, TriggerReport
from engine.records.policies import HandoffPolicy
from engine.records.world import Entity
from engine.world.access import SENSELESS

_STATES = ("status", "consciousness")
_DEFAULT = HandoffPolicy()


def check_handoff_trigger(
    entity: Entity,
    entries: Sequence[BufferEntry],
    now: datetime,
    max_context: int | None = None,
    *,
    policy: HandoffPolicy = _DEFAULT,
    tokens: int = 0,
    idle_rounds: int | None = None,
) -> TriggerReport:
    """Whether the buffer of `entity` calls for a handoff, and the measurements behind the answer. Pure.

    `entries` is the whole buffer in order of time. `max_context` is the actor model's window and `tokens` the length of
    the serialized buffer section, both counted by that model; without a window the ceiling is not looked at.
    `idle_rounds` are whole rounds without an outward intent of its own; None derives them from `entries`. `now` stands in
    the signature because freshness is the watermark's business: no condition here depends on it.
    """
    counted = [entry for entry in entries if entry.pinned == "none"]
    idle = rounds_idle(entity, entries) if idle_rounds is None else idle_rounds
    ceiling = int(max_context * policy.ceiling) if max_context and max_context > 0 else 0

    def report(trigger: Trigger, reason: str) -> TriggerReport:
        return TriggerReport(
            trigger=trigger, reason=reason, entries=len(counted), max_entries=policy.max_entries, tokens=tokens,
            max_tokens=ceiling, idle_rounds=idle,
        )

    if not entries:
        return report("none", "working memory is empty")
    if ceiling and tokens > ceiling:
        return report("involuntary", f"{tokens} tokens of events, limit {ceiling}")
    if len(counted) > policy.max_entries:
        return report("involuntary", f"{len(counted)} entries, limit {policy.max_entries}")
    soft = _soft_reason(entity, entries, counted, idle, policy)
    return report("voluntary", soft) if soft else report("none", "nothing calls for it")


def rounds_idle(entity: Entity, entries: Sequence[BufferEntry]) -> int:
    """Rounds that `entries` span since the last outward intent of `entity` itself: 0 when it acted in the newest round."""
    newest = max((entry.round for entry in entries), default=0)
    outward = (entry.round for entry in entries if entry.intent.actor == entity.id and entry.intent.type != "monologue")
    return newest - max(outward, default=0)


def _soft_reason(
    entity: Entity, entries: Sequence[BufferEntry], counted: Sequence[BufferEntry], idle: int, policy: HandoffPolicy
) -> str:
    for name in _STATES:
        state = (entity.value(name) or "").strip().casefold()
        if state in SENSELESS:
            return state
    # A pinned thread from another place stays for as long as it is unresolved: it must not look like a move each round.
    placed = [entry.location_id for entry in counted if entry.location_id is not None]
    if placed and placed[-1] != entity.place:
        return "it has left the place of its newest entries"
    if len(set(placed)) > 1:
        return "its entries span several places"
    if idle >= policy.idle_rounds:
        return f"idle for {idle} rounds"
    return ""
