"""The way from Play to the Knowledge screen, and what Play says of knowledge that waits."""

import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from tests.tui.keys import keys
from tests.tui.knowing import BOB, MIRA, build, screen_of
from tui.app import OthermindsApp
from tui.host import GameHost
from tui.panes.known_reading import Whose
from tui.screens.play import PlayScreen

Settle = Callable[[Pilot[Any]], Awaitable[None]]
Seen = Callable[[Pilot[Any]], str]


@pytest.mark.parametrize(("size", "said"), [((80, 24), "○ 1 K"), ((200, 50), "○ 1 piece of knowledge waits K")])
async def test_play_says_that_knowledge_waits_and_leads_there(
    tmp_path: Path, settle: Settle, seen: Seen, size: tuple[int, int], said: str
) -> None:
    save = await build(tmp_path)
    copy = tmp_path / "copy.db"
    shutil.copy(save, copy)
    host = GameHost(tmp_path, speed=0.0)
    app = OthermindsApp(host, worlds=list)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await host.open_save(copy)
        app.push_screen(PlayScreen(host))
        await settle(pilot)
        assert said in seen(pilot) or "○ 1 piece of knowledge waits K" in seen(pilot)
        await keys(pilot, settle, "K")
        assert screen_of(pilot).asked.whose == Whose("entity", BOB)
        await keys(pilot, settle, "2", "a", "escape")
        assert len(app.screen_stack) == 2
        assert "waits K" not in seen(pilot)
        assert "○ 1 K" not in seen(pilot)
        await keys(pilot, settle, "3", "down", "enter", "K")
        assert screen_of(pilot).asked.whose == Whose("entity", MIRA)
    await host.close()
