"""Shapes of structured replies. Names on the wire are the seeds'; handles stand for ids (P1 people and things, M1 entries, L1 ways)."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from engine.records.intents import IntentType, Verb


class WireReply(BaseModel):
    """Base of replies: what a model adds beyond the shape is dropped, what it leaves out is an error."""

    model_config = ConfigDict(extra="ignore", use_attribute_docstrings=True)


class WireIntent(WireReply):
    """One intent as decoded from prose."""

    type: IntentType
    verb: Verb
    text: str
    """The words of the prose this is made of: the speech without quotation marks, the thought, or the deed."""
    summary: str
    """For a deed: past tense, no subject, with handles: `set a mug before P2`. Else empty."""
    targets: list[str]
    """Handles, P for people and things, L for ways."""
    modifiers: list[str]


class DecodeReply(WireReply):
    """Reply of task `decode`."""

    intents: list[WireIntent]


class WireChange(WireReply):
    """One change asked for by the referee."""

    kind: Literal["move", "set", "give", "drop", "open", "close", "lock", "learn"]
    target: str
    """Handle of whom or what is changed: P for move, set, give, drop and learn, L for ways."""
    name: str = ""
    """Name of the attribute, for set and learn."""
    value: str = ""
    """New value, for set."""
    to: str = ""
    """Handle of the receiver (give, learn) or of the way taken (move)."""


class RefereeReply(WireReply):
    """Reply of task `referee`: the reason comes before the verdict."""

    reason: str
    possible: bool
    minutes: int
    changes: list[WireChange] = Field(default_factory=list)


class HandoffChunk(WireReply):
    """One moment worth keeping."""

    sourceEntryIds: list[str]  # noqa: N815 - the seed's wire name
    content: str
    quotes: list[str]
    importance: int
    involvedEntityIds: list[str]  # noqa: N815
    retainInBuffer: bool  # noqa: N815


class HandoffReply(WireReply):
    """Reply of task `handoff`."""

    chunks: list[HandoffChunk]


class CompressReply(WireReply):
    """Reply of task `handoff` when it tells old memories as one."""

    sourceEntryIds: list[str]  # noqa: N815
    content: str
    quotes: list[str]
    involvedEntityIds: list[str]  # noqa: N815
