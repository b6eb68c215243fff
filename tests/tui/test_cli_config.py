"""`otherminds config` as people and scripts use it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from engine.errors import SettingsError
from engine.settings import change_all
from tui.cli_config import config as commands

ENVIRON = {name: value for name, value in os.environ.items() if not name.startswith("OTHERMINDS_") and not name.endswith("_API_KEY")}


class Shell:
    """The command in a config folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "config" / "settings.toml"

    def __call__(self, *words: str, code: int = 0, **environ: str) -> str:
        command = [sys.executable, "-m", "tui.start", "config", *words]
        env = {**ENVIRON, "OTHERMINDS_CONFIG": str(self.path.parent), **environ}
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
        assert done.returncode == code, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        return done.stdout + done.stderr


@pytest.fixture
def config(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def rows(text: str) -> dict[str, list[str]]:
    """Lines of tables by their first column."""
    cells = [[cell.strip() for cell in line.split("  ") if cell] for line in text.splitlines()]
    return {row[0]: row[1:] for row in cells if len(row) > 1}


def test_nothing_set_is_shown_as_built_in(config: Shell) -> None:
    told = config()
    assert f"{config.path} (not there yet" in told
    assert rows(told)["actor"] == ["storyteller", "built in"]
    assert rows(told)["models.embed.model"] == ["hash768", "built in"]
    assert told == config("show")
    assert not config.path.parent.exists(), "to look changes nothing"


def test_settings_are_set_shown_and_taken_out(config: Shell) -> None:
    assert f"models.default is set in {config.path}." in config("set", "models.default", "openai/a, storyteller")
    config("set", "endpoint.home.model", "openai/local", "endpoint.home.api_base", "http://127.0.0.1:8080/v1", "models.decode", "home")
    config("set", "models.decode.temperature", "0")
    config("set", "caps.run_tokens", "200,000")
    told = rows(config(OTHERMINDS_MODEL_ACTOR="xai/grok"))
    assert told["default"] == ["openai/a, then storyteller", "the file"]
    assert told["referee"] == ["openai/a, then storyteller", "the default"]
    assert told["actor"] == ["xai/grok", "OTHERMINDS_MODEL_ACTOR"]
    assert told["decode"] == ["home", "the file"]
    assert told["models.decode.temperature"] == ["0.0", "the file"]
    assert told["caps.run_tokens"] == ["200000", "the file"]
    config("set", "models.decode", "openai/a,home")
    assert 'decode = { model = "openai/a", temperature = 0.0, fallbacks = ["home"] }' in config.path.read_text(), "the temperature stays"
    assert "models.decode is no longer set" in config("unset", "models.decode")
    assert "models.decode was not set" in config("unset", "models.decode")
    assert rows(config())["decode"] == ["openai/a, then storyteller", "the default"]


def test_scripts_read_json(config: Shell) -> None:
    config("set", "models.default", "openai/a,storyteller", "caps.run_money", "2.5")
    found = json.loads(config("--json", OTHERMINDS_CAP_TOKENS="5"))
    assert found == json.loads(config("show", "--json", OTHERMINDS_CAP_TOKENS="5"))
    assert (found["path"], found["exists"]) == (str(config.path), True)
    assert found["tasks"]["actor"] == {
        "models": ["openai/a", "storyteller"], "temperature": None, "timeout": None, "set_by": "default", "variable": None,
    }
    assert found["settings"]["caps.run_money"] == {"value": 2.5, "set_by": "settings", "variable": None}
    assert found["settings"]["caps.run_tokens"] == {"value": 5, "set_by": "environment", "variable": "OTHERMINDS_CAP_TOKENS"}
    assert found["settings"]["models.default.fallbacks"]["value"] == ["storyteller"]
    checked = json.loads(config("check", "--json"))
    assert checked["faults"] == []
    assert "OPENAI_API_KEY" in checked["warnings"][0]


def test_a_variable_that_stands_over_what_was_set_is_told(config: Shell) -> None:
    told = config("set", "models.actor", "openai/a", OTHERMINDS_MODEL_ACTOR="xai/grok")
    assert "OTHERMINDS_MODEL_ACTOR in the environment stands over it." in told


def test_check_lists_all_that_is_wrong(config: Shell) -> None:
    assert config("check") == "No faults found.\n"
    config.path.parent.mkdir()
    config.path.write_text("[models]\nactr = 'a/b'\nactor = 'gpt-5-mini'\n[caps]\nrun_tokens = 'x'\n")
    told = config("check", code=1, OTHERMINDS_CAP_MONEY="-1")
    named = [line.split("`")[1] for line in told.splitlines()[:-1]]
    assert named == ["models.actr", "models.actor", "caps.run_tokens", "OTHERMINDS_CAP_MONEY"]
    assert [line[: line.find("`")] for line in told.splitlines()[:-1]] == [
        "wrong: settings.toml:2: ", "wrong: settings.toml:3: ", "wrong: settings.toml:5: ", "wrong: ",
    ]
    assert told.splitlines()[-1] == "4 faults found. Correct it or take it out."
    checked = json.loads(config("check", "--json", code=1))
    assert (len(checked["faults"]), checked["advice"]) == (3, "Correct it or take it out.")
    config("show", code=1)
    config("unset", "models.actr", "models.actor", "caps.run_tokens")
    assert config("check") == "No faults found.\n"
    config.path.write_text("[models\n")
    assert "is not TOML" in config("check", code=1)


def test_no_key_is_printed_or_written(config: Shell) -> None:
    secret = "sk-proj-abcdefghij0123456789"
    for words in (("endpoint.home.api_key", secret), ("endpoint.a/b.key_env", secret), ("models.actor", f"openai/{secret}")):
        told = config("set", *words, code=1 if "key_env" in words[0] or "actor" in words[0] else 2)
        assert secret[8:] not in told
        assert "key" in told
    assert not config.path.exists()
    config("set", "endpoint.a/b.key_env", "MY_KEY", "models.actor", "a/b")
    assert rows(config(MY_KEY=secret))['endpoint."a/b".key_env'] == ["MY_KEY, which is set", "the file"]
    assert rows(config())['endpoint."a/b".key_env'] == ["MY_KEY, which is not set", "the file"]
    assert "MY_KEY is not set" in config("check")
    config.path.write_text(f"[endpoint.'a/b']\napi_key = '{secret}'\n")
    for command in ("show", "check", "show --json", "set caps.run_tokens 5"):
        assert secret[8:] not in config(*command.split(), code=1, OPENAI_API_KEY=secret)


@pytest.mark.parametrize(("words", "code", "said"), [
    (("set", "models.actr", "x"), 2, "`models.actr` is not a setting (did you mean `actor`?)"),
    (("set", "caps.run_tokens", "lots"), 2, "must be a whole number, as `200000`, `200k` or `1.5M`, not `lots`"),
    (("set", "endpoint.home", "small"), 2, "`endpoint.home` is a table"),
    (("set", "a..b", "x"), 2, "is not a key of a setting"),
    (("set", "models.actor"), 2, "VALUE"),
    (("set", "models.actor", "a/b", "models.decode"), 2, "there is no value for `models.decode`"),
    (("set", "models.actor", "gpt-5-mini"), 1, "as in `openai/gpt-5-mini`. Nothing was changed."),
    (("set", "models.actor", "a/\x1b[31mb"), 1, "cannot be printed"),
    (("set", "endpoint.a/b.input_price", "1"), 1, "`output_price` is missing"),
    (("unset", "models.actr"), 2, "did you mean `actor`?"),
    (("unset",), 2, "KEY"),
    (("dance",), 2, "dance"),
    (("--json", "set", "models.actor", "a/b"), 2, "--json"),
])
def test_wrong_use_is_told_and_changes_nothing(config: Shell, words: tuple[str, ...], code: int, said: str) -> None:
    told = config(*words, code=code)
    assert said in " ".join(told.split())
    assert "\x1b" not in told
    assert not config.path.exists()


def test_the_file_is_begun_once(config: Shell) -> None:
    assert config("path") == f"{config.path}\n"
    assert config("init") == f"Written: {config.path}\n"
    text = config.path.read_text()
    assert "# default = " in text
    assert "Nothing was changed" in config("init")
    assert config.path.read_text() == text
    assert "not there yet" not in config()


def test_a_file_that_cannot_be_written_is_told(config: Shell) -> None:
    config("init")
    config.path.chmod(0o444)
    assert "cannot be written" in config("set", "models.actor", "a/b", code=1)
    config.path.unlink()
    config.path.mkdir()
    assert "cannot be read" in config("set", "models.actor", "a/b", code=1)
    assert "cannot be read" in config("check", code=1)


def test_caps_are_set_as_people_write_them(config: Shell) -> None:
    config("set", "caps.run_tokens", "2k", "caps.day_tokens", "1.5M", "caps.run_money", "$2")
    text = config.path.read_text()
    assert "run_tokens = 2000\n" in text
    assert "day_tokens = 1500000\n" in text
    assert "run_money = 2.0\n" in text
    assert "200k" in config("set", "caps.run_tokens", "lots", code=2)
    assert config.path.read_text() == text


HOSTILE = {
    "binary": (bytes(range(256)) * 20, "is not UTF-8 text"), "utf-16": ("[models]\n".encode("utf-16"), "is not UTF-8 text"),
    "nul": (b"[models]\na\x00b = 1\n", "settings.toml:2: is not TOML"), "10 MB": (b"# " + b"x" * 10_000_000, "larger than a million bytes"),
    "twice": (b"[caps]\n[models]\n[caps]\n", "settings.toml:3: is not TOML: Cannot declare `caps` twice"),
    "emoji": ("[models]\n\U0001f600 = 1\n".encode(), "settings.toml:2: is not TOML"),
    "emoji value": ("[models]\nactor = '\U0001f600'\n".encode(), "settings.toml:2: `models.actor`: no endpoint is called"),
    "no tables": (b"models = 1\nendpoint = 'x'\nprovider = [1]\ncaps = 07:30:00\n", "settings.toml:4: `caps` must be a table"),
    "marked": (b"\xef\xbb\xbf[models]\r\nactr = 1\r\n", "settings.toml:2: `models.actr` is not a setting"),
    "deep": (b"x = " + b"[" * 3000 + b"]" * 3000, "nested too deep"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_files_of_any_kind_are_told_in_one_clear_message_and_stay_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:  # fmt: skip
    content, said = HOSTILE[name]
    path = tmp_path / "settings.toml"
    path.write_bytes(content)
    monkeypatch.setenv("OTHERMINDS_CONFIG", str(tmp_path))
    told = CliRunner().invoke(commands, ["check"])
    assert told.exit_code == 1
    assert said in told.output
    assert told.output.splitlines()[-1].split(" ")[1] in ("fault", "faults")
    found = json.loads(CliRunner().invoke(commands, ["check", "--json"]).output)
    assert any(said in fault for fault in found["faults"])
    with pytest.raises(SettingsError):
        change_all(path, {"models.hints": True})
    assert path.read_bytes() == content


def test_a_folder_in_its_place_is_told_and_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "settings.toml"
    (path / "kept").mkdir(parents=True)
    monkeypatch.setenv("OTHERMINDS_CONFIG", str(tmp_path))
    assert "it is no file" in CliRunner().invoke(commands, ["check"]).output
    for words in ([], ["set", "caps.run_tokens", "5"], ["unset", "caps.run_tokens"]):
        assert "it is no file" in str(CliRunner().invoke(commands, words).exception)
    assert CliRunner().invoke(commands, ["init"]).exit_code == 0
    assert (path / "kept").is_dir()
