"""What holds for all tests: nobody's own settings and saves."""

import os
import sqlite3
from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import settings

from engine.settings.environment import VARIABLES
from engine.storage.database import Database

settings.register_profile("calm", deadline=None)  # a machine that is busy is no fault of what is tested
settings.load_profile("calm")


@pytest.fixture(autouse=True, scope="session")
def _nothing_of_ones_own(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Tests, and the processes that they start, find empty folders and nothing set by the environment."""
    os.environ["OTHERMINDS_HOME"] = str(tmp_path_factory.mktemp("home"))
    os.environ["OTHERMINDS_CONFIG"] = str(tmp_path_factory.mktemp("config"))
    for name in VARIABLES:
        os.environ.pop(name, None)


@pytest.fixture(autouse=True, scope="session")
def _each_change_has_a_name() -> None:
    """Whatever the engine writes says in the journal what it is. What tests write themselves need not."""
    write = Database.write

    async def watched(self: Database, fn: Callable[[sqlite3.Connection], object]) -> object:
        def run(conn: sqlite3.Connection) -> object:
            [(before,)] = conn.execute("SELECT coalesce(max(seq), 0) FROM journal_rows")
            result = fn(conn)
            if _module(fn).startswith("engine.") and not _module(fn).startswith("engine.storage."):  # no engine's work, but a test's
                [(after,)] = conn.execute("SELECT coalesce(max(seq), 0) FROM journal_rows")
                named = conn.execute("SELECT 1 FROM journal WHERE last IS NULL AND label <> ''").fetchall()
                open_ = conn.execute("SELECT 1 FROM journal_gate").fetchall()
                assert after == before or named or open_, f"{fn} changed the save and did not say what that is: see JournalRepository.note"
            return result

        return await write(self, run)

    Database.write = watched  # type: ignore[method-assign, assignment]


def _module(fn: object) -> str:
    while isinstance(fn, partial):
        fn = fn.func
    return str(getattr(fn, "__module__", ""))
