"""Settings of the person: what the file says, what the environment says over it, and what is said about mistakes."""

import os
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import OthermindsError, SettingsError
from engine.settings import CapSettings, EmbedSettings, EndpointSettings, Settings, TaskSettings, load_settings, settings_path
from engine.settings.names import providers


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"OTHERMINDS_CONFIG": str(tmp_path)}


def written(environ: dict[str, str], text: str) -> Path:
    path = settings_path(environ)
    path.write_text(text, encoding="utf-8")
    return path


def test_nothing_set_is_the_built_in_embedder(environ: dict[str, str]) -> None:
    assert load_settings(environ=environ) == Settings()
    assert load_settings(environ=environ).models.embed.model == "hash768"


def test_the_folder_is_the_users_own_unless_another_is_named(tmp_path: Path) -> None:
    assert settings_path({"OTHERMINDS_CONFIG": str(tmp_path)}) == tmp_path / "settings.toml"
    assert settings_path({}).parts[-2:] == ("otherminds", "settings.toml")


def test_a_name_alone_or_a_table(environ: dict[str, str], tmp_path: Path) -> None:
    written(environ, '[models]\nembed = "minilm"\n')
    assert load_settings(environ=environ).models.embed == EmbedSettings(model="minilm")
    written(environ, '[models.embed]\nmodel = "ollama/nomic-embed-text"\ndim = 768\napi_base = "http://localhost:11434"\nmeaning = 0.5\n')
    expected = EmbedSettings(model="ollama/nomic-embed-text", dim=768, api_base="http://localhost:11434", meaning=0.5)
    assert load_settings(environ=environ).models.embed == expected


def test_a_file_is_found_from_where_it_is_written(environ: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(environ, '[models.embed]\nmodel = "minilm"\nfile = "graphs/model.onnx"\n')
    assert load_settings(environ=environ).models.embed.file == tmp_path / "graphs/model.onnx"
    monkeypatch.setenv("HOME", "/home/mira")
    written(environ, '[models.embed]\nmodel = "minilm"\nfile = "~/model.onnx"\n')
    assert load_settings(environ=environ).models.embed.file == Path("/home/mira/model.onnx")


def test_the_environment_is_over_the_file(environ: dict[str, str]) -> None:
    written(environ, '[models.embed]\nmodel = "ollama/nomic-embed-text"\ndim = 768\n')
    other = load_settings(environ=environ | {"OTHERMINDS_EMBED": "openai/text-embedding-3-small"}).models.embed
    assert other == EmbedSettings(model="openai/text-embedding-3-small"), "the dim of the file belongs to the model of the file"
    assert load_settings(environ=environ | {"OTHERMINDS_EMBED": "ollama/nomic-embed-text"}).models.embed.dim == 768
    graph = load_settings(environ=environ | {"OTHERMINDS_EMBED": "minilm", "OTHERMINDS_EMBED_FILE": "/tmp/m.onnx"}).models.embed
    assert graph == EmbedSettings(model="minilm", file=Path("/tmp/m.onnx"))
    assert load_settings(environ=environ | {"OTHERMINDS_EMBED": " ", "OTHERMINDS_EMBED_FILE": ""}).models.embed.dim == 768


def test_saved_with_a_byte_order_mark(environ: dict[str, str]) -> None:
    settings_path(environ).write_bytes(b'\xef\xbb\xbf[models]\nembed = "minilm"\n')
    assert load_settings(environ=environ).models.embed.model == "minilm"


@pytest.mark.parametrize(("text", "said"), [
    ("[models\nembed = 1", "not TOML"),
    ("[models]\nembed = minilm", "not TOML"),
    ("x = " + "[" * 5000 + "]" * 5000, "settings.toml"),
    ("x = " + "[" * 50 + "]" * 50, "nested too deep"),
    (".".join("x" * 50) + " = 1", "nested too deep"),
    ("x = " + "9" * 5000, "not TOML"),
    ("[model]\nembed = 'minilm'", "`model` is not a setting (did you mean `models`?)"),
    ("[models]\nembde = 'minilm'", "`models.embde` is not a setting (did you mean `embed`?)"),
    ("[models.embed]\nmodle = 'minilm'", "`models.embed.modle` is not a setting (did you mean `model`?)"),
    ("[models]\nqqq = 1", "`models.qqq` is not a setting (known are default, actor, decode, referee, alias, handoff, collapse, validate, "),
    ("models = 3", "`models` must be a table"),
    ("[models]\nembed = 3", "`models.embed` must be a table"),
    ("[models]\nembed = ''", "`models.embed` must not be empty"),
    ("[models]\nembed = 'minlm'", "did you mean `minilm`?"),
    ("[models]\nembed = 'HASH768'", "did you mean `hash768`?"),
    ("[models.embed]\nmodel = 3", "`models.embed.model` must be text in quotation marks"),
    ("[models.embed]\nmodel = 'a/b'\ndim = '768'", "`models.embed.dim` must be a whole number"),
    ("[models.embed]\nmodel = 'a/b'\ndim = true", "`models.embed.dim` must be a whole number"),
    ("[models.embed]\nmodel = 'a/b'\ndim = 0", "`models.embed.dim` must be greater than or equal to 1"),
    ("[models.embed]\nmodel = 'a/b'\nmeaning = 2", "`models.embed.meaning` must be less than or equal to 1"),
    ("[models.embed]\nmodel = 'a/b'\ntimeout = 'long'", "`models.embed.timeout` must be a number"),
    ("[models.embed]\nmodel = 'minilm'\nfile = 3", "`models.embed.file` must be a path in quotation marks"),
    ("[models.embed]\nmodel = 'minilm'\nfile = '~nobody-at-all/x'", "no home folder"),
    ("[models.embed]\nfile = 'm.onnx'", "`file` goes with the model `minilm`, not with `hash768`"),
    ("[models.embed]\nmodel = 'minilm'\ndim = 384", "`dim` goes with a model behind a provider"),
    ("[models]\nembed = 'text-embedding-3-small'", "names of models begin with their provider"),
    ("[models]\nvalidate_ = 'storyteller'", "`models.validate_` is not a setting (did you mean `validate`?)"),
    ("[models]\nactr = 'storyteller'", "`models.actr` is not a setting (did you mean `actor`?)"),
    ("[endpoints.home]\nmodel = 'a/b'", "`endpoints` is not a setting (did you mean `endpoint`?)"),
    ("[endpoint.home]\nmodle = 'a/b'", "`endpoint.home.modle` is not a setting (did you mean `model`?)"),
    ("[caps]\nruntokens = 5", "`caps.runtokens` is not a setting (did you mean `run_tokens` or `day_tokens`?)"),
    ("[endpoint.home]\nmodel = 'a/b'\n[models]\nactor = 'hom'", "`models.actor`: no endpoint is called `hom`; did you mean `home`?"),
    ("[models]\nactor = ['a/b', 'storytelle']", "`models.actor`: no endpoint is called `storytelle`; did you mean `storyteller`?"),
    ("[models.actor]\nmodel = 'Storyteller'", "`models.actor.model`: no endpoint is called `Storyteller`; did you mean `storyteller`?"),
    ("[models]\nactor = 'gpt-5-mini'", "`models.actor`: `gpt-5-mini` needs its provider in front of it, as in `openai/gpt-5-mini`"),
    ("[models]\nactor = 'claude-sonnet-4-5'", "as in `anthropic/claude-sonnet-4-5`"),
    ("[models]\nactor = 'llama3.2:3b'", "as in `ollama_chat/llama3.2:3b`"),
    ("[models]\nactor = 'mystery'", "names of models begin with their provider: `openai/…`"),
    ("[models]\nactor = 'openai/'", "no endpoint is called `openai/`"),
    ("[endpoint.gpt-5]\nmodel = 'a/b'\n[models]\nactor = 'gpt-5-mini'", "did you mean `gpt-5` or `openai/gpt-5-mini`?"),
    ("[models]\nactor = ['a/b', 'c/d', 'a/b']", "`models.actor`: `a/b` is named twice"),
    ("[models.actor]\nmodel = 'a/b'\nfallbacks = ['a/b']", "`models.actor.fallbacks`: `a/b` is named twice"),
    ("[models]\ndefault = 'a/b'\n[models.actor]\nfallbacks = ['c/d', 'a/b']", "`models.actor.fallbacks`: `a/b` is named twice"),
    ("[models.actor]\nfallbacks = 'a/b'", "`models.actor.fallbacks` must be a list of names"),
    ("[models]\nactor = []", "`models.actor` must name a model"),
    ("[models]\nactor = ['a/b', 3]", "`models.actor` must be the name of a model, a list of names, or a table"),
    ("[models]\nactor = 3", "`models.actor` must be the name of a model, a list of names, or a table"),
    ("[models]\nactor = ' '", "`models.actor` must not be blank"),
    ("[models]\nhints = 'yes'", "`models.hints` must be true or false"),
    ("[models.actor]\ntemperature = nan", "`models.actor.temperature` must be a number"),
    ("[models.actor]\ntemperature = 3", "`models.actor.temperature` must be less than or equal to 2"),
    ("[caps]\nrun_money = inf", "`caps.run_money` must be a number"),
    ("[caps]\nrun_money = 0", "`caps.run_money` must be greater than 0"),
    ("[endpoint.home]", "`endpoint.home` needs a `model`: litellm's name of it, as `openai/gpt-5-mini`"),
    ("[endpoint.'gpt-4.1']", "`endpoint.\"gpt-4.1\"` needs a `model`: litellm's name of it, as `openai/gpt-4.1`"),
    ("[endpoint.home]\nmodel = 'qwen2.5'", "`endpoint.home.model`: `qwen2.5` needs its provider in front of it, as in `ollama"),
    ("[endpoint.home]\nmodel = 'storyteller'", "`endpoint.home.model`: the storyteller is built in"),
    ("[endpoint.Storyteller]\nmodel = 'a/b'", "`endpoint.Storyteller` must have another name"),
    ("[endpoint.' x']\nmodel = 'a/b'", "must have a name of up to 200 characters"),
    ("[endpoint.'']\nmodel = 'a/b'", "must have a name of up to 200 characters"),
    ("[endpoint.home]\nmodel = 'a/b'\napi_base = 'localhost:8080'", "`endpoint.home.api_base` must be an address that begins with http://"),
    ("[endpoint.home]\nmodel = 'a/b'\napi_base = 'ftp://x'", "`endpoint.home.api_base` must be an address"),
    ("[endpoint.home]\nmodel = 'a/b'\napi_base = 'http://x:99999'", "`endpoint.home.api_base` must be an address"),
    ("[endpoint.home]\nmodel = 'a/b'\napi_base = 'http://[::1'", "`endpoint.home.api_base` must be an address"),
    ("[endpoint.home]\nmodel = 'a/b'\napi_base = 'http:///v1'", "`endpoint.home.api_base` must be an address"),
    ("[endpoint.home]\nmodel = 'a/b'\ninput_price = 1", "`endpoint.home` needs both prices or none: `output_price` is missing"),
    ("[endpoint.home]\nmodel = 'a/b'\noutput_price = 1", "`endpoint.home` needs both prices or none: `input_price` is missing"),
    ("[endpoint.home]\nmodel = 'a/b'\nstructured = 'json'", "`endpoint.home.structured` must be 'grammar', 'schema', 'object' or 'prompt'"),
    ("[endpoint.home]\nmodel = 'a/b'\ncontext_window = 5", "must be greater than or equal to 512"),
    ("[endpoint]\nhome = 'a/b'", "`endpoint.home` must be a table"),
    ("endpoint = 3", "`endpoint` must be a table"),
    ("[provider.'http://127.0.0.1:8080']\nconcurrency = 2", "by host and port of a server, `127.0.0.1:8080`"),
    ("[provider.openai]\nconcurrency = 0", "`provider.openai.concurrency` must be greater than or equal to 1"),
])
def test_a_mistake_is_told_by_file_key_and_remedy(environ: dict[str, str], text: str, said: str) -> None:
    path = written(environ, text)
    with pytest.raises(SettingsError) as caught:
        load_settings(environ=environ)
    assert said in str(caught.value)
    assert str(path) in str(caught.value)
    assert caught.value.advice


SECRETS = ("sk-proj-abcdefghij0123456789", "AIzaSyA0123456789abcdefghijklmnopqrstuvw", "gsk_0123456789abcdefghijABCDEFGHIJ")


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("text", [
    "[endpoint.home]\nmodel = 'a/b'\napi_key = '{}'",
    "[endpoint.home]\nmodel = 'a/b'\nkey_env = '{}'",
    "[endpoint.home]\nmodel = 'openai/{}'",
    "[endpoint.home]\nmodel = 'a/b'\napi_base = 'http://user:{}@localhost'",
    "[endpoint.home]\nmodel = 'a/b'\napi_base = 'http://localhost/?api_key={}'",
    "[models]\nactor = '{}'",
    "[models]\nactor = ['a/b', '{}']",
    "OPENAI_API_KEY = '{}'",
    "[keys]\nopenai = '{}'",
    "[provider.openai]\ntoken = '{}'",
])
def test_a_key_in_the_file_is_pointed_out_and_never_repeated(environ: dict[str, str], text: str, secret: str) -> None:
    written(environ, text.format(secret))
    with pytest.raises(SettingsError) as caught:
        load_settings(environ=environ)
    assert "key" in str(caught.value)
    assert "environment" in str(caught.value) or "name of a variable" in str(caught.value)
    assert not any(part in str(caught.value) for part in (secret, secret[4:], secret[:12]))


def test_a_key_that_looks_like_nothing_is_known_by_its_place(environ: dict[str, str]) -> None:
    written(environ, "[endpoint.home]\nmodel = 'a/b'\napi_key = 'hunter2'\n")
    with pytest.raises(SettingsError, match=r"`endpoint\.home\.api_key` is a key; keys belong in the environment") as caught:
        load_settings(environ=environ)
    assert "hunter2" not in str(caught.value)
    written(environ, "[endpoint.home]\nmodel = 'a/b'\nkey_env = 'ABCdef0123456789ABCdef0123'\n")
    with pytest.raises(SettingsError, match="never the key itself") as caught:
        load_settings(environ=environ)
    assert "ABCdef" not in str(caught.value)


def test_a_whole_file_of_settings_for_models(environ: dict[str, str]) -> None:
    written(environ, """
        [models]
        default = ["home", "openai/gpt-5-mini"]
        actor = "anthropic/claude-sonnet-4-5"
        validate = { temperature = 0, timeout = 20 }
        [models.decode]
        model = "home"
        temperature = 0.1
        [endpoint.home]
        model = "openai/qwen2.5-7b"
        api_base = "http://127.0.0.1:8080/v1"
        key_env = "HOME_KEY"
        context_window = 8192
        small = false
        structured = "grammar"
        input_price = 0
        output_price = 0.0
        [endpoint."openai/gpt-5-mini"]
        thinking = 2000
        [provider."127.0.0.1:8080"]
        concurrency = 2
        [caps]
        run_tokens = 100_000
        day_money = 5
    """)
    found = load_settings(environ=environ)
    models = found.models
    assert models.default.names == ("home", "openai/gpt-5-mini")
    assert models.answering("referee") == models.default
    assert models.of("referee") is None
    assert models.answering("actor").names == ("anthropic/claude-sonnet-4-5",)
    assert models.of("validate") == TaskSettings(model="home", fallbacks=("openai/gpt-5-mini",), temperature=0, timeout=20)
    assert models.of("decode") == TaskSettings(model="home", temperature=0.1)
    assert models.of("embed") is None
    assert found.resolved("home").model == "openai/qwen2.5-7b"
    assert found.resolved("openai/gpt-5-mini") == EndpointSettings(model="openai/gpt-5-mini", thinking=2000)
    assert found.resolved("x/y") == EndpointSettings(model="x/y")
    assert found.provider["127.0.0.1:8080"].concurrency == 2
    assert found.caps == CapSettings(run_tokens=100_000, day_money=5)


def test_what_a_task_takes_over_from_the_default_is_no_mistake_of_its_own(environ: dict[str, str]) -> None:
    written(environ, "[models]\ndefault = ['a/b', 'c/d']\n[models.actor]\nfallbacks = ['storyteller']\n[models.decode]\ntimeout = 5\n")
    models = load_settings(environ=environ).models
    assert models.answering("actor").names == ("a/b", "storyteller")
    assert models.answering("decode").names == ("a/b", "c/d")
    written(environ, "[models]\ndefault = 'hom'\n[models.actor]\ntimeout = 5\n")
    with pytest.raises(SettingsError) as caught:
        load_settings(environ=environ)
    assert len(caught.value.faults) == 1


def test_all_mistakes_are_told_at_once(environ: dict[str, str]) -> None:
    written(environ, "[models.embed]\nmodel = 'a/b'\ndim = '768'\nmeaning = 2\n")
    with pytest.raises(SettingsError, match=r"dim.*meaning"):
        load_settings(environ=environ)
    written(environ, """
        [models]
        actor = ["hom", "gpt-5"]
        decode = 3
        tempo = 1
        [endpoint.home]
        model = "a/b"
        api_base = "x"
        input_price = 1
        [endpoint.other]
        [caps]
        run_tokens = "many"
    """)
    with pytest.raises(SettingsError) as caught:
        load_settings(environ=environ | {"OTHERMINDS_MODEL": "nobody", "OTHERMINDS_CAP_MONEY": "-1"})
    places = [fault.split("`")[1] for fault in caught.value.faults]
    assert sorted(places) == [
        "OTHERMINDS_CAP_MONEY", "OTHERMINDS_MODEL", "caps.run_tokens", "endpoint.home", "endpoint.home.api_base", "endpoint.other",
        "models.actor", "models.actor", "models.decode", "models.tempo",
    ]
    assert all(fault in str(caught.value) for fault in caught.value.faults)


def test_what_only_follows_from_another_mistake_is_not_told(environ: dict[str, str]) -> None:
    written(environ, "[models]\nactor = 'home'\n[endpoint.home]\nmodel = 3\n")
    with pytest.raises(SettingsError) as caught:
        load_settings(environ=environ)
    assert caught.value.faults == ("settings.toml:4: `endpoint.home.model` must be text in quotation marks",)


def test_a_thousand_mistakes_are_told_as_far_as_anybody_reads(environ: dict[str, str]) -> None:
    written(environ, "".join(f"x{number} = 1\n" for number in range(5000)))
    with pytest.raises(SettingsError) as caught:
        load_settings(environ=environ)
    assert len(str(caught.value)) < 12_000


def test_a_file_that_cannot_be_read(environ: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="no settings file"):
        load_settings(tmp_path / "absent.toml", environ)
    with pytest.raises(SettingsError, match="cannot be read"):
        load_settings(tmp_path, environ)
    settings_path(environ).write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SettingsError, match="UTF-8"):
        load_settings(environ=environ)
    settings_path(environ).write_bytes(b"# " + b"x" * 10_000_000)
    with pytest.raises(SettingsError, match="larger than a million bytes"):
        load_settings(environ=environ)
    settings_path(environ).unlink()
    os.mkfifo(settings_path(environ))
    with pytest.raises(SettingsError, match="it is no file"):
        load_settings(environ=environ)
    (tmp_path / "plain").write_text("")
    with pytest.raises(SettingsError, match="cannot be read"):
        load_settings(environ={"OTHERMINDS_CONFIG": str(tmp_path / "plain")})


def test_lines_may_end_as_they_do_elsewhere(environ: dict[str, str]) -> None:
    settings_path(environ).write_bytes(b"[models]\r\nactor = 'a/b'\r\n[caps]\r\nrun_tokens = 5\r\n")
    assert load_settings(environ=environ).caps.run_tokens == 5


@pytest.mark.parametrize("name", ["a\x1b[2Jb", "\x07", "a\u202eb", "x" * 5000, "\x85", "`[red]`"])
def test_no_text_from_the_file_is_a_command_or_endless(environ: dict[str, str], name: str) -> None:
    key = '"' + "".join(f"\\u{ord(char):04x}" for char in name) + '"'
    written(environ, f"[models]\nactor = {key}\n[models.{key}]\nx = 1\n[endpoint.{key}]\nmodel = {key}\n[provider.{key}]\nx = 1\n[{key}]\n")
    with pytest.raises(SettingsError) as caught:
        load_settings(environ=environ)
    assert not [char for char in str(caught.value) if unicodedata.category(char) in ("Cc", "Cf")]
    assert len(str(caught.value)) < 3000


def test_a_mistake_in_the_environment_names_it(environ: dict[str, str]) -> None:
    with pytest.raises(SettingsError, match="OTHERMINDS_EMBED"):
        load_settings(environ=environ | {"OTHERMINDS_EMBED": "minilm2"})
    with pytest.raises(SettingsError, match="`file` goes with the model `minilm`"):
        load_settings(environ=environ | {"OTHERMINDS_EMBED_FILE": "/tmp/m.onnx"})


@given(text=st.one_of(st.text(max_size=80), st.text(alphabet="[]{}=.'\"#\n models.embed\\u0", max_size=80)))
def test_any_text_is_settings_or_a_settings_error(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.getbasetemp() / "any.toml"
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    outcome: object
    try:
        outcome = load_settings(path, {})
    except OthermindsError as error:
        outcome = error
    assert isinstance(outcome, Settings) or str(path) in str(outcome)


def test_a_misspelt_provider_is_told_with_the_one_that_was_meant(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    lines = ["[models]", 'actor = "opnai/gpt-5-mini"', 'decode = "brandnew/m"', "[endpoint.home]", 'model = "olama_chat/llama3.2"']
    path.write_text("\n".join(lines))
    with pytest.raises(SettingsError) as caught:
        load_settings(path, {})
    text = str(caught.value)
    assert "no provider is called `opnai`; did you mean `openai/gpt-5-mini`?" in text
    assert "did you mean `ollama_chat/llama3.2`?" in text
    assert "brandnew" not in text, "a provider that nobody knows may be new"


def test_the_providers_are_those_of_the_installed_litellm() -> None:
    code = "import litellm; print(*sorted(str(getattr(one, 'value', one)) for one in litellm.provider_list))"
    environ = {**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_MODE": "PRODUCTION", "LITELLM_LOG": "CRITICAL"}
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environ, timeout=100).stdout
    assert set(told.split()) == providers()
