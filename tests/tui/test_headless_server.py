"""Runs with a model on a server: recorded with all that goes wrong, replayed without it, and stopped when it cannot be used."""

import asyncio
import json
import socket
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.files.bundled import bundled_worlds
from engine.llm.protocol import ModelRequest
from engine.llm.storyteller.actor.actor import act
from engine.llm.storyteller.decode.decoder import decode
from engine.llm.storyteller.handoff.writer import remember
from engine.llm.storyteller.referee import judge
from engine.records.prompts import Message
from engine.storage.diff import differences
from tests.fake_behaviour import NO_USAGE, OVERLOADED, WRONG_KEY, Behaviour, fails, says
from tests.fake_server import FakeServer, in_a_thread
from tui.headless import Order, Outcome, in_words, run_rounds

WORLD = next(info.path for info in bundled_worlds() if info.slug == "salt-lantern")
KEY = "sk-0a1b2c3d4e5f6a7b8c9d0e1f"
WRITERS: Mapping[str, Callable[[ModelRequest], str]] = {
    "You play one": act, "Split a piece": decode, "Judge whether": judge, "You keep the": remember,
}


def storyteller(body: Mapping[str, Any]) -> str:
    """What the storyteller replies to a body: as a model does that knows nothing but the prompt."""
    messages = tuple(Message(role=message["role"], content=message["content"]) for message in body["messages"])
    request = ModelRequest(task="actor", entity="", round=zlib.crc32(messages[-1].content.encode()) % 1000, seed=7, messages=messages)
    return next(writer for words, writer in WRITERS.items() if request.text.startswith(words))(request)


class Moody:
    """Takes its time as it likes, and now and then does not reply well. Its moods go by the count of requests."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, body: Mapping[str, Any]) -> Behaviour:
        self.asked += 1
        good = replace(says(storyteller(body)), every=0.0005 * (self.asked % 5))
        match self.asked:
            case 9 | 30:
                return fails(429, "Slow down.", "rate_limit_exceeded", retry_after="0")
            case 16 | 17:
                return replace(good, abort_at=3)  # and once more: then the next endpoint answers
            case 22 | 45:
                return says('{"intents": "none", "chunks": 3}')  # fits no shape
            case 26 | 52:
                return replace(good, usage=None)
            case 35:
                return says("I'm sorry, but I can't continue with this request.")
            case 41 | 42:
                return says("")
        return good


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with in_a_thread(key=KEY) as server:
        yield server


@pytest.fixture
def settle(tmp_path: Path, server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Writes settings: the server's model answers, and the storyteller after it unless it stands `alone`."""
    monkeypatch.setenv("OTHERMINDS_CONFIG", str(tmp_path))
    monkeypatch.setenv("OTHERMINDS_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("FAKE_KEY", KEY)

    def write(*, alone: bool = False, endpoint: str = "input_price = 2\noutput_price = 10", base: str = "") -> None:
        names = ["fake"] if alone else ["fake", "storyteller"]
        (tmp_path / "settings.toml").write_text(
            f"[models]\ndefault = {json.dumps(names)}\n"
            f'[endpoint.fake]\nmodel = "openai/fake"\napi_base = "{base or server.base}"\nkey_env = "FAKE_KEY"\ntimeout = 20\n{endpoint}\n'
            f'[provider."127.0.0.1:{server.port}"]\nconcurrency = 4\n',
            encoding="utf-8",
        )

    return write


def run(order: Order) -> Outcome:
    return asyncio.run(run_rounds(replace(order, quiet=True), order.save or order.start))


def lasting(outcome: Outcome) -> dict[str, object]:
    return {key: value for key, value in outcome.summary.items() if key not in ("seconds", "unused_calls")}


@pytest.mark.slow
def test_a_run_with_a_moody_server_is_replayed_to_the_last_byte_without_it(
    tmp_path: Path, server: FakeServer, settle: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    settle()
    server.behave(Moody())
    then = run(Order(WORLD, 5, 7, tmp_path / "then.db", tmp_path / "then.jsonl", record=tmp_path / "tape"))
    told = capsys.readouterr().err
    assert then.stopped == ""
    assert "storyteller answers instead" in told
    assert then.summary["failed_calls"] >= 3  # type: ignore[operator]
    assert then.summary["cost"] > 0  # type: ignore[operator]
    asked = len(server.requests)
    settle(base="http://127.0.0.1:9/v1")  # nobody is there any more
    now = run(Order(WORLD, None, None, tmp_path / "now.db", tmp_path / "now.jsonl", replay=tmp_path / "tape"))
    assert (now.stopped, now.summary["unused_calls"], len(server.requests)) == ("", 0, asked)
    assert differences(tmp_path / "then.db", tmp_path / "now.db") == []
    assert (tmp_path / "now.jsonl").read_bytes() == (tmp_path / "then.jsonl").read_bytes()
    assert lasting(now) == lasting(then)
    text = "".join((tmp_path / name).read_text(encoding="utf-8") for name in ("tape", "then.jsonl"))
    assert KEY not in text + told
    assert server.base not in (tmp_path / "tape").read_text(encoding="utf-8")


@pytest.mark.slow
def test_prompts_that_were_cut_to_fit_are_cut_the_same_way_in_a_replay(
    tmp_path: Path, server: FakeServer, settle: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    server.answer, server.window, server.weight = storyteller, 3000, 1.9
    settle(alone=True)
    then = run(Order(WORLD, 3, 7, tmp_path / "then.db", tmp_path / "then.jsonl", record=tmp_path / "tape"))
    assert "it is sent again, cut to fit" in capsys.readouterr().err
    settle(base="http://127.0.0.1:9/v1", alone=True)
    now = run(Order(WORLD, None, None, tmp_path / "now.db", tmp_path / "now.jsonl", replay=tmp_path / "tape"))
    assert (now.stopped, now.summary["unused_calls"]) == (then.stopped, 0)
    assert differences(tmp_path / "then.db", tmp_path / "now.db") == []
    assert (tmp_path / "now.jsonl").read_bytes() == (tmp_path / "then.jsonl").read_bytes()
    assert lasting(now) == lasting(then)


class Forgetful:
    """Gives vectors, mostly; longer texts lie in another direction."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, body: Mapping[str, Any]) -> Behaviour:
        self.asked += 1
        return OVERLOADED if self.asked % 7 == 3 else Behaviour(every=0.0005 * (self.asked % 3))


@pytest.mark.slow
def test_vectors_of_a_server_are_on_the_tape_with_its_failures(
    tmp_path: Path, server: FakeServer, settle: Callable[..., None], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    settle()
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_API_BASE", server.base)
    vectors = f'[models]\nembed = {{model = "openai/vectors", api_base = "{server.base}"}}\n'
    (tmp_path / "settings.toml").write_text(vectors, encoding="utf-8")
    server.behave(Behaviour(), Forgetful())  # the first tells how long vectors are
    then = run(Order(WORLD, 6, 7, tmp_path / "then.db", tmp_path / "then.jsonl", record=tmp_path / "tape"))
    assert (then.stopped, then.summary["failed_calls"]) == ("", 0)
    asked = len(server.requests)
    assert asked > 30
    assert KEY not in (tmp_path / "tape").read_text(encoding="utf-8") + capsys.readouterr().err
    (tmp_path / "settings.toml").unlink()
    now = run(Order(WORLD, None, None, tmp_path / "now.db", tmp_path / "now.jsonl", replay=tmp_path / "tape"))
    assert (now.stopped, now.summary["unused_calls"], len(server.requests)) == ("", 0, asked)
    assert differences(tmp_path / "then.db", tmp_path / "now.db") == []
    assert (tmp_path / "now.jsonl").read_bytes() == (tmp_path / "then.jsonl").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("behaviour", "base", "words", "most"),
    [
        (WRONG_KEY, "", "key", 12),
        (OVERLOADED, "", "has trouble of its own", 60),
        (None, "http://127.0.0.1:9/v1", "cannot be reached", 0),
        (says("Error: upstream model is not available (code 503). Please try again later."), "", "Nobody could act.", 60),
    ],
    ids=["wrong key", "overloaded", "down", "errors in place of replies"],
)
def test_a_run_ends_at_once_when_its_model_cannot_be_used(
    tmp_path: Path, server: FakeServer, settle: Callable[..., None], behaviour: Behaviour | None, base: str, words: str, most: int
) -> None:
    settle(alone=True, base=base)
    if behaviour is not None:
        server.behave(lambda body: behaviour)
    outcome = run(Order(WORLD, 200, 7, tmp_path / "a.db", record=tmp_path / "tape"))
    assert words in outcome.stopped
    assert f"Go on with: otherminds run {tmp_path / 'a.db'} --rounds 200 --record {tmp_path / 'tape'}" in outcome.stopped
    assert (outcome.summary["rounds"], outcome.summary["rounds_played"], outcome.summary["beats"]) == (1, 0, 0)
    assert len(server.requests) <= most
    assert KEY not in outcome.stopped
    replay = run(Order(WORLD, 200, 7, tmp_path / "now.db", replay=tmp_path / "tape"))
    assert differences(tmp_path / "a.db", tmp_path / "now.db") == []
    assert replay.summary["paused"] == outcome.summary["paused"]
    server.behave(lambda body: says(storyteller(body)))
    settle(alone=True)
    again = run(Order(tmp_path / "a.db", 1))
    number = 2 if words == "Nobody could act." else 1  # a round that was paused is gone on with; one in which all had their turn is over
    assert (again.stopped, again.summary["rounds"], again.summary["beats"]) == ("", number, 7)


@pytest.mark.slow
def test_what_cannot_be_priced_is_said_not_to_be(
    tmp_path: Path, server: FakeServer, settle: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    settle()
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_API_BASE", server.base.replace("127.0.0.1", "models.example"))  # far away, or its price would be known
    found = socket.getaddrinfo
    monkeypatch.setattr(socket, "getaddrinfo", lambda host, *more, **named: found("127.0.0.1", *more, **named))
    server.behave(lambda body: replace(NO_USAGE, text=storyteller(body)))
    outcome = run(Order(WORLD, 1, 7, tmp_path / "a.db", model="openai/nobody-has-heard-of-it"))
    calls = outcome.summary["model_calls"]
    assert isinstance(calls, dict)
    assert outcome.stopped == ""
    assert (outcome.summary["cost"], outcome.summary["known_cost"], outcome.summary["unpriced_calls"]) == (None, 0.0, sum(calls.values()))
    assert outcome.summary["estimated_calls"] == sum(calls.values())
    assert f"cost: price unknown for {sum(calls.values())} calls, $0.0000 for the others" in in_words(outcome.summary)
    capped = run(Order(WORLD, 1, 7, tmp_path / "b.db", model="openai/nobody-has-heard-of-it", cap_money=5.0))
    assert "is unknown, so the cap of" in capped.stopped
