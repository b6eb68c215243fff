from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.memory.handoff.trigger import check_handoff_trigger
from engine.records.policies import HandoffPolicy

if TYPE_CHECKING:
    from tests.engine.memory.conftest import Inn


def check(inn: Inn, count: int, *, pinned: int = 0, status: str = "", place: str = "pl_bar", **more: Any) -> Any:
    world = inn.moved(inn.world(), "en_bryn", place)
    if status:
        world = inn.with_status(world, "en_bryn", status)
    news = inn.talk(count, **more.pop("talk", {}))
    news = [e.model_copy(update={"pinned": "hand" if n % 2 else "model"}) if n < pinned else e for n, e in enumerate(news)]
    return check_handoff_trigger(world.entities["en_bryn"], inn.numbered(news), inn.now, more.pop("window", 8192), **more)


def test_an_empty_buffer_calls_for_nothing_whatever_else_holds(inn: Inn) -> None:
    found = check(inn, 0, status="asleep", tokens=9999, idle_rounds=50)
    assert found.trigger == "none"


@pytest.mark.parametrize(
    ("count", "pinned", "tokens", "expected"),
    [(20, 0, 0, "none"), (21, 0, 0, "involuntary"), (25, 5, 0, "none"), (26, 5, 0, "involuntary"),
     (3, 0, 4915, "none"), (3, 0, 4916, "involuntary")],
)  # fmt: skip
def test_hard_limits(inn: Inn, count: int, pinned: int, tokens: int, expected: str) -> None:
    found = check(inn, count, pinned=pinned, tokens=tokens, idle_rounds=0)
    assert (found.trigger, found.entries, found.max_tokens) == (expected, count - pinned, 4915)


@pytest.mark.parametrize("status", ["asleep", "unconscious", "dead", "inactive", " Asleep "])
def test_who_takes_nothing_in_hands_over(inn: Inn, status: str) -> None:
    assert check(inn, 3, status=status, idle_rounds=0).trigger == "voluntary"


def test_an_awake_status_is_no_reason(inn: Inn) -> None:
    assert check(inn, 3, status="awake", idle_rounds=0).trigger == "none"


def test_hard_conditions_come_before_soft_ones(inn: Inn) -> None:
    found = check(inn, 21, status="asleep", idle_rounds=9)
    assert (found.trigger, found.reason) == ("involuntary", "21 entries, limit 20")


def test_leaving_the_scene(inn: Inn) -> None:
    assert check(inn, 3, place="pl_quay", idle_rounds=0).trigger == "voluntary"


def test_entries_of_several_places(inn: Inn) -> None:
    entries = inn.numbered([inn.said("One.", 90, place="pl_quay"), inn.said("Two.", 80)])
    bryn = inn.world().entities["en_bryn"]
    assert check_handoff_trigger(bryn, entries, inn.now, 8192, idle_rounds=0).trigger == "voluntary"
    pinned = [entries[0].model_copy(update={"pinned": "model"}), entries[1]]
    assert check_handoff_trigger(bryn, pinned, inn.now, 8192, idle_rounds=0).trigger == "none"


@pytest.mark.parametrize(("idle", "expected"), [(4, "none"), (5, "voluntary")])
def test_idle_rounds(inn: Inn, idle: int, expected: str) -> None:
    assert check(inn, 3, idle_rounds=idle).trigger == expected


def test_idleness_is_about_own_outward_intents_not_about_the_last_rows(inn: Inn) -> None:
    bryn = inn.world().entities["en_bryn"]
    acted = inn.did("wiped the counter", 90, by="en_bryn", round_=11)
    heard = [inn.said(f"Word {n}.", 80 - n, round_=12 + n) for n in range(6)]
    mused = inn.thought("Hm.", 60, round_=17)
    assert check_handoff_trigger(bryn, inn.numbered([acted, *heard, mused]), inn.now).trigger == "voluntary"
    active = [*heard, inn.said("Here.", 61, by="en_bryn", to=("en_stranger",), round_=17)]
    assert check_handoff_trigger(bryn, inn.numbered(active), inn.now).trigger == "none"


def test_without_a_window_there_is_no_ceiling(inn: Inn) -> None:
    assert check(inn, 3, tokens=10**6, window=None, idle_rounds=0).trigger == "none"


@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 9000), st.integers(0, 9), st.sampled_from(["", "asleep"]))
def test_the_answer_follows_from_the_measurements(
    inn: Inn, count: int, pinned: int, tokens: int, idle: int, status: str
) -> None:
    pinned, policy = min(pinned, count), HandoffPolicy()
    found = check(inn, count, pinned=pinned, tokens=tokens, idle_rounds=idle, status=status)
    hard = count > 0 and (tokens > found.max_tokens or count - pinned > policy.max_entries)
    soft = count > 0 and (idle >= policy.idle_rounds or bool(status))
    assert found.trigger == ("involuntary" if hard else "voluntary" if soft else "none")
    assert found.reason
