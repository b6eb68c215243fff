"""A pool of candidates cut to what the handoff model can read and answer in one call, or a small one in each of two."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from engine.errors import HandoffError
from engine.llm.protocol import LanguageModel
from engine.memory.handoff.watermark import is_new
from engine.mind.handles import Handles
from engine.prompts.halves import choose_prompt, most_groups, tell_prompt
from engine.prompts.handoff import build
from engine.records.base import EntityId
from engine.records.memory import BufferEntry
from engine.records.prompts import Prompt
from engine.records.world import World


class Slice(NamedTuple):
    """What one handoff is about."""

    candidates: tuple[BufferEntry, ...]
    prompt: Prompt
    """Of the call, or of the first of two."""
    handles: Handles
    whole: bool
    """Whether this is the whole pool."""


def first_slice(world: World, owner: EntityId, candidates: Sequence[BufferEntry], model: LanguageModel) -> Slice:
    """The longest run of the oldest candidates whose prompts and replies fit the model's window. Pure.

    Each slice is a commit of its own; the rest stays in the buffer for the next call. Raises `HandoffError` when not even
    one new candidate fits.
    """
    whole = _slice(world, owner, candidates, model, whole=True)
    if _fits(world, whole, model):
        return whole
    low, high = 0, len(candidates)  # `low` candidates fit, `high` do not
    best: Slice | None = None
    while high - low > 1:
        middle = (low + high) // 2
        tried = _slice(world, owner, candidates[:middle], model, whole=False)
        if _fits(world, tried, model):
            low, best = middle, tried
        else:
            high = middle
    if best is not None and any(is_new(entry) for entry in best.candidates):
        return best
    fresh = [entry for entry in candidates if is_new(entry)]
    if len(fresh) < len(candidates) and fresh:  # old pins alone fill the window: leave them out of this call
        return first_slice(world, owner, fresh, model)._replace(whole=False)
    raise HandoffError(
        f"A memory is too long for the window of {model.name} ({model.context_window} tokens).",
        "Route the task handoff to a model with a larger window.",
    )


def _slice(world: World, owner: EntityId, candidates: Sequence[BufferEntry], model: LanguageModel, *, whole: bool) -> Slice:
    draft = choose_prompt if model.small else build
    prompt, handles = draft(world, owner, candidates, world.now, count_tokens=model.count_tokens, context_window=model.context_window)
    return Slice(tuple(candidates), prompt, handles, whole)


def _fits(world: World, piece: Slice, model: LanguageModel) -> bool:
    return all(prompt.report.tokens + prompt.report.reserved <= model.context_window for prompt in _prompts(world, piece, model))


def _prompts(world: World, piece: Slice, model: LanguageModel) -> Iterator[Prompt]:
    """What is sent for a slice: for a small model also the longest that its second call may become."""
    yield piece.prompt
    if model.small:
        apart = most_groups(len(piece.candidates)) - 1
        groups = [*((entry,) for entry in piece.candidates[:apart]), piece.candidates[apart:]]
        yield tell_prompt(
            world, piece.prompt.entity, groups, piece.handles, world.now, count_tokens=model.count_tokens,
            context_window=model.context_window,
        )
