"""What tests with a real model share: one server a process, and settings that lead to it."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.real.server import LlamaServer, NoServerError, llama_server
from tests.real.weights import NoWeightsError, model_file

KEY = "OTHERMINDS_TEST_LLAMA_KEY"
"""The variable that holds the key of the server."""
WINDOW, NARROW = 4096, 1536
PATIENCE = 1800
"""Seconds for one test: the machine may be busy with much else."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.model)
            item.add_marker(pytest.mark.timeout(PATIENCE))


@pytest.fixture(scope="session")
def weights() -> Path:
    """A model file. Skips, and says why, where there is none."""
    try:
        return model_file()
    except NoWeightsError as error:
        pytest.skip(f"no model to test with: {error}")


@pytest.fixture(scope="session")
def llama(weights: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LlamaServer]:
    """A running server that wants a key. Skips, and says why, where it cannot run."""
    yield from _running(weights, tmp_path_factory, WINDOW, locked=True)


@pytest.fixture(scope="module")
def narrow(weights: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LlamaServer]:
    """A server that wants no key and takes less than most prompts of an actor. Skips as `llama` does."""
    yield from _running(weights, tmp_path_factory, NARROW, locked=False)


def _running(weights: Path, folders: pytest.TempPathFactory, window: int, *, locked: bool) -> Iterator[LlamaServer]:
    try:
        with llama_server(weights, folders.mktemp("llama") / "log.txt", window=window, locked=locked) as server:
            yield server
    except NoServerError as error:
        pytest.skip(f"no server to test with: {error}")


@pytest.fixture
def settings_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Writes `settings.toml` in which the server answers all tasks, as `otherminds config` would write it; `more` are further lines."""

    def write(server: LlamaServer, more: str = "", endpoint: str = "") -> Path:
        folder = tmp_path / "config"
        folder.mkdir(exist_ok=True)
        path = folder / "settings.toml"
        path.write_text(
            f'[models]\ndefault = "small"\n{more}\n[endpoint.small]\nmodel = "openai/smollm2-135m"\napi_base = "{server.base}"\n'
            f'key_env = "{KEY}"\nstructured = "grammar"\nsmall = true\ntemperature = 0.7\ntimeout = 600\n{endpoint}\n',
            encoding="utf-8",
        )
        monkeypatch.setenv("OTHERMINDS_CONFIG", str(folder))
        monkeypatch.setenv("OTHERMINDS_HOME", str(tmp_path / "home"))
        monkeypatch.setenv(KEY, server.key)
        return path

    return write
