"""Recall's queries find what a plain reading of the tables finds, and cost index steps only."""

import asyncio
import re
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from itertools import pairwise
from math import log
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.records.memory import NewLedgerEntry
from engine.storage import aliases, buffer, embeddings, handoffs, ledger, ledger_search, ledger_words, story
from engine.storage.ledger import LedgerRepository
from engine.storage.opening import open_save
from engine.storage.schema import migrate, migrations, statements
from engine.storage.store import Store

if TYPE_CHECKING:
    from tests.engine.storage.conftest import Samples

_NAIVE = """
SELECT DISTINCT entry.seq FROM ledger_entries AS entry
LEFT JOIN ledger_involved_entities AS involved ON involved.entry_id = entry.id
WHERE entry.owner_id = ? AND (entry.location_id = ? OR entry.importance >= 8 OR involved.entity_id IN ({focus}))
ORDER BY entry.timestamp DESC, entry.seq DESC LIMIT ?
"""

PEOPLE = ("bob", "mira", "key")
WORDS = ("rum", "parrot", "zebra", "mast", "tar", "oar")
entries = st.tuples(
    st.sampled_from(PEOPLE[:2]),
    st.integers(0, 6),
    st.sampled_from(["bar", "cellar", None]),
    st.lists(st.sampled_from(PEOPLE), max_size=3, unique=True).map(tuple),
    st.integers(6, 9),
)
asked = st.tuples(
    st.sampled_from(PEOPLE[:2]),
    st.sampled_from(["bar", "cellar", None]),
    st.lists(st.sampled_from(PEOPLE), max_size=3),
    st.integers(1, 9),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(entries, max_size=40), st.lists(asked, min_size=1, max_size=8))
def test_the_union_of_arms_finds_what_the_plain_or_finds(
    searchable: sqlite3.Connection,
    samples_class: type["Samples"],
    written: list[tuple[str, int, str | None, tuple[str, ...], int]],
    questions: list[tuple[str, str | None, list[str], int]],
) -> None:
    samples, repository = samples_class(), LedgerRepository()
    searchable.execute("BEGIN")
    try:
        for owner, day, place, involved, importance in written:
            memory = samples.memory(owner=owner, days=day, place=place, involved=involved, importance=importance)
            repository.add(searchable, memory, (), "x")
        for owner, place, focus, limit in questions:
            naive = _NAIVE.format(focus=",".join("?" * len(focus)))
            expected = [seq for (seq,) in searchable.execute(naive, (owner, place, *focus, limit))]
            assert repository.structural(searchable, owner, place, focus, limit) == expected
    finally:
        searchable.execute("ROLLBACK")


@contextmanager
def fresh_save(samples: "Samples") -> Iterator[sqlite3.Connection]:
    """A connection to a save of the small world without ledger, gone afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.db"

        async def make() -> None:
            await (await Store.create(path, samples.authored().model_copy(update={"ledger": ()}))).close()

        asyncio.run(make())
        with closing(open_save(path)) as opened:
            yield opened.conn


@pytest.fixture(scope="module")
def searchable(samples_class: type["Samples"]) -> Iterator[sqlite3.Connection]:
    """A save whose only memory is Bob's of a zebra. Tests leave it so."""
    samples = samples_class()
    with fresh_save(samples) as conn:
        LedgerRepository().add(conn, samples.memory(importance=1), (), "a zebra")
        yield conn


async def test_a_word_is_found_in_its_other_forms_best_first_and_for_its_owner_only(store: Store, samples: "Samples") -> None:
    def work(conn: sqlite3.Connection) -> None:
        def add(owner: str, plain: str) -> str:
            return store.ledger.add(conn, samples.memory(owner=owner), (), plain).id

        weak = add("bob", "a sailor among many others who came up from the harbour that evening to drink and sing")
        strong = add("bob", "Sailors quarrelled; the sailor swore.")
        add("bob", "nothing of the kind")
        theirs = add("mira", "a sailor")
        accent = add("mira", "the café")
        found = store.ledger.by_words(conn, "bob", ["sailors", "quarrelling"], 9)
        assert [key for key, _ in found] == [strong, weak, "led-000001"]  # one of the words each: the newer first
        assert all(first >= second >= 0 for (_, first), (_, second) in pairwise(found))
        assert [key for key, _ in store.ledger.by_words(conn, "bob", ["sailor"], 1)] == [strong]
        assert [key for key, _ in store.ledger.by_words(conn, "mira", ["sailors"], 9)] == [theirs]
        assert [key for key, _ in store.ledger.by_words(conn, "mira", ["CAFE"], 9)] == [accent]
        assert store.ledger.by_words(conn, "key", ["sailor"], 9) == []

    await store.db.write(work)


async def test_owners_with_kindred_ids_are_told_apart(store: Store, samples: "Samples") -> None:
    """The stemmer must not take the ids `walked` and `walks` for one word."""
    world = samples.world()
    ids = ["walk", "walks", "walked", "Walk", "wälk", "o", "a-b", "a_b", "x" * 90, "x" * 91]

    def work(conn: sqlite3.Connection) -> None:
        everybody = {key: world.entities["mira"].model_copy(update={"id": key, "goals": ()}) for key in ids}
        store.worlds.update(conn, world, world.model_copy(update={"entities": {**world.entities, **everybody}}))
        keys = {key: store.ledger.add(conn, samples.memory(owner=key), (), "a parrot").id for key in ids}
        for key in ids:
            assert [found for found, _ in store.ledger.by_words(conn, key, ["parrot"], 99)] == [keys[key]]

    await store.db.write(work)


HOSTILE = [
    '"', '""', "'", "*", "sail*", "^cards", "a OR b", "NOT", "AND", "NEAR(a b, 2)", "plain:cards", "owner : x", "{owner}:", "(", ")",
    "-cards", "+", "\\", "\0", "car\0ds", "%", "?", "; DROP TABLE lore", '" OR owner : "', "x" * 5000, "\U0001f409", "\u202e", "", " ", "_",
]  # fmt: skip


@pytest.mark.parametrize("term", HOSTILE, ids=range(len(HOSTILE)))
async def test_a_term_is_text_and_never_a_query(store: Store, samples: "Samples", term: str) -> None:
    def work(conn: sqlite3.Connection) -> None:
        other = store.ledger.add(conn, samples.memory(owner="mira"), (), f"{term} cards quarrels sail a b")
        found = {key for key, _ in store.ledger.by_words(conn, "bob", [term, "quarrel"], 9)}
        assert found == {"led-000001"}
        assert other.id not in {key for key, _ in store.ledger.by_words(conn, "bob", [term], 9)}

    await store.db.write(work)


@settings(max_examples=150, deadline=None)
@given(terms=st.lists(st.text(max_size=12), max_size=6))
def test_no_term_breaks_the_search(searchable: sqlite3.Connection, terms: list[str]) -> None:
    repository = LedgerRepository()
    assert {key for key, _ in repository.by_words(searchable, "bob", [*terms, "zebra"], 9)} == {"led-000001"}


@settings(max_examples=100, deadline=None)
@given(
    written=st.lists(st.tuples(st.sampled_from(PEOPLE[:2]), st.lists(st.sampled_from(WORDS), min_size=1, max_size=5)), max_size=30),
    rewritten=st.lists(st.tuples(st.integers(0, 29), st.lists(st.sampled_from(WORDS), min_size=1, max_size=5)), max_size=5),
    terms=st.lists(st.sampled_from(WORDS), max_size=6),
    limit=st.integers(1, 20),
)
def test_entries_rank_by_the_rarity_of_their_words_with_their_owner(
    searchable: sqlite3.Connection, samples_class: type["Samples"], written: list[tuple[str, list[str]]],
    rewritten: list[tuple[int, list[str]]], terms: list[str], limit: int,
) -> None:  # fmt: skip
    samples, repository = samples_class(), LedgerRepository()
    searchable.execute("BEGIN")
    try:
        held: dict[str, dict[int, tuple[str, set[str]]]] = {"bob": {1: ("led-000001", {"a", "zebra"})}, "mira": {}}
        entries = []
        for owner, words in written:
            entry = repository.add(searchable, samples.memory(owner=owner), (), " ".join(words))
            entries.append(entry)
            held[owner][entry.seq] = (entry.id, set(words))
        for number, words in rewritten:
            if number < len(entries):
                entry = entries[number]
                repository.rewrite(searchable, entry.id, samples.memory(owner=entry.owner_id), (), " ".join(words))
                held[entry.owner_id][entry.seq] = (entry.id, set(words))
        for owner, mine in held.items():
            worth = {}
            for term in set(terms):
                count = sum(term in words for _, words in mine.values())
                worth[term] = log(1 + (len(mine) - count + 0.5) / (count + 0.5)) ** 2 if count else 0.0
            scored = [(sum(worth[term] for term in set(terms) & words), seq, key) for seq, (key, words) in mine.items()]
            expected = sorted((found for found in scored if found[0]), reverse=True)
            found = repository.by_words(searchable, owner, terms, limit)
            assert [round(score, 9) for _, score in found] == [round(score, 9) for score, *_ in expected[:limit]]
            sure = {key for score, _, key in expected if found and score > found[-1][1] + 1e-9}
            assert sure <= {key for key, _ in found}
            assert all(first[1] > second[1] or first[0] > second[0] for first, second in pairwise(found))
        searchable.execute("INSERT INTO ledger_words (ledger_words, rank) VALUES ('integrity-check', 1)")
    finally:
        searchable.execute("ROLLBACK")


async def test_common_words_are_asked_for_only_where_rarer_ones_find_too_little(
    store: Store, samples: "Samples", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger_words, "COMMON", 10)

    def work(conn: sqlite3.Connection) -> None:
        rare = [store.ledger.add(conn, samples.memory(), (), "rum parrot" if n else "parrot").id for n in range(3)]
        common = [store.ledger.add(conn, samples.memory(), (), "rum").id for _ in range(30)]
        assert [key for key, _ in store.ledger.by_words(conn, "bob", ["rum", "parrot"], 3)] == rare[::-1]
        few = store.ledger.by_words(conn, "bob", ["rum", "parrot"], 5)
        assert [key for key, _ in few[:3]] == rare[::-1]
        assert [key for key, _ in few[3:]] == common[::-1][:2]
        assert [key for key, _ in store.ledger.by_words(conn, "bob", ["rum"], 99)] == common[::-1][:10]

    await store.db.write(work)


async def test_the_rarest_32_words_are_asked_for(store: Store, samples: "Samples") -> None:
    def work(conn: sqlite3.Connection) -> None:
        words = [f"w{number}" for number in range(35)]
        once = {word: store.ledger.add(conn, samples.memory(), (), word).id for word in words}
        for word in words[:3]:
            store.ledger.add(conn, samples.memory(), (), word)
        assert {key for key, _ in store.ledger.by_words(conn, "bob", words, 99)} == {once[word] for word in words[3:]}

    await store.db.write(work)


def test_words_that_are_in_too_many_entries_together_are_left_out_commonest_first(
    searchable: sqlite3.Connection, samples_class: type["Samples"], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger_words, "WALKED", 6)
    samples, repository = samples_class(), LedgerRepository()
    searchable.execute("BEGIN")
    try:
        for word, count in (("rum", 4), ("parrot", 3), ("chart", 2)):
            for _ in range(count):
                repository.add(searchable, samples.memory(), (), word)
        found = repository.by_words(searchable, "bob", ["rum", "parrot", "chart"], 99)
    finally:
        searchable.execute("ROLLBACK")
    assert len(found) == 5


async def test_a_settled_word_index_is_in_one_piece_and_finds_the_same(store: Store, samples: "Samples") -> None:
    for owner in ("mira", "bob", "mira", "bob"):
        await store.db.write(partial(store.ledger.add, entry=samples.memory(owner=owner), sources=(), plain="a parrot"))

    def work(conn: sqlite3.Connection) -> None:
        pieces = "SELECT count(DISTINCT segid) FROM ledger_words_idx"
        assert conn.execute(pieces).fetchone()[0] > 1
        before = store.ledger.by_words(conn, "bob", ["parrot"], 9)
        store.ledger.settle(conn)
        assert conn.execute(pieces).fetchone()[0] == 1
        assert store.ledger.by_words(conn, "bob", ["parrot"], 9) == before
        assert len(before) == 2

    await store.db.write(work)


async def test_the_numbers_behind_the_word_index_are_guarded(store: Store, samples: "Samples") -> None:
    def work(conn: sqlite3.Connection) -> None:
        for broken in (
            "UPDATE objects SET seq = seq + 100 WHERE id = 'bob'",
            "DELETE FROM objects WHERE id = 'bob'",
        ):
            with pytest.raises(sqlite3.IntegrityError):
                conn.execute(broken)
        with pytest.raises(sqlite3.IntegrityError):
            store.ledger.add(conn, samples.memory(owner="nobody"), (), "x")

    await store.db.write(work)


def test_an_older_save_finds_its_memories_by_words() -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as conn:
        for number, script in migrations()[:2]:
            for statement in statements(script):
                conn.execute(statement)
            conn.execute(f"PRAGMA user_version = {number}")
        for person in ("bob", "mira"):
            conn.execute(
                "INSERT INTO objects (id, agent, sort_order, factions_json, goals_json, habits_json, voice_json, attributes_json,"
                " aliases_json) VALUES (?, 1, 1, '[]', '[]', '[]', '[]', '{}', '{}')",
                (person,),
            )
        for seq, (owner, plain_words) in enumerate([("mira", "two parrots"), ("bob", "a parrot"), ("mira", "rum")], 1):
            conn.execute(
                "INSERT INTO ledger_entries (seq, id, owner_id, timestamp, ended, involved_json, content, quotes_json, importance, mode,"
                " version, plain) VALUES (?, ?, ?, '1247-03-01T18:05:00', '1247-03-01T18:05:00', '[]', 'x', '[]', 5, 'said', 1, ?)",
                (seq, f"led-{seq:06d}", owner, plain_words),
            )
        migrate(conn)
        ledger_of = LedgerRepository()
        assert [key for key, _ in ledger_of.by_words(conn, "mira", ["parrot"], 9)] == ["led-000001"]
        assert [key for key, _ in ledger_of.by_words(conn, "bob", ["parrot"], 9)] == ["led-000002"]
        conn.execute("INSERT INTO ledger_words (ledger_words, rank) VALUES ('integrity-check', 1)")


def plan(conn: sqlite3.Connection, sql: str, values: list[object]) -> list[str]:
    """SQLite's plan, one line for each step, indented by depth."""
    lines, depth = [], {0: -1}
    for number, parent, _, text in conn.execute(f"EXPLAIN QUERY PLAN {sql}", values):
        depth[number] = depth[parent] + 1
        lines.append("  " * depth[number] + text)
    return lines


def test_each_arm_walks_one_index_and_sorts_nothing(searchable: sqlite3.Connection) -> None:
    sql, values = ledger_search.structural_query("bob", "bar", ["mira", "key"], 9)
    steps = plan(searchable, sql, list(values))
    text = "\n".join(steps)
    assert "SCAN ledger" not in text
    assert "COVERING INDEX ledger_entries_by_place (owner_id=? AND location_id=?)" in text
    assert text.count("SEARCH ledger_involved_entities USING PRIMARY KEY (owner_id=? AND entity_id=?)") == 2
    assert "INDEX ledger_entries_grave (owner_id=?)" in text
    arms = [steps.index(step) for step in steps if "SEARCH ledger" in step]
    assert len(arms) >= 3
    for arm in arms:
        inner = len(steps[arm]) - len(steps[arm].lstrip())
        siblings = [step for step in steps if len(step) - len(step.lstrip()) == inner]
        assert not any("TEMP B-TREE" in step for step in siblings)


QUERIES = {
    "ledger of an owner": (ledger.OF_OWNER, ["bob"], "ledger_entries_by_time"),
    "newest of an owner": (ledger.NEWEST, ["bob", 5], "ledger_entries_by_time"),
    "scan for ranking": (ledger.SCAN, ["bob", 0], "ledger_entries_by_owner (owner_id=? AND rowid>?)"),
    "count of an owner": (ledger.COUNT_OF_OWNER, ["bob"], "COVERING INDEX ledger_entries_by_owner"),
    "buffer": (buffer.OF_OWNER, ["bob"], "buffer_entries_by_owner"),
    "archive": (buffer.ARCHIVED, ["bob"], "buffer_archive_by_owner"),
    "ledger with vectors": (embeddings.WHOLE, ["m", "bob"], "ledger_entries_by_owner (owner_id=?)"),
    "vectors": (embeddings.SINCE, ["m", "bob", 0], "ledger_entries_by_owner (owner_id=? AND rowid>?)"),
    "missing vectors": (embeddings.MISSING, ["bob", "m"], "ledger_entries_by_owner"),
    "alias timeline": (aliases.BETWEEN, ["bob", "mira"], "alias_changes_by_pair (viewer_id=? AND target_id=?)"),
    "last cause": (aliases.LAST_CAUSE, ["bob", "mira"], "alias_changes_by_pair (viewer_id=? AND target_id=?)"),
    "owner's number": (ledger_words.NUMBER, ["bob"], "sqlite_autoindex_objects_1 (id=?)"),
    "size of a ledger": (ledger_words.SIZE, ["bob", 5], "COVERING INDEX ledger_entries_by_"),
    "entries by number": (ledger_words.IDS % "?, ?", [1, 2], "INTEGER PRIMARY KEY (rowid=?)"),
    "runs": (handoffs.OF_OWNER, ["bob", 5], "handoff_runs_by_owner"),
    "last outward round": (story.LAST_OUTWARD, ["bob"], "happenings_outward (actor_id=?)"),
}


@pytest.mark.parametrize(("sql", "values", "index"), QUERIES.values(), ids=[name.replace(" ", "-") for name in QUERIES])
def test_lookups_use_their_index_and_sort_nothing(searchable: sqlite3.Connection, sql: str, values: list[object], index: str) -> None:
    text = "\n".join(plan(searchable, sql, values))
    assert index in text
    assert "SCAN" not in text.replace("SCAN (subquery", "")  # rows that are already found
    assert "TEMP B-TREE" not in text


@pytest.mark.parametrize("sql", [ledger_words.STANDING, ledger_words.STANDING_NEWEST], ids=["any", "newest"])
def test_a_word_is_sought_among_the_entries_of_one_owner(searchable: sqlite3.Connection, sql: str) -> None:
    """The range of rows reaches the word index: it is no condition on rows already read, and nothing is sorted."""
    text = "\n".join(plan(searchable, sql, ['"zebra"', 0, 9, 5]))
    assert re.search(r"SCAN ledger_words VIRTUAL TABLE INDEX \d+:(?=\S*M)(?=\S*<)(?=\S*>)", text)
    assert "TEMP B-TREE" not in text


def test_the_newest_happenings_are_read_from_the_end(searchable: sqlite3.Connection) -> None:
    assert plan(searchable, story.RECENT, [5]) == ["SCAN happenings"]  # by rowid backwards, up to the limit


def test_the_cost_of_a_structural_search_does_not_grow_with_the_ledger(samples_class: type["Samples"]) -> None:
    """Counted in SQLite's own steps, not in time."""

    def steps(conn: sqlite3.Connection) -> int:
        counted = [0]

        def step() -> int:
            counted[0] += 1
            return 0

        conn.set_progress_handler(step, 1)
        assert len(LedgerRepository().structural(conn, "bob", "bar", ["mira", "key"], 20)) == 20
        conn.set_progress_handler(None, 1)
        return counted[0]

    samples = samples_class()
    with fresh_save(samples) as conn:
        conn.execute("PRAGMA synchronous = OFF")
        conn.execute("BEGIN")
        costs = []
        for size in (100, 2000):
            for number in range(size):
                LedgerRepository().add(conn, _memory(samples, number), (), "x")
            costs.append(steps(conn))
        conn.execute("ROLLBACK")
    assert costs[1] < costs[0] * 1.2


def _memory(samples: "Samples", number: int) -> NewLedgerEntry:
    return samples.memory(days=number / 100, importance=number % 10 + 1, involved=PEOPLE[number % 3 :], place=("bar", "cellar")[number % 2])
