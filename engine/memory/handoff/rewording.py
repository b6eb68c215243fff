"""One chunk of a proposal in a person's words, held to what a model's account is held to."""

from collections.abc import Sequence

from engine.errors import CommandError, HandoffError
from engine.memory.hand_words import account
from engine.memory.handoff.content import Ground, checked
from engine.memory.handoff.quotes import verbatim
from engine.memory.handoff.spans import Said, quoted_in
from engine.mind.handles import Handles
from engine.prompts.templates import load
from engine.records.base import EntityId
from engine.records.memory import Chunk
from engine.records.review import ChunkEdit
from engine.records.tokens import referred
from engine.records.world import World


def reworded(world: World, owner: EntityId, chunk: Chunk, edit: ChunkEdit, said: Said) -> Chunk:
    """The chunk with what the edit changes. Pure.

    People may be named as the owner knows them, by true names or by reference tokens; all become tokens. `said` is what was
    said in the moments the chunk is made of: a quote, and what the account puts between quotation marks, must stand there word for
    word, or be what the chunk quotes already. Raises `HandoffError` that says what cannot be kept.
    """
    content = chunk.content if edit.content is None else _content(world, owner, chunk, edit.content, said)
    quotes = chunk.quotes if edit.quotes is None else tuple(dict.fromkeys(_quotes(edit.quotes, chunk.quotes, said.speeches)))
    involved = dict.fromkeys([*chunk.involved_entity_ids, *referred(content)])
    changed = chunk.model_copy(
        update={
            "content": content, "quotes": quotes, "involved_entity_ids": tuple(entity for entity in involved if entity != owner),
            "importance": chunk.importance if edit.importance is None else edit.importance,
            "retain": chunk.retain if edit.retain is None else edit.retain,
        }
    )
    return chunk if changed == chunk else changed.model_copy(update={"by_hand": True})


def _content(world: World, owner: EntityId, chunk: Chunk, text: str, said: Said) -> str:
    """The account with tokens for everybody it names. The prompt's instructions are no account."""
    try:
        words = account(world, owner, text, [*referred(chunk.content), *chunk.involved_entity_ids])
    except CommandError as error:
        raise HandoffError(str(error)) from error
    everybody = world.entities.keys()
    ground = Ground(world, owner, Handles(), {}, everybody, load("handoff", world).parts[0], heard=words)
    found = checked(words, ground, said.also([*chunk.quotes, *quoted_in(chunk.content)]))
    if found.unsaid:
        raise HandoffError(
            f'Nobody said "{_short(found.unsaid[0])}" in the moments this is made of.',
            "Quote word for word, or tell it without quotation marks.",
        )
    if found.fault:
        raise HandoffError(f"This cannot be kept: {found.fault}.", "Tell in the third person and the past tense what happened.")
    return found.text


def _quotes(quotes: Sequence[str], held: Sequence[str], speeches: Sequence[str]) -> list[str]:
    kept = []
    for quote in quotes:
        words = quote if quote in held else verbatim(quote, speeches)
        if words is not None:
            kept.append(words)
        elif quote.strip():
            raise HandoffError(f'Nobody said "{_short(quote)}" in the moments this is made of.', "A quote must be word for word.")
    return kept


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 60 else line[:59] + "\u2026"
