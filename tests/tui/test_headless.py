"""Runs without a screen: recorded and replayed, gone on with, stopped; over the bundled world with the storyteller."""

import asyncio
import json
import random
import re
import shlex
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.errors import OthermindsError
from engine.files.bundled import bundled_worlds
from engine.storage.diff import differences
from tui.cli import main
from tui.headless import Order, Outcome, run_rounds

WORLD = next(info.path for info in bundled_worlds() if info.slug == "salt-lantern")


def otherminds(*arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "tui.start", *map(str, arguments)], capture_output=True, text=True, cwd=cwd, check=False)


def run(order: Order) -> Outcome:
    return asyncio.run(run_rounds(replace(order, quiet=True), order.save or order.start))


def recorded(folder: Path, rounds: int) -> Order:
    """A recorded run in a folder: `then.db`, `then.jsonl` and `tape`."""
    return Order(WORLD, rounds, 7, folder / "then.db", folder / "then.jsonl", record=folder / "tape")


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve rounds, recorded."""
    folder = tmp_path_factory.mktemp("studio")
    outcome = run(recorded(folder, 12))
    (folder / "then.json").write_text(json.dumps(outcome.summary), encoding="utf-8")
    (folder / "notes.txt").write_text("Buy salt.\n", encoding="utf-8")
    return folder


def lasting(summary: dict[str, Any]) -> dict[str, Any]:
    """A summary without what a replay has of its own."""
    return {key: value for key, value in summary.items() if key not in ("seconds", "unused_calls")}


def test_a_replay_gives_the_same_save_the_same_prompts_and_the_same_counts(studio: Path, tmp_path: Path) -> None:
    files = ("--replay", studio / "tape", "--save", "now.db", "--prompts", "now.jsonl")
    done = otherminds("run", "salt-lantern", *files, "--json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert otherminds("diff", studio / "then.db", "now.db", cwd=tmp_path).stdout == "The saves are equal.\n"
    assert (tmp_path / "now.jsonl").read_bytes() == (studio / "then.jsonl").read_bytes()
    then, now = json.loads((studio / "then.json").read_text(encoding="utf-8")), json.loads(done.stdout)
    assert lasting(now) == lasting(then)
    assert (now["unused_calls"], then["unused_calls"]) == (0, None)
    assert now["model_seconds"] > 0


def test_a_replay_asks_no_model(studio: Path, tmp_path: Path) -> None:
    code = (
        "import sys, asyncio; from pathlib import Path; from engine.llm.storyteller import Storyteller\n"
        "async def none(*_): raise AssertionError('a model was asked')\n"
        "Storyteller.complete = none\n"
        "from tui.headless import Order, run_rounds\n"
        f"order = Order(Path({str(WORLD)!r}), replay=Path({str(studio / 'tape')!r}), quiet=True)\n"
        "print(asyncio.run(run_rounds(order, Path('now.db'))).stopped or 'whole')\n"
        "print({'litellm', 'onnxruntime'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert (done.stdout, done.stderr) == ("whole\nset()\n", "")


def test_the_tape_names_no_key_and_no_setting(studio: Path) -> None:
    text = (studio / "tape").read_text(encoding="utf-8")
    assert "api_base" not in text
    assert all(line.isprintable() for line in text.splitlines())


def test_fewer_rounds_leave_calls_over_and_more_end_with_the_tape(studio: Path, tmp_path: Path) -> None:
    few = run(Order(WORLD, 3, save=tmp_path / "few.db", replay=studio / "tape"))
    assert few.stopped == ""
    assert isinstance(few.summary["unused_calls"], int)
    assert few.summary["unused_calls"] > 100
    many = run(Order(WORLD, 20, save=tmp_path / "many.db", replay=studio / "tape"))
    assert many.stopped == f"Stopped in round 12: {studio / 'tape'} ends with round 12."
    assert (many.summary["rounds_played"], many.summary["unused_calls"]) == (12, 0)
    assert differences(studio / "then.db", tmp_path / "many.db") == []


def test_a_run_in_two_sittings_is_one_tape(studio: Path, tmp_path: Path) -> None:
    run(recorded(tmp_path, 5))
    with (tmp_path / "tape").open("ab") as file:
        file.write(b'{"kind": "call", "key": "2a')  # as a power cut leaves it
    on = run(Order(tmp_path / "then.db", 7, record=tmp_path / "tape"))
    assert (on.summary["rounds"], on.summary["rounds_played"]) == (12, 7)
    assert differences(studio / "then.db", tmp_path / "then.db") == []
    now = run(Order(WORLD, save=tmp_path / "now.db", replay=tmp_path / "tape"))
    assert (now.stopped, now.summary["rounds_played"], now.summary["unused_calls"]) == ("", 12, 0)
    assert differences(studio / "then.db", tmp_path / "now.db") == []


def test_a_replay_goes_on_with_a_save_from_where_it_stands(studio: Path, tmp_path: Path) -> None:
    run(Order(WORLD, 5, 7, tmp_path / "part.db"))
    on = run(Order(tmp_path / "part.db", replay=studio / "tape"))
    assert (on.stopped, on.summary["rounds"], on.summary["rounds_played"], on.summary["unused_calls"]) == ("", 12, 7, 0)
    assert differences(studio / "then.db", tmp_path / "part.db") == []


@pytest.mark.parametrize("seed", range(4))
def test_a_tape_cut_anywhere_is_replayed_as_far_as_it_goes(studio: Path, tmp_path: Path, seed: int) -> None:
    whole = (studio / "tape").read_bytes()
    cut = random.Random(seed).randrange(len(whole) // 20, len(whole))
    (tmp_path / "tape").write_bytes(whole[:cut])
    outcome = run(Order(WORLD, 12, 7, tmp_path / "now.db", tmp_path / "now.jsonl", replay=tmp_path / "tape"))
    assert "All calls on it have been replayed: the recording ends here" in outcome.stopped
    assert outcome.summary["unused_calls"] == 0
    then, now = [path.read_text(encoding="utf-8").splitlines() for path in (studio / "then.jsonl", tmp_path / "now.jsonl")]
    assert now == then[: len(now)]
    calls = sum(line.startswith(b'{"kind": "call"') for line in whole[:cut].split(b"\n")[:-1])
    assert len(now) == calls


def test_a_run_that_was_killed_leaves_a_tape_that_is_replayed_as_far_as_it_goes(studio: Path, tmp_path: Path) -> None:
    words = ["run", "salt-lantern", "--rounds", "500", "--seed", "7", "--save", "killed.db", "--record", "tape", "--prompts", "then.jsonl"]
    process = subprocess.Popen([sys.executable, "-m", "tui.start", *words], cwd=tmp_path, stdout=subprocess.PIPE)
    assert process.stdout is not None
    while not process.stdout.readline().startswith(b"  4  "):
        assert process.poll() is None
    process.kill()
    process.communicate()
    outcome = run(Order(WORLD, 500, 7, tmp_path / "now.db", tmp_path / "now.jsonl", replay=tmp_path / "tape"))
    assert outcome.summary["unused_calls"] == 0
    assert isinstance(outcome.summary["rounds"], int)
    assert outcome.summary["rounds"] >= 4
    then, now = [path.read_text(encoding="utf-8").splitlines() for path in (tmp_path / "then.jsonl", tmp_path / "now.jsonl")]
    assert now == then[: len(now)]
    assert len(then) - len(now) <= 1  # the last reply may be in the log and not yet on the tape
    on = run(Order(tmp_path / "killed.db", 1, record=tmp_path / "tape"))
    assert on.stopped == ""


def test_another_seed_and_another_world_are_refused_and_leave_no_save(studio: Path, tmp_path: Path) -> None:
    with pytest.raises(OthermindsError, match="of The Salt Lantern with seed 7, and this game has seed 8"):
        run(Order(WORLD, 2, 8, tmp_path / "now.db", replay=studio / "tape"))
    (tmp_path / "world.yaml").write_text(
        "name: One\nclock: {start: 1247-03-01 18:00}\n"
        "places: [{id: bar_1, name: the bar}]\nentities: [{id: bob_1, at: bar_1, agent: true}]\n",
        encoding="utf-8",
    )
    with pytest.raises(OthermindsError, match=r"is a tape of The Salt Lantern, and this is One\."):
        run(Order(tmp_path, 2, None, tmp_path / "now.db", replay=studio / "tape"))
    assert list(tmp_path.glob("*.db*")) == []


def test_a_world_that_was_changed_is_told_apart_at_its_first_call(studio: Path, tmp_path: Path) -> None:
    changed = tmp_path / "salt-lantern"
    for path in (path for path in WORLD.rglob("*") if path.is_file()):
        target = changed / path.relative_to(WORLD)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(path.read_text(encoding="utf-8").replace("taproom", "parlour"), encoding="utf-8")
    done = otherminds("run", changed, "--replay", studio / "tape", "--save", "now.db", "--json", cwd=tmp_path)
    summary = json.loads(done.stdout)
    assert done.returncode == 1
    assert "Stopped in round 1: " in done.stderr
    assert "The words that are sent differ, first where they were" in done.stderr
    assert "parlour" in done.stderr
    assert "Replay with the same world files" in done.stderr
    assert summary["paused"] in done.stderr
    assert (summary["rounds_played"], summary["beats"]) == (0, 0)


@pytest.mark.parametrize(("changed", "words"), [("error", "Aldous Fenn does nothing: blame"), ("reply", "tape holds no such call")])
def test_words_of_a_strangers_tape_reach_the_terminal_without_control_characters(
    studio: Path, tmp_path: Path, changed: str, words: str
) -> None:
    lines = [json.loads(line) for line in (studio / "tape").read_bytes().splitlines()]
    wild = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202eblame\n\x00"
    for line in lines:
        for facts in line.get("models", {}).values():
            facts["name"] = wild
        for call in line.get("calls", ()):
            call["model"] = call["failed"] = wild
        if changed == "error" and line["kind"] == "call" and line["asked"]["task"] == "actor":
            line["failure"], line["reply"], line["heard"] = {"error": "ModelError", "message": wild, "advice": wild}, None, [wild]
        elif changed == "reply" and line["kind"] == "call" and line["asked"]["task"] == "decode":
            line["reply"]["text"] = line["reply"]["text"].replace(" ", json.dumps(f" {wild} ")[1:-1])
    (tmp_path / "tape").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    done = otherminds("run", "salt-lantern", "--replay", "tape", "--rounds", "3", "--prompts", "now.jsonl", cwd=tmp_path)
    assert done.returncode == 1
    assert words in done.stderr
    assert "blame" in (done.stderr if changed == "error" else done.stdout)
    assert "Traceback" not in done.stderr
    for line in (done.stdout + done.stderr).splitlines():
        assert line.isprintable(), repr(line)


# going on and stopping


def test_a_save_is_gone_on_with_in_place(studio: Path, tmp_path: Path) -> None:
    run(Order(WORLD, 4, 7, tmp_path / "part.db"))
    done = otherminds("run", "part.db", "--rounds", "8", "--json", cwd=tmp_path)
    summary = json.loads(done.stdout)
    assert (done.returncode, summary["rounds"], summary["rounds_played"]) == (0, 12, 8)
    assert differences(studio / "then.db", tmp_path / "part.db") == []


def test_a_cap_stops_the_run_before_it_is_passed_and_the_save_goes_on(studio: Path, tmp_path: Path) -> None:
    options = ("--rounds", "12", "--seed", "7", "--save", "my save.db", "--cap-tokens", "60000")
    done = otherminds("run", "salt-lantern", *options, "--json", cwd=tmp_path)
    summary = json.loads(done.stdout)
    assert done.returncode == 1
    assert 40_000 < summary["tokens"] <= 60_000
    assert "could pass the cap of 60,000 tokens for this run" in summary["paused"]
    assert f"Stopped in round {summary['rounds']}: {summary['paused']}" in done.stderr
    assert summary["rounds_played"] == summary["rounds"] - 1
    *_, command = done.stderr.strip().splitlines()
    words = shlex.split(command.partition(": ")[2])
    assert words == ["otherminds", "run", "my save.db", "--rounds", str(12 - summary["rounds_played"]), "--cap-tokens", "120000"]
    assert "raised or taken out: with --cap-tokens 120000." in summary["paused"]
    assert "config set" not in done.stderr
    again = json.loads(otherminds(*words[1:-2], "--json", cwd=tmp_path).stdout)
    assert (again["paused"], again["rounds_played"]) == (None, 12 - summary["rounds_played"])


def test_what_is_not_kept_is_said_not_to_be(tmp_path: Path) -> None:
    done = otherminds("run", "salt-lantern", "--rounds", "2", "--cap-tokens", "5000", cwd=tmp_path)
    assert done.returncode == 1
    assert "Nothing of this run is kept: with --save FILE it can be gone on with." in done.stderr
    assert "rounds played: 0" in done.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "variables", "written", "advice"),
    [
        (("--cap-tokens", "10"), {}, "", r"with --cap-tokens (\d+)\."),
        ((), {"OTHERMINDS_CAP_TOKENS": "10"}, "", r"with OTHERMINDS_CAP_TOKENS=(\d+) in the environment\."),
        ((), {}, "[caps]\nrun_tokens = 10\n", r"with `otherminds config set caps.run_tokens (\d+)`\."),
        (("--cap-tokens", "10"), {"OTHERMINDS_CAP_TOKENS": "9"}, "[caps]\nrun_tokens = 8\n", r"with --cap-tokens (\d+)\."),
    ],
)
def test_a_cap_that_no_call_fits_is_said_to_be_and_raised_where_it_was_set(
    tmp_path: Path, options: tuple[str, ...], variables: dict[str, str], written: str, advice: str
) -> None:
    (tmp_path / "settings.toml").write_text(written, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "tui.start", "run", str(WORLD), "--rounds", "1", *options], capture_output=True, text=True, cwd=tmp_path,
        check=False, env={"OTHERMINDS_CONFIG": str(tmp_path), "PATH": "", **variables},
    )
    assert done.returncode == 1
    found = re.search(r"below what one model call may take: .* up to ([\d,]+) tokens\. Play goes on when .*" + advice, done.stderr)
    assert found is not None, done.stderr
    assert int(found[2]) >= 3 * int(found[1].replace(",", ""))


def test_what_a_price_that_is_unknown_stops_is_said_with_the_option(tmp_path: Path) -> None:
    outcome = run(Order(WORLD, 1, 7, tmp_path / "a.db", model="openai/nobody-has-heard-of-it", cap_money=5.0))
    assert "or take the cap out: leave out --cap-money." in outcome.stopped


def test_ctrl_c_gives_the_summary_so_far_and_the_save_goes_on(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tui.start", "run", str(WORLD), "--rounds", "2000", "--seed", "7", "--save", "long.db"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path) as started:
        assert started.stdout is not None
        for line in started.stdout:
            if line.split()[0] == "3":  # told in round 3
                break
        started.send_signal(signal.SIGINT)
        out, err = started.communicate(timeout=60)
    assert started.returncode == 130
    assert re.search(r"^rounds played: \d+$", out, re.MULTILINE)
    assert re.search(r"^beats: [1-9]\d*$", out, re.MULTILINE)
    assert "it was interrupted" in err
    assert "Traceback" not in err
    *_, told = err.strip().splitlines()
    words = shlex.split(told.partition(": ")[2])
    assert words[:4] == ["otherminds", "run", "long.db", "--rounds"]
    assert otherminds("run", "long.db", "--rounds", "1", "--json", cwd=tmp_path).returncode == 0


def test_caps_of_a_run_stand_over_the_settings_and_leave_the_others(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text("[caps]\nrun_tokens = 1\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "tui.start", "run", str(WORLD), "--rounds", "1", "--cap-tokens", "1000000", "--cap-money", "0.5", "--json"],
        capture_output=True, text=True, cwd=tmp_path, check=False, env={"OTHERMINDS_CONFIG": str(tmp_path), "PATH": ""},
    )
    assert (done.returncode, json.loads(done.stdout)["paused"]) == (0, None)


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("run", "then.db", "--seed", "3"), 2, "--seed goes with a new game"),
        (("run", "then.db", "--save", "new.db"), 2, "--save goes with a new game"),
        (("run", "salt-lantern", "--record", "x", "--replay", "tape"), 2, "do not go together"),
        (("run", "salt-lantern", "--record", "tape"), 1, "is a tape of The Salt Lantern already. Choose another file for the tape."),
        (("run", "salt-lantern", "--record", "then.db"), 1, "is a save. Choose another file for --record."),
        (("run", "salt-lantern", "--record", "then.jsonl"), 1, "is no tape. Choose another file for the tape."),
        (("run", "salt-lantern", "--record", "no/such/folder"), 1, "cannot be written: No such file or directory"),
        (("run", "salt-lantern", "--replay", "then.jsonl"), 1, "is no tape. Choose a file that --record has written."),
        (("run", "salt-lantern", "--replay", "nothing"), 1, "cannot be read: No such file or directory"),
        (("run", "salt-lantern", "--prompts", "tape"), 1, "tape is a tape. Choose another file for --prompts."),
        (("run", "salt-lantern", "--prompts", "then.db"), 1, "is a save. Choose another file for --prompts."),
        (("run", "salt-lantern", "--prompts", "notes.txt"), 1, "notes.txt is there already. Choose another file for --prompts."),
        (("run", "salt-lantern", "--prompts", "x", "--record", "./x"), 1, "--prompts and --record are one file"),
        (("run", "salt-lantern", "--cap-money", "nan"), 1, "--cap-money: Input should be"),
        (("run", "salt-lantern", "--cap-tokens", "0"), 2, "--cap-tokens"),
        (("run", "salt-lantern", "--model", "storytelle"), 1, "did you mean `storyteller`?"),
        (("run", "salt-lantern", "--model", " "), 1, "--model: "),
        (("play", "salt-lantern", "--record", "then.db"), 1, "is a save. Choose another file for --record."),
        (("play", "salt-lantern", "--record", "tape"), 1, "is a tape of The Salt Lantern already."),
    ],
)
def test_wrong_use_is_told_and_changes_nothing(
    studio: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], code: int, words: str
) -> None:
    before = {path.name: path.read_bytes() for path in studio.iterdir()}
    monkeypatch.chdir(studio)
    monkeypatch.setattr(sys, "argv", ["otherminds", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == code
    assert words in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in studio.iterdir()} == before


def test_a_save_that_is_open_elsewhere_is_refused(studio: Path, tmp_path: Path) -> None:
    run(Order(WORLD, 1, 7, tmp_path / "open.db"))

    async def twice() -> None:
        from engine.game import Game

        game = await Game.open(tmp_path / "open.db")
        try:
            with pytest.raises(OthermindsError, match="is already open"):
                await run_rounds(Order(tmp_path / "open.db", 1, record=tmp_path / "tape"), tmp_path / "open.db")
        finally:
            await game.close()

    asyncio.run(twice())
    assert not (tmp_path / "tape").exists()


def test_the_story_and_the_summary_are_told_and_trouble_is_not_among_them(tmp_path: Path) -> None:
    done = otherminds("run", "salt-lantern", "--rounds", "1", cwd=tmp_path)
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert sum(line.startswith("  1  ") for line in lines) >= 7
    told = dict(line.split(": ", 1) for line in lines if line[:1].isalpha())
    assert (told["cost"], told["failed calls"], told["rounds played"]) == ("$0.0000", "0", "1")
    assert told["model calls"].startswith("actor 7, decode 7")
    assert done.stderr == ""
