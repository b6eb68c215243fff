"""A process that is killed while it plays loses nothing it was told is safe, and leaves no half-done step."""

import subprocess
import sys
from pathlib import Path

import pytest

from engine.storage.opening import open_save
from engine.storage.store import Store

DRIVER = Path(__file__).with_name("kill_driver.py")
BEAT, KEEP = 5, 3

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]


def sweep(folder: Path, mode: str, kind: str, count: int) -> int:
    """Leave saves `0.db` (a whole play) to `<count>.db` (killed ones). Returns the statements of a whole play."""
    root = DRIVER.parents[2]
    command = [sys.executable, str(DRIVER), str(folder), mode, kind, str(count)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=110, check=False, cwd=root, env={"PYTHONPATH": str(root)})
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def violations(path: Path) -> list[str]:
    """What is wrong with a save after its process died, by what it was told was safe."""
    log = path.with_suffix(".log").read_text().split("\n")
    rounds = max((int(line.split()[1]) for line in log if line.startswith("round")), default=0)
    handoffs = sum(line.startswith("handoff") for line in log)
    opened = open_save(path)
    conn, found = opened.conn, []

    def number(sql: str) -> int:
        return int(conn.execute(sql).fetchone()[0])

    def must(holds: bool, what: str) -> None:
        if not holds:
            found.append(what)

    must(conn.execute("PRAGMA integrity_check").fetchall() == [("ok",)], "integrity")
    must(conn.execute("PRAGMA foreign_key_check").fetchall() == [], "foreign keys")
    played = number("SELECT value FROM meta WHERE key = 'round'")
    must(rounds <= played <= rounds + 1, "an acknowledged beat is lost")
    must(number("SELECT count(*) FROM beats") == played, "a beat is half written")
    must(number("SELECT count(*) FROM happenings") == played * BEAT, "a happening is lost")
    held = [key for (key,) in conn.execute("SELECT id FROM buffer_entries UNION ALL SELECT id FROM buffer_archive")]
    must(sorted(held) == [f"buf-{n:06d}" for n in range(1, played * BEAT + 1)], "an entry is lost or doubled")
    runs = number("SELECT count(*) FROM handoff_runs")
    must(handoffs <= runs <= handoffs + 1, "an acknowledged handoff is lost")
    must(number("SELECT count(*) FROM ledger_entries") == runs, "a memory is lost or doubled")
    must(number("SELECT count(*) FROM embeddings") == runs, "a vector is lost")
    must(number("SELECT count(*) FROM ledger_involved_entities") == 2 * runs, "people of a memory are lost")
    for fate in ("promoted", "forgotten"):
        must(
            number(f"SELECT count(*) FROM buffer_archive WHERE fate = '{fate}'") == number(f"SELECT total({fate}) FROM handoff_runs"),
            f"a run did not do all it says: {fate}",
        )
    sourceless = "SELECT count(*) FROM buffer_archive WHERE fate = 'promoted' AND id NOT IN (SELECT buffer_id FROM ledger_sources)"
    must(number(sourceless) == 0, "a promoted entry is no source")
    conn.execute("INSERT INTO ledger_words (ledger_words, rank) VALUES ('integrity-check', 1)")
    opened.close()
    return found


@pytest.mark.parametrize(("kind", "count"), [("statement", 150), ("time", 50)])
async def test_nothing_is_lost_doubled_or_half_done(tmp_path: Path, kind: str, count: int) -> None:
    statements = sweep(tmp_path, "whole", kind, count)
    assert statements > 300
    stages = set()
    for number in range(count + 1):
        path = tmp_path / f"{number}.db"
        log = path.with_suffix(".log")
        if not log.exists() or "created" not in log.read_text():
            continue  # died before there was a save
        stages.add(len(log.read_text().splitlines()))
        assert violations(path) == [], f"save {number}"
        store = await Store.open(path)  # and play goes on
        world = await store.db.read(store.worlds.load)
        await store.db.write(lambda conn, s=store, w=world: s.story.add_beat(conn, w.round + 1, "bob", w.now, "", ""))  # type: ignore[misc]
        await store.close()
    assert len(stages) > (8 if kind == "statement" else 3)  # deaths were spread over the play


def test_the_sweep_notices_a_handoff_in_two_transactions(tmp_path: Path) -> None:
    sweep(tmp_path, "torn", "statement", 40)
    found = {what for number in range(41) for what in violations(tmp_path / f"{number}.db")}
    assert "a run did not do all it says: promoted" in found
