"""`kill -9` within beats whose talk fills sessions: each beat is there with its turns, or not at all, and the play ends the same."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from engine.storage.diff import differences

DRIVER = Path(__file__).with_name("session_driver.py")

pytestmark = [pytest.mark.slow, pytest.mark.timeout(200)]


def driven(folder: Path, mode: str, beats: int) -> list[dict[str, object]]:
    """What the driver saw after each death and at the end."""
    root = DRIVER.parents[2]
    command = [sys.executable, str(DRIVER), str(folder), mode, str(beats)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=180, check=False, cwd=root, env={"PYTHONPATH": str(root)})
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_beat_is_there_with_its_turns_or_not_at_all(tmp_path: Path) -> None:
    seen = driven(tmp_path, "whole", 40)
    assert [one["found"] for one in seen if one["found"]] == []
    assert len(seen) > 30  # so many times it died
    assert seen[-1]["beats"] == 40
    assert differences(tmp_path / "whole.db", tmp_path / "game.db") == []


def test_the_deaths_notice_turns_that_are_a_transaction_of_their_own(tmp_path: Path) -> None:
    found = [one["found"] for one in driven(tmp_path, "torn", 40)]
    assert any("half written" in str(what) for what in found)
