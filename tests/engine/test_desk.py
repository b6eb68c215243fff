"""The desk of a whole game: memories looked into, changed by hand and told as one while it is played with the storyteller."""

import shutil
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from engine.errors import CommandError, HandoffError
from engine.events import EngineEvent, HandoffCommitted, HandoffFailed, MemoryChanged
from engine.files.bundled import bundled_worlds
from engine.game import Game
from engine.records.review import MemoryEdit
from engine.storage.diff import differences

WORLD = next(info.path for info in bundled_worlds() if info.slug == "salt-lantern")


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """The bundled world, in which twenty memories of a mind are enough."""
    world = tmp_path / "world"
    shutil.copytree(WORLD, world)
    file = world / "world.yaml"
    file.write_text(file.read_text(encoding="utf-8") + "\npolicies: {compression: {limit: 20, newest: 8, group: 6}}\n", encoding="utf-8")
    return world


@pytest.fixture
async def game(tmp_path: Path) -> AsyncIterator[Game]:
    made = await Game.create(WORLD, tmp_path / "game.db", 7)
    yield made
    await made.close()


async def lived(game: Game, rounds: int = 4) -> str:
    """Play until somebody has an archive; who that is."""
    for _ in range(rounds):
        await game.step()
    owners = [agent.id for agent in game.world.agents() if await game.memory.archive(agent.id)]
    return owners[0]


async def test_the_archive_tells_what_became_of_each_moment(game: Game) -> None:
    owner = await lived(game)
    lines = await game.memory.archive(owner)
    moments = [(line.entry.timestamp, line.entry.seq) for line in lines]
    assert moments == sorted(moments, reverse=True)
    runs = {run.id: run for run in await game.runs(owner)}
    ledger = {line.entry.id: line.text for line in await game.ledger(owner)}
    for line in lines:
        assert (line.round, line.reason) == (runs[line.run].round, runs[line.run].reason)
        assert line.text == game.told(line.entry)
        assert (line.fate == "promoted") == bool(line.became)
        assert line.became == ledger.get(line.ledger_id or "", "")
    assert {line.fate for line in lines} == {"promoted", "forgotten"}


async def test_provenance_leads_to_every_source(game: Game) -> None:
    owner = await lived(game)
    for line in await game.ledger(owner):
        found = await game.memory.provenance(line.entry.id)
        assert (found.text, found.origin, found.told, found.versions) == (line.text, line.entry.origin, (), ())
        assert [source.entry for source in found.sources] == list(await game.sources(line.entry.id))
        assert (found.run is None) == (found.origin == "world")
        if found.run is not None:
            assert {source.entry.id for source in found.sources} <= set(found.run.candidate_ids)


async def test_a_memory_by_hand_enters_the_prompt_and_outlives_play(game: Game, tmp_path: Path) -> None:
    owner, other = (agent.id for agent in game.world.agents()[:2])
    events = list[EngineEvent]()
    game.listen(events.append)
    told = "You swore to keep the tin whistle for the boy."
    entry = await game.memory.add_memory(owner, told, importance=9, involved=[other], ago=timedelta(hours=5))
    assert [event for event in events if isinstance(event, MemoryChanged)] == [MemoryChanged(entity=owner, changed=(entry,))]
    assert told in (await game.preview(owner)).text
    for _ in range(6):
        await game.step()
    await game.close()
    again = await Game.open(tmp_path / "game.db")
    assert entry in [line.entry for line in await again.ledger(owner)]
    found = await again.memory.recall(owner, "tin whistle")
    assert entry.id in {kept.id for kept in found.entries}
    await again.memory.remove_memory(entry.id)
    assert told not in (await again.preview(owner)).text
    await again.close()


async def test_every_memory_saved_as_it_is_shown_stays_as_it_is(game: Game) -> None:
    owner = await lived(game)
    for line in await game.ledger(owner):
        kept = await game.memory.edit_memory(line.entry.id, MemoryEdit(content=line.text, quotes=line.entry.quotes))
        assert kept == line.entry


async def test_hand_edits_in_one_order_give_one_save(tmp_path: Path) -> None:
    for name in ("a.db", "b.db"):
        game = await Game.create(WORLD, tmp_path / name, 7)
        owner = await lived(game)
        entry = await game.memory.add_memory(owner, "You saw a light on the water.")
        await game.memory.edit_memory(entry.id, MemoryEdit(importance=8))
        await game.memory.restore((await game.memory.archive(owner))[0].entry.id)
        first, second, *_ = await game.ledger(owner)
        await game.memory.merge(first.entry.id, second.entry.id)
        await game.step()
        await game.memory.restore_memory(second.entry.id)
        await game.close()
    assert differences(tmp_path / "a.db", tmp_path / "b.db") == []


async def test_review_is_remembered_by_the_save(game: Game, tmp_path: Path) -> None:
    assert game.memory.review == "auto"
    await game.memory.set_review("ask")
    for _ in range(3):
        await game.step()
    waiting = await game.memory.pending()
    assert waiting
    await game.close()
    again = await Game.open(tmp_path / "game.db")
    assert again.memory.review == "ask"
    assert await again.memory.pending() == waiting
    owner = waiting[0].proposal.owner_id
    lines = await again.memory.chunk_lines(waiting[0])
    assert [line.verdict for line in lines] == list(waiting[0].verdicts)
    assert all(line.sources and "{{e:" not in line.text for line in lines)
    assert {source.where for line in lines for source in line.sources} == {"buffer"}
    for index in range(len(lines)):
        await again.memory.judge(owner, index, "accepted")
    run = await again.memory.finish(owner)
    assert (run.status, run.decision) == ("committed", "accepted")
    assert {line.text for line in lines} <= {line.text for line in await again.ledger(owner)}
    if len(waiting) > 1:
        assert (await again.memory.reject(waiting[1].proposal.owner_id)).decision == "rejected"
    with pytest.raises(HandoffError):
        await again.memory.finish(owner)
    with pytest.raises(CommandError):
        await again.memory.set_review("never")  # type: ignore[arg-type]
    await again.close()


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_sixty_rounds_with_small_ledgers_tell_old_days_as_one_and_lose_nothing(small: Path, tmp_path: Path) -> None:
    for name in ("a.db", "b.db"):
        game, events = await Game.create(small, tmp_path / name, 7), list[EngineEvent]()
        game.listen(events.append)
        for _ in range(60):
            await game.step()
        assert not [event for event in events if isinstance(event, HandoffFailed) and event.run.kind == "compression"]
        told = [event for event in events if isinstance(event, HandoffCommitted) and event.run.kind == "compression"]
        assert len(told) > 20
        for agent in game.world.agents():
            await _whole(game, agent.id)
        for event in told:
            [entry] = event.ledger
            found = await game.memory.provenance(entry.id)
            assert {line.memory.entry.id for line in found.told} == set(event.gone_ids)
            sources = {source for line in found.told for source in line.memory.source_ids}
            assert {source.entry.id for source in found.sources} == sources
            assert max(line.memory.entry.importance for line in found.told) == entry.importance <= 4
            assert "{{e:" not in found.text
            assert "someone" not in found.text
        await game.close()
    assert differences(tmp_path / "a.db", tmp_path / "b.db") == []


async def _whole(game: Game, owner: str) -> None:
    """Whatever left the ledger is told by something, and recall knows the ledger only."""
    living = {line.entry.id for line in await game.ledger(owner)}
    gone = await game.memory.archived_memories(owner)
    assert not living & {line.memory.entry.id for line in gone}
    assert all(line.memory.fate == "consolidated" and line.became for line in gone)
    found = await game.memory.recall(owner)
    assert {entry.id for entry in found.entries} <= living
    for line in await game.memory.archive(owner):
        assert (line.ledger_id in living) == (line.fate == "promoted")
