"""What a code rule says of an action."""

from dataclasses import dataclass

from engine.records.world import Delta


@dataclass(frozen=True, slots=True)
class Ruling:
    """What a rule says of an action."""

    possible: bool
    reason: str = ""
    """For the actor, with reference tokens, no full stop."""
    deltas: tuple[Delta, ...] = ()
    minutes: int = 0
    finding: str = ""
    """What the actor comes to see or read, with reference tokens, no full stop."""
    summary: str = ""
    """The act told plainly; empty keeps the decoder's words."""
