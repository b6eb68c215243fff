"""The program in a real terminal: from the shell to a promotion on the screen, with the keys a person presses."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.terminal, pytest.mark.slow, pytest.mark.timeout(180),
    pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux"),
]
SIZES = [(80, 24), (120, 40), (200, 50)]


class Terminal:
    """One tmux server of its own with one window."""

    def __init__(self, socket: Path, home: Path, size: tuple[int, int]) -> None:
        self._tmux = ["tmux", "-S", str(socket), "-f", "/dev/null"]
        self.keys = 0
        env = {**os.environ, "OTHERMINDS_HOME": str(home), "COLORTERM": "truecolor"}
        command = f"{sys.executable} -m tui.start; echo left with $?; exec sh"
        subprocess.run([*self._tmux, "new-session", "-d", "-x", str(size[0]), "-y", str(size[1]), command], env=env, check=True)

    def press(self, *keys: str) -> None:
        self.keys += len(keys)
        subprocess.run([*self._tmux, "send-keys", *keys], check=True)

    def screen(self) -> str:
        return subprocess.run([*self._tmux, "capture-pane", "-p"], capture_output=True, text=True, check=True).stdout

    def wait_for(self, *words: str, seconds: float = 60) -> str:
        """The screen once it holds one of the words."""
        until = time.monotonic() + seconds
        while not any(word in (seen := self.screen()) for word in words):
            assert time.monotonic() < until, f"none of {words} on the screen:\n{seen}"
            time.sleep(0.1)  # the only way to wait for another process's screen
        return seen

    def pid(self) -> int:
        """Of the shell that runs the program."""
        shown = subprocess.run([*self._tmux, "list-panes", "-F", "#{pane_pid}"], capture_output=True, text=True, check=True).stdout
        return int(shown)

    def kill(self) -> None:
        subprocess.run([*self._tmux, "kill-server"], check=False)


@pytest.fixture(params=SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def terminal(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Terminal]:
    # A socket's path must be short.
    opened = Terminal(Path(f"/tmp/om-{os.getpid()}-{request.param[0]}"), tmp_path, request.param)
    yield opened
    opened.kill()


def test_a_promotion_is_seen_within_ten_keys(terminal: Terminal) -> None:
    terminal.wait_for("The Salt Lantern")
    terminal.press("d")
    terminal.wait_for("round 0")
    terminal.press("n")
    terminal.wait_for("kept")
    terminal.wait_for("Round 1 is over", "round 1")
    assert terminal.keys < 10
    terminal.press("q")
    terminal.wait_for("Begin", "Saves")
    terminal.press("q")
    seen = terminal.wait_for("left with 0")
    assert "Traceback" not in seen


def test_a_mind_asks_and_gets_an_answer(terminal: Terminal) -> None:
    terminal.wait_for("The Salt Lantern")
    terminal.press("d")
    terminal.wait_for("round 0")
    terminal.press("V")
    terminal.wait_for("Handoffs ask you first")
    terminal.press("n")
    terminal.wait_for("minds wait for your word")
    terminal.press("v")
    terminal.wait_for("Would be kept")
    terminal.press("A")
    terminal.wait_for("All are decided")
    terminal.press("Enter")
    terminal.wait_for("This one waits next")
    terminal.press("Escape")
    terminal.wait_for("proposals wait")
    terminal.press("f")
    terminal.wait_for("Memory of")
    terminal.press("u")
    terminal.wait_for("Back in mind")
    terminal.press("q", "q")
    terminal.wait_for("Begin", "Saves")
    terminal.press("q")
    assert "Traceback" not in terminal.wait_for("left with 0")


def test_models_are_looked_at_and_tried(terminal: Terminal) -> None:
    terminal.wait_for("The Salt Lantern")
    terminal.press("M")
    terminal.wait_for("everything")
    terminal.press("t")
    terminal.wait_for("storyteller answered")
    terminal.press("4")
    terminal.wait_for("[4 Caps]")
    terminal.press("q")
    terminal.wait_for("Begin", "Saves")
    terminal.press("d")
    terminal.wait_for("round 0")
    terminal.press("M")
    terminal.wait_for("1 Tasks")
    terminal.press("q", "q")
    terminal.wait_for("Begin", "Saves")
    terminal.press("q")
    assert "Traceback" not in terminal.wait_for("left with 0")
