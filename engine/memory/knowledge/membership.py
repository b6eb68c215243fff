"""Who is in which faction: those who join learn what it knows, those who leave keep what they knew (DESIGN 10)."""

import sqlite3
from collections.abc import Sequence
from typing import NamedTuple

from engine.memory.knowledge.placing import Origin
from engine.records.base import EntityId
from engine.records.knowledge import FactionChange
from engine.records.tokens import token
from engine.records.world import World
from engine.storage.knowledge import EVERYTHING
from engine.storage.store import Store
from engine.world.index import with_entities


class Membership(NamedTuple):
    """What a change of factions comes to."""

    world: World
    changes: tuple[FactionChange, ...]
    """Those left, then those joined; none when nothing changed."""


def change(conn: sqlite3.Connection, store: Store, world: World, entity: EntityId, factions: Sequence[str]) -> Membership:
    """Write the factions of an entity. Runs inside one transaction.

    Joining writes nothing else: what a faction knows its members know. Of those left, the entity keeps every piece that holds, as it is
    worded now: what the faction learns later does not reach it.
    """
    mind = world.entities[entity]
    wanted = tuple(dict.fromkeys(factions))
    left = [faction for faction in mind.factions if faction not in wanted]
    joined = [faction for faction in wanted if faction not in mind.factions]
    if wanted == mind.factions:
        return Membership(world, ())
    changes = tuple(
        FactionChange(entity_id=entity, faction=faction, joined=faction in joined, round=world.round, timestamp=world.now)
        for faction in (*left, *joined)
    )
    for one in changes:
        store.knowledge_history.add_faction_change(conn, one)
    for faction in left:
        held = store.knowledge.find(conn, scope="faction", scope_id=faction, holding=True, limit=EVERYTHING)
        kept = Origin("leaving", world.now).change("kept", f"left {faction}")
        store.knowledge_history.keep(conn, entity, [row.id for row in held], kept)
    told = [f"left {faction}" for faction in left] + [f"joined {faction}" for faction in joined]
    store.journal.note(conn, "hand", f"{token(entity)}: {', '.join(told) or 'factions put in another order'}")
    after = with_entities(world, [mind.model_copy(update={"factions": wanted})])
    store.worlds.update(conn, world, after)
    return Membership(after, changes)
