"""What is told of calls while they are under way, and calls that wait for a person's word."""

import asyncio

import pytest

from engine.errors import CallDeclinedError, ProviderError
from engine.llm.caps import Caps
from engine.llm.gates import Gate
from engine.llm.meter import Meter
from engine.llm.metered import Metered
from engine.llm.retrying import Retrying
from engine.llm.scripted import Scripted
from engine.llm.underway import CallsUnderWay, Watched
from engine.records.models import CallView
from engine.settings import CapSettings
from tests.engine.llm.stack import Clock, Hanging, Notes, Told, ask_for, in_trouble


class Desk:
    """A watched model behind a gate for one call at a time, and what is told of its calls."""

    def __init__(self, model: Told | None = None, caps: CapSettings | None = None) -> None:
        self.told: list[CallView] = []
        self.calls = CallsUnderWay(self.told.append)
        self.inner, self.meter = model or Told(), Meter()
        metered = Metered(
            self.inner, self.meter, Caps(caps or CapSettings(), self.meter), outside=self.inner, gate=Gate(1), sent=self.calls.sent
        )
        self.model = Watched(metered, self.calls)

    @property
    def states(self) -> list[tuple[int, str]]:
        return [(view.key, view.state) for view in self.told]

    async def held(self, number: int = 1) -> tuple[CallView, ...]:
        """Once so many are held."""
        async with asyncio.timeout(10):
            while len(self.calls.held) < number:  # noqa: ASYNC110 - what is waited for is a number
                await asyncio.sleep(0)
        return self.calls.held


async def test_a_call_is_told_of_from_asking_to_reply() -> None:
    desk = Desk()
    await desk.model.complete(ask_for("decode", text="I go out.", entity="bryn", round_=3))
    assert desk.states == [(1, "waiting"), (1, "sent"), (1, "replied")]
    last = desk.told[-1]
    assert (last.task, last.entity, last.round, last.model, last.reply) == ("decode", "bryn", 3, "openai/x", "fine")
    assert [message.content for message in last.messages] == ["I go out."]
    assert last.over
    assert desk.calls.now == ()


async def test_a_call_that_waits_its_turn_is_told_apart_from_one_that_the_model_has() -> None:
    desk = Desk(Hanging())
    tasks = [asyncio.create_task(desk.model.complete(ask_for(task))) for task in ("actor", "collapse")]
    assert isinstance(desk.inner, Hanging)
    await desk.inner.began.wait()
    assert [(view.task, view.state) for view in desk.calls.now] == [("actor", "sent"), ("collapse", "waiting")]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert {(view.state, view.failed) for view in desk.told[-2:]} == {("failed", "stopped")}
    assert desk.calls.now == ()


async def test_each_attempt_is_a_call_of_its_own_and_says_what_went_wrong() -> None:
    desk = Desk(Told(in_trouble("overloaded"), in_trouble("no_key")))
    with pytest.raises(ProviderError):
        await Retrying(desk.model, Notes(), Clock().sleep).complete(ask_for())
    assert [(view.key, view.failed) for view in desk.told if view.over] == [
        (1, "It is overloaded. Do something."), (2, "It is no_key. Do something."),
    ]


async def test_what_runs_in_this_process_has_no_turn_to_wait_for_and_is_held_all_the_same() -> None:
    told: list[CallView] = []
    calls, meter = CallsUnderWay(told.append), Meter()
    model = Watched(Metered(Scripted(["fine", "fine"]), meter, Caps(CapSettings(), meter), sent=calls.sent), calls)
    await model.complete(ask_for())
    calls.ask_first(True)
    task = asyncio.create_task(model.complete(ask_for()))
    while not calls.held:  # noqa: ASYNC110 - it is held in a moment
        await asyncio.sleep(0)
    assert told[-1].most_cost == 0.0
    calls.let_go(told[-1].key)
    await task
    assert [view.state for view in told] == ["sent", "replied", "held", "waiting", "sent", "replied"]


async def test_a_held_call_goes_out_only_when_a_person_says_so() -> None:
    desk = Desk()
    desk.calls.ask_first(True)
    tasks = [asyncio.create_task(desk.model.complete(ask_for(text=text))) for text in ("one", "two")]
    first, second = await desk.held(2)
    assert desk.inner.requests == []
    assert (first.prompt_tokens, first.most_tokens) == (1, 1 + 1 + 16 + 50)
    assert first.most_cost == pytest.approx(0.001 * first.most_tokens)
    desk.calls.let_go(second.key)
    desk.calls.let_go(second.key)  # twice is once
    assert (await tasks[1]).text == "fine"
    assert [request.text for request in desk.inner.requests] == ["two"]
    assert [view.key for view in desk.calls.held] == [first.key]
    desk.calls.ask_first(False)
    assert (await tasks[0]).text == "fine"
    assert desk.meter.total.calls == 2


async def test_held_calls_that_are_declined_or_cancelled_cost_nothing_and_reach_nobody() -> None:
    desk = Desk()
    desk.calls.ask_first(True)
    declined, stopped = (asyncio.create_task(desk.model.complete(ask_for(text=text))) for text in ("one", "two"))
    await desk.held(2)
    stopped.cancel()
    desk.calls.decline()
    outcomes = await asyncio.gather(declined, stopped, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [CallDeclinedError, asyncio.CancelledError]
    assert desk.inner.requests == []
    assert desk.meter.total.calls == 0
    assert desk.calls.now == ()
    desk.calls.let_go(1)  # it is too late, and nothing happens
    again = asyncio.create_task(desk.model.complete(ask_for()))
    [held] = await desk.held()
    desk.calls.let_go(held.key)
    assert (await again).text == "fine"


async def test_a_held_call_reserves_nothing_and_holds_no_place() -> None:
    """Another one, asked for before, takes the only place and most of the cap meanwhile."""
    desk = Desk(caps=CapSettings(run_tokens=100))
    desk.calls.ask_first(True)
    held = asyncio.create_task(desk.model.complete(ask_for()))
    await desk.held()
    desk.calls._asks = False  # of calls to come only
    assert (await desk.model.complete(ask_for())).text == "fine"
    desk.calls.let_go(1)
    assert (await held).text == "fine"
