"""A world as its files say it, before it is played."""

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
