"""Settings that cannot be used, as people meet them: told on Home, shown line by line in Models, put right there, played without."""

import os
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from engine.files.bundled import WorldInfo, bundled_worlds
from tests.tui.keys import keys
from tests.tui.test_models_screen import pane, screen
from tui.app import OthermindsApp
from tui.glyphs import REFUSED
from tui.host import GameHost
from tui.screens.home import HomeScreen
from tui.screens.models import ModelsScreen
from tui.screens.play import PlayScreen

Settle = Callable[[Pilot[Any]], Awaitable[None]]
Seen = Callable[[Pilot[Any]], str]
BROKEN = """\
[models]
default = "storyteller"
acter = "openai/gpt-5-mini"

[caps]
run_tokens = "many"
day_tokens = 5000
"""
SIZES = pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=["narrow", "medium"])


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The settings file, which cannot be used."""
    monkeypatch.setenv("OTHERMINDS_CONFIG", str(tmp_path))
    monkeypatch.setenv("OTHERMINDS_HOME", str(tmp_path))
    for name in ("EDITOR", "VISUAL"):
        monkeypatch.delenv(name, raising=False)
    path = tmp_path / "settings.toml"
    path.write_text(BROKEN)
    return path


@pytest.fixture
def app(tmp_path: Path, settings: Path) -> OthermindsApp:
    """The program with the engine's own games."""
    return OthermindsApp(GameHost(tmp_path, speed=0.0), demo_alone)


def demo_alone() -> Sequence[WorldInfo]:
    return [info for info in bundled_worlds() if info.slug == "salt-lantern"]


def write(path: Path, text: str) -> None:
    path.write_text(text)


def read(path: Path) -> str:
    return path.read_text()


def words(text: str) -> str:
    """Text without frames and line breaks."""
    return " ".join(text.replace("│", " ").replace("┃", " ").split())


@SIZES
async def test_home_says_which_line_is_wrong_and_where_to_go(
    app: OthermindsApp, settle: Settle, seen: Seen, size: tuple[int, int], settings: Path
) -> None:  # fmt: skip
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        text = words(seen(pilot))
        assert f"{REFUSED} Settings cannot be used" in text
        assert "settings.toml:3: `models.acter` is not a setting (did you mean `actor`?) (and 1 more). M shows it" in text
        await keys(pilot, settle, "down")
        about = words(pane(pilot, "preview"))
        assert str(settings) in about.replace(" ", "")
        assert "settings.toml:6: `caps.run_tokens` must be a whole number" in about
        await keys(pilot, settle, "enter")
        assert isinstance(app.screen, ModelsScreen)
        await keys(pilot, settle, "escape")
        write(settings, "")
        await keys(pilot, settle, "M", "escape")
        text = words(seen(pilot))
        assert "Settings cannot be used" not in text
        assert "The settings are right again." in text
    await app.host.close()


@SIZES
async def test_models_shows_the_lines_and_puts_them_aside_one_by_one(
    app: OthermindsApp, settle: Settle, seen: Seen, size: tuple[int, int], settings: Path
) -> None:  # fmt: skip
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await keys(pilot, settle, "M")
        assert "The settings cannot be used: 2 faults" in words(pane(pilot, "tasks"))
        detail = pane(pilot, "endpoint-detail")
        assert '3  acter = "openai/gpt-5-mini"' in detail
        assert "1  [models]" in detail
        assert "5  [caps]" in detail
        assert "reading settings" not in seen(pilot)
        await keys(pilot, settle, "x")
        assert "Line 3 is a comment now. 1 fault left." in words(seen(pilot))
        assert '6  run_tokens = "many"' in pane(pilot, "endpoint-detail")
        await keys(pilot, settle, "x")
        assert "The settings are right, and hold from now on." in words(seen(pilot))
        assert "cannot be used" not in pane(pilot, "tasks")
        assert [state.limit for state in screen(pilot).view.caps] == [5000]
        assert read(settings) == BROKEN.replace("acter", "# acter").replace("run_tokens", "# run_tokens")
    await app.host.close()


async def test_what_was_put_right_elsewhere_is_read_with_a_key(app: OthermindsApp, settle: Settle, seen: Seen, settings: Path) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await keys(pilot, settle, "M")
        write(settings, "[models\n")
        await keys(pilot, settle, "r")
        assert "settings.toml:1: is not TOML" in words(pane(pilot, "tasks"))
        write(settings, "[caps]\nday_tokens = 77\n")
        await keys(pilot, settle, "r")
        assert [state.limit for state in screen(pilot).view.caps] == [77]
        assert "cannot be used" not in seen(pilot)
    await app.host.close()


async def test_a_line_that_was_changed_meanwhile_is_not_put_aside_for_nothing(
    app: OthermindsApp, settle: Settle, seen: Seen, settings: Path
) -> None:  # fmt: skip
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await keys(pilot, settle, "M")
        write(settings, "# all\n# of\n# it is\n# fine now\n")
        await keys(pilot, settle, "x")
        assert read(settings) == "# all\n# of\n# it is\n# fine now\n"
        assert "is not alone at fa" in words(seen(pilot))  # the rest may be cut: the path before it is as long as it is
    await app.host.close()


@pytest.mark.parametrize(("editor", "said"), [
    ("", "open {} by hand and press r"), ("vi", "No other program can be shown here"),
])
async def test_without_an_editor_the_way_is_told(
    app: OthermindsApp, settle: Settle, seen: Seen, settings: Path, monkeypatch: pytest.MonkeyPatch, editor: str, said: str
) -> None:  # fmt: skip
    monkeypatch.setenv("EDITOR", editor)
    if not editor:
        monkeypatch.setenv("PATH", str(settings.parent))
    async with app.run_test(size=(200, 50)) as pilot:
        await settle(pilot)
        await keys(pilot, settle, "M", "enter")
        assert said.format(settings) in words(seen(pilot))
    await app.host.close()


async def test_a_game_is_played_by_the_storyteller_only_when_the_reader_says_so(
    app: OthermindsApp, settle: Settle, seen: Seen, settings: Path
) -> None:  # fmt: skip
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await keys(pilot, settle, "d")
        assert "Play with the storyteller?" in seen(pilot)
        assert not list((settings.parent / "saves").glob("*.db"))
        await keys(pilot, settle, "escape")
        assert isinstance(app.screen, HomeScreen)
        await keys(pilot, settle, "d", "y")
        assert isinstance(app.screen, PlayScreen)
        assert app.host.game is not None
        await keys(pilot, settle, "M")
        assert "The settings cannot be used: 2 faults" in words(pane(pilot, "tasks"))
        assert "everything storyteller built in" in words(pane(pilot, "tasks"))
        await keys(pilot, settle, "x", "x")
        assert [state.limit for state in screen(pilot).view.caps] == [5000]
        assert [state.limit for state in app.host.game.models.caps()] == [5000]
    await app.host.close()
    assert read(settings).count("# ") == 2


@pytest.fixture
def window(settings: Path) -> Iterator[Callable[..., str]]:
    """tmux with the program; what is called presses keys and gives the screen."""
    tmux = ["tmux", "-S", f"/tmp/om-mend-{os.getpid()}", "-f", "/dev/null"]

    def act(*arguments: str, until: str = "") -> str:
        subprocess.run([*tmux, *arguments], check=True)
        end = time.monotonic() + 60
        while until not in (shown := subprocess.run([*tmux, "capture-pane", "-p"], capture_output=True, text=True, check=True).stdout):
            assert time.monotonic() < end, f"no {until!r} on the screen:\n{shown}"
            time.sleep(0.1)  # the only way to wait for another process's screen
        return shown

    yield act
    subprocess.run([*tmux, "kill-server"], check=False)


@pytest.mark.terminal
@pytest.mark.slow
def test_the_file_is_opened_in_the_readers_editor_at_the_line_and_read_when_it_is_left(
    window: Callable[..., str], settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    editor = settings.parent / "nano"
    editor.write_text(f"#!{sys.executable}\nimport sys\nopen(sys.argv[-1] + '.asked', 'w').write(' '.join(sys.argv[1:]))\n"
                      "open(sys.argv[-1], 'w').write('[caps]\\nday_tokens = 4321\\n')\n")  # fmt: skip
    editor.chmod(0o755)
    monkeypatch.setenv("EDITOR", str(editor))
    window("new-session", "-d", "-x", "120", "-y", "40", f"{sys.executable} -m tui.start; exec sh", until="Settings cannot be used")
    window("send-keys", "M", until="2 faults")
    window("send-keys", "Enter", until="The settings are right")
    window("send-keys", "4", until="4,321")
    assert (settings.parent / "settings.toml.asked").read_text() == f"+3 {settings}"
