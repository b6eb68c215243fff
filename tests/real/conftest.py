"""What tests with a real model share: one server a process, and settings that lead to it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.real.server import LlamaServer, NoServerError, llama_server
from tests.real.weights import NoWeightsError, model_file

KEY = "OTHERMINDS_TEST_LLAMA_KEY"
"""The variable that holds the key of the server."""
WINDOW, NARROW = 4096, 1280
PATIENCE = 1800
"""Seconds for one test: the machine may be busy with much else."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.model)
            item.add_marker(pytest.mark.xdist_group("model"))  # one process, one server
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


def settle(folder: Path, patch: pytest.MonkeyPatch, server: LlamaServer, *, models: str = "", endpoint: str = "") -> None:
    """Settings in which the server answers all tasks, in place of anybody's own. `models` are further lines of `[models]`, `endpoint` of
    the endpoint's table."""
    (folder / "config").mkdir(exist_ok=True)
    key = f'key_env = "{KEY}"' if server.key else ""
    text = f"""
[models]
default = "small"
{models}
[endpoint.small]
model = "openai/smollm2-135m"
api_base = "{server.base}"
structured = "grammar"
small = true
temperature = 0.7
timeout = 900
{key}
{endpoint}
"""
    (folder / "config" / "settings.toml").write_text(text, encoding="utf-8")
    patch.setenv("OTHERMINDS_CONFIG", str(folder / "config"))
    patch.setenv("OTHERMINDS_HOME", str(folder / "home"))
    patch.setenv(KEY, server.key or "none")
