"""An inn with a handful of minds, and ways to fill their memories."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.errors import ModelError
from engine.events import EngineEvent
from engine.llm.hashing import Hash768
from engine.llm.protocol import Completion, Embedder, Heard, LanguageModel, ModelRequest, Usage
from engine.llm.router import Router
from engine.llm.scripted import Reply, Scripted
from engine.memory.handoff.engine import HandoffEngine
from engine.memory.text import plain
from engine.records.authored import AuthoredWorld
from engine.records.base import BufferId, EntityId
from engine.records.intents import Intent, Outcome
from engine.records.memory import BufferEntry, Grasp, HandoffRun, LedgerEntry, NewBufferEntry, NewLedgerEntry, Pin
from engine.records.policies import HandoffPolicy, Policies
from engine.records.review import Verdict
from engine.records.world import Attribute, Entity, Place, Portal, World
from engine.storage.store import Store

NOW = datetime(1247, 3, 1, 18, 0)
PEOPLE = ("en_bryn", "en_stranger", "en_sailor", "en_monk", "en_smith")


def _entity(key: str, order: int, name: str, label: str, **more: Any) -> Entity:
    attributes = {
        "name": Attribute(name="name", value=name, known_to=(key,)),
        "label": Attribute(name="label", value=label, public=True),
    }
    return Entity(id=key, agent=True, place="pl_bar", order=order, attributes=attributes, **more)


class Inn:
    """The values of a small world. Bryn knows the sailor as Tom Reed; nobody else knows anybody."""

    now = NOW

    def world(self, **changed: Any) -> World:
        """Five agents in the bar, a cellar below it, a quay outside, a lantern."""
        minds = [
            _entity("en_bryn", 0, "Bryn Harrow", "the innkeeper", aliases={"en_sailor": "Tom Reed"}),
            _entity("en_stranger", 1, "Gareth Vale", "the wet stranger"),
            _entity("en_sailor", 2, "Tom Reed", "the tall sailor"),
            _entity("en_monk", 3, "Brother Odo", "the quiet monk"),
            _entity("en_smith", 4, "Ansa Pike", "the sooty smith"),
        ]
        lantern = Entity(
            id="th_lantern", place="pl_bar", order=9,
            attributes={"label": Attribute(name="label", value="the brass lantern", public=True)},
        )
        places = [Place(id="pl_bar", name="the taproom"), Place(id="pl_cellar", name="the cellar"), Place(id="pl_quay", name="the quay")]
        portal = Portal(id="po_trap", name="the trap door", a="pl_bar", b="pl_cellar", state="closed", vision=0, sound=4)
        values: dict[str, Any] = {
            "slug": "inn", "name": "The Inn", "seed": 5, "now": NOW, "round": 20, "places": {p.id: p for p in places},
            "portals": {portal.id: portal}, "entities": {e.id: e for e in (*minds, lantern)},
        }
        return World(**(values | changed))

    def moved(self, world: World, entity: EntityId, place: str) -> World:
        """The world with an entity elsewhere."""
        return self.changed(world, entity, place=place)

    def changed(self, world: World, entity: EntityId, **values: Any) -> World:
        """The world with an entity changed."""
        one = world.entities[entity].model_copy(update=values)
        return world.model_copy(update={"entities": {**world.entities, entity: one}})

    def with_status(self, world: World, entity: EntityId, status: str) -> World:
        """The world with an entity asleep, say."""
        attributes = {**world.entities[entity].attributes, "status": Attribute(name="status", value=status, public=True)}
        return self.changed(world, entity, attributes=attributes)

    def said(self, text: str, ago: float = 120, *, by: EntityId = "en_stranger", to: Sequence[EntityId] = ("en_bryn",),
             **more: Any) -> NewBufferEntry:  # fmt: skip
        """Somebody spoke, `ago` minutes before now."""
        intent = Intent(type="dialogue", verb="say", text=text, actor=by, targets=tuple(to), place=more.get("place", "pl_bar"))
        return self._new(intent, ago, None, **more)

    def did(self, summary: str, ago: float = 120, *, by: EntityId = "en_stranger", to: Sequence[EntityId] = (),
            **more: Any) -> NewBufferEntry:  # fmt: skip
        """Somebody did something, `ago` minutes before now."""
        intent = Intent(type="action", summary=summary, actor=by, targets=tuple(to), place=more.get("place", "pl_bar"))
        return self._new(intent, ago, Outcome(is_valid=True), **more)

    def thought(self, text: str, ago: float = 120, *, by: EntityId = "en_bryn", **more: Any) -> NewBufferEntry:
        """Its owner thought something, `ago` minutes before now."""
        return self._new(Intent(type="monologue", verb="think", text=text, actor=by, place="pl_bar"), ago, None, **more)

    def _new(
        self, intent: Intent, ago: float, outcome: Outcome | None, *, owner: EntityId = "en_bryn", pinned: Pin = "none",
        place: str = "pl_bar", heard_in: str | None = None, grasp: Grasp = "full", round_: int = 15,
    ) -> NewBufferEntry:
        return NewBufferEntry(
            owner_id=owner, timestamp=NOW - timedelta(seconds=int(ago * 60)), location_id=heard_in or place, round=round_, intent=intent,
            outcome=outcome, grasp=grasp, pinned=pinned,
        )

    def numbered(self, entries: Sequence[NewBufferEntry]) -> list[BufferEntry]:
        """Entries as storage would give them back."""
        return [BufferEntry(id=f"buf-{n:06d}", seq=n, **entry.model_dump()) for n, entry in enumerate(entries, 1)]

    def talk(self, count: int, *, oldest: float = 240, newest: float = 60, **more: Any) -> list[NewBufferEntry]:
        """Distinct lines of talk, evenly from `oldest` to `newest` minutes ago."""
        step = (oldest - newest) / max(1, count - 1)
        return [self.said(f"Line {_WORDS[n % len(_WORDS)]} number {n}.", oldest - n * step, **more) for n in range(count)]

    def memory(
        self, content: str, ago_hours: float, *, owner: EntityId = "en_bryn", who: Sequence[EntityId] = (), importance: int = 4,
        place: str | None = "pl_bar", quotes: Sequence[str] = (),
    ) -> NewLedgerEntry:
        """A long-term memory, `ago_hours` before now."""
        then = NOW - timedelta(hours=ago_hours)
        return NewLedgerEntry(
            owner_id=owner, timestamp=then, ended=then, location_id=place, involved_entity_ids=tuple(who), content=content,
            quotes=tuple(quotes), importance=importance,
        )


_WORDS = ("anchor", "barrel", "candle", "drum", "ember", "fog", "gull", "harbour", "iron", "jetty", "kelp", "ladder", "mast", "net",
          "oar", "plank", "quill", "rope", "salt", "tide")  # fmt: skip


def chunk(sources: Sequence[str], content: str, **more: Any) -> dict[str, Any]:
    """One chunk on the wire."""
    return {
        "sourceEntryIds": list(sources), "content": content, "quotes": [], "importance": 5, "involvedEntityIds": [],
        "retainInBuffer": False,
    } | more


def reply(*chunks: dict[str, Any]) -> str:
    """A whole reply on the wire."""
    return json.dumps({"chunks": list(chunks)})


class Broken:
    """An embedder that works until a given text of its life, then does what it is told."""

    meaning, same, merge = 0.3, 0.94, 0.94

    def __init__(self, spoil: str, after: int = 0) -> None:
        self._inner, self._spoil, self._left = Hash768(), spoil, after

    @property
    def name(self) -> str:
        return "hash768"

    @property
    def dim(self) -> int:
        return self._inner.dim

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = await self._inner.embed(texts)
        self._left -= len(texts)
        if self._left >= 0:
            return vectors
        if self._spoil == "error":
            raise ModelError("The embedder is gone.")
        if self._spoil == "nan":
            vectors[-1, 3] = np.nan
        elif self._spoil == "zero":
            vectors[-1] = 0.0
        elif self._spoil == "short":
            return vectors[:-1]
        elif self._spoil == "narrow":
            return vectors[:, :100]
        return vectors


class Thinking:
    """A model that does something before it replies."""

    name = "thinking"

    def __init__(self, think: Callable[[ModelRequest], Awaitable[str]], window: int) -> None:
        self._think, self.context_window, self.small = think, window, False

    def count_tokens(self, text: str) -> int:
        return len(text) // 4

    async def complete(self, request: ModelRequest, heard: Heard | None = None) -> Completion:
        return Completion(text=await self._think(request), model=self.name, usage=Usage(prompt_tokens=1, reply_tokens=1))



class Desk:
    """A real save with a handoff engine over it whose model replies by script."""

    def __init__(self, inn: Inn, store: Store, world: World) -> None:
        self.inn, self.store, self.world = inn, store, world
        self.events: list[EngineEvent] = []
        self.model = Scripted()
        self.embedder: Embedder = Hash768()

    def engine(self, *replies: Reply, policy: HandoffPolicy | None = None, window: int = 8192, embedder: Embedder | None = None,
               actor_window: int = 8192) -> HandoffEngine:  # fmt: skip
        """An engine whose handoff calls are answered in order by `replies`."""
        self.model = Scripted(replies, context_window=window)
        router = Router(self.model, {"actor": Scripted(context_window=actor_window)})
        policies = Policies(handoff=policy or HandoffPolicy())
        return HandoffEngine(self.store, router, embedder or self.embedder, policies, self.events.append)

    def thinking(
        self, think: Callable[[ModelRequest], Awaitable[str]], policy: HandoffPolicy | None = None, window: int = 8192
    ) -> HandoffEngine:
        """An engine whose model does something before it replies."""
        model: LanguageModel = Thinking(think, window)
        policies = Policies(handoff=policy or HandoffPolicy())
        return HandoffEngine(self.store, Router(model), self.embedder, policies, self.events.append)

    async def old_pool(self) -> None:
        """Four candidates behind eight protected entries; the owner has left the room."""
        await self.fill([
            self.inn.said("Have you a room? The harbour master is after me.", 300),
            self.inn.did("set a mug before {{e:en_stranger}}", 299, by="en_bryn", to=("en_stranger",)),
            self.inn.thought("She is running.", 298),
            self.inn.did("wiped the counter", 297, by="en_bryn"),
            *self.inn.talk(8, oldest=290, newest=280),
        ])  # fmt: skip
        self.world = self.inn.moved(self.world, "en_bryn", "pl_quay")

    async def fill(self, entries: Sequence[NewBufferEntry]) -> list[BufferEntry]:
        """Write entries into buffers."""
        return await self.store.db.write(lambda conn: [self.store.buffer.add(conn, entry) for entry in entries])

    async def remember(self, entries: Sequence[NewLedgerEntry]) -> list[LedgerEntry]:
        """Write ledger entries, without vectors."""
        add = self.store.ledger.add
        return await self.store.db.write(lambda conn: [add(conn, e, (), plain(e.content, e.quotes)) for e in entries])

    async def buffer(self, owner: EntityId = "en_bryn") -> list[BufferEntry]:
        """A buffer as it is now."""
        return await self.store.db.read(lambda conn: self.store.buffer.of_owner(conn, owner))

    async def ledger(self, owner: EntityId = "en_bryn") -> list[LedgerEntry]:
        """A ledger as it is now."""
        return await self.store.db.read(lambda conn: self.store.ledger.of_owner(conn, owner))

    async def sources(self, key: str) -> tuple[BufferId, ...]:
        """What a ledger entry was made of."""
        return await self.store.db.read(lambda conn: self.store.ledger.sources(conn, key))

    async def pin(self, key: BufferId, pin: Pin) -> None:
        """Set a pin as a hand would."""
        await self.store.db.write(lambda conn: self.store.buffer.set_pin(conn, key, pin))

    async def asked(self, *replies: Reply, policy: HandoffPolicy | None = None) -> HandoffEngine:
        """An engine with review on whose first round has left a proposal over the old pool."""
        await self.old_pool()
        engine = self.engine(*replies, policy=policy or HandoffPolicy(review="ask"))
        assert await engine.run_all(self.world) == ()
        assert await engine.review.pending_of("en_bryn") is not None
        return engine

    async def going_on(self, *replies: Reply) -> HandoffEngine:
        """An engine with review on whose first proposal was accepted, and whose second waits over what it left pinned and more."""
        engine = await self.asked(*replies)
        await judged(engine, "accepted")
        await engine.review.finish(self.world, "en_bryn")
        await self.fill(self.inn.talk(5, oldest=279, newest=270))
        assert await engine.run_all(self.world) == ()
        assert await engine.review.pending_of("en_bryn") is not None
        return engine

    async def runs(self, owner: EntityId = "en_bryn") -> list[HandoffRun]:
        """Handoffs so far, newest first."""
        return await self.store.db.read(lambda conn: self.store.handoffs.of_owner(conn, owner))

    async def rows(self) -> dict[str, list[tuple[Any, ...]]]:
        """All rows that a handoff may touch but the record of runs."""
        tables = ("buffer_entries", "buffer_archive", "ledger_entries", "ledger_sources", "ledger_involved_entities", "embeddings")
        return await self.store.db.read(lambda conn: {t: conn.execute(f"SELECT * FROM {t} ORDER BY 1, 2").fetchall() for t in tables})

    async def whereabouts(self, owner: EntityId = "en_bryn") -> dict[BufferId, list[str]]:
        """Where each entry ever written is: a conserved save has exactly one place for each."""
        archived = await self.store.db.read(lambda conn: self.store.buffer.archived(conn, owner))
        found: dict[BufferId, list[str]] = {}
        for entry in await self.buffer(owner):
            found.setdefault(entry.id, []).append("buffer")
        for gone in archived:
            found.setdefault(gone.entry.id, []).append(gone.fate)
        return found


async def judged(engine: HandoffEngine, *verdicts: Verdict) -> None:
    """Say of each chunk of what waits in Bryn what is to become of it."""
    for index, verdict in enumerate(verdicts):
        await engine.review.judge("en_bryn", index, verdict)


@pytest.fixture(scope="session")
def inn() -> Inn:
    return Inn()


@pytest.fixture
async def desk(inn: Inn, tmp_path: Path) -> AsyncIterator[Desk]:
    world = inn.world()
    store = await Store.create(tmp_path / "inn.db", AuthoredWorld(world=world))
    yield Desk(inn, store, world)
    await store.close()


@pytest.fixture(scope="session")
def wire() -> Any:
    """Builds replies: `wire.chunk(...)`, `wire.reply(...)`, `wire.broken(...)`; judges what waits: `wire.judged(...)`."""

    class Wire:
        chunk = staticmethod(chunk)
        reply = staticmethod(reply)
        broken = Broken
        desk = Desk
        judged = staticmethod(judged)

    return Wire
