"""How much fits into a model: window and count, known beforehand or learned from a provider's complaint, so that the next text fits."""

from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import ProviderError
from engine.llm.protocol import LanguageModel
from engine.llm.remote.measures import Measures, numbers_in
from engine.llm.tokens import estimate_tokens
from tests.engine.llm.remote_models import forget_keys, remote, request
from tests.fake_behaviour import Wording, fails, says, too_long
from tests.fake_server import FakeServer, Kind

LONG = "The ferryman counts his coins by the light of the lantern, and nobody speaks. " * 100


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    forget_keys(monkeypatch)


@pytest.fixture
async def server() -> AsyncIterator[FakeServer]:
    async with FakeServer() as running:
        yield running


@pytest.mark.parametrize("wording", ["openai", "vllm", "llama.cpp", "ollama", "anthropic", "gemini"])
def test_numbers_in_the_words_of_the_fake_server(wording: Wording) -> None:
    told = too_long(wording, 9000, 4096, 500)
    assert numbers_in(str(dict(told.error))) == (9000, 4096)


@pytest.mark.parametrize(("complaint", "prompt", "window"), [
    ("This model's maximum context length is 8,192 tokens. However, your messages resulted in 9,001 tokens.", 9001, 8192),
    ("input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length", 190_000, 200_000),
    ("Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length", 40_000, 32_768),
    ("The decoder prompt (length 5000) is longer than the maximum model length of 4096.", 5000, 4096),
    ("too many tokens: total number of tokens in the prompt cannot exceed 4081 tokens - received 5000 tokens.", 5000, 4081),
    ('{"error":{"code":400,"n_prompt_tokens":9000,"n_ctx":4096}}', 9000, 4096),
    ("Please reduce the length of the messages or completion.", None, None),
    ("Input is too long for requested model.", None, None),
    ("context window of 2048 tokens", None, 2048),
])
def test_numbers_in_other_words(complaint: str, prompt: int | None, window: int | None) -> None:
    assert numbers_in(complaint) == (prompt, window)


@given(complaint=st.text(max_size=300), window=st.integers(512, 10_000_000))
def test_whatever_is_said_the_next_text_is_shorter(complaint: str, window: int) -> None:
    measures = Measures(window)
    before = measures.window, measures.count(LONG)
    measures.too_long(LONG, complaint)
    assert measures.window <= before[0]
    assert measures.count(LONG) >= before[1]
    assert (measures.window, measures.count(LONG)) != before or window < 732


async def test_texts_that_were_drafted_before_the_window_was_known_teach_it_once(server: FakeServer) -> None:
    """Calls wait in line while the first of them is refused."""
    server.window = 1500
    model = remote(server, context_window=32_000)
    for _ in range(3):
        with pytest.raises(ProviderError) as caught:
            await model.complete(request(LONG))
        assert caught.value.trouble == "too_long"
        assert model.context_window == 1500
    await drafted(model)


def test_a_count_is_never_below_what_a_provider_was_seen_to_count_and_bounded() -> None:
    measures = Measures(None)
    first = measures.count(LONG)
    measures.counted(LONG, estimate_tokens(LONG) * 2)
    assert measures.count(LONG) == estimate_tokens(LONG) * 2
    measures.counted(LONG, 10)
    assert measures.count(LONG) == estimate_tokens(LONG) * 2, "never lowered"
    measures.counted(LONG, estimate_tokens(LONG) * 50)
    assert measures.count(LONG) == estimate_tokens(LONG) * 4
    measures = Measures(None)
    measures.counted("Hello.", 500)
    assert measures.count(LONG) == first, "a short text tells of the template around it only"


@pytest.mark.parametrize("wording", ["openai", "vllm", "llama.cpp", "ollama", "anthropic", "gemini"])
@pytest.mark.parametrize("route", ["openai/fake", "ollama_chat/fake", "hosted_vllm/fake"])
async def test_a_text_too_long_teaches_the_window_and_the_next_one_fits(server: FakeServer, route: str, wording: Wording) -> None:
    server.window, server.wording, server.kind = 1200, wording, "openai"
    model = remote(server, route)
    assert (model.context_window, model.window_from) == (8192, "guess")
    await drafted(model)
    assert (model.context_window, model.window_from) == (1200, "server")
    assert len(server.requests) == 2


async def drafted(model: LanguageModel, most: int = 6) -> None:
    """Texts drafted by window and count until one fits, as callers do. Fails when that takes too long."""
    for _ in range(most):
        words = LONG.split()
        while model.count_tokens(" ".join(words)) + 100 > model.context_window - 20:
            words = words[: int(len(words) * 0.95)]
        try:
            await model.complete(request(" ".join(words), max_tokens=100))
        except ProviderError as error:
            if error.trouble != "too_long":
                raise
        else:
            return
    raise AssertionError("no text ever fitted")


@pytest.mark.parametrize("weight", [1.5, 2.5, 3.9])
async def test_a_model_that_counts_more_teaches_its_count(server: FakeServer, weight: float) -> None:
    server.window, server.weight, server.wording = 2000, weight, "llama.cpp"
    model = remote(server, context_window=2000)
    before = model.count_tokens(LONG)
    await drafted(model)
    assert model.count_tokens(LONG) > before
    assert (model.context_window, model.window_from) == (2000, "settings")
    assert len(server.requests) <= 3


async def test_a_count_is_learned_from_replies_too(server: FakeServer) -> None:
    server.weight = 3.0
    model = remote(server)
    await model.complete(request(LONG))
    sent = server.requests[0]
    assert model.count_tokens(sent.text) >= sent.prompt_tokens * 0.99


async def test_without_numbers_the_window_shrinks_step_by_step(server: FakeServer) -> None:
    server.behave(*[fails(400, "Input is too long for requested model.")] * 2)
    model = remote(server, context_window=10_000)
    for window in (7000, 4900):
        with pytest.raises(ProviderError) as caught:
            await model.complete(request(LONG))
        assert caught.value.trouble == "too_long"
        assert (model.context_window, model.window_from) == (window, "settings")
    assert (await model.complete(request(LONG))).text == "fine"


@pytest.mark.parametrize(("kind", "route", "window"), [
    ("llama.cpp", "openai/fake", 3072), ("lm_studio", "lm_studio/fake", 3072), ("vllm", "hosted_vllm/fake", 3072),
    ("ollama", "ollama_chat/fake", 3072), ("lm_studio", "openai/fake", 3072), ("llama.cpp", "llamafile/fake", 3072),
])
async def test_a_server_is_asked_for_its_window_before_the_first_call(kind: Kind, route: str, window: int) -> None:
    async with FakeServer(kind=kind, window=window) as server:
        model = remote(server, route)
        await model.ready()
        assert (model.context_window, model.window_from) == (window, "server")
        assert not server.requests
        asked = len(server.asked)
        await model.ready()
        await model.complete(request(max_tokens=100))
        assert len(server.asked) == asked, "only once"
        if kind == "ollama":
            assert server.requests[0].body["options"]["num_ctx"] == window


async def test_what_is_set_stands_over_what_the_server_says() -> None:
    async with FakeServer(kind="llama.cpp", window=3072) as server:
        model = remote(server, context_window=2048)
        await model.ready()
        assert (model.context_window, model.window_from) == (2048, "settings")


async def test_ollama_is_told_how_much_to_hold(server: FakeServer) -> None:
    await remote(server, "ollama_chat/fake", context_window=5000).complete(request())
    await remote(server, "ollama_chat/fake").complete(request())
    assert [received.body["options"]["num_ctx"] for received in server.requests] == [5000, 8192]
    assert "/api/show" not in server.asked[2:], "litellm asks nothing behind our back"


async def test_a_server_that_was_away_is_asked_again_at_the_next_call() -> None:
    async with FakeServer(kind="llama.cpp", window=3072) as server:
        model = remote(server)
        port, real = server.port, server
        away = FakeServer(port=0)
        async with away:
            gone = remote(away)
        with pytest.raises(ProviderError, match="cannot be reached"):
            await gone.complete(request())
        assert (gone.context_window, gone.window_from) == (8192, "guess")
        async with FakeServer(kind="llama.cpp", window=2048, port=away.port):
            await gone.complete(request(max_tokens=50))
            assert (gone.context_window, gone.window_from) == (2048, "server")
        await model.ready()
        assert (real.port, model.context_window) == (port, 3072)


async def test_nothing_stops_getting_ready(server: FakeServer) -> None:
    away = remote(None, "openai/x", api_base="http://127.0.0.1:1/v1")
    for model in (remote(None, "nosuch/thing"), remote(None, "plainly-unknown"), away):
        await model.ready()
        assert (model.context_window, model.window_from) == (8192, "guess")
        assert (model.price is None) == (model is not away)


@pytest.mark.parametrize(("model", "window", "prompt", "reply", "thinking"), [
    ("openai/gpt-4o", 128_000, 2.5, 10.0, 0), ("gpt-4o", 128_000, 2.5, 10.0, 0), ("openai/gpt-5-mini", 272_000, 0.25, 2.0, 4096),
    ("anthropic/claude-sonnet-4-5", 200_000, 3.0, 15.0, 0), ("mistral/mistral-large-latest", 262_144, 0.5, 1.5, 0),
])
async def test_services_are_known_from_the_price_list(model: str, window: int, prompt: float, reply: float, thinking: int) -> None:
    assert remote(None, model).price is None
    tested = remote(None, model)
    await tested.ready()
    assert (tested.context_window, tested.window_from) == (window, "package")
    assert tested.price is not None
    assert (tested.price.prompt, tested.price.reply, tested.thinking) == (prompt, reply, thinking)


async def test_a_price_is_that_of_the_server_and_not_of_the_name(server: FakeServer) -> None:
    near, far = remote(server, "openai/gpt-4o"), remote(None, "openai/gpt-4o", api_base="https://gateway.example.com/v1", input_price=1.0)
    unknown = remote(None, "openai/some-model", api_base="https://gateway.example.com/v1")
    for model in (near, far, unknown):
        await model.ready()
    assert near.price == (0.0, 0.0, None)
    assert far.price == (1.0, 0.0, None)
    assert unknown.price is None
    server.behave(says("Yes.", usage=(1000, 100)))
    assert (await near.complete(request())).cost == 0.0


@pytest.mark.parametrize(("model", "small"), [
    ("ollama_chat/qwen2.5:0.5b", True), ("openai/Qwen2.5-1.5B-Instruct", True), ("lm_studio/smollm2-135m", True),
    ("ollama_chat/llama3:8b", False), ("openai/gpt-4o", False), ("hosted_vllm/mistral-7b", False),
])
def test_small_by_the_size_in_its_name(model: str, small: bool) -> None:
    assert remote(None, model).small is small
    assert remote(None, model, small=not small).small is not small


async def test_small_by_what_the_server_tells() -> None:
    async with FakeServer(kind="ollama", models=("llama3.2",), window=4096) as server:
        model = remote(server, "ollama_chat/llama3.2")
        assert not model.small
        await model.ready()
        assert model.small


@pytest.mark.parametrize(("setting", "think", "room"), [(None, True, 4096), (0, False, 0), (100, True, 100)])
async def test_ollama_keeps_thoughts_apart_when_its_model_thinks(setting: int | None, think: bool, room: int) -> None:
    async with FakeServer(kind="ollama", window=8192, thinks=True) as server:
        model = remote(server, "ollama_chat/fake", **({} if setting is None else {"thinking": setting}))
        server.behave(says("Yes.", thoughts="He may be armed."))
        assert (await model.complete(request(max_tokens=10))).text == "Yes."
        assert server.requests[0].body["think"] is think
        assert server.requests[0].body["options"]["num_predict"] == 10 + room
