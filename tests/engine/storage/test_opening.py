"""What is no save, or no sound one, is refused in words, and never written to."""

import asyncio
import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from engine.errors import SaveError
from engine.storage.database import Database
from engine.storage.diff import differences
from engine.storage.opening import open_save
from engine.storage.schema import expected_schema, migrate, newest_version, schema_of, statements, version_of
from engine.storage.store import Store

if TYPE_CHECKING:
    from tests.engine.storage.conftest import Samples


def edit(path: Path, *sql: str) -> None:
    """Change a database behind the program's back."""
    with closing(sqlite3.connect(path, isolation_level=None)) as conn:
        for statement in sql:
            conn.execute(statement)


def nothing(path: Path) -> None:
    """Leave the path as it is: no file."""


def empty(path: Path) -> None:
    path.touch()


def garbage(path: Path) -> None:
    path.write_bytes(b"Dear diary, " * 1000)


def folder(path: Path) -> None:
    path.mkdir()


def pipe(path: Path) -> None:
    os.mkfifo(path)


def foreign(path: Path) -> None:
    edit(path, "CREATE TABLE bookmarks (url TEXT)")


def newer(path: Path) -> None:
    open_save(path, create=True).close()
    edit(path, f"PRAGMA user_version = {newest_version() + 1}")


REFUSED: list[tuple[Callable[[Path], None], str]] = [
    (nothing, r"There is no save at .*x\.db\. Start a new game, or choose another file\."),
    (empty, r"x\.db is empty: there is no save in it\."),
    (garbage, r"x\.db is not a save of Otherminds\."),
    (folder, r"x\.db is a folder, not a save\."),
    (pipe, r"x\.db is not a regular file\."),
    (foreign, r"x\.db is a database of another program, not a save of Otherminds\."),
    (newer, rf"x\.db was written by a newer Otherminds \(its format is {newest_version() + 1}, .* Install the newer version"),
]


@pytest.mark.parametrize("read_only", [False, True], ids=["to play", "to read"])
@pytest.mark.parametrize(("make", "message"), REFUSED, ids=[make.__name__ for make, _ in REFUSED])
async def test_what_is_no_save_is_refused_and_left_alone(
    tmp_path: Path, leftovers: Callable[[], list[str]], make: Callable[[Path], None], message: str, read_only: bool
) -> None:
    path = tmp_path / "x.db"
    make(path)
    files, content = leftovers(), path.read_bytes() if path.is_file() else b""
    with pytest.raises(SaveError, match=message):
        await Database.open(path, read_only=read_only)
    assert leftovers() == files
    assert (path.read_bytes() if path.is_file() else b"") == content


@pytest.mark.parametrize("create", [False, True])
async def test_a_missing_folder_is_named(tmp_path: Path, create: bool) -> None:
    with pytest.raises(SaveError, match=r"There is no folder .*nowhere\. Make it first"):
        await Database.open(tmp_path / "nowhere" / "x.db", create=create)


async def test_a_new_save_takes_no_ones_place(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    path.write_text("a letter")
    with pytest.raises(SaveError, match="There is already a file"):
        await Database.open(path, create=True)
    assert path.read_text() == "a letter"


async def test_a_save_without_a_world_says_so(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    await (await Database.open(path, create=True)).close()
    with pytest.raises(SaveError, match="making it was interrupted"):
        await Store.open(path)
    await (await Database.open(path)).close()  # and is not left locked


async def test_a_world_that_cannot_be_written_leaves_no_save(
    samples: "Samples", tmp_path: Path, leftovers: Callable[[], list[str]]
) -> None:
    authored = samples.authored()
    lost = authored.world.entities["bob"].model_copy(update={"place": "nowhere"})
    world = authored.world.model_copy(update={"entities": {**authored.world.entities, "bob": lost}})
    with pytest.raises(SaveError, match="FOREIGN KEY"):
        await Store.create(tmp_path / "y.db", authored.model_copy(update={"world": world}))
    assert leftovers() == []


async def test_names_of_files_are_taken_literally(tmp_path: Path) -> None:
    path = tmp_path / "what? 100% #1 & mode=ro.db"
    await (await Database.open(path, create=True)).close()
    assert path.is_file()
    await (await Database.open(path)).close()


@pytest.mark.parametrize(
    "change",
    [
        "CREATE TRIGGER sly AFTER INSERT ON beats BEGIN DELETE FROM lore; END",
        "CREATE VIEW sly AS SELECT 1",
        "CREATE TABLE sly (x)",
        "DROP TRIGGER buffer_entries_guard_delete",
        "DROP INDEX ledger_entries_by_time",
        "ALTER TABLE lore ADD COLUMN sly TEXT",
    ],
)
async def test_a_save_with_a_foreign_schema_is_refused(store: Store, change: str) -> None:
    await store.close()
    edit(store.db.path, change)
    with pytest.raises(SaveError, match="was changed by another program"):
        await Database.open(store.db.path)
    edit(store.db.path, "SELECT 1")  # not locked


async def test_a_damaged_save_opens_for_reading_only(store: Store, samples: "Samples") -> None:
    """The table of beats is overwritten; the rest of the save can still be read."""
    await store.db.write(lambda c: [store.story.add_beat(c, 1, "bob", samples.start, "x" * 50, "t") for _ in range(3000)])
    root = await store.db.read(lambda c: c.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'beats'").fetchone()[0])
    size = await store.db.read(lambda c: c.execute("PRAGMA page_size").fetchone()[0])
    await store.close()
    with store.db.path.open("r+b") as file:
        file.seek((root - 1) * size)
        file.write(os.urandom(16) + b"\xff" * (size - 16))
    content = store.db.path.read_bytes()
    damaged = await Store.open(store.db.path)
    assert damaged.db.damage
    assert damaged.db.read_only
    assert (await damaged.db.read(damaged.worlds.load)).slug == "inn"
    with pytest.raises(SaveError, match="is damaged and is not written to"):
        await damaged.db.write(lambda c: c.execute("DELETE FROM lore").rowcount)
    with pytest.raises(SaveError, match="is damaged"):
        await damaged.db.read(lambda c: c.execute("SELECT * FROM beats").fetchall())
    await damaged.close()
    assert store.db.path.read_bytes() == content


async def test_a_cut_off_save_is_refused_or_read_only(store: Store) -> None:
    await store.close()
    whole = store.db.path.read_bytes()
    for length in (1, 50, 100, 4096, len(whole) // 2, len(whole) - 4096):
        store.db.path.write_bytes(whole[:length])
        try:
            found = await Database.open(store.db.path)
        except SaveError:
            continue
        assert found.read_only
        await found.close()


@pytest.fixture
def unprivileged(samples: "Samples") -> Iterator[Path]:
    """A save in a folder of its own, and a process that is not root while the test runs."""
    with tempfile.TemporaryDirectory() as folder:
        path, root = Path(folder) / "x.db", os.geteuid() == 0

        async def make() -> None:
            await (await Store.create(path, samples.authored())).close()

        asyncio.run(make())
        expected_schema(newest_version())  # what the program reads of itself is read before it is locked out
        if root:
            os.chown(folder, 65534, -1)
            os.chown(path, 65534, -1)
            os.seteuid(65534)
        yield path
        path.parent.chmod(0o700)
        if root:
            os.seteuid(0)


def allow(path: Path, *, file: int, folder: int = 0o700) -> None:
    path.chmod(file)
    path.parent.chmod(folder)


async def test_a_save_in_a_folder_that_may_not_be_written_can_be_read_only(unprivileged: Path, samples: "Samples") -> None:
    allow(unprivileged, file=0o400, folder=0o500)
    reader = await Store.open(unprivileged, read_only=True)
    assert await reader.db.read(reader.worlds.load) == samples.world()
    await reader.close()
    assert differences(unprivileged, unprivileged) == []
    with pytest.raises(SaveError, match="cannot be written to"):
        await Database.open(unprivileged)
    with pytest.raises(SaveError, match="cannot be written to"):
        await Database.open(unprivileged.with_name("y.db"), create=True)


async def test_a_file_that_may_only_be_read_is_not_opened_to_play(unprivileged: Path) -> None:
    allow(unprivileged, file=0o400)
    with pytest.raises(SaveError, match="may not be written to"):
        await Database.open(unprivileged)
    await (await Database.open(unprivileged, read_only=True)).close()


async def test_a_file_that_may_not_be_read_is_not_left_locked(unprivileged: Path) -> None:
    allow(unprivileged, file=0o000)
    for read_only in (True, False):
        with pytest.raises(SaveError, match=r"cannot be opened: unable to open database file\."):
            await Database.open(unprivileged, read_only=read_only)
    allow(unprivileged, file=0o600)
    await (await Database.open(unprivileged)).close()


def test_statements_are_split_where_sqlite_ends_them() -> None:
    script = "-- a; b\nCREATE TABLE a (x TEXT DEFAULT ';');\nCREATE TRIGGER t AFTER INSERT ON a\nBEGIN\n  DELETE FROM a;\nEND;\n-- end\n"
    assert [statement.splitlines()[-1] for statement in statements(script)] == ["CREATE TABLE a (x TEXT DEFAULT ';');", "END;"]
    with pytest.raises(SaveError):
        list(statements("CREATE TABLE a (x TEXT"))


def test_a_migration_that_fails_leaves_the_version_before() -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as conn:
        conn.execute("CREATE TABLE objects (mine)")
        with pytest.raises(sqlite3.OperationalError, match="already exists"):
            migrate(conn)
        assert version_of(conn) == 0
        assert {name for _, name, *_ in schema_of(conn)} == {"objects"}
        assert not conn.in_transaction
        conn.execute("DROP TABLE objects")
        migrate(conn)
        assert version_of(conn) == newest_version()
        assert schema_of(conn) == expected_schema(newest_version())
        migrate(conn)  # nothing left to do


def test_all_tables_are_strict_and_named_as_the_design_names_them() -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as conn:
        migrate(conn)
        tables = dict(conn.execute("SELECT name, strict FROM pragma_table_list WHERE schema = 'main' AND type = 'table'").fetchall())
        named = {
            "objects", "buffer_entries", "ledger_entries", "ledger_involved_entities", "buffer_archive", "ledger_sources",
            "handoff_runs", "alias_changes", "embeddings", "meta", "places", "portals", "lore", "beats", "happenings", "run_log",
        }  # fmt: skip
        assert named <= tables.keys()
        assert not [name for name, strict in tables.items() if not strict and not name.startswith("sqlite_")]
