"""The base of all records, and the names of their keys."""

from typing import TypeAlias

from pydantic import BaseModel, ConfigDict

EntityId: TypeAlias = str
"""Key of an entity in `World.entities`. Never shown to a character."""
PlaceId: TypeAlias = str
PortalId: TypeAlias = str
BufferId: TypeAlias = str
"""Key of a buffer entry: `buf-` and a number."""
LedgerId: TypeAlias = str
"""Key of a ledger entry: `led-` and a number."""
RunId: TypeAlias = str
"""Key of a handoff run: `run-` and a number."""


class Record(BaseModel):
    """A value that is replaced, never changed in place."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)
