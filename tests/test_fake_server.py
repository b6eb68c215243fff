"""The fake model server is what tests of models rest on: it speaks the protocols, misbehaves as told, counts, and sees who leaves."""

import asyncio
import json
import urllib.request
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.fake_behaviour import RATE_LIMITED, SILENT, echo, says
from tests.fake_server import FakeServer, in_a_thread

PROMPT = [{"role": "user", "content": "Good evening, friend."}]


@pytest.fixture
async def server() -> AsyncIterator[FakeServer]:
    async with FakeServer() as running:
        yield running


async def post(server: FakeServer, path: str = "/v1/chat/completions", **body: Any) -> tuple[int, bytes]:
    """Status and body of a reply, by hand: nothing between us and the bytes."""
    data = json.dumps({"model": "fake", "messages": PROMPT, **body}).encode()
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(f"POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {len(data)}\r\n\r\n".encode() + data)
    await writer.drain()
    try:
        head, _, reply = (await reader.read()).partition(b"\r\n\r\n")
    finally:
        writer.close()
    return int(head.split()[1]), reply


async def test_behaviours_come_in_their_order_and_then_a_function_answers(server: FakeServer) -> None:
    server.behave(says("One."), RATE_LIMITED, echo)
    replies = [await post(server) for _ in range(4)]
    assert [status for status, _ in replies] == [200, 429, 200, 200]
    texts = [json.loads(body)["choices"][0]["message"]["content"] for status, body in replies if status == 200]
    assert texts == ["One.", "Good evening, friend.", "Good evening, friend."]
    assert [(received.prompt_tokens, received.reply_tokens) for received in server.requests] == [(5, 2), (5, 0), (5, 5), (5, 5)]
    assert (server.prompt_tokens, server.reply_tokens) == (15, 12)


async def test_a_stream_joins_to_the_text_and_tells_usage_when_asked(server: FakeServer) -> None:
    server.behave(says(" Well,  hello\nthere. ", thoughts="Be kind."))
    _, body = await post(server, stream=True, stream_options={"include_usage": True})
    *chunks, last = [line.removeprefix("data: ") for line in body.decode().split("\n\n") if line]
    assert last == "[DONE]"
    read = [json.loads(chunk) for chunk in chunks]
    deltas = [chunk["choices"][0]["delta"] for chunk in read if chunk["choices"]]
    assert "".join(delta.get("content", "") for delta in deltas) == " Well,  hello\nthere. "
    assert "".join(delta.get("reasoning_content", "") for delta in deltas) == "Be kind."
    assert read[-1]["usage"] == {"prompt_tokens": 5, "completion_tokens": 5, "total_tokens": 10}
    assert "usage" not in json.loads((await post(server, stream=True))[1].decode().split("\n\n")[-3].removeprefix("data: "))


@pytest.mark.parametrize(("told", "left"), [({"end_at": 2}, "One two "), ({"abort_at": 2}, "One two ")])
async def test_a_stream_that_breaks_off(server: FakeServer, told: dict[str, Any], left: str) -> None:
    server.behave(says("One two three.", **told))
    _, body = await post(server, stream=True)
    chunks = [json.loads(line.removeprefix("data: ")) for line in body.decode().split("\n\n") if line]
    assert "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in chunks) == left
    assert all(chunk["choices"][0]["finish_reason"] is None for chunk in chunks)


async def test_it_sees_who_leaves_and_serves_the_next() -> None:
    async with FakeServer(slots=1) as server:
        server.behave(SILENT)
        first = asyncio.create_task(post(server))
        await server.until(lambda: len(server.requests) == 1)
        second = asyncio.create_task(post(server))
        await server.until(lambda: len(server.requests) == 2)
        await asyncio.sleep(0.05)
        assert not second.done()
        first.cancel()
        assert (await second)[0] == 200
        assert [received.hung_up for received in server.requests] == [True, False]


async def test_a_window_and_a_limit_are_held_to() -> None:
    async with FakeServer(window=20, wording="llama.cpp", weight=3.0, holds_to_max_tokens=True) as server:
        status, body = await post(server, max_tokens=6)
        assert (status, json.loads(body)["error"]["n_ctx"]) == (400, 20)
        server.window = None
        server.behave(says("One two three."))
        choice = json.loads((await post(server, max_tokens=6))[1])["choices"][0]
        assert (choice["message"]["content"], choice["finish_reason"]) == ("One two ", "length")


async def test_it_speaks_as_ollama_does() -> None:
    async with FakeServer(kind="ollama", models=("llama3.2",), answer=lambda body: f"I am {body['model']}.") as server:
        _, body = await post(server, "/api/chat", model="llama3.2")
        lines = [json.loads(line) for line in body.splitlines()]
        assert "".join(line["message"]["content"] for line in lines) == "I am llama3.2."
        assert lines[-1] | {"created_at": ""} == {
            "model": "llama3.2", "created_at": "", "message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop",
            "prompt_eval_count": 5, "eval_count": 6,
        }


def test_it_runs_in_a_thread_too() -> None:
    with in_a_thread(kind="llama.cpp", window=2048) as server, urllib.request.urlopen(server.root + "/props") as reply:
        assert json.load(reply)["default_generation_settings"]["n_ctx"] == 2048
        assert server.asked == ["/props"]
