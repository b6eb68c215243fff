"""Copies of a save: whole, thinned out, and put back without losing what is there."""

import sqlite3
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import SaveError, SaveLockedError
from engine.storage import backups, restoring
from engine.storage.backups import Backup, Reason, back_up, backups_of, folder_of, spare
from engine.storage.diff import differences
from engine.storage.lock import SaveLock
from engine.storage.opening import open_save
from engine.storage.restoring import restore
from engine.storage.schema import APPLICATION_ID, migrations, newest_version, statements, version_of
from engine.storage.store import Store

if TYPE_CHECKING:
    from tests.engine.storage.conftest import Samples

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@pytest.fixture
async def save(samples: "Samples", tmp_path: Path) -> Path:
    store = await Store.create(tmp_path / "an inn #1.db", samples.authored())
    await store.close()
    return tmp_path / "an inn #1.db"


def change(path: Path, value: str) -> None:
    with closing(sqlite3.connect(path)) as conn, conn:
        conn.execute("UPDATE meta SET value = ? WHERE key = 'description'", (value,))


def said(path: Path) -> str:
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as conn:
        return str(conn.execute("SELECT value FROM meta WHERE key = 'description'").fetchone()[0])


def copied(save: Path, reason: Reason = "hand", now: datetime = NOW) -> Backup:
    with closing(open_save(save)) as opened:
        return back_up(opened.conn, save, reason, now)


def files(save: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(save.parent.rglob("*")) if path.is_file()}


def test_a_copy_equals_the_save_and_is_listed_by_its_name(save: Path) -> None:
    before = save.read_bytes()
    made = copied(save)
    assert save.read_bytes() == before
    assert backups_of(save) == [made]
    assert (made.round, made.reason, made.made, made.size) == (0, "hand", NOW, made.path.stat().st_size)
    assert differences(save, made.path) == []
    (folder_of(save) / "notes.txt").write_text("mine")
    change(save, "other")
    again = copied(save, "play", NOW)
    assert backups_of(save) == [again, made], "of one second: the later first"
    assert (said(made.path), said(again.path)) == ("An inn.\nBy the sea.", "other")


def test_a_copy_is_of_the_last_commit_while_the_save_is_in_use(save: Path) -> None:
    with closing(open_save(save)) as opened:
        opened.conn.execute("UPDATE meta SET value = 'committed' WHERE key = 'description'")
        made = back_up(opened.conn, save, "play", NOW)
    assert said(made.path) == "committed"


def test_a_copy_that_cannot_be_made_leaves_everything_as_it_was(save: Path) -> None:
    folder_of(save).write_text("a file stands here")
    before = files(save)
    with closing(open_save(save, read_only=True)) as opened, pytest.raises(SaveError, match="could not be backed up"):
        back_up(opened.conn, save, "play", NOW)
    assert files(save) == before
    assert backups_of(save) == []


@given(st.lists(st.tuples(st.integers(0, 40 * 24), st.sampled_from(["play", "play", "play", "hand", "migration"])), max_size=60))
def test_the_newest_and_one_a_day_are_kept(found: list[tuple[int, Reason]]) -> None:
    made = [
        Backup(path=Path(str(number)), made=NOW - timedelta(hours=hours), round=0, reason=reason, size=1)
        for number, (hours, reason) in enumerate(found)
    ]
    gone = spare(made, NOW.date())
    kept = [one for one in made if one not in gone]
    for group in (["play"], ["hand", "migration"]):
        newest = sorted((one.made for one in made if one.reason in group), reverse=True)[:6]
        assert sorted((one.made for one in kept if one.reason in group), reverse=True)[: len(newest)] == newest
    recent: set[date] = {one.made.date() for one in made if NOW.date() - one.made.date() < timedelta(days=7)}
    assert recent <= {one.made.date() for one in kept}
    assert len(kept) <= 6 + 6 + 7
    assert spare(kept, NOW.date()) == [], "thinned out once is thinned out"


def test_old_copies_go_when_a_new_one_is_made(save: Path) -> None:
    for hours in range(0, 200, 4):
        copied(save, "play", NOW + timedelta(hours=hours))
    kept = backups_of(save)
    assert 6 <= len(kept) <= 13
    assert kept[0].made == NOW + timedelta(hours=196)
    assert len({one.made.date() for one in kept}) == 7


# putting back
def test_what_stood_there_is_kept_when_a_copy_is_put_back(save: Path) -> None:
    first = copied(save)
    change(save, "later")
    kept = restore(save, first.path)
    assert said(save) == "An inn.\nBy the sea."
    assert differences(save, first.path) == []
    assert kept is not None
    assert said(kept) == "later"
    assert [one.reason for one in backups_of(save)] == ["restore", "hand"]
    restore(save, kept)
    assert said(save) == "later"


def test_the_log_of_what_stood_there_is_not_played_into_the_copy(save: Path) -> None:
    """A process that died leaves a write-ahead log beside the save."""
    first = copied(save)
    conn = sqlite3.connect(save, isolation_level=None)
    conn.execute("PRAGMA journal_mode = WAL")
    conn.execute("UPDATE meta SET value = 'in the log' WHERE key = 'description'")
    log, body = save.with_name(save.name + "-wal").read_bytes(), save.read_bytes()
    conn.close()
    save.write_bytes(body)
    save.with_name(save.name + "-wal").write_bytes(log)
    kept = restore(save, first.path)
    assert said(save) == "An inn.\nBy the sea."
    assert kept is not None
    assert said(kept) == "in the log"


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5000])


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def garbage(path: Path) -> None:
    path.write_bytes(b"Dear diary, " * 1000)


def foreign(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path, isolation_level=None)) as conn:
        conn.execute("CREATE TABLE bookmarks (url TEXT)")


@pytest.mark.parametrize("harm", [cut, emptied, garbage, foreign])
def test_what_cannot_be_read_is_kept_as_it_is(save: Path, harm: object) -> None:
    first = copied(save)
    harm(save)  # type: ignore[operator]
    broken = save.read_bytes()
    kept = restore(save, first.path)
    assert kept is not None
    assert kept.read_bytes() == broken
    assert differences(save, first.path) == []
    assert backups_of(save) == [first]


def test_a_copy_comes_back_where_no_save_is(save: Path) -> None:
    first = copied(save)
    save.unlink()
    assert restore(save, first.path) is None
    assert differences(save, first.path) == []


def test_a_save_that_is_open_is_not_put_back(save: Path) -> None:
    first = copied(save)
    lock = SaveLock.take(save)
    before = files(save)
    with pytest.raises(SaveLockedError):
        restore(save, first.path)
    lock.release()
    assert files(save) == {name: data for name, data in before.items() if not name.endswith(".lock")}


def strange(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as conn:
        conn.execute("CREATE TRIGGER mine AFTER UPDATE ON meta BEGIN DELETE FROM lore; END")


@pytest.mark.parametrize("harm", [cut, emptied, garbage, foreign, strange])
def test_a_copy_that_is_no_sound_save_is_not_put_back(save: Path, harm: object) -> None:
    first = copied(save)
    harm(first.path)  # type: ignore[operator]
    before = files(save)
    with pytest.raises(SaveError, match="Choose another backup"):
        restore(save, first.path)
    assert files(save) == before


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Flushing to the disk fails from the n-th time on."""
    left = [0]
    real = backups.flush

    def flush(path: Path) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise OSError(28, "No space left on device")
        real(path)

    for module in (backups, restoring):
        monkeypatch.setattr(module, "flush", flush)
    return left


@pytest.mark.parametrize("times", range(4))
def test_a_disk_that_fails_while_a_copy_is_put_back_loses_nothing(save: Path, failing: list[int], times: int) -> None:
    failing[0] = 99
    first = copied(save)
    change(save, "later")
    failing[0] = times
    if times < 3:
        with pytest.raises(SaveError):
            restore(save, first.path)
    else:
        restore(save, first.path)
    texts = {said(save), *(said(one.path) for one in backups_of(save))}
    assert {"later", "An inn.\nBy the sea."} <= texts
    assert not list(save.parent.rglob("*.new"))


def test_a_link_is_another_name_of_the_same_save(save: Path, tmp_path: Path) -> None:
    first = copied(save)
    link = tmp_path / "link.db"
    link.symlink_to(save)
    assert backups_of(link) == [first]
    lock = SaveLock.take(save)
    with pytest.raises(SaveLockedError):
        open_save(link)
    with pytest.raises(SaveLockedError):
        restore(link, first.path)
    lock.release()
    change(save, "later")
    restore(link, first.path)
    assert link.is_symlink()
    assert said(save) == "An inn.\nBy the sea."
    hard = tmp_path / "hard.db"
    hard.hardlink_to(save)
    for name in (hard, save):
        with pytest.raises(SaveError, match="it has 2 names"):
            open_save(name)
    open_save(hard, read_only=True).close()
    hard.unlink()
    open_save(save).close()


# before a newer version changes it
def older(path: Path, version: int) -> None:
    """A save of an earlier version, with one row to know it by."""
    with closing(sqlite3.connect(path, isolation_level=None)) as conn:
        for number, sql in migrations():
            if number <= version:
                for statement in statements(sql):
                    conn.execute(statement)
        conn.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        conn.execute(f"PRAGMA user_version = {version}")
        conn.execute("INSERT INTO meta (key, value) VALUES ('description', 'old')")
        conn.execute("INSERT INTO meta (key, value) VALUES ('round', '12')")


def test_a_save_of_an_earlier_version_is_copied_before_it_is_brought_up_to_date(tmp_path: Path) -> None:
    save = tmp_path / "old.db"
    older(save, newest_version() - 1)
    open_save(save, read_only=True).close()
    assert backups_of(save) == []
    open_save(save).close()
    [made] = backups_of(save)
    assert (made.round, made.reason) == (12, "migration")
    for path, version in ((save, newest_version()), (made.path, newest_version() - 1)):
        with closing(sqlite3.connect(path)) as conn:
            assert version_of(conn) == version
    open_save(save).close()
    assert len(backups_of(save)) == 1


def test_where_no_copy_can_be_made_a_save_stays_of_its_version(tmp_path: Path) -> None:
    save = tmp_path / "old.db"
    older(save, newest_version() - 1)
    folder_of(save).write_text("a file stands here")
    with pytest.raises(SaveError, match="could not be backed up"):
        open_save(save)
    with closing(sqlite3.connect(save)) as conn:
        assert version_of(conn) == newest_version() - 1
