"""What holds for all tests: nobody's own settings."""

import os

import pytest

from engine.settings.environment import VARIABLES


@pytest.fixture(autouse=True, scope="session")
def _no_settings(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Tests, and the processes that they start, find an empty config folder and nothing set by the environment."""
    os.environ["OTHERMINDS_CONFIG"] = str(tmp_path_factory.mktemp("config"))
    for name in VARIABLES:
        os.environ.pop(name, None)
