"""The borders of the house: what may be imported, how large a module may be, what no line may hold."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MODULES = sorted([*ROOT.glob("engine/**/*.py"), *ROOT.glob("tui/**/*.py")])
PURE = ("records", "world", "mind", "memory", "prompts", "turns")


def test_the_engine_loads_neither_screen_nor_provider() -> None:
    names = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in ROOT.glob("engine/**/*.py") if path.name != "__init__.py"]
    assert len(names) > 50
    forbidden = "{'textual', 'rich', 'litellm', 'onnxruntime', 'tui'}"
    code = f"import sys, importlib\nfor n in {names!r}: importlib.import_module(n)\nprint({forbidden} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "set()"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_stays_small(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 350


def _calls(tree: ast.AST) -> set[str]:
    return {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}


@pytest.mark.parametrize("path", [p for p in MODULES if p.relative_to(ROOT).parts[1] in PURE], ids=lambda path: str(path.relative_to(ROOT)))
def test_pure_parts_read_no_clock_and_no_chance(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert not imported & {"random", "time", "locale", "secrets", "uuid"}
    assert not {c for c in _calls(tree) if c.endswith((".now", ".today", ".utcnow")) or c == "hash"}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_catches_everything_or_commits_by_script(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    caught = [ast.unparse(n.type) if n.type else "" for n in ast.walk(tree) if isinstance(n, ast.ExceptHandler)]
    assert not [c for c in caught if c in ("", "Exception")]
    assert not {c for c in _calls(tree) if c.endswith(".executescript")}


def test_the_readme_shows_pictures_that_exist() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = re.findall(r"\]\((screenshots/[\w-]+\.svg)\)", text)
    assert len(shown) >= 3
    assert [path for path in shown if not (ROOT / path).is_file()] == []
