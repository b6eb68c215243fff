"""Sessions in a save: their state, their turns, what they came to and what they were made of."""

import sqlite3
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

import pytest

from engine.errors import SaveError
from engine.records.memory import NewLedgerEntry
from engine.records.sessions import (
    CollapsePolicy,
    CollapseRun,
    GateReport,
    NewTurn,
    Role,
    Session,
    SessionCollapseSummary,
)
from engine.storage.knowledge_audit import Change
from engine.storage.sessions import SessionSize
from engine.storage.store import Store

if TYPE_CHECKING:
    from tests.engine.storage.conftest import Samples

NOON = datetime(1247, 3, 1, 12)


def change(minutes: int = 0) -> Change:
    return Change("opened", "play", "they began to talk", NOON + timedelta(minutes=minutes))


def turn(content: str, minutes: int = 0, role: Role = "actor", source: str | None = None, pinned: bool = False) -> NewTurn:
    then = NOON + timedelta(minutes=minutes)
    return NewTurn(role=role, speaker_id="mira", content=content, timestamp=then, round=3, source_id=source, pinned=pinned)


def run_of(session: Session, *, part: int = 0, status: str = "committed", next_steps: tuple[str, ...] = ()) -> CollapseRun:
    summary = SessionCollapseSummary(
        goal="talk", outcome="resolved", next_steps=next_steps, turns_processed=1, pins_used=0, llm_tokens_used=0,
        collapse_reason="explicit",
    )
    return CollapseRun.model_validate({
        "id": "", "session_id": session.id, "agent_id": session.agent_id, "part": part, "partial": False, "reason": "explicit",
        "round": 4, "timestamp": NOON, "status": status, "gate": GateReport(asked=True, reason="enough", turns=1),
        "summary": None if status == "failed" else summary,
    })  # fmt: skip


def begin(store: Store, conn: sqlite3.Connection, actor: str = "mira") -> Session:
    return store.sessions.open(conn, "bob", actor, CollapsePolicy(max_turns=9), 3, change())


def end(store: Store, conn: sqlite3.Connection, session: Session, run: CollapseRun | None = None) -> Session:
    """As a collapse ends one: summary first, then the turns go."""
    store.sessions.add_run(conn, run or run_of(session))
    store.sessions.remove_turns(conn, session.id, [each.id for each in store.sessions.turns(conn, session.id)])
    over = session.model_copy(update={"status": "collapsed", "promotion_state": "extracted", "ended": NOON, "ended_round": 4})
    store.sessions.update(conn, over)
    return over


async def test_a_session_is_kept_with_all_that_it_holds(store: Store) -> None:
    opened = await store.db.write(partial(begin, store))
    changed = opened.model_copy(update={
        "scratch": {"hypothesis": "{{e:mira}} lies", "ruled_out": "rum"}, "tasks": ("ask {{e:mira}}",), "entities_found": ("key",),
        "decisions_made": ("to leave",), "parts": 2, "asked": "max_turns", "status": "collapsing", "promotion_state": "pending",
        "ended": NOON, "ended_round": 7,
    })  # fmt: skip
    await store.db.write(lambda conn: store.sessions.update(conn, changed))
    assert await store.db.read(lambda conn: store.sessions.get(conn, opened.id)) == changed
    assert await store.db.read(lambda conn: store.sessions.open_of(conn, "bob", "mira")) == changed
    assert await store.db.read(lambda conn: store.sessions.get(conn, "ses-000009")) is None
    with pytest.raises(KeyError):
        await store.db.write(lambda conn: store.sessions.update(conn, changed.model_copy(update={"id": "ses-000009"})))


async def test_a_pair_has_one_open_session_and_each_side_its_own(store: Store) -> None:
    mine = await store.db.write(partial(begin, store))
    with pytest.raises(SaveError, match="refused a change"):
        await store.db.write(partial(begin, store))
    theirs = await store.db.write(lambda conn: store.sessions.open(conn, "mira", "bob", CollapsePolicy(), 3, change()))
    pairs = [("bob", "mira"), ("mira", "bob"), ("mira", "key")]
    assert await store.db.read(lambda conn: store.sessions.open_among(conn, pairs)) == {pairs[0]: mine.id, pairs[1]: theirs.id}
    assert await store.db.read(lambda conn: store.sessions.open_with(conn, "mira")) == {"bob": theirs.id}
    await store.db.write(lambda conn: end(store, conn, mine))
    again = await store.db.write(partial(begin, store))
    assert (mine.id, theirs.id, again.id) == ("ses-000001", "ses-000002", "ses-000003")  # no number is given twice
    assert [each.id for each in await store.db.read(lambda conn: store.sessions.of_agent(conn, "bob"))] == [again.id, mine.id]


async def test_sessions_are_found_by_filters_and_paged(store: Store) -> None:
    def work(conn: sqlite3.Connection) -> None:
        for _ in range(3):
            end(store, conn, begin(store, conn))
        begin(store, conn)
        begin(store, conn, "key")

    await store.db.write(work)
    find = store.sessions.find
    first = await store.db.read(lambda conn: find(conn, agent="bob", actor="mira", limit=3))
    rest = await store.db.read(lambda conn: find(conn, agent="bob", actor="mira", before=first[-1].id))
    assert [each.id[-1] for each in (*first, *rest)] == ["4", "3", "2", "1"]
    assert [each.id[-1] for each in await store.db.read(partial(find, statuses=["open"]))] == ["5", "4"]
    assert await store.db.read(lambda conn: find(conn, agent="mira")) == []


async def test_turns_are_kept_in_order_and_move_the_time_of_the_last(store: Store) -> None:
    def work(conn: sqlite3.Connection) -> None:
        first, second = begin(store, conn), begin(store, conn, "key")
        click = turn("Click.", 5)
        new = [turn("Evening.", 1, source="buf-000001"), turn("[red] is none", 3, "note"), turn("Ja, schön.", 2, "agent", pinned=True)]
        given = [(first.id, new[0]), (second.id, click), (first.id, new[1]), (first.id, new[2])]
        written = store.sessions.add_turns(conn, given)
        assert [each.id for each in written] == ["turn-000001", "turn-000002", "turn-000003", "turn-000004"]
        held = store.sessions.turns(conn, first.id)
        assert held == [written[0], written[2], written[3]]
        assert [NewTurn.model_validate(each.model_dump(include=set(NewTurn.model_fields))) for each in held] == new
        for session, minutes in ((first, 3), (second, 5)):
            now = store.sessions.get(conn, session.id)
            assert now is not None
            assert now.last_turn_at == NOON + timedelta(minutes=minutes)
        sizes = {first.id: SessionSize(3, 1, 2 + 4 + 3), second.id: SessionSize(1, 0, 2)}
        assert store.sessions.sizes(conn, [first.id, second.id]) == sizes
        assert store.sessions.turn(conn, "turn-000002") == written[1]

    await store.db.write(work)


async def test_a_pin_is_of_a_turn_of_this_session(store: Store) -> None:
    def work(conn: sqlite3.Connection) -> None:
        first, second = begin(store, conn), begin(store, conn, "key")
        [held] = store.sessions.add_turns(conn, [(first.id, turn("Evening."))])
        store.sessions.pin(conn, first.id, held.id, True)
        assert store.sessions.turns(conn, first.id)[0].pinned
        store.sessions.pin(conn, first.id, held.id, False)
        assert not store.sessions.turns(conn, first.id)[0].pinned
        with pytest.raises(KeyError):
            store.sessions.pin(conn, second.id, held.id, True)

    await store.db.write(work)


async def test_turns_leave_with_a_summary_or_a_discarded_session_only(store: Store) -> None:
    session = await store.db.write(partial(begin, store))
    [first, second] = await store.db.write(
        lambda conn: store.sessions.add_turns(conn, [(session.id, turn("One.")), (session.id, turn("Two."))])
    )
    remove = partial(store.sessions.remove_turns, session=session.id, turns=[first.id])
    with pytest.raises(SaveError, match="refused a change"):
        await store.db.write(remove)
    await store.db.write(lambda conn: store.sessions.add_run(conn, run_of(session, status="failed")))
    with pytest.raises(SaveError, match="refused a change"):
        await store.db.write(remove)
    await store.db.write(lambda conn: store.sessions.add_run(conn, run_of(session)))
    assert await store.db.write(remove) == 1
    assert await store.db.read(lambda conn: store.sessions.turns(conn, session.id)) == [second]

    other = await store.db.write(partial(begin, store, actor="key"))
    [gone] = await store.db.write(lambda conn: store.sessions.add_turns(conn, [(other.id, turn("Click."))]))
    await store.db.write(lambda conn: store.sessions.update(conn, other.model_copy(update={"status": "discarded"})))
    assert await store.db.write(partial(store.sessions.remove_turns, session=other.id, turns=[gone.id])) == 1


async def test_a_part_is_collapsed_once_however_often_it_failed(store: Store) -> None:
    session = await store.db.write(partial(begin, store))
    add = store.sessions.add_run
    for run in (run_of(session, status="failed"), run_of(session, status="failed"), run_of(session), run_of(session, part=1)):
        await store.db.write(partial(add, run=run))
    with pytest.raises(SaveError, match="refused a change"):
        await store.db.write(partial(add, run=run_of(session, status="skipped")))
    runs = await store.db.read(lambda conn: store.sessions.runs(conn, session.id))
    assert [(run.id, run.part, run.status) for run in runs] == [
        ("col-000001", 0, "failed"), ("col-000002", 0, "failed"), ("col-000003", 0, "committed"), ("col-000004", 1, "committed"),
    ]  # fmt: skip
    assert await store.db.read(lambda conn: store.sessions.last_run(conn, session.id)) == runs[-1]
    assert await store.db.read(lambda conn: store.sessions.run(conn, "col-000002")) == runs[1]


async def test_a_collapse_has_its_key_before_it_is_written(store: Store) -> None:
    def work(conn: sqlite3.Connection) -> None:
        session = begin(store, conn)
        key = store.sessions.new_run_id(conn)
        assert store.sessions.add_run(conn, run_of(session).model_copy(update={"id": key})).id == key
        assert store.sessions.add_run(conn, run_of(session, part=1)).id != key

    await store.db.write(work)


async def test_what_was_left_to_do_is_open_in_the_next_session(store: Store) -> None:
    steps = ("fetch {{e:key}}",)

    def work(conn: sqlite3.Connection) -> None:
        first = begin(store, conn)
        assert first.tasks == ()
        end(store, conn, first, run_of(first, next_steps=steps))
        second = begin(store, conn)
        assert second.tasks == steps
        end(store, conn, second, run_of(second, status="skipped"))  # small talk settles nothing
        third = begin(store, conn)
        assert third.tasks == steps
        store.sessions.update(conn, third.model_copy(update={"status": "discarded"}))
        fourth = begin(store, conn)
        assert fourth.tasks == steps
        end(store, conn, fourth, run_of(fourth))
        assert begin(store, conn).tasks == ()
        assert store.sessions.open(conn, "mira", "bob", CollapsePolicy(), 3, change()).tasks == ()

    await store.db.write(work)


async def test_turns_that_come_during_a_collapse_begin_the_next_session(store: Store) -> None:
    def work(conn: sqlite3.Connection) -> None:
        session = begin(store, conn)
        store.sessions.add_turns(conn, [(session.id, turn("Before.", 1))])
        read = store.sessions.turns(conn, session.id)
        late = store.sessions.add_turns(conn, [(session.id, turn("Meanwhile.", 4)), (session.id, turn("Still.", 6))])
        store.sessions.add_run(conn, run_of(session, next_steps=("wait",)))
        store.sessions.remove_turns(conn, session.id, [each.id for each in read])
        over = session.model_copy(update={"status": "collapsed"})
        store.sessions.update(conn, over)
        following = store.sessions.carry_on(conn, over, 5, change(9))
        assert following is not None
        assert (following.status, following.tasks, following.policy) == ("open", ("wait",), session.policy)
        assert (following.started, following.last_turn_at) == (NOON + timedelta(minutes=4), NOON + timedelta(minutes=6))
        assert [each.id for each in store.sessions.turns(conn, following.id)] == [each.id for each in late]
        assert store.sessions.turns(conn, session.id) == []
        assert store.sessions.carry_on(conn, over, 5, change(9)) is None

    await store.db.write(work)


async def test_only_sessions_that_may_be_due_are_looked_at(store: Store) -> None:
    def work(conn: sqlite3.Connection) -> None:
        quiet = store.sessions.open(conn, "bob", "mira", CollapsePolicy(inactivity_timeout=600), 3, change(0))
        talking = store.sessions.open(conn, "bob", "key", CollapsePolicy(inactivity_timeout=3600), 3, change(0))
        told = store.sessions.open(conn, "mira", "bob", CollapsePolicy(mode="explicit", inactivity_timeout=0), 3, change(0))
        other = store.sessions.open(conn, "mira", "key", CollapsePolicy(inactivity_timeout=10**15), 3, change(0))

        def seen(now: int, since: int) -> list[str]:
            moments = (NOON + timedelta(minutes=now), NOON + timedelta(minutes=since))
            return [each.id for each in store.sessions.to_look_at(conn, *moments)]

        assert seen(9, 5) == []
        assert seen(10, 5) == [quiet.id]
        store.sessions.add_turns(conn, [(talking.id, turn("Tick.", 11)), (told.id, turn("Tock.", 11))])
        assert seen(12, 11) == [quiet.id, talking.id]
        assert seen(12, 12) == [quiet.id]
        assert seen(60 * 24 * 365, 10**6) == [quiet.id, talking.id]
        store.sessions.update(conn, told.model_copy(update={"asked": "explicit", "last_turn_at": NOON}))
        store.sessions.update(conn, other.model_copy(update={"status": "collapsing"}))
        assert seen(12, 12) == [quiet.id, told.id, other.id]
        store.sessions.update(conn, quiet.model_copy(update={"status": "discarded"}))
        assert seen(12, 12) == [told.id, other.id]

    await store.db.write(work)


async def test_an_episode_is_the_memories_that_tell_its_events(store: Store, samples: "Samples") -> None:
    def memory(minutes: int, owner: str = "bob") -> NewLedgerEntry:
        return samples.memory(owner=owner, days=minutes / 1440)

    def work(conn: sqlite3.Connection) -> None:
        session, other = begin(store, conn), begin(store, conn, "key")
        heard = store.buffer.add_all(conn, [samples.event(minutes=minutes) for minutes in (1, 2, 3, 4)])
        store.sessions.add_turns(conn, [(session.id, turn("One.", source=heard[0].id)), (session.id, turn("Two.", source=heard[1].id))])
        store.sessions.add_turns(conn, [(other.id, turn("Three.", source=heard[2].id))])
        assert store.sessions.episode(conn, session) == []
        second = store.ledger.add(conn, memory(2), [heard[1].id, heard[2].id], "x")
        first = store.ledger.add(conn, memory(1), [heard[0].id], "x")
        store.ledger.add(conn, memory(4), [heard[3].id], "x")
        store.ledger.add(conn, memory(1, "mira"), [heard[0].id], "x")  # somebody else's memory is no part of it
        assert [entry.id for entry in store.sessions.episode(conn, session)] == [first.id, second.id]
        store.sessions.add_sources(conn, session.id, [heard[1].id, heard[0].id, heard[1].id], 0, 4)
        end(store, conn, session)
        assert store.sessions.sources(conn, session.id) == (heard[0].id, heard[1].id)
        assert [entry.id for entry in store.sessions.episode(conn, session)] == [first.id, second.id]
        assert [entry.id for entry in store.sessions.episode(conn, other)] == [second.id]

    await store.db.write(work)


async def test_opening_and_changes_by_hand_are_in_the_audit_trail(store: Store) -> None:
    def work(conn: sqlite3.Connection) -> None:
        session = begin(store, conn)
        store.sessions.update(conn, session, Change("discarded", "hand", "by hand", NOON), before="open", after="discarded")
        found = [(row.action, row.cause, row.owner_id, row.before, row.after) for row in store.audit.find(conn, session=session.id)]
        assert found == [("discarded", "hand", "bob", "open", "discarded"), ("opened", "play", "bob", "", "")]

    await store.db.write(work)
