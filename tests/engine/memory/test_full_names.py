"""A full name that somebody says is one reference in a memory, whoever words it, when its owner knows a part of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from engine.desk import MemoryDesk
from engine.errors import CommandError
from engine.llm.router import Router
from engine.llm.scripted import Scripted
from engine.memory.compression.engine import CompressionEngine
from engine.memory.recall.engine import RecallEngine
from engine.mind.render import render
from engine.mind.voice import names_of
from engine.records.policies import CompressionPolicy, Policies
from engine.records.review import ChunkEdit, MemoryEdit
from engine.records.tokens import referred, token

if TYPE_CHECKING:
    from tests.engine.memory.conftest import Desk, Inn

OWNER = "en_bryn"
BRYN, STRANGER, SAILOR = token("en_bryn"), token("en_stranger"), token("en_sailor")


def knowing(desk: Desk, alias: str, entity: str = "en_sailor") -> None:
    """Bryn calls somebody by a part of a name."""
    aliases = {**desk.world.entities[OWNER].aliases, entity: alias}
    desk.world = desk.inn.changed(desk.world, OWNER, aliases=aliases)


def at_hand(desk: Desk) -> MemoryDesk:
    recall = RecallEngine(desk.store, desk.embedder, Policies())
    return MemoryDesk(desk.store, lambda: desk.world, recall, desk.embedder, desk.engine(), Policies(), desk.events.append)


@pytest.mark.parametrize("alias", ["Tom", "Reed"])
@pytest.mark.parametrize("named", ["Tom Reed", "Captain Tom Reed", "P3 Reed", "Tom P3"])
async def test_a_models_account_holds_no_rest_of_a_name(desk: Desk, inn: Inn, wire: Any, alias: str, named: str) -> None:
    knowing(desk, alias)
    await desk.old_pool()
    await desk.fill([inn.said("I want to know who carried Tom Reed ashore.", 310, to=("en_bryn", "en_sailor"))])
    account = f"P2 wanted to know who had carried {named} ashore."
    engine = desk.engine(wire.reply(wire.chunk(["M1"], account)))
    await engine.run_all(desk.world)
    [entry] = await desk.ledger()
    assert entry.content == f"{STRANGER} wanted to know who had carried {SAILOR} ashore."
    assert "en_sailor" in entry.involved_entity_ids
    knowing(desk, "the widow")
    told = render(entry.content, names_of(desk.world, OWNER, referred(entry.content)))
    assert told == "The wet stranger wanted to know who had carried the widow ashore."


async def test_an_account_of_old_memories_holds_none_either(desk: Desk, inn: Inn) -> None:
    knowing(desk, "Tom")
    await desk.remember([inn.memory(f"{STRANGER} told {BRYN} of card number {n}.", 100 - n, who=("en_stranger",), importance=3)
                         for n in range(12)])  # fmt: skip
    reply = json.dumps(
        {"sourceEntryIds": ["M1", "M2"], "content": "P2 told P1 how Bryn and Tom Reed had played.", "quotes": [], "involvedEntityIds": []}
    )
    policies = Policies(compression=CompressionPolicy(limit=10, newest=4, group=4, importance=4))
    engine = CompressionEngine(desk.store, Router(Scripted([reply])), desk.embedder, policies, desk.events.append, handoff=desk.engine())
    await engine.run_all(desk.world)
    contents = [entry.content for entry in await desk.ledger()]
    assert any(content.endswith(f"how {BRYN} and {SAILOR} had played.") for content in contents), contents


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Bryn hid the lamp.", f"{BRYN} hid the lamp."),
        ("Harrow's lamp; Mistress Harrow hid it.", f"{BRYN}'s lamp; {BRYN} hid it."),
        ("Tom Reed saw Gareth and Master Vale.", f"{SAILOR} saw {STRANGER} and {STRANGER}."),
        (f"{SAILOR} Reed sang.", f"{SAILOR} sang."),
        ("@en_sailor Reed sang.", f"{SAILOR} sang."),
    ],
)
async def test_by_hand_too(desk: Desk, wire: Any, text: str, kept: str) -> None:
    knowing(desk, "Tom")
    hand = at_hand(desk)
    entry = await hand.add_memory(OWNER, text)
    assert entry.content == kept
    assert (await hand.edit_memory(entry.id, MemoryEdit(content=f"{text} It rained."))).content == f"{kept} It rained."
    engine = await desk.asked(wire.reply(wire.chunk(["M1"], "P2 came in.")))
    assert (await engine.review.edit(desk.world, OWNER, 0, ChunkEdit(content=text))).proposal.chunks[0].content == kept


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("@en_sailer sang.", "@en_sailor"),
        ("@Gareth sang.", "@en_stranger"),
        ("@qqqq sang.", "as `@id`"),
        ("I love Tom.", 'third person: "Bryn Harrow ..."'),
        ("Tom gave me his coat.", 'third person: "Bryn Harrow ..."'),
    ],
)
async def test_what_nobody_could_read_is_refused_with_what_to_do(desk: Desk, text: str, advice: str) -> None:
    hand = at_hand(desk)
    with pytest.raises(CommandError, match=advice.replace(".", r"\.")):
        await hand.add_memory(OWNER, text)
    entry = await hand.add_memory(OWNER, 'Tom said "I love @nobody_x."')
    assert entry.content == f'{SAILOR} said "I love @nobody_x."'
    with pytest.raises(CommandError, match=advice.replace(".", r"\.")):
        await hand.edit_memory(entry.id, MemoryEdit(content=text))


async def test_a_memory_that_came_in_the_first_person_may_stay_so(desk: Desk, inn: Inn) -> None:
    [entry] = await desk.remember([inn.memory("I love the sea.", 50)])
    hand = at_hand(desk)
    assert (await hand.edit_memory(entry.id, MemoryEdit(content="I love the sea.", importance=9))).importance == 9


async def test_two_memories_of_the_same_may_be_written_by_hand(desk: Desk) -> None:
    hand = at_hand(desk)
    one, other = [await hand.add_memory(OWNER, "Tom Reed hid the brass key behind the clock.") for _ in range(2)]
    assert one.id != other.id
    assert [(pair.first, pair.second) for pair in await hand.near_duplicates(OWNER)] == [(one.id, other.id)]
