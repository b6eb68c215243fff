"""Tiers of memory asked side by side, each with a patience of its own: one that fails or is slow costs content, never the turn."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from engine.errors import OthermindsError

A = TypeVar("A")
B = TypeVar("B")


async def within(patience: float | None, asked: Awaitable[A], missing: str) -> tuple[A | None, tuple[str, ...]]:
    """What `asked` gives, or None and what is missing and why: it raised an `OthermindsError`, or took more than `patience` seconds,
    if there is a bound.

    Anything else that it raises is a fault of ours, and is raised.
    """
    try:
        async with asyncio.timeout(patience):
            return await asked, ()
    except TimeoutError:
        return None, (f"{missing}: there was no answer within {patience:g} seconds.",)
    except OthermindsError as error:
        return None, (f"{missing}: {error}",)


async def side_by_side(first: Awaitable[A], second: Awaitable[B]) -> tuple[A, B]:
    """Both results. When one raises or the caller is cancelled, neither goes on."""
    tasks = asyncio.ensure_future(first), asyncio.ensure_future(second)
    try:
        return await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise
