"""Asking the same model once more."""

import asyncio

import pytest

from engine.errors import BadOutputError, CapReachedError, ModelError, ProviderError, Trouble
from engine.llm.retrying import Retrying
from tests.engine.llm.stack import Clock, Hanging, Notes, Told, ask_for, in_trouble, unheard

ATTEMPTS: dict[Trouble, int] = {
    "rate_limited": 3, "overloaded": 3, "unreachable": 2, "timed_out": 2, "broken_off": 2, "bad_output": 2, "no_key": 1, "unknown_model": 1,
    "too_long": 1, "bad_request": 1, "refused": 1,
}  # fmt: skip


@pytest.mark.parametrize(("trouble", "attempts"), ATTEMPTS.items())
async def test_each_trouble_has_its_number_of_attempts(trouble: Trouble, attempts: int) -> None:
    model, clock, notes = Told(*[in_trouble(trouble)] * 9), Clock(), Notes()
    with pytest.raises(ProviderError) as raised:
        await Retrying(model, notes, clock.sleep).complete(ask_for())
    assert raised.value.trouble == trouble
    assert len(model.requests) == attempts
    assert clock.slept == [1.0, 3.0][: attempts - 1]
    assert len(notes.texts) == attempts - 1


@pytest.mark.parametrize("trouble", [trouble for trouble, attempts in ATTEMPTS.items() if attempts > 1])
async def test_a_trouble_that_passes_costs_nothing_but_time(trouble: Trouble) -> None:
    model, clock, notes = Told(in_trouble(trouble)), Clock(), Notes()
    assert (await Retrying(model, notes, clock.sleep).complete(ask_for())).text == "fine"
    assert model.requests == [ask_for()] * 2
    assert clock.slept == [1.0]


async def test_a_wait_is_told_with_what_it_is_for() -> None:
    notes = Notes()
    await Retrying(Told(in_trouble("rate_limited", 2.5), name="openai/x"), notes, Clock().sleep).complete(ask_for("handoff"))
    await Retrying(Told(in_trouble("timed_out")), notes, Clock().sleep, "fast (openai/x)").complete(ask_for("actor"))
    assert notes.texts == [
        "handoff: openai/x is rate limited; it is asked again in 2.5 s.",
        "actor: fast (openai/x) does not answer; it is asked again in 1 s.",
    ]


@pytest.mark.parametrize(("asked", "slept"), [(0.0, [0.0]), (7.0, [7.0]), (60.0, [60.0]), (60.5, []), (86_000.0, [])])
async def test_a_provider_is_given_the_time_it_asks_for_up_to_a_minute(asked: float, slept: list[float]) -> None:
    model, clock = Told(in_trouble("rate_limited", asked)), Clock()
    retrying = Retrying(model, Notes(), clock.sleep)
    if slept:
        assert (await retrying.complete(ask_for())).text == "fine"
    else:
        with pytest.raises(ProviderError):
            await retrying.complete(ask_for())
    assert clock.slept == slept


async def test_troubles_of_several_kinds_do_not_add_up_to_more_attempts() -> None:
    model = Told(in_trouble("overloaded"), in_trouble("unreachable"), in_trouble("overloaded"))
    with pytest.raises(ProviderError, match="unreachable"):
        await Retrying(model, Notes(), Clock().sleep).complete(ask_for())
    assert len(model.requests) == 2


async def test_what_was_heard_is_void_before_the_reply_begins_anew() -> None:
    heard: list[str | None] = []
    model = Told(("Once upon", in_trouble("broken_off")), in_trouble("overloaded"), "Well now.")
    await Retrying(model, Notes(), Clock().sleep).complete(ask_for(), heard.append)
    assert heard == ["Once", " upon", None, "Well", " now."]


async def test_what_was_heard_last_is_left_to_whoever_asked_when_no_attempt_follows() -> None:
    heard: list[str | None] = []
    model = Told(("Once", in_trouble("broken_off")), ("Twice", in_trouble("broken_off")))
    with pytest.raises(ProviderError):
        await Retrying(model, Notes(), Clock().sleep).complete(ask_for(), heard.append)
    assert heard == ["On", "ce", None, "Tw", "ice"]


async def test_nothing_is_void_when_nothing_was_heard() -> None:
    heard: list[str | None] = []
    await Retrying(Told(in_trouble("overloaded")), Notes(), Clock().sleep).complete(ask_for(), heard.append)
    assert None not in heard


@pytest.mark.parametrize("error", [ModelError("No."), BadOutputError("No.")])
async def test_what_is_no_provider_s_trouble_is_not_tried_again(error: ModelError) -> None:
    model = Told(error)
    with pytest.raises(ModelError):
        await Retrying(model, Notes(), Clock().sleep).complete(ask_for())
    assert len(model.requests) == 1


async def test_cancelling_ends_the_wait_at_once() -> None:
    model = Told(in_trouble("rate_limited", 50))
    waiting = asyncio.create_task(Retrying(model, Notes()).complete(ask_for()))  # with real time
    await asyncio.sleep(0.05)
    assert not waiting.done()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(waiting, 1)
    assert len(model.requests) == 1


async def test_cancelling_ends_a_call_at_once() -> None:
    model = Hanging("Well")
    call = asyncio.create_task(Retrying(model, Notes(), Clock().sleep).complete(ask_for(), unheard))
    await model.began.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert len(model.requests) == 1


async def test_a_cap_is_not_tried_again() -> None:
    class Capped(Told):
        async def complete(self, request: object, heard: object = None) -> object:  # type: ignore[override]
            self.requests.append(ask_for())
            raise CapReachedError("Enough.", cap="run_tokens")

    model = Capped()
    with pytest.raises(CapReachedError):
        await Retrying(model, Notes(), Clock().sleep).complete(ask_for())  # type: ignore[arg-type]
    assert len(model.requests) == 1
