"""Changes to what people know, from the command line: review, scopes, edits by hand, promotion."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from engine.records.knowledge import KnowledgeKind, Scope
from tui.cli_games import WHO, Json, PieceKey, SavePath, Yes, agreed, called_or_none, changing, printed, said, words_of
from tui.cli_memory import entity_called

if TYPE_CHECKING:
    from engine.game import Game
    from engine.records.knowledge import Knowledge

Item = Annotated[str, typer.Argument(metavar="ITEM", help="What waits: rev-000001, or the piece, kno-000001.")]

_NOTHING_TO_PROMOTE = "No short-term piece is sure and old enough to be looked at; what was written by hand is long-term already."


def approve(save: SavePath, item: Item, yes: Yes = False, as_json: Json = False) -> None:
    """Let what waits become what it would have. Says first who will come to know it."""

    async def act(game: "Game") -> "Knowledge":
        waits = next((one for one in await game.knowledge.queue() if item in (one.item.id, one.item.knowledge_id)), None)
        if waits is not None:
            agreed(f"{waits.line.text} {waits.change.told}", yes or not waits.change.learn)
        return await game.knowledge.approve(item)

    _change(save, act, as_json)


def reject(save: SavePath, item: Item, as_json: Json = False) -> None:
    """Let what waits go: it is believed no longer. `restore` brings it back."""
    _change(save, lambda game: game.knowledge.reject(item), as_json)


def rescope(
    save: SavePath,
    piece: PieceKey,
    scope: Annotated[Scope, typer.Argument(help="Who is to hold it.")],
    whose: Annotated[str, typer.Argument(metavar="WHOSE", help=f"Of `entity`: {WHO}. Of `faction`: its name.")] = "",
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Widen or narrow who holds a piece. Says first who will come to know it."""

    async def act(game: "Game") -> "Knowledge":
        desk, holder = game.knowledge, _holder(game, scope, whose)
        change = await desk.who_would_know(piece, scope, holder)
        line = await desk.get(piece)
        gone = [game.name(entity) for entity in change.forget if entity not in change.learn]
        narrower = f" It would be no more to: {', '.join(gone)}." if gone and not change.learn else ""
        agreed(f"{line.text} {change.told}{narrower}", yes or not change.learn)
        return await desk.rescope(piece, scope, holder)

    _change(save, act, as_json)


def add(
    save: SavePath,
    who: Annotated[str, typer.Argument(metavar="WHO", help=f"Who is to know it: {WHO}.")],
    text: Annotated[str, typer.Argument(metavar="WORDS", help="What, in the third person; people by name, as WHO calls them, or @id.")],
    scope: Annotated[Scope, typer.Option(help="Who holds it.")] = "entity",
    whose: Annotated[str, typer.Option(help="The faction, with --scope faction.")] = "",
    kind: Annotated[KnowledgeKind, typer.Option(help="What it is.")] = "fact",
    about: Annotated[str | None, typer.Option(help=f"Whom or what it is about: {WHO}; the first who is named when left out.")] = None,
    topic: Annotated[str, typer.Option(help="Words that name what it is about: a later piece of one topic ends the earlier.")] = "",
    why: Annotated[str, typer.Option(help="Why: the reason of a decision, the occasion of a strategy.")] = "",
    confidence: Annotated[float, typer.Option(min=0, max=1, help="How sure it is.")] = 1.0,
    importance: Annotated[int, typer.Option(min=1, max=10, help="How much it weighs.")] = 5,
    sensitive: Annotated[bool, typer.Option("--sensitive", help="Not to be told on without your word.")] = False,
    pin: Annotated[bool, typer.Option("--pin", help="It never sinks.")] = False,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Let somebody know something, in your words. What it contradicts ends. With a wider scope it says first who will come to know it."""

    async def act(game: "Game") -> "Knowledge":
        from engine.memory.knowledge.scopes import members

        owner = entity_called(game, who)
        holder = _holder(game, scope, whose or (owner if scope == "entity" else ""))
        others = [game.name(entity) for entity in members(game.world, (scope, holder)) if entity != owner]
        if others:
            agreed(f"{' and '.join([', '.join(others[:-1]), others[-1]] if others[1:] else others)} would come to know it, too.", yes)
        return await game.knowledge.add(
            owner, words_of(text), scope=scope, scope_id=holder, kind=kind, subject=called_or_none(game, about), topic=topic, rationale=why,
            confidence=confidence, importance=importance, sensitive=sensitive, pinned=pin,
        )

    _change(save, act, as_json)


def edit(
    save: SavePath,
    piece: PieceKey,
    words: Annotated[str | None, typer.Argument(metavar="[WORDS]", help="What it is to say; left out, it says what it says.")] = None,
    text: Annotated[str | None, typer.Option(help="The same.")] = None,
    why: Annotated[str | None, typer.Option(help="Why.")] = None,
    about: Annotated[str | None, typer.Option(help=f"Whom or what it is about: {WHO}; blank for no one.")] = None,
    topic: Annotated[str | None, typer.Option(help="Words that name what it is about.")] = None,
    confidence: Annotated[float | None, typer.Option(min=0, max=1, help="How sure it is.")] = None,
    importance: Annotated[int | None, typer.Option(min=1, max=10, help="How much it weighs.")] = None,
    sensitive: Annotated[bool | None, typer.Option("--sensitive/--plain", help="Whether it is told on by your word only.")] = None,
    pin: Annotated[bool | None, typer.Option("--pin/--unpin", help="Whether it never sinks.")] = None,
    as_json: Json = False,
) -> None:
    """Change a piece. Earlier wordings stay readable."""

    if words is not None and text is not None:
        raise typer.BadParameter("give the words once.", param_hint="--text")
    text = words if text is None else text

    async def act(game: "Game") -> "Knowledge":
        from engine.knowledge_desk import KnowledgeEdit

        subject = "" if about is not None and not about.strip() else called_or_none(game, about)
        sensitivity: Literal["sensitive", "plain"] | None = None if sensitive is None else "sensitive" if sensitive else "plain"
        change = KnowledgeEdit(
            content=None if text is None else words_of(text), rationale=why, subject_id=subject, topic_key=topic, confidence=confidence,
            importance=importance, sensitivity=sensitivity, pinned=pin,
        )
        if change == KnowledgeEdit():
            raise typer.BadParameter("say what is to change: WORDS, --why, --about and so on.")
        return await game.knowledge.edit(piece, change)

    _change(save, act, as_json)


def delete(save: SavePath, piece: PieceKey) -> None:
    """Take a piece away. `restore` brings it back."""

    async def act() -> None:
        async with changing(save) as game:
            await game.knowledge.delete(piece)
            said(f"{piece} is deleted; `otherminds knowledge restore` brings it back.")

    asyncio.run(act())


def restore(
    save: SavePath,
    piece: PieceKey,
    version: Annotated[int | None, typer.Option(min=1, help="Put it as it read then, too.")] = None,
    as_json: Json = False,
) -> None:
    """Bring back a piece that was deleted, that has ended, or that has sunk."""
    _change(save, lambda game: game.knowledge.restore(piece, version), as_json)


def promote(save: SavePath, as_json: Json = False) -> None:
    """Promote what is sure and old enough now, whenever the last promotion was. May ask a model. Exit code 1 when that failed."""

    async def act() -> bool:
        from tui.knowledge_lines import promotion_told

        async with changing(save) as game:
            await game.models.ready()
            run = await game.knowledge.promote_now()
            if as_json:
                typer.echo("null" if run is None else run.model_dump_json(indent=2))
            else:
                typer.echo("\n".join(promotion_told(run)) if run is not None else _NOTHING_TO_PROMOTE)
            return run is None or not run.error

    if not asyncio.run(act()):
        raise typer.Exit(1)


def _change(save: Path, act: Callable[["Game"], Awaitable["Knowledge"]], as_json: bool) -> None:
    """Change a piece and show it as it is then."""

    async def run() -> None:
        from tui.knowledge_lines import list_told

        async with changing(save) as game:
            row = await act(game)
            line = await game.knowledge.get(row.id)
            if as_json:
                printed(line)
            else:
                typer.echo("\n".join(list_told([line])))

    asyncio.run(run())


def _holder(game: "Game", scope: Scope, whose: str) -> str:
    if scope == "world":
        if whose:
            raise typer.BadParameter("what everybody holds is nobody's.", param_hint="WHOSE")
        return ""
    if not whose.strip():
        raise typer.BadParameter("say whose: somebody, or a faction.", param_hint="WHOSE")
    return entity_called(game, whose) if scope == "entity" else whose
