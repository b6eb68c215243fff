"""Structured replies of models behind litellm: what is sent in each way to ask for JSON, and what is tried when it is not taken."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from engine.errors import ProviderError
from engine.llm.remote.library import load_litellm
from engine.llm.remote.model import RemoteModel
from engine.llm.schemas import closed_schema, flat_schema, form
from engine.llm.structured import ask
from engine.records.models import Structured
from engine.records.wire import DecodeReply, RefereeReply
from tests.engine.llm.remote_models import PROMPT, forget_keys, remote, request
from tests.fake_behaviour import (
    BAD_SCHEMA,
    EMPTY,
    ERROR_AS_TEXT,
    FILTERED,
    HTML,
    JSON_LIST,
    NO_CHOICES,
    NOT_JSON,
    RATE_LIMITED,
    REFUSED,
    REFUSES_IN_WORDS,
    SILENT,
    WRONG_TYPE,
    Behaviour,
    fails,
    says,
)
from tests.fake_server import FakeServer

REPLY = '{"reason": "The rope holds.", "possible": true, "minutes": 2, "changes": []}'
CHOICES = {"target": ("P1", "L1"), "to": ("P2",)}


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    forget_keys(monkeypatch)


@pytest.fixture
async def server() -> AsyncIterator[FakeServer]:
    async with FakeServer(answer=lambda body: REPLY) as running:
        yield running


def structured(**more: Any) -> Any:
    return request(task="referee", response=RefereeReply, choices=CHOICES, **more)


@pytest.mark.parametrize(("model", "way"), [
    ("openai/fake", "grammar"), ("ollama_chat/fake", "grammar"), ("hosted_vllm/fake", "grammar"), ("lm_studio/fake", "grammar"),
    ("llamafile/fake", "grammar"),
])
async def test_a_server_of_ones_own_is_held_to_a_closed_grammar(server: FakeServer, model: str, way: Structured) -> None:
    tested = remote(server, model)
    assert tested.structured == way
    heard: list[str | None] = []
    completion = await tested.complete(structured(), heard.append)
    assert (completion.text, completion.added) == (REPLY, "")
    assert "".join(piece or "" for piece in heard) == REPLY
    body = server.requests[0].body
    closed = closed_schema(RefereeReply, CHOICES)
    assert body["stream"] is True, "so that stopping frees the server"
    assert (body["format"] if model.startswith("ollama") else body["response_format"]["json_schema"]["schema"]) == closed
    assert server.requests[0].text == f"You are Mira.\n\n{PROMPT}"


@pytest.fixture
def service(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> RemoteModel:
    """OpenAI itself, as far as anybody but litellm can tell."""
    monkeypatch.setattr(load_litellm(), "api_base", server.base)
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-tests")
    return remote(None, "openai/gpt-4o")


async def test_a_service_gets_a_flat_schema_and_does_not_stream_it(server: FakeServer, service: RemoteModel) -> None:
    heard: list[str | None] = []
    server.behave(says(REPLY, usage=(1000, 100)))
    completion = await service.complete(structured(), heard.append)
    assert heard == [REPLY]
    [received] = server.requests
    assert received.headers["authorization"] == "Bearer key-of-tests"
    assert "stream" not in received.body
    assert received.body["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "RefereeReply", "strict": True, "schema": flat_schema(RefereeReply, CHOICES)},
    }
    assert completion.cost == pytest.approx((1000 * 2.5 + 100 * 10) / 1_000_000), "by the price list"
    assert (service.context_window, service.window_from, service.structured) == (128_000, "package", "schema")


@pytest.mark.parametrize(("behaviour", "trouble", "said"), [
    (REFUSED, "refused", "I'm sorry, but I can't help with that."), (FILTERED, "refused", "refused the text"),
    (EMPTY, "bad_output", "nothing"),
    (NO_CHOICES, "bad_output", "nothing"), (HTML, "bad_output", "Bad Gateway"), (NOT_JSON, "bad_output", "cannot be used"),
    (JSON_LIST, "bad_output", "cannot be used"), (WRONG_TYPE, "bad_output", "cannot be used"), (ERROR_AS_TEXT, "bad_output", "an error"),
    (says(REPLY, abort_at=1), "unreachable", "cannot be reached"),
])
async def test_what_is_no_reply_of_a_service(
    server: FakeServer, service: RemoteModel, behaviour: Behaviour, trouble: str, said: str, capfd: pytest.CaptureFixture[str]
) -> None:
    server.behave(behaviour)
    with pytest.raises(ProviderError) as caught:
        await service.complete(structured())
    assert caught.value.trouble == trouble
    assert said in str(caught.value)
    assert len(server.requests) == 1
    assert capfd.readouterr() == ("", "")


async def test_a_service_without_a_count(server: FakeServer, service: RemoteModel) -> None:
    server.behave(says(REPLY, usage=None))
    completion = await service.complete(structured())
    assert completion.usage.estimated
    assert completion.usage.prompt_tokens > service.count_tokens(structured().text), "the schema is part of the prompt"
    assert completion.cost


async def test_a_service_that_is_slow_is_given_up(server: FakeServer, service: RemoteModel) -> None:
    server.behave(SILENT)
    with pytest.raises(ProviderError, match=r"within 0\.3 s") as caught:
        await service.complete(structured(timeout=0.3))
    assert caught.value.trouble == "timed_out"
    await server.until(lambda: server.requests[0].hung_up)


@pytest.mark.parametrize(("model", "way"), [
    ("openai/gpt-5-mini", "schema"), ("anthropic/claude-sonnet-4-5", "schema"), ("gemini/gemini-2.5-flash", "schema"),
    ("mistral/mistral-large-latest", "schema"), ("groq/llama-3.3-70b-versatile", "schema"), ("xai/grok-4", "schema"),
    ("openrouter/openai/gpt-5-mini", "schema"), ("deepseek/deepseek-chat", "schema"), ("azure/gpt-4o", "schema"), ("gpt-4o", "schema"),
    ("bedrock/some-model", "prompt"), ("replicate/some/model", "prompt"), ("ollama_chat/llama3.2", "grammar"), ("lm_studio/x", "grammar"),
])
def test_the_usual_way_by_provider(model: str, way: Structured) -> None:
    assert remote(None, model).structured == way
    assert remote(None, model, structured="object").structured == "object"


def test_openai_elsewhere_is_a_service() -> None:
    assert remote(None, "openai/x", api_base="https://gateway.example.com/v1").structured == "schema"
    assert remote(None, "openai/x", api_base="http://192.168.1.5:8080/v1").structured == "grammar"


@pytest.mark.parametrize("way", ["object", "prompt"])
async def test_the_form_stands_in_the_prompt_where_no_schema_is_sent(server: FakeServer, way: Structured) -> None:
    completion = await remote(server, structured=way).complete(structured())
    line = form(RefereeReply, CHOICES)
    assert completion.added == f"\n\n{line}"
    [received] = server.requests
    assert received.text == f"You are Mira.\n\n{PROMPT}" + completion.added == structured().text + completion.added
    assert received.body.get("response_format", {}).get("type") == ("json_object" if way == "object" else None)


async def test_the_form_is_a_message_of_its_own_after_the_models_own(server: FakeServer) -> None:
    messages = (*request().messages, request().messages[1].model_copy(update={"role": "assistant", "content": "Hm."}))
    asked = structured().model_copy(update={"messages": messages})
    completion = await remote(server, structured="prompt").complete(asked)
    [received] = server.requests
    assert [message["role"] for message in received.body["messages"]] == ["system", "user", "assistant", "user"]
    assert received.text == asked.text + completion.added


def takes_no_schema(body: Any) -> Behaviour:
    kind = body.get("response_format", {}).get("type")
    return BAD_SCHEMA if kind == "json_schema" else says(REPLY)


async def test_a_refused_schema_is_asked_for_in_the_next_way_and_remembered(server: FakeServer) -> None:
    server.behave(takes_no_schema)
    model = remote(server)
    assert (await model.complete(structured())).text == REPLY
    kinds = [received.body.get("response_format", {}).get("type") for received in server.requests]
    assert kinds == ["json_schema", "json_schema", "json_object"]
    assert model.structured == "object"
    await model.complete(structured())
    assert len(server.requests) == 4


async def test_a_server_that_takes_nothing_but_words(server: FakeServer) -> None:
    server.behave(lambda body: BAD_SCHEMA if "response_format" in body else says(REPLY))
    model = remote(server, structured="schema")
    completion = await model.complete(structured())
    assert completion.added
    assert model.structured == "prompt"


async def test_a_server_that_breaks_over_a_schema(server: FakeServer) -> None:
    """llama-cpp-python's: another status for the same."""
    broken = fails(500, "[{'type': 'literal_error', 'loc': ('body', 'response_format', 'type'), 'msg': \"Input should be 'text'\"}]")
    server.behave(lambda body: broken if body.get("response_format", {}).get("type") == "json_schema" else says(REPLY))
    model = remote(server)
    await model.complete(structured())
    assert server.requests[-1].body["response_format"] == {"type": "json_object", "schema": closed_schema(RefereeReply, CHOICES)}


async def test_when_no_way_is_taken_the_first_complaint_is_told_and_nothing_remembered(server: FakeServer) -> None:
    server.behave(lambda body: BAD_SCHEMA if "response_format" in body else fails(400, "No."))
    model = remote(server)
    with pytest.raises(ProviderError, match="maxItems") as caught:
        await model.complete(structured())
    assert caught.value.trouble == "bad_request"
    assert model.structured == "grammar"
    assert len(server.requests) == 4


async def test_other_trouble_on_the_way_down_is_told_as_it_is(server: FakeServer) -> None:
    server.behave(BAD_SCHEMA, RATE_LIMITED)
    model = remote(server)
    with pytest.raises(ProviderError) as caught:
        await model.complete(structured())
    assert caught.value.trouble == "rate_limited"
    assert model.structured == "grammar"


async def test_prose_is_not_asked_for_in_another_way(server: FakeServer) -> None:
    server.behave(BAD_SCHEMA)
    with pytest.raises(ProviderError, match="maxItems"):
        await remote(server).complete(request())
    assert len(server.requests) == 1


def test_another_way_can_be_learned() -> None:
    model = remote(None, "ollama_chat/fake")
    model.learn(structured="object")
    assert model.structured == "object"


async def test_a_reply_as_the_arguments_of_a_tool_call(server: FakeServer) -> None:
    for told in (says(REPLY, tool_call=True), says(REPLY, tool_call=True)):
        server.behave(told)
    model = remote(server, structured="schema")
    assert json.loads((await model.complete(structured())).text) == json.loads(REPLY)


async def test_thoughts_stay_for_whoever_looks_for_the_json(server: FakeServer) -> None:
    server.behave(says(f"<think>Perhaps?</think>{REPLY}"), says("hm", thoughts="x"), says(REPLY, thoughts="Perhaps {not}?"))
    model = remote(server)
    for _ in range(2):
        found, _ = await ask(model, structured(), RefereeReply)
        assert found.minutes == 2
    assert model.thinking == 4096


@pytest.mark.parametrize(("behaviour", "trouble"), [
    (REFUSED, "bad_output"), (HTML, "bad_output"), (JSON_LIST, "bad_output"), (NOT_JSON, "bad_output"), (WRONG_TYPE, "bad_output"),
    (ERROR_AS_TEXT, "bad_output"), (NO_CHOICES, "broken_off"), (says('{"error": {"message": "busy"}}'), "bad_output"),
    (says(REPLY, end_at=3), "broken_off"), (says(REPLY, abort_at=3), "broken_off"),
])
async def test_what_is_no_reply(server: FakeServer, behaviour: Behaviour, trouble: str) -> None:
    server.behave(behaviour)
    with pytest.raises(ProviderError) as caught:
        await remote(server).complete(structured())
    assert caught.value.trouble == trouble
    assert len(server.requests) == 1


async def test_words_that_sound_like_a_refusal_are_left_to_whoever_reads_the_json(server: FakeServer) -> None:
    server.behave(REFUSES_IN_WORDS)
    completion = await remote(server).complete(structured())
    assert completion.text.startswith("I'm sorry")


async def test_a_cut_reply_is_told(server: FakeServer) -> None:
    server.behave(says(REPLY[:20], finish="length"))
    assert (await remote(server).complete(structured())).cut


@pytest.mark.parametrize("model", ["openai/fake", "ollama_chat/fake", "hosted_vllm/fake", "lm_studio/fake"])
async def test_stopping_frees_the_server(model: str) -> None:
    async with FakeServer(slots=1, answer=lambda body: REPLY) as narrow:
        narrow.behave(SILENT)
        work = asyncio.create_task(remote(narrow, model).complete(structured()))
        await narrow.until(lambda: bool(narrow.requests))
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
        assert (await remote(narrow, model).complete(structured())).text == REPLY
        assert narrow.requests[0].hung_up


async def test_what_all_of_it_is_for(server: FakeServer) -> None:
    intents = {"intents": [{"type": "action", "verb": "go", "targets": ["L1"], "text": "I go.", "summary": "went", "modifiers": []}]}
    server.answer = lambda body: json.dumps(intents)
    found, completion = await ask(remote(server), request(task="decode", choices={"targets": ("P1", "L1")}), DecodeReply)
    assert found.intents[0].targets == ["L1"]
    assert not completion.usage.estimated
