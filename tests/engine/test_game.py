"""A game from creation to closing and on, over the bundled world with the storyteller."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from engine.errors import CommandError, SaveError, SettingsError, WorldFileError
from engine.events import AliasLearned, EngineEvent, HandoffCommitted, PinChanged
from engine.files.bundled import bundled_worlds
from engine.game import Game
from engine.llm.protocol import Completion, ModelRequest
from engine.setup import Setup
from engine.storage.diff import differences

WORLD = next(info.path for info in bundled_worlds() if info.slug == "salt-lantern")


@pytest.fixture
async def new(tmp_path: Path) -> AsyncIterator[Callable[..., Awaitable[Game]]]:
    games: list[Game] = []

    async def make(name: str = "a.db", **more: object) -> Game:
        games.append(await Game.create(WORLD, tmp_path / name, 7, **more))  # type: ignore[arg-type]
        return games[-1]

    yield make
    for game in games:
        await game.close()


async def test_the_preview_is_what_is_sent_and_changes_nothing(new: Callable[..., Awaitable[Game]], tmp_path: Path) -> None:
    sent: list[ModelRequest] = []

    def keep(request: ModelRequest, completion: Completion) -> None:
        sent.append(request)

    game = await new(setup=Setup(sink=keep))
    first, compared = game.world.agents()[0].id, 0
    for _ in range(8):
        before, runs = game.world, len(await game.runs(first))
        preview, again = await game.preview(first), await game.preview(first)
        assert preview == again
        assert game.world is before
        sent.clear()
        await game.step()
        if len(await game.runs(first)) == runs:  # a handoff in between changes what is remembered
            [request] = [r for r in sent if r.task == "actor" and r.entity == first]
            assert request.messages == preview.messages
            assert request.text == preview.text
            compared += 1
    assert compared >= 2


async def test_a_game_goes_on_where_it_was_left(new: Callable[..., Awaitable[Game]], tmp_path: Path) -> None:
    whole = await new("whole.db")
    for _ in range(6):
        await whole.step()
    await whole.close()
    part = await new("part.db")
    for _ in range(3):
        await part.step()
    world = part.world
    await part.close()
    again = await Game.open(tmp_path / "part.db")
    assert again.world == world
    for _ in range(3):
        await again.step()
    await again.close()
    assert differences(tmp_path / "whole.db", tmp_path / "part.db") == []


async def test_paths_may_be_texts(tmp_path: Path) -> None:
    game = await Game.create(str(WORLD), str(tmp_path / "text.db"))
    await game.close()
    again = await Game.open(str(tmp_path / "text.db"), read_only=True)
    assert again.path == tmp_path / "text.db"
    await again.close()


async def test_a_game_that_fails_to_open_leaves_no_save(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTHERMINDS_CONFIG", str(tmp_path / "config"))
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "settings.toml").write_text("[models]\nacter = 'storyteller'\n", encoding="utf-8")
    (tmp_path / "saves").mkdir()
    with pytest.raises(SettingsError):
        await Game.create(WORLD, tmp_path / "saves" / "a.db")
    assert list((tmp_path / "saves").iterdir()) == []


async def test_a_promotion_happens_within_two_rounds(new: Callable[..., Awaitable[Game]]) -> None:
    game, events = await new(), list[EngineEvent]()
    game.listen(events.append)
    await game.step()
    await game.step()
    committed = [event for event in events if isinstance(event, HandoffCommitted)]
    assert committed
    lines = await game.ledger(committed[0].entity)
    assert {line.entry.id for line in lines} >= {entry.id for entry in committed[0].ledger}
    sources = await game.sources(committed[0].ledger[0].id)
    assert {entry.id for entry in sources} <= {*committed[0].promoted_ids, *committed[0].pinned_ids}


async def test_a_hand_pins_and_lets_go(new: Callable[..., Awaitable[Game]]) -> None:
    game, events = await new(), list[EngineEvent]()
    game.listen(events.append)
    agent = game.world.agents()[0].id
    view = await game.buffer(agent)
    entry = view.partition.candidates[0]
    await game.set_pin(entry.id, True)
    assert [e.entry.pinned for e in events if isinstance(e, PinChanged)] == ["hand"]
    assert entry.id in {e.id for e in (await game.buffer(agent)).partition.held}
    for _ in range(3):
        await game.step()
    assert entry.id in (await game.buffer(agent)).lines
    await game.set_pin(entry.id, False)
    for _ in range(2):
        await game.step()
    assert entry.id not in (await game.buffer(agent)).lines
    with pytest.raises(CommandError, match="left working memory"):
        await game.set_pin(entry.id, True)


async def test_a_hand_sets_and_removes_an_alias(new: Callable[..., Awaitable[Game]]) -> None:
    game, events = await new(), list[EngineEvent]()
    game.listen(events.append)
    one, two, three = (agent.id for agent in game.world.agents()[:3])
    await game.set_alias(one, two, "  the [red]  liar\x1b[2J ")
    assert game.name(two, one) == "the [red] liar"
    with pytest.raises(CommandError, match="called"):
        await game.set_alias(one, three, "The [red] liar")
    await game.set_alias(one, two, "")
    assert two not in game.world.entities[one].aliases
    assert [c.cause for c in await game.alias_changes(one, two)][-2:] == ["by hand", "by hand"]
    assert len([e for e in events if isinstance(e, AliasLearned)]) == 2
    for text in ("{{e:x}}", "you", "x" * 61, "the", "asked", "=== RECENT EVENTS ==="):
        with pytest.raises(CommandError):
            await game.set_alias(one, two, text)
    with pytest.raises(CommandError):
        await game.set_alias(one, one, "myself")


async def test_a_player_acts_by_command_and_by_prose(new: Callable[..., Awaitable[Game]]) -> None:
    game = await new()
    [tam] = [e.id for e in game.world.agents() if e.id == "tam_birrell"]
    with pytest.raises(CommandError, match="Nobody is under your hand"):
        await game.step("say hello")
    game.play_as(tam)
    round_ = game.world.round
    with pytest.raises(CommandError):
        await game.step("take the moon")
    assert game.world.round == round_
    await game.step("go to the quay")
    assert game.world.places[game.world.entities[tam].place or ""].name == "the quay"
    await game.step('I look at the sky. "It will rain," I say. *I should be inside.*')
    told = [line.text for line in await game.story(tam) if line.actor == tam]
    assert 'It will rain' in " ".join(told)
    assert any(text.startswith("You thought: I should be inside") for text in told)
    before = len(told)
    await game.step()
    assert len([line for line in await game.story(tam) if line.actor == tam]) == before


async def test_things_cannot_be_played(new: Callable[..., Awaitable[Game]]) -> None:
    game = await new()
    thing = next(e.id for e in game.world.entities.values() if not e.agent)
    with pytest.raises(CommandError):
        game.play_as(thing)


async def test_a_new_game_never_overwrites(new: Callable[..., Awaitable[Game]], tmp_path: Path) -> None:
    game = await new("a.db")
    await game.close()
    size = (tmp_path / "a.db").stat().st_size
    with pytest.raises(SaveError):
        await Game.create(WORLD, tmp_path / "a.db")
    assert (tmp_path / "a.db").stat().st_size == size
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "world.yaml").write_text("name: x\nplaces: 3\n", encoding="utf-8")
    with pytest.raises(WorldFileError):
        await Game.create(tmp_path / "broken", tmp_path / "b.db")
    assert not (tmp_path / "b.db").exists()


async def test_looking_takes_no_round_and_shows_what_is_there(new: Callable[..., Awaitable[Game]]) -> None:
    game = await new()
    game.play_as("ines_calder")
    before = game.world
    await game.step("look")
    await game.step("look at the pot boy")
    assert (game.world.round, game.world.now) == (before.round, before.now)
    around, boy = [line.text for line in await game.story("ines_calder")]
    taproom = before.places[before.entities["ines_calder"].place or ""]
    assert around.startswith(f"You looked around. {' '.join(taproom.description.split())[:40]}")
    assert "the innkeeper" in around
    assert "Ways out: " in around
    label, appearance = (before.entities["tam_birrell"].value(name) or "" for name in ("label", "appearance"))
    assert boy.startswith(f"You looked at {label}. ")
    assert appearance.rstrip(".")[1:30] in boy


async def test_a_letter_opened_is_a_letter_read(new: Callable[..., Awaitable[Game]]) -> None:
    game = await new()
    writing = game.world.entities["th_letter"].attributes["writing"]
    assert not writing.may_know("ines_calder")
    game.play_as("ines_calder")
    await game.step("open the sealed letter")
    assert game.world.entities["th_letter"].attributes["writing"].may_know("ines_calder")
    [line] = [line.text for line in await game.story("ines_calder") if line.actor == "ines_calder"]
    assert writing.value.split(".")[0] in line
    assert writing.value.split(".")[0] in (await game.preview("ines_calder")).text
    others = [text for agent in game.world.agents() if agent.id != "ines_calder" for text in (await game.buffer(agent.id)).lines.values()]
    assert not [text for text in others if writing.value.split(".")[0] in text]


async def test_a_sleeper_can_only_wake(new: Callable[..., Awaitable[Game]]) -> None:
    game = await new()
    game.play_as("sabeth_wray")
    await game.step("sleep")
    with pytest.raises(CommandError, match="You are asleep"):
        await game.step("look")
    round_ = game.world.round
    await game.step("wake up")
    assert game.world.round == round_
    assert game.world.entities["sabeth_wray"].value("status") == "awake"


@pytest.mark.parametrize("text", ["north", "go to the moon", "take the sealed letter from the pot boy"])
async def test_what_makes_no_sense_costs_no_round(new: Callable[..., Awaitable[Game]], text: str) -> None:
    game = await new()
    game.play_as("tam_birrell")
    before = game.world.round
    with pytest.raises(CommandError):
        await game.step(text)
    assert game.world.round == before
