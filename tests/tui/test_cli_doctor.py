"""`otherminds doctor` as people and scripts use it."""

import json
import os
import pty
import re
import select
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.fake_behaviour import UNKNOWN_MODEL, Behaviour, says
from tests.fake_server import in_a_thread

SECRET = "sk-proj-4fK2mQ9xW7bT1nVz8cY3"
DOCTOR = (sys.executable, "-m", "tui.start", "doctor")


class Place:
    """A machine of the test's own: settings, saves, environment."""

    def __init__(self, folder: Path) -> None:
        self.settings = folder / "config" / "settings.toml"
        self.settings.parent.mkdir()
        self.folder = folder
        self.env = {
            name: value for name, value in os.environ.items() if not name.endswith(("_API_KEY", "_TOKEN", "_BASE", "_BASE_URL", "_HOST"))
        } | {"OTHERMINDS_CONFIG": str(self.settings.parent), "OTHERMINDS_HOME": str(folder / "home")}
        for name in ("TMUX", "NO_COLOR", "COLORTERM"):
            self.env.pop(name, None)

    def doctor(self, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [*DOCTOR, *arguments], capture_output=True, text=True, cwd=self.folder, env={**self.env, **env}, check=False, timeout=100,
        )
        assert SECRET[:10] not in done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        return done

    def found(self, *arguments: str, **env: str) -> tuple[int, dict[str, dict[str, Any]]]:
        """Exit code, and findings by area and name."""
        done = self.doctor("--json", *arguments, **env)
        report = json.loads(done.stdout)
        findings = {f"{one['area']}: {one['name']}": one for one in report["findings"]}
        assert len(findings) == len(report["findings"])
        assert done.returncode == (1 if report["state"] == "bad" else 0)
        assert done.stderr == ""
        return done.returncode, findings

    def use(self, model: str, base: str, more: str = "") -> None:
        self.settings.write_text(
            f'[models]\ndefault = "mine"\n[endpoint.mine]\nmodel = "{model}"\napi_base = "{base}"\n{more}\n', encoding="utf-8"
        )


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def helpful(body: Mapping[str, Any]) -> Behaviour:
    return says('{"word": "lantern", "count": 3}' if "JSON" in json.dumps(body) else "I am ready.")


def test_all_is_well_as_it_comes(place: Place) -> None:
    began = time.monotonic()
    done = place.doctor()
    assert time.monotonic() - began < 15
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert [line for line in lines if re.fullmatch("[a-z]+", line)] == [
        "program", "settings", "models", "servers", "embedder", "database", "terminal",
    ]
    assert lines[-1] == "All is well."
    assert "\x1b" not in done.stdout
    texts = [line for line in lines if line.startswith("  ✓ ")]
    assert len(texts) >= 10
    assert len({re.match(r"  ✓ \S.*?\s{2,}", line).end() for line in texts if len(line) > 4}) == 1  # type: ignore[union-attr]


def test_nothing_of_litellm_is_loaded_for_the_storyteller(place: Place) -> None:
    code = (
        "import sys\nfrom typer.testing import CliRunner\nfrom tui.cli import app\n"
        "result = CliRunner().invoke(app, ['doctor'])\nassert result.exit_code == 0, result.output\n"
        "print('litellm' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=place.env, check=True)
    assert done.stdout.strip() == "False"


def test_no_key(place: Place) -> None:
    place.settings.write_text('[models]\ndefault = "openai/gpt-5-mini"\n', encoding="utf-8")
    code, found = place.found()
    model = found["models: openai/gpt-5-mini"]
    assert (code, model["state"]) == (1, "bad")
    assert "OPENAI_API_KEY is not set" in model["text"]
    assert "OPENAI_API_KEY" in model["advice"]
    assert "storyteller" in found["models: others"]["text"]


@pytest.mark.slow
def test_a_wrong_key(place: Place) -> None:
    with in_a_thread(key="another") as server:
        place.use("openai/some-model", server.base, 'key_env = "MY_KEY"')
        code, found = place.found(MY_KEY=SECRET)
    model = found["models: mine (openai/some-model)"]
    assert (code, model["state"]) == (1, "bad")
    assert "MY_KEY was rejected" in model["text"]


def test_a_host_that_is_down(place: Place) -> None:
    with in_a_thread() as server:
        base = server.base
    place.use("openai/some-model", base)
    began = time.monotonic()
    code, found = place.found()
    assert time.monotonic() - began < 15
    model = found["models: mine (openai/some-model)"]
    assert (code, model["state"]) == (1, "bad")
    assert f"{base} cannot be reached" in model["text"]


@pytest.mark.slow
def test_an_unknown_model(place: Place) -> None:
    with in_a_thread(models=("some-model-7b",)) as server:
        server.behave(UNKNOWN_MODEL, UNKNOWN_MODEL)
        place.use("openai/some-model-8b", server.base)
        code, found = place.found()
    model = found["models: mine (openai/some-model-8b)"]
    assert (code, model["state"]) == (1, "bad")
    assert "Did you mean openai/some-model-7b?" in model["text"]


@pytest.mark.slow
def test_a_model_that_answers(place: Place) -> None:
    with in_a_thread() as server:
        server.behave(helpful)
        place.use("openai/some-model", server.base)
        code, found = place.found()
        assert 0 < len(server.requests) <= 3
        asked = len(server.requests)
        place.found("--offline")
        assert len(server.requests) == asked
    assert (code, found["models: mine (openai/some-model)"]["state"]) == (0, "ok")


def test_settings_that_are_broken_do_not_end_the_doctor(place: Place) -> None:
    place.settings.write_text('[models]\ndefalt = "storyteller"\n', encoding="utf-8")
    code, found = place.found()
    assert (code, found["settings: fault"]["state"]) == (1, "bad")
    assert "`models.defalt` is not a setting" in found["settings: fault"]["text"]
    assert found["settings: fault"]["text"].startswith("settings.toml:2: ")
    assert found["models: storyteller"]["state"] == "warn"
    assert "while the settings cannot be used" in found["models: storyteller"]["text"]
    done = place.doctor()
    assert "✗ fault" in done.stdout
    assert "bad: " in done.stdout
    assert "✓ storyteller" not in done.stdout
    assert done.stdout.endswith("\n1 bad, 2 warnings.\n")


def test_many_and_long_faults_stand_on_lines_that_fit_with_their_advice_once(place: Place) -> None:
    odd = "".join(f"an_endless_name_of_something_{number} = 'x'\n" for number in range(3))
    place.settings.write_text(f"[models]\n{odd}", encoding="utf-8")
    done = place.doctor("--offline")
    assert done.returncode == 1
    found = done.stdout.split("settings\n")[1].split("\n\n")[0].splitlines()
    assert [line.split()[1] + line.split()[2] for line in found if line.startswith("  ✗")] == ["fault1", "fault2", "fault3"]
    assert all(len(line) <= 120 for line in found if "/" not in line)
    assert "\n".join(found).count("→") == 1


def test_a_server_that_says_nothing_is_told_as_busy(place: Place) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        code, found = place.found("--offline", LLAMA_ARG_PORT=str(port))
    busy = found["servers: busy"]
    assert (code, busy["state"]) == (0, "warn")
    assert busy["text"].startswith(f"something answers at http://127.0.0.1:{port}/v1 but is busy")
    assert busy["command"].startswith("otherminds config set endpoint.home ")


def test_an_output_that_takes_no_signs(place: Place) -> None:
    done = place.doctor("--offline", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert done.returncode == 0
    assert done.stdout.isascii()
    assert "  + Python" in done.stdout
    assert "! characters" in done.stdout


def on_a_terminal(place: Place, *arguments: str, **env: str) -> str:
    """What is seen on a terminal of 80 by 24, both streams."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [*DOCTOR, *arguments], stdin=slave, stdout=slave, stderr=slave, cwd=place.folder, close_fds=True,
        env={**place.env, "TERM": "xterm-256color", "COLUMNS": "80", "LINES": "24", **env},
    )
    os.close(slave)
    seen = b""
    try:
        while select.select([master], [], [], 60)[0]:
            try:
                piece = os.read(master, 65_536)
            except OSError:
                break
            seen += piece
            if not piece:
                break
        process.wait(20)
    finally:
        process.kill()
        os.close(master)
    return seen.decode()


def test_on_a_terminal_lines_fit_and_signs_have_colours(place: Place) -> None:
    seen = on_a_terminal(place, "--offline")
    assert "\x1b[32m✓\x1b[0m" in seen
    lines = re.sub(r"\x1b\[\d+m", "", seen).splitlines()
    assert "80 by 24" in seen
    assert [line for line in lines if len(line) > 80 and "/" not in line] == []


def test_colours_can_be_had_without(place: Place) -> None:
    seen = on_a_terminal(place, "--offline", NO_COLOR="1")
    assert "\x1b" not in seen
    assert "✓" in seen


@pytest.mark.slow
def test_what_takes_long_is_told_and_leaves_nothing_behind(place: Place) -> None:
    with in_a_thread(every=0.5) as server:
        server.behave(helpful)
        place.use("openai/some-model", server.base)
        seen = on_a_terminal(place)
    assert re.search(r"\rasking: .*models", seen)
    last = seen.split("\r")
    assert "program" in seen.rsplit("asking: ", 1)[1]
    assert any(re.fullmatch(" +", part) for part in last)
