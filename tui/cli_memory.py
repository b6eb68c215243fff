"""Commands that look into minds: what would come to mind, and what stands in a ledger twice. Only `embed` changes the save."""

import asyncio
import difflib
import json
import sys
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from engine.errors import CommandError, OthermindsError
from engine.records.base import EntityId, LedgerId, Record

if TYPE_CHECKING:
    from engine.events import EngineEvent
    from engine.game import Game, LedgerLine
    from engine.records.prompts import Candidate, Receipt

SavePath = Annotated[Path, typer.Argument(help="A save.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")]
_PARTS = {
    "cosine": "meaning", "words": "words", "involved": "people", "smoothed": "neighbours", "recency": "recency", "importance": "importance",
}
"""Parts of a score, and what people call them."""
_FOUND = {
    "place": "it happened here", "people": "those in focus", "grave": "its importance", "words": "its words", "meaning": "its meaning",
    "newest": "it is recent", "chain": "it stands next to one of the best",
}


def recall(
    save: SavePath,
    entity: Annotated[str, typer.Option("--as", help="Whose memory: an id, or a name.")],
    query: Annotated[str | None, typer.Option(help="What to ask it; the scene as the character lives it when left out.")] = None,
    at_round: Annotated[int | None, typer.Option(help="As its mind was at the end of this round.")] = None,
    as_json: Json = False,
) -> None:
    """Show what would come to somebody's mind, and how each memory was found and weighed. Changes nothing."""
    found = asyncio.run(_recall(save, entity, query, at_round))
    typer.echo(found.model_dump_json(indent=2) if as_json else "\n".join(_told(found)))


def audit(
    save: SavePath,
    entity: Annotated[str | None, typer.Option("--as", help="Only this mind: an id, or a name.")] = None,
    as_json: Json = False,
) -> None:
    """List memories that stand in a ledger twice, or nearly so. Exit code 0 also when there are some."""
    found = asyncio.run(_audit(save, entity))
    if as_json:
        rows = [pair.model_dump(mode="json") for pair in found]
        typer.echo(json.dumps({"near_duplicates": rows}, indent=2, ensure_ascii=False))
        return
    for pair in found:
        typer.echo(f"{pair.name}, {pair.cosine:.3f}: {pair.why}")
        typer.echo(f"  {pair.first}  {pair.first_text}\n  {pair.second}  {pair.second_text}")
    typer.echo(f"{len(found)} near-duplicate {'pair' if len(found) == 1 else 'pairs'}." if found else "No near-duplicates.")


def embed(save: SavePath) -> None:
    """Give every memory of a save a vector of the embedder that is set now. Can be broken off and taken up again."""
    typer.echo(asyncio.run(_embed(save)))


class Recalled(Record):
    """One candidate of a recall with everything that decided on it."""

    id: LedgerId
    rank: int
    chosen: bool
    reason: str
    """Why it went in or just missed; empty for those further back."""
    score: float
    parts: dict[str, float]
    """What the score is the sum of."""
    found_by: tuple[str, ...]
    tokens: int
    """0 for those further back."""
    text: str
    quotes: tuple[str, ...]
    when: str
    timestamp: datetime
    place: str | None
    involved: tuple[EntityId, ...]
    importance: int
    mode: str


class Known(Record):
    """One line of knowledge that was offered to the prompt."""

    id: str
    chosen: bool
    reason: str
    tokens: int
    text: str


class Answer(Record):
    """All of a recall, for people and for scripts."""

    entity: EntityId
    name: str
    round: int
    now: datetime
    embedder: str
    query: str
    focus: tuple[EntityId, ...]
    problems: tuple[str, ...]
    chosen: tuple[Recalled, ...]
    missed: tuple[Recalled, ...]
    knowledge: tuple[Known, ...]
    candidates: tuple[Recalled, ...]
    """All that were looked at closely, best first."""


class Pair(Record):
    """Two memories of one owner that tell nearly the same."""

    owner: EntityId
    name: str
    cosine: float
    why: str
    """Why they were kept apart."""
    first: LedgerId
    second: LedgerId
    first_text: str
    second_text: str


async def _recall(save: Path, who: str, query: str | None, at_round: int | None) -> Answer:
    from engine.past import looking_into

    if query is not None and not query.strip():
        raise CommandError("The query is blank.", "Leave --query out to ask with the scene itself.")
    async with looking_into(save, at_round) as (game, unknown):
        entity = entity_called(game, who)
        found = await game.memory.recall(entity, query)
        lines = await game.memory.lines([candidate.source for candidate in found.candidates])
        receipts = {receipt.source: receipt for receipt in found.receipts}
        shown = tuple(_recalled(one, lines[one.source], receipts.get(one.source)) for one in found.candidates if one.source in lines)
        return Answer(
            entity=entity, name=game.name(entity), round=game.world.round, now=game.world.now, embedder=game.embedder_name,
            query=found.query, focus=found.focus, problems=(*unknown, *found.problems), chosen=tuple(one for one in shown if one.chosen),
            missed=tuple(one for one in shown if one.reason and not one.chosen),
            knowledge=tuple(
                Known(id=one.source, chosen=one.chosen, reason=one.reason, tokens=one.tokens, text=one.text)
                for one in found.receipts if one.tier == "knowledge"
            ),
            candidates=shown,
        )


def _recalled(candidate: "Candidate", line: "LedgerLine", receipt: "Receipt | None") -> Recalled:
    entry = line.entry
    return Recalled(
        id=entry.id, rank=candidate.rank, chosen=candidate.chosen, reason=receipt.reason if receipt else "",
        score=round(candidate.score, 6), parts={part: round(float(getattr(candidate, part)), 6) for part in _PARTS},
        found_by=candidate.found_by, tokens=receipt.tokens if receipt else 0, text=line.text, quotes=entry.quotes, when=line.when,
        timestamp=entry.timestamp, place=entry.location_id, involved=entry.involved_entity_ids, importance=entry.importance,
        mode=entry.mode,
    )


def _told(found: Answer) -> Iterator[str]:
    """A recall for people."""
    yield f"{found.name} in round {found.round}, asked: {found.query or '(nothing has happened yet)'}"
    yield from (f"! {problem}" for problem in found.problems)
    for title, rows in (("Comes to mind", found.chosen), ("Just missed", found.missed)):
        yield ""
        yield f"{title}:" if rows else f"{title}: nothing."
        for row in rows:
            parts = "  ".join(f"{name} {row.parts[key]:.2f}" for key, name in _PARTS.items() if abs(row.parts[key]) >= 0.005)
            yield f"{row.rank or '·':>4}  {f'{row.score:.3f}' if row.rank else '     '}  {row.when}: {row.text}"
            yield from (f'             "{quote}"' for quote in row.quotes)
            yield f"             {parts}{'  ' if parts else ''}(found by: {', '.join(_FOUND[leg] for leg in row.found_by)}; {row.reason})"
    if found.knowledge:
        yield ""
        yield "Knows:"
        yield from (f"  {'+' if one.chosen else '-'} {one.text}  ({one.reason})" for one in found.knowledge)
    yield ""
    yield f"{len(found.candidates)} memories were looked at closely; --json lists them all."


async def _audit(save: Path, who: str | None) -> list[Pair]:
    from engine.past import looking_into

    async with looking_into(save) as (game, _):
        owners = [entity_called(game, who)] if who else [agent.id for agent in game.world.agents()]
        found: list[Pair] = []
        for owner in owners:
            pairs = await game.memory.near_duplicates(owner)
            lines = await game.memory.lines([key for pair in pairs for key in (pair.first, pair.second)])
            found += [
                Pair(
                    owner=owner, name=game.name(owner), cosine=round(pair.cosine, 4), why=pair.why, first=pair.first, second=pair.second,
                    first_text=lines[pair.first].text, second_text=lines[pair.second].text,
                )
                for pair in pairs
            ]
        return found


async def _embed(save: Path) -> str:
    from engine.events import Embedding, Trouble
    from engine.game import Game

    trouble: list[str] = []

    def tell(event: "EngineEvent") -> None:
        if isinstance(event, Embedding) and sys.stderr.isatty():
            sys.stderr.write(f"\r{event.done} of {event.total}")
        elif isinstance(event, Trouble):
            trouble.append(event.text)

    game = await Game.open(save, listener=tell)
    try:
        done = await game.embedded()
        name = game.embedder_name
    finally:
        await game.close()
    if sys.stderr.isatty():
        sys.stderr.write("\n")
    if trouble:
        raise OthermindsError(trouble[0])
    return f"{done} memories embedded by {name}." if done else f"All memories have a vector by {name} already."


def entity_called(game: "Game", who: str) -> str:
    """The id of an entity given by id, by name, or by what strangers call it. Raises `CommandError` with names that are near."""
    from engine.mind.aliases import label_of

    entities, wanted = game.world.entities, who.strip().casefold()
    if who in entities:
        return who
    called = {
        entity: {name.casefold() for name in (game.name(entity), *game.name(entity).split(), label_of(one))}
        for entity, one in entities.items()
    }
    found = [entity for entity, names in called.items() if wanted in names]
    minds = [entity for entity in found if entities[entity].agent]
    if len(found) == 1 or len(minds) == 1:
        return (minds or found)[0]
    if found:
        raise CommandError(f'"{who}" could be {_either(game, found)}.', "Use the id.")
    spelled = {text: agent.id for agent in game.world.agents() for text in (agent.id, *called[agent.id])}
    near = dict.fromkeys(spelled[text] for text in difflib.get_close_matches(wanted, spelled, n=6, cutoff=0.6))
    if near:
        raise CommandError(f'Nobody is called "{who}" here.', f"Did you mean {_either(game, list(near)[:3])}?")
    raise CommandError(f'Nobody is called "{who}" here.', f"There are {', '.join(agent.id for agent in game.world.agents()[:12])}.")


def _either(game: "Game", found: Sequence[str]) -> str:
    return " or ".join(f"{game.name(entity)} ({entity})" for entity in found)
