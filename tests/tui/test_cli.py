"""The command line as a script would use it."""

import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest


def otherminds(*arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "tui.start", *map(str, arguments)], capture_output=True, text=True, cwd=cwd, check=False)


@pytest.fixture(scope="module")
def two_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    for name in ("a", "b"):
        done = otherminds("run", "salt-lantern", "--rounds", "12", "--seed", "7", "--save", f"{name}.db", "--prompts", f"{name}.jsonl",
                          "--json", cwd=folder)
        assert done.returncode == 0, done.stderr
        (folder / f"{name}.json").write_text(done.stdout, encoding="utf-8")
    return folder


def test_a_run_prints_its_summary_as_json(two_runs: Path) -> None:
    summary = json.loads((two_runs / "a.json").read_text(encoding="utf-8"))
    assert list(summary) == [
        "rounds", "rounds_played", "beats", "clock", "entities", "buffer_entries", "ledger_entries", "handoffs", "compressions",
        "names_learned", "model_calls", "failed_calls", "tokens", "prompt_tokens", "reply_tokens", "estimated_calls", "cost", "known_cost",
        "unpriced_calls", "model_seconds", "unused_calls", "paused", "seconds",
    ]
    assert list(summary["handoffs"]) == ["runs", "failed", "promoted", "forgotten", "pinned"]
    assert (summary["rounds"], summary["rounds_played"], summary["paused"], summary["unused_calls"]) == (12, 12, None, None)
    assert summary["tokens"] == summary["prompt_tokens"] + summary["reply_tokens"] > 10_000
    assert (summary["cost"], summary["unpriced_calls"], summary["failed_calls"]) == (0.0, 0, 0)
    assert summary["estimated_calls"] == sum(summary["model_calls"].values())
    assert summary["model_seconds"] > 0
    assert summary["beats"] <= 12 * 7
    assert summary["handoffs"]["failed"] == 0
    assert summary["handoffs"]["promoted"] >= 6
    with sqlite3.connect(two_runs / "a.db") as conn:
        [(buffer, ledger)] = conn.execute("SELECT (SELECT count(*) FROM buffer_entries), (SELECT count(*) FROM ledger_entries)")
    assert (summary["buffer_entries"], summary["ledger_entries"]) == (buffer, ledger)


def test_every_model_call_is_a_line_of_prompts(two_runs: Path) -> None:
    lines = [json.loads(line) for line in (two_runs / "a.jsonl").read_text(encoding="utf-8").splitlines()]
    summary = json.loads((two_runs / "a.json").read_text(encoding="utf-8"))
    assert len(lines) == sum(summary["model_calls"].values())
    assert all(list(line) == ["task", "entity", "round", "template", "model", "prompt", "reply"] for line in lines)
    assert {line["task"] for line in lines} >= {"actor", "decode", "handoff"}
    assert all(line["template"].startswith(f"{line['task']}.") and line["model"] == "storyteller" for line in lines)


def test_the_help_names_every_key_of_the_summary(two_runs: Path) -> None:
    summary = json.loads((two_runs / "a.json").read_text(encoding="utf-8"))
    told = otherminds("run", "--help", cwd=two_runs).stdout
    assert [key for key in summary if key not in told] == []


def test_the_same_seed_gives_the_same_save(two_runs: Path) -> None:
    done = otherminds("diff", "a.db", "b.db", cwd=two_runs)
    assert (done.returncode, done.stdout) == (0, "The saves are equal.\n")
    assert (two_runs / "a.jsonl").read_text(encoding="utf-8") == (two_runs / "b.jsonl").read_text(encoding="utf-8")


def test_another_seed_gives_another_save(two_runs: Path) -> None:
    otherminds("run", "salt-lantern", "--rounds", "12", "--seed", "8", "--save", "c.db", "--json", cwd=two_runs)
    done = otherminds("diff", "a.db", "c.db", cwd=two_runs)
    assert done.returncode == 1
    first, blank, *lines, last = done.stdout.splitlines()
    total, tables = first.split(" differences: ")
    assert (int(total.replace(",", "")), blank, last) == (len(lines), "", f"{len(lines)} differences.")
    for each in tables.split(", "):
        table, count = each.split(" ")
        assert int(count.replace(",", "")) == sum(line.startswith(f"{table} ") for line in lines)


def test_every_entry_ever_written_is_in_buffer_or_archive(two_runs: Path) -> None:
    with sqlite3.connect(two_runs / "a.db") as conn:
        both = "SELECT seq FROM buffer_entries UNION SELECT seq FROM buffer_archive"
        [(kept, last)] = conn.execute(f"SELECT count(*), max(seq) FROM ({both})")
        [(twice,)] = conn.execute("SELECT count(*) FROM buffer_entries WHERE id IN (SELECT id FROM buffer_archive)")
    assert kept == last
    assert twice == 0


def test_a_run_never_writes_over_a_save(two_runs: Path) -> None:
    done = otherminds("run", "salt-lantern", "--rounds", "1", "--save", "a.db", cwd=two_runs)
    assert done.returncode == 1
    assert "a.db" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("run", "no-such-world"), 1, "Bundled worlds: "),
        (("run", "salt-lantern", "--rounds", "0"), 2, "rounds"),
        (("run",), 2, "Missing argument"),
        (("validate", "salt-lantern"), 0, "No faults found."),
        (("diff", "nothing.db", "nowhere.db"), 1, "nothing.db"),
        (("dance",), 2, "dance"),
    ],
)
def test_exit_codes_and_words(tmp_path: Path, arguments: tuple[str, ...], code: int, words: str) -> None:
    done = otherminds(*arguments, cwd=tmp_path)
    assert done.returncode == code
    assert words in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_validate_lists_every_mistake_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "world.yaml").write_text(
        "name: Three\n"
        "clock: {start: 1247-03-01 18:00}\n"
        "places:\n"
        "  - id: bar_1\n"
        "    name: the bar\n"
        "    exits:\n"
        "      - {to: celar_1, name: trap door}\n"
        "  - id: cellar_1\n"
        "    name: the cellar\n"
        "entities:\n"
        "  - id: bob_1\n"
        "    at: bar_1\n"
        "    agent: maybe\n"
        "    goals: ['warn @bil_1']\n"
        "  - id: bill_1\n"
        "    at: bar_1\n"
        "    agent: true\n",
        encoding="utf-8",
    )
    done = otherminds("validate", tmp_path, "--json", cwd=tmp_path)
    problems = json.loads(done.stdout)
    assert done.returncode == 1
    assert [problem["line"] for problem in problems] == [7, 13, 14]
    assert "cellar_1" in problems[0]["message"] + problems[0]["hint"]
    assert "bill_1" in problems[2]["message"] + problems[2]["hint"]
