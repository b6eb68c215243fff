"""Sessions on the command line: the six operations and reading, in words and as JSON."""

import asyncio
import shutil
import socket
from contextlib import closing
from pathlib import Path

import pytest

from engine.game import Game
from tests.tui.calling import Caller, call

__all__ = ["call"]

WORLD = """\
name: The inn
clock: {start: 1247-03-01T17:40}
seed: 1
policies: {sessions: {pairs: none, collapse: {max_turns: 9}}}
places: [{id: bar, name: the bar}]
entities:
  - {id: bob, at: bar, agent: true, attributes: {name: Bob Harrow, label: the bald man}, aliases: {en_2: Mira}}
  - {id: en_2, at: bar, agent: true, attributes: {name: Mira Vance, label: the thin woman}}
  - {id: th_key, at: bar, attributes: {label: the brass key}}
"""
HERON = "The Heron carries salt to Orrin every week of the year, and the harbour master takes a third of it."


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    (folder / "inn").mkdir()
    (folder / "inn" / "world.yaml").write_text(WORLD)

    async def make() -> None:
        await (await Game.create(folder / "inn", folder / "inn.db")).close()

    asyncio.run(make())
    return folder / "inn.db"


@pytest.fixture
def save(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(made, tmp_path / "inn.db"))


def begun(call: Caller, save: Path, *lines: str) -> str:
    """A session of Bob with Mira in which these were said."""
    key: str = call("sessions", "start", save, "Bob Harrow", "mira", "--json").json["id"]
    for line in lines:
        call("sessions", "turn", save, key, "actor", line, "--pin")
    return key


def narrow(text: str) -> None:
    """Every line fits a terminal of 80 columns."""
    assert [line for line in text.splitlines() if len(line) > 80] == []


def test_a_session_from_beginning_to_end(call: Caller, save: Path) -> None:
    started = call("sessions", "start", save, "bob", "Mira Vance")
    assert started.out == "ses-000001: Bob Harrow with Mira Vance. It is open.\n"
    assert "turn-000001 is added to ses-000001: 1 of 9 turns." in call("sessions", "turn", save, "ses-000001", "actor", HERON).out
    added = call("sessions", "turn", save, "ses-000001", "note", "-", "--hint", "the key", "--json", piped="Mira hides @th_key.\n").json
    assert (added["turn"]["content"], added["turn"]["hint"], added["report"]["turns"]) == ("Mira Vance hides the brass key.", "the key", 2)
    assert "is pinned" in call("sessions", "pin", save, "ses-000001", "turn-000001").out
    assert call("sessions", "pin", save, "ses-000001", "turn-000002", "--json").json["pinned"] is True
    assert "is not pinned" in call("sessions", "pin", save, "ses-000001", "turn-000002", "--off").out
    assert "hypothesis: Mira Vance lies." in call("sessions", "scratch", save, "ses-000001", "hypothesis", "Mira lies.").out
    shown = call("sessions", "show", save, "ses-000001")
    narrow(shown.out)
    told = ("Bob Harrow with Mira Vance, open", "2 of 9 turns", "hypothesis: Mira Vance lies.", "turn-000001  *  Mira Vance", "[the key]")
    for words in told:
        assert words in shown.out
    assert "Mira lies." in call("sessions", "show", save, "ses-000001", "--as", "bob").out
    whole = call("sessions", "show", save, "ses-000001", "--json").json
    assert ([turn["pinned"] for turn in whole["turns"]], whole["state"]["status"], whole["summary"]) == ([True, False], "open", None)
    collapsed = call("sessions", "collapse", save, "ses-000001")
    narrow(collapsed.out)
    assert "ses-000001 is collapsed by storyteller. 1 piece of knowledge added" in collapsed.out
    state = call("sessions", "collapse", save, "ses-000001", "--json").json  # again: as it was left
    assert (state["status"], state["summary"]["turns_processed"], state["collapse"]["added"]) == ("collapsed", 2, 1)
    assert [one["id"] for one in call("sessions", "list", save, "--json").json["sessions"]] == ["ses-000001"]
    shown = call("sessions", "show", save, "ses-000001")
    narrow(shown.out)
    assert "kno-000001  added: The Heron carries salt" in " ".join(shown.out.split("\n"))
    assert "is collapsed" in call("sessions", "turn", save, "ses-000001", "actor", "And?", code=1).err


def test_notes_are_taken_away_and_discarded_sessions_taken_back(call: Caller, save: Path) -> None:
    key = begun(call, save, HERON)
    call("sessions", "scratch", save, key, "ruled out", "the cook")
    assert call("sessions", "scratch", save, key, "ruled out", "--remove").out == f"The scratchpad of {key} is empty.\n"
    assert "reopen" in call("sessions", "discard", save, key).out
    assert "is discarded" in call("sessions", "discard", save, key, code=1).err
    assert call("sessions", "reopen", save, key, "--json").json["state"]["status"] == "open"


def test_terms_of_ones_own_stand_over_the_worlds(call: Caller, save: Path) -> None:
    terms = ("--policy", "max_turns=20", "--policy", "mode=explicit", "--policy", "require_pin=true")
    policy = call("sessions", "start", save, "bob", "en_2", *terms, "--json").json["state"]["policy"]
    assert (policy["max_turns"], policy["mode"], policy["require_pin"], policy["min_turns"]) == (20, "explicit", True, 3)
    told = {"turns=3": "There are: mode", "max_turns": "is no term", "max_turns=1": "max_turns: ", "mode=never": "mode: "}
    for bad, words in told.items():
        assert words in " ".join(call("sessions", "start", save, "en_2", "bob", "--policy", bad, code=2).err.split())


def test_the_last_turn_that_a_policy_allows_collapses(call: Caller, save: Path) -> None:
    key = call("sessions", "start", save, "bob", "en_2", "--policy", "max_turns=2", "--json").json["id"]
    call("sessions", "turn", save, key, "actor", HERON, "--pin")
    last = call("sessions", "turn", save, key, "actor", "And oil.", "--json")
    assert "being collapsed: 2 turns, limit 2" in last.err
    assert last.json["report"]["reason"] == "max_turns"
    assert call("sessions", "show", save, key, "--json").json["state"]["status"] == "collapsed"


def test_a_collapse_from_which_nothing_was_learned_says_so_in_the_list(call: Caller, save: Path) -> None:
    key = begun(call, save, "Good evening to you.", "Come in, come in.")
    call("sessions", "collapse", save, key)
    assert "(nothing was learned)" in " ".join(call("sessions", "list", save).out.split())
    learned = begun(call, save, "Gareth owns a boat.")
    call("sessions", "collapse", save, learned)
    assert " ".join(call("sessions", "list", save).out.split()).count("(nothing was learned)") == 1


def test_sessions_are_listed_by_filter_and_page(call: Caller, save: Path) -> None:
    assert call("sessions", "list", save).out == "No sessions.\n"
    keys = [begun(call, save, HERON)]
    for pair in (("bob", "th_key"), ("en_2", "bob")):
        keys.append(call("sessions", "start", save, *pair, "--json").json["id"])
    call("sessions", "discard", save, keys[1])
    listed = call("sessions", "list", save)
    narrow(listed.out)
    assert [line.split()[0] for line in listed.out.splitlines()[1:]] == keys[::-1]
    assert "1, 1 pinned" in listed.out
    ids = {
        option: [one["id"] for one in call("sessions", "list", save, *option, "--json").json["sessions"]]
        for option in (("--of", "Mira"), ("--state", "discarded"), ("--find", "heron salt"), ("--find", "nonsense"))
    }
    assert list(ids.values()) == [[keys[2]], [keys[1]], [keys[0]], []]
    first = call("sessions", "list", save, "--limit", "2", "--json").json
    assert [one["id"] for one in first["sessions"]] == keys[:0:-1]
    rest = call("sessions", "list", save, "--before", first["next"], "--json").json
    assert ([one["id"] for one in rest["sessions"]], rest["next"]) == ([keys[0]], None)
    assert f"--before {first['next']}" in call("sessions", "list", save, "--limit", "2").out
    assert call("sessions", "list", save, "--state", "failed").out == "No such sessions.\n"


@pytest.mark.slow
def test_a_model_that_is_away_changes_nothing_and_says_what_to_do(
    call: Caller, save: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = begun(call, save, HERON, "The harbour master was here again for his salt.", "He wants his salt.")
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
    with monkeypatch.context() as away:
        away.setattr("engine.llm.policy.WAITS", (0.01, 0.02))
        for name, value in {"MODEL": "openai/x", "API_BASE": f"http://127.0.0.1:{port}/v1"}.items():
            away.setenv(f"OTHERMINDS_{name}", value)
        away.setenv("OPENAI_API_KEY", "none")
        failed = call("sessions", "collapse", save, key, code=1)
    assert "otherminds doctor" in failed.err
    shown = call("sessions", "show", save, key, "--json").json
    assert (shown["state"]["status"], len(shown["turns"]), shown["collapses"][0]["status"]) == ("collapsing", 3, "failed")
    assert "failed" in call("sessions", "list", save, "--state", "failed").out
    again = call("sessions", "collapse", save, key, "--json").json
    assert (again["status"], again["summary"]["turns_processed"]) == ("collapsed", 3)


def test_a_cap_is_told_and_the_session_kept(call: Caller, save: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = begun(call, save, HERON)
    with monkeypatch.context() as capped:
        capped.setenv("OTHERMINDS_CAP_TOKENS", "1")
        assert "cap" in call("sessions", "collapse", save, key, code=1).err
    assert call("sessions", "collapse", save, key, "--json").json["status"] == "collapsed"


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("show", "inn.db", "ses-000009"), 1, 'no session "ses-000009"'),
        (("show", "nothing.db", "ses-000001"), 1, "nothing.db"),
        (("start", "inn.db", "bob", "bob"), 1, "with another"),
        (("start", "inn.db", "Bop Harrow", "en_2"), 1, "Did you mean Bob Harrow (bob)?"),
        (("turn", "inn.db", "ses-000001", "user", "x"), 2, "'agent', 'actor', 'note'"),
        (("turn", "inn.db", "ses-000009", "actor", "x"), 1, "no session"),
        (("scratch", "inn.db", "ses-000001", "a"), 2, "--remove"),
        (("list", "inn.db", "--state", "shut"), 2, "'open'"),
        (("list", "inn.db", "--limit", "0"), 2, "1"),
        (("dance", "inn.db"), 2, "dance"),
    ],
)
def test_what_cannot_be_done_is_told(
    call: Caller, save: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], code: int, words: str
) -> None:
    monkeypatch.chdir(save.parent)
    assert words in " ".join(call("sessions", *arguments, code=code).err.split())


def test_looking_changes_nothing_and_words_are_no_escapes(call: Caller, save: Path) -> None:
    begun(call, save, "I owe\x1b[31m nobody [red]a[/red] penny.")
    before = save.read_bytes()
    shown = call("sessions", "show", save, "ses-000001").out
    call("sessions", "list", save)
    assert "I owe nobody [red]a[/red] penny." in shown
    assert save.read_bytes() == before


def test_one_command_begins_nothing_else(call: Caller, save: Path) -> None:
    """A session that is marked stays marked while another is worked on: what is due is play's, not this command's."""
    key = begun(call, save, HERON)

    async def mark() -> None:
        game = await Game.open(save)
        game.sessions.collapser = None
        await game.sessions.collapse(key)
        await game.close()

    asyncio.run(mark())
    call("sessions", "start", save, "en_2", "bob")
    assert call("sessions", "show", save, key, "--json").json["state"]["status"] == "collapsing"
