"""New chunks that tell what is remembered already: what becomes of them, and which are kept apart."""

from __future__ import annotations

import asyncio
import json
import re
import tempfile
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.llm.protocol import ModelRequest
from engine.memory.reembedding import embed_missing
from engine.memory.text import plain
from engine.records.authored import AuthoredWorld
from engine.records.memory import HandoffRun, LedgerEntry, NewBufferEntry, Origin
from engine.records.prompts import split_sections
from engine.storage.store import Store

if TYPE_CHECKING:
    from tests.engine.memory.conftest import Desk, Inn

HOUR, DAY = 60.0, 24 * 60.0
_LINE = re.compile(r"^(M\d+) \[(?:said|done|thought)(?:, pinned)?\] [^:]*: (.*)$", re.MULTILINE)


async def hand_over(desk: Desk, events: Sequence[NewBufferEntry], *chunks: dict[str, Any]) -> HandoffRun:
    """A handoff whose candidates are just these events: fresh talk lies behind them, and the owner has left."""
    held = await desk.buffer()
    await desk.fill([*events, *(() if held else desk.inn.talk(8, oldest=9, newest=1))])
    desk.world = desk.inn.moved(desk.world, "en_bryn", "pl_quay").model_copy(update={"round": desk.world.round + 6})
    [run] = await desk.engine(json.dumps({"chunks": list(chunks)})).run_all(desk.world)
    assert run.status == "committed", run.error
    assert sorted({len(places) for places in (await desk.whereabouts()).values()}) == [1]
    return run


async def homes(desk: Desk) -> dict[str, str]:
    """Where promoted entries went."""
    archived = await desk.store.db.read(lambda conn: desk.store.buffer.archived(conn, "en_bryn"))
    for gone in archived:
        if gone.ledger_id:
            assert gone.entry.id in await desk.sources(gone.ledger_id)
    return {gone.entry.id: gone.ledger_id for gone in archived if gone.ledger_id}


async def held(desk: Desk, content: str, ago_hours: float = 40, origin: Origin = "handoff", **more: Any) -> LedgerEntry:
    """A memory with its vector."""
    [entry] = await desk.remember([desk.inn.memory(content, ago_hours, **more).model_copy(update={"origin": origin})])
    await embed_missing(desk.store, desk.embedder)
    return entry


LANTERN = "P2 hid the silver lantern of the harbour master under the third step of the old quay"


async def test_what_is_told_twice_becomes_one_with_everything_of_both(desk: Desk, wire: Any) -> None:
    speech = "I hid the silver lantern under the third step."
    await hand_over(desk, [desk.inn.said(speech, 5 * HOUR)], wire.chunk(["M1"], LANTERN + ".", quotes=[speech], importance=4))
    [first] = await desk.ledger()
    later = "Look under the third step, at low tide."
    run = await hand_over(
        desk, [desk.inn.said(later, 3 * HOUR, to=("en_bryn", "en_monk"))],
        wire.chunk(["M1"], LANTERN + " once more.", quotes=[later], importance=7),
    )  # fmt: skip
    [entry] = await desk.ledger()
    assert (run.added, run.updated, run.promoted) == (0, 1, 1)
    assert (entry.id, entry.version, entry.importance, entry.quotes) == (first.id, 2, 7, (speech, later))
    assert entry.content == first.content
    assert entry.involved_entity_ids == ("en_stranger", "en_monk")
    assert (entry.timestamp, entry.ended) == (first.timestamp, first.timestamp + timedelta(hours=2))
    assert set((await homes(desk)).values()) == {entry.id}
    assert "an older memory" in run.notes[0]


async def test_of_two_accounts_the_one_that_says_more_stays(desk: Desk, wire: Any) -> None:
    for number, more in enumerate(("", " alone", "")):
        await hand_over(desk, [desk.inn.did("hid the lantern", (5 - number) * HOUR)], wire.chunk(["M1"], f"{LANTERN}{more}."))
    [entry] = await desk.ledger()
    assert entry.content.endswith("old quay alone.")
    assert entry.version == 2
    _, [vector] = await desk.store.db.read(lambda conn: desk.store.embeddings.of_owner(conn, "en_bryn", "hash768"))
    assert np.allclose(np.frombuffer(vector, dtype="<f4"), (await desk.embedder.embed([plain(entry.content, entry.quotes)]))[0])


async def test_what_brings_nothing_new_adds_its_sources_and_leaves_the_version(desk: Desk, wire: Any) -> None:
    for number in range(6):
        run = await hand_over(desk, [desk.inn.did("hid the lantern in the mill", (9 - number) * HOUR)],
                              wire.chunk(["M1"], f"P2 {'once more ' * (number % 2)}hid the silver lantern in the mill."))  # fmt: skip
        assert (run.added, run.updated, run.promoted) == (number == 0, 0, 1)
    [entry] = await desk.ledger()
    assert (entry.version, entry.run_id) == (1, "run-000001")
    assert entry.ended - entry.timestamp == timedelta(hours=5)
    assert len(await desk.sources(entry.id)) == len(await homes(desk)) == 6


APART: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "number": ({"text": "paid three coins for the boat"}, {"text": "paid five coins for the boat"}),
    "denial": ({"text": "agreed to sail the boat"}, {"text": "did not agree to sail the boat"}),
    "person": ({"by": "en_stranger"}, {"by": "en_monk"}),
    "another day": ({"ago": 30 * HOUR}, {"ago": 5 * HOUR}),
    "another place": ({"place": "pl_bar"}, {"place": "pl_cellar"}),
    "thing": (
        {"text": "bought the grey horse of the old miller at the fair"}, {"text": "bought the grey mule of the old miller at the fair"},
    ),
    "way": ({"text": "went up the stairs of the mill"}, {"text": "went down the stairs of the mill"}),
}


@pytest.mark.parametrize("kind", APART)
@pytest.mark.parametrize("at_once", [True, False])
async def test_what_differs_stays_apart(desk: Desk, wire: Any, kind: str, at_once: bool) -> None:
    usual: dict[str, Any] = {"text": "paid three coins for the boat", "by": "en_stranger", "ago": 5 * HOUR, "place": "pl_bar"}
    made = [usual | one for one in APART[kind]]
    events = [desk.inn.did(one["text"], one["ago"], by=one["by"], place=one["place"]) for one in made]
    people = [f"P{2 + (n if kind == 'person' and at_once else 0)}" for n in range(2)]
    chunks = [wire.chunk([f"M{n + 1 if at_once else 1}"], f"{people[n]} {made[n]['text']}.") for n in range(2)]
    if at_once:
        await hand_over(desk, events, *chunks)
    else:
        await hand_over(desk, events[:1], chunks[0])
        await hand_over(desk, events[1:], chunks[1])
    assert len(await desk.ledger()) == 2


async def test_two_moments_of_one_reply_become_one(desk: Desk, wire: Any) -> None:
    events = [desk.inn.did("hid the lantern", 5 * HOUR), desk.inn.did("hid the lantern", 4 * HOUR)]
    run = await hand_over(
        desk, events, wire.chunk(["M1"], "P2 hid the silver lantern in the mill.", importance=3),
        wire.chunk(["M2"], "P2 hides the silver lantern in the mill again.", importance=8),
    )  # fmt: skip
    [entry] = await desk.ledger()
    assert (run.added, run.promoted, entry.importance) == (1, 2, 8)
    assert entry.ended - entry.timestamp == timedelta(hours=1)


TOLD = "{{e:en_sailor}} hid the silver lantern under the third step of the quay and swore {{e:en_bryn}} to silence."
ECHOES = [
    "Tom Reed hid the silver lantern under the third step of the quay.",
    "Listen, friend. Tom hides the silver lantern under the third step of the quay, I tell you. Aye, so it is.",
    "I remember it well: a couple days ago Tom Reed hid again the silver lantern under the third step of the quay.",
    "Yesterday evening - Tom Reed hid the silver lantern under the third step of the quay and swore you to silence.",
]


@pytest.mark.parametrize("speech", ECHOES)
@pytest.mark.parametrize("thought", [True, False])
async def test_an_echo_goes_into_its_memory_which_stays_as_it_is(desk: Desk, wire: Any, speech: str, thought: bool) -> None:
    memory = await held(desk, TOLD, who=("en_sailor",), place="pl_cellar")
    event = desk.inn.thought(speech, HOUR) if thought else desk.inn.said(speech, HOUR, by="en_bryn", to=("en_stranger",))
    run = await hand_over(desk, [event], wire.chunk(["M1"], "P1 spoke of the lantern.", quotes=[speech], retainInBuffer=True))
    assert await desk.ledger() == [memory.model_copy(update={"importance": 5, "version": 2, "run_id": run.id})]
    assert (run.added, run.updated, run.promoted, run.pinned) == (0, 1, 1, 0)
    assert set((await homes(desk)).values()) == {memory.id}
    assert any("recalled" in note for note in run.notes)
    [again] = [await hand_over(desk, [event], wire.chunk(["M1"], "P1 spoke of it.", importance=2))]
    assert (again.added, again.updated, again.promoted) == (0, 0, 1)
    assert (await desk.ledger())[0].version == 2


NEWS = {
    "number": "Tom Reed hid the silver lantern under the fourth step of the quay.",
    "denial": "Tom Reed never hid the silver lantern under the third step of the quay.",
    "name": "Brother Odo hid the silver lantern under the third step of the quay.",
    "unknown name": "Old Hagen hid the silver lantern under the third step of the quay.",
    "confession": "I hid the silver lantern under the third step of the quay.",
    "question": "Did Tom Reed hide the silver lantern under the third step of the quay?",
    "more": "Tom Reed hid the silver lantern under the third step of the quay. The smith pays gold for copper bells.",
    "threat": "Tom Reed hid the silver lantern under the third step of the quay. I will kill him.",
    "other way": "Tom Reed hid the silver lantern over the third step of the quay.",
    "little": "Tom hid.",
}


@pytest.mark.parametrize("kind", NEWS)
async def test_what_was_said_beyond_or_against_what_is_remembered_is_news(desk: Desk, wire: Any, kind: str) -> None:
    memory = await held(desk, TOLD, who=("en_sailor",), place="pl_cellar")
    event = desk.inn.said(NEWS[kind], HOUR, by="en_bryn", to=("en_stranger",))
    await hand_over(desk, [event], wire.chunk(["M1"], "P1 spoke of the lantern.", quotes=[NEWS[kind]]))
    assert [entry for entry in await desk.ledger() if entry.id != memory.id] != []
    assert memory in await desk.ledger()


async def test_who_hears_it_keeps_it_as_news_and_once(desk: Desk, wire: Any) -> None:
    memory = await held(desk, TOLD, who=("en_sailor",), place="pl_cellar")
    for number, speech in enumerate(ECHOES):
        event = desk.inn.said(speech, (6 - number) * HOUR, by="en_stranger", to=("en_bryn",))
        await hand_over(desk, [event], wire.chunk(["M1"], f"P2 told P1 where the lantern was, for the {number + 2} time.", quotes=[speech]))
    [told] = [entry for entry in await desk.ledger() if entry.id != memory.id]
    assert (told.version, told.ended - told.timestamp) == (1, timedelta(hours=3))
    assert len(await desk.sources(told.id)) == 4


async def test_who_hears_the_same_from_two_keeps_both(desk: Desk, wire: Any) -> None:
    for number, speaker in enumerate(("en_stranger", "en_monk")):
        event = desk.inn.said(ECHOES[0], (6 - number) * HOUR, by=speaker)
        await hand_over(desk, [event], wire.chunk(["M1"], "P2 told P1 where the lantern was.", quotes=[ECHOES[0]]))
    assert len(await desk.ledger()) == 2


@pytest.mark.parametrize("origin", ["hand", "world"])
async def test_a_merge_leaves_a_person_s_words_and_weight_alone(desk: Desk, wire: Any, origin: Origin) -> None:
    memory = await held(desk, "{{e:en_stranger}} hid the silver lantern in the mill.", 5, origin, who=("en_stranger",), importance=2)
    for number in range(3):
        run = await hand_over(
            desk, [desk.inn.did("hid the lantern in the mill", (4 - number) * HOUR)],
            wire.chunk(["M1"], "P2 hid the silver lantern in the mill once more.", importance=9, retainInBuffer=True),
        )  # fmt: skip
        assert (run.added, run.updated, run.promoted) == (0, 0, 1)
    assert await desk.ledger() == [memory]
    assert len(await desk.sources(memory.id)) == 3


async def test_a_thread_that_goes_on_and_its_echo_in_one_reply_are_both_kept_track_of(desk: Desk, wire: Any) -> None:
    speech = "Tom Reed hid the silver lantern under the third step of the quay."
    await hand_over(desk, [desk.inn.said(speech, 6 * HOUR, by="en_bryn", to=("en_stranger",))],
                    wire.chunk(["M1"], "P1 told P2 where the lantern was.", quotes=[speech], retainInBuffer=True))  # fmt: skip
    events = [desk.inn.said(speech, 4 * HOUR, by="en_bryn", to=("en_stranger",)), desk.inn.did("looked for the lantern", 3 * HOUR)]
    run = await hand_over(
        desk, events, wire.chunk(["M1", "M3"], "P1 told P2 where the lantern was, and P2 looked for it.", importance=8),
        wire.chunk(["M2"], "P1 told it again.", importance=9),
    )  # fmt: skip
    [entry] = await desk.ledger()
    assert (run.added, run.updated, run.promoted) == (0, 1, 3)
    assert (entry.importance, len(await desk.sources(entry.id))) == (9, 3)
    assert "looked for it" in entry.content


DEEDS = st.lists(
    st.tuples(
        st.sampled_from(["en_stranger", "en_monk", "en_smith"]),
        st.sampled_from(["paid three coins for the old boat", "paid five coins for the old boat", "never paid coins for the old boat"]),
        st.integers(1, 4), st.sampled_from(["pl_bar", "pl_cellar"]),
    ),
    min_size=1, max_size=10,
)  # fmt: skip


@settings(max_examples=25, deadline=None)
@given(DEEDS, st.integers(0, 9))
def test_a_ledger_holds_each_deed_of_each_day_place_and_person_once(
    inn: Inn, wire: Any, deeds: list[tuple[str, str, int, str]], cut: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(done(inn, wire, Path(folder), sorted(deeds, key=lambda deed: -deed[2]), cut))


async def done(inn: Inn, wire: Any, folder: Path, deeds: list[tuple[str, str, int, str]], cut: int) -> None:
    async def think(request: ModelRequest) -> str:
        lines = _LINE.findall(split_sections(request.text)["ENTRIES"])
        return str(wire.reply(*(wire.chunk([handle], line.partition(" (Outcome")[0]) for handle, line in lines)))

    store = await Store.create(folder / "inn.db", AuthoredWorld(world=inn.world()))
    desk: Desk = wire.desk(inn, store, inn.moved(inn.world(), "en_bryn", "pl_quay"))
    events = [inn.did(text, DAY * day + HOUR, by=who, place=place) for who, text, day, place in deeds]
    for part in (events[:cut], events[cut:]):
        if part:
            await desk.fill([*part, *(() if await desk.buffer() else inn.talk(8, oldest=9, newest=1))])
            desk.world = desk.world.model_copy(update={"round": desk.world.round + 6})
            assert [run.status for run in await desk.thinking(think).run_all(desk.world)] == ["committed"]
    assert len(await desk.ledger()) == len(set(deeds))
    sources = [len(await desk.sources(entry.id)) for entry in await desk.ledger()]
    assert sum(sources) == len(deeds)
    await store.close()
