"""What is true of knowledge whatever is learned, promoted, forgotten or done by hand, in whatever order."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import CommandError
from engine.llm.scripted import Scripted
from engine.memory.knowledge import by_hand, membership, review
from engine.memory.knowledge.by_hand import KnowledgeEdit
from engine.memory.knowledge.conflict import CONTRADICTS, core
from engine.memory.knowledge.lifecycle import Uses, reinforce, sweep
from engine.memory.knowledge.settling import stands_to
from engine.records.authored import AuthoredWorld
from engine.records.knowledge import Knowledge, LifecyclePolicy, PromotionPolicy
from engine.records.tokens import token
from engine.storage.store import Store
from tests.engine.memory.knowledge.conftest import BRYN, ODO, TOM, Minds, verdict

if TYPE_CHECKING:
    from tests.engine.memory.conftest import Inn

G = token("en_stranger")
MINDS = (BRYN, TOM, ODO)
TOLD = {
    "boat": ["owns a boat", "sold the boat", "owns a red boat", "no longer owns a boat", "has a boat"],
    "service": ["serves the Duke", "serves the Queen", "no longer serves the Duke"],
    "health": ["is sick", "is healthy", "is not sick"],
    "debt": ["owes the harbour master forty crowns", "owes the harbour master fifty crowns"],
    "dark": ["killed the ferryman", "hides a secret"],
}
STATEMENTS = st.sampled_from([(topic, f"{G} {text}.") for topic, texts in TOLD.items() for text in texts])
INDEX, MIND = st.integers(0, 30), st.sampled_from(MINDS)
SCOPE = st.sampled_from([("entity", BRYN), ("entity", ODO), ("faction", "harbour"), ("faction", "guild"), ("world", "")])
STEPS = st.one_of(
    st.tuples(st.just("learn"), st.tuples(MIND, st.lists(st.tuples(STATEMENTS, st.booleans(), st.floats(0, 1)), min_size=1, max_size=3))),
    st.tuples(st.just("promote"), st.sampled_from(["entity", "faction", "world"])),
    st.tuples(st.just("add"), st.tuples(MIND, STATEMENTS, SCOPE)),
    st.tuples(st.just("edit"), st.tuples(INDEX, STATEMENTS, st.none() | st.floats(0, 1))),
    st.tuples(st.just("rescope"), st.tuples(INDEX, SCOPE)),
    st.tuples(st.sampled_from(["delete", "restore", "reverse", "use"]), INDEX),
    st.tuples(st.sampled_from(["approve", "reject"]), INDEX),
    st.tuples(st.just("factions"), st.tuples(MIND, st.lists(st.sampled_from(["harbour", "guild"]), unique=True))),
    st.tuples(st.just("time"), st.sampled_from([1, 8, 200])),
    st.tuples(st.just("sweep"), st.none()),
)
VERDICTS = st.lists(st.tuples(st.sampled_from(["supported", "contradicted", "unrelated"]), st.sampled_from(["K1", "K2", "K9"])), min_size=1)


@settings(max_examples=60, deadline=None)
@given(st.lists(STEPS, min_size=4, max_size=24), VERDICTS)
def test_knowledge_keeps_its_promises(inn: Inn, steps: list[tuple[str, Any]], verdicts: list[tuple[str, str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_play(inn, Path(folder) / "minds.db", steps, verdicts))


@settings(max_examples=10, deadline=None)
@given(st.lists(STEPS, min_size=4, max_size=16), VERDICTS)
def test_the_same_steps_give_the_same_save(inn: Inn, steps: list[tuple[str, Any]], verdicts: list[tuple[str, str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        one, other = (asyncio.run(_play(inn, Path(folder) / f"{name}.db", steps, verdicts)) for name in ("one", "other"))
    assert one == other


async def _play(inn: Inn, path: Path, steps: Sequence[tuple[str, Any]], verdicts: Sequence[tuple[str, str]]) -> list[Any]:
    world = inn.world()
    for entity in (BRYN, TOM):
        world = inn.changed(world, entity, factions=("harbour",))
    store = await Store.create(path, AuthoredWorld(world=world))
    minds = _Played(store, world, verdicts)
    try:
        for step, value in steps:
            before = await minds.seen()
            try:
                await minds.do(step, value)
            except CommandError:
                assert await minds.everything() == before.rows, f"a refused {step} changed something"
            await minds.check(step, value, before)
        return await minds.everything()
    finally:
        await store.close()


class _Seen:
    def __init__(self, rows: list[Any], held: dict[str, dict[str, str]]) -> None:
        self.rows, self.held = rows, held


class _Played(Minds):
    """A save that steps are played in."""

    def __init__(self, store: Store, world: Any, verdicts: Sequence[tuple[str, str]]) -> None:
        super().__init__(store, world)
        self._verdicts, self._asked = verdicts, 0
        self.could_know: dict[str, set[frozenset[str]]] = {entity: set() for entity in MINDS}
        """What each could know at some time, by scope: the words of it, since two rows that say the same may become one."""

    def script(self, *replies: Any) -> Any:
        router = super().script()
        self.model = Scripted([lambda _: self._reply()] * 500)
        router.reroute(self.model)
        return router

    def _reply(self) -> str:
        word, handle = self._verdicts[self._asked % len(self._verdicts)]
        self._asked += 1
        return verdict(word, handle)

    async def do(self, step: str, value: Any) -> None:
        world, store = self.world, self.store
        rows = await self.rows()
        match step:
            case "learn":
                owner, told = value
                news = [
                    self.new(text, owner_id=owner, topic_key=topic if keyed else "", confidence=sure)
                    for (topic, text), keyed, sure in told
                ]
                await self.learn(*news, at=world.now)
            case "promote":
                self.policy = PromotionPolicy(scope=value)
                await self.promote()
            case "add":
                owner, (topic, text), holder = value
                new = by_hand.draft(world, owner, text, holder=holder, topic=topic)
                await store.db.write(lambda conn: by_hand.add(conn, store, world, new))
            case "edit":
                at, (_, text), sure = value
                change = KnowledgeEdit(content=text, confidence=sure)
                await store.db.write(lambda conn: by_hand.edit(conn, store, world, self._key(rows, at), change))
            case "rescope":
                await store.db.write(lambda conn: review.rescope(conn, store, world, self._key(rows, value[0]), value[1]))
            case "delete":
                await store.db.write(lambda conn: by_hand.delete(conn, store, world, self._key(rows, value)))
            case "restore":
                await store.db.write(lambda conn: by_hand.restore(conn, store, world, f"kno-{value + 1:06d}"))
            case "reverse":
                await store.db.write(lambda conn: review.reverse(conn, store, world, f"kno-{value + 1:06d}"))
            case "approve":
                await store.db.write(lambda conn: review.approve(conn, store, world, self._key(rows, value), self.policy))
            case "reject":
                await store.db.write(lambda conn: review.reject(conn, store, world, self._key(rows, value)))
            case "use":
                await store.db.write(lambda conn: reinforce(conn, store, {self._key(rows, value): Uses(2, world.now)}))
            case "factions":
                self.world = (await store.db.write(lambda conn: membership.change(conn, store, world, *value))).world
            case "time":
                await self.at_round(world.round + 1)
                await self.later(value)
            case "sweep":
                await store.db.write(lambda conn: sweep(conn, store, world, LifecyclePolicy()))

    def _key(self, rows: Sequence[Knowledge], at: int) -> str:
        return rows[at % len(rows)].id if rows else "kno-999999"

    async def everything(self) -> list[Any]:
        """All rows of the tables of knowledge."""
        tables = ("knowledge", "knowledge_versions", "knowledge_keepers", "audit", "review_queue", "promotion_runs", "embeddings")
        return await self.store.db.read(lambda conn: [conn.execute(f"SELECT * FROM {one} ORDER BY 1, 2").fetchall() for one in tables])

    async def seen(self) -> _Seen:
        held = {entity: await self._held(entity) for entity in MINDS}
        return _Seen(await self.everything(), held)

    async def _held(self, entity: str) -> dict[str, str]:
        factions = self.world.entities[entity].factions
        return {row.id: row.content for row in await self.store.db.read(lambda conn: self.store.knowledge.held_by(conn, entity, factions))}

    async def check(self, step: str, value: Any, before: _Seen) -> None:
        rows = await self.rows()
        believed = [row for row in rows if row.holds]
        for row in rows:
            assert 0 <= row.confidence <= 1
            assert row.valid_to is None or row.valid_to >= row.valid_from
        for row in believed:  # nobody believes two things that cannot both hold
            for other in believed:
                if row.id < other.id and (row.scope, row.scope_id) == (other.scope, other.scope_id):
                    assert stands_to(row, other) not in CONTRADICTS, (step, value, row.content, other.content)
        await self._check_past(rows)
        await self._check_scopes(step, value, believed, before)

    async def _check_past(self, rows: Sequence[Knowledge]) -> None:
        """Every change has its version and its audit row."""
        found = await self.store.db.read(lambda conn: {row.id: self.store.knowledge.versions(conn, row.id) for row in rows})
        for row in rows:
            versions = found[row.id]
            assert [one.version for one in versions] == list(range(1, row.version))
            audit = await self.audit(knowledge=row.id, limit=1_000)
            assert len(audit) >= len(versions) + 1 - sum(one.action == "restored" for one in audit)
            assert audit[0].action in ("added", "promoted")

    async def _check_scopes(self, step: str, value: Any, believed: Sequence[Knowledge], before: _Seen) -> None:
        for entity in MINDS:
            held = await self._held(entity)
            factions = self.world.entities[entity].factions
            by_scope = {
                row.id: row.content for row in believed
                if row.scope == "world" or (row.scope == "entity" and row.scope_id == entity)
                or (row.scope == "faction" and row.scope_id in factions)
            }  # fmt: skip
            self.could_know[entity] |= set(map(core, by_scope.values()))
            assert by_scope.items() <= held.items(), "who is in a scope knows what it holds"
            assert set(map(core, held.values())) <= self.could_know[entity], "nobody knows what they never could"
            if step == "factions" and value[0] == entity:
                assert before.held[entity].items() <= held.items(), "who leaves keeps what they knew"
            elif step in ("learn", "add") and value[0] != entity and (step == "learn" or value[2] == ("entity", value[0])):
                assert held == before.held[entity], "what one learns for oneself changes nobody else"
