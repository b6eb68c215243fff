"""A room with two people and a long buffer, for prompts."""

from collections.abc import Callable
from datetime import datetime, timedelta

import pytest

from engine.records.intents import Intent
from engine.records.memory import BufferEntry, LedgerEntry
from engine.records.world import Attribute, Entity, Place, Portal, World

NOW = datetime(1247, 3, 1, 18, 0)


@pytest.fixture
def room() -> World:
    mine = {"name": Attribute(name="name", value="Ada Finch", known_to=("ada_1",)),
            "secret": Attribute(name="secret", value="{{e:bo_1}} owes her forty crowns.", known_to=("ada_1",)),
            "label": Attribute(name="label", value="the tall cook", public=True)}
    theirs = {"name": Attribute(name="name", value="Bo Reed", known_to=("bo_1",)),
              "appearance": Attribute(name="appearance", value="An old porter with a limp.", public=True),
              "hurt": Attribute(name="hurt", value="the left knee", known_to=("bo_1", "ada_1")),
              "fear": Attribute(name="fear", value="he fears the dark", known_to=("bo_1",))}
    key = {"label": Attribute(name="label", value="the brass key", public=True)}
    entities = [
        Entity(id="ada_1", agent=True, place="pl_hall", order=0, goals=("get the money from {{e:bo_1}}",), voice=("Soup's on.",),
               attributes=mine),
        Entity(id="bo_1", agent=True, place="pl_hall", order=1, attributes=theirs),
        Entity(id="th_key", place="pl_hall", holder="ada_1", order=2, attributes=key),
    ]
    places = [Place(id="pl_hall", name="the hall", description="Stone\nand smoke."), Place(id="pl_quay", name="the quay")]
    portals = [Portal(id="po_1", name="the arch", a="pl_hall", b="pl_quay", state="closed", vision=0, sound=3)]
    return World(slug="room", name="Room", now=NOW, places={p.id: p for p in places}, portals={p.id: p for p in portals},
                 entities={e.id: e for e in entities})


def _entry(number: int, words: str, minutes: int) -> BufferEntry:
    intent = Intent(type="dialogue", verb="say", text=words, actor="bo_1", targets=("ada_1",))
    return BufferEntry(id=f"buf-{number:06}", seq=number, owner_id="ada_1", timestamp=NOW - timedelta(minutes=minutes),
                       location_id="pl_hall", round=1, intent=intent)


def _memory(number: int, content: str, days: int) -> LedgerEntry:
    at = NOW - timedelta(days=days)
    return LedgerEntry(id=f"led-{number:06}", seq=number, owner_id="ada_1", timestamp=at, ended=at, location_id="pl_hall",
                       content=content, quotes=("You cheat.",), importance=5)


@pytest.fixture
def entry() -> Callable[[int, str, int], BufferEntry]:
    """Makes what Bo said to Ada so many minutes ago."""
    return _entry


@pytest.fixture
def memory() -> Callable[[int, str, int], LedgerEntry]:
    """Makes a memory of Ada's from so many days ago."""
    return _memory
