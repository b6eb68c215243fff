"""Old, unimportant memories are told as one when a ledger has grown past its size, and nothing is lost by it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pytest

from engine.errors import HandoffError, ModelError
from engine.events import HandoffCommitted, HandoffFailed, HandoffProposed
from engine.llm.protocol import ModelRequest
from engine.llm.router import Router
from engine.llm.scripted import Reply, Scripted
from engine.memory import editing
from engine.memory.compression.engine import CompressionEngine
from engine.memory.handoff.engine import HandoffEngine
from engine.memory.recall.engine import RecallEngine
from engine.records.memory import ArchivedMemory, HandoffRun, LedgerEntry, NewLedgerEntry
from engine.records.policies import CompressionPolicy, HandoffPolicy, Policies
from engine.records.review import MemoryEdit
from engine.records.tokens import token
from engine.storage.old_memories import ELIGIBLE

if TYPE_CHECKING:
    from tests.engine.memory.conftest import Desk, Inn

OWNER = "en_bryn"
BRYN, STRANGER, SAILOR = token("en_bryn"), token("en_stranger"), token("en_sailor")
POLICY = CompressionPolicy(limit=10, newest=4, group=4, importance=4)


def told(
    sources: Sequence[str] = ("M1", "M2", "M3", "M4"), content: str = "P2 and P1 talked of cards again and again.", **more: Any
) -> str:
    return json.dumps({"sourceEntryIds": list(sources), "content": content, "quotes": [], "involvedEntityIds": []} | more)


def cards(inn: Inn, count: int, oldest: float = 100.0, **more: Any) -> list[NewLedgerEntry]:
    """Small memories of one afternoon, a quarter of an hour apart."""
    values: dict[str, Any] = {"who": ("en_stranger",), "importance": 3} | more
    return [inn.memory(f"{STRANGER} told {BRYN} of card number {n}.", oldest - n / 4, **values) for n in range(count)]


class Press:
    """A compression engine over a desk, with the requests its model got."""

    def __init__(
        self, desk: Desk, *replies: Reply, policy: CompressionPolicy = POLICY, window: int = 8192, embedder: Any = None, ask: bool = False
    ) -> None:
        self.desk, self.model = desk, Scripted(replies, context_window=window)
        policies = Policies(compression=policy, handoff=HandoffPolicy(review="ask" if ask else "auto"))
        self.handoff = HandoffEngine(desk.store, Router(self.model), embedder or desk.embedder, policies, desk.events.append)
        self.engine = CompressionEngine(
            desk.store, Router(self.model), embedder or desk.embedder, policies, desk.events.append, handoff=self.handoff
        )

    async def round(self) -> tuple[HandoffRun, ...]:
        self.desk.world = self.desk.world.model_copy(update={"round": self.desk.world.round + 1})
        return await self.engine.run_all(self.desk.world)


async def archived(desk: Desk, owner: str = OWNER) -> list[ArchivedMemory]:
    return await desk.store.db.read(lambda conn: desk.store.ledger_archive.of_owner(conn, owner))


async def everything(desk: Desk) -> dict[str, list[Any]]:
    rows = await desk.rows()
    return rows | {"ledger_archive": await desk.store.db.read(lambda conn: conn.execute("SELECT * FROM ledger_archive").fetchall())}


async def test_up_to_the_limit_nothing_is_asked(desk: Desk, inn: Inn) -> None:
    await desk.remember(cards(inn, 10))
    press = Press(desk)
    assert await press.round() == ()
    assert press.model.requests == []


async def test_old_neighbours_become_one_memory(desk: Desk, inn: Inn) -> None:
    before = await desk.remember(cards(inn, 11))
    press = Press(desk, told())
    [run] = await press.round()
    assert (run.kind, run.status, run.added, run.candidate_ids) == ("compression", "committed", 1, tuple(e.id for e in before[:4]))
    assert run.reason == "11 memories, limit 10"
    ledger = await desk.ledger()
    new = ledger[0]
    assert [entry.id for entry in ledger[1:]] == [entry.id for entry in before[4:]]
    assert new.content == f"{STRANGER} and {BRYN} talked of cards again and again."
    assert (new.origin, new.importance, new.mode, new.location_id, new.run_id) == ("compression", 3, "done", "pl_bar", run.id)
    assert (new.timestamp, new.ended) == (before[0].timestamp, before[3].ended)
    assert new.involved_entity_ids == ("en_stranger",)
    gone = await archived(desk)
    assert [each.entry for each in gone] == before[:4]
    assert {(each.fate, each.into_id, each.run_id) for each in gone} == {("consolidated", new.id, run.id)}
    event = desk.events[-1]
    assert isinstance(event, HandoffCommitted)
    assert (event.ledger, event.gone_ids) == ((new,), tuple(entry.id for entry in before[:4]))
    vectors = await desk.store.db.read(lambda conn: desk.store.embeddings.of_entries(conn, [new.id], "hash768"))
    assert len(vectors) == 1


async def test_sources_of_all_are_the_sources_of_the_one(desk: Desk, inn: Inn, wire: Any) -> None:
    await desk.old_pool()
    await desk.engine(wire.reply(*(wire.chunk([f"M{n}"], f"P2 did thing {n}.", importance=2) for n in (1, 2, 3)))).run_all(desk.world)
    await desk.remember(cards(inn, 12, oldest=4.0, importance=9))
    old = await desk.ledger()
    small = [entry for entry in old if entry.importance == 2]
    sources = [key for entry in small for key in await desk.sources(entry.id)]
    [run] = await Press(desk, told(("M1", "M2", "M3")), policy=CompressionPolicy(limit=10, newest=1, group=4)).round()
    [new] = [entry for entry in await desk.ledger() if entry.origin == "compression"]
    assert run.status == "committed"
    assert sorted(await desk.sources(new.id)) == sorted(sources)
    assert len(sources) == 3


async def test_what_matters_was_written_by_hand_or_goes_on_is_left_alone(desk: Desk, inn: Inn, wire: Any) -> None:
    await desk.old_pool()
    pinned = [wire.chunk([f"M{n}"], f"P2 threatened P1, the {n}. time.", importance=3, retainInBuffer=True) for n in (1, 2, 3)]
    await desk.engine(wire.reply(*pinned)).run_all(desk.world)
    assert sum(entry.pinned == "model" for entry in await desk.buffer()) == 3
    hand = [each.model_copy(update={"origin": "hand"}) for each in cards(inn, 4, oldest=90)]
    await desk.remember([*hand, *cards(inn, 4, oldest=80, importance=5), *cards(inn, 2, oldest=70)])
    press = Press(desk, policy=CompressionPolicy(limit=10, newest=1, group=4))
    assert await press.round() == ()
    assert press.model.requests == []


async def test_the_newest_are_left_alone_and_other_minds_too(desk: Desk, inn: Inn) -> None:
    await desk.remember([*cards(inn, 3, oldest=500, importance=8), *cards(inn, 8), *cards(inn, 9, owner="en_smith", who=())])
    press = Press(desk, told(), policy=CompressionPolicy(limit=10, newest=4, group=4))
    await press.round()
    assert len(press.model.requests) == 1
    assert [each.entry.content[-2:] for each in await archived(desk)] == ["0.", "1.", "2.", "3."]
    assert await archived(desk, "en_smith") == []


async def test_the_prompt_holds_no_id_and_no_name_its_owner_has_not_heard(desk: Desk, inn: Inn) -> None:
    entries = cards(inn, 10)
    entries.insert(0, inn.memory(f"{STRANGER} quarrelled with {SAILOR} about {BRYN}.", 100.5, who=("en_smith",), quotes=["Cheat!"]))
    await desk.remember(entries)
    press = Press(desk, told())
    await press.round()
    [request] = press.model.requests
    text = request.text
    assert not [key for key in (*desk.world.entities, *desk.world.places, "led-", "run-") if key in text]
    assert "Gareth" not in text
    assert "Ansa" not in text
    assert "P1: Bryn Harrow" in text
    assert "P2: the wet stranger" in text
    assert "P3: Tom Reed" in text
    assert "P4: the sooty smith" in text
    assert "M1 [done, 4] a few days ago, in the taproom: P2 quarrelled with P3 about P1." in text
    assert '    Quote: "Cheat!"' in text
    assert request.task == "handoff"


@pytest.mark.parametrize(
    ("reply", "fault"),
    [
        (told(("M1",)), "it stands for 1"),
        (told(("M9", "M77")), "it stands for 0"),
        (told(content="  "), "blank"),
        (told(content="I talked of cards with P2."), "first person"),
        (told(content="I'm sorry, but I cannot summarise this."), "refusal"),
        (told(content="sourceEntryIds content quotes"), "form"),
        ("{", ""),
        ('{"$defs": {}, "properties": {}}', ""),
        (told()[:60], ""),
    ],
)
async def test_a_reply_that_cannot_be_kept_changes_nothing(desk: Desk, inn: Inn, reply: str, fault: str) -> None:
    await desk.remember(cards(inn, 11))
    before = await everything(desk)
    [run] = await Press(desk, reply, reply).round()
    assert (run.kind, run.status, len(run.candidate_ids)) == ("compression", "failed", 4)
    assert fault in run.error
    assert await everything(desk) == before
    assert isinstance(desk.events[-1], HandoffFailed)


@pytest.mark.parametrize("spoil", ["error", "nan", "short"])
async def test_an_embedder_that_fails_changes_nothing(desk: Desk, inn: Inn, wire: Any, spoil: str) -> None:
    await desk.remember(cards(inn, 11))
    before = await everything(desk)
    [run] = await Press(desk, told(), embedder=wire.broken(spoil)).round()
    assert run.status == "failed"
    assert await everything(desk) == before


async def test_what_the_reply_does_not_cite_stays(desk: Desk, inn: Inn) -> None:
    before = await desk.remember(cards(inn, 11))
    [run] = await Press(desk, told(("M1", "M3", "M9"), importance=9)).round()
    assert run.notes == ("'M9' is none of the memories",)
    assert [each.entry for each in await archived(desk)] == [before[0], before[2]]
    assert len(await desk.ledger()) == 10


async def test_quotes_are_those_of_the_memories(desk: Desk, inn: Inn) -> None:
    entries = [
        inn.memory(f"{STRANGER} swore by the sea.", 100, quotes=["By the sea, I saw it."]),
        inn.memory(f'{STRANGER} said "Never again" and left.', 99.9), *cards(inn, 9, oldest=99.5),
    ]  # fmt: skip
    await desk.remember(entries)
    [run] = await Press(desk, told(quotes=['"By the sea,  I saw it."', "Never again", "By the sea, I saw her."])).round()
    assert (await desk.ledger())[0].quotes == ("By the sea, I saw it.",)
    assert len(run.notes) == 2  # what an account put between quotation marks is no quote


async def test_an_account_quotes_nothing_but_quotes_of_the_memories(desk: Desk, inn: Inn) -> None:
    entries = [
        inn.memory(f"{STRANGER} swore by the sea.", 100, quotes=["By the sea, I saw it."]),
        inn.memory(f'{STRANGER} said "Never will the ship return" and left.', 99.9), *cards(inn, 9, oldest=99.5),
    ]  # fmt: skip
    await desk.remember(entries)
    content = 'P2 played cards, swore "By the sea, I saw it", left, and said "Never will the ship return".'
    [run] = await Press(desk, told(content=content)).round()
    new = (await desk.ledger())[0]
    assert new.content == f'{STRANGER} played cards, swore "By the sea, I saw it", left, and said Never will the ship return.'
    assert run.notes == ('nobody said "Never will the ship return": told without quotation marks',)


async def test_a_failed_group_is_not_asked_for_each_round(desk: Desk, inn: Inn) -> None:
    await desk.remember(cards(inn, 12))
    press = Press(desk, ModelError("gone"), told(), told())
    [failed] = await press.round()
    assert [await press.round() for _ in range(5)] == [()] * 5
    assert len(press.model.requests) == 1
    fresh = [each.model_copy(update={"created_round": desk.world.round}) for each in cards(inn, 4, oldest=20, importance=9)]
    await desk.remember(fresh)
    runs = await press.round()
    assert {run.status for run in runs} == {"committed"}
    assert not {key for run in runs for key in run.candidate_ids} & set(failed.candidate_ids)


async def test_one_failing_mind_stops_no_other(desk: Desk, inn: Inn) -> None:
    await desk.remember([*cards(inn, 11), *cards(inn, 11, owner="en_smith", who=("en_stranger",))])

    def reply(request: ModelRequest) -> str:
        return "no" if request.entity == OWNER else told(content="P2 spoke of cards.")

    runs = await Press(desk, reply, reply, reply).round()
    assert [(run.owner_id, run.status) for run in runs] == [(OWNER, "failed"), ("en_smith", "committed")]


async def test_a_ledger_far_over_the_limit_shrinks_over_rounds(desk: Desk, inn: Inn) -> None:
    await desk.remember(cards(inn, 60))
    press = Press(desk, *[told()] * 40)
    sizes = []
    for _ in range(14):
        runs = await press.round()
        assert len(runs) <= 2
        sizes.append(len(await desk.ledger()))
    assert sizes[0] == 54
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] <= 13
    assert sizes[-1] == sizes[-2]
    gone = {each.entry.id for each in await archived(desk)}
    assert len(gone | {entry.id for entry in await desk.ledger()}) == len(gone) + sizes[-1]


async def test_a_memory_changed_meanwhile_stops_the_commit(desk: Desk, inn: Inn) -> None:
    before = await desk.remember(cards(inn, 11))
    waiting: list[LedgerEntry] = []

    class Meddling:
        """An embedder during whose work a hand edits a memory."""

        name, dim, meaning, same, merge = "hash768", 768, 0.3, 0.94, 0.94

        async def embed(self, texts: Sequence[str]) -> Any:
            change = MemoryEdit(content="Nothing of the kind happened.")
            waiting.append(await desk.store.db.write(lambda conn: editing.edit(conn, desk.store, desk.world, before[1].id, change)))
            return await desk.embedder.embed(texts)

    press = Press(desk, told(), embedder=Meddling())
    [run] = await press.round()
    assert run.status == "failed"
    assert "changed" in run.error
    assert len(await desk.ledger()) == 11
    assert (await desk.ledger())[1] == waiting[0]


async def test_a_group_too_long_for_the_window_is_cut(desk: Desk, inn: Inn) -> None:
    await desk.remember(long(inn))
    [run] = await Press(desk, told(("M1", "M2"), "P2 spoke of the tide."), window=1700).round()
    assert (run.status, len(run.candidate_ids)) == ("committed", 3)


async def test_what_no_window_holds_is_said(desk: Desk, inn: Inn) -> None:
    await desk.remember(long(inn))
    [run] = await Press(desk, told(), window=900).round()
    assert run.status == "failed"
    assert "window" in run.error


def long(inn: Inn) -> list[NewLedgerEntry]:
    tide = "The tide came in and went. " * 40
    return [inn.memory(f"{STRANGER} spoke. {tide}", 100 - n / 4, importance=2) for n in range(11)]


async def test_with_review_on_a_compression_waits(desk: Desk, inn: Inn) -> None:
    before = await desk.remember(cards(inn, 20))
    press = Press(desk, told(), told(content="P2 spoke to P1 of cards all afternoon."), ask=True)
    assert await press.round() == ()
    assert isinstance(desk.events[-1], HandoffProposed)
    assert await press.round() == ()  # it waits: nothing else is asked
    assert len(press.model.requests) == 1
    assert await desk.ledger() == before
    review = press.handoff.review
    again = await review.reroll(desk.world, OWNER, 0)
    assert "all afternoon" in again.proposal.chunks[0].content
    assert press.model.requests[0].seed != press.model.requests[1].seed
    await review.judge(OWNER, 0, "accepted")
    run = await review.finish(desk.world, OWNER)
    assert (run.kind, run.decision, run.status) == ("compression", "accepted", "committed")
    assert len(await archived(desk)) == 4
    assert len(await desk.ledger()) == 17


async def test_a_rejected_compression_leaves_the_memories_alone(desk: Desk, inn: Inn) -> None:
    before = await desk.remember(cards(inn, 12))
    press = Press(desk, told(), told(), ask=True)
    await press.round()
    await press.handoff.review.reject(desk.world, OWNER)
    assert await press.round() == ()
    assert await desk.ledger() == before
    with pytest.raises(HandoffError):
        await press.handoff.review.finish(desk.world, OWNER)


async def test_recall_finds_the_one_and_no_longer_the_many(desk: Desk, inn: Inn) -> None:
    await desk.remember(cards(inn, 11))
    recall = RecallEngine(desk.store, desk.embedder, Policies())
    first = await recall.recall(desk.world, OWNER, [], inn.now, query="card number 2")
    await Press(desk, told()).round()
    recall.forget(OWNER)
    after = await recall.recall(desk.world, OWNER, [], inn.now, query="talked of cards")
    living = {entry.id for entry in await desk.ledger()}
    assert {entry.id for entry in first.entries} - living
    assert {entry.id for entry in after.entries} <= living
    assert any(entry.origin == "compression" for entry in after.entries)


async def test_choosing_reads_the_owner_in_order_of_time_and_no_text(desk: Desk) -> None:
    def plan(conn: sqlite3.Connection) -> list[str]:
        asked = ("en_bryn", "1247", "1247", 0, "1248", 9, 4, 400)
        return [row[3] for row in conn.execute(f"EXPLAIN QUERY PLAN {ELIGIBLE}", asked)]

    steps = await desk.store.db.read(plan)
    assert steps[0].startswith("SEARCH entry USING INDEX ledger_entries_by_time (owner_id=? AND timestamp>? AND timestamp<?)")
    assert not any("SCAN" in step or "TEMP B-TREE" in step for step in steps)
    assert "content" not in ELIGIBLE


async def test_a_ledger_of_grave_memories_is_looked_through_once_until_it_changes(desk: Desk, inn: Inn) -> None:
    await desk.remember(cards(inn, 30, importance=9))
    press, looked = Press(desk, told(("M1", "M2", "M3"))), 0
    eligible = desk.store.old_memories.eligible

    def counted(*given: Any) -> Any:
        nonlocal looked
        looked += 1
        return eligible(*given)

    object.__setattr__(desk.store.old_memories, "eligible", counted)
    assert [await press.round() for _ in range(4)] == [()] * 4
    assert looked == 2  # from the last compression on, and once more from the beginning
    await desk.remember([*cards(inn, 3, oldest=20), *cards(inn, 4, oldest=10, importance=9)])
    [run] = await press.round()
    assert run.status == "committed"
