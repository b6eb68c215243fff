"""Asking anew in Review, in a whole game with the storyteller: what waits changes before one's eyes."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from engine.files.bundled import bundled_worlds
from engine.game import Game
from engine.llm.protocol import Completion, ModelRequest
from engine.records.memory import Chunk
from engine.records.review import PendingProposal
from engine.setup import Setup
from engine.storage.diff import differences

WORLD = next(info.path for info in bundled_worlds() if info.slug == "salt-lantern")


@pytest.fixture
def sent() -> list[ModelRequest]:
    """The model calls of the game."""
    return []


@pytest.fixture
async def game(tmp_path: Path, sent: list[ModelRequest]) -> AsyncIterator[Game]:
    """A game in which proposals wait."""

    def keep(request: ModelRequest, _: Completion) -> None:
        sent.append(request)

    made = await asking(tmp_path / "a.db", setup=Setup(sink=keep))
    yield made
    await made.close()


async def asking(path: Path, **more: Any) -> Game:
    """A game played until proposals wait in several minds."""
    made = await Game.create(WORLD, path, 7, **more)
    await made.memory.set_review("ask")
    while len(await made.memory.pending()) < 3:
        await made.step()
    return made


def seen(chunks: Sequence[Chunk]) -> list[tuple[object, ...]]:
    """What a person sees of chunks."""
    return [(chunk.content, chunk.quotes, chunk.importance, chunk.retain) for chunk in chunks]


async def test_asking_anew_for_the_whole_pool_changes_the_proposal_each_time(game: Game, sent: list[ModelRequest]) -> None:
    for waiting in await game.memory.pending():
        owner, shown = waiting.proposal.owner_id, [seen(waiting.proposal.chunks)]
        candidates = {entry.id for entry in waiting.proposal.candidates}
        for attempt in (1, 2, 3):
            sent.clear()
            pending = await game.memory.reroll(owner)
            [request] = sent
            assert (request.task, request.attempt, pending.attempt) == ("handoff", attempt, attempt)
            assert request.seed != game.world.seed
            shown.append(seen(pending.proposal.chunks))
            assert shown[-1] != shown[-2]
            assert pending.proposal.notes == waiting.proposal.notes
            assert {source for chunk in pending.proposal.chunks for source in chunk.source_ids} <= candidates
        assert shown[0] not in shown[1:]


async def test_asking_anew_for_each_part_changes_it_and_nothing_else(game: Game) -> None:
    for waiting in await game.memory.pending():
        owner, before = waiting.proposal.owner_id, waiting
        for index in reversed(range(len(waiting.proposal.chunks))):
            after = await game.memory.reroll(owner, index)
            was, now = seen(before.proposal.chunks), seen(after.proposal.chunks)
            count = len(now) - len(was) + 1
            assert now[index : index + count] != was[index : index + 1]
            assert (now[:index], now[index + count :]) == (was[:index], was[index + 1 :])
            before = after


async def decided(game: Game) -> list[PendingProposal]:
    """Ask twice in every mind, accept all, and play on."""
    waiting = list(await game.memory.pending())
    for proposal in waiting:
        owner = proposal.proposal.owner_id
        await game.memory.reroll(owner)
        pending = await game.memory.reroll(owner, 0)
        for index in range(len(pending.verdicts)):
            await game.memory.judge(owner, index, "accepted")
        run = await game.memory.finish(owner)
        assert (run.status, run.decision) == ("committed", "accepted")
    await game.step()
    return waiting


async def test_what_was_asked_anew_is_kept_and_comes_the_same_in_every_play(game: Game, tmp_path: Path) -> None:
    other = await asking(tmp_path / "b.db")
    try:
        assert await decided(game) == await decided(other)
    finally:
        await other.close()
    await game.close()
    assert differences(tmp_path / "a.db", tmp_path / "b.db") == []
