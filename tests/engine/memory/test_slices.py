"""A pool larger than the handoff model's window goes over in slices, each a call and a commit of its own."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import HandoffError, ModelError
from engine.events import HandoffCommitted
from engine.llm.protocol import ModelRequest
from engine.llm.scripted import Scripted
from engine.memory.handoff.engine import HandoffEngine
from engine.memory.handoff.slicing import first_slice
from engine.records.policies import HandoffPolicy
from engine.records.prompts import split_sections

if TYPE_CHECKING:
    from tests.engine.memory.conftest import Desk, Inn

WINDOW = 3000
TALE = "A very long tale of the sea and of what it gives back. " * 6


def handles(request: ModelRequest) -> list[str]:
    return re.findall(r"^(M\d+) ", split_sections(request.text)["ENTRIES"], re.MULTILINE)


def lines(request: ModelRequest) -> list[str]:
    """The numbers of the tales in a call."""
    return re.findall(r"Tale (\d+)\.", split_sections(request.text)["ENTRIES"])


class Slices:
    """A model that keeps each call's moments as one chunk, and remembers what it was asked."""

    def __init__(self, desk: Desk, wire: Any, policy: HandoffPolicy | None = None, window: int = WINDOW) -> None:
        self.asked: list[list[str]] = []
        self.answer: Callable[[ModelRequest], str] = lambda request: str(
            wire.reply(wire.chunk(handles(request), f"P2 told tale {lines(request)[0]} and more.", importance=4))
        )
        self.engine: HandoffEngine = desk.thinking(self.think, policy, window)

    async def think(self, request: ModelRequest) -> str:
        self.asked.append(lines(request))
        return self.answer(request)


async def pool(desk: Desk, count: int = 40) -> None:
    """Long tales, of which all but the newest eight are candidates. The owner has just spoken: nothing but their number calls."""
    await desk.fill([desk.inn.said(f"{TALE}Tale {n}.", 400 - n) for n in range(count - 1)])
    await desk.fill([desk.inn.said(f"Tale {count - 1}.", 400 - count, by="en_bryn", to=(), round_=20)])


async def test_the_whole_pool_goes_over_each_slice_a_commit_of_its_own(desk: Desk, wire: Any) -> None:
    await pool(desk)
    model = Slices(desk, wire)
    runs = await model.engine.run_all(desk.world)
    assert len(runs) == len(model.asked) > 2
    assert [number for asked in model.asked for number in asked] == [str(n) for n in range(32)]  # in order, each once
    assert [run.status for run in runs] == ["committed"] * len(runs)
    assert len({(run.trigger, run.reason) for run in runs}) == 1  # what called for the first slice calls for all of them
    assert [len(run.candidate_ids) for run in runs] == [len(asked) for asked in model.asked]
    assert len([event for event in desk.events if isinstance(event, HandoffCommitted)]) == len(runs)
    ledger = await desk.ledger()
    assert [len(await desk.sources(entry.id)) for entry in ledger] == [len(asked) for asked in model.asked]
    assert {entry.run_id for entry in ledger} == {run.id for run in runs}
    assert len(await desk.buffer()) == 8
    assert await model.engine.run_all(desk.world) == ()


async def test_a_slice_that_fails_keeps_those_before_and_the_next_round_goes_on(desk: Desk, wire: Any) -> None:
    await pool(desk)
    model = Slices(desk, wire)
    good = model.answer

    def second_fails(request: ModelRequest) -> str:
        if len(model.asked) == 2:
            raise ModelError("The model is gone.")
        return good(request)

    model.answer = second_fails
    first, failed = await model.engine.run_all(desk.world)
    assert (first.status, failed.status) == ("committed", "failed")
    found = await desk.whereabouts()
    assert list(found.values()).count(["promoted"]) == len(model.asked[0]) == first.promoted
    await model.engine.run_all(desk.world)
    assert model.asked[1] == model.asked[2]
    assert len(await desk.buffer()) == 8


async def test_no_more_than_eight_slices_go_over_in_a_round(desk: Desk, wire: Any) -> None:
    await pool(desk, 90)
    model = Slices(desk, wire, window=2000)
    assert len(await model.engine.run_all(desk.world)) == 8
    for _ in range(9):
        await model.engine.run_all(desk.world)
    assert sorted({int(number) for asked in model.asked for number in asked}) == list(range(len(await desk.whereabouts()) - 8))
    assert all(places in (["promoted"], ["buffer"]) for places in (await desk.whereabouts()).values())


async def test_a_thread_of_one_slice_is_shown_to_the_next_and_stays_one_memory(desk: Desk, wire: Any) -> None:
    await pool(desk)
    model = Slices(desk, wire)
    pinned: list[int] = []

    def threads(request: ModelRequest) -> str:
        pinned.append(split_sections(request.text)["ENTRIES"].count("[said, pinned]"))
        rest = handles(request)[1:]
        return str(wire.reply(
            wire.chunk(["M1"], "P2 has not said where the ship lies.", importance=9, retainInBuffer=True),
            wire.chunk(rest, f"P2 told tale {lines(request)[1]} and more."),
        ))  # fmt: skip

    model.answer = threads
    runs = await model.engine.run_all(desk.world)
    assert pinned == [0] + [1] * (len(runs) - 1)
    assert all(asked[0] == "0" for asked in model.asked)
    assert [number for asked in model.asked for number in asked[1:]] == [str(n) for n in range(1, 32)]
    assert len([entry for entry in await desk.ledger() if entry.importance == 9]) == 1
    assert [entry.pinned for entry in await desk.buffer()] == ["model"] + ["none"] * 8


async def test_what_the_checks_left_undecided_is_not_asked_for_again_in_the_same_round(desk: Desk, wire: Any) -> None:
    await pool(desk)
    model = Slices(desk, wire)
    model.answer = lambda request: str(wire.reply(
        wire.chunk(["M1"], "I heard a tale."), wire.chunk(handles(request)[1:], f"P2 told tale {lines(request)[1]} and more."),
    ))  # fmt: skip
    runs = await model.engine.run_all(desk.world)
    assert [number for asked in model.asked for number in asked] == [str(n) for n in range(32)]
    assert len(await desk.buffer()) == 8 + len(runs)


async def test_a_moment_pinned_by_hand_between_slices_stays(desk: Desk, wire: Any) -> None:
    await pool(desk)
    entries = [entry.id for entry in await desk.buffer()]
    model = Slices(desk, wire)

    async def think(request: ModelRequest) -> str:
        if not model.asked:
            await desk.pin(entries[31], "hand")  # it is in no slice yet
        return await model.think(request)

    runs = await desk.thinking(think, window=WINDOW).run_all(desk.world)
    assert all(run.status == "committed" for run in runs)
    assert [number for asked in model.asked for number in asked] == [str(n) for n in range(31)]
    assert (await desk.whereabouts())[entries[31]] == ["buffer"]


async def test_with_review_on_one_slice_waits_at_a_time(desk: Desk, wire: Any) -> None:
    await pool(desk)
    model = Slices(desk, wire, HandoffPolicy(review="ask"))
    seen: list[str] = []
    for round_ in range(21, 40):
        desk.world = desk.world.model_copy(update={"round": round_})
        asked = len(model.asked)
        assert await model.engine.run_all(desk.world) == ()
        pending = await model.engine.review.pending_of("en_bryn")
        if pending is None:
            break
        assert len(model.asked) == asked + 1
        assert await model.engine.run_all(desk.world) == ()
        assert len(model.asked) == asked + 1
        assert set(pending.proposal.pool) >= {entry.id for entry in pending.proposal.candidates}
        await wire.judged(model.engine, "accepted")
        await model.engine.review.finish(desk.world, "en_bryn")
        seen += model.asked[-1]
    assert seen == [str(n) for n in range(len(seen))]
    assert len(await desk.buffer()) <= 20


async def test_a_rejected_slice_rejects_its_pool(desk: Desk, wire: Any) -> None:
    await pool(desk)
    model = Slices(desk, wire, HandoffPolicy(review="ask"))
    await model.engine.run_all(desk.world)
    run = await model.engine.review.reject(desk.world, "en_bryn")
    assert len(run.candidate_ids) == 32 > len(model.asked[0])
    for _ in range(3):
        await model.engine.run_all(desk.world)
    assert len(model.asked) == 1
    await desk.fill([desk.inn.said(f"Tale {n}.", 300 - n) for n in range(40, 44)])
    await model.engine.run_all(desk.world)
    assert model.asked[1] == model.asked[0]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 400), min_size=1, max_size=30), st.integers(1300, 9000), st.sets(st.integers(0, 29)))
def test_a_slice_fits_the_window_and_holds_as_much_as_does(inn: Inn, sizes: list[int], window: int, pinned: set[int]) -> None:
    world, model = inn.world(), Scripted(context_window=window)
    entries = inn.numbered([
        inn.said("tale " * size + "end.", 400 - n, pinned="model" if n in pinned else "none") for n, size in enumerate(sizes)
    ])  # fmt: skip
    if all(entry.pinned == "model" for entry in entries):
        return
    try:
        piece = first_slice(world, "en_bryn", entries, model)
    except HandoffError:
        fresh = next(entry for entry in entries if entry.pinned == "none")
        with pytest.raises(HandoffError):
            first_slice(world, "en_bryn", [fresh], model)  # not even the oldest new moment alone
        return
    report = piece.prompt.report
    assert report.tokens + report.reserved <= window
    assert any(entry.pinned == "none" for entry in piece.candidates)
    assert piece.whole == (list(piece.candidates) == entries)
    offered = entries if piece.candidates[0] == entries[0] else [entry for entry in entries if entry.pinned == "none"]
    assert list(piece.candidates) == offered[: len(piece.candidates)]
    if len(piece.candidates) < len(offered):
        assert not first_slice(world, "en_bryn", offered[: len(piece.candidates) + 1], model).whole
