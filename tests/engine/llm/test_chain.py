"""Who answers when somebody is in trouble."""

import asyncio

import pytest

from engine.errors import CapReachedError, ModelError, ProviderError, Trouble
from engine.llm.chain import Chain, Endpoint
from engine.llm.protocol import Completion, Heard, ModelRequest
from engine.llm.storyteller import Storyteller
from engine.records.models import Speaking
from engine.records.prompts import Task
from tests.engine.llm.stack import Clock, Hanging, Notes, Step, Told, ask_for, in_trouble, unheard

FALLS_BACK: dict[Trouble, bool] = {
    "rate_limited": True, "overloaded": True, "unreachable": True, "timed_out": True, "broken_off": True, "bad_output": True,
    "no_key": False, "unknown_model": False, "too_long": False, "bad_request": False, "refused": False,
}  # fmt: skip
RESTS: dict[Trouble, bool] = {
    "rate_limited": True, "overloaded": True, "unreachable": True, "timed_out": True, "broken_off": False, "bad_output": False,
}  # fmt: skip


class Play:
    """A chain of models as told, with time that passes by hand."""

    def __init__(self, *models: Told, **own: float) -> None:
        self.clock, self.notes, self.models = Clock(), Notes(), models
        self.endpoints = [Endpoint(model.name, model, self.clock) for model in models]
        self.chain = Chain(self.endpoints, self.notes, **own)

    async def ask(self, request: ModelRequest | None = None, heard: Heard | None = None) -> Completion:
        return await self.chain.complete(request or ask_for(), heard)

    @property
    def asked(self) -> list[int]:
        """How often each was asked."""
        return [len(model.requests) for model in self.models]


def in_order(*steps: Step, second: Step = "fine") -> Play:
    return Play(Told(*steps, name="openai/x"), Told(second, name="anthropic/y", context_window=4096, small=True))


@pytest.mark.parametrize(("trouble", "falls_back"), FALLS_BACK.items())
async def test_each_trouble_falls_back_or_stops_at_once(trouble: Trouble, falls_back: bool) -> None:
    play = in_order(in_trouble(trouble))
    if falls_back:
        assert (await play.ask()).model == "anthropic/y"
        assert play.asked == [1, 1]
    else:
        with pytest.raises(ProviderError) as raised:
            await play.ask()
        assert raised.value.trouble == trouble
        assert play.asked == [1, 0]
        assert play.notes.texts == []


@pytest.mark.parametrize(("trouble", "rests"), RESTS.items())
async def test_each_trouble_is_rested_from_or_not(trouble: Trouble, rests: bool) -> None:
    play = in_order(in_trouble(trouble))
    await play.ask()
    await play.ask()
    assert play.asked == ([1, 2] if rests else [2, 1])


async def test_a_rest_ends_after_half_a_minute_or_when_the_provider_says() -> None:
    for retry_after, rest in ((None, 30.0), (5.0, 5.0), (600.0, 600.0)):
        play = in_order(in_trouble("rate_limited", retry_after))
        await play.ask()
        play.clock.seconds += rest - 0.1
        await play.ask()
        assert play.asked == [1, 2]
        play.clock.seconds += 0.2
        await play.ask()
        assert play.asked == [2, 2]


async def test_standing_in_is_told_and_a_rest_once_a_task() -> None:
    play = in_order(in_trouble("rate_limited"), in_trouble("unreachable"))
    tasks: tuple[Task, ...] = ("actor", "actor", "decode", "decode")
    for task in tasks:
        await play.ask(ask_for(task))
    assert play.notes.texts == [
        "actor: openai/x is rate limited; anthropic/y answers instead.",
        "decode: openai/x is rate limited and rests for 30 s; anthropic/y answers instead.",
    ]
    play.clock.seconds += 31
    await play.ask(ask_for("decode"))
    assert play.notes.texts[2:] == ["decode: openai/x cannot be reached; anthropic/y answers instead."]


async def test_an_endpoint_rests_for_all_routes_that_name_it() -> None:
    clock, shared, other = Clock(), Told(in_trouble("unreachable"), name="openai/x"), Told(name="ollama/z")
    endpoint = Endpoint("openai/x", shared, clock)
    one = Chain([endpoint, Endpoint("ollama/z", other, clock)], Notes())
    another = Chain([endpoint, Endpoint("ollama/z", other, clock)], Notes())
    await one.complete(ask_for("actor"))
    await another.complete(ask_for("handoff"))
    assert (len(shared.requests), len(other.requests)) == (1, 2)


async def test_who_rests_is_asked_all_the_same_when_nobody_else_can() -> None:
    alone = Play(Told(in_trouble("unreachable")))
    with pytest.raises(ProviderError):
        await alone.ask()
    assert (await alone.ask()).text == "fine"
    both = in_order(in_trouble("unreachable"), second=in_trouble("overloaded"))
    with pytest.raises(ProviderError):
        await both.ask()
    assert (await both.ask()).model == "openai/x"
    last = in_order(in_trouble("unreachable"))
    await last.ask()
    last.models[1].steps = [in_trouble("overloaded")]
    assert (await last.ask()).model == "openai/x"
    assert last.notes.texts[-1] == "actor: anthropic/y has trouble of its own; openai/x answers instead."


async def test_an_answer_ends_the_rest() -> None:
    play = Play(Told(in_trouble("unreachable", 600.0)))
    with pytest.raises(ProviderError):
        await play.ask()
    assert play.endpoints[0].rests == 600
    await play.ask()
    assert play.endpoints[0].rests == 0


async def test_when_all_fail_the_first_one_s_error_is_told() -> None:
    play = in_order(in_trouble("rate_limited"), in_trouble("rate_limited"), second=in_trouble("unreachable"))
    for _ in range(2):  # also when the order was another, for the first one rests
        with pytest.raises(ProviderError, match=r"It is rate_limited\. Do something\.") as raised:
            await play.ask()
        assert raised.value.trouble == "rate_limited"
        play.models[1].steps = [in_trouble("overloaded")]
    assert play.asked == [2, 2]


@pytest.mark.parametrize("trouble", ["no_key", "unknown_model", "bad_request", "refused"])
async def test_one_that_stands_in_and_wants_a_person_is_told_of_too(trouble: Trouble) -> None:
    play = in_order(in_trouble("unreachable"), second=in_trouble(trouble))
    with pytest.raises(ProviderError) as raised:
        await play.ask()
    assert raised.value.trouble == trouble


async def test_a_text_too_long_for_the_one_that_stands_in_is_that_of_whom_the_chain_speaks_for() -> None:
    resting = in_order(in_trouble("unreachable"), second=in_trouble("too_long"))
    with pytest.raises(ProviderError, match="too_long"):
        await resting.ask()
    assert resting.chain.context_window == 4096  # whoever asked drafts a text for that one
    awake = in_order(in_trouble("bad_output"), second=in_trouble("too_long"))
    with pytest.raises(ProviderError, match="bad_output"):
        await awake.ask()
    assert awake.chain.context_window == 8192


async def test_a_chain_says_of_itself_what_the_first_says_that_does_not_rest() -> None:
    play = in_order(in_trouble("unreachable"))
    assert (play.chain.name, play.chain.context_window, play.chain.small) == ("openai/x", 8192, False)
    await play.ask()
    assert (play.chain.name, play.chain.context_window, play.chain.small) == ("anthropic/y", 4096, True)
    assert play.chain.count_tokens("four words of it") == 4
    play.clock.seconds += 60
    assert play.chain.name == "openai/x"


async def test_what_was_heard_of_one_is_void_before_another_answers() -> None:
    heard: list[str | None] = []
    play = in_order(("Once upon", in_trouble("broken_off")), second="Well now.")
    await play.ask(heard=heard.append)
    assert heard == ["Once", " upon", None, "Well", " now."]
    heard.clear()
    await in_order(in_trouble("overloaded"), second="Well now.").ask(heard=heard.append)
    assert heard == ["Well", " now."]


async def test_the_task_s_own_temperature_and_time_go_with_the_request_unless_it_has_some() -> None:
    play = Play(Told(), temperature=0.3, timeout=9.0)
    await play.ask()
    await play.ask(ask_for().model_copy(update={"temperature": 0.9}))
    assert [(request.temperature, request.timeout) for request in play.models[0].requests] == [(0.3, 9.0), (0.9, 9.0)]
    plain = Play(Told())
    await plain.ask()
    assert plain.models[0].requests == [ask_for()]


async def test_a_task_that_is_not_played_is_no_trouble_of_a_provider() -> None:
    clock, notes = Clock(), Notes()
    alone = Chain([Endpoint("storyteller", Storyteller(), clock)], notes)
    with pytest.raises(ModelError, match="does not play the task narrate"):
        await alone.complete(ask_for("narrate"))
    stands_in = Chain([Endpoint("openai/x", Told(in_trouble("unreachable")), clock), Endpoint("storyteller", Storyteller(), clock)], notes)
    with pytest.raises(ProviderError, match="unreachable"):
        await stands_in.complete(ask_for("narrate"))


async def test_a_cap_ends_the_call_whoever_could_stand_in() -> None:
    class Capped(Told):
        async def complete(self, request: ModelRequest, heard: Heard | None = None) -> Completion:
            raise CapReachedError("Enough.", cap="run_tokens")

    play = Play(Capped(name="openai/x"), Told(name="storyteller"))
    with pytest.raises(CapReachedError):
        await play.ask()
    assert play.asked == [0, 0]


async def test_cancelling_ends_the_call_and_asks_nobody_else() -> None:
    model, other = Hanging("Well"), Told(name="other")
    play = Play(model, other)
    call = asyncio.create_task(play.ask(heard=unheard))
    await model.began.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert play.asked == [1, 0]
    assert play.endpoints[0].rests == 0


async def test_it_says_who_speaks_and_instead_of_whom_until_the_first_answers_again() -> None:
    play = in_order(in_trouble("unreachable"))
    assert play.chain.speaking("actor") == Speaking(model="openai/x")
    await play.ask()
    assert play.chain.speaking("actor") == Speaking(model="anthropic/y", away="openai/x")
    play.clock.seconds += 3600  # its rest is over: whether it is well is still to be seen
    assert play.chain.speaking("actor") == Speaking(model="anthropic/y", away="openai/x")
    await play.ask(ask_for("decode"))  # another task: of this one nothing is known yet
    assert play.chain.speaking("actor") == Speaking(model="anthropic/y", away="openai/x")
    await play.ask()
    assert play.chain.speaking("actor") == Speaking(model="openai/x")


async def test_one_that_broke_off_and_needs_no_rest_is_said_to_be_away_while_another_speaks() -> None:
    hanging = Hanging(name="anthropic/y")
    play = Play(Told(in_trouble("broken_off"), name="openai/x"), hanging)
    asking = asyncio.create_task(play.ask())
    await hanging.began.wait()
    assert play.chain.speaking("actor") == Speaking(model="anthropic/y", away="openai/x")
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    await play.ask()
    assert play.chain.speaking("actor") == Speaking(model="openai/x")
