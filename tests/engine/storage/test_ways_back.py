"""What left a tier of memory can come back, once, and only whole."""

import sqlite3
from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from engine.errors import SaveError
from engine.records.memory import BufferEntry, LedgerEntry, Proposal, TriggerReport
from engine.storage.store import Store

if TYPE_CHECKING:
    from tests.engine.storage.conftest import Samples


def rows(conn: sqlite3.Connection, table: str, key: str) -> list[tuple[object, ...]]:
    return conn.execute(f"SELECT * FROM {table} WHERE id = ?", (key,)).fetchall()


async def test_an_archived_event_comes_back_as_it_was(filled: Store) -> None:
    def work(conn: sqlite3.Connection) -> tuple[BufferEntry, BufferEntry | None]:
        [gone] = filled.buffer.archived(conn, "bob")
        filled.buffer.restore(conn, gone.entry.id, 3, "hand")
        assert rows(conn, "buffer_archive", gone.entry.id) == []
        return gone.entry, filled.buffer.get(conn, gone.entry.id)

    before, after = await filled.db.write(work)
    assert after == before.model_copy(update={"pinned": "hand"})
    assert after in await filled.db.read(lambda conn: filled.buffer.of_owner(conn, "bob"))


async def test_an_event_is_restored_once(filled: Store) -> None:
    gone = (await filled.db.read(lambda conn: filled.buffer.archived(conn, "bob")))[0].entry.id
    await filled.db.write(lambda conn: filled.buffer.restore(conn, gone, 3, "none"))
    with pytest.raises(KeyError):
        await filled.db.write(lambda conn: filled.buffer.restore(conn, gone, 3, "none"))


async def test_a_removed_memory_comes_back_with_its_sources_and_words(filled: Store, samples: "Samples") -> None:
    def work(conn: sqlite3.Connection) -> tuple[LedgerEntry, LedgerEntry, tuple[str, ...]]:
        entry = filled.ledger.add(conn, samples.memory(involved=("mira",)), ["buf-000001"], "a quarrel")
        filled.ledger_archive.archive(conn, [entry.id], "removed", 4)
        assert filled.ledger.get(conn, [entry.id]) == []
        assert "quarrel" not in [key for key, _ in filled.ledger.by_words(conn, "bob", ["quarrel"], 9) if key == entry.id]
        [gone] = [a for a in filled.ledger_archive.of_owner(conn, "bob") if a.entry.id == entry.id]
        assert (gone.fate, gone.round, gone.into_id, gone.source_ids) == ("removed", 4, None, ("buf-000001",))
        assert gone.entry == entry
        filled.ledger_archive.restore(conn, entry.id, 5)
        [back] = filled.ledger.get(conn, [entry.id])
        assert entry.id in [key for key, _ in filled.ledger.by_words(conn, "bob", ["quarrel"], 9)]
        return entry, back, filled.ledger.sources(conn, entry.id)

    before, after, sources = await filled.db.write(work)
    assert after == before.model_copy(update={"origin": "hand"})
    assert sources == ("buf-000001",)


async def test_a_memory_goes_only_into_one_of_its_owner(filled: Store, samples: "Samples") -> None:
    def other(conn: sqlite3.Connection) -> None:
        mine = filled.ledger.add(conn, samples.memory(), (), "x")
        yours = filled.ledger.add(conn, samples.memory().model_copy(update={"owner_id": "mira"}), (), "x")
        filled.ledger_archive.archive(conn, [mine.id], "merged", 4, into=yours.id)

    with pytest.raises(SaveError):
        await filled.db.write(other)


Break = Callable[[sqlite3.Connection, LedgerEntry], object]
BREAKS: dict[str, Break] = {
    "deleted": lambda conn, entry: conn.execute("DELETE FROM ledger_entries WHERE id = ?", (entry.id,)),
    "renumbered": lambda conn, entry: conn.execute("UPDATE ledger_entries SET id = 'led-9' WHERE id = ?", (entry.id,)),
    "archive emptied": lambda conn, _: conn.execute("DELETE FROM ledger_archive"),
    "archive rewritten": lambda conn, _: conn.execute("UPDATE ledger_archive SET content = 'else'"),
    "event archive emptied": lambda conn, _: conn.execute("DELETE FROM buffer_archive"),
    "doubled": lambda conn, _: conn.execute(
        "INSERT INTO ledger_entries SELECT seq, id, owner_id, timestamp, ended, location_id, involved_json, content, quotes_json,"
        " importance, mode, run_id, version, plain, origin, created_round FROM ledger_archive"
    ),
    "restored from nowhere": lambda conn, _: conn.execute(
        "INSERT INTO restorations (kind, id, round, pinned, fate, left_round) VALUES ('ledger', 'led-777', 1, 'none', 'removed', 1)"
    ),
}


@pytest.mark.parametrize("how", BREAKS)
async def test_no_memory_is_lost_or_doubled(filled: Store, samples: "Samples", how: str) -> None:
    def prepare(conn: sqlite3.Connection) -> LedgerEntry:
        kept, gone = (filled.ledger.add(conn, samples.memory(), (), "x") for _ in range(2))
        filled.ledger_archive.archive(conn, [gone.id], "removed", 1)
        return kept

    kept = await filled.db.write(prepare)
    with pytest.raises(SaveError):
        await filled.db.write(lambda conn: BREAKS[how](conn, kept))
    assert await filled.db.read(lambda conn: filled.ledger.get(conn, [kept.id])) == [kept]


async def test_earlier_wordings_are_kept(filled: Store, samples: "Samples") -> None:
    def work(conn: sqlite3.Connection) -> tuple[LedgerEntry, list[LedgerEntry]]:
        first = filled.ledger.add(conn, samples.memory(content="One."), (), "one")
        for text in ("Two.", "Three."):
            filled.ledger.rewrite(conn, first.id, samples.memory(content=text), (), text)
        return first, filled.ledger_archive.versions(conn, first.id)

    first, versions = await filled.db.write(work)
    assert [(entry.version, entry.content) for entry in versions] == [(1, "One."), (2, "Two.")]
    assert versions[0] == first


async def test_use_is_counted_and_changes_nothing_else(filled: Store, samples: "Samples") -> None:
    entry = await filled.db.write(lambda conn: filled.ledger.add(conn, samples.memory(), (), "x"))
    later = samples.start + timedelta(hours=1)
    await filled.db.write(lambda conn: filled.ledger_archive.used(conn, [entry.id, "led-777"], later))
    await filled.db.write(lambda conn: filled.ledger_archive.used(conn, [entry.id], samples.start))
    use = await filled.db.read(lambda conn: filled.ledger_archive.uses(conn, [entry.id, "led-000001"]))
    assert {key: (u.retrieval_count, u.last_retrieved_at) for key, u in use.items()} == {entry.id: (2, later)}
    assert await filled.db.read(lambda conn: filled.ledger.get(conn, [entry.id])) == [entry]


async def test_a_proposal_waits_with_its_verdicts(filled: Store, samples: "Samples") -> None:
    entries = await filled.db.read(lambda conn: filled.buffer.of_owner(conn, "bob"))
    chunk = {"source_ids": (entries[0].id,), "content": "{{e:bob}} spoke.", "importance": 3}
    proposal = Proposal.model_validate({
        "owner_id": "bob", "trigger": "voluntary", "report": TriggerReport(trigger="voluntary", reason="idle"),
        "candidates": entries, "chunks": (chunk, chunk), "vectors": (b"1234",), "embedder": "m", "dim": 1, "prompt": "p", "reply": "r",
        "model": "m", "template": "t",
    })
    pending = await filled.db.write(lambda conn: filled.proposals.add(conn, proposal, 7, samples.start))
    judged = pending.model_copy(update={"verdicts": ("accepted", "open"), "attempt": 2})
    await filled.db.write(lambda conn: filled.proposals.replace(conn, judged))
    found = await filled.db.read(lambda conn: filled.proposals.of_owner(conn, "bob"))
    assert found == judged.model_copy(update={"proposal": proposal.model_copy(update={"vectors": ()})})
    with pytest.raises(SaveError):
        await filled.db.write(lambda conn: filled.proposals.add(conn, proposal, 7, samples.start))
    await filled.db.write(lambda conn: filled.proposals.remove(conn, pending.id))
    assert await filled.db.read(filled.proposals.all) == []
