"""What is known and said of models: calls made, money and tokens spent, caps, forecasts, how a task is routed, what a test found."""

from typing import Literal

from pydantic import Field

from engine.errors import Trouble
from engine.records.base import EntityId, Record
from engine.records.prompts import Message, Task

Structured = Literal["grammar", "schema", "object", "prompt"]
"""How a model is made to reply with JSON. `grammar`: a closed schema with enums and bounds, which the engine enforces token by token;
`schema`: a flat schema without bounds; `object`: any JSON object, the schema stands in the prompt; `prompt`: the prompt alone."""
CapName = Literal["run_tokens", "run_money", "day_tokens", "day_money"]


class Call(Record):
    """One call that reached a model, whatever became of it."""

    task: Task
    entity: EntityId
    round: int
    model: str
    """litellm's name of it, or `storyteller`."""
    prompt_tokens: int = Field(ge=0)
    reply_tokens: int = Field(ge=0)
    estimated: bool = False
    """The provider said nothing of tokens: they are estimates."""
    cost: float | None = None
    """US dollars. None when the price is unknown."""
    seconds: float = 0.0
    """Wall-clock time from asking to the last word."""
    failed: str = ""
    """What went wrong, for people; empty for a reply."""


class CallView(Record):
    """One attempt at one model, as it stands: what is sent, to whom, and what has come of it."""

    key: int
    """Tells it from all others of this run."""
    state: Literal["held", "waiting", "sent", "replied", "failed"]
    """`held`: nothing goes out before a person says so. `waiting`: for a place at its provider. `sent`: the model has it. The last two
    end it."""
    task: Task
    entity: EntityId
    """On whose behalf."""
    round: int
    model: str
    """litellm's name of it, or `storyteller`."""
    template: str = ""
    """Name and version of the template that the text was made from."""
    messages: tuple[Message, ...]
    """As they are sent, to the letter."""
    shape: str = ""
    """The shape of the reply as it is sent beside the messages, as JSON. Empty for prose, and where the messages say it."""
    prompt_tokens: int = Field(default=0, ge=0)
    """Of a held call: what the prompt takes, counted or estimated."""
    most_tokens: int = Field(default=0, ge=0)
    """Of a held call: what prompt and reply may take at most."""
    most_cost: float | None = None
    """Of a held call: US dollars it may cost at most; None when the price is unknown."""
    reply: str = ""
    failed: str = ""
    """What went wrong, for people."""

    @property
    def over(self) -> bool:
        """Whether nothing more comes of it."""
        return self.state in ("replied", "failed")


class Speaking(Record):
    """Who answers a task now."""

    model: str
    """litellm's name of it, or `storyteller`."""
    away: str = ""
    """The first in line, when another answers instead of it; empty when it is the first that does."""


class Spent(Record):
    """What calls have taken, added up."""

    calls: int = Field(default=0, ge=0)
    failed: int = Field(default=0, ge=0)
    """How many of the calls gave no reply."""
    prompt_tokens: int = Field(default=0, ge=0)
    reply_tokens: int = Field(default=0, ge=0)
    estimated: int = Field(default=0, ge=0)
    """Calls whose tokens are estimates."""
    cost: float = Field(default=0.0, ge=0)
    """US dollars of the calls whose price is known."""
    unpriced: int = Field(default=0, ge=0)
    """Calls whose price is unknown: then `cost` is not all of it."""
    seconds: float = Field(default=0.0, ge=0)

    @property
    def tokens(self) -> int:
        """Of prompts and replies together."""
        return self.prompt_tokens + self.reply_tokens

    @classmethod
    def of(cls, call: Call) -> "Spent":
        """What one call took."""
        return cls(
            calls=1, failed=int(bool(call.failed)), prompt_tokens=call.prompt_tokens, reply_tokens=call.reply_tokens,
            estimated=int(call.estimated), cost=call.cost or 0.0, unpriced=int(call.cost is None), seconds=call.seconds,
        )

    def __add__(self, other: "Spent") -> "Spent":
        return Spent(**{name: getattr(self, name) + getattr(other, name) for name in type(self).model_fields})


class CapState(Record):
    """A cap and how far it is used up."""

    cap: CapName
    limit: float
    """Tokens, or US dollars."""
    used: float

    @property
    def share(self) -> float:
        """0 to 1, and above when it was lowered meanwhile."""
        return self.used / self.limit if self.limit > 0 else 1.0


class Forecast(Record):
    """What the next round may take."""

    calls: float
    prompt_tokens: float
    reply_tokens: float
    cost: float | None
    """US dollars; None when a price is unknown."""
    seconds: float | None
    """None while nobody knows how fast the models are."""
    basis: str
    """What it was reckoned from, for people: `as the last 5 rounds`, `no round was played yet: 3 prompts of now`."""
    stops: CapName | None = None
    """The cap that would stop it, if any."""


class EndpointView(Record):
    """One model as it is set up, for people."""

    name: str
    """What settings call it."""
    model: str
    """litellm's name of it, or `storyteller`."""
    api_base: str | None = None
    context_window: int
    window_from: Literal["settings", "server", "package", "guess", "built in"]
    """Where the window is known from."""
    structured: Structured | None = None
    """None for the storyteller."""
    small: bool = False
    temperature: float | None = None
    timeout: float | None = None
    concurrency: int | None = None
    input_price: float | None = None
    """US dollars per million tokens; None when unknown."""
    output_price: float | None = None
    key: Literal["none needed", "set", "missing", "unknown"] = "unknown"
    key_names: tuple[str, ...] = ()
    """Variables of the environment that hold the key."""
    note: str = ""
    """What has been found out about it in this run: `rests until 12:04: rate limited`."""


class RouteView(Record):
    """Which models answer a task, the first that can."""

    task: Task
    endpoints: tuple[EndpointView, ...]
    set_by: Literal["environment", "settings", "world", "default", "built in"]
    """Who chose the first of them."""


class Suggestion(Record):
    """A model that a world suggests."""

    task: Task | Literal["default"]
    endpoint: EndpointView
    by_leave: bool
    """Whether `models.hints = true` is enough for it to answer: nothing else is set."""


class Proposal(Record):
    """All that a world suggests and settings do not say already, with what it would cost."""

    suggestions: tuple[Suggestion, ...]
    forecast: Forecast | None
    """Of the next round with these models; None without a game."""


class Usage(Record):
    """What calls to providers and servers have taken beyond this sitting."""

    today: Spent
    """Of all runs on this machine."""
    save: Spent | None
    """Of the open save, in all its sittings on this machine; None without one."""


class LocalServer(Record):
    """A model server found on this machine."""

    kind: Literal["ollama", "llama.cpp", "lm_studio", "vllm", "openai-compatible", "busy"]
    """`busy`: it takes connections and says nothing, so that nobody knows what it is."""
    api_base: str
    models: tuple[str, ...]
    """litellm's names of the models it offers, ready to be used with `api_base`. Empty when it does not tell them without a key."""
    context_window: int | None = None
    """None when it differs by model, or nobody knows."""
    key_env: str | None = None
    """The variable of the environment for its key, when it wants one."""
    note: str = ""
    """What else people should know of it: that it wants a key, that it is not ready."""


class TestReport(Record):
    """What one small live call to a model showed."""

    __test__ = False  # no test case, whatever a test runner thinks

    name: str
    ok: bool
    trouble: Trouble | None = None
    text: str
    """For people, with what to do next when it failed."""
    seconds: float = 0.0
    structured: Structured | None = None
    """The best way that was seen to work."""
    context_window: int | None = None
    cost: float | None = None
