"""What the environment says over the settings file, and where each setting is said to come from."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import SettingsError
from engine.records.hints import ModelHints
from engine.settings import CapSettings, EndpointSettings, Settings, TaskSettings, choosers, load_settings, oddities, sources
from engine.settings.environment import TASKS, VARIABLES

FILE = """
[models]
default = { model = "home", fallbacks = ["openai/a"], temperature = 0.4 }
decode = ["openai/a", "storyteller"]
[endpoint.home]
model = "openai/local"
api_base = "http://127.0.0.1:8080/v1"
small = true
[caps]
run_tokens = 1000
day_tokens = 2000
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "settings.toml"
    path.write_text(FILE)
    return path


def test_a_variable_names_the_models_of_a_task_or_of_all_others(path: Path) -> None:
    found = load_settings(path, {"OTHERMINDS_MODEL": " xai/grok , storyteller", "OTHERMINDS_MODEL_ACTOR": "home"}).models
    assert found.default == TaskSettings(model="xai/grok", fallbacks=("storyteller",), temperature=0.4), "the temperature is the task's"
    assert found.answering("actor") == TaskSettings(model="home")
    assert found.answering("decode").names == ("openai/a", "storyteller"), "a line of its own stands beside a variable for all others"
    assert found.answering("referee").names == ("xai/grok", "storyteller")


@pytest.mark.parametrize(("variable", "task"), TASKS.items())
def test_each_task_has_its_variable(path: Path, variable: str, task: str) -> None:
    models = load_settings(path, {variable: "x/y"}).models
    line = models.default if task == "default" else models.of(task)  # type: ignore[arg-type]
    assert line is not None
    assert line.names == ("x/y",)
    assert variable == "OTHERMINDS_MODEL" + ("" if task == "default" else f"_{task.upper()}")


def test_an_address_for_the_model_that_is_named(path: Path) -> None:
    base = {"OTHERMINDS_API_BASE": "http://localhost:9"}
    new = load_settings(path, {**base, "OTHERMINDS_MODEL": "openai/new,storyteller"})
    assert new.resolved("openai/new") == EndpointSettings(model="openai/new", api_base="http://localhost:9")
    known = load_settings(path, {**base, "OTHERMINDS_MODEL": "home"})
    assert known.resolved("home") == EndpointSettings(model="openai/local", api_base="http://localhost:9", small=True)


def test_caps_of_a_run(path: Path) -> None:
    found = load_settings(path, {"OTHERMINDS_CAP_TOKENS": "50_000", "OTHERMINDS_CAP_MONEY": "0.25"}).caps
    assert found == CapSettings(run_tokens=50_000, run_money=0.25, day_tokens=2000)


def test_blank_variables_say_nothing(path: Path) -> None:
    assert load_settings(path, dict.fromkeys(VARIABLES, " ")) == load_settings(path, {})


@pytest.mark.parametrize(("environ", "said"), [
    ({"OTHERMINDS_MODEL": "hom"}, "`OTHERMINDS_MODEL`: no endpoint is called `hom`; did you mean `home`?"),
    ({"OTHERMINDS_MODEL": "gpt-5-mini"}, "`OTHERMINDS_MODEL`: `gpt-5-mini` needs its provider in front of it, as in `openai/gpt-5-mini`"),
    ({"OTHERMINDS_MODEL": "a/b,"}, "`OTHERMINDS_MODEL` must not be empty"),
    ({"OTHERMINDS_MODEL": "a/b,a/b"}, "`OTHERMINDS_MODEL`: `a/b` is named twice"),
    ({"OTHERMINDS_MODEL": "a/\x1b[31mb"}, "`OTHERMINDS_MODEL` holds characters that cannot be printed"),
    ({"OTHERMINDS_MODEL": "a/\udce9"}, "`OTHERMINDS_MODEL` holds characters that cannot be printed"),
    ({"OTHERMINDS_MODEL_ACTR": "a/b"}, "`OTHERMINDS_MODEL_ACTR` is not a setting (did you mean `OTHERMINDS_MODEL_ACTOR`"),
    ({"OTHERMINDS_MODEL_EMBED": "a/b"}, "the embedder is named by `OTHERMINDS_EMBED`"),
    ({"OTHERMINDS_CAP_TOKEN": "5"}, "`OTHERMINDS_CAP_TOKEN` is not a setting (did you mean `OTHERMINDS_CAP_TOKENS`"),
    ({"OTHERMINDS_CAP_TOKENS": "many"}, "`OTHERMINDS_CAP_TOKENS` must be a whole number"),
    ({"OTHERMINDS_CAP_TOKENS": "1.5"}, "`OTHERMINDS_CAP_TOKENS` must be a whole number"),
    ({"OTHERMINDS_CAP_TOKENS": "0"}, "`OTHERMINDS_CAP_TOKENS` must be greater than or equal to 1"),
    ({"OTHERMINDS_CAP_MONEY": "nan"}, "`OTHERMINDS_CAP_MONEY` must be a number"),
    ({"OTHERMINDS_API_BASE": "http://x"}, "`OTHERMINDS_MODEL` is not set"),
    ({"OTHERMINDS_API_BASE": "http://x", "OTHERMINDS_MODEL": "storyteller"}, "the storyteller has none"),
    ({"OTHERMINDS_API_BASE": "x:8080", "OTHERMINDS_MODEL": "a/b"}, "`OTHERMINDS_API_BASE` must be an address"),
    ({"OTHERMINDS_MODEL": "openai/sk-proj-abcdefghij0123456789"}, "`OTHERMINDS_MODEL` holds what looks like a key"),
])
def test_a_mistake_in_a_variable_names_it(path: Path, environ: dict[str, str], said: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load_settings(path, environ)
    assert said in str(caught.value)
    assert str(caught.value).startswith("In the environment: ")
    assert "sk-proj" not in str(caught.value)
    assert str(caught.value).isprintable()


def test_everything_is_told_where_it_comes_from(path: Path) -> None:
    environ = {"OTHERMINDS_MODEL_ACTOR": "home", "OTHERMINDS_CAP_TOKENS": "5", "OTHERMINDS_EMBED": "minilm"}
    found = sources(load_settings(path, environ), environ)
    told = {key: source for key, source in found.items() if source != "default"}
    assert told == {
        "models.default.model": "settings", "models.default.fallbacks": "settings", "models.default.temperature": "settings",
        "models.decode.model": "settings", "models.decode.fallbacks": "settings",
        "models.actor.model": "environment", "models.actor.fallbacks": "environment", "models.embed.model": "environment",
        "endpoint.home.model": "settings", "endpoint.home.api_base": "settings", "endpoint.home.small": "settings",
        "caps.run_tokens": "environment", "caps.day_tokens": "settings",
    }
    assert found["models.hints"] == "default"
    assert found["models.actor.temperature"] == "default"
    assert "models.referee" not in found
    odd = Settings.model_validate({"endpoint": {"openai/gpt-4.1": {"small": True}}})
    assert sources(odd, {})['endpoint."openai/gpt-4.1".small'] == "settings"


def test_who_chose_the_models_of_a_task(path: Path) -> None:
    hints = ModelHints(models={"default": "x/y", "actor": "x/z"})
    nobody = choosers(Settings(), {})
    assert set(nobody) == {f"models.{task}" for task in TASKS.values()}
    assert set(nobody.values()) == {"built in"}
    assert choosers(Settings(), {}, hints) == nobody, "a suggestion that is not used chose nothing"
    willing = Settings.model_validate({"models": {"hints": True, "decode": "storyteller"}})
    assert choosers(willing, {}, hints) == dict.fromkeys(nobody, "world") | {"models.decode": "settings"}
    only_actor = choosers(willing, {}, ModelHints(models={"actor": "x/z"}))
    assert (only_actor["models.actor"], only_actor["models.narrate"]) == ("world", "built in")
    filed = choosers(load_settings(path, {}), {}, hints)
    assert (filed["models.default"], filed["models.actor"], filed["models.decode"]) == ("default", "default", "settings")
    environ = {"OTHERMINDS_MODEL": "a/b", "OTHERMINDS_MODEL_DECODE": "a/b"}
    assert set(choosers(load_settings(path, environ), environ).values()) == {"environment"}


@given(st.dictionaries(st.sampled_from(VARIABLES), st.text(st.characters(exclude_characters="\0"), max_size=20)))
def test_any_environment_gives_settings_or_a_settings_error(environ: dict[str, str]) -> None:
    try:
        found = load_settings(Path("/nowhere/settings.toml"), environ)
    except SettingsError:
        return
    assert sources(found, environ)


def odd(tables: dict[str, object], environ: dict[str, str] | None = None) -> str:
    return "\n".join(oddities(Settings.model_validate(tables), environ or {}))


def test_what_is_legal_and_odd_is_told() -> None:
    home = {"model": "openai/x", "api_base": "http://127.0.0.1:8080/v1"}
    assert odd({}) == ""
    assert odd({"models": {"default": "home"}, "endpoint": {"home": home}, "caps": {"run_money": 1.0}}) == ""
    assert "storyteller always answers, so that `a/b`" in odd({"models": {"actor": ["storyteller", "a/b"]}})
    assert "`caps.run_tokens` is above `caps.day_tokens`" in odd({"caps": {"run_tokens": 5, "day_tokens": 4}})
    free = {"models": {"default": "home"}, "endpoint": {"home": {**home, "input_price": 0, "output_price": 0.0}}}
    assert odd(free) == ""
    said = odd({**free, "caps": {"day_money": 1}})
    assert said == "`endpoint.home` costs nothing by its prices, so that `caps.day_money` will never stop it."


def test_a_key_that_is_not_there_is_told_by_its_variable() -> None:
    mine = {"models": {"actor": "mine"}, "endpoint": {"mine": {"model": "openai/x", "key_env": "MY_KEY"}}}
    assert odd(mine, {"OPENAI_API_KEY": "x"}) == "`mine` has no key: MY_KEY is not set in the environment."
    assert odd(mine, {"MY_KEY": "hunter2"}) == ""
    said = odd({"models": {"actor": "gemini/x"}})
    assert said == "`gemini/x` has no key: GEMINI_API_KEY or GOOGLE_API_KEY is not set in the environment."
    assert odd({"models": {"actor": "gemini/x"}}, {"GOOGLE_API_KEY": "x"}) == ""
    assert odd({"models": {"actor": "openai/x"}}, {"OPENAI_API_BASE": "http://localhost"}) == ""
    assert odd({"models": {"embed": "openai/e"}}) == "`openai/e` has no key: OPENAI_API_KEY is not set in the environment."
    assert odd({"endpoint": {"openai/unused": {"small": True}}}) == "", "what answers nothing needs no key"


def test_a_provider_that_no_model_is_of_is_told() -> None:
    there = {"models": {"actor": "ollama_chat/x", "decode": "home"}, "endpoint": {"home": {"model": "openai/x", "api_base": "http://Box:1"}}}
    assert odd({**there, "provider": {"ollama": {"concurrency": 1}, "box:1": {"concurrency": 1}}}) == ""
    misspelt = odd({**there, "provider": {"ollam": {"concurrency": 1}}})
    assert misspelt.startswith("`provider.ollam` counts for no model that is named here; did you mean")
    behind_an_address = odd({**there, "provider": {"openai": {"concurrency": 1}}})
    assert behind_an_address.startswith("`provider.openai` counts for no model")
