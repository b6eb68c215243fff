"""Where the program keeps what it writes."""

import os
from collections.abc import Mapping
from pathlib import Path


def data_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """The folder of saves, pictures and what was spent: `OTHERMINDS_HOME`, or the user's data folder. It may not exist yet."""
    if chosen := environ.get("OTHERMINDS_HOME"):
        return Path(chosen).expanduser()
    from platformdirs import user_data_path

    return user_data_path("otherminds")
