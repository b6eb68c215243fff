"""What has happened to a save is taken back and brought again: by step, by round, over a restart, with all that was held in memory."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from engine.errors import CommandError, SaveError
from engine.events import EngineEvent, HistoryMoved, SessionCollapsed
from engine.game import Game
from engine.llm.protocol import Completion, ModelRequest
from engine.records.review import MemoryEdit
from engine.records.sessions import CollapsePolicy
from engine.setup import Setup
from engine.storage.diff import differences
from engine.storage.rewind import copy_save
from tests.engine.behind import a_world
from tests.engine.storage.whole import everything, sound

ADA, BO = "ada_finch", "bo_reed"


@pytest.fixture
async def game(tmp_path: Path) -> AsyncIterator[Game]:
    made = await Game.create(a_world(tmp_path / "house"), tmp_path / "a.db", 7)
    yield made
    await made.close()


def rows(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """All of a save that is open elsewhere, or nowhere."""
    conn = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        return everything(conn)
    finally:
        conn.close()


async def test_a_beat_is_taken_back_as_a_beat_and_a_round_as_a_round(game: Game) -> None:
    start = rows(game.path)
    await game.step()
    first, world = rows(game.path), game.world
    await game.step()
    second = rows(game.path)
    steps = await game.history.done()
    assert [step.main.kind for step in steps[:3]] == ["beat"] * 3
    assert [step.main.round for step in steps[:3]] == [2] * 3
    taken = await game.history.undo()
    assert taken.text.startswith(game.name("cyd_marsh") + ": ")  # who acted last
    assert game.world.round == 2
    assert [line.actor for line in await game.story(None) if line.round == 2][-1] != "cyd_marsh"
    shown = await game.history.preview(to_round=1)
    assert shown.text.startswith("all of round 2: 2 beats")
    assert await game.history.undo(to_round=1) == shown
    assert rows(game.path) == first
    assert game.world == world
    await game.history.undo(to_round=0)
    assert rows(game.path) == start
    assert not await game.history.done()
    await game.history.redo(1000)
    assert rows(game.path) == second
    assert not await game.history.undone()


async def test_a_round_that_lost_its_last_beats_is_gone_on_with(game: Game, tmp_path: Path) -> None:
    """Those whose beats were taken back have their turn, also after a restart, and nobody else has two."""
    await game.step()
    await game.step()
    once = rows(game.path)
    await game.history.undo(2)
    await game.close()
    again = await Game.open(tmp_path / "a.db")
    report = await again.step()
    assert (report.round, report.beats) == (2, 2)
    now = rows(again.path)
    del now["ledger_use"], once["ledger_use"]  # counted at the end of a round: for the beats that were played then
    assert now == once
    await again.close()


async def test_what_was_taken_back_is_played_anew_the_same(game: Game, tmp_path: Path) -> None:
    """Nothing that was held in memory of the later rounds shows in the earlier ones: not a vector, not an alias, not a limit."""
    for _ in range(4):
        await game.step()
    copy_save(game.path, tmp_path / "once.db")
    await game.history.undo(to_round=1)
    for _ in range(3):
        await game.step()
    assert differences(game.path, tmp_path / "once.db") == []


async def test_each_change_by_hand_is_a_step_with_a_name(game: Game) -> None:
    start = rows(game.path)
    entry = (await game.buffer(ADA)).partition.candidates[0]
    await game.set_pin(entry.id, on=True)
    await game.set_alias(ADA, BO, "Master Reed")
    memory = await game.memory.add_memory(ADA, "Ada Finch saw a light at the mill.")
    await game.memory.edit_memory(memory.id, MemoryEdit(importance=9))
    known = await game.knowledge.add(BO, "Bo Reed keeps bees.")
    await game.knowledge.set_factions(BO, ["porters"])
    await game.memory.set_review("ask")
    end = rows(game.path)
    labels = [step.label for step in await game.history.done()]
    assert labels == [
        "Handoffs ask first", "Bo Reed: joined porters", "Bo Reed: a piece of knowledge was written", "Ada Finch: a memory was edited",
        "Ada Finch: a memory was written", "Ada Finch: the name for Bo Reed is Master Reed now",
        "Ada Finch: a moment was pinned",
    ]  # fmt: skip
    assert (await game.history.done(viewer=ADA))[4].label == "You: a memory was written"
    await game.history.undo()
    assert game.memory.review == "auto"
    await game.history.undo(3)
    assert game.world.entities[BO].factions == ()
    assert known.id not in {line.row.id for line in await game.knowledge.known_by(BO)}
    assert (await game.ledger(ADA))[-1].entry.importance == 5
    shown = await game.history.preview(3)
    assert shown.text == "round 0: 3 changes by hand, with 1 memory"
    await game.history.turn(shown)
    assert BO not in game.world.entities[ADA].aliases
    assert rows(game.path) == start
    await game.history.redo(7)
    assert rows(game.path) == end
    assert str(game.memory.review) == "ask"


async def test_what_is_new_ends_the_way_forth(game: Game) -> None:
    await game.set_alias(ADA, BO, "Master Reed")
    await game.set_alias(ADA, BO, "Goodman Reed")
    await game.history.undo(2)
    undone = [step.label for step in await game.history.undone()]
    assert undone == [f"Ada Finch: the name for Bo Reed is {name} Reed now" for name in ("Master", "Goodman")]
    await game.history.redo()
    await game.set_alias(ADA, BO, "Uncle Reed")
    assert not await game.history.undone()
    with pytest.raises(CommandError, match="nothing to bring again"):
        await game.history.redo()
    await game.history.undo()
    assert game.world.entities[ADA].aliases[BO] == "Master Reed"


async def test_both_ways_survive_a_restart(game: Game, tmp_path: Path) -> None:
    start = rows(game.path)
    for _ in range(3):
        await game.step()
    end = rows(game.path)
    await game.history.undo(4)
    middle = rows(game.path)
    await game.close()
    again = await Game.open(tmp_path / "a.db")
    assert rows(again.path) == middle  # nothing that is due ends the way forth
    await again.history.redo(4)
    assert rows(again.path) == end
    await again.history.undo(to_round=0)
    assert rows(again.path) == start
    await again.step()
    await again.close()


async def test_recall_and_words_find_nothing_that_was_taken_back(game: Game) -> None:
    question = "What of the heron's nest under the weir?"
    before = await game.memory.recall(ADA, question)
    memory = await game.memory.add_memory(ADA, "Ada Finch found a heron's nest under the weir.")
    assert memory.id in {entry.id for entry in (await game.memory.recall(ADA, question)).entries}
    await game.memory.edit_memory(memory.id, MemoryEdit(content="Ada Finch found an otter under the bridge."))
    await game.history.undo()
    found = (await game.memory.recall(ADA, question)).entries
    assert next(entry for entry in found if entry.id == memory.id).content == memory.content
    await game.history.undo()
    assert await game.memory.recall(ADA, question) == before
    await game.memory.add_memory(ADA, "Ada Finch lost a boot in the ford.")  # it bears the key that the nest bore
    now = await game.memory.recall(ADA, question)
    assert "heron" not in " ".join(entry.content for entry in now.entries)


async def test_it_is_told_and_does_exactly_what_was_shown(game: Game) -> None:
    heard: list[EngineEvent] = []
    game.listen(heard.append)
    await game.set_alias(ADA, BO, "Master Reed")
    shown = await game.history.preview()
    await game.set_alias(BO, ADA, "Mistress Finch")
    with pytest.raises(CommandError, match="Something else has happened"):
        await game.history.turn(shown)
    assert game.world.entities[BO].aliases[ADA] == "Mistress Finch"
    assert not any(isinstance(event, HistoryMoved) for event in heard)
    await game.history.undo()
    await game.history.undo()
    [first, second] = [event for event in heard if isinstance(event, HistoryMoved)]
    assert (first.back, first.text) == (True, "Bo Reed: the name for Ada Finch is Mistress Finch now")
    assert (second.text, second.round, second.now) == (shown.text, game.world.round, game.world.now)


@pytest.mark.parametrize("steps", [0, -1])
async def test_no_steps_are_none(game: Game, steps: int) -> None:
    with pytest.raises(CommandError, match="number from 1"):
        await game.history.undo(steps)


@pytest.mark.parametrize("number", [-1, 9])
async def test_a_round_that_was_not_played(game: Game, number: int) -> None:
    with pytest.raises(CommandError, match="no round"):
        await game.history.preview(to_round=number)


async def test_a_new_game_has_nothing_to_take_back(game: Game) -> None:
    assert (await game.history.preview()).steps == ()
    with pytest.raises(CommandError, match="nothing to take back"):
        await game.history.undo()


async def test_a_save_that_is_only_read_shows_it_and_changes_nothing(game: Game) -> None:
    await game.set_alias(ADA, BO, "Master Reed")
    path = game.path
    await game.close()
    looking = await Game.open(path, read_only=True)
    assert (await looking.history.preview()).text == "Ada Finch: the name for Bo Reed is Master Reed now"
    with pytest.raises(SaveError, match="reading only"):
        await looking.history.undo()
    assert looking.world.entities[ADA].aliases[BO] == "Master Reed"
    await looking.close()


async def test_not_while_a_round_is_played(tmp_path: Path) -> None:
    tried: list[str] = []
    going: list[Game] = []

    def sink(request: ModelRequest, completion: Completion) -> None:
        if request.task == "actor" and going:
            tasks.append(asyncio.get_running_loop().create_task(attempt()))

    async def attempt() -> None:
        with pytest.raises(CommandError, match="round is being played") as caught:
            await going[0].history.undo()
        tried.append(str(caught.value))

    tasks: list[asyncio.Task[None]] = []
    game = await Game.create(a_world(tmp_path / "house"), tmp_path / "a.db", 7, setup=Setup(sink=sink))
    await game.step()
    going.append(game)
    await game.step()
    await asyncio.gather(*tasks)
    assert len(tried) == 3
    await game.history.undo()
    await game.close()


async def test_what_was_under_way_beside_play_is_given_up(game: Game) -> None:
    """A collapse that was begun before its session was taken back writes nothing."""
    heard: list[EngineEvent] = []
    game.listen(heard.append)
    before = rows(game.path)
    session = await game.sessions.start(ADA, BO, CollapsePolicy(mode="explicit"))
    for number in range(8):
        await game.sessions.add_turn(session.id, "actor", f"I own a boat, the Heron, and it lies at the quay {number}.", pinned=True)
    await game.sessions.collapse(session.id)
    await game.history.undo(10)
    await game.settled()
    assert rows(game.path) == before
    assert not any(isinstance(event, SessionCollapsed) for event in heard)
    await game.history.redo(10)
    await game.step()  # marked as it is, it is begun again after a round
    await game.settled()
    assert [event.run.session_id for event in heard if isinstance(event, SessionCollapsed)] == [session.id]
    collapsed = rows(game.path)
    await game.history.undo()
    assert (await game.sessions.get(session.id)).status == "collapsing"
    assert len(await game.sessions.turns(session.id)) == 8
    await game.history.redo()
    assert rows(game.path) == collapsed
    await game.close()
    conn = sqlite3.connect(game.path, isolation_level=None)
    sound(conn)
    conn.close()
