"""What a person does to memories by hand: at the desk, over a real save."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.desk import MemoryDesk
from engine.errors import CommandError, ModelError
from engine.events import EntryRestored, MemoryChanged
from engine.llm.router import Router
from engine.llm.scripted import Scripted
from engine.memory.compression.engine import CompressionEngine
from engine.memory.hand_words import account
from engine.memory.recall.engine import RecallEngine
from engine.memory.reembedding import EmbeddingJob
from engine.mind.render import capital, render
from engine.mind.voice import names_of
from engine.records.memory import LedgerEntry
from engine.records.policies import CompressionPolicy, Policies
from engine.records.review import MemoryEdit
from engine.records.tokens import referred, token

if TYPE_CHECKING:
    from tests.engine.memory.conftest import Desk, Inn

OWNER = "en_bryn"
BRYN, STRANGER, SAILOR, MONK, LANTERN = (token(f"{key}") for key in ("en_bryn", "en_stranger", "en_sailor", "en_monk", "th_lantern"))


def at_hand(desk: Desk, embedder: Any = None) -> MemoryDesk:
    embedder = embedder or desk.embedder
    recall = RecallEngine(desk.store, embedder, Policies())
    return MemoryDesk(desk.store, lambda: desk.world, recall, embedder, desk.engine(), Policies(), desk.events.append)


async def whole(desk: Desk) -> dict[str, list[Any]]:
    tables = ("ledger_archive", "ledger_versions", "restorations")
    more = await desk.store.db.read(lambda conn: {t: conn.execute(f"SELECT * FROM {t}").fetchall() for t in tables})
    return await desk.rows() | more


# adding
async def test_a_memory_by_hand_is_of_now_and_here_and_has_no_source(desk: Desk, inn: Inn) -> None:
    entry = await at_hand(desk).add_memory(OWNER, "You hid the key. Tom Reed saw it.", importance=7, quotes=['"Hush."', " "])
    assert entry.content == f"{BRYN} hid the key. {SAILOR} saw it."
    assert (entry.origin, entry.importance, entry.quotes, entry.involved_entity_ids) == ("hand", 7, ("Hush.",), ("en_sailor",))
    assert (entry.timestamp, entry.ended, entry.location_id, entry.created_round) == (inn.now, inn.now, "pl_bar", 20)
    assert await desk.sources(entry.id) == ()
    assert await desk.ledger() == [entry]
    assert desk.events == [MemoryChanged(entity=OWNER, changed=(entry,))]
    earlier = await at_hand(desk).add_memory(OWNER, "It rained.", ago=timedelta(days=3, microseconds=5))
    assert earlier.timestamp == inn.now - timedelta(days=3, seconds=1)
    assert earlier in await desk.ledger()


async def test_it_is_found_by_words_and_meaning_at_once(desk: Desk) -> None:
    hand = at_hand(desk)
    assert (await hand.recall(OWNER, "brass key")).entries == ()
    entry = await hand.add_memory(OWNER, "The brass key hangs behind the clock.")
    found = await hand.recall(OWNER, "where does the brass key hang")
    assert found.entries == (entry,)
    assert {"words", "meaning"} <= set(found.receipts[0].found_by)


async def test_without_the_embedder_words_find_it_and_the_job_embeds_it_later(desk: Desk, wire: Any) -> None:
    hand = at_hand(desk, wire.broken("error"))
    entry = await hand.add_memory(OWNER, "The brass key hangs behind the clock.")
    found = await hand.recall(OWNER, "brass key")
    assert found.entries == (entry,)
    assert found.problems
    missing = await desk.store.db.read(lambda conn: desk.store.embeddings.missing(conn, OWNER, "hash768"))
    assert missing == [entry.id]
    assert await EmbeddingJob(desk.store, desk.embedder, desk.events.append, lambda _: None).run() == 1


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("the wet stranger sang", f"{STRANGER} sang"),
        ("The Wet Stranger sang.", f"{STRANGER} sang."),
        ("Tom Reed sang, and Tom laughed.", f"{SAILOR} sang, and {SAILOR} laughed."),
        ("the tall sailor sang", f"{SAILOR} sang"),
        ("Gareth Vale sang", f"{STRANGER} sang"),
        ("@en_monk prayed.", f"{MONK} prayed."),
        ("@en_monk.", "@en_monk."),
        (f"{MONK} prayed", f"{MONK} prayed"),
        ("en_monk prayed", f"{MONK} prayed"),
        ("somebody took the brass lantern", f"somebody took {LANTERN}"),
        ("You were afraid; your hands shook.", f"{BRYN} was afraid; {BRYN}'s hands shook."),
        ("Nobody saw that you have slept.", f"Nobody saw that {BRYN} has slept."),
        ('She said "you were late, Tom Reed".', 'She said "you were late, Tom Reed".'),
        ("you've", "you've"),
        ("\x1b[31mRed\u202e rain\x00 fell\n\non the quay", "Red rain fell on the quay"),
        ("[bold]not markup[/bold]", "[bold]not markup[/bold]"),
        ("mail bob@example.org", "mail bob@example.org"),
    ],
)
async def test_people_are_kept_as_tokens(desk: Desk, text: str, kept: str) -> None:
    if kept == "@en_monk.":
        with pytest.raises(CommandError):
            await at_hand(desk).add_memory(OWNER, text)
        return
    assert (await at_hand(desk).add_memory(OWNER, text)).content == kept


@pytest.mark.parametrize(
    "change",
    [
        {"text": "   "}, {"text": "..."}, {"text": token("en_bryn")}, {"text": "x" * 2001}, {"text": "\x1b[0m\u200b"},
        {"text": "Somebody went to pl_cellar."}, {"text": "As told in led-000001."}, {"text": token("nobody_1") + " sang."},
        {"importance": 0}, {"importance": 11}, {"quotes": ["y" * 2001]}, {"quotes": ["en_monk said so"]},
        {"quotes": [f"Word {n}." for n in range(21)]}, {"involved": ["nobody"]}, {"ago": timedelta(days=-1)},
        {"ago": timedelta(days=900_000)}, {"owner": "th_lantern"}, {"owner": "nobody"},
    ],
    ids=str,
)  # fmt: skip
async def test_what_cannot_be_kept_is_refused_with_advice(desk: Desk, change: dict[str, Any]) -> None:
    before = await whole(desk)
    given_ = {"owner": OWNER, "text": "It rained."} | change
    with pytest.raises(CommandError) as refused:
        await at_hand(desk).add_memory(given_.pop("owner"), given_.pop("text"), **given_)
    assert refused.value.advice
    assert await whole(desk) == before
    assert desk.events == []


NAMES = st.sampled_from([BRYN, STRANGER, SAILOR, MONK, LANTERN, f"{BRYN}'s cup", f"{STRANGER}'s coat"])
CLAUSES = st.tuples(NAMES, st.sampled_from(["was near", "saw", "has met", "is wary of", "thanked", "weren't for"]), NAMES)


@given(st.lists(CLAUSES, min_size=1, max_size=4))
def test_what_is_shown_and_saved_unchanged_is_the_same_memory(inn: Inn, clauses: Sequence[tuple[str, str, str]]) -> None:
    content = " ".join(f"{' '.join(clause)}." for clause in clauses).replace("weren't", "wasn't")
    world = inn.world()
    shown = capital(render(content, names_of(world, OWNER, referred(content))))
    kept = account(world, OWNER, shown, referred(content))
    assert capital(render(kept, names_of(world, OWNER, referred(kept)))) == shown
    assert referred(kept) == referred(content)


# editing
async def test_an_edit_keeps_the_earlier_wording_and_counts_as_by_hand(desk: Desk, inn: Inn) -> None:
    [before] = await desk.remember([inn.memory(f"{STRANGER} told {BRYN} of a wreck.", 5, who=("en_stranger",), quotes=["Aye."])])
    hand = at_hand(desk)
    after = await hand.edit_memory(before.id, MemoryEdit(content="Tom Reed told you of two wrecks.", importance=8, quotes=("Aye.", "No.")))
    assert after.content == f"{SAILOR} told {BRYN} of two wrecks."
    assert (after.version, after.origin, after.importance, after.quotes) == (2, "hand", 8, ("Aye.", "No."))
    assert after.involved_entity_ids == ("en_stranger", "en_sailor")
    assert (after.timestamp, after.location_id, after.created_round) == (before.timestamp, before.location_id, before.created_round)
    told = await hand.provenance(after.id)
    assert told.versions == ("The wet stranger told you of a wreck.",)
    assert (await hand.edit_memory(after.id, MemoryEdit(involved=("en_monk",)))).involved_entity_ids == ("en_monk", "en_sailor")
    assert (await hand.recall(OWNER, "two wrecks")).entries[0].version == 3


async def test_an_edit_that_changes_nothing_writes_nothing(desk: Desk, inn: Inn) -> None:
    [entry] = await desk.remember([inn.memory("It rained.", 5)])
    assert await at_hand(desk).edit_memory(entry.id, MemoryEdit(content=" It  rained. ", importance=4)) == entry
    assert (await whole(desk))["ledger_versions"] == []


async def test_edits_of_what_is_not_in_the_ledger_are_refused(desk: Desk, inn: Inn) -> None:
    [entry, other] = await desk.remember([inn.memory("It rained.", 5), inn.memory("It snowed.", 4)])
    [alien] = await desk.remember([inn.memory("It hailed.", 3, owner="en_smith")])
    hand = at_hand(desk)
    await hand.remove_memory(entry.id)
    before = await whole(desk)
    edit = MemoryEdit(content="It poured.")
    tried = [
        hand.edit_memory("led-999999", edit), hand.edit_memory(entry.id, edit), hand.edit_memory(other.id, MemoryEdit(content=" ")),
        hand.edit_memory(other.id, MemoryEdit(involved=("nobody",))), hand.remove_memory(entry.id), hand.remove_memory("led-999999"),
        hand.restore_memory(other.id), hand.restore_memory("led-999999"), hand.restore("buf-999999"), hand.merge(other.id, other.id),
        hand.merge(other.id, entry.id), hand.merge(entry.id, other.id), hand.merge(other.id, alien.id), hand.provenance("led-999999"),
        hand.archive("nobody"), hand.archived_memories("nobody"), hand.recall("nobody"), hand.near_duplicates("nobody"),
    ]  # fmt: skip
    for attempt in tried:
        with pytest.raises(CommandError) as refused:
            await attempt
        assert refused.value.advice
    assert await whole(desk) == before


# taking away and bringing back
async def test_what_is_removed_can_be_brought_back(desk: Desk, inn: Inn) -> None:
    [entry] = await desk.remember([inn.memory(f"{STRANGER} told of a wreck.", 5)])
    hand = at_hand(desk)
    await hand.remove_memory(entry.id)
    assert desk.events[-1] == MemoryChanged(entity=OWNER, gone_ids=(entry.id,))
    assert await desk.ledger() == []
    assert (await hand.recall(OWNER, "wreck")).entries == ()
    [line] = await hand.archived_memories(OWNER)
    assert (line.memory.entry, line.memory.fate, line.text, line.became) == (entry, "removed", "The wet stranger told of a wreck.", "")
    back = await hand.restore_memory(entry.id)
    assert back == entry.model_copy(update={"origin": "hand"})
    assert (await hand.recall(OWNER, "wreck")).entries == (back,)
    assert await hand.archived_memories(OWNER) == []


async def test_two_memories_become_one(desk: Desk, inn: Inn, wire: Any) -> None:
    await desk.old_pool()
    asked = wire.chunk(["M1"], "P2 asked for a room.", quotes=["Have you a room?"], importance=3)
    await desk.engine(wire.reply(asked, wire.chunk(["M2"], "P1 set a mug down."))).run_all(desk.world)
    room, mug = await desk.ledger()
    hand = at_hand(desk)
    merged = await hand.merge(mug.id, room.id)
    assert (merged.content, merged.version, merged.origin, merged.importance) == (mug.content, 2, "hand", 5)
    assert (merged.timestamp, merged.ended, merged.quotes) == (room.timestamp, mug.ended, room.quotes)
    assert set(merged.involved_entity_ids) == {*room.involved_entity_ids, *mug.involved_entity_ids}
    assert set(await desk.sources(mug.id)) == {"buf-000001", "buf-000002"}
    assert await desk.ledger() == [merged]
    told = await hand.provenance(mug.id)
    assert [(line.memory.entry.id, line.memory.fate, line.became) for line in told.told] == [(room.id, "merged", told.text)]
    lines = {line.entry.id: line for line in await hand.archive(OWNER)}
    assert (lines["buf-000001"].ledger_id, lines["buf-000001"].became) == (mug.id, told.text)


async def test_a_moment_comes_back_into_its_place_and_stays(desk: Desk, inn: Inn, wire: Any) -> None:
    await desk.old_pool()
    buffer = await desk.buffer()
    await desk.engine(wire.reply(wire.chunk(["M1"], "P2 asked for a room."))).run_all(desk.world)
    hand = at_hand(desk)
    lines = await hand.archive(OWNER)
    assert [(line.entry.id, line.fate) for line in lines] == [(f"buf-{n:06d}", "promoted" if n == 1 else "forgotten") for n in (4, 3, 2, 1)]
    assert lines[0].text.startswith("You wiped the counter.")
    assert (lines[0].round, lines[0].place, lines[0].became) == (20, "the taproom", "")
    assert lines[3].became == "The wet stranger asked for a room."
    forgotten, promoted = await hand.restore("buf-000003"), await hand.restore("buf-000001", pin=False)
    assert (forgotten.pinned, promoted.pinned) == ("hand", "none")
    assert desk.events[-1] == EntryRestored(entry=promoted)
    assert [entry.id for entry in await desk.buffer()] == [entry.id for entry in buffer if entry.seq not in (2, 4)]
    with pytest.raises(CommandError):
        await hand.restore("buf-000003")
    source = (await hand.provenance("led-000001")).sources
    assert [(line.entry.id, line.where) for line in source] == [("buf-000001", "buffer")]
    await desk.fill(inn.talk(24, oldest=279, newest=200))
    await desk.engine(wire.reply(wire.chunk(["M1", "M2"], "P2 asked for a room and talked on."))).run_all(desk.world)
    assert (await desk.whereabouts())["buf-000003"] == ["buffer"]
    assert (await desk.whereabouts())["buf-000001"] == ["promoted"]
    assert len([entry for entry in await desk.ledger() if "room" in entry.content]) == 1


# surviving
async def test_a_memory_by_hand_survives_three_handoffs_and_maintenance(desk: Desk, inn: Inn, wire: Any) -> None:
    hand = at_hand(desk)
    written = await hand.add_memory(OWNER, "The wet stranger owes you three coins.", importance=1, ago=timedelta(hours=300))
    ago = 2000.0
    for number in range(3):
        await desk.fill(inn.talk(25, oldest=ago, newest=ago - 100))
        ago -= 150
        runs = await desk.engine(wire.reply(wire.chunk(["M1"], f"P2 spoke of matter {number}.", importance=2))).run_all(desk.world)
        assert [run.status for run in runs] == ["committed"]
    await desk.remember([inn.memory(f"{STRANGER} owed {BRYN} coin {n}.", 299 - n / 4, importance=1) for n in range(20)])
    policies = Policies(compression=CompressionPolicy(limit=10, newest=1, group=8))
    cited = json.dumps({
        "sourceEntryIds": [f"M{n}" for n in range(1, 9)], "content": "P2 owed P1 coins.", "quotes": [], "involvedEntityIds": [],
    })  # fmt: skip
    maintenance = CompressionEngine(desk.store, Router(Scripted([cited] * 9)), desk.embedder, policies, desk.events.append)
    for _ in range(4):
        await maintenance.run_all(desk.world)
    assert written in await desk.ledger()
    assert any(entry.origin == "compression" for entry in await desk.ledger())
    found = await hand.recall(OWNER, "three coins owed")
    assert written.id in {receipt.source for receipt in found.receipts}


async def test_an_edit_while_a_handoff_thinks_is_not_written_over(desk: Desk, inn: Inn, wire: Any) -> None:
    [thread] = await _thread(desk, wire)
    hand = at_hand(desk)
    reply = wire.reply(wire.chunk(["M1", "M2"], "P2 made good on the threat.", retainInBuffer=True))

    async def think(_: object) -> str:
        await hand.edit_memory(thread.id, MemoryEdit(content="It was never meant."))
        return str(reply)

    await desk.fill(inn.talk(14, oldest=279, newest=270))
    await desk.thinking(think).run_all(desk.world)
    [entry] = await desk.ledger()
    assert entry.content.startswith("It was never meant.")
    assert entry.origin == "hand"


async def _thread(desk: Desk, wire: Any) -> list[LedgerEntry]:
    await desk.old_pool()
    reply = wire.reply(wire.chunk(["M1"], "P2 threatened P1.", retainInBuffer=True))
    await desk.engine(reply).run_all(desk.world)
    return await desk.ledger()


async def test_a_slow_or_failing_embedder_costs_the_vector_only(desk: Desk) -> None:
    class Gone:
        name, dim, meaning, same, merge = "gone", 8, 0.3, 0.94, 0.94

        async def embed(self, texts: Sequence[str]) -> Any:
            raise ModelError("gone")

    entry = await at_hand(desk, Gone()).add_memory(OWNER, "It rained.")
    assert await desk.ledger() == [entry]
    assert (await whole(desk))["embeddings"] == []
