"""The service as a process: begun, asked, ended, killed."""

import json
import os
import shutil
import signal
import socket
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

pytestmark = pytest.mark.slow  # each starts processes
TOKEN = "a-token-that-nobody-guesses"
ALL = "/v1/memory/sessions"
WORLD = """\
name: The inn
clock: {start: 1247-03-01T17:40}
seed: 1
policies: {sessions: {pairs: none, collapse: {max_turns: 100000, max_tokens: 1000000}}}
places: [{id: bar, name: the bar}]
entities:
  - {id: bob, at: bar, agent: true, attributes: {name: Bob Harrow, label: the bald man}}
  - {id: en_2, at: bar, agent: true, attributes: {name: Mira Vance, label: the thin woman}}
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh save."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "inn").mkdir()
    (folder / "inn" / "world.yaml").write_text(WORLD)
    done = otherminds("run", "inn", "--rounds", "1", "--save", "inn.db", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "inn.db"


@pytest.fixture
def save(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(made, tmp_path / "inn.db"))


def otherminds(*arguments: str | Path, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tui.start", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False, env=os.environ | environment, timeout=60)


@dataclass
class Served:
    """A service that runs."""

    process: subprocess.Popen[str]
    said: dict[str, Any]

    def client(self, token: str = TOKEN) -> httpx.Client:
        """A program's connection."""
        headers = {"authorization": f"Bearer {token}"}
        return httpx.Client(base_url=self.said["url"], headers=headers, timeout=30, trust_env=False)

    def ended(self) -> int:
        """Its exit code."""
        return self.process.wait(30)


Start = Callable[..., Served]


@pytest.fixture
def serve(save: Path) -> Iterator[Start]:
    """Begin to serve the save."""
    processes: list[subprocess.Popen[str]] = []

    def start(*arguments: str, **environment: str) -> Served:
        command = [sys.executable, "-m", "tui.start", "serve", str(save), "--port", "0", "--json", *arguments]
        environ = os.environ | {"OTHERMINDS_TOKEN": TOKEN} | environment
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environ)
        processes.append(process)
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, process.stderr.read() if process.stderr else ""
        return Served(process, json.loads(line))

    yield start
    for process in processes:
        if process.poll() is None:
            process.kill()
        process.communicate()


def turns_in(save: Path) -> list[tuple[str, int, str]]:
    """Key, pin and words of each turn, in order."""
    with closing(sqlite3.connect(save)) as conn:
        assert conn.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return conn.execute("SELECT id, pinned, content FROM session_turns ORDER BY seq").fetchall()


def test_it_is_served_and_ends_at_sigterm_with_all_that_was_said(serve: Start, save: Path) -> None:
    served = serve()
    assert (served.said["token"], served.said["save"], served.said["pid"]) == (None, str(save), served.process.pid)
    assert served.said["url"].startswith("http://127.0.0.1:")
    with served.client() as client:
        assert client.get("/healthz").text == "ok\n"
        key = client.post(ALL, json={"agent_id": "bob", "actor_id": "en_2"}).json()["id"]
        for number in range(5):
            body = {"role": "actor", "content": f"The Heron carries {number} barrels of salt.", "pinned": True}
            assert client.post(f"{ALL}/{key}/turns", json=body).status_code == 201
        assert client.get(ALL, headers={"authorization": "Bearer nonsense"}).status_code == 401
        assert client.head(ALL).status_code == 200
        done = client.post(f"{ALL}/{key}/collapse", params={"wait": 60}).json()
        assert (done["status"], done["summary"]["turns_processed"]) == ("collapsed", 5)
        busy = otherminds("run", save, "--rounds", "1", cwd=save.parent)
        assert (busy.returncode, "already open" in busy.stderr) == (1, True)
        with closing(socket.create_connection(("127.0.0.1", client.base_url.port or 0))) as no_http:
            no_http.sendall(b"\x16\x03\x01 this is no HTTP\r\n\r\n")
            assert no_http.recv(100).startswith(b"HTTP/1.1 400")
        served.process.send_signal(signal.SIGTERM)
        assert served.ended() == 0
    assert served.process.stderr is not None
    assert served.process.stderr.read() == ""
    assert not save.with_name("inn.db.lock").exists()
    again = serve()
    with again.client() as client:
        assert client.get(f"{ALL}/{key}").json()["summary"] == done["summary"]
    again.process.send_signal(signal.SIGINT)
    assert again.ended() == 0


def test_a_made_token_is_told_once_and_lets_in(serve: Start) -> None:
    served = serve(OTHERMINDS_TOKEN="")
    with served.client(served.said["token"]) as client:
        assert client.get(ALL).status_code == 200
    with served.client() as client:
        assert client.get(ALL).status_code == 401


def test_a_token_can_stand_in_a_file(serve: Start, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("another-token-of-some-length\n")
    file.chmod(stat.S_IRUSR | stat.S_IWUSR)
    served = serve("--token-file", str(file))
    assert served.said["token"] is None
    with served.client("another-token-of-some-length") as client:
        assert client.get(ALL).status_code == 200


def test_a_collapse_that_is_under_way_ends_with_the_service_and_is_made_after_the_next_start(
    serve: Start, save: Path, tmp_path: Path
) -> None:
    """The model never replies: a port that takes connections and says nothing."""
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:
        port = silent.getsockname()[1]
        away = {"OTHERMINDS_MODEL": "openai/silent", "OTHERMINDS_API_BASE": f"http://127.0.0.1:{port}/v1", "OPENAI_API_KEY": "none"}
        served = serve(**away)
        with served.client() as client:
            key = client.post(ALL, json={"agent_id": "bob", "actor_id": "en_2"}).json()["id"]
            for number in range(5):
                body = {"role": "actor", "content": f"The Heron carries {number} barrels of salt.", "pinned": True}
                client.post(f"{ALL}/{key}/turns", json=body)
            replies: list[httpx.Response] = []

            def wait() -> None:
                with served.client() as other:
                    replies.append(other.post(f"{ALL}/{key}/collapse", params={"wait": 200}))

            waiting = threading.Thread(target=wait)
            waiting.start()
            silent.settimeout(30)
            connection, _ = silent.accept()  # the model is asked
            served.process.send_signal(signal.SIGTERM)
            assert served.ended() == 0
            connection.close()
            waiting.join()
    assert [(reply.status_code, reply.json()["status"]) for reply in replies] == [(202, "collapsing")]
    assert len(turns_in(save)) == 5
    again = serve()
    with again.client() as client:
        done = client.post(f"{ALL}/{key}/collapse", params={"wait": 60}).json()
        assert done["status"] == "collapsed"
        assert len(client.get("/v1/memory/knowledge").json()["knowledge"]) == done["collapse"]["added"]


@pytest.mark.parametrize("after", [1, 7, 23])
def test_killed_between_turn_and_reply_a_turn_is_there_or_not(serve: Start, save: Path, after: int) -> None:
    served = serve()
    told: list[tuple[str, str]] = []
    with served.client() as client:
        key = client.post(ALL, json={"agent_id": "bob", "actor_id": "en_2"}).json()["id"]

    def program(name: int) -> None:
        with served.client() as client:
            for number in range(500):
                words = f"Program {name} says line {number}. " + "x" * 3000
                try:
                    reply = client.post(f"{ALL}/{key}/turns", json={"role": "actor", "content": words, "pinned": True})
                except httpx.HTTPError:
                    return
                told.append((reply.json()["turn"]["id"], words))
                if len(told) == after:
                    os.kill(served.process.pid, signal.SIGKILL)

    programs = [threading.Thread(target=program, args=(name,)) for name in range(4)]
    for each in programs:
        each.start()
    for each in programs:
        each.join()
    assert served.ended() == -signal.SIGKILL
    kept = turns_in(save)
    by_id = {turn: words for turn, _, words in kept}
    assert all(by_id[turn] == words for turn, words in told), "what was replied to is there"
    assert len(kept) <= len(told) + 4
    assert all(pinned == 1 and len(words) > 3000 and words.endswith("x") for _, pinned, words in kept), "none is there by half"
    said = [words for _, _, words in kept]
    assert len(set(said)) == len(said)
    for name in range(4):
        mine = [words for words in said if words.startswith(f"Program {name} ")]
        assert mine == [f"Program {name} says line {number}. " + "x" * 3000 for number in range(len(mine))]
    again = serve()
    with again.client() as client:
        assert [turn["content"] for turn in client.get(f"{ALL}/{key}").json()["turns"]] == said


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("nothing.db",), 1, "nothing.db"),
        (("inn.db", "--host", "0.0.0.0"), 2, "--allow-network"),
        (("inn.db", "--host", "10.9.8.7"), 2, "not encrypted"),
        (("inn.db", "--host", "10.9.8.7", "--allow-network"), 1, "cannot be listened on"),
        (("inn.db", "--host", "no such host", "--allow-network"), 1, "no address"),
        (("inn.db", "--port", "70000"), 2, "65535"),
        (("inn.db", "--token-file", "short"), 1, "16 or more"),
        (("inn.db", "--token-file", "nowhere"), 1, "nowhere"),
    ],
)
def test_what_cannot_be_served_is_told(save: Path, arguments: tuple[str, ...], code: int, words: str) -> None:
    (save.parent / "short").write_text("abc")
    done = otherminds("serve", *arguments, cwd=save.parent)
    assert (done.returncode, done.stdout) == (code, "")
    assert words in " ".join(done.stderr.replace("\u2502", " ").split())
    assert "Traceback" not in done.stderr


def test_a_port_that_is_taken_is_told(save: Path) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
        done = otherminds("serve", save, "--port", str(port), cwd=save.parent)
    assert (done.returncode, f"port {port}" in done.stderr) == (1, True)


def test_without_the_extra_it_is_said_how_to_get_it(save: Path) -> None:
    code = "import sys; sys.modules['uvicorn'] = None; sys.argv = ['otherminds', 'serve', 'inn.db']; from tui.start import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=save.parent, check=False)
    assert done.returncode == 1
    assert "otherminds[serve]" in done.stderr


def test_people_are_told_where_it_is_served_and_how_it_ends(save: Path) -> None:
    command = [sys.executable, "-m", "tui.start", "serve", str(save), "--port", "0"]
    environ = {name: value for name, value in os.environ.items() if name != "OTHERMINDS_TOKEN"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environ)
    assert process.stdout is not None
    where, token, how = (process.stdout.readline() for _ in range(3))
    process.send_signal(signal.SIGTERM)
    rest, trouble = process.communicate(timeout=30)
    assert "is served at http://127.0.0.1:" in where
    assert token.startswith("Token, shown this once: ")
    assert "/v1/openapi.json" in how
    assert (rest, trouble, process.returncode) == ("The service has ended. All is saved.\n", "", 0)


def test_starting_other_commands_does_not_load_the_service() -> None:
    code = "import tui.cli, sys; print({'starlette', 'uvicorn', 'engine.game', 'engine.http'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
