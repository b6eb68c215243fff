"""A save in which people know things, and ways to let them learn more."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from engine.events import EngineEvent
from engine.llm.hashing import Hash768
from engine.llm.router import Router
from engine.llm.scripted import Reply, Scripted
from engine.memory.knowledge.checking import Checker
from engine.memory.knowledge.placing import Origin, Placed, place
from engine.memory.knowledge.promoting import commit
from engine.memory.knowledge.promotion import Promoter
from engine.memory.knowledge.settler import Settler
from engine.records.authored import AuthoredWorld
from engine.records.knowledge import AuditRow, Knowledge, NewKnowledge, PromotionPolicy, PromotionRun
from engine.records.tokens import token
from engine.records.world import World
from engine.storage.knowledge_audit import Change
from engine.storage.store import Store

if TYPE_CHECKING:
    from tests.engine.memory.conftest import Inn

BRYN, GARETH, TOM, ODO, ANSA = "en_bryn", "en_stranger", "en_sailor", "en_monk", "en_smith"
G = token(GARETH)


def verdict(word: str, *against: str, confidence: float = 0.9) -> str:
    """A reply to task `validate`."""
    return json.dumps({"reason": "It is so.", "against": list(against), "verdict": word, "confidence": confidence})


class Minds:
    """A real save with settling over it whose model replies by script."""

    def __init__(self, store: Store, world: World) -> None:
        self.store, self.world = store, world
        self.events: list[EngineEvent] = []
        self.model = Scripted()
        self.embedder = Hash768()
        self.policy = PromotionPolicy()

    def ago(self, hours: float) -> datetime:
        """World time, so many hours before now."""
        return self.world.now - timedelta(hours=hours)

    def new(self, content: str, hours: float = 0.0, **more: Any) -> NewKnowledge:
        """What Bryn learned about Gareth, `hours` ago."""
        values: dict[str, Any] = {
            "owner_id": BRYN, "subject_id": GARETH, "kind": "fact", "content": content, "confidence": 0.8, "valid_from": self.ago(hours),
        } | more
        scope, owner = values.get("scope", "entity"), values["owner_id"]
        values.setdefault("scope_id", owner if scope == "entity" else "")
        return NewKnowledge(**values)

    def script(self, *replies: Reply) -> Router:
        """A router whose model replies so, in order."""
        self.model = Scripted(replies)
        return Router(self.model)

    def settler(self, *replies: Reply) -> Settler:
        return Settler(self.store, self.embedder, Checker(self.script(*replies), self.events.append), self.policy)

    async def learn(self, *news: NewKnowledge, replies: Sequence[Reply] = (), at: datetime | None = None) -> Placed:
        """Settle new knowledge and write it."""
        settlement = await self.settler(*replies).settle(self.world, news)
        origin = Origin("collapse", at or max(new.valid_from for new in news), "col-000001")
        return await self.store.db.write(
            lambda conn: place(conn, self.store, settlement, origin, self.embedder.name, self.embedder.dim)
        )

    def promoter(self, *replies: Reply) -> Promoter:
        return Promoter(self.store, self.embedder, Checker(self.script(*replies), self.events.append), self.policy)

    async def promote(self, *replies: Reply) -> PromotionRun | None:
        """Promote what there is to be promoted, due or not."""
        promotion = await self.promoter(*replies).propose(self.world)
        if promotion is None:
            return None
        return await self.store.db.write(lambda conn: commit(conn, self.store, self.world, promotion))

    async def add(self, *news: NewKnowledge) -> list[Knowledge]:
        """Write knowledge as it is."""
        def run(conn: Any) -> list[Knowledge]:
            return [self.store.knowledge.add(conn, new, Change("added", "world", "", new.valid_from)) for new in news]

        return await self.store.db.write(run)

    async def rows(self, holding: bool | None = None) -> list[Knowledge]:
        """All knowledge, in order of writing."""
        return await self.store.db.read(lambda conn: self.store.knowledge.find(conn, holding=holding))

    async def row(self, key: str) -> Knowledge:
        """One piece as it is now."""
        [found] = await self.store.db.read(lambda conn: self.store.knowledge.get(conn, [key]))
        return found

    async def held(self, entity: str) -> list[str]:
        """What somebody believes now."""
        factions = self.world.entities[entity].factions
        return [row.content for row in await self.store.db.read(lambda conn: self.store.knowledge.held_by(conn, entity, factions))]

    async def audit(self, **filters: Any) -> list[AuditRow]:
        """The audit trail, oldest first."""
        return (await self.store.db.read(lambda conn: self.store.audit.find(conn, **filters)))[::-1]

    async def at_round(self, number: int) -> None:
        """Let the world be in a round."""
        after = self.world.model_copy(update={"round": number})
        await self.store.db.write(lambda conn: self.store.worlds.update(conn, self.world, after))
        self.world = after

    async def later(self, hours: float) -> None:
        """Let time pass in the world."""
        after = self.world.model_copy(update={"now": self.world.now + timedelta(hours=hours)})
        await self.store.db.write(lambda conn: self.store.worlds.update(conn, self.world, after))
        self.world = after


@pytest.fixture
async def minds(inn: Inn, tmp_path: Path) -> AsyncIterator[Minds]:
    world = inn.world()
    for entity in (BRYN, TOM):
        world = inn.changed(world, entity, factions=("harbour",))
    store = await Store.create(tmp_path / "minds.db", AuthoredWorld(world=world))
    yield Minds(store, world)
    await store.close()


@pytest.fixture(scope="session")
def says() -> Callable[..., str]:
    """Builds replies to task `validate`."""
    return verdict
