"""Knowledge in a save: who holds it, how it read before, who believed what when, what waits for a person's word."""

import sqlite3
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial

import pytest

from engine.errors import ChangedError, SaveError
from engine.records.knowledge import (
    AuditAction,
    Cause,
    FactionChange,
    Knowledge,
    NewKnowledge,
    PromotionRun,
    Scope,
)
from engine.storage.knowledge import KnowledgeUse
from engine.storage.knowledge_audit import Change
from engine.storage.store import Store

NOON = datetime(1247, 3, 1, 12)


def change(action: AuditAction = "added", cause: Cause = "collapse", minutes: int = 0) -> Change:
    return Change(action, cause, "because", NOON + timedelta(minutes=minutes), run_id="col-000001", session_id="ses-000001")


def fact(content: str = "{{e:mira}} owns a boat", **given: object) -> NewKnowledge:
    values = {
        "owner_id": "bob", "subject_id": "mira", "kind": "fact", "content": content, "topic_key": "mira_boat", "scope_id": "bob",
        "confidence": 0.8, "valid_from": NOON,
    }  # fmt: skip
    return NewKnowledge.model_validate({**values, **given})


def at_round(conn: sqlite3.Connection, number: int) -> None:
    conn.execute("UPDATE meta SET value = ? WHERE key = 'round'", (str(number),))


def words(rows: Sequence[Knowledge]) -> list[str]:
    return [row.content for row in rows]


def vectors(conn: sqlite3.Connection) -> list[str]:
    return [key for (key,) in conn.execute("SELECT id FROM embeddings WHERE owner_kind = 'knowledge' ORDER BY id")]


async def test_a_piece_is_kept_with_all_that_it_says(store: Store) -> None:
    new = fact(
        kind="decision", rationale="it is\nlate", term="long", scope="faction", scope_id="harbour", importance=9, sensitivity="sensitive",
        session_id="ses-000004", turn_ids=("turn-000001", "turn-000002"), valid_to=NOON + timedelta(days=1), supersedes="kno-000009",
        pinned=True, authored=True,
    )  # fmt: skip
    row = await store.db.write(partial(store.knowledge.add, new=new, change=change(minutes=7)))
    assert (row.id, row.seq, row.version, row.created, row.tier) == ("kno-000001", 1, 1, NOON + timedelta(minutes=7), "hot")
    assert NewKnowledge.model_validate(row.model_dump(include=set(NewKnowledge.model_fields))) == new
    assert await store.db.read(lambda conn: store.knowledge.get(conn, ["kno-000009", row.id])) == [row]


async def test_a_change_keeps_what_was_before_it_and_says_so(store: Store) -> None:
    def work(conn: sqlite3.Connection) -> None:
        at_round(conn, 4)
        row = store.knowledge.add(conn, fact(), change())
        at_round(conn, 6)
        changed = {"content": "{{e:mira}} owns two boats", "confidence": 0.9, "retrieval_count": 5, "owner_id": "mira"}
        now = store.knowledge.update(conn, row.model_copy(update=changed), change("merged", minutes=30))
        assert (now.version, now.content, now.confidence, now.updated, now.updated_round) == (
            2, "{{e:mira}} owns two boats", 0.9, NOON + timedelta(minutes=30), 6,
        )  # fmt: skip
        assert (now.created_round, now.retrieval_count, now.owner_id) == (4, 0, "bob")  # these are no change's to make
        [version] = store.knowledge.versions(conn, row.id)
        assert (version.before, version.version, version.replaced_round, version.cause, version.why) == (row, 1, 6, "collapse", "because")
        newest, oldest = store.audit.find(conn, knowledge=row.id)
        assert (oldest.action, oldest.before, oldest.after) == ("added", "", "{{e:mira}} owns a boat")
        assert (newest.action, newest.round, newest.run_id, newest.session_id) == ("merged", 6, "col-000001", "ses-000001")
        assert newest.before == "{{e:mira}} owns a boat\nconfidence: 0.8"
        assert newest.after == "{{e:mira}} owns two boats\nconfidence: 0.9"

    await store.db.write(work)


async def test_a_row_that_was_changed_meanwhile_or_is_gone_is_not_written_over(store: Store) -> None:
    row = await store.db.write(partial(store.knowledge.add, new=fact(), change=change()))
    await store.db.write(lambda conn: store.knowledge.update(conn, row.model_copy(update={"pinned": True}), change("edited", "hand")))
    for late in (store.knowledge.update, store.knowledge.remove):
        with pytest.raises(ChangedError, match="changed since"):
            await store.db.write(lambda conn, do=late: do(conn, row, change("merged")))  # type: ignore[misc]
    [now] = await store.db.read(lambda conn: store.knowledge.get(conn, [row.id]))
    assert (now.version, now.pinned) == (2, True)
    with pytest.raises(KeyError):
        await store.db.write(lambda conn: store.knowledge.update(conn, row.model_copy(update={"id": "kno-000009"}), change("merged")))
    assert len(await store.db.read(lambda conn: store.audit.find(conn))) == 2


async def test_what_is_removed_can_be_brought_back_and_was_not_believed_meanwhile(store: Store) -> None:
    def work(conn: sqlite3.Connection) -> None:
        at_round(conn, 2)
        row = store.knowledge.add(conn, fact(), change())
        at_round(conn, 4)
        store.knowledge.remove(conn, row, change("discarded", "promotion"))
        assert store.knowledge.get(conn, [row.id]) == []
        assert store.knowledge.versions(conn, row.id)[0].before == row
        at_round(conn, 6)
        back = store.knowledge.restore(conn, row.id, change("restored", "hand"))
        kept = {"version", "updated", "updated_round"}
        assert back.model_dump(exclude=kept) == row.model_dump(exclude=kept)
        assert store.knowledge.get(conn, [row.id]) == [back]
        believed = [len(store.knowledge_history.believed_at(conn, "bob", number)) for number in range(1, 8)]
        assert believed == [0, 1, 1, 0, 0, 1, 1]
        for key in (row.id, "kno-000009"):
            with pytest.raises(KeyError):
                store.knowledge.restore(conn, key, change("restored", "hand"))
        assert store.knowledge.add(conn, fact(), change()).id == "kno-000002"  # no number is given twice
        assert [each.action for each in store.audit.find(conn, knowledge=row.id)] == ["restored", "discarded", "added"]

    await store.db.write(work)


async def test_vectors_go_with_other_words_and_stay_with_other_numbers(store: Store) -> None:
    def work(conn: sqlite3.Connection) -> None:
        row, other = (store.knowledge.add(conn, fact(text), change()) for text in ("{{e:mira}} owns a boat", "{{e:mira}} swims"))
        for each in (row, other):
            store.embeddings.put(conn, "knowledge", each.id, "m", 2, b"\0" * 8)
        row = store.knowledge.update(conn, row.model_copy(update={"confidence": 0.9}), change("merged"))
        assert vectors(conn) == [row.id, other.id]
        assert store.embeddings.of_knowledge(conn, [other.id, row.id, "kno-000009"], "m") == {row.id: b"\0" * 8, other.id: b"\0" * 8}
        row = store.knowledge.update(conn, row.model_copy(update={"content": "{{e:mira}} owns two boats"}), change("merged"))
        assert vectors(conn) == [other.id]
        assert store.embeddings.missing_knowledge(conn, "m", 0, 9) == [(row.seq, row.id)]
        assert (store.embeddings.count_missing_knowledge(conn, "m"), store.embeddings.count_missing(conn, "m")) == (1, 1)
        store.knowledge.remove(conn, other, change("deleted", "hand"))
        assert vectors(conn) == []

    await store.db.write(work)


async def test_one_believes_what_is_ones_own_ones_factions_and_everybodys(store: Store) -> None:
    def work(conn: sqlite3.Connection) -> None:
        holders: list[tuple[Scope, str]] = [
            ("entity", "bob"), ("entity", "mira"), ("faction", "harbour"), ("faction", "watch"), ("world", "everybody's"),
        ]  # fmt: skip
        for scope, holder in holders:
            store.knowledge.add(conn, fact(f"{scope} {holder}", scope=scope, scope_id=holder), change())
        held = partial(store.knowledge.held_by, conn)
        assert words(held("bob", ["harbour"])) == ["entity bob", "faction harbour", "world everybody's"]
        assert words(held("mira", ["watch", "harbour"])) == ["entity mira", "faction harbour", "faction watch", "world everybody's"]
        assert words(held("key")) == ["world everybody's"]
        assert held("key")[0].scope_id == ""  # the world has no name as a holder
        for odd in ("harbour", '["harbour"]', "%", "har"):
            assert words(held(odd, [f"{odd}x"])) == ["world everybody's"]

    await store.db.write(work)


async def test_what_is_asked_for_narrows_what_is_found(store: Store) -> None:
    def work(conn: sqlite3.Connection) -> None:
        add = partial(store.knowledge.add, conn, change=change())
        boat, swims = add(fact("boat")), add(fact("swims", topic_key="mira_water", term="long"))
        key = add(fact("key", subject_id="key", topic_key="key_place"))
        ended = add(fact("ended", valid_to=NOON))
        store.knowledge.update(conn, swims.model_copy(update={"tier": "cold"}), change("demoted", "lifecycle"))
        held = partial(store.knowledge.held_by, conn, "bob")
        assert words(held()) == ["boat", "swims", "key"]
        assert words(held(tiers=["hot", "warm"])) == ["boat", "key"]
        assert words(held(subject="mira")) == ["boat", "swims"]
        assert words(held(topic="mira_boat")) == ["boat"]
        assert words(held(term="long", tiers=["cold"], subject="mira", topic="mira_water")) == ["swims"]
        assert held(tiers=[]) == []
        assert words(store.knowledge.of_topic(conn, "entity", "bob", "mira_boat")) == ["boat", "ended"]
        assert store.knowledge.of_topic(conn, "entity", "bob", "") == []
        find = partial(store.knowledge.find, conn)
        assert words(find(subject="mira", holding=False)) == ["ended"]
        assert words(find(owner="bob", scope="entity", scope_id="bob", term="short", tiers=["hot"], holding=True)) == ["boat", "key"]
        assert words(find(limit=2)) == ["boat", "swims"]
        assert words(find(after=swims.seq)) == ["key", "ended"]
        assert [row.id for row in store.knowledge.get(conn, [ended.id, boat.id, key.id])] == [ended.id, boat.id, key.id]

    await store.db.write(work)


async def test_who_leaves_keeps_what_was_said_then_and_learns_no_news(store: Store) -> None:
    def work(conn: sqlite3.Connection) -> None:
        history, add = store.knowledge_history, partial(store.knowledge.add, conn, change=change())
        at_round(conn, 3)
        boat, tide = (add(fact(text, scope="faction", scope_id="harbour")) for text in ("one boat", "low tide"))
        history.keep(conn, "bob", [boat.id, tide.id], change("kept", "leaving"))
        held = partial(store.knowledge.held_by, conn)
        assert words(held("bob")) == ["one boat", "low tide"]
        # In the same round even: what the faction comes to say later does not reach who has left it.
        boat = store.knowledge.update(conn, boat.model_copy(update={"content": "two boats", "confidence": 0.9}), change("merged"))
        tide = store.knowledge.update(conn, tide.model_copy(update={"valid_to": NOON}), change("retired"))
        assert words(held("bob")) == ["one boat", "low tide"]
        assert words(held("mira", ["harbour"])) == ["two boats"]
        assert words(held("bob", subject="mira", topic="mira_boat")) == ["one boat", "low tide"]
        assert held("bob", subject="key") == []
        store.knowledge.touch(conn, [KnowledgeUse(boat.id, 3, NOON, 1.5, 0.4)])
        boat = store.knowledge.update(conn, boat.model_copy(update={"tier": "cold"}), change("demoted", "lifecycle"))
        assert words(held("bob", tiers=["hot"])) == ["low tide"]
        kept = held("bob", tiers=["cold"])[0]
        assert (kept.content, kept.tier, kept.retrieval_count, kept.activation) == ("one boat", "cold", 3, 0.4)
        # Who joins again reads what the faction says now; who leaves again keeps that.
        assert words(held("bob", ["harbour"])) == ["two boats", "low tide"]
        history.keep(conn, "bob", [boat.id], change("kept", "leaving"))
        assert words(held("bob")) == ["two boats", "low tide"]
        store.knowledge.update(conn, boat.model_copy(update={"content": "no boat", "scope": "world"}), change("widened", "hand"))
        assert words(held("bob")) == ["no boat", "low tide"]
        assert (history.kept_by(conn, "bob"), history.keepers(conn, tide.id)) == ([boat.id, tide.id], ["bob"])
        history.let_go(conn, "bob", tide.id, change("deleted", "hand"))
        assert words(held("bob")) == ["no boat"]
        for missing in (partial(history.let_go, conn, "bob", tide.id), partial(history.keep, conn, "bob", ["kno-000009"])):
            with pytest.raises(KeyError):
                missing(change=change("kept", "leaving"))

    await store.db.write(work)


async def test_both_states_of_what_was_contradicted_can_be_asked_for_by_round(store: Store) -> None:
    def work(conn: sqlite3.Connection) -> None:
        at_round(conn, 2)
        boat = store.knowledge.add(conn, fact("{{e:mira}} owns a boat"), change())
        store.knowledge.add(conn, fact("{{e:mira}} fears water", topic_key="mira_water"), change())
        at_round(conn, 5)
        sold = store.knowledge.add(conn, fact("{{e:mira}} sold the boat", supersedes=boat.id), change())
        ended = {"valid_to": NOON + timedelta(hours=3), "superseded_by": sold.id}
        store.knowledge.update(conn, boat.model_copy(update=ended), change("retired"))
        believed = partial(store.knowledge_history.believed_at, conn, "bob")
        owns, fears, sells = "{{e:mira}} owns a boat", "{{e:mira}} fears water", "{{e:mira}} sold the boat"
        assert [words(believed(number)) for number in (1, 2, 4, 5, 9)] == [[], [owns, fears], [owns, fears], [fears, sells], [fears, sells]]
        assert words(believed(4, topic="mira_boat")) == [owns]
        assert words(believed(5, subject="mira", topic="mira_boat")) == [sells]
        assert believed(4, subject="key") == []
        assert store.knowledge_history.believed_at(conn, "mira", 9) == []
        then, now = (store.knowledge_history.at(conn, boat.id, number) for number in (4, 5))
        assert then is not None
        assert now is not None
        assert (then.valid_to, now.valid_to, now.superseded_by) == (None, NOON + timedelta(hours=3), sold.id)
        assert store.knowledge_history.at(conn, boat.id, 1) is None

    await store.db.write(work)


async def test_what_was_believed_goes_by_the_factions_of_that_round(store: Store) -> None:
    def work(conn: sqlite3.Connection) -> None:
        history = store.knowledge_history
        at_round(conn, 1)
        tide = store.knowledge.add(conn, fact("low tide", scope="faction", scope_id="harbour"), change())
        at_round(conn, 4)
        store.knowledge.update(conn, tide.model_copy(update={"content": "high tide"}), change("merged"))
        # Bob is in the harbour now; he came in round 3, left in 6, came again in 8.
        for number, joined in ((3, True), (6, False), (8, True)):
            moved = FactionChange(entity_id="bob", faction="harbour", joined=joined, round=number, timestamp=NOON)
            history.add_faction_change(conn, moved)
            if not joined:
                at_round(conn, number)
                history.keep(conn, "bob", [tide.id], change("kept", "leaving"))
        at_round(conn, 7)
        tide = store.knowledge.get(conn, [tide.id])[0]
        store.knowledge.update(conn, tide.model_copy(update={"content": "no tide"}), change("merged"))
        assert [history.factions_at(conn, "bob", number) for number in (2, 3, 5, 6, 7, 8)] == [
            (), ("harbour",), ("harbour",), (), (), ("harbour",),
        ]  # fmt: skip
        assert history.factions_at(conn, "nobody", 3) == ()
        believed = [words(history.believed_at(conn, "bob", number)) for number in range(1, 9)]
        assert believed == [[], [], ["low tide"], ["high tide"], ["high tide"], ["high tide"], ["high tide"], ["no tide"]]
        assert [(each.round, each.joined) for each in history.faction_changes(conn, "bob")] == [(3, True), (6, False), (8, True)]
        assert (len(history.faction_changes(conn)), history.faction_changes(conn, "mira")) == (3, [])

    await store.db.write(work)


async def test_candidates_are_short_sure_old_enough_and_do_not_wait_for_a_person(store: Store) -> None:
    def work(conn: sqlite3.Connection) -> None:
        def add(content: str, minutes: int, **given: object) -> Knowledge:
            return store.knowledge.add(conn, fact(content, **given), change(minutes=minutes))

        add("late", 30)
        add("second", 2)
        add("first", 1)
        add("unsure", 1, confidence=0.69)
        add("long", 1, term="long")
        add("ended", 1, valid_to=NOON)
        flagged = add("flagged", 1)
        item = store.promotions.flag(conn, flagged.id, "sensitive", "faction", "harbour", change("flagged", "promotion", 3))
        found = partial(store.knowledge.candidates, conn, 0.7, NOON + timedelta(minutes=2))
        assert words(found()) == ["first", "second"]
        store.promotions.settle(conn, item.id)
        assert words(found()) == ["first", "flagged", "second"]

    await store.db.write(work)


async def test_use_is_counted_and_changes_nothing_else(store: Store) -> None:
    def work(conn: sqlite3.Connection) -> None:
        row = store.knowledge.add(conn, fact(), change())
        gone = KnowledgeUse("kno-000009", 1, NOON, 1, 0)
        store.knowledge.touch(conn, [KnowledgeUse(row.id, 2, NOON + timedelta(hours=1), 1.5, 0.4), gone])
        store.knowledge.touch(conn, [KnowledgeUse(row.id, 1, NOON, 1.75, 0.5)])
        store.knowledge.set_activation(conn, [(row.id, -0.25)])
        [now] = store.knowledge.get(conn, [row.id])
        used = {"retrieval_count": 3, "last_retrieved_at": NOON + timedelta(hours=1), "strength": 1.75, "activation": -0.25}
        assert now == row.model_copy(update=used)
        assert store.knowledge.versions(conn, row.id) == []

    await store.db.write(work)


async def test_what_waits_for_a_person_waits_once_and_until_it_is_settled(store: Store) -> None:
    row, other = [await store.db.write(partial(store.knowledge.add, new=fact(), change=change())) for _ in range(2)]
    flag = partial(store.promotions.flag, reason="it is sensitive", scope="world", scope_id="", change=change("flagged", "promotion", 5))
    item = await store.db.write(partial(flag, key=row.id))
    with pytest.raises(SaveError, match="refused a change"):
        await store.db.write(partial(flag, key=row.id))
    with pytest.raises(KeyError):
        await store.db.write(partial(flag, key="kno-000009"))
    second = await store.db.write(partial(flag, key=other.id))
    assert (item.id, second.id, item.timestamp) == ("rev-000001", "rev-000002", NOON + timedelta(minutes=5))

    def work(conn: sqlite3.Connection) -> None:
        assert store.promotions.waiting(conn) == [item, second]
        assert (store.promotions.item(conn, item.id), store.promotions.waiting_for(conn, other.id)) == (item, second)
        store.promotions.settle(conn, item.id)
        assert store.promotions.waiting(conn) == [second]
        assert store.promotions.waiting_for(conn, row.id) is None
        with pytest.raises(KeyError):
            store.promotions.settle(conn, item.id)
        store.knowledge.remove(conn, other, change("deleted", "hand"))
        assert store.promotions.waiting(conn) == []
        assert store.audit.find(conn, actions=["flagged"])[0].after == other.content

    await store.db.write(work)


async def test_promotions_are_kept_under_the_key_that_their_changes_name(store: Store) -> None:
    def work(conn: sqlite3.Connection) -> None:
        key = store.promotions.new_run_id(conn)
        run = PromotionRun(id=key, round=3, timestamp=NOON, scanned=4, promoted=("kno-000001",), notes=("odd",))
        assert store.promotions.add_run(conn, run) == run
        second = store.promotions.add_run(conn, run.model_copy(update={"id": ""}))
        assert second.id == "pro-000002"
        assert store.promotions.runs(conn) == [second, run]
        assert (store.promotions.last_run(conn), store.promotions.run(conn, key)) == (second, run)
        assert store.promotions.run(conn, "pro-000009") is None

    await store.db.write(work)
