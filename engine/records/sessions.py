"""Sessions: a scratchpad for one agent's dealings with one other entity, and what it comes to when it ends (DESIGN 9)."""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal, TypeAlias

from pydantic import Field

from engine.records.base import BufferId, EntityId, Record

SessionId: TypeAlias = str
"""Key of a session: `ses-` and a number."""
TurnId: TypeAlias = str
"""Key of a turn: `turn-` and a number."""
SessionStatus = Literal["open", "collapsing", "collapsed", "discarded"]
PromotionState = Literal["none", "pending", "extracted", "skipped", "failed"]
"""How far a session has become knowledge. `pending`: it has ended and waits; `skipped`: no model was asked, and the summary says why."""
CollapseStage = Literal["guard", "assess", "extract", "settle", "write"]
"""What a collapse is at: cutting orders, weighing whether a model is asked, asking it, holding what it said against what is known,
waiting to be written between two rounds."""
Role = Literal["agent", "actor", "note"]
"""Who a turn is from: the agent whose session it is, the other, or neither (a gesture, a remark from outside)."""
CollapseReason = Literal["inactivity", "explicit", "max_turns", "max_tokens"]
SessionOutcome = Literal["resolved", "partial", "abandoned", "delegated"]


class CollapsePolicy(Record):
    """When a session ends by itself and what is taken from it. Defaults are the seed's."""

    mode: Literal["auto", "explicit", "hybrid"] = "auto"
    """`explicit`: only when somebody says so. A person's word collapses in every mode."""
    inactivity_timeout: int = Field(default=1800, ge=0)
    """Seconds of world time without a turn."""
    max_turns: int = Field(default=50, ge=2)
    """Forces a collapse."""
    max_tokens: int = Field(default=8192, ge=256)
    """Forces a partial collapse of the older part; pinned turns stay."""
    min_turns: int = Field(default=3, ge=1)
    """Fewer are trivial: no model is asked."""
    require_pin: bool = False
    extract_facts: bool = True
    extract_decisions: bool = True
    extract_strategies: bool = True
    extract_tasks: bool = True
    recurrence_threshold: float = Field(default=0.6, ge=0, le=1)
    skip_llm_if_below_threshold: bool = True


class SessionPolicy(Record):
    """Which pairs have sessions, and how those end."""

    pairs: Literal["player", "all", "none"] = "player"
    """`player`: agents with whom a person plays."""
    collapse: CollapsePolicy = CollapsePolicy()
    agents: Mapping[EntityId, CollapsePolicy] = {}
    """Agents with a policy of their own."""

    def of(self, agent: EntityId) -> CollapsePolicy:
        """What holds for an agent's sessions."""
        return self.agents.get(agent, self.collapse)


class NewTurn(Record):
    """A turn before it has a key."""

    role: Role
    speaker_id: EntityId | None = None
    content: str = Field(min_length=1)
    """Words as they were said, or a remark with reference tokens."""
    pinned: bool = False
    hint: str = ""
    """What a person or program wants noticed in it."""
    timestamp: datetime
    round: int
    source_id: BufferId | None = None
    """The agent's buffer entry that it is made of."""


class Turn(NewTurn):
    """One turn of a session, in order of `seq`."""

    id: TurnId
    session_id: SessionId
    seq: int


class Session(Record):
    """The state of a session, without its turns."""

    id: SessionId
    agent_id: EntityId
    actor_id: EntityId
    status: SessionStatus = "open"
    promotion_state: PromotionState = "none"
    started: datetime
    started_round: int
    last_turn_at: datetime
    ended: datetime | None = None
    ended_round: int | None = None
    policy: CollapsePolicy
    scratch: Mapping[str, str] = {}
    """Free keys: `hypothesis`, `ruled_out`."""
    tasks: tuple[str, ...] = ()
    """Next steps of the session before, with reference tokens: they stand in the agent's prompt while it is open."""
    entities_found: tuple[EntityId, ...] = ()
    decisions_made: tuple[str, ...] = ()
    parts: int = Field(default=0, ge=0)
    """Partial collapses so far."""
    asked: CollapseReason | None = None
    """Why it is to be collapsed, once that is settled: by somebody's word, or by a trigger whose collapse is under way."""


class Pursuit(Record):
    """What an agent has in hand with another: of their open session what its prompt says."""

    session_id: SessionId
    actor_id: EntityId
    tasks: tuple[str, ...] = ()
    """With reference tokens, as `scratch`."""
    scratch: Mapping[str, str] = {}


class CollapseReport(Record):
    """Why a session would be collapsed now, or not, with the measurements behind the answer."""

    reason: CollapseReason | None = None
    """None when nothing calls for it."""
    partial: bool = False
    """Whether only the older part goes and the session stays open."""
    text: str
    """One line for people: `50 turns, limit 50`."""
    turns: int = 0
    max_turns: int = 50
    pinned: int = 0
    tokens: int = 0
    """Of the contents of its turns, estimated."""
    max_tokens: int = 8192
    idle_seconds: int = 0
    """World time since the last turn."""
    inactivity_timeout: int = 1800


class ExtractedFact(Record):
    """A fact of a summary."""

    content: str
    confidence: float = Field(ge=0, le=1)
    topic_key: str | None = None


class ExtractedDecision(Record):
    """A decision of a summary."""

    content: str
    rationale: str
    supersedes: str | None = None
    """The decision that it stands in place of, in words or by key."""


class ExtractedStrategy(Record):
    """What works in what case."""

    trigger: str
    action: str
    context: str


class SessionCollapseSummary(Record):
    """What stays of a session when its turns are gone. Names are the seed's; texts hold reference tokens."""

    goal: str
    outcome: SessionOutcome
    facts: tuple[ExtractedFact, ...] = ()
    decisions: tuple[ExtractedDecision, ...] = ()
    strategies: tuple[ExtractedStrategy, ...] = ()
    discoveries: tuple[str, ...] = ()
    next_steps: tuple[str, ...] = ()
    relevant_entities: tuple[EntityId, ...] = ()
    turns_processed: int = Field(ge=0)
    pins_used: int = Field(ge=0)
    llm_tokens_used: int = Field(ge=0)
    collapse_reason: CollapseReason


class GateReport(Record):
    """Why a model was asked, or not."""

    asked: bool
    reason: str
    """One line for people."""
    turns: int
    telling: int = 0
    """Turns that say something: no greeting, no small talk."""
    pinned: int = 0
    recurrence: float = 0.0
    """Sustained similarity to other turns and to what the agent knows, 0 to 1."""
    threshold: float = 0.6


class CollapseForecast(Record):
    """What collapsing a session now, at somebody's word, would come to. Nothing is asked of a model to know it."""

    gate: GateReport
    cut: int = 0
    """Turns that give orders and would be cut."""
    model: str = ""
    """Who would be asked; empty when nobody is."""
    prompt_tokens: int = 0
    reply_tokens: int = 0
    """At the most."""
    left_out: int = 0
    """Turns for which there would be no room."""


class CollapseRun(Record):
    """One collapse, whole or partial, as it is kept: `col-` and a number."""

    id: str
    session_id: SessionId
    agent_id: EntityId
    part: int
    """0 for the first collapse of a session; partial ones count up."""
    partial: bool
    reason: CollapseReason
    round: int
    timestamp: datetime
    status: Literal["committed", "skipped", "failed"]
    gate: GateReport
    summary: SessionCollapseSummary | None = None
    cut: tuple[str, ...] = ()
    """Instruction-like text that was kept from becoming memory."""
    notes: tuple[str, ...] = ()
    error: str = ""
    events: Mapping[TurnId, BufferId] = {}
    """The agent's buffer entries that its turns were made of: they tell who said what when the turns are gone."""
    kept: tuple[Turn, ...] = ()
    """Turns that knowledge was taken from and that no event is behind."""
    prompt: str = ""
    reply: str = ""
    model: str = ""
    template: str = ""
    added: int = 0
    merged: int = 0
    retired: int = 0
