"""Any language model that litellm reaches: a provider's, or one on a server of one's own."""

from contextlib import AbstractAsyncContextManager
from typing import Literal, NamedTuple

from engine.llm.protocol import Completion, Heard, ModelRequest, Usage
from engine.llm.remote.bridge import LitellmBridge
from engine.records.models import Structured
from engine.settings import EndpointSettings

KeyState = Literal["none needed", "set", "missing", "unknown"]
WindowFrom = Literal["settings", "server", "package", "guess"]


class Price(NamedTuple):
    """US dollars a million tokens."""

    prompt: float
    reply: float


class RemoteModel:
    """One endpoint. A `LanguageModel`: one attempt a call, told of in one error for people; who waits, tries again, counts
    and falls back stands around it."""

    def __init__(
        self, bridge: LitellmBridge, label: str, endpoint: EndpointSettings, gate: AbstractAsyncContextManager[object] | None = None
    ) -> None:
        """`label` is what settings call it, `endpoint` what `Settings.resolved(label)` gives.

        `gate` is entered for each call and left after it, so that only so many are under way: an `asyncio.Semaphore`, shared by the
        models of one provider. Time limits begin within it.
        """
        self.label = label
        self.endpoint = endpoint
        self._bridge = bridge
        self._gate = gate

    @property
    def name(self) -> str:
        """litellm's name of it."""
        raise NotImplementedError

    @property
    def context_window(self) -> int:
        """Tokens that prompt and reply may fill together. Settled by `ready`; smaller after the provider has said so."""
        raise NotImplementedError

    @property
    def window_from(self) -> WindowFrom:
        """Where the window is known from."""
        raise NotImplementedError

    @property
    def small(self) -> bool:
        """As set, else by the number of parameters in its name, or that the server tells: small below 4 billion."""
        raise NotImplementedError

    @property
    def structured(self) -> Structured:
        """How it is made to reply with JSON now: as set, or by the provider, or what was found to work in this run."""
        raise NotImplementedError

    @property
    def thinking(self) -> int:
        """Tokens allowed on top of a request's `max_tokens`. Settled by `ready`."""
        raise NotImplementedError

    @property
    def price(self) -> Price | None:
        """None when unknown. Settled by `ready`; known before where it is set or the server is one's own."""
        raise NotImplementedError

    def cost_of(self, usage: Usage) -> float | None:
        """US dollars for tokens at `price`."""
        raise NotImplementedError

    def count_tokens(self, text: str) -> int:
        """Estimated on the high side; higher from then on when the provider is seen to count more."""
        raise NotImplementedError

    def key_state(self) -> tuple[KeyState, tuple[str, ...]]:
        """Whether the key is there, and the variables that may hold it. `unknown` for rare providers before `ready`."""
        raise NotImplementedError

    def learn(self, *, structured: Structured) -> None:
        """Use another way to get JSON for the rest of the run, as a test found it."""
        raise NotImplementedError

    async def ready(self) -> None:
        """Find out window, price and thinking; a server is asked two seconds at most, and again next time when it was away. Never fails."""
        raise NotImplementedError

    async def complete(self, request: ModelRequest, heard: Heard | None = None) -> Completion:
        """The reply, in one attempt. Raises `ProviderError`; what was heard before it is void.

        A reply that breaks off is `broken_off`, an empty one or an error page `bad_output`, a refusal `refused`. `too_long` has
        made `context_window` smaller or `count_tokens` higher.
        """
        raise NotImplementedError
