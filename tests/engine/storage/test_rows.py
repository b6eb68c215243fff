"""Every record comes back from a save as it went in."""

import sqlite3
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import SaveError
from engine.records.memory import BufferEntry, NewAliasChange, NewBufferEntry, Pin
from engine.records.world import Attribute, Entity, Place
from engine.storage.rows import attributes_text, list_text, mapping_text, text_attributes, text_list, text_mapping
from engine.storage.store import Store

if TYPE_CHECKING:
    from tests.engine.storage.conftest import Samples

texts = st.text()


async def test_a_world_comes_back_in_its_authored_order(store: Store, samples: "Samples") -> None:
    authored = samples.authored()
    world = await store.db.read(store.worlds.load)
    assert world == authored.world
    assert list(world.entities) == ["mira", "bob", "key"]
    assert list(world.portals) == ["trap", "chute"]
    assert await store.db.read(store.worlds.policies) == authored.policies
    assert await store.db.read(store.lore.all) == authored.lore


async def test_backstory_is_written_with_ids_in_order(store: Store, samples: "Samples") -> None:
    bob, mira = await store.db.read(lambda c: (store.buffer.of_owner(c, "bob"), store.buffer.of_owner(c, "mira")))
    authored = samples.authored()
    assert [entry.id for entry in (*bob, *mira)] == ["buf-000001", "buf-000002"]
    assert [new(entry) for entry in (*bob, *mira)] == list(authored.buffer)
    [memory] = await store.db.read(lambda c: store.ledger.of_owner(c, "bob"))
    assert memory.id == "led-000001"
    assert memory.model_dump(exclude={"id", "seq", "version"}) == authored.ledger[0].model_dump()


async def test_backstory_can_be_found_by_its_words_but_not_by_its_tokens(store: Store) -> None:
    def found(conn: sqlite3.Connection) -> list[list[str]]:
        searches = (["quarrels"], ["cheating"], ["mira"], ["bob"], ["s"])
        return [[key for key, _ in store.ledger.by_words(conn, "bob", terms, 5)] for terms in searches]

    assert await store.db.read(found) == [["led-000001"], ["led-000001"], [], [], []]


def new(entry: object) -> NewBufferEntry:
    return NewBufferEntry.model_validate({name: getattr(entry, name) for name in NewBufferEntry.model_fields})


async def test_authored_aliases_open_the_alias_timeline(store: Store) -> None:
    [change] = await store.db.read(lambda c: store.aliases.between(c, "bob", "mira"))
    assert (change.old, change.new, change.cause, change.round) == (None, "the wet stranger", "authored", 0)


@pytest.mark.parametrize("kind", ["dialogue", "action", "monologue"])
async def test_a_buffer_entry_comes_back(store: Store, samples: "Samples", kind: str) -> None:
    given_entry = samples.event(minutes=3, text='He said "[/]" \U0001f409 \\ \n', kind=kind).model_copy(
        update={"grasp": "faint", "pinned": "hand", "location_id": None}
    )
    entry = await store.db.write(lambda c: store.buffer.add(c, given_entry))
    assert new(entry) == given_entry
    assert entry.id == f"buf-{entry.seq:06d}"
    assert await store.db.read(lambda c: store.buffer.get(c, entry.id)) == entry


async def test_a_buffer_is_chronological_and_by_order_of_writing_within_a_moment(store: Store, samples: "Samples") -> None:
    def fill(conn: sqlite3.Connection) -> None:
        for minutes, text in ((5, "third"), (5, "fourth"), (-60, "first"), (1, "second")):
            store.buffer.add(conn, samples.event(minutes=minutes, text=text).model_copy(update={"round": 1}))

    await store.db.write(fill)
    said = [entry.intent.text for entry in await store.db.read(lambda c: store.buffer.of_owner(c, "bob"))]
    assert said == ["first", "Evening.", "second", "third", "fourth"]
    assert await store.db.read(lambda c: store.buffer.count(c, "bob")) == 5
    assert await store.db.read(store.buffer.counts) == (6, 0)


async def test_pins(store: Store) -> None:
    await store.db.write(lambda c: store.buffer.set_pin(c, "buf-000001", "hand"))
    entry = await store.db.read(lambda c: store.buffer.get(c, "buf-000001"))
    assert entry is not None
    assert entry.pinned == "hand"
    with pytest.raises(KeyError):
        await store.db.write(lambda c: store.buffer.set_pin(c, "buf-000099", "hand"))


async def test_the_archive_keeps_the_whole_entry_and_where_it_went(store: Store, samples: "Samples") -> None:
    given_entry = samples.event(minutes=4, kind="action").model_copy(update={"pinned": "model", "grasp": "seen"})
    entry = await store.db.write(lambda c: store.buffer.add(c, given_entry))
    first = await store.db.read(lambda c: store.buffer.get(c, "buf-000001"))
    assert first is not None

    def move(conn: sqlite3.Connection) -> tuple[str, str]:
        run = store.handoffs.add(conn, samples.run())
        memory = store.ledger.add(conn, samples.memory(run_id=run.id), [entry.id], "came in")
        store.buffer.archive(conn, [entry], "promoted", run.id, {entry.id: memory.id})
        store.buffer.archive(conn, [first], "forgotten", run.id, {})
        return run.id, memory.id

    run, memory = await store.db.write(move)
    forgotten, promoted = await store.db.read(lambda c: store.buffer.archived(c, "bob"))
    assert (promoted.entry, promoted.fate, promoted.run_id, promoted.ledger_id) == (entry, "promoted", run, memory)
    assert (forgotten.entry, forgotten.fate, forgotten.run_id, forgotten.ledger_id) == (first, "forgotten", run, None)
    assert await store.db.read(lambda c: store.buffer.of_owner(c, "bob")) == []
    assert await store.db.read(lambda c: store.buffer.get(c, entry.id)) is None
    assert await store.db.read(lambda c: store.buffer.find(c, [entry.id, "buf-000077", "buf-000002", first.id])) == [
        first,
        await store.db.read(lambda c: store.buffer.get(c, "buf-000002")),
        entry,
    ]


async def test_find_takes_more_ids_than_one_statement_does(store: Store, samples: "Samples") -> None:
    entries = await store.db.write(lambda c: [store.buffer.add(c, samples.event(minutes=n)) for n in range(1, 900)])
    found = await store.db.read(lambda c: store.buffer.find(c, [entry.id for entry in reversed(entries)]))
    assert found == entries


async def test_archiving_what_is_not_there_or_promoting_to_nowhere_changes_nothing(store: Store, samples: "Samples") -> None:
    [entry] = await store.db.read(lambda c: store.buffer.of_owner(c, "bob"))

    def to_nowhere(conn: sqlite3.Connection) -> None:
        run = store.handoffs.add(conn, samples.run())
        store.buffer.archive(conn, [entry], "promoted", run.id, {})

    def twice(conn: sqlite3.Connection) -> None:
        run = store.handoffs.add(conn, samples.run())
        store.buffer.archive(conn, [entry, entry], "forgotten", run.id, {})

    for attempt in (to_nowhere, twice):
        with pytest.raises(KeyError):
            await store.db.write(attempt)
        assert await store.db.read(lambda c: store.buffer.of_owner(c, "bob")) == [entry]
        assert await store.db.read(lambda c: store.handoffs.of_owner(c, "bob")) == []


async def test_ledger_entries_come_back_and_are_rewritten_in_place(store: Store, samples: "Samples") -> None:
    def work(conn: sqlite3.Connection) -> None:
        ledger = store.ledger
        late = ledger.add(conn, samples.memory(days=2), ["buf-000002"], "late")
        early = ledger.add(conn, samples.memory(days=-9, place=None, involved=()), [], "early")
        assert [entry.id for entry in ledger.of_owner(conn, "bob")] == [early.id, "led-000001", late.id]
        assert ledger.of_owner(conn, "bob", 2)[-1] == late
        assert ledger.get(conn, [late.id, "led-000099", early.id]) == [late, early]
        assert (ledger.count(conn), ledger.count(conn, "mira")) == (3, 0)
        changed = samples.memory(content="{{e:mira}} left.", quotes=("Goodbye [x].",), involved=("mira",), importance=9)
        again = ledger.rewrite(conn, late.id, changed, ["buf-000001", "buf-000002"], "left goodbye")
        assert again.model_dump(exclude={"id", "seq", "version"}) == changed.model_dump()
        assert (again.id, again.seq, again.version) == (late.id, late.seq, 2)
        assert ledger.get(conn, [late.id]) == [again]
        assert ledger.sources(conn, late.id) == ("buf-000001", "buf-000002")
        assert ledger.holding(conn, ["buf-000002", "buf-000003"]) == {"buf-000002": late.id}
        assert ledger.by_words(conn, "bob", ["late"], 9) == []
        assert [key for key, _ in ledger.by_words(conn, "bob", ["leaving", "goodbye"], 9)] == [late.id]
        with pytest.raises(KeyError):
            ledger.rewrite(conn, late.id, samples.memory(owner="mira"), [], "")

    await store.db.write(work)


async def test_scan_gives_what_ranking_needs(store: Store, samples: "Samples") -> None:
    added = await store.db.write(lambda c: store.ledger.add(c, samples.memory(days=1, importance=8, place="cellar"), [], "x"))
    first, second = await store.db.read(lambda c: store.ledger.scan(c, "bob"))
    assert first.id == "led-000001"
    assert second == (added.id, added.seq, added.timestamp, 8, "cellar", ("mira", "bob"))
    assert await store.db.read(lambda c: store.ledger.scan(c, "bob", first.seq)) == [second]


async def test_vectors(store: Store, samples: "Samples") -> None:
    old = "led-000001"
    new_entry = await store.db.write(lambda c: store.ledger.add(c, samples.memory(days=-30), [], "x"))
    vectors = store.embeddings
    assert await store.db.read(lambda c: vectors.missing(c, "bob", "m")) == [old, new_entry.id]
    await store.db.write(lambda c: vectors.put(c, "ledger", new_entry.id, "m", 2, b"new-----"))
    await store.db.write(lambda c: vectors.put(c, "ledger", old, "m", 2, b"replaced"))
    await store.db.write(lambda c: vectors.put(c, "ledger", old, "m", 2, b"old-----"))
    await store.db.write(lambda c: vectors.put(c, "ledger", old, "other", 1, b"four"))
    assert await store.db.read(lambda c: vectors.of_owner(c, "bob", "m")) == ([old, new_entry.id], [b"old-----", b"new-----"])
    assert await store.db.read(lambda c: vectors.since(c, "bob", "m", 1)) == ([new_entry.id], [b"new-----"])
    assert await store.db.read(lambda c: vectors.of_owner(c, "bob", "other")) == ([old], [b"four"])
    assert await store.db.read(lambda c: vectors.missing(c, "bob", "other")) == [new_entry.id]
    some = await store.db.read(lambda c: vectors.of_entries(c, [new_entry.id, "led-000099", old], "m"))
    assert list(some.items()) == [(new_entry.id, b"new-----"), (old, b"old-----")]
    assert await store.db.read(lambda c: vectors.of_owner(c, "mira", "m")) == ([], [])
    with pytest.raises(SaveError, match="8 bytes instead of 12"):
        await store.db.write(lambda c: vectors.put(c, "ledger", old, "m", 3, b"12345678"))


async def test_a_rewritten_entry_loses_its_vector(store: Store, samples: "Samples") -> None:
    def work(conn: sqlite3.Connection) -> tuple[list[str], list[str]]:
        store.embeddings.put(conn, "ledger", "led-000001", "m", 1, b"1234")
        held = store.embeddings.missing(conn, "bob", "m")
        store.ledger.rewrite(conn, "led-000001", samples.memory(), [], "other words")
        return held, store.embeddings.missing(conn, "bob", "m")

    assert await store.db.write(work) == ([], ["led-000001"])


async def test_runs(store: Store, samples: "Samples") -> None:
    failed = samples.run(
        id="whatever",
        status="failed",
        error="no answer",
        trigger="involuntary",
        candidate_ids=("buf-000001",),
        prompt="p",
        reply="{",
        model="storyteller",
        template="handoff.1",
        notes=("a", "b"),
        added=1,
        updated=2,
        promoted=3,
        forgotten=4,
        pinned=5,
    )
    kept = await store.db.write(lambda c: store.handoffs.add(c, failed))
    assert kept == failed.model_copy(update={"id": "run-000001"})
    later = await store.db.write(lambda c: store.handoffs.add(c, samples.run()))
    await store.db.write(lambda c: store.handoffs.log_time(c, later.id, 0.25))
    assert await store.db.read(lambda c: store.handoffs.of_owner(c, "bob", 9)) == [later, kept]
    assert await store.db.read(lambda c: store.handoffs.of_owner(c, "bob", 1)) == [later]
    assert await store.db.read(lambda c: store.handoffs.last(c, "bob")) == later
    assert await store.db.read(lambda c: store.handoffs.last(c, "mira")) is None


async def test_alias_changes(store: Store, samples: "Samples") -> None:
    change = NewAliasChange(
        viewer_id="bob", target_id="mira", old="the wet stranger", new="Mira", timestamp=samples.start, round=3, cause="overheard",
        evidence="buf-000001",
    )
    removed = change.model_copy(update={"old": "Mira", "new": None, "cause": "by hand", "evidence": None})
    other = change.model_copy(update={"target_id": "key", "old": None, "new": "the key"})
    kept = await store.db.write(lambda c: [store.aliases.add(c, each) for each in (change, removed, other)])
    for held, asked in zip(kept, (change, removed, other), strict=True):
        assert held.model_dump(exclude={"seq"}) == asked.model_dump()
    assert (await store.db.read(lambda c: store.aliases.between(c, "bob", "mira")))[1:] == kept[:2]
    assert (await store.db.read(lambda c: store.aliases.of_viewer(c, "bob")))[1:] == kept
    assert await store.db.read(lambda c: store.aliases.last_cause(c, "bob", "mira")) == "by hand"
    assert await store.db.read(lambda c: store.aliases.last_cause(c, "mira", "bob")) is None


async def test_the_story(store: Store, samples: "Samples") -> None:
    say, do, think = (samples.event(kind=kind).intent for kind in ("dialogue", "action", "monologue"))
    outcome = samples.event(kind="action").outcome

    def tell(conn: sqlite3.Connection) -> None:
        beat = store.story.add_beat(conn, 1, "mira", samples.start, "I look.", "actor.1")
        store.story.add_happening(conn, beat, 1, samples.start, "bar", say, None)
        store.story.add_happening(conn, beat, 1, samples.start, "bar", do, outcome)
        beat = store.story.add_beat(conn, 2, "mira", samples.start, "I think.", "actor.1")
        store.story.add_happening(conn, beat, 2, samples.start + timedelta(minutes=1), None, think, None)

    assert await store.db.read(lambda c: store.story.last_outward_round(c, "mira")) == 0
    await store.db.write(tell)
    first, second, third = await store.db.read(lambda c: store.story.recent(c, 10))
    assert (first.intent, second.intent, third.intent) == (say, do, think)
    assert (second.outcome, third.outcome) == (outcome, None)
    assert [(h.seq, h.beat, h.round) for h in (first, second, third)] == [(1, 1, 1), (2, 1, 1), (3, 2, 2)]
    assert (first.location_id, third.location_id) == ("bar", None)
    assert await store.db.read(lambda c: store.story.recent(c, 2)) == [second, third]
    assert await store.db.read(lambda c: store.story.last_outward_round(c, "mira")) == 1
    assert await store.db.read(store.story.beats) == 2


async def test_an_update_writes_only_what_changed(store: Store) -> None:
    before = await store.db.read(store.worlds.load)
    bob = before.entities["bob"].model_copy(update={"place": "cellar", "aliases": {"mira": "Mira"}})
    trap = before.portals["trap"].model_copy(update={"state": "open"})
    after = before.model_copy(
        update={
            "now": before.now + timedelta(minutes=9),
            "round": 1,
            "entities": {**before.entities, "bob": bob, "cat": Entity(id="cat", place="bar")},
            "portals": {**before.portals, "trap": trap},
            "places": {**before.places, "loft": Place(id="loft", name="the loft")},
        }
    )

    def update(conn: sqlite3.Connection) -> list[str]:
        statements: list[str] = []
        conn.set_trace_callback(statements.append)
        store.worlds.update(conn, before, after)
        conn.set_trace_callback(None)
        return statements

    written = dict.fromkeys(await store.db.write(update))  # SQLite tells a statement again after its trigger
    statements = [text for text in written if "moves" not in text and not text.startswith("--")]
    assert len(statements) == 6  # two of meta, a place, two entities, a portal
    assert await store.db.read(store.worlds.load) == after


async def test_an_update_removes_what_is_gone(store: Store) -> None:
    before = await store.db.read(store.worlds.load)
    after = before.model_copy(
        update={
            "entities": {key: value for key, value in before.entities.items() if key != "key"},
            "portals": {"chute": before.portals["chute"]},
        }
    )
    await store.db.write(lambda c: store.worlds.update(c, before, after))
    assert await store.db.read(store.worlds.load) == after


async def test_an_entity_with_memories_cannot_be_removed(store: Store) -> None:
    before = await store.db.read(store.worlds.load)
    after = before.model_copy(update={"entities": {"bob": before.entities["bob"], "key": before.entities["key"]}})
    with pytest.raises(SaveError, match="FOREIGN KEY"):
        await store.db.write(lambda c: store.worlds.update(c, before, after))
    assert await store.db.read(store.worlds.load) == before


attributes = st.builds(
    Attribute, name=texts.filter(bool), value=texts, public=st.booleans(), known_to=st.lists(texts, max_size=3).map(tuple)
)


@given(st.lists(texts), st.dictionaries(texts, texts), st.dictionaries(texts, attributes, max_size=3))
def test_any_text_survives_the_columns(values: list[str], mapping: dict[str, str], known: dict[str, Attribute]) -> None:
    assert list(text_list(list_text(values))) == values
    assert list(text_mapping(mapping_text(mapping)).items()) == list(mapping.items())
    assert text_attributes(attributes_text(known)) == known


async def test_entries_written_together_are_what_they_are_one_by_one(store: Store, samples: "Samples") -> None:
    shared = samples.event(kind="action")  # one event in several minds
    events = [shared, samples.event(minutes=1), shared.model_copy(update={"owner_id": "mira", "outcome": None}), samples.event(minutes=1)]

    def both(conn: sqlite3.Connection) -> tuple[list[BufferEntry], list[BufferEntry]]:
        single = [store.buffer.add(conn, event) for event in events]
        return single, store.buffer.add_all(conn, events)

    single, together = await store.db.write(both)
    assert [new(entry) for entry in together] == events
    numbers = [entry.seq for entry in (*single, *together)]
    assert numbers == list(range(numbers[0], numbers[0] + 8))
    assert [entry.id for entry in together] == [f"buf-{entry.seq:06d}" for entry in together]
    assert await store.db.read(lambda c: store.buffer.find(c, [entry.id for entry in together])) == sorted(
        together, key=lambda entry: (entry.timestamp, entry.seq)
    )
    assert await store.db.write(lambda c: store.buffer.add_all(c, [])) == []
    assert (await store.db.write(lambda c: store.buffer.add(c, shared))).seq == numbers[-1] + 1


async def test_a_row_that_changed_is_read_as_it_is_now(store: Store, samples: "Samples") -> None:
    entry = await store.db.write(lambda c: store.buffer.add(c, samples.event()))
    pins: tuple[Pin, ...] = ("hand", "none", "model")
    for pin in pins:
        await store.db.write(partial(store.buffer.set_pin, key=entry.id, pin=pin))
        held = await store.db.read(lambda c: store.buffer.of_owner(c, "bob"))
        assert [one.pinned for one in held if one.id == entry.id] == [pin]


async def test_ids_are_not_given_twice_and_come_back_after_a_rollback(store: Store, samples: "Samples") -> None:
    def fail(conn: sqlite3.Connection) -> None:
        store.buffer.add(conn, samples.event())
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await store.db.write(fail)
    entry = await store.db.write(lambda c: store.buffer.add(c, samples.event()))
    assert entry.id == "buf-000003"

    def forget(conn: sqlite3.Connection) -> None:
        run = store.handoffs.add(conn, samples.run())
        store.buffer.archive(conn, [entry], "forgotten", run.id, {})

    await store.db.write(forget)
    assert (await store.db.write(lambda c: store.buffer.add(c, samples.event()))).id == "buf-000004"



async def test_memories_are_found_by_number_as_by_id(store: Store, samples: "Samples") -> None:
    written = await store.db.write(lambda c: [store.ledger.add(c, samples.memory(content=f"It rained {n}."), (), "x") for n in range(500)])
    wanted = [entry.seq for entry in reversed(written)]
    found = await store.db.read(lambda c: store.ledger.numbered(c, [wanted[3], 99_999, *wanted]))
    assert found == [written[-4], *(entry for entry in reversed(written) if entry is not written[-4])]
    assert found == await store.db.read(lambda c: store.ledger.get(c, [entry.id for entry in found]))


async def test_what_was_lived_is_the_newest_of_buffer_and_archive_in_order_of_writing(store: Store, samples: "Samples") -> None:
    def work(conn: sqlite3.Connection) -> tuple[list[str], list[list[str]]]:
        entries = [store.buffer.add(conn, samples.event(minutes=n)) for n in (1, 5, 3, 4, 2)]
        run = store.handoffs.add(conn, samples.run())
        store.buffer.archive(conn, entries[:3], "forgotten", run.id, {})
        found = [[entry.id for entry in store.buffer.lived(conn, "bob", limit)] for limit in (10, 3)]
        return [entry.id for entry in entries], found

    written, [everything, newest] = await store.db.write(work)
    assert everything == written  # backstory is not lived
    assert newest == written[-3:]
