"""Two saves are equal row for row, or the difference is told."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from engine.errors import SaveError
from engine.storage.diff import differences
from engine.storage.store import Store

if TYPE_CHECKING:
    from tests.engine.storage.conftest import Samples


async def play(path: Path, samples: "Samples", *, seconds: float = 1.0) -> Path:
    """A short story in a new save, the same each time but for the wall clock."""
    store = await Store.create(path, samples.authored())

    def beat(conn: sqlite3.Connection) -> None:
        number = store.story.add_beat(conn, 1, "bob", samples.start, "I speak.", "actor.1")
        store.story.add_happening(conn, number, 1, samples.start, "bar", samples.event().intent, None)
        entries = [store.buffer.add(conn, samples.event(minutes=minutes)) for minutes in range(3)]
        run = store.handoffs.add(conn, samples.run())
        memory = store.ledger.add(conn, samples.memory(run_id=run.id), [entries[0].id], "came in")
        store.embeddings.put(conn, "ledger", memory.id, "m", 2, b"\0" * 8)
        store.buffer.archive(conn, entries[:1], "promoted", run.id, {entries[0].id: memory.id})
        store.buffer.archive(conn, entries[1:2], "forgotten", run.id, {})
        store.handoffs.log_time(conn, run.id, seconds)

    await store.db.write(beat)
    await store.close()
    return path


async def test_equal_play_gives_equal_saves_but_for_the_wall_clock(
    tmp_path: Path, samples: "Samples", leftovers: Callable[[], list[str]]
) -> None:
    a = await play(tmp_path / "a.db", samples, seconds=1.0)
    b = await play(tmp_path / "b.db", samples, seconds=2.5)
    content = a.read_bytes()
    assert differences(a, b) == []
    assert differences(a, a) == []
    assert a.read_bytes() == content
    assert leftovers() == ["a.db", "b.db"]


CHANGES = {
    "UPDATE meta SET value = '7' WHERE key = 'seed'": ["meta seed: value is '1099511627776' and '7'"],
    "UPDATE objects SET place_id = NULL WHERE id = 'key'": [
        "moves 1: only in the second", "objects key: place_id is 'bar' and None"
    ],
    "UPDATE ledger_entries SET importance = 9 WHERE seq = 2": ["ledger_entries led-000002: importance is 5 and 9"],
    "UPDATE embeddings SET vector = x'0000000000000001'": [
        "embeddings ledger led-000002 m: vector is 8 bytes and 8 bytes, different from byte 7 on"
    ],
    "INSERT INTO beats VALUES (9, 1, 'bob', '1247-03-01T18:05:00', '', '')": ["beats 9: only in the second"],
    "DELETE FROM lore WHERE id = 'z'": ["lore z: only in the first"],
    "UPDATE counters SET value = 9 WHERE name = 'run'": ["counters run: value is 1 and 9"],
    "DELETE FROM ledger_sources": ["ledger_sources buf-000003 led-000002: only in the first"],
    "UPDATE beats SET prose = 'I speak!'": ["beats 1: prose is 'I speak.' and 'I speak!'"],
    f"UPDATE beats SET prose = '{'very ' * 40}long'": [f"beats 1: prose is 'I speak.' and '{('very ' * 12)}'..."],
}


@pytest.mark.parametrize(("change", "told"), CHANGES.items(), ids=range(len(CHANGES)))
async def test_each_difference_is_told(tmp_path: Path, samples: "Samples", change: str, told: list[str]) -> None:
    a, b = await play(tmp_path / "a.db", samples), await play(tmp_path / "b.db", samples)
    with closing(sqlite3.connect(b)) as conn:
        assert conn.execute(change).rowcount == 1
        conn.commit()
    assert differences(a, b) == told


async def test_a_save_in_use_can_be_compared(tmp_path: Path, samples: "Samples") -> None:
    a, b = await play(tmp_path / "a.db", samples), await play(tmp_path / "b.db", samples)
    store = await Store.open(b)
    await store.db.write(lambda c: store.story.add_beat(c, 2, "mira", samples.start, "", ""))
    assert differences(a, b) == ["beats 2: only in the second"]
    await store.close()


async def test_what_is_no_save_is_not_compared(tmp_path: Path, samples: "Samples") -> None:
    a = await play(tmp_path / "a.db", samples)
    with pytest.raises(SaveError, match="There is no save"):
        differences(a, tmp_path / "b.db")
    (tmp_path / "b.db").write_text("a letter " * 100)
    with pytest.raises(SaveError, match="not a save"):
        differences(a, tmp_path / "b.db")
    await (await Store.open(a)).close()  # not left locked
