"""When a session is collapsed, whole or in part, and what the answer is measured by."""

import sqlite3
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.llm.tokens import estimate_tokens
from engine.memory.sessions.triggers import check_collapse_trigger, older_part, sessions_due
from engine.records.sessions import CollapsePolicy, NewTurn, Session, Turn
from engine.storage.store import Store

if TYPE_CHECKING:
    from tests.engine.memory.sessions.conftest import Begin

NOON = datetime(1247, 3, 1, 12)
POLICY = CollapsePolicy(inactivity_timeout=1800, max_turns=8, max_tokens=256, min_turns=3)


def session(**changed: object) -> Session:
    who = {"id": "ses-000001", "agent_id": "ada", "actor_id": "bo"}
    return Session.model_validate({**who, "started": NOON, "started_round": 1, "last_turn_at": NOON, "policy": POLICY, **changed})


def turns(*contents: str, pinned: tuple[int, ...] = ()) -> list[Turn]:
    return [
        Turn(
            id=f"turn-{seq:06d}", session_id="ses-000001", seq=seq, role="actor", content=content, timestamp=NOON, round=1,
            pinned=seq in pinned,
        )
        for seq, content in enumerate(contents, 1)
    ]  # fmt: skip


def later(**by: float) -> datetime:
    return NOON + timedelta(**by)


def test_nothing_calls_for_it_until_something_does() -> None:
    report = check_collapse_trigger(session(), turns("Good morning.", "Morning.", pinned=(2,)), later(minutes=29))
    assert (report.reason, report.partial, report.text) == (None, False, "nothing calls for it")
    assert (report.turns, report.max_turns, report.pinned, report.tokens, report.max_tokens) == (2, 8, 1, 4 + 2, 256)
    assert (report.idle_seconds, report.inactivity_timeout) == (29 * 60, 1800)


def test_half_an_hour_without_a_word_ends_it_whole() -> None:
    report = check_collapse_trigger(session(), turns("Good morning."), later(minutes=30))
    assert (report.reason, report.partial, report.text) == ("inactivity", False, "no turn for 1800 seconds, limit 1800")


def test_a_session_without_turns_ends_in_time_too() -> None:
    assert check_collapse_trigger(session(), [], later(minutes=29)).reason is None
    assert check_collapse_trigger(session(), [], later(hours=1)).reason == "inactivity"


def test_so_many_turns_force_the_whole() -> None:
    assert check_collapse_trigger(session(), turns(*["Aye."] * 7), NOON).reason is None
    report = check_collapse_trigger(session(), turns(*["Aye."] * 8), NOON)
    assert (report.reason, report.partial, report.text) == ("max_turns", False, "8 turns, limit 8")


def test_so_many_tokens_force_a_part() -> None:
    report = check_collapse_trigger(session(), turns("x" * 512, "x" * 508, "Aye."), NOON)
    assert (report.reason, report.partial, report.tokens) == (None, False, 256)
    report = check_collapse_trigger(session(), turns("x" * 512, "x" * 512, "Aye."), NOON)
    assert (report.reason, report.partial, report.text) == ("max_tokens", True, "257 tokens, limit 256")


def test_turns_force_the_whole_before_tokens_force_a_part_and_a_part_comes_before_silence() -> None:
    assert check_collapse_trigger(session(), turns(*["x" * 512] * 8), later(days=1)).reason == "max_turns"
    assert check_collapse_trigger(session(), turns(*["x" * 512] * 4), later(days=1)).reason == "max_tokens"


def test_what_is_old_and_pinned_cannot_go_in_part() -> None:
    long = turns("x" * 512, "x" * 512, "x" * 512, "Aye.", pinned=(1, 2, 3))
    report = check_collapse_trigger(session(), long, NOON)
    assert (report.reason, report.text) == (None, "too long, but all that is old is pinned")
    assert check_collapse_trigger(session(), long, later(hours=1)).reason == "inactivity"
    assert check_collapse_trigger(session(), turns("x" * 4000), NOON).reason is None  # the newest stays


@pytest.mark.parametrize("mode", ["auto", "hybrid", "explicit"])
def test_a_word_ends_it_in_every_mode_and_nothing_else_in_one(mode: str) -> None:
    policy = POLICY.model_copy(update={"mode": mode})
    asked = check_collapse_trigger(session(policy=policy, asked="explicit"), turns("Aye."), NOON)
    assert (asked.reason, asked.partial, asked.text) == ("explicit", False, "asked for")
    left_alone = check_collapse_trigger(session(policy=policy), turns(*["x" * 512] * 9), later(days=9))
    assert left_alone.reason == (None if mode == "explicit" else "max_turns")


@pytest.mark.parametrize("status", ["collapsed", "discarded"])
def test_what_has_ended_is_not_ended_again(status: str) -> None:
    report = check_collapse_trigger(session(status=status, asked="explicit"), [], later(days=9))
    assert (report.reason, report.text) == (None, "it has ended")


def test_one_that_was_broken_off_goes_on_for_the_reason_it_was_begun_for() -> None:
    for reason, partial in (("max_tokens", True), ("max_turns", False), ("inactivity", False)):
        report = check_collapse_trigger(session(status="collapsing", asked=reason), turns("Aye."), NOON)
        assert (report.reason, report.partial) == (reason, partial)


@given(st.lists(st.booleans(), max_size=60))
def test_the_older_part_leaves_the_newest_quarter_and_what_is_pinned(pins: list[bool]) -> None:
    held = turns(*["Aye."] * len(pins), pinned=tuple(seq for seq, pin in enumerate(pins, 1) if pin))
    older = older_part(held)
    staying = [turn for turn in held if turn not in older]
    newest = held[len(held) - -(-len(held) // 4) :]
    assert all(turn in staying for turn in newest)
    assert all(turn.pinned for turn in staying if turn not in newest)
    assert not any(turn.pinned for turn in older)


@given(st.lists(st.text(st.sampled_from("a \u00e9\u4e2d\U0001f600\n"), min_size=1, max_size=30), min_size=1, max_size=8))
def test_what_is_measured_in_the_save_is_never_half_of_what_an_estimate_says(texts: list[str]) -> None:
    """`sessions_due` leaves unread what cannot be too long by the first."""
    with sqlite3.connect(":memory:") as conn:
        rows = [conn.execute("SELECT (length(CAST(? AS BLOB)) + 3) / 4", (text,)).fetchone()[0] for text in texts]
    conn.close()
    assert sum(rows) <= sum(map(estimate_tokens, texts)) <= 2 * sum(rows)


async def test_the_sessions_that_are_due_are_found_with_their_reasons(begin: "Begin") -> None:
    scene = await begin(collapse=POLICY)
    store = scene.store
    for who in ("bo", "dee", "cyd"):
        await scene.say("ada", "Good morning.", who)
    before = await scene.sessions()
    now = scene.simulation.world.now

    def due(conn: sqlite3.Connection, at: datetime, since: datetime = now) -> dict[tuple[str, str], str]:
        found = sessions_due(conn, store, at, since)
        assert [each.id for each, _ in found] == sorted(each.id for each, _ in found)
        return {(each.agent_id, each.actor_id): str(report.reason) for each, report in found}

    def add(conn: sqlite3.Connection, pair: tuple[str, str], *contents: str) -> None:
        new = [NewTurn(role="actor", speaker_id=pair[1], content=text, timestamp=now, round=1) for text in contents]
        store.sessions.add_turns(conn, [(before[pair].id, turn) for turn in new])

    def work(conn: sqlite3.Connection) -> None:
        assert due(conn, now) == {}
        add(conn, ("ada", "bo"), *["Aye."] * 7)
        add(conn, ("bo", "ada"), *["Aye."] * 4)  # he overheard two more
        add(conn, ("ada", "dee"), "a " * 200, "b " * 100)  # few bytes, many words
        add(conn, ("dee", "ada"), "x" * 512, "x" * 480)  # 256 with the two that she heard
        asked = {"status": "collapsing", "asked": "explicit"}
        store.sessions.update(conn, before["cyd", "ada"].model_copy(update=asked))
        found = {("ada", "bo"): "max_turns", ("ada", "dee"): "max_tokens", ("cyd", "ada"): "explicit"}
        assert due(conn, now) == found
        assert due(conn, now, now + timedelta(seconds=1)) == {("cyd", "ada"): "explicit"}  # the others did not grow since
        late = due(conn, now + timedelta(hours=1), now + timedelta(hours=1))
        assert late == dict.fromkeys(before, "inactivity") | found
        store.sessions.update(conn, before["cyd", "ada"].model_copy(update={"status": "discarded"}))
        assert ("cyd", "ada") not in due(conn, now)

    await store.db.write(work)


def reads(store: Store, conn: sqlite3.Connection, at: datetime, since: datetime) -> int:
    """How many statements that takes."""
    seen: list[str] = []
    conn.set_trace_callback(seen.append)
    sessions_due(conn, store, at, since)
    conn.set_trace_callback(None)
    return len(seen)


async def test_a_round_in_which_nothing_is_due_reads_no_turn(begin: "Begin") -> None:
    scene = await begin(collapse=POLICY)
    await scene.say("ada", "Good morning, everybody.")
    now = scene.simulation.world.now
    assert await scene.store.db.read(lambda conn: reads(scene.store, conn, now, NOON)) == 2  # the sessions, and how much they hold
    assert await scene.store.db.read(lambda conn: reads(scene.store, conn, now, now)) == 1
