"""The way back from each change and forth again, row for row, at the level of rows."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import CommandError, SaveError
from engine.records.history import Change
from engine.storage import journal
from engine.storage.journal_images import Image, put_back
from engine.storage.schema import migrate
from engine.storage.store import Store
from tests.engine.storage.whole import everything, sound

if TYPE_CHECKING:
    from tests.engine.storage.conftest import Samples

_TEXTS = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), min_size=1)


@pytest.fixture(scope="module")
def bare() -> Iterator[sqlite3.Connection]:
    """A save without a world. Tests leave it as it was."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as conn:
        migrate(conn)
        conn.execute("INSERT INTO objects VALUES (1, 'bob', 1, NULL, NULL, 1, '[]', '[]', '[]', '[]', '{}', '{}')")
        yield conn


async def done(store: Store) -> list[Change]:
    return await store.db.read(lambda conn: store.journal.done(conn, 1000))


async def undone(store: Store) -> list[Change]:
    return await store.db.read(lambda conn: store.journal.undone(conn))


async def back(store: Store) -> None:
    """Take back the newest change."""
    [change, *_] = await done(store)
    await store.db.write(lambda conn: store.journal.take_back(conn, change))


async def forth(store: Store) -> None:
    """Bring again what was taken back last."""
    [change, *_] = await undone(store)
    await store.db.write(lambda conn: store.journal.bring_again(conn, change))


async def pin(store: Store, pin_: str = "hand", label: str = "pinned") -> None:
    def run(conn: sqlite3.Connection) -> None:
        store.journal.note(conn, "hand", label)
        conn.execute("UPDATE buffer_entries SET pinned = ? WHERE seq = 1", (pin_,))

    await store.db.write(run)


async def set_round(store: Store, number: int) -> None:
    def run(conn: sqlite3.Connection) -> None:
        store.journal.note(conn, "round", f"Round {number} began")
        conn.execute("UPDATE meta SET value = ? WHERE key = 'round'", (str(number),))

    await store.db.write(run)


async def test_a_change_has_kind_label_round_and_world_time(store: Store, samples: "Samples") -> None:
    assert await done(store) == []  # the world's making is nothing to go back from
    await set_round(store, 3)
    await pin(store)
    [newest, before] = await done(store)
    assert (newest.kind, newest.label, newest.round, newest.now, newest.undone) == ("hand", "pinned", 3, samples.start, False)
    assert (before.kind, before.label, before.round) == ("round", "Round 3 began", 3)


async def test_a_transaction_is_one_change_and_the_last_word_names_it(filled: Store) -> None:
    [change] = await done(filled)  # of five rows and more, nobody said what it was
    assert (change.kind, change.label) == ("other", "")

    def run(conn: sqlite3.Connection) -> None:
        filled.journal.note(conn, "handoff", "first")
        conn.execute("UPDATE buffer_entries SET pinned = 'hand'")
        filled.journal.note(conn, "review", "last")

    await filled.db.write(run)
    assert [(c.kind, c.label) for c in await done(filled)] == [("review", "last"), ("other", "")]


async def test_what_changes_nothing_leaves_nothing(store: Store) -> None:
    await pin(store, "none")
    await store.db.write(lambda conn: store.journal.note(conn, "hand", "nothing"))

    def failing(conn: sqlite3.Connection) -> float:
        store.journal.note(conn, "hand", "lost")
        return 1 // 0

    assert await done(store) == []
    with pytest.raises(ZeroDivisionError):
        await store.db.write(failing)
    assert await done(store) == []


async def test_all_kinds_of_rows_go_back_and_forth(filled: Store, samples: "Samples") -> None:
    """A memory that was rewritten, one that went and came back, a moment that did, somebody who moved, what waits, numbers of ids."""
    before = await filled.db.read(everything)

    def rewrite(conn: sqlite3.Connection) -> None:
        other = samples.memory(content="Other words.", involved=("mira",))
        filled.ledger.rewrite(conn, "led-000002", other, ["buf-000001"], "Other words.")
        filled.embeddings.put(conn, "ledger", "led-000002", "m", 2, b"abcdefgh")

    def archive(conn: sqlite3.Connection) -> None:
        filled.ledger_archive.used(conn, ["led-000001", "led-000002"], samples.start)
        filled.ledger_archive.archive(conn, ["led-000001"], "merged", 2, into="led-000002")

    def restore(conn: sqlite3.Connection) -> None:
        filled.ledger_archive.restore(conn, "led-000001", 5)
        filled.buffer.restore(conn, "buf-000004", 5, "hand")

    def move(conn: sqlite3.Connection) -> None:
        conn.execute("UPDATE objects SET place_id = 'cellar', aliases_json = '{}' WHERE id = 'bob'")
        conn.execute("DELETE FROM lore WHERE id = 'a'")

    await filled.db.write(lambda conn: filled.embeddings.put(conn, "ledger", "led-000002", "m", 2, b"xxxxyyyy"))
    states = [await filled.db.read(everything)]
    assert states[0] != before
    for change in (rewrite, archive, restore, move):
        await filled.db.write(change)
        states.append(await filled.db.read(everything))
        await filled.db.write(sound)
    for state in reversed(states[:-1]):
        await back(filled)
        assert await filled.db.read(everything) == state
        await filled.db.write(sound)
    for state in states[1:]:
        await forth(filled)
        assert await filled.db.read(everything) == state
        await filled.db.write(sound)


@pytest.mark.parametrize(
    "trigger",
    [
        "ledger_entries_update", "ledger_entries_delete", "ledger_archive_insert", "ledger_versions_insert", "moves_insert",
        "embeddings_delete",
    ],
)  # fmt: skip
async def test_a_trigger_that_is_missing_is_seen_in_rows(filled: Store, samples: "Samples", trigger: str) -> None:
    """What these tests compare is enough to notice it."""

    def change(conn: sqlite3.Connection) -> None:
        conn.execute(f"DROP TRIGGER journal_{trigger}")
        filled.ledger.rewrite(conn, "led-000002", samples.memory(content="Other words."), [], "Other words.")
        filled.ledger_archive.archive(conn, ["led-000001"], "removed", 2)
        conn.execute("UPDATE objects SET place_id = 'cellar' WHERE id = 'bob'")

    await filled.db.write(lambda conn: filled.embeddings.put(conn, "ledger", "led-000002", "m", 2, b"xxxxyyyy"))
    before = await filled.db.read(everything)
    await filled.db.write(change)
    with suppress(SaveError):
        await back(filled)
    assert await filled.db.read(everything) != before


@given(first=st.floats(0, 1), second=st.floats(allow_nan=False), third=st.floats(allow_infinity=False, allow_nan=False), text=_TEXTS)
def test_numbers_and_texts_come_back_exactly(bare: sqlite3.Connection, first: float, second: float, third: float, text: str) -> None:
    """Among them those that JSON would round, and signs that it escapes."""
    conn = bare
    conn.execute("BEGIN")
    try:
        conn.execute(
            """
            INSERT INTO knowledge (id, owner_id, kind, content, plain, rationale, topic_key, term, scope, scope_id, confidence, importance,
                sensitivity, turns_json, valid_from, pinned, authored, version, created, created_round, updated, updated_round,
                retrieval_count, activation, strength, tier)
            VALUES ('k', 'bob', 'fact', ?, ?, '', '', 'long', 'entity', 'bob', ?, 5, 'plain', '[]', '1247-03-01T18:05:00', 0, 0, 1,
                '1247-03-01T18:05:00', 0, '1247-03-01T18:05:00', 0, 0, ?, ?, 'hot')
            """,
            (text, text, first, second, third),
        )
        before = conn.execute("SELECT * FROM knowledge").fetchall()
        conn.execute("DELETE FROM journal_rows")
        conn.execute("UPDATE knowledge SET content = 'other', confidence = 0.5, activation = 7.25, strength = 1.5")
        conn.execute("DELETE FROM knowledge")
        images = [Image(*row) for row in conn.execute("SELECT name, op, key, image FROM journal_rows ORDER BY seq DESC")]
        put_back(conn, images)
        assert conn.execute("SELECT * FROM knowledge").fetchall() == before
    finally:
        conn.execute("ROLLBACK")


async def test_a_new_change_ends_the_way_forth(store: Store) -> None:
    await pin(store, "hand", "one")
    await pin(store, "model", "two")
    await back(store)
    await back(store)
    assert [c.label for c in await undone(store)] == ["one", "two"]
    await forth(store)
    assert [c.label for c in await done(store)] == ["one"]
    await pin(store, "none", "three")
    assert await undone(store) == []
    assert [c.label for c in await done(store)] == ["three", "one"]
    await back(store)
    await back(store)
    assert await store.db.read(lambda conn: conn.execute("SELECT pinned FROM buffer_entries WHERE seq = 1").fetchall()) == [("none",)]


async def test_what_is_derived_is_no_change_and_ends_no_way(store: Store) -> None:
    await store.db.write(lambda conn: store.embeddings.put(conn, "ledger", "led-000001", "old", 1, b"1234"))
    await pin(store)
    await back(store)

    def drop(conn: sqlite3.Connection) -> None:
        store.journal.derived(conn)
        assert store.embeddings.drop_others(conn, "new", 10) == 1

    await store.db.write(drop)
    assert await done(store) == []
    assert len(await undone(store)) == 1


async def test_only_the_next_change_can_be_turned(store: Store) -> None:
    await pin(store, "hand", "one")
    await pin(store, "model", "two")
    [two, one] = await done(store)
    with pytest.raises(CommandError, match="Something else has happened"):
        await store.db.write(lambda conn: store.journal.take_back(conn, one))
    with pytest.raises(CommandError, match="Something else has happened"):
        await store.db.write(lambda conn: store.journal.bring_again(conn, two))
    assert [c.label for c in await done(store)] == ["two", "one"]


@pytest.mark.parametrize(
    "spoiling",
    [
        "UPDATE journal_rows SET key = 99",
        "UPDATE journal_rows SET name = 'sqlite_schema'",
        "UPDATE journal_rows SET name = 'journal'",
        "UPDATE journal_rows SET name = 'ledger_involved_entities'",
        """UPDATE journal_rows SET image = '{"pinned\\" = 1; --": 1}'""",
        "UPDATE journal_rows SET op = '-'",
        "UPDATE journal_rows SET image = '{\"pinned\":\"perhaps\"}'",
    ],
)
async def test_a_journal_that_does_not_fit_changes_nothing(store: Store, spoiling: str) -> None:
    await pin(store)
    before = await store.db.read(everything)
    [change] = await done(store)
    await store.db.write(lambda conn: conn.execute(spoiling).rowcount)
    with pytest.raises(SaveError):
        await store.db.write(lambda conn: store.journal.take_back(conn, change))
    assert await store.db.read(everything) == before
    await pin(store, "model", "on")  # play can go on
    assert (await done(store))[0].label == "on"


@pytest.mark.parametrize("way", ["undo", "derived"])
async def test_no_gate_stays_open(store: Store, way: str) -> None:
    """Nobody but the journal can commit with the gate open, and one that a save came with is shut before anything is written."""
    path = store.db.path
    await store.close()
    with sqlite3.connect(path) as raw:
        raw.execute("PRAGMA foreign_keys = ON")
        raw.execute("INSERT INTO journal_gate (way) VALUES (?)", (way,))
        with pytest.raises(sqlite3.IntegrityError):
            raw.commit()
        raw.rollback()
    raw.close()
    with sqlite3.connect(path) as raw:  # as a program would that minds nothing
        raw.execute("INSERT INTO journal_gate (way) VALUES (?)", (way,))
    raw.close()
    again = await Store.open(path)
    try:
        with pytest.raises(SaveError, match="only go when the archive holds it"):
            await again.db.write(lambda conn: conn.execute("DELETE FROM buffer_entries").rowcount)
        await pin(again)
        assert [c.label for c in await done(again)] == ["pinned"]
    finally:
        await again.close()


async def test_old_rounds_go_whole_and_the_way_back_says_where_it_ends(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "MOST_BYTES", 400)
    for number in range(1, 7):
        await set_round(store, number)
        await pin(store, "hand" if number % 2 else "model", f"in {number}")
        await pin(store, "none", f"out {number}")
    kept = await done(store)
    rounds = [c.round for c in kept]
    assert rounds[0] == 6
    assert 1 < rounds[-1] <= 4
    assert kept[-1].kind == "round"  # no round is kept by half
    [(rows,)] = await store.db.read(lambda conn: conn.execute("SELECT count(*) FROM journal_rows").fetchall())
    assert rows == len(kept)
    oldest = rounds[-1]
    assert await store.db.read(lambda conn: store.journal.since(conn, oldest - 1)) == kept
    with pytest.raises(CommandError, match=f"ends at round {oldest - 1}"):
        await store.db.read(lambda conn: store.journal.since(conn, oldest - 2))
    for _ in kept:
        await back(store)
    assert await store.db.read(lambda conn: conn.execute("SELECT value FROM meta WHERE key = 'round'").fetchall()) == [(str(oldest - 1),)]


async def test_hands_alone_do_not_outgrow_the_bound(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "MOST_BYTES", 1000)
    for number in range(100):
        await pin(store, "hand" if number % 2 else "model", str(number))
        [(bytes_,)] = await store.db.read(lambda conn: conn.execute("SELECT sum(bytes) FROM journal").fetchall())
        assert bytes_ <= 2 * journal.MOST_BYTES
    assert (await done(store))[0].label == "99"


async def test_survives_closing_and_counts_what_would_go(filled: Store, samples: "Samples") -> None:
    filled_rows = await filled.db.read(lambda conn: filled.journal.rows(conn, filled.journal.done(conn, 1)))
    assert filled_rows["ledger_entries", "+"] == 1
    assert filled_rows["buffer_archive", "+"] == 1
    before = await filled.db.read(everything)
    path = filled.db.path
    await filled.close()
    again = await Store.open(path)
    await back(again)
    turned = await again.db.read(lambda conn: again.journal.rows(conn, again.journal.undone(conn)))
    assert turned == filled_rows
    await again.close()
    last = await Store.open(path)
    await forth(last)
    assert await last.db.read(everything) == before
    await last.close()
