"""Verdicts: plain deeds succeed, feats fail, and the same deed ends the same way."""

from collections.abc import Callable
from typing import Any

import pytest

from engine.llm.protocol import ModelRequest
from engine.llm.storyteller import Storyteller
from engine.records.wire import RefereeReply


@pytest.fixture
def judge(make_request: Callable[..., ModelRequest]) -> Callable[..., Any]:
    async def run(action: str, *, place: str = "the taproom. A long low room.", round_: int = 3) -> RefereeReply:
        request = make_request(
            "referee", ("Actor", "P1: Bryn Harrow"), ("Present", "P2: the wet stranger\nP3: the brass lantern (thing)"), ("Place", place),
            ("Ways", "L1: the street door, open, to the quay"), ("Action", f"{action}\nProse: I do it."), round_=round_,
        )  # fmt: skip
        return RefereeReply.model_validate_json((await Storyteller().complete(request)).text)

    return run


@pytest.mark.parametrize("deed", ["wiped the counter", "nodded to P2", "set a mug before P2", "hummed a tune", "searched the room"])
async def test_plain_deeds_are_possible_and_change_nothing(judge: Callable[..., Any], deed: str) -> None:
    verdict = await judge(deed)
    assert verdict.possible
    assert verdict.reason
    assert not verdict.changes


@pytest.mark.parametrize(
    "deed",
    ["flew away", "vanished into the air", "killed P2", "tried to stab P2 with a knife", "lifted the house", "set fire to the bar"],
)
async def test_feats_and_murder_fail_with_a_reason(judge: Callable[..., Any], deed: str) -> None:
    verdict = await judge(deed)
    assert not verdict.possible
    assert len(verdict.reason.split()) >= 3
    assert not verdict.changes


@pytest.mark.parametrize(
    ("deed", "reason"),
    [
        ("jumped off the lighthouse", "lighthouse"), ("hit Gareth", "Gareth"), ("took the purse from P2", "P2"),
        ("rode the dragon", "dragon"),
        ("flew to the moon", ""), ("teleported home", ""), ("tried to come to harm with a spoon", ""), ("turned P2 into a frog", ""),
        ("ate the lantern", ""), ("drew a sword", "sword"), ("read the letter", "letter"), ("killed everybody", ""),
    ],
)  # fmt: skip
async def test_what_cannot_be_is_refused_with_a_reason_about_it(judge: Callable[..., Any], deed: str, reason: str) -> None:
    for round_ in range(6):
        verdict = await judge(deed, round_=round_)
        assert not verdict.possible
        assert reason in verdict.reason
        assert len(verdict.reason.split()) >= 3


@pytest.mark.parametrize(
    "deed", ["nodded", "shrugged", "gave P2 a lift of the chin", "waved at P2", "raised one eyebrow at P2", "turned one shoulder to P2"]
)
async def test_gestures_never_fail(judge: Callable[..., Any], deed: str) -> None:
    assert all([(await judge(deed, round_=n)).possible for n in range(40)])


async def test_what_the_place_tells_of_can_be_used(judge: Callable[..., Any]) -> None:
    place = "the shore. A lighthouse stands on the cliff, and a sword lies in the sand."
    assert (await judge("walked round the lighthouse", place=place)).possible
    assert (await judge("drew a sword", place=place)).possible


async def test_work_takes_longer_than_a_gesture(judge: Callable[..., Any]) -> None:
    assert (await judge("nodded")).minutes == 0
    assert (await judge("wiped the counter")).minutes < (await judge("cooked a stew")).minutes


async def test_the_same_deed_in_the_same_round_ends_the_same_way_and_not_always_so(judge: Callable[..., Any]) -> None:
    first = [await judge("hit P2", round_=n) for n in range(20)]
    again = [await judge("hit P2", round_=n) for n in range(20)]
    assert first == again
    assert len({verdict.possible for verdict in first}) == 2


async def test_only_what_the_words_plainly_say_is_changed(judge: Callable[..., Any]) -> None:
    [given] = (await judge("gave P3 to P2")).changes
    assert (given.kind, given.target, given.to) == ("give", "P3", "P2")
    [roused] = (await judge("shook P2 awake")).changes
    assert (roused.kind, roused.target, roused.value) == ("set", "P2", "awake")
    [fainted] = (await judge("fainted")).changes
    assert (fainted.target, fainted.value) == ("P1", "unconscious")


async def test_magic_is_possible_where_the_world_has_it(judge: Callable[..., Any]) -> None:
    plain = [await judge("conjured a flame", round_=n) for n in range(12)]
    magical = [await judge("conjured a flame", place="the tower. A wizard lives here.", round_=n) for n in range(12)]
    assert not any(verdict.possible for verdict in plain)
    assert any(verdict.possible for verdict in magical)
