"""Calls that are counted, whatever becomes of them, and made only when the caps have room."""

import asyncio
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import CapReachedError, ModelError, ProviderError, Trouble
from engine.llm.caps import Caps
from engine.llm.gates import Gate, Gates
from engine.llm.meter import Meter
from engine.llm.metered import Metered
from engine.llm.protocol import Completion, Heard, LanguageModel, ModelRequest, Usage
from engine.llm.scripted import Scripted
from engine.llm.usage_log import UsageLog
from engine.records.models import Call
from engine.records.wire import HandoffReply
from engine.settings.records import CapSettings, EndpointSettings, ProviderSettings
from tests.engine.llm.stack import Clock, Hanging, Notes, Told, ask_for, in_trouble, unheard

PROMPT = 4
"""Tokens of the prompt of `ask_for()`, as estimated."""
MOST = 5 + 16 + 50
"""What a call of `ask_for()` may take: the prompt and a quarter, what stands around a message, and the reply."""


class Counted:
    """A metered model and the calls that were counted."""

    def __init__(
        self, model: Told, caps: CapSettings | None = None, *, gate: Gate | None = None, log: UsageLog | None = None
    ) -> None:
        self.calls: list[Call] = []
        self.meter, self.notes, self.clock = Meter(), Notes(), Clock()
        self.meter.listen(self.calls.append)
        self.caps = Caps(caps or CapSettings(), self.meter, log)
        self.model: LanguageModel = Metered(
            model, self.meter, self.caps, outside=model, gate=gate, usage_log=log, tell=self.notes, clock=self.clock
        )

    async def ask(self, request: ModelRequest | None = None, heard: Heard | None = None) -> Completion:
        return await self.model.complete(request or ask_for(), heard)

    @property
    def free(self) -> int:
        """Tokens that the cap by run, 1000, has left for a call."""
        return next(tokens for tokens in range(1000, -1, -1) if self._takes(tokens))

    def _takes(self, tokens: int) -> bool:
        try:
            self.caps.reserve("actor", tokens, 0.0, model="x").release()
        except CapReachedError:
            return False
        return True


def fixed(prompt: int, reply: int) -> Callable[[ModelRequest, str], Usage]:
    return lambda request, text: Usage(prompt_tokens=prompt, reply_tokens=reply)


async def test_a_call_is_counted_with_what_the_provider_counted() -> None:
    class Slow(Told):
        async def complete(self, request: ModelRequest, heard: Heard | None = None) -> Completion:
            counted.clock.seconds += 2.5
            return (await super().complete(request, heard)).model_copy(update={"cost": 0.125})

    counted = Counted(Slow(usage=fixed(70, 30)))
    await counted.ask(ask_for("handoff", entity="mira", round_=4))
    assert counted.calls == [
        Call(task="handoff", entity="mira", round=4, model="openai/x", prompt_tokens=70, reply_tokens=30, cost=0.125, seconds=2.5)
    ]


@pytest.mark.parametrize(("price", "cost"), [(0.001, 0.1), (None, None), (0.0, 0.0)])
async def test_a_cost_that_nobody_told_is_reckoned_and_an_unknown_one_stays_unknown(price: float | None, cost: float | None) -> None:
    counted = Counted(Told(usage=fixed(70, 30), price=price))
    await counted.ask()
    assert counted.calls[0].cost == pytest.approx(cost)
    assert counted.meter.total.unpriced == (cost is None)


COUNTED: dict[Trouble, bool] = {
    "rate_limited": False, "unreachable": False, "no_key": False, "unknown_model": False, "too_long": False, "bad_request": False,
    "overloaded": True, "timed_out": True, "broken_off": True, "bad_output": True, "refused": True,
}  # fmt: skip


@pytest.mark.parametrize(("trouble", "is_counted"), COUNTED.items())
async def test_a_failed_call_counts_when_the_model_may_have_read_the_prompt(trouble: Trouble, is_counted: bool) -> None:
    counted = Counted(Told(in_trouble(trouble)), CapSettings(run_tokens=1000))
    with pytest.raises(ProviderError):
        await counted.ask()
    expected = Call(
        task="actor", entity="a", round=1, model="openai/x", prompt_tokens=PROMPT, reply_tokens=0, estimated=True, cost=0.001 * PROMPT,
        failed=f"It is {trouble}.",
    )
    assert counted.calls == ([expected] if is_counted else [])
    assert counted.free == 1000 - counted.meter.total.tokens


async def test_what_the_provider_counted_of_a_failed_call_is_what_counts() -> None:
    error = in_trouble("bad_output")
    error.counted = (70, 4000)  # thoughts, and then nothing
    counted = Counted(Told(error), CapSettings(run_tokens=9000))
    with pytest.raises(ProviderError):
        await counted.ask()
    assert [(call.prompt_tokens, call.reply_tokens, call.estimated) for call in counted.calls] == [(70, 4000, False)]
    counted.caps.change(CapSettings(run_tokens=8000))
    with pytest.raises(CapReachedError, match="up to 4,"):  # the next one may do it again
        await counted.ask()


@pytest.mark.parametrize("listens", [True, False])
async def test_what_was_heard_before_a_call_failed_counts_whether_anybody_listened(listens: bool) -> None:
    counted = Counted(Told(("four words of it", in_trouble("unreachable"))))
    with pytest.raises(ProviderError):
        await counted.ask(heard=unheard if listens else None)
    assert [(call.prompt_tokens, call.reply_tokens, call.estimated) for call in counted.calls] == [(PROMPT, 4, True)]


@pytest.mark.parametrize(
    ("seconds", "thinking", "shaped", "heard", "unheard"),
    [
        (2.0, 0, False, "", 0), (2.0, 4000, False, "", 500), (90.0, 4000, False, "", 4000), (90.0, 4000, False, "four words of it", 4000),
        (0.1, 0, True, "", 25), (90.0, 0, True, "", 50), (90.0, 0, True, "four words of it", 0), (90.0, 100, True, "", 150),
    ],
)  # fmt: skip
async def test_what_may_have_been_written_unheard_counts_too(
    seconds: float, thinking: int, shaped: bool, heard: str, unheard: int
) -> None:
    class Slow(Told):
        async def complete(self, request: ModelRequest, heard: Heard | None = None) -> Completion:
            counted.clock.seconds += seconds
            return await super().complete(request, heard)

    counted = Counted(Slow((heard, in_trouble("timed_out")), thinking=thinking))
    with pytest.raises(ProviderError):
        await counted.ask(ask_for().model_copy(update={"response": HandoffReply if shaped else None}))
    assert counted.calls[0].reply_tokens == (4 if heard else 0) + unheard


async def test_a_call_that_is_stopped_counts_as_far_as_it_came_and_leaves_no_reservation() -> None:
    model = Hanging("four words ", "of it")
    counted = Counted(model, CapSettings(run_tokens=1000))
    call = asyncio.create_task(counted.ask())
    await model.began.wait()
    assert counted.free == 1000 - MOST
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert [(call.reply_tokens, call.estimated, call.failed) for call in counted.calls] == [(4, True, "stopped")]
    assert counted.free == 1000 - PROMPT - 4


async def test_a_task_that_is_not_played_was_no_call() -> None:
    meter = Meter()
    model = Metered(Scripted([ModelError("Not me.")]), meter, Caps(CapSettings(run_tokens=60), meter))
    for _ in range(2):
        with pytest.raises(ModelError, match=r"Not me|no reply left"):
            await model.complete(ask_for())
    assert meter.total.calls == 0


async def test_a_call_without_room_is_not_made_and_one_with_just_enough_is() -> None:
    model = Told()
    counted = Counted(model, CapSettings(run_tokens=MOST - 1))
    with pytest.raises(CapReachedError, match=rf"up to {MOST} tokens"):
        await counted.ask()
    assert model.requests == []
    assert counted.calls == []
    counted.caps.change(CapSettings(run_tokens=MOST))
    await counted.ask()
    assert len(model.requests) == 1


async def test_thoughts_and_the_shape_of_a_reply_are_reckoned_with() -> None:
    thinking = Counted(Told(thinking=1000), CapSettings(run_tokens=MOST + 999))
    with pytest.raises(CapReachedError, match=rf"up to {MOST + 1000:,} tokens"):
        await thinking.ask()
    shaped = Counted(Told(), CapSettings(run_tokens=MOST + 100))
    with pytest.raises(CapReachedError):
        await shaped.ask(ask_for().model_copy(update={"response": HandoffReply}))


async def test_money_is_reckoned_before_the_call_and_an_unknown_price_pauses() -> None:
    dear = Counted(Told(price=0.01), CapSettings(run_money=0.01 * MOST - 0.001))
    with pytest.raises(CapReachedError, match=r"up to \$0.71"):
        await dear.ask()
    unknown = Counted(Told(price=None), CapSettings(run_money=5.0))
    with pytest.raises(CapReachedError, match="What openai/x costs is unknown"):
        await unknown.ask()
    assert dear.calls == unknown.calls == []


async def test_prices_are_found_out_before_the_first_call_is_held_against_a_cap() -> None:
    class Late(Told):
        async def ready(self) -> None:
            await super().ready()
            self.price = 0.0

    model = Late(price=None)
    counted = Counted(model, CapSettings(run_money=5.0))
    await asyncio.gather(counted.ask(), counted.ask())
    await counted.ask()
    assert model.made_ready == 1
    assert len(counted.calls) == 3


async def test_a_model_in_this_process_counts_as_it_estimates() -> None:
    meter = Meter()
    model = Metered(Scripted(["four words of it"] * 3), meter, Caps(CapSettings(run_tokens=64, run_money=0.01, day_tokens=1), meter))
    await model.complete(ask_for())
    assert (meter.total.tokens, meter.total.cost, meter.total.unpriced) == (PROMPT + 4, 0.0, 0)
    await model.complete(ask_for())
    with pytest.raises(CapReachedError):
        await model.complete(ask_for())


async def test_a_model_that_takes_more_than_was_reckoned_is_reckoned_with_more_from_then_on() -> None:
    counted = Counted(Told(usage=fixed(2 * (MOST - 50), 80)), CapSettings(run_tokens=1000))
    await counted.ask()
    used = 2 * (MOST - 50) + 80
    counted.caps.change(CapSettings(run_tokens=2 * used - 1))
    with pytest.raises(CapReachedError, match=rf"up to {used} tokens"):
        await counted.ask()
    counted.caps.change(CapSettings(run_tokens=2 * used))
    await counted.ask()
    assert counted.meter.total.tokens == 2 * used


@settings(max_examples=60, deadline=None)
@given(
    st.integers(50, 900),
    st.lists(
        st.tuples(st.integers(1, 60), st.integers(0, 60), st.sampled_from(("reply", "fail", "cancel", "away")), st.integers(0, 5)),
        max_size=12,
    ),
    st.integers(1, 5),
)
async def test_calls_side_by_side_never_pass_a_cap_and_leave_nothing_reserved(
    limit: int, calls: list[tuple[int, int, str, int]], places: int
) -> None:
    class Varied(Told):
        """Replies with as many words as it is told to, after as many turns of the loop."""

        async def complete(self, request: ModelRequest, heard: Heard | None = None) -> Completion:
            words, what, turns = request.entity.split()
            for _ in range(int(turns)):
                await asyncio.sleep(0)
            text = "word " * min(int(words), request.max_tokens)
            if heard is not None and text and what != "away":
                heard(text)
            if what == "cancel":
                await asyncio.Event().wait()
            if what != "reply":
                raise in_trouble("unreachable" if what == "away" else "broken_off")
            usage = Usage(prompt_tokens=self.count_tokens(request.text), reply_tokens=self.count_tokens(text))
            return Completion(text=text, model=self.name, usage=usage)

    counted = Counted(Varied(), CapSettings(run_tokens=limit), gate=Gate(places))
    peak = 0

    def watch(call: Call) -> None:
        nonlocal peak
        peak = max(peak, counted.meter.total.tokens)

    counted.meter.listen(watch)
    tasks = [
        asyncio.create_task(counted.ask(ask_for(entity=f"{words} {what} {turns}", max_tokens=most))) for most, words, what, turns in calls
    ]
    for _ in range(200):
        await asyncio.sleep(0)
    for task in tasks:
        task.cancel()
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    assert all(isinstance(outcome, Completion | ProviderError | CapReachedError | asyncio.CancelledError) for outcome in outcomes)
    assert peak <= limit
    counted.caps.change(CapSettings(run_tokens=1000))
    assert counted.free == 1000 - counted.meter.total.tokens


async def test_who_waits_in_line_holds_no_room_and_stopping_there_was_no_call() -> None:
    model = Hanging("Well")
    counted = Counted(model, CapSettings(run_tokens=1000), gate=Gate(1))
    first = asyncio.create_task(counted.ask())
    await model.began.wait()
    second = asyncio.create_task(counted.ask())
    await asyncio.sleep(0.01)
    assert counted.free == 1000 - MOST
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    assert counted.calls == []
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    assert len(model.requests) == len(counted.calls) == 1


async def test_a_gate_lets_so_many_through_at_a_time_in_the_order_they_came() -> None:
    gate, under_way, most, order = Gate(2), 0, 0, list[int]()

    async def through(number: int) -> None:
        nonlocal under_way, most
        async with gate:
            order.append(number)
            under_way += 1
            most = max(most, under_way)
            await asyncio.sleep(0)
            under_way -= 1

    await asyncio.gather(*(through(number) for number in range(9)))
    assert most == 2
    assert order == list(range(9))


def test_a_gate_is_shared_by_what_is_behind_the_same_provider_or_server() -> None:
    set_ = {"openai": 7, "127.0.0.1:8080": 2, "ollama_chat": 3}
    gates = Gates({name: ProviderSettings(concurrency=limit) for name, limit in set_.items()})

    def gate(model: str, api_base: str | None = None) -> Gate:
        return gates.of(EndpointSettings(model=model, api_base=api_base))

    assert gate("openai/a") is gate("openai/b")
    assert gate("openai/a").limit == 7
    assert gate("openai/a", "http://127.0.0.1:8080/v1") is gate("hosted_vllm/b", "http://127.0.0.1:8080/other")
    assert gate("openai/a", "http://127.0.0.1:8080/v1").limit == 2
    assert gate("openai/a", "http://Box.local:99/v1") is gate("openai/b", "http://box.local:99/")
    assert gate("openai/a", "http://10.0.0.1:99/v1").limit == 1
    assert gate("anthropic/c").limit == 4
    assert gate("ollama_chat/d") is gate("ollama/d")
    assert gate("ollama/d").limit == 3
    assert gate("lm_studio/e").limit == gate("llamafile/f").limit == 1


async def test_the_day_s_log_has_calls_to_providers_and_a_fault_of_it_is_told_once(tmp_path: Path) -> None:
    log = UsageLog(tmp_path, lambda: datetime(2026, 11, 30, 9, 30))
    counted = Counted(Told(usage=fixed(70, 30)), log=log)
    await counted.ask()
    meter = Meter()
    await Metered(Scripted(["four words of it"]), meter, Caps(CapSettings(), meter), usage_log=log).complete(ask_for())
    assert (log.today().calls, log.today().tokens) == (1, 100)
    assert counted.notes.texts == []
    (tmp_path / "usage").rename(tmp_path / "gone")
    (tmp_path / "usage").write_text("in the way")
    await counted.ask()
    await counted.ask()
    assert len(counted.notes.texts) == 1
    assert "cannot be written" in counted.notes.texts[0]
