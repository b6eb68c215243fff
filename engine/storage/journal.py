"""The journal of a save: every transaction as one change with a label, the way back from it, and forth again (DESIGN 16, invariant 7).

Triggers record rows as they are changed. A change is bracketed by `begin` and `settle`, which `Database.write` calls; what it was is told
by `note` inside it. Taking a change back puts its rows back, and the same triggers record what it takes to bring it again: so that of each
change one set of rows is kept, the one that leads away from where the save is now.
"""

import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime

from engine.errors import CommandError
from engine.records.history import Change, ChangeKind
from engine.storage.journal_images import Image, put_back
from engine.storage.rows import Row

MOST_BYTES = 48 * 1024 * 1024
"""What the way back may take: 1,200 rounds of seven minds (39 kB each, handoffs included), some 90 of a hundred. It is a third of what a
save holds by then, and reading it costs nothing until somebody goes back. Past it whole rounds are forgotten, the oldest first."""
_ROW_BYTES = 48
"""What a recorded row takes beside its image, roughly."""

_NEWEST_ROW = "SELECT coalesce(max(seq), 0) FROM journal_rows"
_SHUT = "DELETE FROM journal_gate"
_OPEN = "INSERT INTO journal_gate (way) VALUES (?) ON CONFLICT DO NOTHING"
_BEING_MADE = "SELECT seq, kind FROM journal WHERE seq = (SELECT max(seq) FROM journal) AND last IS NULL"
_BEGIN = "INSERT INTO journal (kind, label) VALUES (?, ?)"
_NAME = "UPDATE journal SET kind = ?, label = ? WHERE seq = ?"
_DROP = "DELETE FROM journal WHERE seq = ?"
_DROP_ROWS = "DELETE FROM journal_rows WHERE seq BETWEEN ? AND ?"
_UNDONE_SPANS = "SELECT seq, first, last FROM journal WHERE undone = 1"
_FINISH = """
UPDATE journal SET first = :first, last = :last, bytes = :bytes, upto = :bytes + coalesce((
    SELECT upto FROM journal AS earlier WHERE earlier.seq < journal.seq ORDER BY earlier.seq DESC LIMIT 1
), 0), round = (SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'round'), timestamp = (SELECT value FROM meta WHERE key = 'now')
WHERE seq = :seq RETURNING upto
"""
_SIZE = f"SELECT coalesce(sum(length(image)), 0) + {_ROW_BYTES} * count(*) FROM journal_rows WHERE seq > ?"
_BEFORE_OLDEST = "SELECT upto - bytes FROM journal ORDER BY seq LIMIT 1"
_PAST = "SELECT seq, first, last FROM journal WHERE seq < :seq AND round <= (SELECT max(round) FROM journal WHERE upto <= :bytes)"
_COLUMNS = "seq, kind, label, round, timestamp, undone"
_DONE = f"SELECT {_COLUMNS} FROM journal WHERE undone = 0 AND last IS NOT NULL ORDER BY seq DESC LIMIT ?"
_SINCE = f"SELECT {_COLUMNS} FROM journal WHERE undone = 0 AND last IS NOT NULL AND round > ? ORDER BY seq DESC"
_UNDONE = f"SELECT {_COLUMNS} FROM journal WHERE undone = 1 ORDER BY seq"
_OLDEST = f"SELECT {_COLUMNS} FROM journal WHERE undone = 0 ORDER BY seq LIMIT 1"
_SPAN = "SELECT first, last, undone FROM journal WHERE seq = ?"
_NEXT_BACK = "SELECT max(seq) FROM journal WHERE undone = 0 AND last IS NOT NULL"
_NEXT_FORTH = "SELECT min(seq) FROM journal WHERE undone = 1"
_ROWS = "SELECT name, op, key, image FROM journal_rows WHERE seq BETWEEN ? AND ? ORDER BY seq DESC"
_COUNTS = "SELECT name, op, count(*) FROM journal_rows WHERE seq BETWEEN ? AND ? GROUP BY name, op"
_TURN = "UPDATE journal SET undone = 1 - undone, first = ?, last = ? WHERE seq = ?"


def begin(conn: sqlite3.Connection) -> int:
    """Begin a change at the beginning of a transaction. Returns the mark that `settle` wants."""
    conn.execute(_SHUT)  # nobody else's gate stands open in a save
    [(mark,)] = conn.execute(_NEWEST_ROW)
    return int(mark)


def settle(conn: sqlite3.Connection, mark: int) -> None:
    """End a change just before its transaction is committed. One that changed nothing that is recorded leaves nothing behind; any other
    means that what was taken back before can be brought again no longer."""
    ways = {way for (way,) in conn.execute(f"{_SHUT} RETURNING way")}
    if "undo" in ways:
        return
    made = conn.execute(_BEING_MADE).fetchall()
    [(last,)] = conn.execute(_NEWEST_ROW)
    if last == mark:
        conn.executemany(_DROP, [(seq,) for seq, _ in made])
        return
    seq, kind = made[0] if made else (conn.execute(_BEGIN, ("other", "")).lastrowid, "other")
    _forget_spans(conn, conn.execute(_UNDONE_SPANS).fetchall())
    [(size,)] = conn.execute(_SIZE, (mark,))
    [(upto,)] = conn.execute(_FINISH, {"first": mark + 1, "last": last, "bytes": size, "seq": seq}).fetchall()
    [(before,)] = conn.execute(_BEFORE_OLDEST)
    # Rounds are forgotten when one begins, so that no beat pays for it; a hand alone must not outgrow the bound either.
    if upto - before > (MOST_BYTES if kind == "round" else 2 * MOST_BYTES):
        _forget_spans(conn, conn.execute(_PAST, {"seq": seq, "bytes": upto - MOST_BYTES}).fetchall())


def _forget_spans(conn: sqlite3.Connection, spans: Iterable[tuple[int, int, int]]) -> None:
    for seq, first, last in spans:
        conn.execute(_DROP_ROWS, (first, last))
        conn.execute(_DROP, (seq,))


class JournalRepository:
    """Reads the journal, and goes back and forth in it."""

    def note(self, conn: sqlite3.Connection, kind: ChangeKind, label: str) -> None:
        """Say what the running transaction is. `label` is for people, with reference tokens. The last word holds."""
        made = conn.execute(_BEING_MADE).fetchall()
        conn.execute(*((_NAME, (kind, label, made[0][0])) if made else (_BEGIN, (kind, label))))

    def derived(self, conn: sqlite3.Connection) -> None:
        """The running transaction writes what follows from other rows, vectors: nothing of it is taken back by itself."""
        conn.execute(_OPEN, ("derived",))

    def forget(self, conn: sqlite3.Connection) -> None:
        """Let the way back begin after the running transaction."""
        conn.execute("DELETE FROM journal")
        conn.execute("DELETE FROM journal_rows")

    def done(self, conn: sqlite3.Connection, limit: int) -> list[Change]:
        """What can be taken back, newest first."""
        return [_change(row) for row in conn.execute(_DONE, (limit,))]

    def since(self, conn: sqlite3.Connection, round_number: int) -> list[Change]:
        """What was done after the end of a round and of what hands did before the next, newest first. Raises `CommandError` when the
        journal does not reach back to it."""
        for oldest in map(_change, conn.execute(_OLDEST).fetchall()):
            reach = oldest.round - (oldest.kind == "round")
            if round_number < reach:
                raise CommandError(f"The way back ends at round {reach}.", "What came before it can be taken back no longer.")
        return [_change(row) for row in conn.execute(_SINCE, (round_number,))]

    def undone(self, conn: sqlite3.Connection) -> list[Change]:
        """What was taken back and can be brought again, in the order in which it would be."""
        return [_change(row) for row in conn.execute(_UNDONE)]

    def rows(self, conn: sqlite3.Connection, changes: Sequence[Change]) -> Counter[tuple[str, str]]:
        """How many rows changes hold, by table and by what was done: '+' for rows that they brought, '-' for those they took, '~' for those
        they changed. Of undone ones as it was before."""
        found: Counter[tuple[str, str]] = Counter()
        for change in changes:
            for first, last, undone in conn.execute(_SPAN, (change.seq,)).fetchall():
                turned = {"+": "-", "-": "+"} if undone else {}
                for name, op, count in conn.execute(_COUNTS, (first, last)):
                    found[name, turned.get(op, op)] += count
        return found

    def take_back(self, conn: sqlite3.Connection, change: Change) -> None:
        """Take back the newest change that stands. Raises `CommandError` when that is another one by now, `SaveError`."""
        self._turn(conn, change, _NEXT_BACK)

    def bring_again(self, conn: sqlite3.Connection, change: Change) -> None:
        """Bring again what was taken back last. Raises as `take_back`."""
        self._turn(conn, change, _NEXT_FORTH)

    def _turn(self, conn: sqlite3.Connection, change: Change, following: str) -> None:
        [(found,)] = conn.execute(following)
        if found != change.seq:
            raise CommandError("Something else has happened meanwhile.", "Look at what would be taken back once more.")
        [(first, last, _)] = conn.execute(_SPAN, (change.seq,)).fetchall()
        images = [Image(*row) for row in conn.execute(_ROWS, (first, last))]
        conn.execute(_DROP_ROWS, (first, last))
        [(mark,)] = conn.execute(_NEWEST_ROW)
        conn.execute("PRAGMA defer_foreign_keys = ON")
        conn.execute(_OPEN, ("undo",))
        put_back(conn, images)
        [(newest,)] = conn.execute(_NEWEST_ROW)
        conn.execute(_TURN, (mark + 1, newest, change.seq))


def _change(row: Row) -> Change:
    seq, kind, label, round_number, timestamp, undone = row
    return Change(seq=seq, kind=kind, label=label, round=round_number, now=datetime.fromisoformat(timestamp), undone=bool(undone))
