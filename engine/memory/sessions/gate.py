"""Whether a session is worth a model call at all: told by rules and cheap embeddings (DESIGN 9, assess).

In the spirit of recurrence-gated memory (RecMem, arXiv:2605.16045): what is touched on once and left again is no knowledge yet; what is
returned to within the session, or goes on with what the agent knows, is. Small talk does not count, however often it comes.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from engine.llm.protocol import Embedder
from engine.memory.embedding import TextVectors, Vectors
from engine.memory.sessions.classify import Telling, telling
from engine.memory.text import bare
from engine.records.sessions import CollapsePolicy, CollapseReason, GateReport, Turn

_RELATED: Final = 0.5
"""Cosine of two sentences on one matter, to a sentence embedder; an embedder without weights sees about half of it."""
_MEANING: Final = 0.6
"""Share that a sentence embedder's cosine deserves in relevance: by it `_RELATED` is scaled."""
_SUSTAINED: Final = 4
"""Turns that must be borne out before their likeness counts in full."""


async def assess(
    embedder: Embedder, policy: CollapsePolicy, turns: Sequence[Turn], known: Sequence[Vectors], reason: CollapseReason
) -> GateReport:
    """Whether a model is to be asked what is left of `turns`. `known` are vectors of what the agent knows of what was spoken of.

    A pin asks always; a person's word asks when there is anything to tell. Raises `ModelError` when the embedder fails.
    """
    found = telling(turns)
    pinned = sum(turn.pinned for turn in turns)

    def report(asked: bool, why: str, recurrence: float = 0.0) -> GateReport:
        return GateReport(
            asked=asked, reason=why, turns=len(turns), telling=len(found), pinned=pinned, recurrence=round(recurrence, 3),
            threshold=policy.recurrence_threshold,
        )

    if pinned:
        return report(True, f"{pinned} pinned")
    if policy.require_pin:
        return report(False, "nothing was pinned, and the policy wants a pin")
    if len(turns) < policy.min_turns:
        return report(False, f"{len(turns)} turn{'s' * (len(turns) != 1)}, fewer than {policy.min_turns}")
    if not found:
        return report(False, "small talk: no turn tells anything that lasts")
    recurrence = await recurrence_of(embedder, found, known)
    number = f"{recurrence:.2f}, threshold {policy.recurrence_threshold:g}"
    if recurrence >= policy.recurrence_threshold:
        return report(True, f"it returns to what it is about: {number}", recurrence)
    if reason == "explicit":
        return report(True, f"asked for, and {len(found)} of {len(turns)} turns tell something", recurrence)
    if not policy.skip_llm_if_below_threshold:
        return report(True, f"below the threshold ({number}), but the policy asks all the same", recurrence)
    return report(False, f"nothing in it recurs: {number}", recurrence)


async def recurrence_of(embedder: Embedder, found: Sequence[Telling], known: Sequence[Vectors]) -> float:
    """Sustained similarity, 0 to 1: how far the better half of the telling turns are borne out by another, by what they are about
    together, or by what is known. Raises `ModelError`."""
    vectors = await TextVectors(embedder).of([bare(one.turn.content) for one in found])
    related = _RELATED * min(1.0, embedder.meaning / _MEANING)
    likeness = vectors @ vectors.T
    np.fill_diagonal(likeness, 0.0)
    support = likeness.max(axis=1, initial=0.0)
    if len(found) > 2:  # what all the others are about, taken together
        rest = vectors.sum(axis=0) - vectors
        lengths = np.linalg.norm(rest, axis=1)
        support = np.maximum(support, np.einsum("ij,ij->i", vectors, rest) / np.maximum(lengths, 1e-9))
    if len(known):
        support = np.maximum(support, (vectors @ np.stack(known).T).max(axis=1))
    borne = np.sort(np.clip(support / related, 0.0, 1.0))[::-1]
    half = borne[: max(1, -(-len(borne) // 2))]
    return float(half.mean()) * min(1.0, float((borne >= 0.5).sum()) / _SUSTAINED)
