"""A round that is stopped or paused is gone on with: nobody loses a turn, no round is used up, nothing is paid for twice."""

import asyncio
from collections.abc import Callable

import pytest

from engine.errors import CapReachedError, ModelError, ProviderError
from engine.events import Happened, Paused, RoundStarted
from engine.llm.protocol import Completion, Heard, ModelRequest
from engine.llm.scripted import Reply, Scripted
from engine.records.world import World
from tests.engine.turns.test_simulation import Play, said, start

__all__ = ["start"]

AYE, HELD = '"Aye."', said("Aye.")


def raises(error: Exception) -> Callable[[ModelRequest], str]:
    def reply(request: ModelRequest) -> str:
        raise error

    return reply


CAPPED = raises(CapReachedError("No more tokens.", cap="run_tokens"))
NO_KEY = ProviderError("There is no key.", trouble="no_key")


def acted(play: Play) -> list[str]:
    """Who did something, in order."""
    return [event.intent.actor for event in play.events if isinstance(event, Happened)]


@pytest.mark.parametrize("stop", [CAPPED, NO_KEY, ProviderError("down", trouble="unreachable")], ids=["cap", "no key", "unreachable"])
async def test_a_paused_round_is_gone_on_with_where_it_stopped(start, stop: Reply) -> None:  # type: ignore[no-untyped-def]
    play = await start({"actor": [AYE, stop, AYE, AYE], "decode": [HELD] * 3})
    paused = await play.simulation.step()
    assert (paused.round, paused.beats, bool(paused.paused)) == (1, 1, True)
    report = await play.simulation.step()
    assert (report.round, report.beats, report.paused) == (1, 2, "")
    assert acted(play) == ["ada_1", "bo_1", "cyd_1"]
    assert len([event for event in play.events if isinstance(event, RoundStarted)]) == 1
    assert len([event for event in play.events if isinstance(event, Paused)]) == 1
    play.model._queues |= {"actor": [AYE] * 3, "decode": [HELD] * 3}
    assert ((await play.simulation.step()).round, len(acted(play))) == (2, 6)


async def test_pausing_again_and_again_uses_up_no_round(start) -> None:  # type: ignore[no-untyped-def]
    play = await start({"actor": [CAPPED] * 5 + [AYE] * 3, "decode": [HELD] * 3})
    for _ in range(5):
        report = await play.simulation.step()
        assert (report.round, report.beats) == (1, 0)
    assert (await play.simulation.step()).beats == 3


@pytest.mark.parametrize("stop", [CAPPED, ProviderError("down", trouble="unreachable")], ids=["cap", "unreachable"])
async def test_an_answer_that_was_paid_for_is_not_asked_for_again(start, stop: Reply) -> None:  # type: ignore[no-untyped-def]
    play = await start({"actor": [AYE] * 3, "decode": [stop, HELD, HELD, HELD]})
    assert (await play.simulation.step()).paused
    assert (await play.simulation.step()).beats == 3
    assert [request.task for request in play.model.requests].count("actor") == 3
    assert acted(play) == ["ada_1", "bo_1", "cyd_1"]


async def test_an_answer_that_cannot_be_used_is_asked_for_anew(start) -> None:  # type: ignore[no-untyped-def]
    play = await start({"actor": ["mumble", *[AYE] * 5], "decode": [ModelError("nothing meant"), *[HELD] * 5]})
    assert (await play.simulation.step()).failed_beats == 1
    assert (await play.simulation.step()).beats == 3
    assert [request.task for request in play.model.requests].count("actor") == 6


async def test_an_answer_given_before_something_happened_holds_no_longer(start) -> None:  # type: ignore[no-untyped-def]
    play = await start({"actor": [AYE] * 4, "decode": [CAPPED, HELD, HELD, HELD]})
    await play.simulation.step()
    await play.simulation.set_alias("ada_1", "cyd_1", "Nobody")
    assert (await play.simulation.step()).beats == 3
    assert [request.task for request in play.model.requests].count("actor") == 4


async def test_a_stopped_round_is_gone_on_with(start, house: World) -> None:  # type: ignore[no-untyped-def]
    waiting = asyncio.Event()

    class Stopping(Scripted):
        hangs = True

        async def complete(self, request: ModelRequest, heard: Heard | None = None) -> Completion:
            if request.entity == "bo_1" and self.hangs:
                waiting.set()
                await asyncio.Event().wait()
            return await super().complete(request, heard)

    model = Stopping({"actor": [AYE] * 3, "decode": [HELD] * 3})
    play = Play((await start({})).store, house, model)
    task = asyncio.create_task(play.simulation.step())
    await waiting.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    model.hangs = False
    report = await play.simulation.step()
    assert (report.round, report.beats) == (1, 2)
    assert acted(play) == ["ada_1", "bo_1", "cyd_1"]


async def reopened(play: Play, script: dict[str, list[Reply]]) -> Play:
    """The same save in another process: nothing but what stands in it is known."""
    store = play.store
    world, unfinished = await store.db.read(lambda conn: (store.worlds.load(conn), store.story.open_round(conn)))
    return Play(store, world, Scripted(script), unfinished)


async def test_a_round_is_gone_on_with_by_whoever_opens_the_save(start) -> None:  # type: ignore[no-untyped-def]
    first = await start({"actor": [AYE, CAPPED], "decode": [HELD]})
    assert (await first.simulation.step()).beats == 1
    second = await reopened(first, {"actor": [AYE, CAPPED], "decode": [HELD]})
    assert ((report := await second.simulation.step()).round, report.beats) == (1, 1)
    third = await reopened(second, {"actor": [AYE] * 4, "decode": [HELD] * 4})
    assert ((report := await third.simulation.step()).round, report.beats) == (1, 1)
    assert [*acted(first), *acted(second), *acted(third)] == ["ada_1", "bo_1", "cyd_1"]
    assert not [event for play in (second, third) for event in play.events if isinstance(event, RoundStarted)]
    assert (await third.simulation.step()).round == 2
    fourth = await reopened(third, {"actor": [AYE] * 3, "decode": [HELD] * 3})
    assert ((report := await fourth.simulation.step()).round, report.beats) == (3, 3), "a round that ended is not gone on with"


async def test_whoever_failed_has_had_its_turn_when_the_save_is_opened_again(start) -> None:  # type: ignore[no-untyped-def]
    first = await start({"actor": ["mumble", AYE, CAPPED], "decode": [ModelError("nothing meant"), HELD]})
    assert ((report := await first.simulation.step()).beats, report.failed_beats) == (1, 1)
    now = first.simulation.world.now
    second = await reopened(first, {"actor": [AYE], "decode": [HELD]})
    assert (await second.simulation.step()).beats == 1
    assert acted(second) == ["cyd_1"]
    assert second.simulation.world.now >= now


async def test_a_round_in_which_the_last_one_failed_is_over(start) -> None:  # type: ignore[no-untyped-def]
    first = await start({"actor": [AYE, AYE, "mumble"], "decode": [HELD, HELD, ModelError("nothing meant")]})
    assert (await first.simulation.step()).failed_beats == 1
    second = await reopened(first, {"actor": [AYE] * 3, "decode": [HELD] * 3})
    assert (await second.simulation.step()).round == 2


async def test_a_hand_acts_in_a_round_that_is_gone_on_with(start) -> None:  # type: ignore[no-untyped-def]
    play = await start({"actor": [CAPPED, AYE, AYE], "decode": [HELD] * 2})
    await play.simulation.step(held=frozenset({"cyd_1"}))
    intents = await play.simulation.understand("cyd_1", '"Anybody there?"')
    report = await play.simulation.step({"cyd_1": ('"Anybody there?"', intents)}, held=frozenset({"cyd_1"}))
    assert (report.round, report.beats) == (1, 3)
    assert acted(play) == ["cyd_1", "ada_1", "bo_1"]


async def test_handoffs_that_lack_a_key_pause_play_and_are_no_failed_runs(start, house: World) -> None:  # type: ignore[no-untyped-def]
    play = await start({"actor": [AYE] * 30, "decode": [HELD] * 30, "handoff": [NO_KEY] * 30})
    reports = [await play.simulation.step() for _ in range(9)]
    assert reports[-1].paused == "There is no key."
    assert reports[-1].round < 9
    assert await play.store.db.read(lambda conn: play.store.handoffs.of_owner(conn, "ada_1", 9)) == []
