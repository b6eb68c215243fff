"""What an agent means to do, and whether it could be done."""

from typing import Literal

from pydantic import Field

from engine.records.base import EntityId, PlaceId, PortalId, Record

IntentType = Literal["dialogue", "action", "monologue"]
Verb = Literal[
    "say", "whisper", "shout", "think", "go", "look", "take", "give", "drop", "open", "close", "lock", "unlock",
    "sleep", "wake", "wait", "other",
]


class Intent(Record):
    """One thing an agent means to do. `summary` names entities by reference tokens only."""

    type: IntentType
    verb: Verb = "other"
    """What kind of act it is: code rules judge all verbs but `other` without a model."""
    text: str = ""
    """Verbatim. Dialogue: the words spoken, without quotation marks. Monologue: the thought. Action: the prose."""
    summary: str = ""
    """Past tense, no subject: `wiped the counter`, `gave {{e:lamp}} to {{e:mira}}`. Empty for plain speech and thought."""
    actor: EntityId
    targets: tuple[EntityId, ...] = ()
    """Whom or what it is directed at. For `give`: the thing first, then the receiver."""
    portal: PortalId | None = None
    """For go, open, close, lock and unlock: which way."""
    modifiers: tuple[str, ...] = ()
    """How: `whispering`, `angrily`."""
    place: PlaceId | None = None
    """Where it happened. The referee fills it in; a perceiver may have been elsewhere."""


class Outcome(Record):
    """Whether an action was possible, and why."""

    is_valid: bool
    reason: str = Field(default="", max_length=500)
    """One short sentence for the actor, with reference tokens."""
    finding: str = ""
    """What the actor came to see or read by it, with reference tokens, no full stop. Its alone to know."""
