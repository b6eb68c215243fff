"""Who believed what when: knowledge at the end of an earlier round, factions joined and left, and what was kept of them."""

import sqlite3
from collections.abc import Iterable
from datetime import datetime

from engine.records.base import EntityId
from engine.records.knowledge import FactionChange, Knowledge, KnowledgeId
from engine.storage.knowledge import KnowledgeRepository
from engine.storage.knowledge_audit import AuditRepository, Change
from engine.storage.knowledge_queries import COLUMNS, as_kept, knowledge
from engine.storage.rows import list_text, text_list, time_text

_FACTIONS = "SELECT factions_json FROM objects WHERE id = ?"
_JOINED_OR_LEFT = "INSERT INTO faction_changes (entity_id, faction, joined, round, timestamp) VALUES (?, ?, ?, ?, ?)"
_CHANGES = """
SELECT entity_id, faction, joined, round, timestamp FROM faction_changes WHERE (:entity IS NULL OR entity_id = :entity) ORDER BY seq
"""
_UNDONE = "SELECT faction, joined FROM faction_changes WHERE entity_id = ? AND round > ? ORDER BY seq DESC"
_KEEP = """
INSERT INTO knowledge_keepers (entity_id, knowledge_id, round, version)
SELECT ?, id, (SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'round'), version FROM knowledge WHERE id = ?
ON CONFLICT (entity_id, knowledge_id) DO UPDATE SET round = excluded.round, version = excluded.version
"""
_LET_GO = "DELETE FROM knowledge_keepers WHERE entity_id = ? AND knowledge_id = ?"
_KEPT = "SELECT knowledge_id FROM knowledge_keepers WHERE entity_id = ? ORDER BY knowledge_id"
_KEEPERS = "SELECT entity_id FROM knowledge_keepers WHERE knowledge_id = ? ORDER BY entity_id"

_SHAPE = ", ".join(f"row.{name.strip()}" for name in COLUMNS.split(","))
BELIEVED = f"""
WITH later AS (
    SELECT knowledge_id, min(version) AS version FROM knowledge_versions WHERE replaced_round > :round GROUP BY knowledge_id
),
image AS (
    SELECT row.id, NULL AS row_json, row.scope, row.scope_id, row.valid_to, row.subject_id, row.topic_key, row.version
    FROM knowledge AS row WHERE row.created_round <= :round AND row.id NOT IN (SELECT knowledge_id FROM later)
    UNION ALL
    SELECT was.knowledge_id, was.row_json, was.row_json ->> 'scope', was.row_json ->> 'scope_id', was.row_json ->> 'valid_to',
        was.row_json ->> 'subject_id', was.row_json ->> 'topic_key', was.version
    FROM later JOIN knowledge_versions AS was ON was.knowledge_id = later.knowledge_id AND was.version = later.version
    WHERE was.row_json ->> 'created_round' <= :round
),
held AS (
    SELECT id, row_json, NULL AS kept FROM image WHERE valid_to IS NULL AND (
        (scope = 'entity' AND scope_id = :entity) OR scope = 'world'
        OR (scope = 'faction' AND scope_id IN (SELECT value FROM json_each(:factions)))
    ) AND (:subject IS NULL OR subject_id = :subject) AND (:topic = '' OR topic_key = :topic)
    UNION ALL
    SELECT image.id, image.row_json, was.row_json FROM knowledge_keepers AS kept JOIN image ON image.id = kept.knowledge_id
    LEFT JOIN knowledge_versions AS was ON was.knowledge_id = kept.knowledge_id AND was.version = kept.version
    WHERE kept.entity_id = :entity AND kept.round <= :round
        AND NOT (image.valid_to IS NULL AND (
            (image.scope = 'entity' AND image.scope_id = :entity) OR image.scope = 'world'
            OR (image.scope = 'faction' AND image.scope_id IN (SELECT value FROM json_each(:factions)))
        ))
        AND CASE WHEN was.row_json IS NULL THEN image.valid_to ELSE was.row_json ->> 'valid_to' END IS NULL
        AND (:subject IS NULL OR image.subject_id = :subject) AND (:topic = '' OR image.topic_key = :topic)
)
SELECT {_SHAPE}, held.row_json, held.kept FROM held LEFT JOIN knowledge AS row ON row.id = held.id
"""


class KnowledgeHistory:
    """Reads what minds believed earlier; writes who joins and leaves factions and what they keep."""

    def believed_at(
        self, conn: sqlite3.Connection, entity: EntityId, round_number: int, *, subject: EntityId | None = None, topic: str = ""
    ) -> list[Knowledge]:
        """What an entity believed at the end of a round, worded as it was then, in order of writing. Who knew is a condition of the
        query: the factions are those of that round."""
        asked = {
            "entity": entity, "round": round_number, "factions": list_text(sorted(self.factions_at(conn, entity, round_number))),
            "subject": subject, "topic": topic,
        }
        found = []
        for *columns, then, kept in conn.execute(BELIEVED, asked):
            row = knowledge(tuple(columns)) if then is None else Knowledge.model_validate_json(then)
            found.append(as_kept(row, kept))
        return sorted(found, key=lambda row: row.seq)

    def at(self, conn: sqlite3.Connection, key: KnowledgeId, round_number: int) -> Knowledge | None:
        """How a row read at the end of a round, whoever held it; None when it was not there yet."""
        rows = KnowledgeRepository()
        later = [version for version in rows.versions(conn, key) if version.replaced_round > round_number]
        found = later[0].before if later else next(iter(rows.get(conn, [key])), None)
        return found if found is not None and found.created_round <= round_number else None

    # factions
    def add_faction_change(self, conn: sqlite3.Connection, change: FactionChange) -> None:
        """Note that somebody joined or left a faction. Who is in it now is the world's to say (`Entity.factions`)."""
        values = (change.entity_id, change.faction, change.joined, change.round, time_text(change.timestamp))
        conn.execute(_JOINED_OR_LEFT, values)

    def faction_changes(self, conn: sqlite3.Connection, entity: EntityId | None = None) -> list[FactionChange]:
        """Who joined and left what, of one entity or of all, oldest first."""
        return [
            FactionChange(
                entity_id=who, faction=faction, joined=bool(joined), round=number, timestamp=datetime.fromisoformat(timestamp)
            )
            for who, faction, joined, number, timestamp in conn.execute(_CHANGES, {"entity": entity})
        ]

    def factions_at(self, conn: sqlite3.Connection, entity: EntityId, round_number: int) -> tuple[str, ...]:
        """The factions of an entity at the end of a round; none for an entity that is not there. Those left since stand last."""
        rows = conn.execute(_FACTIONS, (entity,)).fetchall()
        found = dict.fromkeys(text_list(rows[0][0])) if rows else dict[str, None]()
        for faction, joined in conn.execute(_UNDONE, (entity, round_number)):
            if joined:
                found.pop(faction, None)
            else:
                found[faction] = None
        return tuple(found)

    # keepers
    def keep(self, conn: sqlite3.Connection, entity: EntityId, keys: Iterable[KnowledgeId], change: Change) -> None:
        """Let an entity that leaves a faction keep rows as they are worded now, in the place of what it kept of them when it left before.
        Raises `KeyError` for a row that is not there."""
        audit = AuditRepository()
        for key in keys:
            if conn.execute(_KEEP, (entity, key)).rowcount != 1:
                raise KeyError(key)
            audit.add(conn, change, owner=entity, knowledge=key)

    def let_go(self, conn: sqlite3.Connection, entity: EntityId, key: KnowledgeId, change: Change) -> None:
        """Take away what somebody kept. Raises `KeyError` when nothing was."""
        if conn.execute(_LET_GO, (entity, key)).rowcount != 1:
            raise KeyError(key)
        AuditRepository().add(conn, change, owner=entity, knowledge=key)

    def kept_by(self, conn: sqlite3.Connection, entity: EntityId) -> list[KnowledgeId]:
        """What an entity keeps of factions that it has left."""
        return [key for (key,) in conn.execute(_KEPT, (entity,))]

    def keepers(self, conn: sqlite3.Connection, key: KnowledgeId) -> list[EntityId]:
        """Who keeps a row."""
        return [entity for (entity,) in conn.execute(_KEEPERS, (key,))]
