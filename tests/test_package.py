"""The wheel, installed elsewhere, is the whole product."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    [found] = folder.glob("*.whl")
    return found


def test_the_wheel_carries_all_data(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    for folder, ending in (("engine", "*.sql"), ("engine", "*.txt"), ("engine", "*.toml"), ("tui", "*.tcss")):
        files = [str(path.relative_to(ROOT)) for path in (ROOT / folder).rglob(ending)]
        assert files
        assert not set(files) - names
    assert "engine/worlds/salt-lantern/world.yaml" in names
    assert not [name for name in names if name.startswith(("tests/", "worlds/")) or name.endswith((".db", ".pyc"))]


def test_it_runs_outside_the_checkout(wheel: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "venv")], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    install = [str(python), "-m", "pip", "install", "-q", "-c", str(ROOT / "constraints.txt"), str(wheel)]
    subprocess.run(install, check=True, capture_output=True)
    env = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | {"OTHERMINDS_HOME": str(tmp_path / "home")}
    command = [str(python.parent / "otherminds"), "run", "salt-lantern", "--rounds", "2", "--seed", "7", "--json"]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=True)
    assert '"rounds": 2' in done.stdout
    listed = [str(python), "-m", "pip", "list", "--format", "freeze"]
    installed = subprocess.run(listed, capture_output=True, text=True, check=True).stdout
    assert "pytest" not in installed
