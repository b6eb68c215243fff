"""Keys and values of settings as people write them on a command line."""

import tomllib
import unicodedata
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import SettingsError
from engine.settings.keys import annotation_at, dotted, parsed_key, settings_of
from engine.settings.toml_text import rendered, with_value, without
from engine.settings.values import parts_of, value_from

ODD = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


@pytest.mark.parametrize(("text", "path"), [
    ("models.actor", ("models", "actor")),
    (" models . actor ", ("models", "actor")),
    ("models.actor.temperature", ("models", "actor", "temperature")),
    ('provider."127.0.0.1:8080".concurrency', ("provider", "127.0.0.1:8080", "concurrency")),
    ("provider.'127.0.0.1:8080'.concurrency", ("provider", "127.0.0.1:8080", "concurrency")),
    ("provider.127.0.0.1:8080.concurrency", ("provider", "127.0.0.1:8080", "concurrency")),
    ("endpoint.openai/gpt-4.1.small", ("endpoint", "openai/gpt-4.1", "small")),
    ("endpoint.openai/gpt-4.1", ("endpoint", "openai/gpt-4.1")),
    ("endpoint.gpt-4.1.small", ("endpoint", "gpt-4.1", "small")),
    ("endpoint.home.modle", ("endpoint", "home", "modle")),
    ("endpoint.openai/x.modle", ("endpoint", "openai/x", "modle")),
    (r'endpoint."a\"b\u00e9"', ("endpoint", 'a"bé')),
    ("nonsense.at.all.here", ("nonsense", "at", "all", "here")),
])
def test_keys_are_read_as_they_are_meant(text: str, path: tuple[str, ...]) -> None:
    assert parsed_key(text) == path
    assert parsed_key(dotted(path)) == path


@pytest.mark.parametrize("text", ["", ".", "a..b", "models actor", "models.", '"', 'endpoint."a', "a=b", "e.'a'b", "a\nb", "\x1b[2J"])
def test_what_is_no_key_is_told_with_examples(text: str) -> None:
    with pytest.raises(SettingsError, match=r"is not a key of a setting.*models\.default") as caught:
        parsed_key(text)
    assert str(caught.value).isprintable()


@given(st.lists(ODD, min_size=1, max_size=4))
def test_a_key_is_toml_and_comes_back(path: list[str]) -> None:
    key = dotted(path)
    found: object = tomllib.loads(f"{key} = 1")
    for step in path:
        assert isinstance(found, dict)
        found = found[step]
    assert found == 1
    if path[0] not in ("endpoint", "provider"):
        assert parsed_key(key) == tuple(path)


@given(st.text(max_size=40))
def test_any_text_is_a_key_or_told_to_be_none(text: str) -> None:
    told = ""
    try:
        path = parsed_key(text)
    except SettingsError as error:
        told = str(error)
    else:
        assert parsed_key(dotted(path)) == path or annotation_at(path) is None
    assert not [char for char in told if unicodedata.category(char) in ("Cc", "Cs")]


def test_the_settings_of_a_table() -> None:
    assert settings_of(("provider", "x")) == ["concurrency"]
    assert "validate" in settings_of(("models",))
    assert settings_of(("endpoint",)) == []
    assert settings_of(("caps", "run_tokens")) == []


@pytest.mark.parametrize(("key", "text", "value"), [
    ("models.actor", "openai/gpt-5", "openai/gpt-5"),
    ("models.actor", " a/b , storyteller ", ["a/b", "storyteller"]),
    ("models.actor", '["a/b", "c/d"]', ["a/b", "c/d"]),
    ("models.actor", "{model = 'a/b', temperature = 0.5}", {"model": "a/b", "temperature": 0.5}),
    ("models.actor.fallbacks", "a/b,c/d", ["a/b", "c/d"]),
    ("models.actor.fallbacks", "a/b", ["a/b"]),
    ("models.actor.temperature", "1", 1.0),
    ("models.hints", "Yes", True),
    ("models.hints", "off", False),
    ("models.embed", "minilm", "minilm"),
    ("models.embed", "{model = 'a/b', dim = 3}", {"model": "a/b", "dim": 3}),
    ("models.embed.file", "~/m.onnx", "~/m.onnx"),
    ("endpoint.home.model", '"a/b"', "a/b"),
    ("endpoint.home.structured", "grammar", "grammar"),
    ("endpoint.home", "{model = 'a/b', small = true}", {"model": "a/b", "small": True}),
    ("caps.run_tokens", "200000", 200_000),
    ("caps.run_tokens", "200_000", 200_000),
    ("caps.run_tokens", "1,200,000", 1_200_000),
    ("caps.run_tokens", "2k", 2_000),
    ("caps.day_tokens", " 1.5M ", 1_500_000),
    ("caps.run_money", "2.5", 2.5),
    ("caps.run_money", "$2", 2.0),
    ("caps.day_money", "US$ 1,200.50", 1_200.5),
    ("caps.day_money", "2 USD", 2.0),
    ("caps.day_money", "1e-3", 0.001),
])
def test_values_are_read_by_what_the_setting_is(key: str, text: str, value: object) -> None:
    found = value_from(parsed_key(key), text)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(("key", "text", "said"), [
    ("models.actr", "x", "`models.actr` is not a setting (did you mean `actor`?)"),
    ("models.actor.x", "x", "known are model, fallbacks, temperature, timeout"),
    ("caps.run_tokens.x", "x", "there is nothing below it"),
    ("caps.run_tokens", "lots", "must be a whole number, as `200000`, `200k` or `1.5M`, not `lots`"),
    ("caps.run_tokens", "1,2", "must be a whole number"),
    ("caps.run_tokens", "1.5", "must be a whole number, as `200000`, `200k` or `1.5M`, not `1.5`"),
    ("caps.run_tokens", "1.0015k", "must be a whole number"),
    ("caps.run_tokens", "$2", "must be a whole number"),
    ("caps.run_tokens", "2kk", "must be a whole number"),
    ("caps.run_money", "a few", "must be a sum in US dollars, as `2` or `0.50`"),
    ("models.actor.temperature", "hot", "must be a number, as `0.8`, not `hot`"),
    ("models.hints", "perhaps", "must be true or false, not `perhaps`"),
    ("endpoint.home", "small", "`endpoint.home` is a table, not a value. Set what is in it, one by one: `endpoint.home.model`"),
    ("endpoint", "x", "Set what is in it, one by one: `endpoint.home.model`"),
    ("caps", "5", "It may hold run_tokens, run_money, day_tokens, day_money."),
    ("endpoint.home.api_key", "hunter2", "keys belong in the environment"),
    ("caps.run_tokens", "sk-proj-abcdefghij0123456789", "must be a whole number, as `200000`, `200k` or `1.5M`, not `…`"),
    ("caps.run_tokens", "\x1b[2J" + "9" * 9999, "must be a whole number"),
])
def test_what_is_no_such_value_is_told(key: str, text: str, said: str) -> None:
    with pytest.raises(SettingsError) as caught:
        value_from(parsed_key(key), text)
    assert said in str(caught.value)
    assert "hunter2" not in str(caught.value)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 500


def test_a_name_for_a_task_leaves_what_else_is_known_of_it() -> None:
    actor = ("models", "actor")
    assert parts_of(actor, "a/b") == {(*actor, "model"): "a/b", (*actor, "fallbacks"): None}
    assert parts_of(actor, ["a/b", "c/d"]) == {(*actor, "model"): "a/b", (*actor, "fallbacks"): ["c/d"]}
    assert parts_of(actor, {"model": "a/b"}) == {actor: {"model": "a/b"}}
    assert parts_of(("models", "embed"), "minilm") == {("models", "embed"): "minilm"}


VALUES = st.recursive(
    st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False) | ODD,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ODD, inner, max_size=3), max_leaves=6,
)


@given(VALUES)
def test_a_value_is_toml_on_one_line(value: object) -> None:
    text = rendered(value)
    assert "\n" not in text
    assert tomllib.loads(f"x = {text}") == {"x": value}


def test_what_toml_cannot_write_is_refused() -> None:
    with pytest.raises(TypeError):
        rendered(object())
    assert rendered(Path("/a b")) == '"/a b"'


KEYS = st.lists(st.sampled_from(["a", "b", "c d", "é.'"]), min_size=2, max_size=3).map(tuple)
LEAVES = st.booleans() | st.integers(0, 99) | ODD | st.lists(ODD, max_size=2)


@given(st.lists(st.tuples(KEYS, LEAVES), max_size=6), st.sampled_from(["", "# top\n", "\r\n# win\r\n"]))
def test_whatever_is_set_in_a_file_stands_in_it(changes: list[tuple[tuple[str, ...], object]], text: str) -> None:
    held: dict[tuple[str, ...], object] = {}
    for path, value in changes:
        if any(path[: len(other)] == other or other[: len(path)] == path for other in held if other != path):
            continue  # a value where a table is, or the other way round
        text, held = with_value(text, path, value), {**held, path: value}
    assert _leaves(tomllib.loads(text)) == held
    for path in list(held):
        text = without(text, path)
        del held[path]
        assert _leaves(tomllib.loads(text)) == held


def _leaves(table: Mapping[str, object], place: tuple[str, ...] = ()) -> dict[tuple[str, ...], object]:
    found: dict[tuple[str, ...], object] = {}
    for name, value in table.items():
        found |= _leaves(value, (*place, name)) if isinstance(value, dict) else {(*place, name): value}
    return found
