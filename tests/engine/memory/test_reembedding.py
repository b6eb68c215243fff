"""Changing the embedder: every memory gets a new vector beside play, whatever breaks the work off."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.events import Embedding, Trouble
from engine.llm.hashing import Hash768
from engine.memory.recall.engine import RecallEngine
from engine.memory.reembedding import EmbeddingJob
from engine.records.policies import Policies

if TYPE_CHECKING:
    from tests.engine.memory.conftest import Desk

OWNERS = ("en_bryn", "en_sailor")


class Letters:
    """Another embedder: counts of letters."""

    name, dim, meaning, same, merge = "letters", 26, 0.6, 0.92, 0.94

    def __init__(self, held: asyncio.Event | None = None) -> None:
        self.calls: list[int] = []
        self.waiting = asyncio.Event()
        self._held = held

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.calls.append(len(texts))
        if self._held is not None and len(self.calls) > 1:
            self.waiting.set()
            await self._held.wait()
        return np.array([[1 + text.lower().count(chr(97 + n)) for n in range(26)] for text in texts], dtype=np.float32)


def job(desk: Desk, embedder: Any, forgotten: list[str] | None = None) -> EmbeddingJob:
    owners: list[str] = [] if forgotten is None else forgotten
    return EmbeddingJob(desk.store, embedder, desk.events.append, owners.append)


async def fill(desk: Desk, count: int = 150) -> None:
    """Memories of two owners, embedded by the built-in embedder."""
    await desk.remember([desk.inn.memory(f"A storm took {n} boats.", 500 + n, owner=OWNERS[n % 2]) for n in range(count)])
    await job(desk, Hash768()).run()
    desk.events.clear()


async def models(desk: Desk) -> dict[str, tuple[int, int]]:
    return await desk.store.db.read(desk.store.embeddings.models)


async def test_another_embedder_takes_over_completely_and_says_how_far_it_is(desk: Desk) -> None:
    await fill(desk)
    forgotten: list[str] = []
    assert await job(desk, Letters(), forgotten).run() == 150
    assert await models(desk) == {"letters": (26, 150)}
    told = [(e.model, e.done, e.total) for e in desk.events if isinstance(e, Embedding)]
    assert told == [("letters", 64, 150), ("letters", 128, 150), ("letters", 150, 150)]
    assert sorted(forgotten) == sorted(OWNERS)


async def test_nothing_to_do_is_not_told(desk: Desk) -> None:
    await fill(desk)
    embedder = Hash768()
    assert await job(desk, embedder).missing() == 0
    assert await job(desk, embedder).run() == 0
    assert desk.events == []


@pytest.mark.parametrize("spoil", ["error", "nan", "narrow"])
async def test_trouble_half_way_is_told_and_the_next_run_goes_on(desk: Desk, wire: Any, spoil: str) -> None:
    await desk.remember([desk.inn.memory(f"A storm took {n} boats.", 500 + n) for n in range(150)])
    assert await job(desk, wire.broken(spoil, after=100)).run() == 64
    assert [type(event) for event in desk.events] == [Embedding, Trouble]
    assert "86 memories are found by words only" in str(desk.events[-1])
    assert await job(desk, Hash768()).run() == 86
    assert await models(desk) == {"hash768": (768, 150)}


async def test_broken_off_it_keeps_what_was_done_and_the_old_vectors(desk: Desk) -> None:
    await fill(desk)
    embedder = Letters(held=asyncio.Event())
    running = asyncio.create_task(job(desk, embedder).run())
    await embedder.waiting.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert await models(desk) == {"hash768": (768, 150), "letters": (26, 64)}
    again = Letters()
    assert await job(desk, again).run() == 86
    assert again.calls == [64, 22]


async def test_vectors_of_two_embedders_are_never_mixed(desk: Desk) -> None:
    """Half-way, recall by the new embedder compares what it has embedded and finds the rest by words."""
    await fill(desk, 200)
    [needle] = await desk.remember([desk.inn.memory("A silver compass lies under the jetty.", 9000)])
    engine = RecallEngine(desk.store, Letters(), Policies())
    found = await engine.recall(desk.world, "en_bryn", [], desk.world.now, query="the silver compass")
    assert found.entries[0] == needle
    assert {receipt.cosine for receipt in found.receipts} == {0.0}
    todo = "Open the save to embed them, or run `otherminds embed`."
    assert found.problems == (f"101 of 101 memories are found by words only: letters has not embedded them yet. {todo}",)


async def test_a_memory_reworded_meanwhile_is_left_for_the_next_run(desk: Desk) -> None:
    [entry] = await desk.remember([desk.inn.memory("A pig flew.", 5)])

    class Meanwhile(Letters):
        async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
            if not self.calls:
                new = desk.inn.memory("A cow flew.", 5)
                await desk.store.db.write(lambda conn: desk.store.ledger.rewrite(conn, entry.id, new, (), "A cow flew."))
            return await super().embed(texts)

    embedder = Meanwhile()
    assert await job(desk, embedder).run() == 0
    assert await job(desk, embedder).run() == 1
