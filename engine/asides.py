"""What a save still knows of minds beside its story: handoffs that ran, names learned, proposals that wait, told to one viewer."""

import sqlite3
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from engine.mind.aliases import own_name
from engine.records.base import EntityId, Record
from engine.records.memory import AliasChange, HandoffRun
from engine.records.review import PendingProposal
from engine.records.world import World
from engine.storage.store import Store
from engine.views import called
from engine.world.index import with_entities


class Aside(Record):
    """One thing that a mind did, told to one viewer."""

    what: HandoffRun | AliasChange | PendingProposal
    """A run is told without its prompt and reply."""
    round: int
    at: datetime
    """World time."""
    first: bool
    """Whether it came before all else of its round at that time: rounds begin with handoffs."""
    who: str
    """What the viewer calls the one whose mind it is; a viewer hears its own name."""
    whom: str = ""
    """Of an alias: what the viewer called the target before."""


class Kept(NamedTuple):
    """What was read of a save for asides, each oldest first."""

    runs: Sequence[HandoffRun]
    changes: Sequence[AliasChange]
    waiting: Sequence[PendingProposal]


def kept(conn: sqlite3.Connection, store: Store, viewer: EntityId | None, since: int, limit: int) -> Kept:
    """The newest asides since a round, at most `limit` of a kind: of all minds for None, else of the viewer's own."""
    waiting = store.proposals.all(conn)
    return Kept(
        store.handoffs.since(conn, since, viewer, limit), store.aliases.since(conn, since, viewer, limit),
        [one for one in waiting if one.round >= since and viewer in (None, one.proposal.owner_id)],
    )


def asides(world: World, viewer: EntityId | None, found: Kept) -> list[Aside]:
    """What was read, in the order it came about, in the viewer's names."""
    told = [
        Aside(what=one, round=one.round, at=one.timestamp, first=True, who=_mind(world, one.proposal.owner_id, viewer))
        for one in found.waiting
    ]
    told += [  # what a person decided on was written when play rested, at the end of its round
        Aside(what=run, round=run.round, at=run.timestamp, first=run.decision == "auto", who=_mind(world, run.owner_id, viewer))
        for run in found.runs
    ]
    told += [
        Aside(
            what=change, round=change.round, at=change.timestamp, first=False, who=_mind(world, change.viewer_id, viewer),
            whom=_before(world, change, viewer),
        )
        for change in found.changes
    ]
    return sorted(told, key=lambda aside: (aside.round, aside.at, not aside.first))


def _mind(world: World, entity: EntityId, viewer: EntityId | None) -> str:
    return own_name(world.entities[entity]) if entity == viewer else called(world, entity, viewer)


def _before(world: World, change: AliasChange, viewer: EntityId | None) -> str:
    """What the target was called until then: the old alias, or what its looks suggest."""
    if viewer is None:
        return called(world, change.target_id, None)
    if change.old:
        return change.old
    mind = world.entities[viewer]
    nameless = mind.model_copy(update={"aliases": {key: text for key, text in mind.aliases.items() if key != change.target_id}})
    return called(with_entities(world, [nameless]), change.target_id, viewer)
