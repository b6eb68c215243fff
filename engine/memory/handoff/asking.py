"""A slice of candidates put to a model, in one call or in two, and its reply checked."""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple, Protocol

from engine.errors import BadOutputError
from engine.llm.protocol import LanguageModel, ModelRequest
from engine.llm.structured import ask
from engine.memory.closing import choose_reply, handoff_reply, tell_reply
from engine.memory.handoff.selection import Brief, Selection, select, source_of
from engine.memory.handoff.slicing import Slice
from engine.mind.aliases import own_words, vocabulary
from engine.prompts.halves import group_handle, most_groups, tell_prompt
from engine.prompts.handoff import people_of
from engine.records.clean import clean
from engine.records.limits import Closed
from engine.records.memory import BufferEntry
from engine.records.prompts import Prompt
from engine.records.wire import Choice, HandoffChunk, HandoffReply, Telling, TellReply
from engine.records.world import World

_STRIDE: Final = 1_000_003
"""From the seed of one attempt to that of the next: odd, and larger than the seeds that people choose."""


class Log(Protocol):
    """What is kept of calls, as far as they went."""

    prompt: str
    reply: str
    model: str
    template: str


async def selected(world: World, piece: Slice, model: LanguageModel, log: Log, number: int) -> Selection:
    """What the model keeps of a slice, checked; `number` says how often it was asked before. A small model is asked twice.

    Raises `ModelError`, and `HandoffError` when nothing of the reply can be used.
    """
    log.prompt, log.template, log.reply = piece.prompt.text, piece.prompt.template, ""
    if model.small:
        return await _in_two(world, piece, model, log, number)
    closed = handoff_reply(piece.candidates, piece.handles, model.count_tokens, piece.prompt.report.reserved)
    reply, completion = await ask(model, _request(world, piece.prompt, closed, number), closed.shape)
    log.reply, log.model = clean(completion.text), completion.model
    return select(reply, _brief(world, piece, [piece.prompt]))


async def _in_two(world: World, piece: Slice, model: LanguageModel, log: Log, number: int) -> Selection:
    """First which moments, then what they tell. What the first call chose and the second did not tell stays undecided."""
    closed = choose_reply(piece.candidates, piece.handles, model.count_tokens, piece.prompt.report.reserved)
    chosen, completion = await ask(model, _request(world, piece.prompt, closed, number), closed.shape)
    log.reply, log.model = clean(completion.text), completion.model
    groups, notes = _groups(chosen.groups, piece)
    told = [group for group in groups if group.entries][: most_groups(len(piece.candidates))]
    if not told:
        return select(_joined(groups, []), _brief(world, piece, [piece.prompt]))
    entries = [group.entries for group in told]
    prompt = tell_prompt(
        world, piece.prompt.entity, entries, piece.handles, world.now, count_tokens=model.count_tokens,
        context_window=model.context_window,
    )  # fmt: skip
    log.prompt, log.template = f"{log.prompt}\n\n{prompt.text}", f"{log.template}+{prompt.template}"
    people = people_of(prompt.entity, [entry for group in entries for entry in group])
    telling = tell_reply(entries, map(piece.handles.of, people), model.count_tokens, prompt.report.reserved)
    try:
        reply, completion = await ask(model, _request(world, prompt, telling, number), telling.shape)
    except BadOutputError as error:
        error.reply = f"{log.reply}\n\n{error.reply}"
        raise
    log.reply, log.model = f"{log.reply}\n\n{clean(completion.text)}", completion.model
    selection = select(_joined(groups, _in_order(reply, len(told))), _brief(world, piece, [piece.prompt, prompt]))
    return selection._replace(notes=(*notes, *selection.notes))


class _Group(NamedTuple):
    """Moments that a small model chose together."""

    choice: Choice
    entries: tuple[BufferEntry, ...]
    """Those that no group before it has; none when it cites nothing that is there."""
    handles: tuple[str, ...]
    """What it cites, without what groups before it have."""


def _groups(chosen: Sequence[Choice], piece: Slice) -> tuple[list[_Group], list[str]]:
    """The groups of a reply, each moment in the first that has it, and which were left out: those of moments that others have."""
    found: list[_Group] = []
    notes: list[str] = []
    taken: set[str | None] = set()
    for number, choice in enumerate(chosen, 1):
        cited = [(handle, source_of(handle, piece.handles)) for handle in choice.sourceEntryIds]
        own = {source for _, source in cited} - taken
        entries = tuple(entry for entry in piece.candidates if entry.id in own)
        handles = tuple(handle for handle, source in cited if source not in taken)
        taken.update(entry.id for entry in entries)
        if handles or not cited:
            found.append(_Group(choice, entries, handles))
        else:
            notes.append(f"group {number} has no moments but those of groups before it")
    return found, notes


def _in_order(told: TellReply, count: int) -> list[Telling | None]:
    """What is told of each group, by its handle; what names none is taken for that of its place."""
    names = {group_handle(number): number - 1 for number in range(1, count + 1)}
    found: list[Telling | None] = [None] * count
    unnamed: list[tuple[int, Telling]] = []
    for place, telling in enumerate(told.told):
        at = names.get(telling.group.strip(" []()").upper())
        if at is None:
            unnamed.append((place, telling))
        elif found[at] is None:
            found[at] = telling
    for place, telling in unnamed:
        if place < count and found[place] is None:
            found[place] = telling
    return found


def _joined(groups: Sequence[_Group], told: Sequence[Telling | None]) -> HandoffReply:
    """Both halves as the one reply that they are checked as. A group of which nothing is told has a blank account."""
    accounts = iter(told)
    chunks = []
    for choice, entries, handles in groups:
        telling = next(accounts, None) if entries else None
        chunks.append(
            HandoffChunk(
                sourceEntryIds=list(handles), importance=choice.importance, retainInBuffer=choice.retainInBuffer,
                involvedEntityIds=telling.involvedEntityIds if telling else [], quotes=telling.quotes if telling else [],
                content=telling.content if telling else "",
            )
        )
    return HandoffReply(chunks=chunks)


def _brief(world: World, piece: Slice, prompts: Sequence[Prompt]) -> Brief:
    """What a reply to these prompts may speak of."""
    owner = piece.prompt.entity
    people = people_of(owner, piece.candidates)
    names = own_words(world, owner) | vocabulary(world, owner, {*people, *world.entities[owner].aliases})
    return Brief(
        owner=owner, candidates=piece.candidates, handles=piece.handles, names=names, known=frozenset(people), world=world,
        template="\n\n".join(prompt.messages[0].content for prompt in prompts),
        heard="\n\n".join(prompt.messages[-1].content for prompt in prompts),
    )


def _request(world: World, prompt: Prompt, closed: Closed[Any], number: int) -> ModelRequest:
    return ModelRequest(
        task="handoff", entity=prompt.entity, round=world.round, seed=world.seed + _STRIDE * number, attempt=number,
        template=prompt.template, messages=prompt.messages, choices=closed.choices, max_tokens=closed.max_tokens,
    )
