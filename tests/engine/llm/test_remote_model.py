"""Prose from models behind litellm: the real library against the fake server."""

import asyncio
import time
from collections.abc import AsyncIterator

import pytest

from engine.errors import ProviderError
from engine.llm.protocol import Usage
from tests.engine.llm.remote_models import PROMPT, forget_keys, remote, request
from tests.fake_behaviour import (
    EMPTY,
    ERROR_AS_TEXT,
    FILTERED,
    HTML,
    JSON_LIST,
    NO_CHOICES,
    NO_USAGE,
    NOT_JSON,
    REFUSED,
    REFUSES_IN_WORDS,
    SILENT,
    TOOL_CALL,
    WRONG_TYPE,
    Behaviour,
    count,
    echo,
    says,
)
from tests.fake_server import FakeServer

TEXT = 'I push the door open. "Good evening," I say.'
ROUTES = ["openai/fake", "ollama_chat/fake", "hosted_vllm/fake", "lm_studio/fake"]


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    forget_keys(monkeypatch)


@pytest.fixture
async def server() -> AsyncIterator[FakeServer]:
    async with FakeServer(models=("fake",)) as running:
        yield running


@pytest.mark.parametrize("model", ROUTES)
async def test_prose_is_heard_as_it_comes_and_counted(server: FakeServer, model: str, capfd: pytest.CaptureFixture[str]) -> None:
    server.behave(says(TEXT))
    heard: list[str | None] = []
    completion = await remote(server, model).complete(request(), heard.append)
    assert completion.text == TEXT == "".join(piece or "" for piece in heard)
    assert len(heard) > 5
    assert (completion.model, completion.cut, completion.cost, completion.added) == (model, False, 0.0, "")
    [received] = server.requests
    assert completion.usage == Usage(prompt_tokens=received.prompt_tokens, reply_tokens=count(TEXT))
    assert received.text == f"You are Mira.\n\n{PROMPT}"
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("model", ROUTES)
async def test_prose_that_nobody_listens_to_is_the_same(server: FakeServer, model: str) -> None:
    server.behave(says(TEXT))
    assert (await remote(server, model).complete(request())).text == TEXT


async def test_what_is_asked_for_arrives(server: FakeServer) -> None:
    model = remote(server, temperature=0.4)
    await model.complete(request(max_tokens=123))
    await model.complete(request(temperature=1.1, attempt=1))
    first, second = (received.body for received in server.requests)
    assert (first["model"], first["max_tokens"], first["temperature"], first["stream"]) == ("fake", 123, 0.4, True)
    assert second["temperature"] == 1.1
    assert first["seed"] != second["seed"]
    assert all(0 <= body["seed"] < 2**31 for body in (first, second))
    assert "response_format" not in first
    assert [message["role"] for message in first["messages"]] == ["system", "user"]


async def test_the_same_request_is_the_same_on_the_wire(server: FakeServer) -> None:
    for _ in range(2):
        await remote(server).complete(request())
    assert server.requests[0].body == server.requests[1].body


@pytest.mark.parametrize("told", [{"thoughts": "He may be armed. Careful."}, {"text": f"<think>He may be armed.</think>\n\n{TEXT}"}])
async def test_thoughts_are_neither_heard_nor_part_of_the_reply(server: FakeServer, told: dict[str, str]) -> None:
    server.behave(says(**{"text": TEXT, **told}))
    heard: list[str | None] = []
    model = remote(server)
    assert model.thinking == 0
    completion = await model.complete(request(), heard.append)
    assert completion.text == TEXT == "".join(piece or "" for piece in heard)
    assert model.thinking == 4096, "a model that was seen to think gets room for it"
    await model.complete(request(max_tokens=100))
    assert server.requests[1].body["max_tokens"] == 4196


async def test_thoughts_that_began_within_the_prompt_are_taken_back(server: FakeServer) -> None:
    server.behave(says(f"He may be armed.</think>{TEXT}"))
    heard: list[str | None] = []
    assert (await remote(server).complete(request(), heard.append)).text == TEXT
    taken_back = heard.index(None)
    assert taken_back > 0
    assert "".join(piece or "" for piece in heard[taken_back:]) == TEXT


async def test_thoughts_alone_are_no_reply_and_the_next_has_room(server: FakeServer) -> None:
    server.behave(Behaviour(text="", thoughts="Well, well, well", finish="length"))
    model = remote(server)
    with pytest.raises(ProviderError, match="thoughts only") as caught:
        await model.complete(request(max_tokens=50))
    assert caught.value.trouble == "bad_output"
    assert "`thinking`" in caught.value.advice
    await model.complete(request(max_tokens=50))
    assert [received.body["max_tokens"] for received in server.requests] == [50, 4146]


async def test_thoughts_get_no_more_than_there_is_room_for(server: FakeServer) -> None:
    model = remote(server, thinking=4096, context_window=2000)
    await model.complete(request(max_tokens=500))
    assert 1800 < server.requests[0].body["max_tokens"] < 2000
    await model.complete(request("word " * 3000, max_tokens=500))
    assert server.requests[1].body["max_tokens"] == 500, "the reply itself is never cut short"


async def test_a_reply_stopped_at_the_limit_is_cut(server: FakeServer) -> None:
    server.holds_to_max_tokens = True
    server.behave(says(TEXT))
    completion = await remote(server).complete(request(max_tokens=6))
    assert completion.cut
    assert completion.text == "I push the door open. "


async def test_without_a_count_of_the_provider_it_is_estimated(server: FakeServer) -> None:
    server.behave(NO_USAGE)
    completion = await remote(server).complete(request())
    assert completion.usage.estimated
    assert completion.usage.prompt_tokens == remote(server).count_tokens(f"You are Mira.\n\n{PROMPT}")
    assert completion.usage.reply_tokens >= 1
    assert completion.cost == 0.0


async def test_what_a_set_price_makes_of_it(server: FakeServer) -> None:
    server.behave(says(TEXT, usage=(1_000_000, 500_000)))
    model = remote(server, input_price=0.5, output_price=3.0)
    assert (await model.complete(request())).cost == 2.0
    assert model.cost_of(Usage(prompt_tokens=2_000_000, reply_tokens=0)) == 1.0


@pytest.mark.parametrize(("model", "behaviour", "trouble", "said"), [
    ("openai/fake", REFUSED, "bad_output", "replied with nothing"),  # litellm drops this field from streams
    ("openai/fake", FILTERED, "refused", "refused"),
    ("openai/fake", REFUSES_IN_WORDS, "refused", "I can't continue with this request"),
    ("openai/fake", EMPTY, "bad_output", "replied with nothing"),
    ("openai/fake", says(" \n"), "bad_output", "replied with nothing"),
    ("openai/fake", NO_CHOICES, "broken_off", "broke off"),
    ("hosted_vllm/fake", NO_CHOICES, "bad_output", "replied with nothing"),
    ("openai/fake", HTML, "bad_output", "replied with nothing"),
    ("openai/fake", NOT_JSON, "bad_output", "replied with nothing"),
    ("openai/fake", JSON_LIST, "bad_output", "replied with nothing"),
    ("openai/fake", WRONG_TYPE, "bad_output", "replied with nothing"),
    ("openai/fake", ERROR_AS_TEXT, "bad_output", "replied with an error"),
    ("openai/fake", says("<html><body>502 Bad Gateway</body></html>"), "bad_output", "replied with a web page"),
    ("openai/fake", TOOL_CALL, "bad_output", "replied with nothing"),
    ("openai/fake", says(TEXT, end_at=4), "broken_off", "in the middle of its reply"),
    ("ollama_chat/fake", says(TEXT, end_at=4), "broken_off", "in the middle of its reply"),
    ("hosted_vllm/fake", says(TEXT, end_at=4), "broken_off", "in the middle of its reply"),
    ("lm_studio/fake", says(TEXT, abort_at=4), "broken_off", "in the middle of its reply"),
    ("openai/fake", says(TEXT, abort_at=4), "broken_off", "in the middle of its reply"),
    ("ollama_chat/fake", says(TEXT, abort_at=4), "broken_off", "in the middle of its reply"),
    ("openai/fake", Behaviour(abort_at=-1), "unreachable", "cannot be reached"),
])
async def test_what_is_no_reply(
    server: FakeServer, model: str, behaviour: Behaviour, trouble: str, said: str, capfd: pytest.CaptureFixture[str]
) -> None:
    server.behave(behaviour)
    heard: list[str | None] = []
    with pytest.raises(ProviderError) as caught:
        await remote(server, model).complete(request(), heard.append)
    assert caught.value.trouble == trouble
    assert said in str(caught.value)
    assert caught.value.advice
    assert "litellm" not in str(caught.value).lower()
    assert len(server.requests) == 1, "one attempt, no hidden ones"
    assert capfd.readouterr() == ("", "")


async def test_a_reply_of_nothing_may_be_a_refusal(server: FakeServer) -> None:
    server.behave(REFUSED)
    with pytest.raises(ProviderError) as caught:
        await remote(server).complete(request())
    assert caught.value.advice.startswith("It may have refused the text: change that, see whether the server")


async def test_an_echo_is_a_reply(server: FakeServer) -> None:
    server.behave(echo)
    assert (await remote(server).complete(request())).text == f"You are Mira.\n\n{PROMPT}"


async def test_silence_before_the_first_word(server: FakeServer) -> None:
    server.behave(SILENT)
    with pytest.raises(ProviderError, match=r"did not answer within 0\.3 s") as caught:
        await remote(server, timeout=0.3).complete(request())
    assert caught.value.trouble == "timed_out"
    await server.until(lambda: server.requests[0].hung_up)


async def test_silence_in_the_middle(server: FakeServer) -> None:
    server.behave(says(TEXT, stall_at=3))
    heard: list[str | None] = []
    with pytest.raises(ProviderError, match=r"fell silent for 0\.3 s in the middle") as caught:
        await remote(server).complete(request(timeout=0.3), heard.append)
    assert caught.value.trouble == "timed_out"
    assert "".join(piece or "" for piece in heard) == "I push the "
    await server.until(lambda: server.requests[0].hung_up)


async def test_a_reply_may_take_longer_than_the_silence_allowed(server: FakeServer) -> None:
    server.behave(says("word " * 30, every=0.04))
    began = time.perf_counter()
    completion = await remote(server, timeout=0.6).complete(request())
    assert time.perf_counter() - began > 0.6
    assert completion.text.split() == ["word"] * 30


async def test_a_reply_without_end_is_ended(server: FakeServer) -> None:
    server.behave(says("word " * 5000, every=0.02))
    with pytest.raises(ProviderError, match="within 2 s") as caught:
        await remote(server, timeout=0.2).complete(request())
    assert caught.value.trouble == "timed_out"
    await server.until(lambda: server.requests[0].hung_up)


ENDLESS = " ".join(map(str, range(40_000)))


@pytest.mark.parametrize(
    "behaviour",
    [says(ENDLESS), says("", pieces=(" ",) * 40_000), says("So." * 9000, thoughts="hm " * 60_000, every=0.001)],
    ids=["words", "spaces", "thoughts"],
)
async def test_a_server_that_does_not_stop_is_hung_up_on(server: FakeServer, behaviour: Behaviour) -> None:
    server.behave(behaviour)
    heard: list[str | None] = []
    model, asked = remote(server, timeout=5.0, thinking=0), request(max_tokens=100)
    if behaviour.text == ENDLESS:
        completion = await model.complete(asked, heard.append)
        assert completion.cut
        assert completion.usage.estimated
        assert 100 * 4 < len(completion.text) < 100 * 8 + 2000
    else:  # nothing was said
        with pytest.raises(ProviderError) as caught:
            await model.complete(asked, heard.append)
        assert caught.value.trouble == "bad_output"
    assert sum(len(piece or "") for piece in heard) < 100 * 8 + 2000
    await server.until(lambda: server.requests[0].hung_up)


@pytest.mark.parametrize("usage", [(10**400, 3), (3, 10**400), (0, 40), (1, 1), (-5, -5)])
async def test_numbers_that_cannot_be_are_estimated(server: FakeServer, usage: tuple[int, int]) -> None:
    server.behave(says("He told of it at length. " * 40, usage=usage))
    model = remote(server)
    long = "It was a night of wind and rain. " * 60
    completion = await model.complete(request(long))
    assert completion.usage.estimated
    assert 300 < completion.usage.prompt_tokens < 3000
    assert 100 < completion.usage.reply_tokens < 1000


async def test_few_tokens_for_few_words_are_believed(server: FakeServer) -> None:
    server.behave(says("Yes.", usage=(3, 1)))
    assert (await remote(server).complete(request())).usage == Usage(prompt_tokens=3, reply_tokens=1)


async def test_thoughts_count_as_said(server: FakeServer) -> None:
    """A model that thought long counts them: its number is no lie, nor is it one when it does not."""
    server.behave(Behaviour(text="Yes.", thoughts="Should he? " * 100, usage=(300, 320)))
    assert (await remote(server).complete(request())).usage == Usage(prompt_tokens=300, reply_tokens=320)


LONG = "word " * 500


@pytest.mark.parametrize("model", ROUTES)
@pytest.mark.parametrize("behaviour", [SILENT, says(LONG, every=0.02), says(LONG, stall_at=0)], ids=["silent", "talking", "stalled"])
async def test_stopping_frees_the_server_for_the_next_call(server: FakeServer, model: str, behaviour: Behaviour) -> None:
    async with FakeServer(slots=1) as narrow:
        narrow.behave(behaviour)
        heard: list[str | None] = []
        work = asyncio.create_task(remote(narrow, model).complete(request(), heard.append))
        await narrow.until(lambda: bool(narrow.requests) and (behaviour.every == 0 or len(heard) > 3))
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
        count_then = len(heard)
        assert (await remote(narrow, model).complete(request())).text == "fine"
        assert narrow.requests[0].hung_up
        assert narrow.requests[0].reply_tokens < 400
        assert len(heard) == count_then, "nothing is heard after the end"
