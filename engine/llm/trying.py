"""One small live test of a model: whether it answers, how it can be made to reply with JSON, and what to do when it does not."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final, Protocol

from pydantic import Field

from engine.errors import BadOutputError, CapReachedError, ModelError, ProviderError, Trouble
from engine.llm.loopback import loopback
from engine.llm.model_names import plain_name
from engine.llm.protocol import Completion, LanguageModel, ModelRequest
from engine.llm.remote.providers import address_of, provider_of
from engine.llm.structured import read_reply
from engine.records.base import Record
from engine.records.models import EndpointView, Structured, TestReport
from engine.records.prompts import Message
from engine.settings.names import near

Offered = Callable[[], Awaitable[Sequence[str]]]
"""Gives the names of models that could be asked in place of an unknown one, as litellm has them."""

LIMIT: Final = 30.0
"""Seconds that all calls of a test may take together."""
_NEAR: Final = 60.0
"""Seconds for a model on this machine, which may have to be loaded first, or be at work."""
_FEW: Final = 40
"""Tokens of a reply."""
_NEXT: Final[Mapping[Structured, Structured]] = {"grammar": "object", "schema": "object", "object": "prompt"}
"""Which way to get JSON is tried when the reply in one was of no use: where a schema is ignored, another one is too."""
_WAYS: Final[Mapping[Structured, str]] = {
    "grammar": "held to a grammar", "schema": "by a schema", "object": "as an object, by the prompt", "prompt": "by the prompt alone",
}


class Modes(Protocol):
    """What a test asks of a model behind a provider or a server besides replies."""

    @property
    def structured(self) -> Structured:
        """How it is made to reply with JSON now."""
        ...

    def learn(self, *, structured: Structured) -> None:
        """Use another way from now on."""
        ...

    def key_state(self) -> tuple[str, tuple[str, ...]]:
        """Whether its key is `set`, `missing` or anything else, and the variables that may hold it."""
        ...

    async def ready(self) -> None:
        """Find out what can be known before the first call. Never fails."""
        ...


class Sign(Record):
    """The shape of the one structured reply."""

    word: str = Field(max_length=20)
    count: int = Field(ge=0, le=9)


def patience(view: EndpointView, otherwise: float = LIMIT) -> float:
    """Seconds that a test of an endpoint may take: of one on this machine a minute, or as long as it may be silent where that is less."""
    address = address_of(provider_of(view.model), view.api_base)
    if address is None or loopback(address) is None:
        return otherwise
    return min(_NEAR, _NEAR if view.timeout is None else view.timeout)


async def try_model(
    model: LanguageModel, name: str, modes: Modes | None, *, offered: Offered | None = None, limit: float = LIMIT,
    clock: Callable[[], float] = time.perf_counter,
) -> TestReport:
    """What a test of the endpoint `name` shows: a short call for prose and, when that worked, one or two for JSON. Never more than three,
    those not counted that a provider refuses for the way in which JSON is asked for: they cost nothing.

    `modes` is the model itself when it is behind a provider or a server; it keeps the way to get JSON that was found to work. One that
    is built in, with None, is not called: it always answers. `model` is asked as it is, so whatever waits and tries again should not
    stand around it. `limit` is in seconds and begins when the model is ready to be called. Raises nothing for a model that fails: the
    report says what is wrong and what to do.
    """
    if modes is None:
        return TestReport(name=name, ok=True, text="It is built in and always answers.", context_window=model.context_window, cost=0.0)
    await modes.ready()
    trial = _Trial(model, name, clock)
    try:
        async with asyncio.timeout(limit):
            await trial.ask("Say in one short sentence that you are ready.")
    except TimeoutError:
        return trial.failed(_late(model, limit), "timed_out")
    except CapReachedError as error:
        return trial.failed(str(error))
    except ModelError as error:
        return trial.failed(await _explained(error, model, modes, offered), error.trouble if isinstance(error, ProviderError) else None)
    seconds = trial.seconds
    answers = f"It answers in {seconds:.1f} s"
    try:
        async with asyncio.timeout(max(1.0, limit - seconds)):
            found, fault = await _way_to_json(trial, modes)
    except (TimeoutError, ModelError, CapReachedError) as error:
        why = f"no reply within {limit:g} s." if isinstance(error, TimeoutError) else str(error)
        return trial.worked(f"{answers}; whether with JSON as well could not be seen: {why}", seconds)
    if found is None:
        text = f"{answers}, but its JSON was of no use: {fault}. Many replies will have to be asked for twice; a larger model does better."
        return trial.worked(text, seconds)
    return trial.worked(f"{answers}, with JSON {_WAYS[found]}.", seconds, found)


class _Trial:
    """The calls of one test, added up."""

    def __init__(self, model: LanguageModel, name: str, clock: Callable[[], float]) -> None:
        self._model, self._name, self._clock, self._began = model, name, clock, clock()
        self._costs: list[float | None] = []

    @property
    def seconds(self) -> float:
        """Since the test began."""
        return self._clock() - self._began

    async def ask(self, text: str, shape: type[Record] | None = None, choices: Mapping[str, tuple[str, ...]] | None = None) -> Completion:
        """One call. Raises `ModelError`, `CapReachedError`."""
        request = ModelRequest(
            task="narrate", entity="test", round=0, seed=0, template="test", messages=(Message(role="user", content=text),), response=shape,
            choices=choices or {}, max_tokens=_FEW,
        )
        completion = await self._model.complete(request)
        self._costs.append(completion.cost)
        return completion

    def failed(self, text: str, trouble: Trouble | None = None) -> TestReport:
        """The model gave no reply."""
        return TestReport(
            name=self._name, ok=False, trouble=trouble, text=text, seconds=self.seconds, context_window=self._model.context_window,
        )

    def worked(self, text: str, seconds: float, structured: Structured | None = None) -> TestReport:
        """The model replied; `seconds` is how long its prose took."""
        known = [cost for cost in self._costs if cost is not None]
        return TestReport(
            name=self._name, ok=True, text=text, seconds=seconds, structured=structured, context_window=self._model.context_window,
            cost=sum(known) if len(known) == len(self._costs) else None,
        )


async def _way_to_json(trial: _Trial, modes: Modes) -> tuple[Structured | None, str]:
    """The way to get JSON that worked, of two, and what was wrong with the last reply. Raises `ModelError`, `CapReachedError`.

    Unless one worked, the model goes on as before.
    """
    first, found = modes.structured, None
    try:
        fault = await _fault_of_json(trial, modes)
        if fault and (lower := _NEXT.get(modes.structured)):
            modes.learn(structured=lower)
            fault = await _fault_of_json(trial, modes)
        found = None if fault else modes.structured
    finally:
        modes.learn(structured=found or first)
    return found, fault


async def _fault_of_json(trial: _Trial, modes: Modes) -> str:
    """What is wrong with a reply in JSON; empty when nothing is.

    The prompt leads away from what a grammar allows: an engine that holds to it replies with one of the words allowed nonetheless, and
    one that takes it and ignores it is found out. Raises `ModelError` and `CapReachedError` for what tells nothing of JSON.
    """
    allowed = ("lantern", "anchor")
    prompt = 'A sailor wrote the word "harbour" three times. Reply with one line of JSON and nothing else: {"word": "harbour", "count": 3}'
    try:
        completion = await trial.ask(prompt, Sign, {"word": allowed})
        found = read_reply(completion.text, Sign)
    except BadOutputError as error:
        return str(error).rstrip(".")
    except ProviderError as error:
        if error.trouble not in ("bad_request", "bad_output"):
            raise
        return str(error.args[0]).rstrip(".")
    loose = modes.structured == "grammar" and found.word not in allowed  # looked at after the call, which may have taken another way
    return "it was not held to the grammar" if loose else ""


def _late(model: LanguageModel, limit: float) -> str:
    return (
        f"{model.name} did not answer within {limit:g} s. Try again: a server on this machine may still be loading it. Or choose another "
        "model."
    )


async def _explained(error: ModelError, model: LanguageModel, modes: Modes, offered: Offered | None) -> str:
    trouble = error.trouble if isinstance(error, ProviderError) else None
    if trouble == "no_key":
        state, names = modes.key_state()
        if state == "set" and names:
            return (
                f"The key in {' or '.join(names)} was rejected for {model.name}. Set it to a valid one in the shell that Otherminds is "
                "started from, or choose another model."
            )
    if trouble == "unknown_model" and offered is not None:
        known = {plain_name(each): each for each in await offered()}
        meant = [known[each] for each in near(plain_name(model.name), known, most=3)]
        if meant:
            return f"{error} Did you mean {' or '.join(meant)}?"
        if known and len(known) <= 5:
            return f"{error} There are {', '.join(known.values())}."
    return str(error)
