"""The story as it is kept: what happened, beat by beat."""

from datetime import datetime

from pydantic import Field

from engine.records.base import PlaceId, Record
from engine.records.intents import Intent, Outcome


class Happening(Record):
    """One intent as it turned out."""

    seq: int = Field(gt=0)
    """Order of happening. Storage assigns it."""
    beat: int = Field(gt=0)
    """Number of the beat it belongs to."""
    round: int = Field(ge=0)
    timestamp: datetime
    """World time."""
    location_id: PlaceId | None
    intent: Intent
    outcome: Outcome | None = None
    """Present only for actions."""
