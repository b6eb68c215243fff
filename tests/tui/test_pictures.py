"""Pictures of the screen: kept in the program's own folder, which is said, and so is what went wrong."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from engine.files.bundled import WorldInfo
from tui.app import OthermindsApp
from tui.host import GameHost

Settle = Callable[[Pilot[Any]], Awaitable[None]]
Seen = Callable[[Pilot[Any]], str]


@pytest.fixture
def app(host: GameHost, worlds: Callable[[], Sequence[WorldInfo]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> OthermindsApp:
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    return OthermindsApp(host, worlds)


async def test_a_picture_is_kept_without_any_folder_for_downloads(app: OthermindsApp, settle: Settle, seen: Seen, tmp_path: Path) -> None:
    async with app.run_test(size=(120, 40), notifications=True) as pilot:
        await settle(pilot)
        app.keep_picture()
        app.keep_picture()
        await settle(pilot)
        first, second = sorted((tmp_path / "pictures").iterdir())
        assert first.read_text(encoding="utf-8").startswith("<svg")
        assert second.name == "otherminds-2.svg"
        assert "Saved as" in seen(pilot)
        said = "".join(line[-60:].strip() for line in seen(pilot).splitlines())
        assert "otherminds-2.svg" in said


async def test_a_picture_that_cannot_be_kept_says_where_and_why(app: OthermindsApp, settle: Settle, seen: Seen, tmp_path: Path) -> None:
    (tmp_path / "pictures").write_text("in the way")
    async with app.run_test(size=(200, 50), notifications=True) as pilot:
        await settle(pilot)
        app.keep_picture()
        await settle(pilot)
        text = seen(pilot)
        assert "The picture could not be saved" in text
        assert "File exists" in text
