"""The queries of recall's first phase: by structure and by words, each bounded whatever the size of the ledger."""

from collections.abc import Iterable, Sequence

from engine.records.base import EntityId, PlaceId

IMPORTANT = 8
"""From this importance on an entry is a candidate wherever it happened. The partial index has the same bound."""
COMMON = 2_000
"""Entries at which counting a term stops: from there on it is common, and how common does not matter."""

_ARM = "SELECT * FROM (SELECT %s FROM %s ORDER BY timestamp DESC, %s DESC LIMIT ?)"
_AT_PLACE = _ARM % ("timestamp, seq", "ledger_entries WHERE owner_id = ? AND location_id = ?", "seq")
_INVOLVING = _ARM % (
    "timestamp, entry_seq AS seq",
    "ledger_involved_entities WHERE owner_id = ? AND entity_id = ?",
    "entry_seq",
)
_IMPORTANT = _ARM % ("timestamp, seq", f"ledger_entries WHERE owner_id = ? AND importance >= {IMPORTANT}", "seq")
_UNION = """
SELECT entry.id FROM (
    SELECT timestamp, seq FROM (SELECT * FROM (%s) LIMIT -1) ORDER BY timestamp DESC, seq DESC LIMIT ?
) AS found
CROSS JOIN ledger_entries AS entry ON entry.seq = found.seq
ORDER BY found.timestamp DESC, found.seq DESC
"""

BY_WORDS = """
SELECT entry.id, found.score FROM (
    SELECT rowid, -bm25(ledger_words, 0.0, 1.0) AS score FROM ledger_words WHERE ledger_words MATCH ?
    ORDER BY score DESC, rowid DESC LIMIT ?
) AS found CROSS JOIN ledger_entries AS entry ON entry.seq = found.rowid
ORDER BY found.score DESC, found.rowid DESC
"""
TERM_COUNT = "SELECT count(*) FROM (SELECT 1 FROM ledger_words WHERE ledger_words MATCH ? LIMIT ?)"


def structural_query(
    owner: EntityId, place: PlaceId | None, focus: Sequence[EntityId], limit: int
) -> tuple[str, list[str | int]]:
    """A UNION of limited arms, one for each cue. Each arm walks one index backwards and sorts nothing."""
    arms: list[str] = []
    values: list[str | int] = []
    if place is not None:
        arms.append(_AT_PLACE)
        values += [owner, place, limit]
    for entity in dict.fromkeys(focus):
        arms.append(_INVOLVING)
        values += [owner, entity, limit]
    arms.append(_IMPORTANT)
    values += [owner, limit]
    return _UNION % " UNION ".join(arms), [*values, limit]


def words_query(owner: EntityId, terms: Iterable[str]) -> str:
    """An FTS5 query for any of the terms within one owner's entries. Empty when no term has a letter or digit."""
    quoted = [_quoted(term) for term in dict.fromkeys(terms) if _is_word(term)]
    return f'owner : "o{owner.encode().hex()}0" AND plain : ({" OR ".join(quoted)})' if quoted else ""


def term_query(term: str) -> str:
    """An FTS5 query for one term in everybody's entries. Empty when it has no letter or digit."""
    return f"plain : {_quoted(term)}" if _is_word(term) else ""


def _quoted(term: str) -> str:
    """A term as an FTS5 string: nothing in it is syntax. NUL would end the query."""
    return '"' + term.replace("\0", " ").replace('"', '""') + '"'


def _is_word(term: str) -> bool:
    return any(character.isalnum() for character in term)
