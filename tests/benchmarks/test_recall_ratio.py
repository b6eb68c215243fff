"""The score step of recall against the bare matrix product of one thread, in one run (DESIGN 17)."""

import os
from collections.abc import Callable
from datetime import datetime, timedelta
from statistics import median
from time import perf_counter

import numpy as np
import pytest

from engine.memory.recall.candidates import thirds
from engine.memory.recall.engine import rank
from engine.memory.recall.vectors import OwnerVectors
from engine.records.policies import RecallPolicy
from engine.storage.ledger import LedgerFacts

DIM = 768
NOW = datetime(1247, 3, 1, 18, 0)
POLICY = RecallPolicy()


def filled(count: int) -> tuple[OwnerVectors, np.ndarray, np.ndarray]:
    """An owner with `count` random memories, the bare matrix of the same vectors, and a query."""
    generator = np.random.default_rng(7)
    matrix = generator.standard_normal((count, DIM), dtype=np.float32)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    held = OwnerVectors(DIM)
    step = 5_000
    for start in range(0, count, step):
        facts = [
            LedgerFacts(f"led-{n + 1:06d}", n + 1, NOW - timedelta(minutes=count - n), 1 + n % 10, f"pl_{n % 7}", (f"en_{n % 40}",))
            for n in range(start, min(count, start + step))
        ]
        held.extend(facts, {fact.id: matrix[fact.seq - 1].tobytes() for fact in facts})
    return held, matrix, matrix[count // 3].copy()


def score_step(held: OwnerVectors, query: np.ndarray) -> list[int]:
    """Everything between the two reads of the save: nearest by meaning, the pool in thirds, the formula, the order."""
    words = {row: 1.0 + row % 5 for row in range(0, POLICY.pool * 7, 7)}
    meaning = held.nearest(query, POLICY.pool)
    pool = thirds(range(POLICY.pool), list(words), meaning, held.newest(POLICY.pool), POLICY.pool)
    return rank(held, pool, words, query, ("en_3", "en_5"), NOW, 0.6, POLICY).rows


def interleaved(jobs: dict[str, Callable[[], object]], repeats: int) -> dict[str, float]:
    """Median milliseconds of each job, run in turns so that a busy machine hits all alike."""
    times: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(repeats):
        for name, job in jobs.items():
            started = perf_counter()
            job()
            times[name].append((perf_counter() - started) * 1000)
    return {name: median(values) for name, values in times.items()}


@pytest.mark.benchmark
@pytest.mark.parametrize(("count", "bar"), [(10_000, 3.0), (100_000, 1.25)])
def test_score_step_against_the_bare_product(count: int, bar: float, capsys: pytest.CaptureFixture[str]) -> None:
    held, matrix, query = filled(count)
    assert score_step(held, query)[0] == count // 3
    found = interleaved(
        {"bare": lambda: np.vecdot(matrix, query), "threads": lambda: matrix @ query, "step": lambda: score_step(held, query)}, 15
    )
    ratio = found["step"] / found["bare"]
    threads = os.environ.get("OPENBLAS_NUM_THREADS", "default")
    with capsys.disabled():
        print(
            f"\nrecall score step at {count:,}: {found['step']:.2f} ms, bare product {found['bare']:.2f} ms, ratio {ratio:.2f} (bar {bar})"
            f"; X @ q with {threads} BLAS threads {found['threads']:.2f} ms"
        )
    assert ratio <= bar * 1.5, "far above the bar even for a busy machine"
