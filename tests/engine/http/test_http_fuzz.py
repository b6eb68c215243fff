"""Whatever is sent, the service replies in the shape it says, never with a fault of its own."""

import asyncio
import tempfile
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.game import Game
from engine.http.app import WAYS, make_app
from engine.http.bodies import NoBody
from engine.http.service import Service
from tests.engine.http.conftest import TOKEN, WORLD, Api

SETTINGS = settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])
ODD = st.sampled_from(
    ["", " ", "\x00", "\x1b[31m", "{{e:bob}}", "{{", "@bob", "@nobody", "\u202e", "\ufdd0", "ses-000001", "turn-000001", "bob", "en_2",
     "..", "%", "'; DROP TABLE sessions; --", "x" * 3000, "\U0001f600", "NaN", "-0", "1e309"]
)  # fmt: skip
WORDS = st.text(max_size=40) | ODD
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | WORDS
JSONS = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3), max_leaves=8)
POSTS = [way for way in WAYS if way.method == "POST"]
METHODS = st.sampled_from(["GET", "POST", "DELETE", "PUT", "PATCH", "OPTIONS", "HEAD"])
KEYS = st.sampled_from(["ses-000001", "ses-000002", "kno-000001", "ses-9", "%00", "..", "%ff", "a b"]) | st.text(
    alphabet=st.characters(codec="utf-8", exclude_characters="/?#%"), min_size=1, max_size=12
)


def field(name: str) -> st.SearchStrategy[Any]:
    """Values of a field, right ones often enough to come through."""
    good: dict[str, list[object]] = {
        "agent_id": ["bob", "en_2"], "actor_id": ["bob", "en_2", "gareth", "th_key"], "role": ["agent", "actor", "note"],
        "turn_id": ["turn-000001", "turn-000002"], "value": [None], "policy": [None, {}], "content": ["I owe nobody."],
        "pinned": [True, False],
    }  # fmt: skip
    return (st.sampled_from(good[name]) | JSONS) if name in good else JSONS


@st.composite
def requests(draw: st.DrawFn) -> tuple[str, str, dict[str, str], Any]:
    """A method, an address, a query and a body: those of an endpoint, with anything in the fields."""
    way = draw(st.sampled_from(WAYS))
    names = list(way.body.model_fields)
    bodies = st.fixed_dictionaries({}, optional={name: field(name) for name in names}) if way.body is not NoBody else st.none()
    body = draw(bodies | bodies | bodies | JSONS)
    query_names = st.sampled_from([name for name in way.query.model_fields if name != "wait"] or ["x"])
    query = draw(st.dictionaries(query_names, WORDS | st.integers().map(str), max_size=2))
    method = draw(st.just(way.method) | METHODS)
    return method, way.path.replace("{id}", draw(KEYS)), query, body


@pytest.fixture(scope="module")
def runner() -> Any:
    """An event loop with an open game and a session in it, for all examples."""
    loop = asyncio.new_event_loop()
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "inn").mkdir()
        (Path(folder) / "inn" / "world.yaml").write_text(WORLD)
        game = loop.run_until_complete(Game.create(Path(folder) / "inn", Path(folder) / "inn.db"))
        transport = httpx.ASGITransport(app=make_app(Service(game), TOKEN), raise_app_exceptions=True)
        headers = {"authorization": f"Bearer {TOKEN}"}
        client = httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", headers=headers)
        api = Api(client)
        loop.run_until_complete(api.post("/v1/memory/sessions", {"agent_id": "bob", "actor_id": "en_2"}, 201))
        yield loop, api
        loop.run_until_complete(client.aclose())
        loop.run_until_complete(game.close())
    loop.close()


@pytest.mark.slow
@SETTINGS
@given(request=requests())
def test_no_request_is_too_odd(runner: Any, request: tuple[str, str, dict[str, str], Any]) -> None:
    loop, api = runner
    method, path, query, body = request
    try:
        url = httpx.URL("http://127.0.0.1" + path)
    except httpx.InvalidURL:
        return
    more = {"json": body} if body is not None else {}
    reply = loop.run_until_complete(api.client.request(method, url, params=query, **more))
    assert reply.status_code < 500, reply.text
    assert "Traceback" not in reply.text
    if method in ("GET", "POST", "DELETE") and "%" not in path:
        loop.run_until_complete(api.check(method, url.path, reply))


@SETTINGS
@given(raw=st.binary(max_size=60) | st.text(max_size=30).map(str.encode), way=st.sampled_from(POSTS))
def test_no_bytes_are_too_odd(runner: Any, raw: bytes, way: Any) -> None:
    loop, api = runner
    path = way.path.replace("{id}", "ses-000001")
    reply = loop.run_until_complete(api.client.post(path, content=raw, headers={"content-type": "application/json"}))
    assert reply.status_code < 500, reply.text
    loop.run_until_complete(api.check("POST", path, reply))


@SETTINGS
@given(host=st.text(alphabet=st.characters(codec="ascii", min_codepoint=33), max_size=20), token=st.text(max_size=60))
def test_nobody_gets_in_by_chance(runner: Any, host: str, token: str) -> None:
    loop, api = runner
    headers = {b"host": host.encode(), b"authorization": f"Bearer {token}".encode()}
    reply = loop.run_until_complete(api.client.get("/v1/memory/sessions", headers=headers))
    assert reply.status_code in (401, 421)
