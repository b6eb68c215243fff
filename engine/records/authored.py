"""A world as its files say it, before it is played."""

from datetime import datetime, timedelta
from typing import Literal

from pydantic import Field

from engine.records.base import Record
from engine.records.hints import ModelHints
from engine.records.memory import NewBufferEntry, NewLedgerEntry
from engine.records.policies import Policies
from engine.records.world import World


class LoreItem(Record):
    """A piece of authored knowledge."""

    id: str
    text: str = Field(min_length=1)
    """With reference tokens."""
    keys: tuple[str, ...] = ()
    """Words that call it up. Matched as whole words without case."""
    constant: bool = False
    """Always in the prompt of those who hold it."""
    scope: Literal["world", "faction", "entity"] = "world"
    holders: tuple[str, ...] = ()
    """Faction names or entity ids, by scope; empty for the world."""
    since: datetime | None = None
    until: datetime | None = None
    """World time from which, and before which, it is known at all."""
    stays: timedelta = timedelta(0)
    """How long it stays in a mind that it has come to, whatever is talked of."""
    rests: timedelta = timedelta(0)
    """How long nothing calls it up in a mind that it has come to, once it has stayed there."""

    @property
    def timed(self) -> bool:
        """Whether it matters when it has come to a mind."""
        return bool(self.stays or self.rests)

    def in_force(self, now: datetime) -> bool:
        """Whether it is known at `now`."""
        return (self.since is None or self.since <= now) and (self.until is None or now < self.until)


class AuthoredWorld(Record):
    """Everything a new save starts from."""

    world: World
    policies: Policies = Policies()
    hints: ModelHints = ModelHints()
    lore: tuple[LoreItem, ...] = ()
    buffer: tuple[NewBufferEntry, ...] = ()
    """Backstory in working memory, in order of time."""
    ledger: tuple[NewLedgerEntry, ...] = ()
    """Backstory in long-term memory, in order of time."""
