"""What holds for all tests: nobody's own settings and saves."""

import os

import pytest
from hypothesis import settings

from engine.settings.environment import VARIABLES

settings.register_profile("calm", deadline=None)  # a machine that is busy is no fault of what is tested
settings.load_profile("calm")


@pytest.fixture(autouse=True, scope="session")
def _nothing_of_ones_own(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Tests, and the processes that they start, find empty folders and nothing set by the environment."""
    os.environ["OTHERMINDS_HOME"] = str(tmp_path_factory.mktemp("home"))
    os.environ["OTHERMINDS_CONFIG"] = str(tmp_path_factory.mktemp("config"))
    for name in VARIABLES:
        os.environ.pop(name, None)
