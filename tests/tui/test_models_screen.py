"""The Models screen: who answers what, what it took, caps, servers on this machine, live tests."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from textual.events import Key
from textual.pilot import Pilot
from textual.screen import Screen

from engine.files.bundled import WorldInfo
from engine.records.models import LocalServer, TestReport
from engine.settings import Settings
from tests.tui.keys import keys, opening
from tests.tui.scripted import HOSTILE, FakeGames
from tests.tui.scripted_models import MARKUP, SERVER, FakeModels, call
from tests.tui.test_hostile import harmless
from tui.app import OthermindsApp
from tui.glyphs import REFUSED
from tui.host import GameHost
from tui.screens.home import HomeScreen
from tui.screens.models import ModelsScreen
from tui.screens.play import PlayScreen

Settle = Callable[[Pilot[Any]], Awaitable[None]]
Seen = Callable[[Pilot[Any]], str]
Open = Callable[..., AbstractAsyncContextManager[Pilot[Any]]]
SIZES = pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 50)], ids=["narrow", "medium", "wide"])
PAID = {"default": "openai/gpt-5-mini", "actor": ["anthropic/claude-haiku-4-5", "openai/gpt-5-mini", "storyteller"]}


@pytest.fixture
def looking(host: GameHost, worlds: Callable[[], Sequence[WorldInfo]], settle: Settle, games: FakeGames) -> Open:
    """The Models screen over a game one round in."""

    @asynccontextmanager
    async def opened(size: tuple[int, int] = (120, 40), settings: dict[str, Any] | None = None) -> AsyncIterator[Pilot[Any]]:
        async with opening(host, worlds, settle, "d", "n")(size) as pilot:
            games.game.models.settings = Settings.model_validate(settings or {})
            await keys(pilot, settle, "M")
            yield pilot

    return opened


@pytest.fixture
def desk(games: FakeGames) -> Callable[[], FakeModels]:
    """The desk of the open game."""
    return lambda: games.game.models


def screen(pilot: Pilot[Any]) -> ModelsScreen:
    found = pilot.app.screen
    assert isinstance(found, ModelsScreen)
    return found


def at(pilot: Pilot[Any], kind: type[Screen[Any]]) -> bool:
    """Whether one is on a screen of this kind."""
    return isinstance(pilot.app.screen, kind)


def pane(pilot: Pilot[Any], name: str) -> str:
    """All rows of a pane, also those out of sight."""
    found = pilot.app.screen.query_one(f"#{name}")
    return str(getattr(found, "text")())  # noqa: B009 - a row list


async def typed(pilot: Pilot[Any], text: str) -> None:
    """Write over what stands in the field."""
    signs = {"/": "slash", "-": "minus", ".": "full_stop", ",": "comma", " ": "space", "_": "underscore", "$": "dollar_sign"}
    await pilot.press("end", "ctrl+u", *(signs.get(char, char) for char in text))


# who answers what


@SIZES
async def test_every_task_says_who_answers_and_who_says_so(looking: Open, seen: Seen, desk: Any, size: tuple[int, int]) -> None:
    async with looking(size, {"models": PAID}) as pilot:
        desk().notes["anthropic/claude-haiku-4-5"] = "rests until 12:04: rate limited"
        screen(pilot).look()
        await pilot.pause()
        text = pane(pilot, "tasks")
        lines = text.splitlines()
        assert lines[0].split() == ["everything", "openai/gpt-5-mini", "settings"]
        assert "200,000 tokens, from the price list" in text
        assert "$0.25 in, $2 out per million · key set" in text
        assert "then openai/gpt-5-mini, storyteller" in text
        assert "price unknown" in text
        assert f"{REFUSED} key missing: set SOME_API_KEY" in text
        assert "rests until 12:04: rate limited" in " ".join(text.split())
        assert next(line for line in lines if "decode" in line).split() == ["decode", "openai/gpt-5-mini", "as", "default"]
        assert "hash768" in text
        on_screen = seen(pilot)
        assert "[1 Tasks]" in on_screen
        assert "Answers every task that has no model of its own." in on_screen


async def test_the_storyteller_alone_has_no_key_and_no_cost(looking: Open, seen: Seen) -> None:
    async with looking() as pilot:
        text = seen(pilot)
        assert "the storyteller speaks for everybody" in text
        assert "built in: no key, no network, no cost" in text
        assert "No call yet." in text
        assert "$" not in text.split("The next round")[0]


@SIZES
async def test_a_task_is_given_a_model_fallbacks_and_a_temperature(
    looking: Open, settle: Settle, seen: Seen, desk: Any, size: tuple[int, int],
) -> None:
    async with looking(size) as pilot:
        await keys(pilot, settle, "down", "enter")
        assert "Who answers actor" in seen(pilot)
        await typed(pilot, "openai/gpt-5")
        await pilot.press("tab")
        await typed(pilot, "storyteller")
        await pilot.press("tab")
        await typed(pilot, "0.8")
        await keys(pilot, settle, "enter")
        assert desk().did[-2:] == ["set models.actor {'model': 'openai/gpt-5', 'fallbacks': ['storyteller'], 'temperature': 0.8}", "ready"]
        text = seen(pilot)
        assert "openai/gpt-5 answers actor from now on." in text
        assert "then storyteller" in text


async def test_a_name_alone_is_written_alone_and_the_list_narrows_to_what_is_typed(
    looking: Open, settle: Settle, seen: Seen, desk: Any,
) -> None:
    async with looking(settings={"models": PAID}) as pilot:
        await keys(pilot, settle, "end", "up", "e")
        assert "Who answers handoff" in seen(pilot)
        await typed(pilot, "claude")
        await pilot.pause()
        assert pane(pilot, "route-choices").split() == ["anthropic/claude-haiku-4-5"]
        await keys(pilot, settle, "down", "enter", "enter")
        assert "set models.handoff 'anthropic/claude-haiku-4-5'" in desk().did


async def test_fallbacks_are_taken_from_the_list_one_after_the_other(looking: Open, settle: Settle, desk: Any) -> None:
    async with looking(settings={"models": PAID}) as pilot:
        await keys(pilot, settle, "end", "up", "up", "enter", "tab", "down", "enter", "comma", "down", "down", "enter", "ctrl+s")
        [written] = [line for line in desk().did if line.startswith("set models.referee")]
        assert written.endswith("['openai/gpt-5-mini', 'openai/gpt-5-mini', 'anthropic/claude-haiku-4-5']")


async def test_what_cannot_be_written_stays_in_the_dialog_with_the_reason(looking: Open, settle: Settle, seen: Seen, desk: Any) -> None:
    async with looking() as pilot:
        desk().refuse = "`models.actor` names no model [x]."
        await keys(pilot, settle, "down", "enter")
        await typed(pilot, "nobody")
        await keys(pilot, settle, "enter")
        text = seen(pilot)
        assert "`models.actor` names no model [x]. Correct it." in text
        assert "nobody" in text
        desk().refuse = ""
        await keys(pilot, settle, "ctrl+s")
        assert "set models.actor 'nobody'" in desk().did


@pytest.mark.parametrize("wrong", ["warm", "3", "-1", "nan", "inf"])
async def test_a_temperature_that_is_none_is_said_and_nothing_is_lost(
    looking: Open, settle: Settle, seen: Seen, desk: Any, wrong: str,
) -> None:
    async with looking() as pilot:
        await keys(pilot, settle, "down", "enter", "tab", "tab")
        await typed(pilot, wrong)
        await keys(pilot, settle, "enter")
        text = seen(pilot)
        assert "Temperature is a number from 0 to 2, or empty." in text
        assert wrong in text
        await keys(pilot, settle, "escape")
        assert not [line for line in desk().did if line.startswith("set")]


@SIZES
@pytest.mark.parametrize("pressed", [("enter",), ("4", "enter")], ids=["a task", "a cap"])
async def test_dialogs_stand_in_the_middle_over_the_screen(
    looking: Open, settle: Settle, size: tuple[int, int], pressed: tuple[str, ...]
) -> None:  # fmt: skip
    async with looking(size) as pilot:
        await keys(pilot, settle, *pressed)
        box, (width, height) = pilot.app.screen.query_one("#dialog").region, size
        assert pilot.app.screen.is_modal
        assert abs(box.x - (width - box.right)) <= 1
        assert abs(box.y - (height - box.bottom)) <= 1


async def test_a_setting_is_taken_back(looking: Open, settle: Settle, seen: Seen, desk: Any) -> None:
    async with looking(settings={"models": PAID}) as pilot:
        await keys(pilot, settle, "down")
        assert "x Take back" in seen(pilot)
        await keys(pilot, settle, "x")
        assert "set models.actor None" in desk().did
        assert "claude-haiku" not in pane(pilot, "tasks")
        assert "x Take back" not in seen(pilot)


async def test_what_the_world_suggests_is_shown_and_taken_by_a_key(looking: Open, settle: Settle, seen: Seen, desk: Any) -> None:
    async with looking() as pilot:
        desk().hints = {"actor": "openai/gpt-5"}
        screen(pilot).look()
        await keys(pilot, settle, "down")
        text = seen(pilot)
        assert "○ w: openai/gpt-5, as the world suggests" in text
        assert "writes models.actor = openai/gpt-5" in text
        assert "w World's choice" in text
        await keys(pilot, settle, "w")
        assert "set models.actor 'openai/gpt-5'" in desk().did
        await keys(pilot, settle, "down")
        assert "w World's choice" not in seen(pilot)


async def test_what_the_environment_says_is_not_set_here(
    looking: Open, settle: Settle, seen: Seen, desk: Any, monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OTHERMINDS_MODEL_ACTOR", "openai/gpt-5-mini")
    async with looking(settings={"models": {"actor": "openai/gpt-5-mini"}}) as pilot:
        await keys(pilot, settle, "down")
        text = seen(pilot)
        assert "environment" in pane(pilot, "tasks")
        assert "OTHERMINDS_MODEL_ACTOR says so: unset it to choose here." in " ".join(pane(pilot, "endpoint-detail").split())
        assert "x Take back" not in text
        await keys(pilot, settle, "enter")
        assert "OTHERMINDS_MODEL_ACTOR says so, not settings.toml: unset it and start again." in seen(pilot)


async def test_a_better_embedder_is_recommended_and_set(looking: Open, settle: Settle, seen: Seen, desk: Any) -> None:
    async with looking() as pilot:
        await keys(pilot, settle, "end")
        text = " ".join(pane(pilot, "endpoint-detail").split())
        assert "minilm understands more" in text
        assert "write minilm" in text
        await keys(pilot, settle, "enter")
        await typed(pilot, "minilm")
        await keys(pilot, settle, "enter")
        assert "set models.embed 'minilm'" in desk().did
        assert "minilm understands more" not in pane(pilot, "endpoint-detail")
        await keys(pilot, settle, "x")
        assert "set models.embed None" in desk().did


# models of this machine


@SIZES
async def test_one_key_uses_a_model_of_a_server_found_here_and_tries_it(
    looking: Open, settle: Settle, seen: Seen, desk: Any, size: tuple[int, int],
) -> None:
    async with looking(size) as pilot:
        assert "looked" in desk().did
        await keys(pilot, settle, "2", "end")
        text = " ".join(pane(pilot, "endpoint-detail").split())
        assert "u writes models.default = ollama-qwen3, in place of storyteller" in text
        assert "[endpoint.ollama-qwen3]" in text
        assert f'api_base = "{SERVER}"' in text
        assert "ollama_chat/qwen3" in seen(pilot)
        await keys(pilot, settle, "u")
        assert f"use {SERVER} ollama_chat/qwen3 default" in desk().did
        assert desk().did[-1] == "tested ollama-qwen3"
        assert "ollama-qwen3 answered in 1.3 s." in seen(pilot)
        assert "set up" in pane(pilot, "endpoints")
        await keys(pilot, settle, "1", "home")
        assert "ollama-qwen3 (ollama_chat/qwen3)" in seen(pilot)
        await keys(pilot, settle, "x")
        assert "set models.default None" in desk().did


async def test_a_model_is_used_for_the_task_chosen_in_tasks(looking: Open, settle: Settle, seen: Seen, desk: Any) -> None:
    async with looking(settings={"models": PAID}) as pilot:
        await keys(pilot, settle, "down", "down", "2", "end")
        assert "U     writes models.decode = ollama-qwen3" in seen(pilot)
        await keys(pilot, settle, "U")
        assert f"use {SERVER} ollama_chat/qwen3 decode" in desk().did
        await keys(pilot, settle, "home", "U")
        assert "set models.decode 'openai/gpt-5-mini'" in desk().did


async def test_no_server_is_said_with_what_would_be_found(looking: Open, settle: Settle, seen: Seen, desk: Any) -> None:
    async with looking((200, 50)) as pilot:
        desk().found = ()
        await keys(pilot, settle, "2", "r")
        assert desk().did.count("looked") == 2
        assert "No model server answers. Ollama, llama.cpp, LM Studio and vLLM are found" in seen(pilot)
        desk().found = (
            LocalServer(kind="llama.cpp", api_base="http://127.0.0.1:8080/v1", models=(), note="It wants a key: set LLAMA_API_KEY."),
        )
        await keys(pilot, settle, "r")
        text = seen(pilot)
        assert "llama.cpp  http://127.0.0.1:8080/v1" in text
        assert "It wants a key: set LLAMA_API_KEY." in text


async def test_a_server_that_cannot_be_used_is_said_and_nothing_changes(looking: Open, settle: Settle, seen: Seen, desk: Any) -> None:
    async with looking() as pilot:
        desk().refuse = "settings.toml cannot be written [disk]."
        await keys(pilot, settle, "2", "end", "u")
        assert "settings.toml cannot be written [disk]. Correct it." in seen(pilot)
        assert not [line for line in desk().did if line.startswith("tested")]


# live tests


@SIZES
async def test_a_model_is_tried_live(looking: Open, settle: Settle, seen: Seen, desk: Any, size: tuple[int, int]) -> None:
    async with looking(size, {"models": PAID}) as pilot:
        await keys(pilot, settle, "t")
        assert desk().did[-1] == "tested openai/gpt-5-mini"
        assert "openai/gpt-5-mini answered in 1.3 s." in seen(pilot)
        assert "1.3 s · $0.0001 · JSON by a schema · window 32,000" in " ".join(pane(pilot, "endpoint-detail").split())
        await keys(pilot, settle, "2")
        assert "✓ answered in 1.3 s" in pane(pilot, "endpoints")


async def test_a_model_that_fails_says_what_is_wrong_and_what_to_do(looking: Open, settle: Settle, seen: Seen, desk: Any) -> None:
    async with looking((200, 50), {"models": PAID}) as pilot:
        desk().report = TestReport(name="x", ok=False, trouble="no_key", text="No key [yet]. Set SOME_API_KEY in the environment.")
        await keys(pilot, settle, "2", "down", "t")
        text = seen(pilot)
        assert text.count("No key [yet]. Set SOME_API_KEY in the environment.") == 2
        assert f"{REFUSED} did not pass its test" in text


async def test_escape_stops_a_test_that_hangs_and_the_screen_stays(
    looking: Open, settle: Settle, seen: Seen, desk: Any,
) -> None:
    async with looking(settings={"models": PAID}) as pilot:
        desk().gate = asyncio.Event()
        await pilot.press("t")
        for _ in range(5):
            await pilot.pause(0.02)
        text = seen(pilot)
        assert "openai/gpt-5-mini is asked for a few words…" in text
        assert "esc stops." in text
        assert "esc Stop" in text
        await pilot.press("down", "2", "3", "b")
        assert "by entity" in seen(pilot)
        await keys(pilot, settle, "escape")
        assert desk().cancelled == 1
        assert at(pilot, ModelsScreen)
        assert "Stopped. openai/gpt-5-mini was not waited for." in seen(pilot)
        await keys(pilot, settle, "escape")
        assert at(pilot, PlayScreen)


async def test_the_spinner_turns_while_a_model_is_waited_for(looking: Open, settle: Settle, seen: Seen, desk: Any) -> None:
    async with looking() as pilot:
        desk().gate = asyncio.Event()
        await pilot.press("t")
        shown = set()
        for _ in range(60):
            await pilot.pause(0.02)
            shown.add(seen(pilot).splitlines()[-2].strip()[:1])
            if len(shown) > 2:
                break
        assert shown <= set("▖▘▝▗")
        assert len(shown) > 2
        desk().gate.set()
        await settle(pilot)
        assert "storyteller answered" in seen(pilot)


async def test_leaving_the_screen_ends_a_test(looking: Open, settle: Settle, desk: Any) -> None:
    async with looking() as pilot:
        desk().gate = asyncio.Event()
        await pilot.press("t")
        await pilot.pause()
        await keys(pilot, settle, "q")
        assert at(pilot, PlayScreen)
        assert desk().cancelled == 1


async def test_what_comes_late_finds_a_screen_that_is_left(looking: Open, settle: Settle, desk: Any) -> None:
    async with looking() as pilot:
        left = screen(pilot)
        await keys(pilot, settle, "q")
        desk().meter.add(call())
        left.look()
        left.view = replace(left.view, forecast=None, no_forecast="Late.", testing="storyteller")
        left.say("Late.", "bad")
        left.fit()
        await settle(pilot)
        assert at(pilot, PlayScreen)


async def test_trouble_with_a_test_is_said(looking: Open, settle: Settle, seen: Seen, desk: Any) -> None:
    async with looking() as pilot:
        desk().trouble = "The bridge [x] is down."
        await keys(pilot, settle, "t")
        assert "storyteller: The bridge [x] is down. Try later." in seen(pilot)


# what it took


@SIZES
async def test_the_meter_adds_calls_up_by_what_one_chooses(
    looking: Open, settle: Settle, seen: Seen, desk: Any, size: tuple[int, int],
) -> None:
    async with looking(size) as pilot:
        meter = desk().meter
        meter.add(call("actor", "bryn", 1))
        meter.add(call("actor", "mira", 2))
        meter.add(call("handoff", "bryn", 2, "ollama_chat/llama3.2", cost=None, estimated=True, failed="cut off", seconds=61))
        screen(pilot).look()
        await keys(pilot, settle, "3")
        text = pane(pilot, "meter")
        lines = [line.split() for line in text.splitlines()]
        assert ["actor", "2", "1,800", "200", "$0.0042", "3.0", "s"] in lines
        assert ["handoff", "1", "~900", "~100", "unknown", "61", "s"] in lines
        assert ["all", "calls", "3", "~2,700", "~300", "$0.0042+", "64", "s"] in lines
        assert "1,800      200   $0.0042     3.0 s" in seen(pilot)
        assert f"{REFUSED} 1 call failed" in text
        assert "~ tokens are partly estimates" in text
        assert "+ and calls of unknown price" in " ".join(text.split())
        await keys(pilot, settle, "b")
        assert "Bryn Harrow" in pane(pilot, "meter")
        await keys(pilot, settle, "b")
        rounds = [line.split()[:2] for line in pane(pilot, "meter").splitlines() if "round" in line]
        assert rounds == [["round", "2"], ["round", "1"]]
        await keys(pilot, settle, "b")
        assert "openai/gpt-5-mini" in pane(pilot, "meter")
        await keys(pilot, settle, "b")
        assert "3 Meter · by task" in seen(pilot)


async def test_a_player_reads_of_others_by_the_names_it_knows(
    host: GameHost, worlds: Callable[[], Sequence[WorldInfo]], settle: Settle, games: FakeGames,
) -> None:
    async with opening(host, worlds, settle, "d", "3", "down", "t", "f2")((120, 40)) as pilot:
        for entity in ("bryn", "mira"):
            games.game.models.meter.add(call("actor", entity))
        await keys(pilot, settle, "3", "b")
        text = pane(pilot, "meter")
        assert "The broad woman" in text
        assert "Bryn Harrow" not in text


async def test_figures_follow_a_round_that_is_played_behind_the_screen(looking: Open, settle: Settle, seen: Seen, desk: Any) -> None:
    async with looking() as pilot:
        desk().meter.add(call())
        for _ in range(150):
            await pilot.pause(0.02)
            if "1 call · 1.0k tokens · $0.0021" in seen(pilot):
                break
        assert "1 call · 1.0k tokens · $0.0021" in seen(pilot)


# caps


@SIZES
async def test_caps_are_set_raised_and_taken_out(looking: Open, settle: Settle, seen: Seen, desk: Any, size: tuple[int, int]) -> None:
    async with looking(size) as pilot:
        desk().meter.add(call(prompt_tokens=6_000, reply_tokens=200))
        await keys(pilot, settle, "4")
        assert "no cap" in seen(pilot)
        await keys(pilot, settle, "enter")
        assert "A cap on tokens, this run" in seen(pilot)
        await typed(pilot, "10,000")
        await keys(pilot, settle, "enter")
        assert "set caps.run_tokens 10000" in desk().did
        text = seen(pilot)
        assert " 62%  6,200 of 10,000" in text
        assert "━" in next(line for line in text.splitlines() if " 62%  6,200" in line)
        await keys(pilot, settle, "down", "enter")
        await typed(pilot, "$2.50")
        await keys(pilot, settle, "enter")
        assert "set caps.run_money 2.5" in desk().did
        await keys(pilot, settle, "x")
        assert "set caps.run_money None" in desk().did
        await keys(pilot, settle, "up", "enter")
        await typed(pilot, "")
        await keys(pilot, settle, "enter")
        assert "set caps.run_tokens None" in desk().did
        assert pane(pilot, "caps").count("no cap") == 4
        assert "There is no cap on the tokens of this run any more." in seen(pilot)


@pytest.mark.parametrize(("row", "wrong"), [(0, "many"), (0, "-5"), (0, "0"), (0, "2.5"), (1, "2,50"), (1, "nan"), (1, "1e400")])
async def test_a_cap_that_is_no_amount_is_said_and_nothing_is_lost(
    looking: Open, settle: Settle, seen: Seen, desk: Any, row: int, wrong: str,
) -> None:
    async with looking() as pilot:
        await keys(pilot, settle, "4", *["down"] * row, "enter")
        await typed(pilot, wrong)
        await keys(pilot, settle, "enter")
        text = seen(pilot)
        assert ("A sum in US dollars, please" if row else "A whole number of tokens, please") in text
        assert wrong in text
        assert not [line for line in desk().did if line.startswith("set")]


async def test_the_next_round_is_foretold_with_the_cap_that_would_stop_it(looking: Open, settle: Settle, seen: Seen, desk: Any) -> None:
    async with looking() as pilot:
        text = seen(pilot)
        assert "about 9 calls · 9,200 tokens · $0.020 · 14 s" in text
        assert "as the last 5 rounds" in text
        desk().foretold = desk().foretold.model_copy(update={"stops": "run_tokens", "cost": None})
        await keys(pilot, settle, "4", "enter")
        await typed(pilot, "100")
        await keys(pilot, settle, "enter")
        text = pane(pilot, "caps")
        assert "9,200 tokens · price unknown" in text
        assert f"{REFUSED} It would stop at the cap on tokens, this run" in text
        desk().trouble = "Nothing to reckon from [yet]."
        await keys(pilot, settle, "x")
        assert "Nothing to reckon from [yet]. Try later." in " ".join(pane(pilot, "caps").split())


# ways in and out, and what goes wrong


@SIZES
async def test_home_leads_there_too_without_a_game(
    host: GameHost, worlds: Callable[[], Sequence[WorldInfo]], settle: Settle, seen: Seen, games: FakeGames, size: tuple[int, int],
) -> None:
    async with opening(host, worlds, settle)(size) as pilot:
        assert "M Models" in seen(pilot)
        await keys(pilot, settle, "M")
        assert "everything" in seen(pilot)
        await keys(pilot, settle, "4")
        assert "There is a forecast while a game is open" in " ".join(pane(pilot, "caps").split())
        await keys(pilot, settle, "1", "down", "enter")
        await typed(pilot, "openai/gpt-5")
        await keys(pilot, settle, "enter")
        assert "set models.actor 'openai/gpt-5'" in games.desk.did
        await keys(pilot, settle, "escape")
        assert at(pilot, HomeScreen)
        await keys(pilot, settle, "d")
        assert games.desk.did[-1] == "closed"
        assert await host.models() is games.game.models


async def test_keys_typed_ahead_reach_what_they_are_for(looking: Open, settle: Settle, desk: Any, games: FakeGames) -> None:
    async with looking(settings={"caps": {"run_tokens": 5_000}}) as pilot:
        for key in ("4", "x", "q", "n"):
            pilot.app.post_message(Key(key, None))
        await settle(pilot)
        assert "set caps.run_tokens None" in desk().did
        assert at(pilot, PlayScreen)
        assert len(games.game.steps) == 2


async def test_settings_that_cannot_be_read_are_said_and_read_again(
    host: GameHost, worlds: Callable[[], Sequence[WorldInfo]], settle: Settle, seen: Seen, games: FakeGames,
) -> None:
    async with opening(host, worlds, settle)((120, 40)) as pilot:
        games.no_models = "In settings.toml: `models.actr` is not a setting [x]."
        await keys(pilot, settle, "M")
        text = seen(pilot)
        assert "`models.actr` is not a setting [x]. Correct it or take it out. r tries again." in text
        await keys(pilot, settle, "enter", "t", "x", "2", "u", "4", "enter")
        assert at(pilot, ModelsScreen)
        games.no_models = ""
        await keys(pilot, settle, "r", "1")
        assert "everything" in seen(pilot)


async def test_the_palette_and_the_help_know_the_keys(looking: Open, settle: Settle, seen: Seen) -> None:
    async with looking((120, 70)) as pilot:
        await keys(pilot, settle, "question_mark")
        text = seen(pilot)
        for part in ("Who answers what", "Choose who answers the task", "Ask the model under the cursor", "Back to where you came from"):
            assert part in text or part.lower() in text.lower()
        await keys(pilot, settle, "escape", "4", "ctrl+p")
        await pilot.press(*"set the cap")
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()
        await pilot.press("enter")
        await settle(pilot)
        assert "A cap on tokens, this run" in seen(pilot)


async def test_models_are_reached_by_the_palette_of_play(
    host: GameHost, worlds: Callable[[], Sequence[WorldInfo]], settle: Settle, seen: Seen,
) -> None:
    async with opening(host, worlds, settle, "d")((120, 40)) as pilot:
        await pilot.press("ctrl+p", *"which models")
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()
        await pilot.press("enter")
        await settle(pilot)
        assert at(pilot, ModelsScreen)


@pytest.mark.parametrize("size", [(80, 24), (200, 50)])
async def test_hostile_names_are_literal_everywhere(
    tmp_path: Any, hostile_games: FakeGames, worlds: Callable[[], Sequence[WorldInfo]], settle: Settle, seen: Seen, size: tuple[int, int],
) -> None:
    host = GameHost(tmp_path, hostile_games, speed=0.0)
    app = OthermindsApp(host, worlds)
    async with app.run_test(size=size, notifications=True) as pilot:
        await settle(pilot)
        await keys(pilot, settle, "d", "n")
        desk = hostile_games.game.models
        desk.settings = Settings.model_validate({
            "models": {"default": f"openai/x{MARKUP}", "actor": [f"far/y{MARKUP}", "storyteller"], "embed": f"openai/e{MARKUP}"},
        })
        desk.notes = {f"far/y{MARKUP}": f"rests {HOSTILE}"}
        desk.hints = {"handoff": f"openai/h{HOSTILE}"}
        desk.meter.add(call(model=f"openai/x{HOSTILE}", entity="bryn"))
        await keys(pilot, settle, "M")
        marked = 0
        for key in ("1", "down", "end", "2", "end", "u", "home", "t", "3", "b", "b", "b", "4", "1", "home", "enter"):
            await pilot.press(key)
            await settle(pilot)
            text = seen(pilot)
            assert harmless(text)
            marked += "[red]x[/]" in text
        assert marked > 8
        await keys(pilot, settle, "down", "down", "enter", "ctrl+s")
        assert harmless(seen(pilot))
        desk.refuse = f"No {HOSTILE}"
        await keys(pilot, settle, "end", "enter", "enter")
        assert harmless(seen(pilot))
        assert "No [red]x[/]" in seen(pilot)
    await host.close()


async def test_it_survives_a_storm_of_sizes(looking: Open, settle: Settle, seen: Seen) -> None:
    async with looking((200, 50), {"models": PAID}) as pilot:
        for width, height in [(1, 1), (20, 5), (400, 100), (99, 24), (100, 29), (100, 30), (5, 60), (120, 24)]:
            await pilot.resize_terminal(width, height)
            await keys(pilot, settle, "tab")
        await pilot.resize_terminal(120, 24)
        await keys(pilot, settle, "4")
        assert "tokens, this run" in seen(pilot)
        await keys(pilot, settle, "1")
        text = seen(pilot)
        assert "everything" in text
        assert "Answers every task" in text


async def test_nothing_blocks_the_loop_while_the_desk_is_slow(looking: Open, settle: Settle, desk: Any) -> None:
    async with looking() as pilot:
        desk().gate = asyncio.Event()
        await pilot.press("t")
        loop = asyncio.get_running_loop()
        longest = 0.0
        for _ in range(40):
            began = loop.time()
            await pilot.press("down")
            longest = max(longest, loop.time() - began)
        assert longest < 1.0
        desk().gate.set()
        await settle(pilot)
