"""A house with people who talk, and a play in which they say and do what a test wants."""

import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import datetime
from pathlib import Path

import pytest

from engine.events import EngineEvent, SessionsChanged
from engine.llm.hashing import Hash768
from engine.llm.router import Router
from engine.llm.scripted import Scripted
from engine.memory.handoff.engine import HandoffEngine
from engine.memory.recall.engine import RecallEngine
from engine.records.authored import AuthoredWorld
from engine.records.intents import Intent, Verb
from engine.records.policies import Policies
from engine.records.sessions import Session, SessionPolicy, Turn
from engine.records.world import Attribute, Entity, Place, Portal, World
from engine.storage.store import Store
from engine.turns.actor import Actor
from engine.turns.decoder import Decoder
from engine.turns.referee import Referee
from engine.turns.simulation import SimulationManager

NOON = datetime(1247, 3, 1, 12)


def house() -> World:
    """Ada, Bo and Dee in the hall with a key that Ada holds; Cyd in the yard beyond an arch, Eve in the study behind a door that lets
    shouts through and turns talk to a murmur; Fay asleep in the hall."""
    asleep = {"status": Attribute(name="status", value="asleep", public=True)}
    where = {"ada": "hall", "bo": "hall", "dee": "hall", "cyd": "yard", "eve": "study", "fay": "hall"}
    people = {
        key: Entity(id=key, agent=True, place=place, order=order, attributes=asleep if key == "fay" else {})
        for order, (key, place) in enumerate(where.items())
    }
    key = Entity(id="key", place="hall", holder="ada", order=9)
    portals = [
        Portal(id="arch", name="the arch", a="hall", b="yard", vision=10, sound=10),
        Portal(id="door", name="the door", a="hall", b="study", vision=0, sound=7),
    ]
    return World(
        slug="house", name="House", now=NOON, places={p: Place(id=p, name=f"the {p}") for p in ("hall", "yard", "study")},
        portals={p.id: p for p in portals}, entities={**people, "key": key},
    )


class Scene:
    """People in a save, who say and do what they are told to."""

    def __init__(self, store: Store, world: World, policy: SessionPolicy, played: frozenset[str]) -> None:
        self.store, self.events = store, list[EngineEvent]()
        router, policies, embedder = Router(Scripted()), Policies(), Hash768()
        actor = Actor(store, router, RecallEngine(store, embedder, policies), policies)
        handoff = HandoffEngine(store, router, embedder, policies, self.events.append)
        self.simulation = SimulationManager(
            store, world, actor, Decoder(router), Referee(router), handoff, self.events.append, sessions=policy
        )
        self.simulation.played = played

    async def act(self, *intents: Intent) -> None:
        """One beat."""
        assert await self.simulation.act(intents[0].actor, "prose", intents)

    async def say(self, who: str, words: str, *to: str, verb: Verb = "say") -> None:
        """One beat of speech."""
        await self.act(Intent(type="dialogue", verb=verb, text=words, actor=who, targets=to))

    async def do(self, who: str, summary: str, *to: str, verb: Verb) -> None:
        """One beat of a deed."""
        await self.act(Intent(type="action", verb=verb, text="I do.", summary=summary, actor=who, targets=to))

    async def sessions(self) -> dict[tuple[str, str], Session]:
        """The open session of each pair."""
        found = await self.store.db.read(lambda conn: self.store.sessions.find(conn, statuses=("open", "collapsing")))
        return {(session.agent_id, session.actor_id): session for session in found}

    async def turns(self, agent: str, actor: str) -> list[Turn]:
        """The turns of a pair's open session; none when there is none."""

        def read(conn: sqlite3.Connection) -> list[Turn]:
            session = self.store.sessions.open_of(conn, agent, actor)
            return self.store.sessions.turns(conn, session.id) if session else []

        return await self.store.db.read(read)

    async def told(self) -> dict[tuple[str, str], list[str]]:
        """Role and content of each turn, by pair; the hint, too, where there is one."""
        return {
            pair: [f"{turn.role}: {turn.content}{f' ({turn.hint})' if turn.hint else ''}" for turn in await self.turns(*pair)]
            for pair in await self.sessions()
        }

    def changed(self) -> list[tuple[str, ...]]:
        """The sessions that were told of as changed, event by event."""
        return [event.session_ids for event in self.events if isinstance(event, SessionsChanged)]


Begin = Callable[..., Awaitable[Scene]]


@pytest.fixture
async def begin(tmp_path: Path) -> AsyncIterator[Begin]:
    """Opens scenes: in which pairs there are sessions, and who is played."""
    opened: list[Store] = []

    async def run(pairs: str = "all", *played: str, world: World | None = None, **policy: object) -> Scene:
        here = world or house()
        store = await Store.create(tmp_path / f"{len(opened)}.db", AuthoredWorld(world=here))
        opened.append(store)
        return Scene(store, here, SessionPolicy.model_validate({"pairs": pairs, **policy}), frozenset(played))

    yield run
    for store in opened:
        await store.close()
