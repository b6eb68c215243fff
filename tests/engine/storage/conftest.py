"""A small world and ways to fill a save with it."""

import sqlite3
from collections.abc import AsyncIterator, Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from engine.records.authored import AuthoredWorld, LoreItem
from engine.records.intents import Intent, Outcome
from engine.records.memory import HandoffRun, NewBufferEntry, NewLedgerEntry
from engine.records.policies import HandoffPolicy, Policies
from engine.records.world import Attribute, Entity, Place, Portal, World
from engine.storage.store import Store

START = datetime(1247, 3, 1, 18, 5)


class Samples:
    """Values of a small world, each with what a test wants to vary."""

    start = START

    def world(self) -> World:
        dark = Attribute(name="light", value="dark", public=True)
        name = Attribute(name="name", value="Bob Harrow", known_to=("bob", "mira"))
        return World(
            slug="inn",
            name="The Inn",
            description="An inn.\nBy the sea.",
            seed=2**40,
            now=START,
            places={
                "bar": Place(id="bar", name="the bar", position=(2, -1)),
                "cellar": Place(id="cellar", name="the cellar", attributes={"light": dark}),
            },
            portals={
                "trap": Portal(
                    id="trap", name="the trap door", a="bar", b="cellar", state="closed", vision=0, sound=4, sound_other=9, key="key"
                ),
                "chute": Portal(id="chute", name="the chute", a="bar", b="cellar", one_way=True),
            },
            entities={
                "mira": Entity(id="mira", agent=True, place="cellar", order=2, goals=("find {{e:bob}}",)),
                "bob": Entity(
                    id="bob",
                    agent=True,
                    place="bar",
                    order=1,
                    factions=("harbour",),
                    habits=("hums",),
                    voice=('"Aye."',),
                    attributes={"name": name, "appearance": Attribute(name="appearance", value="a [tall] man", public=True)},
                    aliases={"mira": "the wet stranger"},
                ),
                "key": Entity(id="key", place="bar", holder="bob"),
            },
        )

    def authored(self) -> AuthoredWorld:
        return AuthoredWorld(
            world=self.world(),
            policies=Policies(handoff=HandoffPolicy(floor=3)),
            lore=(
                LoreItem(id="z", text="The lantern is old.", keys=("lantern", "light")),
                LoreItem(id="a", text="{{e:bob}} drinks.", constant=True, scope="entity", holders=("mira",)),
            ),
            buffer=(self.event(owner="bob", minutes=-30), self.event(owner="mira", minutes=-20)),
            ledger=(self.memory(content="{{e:mira}} quarrelled over {{e:bob}}'s cards.", quotes=("You cheat.",), days=-3),),
        )

    def event(self, owner: str = "bob", minutes: int = 0, text: str = "Evening.", kind: str = "dialogue") -> NewBufferEntry:
        action = kind == "action"
        return NewBufferEntry.model_validate(
            {
                "owner_id": owner,
                "timestamp": START + timedelta(minutes=minutes),
                "location_id": "bar",
                "round": max(0, minutes),
                "intent": Intent.model_validate({"type": kind, "text": text, "actor": "mira", "targets": ("bob",)}),
                "outcome": Outcome(is_valid=False, reason="It is stuck.") if action else None,
            }
        )

    def memory(
        self,
        owner: str = "bob",
        content: str = "{{e:mira}} came in.",
        quotes: tuple[str, ...] = (),
        days: float = 0,
        place: str | None = "bar",
        involved: tuple[str, ...] = ("mira", "bob"),
        importance: int = 5,
        run_id: str | None = None,
    ) -> NewLedgerEntry:
        return NewLedgerEntry(
            owner_id=owner,
            timestamp=START + timedelta(days=days),
            ended=START + timedelta(days=days, minutes=4),
            location_id=place,
            involved_entity_ids=involved,
            content=content,
            quotes=quotes,
            importance=importance,
            mode="said",
            run_id=run_id,
        )

    def run(self, owner: str = "bob", **changed: object) -> HandoffRun:
        values: dict[str, object] = {
            "id": "",
            "owner_id": owner,
            "round": 4,
            "timestamp": START,
            "trigger": "voluntary",
            "reason": "idle for 5 rounds",
            "status": "committed",
        }
        return HandoffRun.model_validate({**values, **changed})


@pytest.fixture
def samples() -> Samples:
    return Samples()


@pytest.fixture
async def store(tmp_path: Path, samples: Samples) -> AsyncIterator[Store]:
    """A save with the small world, open."""
    opened = await Store.create(tmp_path / "inn.db", samples.authored())
    yield opened
    await opened.close()


@pytest.fixture
async def filled(store: Store, samples: Samples) -> Store:
    """Bob's buffer holds buf-000001 and -3; Mira's -2; buf-000004 is archived as promoted to led-000002."""

    def fill(conn: sqlite3.Connection) -> None:
        store.buffer.add(conn, samples.event())
        gone = store.buffer.add(conn, samples.event(minutes=1))
        run = store.handoffs.add(conn, samples.run())
        memory = store.ledger.add(conn, samples.memory(run_id=run.id), [gone.id], "x")
        store.buffer.archive(conn, [gone], "promoted", run.id, {gone.id: memory.id})

    await store.db.write(fill)
    return store


@pytest.fixture
def leftovers(tmp_path: Path) -> Callable[[], list[str]]:
    """Names of the files in the folder that holds the save."""
    return lambda: sorted(file.name for file in tmp_path.iterdir())


@pytest.fixture(scope="session")
def samples_class() -> type[Samples]:
    """For tests that run many examples, each on values of its own."""
    return Samples
