"""A round that is under way, as the save knows it."""

from datetime import datetime

from engine.records.base import EntityId, Record


class OpenRound(Record):
    """A round that was begun and not finished: whoever opens the save goes on with it."""

    began: datetime
    """World time before it."""
    waiting: tuple[EntityId, ...] | None = None
    """Who had no turn yet, in their order; None while nobody had one."""
    failed: int = 0
    """Turns that came to nothing."""
