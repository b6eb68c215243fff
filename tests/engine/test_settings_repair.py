"""Settings that cannot be used: every fault has its line, the file is shown without keys, and a line can be put aside."""

from pathlib import Path

import pytest

from engine.errors import SettingsError
from engine.settings import Settings, broken, load_or_stand_in, load_settings, put_aside

FILE = """\
# mine
[models]
default = "home"
acter = "openai/gpt-5-mini"
decode = [
    "home",
    "hom",
]

[endpoint.home]
model = "openai/qwen2.5"
contxt = 5
timeout = "long"

[caps]
run_tokens = 2.5

[endpoint.other]
api_base = "http://127.0.0.1:8080/v1"
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "settings.toml"


def fault(path: Path) -> SettingsError:
    with pytest.raises(SettingsError) as caught:
        load_settings(path, {})
    return caught.value


@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["lf", "crlf"])
@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["plain", "marked"])
def test_every_fault_has_its_line_in_the_order_of_lines(path: Path, end: str, mark: str) -> None:
    path.write_bytes((mark + FILE.replace("\n", end)).encode())
    error = fault(path)
    assert error.lines == (4, 5, 12, 13, 16, 18)
    assert error.path == path
    assert [text.split("`")[0] for text in error.faults] == [f"settings.toml:{line}: " for line in error.lines]
    assert [text.split("`")[1] for text in error.faults] == [
        "models.acter", "models.decode", "endpoint.home.contxt", "endpoint.home.timeout", "caps.run_tokens", "endpoint.other",
    ]


@pytest.mark.parametrize(("text", "line"), [
    ("models = 3\n", 1), ("\n\nendpoint.home = 1\n", 3), ("[[models]]\nx = 1\n", 1), ("[models.actor]\n\ntemperature = 'hot'\n", 3),
    ("[models]\nactor = { model = 'storyteller', temprature = 1 }\n", 2), ("\n[endpoint.'a.b/c']\nmodle = 'c/d'\n", 3),
    ("[endpoint]\nhome.model = 'a/b'\nhome.input_price = 1\n", 2), ("'mod\\'\n", 1), ("[models]\nembed = minilm\n", 2),
    ("[caps]\nrun_tokens = 5\n\n[caps]\n", 4), ("[models]\ndefault = '''\nx\n", 3), ("[models]\na\x00b = 1\n", 2), ("[models", 1),
])
def test_the_line_is_found_however_it_is_written(path: Path, text: str, line: int) -> None:
    path.write_text(text)
    error = fault(path)
    assert error.lines == (line,)
    assert error.faults[0].startswith(f"settings.toml:{line}: ")
    assert str(path) in str(error)


@pytest.mark.parametrize(("text", "remedy"), [
    ("[caps]\n[caps]\n", "Each table and each key stands there once"), ("[models]\nembed = minilm\n", "Texts stand in quotes"),
    ("[models]\nembed = 'minilm\n", "no second quotation mark"),
    ('[models]\nembed = "minilm\n', "no second quotation mark"), ("[models\n", "stands in brackets"),
    ("[models]\ndefault = ['a/b'\n", "bracket is not closed"), ("[models]\nembed minilm\n", "a name, = and a value"),
])
def test_what_toml_cannot_read_is_told_with_what_to_do(path: Path, text: str, remedy: str) -> None:
    path.write_text(text)
    assert remedy in fault(path).advice


def test_a_table_that_stands_there_twice_is_called_as_it_is_written(path: Path) -> None:
    path.write_text("[models.actor]\nmodel = 'storyteller'\n[models.actor]\n")
    assert "Cannot declare `models.actor` twice" in str(fault(path))


def test_a_fault_of_the_environment_is_in_no_line(path: Path) -> None:
    path.write_text("[models]\nacter = 'x'\n")
    with pytest.raises(SettingsError) as caught:
        load_settings(path, {"OTHERMINDS_MODEL": "nobody"})
    assert caught.value.lines == (2, 0)
    assert broken(caught.value).faults[1].text.startswith("`OTHERMINDS_MODEL`")


def test_what_is_built_in_stands_in_for_settings_that_cannot_be_used(tmp_path: Path, path: Path) -> None:
    environ = {"OTHERMINDS_CONFIG": str(tmp_path)}
    assert load_or_stand_in(environ) == (Settings(), None)
    path.write_text("[models]\ndefault = 'openai/gpt-5-mini'\nacter = 1\n")
    settings, error = load_or_stand_in(environ)
    assert settings == Settings()
    assert error is not None
    assert error.lines == (3,)


@pytest.mark.parametrize(("line", "secret"), [
    ("api_key = 'hunter2'", "hunter2"), ("key_env = 'hunter-2'", "hunter-2"), ("api_base = 'http://me:hunter2@x/v1'", "hunter2"),
    ("x = { model = 'a/b', auth_token = \"hunter2\" }", "hunter2"), ("model = 'sk-proj-abcdefghij0123456789'", "abcdefghij"),
    ("OPENAI_API_KEY = 'hunter2", "hunter2"),
])
def test_the_file_is_shown_without_keys(path: Path, line: str, secret: str) -> None:
    path.write_text(f"[endpoint.home]\n{line}\nmodle = 'a/b'\n")
    found = broken(fault(path))
    assert any(found.lines)
    assert secret not in str(found)
    assert line.split("=")[0] in found.lines[1]


def test_lines_around_a_fault_are_shown_with_their_numbers(path: Path) -> None:
    path.write_text(FILE)
    found = broken(fault(path))
    assert list(found.around(4)) == [
        (2, "[models]"), (3, 'default = "home"'), (4, 'acter = "openai/gpt-5-mini"'), (5, "decode = ["), (6, '    "home",'),
    ]
    assert [number for number, _ in found.around(1)] == [1, 2, 3]
    assert found.short == f"{found.faults[0].text} (and 5 more)"


@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_faults_are_put_aside_one_by_one_and_nothing_is_lost(path: Path, end: str) -> None:
    path.write_bytes(("\ufeff" + FILE.replace("\n", end)).encode())
    counts = []
    for _ in range(6):
        counts.append(put_aside(path, fault(path).lines[0]))
    assert counts == [1, 4, 1, 1, 1, 2]
    assert load_settings(path, {}).models.default.names == ("home",)
    text = path.read_bytes().decode()
    assert [line.removeprefix("# ") for line in text.split(end)] == [line.removeprefix("# ") for line in f"\ufeff{FILE}".split("\n")]


@pytest.mark.parametrize(("text", "line", "after"), [
    ("[models]\nembed = minilm\n", 2, "[models]\n# embed = minilm\n"),
    ("[caps]\nrun_tokens = 5\n[endpoint.home\nmodel = 'a/b'\n[provider.openai]\n", 3,
     "[caps]\nrun_tokens = 5\n# [endpoint.home\n# model = 'a/b'\n[provider.openai]\n"),
    ("[endpoint.storyteller]\nmodel = 'a/b'\n# said of the next\n\n[caps]\nrun_tokens = 5\n", 1,
     "# [endpoint.storyteller]\n# model = 'a/b'\n# said of the next\n\n[caps]\nrun_tokens = 5\n"),
    ("[models]\nactor = 'hom'", 2, "[models]\n# actor = 'hom'"),
])
def test_with_a_table_goes_what_hangs_on_it_and_no_more(path: Path, text: str, line: int, after: str) -> None:
    path.write_text(text)
    assert fault(path).lines == (line,)
    put_aside(path, line)
    assert path.read_text() == after
    load_settings(path, {})


@pytest.mark.parametrize(("text", "line"), [
    ("[models]\ndefault = '''\nx\n", 3), ("[models]\nactor = 'hom'\n", 1), ("[models]\nactor = 'hom'\n", 9), ("[models]\nactor = 1\n", 0),
])
def test_a_line_that_is_not_at_fault_stays(path: Path, text: str, line: int) -> None:
    path.write_text(text)
    before = path.read_bytes()
    if line == 1:  # the table with all that is in it does go
        put_aside(path, line)
        assert path.read_text() == "# [models]\n# actor = 'hom'\n"
        return
    with pytest.raises(SettingsError):
        put_aside(path, line)
    assert path.read_bytes() == before
