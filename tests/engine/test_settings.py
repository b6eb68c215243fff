"""Settings of the person: what the file says, what the environment says over it, and what is said about mistakes."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import OthermindsError, SettingsError
from engine.settings import EmbedSettings, Settings, load_settings, settings_path


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
    ("x = " + "9" * 5000, "not TOML"),
    ("[model]\nembed = 'minilm'", "`model` is not a setting (did you mean `models`?)"),
    ("[models]\nembde = 'minilm'", "`models.embde` is not a setting (did you mean `embed`?)"),
    ("[models.embed]\nmodle = 'minilm'", "`models.embed.modle` is not a setting (did you mean `model`?)"),
    ("[models]\nqqq = 1", "`models.qqq` is not a setting (known are default, actor, decode, referee, alias, handoff, collapse, validate, narrate, "),
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
])
def test_a_mistake_is_told_by_file_key_and_remedy(environ: dict[str, str], text: str, said: str) -> None:
    path = written(environ, text)
    with pytest.raises(SettingsError) as caught:
        load_settings(environ=environ)
    assert said in str(caught.value)
    assert str(path) in str(caught.value)
    assert caught.value.advice


def test_all_mistakes_are_told_at_once(environ: dict[str, str]) -> None:
    written(environ, "[models.embed]\nmodel = 'a/b'\ndim = '768'\nmeaning = 2\n")
    with pytest.raises(SettingsError, match=r"dim.*meaning"):
        load_settings(environ=environ)


def test_a_file_that_cannot_be_read(environ: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="no settings file"):
        load_settings(tmp_path / "absent.toml", environ)
    with pytest.raises(SettingsError, match="cannot be read"):
        load_settings(tmp_path, environ)
    settings_path(environ).write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SettingsError, match="UTF-8"):
        load_settings(environ=environ)
    (tmp_path / "plain").write_text("")
    with pytest.raises(SettingsError, match="cannot be read"):
        load_settings(environ={"OTHERMINDS_CONFIG": str(tmp_path / "plain")})


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
