"""Any language model that litellm reaches: a provider's, or one on a server of one's own."""

import asyncio
import contextlib
import json
import os
from typing import Final, Literal

from engine.errors import ModelError, ProviderError
from engine.llm.model_names import SMALL, billions, plain_name
from engine.llm.protocol import Completion, Heard, ModelRequest, Usage
from engine.llm.refusals import no_reply, refuses
from engine.llm.remote.asking import NEXT_WAY, Sent, call_of, sent_for
from engine.llm.remote.bridge import LitellmBridge
from engine.llm.remote.counting import Counted, counted
from engine.llm.remote.faults import Origin, bad_output, refused
from engine.llm.remote.keys import keys_for, missing_keys
from engine.llm.remote.knowing import Known, known_of
from engine.llm.remote.library import Litellm
from engine.llm.remote.measures import Measures, WindowFrom
from engine.llm.remote.pricing import Price
from engine.llm.remote.providers import address_of, is_near, is_providers_own, is_server, key_names, provider_of, usual_way
from engine.llm.remote.replies import Reply, streamed, whole
from engine.llm.remote.veil import keys_in
from engine.records.models import Structured
from engine.records.prompts import Message
from engine.settings import EndpointSettings

KeyState = Literal["none needed", "set", "missing", "unknown"]

_THINKING: Final = 4096
"""Tokens for thoughts, where nothing else is set."""
_SILENCE, _SLOW = 60.0, 300.0
"""Seconds that a model may be silent: elsewhere, and on one's own machine, where a processor alone reads a long prompt for minutes."""
_OVERALL: Final = 10
"""A reply may take so many times as long as the model may be silent."""
_LETTERS, _SPARE = 8, 1024
"""Characters of thoughts and reply for each token allowed, and on top of all, from which a server that does not stop is hung up on."""
_ASKING: Final = 6.0
"""Seconds to find out about a model, the server's two among them."""
_ASK_AGAIN: Final = 3
"""How often a server that was away is asked about itself."""
_FREE: Final = Price(0.0, 0.0)
_OLLAMA: Final = ("ollama", "ollama_chat")


class RemoteModel:
    """One endpoint. A `LanguageModel`: one attempt a call, told of in one error for people; who waits, tries again, counts
    and falls back stands around it."""

    def __init__(self, bridge: LitellmBridge, label: str, endpoint: EndpointSettings) -> None:
        """`label` is what settings call it, `endpoint` what `Settings.resolved(label)` gives."""
        self.label = label
        self.endpoint = endpoint
        self._bridge = bridge
        self._settle(Known(provider_of(endpoint.model)))
        self._measures = Measures(endpoint.context_window)
        self._asking, self._asked, self._settled = asyncio.Lock(), 0, False
        self._thought = False
        self._way: Structured | None = endpoint.structured
        self._missing: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """litellm's name of it."""
        return self.endpoint.model

    @property
    def context_window(self) -> int:
        """Tokens that prompt and reply may fill together. Settled by `ready`; smaller after the provider has said so."""
        return self._measures.window

    @property
    def window_from(self) -> WindowFrom:
        """Where the window is known from."""
        return self._measures.source

    @property
    def small(self) -> bool:
        """As set, else by the number of parameters in its name, or that the server tells: small below 4 billion."""
        if self.endpoint.small is not None:
            return self.endpoint.small
        size = self._known.billions or billions(plain_name(self.name))
        return size is not None and size < SMALL

    @property
    def structured(self) -> Structured:
        """How it is made to reply with JSON now: as set, or by the provider, or what was found to work in this run."""
        return self._way or usual_way(self._known.provider, self._near)

    @property
    def thinking(self) -> int:
        """Tokens allowed on top of a request's `max_tokens`. Settled by `ready`, or by the first thoughts that are seen."""
        if self.endpoint.thinking is not None:
            return self.endpoint.thinking
        return _THINKING if self._known.thinks or self._thought else 0

    @property
    def loaded(self) -> bool:
        """Whether litellm is there: a call does not wait for its import."""
        return self._bridge.loaded

    @property
    def price(self) -> Price | None:
        """None when unknown. Settled by `ready`; known before where it is set or the server is one's own."""
        if self.endpoint.input_price is not None or self.endpoint.output_price is not None:
            return Price(self.endpoint.input_price or 0.0, self.endpoint.output_price or 0.0)
        return _FREE if self._near else self._known.listed.price

    @property
    def timeout(self) -> float:
        """Seconds that it may be silent, where a request does not say."""
        if self.endpoint.timeout is not None:
            return self.endpoint.timeout
        return _SLOW if self._address is not None and is_near(self._address) else _SILENCE

    def cost_of(self, usage: Usage) -> float | None:
        """US dollars for tokens at `price`."""
        price = self.price
        return price.of(usage.prompt_tokens, usage.reply_tokens) if price is not None else None

    def count_tokens(self, text: str) -> int:
        """Estimated on the high side; higher from then on when the provider is seen to count more."""
        return self._measures.count(text)

    def key_state(self) -> tuple[KeyState, tuple[str, ...]]:
        """Whether the key is there, and the variables that may hold it. `unknown` for rare providers before `ready`."""
        names = self._key_names or self._missing
        if any(os.environ.get(name, "").strip() for name in names):
            return "set", names
        if self._address is not None and self.endpoint.key_env is None:
            return "none needed", ()
        return "missing" if names else "unknown", names

    def learn(self, *, structured: Structured) -> None:
        """Use another way to get JSON for the rest of the run, as a test found it."""
        self._way = structured

    async def ready(self) -> None:
        """Find out window, price and thinking; a server is asked two seconds at most, and again next time when it was away. Never fails."""
        async with self._asking:
            if self._settled or self._asked >= _ASK_AGAIN:
                return
            self._asked += 1
            try:
                known, missing = await self._bridge.call(self._find_out, self._origin, _ASKING)
            except ModelError:
                return
            self._settled, self._missing = known.answered, missing
            self._settle(known)
            if known.window is not None:
                self._measures.settle(known.window, "server")
            elif known.listed.window is not None:
                self._measures.settle(known.listed.window, "package")

    async def complete(self, request: ModelRequest, heard: Heard | None = None) -> Completion:
        """The reply, in one attempt. Raises `ProviderError`; what was heard before it is void.

        A reply that breaks off is `broken_off`, an empty one or an error page `bad_output`, a refusal `refused`. `too_long` has
        made `context_window` smaller or `count_tokens` higher. When the provider does not take a way to get JSON it is asked at once in
        the next best, and so from then on if that is taken.
        """
        await self.ready()
        way = self.structured
        first: ProviderError | None = None
        while True:
            try:
                completion = await self._asked_once(request, way, heard)
            except ProviderError as error:
                if request.response is None or not self._may_be_the_way(error):
                    raise
                first, lower = first or error, NEXT_WAY.get(way)
                if lower is None:
                    raise first from error
                way = lower
                continue
            if first is not None:
                self._way = way
            return completion

    def sends(self, request: ModelRequest) -> tuple[tuple[Message, ...], str]:
        """What would go out for a request now: the messages to the letter, and the shape of the reply as JSON where it stands beside
        them."""
        sent = sent_for(request, self.structured, self._address is not None)
        return sent.messages, json.dumps(sent.response_format, ensure_ascii=False) if sent.response_format is not None else ""

    async def _asked_once(self, request: ModelRequest, way: Structured, heard: Heard | None) -> Completion:
        sent = sent_for(request, way, self._address is not None)
        ear = _Ear(heard)
        silence = request.timeout or self.timeout
        prose = request.response is None
        stream = prose or self._address is not None  # a server of one's own goes on with what nobody waits for unless it streams
        temperature = request.temperature if request.temperature is not None else self.endpoint.temperature
        room = self._room(request, sent)
        limit = _LETTERS * room + _SPARE
        call = call_of(request, sent, self.name, room, temperature, stream) | self._of_the_server()
        call["timeout"] = _OVERALL * silence + 1.0

        async def asked(litellm: Litellm) -> Reply:
            call.update(keys_for(litellm, self._origin, self.endpoint.key_env))
            reply = Reply(prose, keys_in(self._key_names or self._missing))
            if stream:
                await streamed(lambda: litellm.acompletion(**call), ear.say, reply, silence, self._origin, limit)
            else:
                await whole(lambda: litellm.acompletion(**call), reply, limit)
            return reply

        try:
            reply = await self._bridge.call(asked, self._origin, _OVERALL * silence if stream else silence)
        except ProviderError as error:
            if error.trouble == "too_long":
                outdated = self.count_tokens(request.text) + request.max_tokens > self.context_window
                self._measures.too_long(sent.read, str(error.__cause__), outdated=outdated)
            raise
        finally:
            ear.close()
        if heard is not None and not stream:
            heard(reply.text)
        try:
            return self._read(request, sent, reply)
        except ProviderError as error:
            usage = self._counted(sent, reply).usage
            error.counted = None if usage.estimated else (usage.prompt_tokens, usage.reply_tokens)
            raise

    def _read(self, request: ModelRequest, sent: Sent, reply: Reply) -> Completion:
        """The completion of a reply that is one. Raises `ProviderError`."""
        self._thought = self._thought or reply.thought
        text, cut = reply.text, reply.finish == "length"
        if reply.refusal or reply.finish == "content_filter":
            raise refused(self._origin, reply.refusal)
        if reply.thought and cut and not text.strip():
            advice = f"Allow it more than {self.thinking} tokens of them (`thinking`), or {self._origin.instead}."
            raise bad_output(self._origin, "thoughts only", advice)
        if fault := no_reply(text):
            raise bad_output(self._origin, fault)
        if request.response is None and refuses(text):
            raise refused(self._origin, text)
        usage, _, cached, cost = self._counted(sent, reply)
        if cost is None and self.price is not None:
            cost = self.price.of(usage.prompt_tokens, usage.reply_tokens, cached)
        return Completion(text=text, model=self.name, usage=usage, cut=cut, cost=cost, added=sent.added)

    def _counted(self, sent: Sent, reply: Reply) -> Counted:
        """Tokens as counted, and what the provider says that they cost, unless the price is set."""
        found = counted(reply.usage, sent.read, reply.all_said, self.count_tokens)
        if found.prompt:
            self._measures.counted(sent.read, found.prompt)
        priced = self.endpoint.input_price is not None or self.endpoint.output_price is not None or self._near
        return found._replace(cost=None) if priced else found

    def _room(self, request: ModelRequest, sent: Sent) -> int:
        """Tokens for thoughts and reply: as many as there is room for, but never fewer than the reply needs."""
        room = min(self.context_window - self.count_tokens(sent.read), self._known.listed.longest_reply or self.context_window)
        return max(request.max_tokens, min(request.max_tokens + self.thinking, room))

    def _of_the_server(self) -> dict[str, object]:
        """What a call holds for the server's sake."""
        base = self._address if is_server(self._known.provider) else self.endpoint.api_base
        call: dict[str, object] = {"api_base": base} if base else {}
        if self._known.provider in _OLLAMA:
            call["num_ctx"] = self.context_window  # its own default is 4096, and what is longer it forgets without a word
            call |= {"input_cost_per_token": 0.0, "output_cost_per_token": 0.0}  # else litellm asks the server about the model, and blocks
            if self._known.thinks:
                call["think"] = self.thinking > 0  # told apart from the reply by the server: litellm mixes them up
        return call

    def _may_be_the_way(self, error: ProviderError) -> bool:
        """Whether a call may have failed for how JSON was asked for. Some servers of one's own break where others refuse."""
        if error.trouble == "overloaded" and self._address is not None:
            return any(word in str(error).lower() for word in ("response_format", "schema", "grammar"))
        return error.trouble == "bad_request"

    async def _find_out(self, litellm: Litellm) -> tuple[Known, tuple[str, ...]]:
        key = os.environ.get(self.endpoint.key_env, "").strip() if self.endpoint.key_env and self.endpoint.api_base else ""
        return await known_of(litellm, self.name, self._address, key or None), tuple(missing_keys(litellm, self.name))

    def _settle(self, known: Known) -> None:
        self._known = known
        self._address = address_of(known.provider, self.endpoint.api_base)
        self._near = self._address is not None and is_near(self._address)
        base, names = self.endpoint.api_base, key_names(known.provider)
        if self.endpoint.key_env:
            names = (self.endpoint.key_env,)
        elif base and not is_providers_own(known.provider, base):
            names = ()  # none is sent there
        self._key_names = names
        self._origin = Origin(self.name, self._address, key_names=names)


class _Ear:
    """Brings pieces from the bridge's thread to whoever listens on the loop it was made on, until it is closed."""

    def __init__(self, heard: Heard | None) -> None:
        self._heard = heard
        self._loop = asyncio.get_running_loop()

    def say(self, piece: str | None) -> None:
        """To be called in any thread."""
        with contextlib.suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self._hear, piece)

    def close(self) -> None:
        """What is still on its way is not heard."""
        self._heard = None

    def _hear(self, piece: str | None) -> None:
        if self._heard is not None:
            self._heard(piece)

