"""Everything that is refused: who may not speak, what cannot be read, what cannot be done; always in one shape."""

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import get_args

import httpx
import pytest
from starlette.types import ASGIApp, Message, Scope

from engine.errors import KnowledgeFault, OthermindsError, SaveError, SessionFault
from engine.game import Game
from engine.http import reading
from engine.http.app import make_app
from engine.http.faults import STATUS
from engine.http.guard import Guard, checked_token, host_name, new_token
from engine.http.reading import LARGEST_BODY
from engine.http.service import Service
from engine.session_desk import LONGEST_TURN
from tests.engine.http.conftest import TOKEN, Api

ALL = "/v1/memory/sessions"
JSON = {"content-type": "application/json"}


@pytest.fixture
async def key(api: Api) -> str:
    """An open session of Bob with Mira."""
    made: str = (await api.post(ALL, {"agent_id": "bob", "actor_id": "en_2"}, 201))["id"]
    return made


# who may speak
@pytest.mark.parametrize(
    ("sent", "kind", "challenge"),
    [
        ({}, "no_token", 'Bearer realm="otherminds"'),
        ({"authorization": "Basic b3RoZXI6bWluZHM="}, "no_token", 'Bearer realm="otherminds"'),
        ({"authorization": TOKEN}, "no_token", 'Bearer realm="otherminds"'),
        ({"authorization": "Bearer"}, "wrong_token", 'Bearer realm="otherminds", error="invalid_token"'),
        ({"authorization": "Bearer "}, "wrong_token", 'Bearer realm="otherminds", error="invalid_token"'),
        ({"authorization": f"Bearer {TOKEN}x"}, "wrong_token", 'Bearer realm="otherminds", error="invalid_token"'),
        ({"authorization": f"Bearer {TOKEN[:-1]}"}, "wrong_token", 'Bearer realm="otherminds", error="invalid_token"'),
        ({"authorization": b"Bearer \xff\xfe"}, "wrong_token", 'Bearer realm="otherminds", error="invalid_token"'),
    ],
)  # fmt: skip
@pytest.mark.parametrize("path", [ALL, "/v1/openapi.json", "/nowhere"])
async def test_without_the_token_nothing_is_told(app: ASGIApp, path: str, sent: dict[str, str], kind: str, challenge: str) -> None:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://127.0.0.1:8765") as client:
        reply = await client.get(path, headers=sent)
    assert (reply.status_code, reply.json()["error"]["kind"], reply.headers["www-authenticate"]) == (401, kind, challenge)
    assert TOKEN not in reply.text


async def test_case_of_the_scheme_does_not_matter_and_two_tokens_are_none(app: ASGIApp) -> None:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://localhost") as client:
        assert (await client.get(ALL, headers={"authorization": f"bearer {TOKEN}"})).status_code == 200
        twice = [("authorization", f"Bearer {TOKEN}"), ("authorization", f"Bearer {TOKEN}")]
        assert (await client.get(ALL, headers=twice)).status_code == 401


async def test_healthz_needs_no_token_and_says_nothing(app: ASGIApp) -> None:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://127.0.0.1") as client:
        reply = await client.get("/healthz")
        assert (reply.status_code, reply.text) == (200, "ok\n")
        assert (await client.get("/healthz", headers={"host": "evil.example"})).status_code == 421


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8765", "localhost.evil.example", "127.0.0.1.evil.example", "10.0.0.7", "", " ", "[::1", "127.0.0.1:x",
     "[::2]", "127.0.0.1:80:80"],
)  # fmt: skip
async def test_a_page_that_has_its_name_point_here_is_refused(api: Api, host: str) -> None:
    fault = await api.refused("wrong_host", 421, "GET", ALL, headers={"host": host})
    assert "address" in fault["advice"]


@pytest.mark.parametrize("host", ["127.0.0.1", "LOCALHOST:1", "[::1]:8765", "localhost.", "::1"])
async def test_this_machine_is_known_by_all_its_names(api: Api, host: str) -> None:
    wanted = 421 if host == "::1" else 200  # an address of that kind needs its brackets
    assert (await api.send("GET", ALL, headers={"host": host})).status_code == wanted


@pytest.fixture
async def far(service: Service) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a service that listens to the network."""
    app = make_app(service, TOKEN, ("0.0.0.0", "inn.example"))
    headers = {"authorization": f"Bearer {TOKEN}"}
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://127.0.0.1", headers=headers) as client:
        yield client


async def test_on_the_network_addresses_and_its_own_names_are_known_and_others_are_not(far: httpx.AsyncClient) -> None:
    for host, status in {"10.0.0.7": 200, "10.0.0.7:8765": 200, "[fe80::1]": 200, "inn.example": 200, "evil.example": 421}.items():
        assert (await far.get(ALL, headers={"host": host})).status_code == status, host


async def test_no_other_origin_is_let_in(api: Api) -> None:
    headers = {"origin": "https://evil.example", "access-control-request-method": "POST"}
    await api.refused("wrong_method", 405, "OPTIONS", ALL, headers=headers)
    assert (await api.send("GET", ALL, headers=headers)).status_code == 200  # `check` sees that no header lets it read


def test_tokens_that_are_made_differ_and_those_that_are_given_must_do() -> None:
    assert len({new_token() for _ in range(50)}) == 50
    assert min(len(new_token()) for _ in range(50)) >= 40
    assert checked_token(" 0123456789abcdef\n", "a file") == "0123456789abcdef"
    for bad in ("", "short", "0123456789abcde", "0123456789 abcdef", "0123456789\u00e9bcdefg", "0123456789\x00bcdefg"):
        with pytest.raises(OthermindsError, match="a file"):
            checked_token(bad, "a file")


def test_host_names_are_read_as_they_are_sent() -> None:
    read = {"a:80": "a", "[::1]": "::1", "[::1]:80": "::1", "[::1]x": "", "a:b": "", "A.": "a", "": "", "a:80:90": ""}
    assert {host: host_name(host) for host in read} == read


# what cannot be read
async def test_addresses_and_methods_that_are_not_there(api: Api, key: str) -> None:
    for path in ("/", "/v1", f"{ALL}/", f"{ALL}/{key}/", f"{ALL}/{key}/dance", "/v1/memory/knowledge/ask/x", "/healthz/"):
        await api.refused("unknown_path", 404, "GET", path)
    for method, path, allowed in (
        ("PUT", ALL, {"GET", "HEAD", "POST"}), ("PATCH", f"{ALL}/{key}", {"GET", "HEAD", "DELETE"}),
        ("GET", f"{ALL}/{key}/turns", {"POST"}), ("DELETE", "/v1/memory/audit", {"GET", "HEAD"}),
        ("POST", "/v1/openapi.json", {"GET", "HEAD"}),
    ):  # fmt: skip
        reply = await api.client.request(method, path)
        assert (reply.status_code, reply.json()["error"]["kind"]) == (405, "wrong_method")
        assert set(reply.headers["allow"].split(", ")) == allowed


@pytest.mark.parametrize(
    "body",
    [b"{", b"[", b"nonsense", b"{'a': 1}", b'{"a": 1,}', b"\xff\xfe{}", b'{"a": "\\ud800"}', b'{"a": "\x01"}', b"[" * 5000,
     b'{"a":' * 5000],
    ids=range(10),
)  # fmt: skip
async def test_what_is_no_json_is_told(api: Api, body: bytes) -> None:
    await api.refused("bad_json", 400, "POST", ALL, content=body, headers=JSON)


@pytest.mark.parametrize("body", [b"[]", b"1", b'"x"', b"null", b"true"])
async def test_a_body_is_an_object(api: Api, body: bytes) -> None:
    fault = await api.refused("bad_value", 422, "POST", ALL, content=body, headers=JSON)
    assert "field" not in fault


async def test_other_kinds_of_bodies_are_not_read(api: Api) -> None:
    for kind in ("application/x-www-form-urlencoded", "text/plain", "multipart/form-data; boundary=x"):
        await api.refused("wrong_type", 415, "POST", ALL, content=b'{"agent_id": "bob"}', headers={"content-type": kind})
    sent = {"content-type": "Application/JSON; charset=utf-8"}
    assert (await api.send("POST", ALL, content=b'{"agent_id": "bob", "actor_id": "en_2"}', headers=sent)).status_code == 201


async def test_bodies_have_a_size(api: Api, key: str) -> None:
    turns = f"{ALL}/{key}/turns"
    await api.refused("too_large", 413, "POST", turns, {"role": "actor", "content": "x" * LARGEST_BODY})

    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(LARGEST_BODY // 65536 + 2):
            yield b" " * 65536

    await api.refused("too_large", 413, "POST", turns, content=pieces(), headers=JSON)
    fault = await api.refused("bad_value", 422, "POST", turns, {"role": "actor", "content": "x" * (LONGEST_TURN + 1)})
    assert fault["field"] == "content"
    assert (await api.send("POST", turns, {"role": "actor", "content": "x" * LONGEST_TURN})).status_code == 201


async def test_a_body_must_come_in_time(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_PATIENCE", 0.01)
    app = make_app(service, TOKEN)
    headers = [(b"host", b"localhost"), (b"authorization", f"Bearer {TOKEN}".encode())]
    scope: Scope = {
        "type": "http", "method": "POST", "path": ALL, "raw_path": ALL.encode(), "query_string": b"", "headers": headers,
        "http_version": "1.1", "scheme": "http", "server": ("localhost", 80), "client": ("127.0.0.1", 1),
        "root_path": "", "asgi": {"version": "3.0"},
    }  # fmt: skip
    said: list[Message] = []

    async def receive() -> Message:
        await asyncio.Event().wait()
        raise AssertionError

    async def send(message: Message) -> None:
        said.append(message)

    await app(scope, receive, send)
    assert (said[0]["status"], b"too_slow" in said[1]["body"]) == (408, True)


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        (ALL, {}, "agent_id"),
        (ALL, {"agent_id": "bob"}, "actor_id"),
        (ALL, {"agent_id": "bob", "actor_id": 2}, "actor_id"),
        (ALL, {"agent_id": "", "actor_id": "en_2"}, "agent_id"),
        (ALL, {"agent_id": "bob", "actor_id": "en_2", "policy": {"max_turns": 1}}, "policy.max_turns"),
        (ALL, {"agent_id": "bob", "actor_id": "en_2", "policy": {"max_turns": "9"}}, "policy.max_turns"),
        (ALL, {"agent_id": "bob", "actor_id": "en_2", "policy": {"max_turns": 10**400}}, "policy.max_turns"),
        (ALL, {"agent_id": "bob", "actor_id": "en_2", "policy": {"recurrence_threshold": 1.5}}, "policy.recurrence_threshold"),
        (ALL, {"agent_id": "bob", "actor_id": "en_2", "policy": {"mode": "never"}}, "policy.mode"),
        (ALL, {"agentId": "bob", "agent_id": "bob", "actor_id": "en_2"}, "agentId"),
        ("turns", {"role": "actor"}, "content"),
        ("turns", {"role": "user", "content": "x"}, "role"),
        ("turns", {"role": "actor", "content": ""}, "content"),
        ("turns", {"role": "actor", "content": "x", "pinned": 1}, "pinned"),
        ("turns", {"role": "actor", "content": "x", "hint": "y" * 201}, "hint"),
        ("pin", {}, "turn_id"),
        ("scratch", {"key": "a"}, "value"),
        ("scratch", {"key": "x" * 41, "value": "b"}, "key"),
        ("scratch", {"key": "a", "value": "b" * 2001}, "value"),
        ("collapse", {"wait": 5}, "wait"),
    ],
)
async def test_a_bad_value_is_told_with_its_place(api: Api, key: str, path: str, body: object, field: str) -> None:
    where = path if path == ALL else f"{ALL}/{key}/{path}"
    fault = await api.refused("bad_value", 422, "POST", where, body)
    assert fault["field"] == field
    assert fault["message"].startswith(f"{field}: ")


@pytest.mark.parametrize(
    ("path", "query", "field"),
    [
        (ALL, "limit=0", "limit"), (ALL, "limit=501", "limit"), (ALL, "limit=x", "limit"), (ALL, "status=shut", "status"),
        (ALL, "page=2", "page"), (ALL, "limit=1&limit=2", "limit"), ("/v1/memory/knowledge", "scope=all", "scope"),
        ("/v1/memory/knowledge", "after=-1", "after"), ("/v1/memory/knowledge", "tier=hot&tier=dull", "tier.1"),
        ("/v1/memory/knowledge", f"after={10**40}", "after"), ("/v1/memory/audit", "action=sung", "action.0"),
        ("/v1/memory/knowledge/ask", "", "q"), (f"{ALL}/ses-1/collapse", "wait=-1", "wait"), (f"{ALL}/ses-1/collapse", "wait=nan", "wait"),
        (f"{ALL}/ses-1/collapse", "wait=301", "wait"),
    ],
)  # fmt: skip
async def test_a_bad_query_is_told_with_its_place(api: Api, path: str, query: str, field: str) -> None:
    method = "POST" if path.endswith("collapse") else "GET"
    assert (await api.refused("bad_value", 422, method, f"{path}?{query}"))["field"] == field


# what cannot be done
async def test_who_and_what_is_not_there(api: Api, key: str) -> None:
    for method, path, body in (
        ("GET", "", None), ("DELETE", "", None), ("POST", "/collapse", None), ("POST", "/turns", {"role": "actor", "content": "x"}),
        ("POST", "/pin", {"turn_id": "turn-000001"}), ("POST", "/scratch", {"key": "a", "value": "b"}),
    ):  # fmt: skip
        for name in ("ses-000099", "%1b%5b31m", "\u00e9" * 90, "%00"):
            fault = await api.refused("unknown_session", 404, method, f"{ALL}/{name}{path}", body)
            assert "\x1b" not in fault["message"]
    await api.refused("unknown_turn", 404, "POST", f"{ALL}/{key}/pin", {"turn_id": "turn-000099"})
    for body, field in (
        ({"agent_id": "nobody", "actor_id": "en_2"}, "agent_id"), ({"agent_id": "bob", "actor_id": "nobody"}, "actor_id"),
    ):  # fmt: skip
        assert (await api.refused("unknown_entity", 422, "POST", ALL, body))["field"] == field
    await api.refused("unknown_entity", 422, "POST", ALL, {"agent_id": "th_key", "actor_id": "bob"})
    await api.refused("unknown_entity", 422, "POST", ALL, {"agent_id": "bob", "actor_id": "bob"})
    for path in (f"{ALL}?agent=x", f"{ALL}?actor=x", f"{ALL}?viewer=x", "/v1/memory/knowledge?owner=x", "/v1/memory/audit?owner=x"):
        fault = await api.refused("unknown_entity", 422, "GET", path)
        assert fault["field"] == re.search(r"\?(\w+)=", path)[1]  # type: ignore[index]
    await api.refused("unknown_knowledge", 404, "GET", "/v1/memory/knowledge/kno-000099")


async def test_what_the_engine_will_not_keep_is_told_with_its_place(api: Api, key: str) -> None:
    other = await api.refused("already_open", 409, "POST", ALL, {"agent_id": "bob", "actor_id": "en_2"})
    assert key in other["message"]
    for path, body, kind, field in (
        ("turns", {"role": "actor", "content": "..."}, "bad_text", "content"),
        ("turns", {"role": "note", "content": "ask @nobody_here"}, "bad_text", "content"),
        ("scratch", {"key": "{{e:bob}}", "value": "x"}, "bad_key", "key"), ("scratch", {"key": "en_2", "value": "x"}, "bad_key", "key"),
        ("scratch", {"key": "a", "value": " "}, "bad_text", "value"),
    ):  # fmt: skip
        assert (await api.refused(kind, 422, "POST", f"{ALL}/{key}/{path}", body))["field"] == field
    await api.refused("unclear", 422, "GET", "/v1/memory/knowledge/ask?q=how+late+is+it")
    await api.refused("unknown_entity", 422, "GET", "/v1/memory/knowledge/ask?q=What+does+Xavier+believe")


async def test_a_save_that_cannot_be_written_is_told(api: Api, game: Game, key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def full(fn: object) -> None:
        raise SaveError("The disk is full.", "Make room.")

    monkeypatch.setattr(game._parts.store.db, "write", full)
    fault = await api.refused("save", 503, "POST", f"{ALL}/{key}/turns", {"role": "actor", "content": "x"})
    assert (fault["message"], fault["advice"]) == ("The disk is full.", "Make room.")


async def test_a_fault_of_the_program_shows_nothing_of_itself(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*more: object, **others: object) -> None:
        raise RuntimeError("secret inner words")

    monkeypatch.setattr(service.game.sessions, "list", broken)
    transport = httpx.ASGITransport(app=make_app(service, TOKEN), raise_app_exceptions=False)
    headers = {"authorization": f"Bearer {TOKEN}"}
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost", headers=headers) as client:
        reply = await client.get(ALL)
    assert (reply.status_code, reply.json()["error"]["kind"]) == (500, "failed")
    assert "secret" not in reply.text


async def test_other_protocols_are_not_spoken(service: Service) -> None:
    async def never(*more: object) -> None:
        raise AssertionError

    await Guard(never, TOKEN, ())({"type": "websocket"}, never, never)  # type: ignore[arg-type]


def kinds_in(folder: Path) -> Sequence[str]:
    """Kinds of faults that the source names."""
    found: list[str] = []
    for path in folder.glob("*.py"):
        found += re.findall(r'RefusedError\(\s*"(\w+)"', path.read_text(encoding="utf-8"))
    return found


def test_every_kind_of_fault_has_a_status() -> None:
    named = {*get_args(SessionFault), *get_args(KnowledgeFault), *kinds_in(Path(reading.__file__).parent)}
    named |= {"cap_reached", "model_failed", "save", "failed"}
    assert named == set(STATUS)
