"""One small live test of a model: what it finds out, what it says, and that it stays small."""

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pytest

from engine.errors import CapReachedError, ProviderError, Trouble
from engine.llm.offers import offered_instead
from engine.llm.protocol import Completion, Heard, ModelRequest, Usage
from engine.llm.remote.bridge import LitellmBridge
from engine.llm.remote.model import RemoteModel
from engine.llm.storyteller import Storyteller
from engine.llm.trying import patience, try_model
from engine.records.models import EndpointView, Structured, TestReport
from engine.settings import EndpointSettings
from tests.fake_behaviour import BAD_SCHEMA, DOWN, EMPTY, HTML, RATE_LIMITED, REFUSES_IN_WORDS, UNKNOWN_MODEL, WRONG_KEY, Behaviour, says
from tests.fake_server import FakeServer

Reply = str | Exception
LED_ASTRAY = '{"word": "harbour", "count": 3}'
HELD = '{"word": "anchor", "count": 3}'


class Model:
    """A model behind a provider, as a test sees one: `replies` has what it does by the way it is asked, `prose` for none."""

    def __init__(self, way: Structured, cost: float | None = 0.001, **replies: Reply) -> None:
        self.structured: Structured = way
        self.cost = cost
        self.replies = {"prose": "I am ready.", **replies}
        self.requests: list[ModelRequest] = []
        self.ways: list[str] = []
        self.key: tuple[str, tuple[str, ...]] = ("set", ("SOME_API_KEY",))
        self.prepared = False
        self.delay: Callable[[], float] = lambda: 0.0

    name = "some/model-7b"
    context_window = 4096
    small = False

    def count_tokens(self, text: str) -> int:
        return len(text) // 4

    def learn(self, *, structured: Structured) -> None:
        self.structured = structured

    def key_state(self) -> tuple[str, tuple[str, ...]]:
        return self.key

    async def ready(self) -> None:
        self.prepared = True

    async def complete(self, request: ModelRequest, heard: Heard | None = None) -> Completion:
        assert self.prepared
        self.requests.append(request)
        self.ways.append(self.structured if request.response else "prose")
        await asyncio.sleep(self.delay())
        reply = self.replies[self.ways[-1]]
        if isinstance(reply, Exception):
            raise reply
        return Completion(text=reply, model=self.name, usage=Usage(prompt_tokens=20, reply_tokens=9), cost=self.cost)


def trouble(kind: Trouble, text: str = "Something is wrong.", advice: str = "Do this.") -> ProviderError:
    return ProviderError(text, advice, trouble=kind)


@pytest.mark.parametrize(
    ("model", "ways", "found"),
    [
        (Model("grammar", grammar=HELD), ["prose", "grammar"], "grammar"),
        (Model("grammar", grammar=LED_ASTRAY, object=LED_ASTRAY), ["prose", "grammar", "object"], "object"),
        (Model("grammar", grammar=trouble("bad_request"), object=f"Here: {LED_ASTRAY}"), ["prose", "grammar", "object"], "object"),
        (Model("schema", schema=LED_ASTRAY), ["prose", "schema"], "schema"),
        (Model("schema", schema="Of course!", object=trouble("bad_request")), ["prose", "schema", "object"], None),
        (Model("object", object='{"wort": 3}', prompt=LED_ASTRAY), ["prose", "object", "prompt"], "prompt"),
        (Model("prompt", prompt=LED_ASTRAY), ["prose", "prompt"], "prompt"),
        (Model("prompt", prompt='{"word": "har'), ["prose", "prompt"], None),
    ],
    ids=["grammar", "grammar ignored", "grammar refused", "schema", "none works", "object ignored", "prompt", "prompt cut"],
)
async def test_the_way_to_json_is_found_in_three_calls_at_most(model: Model, ways: list[str], found: Structured | None) -> None:
    first = model.structured
    report = await try_model(model, "mine", model)
    assert (report.name, report.ok, report.trouble, report.structured) == ("mine", True, None, found)
    assert model.ways == ways
    assert model.structured == (found or first)
    assert report.context_window == 4096
    assert report.cost == pytest.approx(0.001 * sum(not isinstance(model.replies[way], Exception) for way in ways))
    assert "answers in" in report.text
    assert ("of no use" in report.text) == (found is None)


async def test_the_calls_are_small_and_say_nothing_of_a_story() -> None:
    model = Model("grammar", grammar=HELD)
    await try_model(model, "mine", model)
    assert all(request.max_tokens <= 40 for request in model.requests)
    assert sum(len(request.text) for request in model.requests) < 300
    prose, structured = model.requests
    assert prose.response is None
    assert structured.response is not None
    assert "harbour" not in structured.choices["word"]


async def test_a_price_that_is_unknown_is_not_nothing() -> None:
    assert (await try_model(model := Model("prompt", cost=None, prompt=LED_ASTRAY), "mine", model)).cost is None
    assert (await try_model(model := Model("prompt", cost=0.0, prompt=LED_ASTRAY), "mine", model)).cost == 0.0


@pytest.mark.parametrize("kind", ["unreachable", "rate_limited", "overloaded", "refused", "bad_output", "too_long", "bad_request"])
async def test_a_model_that_fails_is_asked_once_and_its_error_is_told(kind: Trouble) -> None:
    model = Model("schema", prose=trouble(kind, "It is so.", "Do that."))
    report = await try_model(model, "mine", model)
    assert (report.ok, report.trouble, report.text, report.structured) == (False, kind, "It is so. Do that.", None)
    assert model.ways == ["prose"]
    assert model.structured == "schema"


async def test_a_key_that_was_rejected_is_told_from_one_that_is_missing() -> None:
    model = Model("schema", prose=trouble("no_key", "The key is missing or was rejected: sk-wro****.", "Set it."))
    report = await try_model(model, "mine", model)
    assert "SOME_API_KEY was rejected for some/model-7b" in report.text
    assert "sk-wro" not in report.text
    model = Model("schema", prose=trouble("no_key", "There is no key for some/model-7b.", "Set SOME_API_KEY in the environment."))
    model.key = ("missing", ("SOME_API_KEY",))
    assert (await try_model(model, "mine", model)).text == "There is no key for some/model-7b. Set SOME_API_KEY in the environment."


@pytest.mark.parametrize(
    ("offered", "told"),
    [
        (["some/model-8b", "some/model-7", "some/quite-another"], "Did you mean some/model-7 or some/model-8b?"),
        (["some/quite-another"], "There are some/quite-another."),
        ([f"some/thing-{number}" for number in range(40)], "Choose."),
        ([], "Choose."),
    ],
)
async def test_an_unknown_model_is_told_with_names_that_are_near(offered: Sequence[str], told: str) -> None:
    async def names() -> Sequence[str]:
        return offered

    model = Model("schema", prose=trouble("unknown_model", "It is unknown.", "Choose."))
    report = await try_model(model, "mine", model, offered=names)
    assert report.text.startswith("It is unknown. Choose.")
    assert report.text.endswith(told)


async def test_a_cap_that_would_be_passed_is_told() -> None:
    model = Model("schema", prose=CapReachedError("The cap would be passed.", "Raise it.", cap="run_tokens"))
    report = await try_model(model, "mine", model)
    assert (report.ok, report.trouble, report.text) == (False, None, "The cap would be passed. Raise it.")


async def test_a_silent_model_is_given_up_in_time() -> None:
    model = Model("schema")
    model.delay = lambda: 3600.0
    report = await try_model(model, "mine", model, limit=0.05)
    assert (report.ok, report.trouble) == (False, "timed_out")
    assert "within 0.05 s" in report.text
    assert model.ways == ["prose"]


@pytest.mark.parametrize("kind", ["rate_limited", "timed_out"])
async def test_trouble_on_the_way_to_json_leaves_it_open(kind: Trouble) -> None:
    model = Model("grammar", grammar=trouble(kind, "Not now.", "Wait."))
    report = await try_model(model, "mine", model)
    assert (report.ok, report.structured, model.structured, model.ways) == (True, None, "grammar", ["prose", "grammar"])
    assert report.text.endswith("could not be seen: Not now. Wait.")
    assert report.cost == pytest.approx(0.001)


async def test_a_test_that_is_given_up_leaves_the_model_as_it_was() -> None:
    model = Model("grammar", grammar=LED_ASTRAY, object=LED_ASTRAY)
    model.delay = lambda: 3600.0 if model.structured == "object" else 0.0
    task = asyncio.create_task(try_model(model, "mine", model))
    while model.ways[-1:] != ["object"]:  # noqa: ASYNC110 - nothing tells of it
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert model.structured == "grammar"


async def test_the_storyteller_is_not_asked() -> None:
    report = await try_model(Storyteller(), "storyteller", None)
    assert (report.ok, report.cost, report.context_window) == (True, 0.0, 8192)
    assert json.loads(report.model_dump_json())["name"] == "storyteller"


@pytest.fixture
def bridge() -> Iterator[LitellmBridge]:
    made = LitellmBridge()
    yield made
    made.close()


def json_if_asked(text: str) -> Callable[[Mapping[str, Any]], Behaviour]:
    return lambda body: says(text if "JSON" in str(body["messages"]) else "I am ready.")


async def tried(server: FakeServer, bridge: LitellmBridge, model: str = "openai/some-model") -> TestReport:
    """A test of a model of the server's, called as it is without a meter."""
    endpoint = EndpointSettings(model=model, api_base=server.base)
    remote = RemoteModel(bridge, "mine", endpoint)
    return await try_model(remote, "mine", remote, offered=lambda: offered_instead(endpoint, bridge))


async def test_a_server_that_holds_to_the_grammar_is_seen_to(bridge: LitellmBridge) -> None:
    async with FakeServer(window=4096) as server:
        server.behave(json_if_asked(HELD))
        report = await tried(server, bridge)
        assert (report.ok, report.structured, report.cost, len(server.requests)) == (True, "grammar", 0.0, 2)
        wanted = server.requests[1].body["response_format"]["json_schema"]["schema"]
        assert wanted["properties"]["word"]["enum"] == ["lantern", "anchor"]


async def test_a_server_that_takes_a_schema_and_ignores_it_is_seen_through(bridge: LitellmBridge) -> None:
    async with FakeServer() as server:
        server.behave(json_if_asked(LED_ASTRAY))
        report = await tried(server, bridge)
        assert (report.ok, report.structured, len(server.requests)) == (True, "object", 3)


async def test_a_server_that_refuses_schemas_is_asked_in_another_way(bridge: LitellmBridge) -> None:
    async with FakeServer() as server:
        server.behave(
            lambda body: BAD_SCHEMA if body.get("response_format", {}).get("type") == "json_schema" else json_if_asked(LED_ASTRAY)(body)
        )
        report = await tried(server, bridge)
        assert (report.ok, report.structured) == (True, "object")
        assert len([request for request in server.requests if request.reply_tokens]) == 2


@pytest.mark.parametrize(
    ("behaviour", "trouble", "words"),
    [
        (WRONG_KEY, "no_key", "key"), (RATE_LIMITED, "rate_limited", "Wait"), (DOWN, "overloaded", "Try again"),
        (UNKNOWN_MODEL, "unknown_model", "Did you mean openai/some-mode?"), (EMPTY, "bad_output", "choose another model"),
        (REFUSES_IN_WORDS, "refused", "choose another model"), (HTML, "bad_output", "choose another model"),
    ],
)
async def test_what_is_wrong_is_said_after_one_call(bridge: LitellmBridge, behaviour: Behaviour, trouble: Trouble, words: str) -> None:
    async with FakeServer(models=("some-mode", "other")) as server:
        server.behave(behaviour, says("never"))
        report = await tried(server, bridge)
        assert (report.ok, report.trouble, len(server.requests)) == (False, trouble, 1)
    assert words in report.text
    assert "sk-wrong" not in report.text


async def test_a_host_that_is_down_is_said_at_once(bridge: LitellmBridge) -> None:
    async with FakeServer() as server:
        pass
    report = await tried(server, bridge)
    assert (report.ok, report.trouble) == (False, "unreachable")
    assert server.base in report.text


async def test_a_model_that_its_provider_never_had_is_told_with_some_that_it_has(bridge: LitellmBridge) -> None:
    offered = await offered_instead(EndpointSettings(model="openai/gpt5-mini"), bridge)
    assert "openai/gpt-5-mini" in offered
    assert not [name for name in offered if "embedding" in name]
    model = Model("schema", prose=trouble("unknown_model", "It is unknown.", "Choose."))
    model.name = "openai/gpt5-mini"

    async def names() -> Sequence[str]:
        return offered

    assert "openai/gpt-5-mini" in (await try_model(model, "mine", model, offered=names)).text


@pytest.mark.parametrize(("model", "api_base", "timeout", "seconds"), [
    ("openai/gpt-5-mini", None, 60.0, 20.0), ("openai/x", "https://models.example/v1", 300.0, 20.0),
    ("openai/x", "http://127.0.0.1:8080/v1", 300.0, 60.0), ("openai/x", "http://localhost:8080/v1", 12.0, 12.0),
    ("ollama_chat/llama3.2", None, None, 60.0), ("storyteller", None, None, 20.0),
])
def test_a_model_on_this_machine_is_given_time_to_load(model: str, api_base: str | None, timeout: float | None, seconds: float) -> None:
    view = EndpointView(name="x", model=model, api_base=api_base, context_window=4096, window_from="guess", timeout=timeout)
    assert patience(view, 20.0) == seconds
