"""Worlds written by tests, and what the reader says about them."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from engine.files.reader import check_world

HEAD = "name: Test\nclock: {start: 1247-03-01T17:40}\n"
PLACES = """\
- id: bar
  name: the bar
  exits:
    - {to: cellar, name: trap door, state: closed, vision: 0, sound: 4}
- {id: cellar, name: the cellar}
"""
BOB = "id: bob\nat: bar\nagent: true\nfactions: [harbour]\nattributes:\n  name: Bob Harrow\n  label: the bald man\n"
BILL = "id: bill\nat: cellar\nagent: true\n"


@pytest.fixture
def write(tmp_path: Path) -> Callable[[Mapping[str, str]], Path]:
    """Write files over a small sound world; an empty text leaves a file out. Returns the world's folder."""

    def written(files: Mapping[str, str]) -> Path:
        folder = tmp_path / "tavern"
        base = {"world.yaml": HEAD, "places/house.yaml": PLACES, "entities/bob.yaml": BOB, "entities/bill.yaml": BILL}
        for name, text in {**base, **files}.items():
            if text:
                file = folder / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8", newline="")
        return folder

    return written


@pytest.fixture
def only_problem(write: Callable[[Mapping[str, str]], Path]) -> Callable[[str, str], tuple[str, str, str]]:
    """Check a world with one file changed, where `⇒` marks the mistake; returns path, message and hint of its one problem."""

    def found(file: str, text: str) -> tuple[str, str, str]:
        before = text[: text.index("⇒")]
        folder = write({file: text.replace("⇒", "")})
        [problem] = check_world(folder)
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        assert (problem.file, problem.line, problem.column) == (str(folder / file), line, column)
        return problem.path, problem.message, problem.hint

    return found
