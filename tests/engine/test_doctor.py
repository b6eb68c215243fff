"""The doctor: findings for everything, whatever is broken; nothing waits for long, and no key is told."""

import asyncio
import json
import os
import shlex
import shutil
import socket
import sqlite3
import time
from collections.abc import Mapping
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from engine.doctor import Area, Finding, Terminal, examine, knocking, machine, worst
from engine.doctor.servers import command, servers
from engine.doctor.terminal import terminal
from engine.llm.local_servers import endpoint_for
from engine.records.models import LocalServer
from engine.settings import EndpointSettings, Settings, load_settings
from tests.fake_behaviour import RATE_LIMITED, SILENT, UNKNOWN_MODEL, Behaviour, says
from tests.fake_server import FakeServer

SECRET = "sk-proj-4fK2mQ9xW7bT1nVz8cY3"
SEEN = Terminal({"TERM": "xterm-256color", "COLORTERM": "truecolor"}, True, (120, 40), "utf-8")
KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "MISTRAL_API_KEY", "GROQ_API_KEY", "DEEPSEEK_API_KEY", "XAI_API_KEY",
        "OPENROUTER_API_KEY")


@pytest.fixture(autouse=True)
def own_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Settings and saves of the test's own, and no keys."""
    monkeypatch.setenv("OTHERMINDS_CONFIG", str(tmp_path / "config"))
    monkeypatch.setenv("OTHERMINDS_HOME", str(tmp_path / "home"))
    for name in (*KEYS, "OLLAMA_HOST", "OPENAI_BASE_URL", "OPENAI_API_BASE"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "config").mkdir()
    return tmp_path


def write(folder: Path, text: str) -> None:
    (folder / "config" / "settings.toml").write_text(text, encoding="utf-8")


async def found(offline: bool = False) -> dict[Area, dict[str, Finding]]:
    by_area: dict[Area, dict[str, Finding]] = {}
    for finding in await examine(SEEN, offline=offline):
        by_area.setdefault(finding.area, {})[finding.name] = finding
        assert SECRET not in finding.model_dump_json()
        assert SECRET[:12] not in finding.model_dump_json()
        assert "\n" not in finding.text + finding.advice
    return by_area


async def closed_port() -> int:
    async with FakeServer() as server:
        return server.port


def helpful(body: Mapping[str, Any]) -> Behaviour:
    """A model that replies with JSON when it is asked for some."""
    return says('{"word": "lantern", "count": 3}' if "JSON" in json.dumps(body) else "I am ready.")


async def test_all_is_looked_at_and_all_is_well_as_it_comes(own_place: Path) -> None:
    seen = await found()
    assert list(seen) == ["program", "settings", "models", "servers", "embedder", "database", "terminal"]
    assert worst([finding for area in seen.values() for finding in area.values()]) == "ok"
    assert "built in" in seen["models"]["storyteller"].text
    assert "768" in seen["embedder"]["hash768"].text
    assert sqlite3.sqlite_version in seen["database"]["SQLite"].text
    assert not (own_place / "home").exists()


async def test_with_the_storyteller_alone_what_else_could_answer_is_told(own_place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", SECRET)
    async with FakeServer(kind="ollama", models=("qwen3:4b",)) as server:
        monkeypatch.setenv("OLLAMA_HOST", f"127.0.0.1:{server.port}")
        seen = await found()
    others = seen["models"]["others"]
    assert f"Ollama at {server.root}" in others.text
    assert "ANTHROPIC_API_KEY is set" in others.text


async def test_a_server_is_shown_with_the_command_that_uses_it(own_place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with FakeServer(kind="ollama", models=("qwen3:4b", "llama3.2:latest"), window=4096) as server:
        monkeypatch.setenv("OLLAMA_HOST", f"127.0.0.1:{server.port}")
        ollama = (await found(offline=True))["servers"]["ollama"]
        assert server.requests == []
    assert "qwen3:4b, llama3.2:latest" in ollama.text
    words = shlex.split(ollama.command)
    assert words[:3] == ["otherminds", "config", "set"]
    write(own_place, f"[models]\ndefault = {json.dumps(words[6])}\n[endpoint]\n{words[3].removeprefix('endpoint.')} = {words[4]}\n")
    settings = load_settings()
    name = settings.models.default.model
    assert settings.resolved(name).api_base == server.root
    assert settings.resolved(name).context_window == 4096


async def test_a_server_that_is_set_up_already_needs_no_command(own_place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with FakeServer(kind="vllm", models=("m",)) as server:
        monkeypatch.setenv("HOSTED_VLLM_API_BASE", server.base)
        write(own_place, f'[endpoint.mine]\nmodel = "hosted_vllm/m"\napi_base = "http://localhost:{server.port}/v1"\n')
        vllm = (await found(offline=True))["servers"]["vllm"]
    assert vllm.command == ""
    assert vllm.text.endswith("Set up as mine")


def test_the_command_survives_a_shell() -> None:
    base = "http://127.0.0.1:8080/v1"
    server = LocalServer(kind="llama.cpp", api_base=base, models=("openai/it's $HOME \"m\"",), key_env="LLAMA_API_KEY")
    words = shlex.split(command(*endpoint_for(server, server.models[0])))
    assert words[3] == "endpoint.llama-cpp-it-s-home-m"
    assert 'model = "openai/it\'s $HOME \\"m\\""' in words[4]
    assert 'key_env = "LLAMA_API_KEY"' in words[4]


async def test_settings_that_cannot_be_read_are_findings_and_the_rest_is_looked_at(own_place: Path) -> None:
    write(own_place, '[models]\nactr = "storyteller"\n[caps]\nrun_tokens = "many"\n')
    seen = await found()
    faults = list(seen["settings"].values())
    assert [fault.state for fault in faults] == ["bad", "bad"]
    assert "actr" in faults[0].text + faults[1].text
    assert "run_tokens" in faults[0].text + faults[1].text
    assert [str(own_place) in fault.advice for fault in faults] == [False, True]
    assert seen["models"]["storyteller"].state == "warn"
    write(own_place, "[models\n")
    [fault] = (await found())["settings"].values()
    assert (fault.state, "not TOML" in fault.text) == ("bad", True)


async def test_what_is_legal_and_hardly_meant_is_a_warning(own_place: Path) -> None:
    write(own_place, '[models]\ndefault = ["storyteller", "openai/gpt-5-mini"]\n')
    seen = await found(offline=True)
    assert seen["settings"]["odd"].state == "warn"
    assert "never be asked" in seen["settings"]["odd"].text


async def test_a_missing_key_is_said_with_its_variable_and_nothing_is_called(own_place: Path) -> None:
    write(own_place, '[models]\ndefault = "openai/gpt-5-mini"\nactor = "storyteller"\n')
    for offline in (False, True):
        model = (await found(offline))["models"]["openai/gpt-5-mini"]
        assert model.state == "bad"
        assert "OPENAI_API_KEY is not set" in model.text
        assert "export OPENAI_API_KEY=" in model.advice


async def test_a_missing_key_of_one_that_only_stands_in_is_a_warning(own_place: Path) -> None:
    write(own_place, '[models]\nactor = ["storyteller"]\n[models.default]\nmodel = "storyteller"\nfallbacks = ["openai/gpt-5-mini"]\n')
    assert (await found(offline=True))["models"]["openai/gpt-5-mini"].state == "warn"


def endpoint(server: FakeServer, model: str = "openai/some-model", more: str = "") -> str:
    return f'[models]\ndefault = "mine"\n[endpoint.mine]\nmodel = "{model}"\napi_base = "{server.base}"\n{more}\n'


async def test_a_model_that_answers_is_well(own_place: Path) -> None:
    async with FakeServer(window=4096) as server:
        server.behave(helpful)
        write(own_place, endpoint(server))
        mine = (await found())["models"]["mine (openai/some-model)"]
        assert len(server.requests) <= 3
    assert mine.state == "ok"
    assert "it answers in" in mine.text
    assert "for all tasks" in mine.text
    assert mine.text.endswith("free")


async def test_a_test_counts_for_the_day(own_place: Path) -> None:
    async with FakeServer() as server:
        server.behave(helpful)
        write(own_place, endpoint(server))
        await found()
        calls = len(server.requests)
    [log] = (own_place / "home" / "usage").glob("*.jsonl")
    assert len(log.read_text(encoding="utf-8").splitlines()) == calls >= 2


async def test_offline_nothing_is_asked(own_place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", SECRET)
    async with FakeServer() as server:
        embed = f'[models.embed]\nmodel = "openai/vectors"\napi_base = "{server.base}"\n'
        write(own_place, endpoint(server, more='key_env = "MY_KEY"') + embed)
        seen = await found(offline=True)
        assert (server.requests, server.asked) == ([], [])
    assert "its key is set; not asked" in seen["models"]["mine (openai/some-model)"].text
    assert "not asked" in seen["embedder"]["openai/vectors"].text


async def test_a_key_that_is_rejected_is_said_to_be(own_place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", SECRET)
    async with FakeServer(key="another") as server:
        write(own_place, endpoint(server, more='key_env = "MY_KEY"'))
        mine = (await found())["models"]["mine (openai/some-model)"]
    assert mine.state == "bad"
    assert "the key in MY_KEY was rejected" in mine.text
    assert "Set it to a valid one" in mine.text


async def test_a_host_that_is_down_is_told_at_once(own_place: Path) -> None:
    port = await closed_port()
    write(own_place, f'[models]\ndefault = "mine"\n[endpoint.mine]\nmodel = "openai/m"\napi_base = "http://127.0.0.1:{port}/v1"\n')
    began = time.monotonic()
    mine = (await found())["models"]["mine (openai/m)"]
    assert time.monotonic() - began < 8
    assert mine.state == "bad"
    assert f"http://127.0.0.1:{port}/v1 cannot be reached" in mine.text
    assert "Start the server" in mine.advice


async def test_a_host_that_takes_no_connection_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(knocking, "_LIMIT", 0.3)
    with socket.socket() as full, ExitStack() as callers:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        address = full.getsockname()
        for _ in range(8):  # more than it has room for: whoever comes next hears nothing
            caller = callers.enter_context(socket.socket())
            caller.setblocking(False)
            caller.connect_ex(address)
        began = time.monotonic()
        assert not await knocking.takes_connections(f"http://127.0.0.1:{address[1]}/v1")
        assert time.monotonic() - began < 5
    assert await knocking.takes_connections("http://a-name-is-not-looked-up.example/v1")
    assert await knocking.takes_connections(None)
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    assert await knocking.takes_connections("http://192.0.2.1:9/v1")


async def test_an_unknown_model_is_told_with_those_that_are_there(own_place: Path) -> None:
    async with FakeServer(models=("some-model-7b", "other")) as server:
        server.behave(UNKNOWN_MODEL, UNKNOWN_MODEL)
        write(own_place, endpoint(server, "openai/some-model-8b"))
        mine = (await found())["models"]["mine (openai/some-model-8b)"]
    assert mine.state == "bad"
    assert "Did you mean openai/some-model-7b?" in mine.text


async def test_trouble_that_goes_by_is_a_warning(own_place: Path) -> None:
    async with FakeServer() as server:
        server.behave(RATE_LIMITED)
        write(own_place, endpoint(server))
        mine = (await found())["models"]["mine (openai/some-model)"]
        assert len(server.requests) == 1
    assert mine.state == "warn"


async def test_a_cap_that_is_reached_is_a_warning(own_place: Path) -> None:
    async with FakeServer() as server:
        write(own_place, endpoint(server) + "[caps]\nday_tokens = 5\n")
        mine = (await found())["models"]["mine (openai/some-model)"]
        assert server.requests == []
    assert mine.state == "warn"
    assert "cap" in mine.text


async def test_models_are_asked_side_by_side_and_progress_is_told(own_place: Path) -> None:
    async with FakeServer() as one, FakeServer() as two:
        one.every = two.every = 0.15
        for server in (one, two):
            server.behave(helpful)
        tables = (f'[endpoint.{name}]\nmodel = "openai/m"\napi_base = "{server.base}"\n' for name, server in (("a", one), ("b", two)))
        write(own_place, f'[models]\ndefault = "a"\nactor = "b"\n{"".join(tables)}')
        told: list[frozenset[Area]] = []
        task = asyncio.create_task(examine(SEEN, tell=told.append))
        await one.until(lambda: bool(one.requests) and bool(two.requests))
        assert not [request for request in (*one.requests, *two.requests) if request.done]
        await task
    assert told[0] >= {"models", "servers", "embedder"}
    assert "models" in told[-1]
    assert all(later < earlier for earlier, later in pairwise(told))


async def test_looking_can_be_given_up_at_once(own_place: Path) -> None:
    async with FakeServer() as server:
        server.behave(SILENT)
        write(own_place, endpoint(server))
        task = asyncio.create_task(examine(SEEN))
        await server.until(lambda: bool(server.requests))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await server.until(lambda: server.requests[0].hung_up)


async def test_an_embedder_that_is_away_is_a_warning(own_place: Path) -> None:
    port = await closed_port()
    write(own_place, f'[models.embed]\nmodel = "openai/vectors"\napi_base = "http://127.0.0.1:{port}/v1"\n')
    embedder = (await found())["embedder"]["openai/vectors"]
    assert embedder.state == "warn"
    assert "cannot be reached" in embedder.text


async def test_an_embedder_without_its_file_is_bad(own_place: Path) -> None:
    write(own_place, '[models.embed]\nmodel = "minilm"\nfile = "nowhere.onnx"\n')
    embedder = (await found(offline=True))["embedder"]["minilm"]
    assert (embedder.state, bool(embedder.advice)) == ("bad", True)


async def test_a_folder_that_cannot_be_is_bad(own_place: Path) -> None:
    (own_place / "home").write_text("a file", encoding="utf-8")
    saves = (await found(offline=True))["database"]["saves"]
    assert saves.state == "bad"
    assert "OTHERMINDS_HOME" in saves.advice


async def test_saves_are_counted(own_place: Path) -> None:
    folder = own_place / "home" / "saves"
    folder.mkdir(parents=True)
    (folder / "one.db").touch()
    assert (await found(offline=True))["database"]["saves"].text.endswith("holds 1 save")
    assert [path.name for path in folder.iterdir()] == ["one.db"]


@pytest.mark.parametrize(("free", "state"), [(50_000_000, "warn"), (1_000_000, "bad"), (10**12, "ok")])
def test_little_room_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int, state: str) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: shutil._ntuple_diskusage(10**12, 0, free))
    [space] = [finding for finding in machine.database(tmp_path / "saves") if finding.name == "free space"]
    assert space.state == state


@pytest.mark.parametrize(("release", "state"), [("1.82.7", "bad"), ("1.110.2", "ok"), ("", "bad")])
def test_a_stolen_release_of_litellm_is_bad(monkeypatch: pytest.MonkeyPatch, release: str, state: str) -> None:
    monkeypatch.setattr(machine, "_installed", lambda package: release if package == "litellm" else "1.0")
    assert {finding.name: finding.state for finding in machine.program()}["litellm"] == state


def environ(**variables: str) -> dict[str, str]:
    return {"TERM": "xterm-256color", "COLORTERM": "truecolor", **variables}


@pytest.mark.parametrize(
    ("seen", "name", "state", "words"),
    [
        (SEEN._replace(size=(60, 20)), "size", "warn", "60 by 20"),
        (SEEN, "size", "ok", "120 by 40"),
        (SEEN._replace(encoding="ascii"), "characters", "warn", "ascii"),
        (SEEN._replace(encoding="UTF8"), "characters", "ok", "UTF-8"),
        (SEEN._replace(encoding="nonsense"), "characters", "warn", "nonsense"),
        (SEEN, "colours", "ok", "16 million"),
        (SEEN._replace(environ=environ(COLORTERM="")), "colours", "ok", "256"),
        (SEEN._replace(environ={"TERM": "vt100"}), "colours", "warn", "16 or fewer"),
        (SEEN._replace(environ=environ(NO_COLOR="1")), "colours", "ok", "NO_COLOR"),
        (SEEN._replace(environ=environ(TERM="dumb")), "kind", "warn", "TERM=dumb"),
        (SEEN._replace(environ=environ(TERM="linux")), "mouse", "ok", "none in this terminal"),
        (SEEN._replace(is_there=False), "kind", "ok", "a file or a pipe"),
    ],
)
async def test_the_terminal_is_told(seen: Terminal, name: str, state: str, words: str) -> None:
    found = {finding.name: finding for finding in await terminal(seen)}
    assert (found[name].state, words in found[name].text) == (state, True)
    assert "tmux" not in found


@pytest.mark.parametrize(
    ("kind", "says_", "state", "words"),
    [
        ("tmux-256color", "3.4 256,RGB,title", "ok", "inside tmux 3.4"),
        ("tmux-256color", "3.4 256,title", "warn", "256 colours only"),
        ("screen-256color", "", "ok", "inside tmux"),
        ("xterm-256color", "3.4 RGB", "warn", "TERM=xterm-256color"),
    ],
)
async def test_tmux_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, says_: str, state: str, words: str) -> None:
    program = tmp_path / "tmux"
    program.write_text(f"#!/bin/sh\necho '{says_}'\n" if says_ else "#!/bin/sh\nexit 1\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    told = await terminal(SEEN._replace(environ=environ(TERM=kind, TMUX="/somewhere,1,0")))
    [tmux] = [finding for finding in told if finding.name == "tmux"]
    assert (tmux.state, words in tmux.text) == (state, True)


async def test_a_tmux_that_hangs_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "tmux"
    program.write_text("#!/bin/sh\nexec sleep 60\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    began = time.monotonic()
    told = await terminal(SEEN._replace(environ=environ(TERM="tmux-256color", TMUX="/somewhere,1,0")))
    assert time.monotonic() - began < 10
    assert [finding.state for finding in told if finding.name == "tmux"] == ["ok"]


async def test_an_endpoint_on_this_machine_is_no_contradiction_to_no_other_server() -> None:
    mine = EndpointSettings(model="openai/fake-7b", api_base="http://127.0.0.1:18111/v1")
    away = EndpointSettings(model="openai/gpt-5-mini")
    [found] = await servers((), Settings(endpoint={"home": mine, "away": away}))
    assert (found.name, found.text) == ("no other", "beside home, which is looked at above, no model server answers on this machine")
    [found] = await servers((), Settings(endpoint={"away": away}))
    assert (found.name, found.text) == ("none", "no model server answers on this machine")
