"""Router, observation, metering, counting and the scripted model."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import ModelError
from engine.llm.observed import Observed
from engine.llm.protocol import Completion, Heard, LanguageModel, ModelRequest
from engine.llm.router import Router
from engine.llm.scripted import Scripted
from engine.llm.storyteller import Storyteller
from engine.llm.tokens import SCALE_STEPS, estimate_tokens, scaled_tokens
from engine.records.prompts import Message, Task


def ask_for(task: Task) -> ModelRequest:
    return ModelRequest(task=task, entity="a", round=1, seed=1, messages=(Message(role="user", content="four words of it"),))


class Hanging(Scripted):
    """Never replies."""

    async def complete(self, request: ModelRequest, heard: Heard | None = None) -> Completion:
        await asyncio.Event().wait()
        raise AssertionError


async def test_a_task_goes_to_its_route_and_else_to_the_default() -> None:
    default, special = Scripted(["a"]), Scripted(["b"])
    router = Router(default, {"handoff": special})
    assert router.model("handoff") is special
    assert router.model("actor") is default is router.default


async def test_a_finished_call_is_reported_once_whether_streamed_or_not() -> None:
    seen: list[tuple[ModelRequest, Completion]] = []
    model: LanguageModel = Observed(Scripted(["one", "two of them, in pieces"]), lambda *call: seen.append(call))
    await model.complete(ask_for("actor"))
    pieces: list[str | None] = []
    await model.complete(ask_for("decode"), pieces.append)
    assert len(pieces) > 1
    assert [(request.task, completion.text) for request, completion in seen] == [("actor", "one"), ("decode", "two of them, in pieces")]


async def test_a_failed_or_abandoned_call_is_not_reported() -> None:
    seen: list[object] = []
    model = Observed(Scripted([ModelError("down")]), lambda *call: seen.append(call))
    with pytest.raises(ModelError):
        await model.complete(ask_for("actor"))
    hanging = asyncio.create_task(Observed(Hanging(), lambda *call: seen.append(call)).complete(ask_for("actor")))
    await asyncio.sleep(0)
    hanging.cancel()
    with pytest.raises(asyncio.CancelledError):
        await hanging
    assert seen == []


async def test_a_script_that_runs_out_says_so() -> None:
    model = Scripted({"actor": ["only"]})
    assert (await model.complete(ask_for("actor"))).text == "only"
    with pytest.raises(ModelError, match="no reply left"):
        await model.complete(ask_for("actor"))
    assert [request.task for request in model.requests] == ["actor", "actor"]


async def test_the_storyteller_refuses_a_task_it_does_not_play() -> None:
    with pytest.raises(ModelError, match="narrate"):
        await Storyteller().complete(ask_for("narrate"))


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("a b c d e", 5), ("灯台の火", 3)])
def test_tokens_are_four_bytes_and_never_fewer_than_words(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


@given(st.text(st.sampled_from("ab \t\n\r\x0b\x0c\x1c\x1f\x85\xa0\u2003\u2028é灯\ud800"), max_size=20))
def test_tokens_are_counted_by_words_where_those_are_more(text: str) -> None:
    size = len(text.encode("utf-8", "surrogatepass"))
    assert estimate_tokens(text) == max(-(-size // 4), len(text.split()))


@given(st.text(max_size=200), st.floats(0.01, 20))
def test_a_scale_is_known_again_from_a_count(text: str, scale: float) -> None:
    sample = "a" * 4 * SCALE_STEPS
    again = scaled_tokens(sample, scale) / estimate_tokens(sample)
    assert scaled_tokens(text, again) == scaled_tokens(text, scale)
    assert estimate_tokens(text) * scale <= scaled_tokens(text, scale) + 1e-9
    assert scaled_tokens(text, 1.0) == estimate_tokens(text)
