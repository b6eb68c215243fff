"""What a day has taken, in files that several processes write to."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.llm.usage_log import UsageLog
from engine.records.models import Spent
from tests.engine.llm.stack import a_call

MORNING = datetime(2026, 11, 30, 9, 30)
ROOT = Path(__file__).parents[3]


def opened(folder: Path) -> UsageLog:
    return UsageLog(folder, lambda: MORNING)


def day_file(folder: Path) -> Path:
    return folder / "usage" / "2026-11-30.jsonl"


def test_a_call_is_a_line_with_numbers_and_without_names_or_texts(tmp_path: Path) -> None:
    opened(tmp_path).add(a_call("actor", entity="en_secret", failed="My secret words.", cost=0.25, estimated=True, seconds=1.23456))
    [line] = day_file(tmp_path).read_text().splitlines()
    assert json.loads(line) == {
        "time": "2026-11-30T09:30:00", "task": "actor", "model": "openai/x", "prompt_tokens": 100, "reply_tokens": 10, "estimated": True,
        "cost": 0.25, "seconds": 1.235, "failed": True,
    }
    assert "secret" not in line


def test_the_day_is_the_sum_of_all_that_wrote_to_it(tmp_path: Path) -> None:
    one, other = opened(tmp_path), opened(tmp_path)
    assert one.today() == Spent()
    one.add(a_call(cost=0.5))
    other.add(a_call(cost=None))
    expected = Spent(calls=2, prompt_tokens=200, reply_tokens=20, cost=0.5, unpriced=1, seconds=2.0)
    assert one.today() == other.today() == opened(tmp_path).today() == expected
    other.add(a_call(cost=0.5))
    assert one.today().cost == 1.0


def test_only_what_was_added_is_read(tmp_path: Path) -> None:
    log = opened(tmp_path)
    log.add(a_call())
    assert log.today().calls == 1
    size = day_file(tmp_path).stat().st_size
    with day_file(tmp_path).open("r+b") as file:
        file.write(b"x" * (size - 1))  # what was read already is no longer looked at
    log.add(a_call())
    assert log.today().calls == 2
    assert opened(tmp_path).today().calls == 1


@pytest.mark.parametrize("make", [os.mkfifo, Path.mkdir], ids=["pipe", "folder"])
def test_what_is_no_file_is_not_waited_for(tmp_path: Path, make: Callable[[Path], None]) -> None:
    day_file(tmp_path).parent.mkdir(parents=True)
    make(day_file(tmp_path))
    log = opened(tmp_path)
    assert "What is spent cannot be written" in log.add(a_call())
    assert log.add(a_call()) == "", "said once"
    assert log.today().calls == 2


def test_a_new_day_begins_at_midnight_and_old_files_stay(tmp_path: Path) -> None:
    now = datetime(2026, 11, 30, 23, 59, 59)
    log = UsageLog(tmp_path, lambda: now)
    log.add(a_call())
    assert log.today().calls == 1
    now = datetime(2026, 12, 1)
    assert log.today() == Spent()
    log.add(a_call(cost=0.125))
    assert log.today().cost == 0.125
    assert sorted(path.name for path in (tmp_path / "usage").iterdir()) == ["2026-11-30.jsonl", "2026-12-01.jsonl"]


@pytest.mark.parametrize(
    "junk",
    [
        b"\n", b"\xff\xfe\n", b"[1, 2]\n", b"7\n", b"{}\n", b"[" * 100_000 + b"\n", b'{"prompt_tokens": 1}\n',
        b'{"prompt_tokens": -1, "reply_tokens": 1, "cost": 1, "seconds": 1}\n',
        b'{"prompt_tokens": 1.5, "reply_tokens": 1, "cost": 1, "seconds": 1}\n',
        b'{"prompt_tokens": true, "reply_tokens": 1, "cost": 1, "seconds": 1}\n',
        b'{"prompt_tokens": 1, "reply_tokens": 1, "cost": NaN, "seconds": 1}\n',
        b'{"prompt_tokens": 1, "reply_tokens": 1, "cost": 1e999, "seconds": 1}\n',
        b'{"prompt_tokens": 1, "reply_tokens": 1, "cost": "1", "seconds": 1}\n',
        b'{"prompt_tokens": 1' + b"0" * 5000 + b', "reply_tokens": 1, "cost": 1, "seconds": 1}\n',
        b'{"prompt_tokens": 100, "reply_tokens": 10, "cost": 0.5, "seco', b"x" * 100_000, b"x" * 3_000_000,
    ],
    ids=range(17),
)  # fmt: skip
def test_lines_that_are_torn_or_foreign_are_passed_over_and_take_none_with_them(tmp_path: Path, junk: bytes) -> None:
    log, expected = opened(tmp_path), Spent.of(a_call())
    log.add(a_call())
    assert log.today() == expected
    with day_file(tmp_path).open("ab") as file:
        file.write(junk)
    assert log.today() == expected
    log.add(a_call())
    assert log.today() == opened(tmp_path).today() == expected + expected


@given(st.lists(st.binary(max_size=40), max_size=8))
def test_bytes_of_any_kind_between_lines_do_no_harm(tmp_path_factory: pytest.TempPathFactory, junk: list[bytes]) -> None:
    folder = tmp_path_factory.mktemp("log")
    log = opened(folder)
    for piece in junk:
        log.add(a_call())
        with day_file(folder).open("ab") as file:
            file.write(piece)
        log.today()
    assert log.today() == opened(folder).today() == sum([Spent.of(a_call())] * len(junk), Spent())


def test_a_line_that_is_being_written_is_read_when_it_is_whole(tmp_path: Path) -> None:
    log = opened(tmp_path)
    log.add(a_call())
    line = day_file(tmp_path).read_bytes()
    with day_file(tmp_path).open("ab") as file:
        file.write(line[:20])
    assert log.today().calls == 1
    with day_file(tmp_path).open("ab") as file:
        file.write(line[20:])
    assert log.today().calls == 2


def test_a_file_that_was_taken_away_or_cut_is_read_from_its_beginning(tmp_path: Path) -> None:
    log = opened(tmp_path)
    for _ in range(3):
        log.add(a_call())
    assert log.today().calls == 3
    os.truncate(day_file(tmp_path), 0)
    log.add(a_call())
    assert log.today().calls == 1
    day_file(tmp_path).unlink()
    assert log.today().calls == 0


def test_a_folder_that_cannot_be_written_to_costs_a_note_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "usage").write_text("in the way")
    log = opened(tmp_path)
    assert str(tmp_path / "usage") in log.add(a_call())
    assert log.add(a_call()) == ""
    assert log.today().calls == 2
    (tmp_path / "usage").unlink()
    assert log.add(a_call()) == ""
    assert log.today().calls == 3  # the first two are known to this process alone
    assert opened(tmp_path).today().calls == 1


def test_a_disk_that_is_full_loses_no_count(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full here")
    day_file(tmp_path).parent.mkdir()
    day_file(tmp_path).symlink_to("/dev/full")
    log = opened(tmp_path)
    assert "No space left" in log.add(a_call())
    assert log.today().calls == 1


WRITER = """
import sys
from datetime import datetime
from pathlib import Path
from engine.llm.usage_log import UsageLog
from engine.records.models import Call
log = UsageLog(Path(sys.argv[1]), lambda: datetime(2026, 11, 30, 9, 30))
for number in range(int(sys.argv[2])):
    log.add(Call(task="actor", entity="a", round=1, model="m" * 150, prompt_tokens=100, reply_tokens=10, cost=0.5, seconds=1.0))
    print(number, flush=True)
"""


def writer(folder: Path, calls: int) -> "subprocess.Popen[bytes]":
    return subprocess.Popen([sys.executable, "-c", WRITER, str(folder), str(calls)], stdout=subprocess.PIPE, cwd=ROOT)


@pytest.mark.slow
def test_processes_that_write_side_by_side_lose_nothing(tmp_path: Path) -> None:
    writers = [writer(tmp_path, 200) for _ in range(4)]
    log = opened(tmp_path)
    for each in writers:
        each.communicate(timeout=60)
        assert each.returncode == 0
        log.today()  # while the others write
    assert log.today() == opened(tmp_path).today() == sum([Spent.of(a_call())] * 800, Spent())


@pytest.mark.slow
def test_a_process_that_is_killed_has_lost_nothing_of_what_it_counted(tmp_path: Path) -> None:
    killed = writer(tmp_path, 1_000_000)
    assert killed.stdout is not None
    counted = 0
    while counted < 50:
        counted = int(killed.stdout.readline()) + 1
    time.sleep(0.05)
    killed.kill()
    counted += len(killed.stdout.read().splitlines())
    killed.wait(60)
    assert counted <= opened(tmp_path).today().calls <= counted + 1
    assert writer(tmp_path, 3).wait(60) == 0
    assert counted + 3 <= opened(tmp_path).today().calls <= counted + 4
