"""Chance without a random source: numbers that follow from what is asked, the same in every process."""

import hashlib
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


def number(*parts: object) -> int:
    """A 64-bit number that follows from the parts alone."""
    text = "\x1f".join(str(part) for part in parts)
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def share(*parts: object) -> float:
    """A number from 0 up to 1 that follows from the parts."""
    return number(*parts) / 2**64


def pick(choices: Sequence[T], *parts: object) -> T:
    """One of the choices, by the parts."""
    return choices[number(*parts) % len(choices)]
