"""A recorded game that was killed in the middle of rounds and gone on with is replayed as if nothing had been."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from engine.game import Game
from engine.llm.cassette import Playback
from engine.setup import Setup
from engine.storage.diff import differences
from tests.crash.tape_driver import WORLD

DRIVER = Path(__file__).with_name("tape_driver.py")
ROUNDS = 5

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]


def play(save: Path, tape: Path, calls: int) -> int:
    """Play in a process of its own. Returns how it ended."""
    root = DRIVER.parents[2]
    command = [sys.executable, str(DRIVER), str(save), str(tape), str(ROUNDS), str(calls)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=110, check=False, cwd=root, env={"PYTHONPATH": str(root)})
    assert done.stderr == ""
    return done.returncode


async def test_a_game_killed_again_and_again_is_replayed_row_for_row(tmp_path: Path) -> None:
    """Deaths fall between a call and what comes of it: the same is asked again, answered otherwise, and that is what counts."""
    save, tape, again = tmp_path / "a.db", tmp_path / "a.tape", tmp_path / "b.db"
    for calls in (2, 5, 1, 8, 13, 1, 4, 21, 3):
        assert play(save, tape, calls) == -signal.SIGKILL
    assert play(save, tape, 0) == 0
    playback = Playback(tape)
    game = await Game.create(WORLD, again, 7, setup=Setup(tape=playback))
    for _ in range(ROUNDS):
        report = await game.step()
        await game.settled()
        assert (report.paused, report.failed_beats) == ("", 0)
    await game.close()
    assert playback.trouble == ""
    # How often a memory came to mind is written when a round ends: a death loses what the round has counted.
    assert [line for line in differences(save, again) if not line.startswith("ledger_use ")] == []
