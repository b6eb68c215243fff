"""Trouble with models behind litellm, told by kind and with what to do next; keys stay where they belong."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from engine.errors import ProviderError, Trouble
from engine.llm.remote.faults import Origin, explained
from engine.llm.remote.providers import address_of, is_near, provider_of
from tests.engine.llm.remote_models import forget_keys, remote, request
from tests.fake_behaviour import (
    BAD_REQUEST,
    BROKEN,
    DOWN,
    EMPTY,
    FORBIDDEN,
    HTML,
    OVERLOADED,
    POLICY,
    QUOTA,
    RATE_LIMITED,
    SILENT,
    UNKNOWN_MODEL,
    UNPROCESSABLE,
    WRONG_KEY,
    Behaviour,
    fails,
    says,
)
from tests.fake_server import FakeServer, in_a_thread

ROOT = Path(__file__).parents[3]
ROUTES = ["openai/fake", "ollama_chat/fake", "hosted_vllm/fake", "lm_studio/fake"]


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    forget_keys(monkeypatch)


@pytest.fixture
async def server() -> AsyncIterator[FakeServer]:
    async with FakeServer() as running:
        yield running


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize(("behaviour", "trouble", "said", "advice", "wait"), [
    (WRONG_KEY, "no_key", "missing or was rejected: Incorrect API key provided: ", "`key_env`", None),
    (FORBIDDEN, "no_key", "may not be used with this key: You are not allowed to use this model.", "`key_env`", None),
    (UNKNOWN_MODEL, "unknown_model", "is unknown: The model `nope` does not exist", "spelled", None),
    (BAD_REQUEST, "bad_request", "Unsupported parameter: 'top_k'.", "right kind", None),
    (UNPROCESSABLE, "bad_request", "Input should be a valid string.", "right kind", None),
    (POLICY, "refused", "Your request was rejected as a result of our safety system.", "Change the text", None),
    (RATE_LIMITED, "rate_limited", "takes no more calls for now: Rate limit reached for requests.", "Wait", 2.0),
    (QUOTA, "rate_limited", "is used up: You exceeded your current quota, please check your plan.", "See what is left", 3600.0),
    (fails(429, "Rate limit reached. Please try again in 1m2.5s."), "rate_limited", "Rate limit reached", "Wait", 62.5),
    (fails(429, "You exceeded your current quota. Please retry in 12s."), "rate_limited", "takes no more calls for now", "Wait", 12.0),
    (fails(429, "Request too large for model x on tokens per min: Limit 6000, Requested 9000."), "too_long", "too long", "Send less", None),
    (fails(429, "This exceeds the rate limit of 50,000 input tokens; lower the maximum tokens."), "rate_limited", "rate", "Wait", None),
    (BROKEN, "overloaded", "has trouble of its own: The server had an error while processing your request.", "in a while", None),
    (DOWN, "overloaded", "The engine is currently overloaded, please try again later.", "in a while", None),
    (OVERLOADED, "overloaded", "Overloaded.", "in a while", None),
])
async def test_trouble_is_told_by_kind_after_one_attempt(
    server: FakeServer, route: str, behaviour: Behaviour, trouble: Trouble, said: str, advice: str, wait: float | None,
    capfd: pytest.CaptureFixture[str],
) -> None:
    server.behave(behaviour)
    with pytest.raises(ProviderError) as caught:
        await remote(server, route).complete(request())
    error = caught.value
    assert (error.trouble, error.retry_after) == (trouble, wait)
    assert said in str(error)
    assert advice in error.advice
    assert "choose another model" in error.advice
    assert not [word for word in ("sk-wrong", "litellm", "Traceback", "{", "Exception") if word in str(error)]
    assert len(server.requests) == 1, "one attempt, no hidden ones"
    assert capfd.readouterr() == ("", ""), "nothing is written over the screen"


def in_the_stream(message: str, code: int, before: str = "") -> Behaviour:
    """An error told within a stream that has begun, as servers do when it is too late for a status."""
    choice = {"index": 0, "delta": {"content": before}}
    chunk: dict[str, object] = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "fake", "choices": [choice]}
    told = [chunk] * bool(before) + [{"error": {"message": message, "code": code}}]
    return Behaviour(raw=b"".join(b"data: " + json.dumps(each).encode() + b"\n\n" for each in told), content_type="text/event-stream")


@pytest.mark.parametrize("route", ["openai/fake", "hosted_vllm/fake", "lm_studio/fake", "openrouter/fake", "mistral/fake", "groq/fake"])
@pytest.mark.parametrize(("behaviour", "trouble", "said"), [
    (in_the_stream("slot unavailable", 500, "I push the door"), "broken_off", "in the middle of its reply: "),
    (in_the_stream("Loading model", 503), "broken_off", "Loading model"),
    (in_the_stream("request (9000 tokens) exceeds the available context size (4096 tokens)", 400), "too_long", "4096 tokens"),
    (in_the_stream("Rate limit reached", 429, "I push"), "rate_limited", "Rate limit reached"),
])
async def test_trouble_told_within_a_stream(server: FakeServer, route: str, behaviour: Behaviour, trouble: Trouble, said: str) -> None:
    server.behave(behaviour)
    with pytest.raises(ProviderError) as caught:
        await remote(server, route).complete(request())
    assert caught.value.trouble == trouble
    assert said in str(caught.value)
    assert not [word for word in ("litellm", "Traceback", "Exception", "exception") if word in str(caught.value)]


@pytest.mark.parametrize("route", [*ROUTES, "llamafile/fake"])
async def test_a_server_that_is_not_running(route: str) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        base = f"http://127.0.0.1:{free.getsockname()[1]}"
        with pytest.raises(ProviderError, match="cannot be reached") as caught:
            await remote(None, route, api_base=base).complete(request())
    assert caught.value.trouble == "unreachable"
    assert base in str(caught.value)
    assert "Start it" in caught.value.advice


@pytest.mark.parametrize(("origin", "own"), [
    (Origin("openai/gpt-5-mini"), False), (Origin("openai/x", "https://models.example.com/v1"), False),
    (Origin("openai/x", "http://192.168.1.7:8080/v1"), True), (Origin("ollama_chat/llama3.2"), True),
])
def test_only_a_server_of_ones_own_can_be_started(origin: Origin, own: bool) -> None:
    told = explained(ConnectionRefusedError(), origin)
    assert told.trouble == "unreachable"
    assert ("Start it if it is yours" in told.advice) == own
    assert "network" in told.advice


@pytest.mark.parametrize(("model", "base"), [
    ("lm_studio/x", "http://localhost:1234/v1"), ("hosted_vllm/x", "http://localhost:8000/v1"), ("ollama_chat/x", "http://localhost:11434"),
    ("llamafile/x", "http://127.0.0.1:8080/v1"), ("openai/x", None),
])
def test_where_servers_are_when_nobody_says(model: str, base: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    provider = provider_of(model)
    assert address_of(provider, None) == base
    monkeypatch.setenv(f"{provider.removesuffix('_chat').upper()}_API_BASE", "http://10.0.0.2:1")
    assert address_of(provider, None) == "http://10.0.0.2:1"
    assert address_of(provider, "http://10.0.0.3:1") == "http://10.0.0.3:1"


async def test_the_providers_own_variable_says_where_a_server_is(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for route, base in (("LM_STUDIO", server.base), ("HOSTED_VLLM", server.base), ("OLLAMA", server.root)):
        monkeypatch.setenv(f"{route}_API_BASE", base)
        await remote(None, f"{'ollama_chat' if route == 'OLLAMA' else route.lower()}/fake").complete(request())
    assert len(server.requests) == 3


@pytest.mark.parametrize(("model", "key"), [
    ("openai/gpt-5-mini", "OPENAI_API_KEY"), ("anthropic/claude-sonnet-4-5", "ANTHROPIC_API_KEY"),
    ("gemini/gemini-2.5-flash", "GEMINI_API_KEY"), ("mistral/mistral-large-latest", "MISTRAL_API_KEY"),
    ("groq/llama-3.3-70b-versatile", "GROQ_API_KEY"), ("gpt-4o", "OPENAI_API_KEY"),
    ("openrouter/openai/gpt-5-mini", "OPENROUTER_API_KEY"), ("xai/grok-4", "XAI_API_KEY"), ("deepseek/deepseek-chat", "DEEPSEEK_API_KEY"),
    ("together_ai/x", "TOGETHERAI_API_KEY"),
])
async def test_a_missing_key_is_told_by_name_before_any_call(model: str, key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tested = remote(None, model)
    state, names = tested.key_state()
    assert state == "missing"
    assert key in names
    with pytest.raises(ProviderError, match=key) as caught:
        await tested.complete(request())
    assert caught.value.trouble == "no_key"
    monkeypatch.setenv(key, "key-of-tests-12345")
    assert tested.key_state() == ("set", names)
    assert "key-of-tests" not in str(caught.value)


async def test_what_is_said_of_keys_that_are_not_needed_or_not_known(server: FakeServer) -> None:
    assert remote(server).key_state() == ("none needed", ())
    assert remote(None, "ollama_chat/llama3.2").key_state() == ("none needed", ())
    rare = remote(None, "ai21/jamba-large")
    assert rare.key_state() == ("unknown", ())
    await rare.ready()
    assert rare.key_state() == ("missing", ("AI21_API_KEY",))


@pytest.mark.parametrize("model", ["nosuch/thing", "plainly-unknown"])
async def test_a_model_that_nobody_provides(model: str) -> None:
    with pytest.raises(ProviderError, match=model) as caught:
        await remote(None, model).complete(request())
    assert caught.value.trouble == "unknown_model"
    assert "spelled" in caught.value.advice


async def test_a_providers_key_is_not_sent_to_an_address_that_was_set(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-openai")
    monkeypatch.setenv("MY_KEY", "key-of-mine")
    for settings in ({}, {"key_env": "MY_KEY"}):
        await remote(server, **settings).complete(request())
    monkeypatch.setenv("OPENAI_API_BASE", server.base + "/")
    await remote(server).complete(request())
    await remote(None, "openai/fake").complete(request())
    sent = [received.headers["authorization"] for received in server.requests]
    assert sent == ["Bearer none", "Bearer key-of-mine", "Bearer key-of-openai", "Bearer key-of-openai"]


@pytest.mark.parametrize("route", ROUTES)
async def test_no_route_sends_a_key_of_the_environment(server: FakeServer, route: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for provider in ("OPENAI", "OLLAMA", "HOSTED_VLLM", "LM_STUDIO", "ANTHROPIC"):
        monkeypatch.setenv(f"{provider}_API_KEY", f"secret-of-{provider}")
    await remote(server, route).complete(request())
    assert "secret-of" not in str(server.requests[0].headers)


async def test_a_key_that_is_named_and_not_there(server: FakeServer) -> None:
    model = remote(server, key_env="MY_KEY")
    assert model.key_state() == ("missing", ("MY_KEY",))
    with pytest.raises(ProviderError, match="Set MY_KEY in the environment") as caught:
        await model.complete(request())
    assert caught.value.trouble == "no_key"
    assert not server.requests


async def test_a_key_that_is_named_and_wrong(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_WORD", "wrong/key+12345")
    server.behave(fails(401, "The key wrong/key+12345 is not known."))
    with pytest.raises(ProviderError, match="rejected: The key … is not known") as caught:
        await remote(server, key_env="MY_WORD").complete(request())
    assert "Set MY_WORD to a valid key" in caught.value.advice


@pytest.mark.parametrize(("address", "near"), [
    ("http://127.0.0.1:8080/v1", True), ("http://localhost:11434", True), ("http://[::1]:8080", True), ("http://192.168.1.5:8080/v1", True),
    ("http://10.0.0.2", True), ("http://nas:8080", True), ("http://nas.local:8080", True), ("http://0.0.0.0:8000", True),
    ("https://api.openai.com/v1", False), ("http://8.8.8.8/v1", False), ("https://local.example.com", False), ("http://[", False),
])
def test_which_servers_are_near(address: str, near: bool) -> None:
    assert is_near(address) is near


def test_a_body_of_json_is_told_by_its_message() -> None:
    for body in ('{"error": {"message": "No such thing", "code": 1}}', '{"error": "No such thing"}', '{"detail": "No such thing"}'):
        assert "cannot be used: No such thing. " in str(explained(RuntimeError(body), Origin("m")))
    assert "{not json." in str(explained(RuntimeError("{not json"), Origin("m")))


def test_a_process_that_meets_all_kinds_of_trouble_says_nothing() -> None:
    code = """
import asyncio, sys
from engine.errors import ModelError
from engine.llm.protocol import ModelRequest
from engine.llm.remote.bridge import shared_bridge
from engine.llm.remote.model import RemoteModel
from engine.records.prompts import Message
from engine.records.wire import RefereeReply
from engine.settings import EndpointSettings
async def one(model, base, response=None):
    request = ModelRequest(
        task="actor", entity="a", round=1, seed=1, messages=(Message(role="user", content="Hello."),), max_tokens=50, response=response,
        timeout=float(sys.argv[2]),
    )
    try:
        tested = RemoteModel(shared_bridge(), "x", EndpointSettings(model=model, api_base=base))
        return (await tested.complete(request, lambda piece: None)).text
    except ModelError as error:
        return error.trouble
async def main():
    root = sys.argv[1]
    for model in ("openai/llama-3-of-sorts", "ollama_chat/fake", "hosted_vllm/fake", "lm_studio/fake"):
        base = root if model.startswith("ollama") else root + "/v1"
        print(*[await one(model, base, RefereeReply if n % 2 else None) for n in range(9)])
    print(await one("openai/gpt-5-mini", None), await one("anthropic/claude-sonnet-4-5", None), await one("nosuch/x", None))
    asyncio.create_task(one("openai/fake", root + "/v1"))
    await asyncio.sleep(0.1)
asyncio.run(main())
"""
    told = (says("fine"), EMPTY, HTML, WRONG_KEY, RATE_LIMITED, BROKEN, says("a b c", abort_at=2), says("a b c", end_at=2), DOWN)
    with in_a_thread() as server:
        server.behave(*told * 4, SILENT)
        env = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
        command = [sys.executable, "-c", code, server.root, "10"]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=100, cwd=ROOT, env=env)
    each = "fine bad_output bad_output no_key rate_limited overloaded broken_off broken_off overloaded\n"
    assert done.stdout == each * 4 + "no_key no_key unknown_model\n"
    assert done.stderr == ""
