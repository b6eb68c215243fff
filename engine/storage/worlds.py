"""The world in a save: places, portals, entities, policies, lore."""

import sqlite3
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TypeVar

from pydantic import TypeAdapter

from engine.errors import SaveError
from engine.records.authored import AuthoredWorld
from engine.records.hints import ModelHints
from engine.records.memory import NewAliasChange
from engine.records.policies import Policies
from engine.records.templates import PARTS, Kind, Template
from engine.records.tokens import bare
from engine.records.world import Entity, Place, Portal, World
from engine.storage.aliases import AliasRepository
from engine.storage.buffer import BufferRepository
from engine.storage.ledger import LedgerRepository
from engine.storage.lore import LoreRepository
from engine.storage.rows import (
    attributes_text,
    list_text,
    mapping_text,
    text_attributes,
    text_list,
    text_mapping,
    time_text,
)

_SET = "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"
_META = "SELECT key, value FROM meta"
_POLICIES = "SELECT value FROM meta WHERE key = 'policies'"
_HINTS = "SELECT value FROM meta WHERE key = 'hints'"

_PLACES = "SELECT id, name, description, attributes_json, position_json FROM places ORDER BY seq"
_PUT_PLACE = """
INSERT INTO places (id, name, description, attributes_json, position_json) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET name = excluded.name, description = excluded.description,
    attributes_json = excluded.attributes_json, position_json = excluded.position_json
"""
_PORTALS = """
SELECT id, name, a, b, one_way, state, vision, sound, vision_other, sound_other, key_id FROM portals ORDER BY seq
"""
_PUT_PORTAL = """
INSERT INTO portals (id, name, a, b, one_way, state, vision, sound, vision_other, sound_other, key_id)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET name = excluded.name, a = excluded.a, b = excluded.b, one_way = excluded.one_way,
    state = excluded.state, vision = excluded.vision, sound = excluded.sound, vision_other = excluded.vision_other,
    sound_other = excluded.sound_other, key_id = excluded.key_id
"""
_OBJECTS = """
SELECT id, agent, place_id, holder_id, sort_order, factions_json, goals_json, habits_json, voice_json, attributes_json, aliases_json
FROM objects ORDER BY seq
"""
_PUT_OBJECT = """
INSERT INTO objects (id, agent, place_id, holder_id, sort_order, factions_json, goals_json, habits_json, voice_json,
    attributes_json, aliases_json)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET agent = excluded.agent, place_id = excluded.place_id, holder_id = excluded.holder_id,
    sort_order = excluded.sort_order, factions_json = excluded.factions_json, goals_json = excluded.goals_json,
    habits_json = excluded.habits_json, voice_json = excluded.voice_json, attributes_json = excluded.attributes_json,
    aliases_json = excluded.aliases_json
"""

_TEMPLATES = TypeAdapter(dict[str, Template])

R = TypeVar("R")


class WorldRepository:
    """Reads and writes the objective truth of a save."""

    def create(self, conn: sqlite3.Connection, authored: AuthoredWorld) -> None:
        """Write a new world with its backstory. Backstory has no vectors yet; aliases it begins with get an alias change each.

        Raises `sqlite3.IntegrityError` when the save holds a world already.
        """
        world = authored.world
        conn.execute("INSERT INTO meta (key, value) VALUES ('slug', ?)", (world.slug,))
        conn.executemany(_SET, [*_meta_of(world).items(), ("policies", authored.policies.model_dump_json())])
        conn.executemany(_SET, _chosen(authored))
        conn.executemany(_PUT_PLACE, map(_place_row, world.places.values()))
        conn.executemany(_PUT_OBJECT, map(_object_row, world.entities.values()))
        conn.executemany(_PUT_PORTAL, map(_portal_row, world.portals.values()))
        LoreRepository().add(conn, authored.lore)
        buffer, ledger, aliases = BufferRepository(), LedgerRepository(), AliasRepository()
        for event in authored.buffer:
            buffer.add(conn, event)
        for memory in authored.ledger:
            ledger.add(conn, memory, (), _plain(memory.content, memory.quotes))
        ledger.settle(conn)
        for viewer in world.entities.values():
            for target, alias in viewer.aliases.items():
                change = NewAliasChange(
                    viewer_id=viewer.id, target_id=target, old=None, new=alias, timestamp=world.now, round=0, cause="authored"
                )
                aliases.add(conn, change)

    def check(self, conn: sqlite3.Connection) -> None:
        """Raise `SaveError` when the save holds no world, because the process died while making it."""
        if not conn.execute(_POLICIES).fetchall():
            raise SaveError("This save holds no world: making it was interrupted.", "Delete it and start a new game.")

    def load(self, conn: sqlite3.Connection) -> World:
        """The world as of the last commit."""
        meta = dict(conn.execute(_META).fetchall())
        return World(
            slug=meta["slug"],
            name=meta["name"],
            description=meta["description"],
            seed=int(meta["seed"]),
            now=datetime.fromisoformat(meta["now"]),
            round=int(meta["round"]),
            places={
                key: Place.model_validate(
                    {
                        "id": key,
                        "name": name,
                        "description": description,
                        "attributes": text_attributes(attributes),
                        "position": tuple(map(int, position[1:-1].split(","))) if position else None,
                    }
                )
                for key, name, description, attributes, position in conn.execute(_PLACES)
            },
            portals={row[0]: Portal.model_validate(dict(zip(_PORTAL_FIELDS, row, strict=True))) for row in conn.execute(_PORTALS)},
            entities={
                key: Entity.model_validate(
                    {
                        "id": key,
                        "agent": bool(agent),
                        "place": place,
                        "holder": holder,
                        "order": order,
                        "factions": text_list(factions),
                        "goals": text_list(goals),
                        "habits": text_list(habits),
                        "voice": text_list(voice),
                        "attributes": text_attributes(attributes),
                        "aliases": text_mapping(aliases),
                    }
                )
                for key, agent, place, holder, order, factions, goals, habits, voice, attributes, aliases in conn.execute(_OBJECTS)
            },
            templates=_templates(meta.get("templates")),
        )

    def update(self, conn: sqlite3.Connection, before: World, after: World) -> None:
        """Write what differs between two states. Costs nothing for values that are the very same object in both."""
        if after is before:
            return
        old, new = _meta_of(before), _meta_of(after)
        conn.executemany(_SET, [(key, value) for key, value in new.items() if old[key] != value])
        _update(conn, "places", before.places, after.places, _PUT_PLACE, _place_row)
        _update(conn, "objects", before.entities, after.entities, _PUT_OBJECT, _object_row)
        _update(conn, "portals", before.portals, after.portals, _PUT_PORTAL, _portal_row)

    def policies(self, conn: sqlite3.Connection) -> Policies:
        """The world's policies."""
        [(text,)] = conn.execute(_POLICIES).fetchall()
        return Policies.model_validate_json(text)

    def set_policies(self, conn: sqlite3.Connection, policies: Policies) -> None:
        """Put other policies into force."""
        conn.execute(_SET, ("policies", policies.model_dump_json()))

    def hints(self, conn: sqlite3.Connection) -> ModelHints:
        """What the world suggests about models."""
        rows = conn.execute(_HINTS).fetchall()
        return ModelHints.model_validate_json(rows[0][0]) if rows else ModelHints()


_PORTAL_FIELDS = ("id", "name", "a", "b", "one_way", "state", "vision", "sound", "vision_other", "sound_other", "key")


def _update(
    conn: sqlite3.Connection,
    table: str,
    before: Mapping[str, R],
    after: Mapping[str, R],
    put: str,
    row: Callable[[R], tuple[object, ...]],
) -> None:
    if after is before:
        return
    changed = [row(value) for key, value in after.items() if (old := before.get(key)) is not value and old != value]
    if changed:
        conn.executemany(put, changed)
    if gone := before.keys() - after.keys():
        conn.executemany(f"DELETE FROM {table} WHERE id = ?", [(key,) for key in sorted(gone)])


def _chosen(authored: AuthoredWorld) -> list[tuple[str, str]]:
    """Rows for what few worlds have; those without are as saves of earlier versions are."""
    rows = []
    if authored.world.templates:
        rows.append(("templates", _TEMPLATES.dump_json(dict(sorted(authored.world.templates.items()))).decode()))
    if authored.hints != ModelHints():
        rows.append(("hints", authored.hints.model_dump_json()))
    return rows


def _templates(text: str | None) -> dict[Kind, Template]:
    """A world's own templates, without those that this version has no use for in the form they have."""
    found = _TEMPLATES.validate_json(text) if text else {}
    return {kind: found[kind] for kind, parts in PARTS.items() if kind in found and len(found[kind].parts) == len(parts)}


def _meta_of(world: World) -> dict[str, str]:
    return {
        "slug": world.slug,
        "name": world.name,
        "description": world.description,
        "seed": str(world.seed),
        "now": time_text(world.now),
        "round": str(world.round),
    }


def _place_row(place: Place) -> tuple[object, ...]:
    position = f"[{place.position[0]},{place.position[1]}]" if place.position else None
    return (place.id, place.name, place.description, attributes_text(place.attributes), position)


def _portal_row(portal: Portal) -> tuple[object, ...]:
    return tuple(getattr(portal, field) for field in _PORTAL_FIELDS)


def _object_row(entity: Entity) -> tuple[object, ...]:
    return (
        entity.id,
        entity.agent,
        entity.place,
        entity.holder,
        entity.order,
        list_text(entity.factions),
        list_text(entity.goals),
        list_text(entity.habits),
        list_text(entity.voice),
        attributes_text(entity.attributes),
        mapping_text(entity.aliases),
    )


def _plain(content: str, quotes: tuple[str, ...]) -> str:
    """What the word index holds of a memory: its text and quotes without tokens and their possessive endings."""
    return " ".join(" ".join((bare(content), *quotes)).split())
