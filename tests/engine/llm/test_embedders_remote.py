"""Embedding models behind litellm: the real library against a real server on this machine that misbehaves by model name."""

import asyncio
import json
import math
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.errors import ModelError, ProviderError
from engine.llm.embedders import open_embedder
from engine.llm.embedders.remote import RemoteEmbedder
from engine.llm.remote.bridge import shared_bridge
from engine.memory.embedding import embedded
from engine.settings import EmbedSettings

ROOT = Path(__file__).parents[3]
ERRORS = {
    "wrong-key": (401, {"message": "Incorrect API key provided: sk-abcdefgh12345678", "code": "invalid_api_key"}),
    "forbidden": (403, {"message": "no access"}),
    "absent": (404, {"message": "The model does not exist", "code": "model_not_found"}),
    "odd-call": (400, {"message": "unsupported parameter"}),
    "unprocessable": (422, {"message": "unprocessable"}),
    "long": (400, {"message": "This model's maximum context length is 8192 tokens, however you requested 9000 tokens"}),
    "llama-long": (400, {"code": 400, "message": "request (9000 tokens) exceeds the available context size (4096 tokens)"}),
    "llama-batch": (500, {"code": 500, "message": "input is too large to process. increase the physical batch size"}),
    "policy": (400, {"message": "rejected by our safety system", "code": "content_policy_violation"}),
    "busy": (429, {"message": "Rate limit reached"}),
    "broken": (500, {"message": "boom"}),
    "down": (503, {"message": "overloaded"}),
    "full": (529, {"message": "overloaded"}),
}
SPOILED = {
    "html": b"<html>hello</html>",
    "list": b"[1, 2]",
    "nothing": b"{}",
    "no-data": b'{"object": "list", "model": "x"}',
}


class Server(ThreadingHTTPServer):
    """Speaks the embeddings call of OpenAI and of Ollama. Keeps the requests it got."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests: list[tuple[str, dict[str, Any]]] = []
        self.keys: list[str] = []
        self.asked, self.hung_up = threading.Event(), threading.Event()

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.requests.append((self.path, body))
        self.server.keys.append(self.headers.get("authorization", ""))
        self.server.asked.set()
        model = body["model"]
        if model == "slow":
            self.connection.settimeout(30)
            if self.connection.recv(1) == b"":
                self.server.hung_up.set()
            return
        if model in ERRORS:
            status, error = ERRORS[model]
            self._send(status, json.dumps({"error": error}).encode())
        elif model in SPOILED:
            self._send(200, SPOILED[model])
        elif self.path == "/api/embed":
            reply = {"model": model, "embeddings": [vector(text) for text in body["input"]], "prompt_eval_count": 4}
            self._send(200, json.dumps(reply).encode())
        else:
            self._send(200, json.dumps({"object": "list", "model": model, "data": rows(model, body["input"])}).encode())

    def _send(self, status: int, data: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        if status == 429:
            self.send_header("retry-after", "7")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


def vector(text: str) -> list[float]:
    return [float(len(text)), 1.0, -2.0]


def rows(model: str, texts: list[str]) -> list[dict[str, object]]:
    made: list[dict[str, object]] = [{"object": "embedding", "index": i, "embedding": vector(text)} for i, text in enumerate(texts)]
    spoil: object = {
        "nan": [1.0, math.nan, 0.0], "inf": [math.inf, 0.0, 0.0], "zero": [0.0, 0.0, 0.0], "null": [1.0, None, 0.0],
        "text": "AACAPwAAAEA=", "empty": [], "ragged": [1.0],
    }.get(model)
    if spoil is not None:
        made[-1]["embedding"] = spoil
    if model == "backwards":
        return made[::-1]
    if model == "few":
        return made[:-1]
    if model == "twice":
        made[-1]["index"] = 0
    return made


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.endswith(("_API_KEY", "_API_BASE", "_BASE_URL"))]:
        monkeypatch.delenv(name)


def embedder(server: Server, model: str = "fine", **more: Any) -> RemoteEmbedder:
    return RemoteEmbedder(shared_bridge(), f"openai/{model}", 3, api_base=server.base + "/v1", **more)


async def test_texts_become_unit_vectors_in_their_order(server: Server) -> None:
    vectors = await embedder(server, "backwards").embed(["a", "bb", "ccc"])
    expected = np.array([vector("a"), vector("bb"), vector("ccc")])
    assert np.allclose(vectors, expected / np.linalg.norm(expected, axis=1, keepdims=True))
    assert vectors.dtype == np.float32
    assert server.requests == [("/v1/embeddings", {"model": "backwards", "input": ["a", "bb", "ccc"]})]


async def test_many_texts_go_in_bounded_calls(server: Server) -> None:
    texts = ["x" * n for n in range(1, 151)]
    vectors = await embedded(embedder(server), texts)
    assert [len(body["input"]) for _, body in server.requests] == [64, 64, 22]
    assert np.allclose(vectors[:, 0] / vectors[:, 1], range(1, 151))
    assert (await embedder(server).embed([])).shape == (0, 3)
    assert len(server.requests) == 3


async def test_a_blank_text_is_sent_as_something(server: Server) -> None:
    await embedder(server).embed(["", " \n", "a"])
    assert server.requests[0][1]["input"] == [".", ".", "a"]


async def test_ollama_is_asked_once_and_for_nothing_else(server: Server) -> None:
    settings = EmbedSettings(model="ollama/nomic-embed-text", api_base=server.base)
    opened = await open_embedder(settings, {"ollama/nomic-embed-text": 3})
    assert server.requests == [], "a known length needs no call"
    await opened.embed(["a", "bb"])
    assert server.requests == [("/api/embed", {"model": "nomic-embed-text", "input": ["a", "bb"]})]


async def test_an_unknown_length_is_learned_by_one_call(server: Server) -> None:
    opened = await open_embedder(EmbedSettings(model="openai/fine", api_base=server.base + "/v1", meaning=0.4))
    assert (opened.name, opened.dim, opened.meaning, opened.same, opened.merge) == ("openai/fine", 3, 0.4, 0.92, 0.94)
    assert len(server.requests) == 1
    told = await open_embedder(EmbedSettings(model="openai/fine", api_base=server.base + "/v1", dim=5))
    assert told.dim == 5
    assert len(server.requests) == 1


@pytest.mark.parametrize(("model", "trouble", "said"), [
    ("wrong-key", "no_key", "was rejected"),
    ("forbidden", "no_key", "no access"),
    ("absent", "unknown_model", "does not exist"),
    ("odd-call", "bad_request", "unsupported parameter"),
    ("unprocessable", "bad_request", "unprocessable"),
    ("long", "too_long", "8192 tokens"),
    ("llama-long", "too_long", "4096 tokens"),
    ("llama-batch", "too_long", "physical batch size"),
    ("policy", "refused", "safety system"),
    ("busy", "rate_limited", "Rate limit reached"),
    ("broken", "overloaded", "boom"),
    ("down", "overloaded", "overloaded"),
    ("full", "overloaded", "overloaded"),
    ("html", "bad_output", "cannot be used"),
    ("list", "bad_output", "cannot be used"),
    ("nothing", "bad_output", "no vectors for 2 texts"),
    ("no-data", "bad_output", "no vectors for 2 texts"),
    ("few", "bad_output", "1 vectors for 2 texts"),
    ("twice", "bad_output", "not numbered as the texts are"),
    ("nan", "bad_output", "without direction"),
    ("inf", "bad_output", "without direction"),
    ("zero", "bad_output", "without direction"),
    ("null", "bad_output", "without direction"),
    ("text", "bad_output", "not rows of numbers"),
    ("empty", "bad_output", "not rows of numbers"),
    ("ragged", "bad_output", "not rows of numbers"),
])
@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
async def test_trouble_is_told_by_kind_after_one_attempt(
    server: Server, model: str, trouble: str, said: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ProviderError) as caught:
        await embedder(server, model).embed(["a", "bb"])
    error = caught.value
    assert (error.trouble, error.retry_after) == (trouble, 7.0 if model == "busy" else None)
    assert said in str(error)
    assert 'set embed = "hash768"' in error.advice
    assert "sk-abc" not in str(error)
    assert "Traceback" not in str(error)
    assert "litellm" not in str(error)
    assert len(server.requests) == 1, "one attempt, no hidden ones"
    assert capfd.readouterr() == ("", ""), "nothing is written over the screen"


async def test_vectors_of_another_length_are_refused(server: Server) -> None:
    other = RemoteEmbedder(shared_bridge(), "openai/fine", 768, api_base=server.base + "/v1")
    with pytest.raises(ModelError, match="3 numbers instead of 768"):
        await other.embed(["a"])


@pytest.mark.parametrize("model", ["openai/fine", "ollama/fine", "hosted_vllm/fine", "lm_studio/fine"])
async def test_a_server_that_is_not_running(model: str, capfd: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        base = f"http://127.0.0.1:{free.getsockname()[1]}"
        with pytest.raises(ProviderError, match="cannot be reached") as caught:
            await open_embedder(EmbedSettings(model=model, api_base=base))
    assert caught.value.trouble == "unreachable"
    assert base in str(caught.value)
    assert "Start it" in caught.value.advice
    assert "ssl" not in str(caught.value)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(("model", "key"), [
    ("openai/text-embedding-3-small", "OPENAI_API_KEY"),
    ("gemini/text-embedding-004", "GEMINI_API_KEY"),
    ("cohere/embed-v4", "COHERE_API_KEY"),
])
async def test_a_missing_key_is_told_by_name_before_any_call(model: str, key: str) -> None:
    with pytest.raises(ProviderError, match=key) as caught:
        await open_embedder(EmbedSettings(model=model))
    assert caught.value.trouble == "no_key"


async def test_a_server_of_ones_own_needs_no_key_and_a_key_that_is_there_is_used(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    await embedder(server).embed(["a"])
    monkeypatch.setenv("OPENAI_API_BASE", server.base + "/v1")
    await RemoteEmbedder(shared_bridge(), "openai/fine", 3).embed(["a"])
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-the-gateway")
    await embedder(server).embed(["a"])
    assert server.keys == ["Bearer none", "Bearer none", "Bearer key-of-the-gateway"]


@pytest.mark.parametrize("model", ["nosuch/thing", "plainly-unknown"])
async def test_a_model_that_nobody_provides(model: str) -> None:
    with pytest.raises(ProviderError, match=model) as caught:
        await open_embedder(EmbedSettings(model=model))
    assert caught.value.trouble == "unknown_model"


async def test_a_slow_server_meets_the_time_limit_and_is_hung_up_on(server: Server) -> None:
    with pytest.raises(ProviderError, match=r"within 0\.2 s") as caught:
        await embedder(server, "slow", limit=0.2).embed(["a"])
    assert caught.value.trouble == "timed_out"
    assert await asyncio.to_thread(server.hung_up.wait, 20)
    assert len(server.requests) == 1


async def test_cancelling_hangs_up_on_the_server(server: Server) -> None:
    work = asyncio.create_task(embedder(server, "slow").embed(["a"]))
    assert await asyncio.to_thread(server.asked.wait, 60)
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert await asyncio.to_thread(server.hung_up.wait, 20)


def test_a_process_with_calls_under_way_ends_and_says_nothing(server: Server) -> None:
    code = f"""
import asyncio
from engine.errors import ModelError
from engine.llm.embedders import open_embedder
from engine.settings import EmbedSettings
async def one(model):
    try:
        return (await (await open_embedder(EmbedSettings(model=model, api_base={server.base + "/v1"!r}, dim=3))).embed(["a"])).shape
    except ModelError as error:
        return error.trouble
async def main():
    print(await one("openai/fine"), await one("openai/broken"), await one("openai/text"))
    asyncio.create_task(one("openai/slow"))
    await asyncio.sleep(0.1)
asyncio.run(main())
"""
    env = {**os.environ, "OPENAI_API_KEY": "none"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=100, cwd=ROOT, env=env)
    assert (done.stdout, done.stderr) == ("(1, 3) overloaded bad_output\n", "")
