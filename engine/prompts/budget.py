"""Filling a budget with whole pieces, by rank."""

from collections.abc import Callable, Sequence
from typing import TypeVar

_Piece = TypeVar("_Piece")


def fit(ranked: Sequence[_Piece], cost: Callable[[_Piece], int], budget: int) -> tuple[list[_Piece], list[_Piece], int]:
    """The leading pieces that fit into `budget` tokens, those that do not, and the tokens used.

    Stops at the first piece that does not fit, so that a lesser piece never takes the place of a better one.
    """
    used = 0
    for index, piece in enumerate(ranked):
        price = cost(piece)
        if used + price > budget:
            return list(ranked[:index]), list(ranked[index:]), used
        used += price
    return list(ranked), [], used
