"""Home, through the keys a person presses."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from textual.events import Key
from textual.pilot import Pilot

from engine.errors import SaveLockedError, WorldFileError
from engine.files.bundled import WorldInfo
from tui.app import OthermindsApp
from tui.host import GameHost
from tui.saves import SaveNote
from tui.screens.home import HomeScreen
from tui.screens.play import PlayScreen

Settle = Callable[[Pilot[Any]], Awaitable[None]]
Seen = Callable[[Pilot[Any]], str]
Worlds = Callable[[], Sequence[WorldInfo]]


@pytest.fixture
def app(host: GameHost, worlds: Worlds) -> OthermindsApp:
    return OthermindsApp(host, worlds)


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 50)])
async def test_home_says_what_to_press(app: OthermindsApp, settle: Settle, seen: Seen, size: tuple[int, int]) -> None:
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        text = seen(pilot)
        for part in ("Play the demo", "The Salt Lantern", "An inn by the sea.", "Press d for the demo", "enter Start", "? Help"):
            assert part in text
        assert "Another [world]" in text


@pytest.mark.parametrize("key", ["d", "enter", "n"])
async def test_one_key_starts_the_demo(app: OthermindsApp, host: GameHost, settle: Settle, seen: Seen, key: str) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await pilot.press(key)
        await settle(pilot)
        assert isinstance(app.screen, PlayScreen)
        assert "Nothing has happened yet. Press n" in seen(pilot)
        assert host.game is not None
        assert host.game.path.suffix == ".db"
    await host.close()


async def test_the_demo_starts_also_before_the_worlds_are_read(host: GameHost, worlds: Worlds, settle: Settle) -> None:
    app = OthermindsApp(host, worlds)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("d")
        await settle(pilot)
        assert isinstance(app.screen, PlayScreen)
    await host.close()


async def test_moving_shows_what_each_choice_is_about(app: OthermindsApp, settle: Settle, seen: Seen) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await pilot.press("down", "down")
        await pilot.pause()
        assert "[/] odd" in seen(pilot)


async def test_a_game_goes_on_from_its_save(app: OthermindsApp, host: GameHost, games: Any, settle: Settle, seen: Seen) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await pilot.press("d")
        await settle(pilot)
        await pilot.press("n")
        await settle(pilot)
        await pilot.press("q")
        await settle(pilot)
        assert isinstance(app.screen, HomeScreen)
        assert games.game.closed
        await pilot.press("end")
        await pilot.pause()
        text = seen(pilot)
        assert "round 1" in text
        assert "Round 1 · 1 March 1247" in text
        assert 'Mira Sol said: "Round 1, says mira."' in text
        await pilot.press("enter")
        await settle(pilot)
        assert isinstance(app.screen, PlayScreen)
    await host.close()


async def test_deleting_a_save_asks_first(app: OthermindsApp, host: GameHost, settle: Settle, seen: Seen, tmp_path: Path) -> None:
    path = host.shelf.new_path(Path("inn"))
    path.touch()
    host.shelf.write_note(path, SaveNote("The [b]Inn", 3))
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await pilot.press("x")
        assert path.exists()
        await pilot.press("end", "x")
        await pilot.pause()
        assert "Delete the save of The [b]Inn, round 3?" in seen(pilot)
        await pilot.press("enter", "escape")
        await settle(pilot)
        assert path.exists()
        await pilot.press("x", "y")
        await settle(pilot)
        assert not path.exists()
        assert "None yet" in seen(pilot)


async def test_a_locked_save_is_said_where_it_stays_to_be_read(
    app: OthermindsApp, host: GameHost, settle: Settle, seen: Seen, monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def locked(world: Path, seed: int | None = None) -> None:
        raise SaveLockedError("Another [Otherminds] has this save open.", "Close it there first.")

    monkeypatch.setattr(host, "open_new", locked)
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await settle(pilot)
        await pilot.press("d")
        await settle(pilot)
        assert isinstance(app.screen, HomeScreen)
        assert "Another [Otherminds] has this save open. Close it there first." in seen(pilot)
        await pilot.press("d")
        await settle(pilot)
        assert isinstance(app.screen, HomeScreen)


async def test_all_mistakes_of_a_world_are_listed(
    app: OthermindsApp, host: GameHost, settle: Settle, seen: Seen, monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def broken(world: Path, seed: int | None = None) -> None:
        raise WorldFileError("The world cannot be read.", ("world.yaml:3: no place [tavern]", "world.yaml:9: no name"))

    monkeypatch.setattr(host, "open_new", broken)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await pilot.press("d")
        await settle(pilot)
        text = seen(pilot)
        assert "world.yaml:3: no place [tavern]" in text
        assert "world.yaml:9: no name" in text
        assert "2 mistakes" in text


@pytest.mark.parametrize("name", ["", "world.yaml"], ids=["folder", "file"])
async def test_a_start_is_played_at_once(host: GameHost, worlds: Worlds, settle: Settle, tmp_path: Path, name: str) -> None:
    app = OthermindsApp(host, worlds, start=tmp_path / name)
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        assert isinstance(app.screen, PlayScreen)
    await host.close()


async def test_help_and_quit(app: OthermindsApp, settle: Settle, seen: Seen) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("question_mark")
        await settle(pilot)
        assert "Choose on the left" in seen(pilot)
        await pilot.press("escape")
        await pilot.press("ctrl+q")
        await asyncio.sleep(0)
    assert app.return_code == 0


@pytest.mark.parametrize("keys", [("q", "q"), ("q", "question_mark"), ("q", "R")])
async def test_leaving_play_ends_at_home_whatever_is_pressed_at_once(
    app: OthermindsApp, host: GameHost, settle: Settle, keys: tuple[str, str]
) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await pilot.press("d")
        await settle(pilot)
        for key in keys:
            app.post_message(Key(key, None))
        await settle(pilot)
        assert not [screen for screen in app.screen_stack if isinstance(screen, PlayScreen)]
        assert host.game is None
