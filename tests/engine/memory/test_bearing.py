"""What of a mind's knowledge bears on a moment, by whom, by words, by meaning and by decision; and whose it is."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.errors import ModelError
from engine.llm.hashing import Hash768
from engine.memory.knowledge.nearness import by_share
from engine.memory.lore import bearing_on
from engine.memory.recall.bearing import LIMIT, Asked, bearing, told
from engine.memory.recall.holdings import Holdings, holding_of, stems
from engine.memory.recall.knowledge import KnowledgeTier, Moment
from engine.memory.recall.once import Once
from engine.memory.recall.query import plain_query
from engine.records.authored import AuthoredWorld, LoreItem
from engine.records.knowledge import Knowledge, NewKnowledge
from engine.storage.knowledge_audit import Change
from engine.storage.store import Store
from tests.engine.memory.conftest import NOW

if TYPE_CHECKING:
    from pathlib import Path

    from tests.engine.memory.conftest import Desk, Inn

BRYN, GARETH = "en_bryn", "en_stranger"
G, B = "{{e:en_stranger}}", "{{e:en_bryn}}"
EAST, NORTH = np.array([1, 0], dtype=np.float32), np.array([0, 1], dtype=np.float32)


def row(number: int, content: str, **more: Any) -> Knowledge:
    values: dict[str, Any] = {
        "id": f"kno-{number:06}", "seq": number, "owner_id": BRYN, "kind": "fact", "content": content, "scope_id": BRYN, "confidence": 0.8,
        "valid_from": NOW, "created": NOW, "created_round": 1, "updated": NOW, "updated_round": 1,
    }
    return Knowledge(**(values | more))


def asked(text: str = "", *, here: Sequence[str] = (), focus: Sequence[str] = (), dense: Any = None, **more: Any) -> Asked:
    return Asked(BRYN, focus, here, plain_query(text).terms, dense, NOW, 0.3, 0.5, **more)


def ways(rows: Sequence[Knowledge], put: Asked, **vectors: Any) -> dict[str, tuple[str, ...]]:
    """By content how each piece that came to mind was found."""
    blobs = {key: value.tobytes() for key, value in vectors.items()}
    chosen, _ = bearing(holding_of(rows, {key.replace("_", "-"): value for key, value in blobs.items()}, 2), put)
    return {line.text: line.found_by for line in chosen}


def test_each_way_by_itself() -> None:
    rows = [row(1, f"{G} limps."), row(2, "The mill burned down."), row(3, "Kings are buried upright.")]
    assert ways(rows, asked()) == {}
    assert ways(rows, asked(here=[GARETH])) == ways(rows, asked(focus=[GARETH])) == {f"{G} limps.": ("people",)}
    assert ways(rows, asked("Have you been to the mill?")) == {"The mill burned down.": ("words",)}
    near = {"kno_000001": NORTH, "kno_000002": NORTH, "kno_000003": EAST}
    assert ways(rows, asked(dense=EAST), **near) == {"Kings are buried upright.": ("meaning",)}
    assert ways(rows, asked(dense=EAST)) == {}  # what has no vector is found by words only


def test_who_is_in_focus_counts_more_than_who_is_merely_here() -> None:
    rows = [row(1, "{{e:en_monk}} limps."), row(2, f"{G} limps.")]
    chosen, _ = bearing(holding_of(rows, {}, 2), asked(here=["en_monk", GARETH], focus=[GARETH]))
    assert [line.source for line in chosen] == ["kno-000002", "kno-000001"]


def test_rare_words_count_more_than_common_ones() -> None:
    rows = [row(1, "The cask leaks brine."), row(2, "The cask holds brandy."), row(3, "A cask stands outside.")]
    found = ways(rows, asked("What of the brandy cask?"))
    assert next(iter(found)) == "The cask holds brandy."


@pytest.mark.parametrize(("worse", "better"), [
    ({"confidence": 0.3}, {"confidence": 0.9}),
    ({"importance": 2}, {"importance": 9}),
    ({}, {"retrieval_count": 5, "last_retrieved_at": NOW}),
])  # fmt: skip
def test_confidence_importance_and_use_decide_between_equals(worse: dict[str, Any], better: dict[str, Any]) -> None:
    long_ago = NOW.replace(year=NOW.year - 1)
    rows = [row(1, f"{G} limps.", created=long_ago, **worse), row(2, f"{G} limps.", created=long_ago, **better)]
    chosen, _ = bearing(holding_of(rows, {}, 2), asked(here=[GARETH]))
    assert [line.source for line in chosen] == ["kno-000002", "kno-000001"]


def test_decisions_come_by_themselves_a_few_and_to_nobody_who_asks() -> None:
    rows = [row(n, f"{B} decided to sell cask {n}.", kind="decision") for n in range(1, 7)]
    chosen, missed = bearing(holding_of(rows, {}, 2), asked())
    assert ([line.why for line in chosen], len(missed)) == (["decided"] * 3, 3)
    assert missed[0].why == "decided, and 3 other decisions come before it"
    assert bearing(holding_of(rows, {}, 2), asked(by_person=True)) == ([], [])
    others = [one.model_copy(update={"owner_id": GARETH}) for one in rows]
    assert bearing(holding_of(others, {}, 2), asked()) == ([], [])


def test_the_limit_and_what_just_missed() -> None:
    rows = [row(n, f"{G} limps.") for n in range(1, 30)]
    chosen, missed = bearing(holding_of(rows, {}, 2), asked(here=[GARETH]))
    assert [line.source for line in chosen] == [f"kno-{n:06}" for n in range(1, LIMIT + 1)]  # equals: in order of writing
    assert (len(missed), missed[0].why) == (5, "its subject is here; ranked 9, limit 8")


def test_a_score_is_the_sum_of_its_parts_and_no_more() -> None:
    [line] = bearing(holding_of([row(1, f"{G} owns the mill.")], {}, 2), asked("the mill", here=[GARETH], focus=[GARETH]))[0]
    assert line.found_by == ("people", "words")
    assert line.score == line.words + line.cosine + line.involved + line.importance + line.recency
    assert min(line.words, line.involved, line.importance, line.recency) > 0 == line.cosine


@pytest.mark.parametrize(("piece", "text"), [
    (row(1, "The mill burned down."), "The mill burned down."),
    (row(1, f"{B} decided to leave at dawn.", kind="decision"), "You decided to leave at dawn."),
    (row(1, f"{B} will leave at dawn", kind="decision", rationale="the tide is right"),
     f"You decided: {B} will leave at dawn. The reason: the tide is right"),
    (row(1, f"{G} will leave.", kind="decision", owner_id=GARETH), f"It was decided: {G} will leave."),
    (row(1, "The bell rings: bar the door", kind="strategy"), "When the bell rings: bar the door"),
    (row(1, "When the bell rings: bar the door", kind="strategy"), "When the bell rings: bar the door"),
])  # fmt: skip
def test_how_pieces_are_told(piece: Knowledge, text: str) -> None:
    assert told(piece, BRYN) == text


def test_words_are_stems_without_those_that_say_little() -> None:
    assert stems("Somebody was quarrelling; they quarrelled.") == stems("quarrels somebody")


# whose it is
async def test_nobody_recalls_what_is_not_theirs(inn: Inn, tmp_path: Path) -> None:
    """Whatever the scopes: what comes to mind is one's own, one's factions' or the world's, and it holds."""
    chance, world = random.Random(11), inn.world()
    minds = [entity.id for entity in world.agents()]
    for mind in minds:
        world = inn.changed(world, mind, factions=tuple(chance.sample(["harbour", "guild", "watch"], chance.randrange(3))))
    store = await Store.create(tmp_path / "scopes.db", AuthoredWorld(world=world))
    try:
        allowed: dict[str, set[str]] = {mind: set() for mind in minds}

        def write(conn: Any) -> None:
            for n in range(300):
                scope = chance.choice(["entity", "faction", "world"])
                holder = {"entity": chance.choice(minds), "faction": chance.choice(["harbour", "guild", "watch"]), "world": ""}[scope]
                ended = NOW if chance.random() < 0.2 else None
                new = NewKnowledge.model_validate({
                    "owner_id": chance.choice(minds), "subject_id": chance.choice(minds), "kind": chance.choice(["fact", "decision"]),
                    "content": f"The tale {n} of the mill.", "scope": scope, "scope_id": holder, "confidence": chance.random(),
                    "valid_from": NOW, "valid_to": ended,
                })  # fmt: skip
                key = store.knowledge.add(conn, new, Change("added", "hand", "", NOW)).id
                for mind in minds:
                    knows = {"entity": holder == mind, "faction": holder in world.entities[mind].factions, "world": True}[scope]
                    if knows and ended is None:
                        allowed[mind].add(key)

        await store.db.write(write)
        tier = KnowledgeTier(store, Hash768(), 5.0)
        for _ in range(2):  # read, then held in memory
            for mind in minds:
                for by_person in (False, True):
                    moment = Moment(
                        world.entities[mind], str, plain_query("the tale of the mill"), NOW, minds, minds, by_person
                    )
                    known, missing = await tier.bearing(moment)
                    assert missing == ()
                    assert len(known.lines) == LIMIT
                    assert {line.source for line in (*known.lines, *known.missed)} <= allowed[mind]
    finally:
        await store.close()


async def test_factions_are_looked_at_each_time(desk: Desk) -> None:
    new = NewKnowledge(
        owner_id=BRYN, kind="fact", content="The mill burned down.", scope="faction", scope_id="guild", confidence=0.8, valid_from=NOW
    )
    await desk.store.db.write(lambda conn: desk.store.knowledge.add(conn, new, Change("added", "hand", "", NOW)))
    holdings, smith = Holdings(desk.store, Hash768()), desk.world.entities["en_smith"]
    assert (await holdings.of(smith)).rows == ()
    assert len((await holdings.of(smith.model_copy(update={"factions": ("guild",)}))).rows) == 1
    assert (await holdings.of(smith)).rows == ()


async def test_what_was_read_before_a_change_is_not_kept_after_it(desk: Desk) -> None:
    holdings, bryn = Holdings(desk.store, Hash768()), desk.world.entities[BRYN]
    reading = asyncio.ensure_future(holdings.of(bryn))
    await asyncio.sleep(0)
    holdings.forget()
    await reading
    assert holdings.held(bryn) is None
    await holdings.of(bryn)
    assert holdings.held(bryn) is not None


# lore by meaning
LAW = LoreItem(id="law", text="Salvage belongs to whoever finds it.", keys=("salvage",))
TIDE = LoreItem(id="tide", text="The tide comes twice a day.", constant=True)
SECRET = LoreItem(id="secret", text="Salvage belongs to the crown.", scope="entity", holders=("en_monk",))


def test_lore_comes_by_key_then_always_then_by_meaning(inn: Inn) -> None:
    monk, near = inn.world().entities["en_monk"], {"law": 0.6, "secret": 0.7}
    assert [line.source for line in bearing_on((LAW, TIDE, SECRET), monk, lambda: "Salvage?", near)] == ["law", "tide", "secret"]
    assert [line.source for line in bearing_on((LAW, TIDE, SECRET), monk, str, near)] == ["tide", "secret", "law"]
    bryn = inn.world().entities[BRYN]
    assert [line.source for line in bearing_on((LAW, TIDE, SECRET), bryn, str, near)] == ["tide", "law"]


async def test_lore_fires_by_meaning_from_the_embedders_own_threshold(inn: Inn, tmp_path: Path) -> None:
    store = await Store.create(tmp_path / "lore.db", AuthoredWorld(world=inn.world(), lore=(LAW,)))

    class Turned(Hash768):
        """Puts the scene at a given cosine to the line."""

        cosine = 0.0

        async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
            made = np.zeros((len(texts), 768), dtype=np.float32)
            for at, text in enumerate(texts):
                made[at, 0] = 1.0 if text == LAW.text else self.cosine
                made[at, 1] = 0.0 if text == LAW.text else (1 - self.cosine**2) ** 0.5
            return made

    try:
        embedder, near = Turned(), by_share(0.54, Hash768())
        assert near == pytest.approx(0.27)
        tier = KnowledgeTier(store, embedder, 5.0)
        for cosine, found in ((near - 0.01, []), (near + 0.01, ["law"])):
            embedder.cosine = cosine
            moment = Moment(inn.world().entities[BRYN], partial(str, "finders keepers"), plain_query("finders keepers"), NOW)
            known, _ = await tier.bearing(moment)
            assert [line.source for line in known.lines] == found
        [line] = known.lines
        assert (line.why, line.found_by) == ("means what the scene is about", ("meaning",))
    finally:
        await store.close()


# asked once
async def test_a_scene_is_embedded_once_and_a_failure_is_tried_again() -> None:
    class Counting(Hash768):
        calls, fails = 0, 1

        async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
            self.calls += 1
            await asyncio.sleep(0)
            if self.calls <= self.fails:
                raise ModelError("It is gone.")
            return await super().embed(texts)

    inner = Counting()
    once = Once(inner)
    with pytest.raises(ModelError):
        await once.embed(["a scene"])
    one, two = await asyncio.gather(once.embed(["a scene"]), once.embed(["a scene"]))
    assert np.array_equal(one, two)
    assert inner.calls == 2
    await once.embed(["a scene", "another"])
    assert inner.calls == 3
