"""Whatever worlds, models and people write is drawn as it stands: no markup, no links, no escapes, no crash."""

import unicodedata
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from engine.files.bundled import WorldInfo
from tui.app import OthermindsApp
from tui.host import GameHost

Settle = Callable[[Pilot[Any]], Awaitable[None]]
Seen = Callable[[Pilot[Any]], str]
ALL_PANES = ("1", "2", "3", "4", "5", "6")


def harmless(text: str) -> bool:
    return not any(unicodedata.category(char) in ("Cc", "Cs") or char == "\u202e" for char in text.replace("\n", ""))


@pytest.mark.parametrize("size", [(80, 24), (200, 50)])
async def test_hostile_text_is_literal_in_every_pane(
    tmp_path: Path, hostile_games: Any, worlds: Callable[[], Sequence[WorldInfo]], settle: Settle, seen: Seen, size: tuple[int, int],
) -> None:
    host = GameHost(tmp_path, hostile_games, speed=0.0)
    app = OthermindsApp(host, worlds)
    async with app.run_test(size=size, notifications=True) as pilot:
        await settle(pilot)
        for key in ("d", "n", "n"):
            await pilot.press(key)
            await settle(pilot)
        for key in ALL_PANES:
            await pilot.press(key)
            await settle(pilot)
            text = seen(pilot)
            assert harmless(text)
            assert "[red]x[/] [/nope]" in text or key == "2"
        await pilot.press("3", "down", "a")
        await settle(pilot)
        assert harmless(seen(pilot))
        await pilot.press("escape", "3", "home", "t")
        await settle(pilot)
        await pilot.press(*"nonsense", "left_square_bracket", "slash", "right_square_bracket", "enter")
        await settle(pilot)
        assert "nonsense[/]" in seen(pilot)
        await pilot.press("escape", "q")
        await settle(pilot)
        await pilot.press("end", "x")
        await settle(pilot)
        assert harmless(seen(pilot))
        assert "[red]x[/]" in seen(pilot)
    await host.close()


@pytest.mark.parametrize("size", [(80, 24), (200, 50)])
async def test_hostile_memories_are_literal_wherever_they_are_decided_on(
    tmp_path: Path, hostile_games: Any, worlds: Callable[[], Sequence[WorldInfo]], settle: Settle, seen: Seen, size: tuple[int, int],
) -> None:
    host = GameHost(tmp_path, hostile_games, speed=0.0)
    app = OthermindsApp(host, worlds)
    async with app.run_test(size=size, notifications=True) as pilot:
        await settle(pilot)

        async def pressed(*keys: str) -> str:
            for key in keys:
                await pilot.press(key)
                await settle(pilot)
            text = seen(pilot)
            assert harmless(text)
            return text

        await pressed("d", "V", "n", "n")
        assert "[red]x[/] [/nope]" in await pressed("v")
        hostile_games.game.desk.refuse = "No."
        assert "[red]x[/] [/nope]" in await pressed("a")
        hostile_games.game.desk.refuse = ""
        assert "[red]x[/] [/nope]" in await pressed("e")
        assert "[red]x[/] [/nope]" in await pressed("ctrl+s")
        await pressed("A", "enter", "V", "n", "5", "plus")
        await pilot.press(*"it", "left_square_bracket", "slash", "right_square_bracket")
        assert "it[/]" in await pressed("ctrl+s")
        await pressed("enter", "d")
        await pressed("escape", "e", "escape")
        for key in ("f", "2", "enter", "3"):
            assert "[red]x[/] [/nope]" in await pressed(key) or key == "3"
    await host.close()


async def test_even_a_widget_without_care_lets_no_escape_out(
    host: GameHost, worlds: Callable[[], Sequence[WorldInfo]], settle: Settle, seen: Seen,
) -> None:
    app = OthermindsApp(host, worlds)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await app.screen.mount(Static("\x1b]52;c;aGk=\x07\x9b31m\u202e\ud800", markup=False))
        await settle(pilot)
        drawn = [segment.text for strip in app.screen._compositor.render_strips() for segment in strip]
        assert "]52;c;aGk=31m?" in "".join(drawn)
        assert harmless("".join(drawn))
