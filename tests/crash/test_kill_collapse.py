"""A process that dies while a session is being collapsed and knowledge promoted: who opens the save next comes to the same."""

import hashlib
import json
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest

from engine.storage.diff import differences
from engine.storage.sessions import SessionRepository
from tests.crash.collapse_driver import AFTER, prepare, work

DRIVER: Final = Path(__file__).with_name("collapse_driver.py")
WRITTEN: Final = (
    "knowledge", "knowledge_versions", "audit", "sessions", "session_summaries", "promotion_runs", "embeddings", "session_sources",
)  # fmt: skip
ORDER: Final = next(at for at, words in enumerate(AFTER) if "king" in words)

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


class Images:
    """What a disk would hold if the process died before a statement; those that are alike once."""

    def __init__(self, path: Path, folder: Path) -> None:
        self._path, self._folder = path, folder
        self.statements: list[str] = []
        self.paths: dict[str, Path] = {}
        folder.mkdir()

    def before(self, statement: str) -> None:
        """Keep what is on the disk now."""
        self.statements.append(statement)
        files = [self._path, self._path.with_name(self._path.name + "-wal")]
        parts = [file.read_bytes() if file.exists() else b"" for file in files]
        key = hashlib.sha256(b"|".join(parts)).hexdigest()
        if key not in self.paths:
            self.paths[key] = self._folder / f"{len(self.paths)}.db"
            for file, content in zip((self.paths[key], Path(f"{self.paths[key]}-wal")), parts, strict=True):
                if content:
                    file.write_bytes(content)


async def swept(folder: Path) -> tuple[Images, list[str]]:
    """Work with a crash image at every statement; what comes of each image otherwise than of the whole."""
    base = await prepare(folder)
    whole = folder / "whole.db"
    shutil.copy(base, whole)
    images = Images(whole, folder / "images")
    await work(whole, images.before)
    wrong = []
    for path in images.paths.values():
        await work(path)
        wrong += differences(whole, path)
    return images, [str(one) for one in wrong]


async def test_a_crash_at_any_statement_comes_to_the_same_in_the_end(tmp_path: Path) -> None:
    images, wrong = await swept(tmp_path)
    assert wrong == []
    text = "\n".join(images.statements)
    for table in (*WRITTEN, "counters"):
        assert any(f"{verb} {table}" in text for verb in ("INSERT INTO", "UPDATE")), f"{table} is written"
    assert "DELETE FROM session_turns" in text
    assert len(images.statements) > 150
    assert len(images.paths) >= 3, "before, between the transactions, and after"
    assert differences(tmp_path / "base.db", tmp_path / "whole.db")
    with closing(sqlite3.connect(tmp_path / "whole.db")) as conn:
        assert conn.execute("SELECT status FROM sessions ORDER BY seq").fetchall() == [("collapsed",), ("collapsed",)]
        assert conn.execute("SELECT before FROM audit WHERE action = 'cut'").fetchall() == [(AFTER[ORDER],)]
        assert conn.execute("SELECT count(*) FROM session_turns").fetchone() == (0,)
        assert conn.execute("SELECT count(*) FROM promotion_runs").fetchone() == (1,)
        assert conn.execute("SELECT content FROM knowledge WHERE valid_to IS NOT NULL").fetchall() == [("{{e:mira}} owns a horse.",)]
        merged = conn.execute("SELECT count(*) FROM audit WHERE action = 'merged' AND cause = 'collapse'").fetchone()
        assert merged == (1,)


async def test_the_images_notice_a_commit_in_two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = SessionRepository.remove_turns

    def torn(self: SessionRepository, conn: sqlite3.Connection, session: str, turns: Iterable[str]) -> int:
        conn.execute("COMMIT")
        conn.execute("BEGIN IMMEDIATE")
        return real(self, conn, session, turns)

    monkeypatch.setattr(SessionRepository, "remove_turns", torn)
    assert (await swept(tmp_path))[1]


def test_a_process_that_is_killed_leaves_a_save_that_comes_to_the_same(tmp_path: Path) -> None:
    root = DRIVER.parents[2]
    command = [sys.executable, str(DRIVER), str(tmp_path), "37"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False, cwd=root, env={"PYTHONPATH": str(root)})
    assert run.returncode == 0, run.stderr[-2000:]
    found = json.loads(run.stdout.splitlines()[-1])
    assert found["wrong"] == []
    assert found["changed"]
    assert found["deaths"] >= 5
