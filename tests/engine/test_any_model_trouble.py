"""A game over HTTP with a server that misbehaves in every way: nothing is consumed or written, and people are told what to do."""

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from engine.events import BeatFailed, HandoffFailed, Paused
from engine.game import RoundReport
from engine.records.prompts import Task
from tests.engine.behind import KEY_NAME, Play, a_world, playing, settle, storyteller, task_of
from tests.fake_behaviour import (
    BAD_REQUEST,
    BROKEN,
    DOWN,
    EMPTY,
    ERROR_AS_TEXT,
    FILTERED,
    FORBIDDEN,
    HANGS,
    HTML,
    JSON_LIST,
    NO_CHOICES,
    NOT_JSON,
    OVERLOADED,
    POLICY,
    QUOTA,
    REFUSED,
    REFUSES_IN_WORDS,
    SILENT,
    UNKNOWN_MODEL,
    UNPROCESSABLE,
    WRONG_KEY,
    WRONG_TYPE,
    Behaviour,
    fails,
    says,
)
from tests.fake_server import FakeServer, in_a_thread

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

SECRET = "sk-5f1d9c3b7a2e4680bcdf"


class Case(NamedTuple):
    """A misbehaviour, and what is said of it."""

    name: str
    does: Behaviour
    told: str
    """Words of the trouble or of what to do about it."""
    pauses: bool = False
    """Whether everybody who acts after would meet the same."""
    person: bool = False
    """Whether a person has to do something first: then nobody acts after a handoff that met it, either."""
    structured: str = ""
    """The words for a structured reply, where they are others."""


CASES = (
    Case("wrong key", WRONG_KEY, "key", pauses=True, person=True),
    Case("forbidden", FORBIDDEN, "key", pauses=True, person=True),
    Case("unknown model", UNKNOWN_MODEL, "how it is spelled", pauses=True, person=True),
    Case("bad request", BAD_REQUEST, "of the right kind"),
    Case("unprocessable", UNPROCESSABLE, "of the right kind"),
    Case("policy", POLICY, "Change the text"),
    Case("rate limited", fails(429, "Rate limit reached.", "rate_limit_exceeded", retry_after="0"), "Wait and try", pauses=True),
    Case("quota", QUOTA, "what is left of it", pauses=True),
    Case("broken", BROKEN, "Try again in a while", pauses=True),
    Case("down", DOWN, "Try again in a while", pauses=True),
    Case("overloaded", OVERLOADED, "Try again in a while", pauses=True),
    Case("refused", REFUSED, "replied with nothing"),  # of a stream litellm drops what is said in `refusal`
    Case("filtered", FILTERED, "Change the text"),
    Case("refuses in words", REFUSES_IN_WORDS, "Change the text", structured="no readable JSON"),
    Case("empty", EMPTY, "replied with nothing"),
    Case("no choices", NO_CHOICES, "broke off"),
    Case("a page", HTML, "openai/fake"),
    Case("a page as text", says("<!DOCTYPE html><html><body><h1>502</h1></body></html>"), "a web page"),
    Case("an error as text", ERROR_AS_TEXT, "replied with an error"),
    Case("half of a body", NOT_JSON, "openai/fake"),
    Case("another body", JSON_LIST, "openai/fake"),
    Case("another type", WRONG_TYPE, "openai/fake"),
    Case("silent", SILENT, "did not answer within"),
    Case("falls silent", says("I take the key and go.", stall_at=3), "fell silent"),
    Case("hangs up", HANGS, "cannot be reached", pauses=True),
    Case("dies", says("I take the key and go out.", abort_at=4), "broke off"),
    Case("ends early", says("I take the key and go out.", end_at=4), "broke off"),
)
ADVICE = ("Try ", "Set ", "See ", "Change ", "Start ", "Wait ", "Route ", "hoose another")
DANCE = json.dumps({"intents": [
    {"type": "action", "verb": "other", "text": "I dance.", "summary": "danced", "targets": [], "modifiers": []}
]})  # fmt: skip


@pytest.fixture
async def server() -> AsyncIterator[FakeServer]:
    async with FakeServer() as server:
        yield server


def well(body: Mapping[str, Any]) -> Behaviour:
    """As a good model does. Every act is one that a referee has to judge."""
    return says(DANCE if task_of(body) == "decode" else storyteller(body))


async def misbehaving(play: Play, task: Task, case: Case) -> RoundReport:
    """A round in which the server misbehaves at one task."""
    play.forget()
    play.server.behave(lambda body: case.does if task_of(body) == task else well(body))
    asked = len(play.server.requests)
    report = await play.game.step()
    assert any(task_of(request.body) == task for request in play.server.requests[asked:]), case.name
    return report


@pytest.mark.parametrize("task", ["actor", "decode", "referee"])
async def test_no_beat_is_consumed(server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, task: Task) -> None:
    settle(tmp_path, monkeypatch, server, endpoint="timeout = 0.4")
    async with playing(a_world(tmp_path / "house", most=100), tmp_path / "p.db", server) as play:
        for case in CASES:
            before, now = play.save.digests(), play.game.world.now
            report = await misbehaving(play, task, case)
            touched = {table for table, digest in play.save.digests().items() if digest != before[table]}
            assert touched <= {"meta", "rounds"}, case.name  # the number of the round
            assert play.game.world.now == now, case.name
            assert (report.beats, report.failed_beats) == (0, 1 if case.pauses else 3), case.name
            for failed in play.heard(BeatFailed):
                assert (case.told if task == "actor" else case.structured or case.told) in failed.reason, (case.name, failed.reason)
                assert any(advice in failed.reason for advice in ADVICE), (case.name, failed.reason)
            assert bool(report.paused) == bool(play.heard(Paused)) == case.pauses, case.name
        server.behave(well)
        assert (await play.game.step()).beats == 3


async def test_no_handoff_is_made(server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was not handed over waits in the buffer, and beats go on, unless a person has to do something first."""
    settle(tmp_path, monkeypatch, server, endpoint="timeout = 0.4")
    async with playing(a_world(tmp_path / "house"), tmp_path / "p.db", server) as play:
        for case in CASES:
            ledger = play.save.ask("SELECT count(*) FROM ledger_entries")
            report = await misbehaving(play, "handoff", case)
            if case.person:
                assert (report.handoffs, report.beats, report.failed_beats) == (0, 0, 0), case.name
                told = [report.paused]
            else:
                assert report.failed_handoffs == report.handoffs == 3, case.name
                assert report.beats > 0, case.name
                told = [failed.run.error for failed in play.heard(HandoffFailed)]
            for text in told:
                assert (case.structured or case.told) in text, (case.name, text)
                assert any(advice in text for advice in ADVICE), (case.name, text)
            assert play.save.ask("SELECT count(*) FROM ledger_entries") == ledger, case.name
            assert play.save.ask("SELECT count(*) FROM buffer_archive") == [(0,)], case.name
        server.behave(well)
        after = await play.game.step()
        assert (after.beats, after.failed_handoffs) == (3, 0)
        assert after.handoffs >= 3


def test_the_key_is_nowhere_but_in_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not in save, log of prompts, tape, day's log, settings and what is printed; not even when the provider says it aloud."""
    world = a_world(tmp_path / "house")
    monkeypatch.setenv(KEY_NAME, SECRET)

    def otherminds(*words: str) -> subprocess.CompletedProcess[bytes]:
        command = [sys.executable, "-c", "from tui.start import main; main()", *words]
        return subprocess.run(command, capture_output=True, timeout=300, check=False, cwd=tmp_path, env=dict(os.environ))

    def run(name: str) -> subprocess.CompletedProcess[bytes]:
        kept = ["--save", f"{name}.db", "--prompts", f"{name}.jsonl", "--record", f"{name}.tape"]
        return otherminds("run", str(world), "--rounds", "2", *kept)

    with in_a_thread(key=SECRET, answer=storyteller) as server:
        settle(tmp_path, monkeypatch, server, endpoint=f'key_env = "{KEY_NAME}"')
        good, doctor, config = run("good"), otherminds("doctor"), otherminds("config", "show")
        aloud = fails(500, f"Upstream says: 'Authorization: Bearer {SECRET}' ({SECRET}) is of no use.", kind="server_error")
        server.behave(lambda body: aloud if task_of(body) == "handoff" else says(storyteller(body)))
        bad = run("bad")
        monkeypatch.setenv(KEY_NAME, SECRET[::-1])
        wrong = run("wrong")
    assert good.returncode == 0, good.stderr
    assert wrong.returncode != 0
    assert all(request.headers["authorization"] in (f"Bearer {SECRET}", f"Bearer {SECRET[::-1]}") for request in server.requests)
    written = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    names = {path.name for path in written}
    assert names >= {"good.db", "good.jsonl", "good.tape", "bad.db", "bad.jsonl", "bad.tape", "settings.toml"}
    assert any(path.parent.name == "usage" and data for path, data in written.items())
    assert b"Upstream says" in written[tmp_path / "bad.db"] + written.get(tmp_path / "bad.db-wal", b"")  # kept, but for the key
    printed = {name: done.stdout + done.stderr for name, done in
               (("good", good), ("doctor", doctor), ("config", config), ("bad", bad), ("wrong", wrong))}
    for key in (SECRET.encode(), SECRET[::-1].encode()):
        assert [path for path, data in written.items() if key in data] == []
        assert [name for name, data in printed.items() if key in data] == []
