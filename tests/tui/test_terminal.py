"""The program in a real terminal: how it ends, and what it leaves behind."""

import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from fcntl import ioctl
from pathlib import Path

import pytest

from engine.files.bundled import bundled_worlds
from engine.game import Game

ROOT = Path(__file__).parents[2]
START = "import sys; from tui.app import run_app; sys.exit(run_app())"
BROKEN = """
import sys
import tui.app
from tui.screens.home import HomeScreen
def load(self):
    secret_key = "sk-planted" + "-secret"
    raise ZeroDivisionError(len(secret_key))
HomeScreen.load = load
sys.exit(tui.app.run_app())
"""
DEAF = """
import signal, sys
import tui.terminal
tui.terminal._SIGNALS.clear()
signal.signal(signal.SIGHUP, signal.SIG_IGN)
import tui.app
sys.exit(tui.app.run_app())
"""


class Terminal:
    """A pseudo terminal with one program in it."""

    def __init__(self, code: str, home: Path, size: tuple[int, int] = (120, 40), term: str = "xterm-256color") -> None:
        self.output = b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(ROOT)
            os.environ.update(TERM=term, OTHERMINDS_HOME=str(home), PYTHONPATH=str(ROOT), COLUMNS=str(size[0]), LINES=str(size[1]))
            os.execv(sys.executable, [sys.executable, "-c", code])
        ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))

    def read(self, until: bytes, seconds: float = 20) -> float:
        """Read until the output holds something. Returns the seconds it took."""
        start = time.perf_counter()
        while until not in self.output:
            left = start + seconds - time.perf_counter()
            ready, _, _ = select.select([self.fd], [], [], max(left, 0))
            assert ready, f"{until!r} did not come within {seconds} s"
            self.output += self._chunk()
        return time.perf_counter() - start

    def _chunk(self) -> bytes:
        try:
            return os.read(self.fd, 65536)
        except OSError:  # the other side is gone
            return b""

    def press(self, keys: str) -> None:
        os.write(self.fd, keys.encode())

    def ended(self, seconds: float = 10) -> tuple[int, float]:
        """Exit code, and the seconds until the program was gone. Reads on, so that it can write."""
        start = time.perf_counter()
        while time.perf_counter() < start + seconds:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                while self.fd >= 0 and (rest := self._chunk()):
                    self.output += rest
                self.pid = 0
                return os.waitstatus_to_exitcode(status), time.perf_counter() - start
            if self.fd >= 0 and select.select([self.fd], [], [], 0.01)[0]:
                self.output += self._chunk()
        raise AssertionError("The program is still there.")

    def hang_up(self) -> None:
        os.close(self.fd)
        self.fd = -1

    def close(self) -> None:
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            self.pid = 0
        if self.fd >= 0:
            os.close(self.fd)


Open = Callable[..., Terminal]


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Open]:
    opened: list[Terminal] = []

    def start(code: str = START, **options: str) -> Terminal:
        opened.append(Terminal(code, tmp_path, **options))  # type: ignore[arg-type]
        return opened[-1]

    yield start
    for one in opened:
        one.close()


@pytest.fixture
def demo(terminal: Open) -> Terminal:
    """The demo, with a round being shown."""
    return in_demo(terminal())


def in_demo(found: Terminal) -> Terminal:
    found.read(b"Play the demo")
    found.press("d")
    found.read(b"Nothing has happened yet")
    found.press("n")
    found.read(b"looks back on")
    return found


async def whole(home: Path) -> int:
    """Open the one save and return its round: it is free, sound, and not cut short."""
    [save] = (home / "saves").glob("*.db")
    game = await Game.open(save)
    number = game.world.round
    await game.step()
    await game.close()
    return number


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
async def test_a_signal_restores_the_terminal_and_the_save_is_whole(demo: Terminal, tmp_path: Path, number: int, code: int) -> None:
    os.kill(demo.pid, number)
    found, seconds = demo.ended()
    assert found == code
    assert seconds < 2
    assert demo.output.rindex(b"\x1b[?1049l") > demo.output.rindex(b"\x1b[?1049h")
    assert b"\x1b[?1000l" in demo.output
    assert await whole(tmp_path) == 1


@pytest.mark.slow
async def test_a_terminal_that_goes_away_ends_the_program(demo: Terminal, tmp_path: Path) -> None:
    demo.hang_up()
    _, seconds = demo.ended()
    assert seconds < 2
    assert await whole(tmp_path) == 1


@pytest.mark.slow
async def test_a_terminal_that_goes_away_without_a_word_ends_the_program_too(terminal: Open, tmp_path: Path) -> None:
    demo = in_demo(terminal(DEAF))
    demo.hang_up()
    _, seconds = demo.ended()
    assert seconds < 3
    assert await whole(tmp_path) == 1


@pytest.mark.slow
async def test_quitting_in_the_middle_of_a_round_loses_nothing(demo: Terminal, tmp_path: Path) -> None:
    demo.press("\x11")
    code, seconds = demo.ended()
    assert code == 0
    assert seconds < 2
    assert await whole(tmp_path) == 1


@pytest.mark.slow
def test_a_crash_report_shows_no_values(terminal: Open) -> None:
    broken = terminal(BROKEN)
    code, _ = broken.ended()
    assert code == 1
    assert b"ZeroDivisionError" in broken.output
    assert b"sk-planted-secret" not in broken.output
    assert b"locals" not in broken.output


def test_a_dumb_terminal_is_told_what_to_do_instead(terminal: Open) -> None:
    dumb = terminal(term="dumb")
    code, _ = dumb.ended()
    assert code == 2
    assert b"otherminds run WORLD" in dumb.output
    assert b"\x1b" not in dumb.output


def test_without_a_terminal_there_is_a_plain_message(tmp_path: Path) -> None:
    found = subprocess.run(
        [sys.executable, "-c", START], cwd=ROOT, env={**os.environ, "OTHERMINDS_HOME": str(tmp_path)}, capture_output=True, text=True,
        stdin=subprocess.DEVNULL, check=False,
    )
    assert found.returncode == 2
    assert "needs a terminal" in found.stderr
    assert not found.stdout


def test_starting_the_screen_imports_neither_numpy_nor_sqlite_nor_pydantic() -> None:
    code = "import sys, tui.app; print([name for name in ('numpy', 'sqlite3', 'pydantic', 'yaml', 'litellm') if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_there_is_a_world_to_begin_with() -> None:
    assert any(world.slug == "salt-lantern" for world in bundled_worlds())
