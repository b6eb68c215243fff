"""Vectors recorded on a tape, and replayed from it without an embedder."""

import asyncio
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.errors import ModelError, ProviderError
from engine.llm.cassette import Playback, Recorder, recorded_embedder, replayed_embedder
from engine.llm.embedders.absent import Absent
from engine.llm.hashing import Hash768
from engine.llm.meter import Meter
from engine.llm.protocol import Embedder
from engine.memory.recall.rested import Rested
from engine.records.world import World

INN = World(slug="inn", name="The Inn", seed=7, now=datetime(1247, 3, 1), places={}, portals={}, entities={})


class Distant:
    """An embedder as behind a provider: odd numbers, and trouble on demand."""

    name, dim, meaning, same, merge = "openai/vectors", 3, 0.6, 0.92, 0.94

    def __init__(self) -> None:
        self.trouble: list[ModelError | None] = []
        self.silent = False
        self._made = 0

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.silent:
            await asyncio.Event().wait()
        if self.trouble and (error := self.trouble.pop(0)):
            raise error
        self._made += len(texts)
        rows = [[len(text), 0.1, self._made] for text in texts]
        made = np.array(rows, dtype=np.float32)
        return np.asarray(made / np.linalg.norm(made, axis=1, keepdims=True), dtype=np.float32)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "inn.tape"


def recording(path: Path, embedder: Embedder) -> tuple[Embedder, Recorder]:
    recorder = Recorder(path)
    recorder.begin(INN, Meter())
    return recorded_embedder(embedder, recorder), recorder


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def change(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def replaying(path: Path, **timing: float) -> Embedder:
    playback = Playback(path, **timing)
    playback.begin(INN, Meter())
    return replayed_embedder(playback)


async def test_vectors_come_back_to_the_last_bit(path: Path) -> None:
    embedder, recorder = recording(path, Distant())
    then = [await embedder.embed(["one", "two"]), await embedder.embed(["three"]), await embedder.embed(["one", "two"])]
    recorder.close()
    replay = replaying(path)
    now = [await replay.embed(["one", "two"]), await replay.embed(["three"]), await replay.embed(["one", "two"])]
    assert [rows.tobytes() for rows in now] == [rows.tobytes() for rows in then]
    assert then[0].tobytes() != then[2].tobytes()
    assert {rows.dtype for rows in now} == {np.dtype(np.float32)}
    names = ("name", "dim", "meaning", "same", "merge")
    assert [getattr(replay, name) for name in names] == [getattr(Distant, name) for name in names]


async def test_the_same_texts_gathered_in_another_way_are_found(path: Path) -> None:
    embedder, recorder = recording(path, Distant())
    made = await embedder.embed(["one", "two", "three"])
    recorder.close()
    replay = replaying(path)
    assert (await replay.embed(["three", "one"])).tobytes() == made[[2, 0]].tobytes()
    with pytest.raises(ModelError, match="holds no vectors of openai/vectors for this"):
        await replay.embed(["one", "four"])


async def test_an_embedder_that_failed_fails_again(path: Path) -> None:
    distant = Distant()
    distant.trouble = [ProviderError("x is away.", "Wait.", trouble="unreachable"), None]
    embedder, recorder = recording(path, distant)
    with pytest.raises(ProviderError):
        await embedder.embed(["one"])
    made = await embedder.embed(["one"])
    recorder.close()
    replay = replaying(path)
    with pytest.raises(ProviderError, match=r"x is away\. Wait\."):
        await replay.embed(["one"])
    assert (await replay.embed(["one"])).tobytes() == made.tobytes()


async def test_an_embedder_that_was_given_up_is_given_up_again(path: Path) -> None:
    distant = Distant()
    distant.silent = True
    embedder, recorder = recording(path, distant)
    with pytest.raises(ModelError, match="no answer within") as then:
        await Rested(embedder, 0.02).embed(["one"])
    recorder.close()
    with pytest.raises(ModelError) as now:
        await Rested(replaying(path), 0.02).embed(["one"])
    assert str(now.value) == str(then.value)
    with pytest.raises(ProviderError, match="did not answer"):  # one who waits longer is not kept waiting for ever
        await replaying(path, silence=0.01).embed(["one"])


async def test_the_built_in_embedder_needs_no_tape(path: Path) -> None:
    inner = Hash768(meaning=0.25, same=0.9)
    embedder, recorder = recording(path, inner)
    assert embedder is inner
    await embedder.embed(["one"])
    recorder.close()
    replay = replaying(path)
    assert (replay.name, replay.meaning, replay.same, replay.merge) == ("hash768", 0.25, 0.9, 0.94)
    assert (await replay.embed(["any"])).tobytes() == (await inner.embed(["any"])).tobytes()
    assert '"vectors"' not in text_of(path)


async def test_an_embedder_that_was_away_from_the_beginning_is_away_again(path: Path) -> None:
    embedder, recorder = recording(path, Absent("openai/vectors", ProviderError("x is away.", trouble="unreachable")))
    with pytest.raises(ProviderError):
        await embedder.embed(["one"])
    recorder.close()
    replay = replaying(path)
    assert replay.name == "openai/vectors"
    with pytest.raises(ProviderError, match="x is away"):
        await replay.embed(["one"])


@pytest.mark.parametrize("vectors", ["", "AAAA", "AAAAAAAAAAAAAAAA=A==", "A" * 4000, "////" * 4])
async def test_vectors_that_a_stranger_has_changed_are_an_error(path: Path, vectors: str) -> None:
    embedder, recorder = recording(path, Distant())
    made = await embedder.embed(["one"])
    recorder.close()
    assert made.size == 3
    text = text_of(path)
    start = text.index('"vectors": "') + len('"vectors": "')
    change(path, text[:start] + vectors + text[text.index('"', start) :])
    with pytest.raises(ModelError):
        await replaying(path).embed(["one"])


async def test_a_tape_without_an_embedder_has_the_built_in_one(path: Path) -> None:
    recorder = Recorder(path)
    recorder.begin(INN, Meter())
    recorder.close()
    assert replaying(path).name == "hash768"
