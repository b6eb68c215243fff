"""Play that pauses at a cap, rests when nobody can act, or is stopped while a model hangs loses nothing typed and says what to do."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest
from textual.pilot import Pilot

from engine.errors import CapReachedError
from engine.events import Called, ModelNote
from engine.files.bundled import WorldInfo
from engine.records.models import Call
from engine.settings import Settings
from tests.tui.keys import keys, opening
from tests.tui.scripted import FakeGame, FakeGames
from tests.tui.scripted_models import call
from tui.host import GameHost
from tui.pace import Refused, Rested
from tui.screens.models import ModelsScreen
from tui.screens.play import PlayScreen

Settle = Callable[[Pilot[Any]], Awaitable[None]]
Seen = Callable[[Pilot[Any]], str]
Open = Callable[..., AbstractAsyncContextManager[Pilot[Any]]]
SIZES = pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 50)], ids=["narrow", "medium", "wide"])
REASON = "The next call could pass the cap of 5,000 tokens [run]: 4,900 used."


@pytest.fixture
def playing(host: GameHost, worlds: Callable[[], Sequence[WorldInfo]], settle: Settle) -> Open:
    """A fresh game on the Play screen."""
    return opening(host, worlds, settle, "d")


def play(pilot: Pilot[Any]) -> PlayScreen:
    screen = pilot.app.screen
    assert isinstance(screen, PlayScreen)
    return screen


async def rested(host: GameHost) -> list[Any]:
    """Everything up to the moment play rests."""
    items: list[Any] = []
    while host.running or len(host.pacer):
        items += host.take()
        await asyncio.sleep(0)
    return [*items, *host.take()]


async def write(pilot: Pilot[Any], settle: Settle, text: str) -> None:
    """Write a line and send it."""
    await pilot.press(*("space" if char == " " else char for char in text))
    await keys(pilot, settle, "enter")


def spend(game: FakeGame, one: Call) -> None:
    """Count a call and tell of it, as the desk does."""
    game.models.meter.add(one)
    game._tell(Called(call=one))


# the host


async def test_a_cap_stops_a_run_of_rounds(host: GameHost, games: FakeGames, tmp_path: Any) -> None:
    game = await host.open_new(tmp_path)
    games.game.pause_next = REASON
    host.start_step(rounds=5)
    last = (await rested(host))[-1]
    assert (last.why, last.rounds, last.wanted, last.reason) == ("capped", 0, 5, REASON)
    assert game.world.round == 1
    host.start_step()
    assert (await rested(host))[-1].why == "done"
    await host.close()


async def test_what_could_not_be_done_before_a_cap_comes_back_and_what_was_done_does_not(
    host: GameHost, games: FakeGames, tmp_path: Any,
) -> None:
    game = await host.open_new(tmp_path)
    game.play_as("bryn")
    games.game.pause_next = REASON
    host.start_step("say one")
    host.start_step("say two")
    assert (await rested(host))[-1].text == "say one"
    games.game.pause_next, games.game.pause_before = REASON, "tam"
    host.start_step("say three")
    last = (await rested(host))[-1]
    assert (last.why, last.text) == ("capped", "")
    await host.close()


async def test_a_cap_that_stops_the_reading_of_a_line_gives_the_line_back(
    host: GameHost, games: FakeGames, tmp_path: Any, monkeypatch: pytest.MonkeyPatch,
) -> None:
    await host.open_new(tmp_path)

    async def capped(text: str = "") -> None:
        raise CapReachedError(REASON, cap="run_tokens")

    monkeypatch.setattr(games.game, "step", capped)
    host.start_step("I look around.")
    assert [item for item in await rested(host) if isinstance(item, Refused)] == [Refused("I look around.", REASON, capped=True)]
    await host.close()


async def test_a_run_rests_when_nobody_could_act_and_a_single_round_only_tells(host: GameHost, games: FakeGames, tmp_path: Any) -> None:
    await host.open_new(tmp_path)
    games.game.fail_all = "No answer."
    host.start_step(rounds=10)
    last = (await rested(host))[-1]
    assert (last.why, last.rounds, last.failed, last.reason) == ("failed", 1, 3, "No answer.")
    host.start_step()
    assert (await rested(host))[-1].why == "done"
    games.game.fail_all, games.game.fail_next = "", "Only one."
    host.start_step(rounds=3)
    assert [(item.why, item.rounds) for item in await rested(host) if isinstance(item, Rested)] == [("done", 3)]
    await host.close()


# the screen


@SIZES
async def test_a_pause_says_what_to_do_and_stays(
    playing: Open, settle: Settle, seen: Seen, games: FakeGames, size: tuple[int, int],
) -> None:
    async with playing(size) as pilot:
        games.game.pause_next = REASON
        await pilot.press("R", "enter")
        await settle(pilot)
        text = seen(pilot)
        assert "Paused at a cap: M raises it, then n goes on. 0 of 10 rounds played." in text
        assert f"» Play pauses: {REASON}" in " ".join(play(pilot).story.rows.text().split())
        note = play(pilot).view.note
        assert (note.kind, note.lasting) == ("bad", True)
        await keys(pilot, settle, "3", "1")
        assert "Paused at a cap" in seen(pilot)
        await keys(pilot, settle, "M", "4", "enter", *"90000", "enter", "escape", "n")
        assert "set caps.run_tokens 90000" in games.game.models.did
        assert "Round 2 is over." in seen(pilot)


async def test_a_player_is_given_the_line_back_and_told_the_key_that_works_in_it(
    playing: Open, settle: Settle, seen: Seen, games: FakeGames,
) -> None:
    async with playing() as pilot:
        await keys(pilot, settle, "t")
        games.game.pause_next = REASON
        await write(pilot, settle, "I wait and see.")
        line = play(pilot).story.say
        assert line.value == "I wait and see."
        assert line.has_focus
        assert "Paused at a cap: f2 raises it, then enter goes on." in seen(pilot)
        await keys(pilot, settle, "f2")
        assert isinstance(pilot.app.screen, ModelsScreen)
        await keys(pilot, settle, "escape", "enter")
        assert games.game.steps == ["I wait and see.", "I wait and see."]
        assert line.value == ""


async def test_a_run_in_which_nobody_can_act_says_why_it_rests(playing: Open, settle: Settle, seen: Seen, games: FakeGames) -> None:
    async with playing() as pilot:
        games.game.fail_all = "The provider [x] is away."
        await pilot.press("R", "enter")
        await settle(pilot)
        assert "Play rests: M shows the models, n tries again. 1 of 10 rounds played. The provider [x] is away." in seen(pilot)
        assert len(games.game.steps) == 1


async def test_a_beat_of_ones_own_that_fails_gives_the_line_back(playing: Open, settle: Settle, seen: Seen, games: FakeGames) -> None:
    async with playing() as pilot:
        await keys(pilot, settle, "t")
        games.game.fail_next = "The referee did not answer."
        await write(pilot, settle, "I open the door.")
        assert play(pilot).story.say.value == "I open the door."
        assert "could not act: The referee did not answer." in seen(pilot)


@SIZES
async def test_a_model_that_hangs_is_stopped_at_once_and_the_line_comes_back(
    playing: Open, settle: Settle, seen: Seen, games: FakeGames, size: tuple[int, int],
) -> None:
    async with playing(size) as pilot:
        await keys(pilot, settle, "3", "down", "t")
        games.game.gate = asyncio.Event()
        await pilot.press(*"hello", "enter")
        await pilot.pause()
        await pilot.pause()
        assert "running" in seen(pilot)
        await keys(pilot, settle, "escape")
        assert "Stopped. What you wrote was not done: it is in the line." in seen(pilot)
        assert play(pilot).story.say.value == "hello"
        games.game.gate = None
        await keys(pilot, settle, "end", "enter")
        assert games.game.steps == ["hello", "hello"]


async def test_what_is_said_of_a_model_shows_while_it_matters(playing: Open, settle: Settle, seen: Seen, games: FakeGames) -> None:
    async with playing() as pilot:
        game = games.game
        game._tell(ModelNote(task="actor", model="openai/x", text="actor: openai/x [x] is overloaded; it is asked again in 3 s."))
        await settle(pilot)
        assert "… actor: openai/x [x] is overloaded; it is asked again in 3 s." in seen(pilot)
        assert "overloaded" not in play(pilot).story.rows.text()
        game._tell(Called(call=call("actor", failed="cut off")))
        await settle(pilot)
        assert "overloaded" in seen(pilot)
        game._tell(Called(call=call("actor")))
        await settle(pilot)
        assert "overloaded" not in seen(pilot)
        assert "n plays the first round." in seen(pilot)


async def test_another_voice_is_told_in_the_story(playing: Open, settle: Settle, seen: Seen, games: FakeGames) -> None:
    async with playing() as pilot:
        games.game._tell(ModelNote(task="actor", model="x", text="actor: openai/x is rate limited; storyteller answers instead."))
        await settle(pilot)
        await keys(pilot, settle, "n")
        told = " ".join(play(pilot).story.rows.text().split())
        assert "» Actor: openai/x is rate limited; storyteller answers instead." in told
        assert "answers instead" not in seen(pilot).splitlines()[-2]


# the gauge


@SIZES
async def test_the_top_bar_shows_who_speaks_what_it_took_and_the_nearest_cap(
    playing: Open, settle: Settle, seen: Seen, games: FakeGames, size: tuple[int, int],
) -> None:
    async with playing(size) as pilot:
        game = games.game
        game.models.speaker = "anthropic/claude-haiku-4-5"
        game.models.settings = Settings.model_validate({"caps": {"run_tokens": 5_000, "day_money": 100.0}})
        await keys(pilot, settle, "M", "escape")
        for entity in ("bryn", "mira", "tam"):
            spend(game, call("actor", entity, cost=0.0071))
        await keys(pilot, settle, "n")
        top = seen(pilot).splitlines()[0]
        assert "round 1" in top
        assert "$0.021" in top
        assert "cap 60%" in top
        assert "claude-haiku-4-5" in top  # tokens give way to who speaks
        assert size[0] < 100 or "3.0k" in top or "3,000 tokens" in top
        if size[0] >= 120:
            assert "━" in top
        if size[0] == 200:
            assert "anthropic/claude-haiku-4-5 · 3,000 tokens · $0.021" in top


async def test_the_storyteller_shows_no_money_and_an_unknown_price_is_not_nothing(
    playing: Open, settle: Settle, seen: Seen, games: FakeGames,
) -> None:
    async with playing() as pilot:
        game = games.game
        spend(game, call(model="storyteller", cost=0.0))
        await settle(pilot)
        top = seen(pilot).splitlines()[0]
        assert "storyteller · 1,000 tokens" in top
        assert "$" not in top
        assert "free" not in top
        spend(game, call(cost=None))
        await settle(pilot)
        top = seen(pilot).splitlines()[0]
        assert "2,000 tokens · price unknown" in top
        assert "$0" not in top


async def test_a_name_from_settings_is_literal_in_the_top_bar(playing: Open, settle: Settle, seen: Seen, games: FakeGames) -> None:
    async with playing((200, 50)) as pilot:
        games.game.models.speaker = "openai/[red]x[/] [@click=app.quit]go[/]\x1b]52;c;aGk=\x07"
        await keys(pilot, settle, "M", "escape")
        assert "openai/[red]x[/] [@click=app.quit]go[/]]52;c;aGk=" in seen(pilot).splitlines()[0]
