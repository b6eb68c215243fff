"""What is known of the world, beside what is remembered."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.llm.hashing import Hash768
from engine.memory.lore import bearing_on, mention
from engine.memory.recall.engine import RecallEngine
from engine.memory.recall.knowledge import KnowledgeTier, Moment
from engine.memory.recall.query import Query
from engine.memory.reembedding import embed_missing
from engine.records.authored import AuthoredWorld, LoreItem
from engine.records.policies import Policies
from engine.records.prompts import Recollection
from engine.storage.store import Store

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.engine.memory.conftest import Desk, Inn

CROWN = LoreItem(id="crown", text="The iron crown of the old kings lies at the bottom of the lake.", keys=("iron crown", "old kings"))
SALT = LoreItem(id="salt", text="Salt is taxed by the harbour master.", keys=("salt",))
TIDE = LoreItem(id="tide", text="The tide comes twice a day.", constant=True)
SECRET = LoreItem(id="secret", text="The monk is a king in hiding.", keys=("monk", "salt"), scope="entity", holders=("en_monk",))
GUILD = LoreItem(id="guild", text="The guild meets on Mondays.", keys=("salt",), scope="faction", holders=("guild",))

Begin = "Callable[..., Awaitable[Desk]]"


@pytest.fixture
async def begin(inn: Inn, tmp_path: Path, wire: Any) -> AsyncIterator[Any]:
    opened: list[Store] = []

    async def start(*lore: LoreItem) -> Any:
        world = inn.world()
        opened.append(await Store.create(tmp_path / f"{len(opened)}.db", AuthoredWorld(world=world, lore=lore)))
        return wire.desk(inn, opened[-1], world)

    yield start
    for store in opened:
        await store.close()


async def recall(desk: Desk, said: str = "", who: str = "en_bryn", **more: Any) -> Recollection:
    entries = desk.inn.numbered([desk.inn.said(said, 1, owner=who)] if said else [])
    await embed_missing(desk.store, Hash768())
    return await RecallEngine(desk.store, Hash768(), Policies()).recall(desk.world, who, entries, desk.world.now, **more)


def test_scope_comes_before_keys(inn: Inn) -> None:
    world = inn.world()
    lore = (SALT, SECRET, GUILD, TIDE)

    def known(entity: str) -> list[str]:
        return [line.source for line in bearing_on(lore, world.entities[entity], lambda: "Salt, monk?")]

    assert known("en_bryn") == ["salt", "tide"]
    assert known("en_monk") == ["salt", "secret", "tide"]
    smith = inn.changed(world, "en_smith", factions=("guild",)).entities["en_smith"]
    assert [line.source for line in bearing_on(lore, smith, lambda: "salt")] == ["salt", "guild", "tide"]


def test_no_scene_is_put_into_words_where_nothing_could_be_called_up(inn: Inn) -> None:
    def scene() -> str:
        raise AssertionError("nobody needs it")

    bryn = inn.world().entities["en_bryn"]
    assert [line.source for line in bearing_on((TIDE, SECRET), bryn, scene)] == ["tide"]


def test_keys_are_whole_words_without_case() -> None:
    told = {"An IRON CROWN!": "IRON CROWN", "iron crowns": "", "the old kings": "old kings", "ironcrown": "", "": ""}
    for scene, found in told.items():
        assert mention(CROWN, scene, scene.lower()) == found


@given(st.text(max_size=60), st.text(min_size=1, max_size=12))
def test_any_key_in_any_scene(scene: str, key: str) -> None:
    item = LoreItem(id="any", text="x", keys=(key,))
    found = mention(item, scene, scene.lower())
    assert found.lower() in ("", key.lower())
    assert not found or found in scene


async def test_what_is_known_comes_with_the_memories_and_has_receipts(begin: Any) -> None:
    desk = await begin(CROWN, TIDE, SALT, SECRET)
    await desk.remember([desk.inn.memory("{{e:en_sailor}} lost a bet.", 5, who=("en_sailor",))])
    found = await recall(desk, "Is the iron crown more than a tale?")
    assert [known.source for known in found.known] == ["crown", "tide"]
    by_tier = [(one.source, one.chosen, one.reason, one.score) for one in found.receipts if one.tier == "knowledge"]
    assert by_tier == [("crown", True, "called up by iron crown", 1.0), ("tide", True, "always in mind", 0.0)]
    assert [one.tier for one in found.receipts] == ["ledger", "knowledge", "knowledge"]


async def test_a_question_calls_up_what_it_mentions_and_not_what_the_scene_does(begin: Any) -> None:
    desk = await begin(CROWN, SALT)
    found = await recall(desk, "Is the iron crown more than a tale?", query="Who taxes salt?")
    assert [known.source for known in found.known] == ["salt"]


async def test_of_a_memory_and_a_line_that_tell_the_same_the_richer_stays(begin: Any) -> None:
    desk = await begin(CROWN, SALT)
    poorer = "The iron crown of old kings lies at the bottom of the lake."
    richer = "Salt is taxed by the harbour master, by the harbour master."
    await desk.remember([desk.inn.memory(poorer, 50), desk.inn.memory(richer, 40), desk.inn.memory("A gull stole bread.", 30)])
    found = await recall(desk, "The iron crown, and salt!")
    assert [known.source for known in found.known] == ["crown"]
    assert {entry.content for entry in found.entries} == {richer, "A gull stole bread."}
    told = {one.text: (one.chosen, one.reason) for one in found.receipts}
    assert told[poorer] == (False, "tells the same as what is known")
    assert told[SALT.text] == (False, "a memory tells the same")


@pytest.mark.parametrize(
    "content",
    ["{{e:en_monk}}: the iron crown of the old kings lies at the bottom of the lake.",
     "The iron crown of the old kings lies not at the bottom of the lake.",
     "The 2 iron crown of the old kings lies at the bottom of the lake."],
)  # fmt: skip
async def test_other_people_numbers_or_a_negation_make_another_tale(begin: Any, content: str) -> None:
    desk = await begin(CROWN)
    await desk.remember([desk.inn.memory(content, 50)])
    found = await recall(desk, "The iron crown!")
    assert (len(found.known), len(found.entries)) == (1, 1)


async def test_what_is_always_told_gives_way_to_no_memory(begin: Any) -> None:
    desk = await begin(TIDE)
    await desk.remember([desk.inn.memory("The tide comes twice a day, twice a day.", 50), desk.inn.memory("Tide comes twice a day.", 40)])
    found = await recall(desk, "The tide?")
    assert [known.source for known in found.known] == ["tide"]
    assert [entry.content for entry in found.entries] == ["The tide comes twice a day, twice a day."]


async def test_a_known_line_has_its_place_in_the_budget(begin: Any) -> None:
    desk = await begin(TIDE)
    await desk.remember([desk.inn.memory(f"{{{{e:en_sailor}}}} told tale number {n}.", 50 + n, who=("en_sailor",)) for n in range(30)])
    with_line = await recall(desk, "A tale", budget=60)
    spent = sum(one.tokens for one in with_line.receipts if one.chosen)
    assert 0 < spent <= 60
    assert with_line.known


async def test_lines_are_embedded_once(begin: Any) -> None:
    class Counting(Hash768):
        asked: list[str] = []

        async def embed(self, texts: Any) -> np.ndarray[Any, np.dtype[np.float32]]:
            self.asked += texts
            return await super().embed(texts)

    desk = await begin(CROWN, SALT)
    tier = KnowledgeTier(desk.store, Counting(), 5.0)
    bryn = desk.world.entities["en_bryn"]
    for scene in ("salt", "salt and the iron crown", "the iron crown, salt"):
        known, missing = await tier.bearing(Moment(bryn, partial(str, scene), Query("", "", ()), desk.world.now))
        assert missing == ()
        assert known.vectors is not None
        expected = await Hash768().embed([line.text for line in known.lines])
        assert np.allclose(known.vectors, expected)
    assert sorted(Counting.asked) == sorted([CROWN.text, SALT.text])
