"""One new statement settled beside 10,000 that its holder knows, against reading those as they are kept (in one run, by the processor)."""

import sqlite3
import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from statistics import median

import pytest

from engine.llm.hashing import Hash768
from engine.llm.router import Router
from engine.llm.scripted import Scripted
from engine.memory.embedding import Vectors, embedded
from engine.memory.knowledge.engine import KnowledgeEngine
from engine.records.authored import AuthoredWorld
from engine.records.knowledge import NewKnowledge
from engine.records.policies import Policies
from engine.records.tokens import bare
from engine.records.world import Entity, Place, World
from engine.storage.knowledge_audit import Change
from engine.storage.store import Store

MANY, FEW, TIMES = 10_000, 100, 5
BAR = 0.5
"""Of the time that reading all of it takes. Comparing with all of it took three to five times as long as that."""
NOON = datetime(1247, 3, 1, 12)
LOOKS = ("tall", "old", "young", "thin", "stout", "scarred", "pale", "bearded", "barefoot", "grey")
THINGS = ("cask", "rope", "ledger", "lantern", "anchor", "letter", "key", "net", "coin", "barrel", "chart", "oar", "kettle", "ring", "harp")
VERBS = ("hid", "broke", "found", "carried", "lost", "burned", "mended", "counted", "stole", "painted", "buried", "weighed", "sold")
WHERE = ("mill", "pier", "well", "bridge", "forge", "ferry", "chapel", "gate", "mole", "quarry", "ford", "weir", "orchard", "tower")
PEOPLE = ("ann", "bob", "cyd", "dan")


def piece(number: int) -> NewKnowledge:
    """What Ann knows of one of four people."""
    who = PEOPLE[number % 4]
    thing, place = f"the {LOOKS[number % 10]} clerk's {THINGS[number % 15]}", WHERE[number % 14]
    text = f"{{{{e:{who}}}}} {VERBS[number % 13]} {thing} by the {place}, {number}."
    return NewKnowledge(
        owner_id="ann", scope_id="ann", subject_id=who, kind="fact", content=text, topic_key=f"matter_{number}", confidence=0.8,
        valid_from=NOON - timedelta(days=9),
    )


def embed(store: Store, conn: sqlite3.Connection, embedder: Hash768, keyed: Sequence[tuple[str, Vectors]]) -> None:
    """Keep vectors."""
    for key, vector in keyed:
        store.embeddings.put(conn, "knowledge", key, embedder.name, embedder.dim, vector.tobytes())


async def timed(work: Callable[[], Awaitable[object]]) -> float:
    """Milliseconds of the processor, all threads, the middle of some runs after a first one."""
    found = []
    for _ in range(TIMES + 1):
        began = time.process_time()
        await work()
        found.append(1000 * (time.process_time() - began))
    return median(found[1:])


@pytest.mark.benchmark
@pytest.mark.timeout(300)
async def test_a_statement_beside_ten_thousand(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    entities = {key: Entity(id=key, agent=True, place="quay", order=at) for at, key in enumerate(PEOPLE)}
    world = World(slug="q", name="q", now=NOON, places={"quay": Place(id="quay", name="the quay")}, portals={}, entities=entities)
    store = await Store.create(tmp_path / "many.db", AuthoredWorld(world=world))
    embedder, added = Hash768(), Change("added", "world", "", NOON)
    new = NewKnowledge(
        owner_id="ann", scope_id="ann", subject_id="dan", kind="fact", content="{{e:dan}} sold the boat.", confidence=0.8, valid_from=NOON
    )
    found = {}
    try:
        for count in (FEW, MANY):
            news = [piece(number) for number in range(0 if count == FEW else FEW, count)]
            vectors = await embedded(embedder, [bare(one.content) for one in news])
            rows = await store.db.write(lambda conn, n=news: [store.knowledge.add(conn, one, added) for one in n])  # type: ignore[misc]
            keyed = list(zip((row.id for row in rows), vectors, strict=True))
            await store.db.write(lambda conn, k=keyed: embed(store, conn, embedder, k))  # type: ignore[misc]
            unrelated = '{"reason":"x","against":[],"verdict":"unrelated","confidence":0.9}'
            engine = KnowledgeEngine(store, Router(Scripted([unrelated] * 99)), embedder, Policies(), lambda _: None)
            found[count] = await timed(lambda e=engine: e.settle(world, [new]))  # type: ignore[misc]
        reading = await timed(
            lambda: store.db.read(lambda conn: store.knowledge.find(conn, scope="entity", scope_id="ann", holding=True, limit=MANY))
        )
    finally:
        await store.close()
    with capsys.disabled():
        print(
            f"\na statement settled beside {FEW}: {found[FEW]:.1f} ms, beside {MANY:,}: {found[MANY]:.1f} ms of the processor; "
            f"reading those whole: {reading:.0f} ms, ratio {found[MANY] / reading:.2f} (bar {BAR})"
        )
    assert found[MANY] <= BAR * reading
