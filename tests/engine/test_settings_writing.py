"""Changes to the settings file: what was set is what it holds, and nothing that a person wrote is lost."""

import fcntl
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.errors import SettingsError
from engine.settings import Settings, TaskSettings, begin, change, change_all, load_settings
from engine.settings.keys import dotted
from engine.settings.writing import is_written

WRITTEN = '''\
# top
[models]
# who acts
actor = "openai/a"  # the good one
decode = ["openai/a", "openai/b"]

# what may be spent
[caps]
run_tokens = 1_000 # a day's worth

# at home
[endpoint."openai/a"]
temperature = 0.5
# between

# abroad
[endpoint."openai/b"]
small = true
# the end
'''
LAYOUTS = {
    "tables": WRITTEN,
    "windows": "\ufeff" + WRITTEN.replace("\n", "\r\n"),
    "inline": (
        '# a\nmodels = { actor = { model = "openai/a", timeout = 5 }, hints = true } # b\n'
        '# c\nendpoint."openai/a" = { small = true }\n'
    ),
    "dotted": (
        '# a\nmodels.actor = "openai/a"\n# b\nmodels.decode.model = "openai/b" # c\n'
        "models.decode.temperature = 1\n# d\ncaps.run_tokens = 5"
    ),
    "scattered": (
        '[models.actor]\n# a\nmodel = "openai/a"\n\n[caps]\n# b\n[models]\n# c\ndecode = "openai/b"\n'
        "# d\n[endpoint]\n# e\n[models.alias]\n"
    ),
    "deep": '[endpoint]\n"openai/a".small = true\n  # a\n  "openai/a".thinking = 5\n# b\n[models]\n  actor = "openai/a"\n',
    "lines": (
        "[models]\nactor = [\n  'openai/a',\n  'openai/b',\n]\n# a\ndecode = \"\"\"openai/\\\n   b\"\"\"\n"
        "# [caps]\n# run_tokens = 1\n[caps]\n# b"
    ),
    "odd": (
        "# x = \"\"\"\n[ models ] # ' a\n'decode' = 'openai/#[b]' # \" b\n"
        "\"actor\" = { 'model' = \"\"\"openai/a\"\"\"\"\" }\n# c = '''\n"
    ),
    "comments": "# nothing\n\n  # else\n",
    "empty": "",
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "settings.toml"


def write(path: Path, text: str) -> Path:
    path.write_bytes(text.encode())
    return path


def text_of(path: Path) -> str:
    return path.read_bytes().decode()


def files(folder: Path) -> list[str]:
    return sorted(found.name for found in folder.iterdir())


def comments(text: str) -> list[str]:
    """Comments on lines of their own."""
    return [line.strip() for line in text.split("\n") if line.strip().startswith("#")]


def without_the_empty(told: Settings) -> Settings:
    """Settings without tables that say nothing: whether one is left when its last key goes is a matter of taste."""
    kept = {name: {key: one for key, one in getattr(told, name).items() if one.model_fields_set} for name in ("endpoint", "provider")}
    tasks = {name: value for name, value in told.models if isinstance(value, TaskSettings)}
    models = told.models.model_copy(update={name: None for name, task in tasks.items() if not task.model_fields_set and name != "default"})
    return told.model_copy(update={**kept, "models": models})


Changes = list[tuple[tuple[str, ...], object]]
Leaves = Mapping[tuple[str, ...], object]


def leaves(table: Mapping[str, object], place: tuple[str, ...] = ()) -> Leaves:
    """All settings of tables by their full keys, a task's or embedder's name as its `model`."""
    found: dict[tuple[str, ...], object] = {}
    for name, value in table.items():
        here = (*place, name)
        if isinstance(value, dict):
            found |= leaves(value, here)
        elif place == ("models",) and isinstance(value, str):
            found[*here, "model"] = value
        elif place == ("models",) and isinstance(value, list):
            found |= {(*here, "model"): value[0], (*here, "fallbacks"): value[1:]}
        else:
            found[here] = value
    return {key: value for key, value in found.items() if value != []}


def meant(held: Leaves) -> Settings:
    """The settings that full keys come to."""
    tables: dict[str, object] = {}
    for key, value in held.items():
        at = tables
        for step in key[:-1]:
            at = at.setdefault(step, {})  # type: ignore[assignment]
        at[key[-1]] = value
    return Settings.model_validate(tables)


MODELS = st.sampled_from(["storyteller", "openai/a", "openai/b", 'x/"q"', "ollama_chat/llama3.2:1b", "p/#é'[]"])
NAMES = st.sampled_from(["openai/a", "openai/b", "openai/gpt-4.1", 'x/"q"', "z/ü = 'n' # no"])
TASKS = st.sampled_from(["default", "actor", "decode", "alias", "validate"])
CHANGES = st.one_of(
    st.tuples(st.tuples(st.just("models"), TASKS), st.none() | MODELS | st.lists(MODELS, min_size=1, max_size=3, unique=True)),
    st.tuples(st.tuples(st.just("models"), TASKS, st.just("temperature")), st.none() | st.floats(0, 2)),
    st.tuples(st.tuples(st.just("models"), TASKS, st.just("timeout")), st.none() | st.integers(1, 99)),
    st.tuples(st.tuples(st.just("models"), st.just("hints")), st.none() | st.booleans()),
    st.tuples(st.tuples(st.just("models"), st.just("embed")), st.none() | st.sampled_from(["minilm", "hash768", "openai/e"])),
    st.tuples(st.tuples(st.just("models"), st.just("embed"), st.just("meaning")), st.none() | st.floats(0, 1)),
    st.tuples(st.tuples(st.just("endpoint"), NAMES, st.just("small")), st.none() | st.booleans()),
    st.tuples(st.tuples(st.just("endpoint"), NAMES, st.just("temperature")), st.none() | st.floats(0, 2)),
    st.tuples(st.tuples(st.just("endpoint"), NAMES), st.none() | st.just({"model": "openai/c", "thinking": 9}) | st.just({"small": True})),
    st.tuples(st.tuples(st.just("provider"), st.sampled_from(["a", "a:1.5"]), st.just("concurrency")), st.none() | st.just(2)),
    st.tuples(st.tuples(st.just("caps"), st.sampled_from(["run_tokens", "day_tokens"])), st.none() | st.integers(1, 10**9)),
    st.tuples(st.tuples(st.just("caps")), st.none() | st.just({"run_money": 0.5})),
)


def after(held: Leaves, key: tuple[str, ...], value: object) -> Leaves:
    """What full keys hold after a change, by the rule: a value stands for all that was there."""
    rest = {place: was for place, was in held.items() if place[: len(key)] != key}
    if value is None:
        return rest
    inner = leaves({"models": {key[1]: value}}) if key[0] == "models" and len(key) == 2 and key[1] != "hints" else None
    if inner is None:
        inner = {(*key, name): one for name, one in value.items()} if isinstance(value, dict) else {key: value}
    return {**rest, **inner}


@pytest.mark.parametrize("layout", LAYOUTS)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=st.lists(CHANGES, min_size=1, max_size=8))
def test_the_file_holds_what_was_set_and_keeps_its_comments(path: Path, layout: str, changes: Changes) -> None:
    write(path, LAYOUTS[layout])
    held = leaves(tomllib.loads(LAYOUTS[layout].removeprefix("\ufeff")))
    for key, value in changes:
        told, held = change(path, dotted(key), value), after(held, key, value)
        assert told == load_settings(path, {})
        assert without_the_empty(told) == meant(held)
    assert comments(text_of(path)) == comments(LAYOUTS[layout])
    assert ("\r\n" in text_of(path)) == (layout == "windows")
    assert text_of(path).count("\n") == text_of(path).count("\r\n") or layout != "windows"
    assert text_of(path).startswith("\ufeff") == (layout == "windows")


@pytest.mark.parametrize("layout", LAYOUTS)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=st.lists(CHANGES, min_size=2, max_size=6, unique_by=lambda one: one[0][:2]))
def test_changes_at_once_are_changes_one_by_one(path: Path, tmp_path: Path, layout: str, changes: Changes) -> None:
    other = write(tmp_path / "other.toml", LAYOUTS[layout])
    write(path, LAYOUTS[layout])
    for key, value in changes:
        change(other, dotted(key), value)
    change_all(path, {dotted(key): value for key, value in changes})
    assert load_settings(path, {}) == load_settings(other, {})


def test_only_the_value_changes_and_what_stands_beside_it_stays(path: Path) -> None:
    change(write(path, WRITTEN), "models.actor", "openai/b")
    assert text_of(path) == WRITTEN.replace('actor = "openai/a"  #', 'actor = "openai/b"  #')
    change(path, "models.actor", "openai/a")
    assert text_of(path) == WRITTEN
    change(path, "models.alias", "openai/b")
    assert text_of(path) == WRITTEN.replace(', "openai/b"]\n', ', "openai/b"]\nalias = "openai/b"\n')
    change(path, "models.alias", None)
    assert text_of(path) == WRITTEN


def test_what_is_so_already_is_not_written(path: Path) -> None:
    write(path, WRITTEN)
    path.chmod(0o444)
    before = path.stat().st_mtime_ns
    change(path, "caps.run_tokens", 1000)
    change(path, "models.narrate", None)
    assert path.stat().st_mtime_ns == before


def test_a_part_of_a_task_makes_a_table_of_a_name(path: Path) -> None:
    write(path, WRITTEN)
    assert change(path, "models.actor.temperature", 0.8).models.actor == TaskSettings(model="openai/a", temperature=0.8)
    assert 'actor = { model = "openai/a", temperature = 0.8 }  # the good one' in text_of(path)
    both = change(path, "models.decode.timeout", 9).models.decode
    assert both == TaskSettings(model="openai/a", fallbacks=("openai/b",), timeout=9)
    alone = change(path, "models.narrate.temperature", 0.1).models
    assert alone.answering("narrate") == TaskSettings(temperature=0.1), "it names no model: the default answers"


def test_a_name_stands_for_all_that_was_there(path: Path) -> None:
    write(path, '[models.actor]\nmodel = "openai/a"\n# warm\ntemperature = 1.5\n')
    assert change(path, "models.actor", "openai/b").models.actor == TaskSettings(model="openai/b")
    assert "# warm" in text_of(path)


def test_settings_that_only_fit_together_are_set_together(path: Path) -> None:
    with pytest.raises(SettingsError, match="no endpoint is called `home`"):
        change(path, "models.actor", "home")
    with pytest.raises(SettingsError, match="`output_price` is missing"):
        change_all(path, {"endpoint.home.model": "openai/a", "endpoint.home.input_price": 1.0})
    assert not path.exists()
    change_all(path, {
        "models.actor": "home", "endpoint.home": {"model": "openai/a", "api_base": "http://127.0.0.1:8080/v1", "small": None},
        "endpoint.home.input_price": 1, "endpoint.home.output_price": 2.5,
    })
    home = load_settings(path, {}).resolved("home")
    assert (home.model, home.api_base, home.input_price, home.output_price) == ("openai/a", "http://127.0.0.1:8080/v1", 1, 2.5)
    with pytest.raises(SettingsError, match="no endpoint is called `home`"):
        change(path, "endpoint.home", None)


@pytest.mark.parametrize(("key", "value", "said"), [
    ("models.actr", "storyteller", "did you mean `actor`?"),
    ("models.actor", [], "must name a model"),
    ("models.actor", 3, "must be the name of a model, a list of names, or a table"),
    ("models.actor", "", "must not be empty"),
    ("models.actor", "open\x1bai/a", "cannot be printed"),
    ("models.actor", "gpt-5-mini", "`openai/gpt-5-mini`"),
    ("models", 3, "must be a table"),
    ("caps.run_tokens", True, "whole number"),
    ("caps.run_money", float("nan"), "must be a number"),
    ("caps.run_money", float("inf"), "must be a number"),
    ("endpoint.home.small", True, "needs a `model`"),
    ("endpoint.storyteller.model", "openai/a", "must have another name"),
    ("endpoint.a.api_base", "localhost:8080", "http://"),
    ("endpoint.a.api_key", "whatever", "keys belong in the environment"),
    ('endpoint."a/b".key_env', "sk-abcdefghij0123456789", "looks like a key"),
    ('endpoint."a\\nb".model', "a/b", "characters that can be printed"),
    ("endpoint.a/b.timeout", 0, "must be greater than 0"),
    ("..", "x", "is not a key of a setting"),
])
def test_what_does_not_fit_changes_nothing(path: Path, key: str, value: object, said: str) -> None:
    write(path, WRITTEN)
    with pytest.raises(SettingsError) as caught:
        change(path, key, value)
    assert said in str(caught.value)
    assert "sk-abc" not in str(caught.value)
    assert "\x1b" not in str(caught.value)
    assert text_of(path) == WRITTEN
    assert files(path.parent) == ["settings.toml"]


def test_what_was_wrong_before_is_told_apart_and_can_be_taken_out(path: Path) -> None:
    write(path, "[models]\nembde = 1\n[caps]\nrun_token = 5\n")
    with pytest.raises(SettingsError) as caught:
        change(path, "models.actor", "hom")
    assert "This does not fit: `models.actor`: no endpoint is called `hom`" in str(caught.value)
    assert f"In {path} stood already: settings.toml:2: `models.embde` is not a setting" in str(caught.value)
    assert len(caught.value.faults) == 3
    change_all(path, {"models.embde": None, "caps.run_token": None, "models.actor": "openai/a"})
    assert load_settings(path, {}).models.actor == TaskSettings(model="openai/a")


def test_tables_in_rows_are_no_settings_and_stay(path: Path) -> None:
    write(path, "[[models]]\nactor = 'openai/a'\n")
    with pytest.raises(SettingsError, match="`models` must be a table"):
        change(path, "caps.run_tokens", 5)
    assert text_of(path) == "[[models]]\nactor = 'openai/a'\n"
    change_all(path, {"models": None, "caps.run_tokens": 5})
    assert load_settings(path, {}).caps.run_tokens == 5


def test_a_folder_and_a_file_that_explains_itself_come_to_be(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "settings.toml"
    assert change(path, "models.actor", None) == Settings()
    assert not path.parent.exists(), "to take out what is nowhere needs no file"
    change(path, "models.actor", "openai/a")
    assert "# Play pauses before the call" in text_of(path)
    assert load_settings(path, {}) == Settings.model_validate({"models": {"actor": "openai/a"}})
    assert files(path.parent) == ["settings.toml"]


def test_a_file_is_begun_once(path: Path) -> None:
    assert begin(path)
    assert load_settings(path, {}) == Settings()
    assert begin(path) is False
    path.unlink()
    path.symlink_to(path.with_name("elsewhere.toml"))
    assert begin(path)
    assert path.is_symlink()


def test_every_example_of_the_first_file_holds_and_no_setting_is_left_out(path: Path) -> None:
    begin(path)
    seen: set[str] = set()
    table = ""
    for line in text_of(path).splitlines():
        example = line.removeprefix("# ")
        if example.startswith("["):
            table = example
        elif " = " in example and example.split(" = ")[0].isidentifier():
            seen.add(example.split(" = ")[0])
            here = f"{table}\n{example}\n" if "price" not in example else f"{table}\ninput_price = 1\noutput_price = 1\n"
            named = "" if "endpoint" not in table or example.startswith("model") else "model = 'a/b'\n"
            load_settings(write(path.with_name("one.toml"), here + named), {})
    for table in ("models", "caps", "endpoint.a", "provider.a"):
        known = {name for kind in [table] for name in _names(kind)}
        assert known <= seen | {"referee", "alias", "handoff", "collapse", "validate", "narrate"}


def _names(table: str) -> list[str]:
    from engine.settings.keys import settings_of

    return settings_of(tuple(table.split(".")))


def test_a_linked_file_stays_linked_and_keeps_its_rights(tmp_path: Path, path: Path) -> None:
    real = write(tmp_path / "dotfiles.toml", WRITTEN)
    real.chmod(0o640)
    path.symlink_to("dotfiles.toml")
    change(path, "caps.run_tokens", 7)
    assert path.is_symlink()
    assert "run_tokens = 7 # a day's worth" in text_of(real)
    assert real.stat().st_mode & 0o777 == 0o640


def test_files_that_cannot_be_changed_are_told(tmp_path: Path, path: Path) -> None:
    write(path, WRITTEN)
    path.chmod(0o444)
    with pytest.raises(SettingsError, match=r"cannot be written: it may be read only\. Nothing was changed"):
        change(path, "caps.run_tokens", 7)
    assert text_of(path) == WRITTEN
    assert files(tmp_path) == ["settings.toml"]
    with pytest.raises(SettingsError, match="cannot be written"):
        change(path / "settings.toml", "caps.run_tokens", 7)
    with pytest.raises(SettingsError, match="cannot be written"):
        begin(Path("/proc/otherminds/settings.toml"))
    with pytest.raises(SettingsError, match=r"cannot be read|no file"):
        change(tmp_path, "caps.run_tokens", 7)
    loop = tmp_path / "loop.toml"
    loop.symlink_to(loop)
    with pytest.raises(SettingsError, match="cannot be"):
        change(loop, "caps.run_tokens", 7)


def test_a_full_disk_leaves_the_file_as_it_was(path: Path) -> None:
    write(path, WRITTEN + "# " + "x" * 5000 + "\n")
    before = text_of(path)
    code = (
        "import resource, signal, sys; from pathlib import Path; from engine.settings import change\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "from engine.errors import SettingsError\n"
        "try: change(Path(sys.argv[1]), 'caps.run_tokens', 7)\n"
        "except SettingsError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    assert "cannot be written" in done.stdout
    assert text_of(path) == before
    assert files(path.parent) == ["settings.toml"]


def test_what_a_writer_that_died_left_behind_does_no_harm(path: Path) -> None:
    write(path, WRITTEN)
    path.with_name(".settings.toml.new").write_text("[caps]\nrun_")
    path.with_name("settings.toml.lock").write_text("")
    change(path, "caps.run_tokens", 7)
    assert load_settings(path, {}).caps.run_tokens == 7
    assert files(path.parent) == ["settings.toml"]


def test_writers_at_the_same_time_lose_nothing(path: Path) -> None:
    names = [f"openai/m{number}" for number in range(40)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda name: change(path, dotted(("endpoint", name, "thinking")), 5), names))
    code = (
        "import sys; from pathlib import Path; from engine.settings import change\n"
        "for number in range(8): change(Path(sys.argv[1]), f'provider.p{sys.argv[2]}-{number}.concurrency', 2)\n"
    )
    running = [subprocess.Popen([sys.executable, "-c", code, str(path), str(number)]) for number in range(3)]
    assert [one.wait(60) for one in running] == [0, 0, 0]
    held = load_settings(path, {})
    assert set(held.endpoint) == set(names)
    assert set(held.provider) == {f"p{process}-{number}" for process in range(3) for number in range(8)}


def test_a_writer_waits_for_another_but_not_for_ever(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(path, WRITTEN)
    lock = path.with_name("settings.toml.lock")
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        waiting = threading.Thread(target=change, args=(path, "caps.run_tokens", 7))
        waiting.start()
        time.sleep(0.1)
        assert waiting.is_alive()
        assert text_of(path) == WRITTEN
        fcntl.flock(held, fcntl.LOCK_UN)
        waiting.join(10)
    assert load_settings(path, {}).caps.run_tokens == 7
    monkeypatch.setattr("engine.settings.writing._PATIENCE", 0.05)
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(SettingsError, match="another program"):
            change(path, "caps.run_tokens", 8)
    assert load_settings(path, {}).caps.run_tokens == 7


def test_whether_something_is_written(path: Path) -> None:
    assert not is_written(path, "models.actor")
    write(path, WRITTEN + "[modles]\n")
    assert all(is_written(path, key) for key in ("models.actor", "models.actor.model", "modles", "endpoint.openai/a", "caps"))
    assert not any(is_written(path, key) for key in ("models.alias", "models.actor.timeout", "endpoint.c", "caps.day_tokens", "x.y.z"))
