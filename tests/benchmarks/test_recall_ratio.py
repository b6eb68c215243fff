"""The score step of recall against the bare matrix product of one thread, in one run (DESIGN 17)."""

import os
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from statistics import median
from time import process_time

import numpy as np
import pytest

from engine.memory.recall.candidates import thirds
from engine.memory.recall.scoring import rank
from engine.memory.recall.vectors import OwnerVectors
from engine.records.policies import RecallPolicy
from engine.storage.embeddings import LedgerSlice

BIG = bool(os.environ.get("OTHERMINDS_BIG"))
"""Whether to measure at full size what takes minutes or gigabytes."""
NOW = datetime(1247, 3, 1, 18, 0)
POLICY = RecallPolicy()
CASES = [(1_000, 768, 15.0), (10_000, 768, 3.0), (100_000, 768, 1.25), (1_000_000, 768, 1.0) if BIG else (250_000, 384, 1.0)]
"""Entries, dimensions and the bar. At 1,000 the product alone takes 0.03 ms; the step is to stay within a beat's unseen part."""


def filled(count: int, dim: int) -> tuple[OwnerVectors, np.ndarray, np.ndarray]:
    """An owner with `count` random memories, the bare matrix of the same vectors, and a query."""
    generator = np.random.default_rng(7)
    matrix = np.empty((count, dim), dtype=np.float32)
    held = OwnerVectors(dim)
    held.fill(slices(matrix, generator), count)
    return held, matrix, matrix[count // 3].copy()


def slices(matrix: np.ndarray, generator: np.random.Generator) -> Iterator[LedgerSlice]:
    """Memories as a save gives them. Fills the matrix on the way."""
    count = len(matrix)
    for start in range(0, count, 5_000):
        block = matrix[start : start + 5_000]
        block[:] = generator.standard_normal(block.shape, dtype=np.float32)
        block /= np.linalg.norm(block, axis=1, keepdims=True)
        numbers = range(start, start + len(block))
        yield LedgerSlice(
            tuple(f"led-{n + 1:06d}" for n in numbers),
            tuple(n + 1 for n in numbers),
            tuple((NOW - timedelta(minutes=count - n)).isoformat() for n in numbers),
            tuple(1 + n % 10 for n in numbers),
            tuple(f"pl_{n % 7}" for n in numbers),
            tuple((f"en_{n % 40}",) for n in numbers),
            tuple(row.tobytes() for row in block),
        )


def score_step(held: OwnerVectors, query: np.ndarray) -> list[int]:
    """Everything between the two reads of the save: nearest by meaning, the pool in thirds, the formula, the order."""
    words = {row: 1.0 + row % 5 for row in range(0, POLICY.pool * 7, 7)}
    meaning = held.nearest(query, POLICY.pool)
    pool = thirds(range(POLICY.pool), list(words), meaning, held.newest(POLICY.pool), POLICY.pool)
    return rank(held, pool, words, query, ("en_3", "en_5"), NOW, 0.6, POLICY).rows


def interleaved(jobs: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Median milliseconds of processor time of each job, run in turns so that a busy machine hits all alike."""
    times: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(repeats):
        for name, job in jobs.items():
            started = process_time()
            job()
            times[name].append((process_time() - started) * 1000)
    return {name: median(values) for name, values in times.items()}


@pytest.mark.benchmark
@pytest.mark.parametrize(("count", "dim", "bar"), CASES)
def test_score_step_against_the_bare_product(count: int, dim: int, bar: float, capsys: pytest.CaptureFixture[str]) -> None:
    held, matrix, query = filled(count, dim)
    assert score_step(held, query)[0] == count // 3
    found = interleaved({"bare": lambda: np.vecdot(matrix, query), "step": lambda: score_step(held, query)}, 15)
    ratio = found["step"] / found["bare"]
    with capsys.disabled():
        print(
            f"\nscore step at {count:,} x {dim}: {found['step']:.2f} ms, bare product {found['bare']:.2f} ms, ratio {ratio:.2f} (bar {bar})"
        )
    assert ratio <= bar * 1.5, "far above the bar even for a busy machine"
