"""Connections that say nothing take nothing from those that do."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from engine.game import Game
from engine.http.connections import Connection
from engine.http.server import Where, listen, serve
from tests.engine.behind import a_world


@pytest.fixture(autouse=True)
def _few_and_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Connection, "most", 8)
    monkeypatch.setattr(Connection, "head_seconds", 0.3)


@asynccontextmanager
async def serving(folder: Path) -> AsyncIterator[tuple[str, int]]:
    """The service over a new save."""
    game = await Game.create(a_world(folder / "house"), folder / "house.db")
    where, ready = Where("127.0.0.1", 0), asyncio.Event()
    listening = listen(where)
    task = asyncio.create_task(serve(game, listening, "token", where, ready.set))
    await ready.wait()
    try:
        yield "127.0.0.1", listening.socket.getsockname()[1]
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await game.close()


async def ended(reader: asyncio.StreamReader) -> bool:
    """Whether the other side hangs up."""
    try:
        await asyncio.wait_for(reader.read(), 5.0)
    except ConnectionResetError:
        return True
    except TimeoutError:
        return False
    return True


async def test_whoever_says_nothing_or_half_a_head_is_hung_up_on(tmp_path: Path) -> None:
    async with serving(tmp_path) as (host, port):
        for words in (b"", b"GET /healthz HTTP/1.1\r\nHost: x", b"G"):
            reader, writer = await asyncio.open_connection(host, port)
            writer.write(words)
            assert await ended(reader)
            writer.close()
        reader, writer = await asyncio.open_connection(host, port)
        writer.write(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert (await reader.readuntil(b"\r\n")).startswith(b"HTTP/1.1 200")
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"GET /healthz HTT")  # the second head of a connection, too
        assert await ended(reader)
        writer.close()


async def test_many_that_wait_leave_room_for_others(tmp_path: Path) -> None:
    async with serving(tmp_path) as (host, port):
        idle = [await asyncio.open_connection(host, port) for _ in range(12)]
        assert await ended(idle[-1][0])
        await asyncio.sleep(0.5)  # those within bounds are given up
        async with httpx.AsyncClient() as client:
            assert (await client.get(f"http://{host}:{port}/healthz")).status_code == 200
        for _, writer in idle:
            writer.close()
