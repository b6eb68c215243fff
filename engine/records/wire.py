"""Shapes of structured replies. Names on the wire are the seeds'; handles stand for ids: P1 people and things, M1 moments and memories,
L1 ways, K1 what is known.

A model writes fields in the order they have here: handles and other choices before free words, a reason before what it is a reason for.
Bounds are for grammars only (`engine.records.limits`); what else is wrong with a reply is looked at where it is used.
"""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from engine.records.intents import IntentType, Verb
from engine.records.limits import bounded

_MOST_SOURCES, _MOST_PEOPLE, _MOST_QUOTES, _MOST_CHUNKS = 10, 6, 2, 8
_ACCOUNT, _QUOTE, _REASON = 400, 300, 160
"""Characters."""
_HANDLE = {"type": "string", "maxLength": 5}


def _handles(most: int, least: int = 0) -> dict[str, Any]:
    return bounded(minItems=least, maxItems=most, items=_HANDLE)


def _texts(most: int, length: int) -> dict[str, Any]:
    return bounded(maxItems=most, items={"type": "string", "maxLength": length})


def _line(most: int, least: int = 0) -> dict[str, Any]:
    return bounded(minLength=least, maxLength=most)


def _all_of_it(schema: dict[str, Any]) -> None:
    schema["required"] = list(schema.get("properties", {}))


class WireReply(BaseModel):
    """Base of replies: what a model adds beyond the shape is dropped, what it leaves out is an error if there is no default.

    A model is asked for all fields, also for those with a default: where it may leave some out it leaves out too many.
    """

    model_config = ConfigDict(extra="ignore", use_attribute_docstrings=True, json_schema_extra=_all_of_it)


class WireIntent(WireReply):
    """One intent as decoded from prose."""

    type: IntentType
    verb: Verb
    targets: list[str] = Field(json_schema_extra=_handles(4))
    """Handles, P for people and things, L for ways."""
    text: str = Field(json_schema_extra=_line(400))
    """The words of the prose this is made of: the speech without quotation marks, the thought, or the deed."""
    summary: str = Field(json_schema_extra=_line(160))
    """For a deed: past tense, no subject, with handles: `set a mug before P2`. Else empty."""
    modifiers: list[str] = Field(json_schema_extra=_texts(2, 24))


class DecodeReply(WireReply):
    """Reply of task `decode`."""

    intents: list[WireIntent] = Field(json_schema_extra=bounded(minItems=1, maxItems=8))


class WireChange(WireReply):
    """One change asked for by the referee."""

    kind: Literal["move", "set", "give", "drop", "open", "close", "lock", "learn"]
    target: str = Field(json_schema_extra=bounded(maxLength=5))
    """Handle of whom or what is changed: P for move, set, give, drop and learn, L for ways."""
    to: str = Field(default="", json_schema_extra=bounded(maxLength=5))
    """Handle of the receiver (give, learn) or of the way taken (move)."""
    name: str = Field(default="", json_schema_extra=_line(30))
    """Name of the attribute, for set and learn."""
    value: str = Field(default="", json_schema_extra=_line(80))
    """New value, for set."""


class RefereeReply(WireReply):
    """Reply of task `referee`: the reason comes before the verdict."""

    reason: str = Field(json_schema_extra=_line(_REASON))
    possible: bool
    minutes: int = Field(json_schema_extra=bounded(minimum=0, maximum=1440))
    changes: list[WireChange] = Field(default_factory=list, json_schema_extra=bounded(maxItems=3))


class HandoffChunk(WireReply):
    """One moment worth keeping."""

    sourceEntryIds: list[str] = Field(json_schema_extra=_handles(_MOST_SOURCES, 1))  # noqa: N815 - the seed's wire name
    involvedEntityIds: list[str] = Field(json_schema_extra=_handles(_MOST_PEOPLE))  # noqa: N815
    importance: int = Field(json_schema_extra=bounded(minimum=1, maximum=10))
    retainInBuffer: bool  # noqa: N815
    quotes: list[str] = Field(json_schema_extra=_texts(_MOST_QUOTES, _QUOTE))
    content: str = Field(json_schema_extra=_line(_ACCOUNT, 8))


class HandoffReply(WireReply):
    """Reply of task `handoff`."""

    chunks: list[HandoffChunk] = Field(json_schema_extra=bounded(minItems=1, maxItems=_MOST_CHUNKS))


class Choice(WireReply):
    """Moments that a small model keeps together: the first half of a `HandoffChunk`."""

    reason: str = Field(default="", json_schema_extra=_line(10))
    """What makes them matter, in one word."""
    sourceEntryIds: list[str] = Field(json_schema_extra=_handles(_MOST_SOURCES, 1))  # noqa: N815
    importance: int = Field(json_schema_extra=bounded(minimum=1, maximum=10))
    retainInBuffer: bool = False  # noqa: N815


class ChooseReply(WireReply):
    """Reply of task `handoff` when a small model is asked only what belongs together and matters."""

    groups: list[Choice] = Field(json_schema_extra=bounded(minItems=1, maxItems=_MOST_CHUNKS))


class Telling(WireReply):
    """What a small model tells of one group: the second half of a `HandoffChunk`."""

    group: str = Field(json_schema_extra=bounded(maxLength=4))
    """`G1`."""
    involvedEntityIds: list[str] = Field(default_factory=list, json_schema_extra=_handles(_MOST_PEOPLE))  # noqa: N815
    quotes: list[str] = Field(default_factory=list, json_schema_extra=_texts(1, _QUOTE))
    content: str = Field(json_schema_extra=_line(300, 8))


class TellReply(WireReply):
    """Reply of task `handoff` when a small model tells what it has chosen."""

    told: list[Telling] = Field(json_schema_extra=bounded(minItems=1, maxItems=_MOST_CHUNKS))


class CompressReply(WireReply):
    """Reply of task `handoff` when it tells old memories as one."""

    sourceEntryIds: list[str] = Field(json_schema_extra=_handles(40, 2))  # noqa: N815
    involvedEntityIds: list[str] = Field(json_schema_extra=_handles(_MOST_PEOPLE))  # noqa: N815
    quotes: list[str] = Field(json_schema_extra=_texts(_MOST_QUOTES, 200))
    content: str = Field(json_schema_extra=_line(360, 8))


class AliasReply(WireReply):
    """Reply of task `alias`: what somebody could be called by its looks."""

    label: str = Field(json_schema_extra=_line(48, 4))
    """A noun phrase with an article: `the hooded figure`."""


def _share(value: float) -> float:
    """A number as a share; none at all for what is no number."""
    return min(1.0, max(0.0, value)) if value == value else 0.0


Share = Annotated[float, AfterValidator(_share)]
"""0 to 1. What lies beyond is taken for the nearer of the two."""


class CollapsedFact(WireReply):
    """Something that holds, as far as the session tells."""

    sourceTurnIds: list[str] = Field(default_factory=list, json_schema_extra=_handles(6))  # noqa: N815
    """Turns that it was taken from."""
    about: str = Field(default="", json_schema_extra=bounded(maxLength=5))
    """Handle of whom or what it is about; empty for the world at large."""
    topicKey: str = Field(default="", json_schema_extra=_line(40))  # noqa: N815
    """What it says something of, in a few words joined by `_`: of two facts with one key the later one counts."""
    confidence: Share = Field(json_schema_extra=bounded(minimum=0, maximum=1))
    importance: int = Field(default=5, json_schema_extra=bounded(minimum=1, maximum=10))
    sensitive: bool = False
    """Whether it was told in confidence, or would do harm if it went round."""
    content: str = Field(json_schema_extra=_line(200))


class CollapsedDecision(WireReply):
    """Something that was settled."""

    sourceTurnIds: list[str] = Field(default_factory=list, json_schema_extra=_handles(6))  # noqa: N815
    supersedes: str = Field(default="", json_schema_extra=bounded(maxLength=5))
    """Handle of what was known before and no longer holds; empty when there is none."""
    topicKey: str = Field(default="", json_schema_extra=_line(40))  # noqa: N815
    rationale: str = Field(default="", json_schema_extra=_line(160))
    content: str = Field(json_schema_extra=_line(200))


class CollapsedStrategy(WireReply):
    """Something that worked, or did not, and may be done again or left."""

    sourceTurnIds: list[str] = Field(default_factory=list, json_schema_extra=_handles(6))  # noqa: N815
    trigger: str = Field(json_schema_extra=_line(120))
    """When it applies."""
    action: str = Field(json_schema_extra=_line(160))
    context: str = Field(default="", json_schema_extra=_line(120))


class CollapseReply(WireReply):
    """Reply of task `collapse`: what is left of a session. What is counted (turns, pins, tokens, the reason for the end) is no model's
    to say."""

    outcome: Literal["resolved", "partial", "abandoned", "delegated"]
    relevantEntities: list[str] = Field(default_factory=list, json_schema_extra=_handles(8))  # noqa: N815
    goal: str = Field(json_schema_extra=_line(160))
    facts: list[CollapsedFact] = Field(default_factory=list, json_schema_extra=bounded(maxItems=6))
    decisions: list[CollapsedDecision] = Field(default_factory=list, json_schema_extra=bounded(maxItems=4))
    strategies: list[CollapsedStrategy] = Field(default_factory=list, json_schema_extra=bounded(maxItems=2))
    discoveries: list[str] = Field(default_factory=list, json_schema_extra=_texts(3, 160))
    nextSteps: list[str] = Field(default_factory=list, json_schema_extra=_texts(3, 120))  # noqa: N815


class ValidateReply(WireReply):
    """Reply of task `validate`: whether a statement can stand beside what else is known."""

    reason: str = Field(json_schema_extra=_line(_REASON))
    against: list[str] = Field(default_factory=list, json_schema_extra=_handles(4))
    """Handles of the statements that decide."""
    verdict: Literal["supported", "contradicted", "unrelated"]
    confidence: Share = Field(default=0.5, json_schema_extra=bounded(minimum=0, maximum=1))
    """How sure the verdict is."""
