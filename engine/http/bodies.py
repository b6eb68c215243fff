"""What programs send: bodies and queries. The OpenAPI description is made from them."""

from collections.abc import Mapping
from typing import Annotated, Literal, get_origin

from pydantic import BaseModel, ConfigDict, Field

from engine.records.base import EntityId
from engine.records.knowledge import AuditAction, Cause, KnowledgeId, KnowledgeKind, Scope, Term, Tier
from engine.records.sessions import Role, SessionId, SessionStatus
from engine.session_desk import LONGEST_HINT, LONGEST_TURN, LONGEST_VALUE

_BIGGEST = 2**53
"""What every reader of JSON keeps as it is."""
Id = Annotated[str, Field(min_length=1, max_length=200)]
Seconds = Annotated[float, Field(ge=0, le=300, allow_inf_nan=False)]
Number = Annotated[int, Field(ge=0, le=_BIGGEST)]


class Body(BaseModel):
    """A body of JSON."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, use_attribute_docstrings=True)


class NoBody(Body):
    """Nothing."""


class PolicyGiven(Body):
    """A policy of a session's own. What is left out is as the world has it for the agent."""

    mode: Literal["auto", "explicit", "hybrid"] | None = None
    """`explicit`: only when somebody says so. A person's word collapses in every mode."""
    inactivity_timeout: Annotated[int, Field(ge=0, le=_BIGGEST)] | None = None
    """Seconds of world time without a turn."""
    max_turns: Annotated[int, Field(ge=2, le=_BIGGEST)] | None = None
    """Forces a collapse."""
    max_tokens: Annotated[int, Field(ge=256, le=_BIGGEST)] | None = None
    """Forces a partial collapse of the older part; pinned turns stay."""
    min_turns: Annotated[int, Field(ge=1, le=_BIGGEST)] | None = None
    """Fewer are trivial: no model is asked."""
    require_pin: bool | None = None
    """No model is asked unless a turn is pinned."""
    extract_facts: bool | None = None
    extract_decisions: bool | None = None
    extract_strategies: bool | None = None
    extract_tasks: bool | None = None
    recurrence_threshold: Annotated[float, Field(ge=0, le=1)] | None = None
    """Sustained similarity below which no model is asked."""
    skip_llm_if_below_threshold: bool | None = None

    def changes(self) -> Mapping[str, object]:
        """What it says."""
        return self.model_dump(exclude_none=True)


class SessionBegun(Body):
    """Of whom a session is to be."""

    agent_id: Id
    """Whose session it is: somebody with a mind."""
    actor_id: Id
    """With whom or what."""
    policy: PolicyGiven | None = None
    """When it ends by itself. Left out, the world's policy holds."""


class TurnGiven(Body):
    """What was said, or a remark."""

    role: Role
    content: str = Field(min_length=1, max_length=LONGEST_TURN)
    """Words as they were said. In a `note` people may be named as the agent calls them, or as `@id`."""
    pinned: bool = False
    """A pinned turn is reason enough to ask a model, and stays when the older part is collapsed."""
    hint: str = Field(default="", max_length=LONGEST_HINT)
    """What is to be noticed in it."""


class PinGiven(Body):
    """A turn that is to be pinned, or let go."""

    turn_id: Id
    pinned: bool = True


class NoteGiven(Body):
    """A note for the scratchpad."""

    key: str = Field(min_length=1, max_length=40)
    """A few words: `hypothesis`, `ruled_out`."""
    value: str | None = Field(max_length=LONGEST_VALUE)
    """The note; null takes it away."""


class Query(BaseModel):
    """What stands behind the question mark of an address."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    @classmethod
    def lists(cls) -> frozenset[str]:
        """Names that may be given more than once."""
        return frozenset(name for name, field in cls.model_fields.items() if get_origin(field.annotation) is tuple)


class NoQuery(Query):
    """Nothing."""


class Told(Query):
    """In whose names things are told."""

    viewer: EntityId | None = Field(default=None, max_length=200)
    """An id: people are called what this one calls them. By true names when left out."""


class Wait(Told):
    """How long a reply may wait for a collapse."""

    wait: Seconds = 0
    """Seconds, at most 300. The reply comes as soon as the collapse has ended."""


class SessionFilter(Told):
    """Which sessions."""

    agent: EntityId | None = Field(default=None, max_length=200)
    """Whose they are."""
    actor: EntityId | None = Field(default=None, max_length=200)
    """With whom."""
    status: SessionStatus | None = None
    before: SessionId | None = Field(default=None, max_length=200)
    """For the next page: `next` of this one."""
    limit: int = Field(default=50, ge=1, le=500)


class KnowledgeFilter(Told):
    """Which knowledge."""

    owner: EntityId | None = Field(default=None, max_length=200)
    """Who came to know it first."""
    scope: Scope | None = None
    scope_id: str | None = Field(default=None, max_length=200)
    """The entity or the faction that holds it."""
    subject: EntityId | None = Field(default=None, max_length=200)
    """Whom or what it is about."""
    kind: KnowledgeKind | None = None
    term: Term | None = None
    tier: tuple[Tier, ...] = ()
    """May be given more than once."""
    holding: Literal["true", "false", "all"] = "true"
    """`false`: what has ended."""
    text: str = Field(default="", max_length=200)
    """Words that must stand in it."""
    after: Number = 0
    """For the next page: `next` of this one."""
    limit: int = Field(default=100, ge=1, le=500)


class AuditFilter(Told):
    """Which rows of the audit trail."""

    owner: EntityId | None = Field(default=None, max_length=200)
    knowledge: KnowledgeId | None = Field(default=None, max_length=200)
    session: SessionId | None = Field(default=None, max_length=200)
    run: str | None = Field(default=None, max_length=200)
    """A collapse or a promotion."""
    action: tuple[AuditAction, ...] = ()
    """May be given more than once."""
    cause: tuple[Cause, ...] = ()
    """May be given more than once."""
    first_round: Number | None = None
    last_round: Number | None = None
    before: Number | None = None
    """For the next page: `next` of this one."""
    limit: int = Field(default=100, ge=1, le=500)


class Asked(Told):
    """A question in words."""

    q: str = Field(min_length=1, max_length=400)
    """`What did Mira believe about Gareth at round 12?` The present round when it names none."""
