"""`kill -9` during hundreds of handoffs of several minds in one save: nothing lost, nothing doubled, and the game goes on."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

DRIVER = Path(__file__).with_name("handoff_driver.py")
DEATHS, HANDOFFS = 120, 260

pytestmark = [pytest.mark.slow, pytest.mark.timeout(200)]


def driven(folder: Path, mode: str, deaths: int, handoffs: int) -> list[dict[str, object]]:
    """What the driver saw after each death and at the end."""
    root = DRIVER.parents[2]
    command = [sys.executable, str(DRIVER), str(folder), mode, str(deaths), str(handoffs)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=180, check=False, cwd=root, env={"PYTHONPATH": str(root)})
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_save_that_dies_again_and_again_among_its_handoffs_loses_and_doubles_nothing(tmp_path: Path) -> None:
    seen = driven(tmp_path, "whole", DEATHS, HANDOFFS)
    assert [(at, one["found"]) for at, one in enumerate(seen) if one["found"]] == []
    assert len(seen) == DEATHS + 1
    assert seen[-1]["handoffs"] >= HANDOFFS  # type: ignore[operator]
    progress = [one["handoffs"] for one in seen]
    assert progress == sorted(progress)  # type: ignore[type-var]
    assert len(set(progress)) > DEATHS / 3  # deaths were spread over the handoffs


def test_the_deaths_notice_a_handoff_in_two_transactions(tmp_path: Path) -> None:
    found = {what for one in driven(tmp_path, "torn", 60, 1) for what in one["found"]}  # type: ignore[attr-defined]
    assert "a run did not do all it says: promoted" in found
