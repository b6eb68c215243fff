"""Looking into what people know from the command line: lists, a piece, its past, the audit trail, the queue, questions."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from engine.records.knowledge import AuditAction, Cause, KnowledgeKind, Scope, Term, Tier
from tui.cli_games import WHO, Json, PieceKey, SavePath, Viewer, called_or_none, printed, said
from tui.cli_memory import entity_called
from tui.text import plain

if TYPE_CHECKING:
    from engine.game import Game

_ENOUGH = 500
"""Pieces that are read at once."""


def _of(words: object) -> str:
    return ", ".join(get_args(words))


def _chosen(given: list[str] | None, words: object, option: str) -> tuple[Any, ...]:
    """Words that were given, each one of some."""
    for word in given or ():
        if word not in get_args(words):
            raise typer.BadParameter(f"`{word[:60]}` is none of {_of(words)}.", param_hint=option)
    return tuple(given or ())


def list_(
    save: SavePath,
    of: Annotated[str | None, typer.Option("--of", help=f"Who came to know it first: {WHO}.")] = None,
    known_by: Annotated[str | None, typer.Option(help=f"Who knows it now, by whatever scope: {WHO}.")] = None,
    about: Annotated[str | None, typer.Option(help=f"Whom or what it is about: {WHO}.")] = None,
    scope: Annotated[Scope | None, typer.Option(help="Who holds it.")] = None,
    faction: Annotated[str | None, typer.Option(help="The faction that holds it.")] = None,
    kind: Annotated[KnowledgeKind | None, typer.Option(help="What it is.")] = None,
    term: Annotated[Term | None, typer.Option(help="`short` until promotion has looked at it.")] = None,
    tier: Annotated[list[str] | None, typer.Option(help=f"How near it is kept: {_of(Tier)}. May be given several times.")] = None,
    ended: Annotated[bool, typer.Option("--ended", help="What holds no longer, instead.")] = False,
    find: Annotated[str, typer.Option(help="Words that stand in it.")] = "",
    after: Annotated[int, typer.Option(min=0, help="Go on behind this number.")] = 0,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many.")] = 50,
    viewer: Viewer = None,
    as_json: Json = False,
) -> None:
    """List what is known, in order of writing."""
    if known_by is not None and (of or scope or faction or kind or ended or after):
        raise typer.BadParameter("it goes with --about, --term, --tier and --find only.", param_hint="--known-by")
    if faction is not None and scope not in (None, "faction"):
        raise typer.BadParameter("it goes with --scope faction only.", param_hint="--faction")

    kept = _chosen(tier, Tier, "--tier")

    async def look(game: "Game") -> None:
        from engine.knowledge_views import speaks_of
        from engine.replies import Pieces
        from tui.knowledge_lines import list_told, nothing_known

        desk, who, subject = game.knowledge, called_or_none(game, viewer), called_or_none(game, about)
        more = None
        if known_by is not None:
            mind = entity_called(game, known_by)
            tiers = {"tiers": kept} if kept else {}
            page = list(await desk.known_by(mind, subject=subject, term=term, text=find, viewer=who, **tiers))
        else:
            page, at, ahead = [], after, _ENOUGH if find else limit + 1
            while len(page) <= limit:
                lines = await desk.list(
                    owner=called_or_none(game, of), scope="faction" if faction else scope, scope_id=faction, tiers=kept,
                    subject=subject, term=term, kind=kind, holding=not ended, after=at, limit=ahead, viewer=who,
                )
                page += [line for line in lines if speaks_of(line, find)]
                if len(lines) < ahead:
                    break
                at = lines[-1].row.seq
            more = page[limit - 1].row.seq if len(page) > limit else None
            page = page[:limit]
        if as_json:
            printed(Pieces(knowledge=tuple(page), next=more))
            return
        filtered = of or known_by or about or scope or faction or kind or term or kept or ended or find or after
        nothing = "Nothing is known that fits." if filtered else nothing_known(game.policies.sessions.pairs)
        typer.echo("\n".join(list_told(page)) or plain(nothing))
        if more is not None:
            said(f"There is more: --after {more}")

    _look(save, look)


def show(save: SavePath, piece: PieceKey, viewer: Viewer = None, as_json: Json = False) -> None:
    """Show a piece and who knows it."""

    async def look(game: "Game") -> None:
        from tui.knowledge_lines import piece_told

        line = await game.knowledge.get(piece, called_or_none(game, viewer))
        if as_json:
            printed(line)
        else:
            who = called_or_none(game, viewer)
            knowers = [game.name(entity, who) for entity in await game.knowledge.who_knows(piece)]
            typer.echo("\n".join(piece_told(line, knowers, await game.knowledge.sources(piece, who))))

    _look(save, look)


def history(save: SavePath, piece: PieceKey, viewer: Viewer = None, as_json: Json = False) -> None:
    """Show how a piece came to be what it is: its wordings and what was done to it. Also of one that is no more."""

    async def look(game: "Game") -> None:
        from tui.knowledge_lines import past_told

        past = await game.knowledge.history(piece, called_or_none(game, viewer))
        if as_json:
            printed(past)
        else:
            typer.echo("\n".join(past_told(piece, past)))

    _look(save, look)


def audit(
    save: SavePath,
    of: Annotated[str | None, typer.Option("--of", help=f"Whose: {WHO}.")] = None,
    piece: Annotated[str | None, typer.Option(help="Of a piece: kno-000001.")] = None,
    session: Annotated[str | None, typer.Option(help="Of a session: ses-000001.")] = None,
    run: Annotated[str | None, typer.Option(help="Of a collapse or a promotion: col-000001, pro-000001.")] = None,
    action: Annotated[list[str] | None, typer.Option(help=f"What was done: {_of(AuditAction)}. May be given several times.")] = None,
    cause: Annotated[list[str] | None, typer.Option(help=f"By what: {_of(Cause)}. May be given several times.")] = None,
    first: Annotated[int | None, typer.Option("--from-round", min=0, help="From this round on.")] = None,
    last: Annotated[int | None, typer.Option("--to-round", min=0, help="Up to this round.")] = None,
    before: Annotated[int | None, typer.Option(min=0, help="Go on behind this number.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many rows.")] = 50,
    viewer: Viewer = None,
    as_json: Json = False,
) -> None:
    """Show what was done to sessions and knowledge, by what, and why; the newest first."""

    actions, causes = _chosen(action, AuditAction, "--action"), _chosen(cause, Cause, "--cause")

    async def look(game: "Game") -> None:
        from engine.replies import Trail
        from tui.knowledge_lines import audit_told

        found = await game.knowledge.audit(
            owner=called_or_none(game, of), knowledge=piece, session=session, run=run, actions=actions, causes=causes,
            first_round=first, last_round=last, before=before, limit=limit + 1, viewer=called_or_none(game, viewer),
        )
        page = found[:limit]
        more = page[-1].row.seq if len(found) > limit else None
        if as_json:
            printed(Trail(audit=tuple(page), next=more))
            return
        typer.echo("\n".join(audit_told(page)) or "Nothing was done that fits.")
        if more is not None:
            said(f"There is more: --before {more}")

    _look(save, look)


def queue(save: SavePath, viewer: Viewer = None, as_json: Json = False) -> None:
    """Show what waits for your word: why, and who would come to know it."""

    async def look(game: "Game") -> None:
        from engine.replies import Waiting
        from tui.knowledge_lines import queue_told

        found = await game.knowledge.queue(called_or_none(game, viewer))
        if as_json:
            printed(Waiting(waiting=tuple(found)))
        else:
            typer.echo("\n".join(queue_told(found)) or "Nothing waits for your word.")

    _look(save, look)


def ask(
    save: SavePath,
    question: Annotated[str, typer.Argument(help='"What did Mira believe about Gareth at round 12?" or "Who knows about the boat?"')],
    viewer: Viewer = None,
    as_json: Json = False,
) -> None:
    """Ask what somebody believed, about whom or what, at which round, or who knows of something; now when no round is named."""

    async def look(game: "Game") -> None:
        from engine.replies import Answered
        from tui.knowledge_lines import beliefs_told

        desk, who = game.knowledge, called_or_none(game, viewer)
        asked = desk.question(question, who)
        found = await desk.answer(asked, who)
        if as_json:
            printed(Answered(question=asked, beliefs=tuple(found)))
        else:
            typer.echo("\n".join(beliefs_told(game.name(asked.entity, who) if asked.entity else "", asked.round, found)))

    _look(save, look)


def _look(save: Path, look: Callable[["Game"], Awaitable[None]]) -> None:
    async def run() -> None:
        from engine.past import looking_into

        async with looking_into(save) as (game, _):
            await look(game)

    asyncio.run(run())
