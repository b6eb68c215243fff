"""Calls to a real small model through litellm and llama.cpp: what it replies has the shape that was asked for, whatever it says."""

import asyncio
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import pytest
from pydantic import BaseModel, Field

from engine.errors import ProviderError
from engine.files.bundled import bundled_worlds
from engine.files.reader import read_world
from engine.game import Game
from engine.llm.protocol import Heard, ModelRequest
from engine.llm.remote.bridge import shared_bridge
from engine.llm.remote.model import RemoteModel
from engine.llm.schemas import closed_schema
from engine.llm.structured import read_reply
from engine.prompts import collapse
from engine.prompts.closing import collapse_reply
from engine.records.limits import bounded
from engine.records.prompts import Message, Task
from engine.records.sessions import CollapsePolicy, Session, Turn
from engine.records.wire import DecodeReply, HandoffReply, RefereeReply, WireReply
from engine.records.world import World
from engine.settings import EndpointSettings
from engine.setup import Setup
from tests.real.conftest import KEY, WINDOW
from tests.real.holding import assert_holds
from tests.real.server import LlamaServer

TURNS = (
    ("ines_calder", "Who was to light the lantern that night?"), ("orla_venn", "Tam was. He swears that he did."),
    ("ines_calder", "Then somebody put it out. I will pay for a room until I know who."),
    ("orla_venn", "The back room is yours. Keep the letter to yourself until the assessor is here."),
)
Ask = Callable[..., RemoteModel]
T = TypeVar("T", bound=BaseModel)


class Endless(WireReply):
    """A reply that a grammar makes long, whatever the model would like."""

    words: list[str] = Field(json_schema_extra=bounded(minItems=300, maxItems=300, items={"minLength": 10, "maxLength": 10}))


def request(task: Task, *messages: str, **more: Any) -> ModelRequest:
    system, user = messages if len(messages) == 2 else ("You are Orla Venn, who keeps an inn by the sea.", messages[0])
    said = (Message(role="system", content=system), Message(role="user", content=user))
    return ModelRequest(task=task, entity="orla_venn", round=1, seed=7, messages=said, **more)


@pytest.fixture
def model(llama: LlamaServer, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """The model at the server, as settings describe it."""
    monkeypatch.setenv(KEY, llama.key)

    def make(**more: Any) -> RemoteModel:
        settings: dict[str, Any] = {"api_base": llama.base, "key_env": KEY, "structured": "grammar", "small": True, "timeout": 600.0}
        return RemoteModel(shared_bridge(), "small", EndpointSettings(model="openai/smollm2-135m", **settings | more))

    return make


@pytest.fixture(scope="module")
def world() -> Path:
    """The bundled world."""
    [found] = [info.path for info in bundled_worlds() if info.slug == "salt-lantern"]
    return found


@pytest.fixture(scope="module")
def bundled(world: Path) -> World:
    return read_world(world).world


@pytest.fixture
async def asked(world: Path, tmp_path: Path) -> Mapping[Task, list[ModelRequest]]:
    """What the product asks in the first round of the bundled world, by task."""
    found: dict[Task, list[ModelRequest]] = {}
    game = await Game.create(
        world, tmp_path / "asked.db", setup=Setup(sink=lambda request, completion: found.setdefault(request.task, []).append(request))
    )
    await game.step()
    await game.close()
    return found


async def assert_grammar_holds(model: RemoteModel, wanted: ModelRequest, shape: type[T]) -> T:
    """A call's reply keeps to all of its grammar, and ends by itself. Gives what was read of it."""
    completion = await model.complete(wanted.model_copy(update={"response": shape}))
    assert completion.added == ""
    assert not completion.cut
    assert_holds(json.loads(completion.text), closed_schema(shape, wanted.choices))
    assert completion.usage.reply_tokens > 0
    assert not completion.usage.estimated
    return read_reply(completion.text, shape)


@pytest.mark.parametrize(("task", "shape"), [("referee", RefereeReply), ("handoff", HandoffReply)])
async def test_a_reply_has_the_shape_and_holds_only_what_it_may(
    model: Ask, asked: Mapping[Task, list[ModelRequest]], task: Task, shape: type[BaseModel]
) -> None:
    wanted = asked[task][1]
    assert wanted.response is not None
    assert issubclass(wanted.response, shape)
    await assert_grammar_holds(model(temperature=0.9), wanted, wanted.response)


async def test_what_is_left_of_a_session_comes_in_its_shape(model: Ask, bundled: World) -> None:
    at, now, policy = model(temperature=0.7), bundled.now, CollapsePolicy()
    session = Session(
        id="ses-000001", agent_id="orla_venn", actor_id="ines_calder", started=now, started_round=1, last_turn_at=now, policy=policy
    )
    turns = [
        Turn(id=f"turn-{n}", session_id=session.id, seq=n, role="agent" if who == session.agent_id else "actor", speaker_id=who,
             content=words, timestamp=now, round=1)
        for n, (who, words) in enumerate(TURNS, 1)
    ]  # fmt: skip
    prompt, handles = collapse.build(bundled, session, turns, (), now, count_tokens=at.count_tokens, context_window=WINDOW)
    closed = collapse_reply(handles, collapse.extracted(policy), at.count_tokens, prompt.report.reserved)
    assert closed.choices["sourceTurnIds"] == ("M1", "M2", "M3", "M4")
    wanted = ModelRequest(
        task="collapse", entity="orla_venn", round=1, seed=7, messages=prompt.messages, choices=closed.choices,
        max_tokens=closed.max_tokens, template=prompt.template,
    )
    reply = await assert_grammar_holds(at, wanted, closed.shape)
    assert all(0 <= fact.confidence <= 1 for fact in reply.facts)


async def test_a_call_without_a_grammar_has_the_form_in_its_prompt(model: Ask, llama: LlamaServer) -> None:
    """For models that no schema can be asked of: the text that is sent is the text that is told."""
    wanted = request("decode", "I nod.", response=DecodeReply, max_tokens=20)
    completion = await model(structured="prompt").complete(wanted)
    assert '"intents": [' in completion.added
    assert completion.usage.prompt_tokens > llama.counts(wanted.text + completion.added)


async def test_streamed_or_not_it_is_the_same_reply_and_counted_as_the_server_counts(model: Ask, llama: LlamaServer) -> None:
    wanted, cold = request("actor", "It is raining. What do you say?", max_tokens=40), model(temperature=0.0)
    await cold.complete(wanted)  # from here on the server has read the prompt, and reckons on from the same place
    pieces: list[str | None] = []
    completion = await cold.complete(wanted, pieces.append)
    await asyncio.sleep(0)
    body = {
        "messages": [message.model_dump() for message in wanted.messages], "max_tokens": 40, "temperature": 0.0, "stream": False, "seed": 7,
    }
    told = await asyncio.to_thread(llama.post, "/v1/chat/completions", body)
    assert completion.text == "".join(piece or "" for piece in pieces)
    assert completion.text == told["choices"][0]["message"]["content"].lstrip()
    assert len(pieces) > 3
    assert (completion.usage.prompt_tokens, completion.usage.reply_tokens) == (
        told["usage"]["prompt_tokens"], told["usage"]["completion_tokens"],
    )
    assert not completion.usage.estimated
    assert completion.cost == 0.0
    assert completion.cut == (told["choices"][0]["finish_reason"] == "length")


async def test_a_server_tells_how_much_the_model_reads(model: Ask, llama: LlamaServer, narrow: LlamaServer) -> None:
    """Through its key, where it wants one."""
    locked, open_ = model(), model(api_base=narrow.base, key_env=None)
    for at, server in ((locked, llama), (open_, narrow)):
        await at.ready()
        assert (at.context_window, at.window_from) == (server.window, "server")
    assert locked.key_state() == ("set", (KEY,))
    assert open_.key_state() == ("none needed", ())


@pytest.mark.parametrize("heard", [lambda piece: None, None], ids=["heard", "unheard"])
async def test_a_call_that_is_given_up_frees_the_server(model: Ask, llama: LlamaServer, heard: Heard | None) -> None:
    at = model(temperature=0.7)
    calling = asyncio.create_task(at.complete(request("handoff", "Words.", response=Endless, max_tokens=3000), heard))
    await _until(llama, lambda slot: slot["is_processing"] and slot["next_token"][0]["n_decoded"] > 5)
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling
    last = await _until(llama, lambda slot: not slot["is_processing"])
    assert last < 500  # the whole of it takes three times as many
    await at.complete(request("actor", "Say one word.", max_tokens=2))


async def _until(llama: LlamaServer, condition: Callable[[Any], bool]) -> int:
    """Wait until the server's slot is so. How many tokens of a reply it was last seen to have made."""
    made = 0
    async with asyncio.timeout(600):
        while not condition(slot := (await asyncio.to_thread(llama.get, "/slots"))[0]):
            made = slot["next_token"][0]["n_decoded"] if slot["is_processing"] else made
            await asyncio.sleep(0.02)
    return made


async def test_a_prompt_that_is_too_long_is_told_apart_and_the_window_learned(model: Ask, llama: LlamaServer) -> None:
    at = model(context_window=100_000)
    with pytest.raises(ProviderError) as caught:
        await at.complete(request("actor", "The sea is grey and the wind is cold. " * 600, max_tokens=10))
    assert caught.value.trouble == "too_long"
    assert at.context_window == llama.window


async def test_a_wrong_key_is_told_apart_and_not_repeated(model: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY, "a-key-that-opens-nothing")
    with pytest.raises(ProviderError) as caught:
        await model().complete(request("actor", "Good evening."))
    assert caught.value.trouble == "no_key"
    assert "a-key-that-opens-nothing" not in str(caught.value)
