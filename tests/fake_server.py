"""A model server on loopback for tests: speaks OpenAI's protocol and Ollama's, misbehaves as told, and counts.

    async with FakeServer() as server:                       # or: with in_a_thread() as server, for tests without a loop
        server.behave(says("Good morning."), RATE_LIMITED)   # the first two requests; later ones get `fine`
        server.behave(echo)                                  # a function of the body: for every request from here on
        ...                                                  # openai/any-name with api_base=server.base
        assert server.requests[0].body["messages"]

`FakeServer(answer=f)` replies with `f(body)` where nothing else is told, streamed or not as asked. `window=2048` refuses longer
prompts in the words of `wording`, `slots=1` serves one request at a time, `kind=` adds what a kind of server tells of itself.
All behaviours: `tests/fake_behaviour.py`.
"""

import asyncio
import contextlib
import json
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any, Literal, Self

from tests.fake_behaviour import Behaviour, Wording, contents, count, too_long
from tests.fake_wire import Form, form_of, told_of_itself

Kind = Literal["openai", "llama.cpp", "ollama", "lm_studio", "vllm"]
Told = Behaviour | Callable[[Mapping[str, Any]], Behaviour]


@dataclass(eq=False)
class Received:
    """One request and what became of it."""

    path: str
    body: dict[str, Any]
    headers: Mapping[str, str]
    """By lower-case name."""
    prompt_tokens: int = 0
    """As the server counts."""
    reply_tokens: int = 0
    """Of what was made so far."""
    hung_up: bool = False
    """The client left before the reply was whole."""
    done: bool = False
    """The server has nothing more to do with it."""

    @property
    def text(self) -> str:
        """All of the prompt, messages joined by a blank line."""
        return "\n\n".join(contents(self.body))


@dataclass
class FakeServer:
    """See the module. Fields may be changed at any time."""

    answer: Callable[[Mapping[str, Any]], str] | None = None
    kind: Kind = "openai"
    models: tuple[str, ...] = ("fake",)
    """What it says it offers; it takes any name."""
    window: int | None = None
    """Tokens that prompt and `max_tokens` may fill."""
    wording: Wording = "openai"
    thinks: bool = False
    """Whether an Ollama server says that its models think."""
    weight: float = 1.0
    """Tokens that each word or mark counts as."""
    slots: int | None = None
    holds_to_max_tokens: bool = False
    """Cuts replies at `max_tokens`, with finish_reason `length`."""
    every: float = 0.0
    """Seconds between pieces, for behaviours that say nothing of it."""
    port: int = 0
    key: str | None = None
    """Refuses requests without it."""
    requests: list[Received] = field(default_factory=list)
    """Calls of models, oldest first."""
    asked: list[str] = field(default_factory=list)
    """Paths of the other requests: `/props`, `/v1/models`."""
    prompt_tokens: int = 0
    reply_tokens: int = 0
    _told: deque[Told] = field(default_factory=deque)
    _always: Callable[[Mapping[str, Any]], Behaviour] | None = None
    _server: asyncio.Server | None = None
    _served: asyncio.Semaphore | None = None

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]
        self._served = asyncio.Semaphore(self.slots) if self.slots else None
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        assert self._server is not None
        self._server.close()
        for task in [task for task in asyncio.all_tasks() if task.get_name() == f"fake-{self.port}"]:
            task.cancel()
            await asyncio.wait({task})

    @property
    def root(self) -> str:
        """Its address without a path, as Ollama's is given."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def base(self) -> str:
        """Its address as an OpenAI-compatible server's is given."""
        return self.root + "/v1"

    def behave(self, *told: Told) -> None:
        """Behaviours for the next requests, one each; a function of the body holds for all requests after them."""
        for each in told:
            if isinstance(each, Behaviour):
                self._told.append(each)
            else:
                self._always = each

    async def until(self, condition: Callable[[], bool], seconds: float = 20.0) -> None:
        """Wait until something is so. Raises `TimeoutError`."""
        async with asyncio.timeout(seconds):
            while not condition():  # noqa: ASYNC110 - what is waited for may be anything
                await asyncio.sleep(0.005)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        task.set_name(f"fake-{self.port}")
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            method, path, _ = head[0].split(" ", 2)
            headers = {name.strip().lower(): value.strip() for line in head[1:] if line for name, value in [line.split(":", 1)]}
            data = await reader.readexactly(int(headers.get("content-length", "0")))
            await self._serve(method, path, headers, data, reader, writer)
        writer.close()

    async def _serve(
        self, method: str, path: str, headers: Mapping[str, str], data: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        body = json.loads(data) if data else {}
        form = form_of(path) if method == "POST" else None
        if form is None:
            self.asked.append(path)
            told = told_of_itself(self.kind, path, self.models, self.window or 4096, body, self.thinks)
            return await _send(writer, 404 if told is None else 200, json.dumps(told or {"error": "not found"}).encode())
        received = Received(path, body, headers)
        received.prompt_tokens = round(self.weight * sum(count(text) for text in contents(body)))
        self.requests.append(received)
        work = asyncio.create_task(self._reply(received, form, writer), name=f"fake-{self.port}")
        gone = asyncio.create_task(_gone(reader), name=f"fake-{self.port}")
        try:
            await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
            received.hung_up = not work.done() or isinstance(work.exception(), ConnectionError)
        finally:
            work.cancel()
            gone.cancel()
            await asyncio.wait({work, gone})
            received.done = True
        return None

    async def _reply(self, received: Received, form: Form, writer: asyncio.StreamWriter) -> None:
        async with self._served or contextlib.nullcontext():
            behaviour = self._behaviour(received, form)
            self.prompt_tokens += received.prompt_tokens if behaviour.status == 200 else 0
            stream = bool(received.body.get("stream", form.streams))
            async for chunk in self._chunks(received, behaviour, form, writer, stream):
                writer.write(chunk)
                await writer.drain()

    def _behaviour(self, received: Received, form: Form) -> Behaviour:
        body = received.body
        wanted = form.max_tokens(body)
        if self.key is not None and received.headers.get("authorization") != f"Bearer {self.key}":
            return Behaviour(status=401, error={"message": "Incorrect API key provided.", "code": "invalid_api_key"})
        if self.window is not None and received.prompt_tokens + wanted > self.window:
            return too_long(self.wording, received.prompt_tokens, self.window, wanted)
        if self._told:
            told = self._told.popleft()
            behaviour = told if isinstance(told, Behaviour) else told(body)
        else:
            behaviour = self._always(body) if self._always is not None else Behaviour()
        if behaviour.text is None:
            behaviour = replace(behaviour, text=self.answer(body) if self.answer is not None else "fine")
        return replace(behaviour, every=behaviour.every or self.every)

    async def _chunks(
        self, received: Received, behaviour: Behaviour, form: Form, writer: asyncio.StreamWriter, stream: bool
    ) -> AsyncIterator[bytes]:
        """The bytes of the reply, each when its time has come."""
        await self._trouble(behaviour, -1, writer)
        if behaviour.raw is not None or behaviour.status != 200:
            data = behaviour.raw if behaviour.raw is not None else json.dumps(form.error(behaviour)).encode()
            yield _head(behaviour.status, behaviour.content_type, len(data), behaviour.headers) + data
            return
        text = behaviour.text or ""
        pieces = behaviour.pieces if behaviour.pieces is not None else form.pieces(text)
        if self.holds_to_max_tokens and (limit := form.max_tokens(received.body)):
            kept = next((n for n in range(len(pieces)) if self._count("".join(pieces[: n + 1])) > limit), len(pieces))
            behaviour = replace(behaviour, finish="length" if kept < len(pieces) else behaviour.finish)
            pieces = pieces[:kept]
        if stream:
            yield _head(200, form.stream_type, None, behaviour.headers)
            for chunk in form.thoughts(received.body, behaviour):
                yield chunk
        for place, piece in enumerate(pieces):
            if stream and place == behaviour.end_at:
                return
            await self._trouble(behaviour, place, writer)
            tokens = self._count("".join(pieces[: place + 1])) - received.reply_tokens
            received.reply_tokens += tokens
            self.reply_tokens += tokens
            if stream:
                yield form.piece(received.body, piece, behaviour)
            await asyncio.sleep(behaviour.every)
        await self._trouble(behaviour, len(pieces), writer)
        if stream and behaviour.end_at is not None:
            return
        counted = (received.prompt_tokens, received.reply_tokens)
        usage = counted if behaviour.usage == "counted" else behaviour.usage
        if stream:
            yield form.end(received.body, behaviour, usage)
        else:
            data = json.dumps(form.whole(received.body, "".join(pieces), behaviour, usage)).encode()
            yield _head(200, "application/json", len(data), behaviour.headers) + data

    async def _trouble(self, behaviour: Behaviour, place: int, writer: asyncio.StreamWriter) -> None:
        if behaviour.stall_at == place:
            await asyncio.sleep(behaviour.stall)
        if behaviour.abort_at == place:
            writer.transport.abort()
            raise ConnectionAbortedError

    def _count(self, text: str) -> int:
        return round(self.weight * count(text))


@contextlib.contextmanager
def in_a_thread(**fields: Any) -> Iterator[FakeServer]:
    """A server in a thread with a loop of its own, for tests without a loop and for processes that tests start."""
    server = FakeServer(**fields)
    ready, loop = threading.Event(), asyncio.new_event_loop()
    leave = asyncio.Event()

    async def serve() -> None:
        async with server:
            ready.set()
            await leave.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),), daemon=True)
    thread.start()
    ready.wait(20)
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(leave.set)
        thread.join(20)
        loop.close()


def _head(status: int, content_type: str, length: int | None, headers: Mapping[str, str] | None = None) -> bytes:
    lines = [f"HTTP/1.1 {status} Told", f"content-type: {content_type}", "connection: close"]
    lines += [f"content-length: {length}"] if length is not None else []
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


async def _send(writer: asyncio.StreamWriter, status: int, data: bytes) -> None:
    writer.write(_head(status, "application/json", len(data)) + data)
    await writer.drain()


async def _gone(reader: asyncio.StreamReader) -> None:
    """Ends when the client hangs up."""
    with contextlib.suppress(ConnectionError):
        await reader.read(1)
