"""Proposals that wait for a person, and what the person says."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from engine.records.base import Record
from engine.records.memory import Proposal

Verdict = Literal["open", "accepted", "rejected"]
"""What a person said of one chunk. The sources of a rejected chunk go the way of everything that is not kept."""


class PendingProposal(Record):
    """A proposal as it is kept until a person has decided on it. It survives a restart, and so does each verdict."""

    id: str
    """Key of the proposal: `prop-` and a number."""
    round: int = Field(ge=0)
    """Round in which it was made."""
    timestamp: datetime
    """World time."""
    proposal: Proposal
    """Without vectors: it is embedded when it is committed."""
    verdicts: tuple[Verdict, ...]
    """One for each chunk, in their order."""
    attempt: int = Field(default=0, ge=0)
    """How often parts of it were asked for anew."""


class ChunkEdit(Record):
    """One chunk in a person's words. What is None stays as it was."""

    content: str | None = None
    """May name people as the owner knows them, or by reference tokens; checked as a model's account is."""
    quotes: tuple[str, ...] | None = None
    """Each must stand verbatim in the sources."""
    importance: int | None = Field(default=None, ge=1, le=10)
    retain: bool | None = None


class MemoryEdit(Record):
    """A ledger entry in a person's words. What is None stays as it was."""

    content: str | None = None
    """May name people as the owner knows them, or by reference tokens."""
    quotes: tuple[str, ...] | None = None
    importance: int | None = Field(default=None, ge=1, le=10)
    involved: tuple[str, ...] | None = None
    """Ids of entities."""


class NearDuplicate(Record):
    """Two memories of one owner that tell nearly the same."""

    first: str
    second: str
    """Ids of ledger entries, the older one first."""
    cosine: float
    why: str = ""
    """Why they are two, for people: `different days, and one matters`."""
