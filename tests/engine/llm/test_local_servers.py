"""Model servers on loopback: found, told apart, set up; strangers on their ports do no harm."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.llm.local_kinds import told_by
from engine.llm.local_servers import ModelFacts, endpoint_for, facts_of, find_servers, server_at
from engine.llm.loopback import Address, UnansweredError, ask, loopback
from engine.llm.model_names import billions, writes_text
from engine.records.models import LocalServer
from tests.fake_server import FakeServer, Kind

PATIENT = 10.0


@asynccontextmanager
async def stranger(answer: bytes = b"", *, forever: bytes = b"", stalls: bool = False) -> AsyncIterator[int]:
    """The port of a service that says `answer` to whatever it hears, then goes on for ever, stalls or hangs up."""
    tasks: set[asyncio.Task[None]] = set()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            await reader.read(1)
            writer.write(answer)
            while forever:
                writer.write(forever)
                await writer.drain()
            if stalls:
                await asyncio.sleep(3600)
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in tasks:
            task.cancel()


@asynccontextmanager
async def site(
    pages: Mapping[str, tuple[int, object]], heard: list[str] | None = None, name: str = "nobody"
) -> AsyncIterator[int]:
    """The port of a service with these pages: a status and what is sent as JSON. All else is 404."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        path = head.split(" ")[1]
        if heard is not None:
            heard.append(head)
        status, value = pages.get(path, (404, {"error": "no such page"}))
        body = json.dumps(value).encode()
        writer.write(f"HTTP/1.1 {status} Said\r\nServer: {name}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
        await writer.drain()
        await reader.read()
        writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


async def only(port: int) -> LocalServer:
    [server] = await find_servers([port], limit=PATIENT)
    return server


def answered(body: bytes, *headers: str, status: int = 200) -> bytes:
    return "\r\n".join([f"HTTP/1.1 {status} OK", *headers, "", ""]).encode() + body


@pytest.mark.parametrize(
    ("kind", "prefix", "path", "window"),
    [
        ("ollama", "ollama_chat/", "", None),
        ("llama.cpp", "openai/", "/v1", 4096),
        ("lm_studio", "lm_studio/", "/v1", 4096),
        ("vllm", "hosted_vllm/", "/v1", 4096),
    ],
)
async def test_each_kind_is_known_at_any_port(kind: Kind, prefix: str, path: str, window: int | None) -> None:
    async with FakeServer(kind=kind, models=("some-model-3b",), window=4096) as server:
        found = await only(server.port)
        assert found == LocalServer(kind=kind, api_base=server.root + path, models=(f"{prefix}some-model-3b",), context_window=window)
        assert server.requests == []


async def test_another_openai_compatible_server_is_one() -> None:
    async with FakeServer(kind="openai", models=("/models/q05.gguf", "other")) as server:
        found = await only(server.port)
    assert (found.kind, found.models) == ("openai-compatible", ("openai//models/q05.gguf", "openai/other"))


async def test_servers_are_found_side_by_side_and_closed_ports_are_not() -> None:
    async with FakeServer() as gone:
        closed = gone.port
    async with FakeServer(kind="ollama") as one, FakeServer(kind="vllm") as two:
        found = await find_servers([one.port, closed, two.port], limit=PATIENT)
    assert [server.kind for server in found] == ["ollama", "vllm"]


async def test_a_llama_server_that_talks_like_ollama_is_not_ollama() -> None:
    rows = [{"name": "m.gguf", "model": "m.gguf", "id": "/m.gguf", "owned_by": "llamacpp"}]
    listed = (200, {"models": rows, "object": "list", "data": rows})
    props = {"default_generation_settings": {"n_ctx": 2048}, "model_path": "C:\\models\\m.gguf", "total_slots": 2}
    async with site({"/props": (200, props), "/api/tags": listed, "/v1/models": listed}) as port:
        found = await only(port)
    assert (found.kind, found.models, found.context_window) == ("llama.cpp", ("openai/m",), 2048)


@pytest.mark.parametrize("tells", [True, False], ids=["early release", "late release"])
async def test_a_llama_server_that_wants_a_key_is_found_and_says_so(tells: bool) -> None:
    locked = (401, {"error": {"message": "Invalid API Key", "code": 401}})
    rows = [{"id": "models/tiny.gguf", "owned_by": "llamacpp"}]
    listed = (200, {"models": rows, "data": rows, "object": "list"}) if tells else locked
    async with site({"/props": locked, "/v1/models": listed, "/api/tags": listed}, name="llama.cpp") as port:
        found = await only(port)
    assert (found.kind, found.models, found.key_env) == ("llama.cpp", ("openai/tiny" if tells else "openai/model",), "LLAMA_API_KEY")
    assert "wants a key" in found.note
    assert "LLAMA_API_KEY" in found.note
    assert endpoint_for(found, found.models[0])[1].key_env == "LLAMA_API_KEY"


@pytest.mark.parametrize(
    ("pages", "kind", "variable"),
    [
        ({"/v1/models": (401, {"error": "Unauthorized"}), "/version": (200, {"version": "0.11.0"})}, "vllm", "VLLM_API_KEY"),
        (
            {"/api/v0/models": (200, {"error": {"code": "invalid_api_key", "message": "An LM Studio API token is required"}})},
            "lm_studio", "LM_API_TOKEN",
        ),
    ],
)
async def test_other_servers_that_want_a_key_are_found_too(pages: dict[str, tuple[int, object]], kind: str, variable: str) -> None:
    async with site(pages) as port:
        found = await only(port)
    assert (found.kind, found.models, found.key_env) == (kind, (), variable)


async def test_a_page_behind_a_password_is_no_model_server() -> None:
    locked = (401, {"error": "Unauthorized"})
    async with site(dict.fromkeys(("/props", "/api/v0/models", "/api/tags", "/v1/models", "/version"), locked)) as port:
        assert await find_servers([port], limit=PATIENT) == ()


async def test_no_key_is_sent_to_whoever_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "LLAMA_API_KEY", "HOSTED_VLLM_API_KEY", "LM_STUDIO_API_KEY", "OLLAMA_API_KEY"):
        monkeypatch.setenv(name, "sk-secret-secret")
    heard: list[str] = []
    async with site({}, heard) as port:
        assert await find_servers([port], limit=PATIENT) == ()
    assert len(heard) == 4
    assert not [head for head in heard if "secret" in head or "authorization" in head.lower()]


async def test_a_key_that_was_set_for_a_server_opens_it_and_an_impossible_one_harms_nobody() -> None:
    heard: list[str] = []
    props = {"default_generation_settings": {"n_ctx": 2048}, "model_path": "m.gguf"}
    async with site({"/props": (200, props)}, heard) as port:
        place = Address("127.0.0.1", port)
        assert (await told_by(place, PATIENT, "sk-mine")) == (await told_by(place, PATIENT))
        for impossible in ("two\r\nlines: 1", "schlüssel"):
            with pytest.raises(UnansweredError):
                await told_by(place, PATIENT, impossible)
    assert ["Authorization: Bearer sk-mine" in head for head in heard if head] == [True, False]


async def test_a_llama_server_is_told_while_it_loads_and_when_it_holds_several_models() -> None:
    loading = (503, {"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}})
    async with site({"/props": loading}) as port:
        found = await only(port)
    assert (found.kind, found.models) == ("llama.cpp", ())
    assert "loading" in found.note
    router = {"role": "router", "model_path": "none", "default_generation_settings": {"params": {}, "n_ctx": 0}}
    listed = {"object": "list", "data": [{"id": "org/gemma-3-4b:Q4_K_M"}, {"id": "org/nomic-embed-text"}]}
    async with site({"/props": (200, router), "/v1/models": (200, listed)}) as port:
        found = await only(port)
    assert (found.models, found.context_window) == (("openai/org/gemma-3-4b:Q4_K_M",), None)


async def test_models_that_make_vectors_are_left_out() -> None:
    tags = {"models": [
        {"name": "llama3.2:latest", "details": {"family": "llama"}}, {"name": "nomic:latest", "details": {"family": "nomic-bert"}},
        {"name": "paraphrase:latest", "details": {"family": "bert"}}, {"name": "bge-m3"}, {"name": "qwen3:4b", "details": None},
    ]}
    async with site({"/api/tags": (200, tags)}) as port:
        assert (await only(port)).models == ("ollama_chat/llama3.2:latest", "ollama_chat/qwen3:4b")
    rows = [
        {"id": "sleeping", "type": "llm", "state": "not-loaded", "max_context_length": 32768}, {"id": "vectors", "type": "embeddings"},
        {"id": "seeing", "type": "vlm", "state": "loaded", "max_context_length": 131072, "loaded_context_length": 6000},
    ]
    async with site({"/api/v0/models": (200, {"data": rows, "object": "list"})}) as port:
        found = await only(port)
        assert found.models == ("lm_studio/seeing", "lm_studio/sleeping")
        assert found.context_window == 6000
        assert (await facts_of(found, "lm_studio/sleeping", PATIENT)).context_window == 4096


async def test_names_that_cannot_be_shown_are_left_out_and_a_flood_of_them_is_cut() -> None:
    names: list[object] = ["good", "\x1b[31mred", "two\nlines", "right\u202eleft", "x" * 201, "", " spaced ", 7, None, ["list"], {"a": 1}]
    rows = [{"name": name} for name in names] + ["no row", *({"name": f"m{number}"} for number in range(5000))]
    async with site({"/api/tags": (200, {"models": rows})}) as port:
        found = await only(port)
    assert found.models[:2] == ("ollama_chat/good", "ollama_chat/m0")
    assert len(found.models) == 200


async def test_models_that_run_elsewhere_are_named_and_not_held_to_a_grammar() -> None:
    async with site({"/api/tags": (200, {"models": [{"name": "gpt-oss:20b-cloud"}, {"name": "qwen3:4b"}]})}) as port:
        found = await only(port)
    assert "gpt-oss:20b-cloud" in found.note
    assert endpoint_for(found, "ollama_chat/gpt-oss:20b-cloud")[1].structured == "prompt"
    assert endpoint_for(found, "ollama_chat/qwen3:4b")[1].structured == "grammar"


STRANGERS = {
    "silent": {"stalls": True},
    "hangs up": {},
    "stalls within the head": {"answer": b"HTTP/1.1 200 OK\r\nContent-Len", "stalls": True},
    "stalls within the body": {"answer": answered(b'{"models": [', "Content-Length: 500"), "stalls": True},
    "endless headers": {"answer": b"HTTP/1.1 200 OK\r\n", "forever": b"X-More: and more\r\n" * 100},
    "endless body": {"answer": answered(b""), "forever": b"[" * 10_000},
    "endless chunks": {"answer": answered(b"", "Transfer-Encoding: chunked"), "forever": b"400\r\n" + b"[" * 1024 + b"\r\n"},
    "endless line": {"forever": b"A" * 10_000},
    "promises too much": {"answer": answered(b"{}", "Content-Length: 99999999999")},
    "promises less than nothing": {"answer": answered(b"{}", "Content-Length: -1")},
    "length of words": {"answer": answered(b"{}", "Content-Length: many")},
    "chunk of words": {"answer": answered(b"zz\r\n{}\r\n0\r\n\r\n", "Transfer-Encoding: chunked")},
    "chunk less than nothing": {"answer": answered(b"-5\r\n{}\r\n0\r\n\r\n", "Transfer-Encoding: chunked")},
    "garbage": {"answer": bytes(range(256)) * 40},
    "another protocol": {"answer": b"SSH-2.0-OpenSSH_9.6\r\n"},
    "page": {"answer": answered(b"<html>", "Content-Length: 6")},
    "redirect": {"answer": answered(b"", "Location: http://127.0.0.1:1/api/tags", "Content-Length: 0", status=302)},
    "deep": {"answer": answered(b"[" * 200_000, "Content-Length: 200000")},
    "long number": {"answer": answered(b"9" * 9999, "Content-Length: 9999")},
    "list": {"answer": answered(b"[1, 2]", "Content-Length: 6")},
    "null": {"answer": answered(b"null", "Content-Length: 4")},
    "odd fields": {"answer": answered(json.dumps({
        "default_generation_settings": [], "data": {"id": 1}, "error": {"message": ["Loading model"]}, "object": "list",
    }).encode())},
}


@pytest.mark.parametrize("name", STRANGERS)
async def test_strangers_neither_hang_nor_crash_nor_flood(name: str) -> None:
    async with stranger(**STRANGERS[name]) as port:  # type: ignore[arg-type]
        began = time.monotonic()
        found = await find_servers([port], limit=0.5)
        assert [server.kind for server in found] == (["busy"] if "stall" in name or name == "silent" else [])
        assert time.monotonic() - began < 5


async def test_a_stranger_does_not_keep_a_server_from_being_found() -> None:
    async with stranger(stalls=True) as odd, FakeServer(kind="llama.cpp", window=4096) as server:
        found = await find_servers([odd, server.port], limit=1.0)
    assert [each.api_base for each in found if each.kind != "busy"] == [server.base]


async def test_who_takes_connections_and_says_nothing_is_busy_and_no_server_to_ask() -> None:
    async with stranger(stalls=True) as port:
        [found] = await find_servers([port], limit=0.2)
        assert (found.kind, found.api_base, found.models) == ("busy", f"http://127.0.0.1:{port}/v1", ())
        assert "may be at work" in found.note
        assert await server_at(found.api_base, 0.2) is None


async def test_a_server_that_takes_its_time_is_waited_for_and_found() -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if await reader.read(1):  # the first connection only asks whether anybody is there
            await asyncio.sleep(0.6)  # longer than a connection may take
            text = b'{"default_generation_settings": {"n_ctx": 1024}, "model_path": "m.gguf"}'
            writer.write(answered(text, f"Content-Length: {len(text)}"))
            await writer.drain()
        writer.close()

    listening = await asyncio.start_server(talk, "127.0.0.1", 0)
    async with listening:
        [found] = await find_servers([listening.sockets[0].getsockname()[1]])
    assert (found.kind, found.models) == ("llama.cpp", ("openai/m",))


async def test_a_chunked_answer_is_read_and_so_is_one_without_length() -> None:
    text = b'{"default_generation_settings": {"n_ctx": 1024}, "model_path": "m.gguf"}'
    chunked = b"%x;note=x\r\n%s\r\n%x\r\n%s\r\n0\r\n\r\n" % (10, text[:10], len(text) - 10, text[10:])
    for answer in (answered(chunked, "Transfer-Encoding: chunked"), answered(text)):
        async with stranger(answer) as port:
            assert (await only(port)).context_window == 1024


@settings(max_examples=40, deadline=None)
@given(st.binary(max_size=400), st.sampled_from([b"", b"HTTP/1.1 200 OK\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"]))
def test_whatever_a_stranger_says_it_is_a_page_or_nothing(said: bytes, before: bytes) -> None:
    async def heard() -> None:
        async with stranger(before + said) as port:
            try:
                answer = await ask(Address("127.0.0.1", port), "/props", PATIENT)
            except UnansweredError:
                return
            assert 0 <= answer.status <= 999
            assert answer.rows("data") == [] or isinstance(answer.fields["data"], list)

    asyncio.run(heard())


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("http://127.0.0.1:8080/v1", "http://127.0.0.1:8080"),
        ("localhost:11434", "http://127.0.0.1:11434"),
        ("http://LOCALHOST:8080/v1", "http://127.0.0.1:8080"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        (":9000", "http://127.0.0.1:9000"),
        ("127.3.2.1:9000", "http://127.3.2.1:9000"),
        ("[::1]:9000", "http://[::1]:9000"),
        ("https://127.0.0.1:9000", None),
        ("http://example.com", None),
        ("192.168.1.5:11434", None),
        ("127.0.0.1.example.com:80", None),
        ("http://127.0.0.1:0", None),
        ("http://127.0.0.1:99999", None),
        ("http://127.0.0.1:port", None),
        ("http://[::1", None),
        ("a b c", None),
    ],
)
def test_only_addresses_on_this_machine_are_asked(text: str, place: str | None) -> None:
    found = loopback(text, 11434)
    assert (found.base if found else None) == place


async def test_the_environment_says_where_else_to_look() -> None:
    async with FakeServer(kind="ollama", models=("mine",)) as one, FakeServer(kind="llama.cpp", window=4096) as two:
        environ = {"OLLAMA_HOST": f"0.0.0.0:{one.port}", "LLAMA_ARG_PORT": str(two.port), "OPENAI_BASE_URL": "https://api.example.com/v1"}
        found = await find_servers(environ=environ, limit=PATIENT)
        assert {server.api_base for server in found} >= {one.root, two.base}
        assert await server_at(two.base, PATIENT) in found
    assert await server_at("http://192.0.2.1:8080/v1") is None


async def test_an_endpoint_for_a_model_of_ollama_has_what_the_server_tells_of_it() -> None:
    async with FakeServer(kind="ollama", models=("llama3.2:latest",), window=131072) as server:
        found = await only(server.port)
        facts = await facts_of(found, "ollama_chat/llama3.2:latest", PATIENT)
        assert facts == ModelFacts(8192, 3.2)
        name, endpoint = endpoint_for(found, "ollama_chat/llama3.2:latest", facts)
        assert name == f"ollama-{server.port}-llama3-2"
    assert endpoint.model_dump(exclude_none=True, exclude_defaults=True) == {
        "model": "ollama_chat/llama3.2:latest", "api_base": server.root, "context_window": 8192, "small": True, "structured": "grammar",
    }
    usual = found.model_copy(update={"api_base": "http://127.0.0.1:11434"})
    assert endpoint_for(usual, "ollama_chat/llama3.2:latest")[0] == "ollama-llama3-2"
    assert endpoint_for(usual, "ollama_chat/hf.co/some/Thing-8B:Q4_K_M")[0] == "ollama-thing-8b-q4-k-m"
    assert endpoint_for(usual, "ollama_chat/thing:8b")[1].small is False


async def test_the_window_that_an_ollama_model_was_set_up_with_counts() -> None:
    shown = {"parameters": "temperature    0.7\nnum_ctx      12000\n", "model_info": {"qwen3.context_length": 40960}}
    tags = {"models": [{"name": "qwen3:8b"}]}
    async with site({"/api/tags": (200, tags), "/api/show": (200, shown)}) as port:
        found = await only(port)
        assert await facts_of(found, "ollama_chat/qwen3:8b", PATIENT) == ModelFacts(12000, 8.0)
    assert await facts_of(found, "ollama_chat/qwen3:8b", PATIENT) == ModelFacts(None, 8.0)


async def test_models_of_one_server_may_have_windows_of_their_own() -> None:
    rows = [{"id": "a-1b", "owned_by": "vllm", "max_model_len": 2048}, {"id": "b", "owned_by": "vllm", "max_model_len": 4096}]
    async with site({"/v1/models": (200, {"object": "list", "data": rows})}) as port:
        found = await only(port)
        assert found.context_window is None
        assert [await facts_of(found, model, PATIENT) for model in found.models] == [ModelFacts(2048, 1.0), ModelFacts(4096, None)]


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("qwen2.5-coder-0.5b-instruct-q4_k_m", 0.5), ("llama3.2:3b", 3), ("Llama-3.2-3B-Instruct", 3), ("gemma-3-270m", 0.27),
        ("3.2B", 3.2), ("494.03M", 0.49403), ("gpt-oss:20b", 20), ("qwen3-30b-a3b", 30), ("gpt-5-mini", None), ("mixtral-8x7b", None),
        ("q4_k_m", None), ("None", None),
    ],
)
def test_a_name_tells_the_size(name: str, size: float | None) -> None:
    assert billions(name) == (pytest.approx(size) if size is not None else None)


def test_names_tell_who_writes() -> None:
    assert not any(map(writes_text, ("bge-m3", "nomic-embed-text", "text-embedding-3-small", "embeddinggemma", "all-minilm")))
    assert all(writes_text(name) for name in ("llama3.2", "qwen3:4b", "gpt-5-mini", "gemma-3-4b", "aggtest"))
