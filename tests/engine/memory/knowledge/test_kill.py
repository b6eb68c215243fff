"""A process that dies before any statement of a settlement or a promotion leaves nothing of it, and another try comes out the same."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

DRIVER = Path(__file__).with_name("kill_driver.py")


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_death_before_every_statement_leaves_nothing_and_the_next_try_comes_out_the_same(tmp_path: Path) -> None:
    run = subprocess.run([sys.executable, str(DRIVER), str(tmp_path)], capture_output=True, text=True, timeout=280, check=False)
    assert run.returncode == 0, run.stderr[-2000:]
    found = json.loads(run.stdout.splitlines()[-1])
    for what in ("settle", "promote"):
        assert found[what]["wrong"] == []
        assert found[what]["changed"]
    assert found["settle"]["statements"] > 20
    assert found["promote"]["statements"] > 40
