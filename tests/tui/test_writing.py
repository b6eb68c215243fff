"""What the player wrote stands in the story from the moment it is sent until it is told, or is back in the line."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest
from textual.pilot import Pilot

from engine.errors import CommandError
from engine.events import BeatEnded, BeatFailed, BeatStarted, HandoffStarted, RoundStarted
from engine.files.bundled import WorldInfo
from engine.records.memory import TriggerReport
from tests.tui.keys import keys, opening
from tests.tui.scripted import START, FakeGames
from tui.host import GameHost
from tui.run import Run
from tui.screens.play import PlayScreen

Settle = Callable[[Pilot[Any]], Awaitable[None]]
Seen = Callable[[Pilot[Any]], str]
Open = Callable[..., AbstractAsyncContextManager[Pilot[Any]]]
SIZES = pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 50)], ids=["narrow", "medium", "wide"])
WAITS = 'You: "What of the pump?"  · waits for 1 handoff'


@pytest.fixture
def playing(host: GameHost, worlds: Callable[[], Sequence[WorldInfo]], settle: Settle) -> Open:
    """A round has been played, and Bryn is under the player's hand: her memory is full."""
    return opening(host, worlds, settle, "d", "n", "t")


def play(pilot: Pilot[Any]) -> PlayScreen:
    screen = pilot.app.screen
    assert isinstance(screen, PlayScreen)
    return screen


async def send(pilot: Pilot[Any], text: str) -> None:
    """Write a line and send it, without waiting for what comes of it."""
    play(pilot).story.say.value = text
    await pilot.press("enter")
    await moments(pilot)


async def moments(pilot: Pilot[Any]) -> None:
    """Let play go on as far as it can."""
    for _ in range(5):
        await pilot.pause()
        play(pilot).tick()
    await pilot.pause()


@SIZES
async def test_it_stands_in_the_story_while_handoffs_come_first(
    games: FakeGames, playing: Open, settle: Settle, seen: Seen, size: tuple[int, int]
) -> None:
    async with playing(size) as pilot:
        assert play(pilot).view.played == "bryn"
        games.game.handoff_gate = asyncio.Event()
        await send(pilot, '"What of the pump?"')
        assert WAITS in play(pilot).story.rows.text()
        assert WAITS in seen(pilot)
        assert play(pilot).story.say.value == ""
        assert "after that? escape stops." in seen(pilot)
        games.game.gate = asyncio.Event()
        games.game.handoff_gate.set()
        await moments(pilot)
        assert 'You: "What of the pump?"  · is being done…' in play(pilot).story.rows.text()
        games.game.gate.set()
        await settle(pilot)
        assert play(pilot).story.rows.text().count("What of the pump?") == 1
        assert "is being done" not in play(pilot).story.rows.text()
        assert "Enter alone waits." in seen(pilot)


async def test_what_is_written_ahead_waits_for_its_round(games: FakeGames, playing: Open, settle: Settle) -> None:
    async with playing() as pilot:
        games.game.gate = asyncio.Event()
        for text in ("First.", "Second.", "Third."):
            await send(pilot, text)
        told = play(pilot).story.rows.text()
        assert "You: First.  · is being done…" in told
        assert "You: Second.  · waits for the next round" in told
        assert "You: Third.  · waits for 2 more rounds" in told
        games.game.gate.set()
        await settle(pilot)
        told = play(pilot).story.rows.text()
        assert "You: " not in told
        assert told.index("First.") < told.index("Second.") < told.index("Third.")


async def test_escape_gives_it_back_to_the_line(games: FakeGames, playing: Open, settle: Settle, seen: Seen) -> None:
    async with playing() as pilot:
        games.game.handoff_gate = asyncio.Event()
        await send(pilot, '"What of the pump?"')
        await keys(pilot, settle, "escape")
        assert play(pilot).story.say.value == '"What of the pump?"'
        assert "You: " not in play(pilot).story.rows.text()
        assert "What you wrote was not done: it is in the line." in seen(pilot)


@pytest.mark.parametrize("why", ["nonsense", "fails"])
async def test_what_cannot_be_done_is_back_in_the_line(games: FakeGames, playing: Open, settle: Settle, why: str) -> None:
    async with playing() as pilot:
        if why == "fails":
            games.game.fail_all = "The model is away."
        await send(pilot, f"{why} a bit")
        await settle(pilot)
        assert play(pilot).story.say.value == f"{why} a bit"
        assert "You: " not in play(pilot).story.rows.text()


async def test_it_stands_there_when_nothing_was_told_yet(
    games: FakeGames, host: GameHost, worlds: Callable[[], Sequence[WorldInfo]], settle: Settle
) -> None:
    async with opening(host, worlds, settle, "d", "t")() as pilot:
        games.game.gate = asyncio.Event()
        await send(pilot, "[b]look[/] around")
        assert "You: [b]look[/] around" in play(pilot).story.rows.text()
        assert "Nothing has happened yet" not in play(pilot).story.rows.text()
        games.game.gate.set()
        await settle(pilot)


def test_what_a_text_waits_for_is_told_in_words() -> None:
    run = Run.of(2, "I knock.")
    assert list(run.waits) == ["waits for the next round"]
    assert run.begin() == "I knock."
    assert list(run.waits) == ["is being read…"]
    for entity in ("bryn", "mira"):
        report = TriggerReport(trigger="none", reason="-")
        run.hear(HandoffStarted(entity=entity, report=report, candidate_ids=()), "bryn")
    assert list(run.waits) == ["waits for 2 handoffs"]
    run.texts.append("I sit down.")
    assert list(run.waits) == ["waits for 2 handoffs", "waits for the next round"]
    run.looking_back.clear()
    run.hear(BeatStarted(round=1, entity="bryn"), "bryn")
    assert run.waits[0] == "is being done…"
    run.hear(BeatEnded(round=1, entity="bryn", now=START, prose="I knock."), "bryn")
    assert list(run.waits) == ["waits for the next round"]
    assert run.refused(CommandError("No.")).text == "I knock."
    assert not run.waits


def test_what_failed_is_done_first_of_all_in_the_next_round() -> None:
    run = Run.of(3, "I knock.")
    run.begin()
    run.texts.append("I sit down.")
    run.hear(RoundStarted(round=1, now=START), "bryn")
    run.hear(BeatFailed(entity="bryn", reason="The model is away."), "bryn")
    assert run.begin() == "I knock."
    run.hear(BeatEnded(round=2, entity="bryn", now=START, prose="I knock."), "bryn")
    assert run.begin() == "I sit down."
    assert run.rested("stopped").text == "I sit down."


async def test_who_writes_sees_what_comes_of_it_wherever_the_story_was_scrolled_to(playing: Open, settle: Settle, seen: Seen) -> None:
    async with playing((80, 24)) as pilot:
        for _ in range(3):
            await send(pilot, "I wait.")
            await settle(pilot)
        await keys(pilot, settle, "escape", "home", "n")
        assert "new below" in seen(pilot)
        assert "Round 5, says" not in seen(pilot)
        await keys(pilot, settle, "end")
        assert "new below" not in seen(pilot)
        assert "Round 5, says mira." in seen(pilot)
        await keys(pilot, settle, "home", "i")
        await send(pilot, "I sit down by the fire.")
        await settle(pilot)
        assert "I sit down by the fire." in seen(pilot)
        assert "Round 6, says" in seen(pilot)
        assert "new below" not in seen(pilot)
