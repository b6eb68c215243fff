"""The audit trail: found by filters, page by page, and never changed."""

import sqlite3
from datetime import datetime
from functools import partial

import pytest

from engine.errors import SaveError
from engine.records.knowledge import AuditAction, Cause
from engine.storage.knowledge_audit import Change
from engine.storage.store import Store

NOON = datetime(1247, 3, 1, 12)


@pytest.fixture
async def audited(store: Store) -> Store:
    """A trail of nine rows in three rounds."""

    def work(conn: sqlite3.Connection) -> None:
        rows: list[tuple[int, AuditAction, Cause, str, str, str, str]] = [
            (1, "opened", "play", "bob", "", "ses-1", ""),
            (1, "added", "collapse", "bob", "kno-1", "ses-1", "col-1"),
            (1, "added", "collapse", "bob", "kno-2", "ses-1", "col-1"),
            (2, "merged", "promotion", "bob", "kno-1", "", "pro-1"),
            (2, "added", "world", "mira", "kno-3", "", ""),
            (2, "cut", "collapse", "mira", "", "ses-2", "col-2"),
            (3, "retired", "promotion", "bob", "kno-2", "", "pro-2"),
            (3, "edited", "hand", "mira", "kno-3", "", ""),
            (3, "collapsed", "collapse", "mira", "", "ses-2", "col-2"),
        ]
        for number, action, cause, owner, knowledge, session, run in rows:
            conn.execute("UPDATE meta SET value = ? WHERE key = 'round'", (str(number),))
            change = Change(action, cause, "why", NOON, run or None, session or None)
            store.audit.add(conn, change, owner=owner, knowledge=knowledge or None, before="a", after="b")

    await store.db.write(work)
    return store


FILTERS: dict[str, tuple[dict[str, object], str]] = {
    "all": ({}, "987654321"),
    "an owner": ({"owner": "bob"}, "74321"),
    "a piece": ({"knowledge": "kno-1"}, "42"),
    "a session": ({"session": "ses-1"}, "321"),
    "a run": ({"run": "col-2"}, "96"),
    "actions": ({"actions": ["added", "cut"]}, "6532"),
    "causes": ({"causes": ["promotion", "hand"]}, "874"),
    "from a round on": ({"first_round": 3}, "987"),
    "rounds": ({"first_round": 2, "last_round": 2}, "654"),
    "all at once": ({"owner": "bob", "actions": ["added"], "causes": ["collapse"], "last_round": 1, "session": "ses-1"}, "32"),
    "nobody": ({"owner": "key"}, ""),
    "a page": ({"limit": 4}, "9876"),
    "the next page": ({"limit": 4, "before": 6}, "5432"),
    "a page of an owner": ({"owner": "mira", "limit": 2, "before": 9}, "86"),
}


@pytest.mark.parametrize(("filters", "found"), FILTERS.values(), ids=[name.replace(" ", "-") for name in FILTERS])
async def test_rows_are_found_by_filters_newest_first(audited: Store, filters: dict[str, object], found: str) -> None:
    rows = await audited.db.read(lambda conn: audited.audit.find(conn, **filters))  # type: ignore[arg-type]
    assert "".join(str(row.seq) for row in rows) == found


async def test_a_row_says_what_was_written(audited: Store) -> None:
    [row] = await audited.db.read(partial(audited.audit.find, run="pro-1"))
    assert row.model_dump() == {
        "seq": 4, "round": 2, "timestamp": NOON, "action": "merged", "cause": "promotion", "owner_id": "bob", "knowledge_id": "kno-1",
        "session_id": None, "run_id": "pro-1", "before": "a", "after": "b", "why": "why",
    }  # fmt: skip


@pytest.mark.parametrize("sql", [
    "UPDATE audit SET why = 'because I say so' WHERE seq = 1", "DELETE FROM audit WHERE seq = 9", "DELETE FROM audit",
    "REPLACE INTO audit (seq, round, timestamp, action, cause, before, after, why)"
    " VALUES (1, 1, '1247-03-01T12:00:00', 'x', 'x', '', '', '')",
])  # fmt: skip
async def test_the_trail_is_only_ever_added_to(audited: Store, sql: str) -> None:
    before = await audited.db.read(audited.audit.find)
    with pytest.raises(SaveError):
        await audited.db.write(lambda conn: conn.execute(sql).rowcount)
    assert await audited.db.read(audited.audit.find) == before
