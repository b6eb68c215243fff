"""The query of recall's first phase that goes by words: one owner's entries, bounded whatever the size of the ledger.

The word index holds each owner's entries side by side (migration 3), so a term costs its own stretch of the term's list. FTS5's own
`bm25()` is not asked: it walks the lists of all owners once more for each term, and would judge a word by how rare it is with others.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from itertools import accumulate
from math import log

from engine.records.base import EntityId, LedgerId
from engine.storage.rows import marks

COMMON = 500
"""Entries at which counting a term stops: from there on it is common, and how common does not matter."""
ASKED = 32
"""Rarest terms that are asked for. Six turns of table talk have about 30, and asking for 12 finds up to a tenth less of the evidence."""
WALKED = 2_000
"""Entries that the rarest terms are in, together: the rest are common in a large ledger, cost time, and weigh little."""
COMMON_ASKED = 3
"""Common terms that are asked for, in their newest entries, where the rare ones find too little."""
SIZED = 20_000
"""Entries at which counting an owner's ledger stops: beyond it rarity grows no further."""

NUMBER = "SELECT seq FROM objects WHERE id = ?"
SIZE = "SELECT count(*) FROM (SELECT 1 FROM ledger_entries WHERE owner_id = ? LIMIT ?)"
_STANDING = "SELECT rowid & 4294967295 AS seq FROM ledger_words WHERE ledger_words MATCH ? AND rowid BETWEEN ? AND ?"
STANDING = f"SELECT count(*), group_concat(seq) FROM ({_STANDING} LIMIT ?)"
STANDING_NEWEST = f"SELECT count(*), group_concat(seq) FROM ({_STANDING} ORDER BY rowid DESC LIMIT ?)"
SETTLE = "INSERT INTO ledger_words (ledger_words) VALUES ('optimize')"
IDS = "SELECT seq, id FROM ledger_entries WHERE seq IN (%s)"

_BATCH = 400
"""Numbers in one statement."""


def search(conn: sqlite3.Connection, owner: EntityId, terms: Iterable[str], limit: int) -> list[tuple[LedgerId, float]]:
    """As `numbers`, with ids."""
    best = numbers(conn, owner, terms, limit)
    ids = _ids(conn, [seq for seq, _ in best])
    return [(ids[seq], score) for seq, score in best]


def numbers(conn: sqlite3.Connection, owner: EntityId, terms: Iterable[str], limit: int) -> list[tuple[int, float]]:
    """The owner's entries that hold the rarest of the terms, by `seq`, with their scores, best first; of equals the newer first.

    An entry's score is the sum of the squared rarity of the terms in it: a term weighs once by how rare it is in the question and once
    by how rare it is in the entry, as in the cosine of tf-idf vectors (Salton and Buckley, 1988). A scene of 40 words would else find
    what shares many common words with it: squared, evidence among the first ten of table talk goes from 0.358 to 0.370 (MiniLM) and from
    0.299 to 0.319 (built-in embedder), and that of LoCoMo's turns and observations stays. How often a term stands in an entry and how long
    the entry is are left out, unlike in BM25: entries are a few sentences, and neither finds more. Rarity is the owner's own, as there:
    `ln(1 + (size - n + 0.5) / (n + 0.5))`.
    """
    owners = conn.execute(NUMBER, (owner,)).fetchall()
    if not owners or limit < 1:
        return []
    first = owners[0][0] << 32
    last = first | 0xFFFFFFFF
    queries = list(dict.fromkeys(_quoted(term) for term in terms if _is_word(term)))
    standing = [(query, *conn.execute(STANDING, (query, first, last, COMMON + 1)).fetchone()) for query in queries]
    found = _rarest((count, seqs) for _, count, seqs in standing if 0 < count <= COMMON)
    if sum(count for count, _ in found) < limit:
        common = [query for query, count, _ in standing if count > COMMON][: min(COMMON_ASKED, ASKED - len(found))]
        found += [conn.execute(STANDING_NEWEST, (query, first, last, COMMON)).fetchone() for query in common]
    if not found:
        return []
    [(size,)] = conn.execute(SIZE, (owner, SIZED)).fetchall()
    return _best(found, size, limit)


def _rarest(found: Iterable[tuple[int, str]]) -> list[tuple[int, str]]:
    """The rarest terms that are asked for, rarest first."""
    rarest = sorted(found, key=lambda term: term[0])[:ASKED]
    walked = accumulate(count for count, _ in rarest)
    return [term for term, sofar in zip(rarest, walked, strict=True) if sofar <= WALKED]


def _best(found: Iterable[tuple[int, str]], size: int, limit: int) -> list[tuple[int, float]]:
    """Numbers of entries by the sum of what their terms are worth. `found` has each term's count and the numbers it stands in."""
    scores: dict[int, float] = {}
    for count, seqs in found:
        worth = log(1 + (max(0, size - count) + 0.5) / (count + 0.5)) ** 2
        for seq in map(int, seqs.split(",")):
            scores[seq] = scores.get(seq, 0.0) + worth
    if len(scores) > limit:  # most are left out before pairs are made and sorted
        edge = sorted(scores.values(), reverse=True)[limit - 1]
        scores = {seq: score for seq, score in scores.items() if score >= edge}
    return sorted(scores.items(), key=lambda scored: (-scored[1], -scored[0]))[:limit]


def _ids(conn: sqlite3.Connection, seqs: Sequence[int]) -> dict[int, LedgerId]:
    found: dict[int, LedgerId] = {}
    for start in range(0, len(seqs), _BATCH):
        batch = seqs[start : start + _BATCH]
        found.update(conn.execute(IDS % marks(len(batch)), batch).fetchall())
    return found


def _quoted(term: str) -> str:
    """A term as an FTS5 string: nothing in it is syntax. NUL would end the query."""
    return '"' + term.replace("\0", " ").replace('"', '""') + '"'


def _is_word(term: str) -> bool:
    """Whether a term has a letter or digit: without one it finds nothing."""
    return any(character.isalnum() for character in term)
