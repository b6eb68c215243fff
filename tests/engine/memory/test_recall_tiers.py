"""Tiers side by side: one that fails, is slow or is cancelled costs content, never the turn."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.errors import ModelError
from engine.llm.hashing import Hash768
from engine.memory.recall.dispatch import side_by_side, within
from engine.memory.recall.engine import RecallEngine
from engine.memory.reembedding import embed_missing
from engine.records.policies import Policies, RecallPolicy
from engine.records.prompts import Recollection
from engine.storage.ledger import LedgerRepository

if TYPE_CHECKING:
    from tests.engine.memory.conftest import Desk

HASTY = Policies(recall=RecallPolicy(patience=0.3))


class Slow(Hash768):
    """An embedder whose answer never comes."""

    def __init__(self) -> None:
        super().__init__()
        self.asked, self.broken_off = asyncio.Event(), asyncio.Event()
        self.calls = 0

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.calls += 1
        self.asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.broken_off.set()
        raise AssertionError("nobody sets it")


async def recall(desk: Desk, engine: RecallEngine, said: str = "What of the compass?") -> Recollection:
    return await engine.recall(desk.world, "en_bryn", desk.inn.numbered([desk.inn.said(said, 1)]), desk.world.now)


async def filled(desk: Desk) -> None:
    deeds = ["buried a silver compass.", "sang.", "lost at dice."]
    await desk.remember([desk.inn.memory(f"{{{{e:en_stranger}}}} {deed}", 50, who=("en_stranger",)) for deed in deeds])
    await embed_missing(desk.store, Hash768())


async def test_a_slow_embedder_leaves_words_and_structure(desk: Desk) -> None:
    await filled(desk)
    slow = Slow()
    found = await recall(desk, RecallEngine(desk.store, slow, HASTY))
    assert "compass" in found.entries[0].content
    assert len(found.entries) == 3
    assert found.problems == ("Memories were not compared by meaning: there was no answer within 0.3 seconds.",)
    assert all(receipt.cosine == 0 for receipt in found.receipts)
    assert slow.broken_off.is_set()


async def test_an_embedder_that_hangs_is_waited_for_once_in_a_while(desk: Desk) -> None:
    await filled(desk)
    slow = Slow()
    engine = RecallEngine(desk.store, slow, Policies(recall=RecallPolicy(patience=0.3)))
    found = [await recall(desk, engine) for _ in range(22)]
    assert slow.calls == 2
    assert all("compass" in one.entries[0].content for one in found)
    [problem] = found[1].problems
    assert problem.endswith("hash768 did not answer lately and is not asked again for a while.")


async def test_a_database_that_does_not_answer_is_left_out(desk: Desk) -> None:
    await filled(desk)
    engine, gate = RecallEngine(desk.store, Hash768(), HASTY), threading.Event()
    await recall(desk, engine)
    busy = asyncio.ensure_future(desk.store.db.read(lambda conn: gate.wait(60)))
    try:
        found = await recall(desk, engine)
    finally:
        gate.set()
        await busy
    assert (found.entries, found.receipts, found.candidates) == ((), (), ())
    assert found.problems == ("Long-term memory could not be read: there was no answer within 0.3 seconds.",)
    patient = RecallEngine(desk.store, Hash768(), Policies())
    assert (await recall(desk, engine)).entries == (await recall(desk, patient)).entries


@pytest.mark.parametrize("step", ["structural", "numbers_by_words", "numbered", "sources_of", "scan"])
async def test_one_failing_read_is_told_and_the_next_recall_is_whole(desk: Desk, step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    await filled(desk)
    engine = RecallEngine(desk.store, Hash768(), Policies())
    if step != "scan":  # a first recall reads everything in one pass
        await recall(desk, engine)
    before = await recall(desk, RecallEngine(desk.store, Hash768(), Policies()))

    def fail(*_: object, **__: object) -> Any:
        raise sqlite3.OperationalError("disk I/O error")

    if step == "scan":
        await recall(desk, engine)
    with monkeypatch.context() as patch:
        patch.setattr(LedgerRepository, step, fail)
        found = await recall(desk, engine)
    assert found.entries == ()
    assert len(found.problems) == 1
    assert found.problems[0].startswith("Long-term memory could not be read: ")
    assert await recall(desk, engine) == before


async def test_what_is_known_fails_apart_from_what_is_remembered(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    await filled(desk)

    def fail(*_: object) -> Any:
        raise sqlite3.OperationalError("disk I/O error")

    engine = RecallEngine(desk.store, Hash768(), Policies())
    with monkeypatch.context() as patch:
        patch.setattr(type(desk.store.lore), "all", fail)
        found = await recall(desk, engine)
    assert len(found.entries) == 3
    assert [problem.partition(":")[0] for problem in found.problems] == ["What is known of the world could not be read"]
    assert (await recall(desk, engine)).problems == ()


async def test_a_cancelled_recall_stops_what_it_asked(desk: Desk) -> None:
    await filled(desk)
    slow = Slow()
    asking = asyncio.ensure_future(recall(desk, RecallEngine(desk.store, slow, Policies())))
    await slow.asked.wait()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert slow.broken_off.is_set()


async def test_a_fault_of_ours_is_not_swallowed_and_stops_the_other_tier() -> None:
    stopped = asyncio.Event()

    async def wait() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    async def fault() -> None:
        await asyncio.sleep(0)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await side_by_side(within(60, wait(), "A"), within(60, fault(), "B"))
    assert stopped.is_set()


async def test_within_gives_what_came_or_says_what_is_missing() -> None:
    async def give() -> int:
        return 5

    async def fail() -> int:
        raise ModelError("It is gone.", "Try later.")

    assert await within(1, give(), "It") == (5, ())
    assert await within(1, fail(), "It") == (None, ("It: It is gone. Try later.",))
    assert await within(0.01, asyncio.Event().wait(), "It") == (None, ("It: there was no answer within 0.01 seconds.",))


async def test_a_matrix_read_before_a_hand_edit_does_not_come_back_after_it(desk: Desk) -> None:
    [entry] = await desk.remember([desk.inn.memory("A pig flew.", 50)])
    engine, gate, waiting = RecallEngine(desk.store, Hash768(), Policies()), threading.Event(), threading.Event()

    def hold(conn: sqlite3.Connection) -> None:
        waiting.set()
        gate.wait(60)

    busy = asyncio.ensure_future(desk.store.db.read(hold))
    await asyncio.to_thread(waiting.wait, 60)
    asking = asyncio.ensure_future(recall(desk, engine))
    for _ in range(5):
        await asyncio.sleep(0)  # its read waits behind the busy one
    edited = desk.inn.memory("A pig flew.", 1).model_copy(update={"importance": 10})
    edit = asyncio.ensure_future(desk.store.db.write(lambda conn: desk.store.ledger.rewrite(conn, entry.id, edited, (), "A pig flew.")))
    await asyncio.sleep(0)
    engine.forget("en_bryn")
    gate.set()
    await asyncio.gather(busy, asking, edit)
    found = await recall(desk, engine)
    assert found.candidates[0].importance == pytest.approx(0.1)
    assert found == await recall(desk, RecallEngine(desk.store, Hash768(), Policies()))
