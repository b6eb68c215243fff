"""Knowledge in a save: rows with every earlier version of them, asked for by who holds them (DESIGN 10)."""

import sqlite3
from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Final, NamedTuple

from engine.errors import ChangedError
from engine.records.base import EntityId
from engine.records.knowledge import Knowledge, KnowledgeId, KnowledgeKind, KnowledgeVersion, NewKnowledge, Scope, Term, Tier
from engine.records.tokens import bare
from engine.storage import knowledge_queries as queries
from engine.storage.knowledge_audit import AuditRepository, Change
from engine.storage.knowledge_queries import COLUMNS, changeable, knowledge, values_of
from engine.storage.numbers import next_number
from engine.storage.rows import Row, marks, time_text

_ADD = f"INSERT INTO knowledge ({COLUMNS}, plain) VALUES ({marks(len(COLUMNS.split(',')) + 1)})"
_REWRITE = f"""
UPDATE knowledge SET {", ".join(f"{name} = ?" for name in queries.CHANGEABLE)}, updated = ?, plain = ?, version = version + 1,
    updated_round = (SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'round')
WHERE id = ?
"""
_REMOVE = "DELETE FROM knowledge WHERE id = ?"
_GET = f"SELECT {COLUMNS} FROM knowledge WHERE id IN (%s)"
_KEEP_VERSION = """
INSERT INTO knowledge_versions (knowledge_id, version, row_json, replaced_round, replaced, cause, why)
VALUES (?, ?, ?, (SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'round'), ?, ?, ?)
"""
_VERSIONS = """
SELECT knowledge_id, version, row_json, replaced_round, cause, why FROM knowledge_versions WHERE knowledge_id = ? ORDER BY version
"""
_ROUND = "SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'round'"
OF_TOPIC = f"SELECT {COLUMNS} FROM knowledge WHERE scope = ? AND scope_id = ? AND topic_key = ? AND topic_key <> '' ORDER BY seq"
CANDIDATES = f"""
SELECT {COLUMNS} FROM knowledge AS one WHERE term = 'short' AND valid_to IS NULL AND created <= ? AND confidence >= ?
    AND NOT EXISTS (SELECT 1 FROM review_queue WHERE knowledge_id = one.id)
ORDER BY created, seq
"""
OF_SESSION = f"SELECT {COLUMNS} FROM knowledge WHERE owner_id = ? AND session_id = ? ORDER BY seq"
_USED = """
UPDATE knowledge SET retrieval_count = retrieval_count + ?, last_retrieved_at = max(coalesce(last_retrieved_at, ''), ?), strength = ?,
    activation = ?
WHERE id = ?
"""
_ACTIVATION = "UPDATE knowledge SET activation = ? WHERE id = ?"

_BATCH = 400
"""Ids in one statement."""
ALL_TIERS: tuple[Tier, ...] = ("hot", "warm", "cold", "archived")
EVERYTHING: Final = 1_000_000
"""More rows than any holder has."""


class KnowledgeUse(NamedTuple):
    """What a row has come to by having been in prompts."""

    id: KnowledgeId
    times: int
    """Prompts since the last time that uses were written down."""
    at: datetime
    """World time of the last of them."""
    strength: float
    activation: float
    """Both as of `at`."""


class KnowledgeRepository:
    """Reads and writes knowledge. Each change keeps the row as it was and leaves an audit row, in the same transaction."""

    def __init__(self) -> None:
        self._audit = AuditRepository()

    # writing
    def add(self, conn: sqlite3.Connection, new: NewKnowledge, change: Change) -> Knowledge:
        """Write a piece of knowledge and give it its id. `change.at` is the world time it has been known since."""
        seq, key = next_number(conn, "kno")
        [(number,)] = conn.execute(_ROUND).fetchall()
        row = Knowledge(
            id=key, seq=seq, created=change.at, created_round=number, updated=change.at, updated_round=number,
            **{name: getattr(new, name) for name in NewKnowledge.model_fields} | _holder(new),
        )
        self._insert(conn, row)
        self._note(conn, change, row, after=row.content)
        return row

    def update(self, conn: sqlite3.Connection, row: Knowledge, change: Change) -> Knowledge:
        """Put `row`, a changed copy of what was read, in the place of what is there; that is kept as a version. Returns it as it is now.

        Who came to know it first, when it was written and how often it was used stay. Its vectors are dropped when its words differ.
        Raises `KeyError` when it is gone, `ChangedError` when it has changed since it was read.
        """
        was = self._stored(conn, row)
        self._keep_version(conn, was, change)
        row = row.model_copy(update=_holder(row))
        conn.execute(_REWRITE, (*changeable(row), time_text(change.at), bare(row.content), row.id))
        [now] = self.get(conn, [row.id])
        before, after = _told(was, now)
        self._note(conn, change, now, before=before, after=after)
        return now

    def remove(self, conn: sqlite3.Connection, row: Knowledge, change: Change) -> None:
        """Take a piece of knowledge away. Its last version stays and `restore` brings it back. Raises as `update` does."""
        was = self._stored(conn, row)
        self._keep_version(conn, was, change)
        conn.execute(_REMOVE, (row.id,))
        self._note(conn, change, was, before=was.content)

    def restore(self, conn: sqlite3.Connection, key: KnowledgeId, change: Change) -> Knowledge:
        """Bring back what was removed, as it was, under its own id. Raises `KeyError` when there is nothing to bring back."""
        versions = self.versions(conn, key)
        if not versions or self.get(conn, [key]):
            raise KeyError(key)
        [(number,)] = conn.execute(_ROUND).fetchall()
        last = versions[-1].before
        # That it was away is a version, too: nobody believed it meanwhile.
        self._keep_version(conn, last.model_copy(update={"version": last.version + 1, "valid_to": last.updated}), change)
        row = last.model_copy(update={"version": last.version + 2, "updated": change.at, "updated_round": number})
        self._insert(conn, row)
        self._note(conn, change, row, after=row.content)
        return row

    def touch(self, conn: sqlite3.Connection, uses: Iterable[KnowledgeUse]) -> None:
        """Note what entered prompts. No change of the row: it stays the version that it is. Rows that are gone are left out."""
        conn.executemany(_USED, [(use.times, time_text(use.at), use.strength, use.activation, use.id) for use in uses])

    def set_activation(self, conn: sqlite3.Connection, activations: Iterable[tuple[KnowledgeId, float]]) -> None:
        """Bring activations up to a later time: they sink by themselves."""
        conn.executemany(_ACTIVATION, [(value, key) for key, value in activations])

    # reading
    def get(self, conn: sqlite3.Connection, keys: Iterable[KnowledgeId]) -> list[Knowledge]:
        """Rows in the order asked for. Unknown ids are left out."""
        wanted = list(dict.fromkeys(keys))
        found: dict[KnowledgeId, Knowledge] = {}
        for start in range(0, len(wanted), _BATCH):
            batch = wanted[start : start + _BATCH]
            found.update((row[1], knowledge(row)) for row in conn.execute(_GET % marks(len(batch)), batch))
        return [found[key] for key in wanted if key in found]

    def held_by(
        self, conn: sqlite3.Connection, entity: EntityId, factions: Collection[str] = (), *, tiers: Collection[Tier] = ALL_TIERS,
        subject: EntityId | None = None, topic: str = "", term: Term | None = None,
    ) -> list[Knowledge]:
        """What an entity believes now, in order of writing: what is its own, its present factions', everybody's, and what it keeps of
        factions that it has left, as that was worded when it left. Who may know is a condition of the query."""
        sql, values = queries.held_by(entity, factions, tiers, subject, topic, term)
        return queries.put_together(conn.execute(sql, values))

    def rows_held_by(self, conn: sqlite3.Connection, entity: EntityId, factions: Collection[str] = ()) -> list[Row]:
        """The same, not put together: `put_together` does that off the database's thread, where others wait for it."""
        return conn.execute(*queries.held_by(entity, factions, ALL_TIERS, None, "", None)).fetchall()

    def rows_of_holder(self, conn: sqlite3.Connection, scope: Scope, scope_id: str) -> list[Row]:
        """All that one holder believes now, not put together."""
        sql, values = queries.find(None, None, scope, scope_id, None, (), True, None, 0, EVERYTHING, False)
        return [(*row, None) for row in conn.execute(sql, values)]

    def of_topic(self, conn: sqlite3.Connection, scope: Scope, scope_id: str, topic: str) -> list[Knowledge]:
        """Rows of one holder with a topic key, also those that no longer hold, in order of writing."""
        return [knowledge(row) for row in conn.execute(OF_TOPIC, (scope, scope_id, topic))]

    def of_session(self, conn: sqlite3.Connection, owner: EntityId, session: str) -> list[Knowledge]:
        """What came of a session that `owner` had, in order of writing."""
        return [knowledge(row) for row in conn.execute(OF_SESSION, (owner, session))]

    def candidates(self, conn: sqlite3.Connection, confidence: float, before: datetime) -> list[Knowledge]:
        """Short-term rows that are sure enough and were written at `before` or earlier, oldest first, without those in the review
        queue."""
        return [knowledge(row) for row in conn.execute(CANDIDATES, (time_text(before), confidence))]

    def find(
        self, conn: sqlite3.Connection, *, owner: EntityId | None = None, subject: EntityId | None = None, scope: Scope | None = None,
        scope_id: str | None = None, term: Term | None = None, tiers: Collection[Tier] = (), holding: bool | None = None,
        kind: KnowledgeKind | None = None, after: int = 0, limit: int = 500, newest: bool = False,
    ) -> list[Knowledge]:
        """Rows that fit every filter given, in order of writing or the newest first, whoever holds them. The next page is `after` the last
        `seq` of this."""
        sql, values = queries.find(owner, subject, scope, scope_id, term, tiers, holding, kind, after, limit, newest)
        return [knowledge(row) for row in conn.execute(sql, values)]

    def versions(self, conn: sqlite3.Connection, key: KnowledgeId) -> list[KnowledgeVersion]:
        """How a row read before each of its changes, oldest first; also of one that was removed."""
        return [
            KnowledgeVersion(
                knowledge_id=found, version=version, before=Knowledge.model_validate_json(text), replaced_round=number, cause=cause, why=why
            )
            for found, version, text, number, cause, why in conn.execute(_VERSIONS, (key,))
        ]

    def _insert(self, conn: sqlite3.Connection, row: Knowledge) -> None:
        conn.execute(_ADD, (*values_of(row), bare(row.content)))

    def _stored(self, conn: sqlite3.Connection, row: Knowledge) -> Knowledge:
        found = self.get(conn, [row.id])
        if not found:
            raise KeyError(row.id)
        if found[0].version != row.version:
            raise ChangedError(f"{row.id} was changed since it was read.", "Nothing was written.")
        return found[0]

    def _keep_version(self, conn: sqlite3.Connection, was: Knowledge, change: Change) -> None:
        conn.execute(_KEEP_VERSION, (was.id, was.version, was.model_dump_json(), time_text(change.at), change.cause, change.why))

    def _note(self, conn: sqlite3.Connection, change: Change, row: Knowledge, before: str = "", after: str = "") -> None:
        self._audit.add(
            conn, change, owner=row.owner_id, knowledge=row.id, session=change.session_id or row.session_id, before=before, after=after
        )


_SHOWN = (
    "rationale", "topic_key", "term", "scope", "scope_id", "confidence", "importance", "sensitivity", "valid_to", "superseded_by", "pinned",
    "tier",
)


def _told(was: Knowledge, now: Knowledge) -> tuple[str, str]:
    """What a change changed, for the audit trail: the content, and a line for each other value that differs."""
    lines = [name for name in _SHOWN if getattr(was, name) != getattr(now, name)]
    return "\n".join([was.content, *(_line(was, name) for name in lines)]), "\n".join([now.content, *(_line(now, name) for name in lines)])


def _holder(row: NewKnowledge) -> dict[str, str]:
    """The world has no name as a holder."""
    return {"scope_id": ""} if row.scope == "world" else {"scope_id": row.scope_id}


def _line(row: Knowledge, name: str) -> str:
    value = getattr(row, name)
    return f"{name}: {'' if value is None else time_text(value) if isinstance(value, datetime) else value}"
