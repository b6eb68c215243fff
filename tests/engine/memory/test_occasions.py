"""When several occasions are one memory, and when they stay apart, with the reason that a person is told."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.memory.audit import near_duplicates
from engine.memory.occasions import ROUTINE, one_occasion, recurs, why_apart
from engine.memory.reembedding import embed_missing
from engine.records.memory import LedgerEntry, Mode, NewBufferEntry
from tests.engine.memory.test_merging import DAY, HOUR, hand_over

if TYPE_CHECKING:
    from tests.engine.memory.conftest import Desk, Inn

STEPS, FEAR, ASKED = "P1 took a few steps and came back.", "P1 was afraid for the rescue.", "P2 asked P1 how the night had been."


def event(inn: Inn, mode: Mode, ago: float, place: str = "pl_bar") -> NewBufferEntry:
    if mode == "thought":
        return inn.thought("God help them out there.", ago)
    if mode == "said":
        return inn.said("How was the night?", ago, place=place)
    return inn.did("took a few steps", ago, by="en_bryn", place=place)


ONE: dict[str, tuple[Mode, Mode, str, int]] = {
    "routine deeds": ("done", "done", STEPS, 4), "routine talk": ("said", "said", ASKED, 4), "feelings": ("thought", "thought", FEAR, 4),
    "grave feelings": ("thought", "thought", FEAR, 9), "a feeling spoken of": ("thought", "said", FEAR, 4),
    "a feeling spoken of first": ("said", "thought", FEAR, 4),
}  # fmt: skip


@pytest.mark.parametrize("kind", ONE)
async def test_it_is_one_memory_from_the_first_to_the_last_time(desk: Desk, wire: Any, kind: str) -> None:
    first, second, account, importance = ONE[kind]
    for mode, ago, place in ((first, 9 * DAY, "pl_bar"), (second, 6 * DAY, "pl_cellar"), (second, 2 * DAY, "pl_quay")):
        await hand_over(desk, [event(desk.inn, mode, ago, place)], wire.chunk(["M1"], account, importance=importance))
    [entry] = await desk.ledger()
    assert entry.ended - entry.timestamp == timedelta(days=7)
    assert entry.mode == ("said" if "said" in (first, second) else first)
    assert entry.importance == importance
    assert len(await desk.sources(entry.id)) == 3
    assert entry.version <= 2


async def test_two_of_one_reply_are_one_too(desk: Desk, wire: Any) -> None:
    events = [event(desk.inn, "done", 5 * DAY), event(desk.inn, "done", 2 * DAY)]
    await hand_over(desk, events, *(wire.chunk([f"M{n}"], STEPS, importance=3) for n in (1, 2)))
    [entry] = await desk.ledger()
    assert entry.ended - entry.timestamp == timedelta(days=3)


TWO: dict[str, tuple[tuple[Mode, str, dict[str, Any]], tuple[Mode, str, dict[str, Any]], str]] = {
    "weighty deeds": (("done", STEPS, {"importance": 5}), ("done", STEPS, {"importance": 3}), "different days, and one matters"),
    "weighty talk": (("said", ASKED, {"importance": 3}), ("said", ASKED, {"importance": 8}), "different days, and one matters"),
    "other words": (
        ("done", "P1 took a few steps along the old quay in the rain.", {"importance": 3}),
        ("done", "P1 takes a few steps along the old quay in the rain.", {"importance": 3}),
        "different days, and not word for word the same",
    ),
    "other quotes": (
        ("said", ASKED, {"importance": 3, "quotes": ["How was the night?"]}), ("said", ASKED, {"importance": 3, "quotes": ["How was it?"]}),
        "different days, and not word for word the same",
    ),
    "other company": (
        ("said", FEAR, {"importance": 3}), ("said", FEAR, {"importance": 3, "to": ("en_bryn", "en_monk")}),
        "different days, with other people",
    ),
    "a deed and a word": (("done", STEPS, {"importance": 3}), ("said", STEPS, {"importance": 3}), "one done, the other said"),
}  # fmt: skip


@pytest.mark.parametrize("kind", TWO)
async def test_they_stay_apart_and_the_audit_says_why(desk: Desk, wire: Any, kind: str) -> None:
    *both, why = TWO[kind]
    for (mode, account, more), ago in zip(both, (6 * DAY, 2 * DAY), strict=True):
        one = event(desk.inn, mode, ago)
        if mode == "said":
            [line] = more.get("quotes", ["How was the night?"])
            one = desk.inn.said(line, ago, to=more.get("to", ("en_bryn",)))
        await hand_over(desk, [one], wire.chunk(["M1"], account, **{key: more[key] for key in more if key != "to"}))
    first, second = await desk.ledger()
    assert [(pair.first, pair.second, pair.why) for pair in await near_duplicates(desk.store, desk.embedder, "en_bryn")] in (
        [(first.id, second.id, why)], [],  # the embedder need not find quotes near
    )  # fmt: skip
    assert why_apart(first, second) == why


async def test_a_weighty_event_is_not_counted_into_routine_that_spans_its_day(desk: Desk, wire: Any) -> None:
    for ago, importance in ((6 * DAY, 3), (2 * DAY, 3), (4 * DAY, 7), (3 * HOUR, 3)):
        await hand_over(desk, [event(desk.inn, "done", ago)], wire.chunk(["M1"], STEPS, importance=importance))
    found = [(entry.importance, len(await desk.sources(entry.id))) for entry in await desk.ledger()]
    assert sorted(found) == [(3, 3), (7, 1)]


async def test_what_a_person_wrote_stays_beside_its_twin_and_the_audit_says_so(desk: Desk) -> None:
    text = "Tom hid the brass key behind the old clock."
    await desk.remember([desk.inn.memory(text, 90).model_copy(update={"origin": origin}) for origin in ("hand", "handoff", "world")])
    await embed_missing(desk.store, desk.embedder)
    whys = [pair.why for pair in await near_duplicates(desk.store, desk.embedder, "en_bryn")]
    assert sorted(whys) == ["written by hand", "written by hand", "written with the world"]


ENTRIES = st.builds(
    lambda text, mode, importance, day, length, place, origin: (text, mode, importance, day, length, place, origin),
    st.sampled_from(["Tom took a few steps.", "Tom takes a few steps.", "Tom slept.", "Tom took a few steps and a horse."]),
    st.sampled_from(["said", "done", "thought"]), st.integers(1, 10), st.integers(0, 5), st.integers(0, 3),
    st.sampled_from(["pl_bar", "pl_quay", None]), st.sampled_from(["handoff", "world", "hand"]),
)  # fmt: skip


@given(ENTRIES, ENTRIES)
def test_the_rule_does_not_depend_on_which_was_first(inn: Inn, one: Any, other: Any) -> None:
    a, b = (
        LedgerEntry.model_validate(
            inn.memory(text, 24.0 * (9 - day), place=place, importance=importance).model_dump()
            | {"id": f"led-{n}", "seq": n + 1, "mode": mode, "origin": origin}
        )
        for n, (text, mode, importance, day, length, place, origin) in enumerate((one, other))
    )  # fmt: skip
    a = a.model_copy(update={"ended": a.timestamp + timedelta(days=one[4])})
    assert one_occasion(a, b) == one_occasion(b, a)
    assert recurs(a, b) == recurs(b, a)
    assert why_apart(a, b) == why_apart(b, a) != ""
    assert recurs(a, a) == (a.mode == "thought" or a.importance <= ROUTINE)


async def test_a_twin_is_found_behind_many_of_others_in_the_same_words(desk: Desk, wire: Any) -> None:
    asked = "{{e:%s}} asked {{e:en_bryn}} how the night had been."
    people = [("en_sailor", "en_monk", "en_smith")[n % 3] for n in range(50)]
    people.insert(25, "en_stranger")
    written = await desk.remember([desk.inn.memory(asked % who, 300 - n, who=(who,), importance=3) for n, who in enumerate(people)])
    await embed_missing(desk.store, desk.embedder)
    run = await hand_over(desk, [desk.inn.did("asked how the night had been", 2 * DAY)], wire.chunk(["M1"], ASKED, importance=3))
    assert (run.added, run.promoted) == (0, 1)
    assert len(await desk.sources(written[25].id)) == 1
