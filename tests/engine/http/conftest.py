"""A real save, served in this process: every reply is held against the description that is served."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from openapi_schema_validator import OAS31Validator
from starlette.types import ASGIApp

from engine.game import Game
from engine.http.app import make_app
from engine.http.service import Service

TOKEN = "a-token-that-nobody-guesses"
WORLD = """\
name: The inn
clock: {start: 1247-03-01T17:40}
seed: 1
policies: {sessions: {pairs: none, collapse: {max_turns: 9}, agents: {bob: {max_turns: 30, min_turns: 2}}}}
places: [{id: bar, name: the bar}]
entities:
  - {id: bob, at: bar, agent: true, attributes: {name: Bob Harrow, label: the bald man}, aliases: {en_2: Mira}, factions: [inn]}
  - {id: en_2, at: bar, agent: true, attributes: {name: Mira Vance, label: the thin woman}, factions: [inn]}
  - {id: gareth, at: bar, agent: true, attributes: {name: Gareth, label: the tall stranger}}
  - {id: th_key, at: bar, attributes: {label: the brass key}}
"""
TALK = (
    "I own a boat, the Heron.", "The Heron lies at the north quay.", "What does the Heron carry?", "The Heron carries salt to Orrin.",
    "I sold the Heron's salt at Orrin.", "Bring me the money for the Heron's salt tomorrow.",
)  # fmt: skip


class Api:
    """A program that speaks with the service. Every reply must be as the served description has it."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self.client = client
        self._described: dict[str, Any] | None = None

    async def described(self) -> dict[str, Any]:
        """The description that is served."""
        if self._described is None:
            self._described = (await self.client.get("/v1/openapi.json")).json()
        return self._described

    async def send(self, method: str, path: str, body: object = None, **more: Any) -> httpx.Response:
        """Any request; a reply that is not as described fails the test."""
        if body is not None:
            more["json"] = body
        reply = await self.client.request(method, path, **more)
        await self.check(method, path, reply)
        return reply

    async def get(self, path: str, /, code: int = 200, **query: Any) -> Any:
        """What is read."""
        reply = await self.send("GET", path, params=query)
        assert reply.status_code == code, reply.text
        return reply.json()

    async def post(self, path: str, body: object = None, status: int = 200, **query: Any) -> Any:
        """What is replied."""
        reply = await self.send("POST", path, body, params=query)
        assert reply.status_code == status, reply.text
        return reply.json()

    async def refused(self, kind: str, status: int, method: str, path: str, body: object = None, **more: Any) -> dict[str, Any]:
        """The fault of a request that is refused so."""
        reply = await self.send(method, path, body, **more)
        fault: dict[str, Any] = reply.json()["error"]
        assert (fault["kind"], reply.status_code) == (kind, status), reply.text
        assert set(fault) <= {"kind", "message", "advice", "field"}
        assert "Traceback" not in reply.text
        return fault

    async def check(self, method: str, path: str, reply: httpx.Response) -> None:
        """Hold a reply against the description."""
        description = await self.described()
        assert reply.headers["content-type"] == "application/json"
        assert reply.headers["cache-control"] == "no-store"
        assert not [name for name in reply.headers if name.startswith("access-control")]
        operation = self._operation(description, method, path)
        if operation is None:
            said = description["components"]["responses"][str(reply.status_code)]
        else:
            said = operation["responses"].get(str(reply.status_code))
            assert said is not None, f"{method} {path}: {reply.status_code} is not described: {reply.text}"
        if "$ref" in said:
            said = description["components"]["responses"][said["$ref"].rpartition("/")[2]]
        schema = said["content"]["application/json"]["schema"] | {"components": description["components"]}
        OAS31Validator(schema).validate(json.loads(reply.text))

    def _operation(self, description: dict[str, Any], method: str, path: str) -> dict[str, Any] | None:
        parts = path.partition("?")[0].split("/")
        for place, ways in description["paths"].items():
            wanted = place.split("/")
            if len(wanted) == len(parts) and all(w in (p, "{id}") for w, p in zip(wanted, parts, strict=True)) and "ask" not in (
                set(parts) - set(wanted)
            ):
                found: dict[str, Any] | None = ways.get(method.lower())
                return found
        return None


@pytest.fixture
async def game(tmp_path: Path) -> AsyncIterator[Game]:
    (tmp_path / "inn").mkdir()
    (tmp_path / "inn" / "world.yaml").write_text(WORLD)
    opened = await Game.create(tmp_path / "inn", tmp_path / "inn.db")
    yield opened
    await opened.close()


@pytest.fixture
def service(game: Game) -> Service:
    return Service(game)


@pytest.fixture
def app(service: Service) -> ASGIApp:
    return make_app(service, TOKEN)


@pytest.fixture
async def api(app: ASGIApp) -> AsyncIterator[Api]:
    headers = {"authorization": f"Bearer {TOKEN}"}
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8765", headers=headers) as client:
        yield Api(client)
