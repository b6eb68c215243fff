"""A process killed while handoffs of the real engine run, or while one waits for a person, loses neither proposal nor buffer."""

import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from engine.storage.opening import open_save

DRIVER = Path(__file__).with_name("review_driver.py")
HANDOFFS, TALK, SPREAD = 5, 22, 40
"""Handoffs of a play, entries before each, and deaths besides those between two transactions: more than 200 handoffs in each mode."""
STAGES = ("talk", "proposed", "edited", "judged", "handoff")

pytestmark = [pytest.mark.slow, pytest.mark.timeout(200)]


def driven(*words: object) -> str:
    root = DRIVER.parents[2]
    command = [sys.executable, str(DRIVER), *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=180, check=False, cwd=root, env={"PYTHONPATH": str(root)})
    assert done.returncode == 0, done.stderr
    return done.stdout


def violations(conn: sqlite3.Connection, acknowledged: list[str], mode: str) -> list[str]:
    """What is wrong with a save, by what its process was told was safe before it died."""
    found: list[str] = []

    def number(sql: str) -> int:
        return int(conn.execute(sql).fetchone()[0] or 0)

    def must(holds: bool, what: str) -> None:
        if not holds:
            found.append(what)

    counts = {stage: sum(line.startswith(stage) for line in acknowledged) for stage in STAGES}
    held = sorted(key for (key,) in conn.execute("SELECT id FROM buffer_entries UNION ALL SELECT id FROM buffer_archive"))
    must(held == [f"buf-{n:06d}" for n in range(1, len(held) + 1)], "an entry is lost or doubled")
    must(counts["talk"] * TALK <= len(held) <= (counts["talk"] + 1) * TALK, "acknowledged talk is lost")
    must(len(held) % TALK == 0, "talk is half written")
    runs = number("SELECT count(*) FROM handoff_runs WHERE status = 'committed'")
    must(number("SELECT count(*) FROM handoff_runs") == runs, "a handoff failed")
    must(counts["handoff"] <= runs <= counts["handoff"] + 1, "an acknowledged handoff is lost or doubled")
    must(number("SELECT count(*) FROM ledger_entries") == number("SELECT sum(added) FROM handoff_runs"), "a memory is lost or doubled")
    must(number("SELECT count(*) FROM embeddings") == number("SELECT count(*) FROM ledger_entries"), "a vector is lost")
    for fate in ("promoted", "forgotten"):
        archived = number(f"SELECT count(*) FROM buffer_archive WHERE fate = '{fate}'")
        must(archived == number(f"SELECT sum({fate}) FROM handoff_runs"), f"a run did not do all it says: {fate}")
    waiting = conn.execute("SELECT proposal_json, verdicts_json FROM proposals").fetchall()
    must(len(waiting) <= (mode == "ask"), "more than one proposal waits")
    if counts["proposed"] > runs:
        must(len(waiting) == 1, "an acknowledged proposal is lost")
    if waiting and counts["proposed"] > counts["handoff"]:
        proposal, verdicts = (json.loads(text) for text in waiting[0])
        must(len(proposal["chunks"]) == 2, "a proposal is in part")
        buffer = {key for (key,) in conn.execute("SELECT id FROM buffer_entries")}
        must({entry["id"] for entry in proposal["candidates"]} <= buffer, "a candidate has left the buffer before its time")
        if counts["edited"] > counts["handoff"]:
            must((proposal["chunks"][0]["importance"], verdicts["verdicts"][0]) == (6, "accepted"), "an acknowledged edit is lost")
        if counts["judged"] > counts["handoff"]:
            must("open" not in verdicts["verdicts"], "an acknowledged verdict is lost")
    return found


@pytest.mark.parametrize("mode", ["ask", "auto"])
def test_killed_at_any_statement_nothing_is_lost_or_doubled_and_play_goes_on(tmp_path: Path, mode: str) -> None:
    saves = int(driven(tmp_path, mode, SPREAD))
    assert saves > SPREAD
    stages = set()
    for number in range(saves + 1):
        log = (tmp_path / f"{number}.log").read_text().splitlines()
        stages.add(len(log))
        opened = open_save(tmp_path / f"{number}.db")
        assert violations(opened.conn, log, mode) == [], f"save {number}"
        opened.close()
    assert len(stages) > 8  # deaths were spread over the play
    driven("go_on", tmp_path, mode, saves)
    ends = set()
    for number in range(saves + 1):
        opened = open_save(tmp_path / f"{number}.db")
        assert violations(opened.conn, [f"{stage} {n}" for n in range(HANDOFFS) for stage in STAGES], mode) == [], f"save {number}"
        ends.add(tuple(opened.conn.execute("SELECT id, content, importance FROM ledger_entries ORDER BY id")))
        opened.close()
    assert len(ends) == 1  # whenever it died, the same memories came of it
