"""Models: trying what was only found, taking what a world suggests, caps in short, what save and day have taken."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest
from textual.pilot import Pilot

from engine.records.models import Forecast, LocalServer, Proposal, Spent, Usage
from tests.tui.keys import keys
from tests.tui.scripted_models import call
from tests.tui.test_models_mending import words
from tests.tui.test_models_screen import SIZES, desk, looking, pane, screen, typed  # noqa: F401 - fixtures
from tui.glyphs import REFUSED
from tui.panes.spending import foretold

Settle = Callable[[Pilot[Any]], Awaitable[None]]
Seen = Callable[[Pilot[Any]], str]
Open = Callable[..., AbstractAsyncContextManager[Pilot[Any]]]
HINTS = {"default": "openai/gpt-5-mini", "actor": "anthropic/claude-haiku-4-5"}


async def test_a_model_that_was_only_found_is_tried_and_nothing_is_written(looking: Open, settle: Settle, seen: Seen, desk: Any) -> None:  # noqa: F811
    async with looking() as pilot:
        await keys(pilot, settle, "2", "down")
        assert "t     tries it, and writes nothing" in words(pane(pilot, "endpoint-detail")).replace("t tries", "t     tries")
        await keys(pilot, settle, "t")
        assert "tested ollama_chat/llama3.2" in desk().did
        assert not [line for line in desk().did if line.startswith(("set", "use"))]
        assert "✓ answered in 1.3 s" in pane(pilot, "endpoints")
        assert "tested" in pane(pilot, "endpoint-detail")


async def test_something_busy_is_told_where_servers_are(looking: Open, settle: Settle, desk: Any) -> None:  # noqa: F811
    async with looking() as pilot:
        desk().found = (LocalServer(kind="busy", api_base="http://127.0.0.1:8080/v1", models=(), note="It may be at work."),)
        await keys(pilot, settle, "2", "r")
        text = words(pane(pilot, "endpoints"))
        assert "Something that is busy http://127.0.0.1:8080/v1 It may be at work." in text
        assert "offers no model" not in text


@SIZES
async def test_all_that_a_world_suggests_is_shown_with_its_cost_and_taken_with_a_key(
    looking: Open, settle: Settle, seen: Seen, desk: Any, size: tuple[int, int]  # noqa: F811
) -> None:  # fmt: skip
    async with looking(size) as pilot:
        desk().hints = HINTS
        screen(pilot).look()
        await keys(pilot, settle, "W")
        text = words(pane(pilot, "suggestions"))
        assert "everything openai/gpt-5-mini $0.25 in, $2 out per million · key set" in text
        assert "actor anthropic/claude-haiku-4-5 price unknown · " + f"{REFUSED} key missing: set SOME_API_KEY" in text
        assert "about 9 calls · 9,200 tokens · $0.020 · 14 s" in text
        assert "A hundred rounds like it: about $2.00." in text
        assert "No cap is set" in text
        assert "(here actor)" in text
        assert not [line for line in desk().did if line.startswith("set")]
        box, (width, height) = pilot.app.screen.query_one("#dialog").region, size
        assert abs((box.x + box.right) - width) <= 1
        assert abs((box.y + box.bottom) - height) <= 1
        await keys(pilot, settle, "enter")
        assert [line for line in desk().did if line.startswith("set")] == [
            "set models.default 'openai/gpt-5-mini'", "set models.actor 'anthropic/claude-haiku-4-5'",
        ]
        assert "The models that the world suggests answer from now on." in words(seen(pilot))


@pytest.mark.parametrize(("key", "written"), [("h", ["set models.hints True"]), ("escape", [])])
async def test_worlds_are_let_choose_or_left(looking: Open, settle: Settle, desk: Any, key: str, written: list[str]) -> None:  # noqa: F811
    async with looking() as pilot:
        desk().hints = HINTS
        screen(pilot).look()
        await keys(pilot, settle, "W", key)
        assert [line for line in desk().did if line.startswith("set")] == written


async def test_a_cost_that_is_unknown_is_said_to_be(looking: Open, settle: Settle, desk: Any) -> None:  # noqa: F811
    async with looking(settings={"caps": {"run_money": 2.0}}) as pilot:
        desk().hints = {"actor": "anthropic/claude-haiku-4-5"}
        foreseen = Forecast(calls=2, prompt_tokens=900, reply_tokens=100, cost=None, seconds=None, basis="a guess")
        desk().offer = Proposal(suggestions=(), forecast=foreseen)
        screen(pilot).look()
        await keys(pilot, settle, "W")
        text = words(pane(pilot, "suggestions"))
        assert "price unknown · time not known yet" in text
        assert "What they cost is unknown: no cap on money can hold them." in text
        assert "No cap is set" not in text
        assert "nothing here, for you have set who answers everything" in text


@pytest.mark.parametrize(("row", "text", "written"), [
    (0, "2k", "caps.run_tokens 2000"), (0, "1.5M", "caps.run_tokens 1500000"), (0, "200_000", "caps.run_tokens 200000"),
    (1, "$2", "caps.run_money 2.0"), (1, "1,200.50", "caps.run_money 1200.5"),
])
async def test_a_cap_is_written_as_people_write_it(
    looking: Open, settle: Settle, desk: Any, row: int, text: str, written: str  # noqa: F811
) -> None:  # fmt: skip
    async with looking() as pilot:
        await keys(pilot, settle, "4", *["down"] * row, "enter")
        await typed(pilot, text)
        await keys(pilot, settle, "enter")
        assert f"set {written}" in desk().did


async def test_a_cap_below_what_is_used_is_said_to_be_passed(looking: Open, settle: Settle, seen: Seen, desk: Any) -> None:  # noqa: F811
    async with looking() as pilot:
        desk().meter.add(call(prompt_tokens=5_000, reply_tokens=1_200))
        await keys(pilot, settle, "4", "enter")
        await typed(pilot, "1k")
        await keys(pilot, settle, "enter")
        text = words(seen(pilot))
        assert "It is set, but 6,200 of 1,000 are used already: play stands still until it is raised." in text
        assert "goes on" not in text.split("6,200 of 1,000 are used")[1]
        assert f"{REFUSED} passed 6,200 of 1,000" in words(pane(pilot, "caps"))
        assert "It is passed: no model is called until it is raised or taken out." in words(pane(pilot, "endpoint-detail"))
        await keys(pilot, settle, "enter")
        await typed(pilot, "10k")
        await keys(pilot, settle, "enter")
        assert "The cap on the tokens of this run is set. n in Play goes on." in words(seen(pilot))


async def test_what_save_and_day_have_taken_stands_below_this_sitting_and_at_caps_that_are_not_set(
    looking: Open, settle: Settle, desk: Any  # noqa: F811
) -> None:  # fmt: skip
    async with looking() as pilot:
        spent = Spent(calls=40, prompt_tokens=90_000, reply_tokens=9_000, cost=1.25, seconds=70)
        desk().taken = Usage(today=spent, save=spent + spent)
        desk().meter.add(call())
        screen(pilot).look()
        await settle(pilot)
        lines = [" ".join(line.split()) for line in pane(pilot, "meter").splitlines()]
        assert "80 180,000 18,000 $2.50 2 m 20 s" in lines[lines.index("this save, in all sittings") + 1]
        assert "40 90,000 9,000 $1.25 70 s" in lines[lines.index("today, all runs") + 1]
        caps = words(pane(pilot, "caps"))
        assert "tokens, today no cap · 99,000 used" in caps
        assert "money, today no cap · $1.25 used" in caps


@pytest.mark.parametrize(("seconds", "said"), [(None, "time not known yet"), (14.0, "14 s"), (0.0, "free")])
def test_a_time_that_nobody_knows_is_said_to_be_unknown(seconds: float | None, said: str) -> None:
    text = foretold(Forecast(calls=3, prompt_tokens=10, reply_tokens=10, cost=0.0, seconds=seconds, basis="a guess"))[0][0]
    assert text.endswith(said)
    assert "0.0 s" not in text


async def test_escape_is_told_once_while_a_model_is_tried(looking: Open, settle: Settle, seen: Seen, desk: Any) -> None:  # noqa: F811
    async with looking() as pilot:
        desk().gate = asyncio.Event()
        await pilot.press("t")
        await pilot.pause()
        bar = seen(pilot).splitlines()[-1]
        assert "esc Stop" in bar
        assert "esc Back" not in bar
        await keys(pilot, settle, "escape")
        bar = seen(pilot).splitlines()[-1]
        assert "esc Back" in bar
        assert "esc Stop" not in bar


