"""`otherminds sessions`: start, add turns, pin, note, collapse, discard, and looking at them (DESIGN 9)."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from pydantic import ValidationError

from engine.errors import ModelError, SessionError
from tui.cli_games import Json, SavePath, Viewer, called_or_none, changing, printed, said, words_of

if TYPE_CHECKING:
    from engine.game import Game
    from engine.records.sessions import CollapsePolicy

sessions = typer.Typer(
    add_completion=False, rich_markup_mode=None, no_args_is_help=True,
    help="What one deals with another about, until it becomes knowledge: start sessions, add turns, pin, take notes, collapse, discard.",
)
SessionKey = Annotated[str, typer.Argument(metavar="SESSION", help="A session: ses-000001.")]
State = Literal["open", "collapsing", "failed", "collapsed", "discarded"]
_POLICY = "A term of its own, over the world's: max_turns=20, mode=explicit. May be given several times."


@sessions.command(name="list")
def list_(
    save: SavePath,
    of: Annotated[str | None, typer.Option("--of", help="Whose sessions: an id, or a name.")] = None,
    state: Annotated[State | None, typer.Option(help="Only those in this state.")] = None,
    find: Annotated[str, typer.Option(help="Words that stand in names, turns, notes or summary.")] = "",
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many.")] = 30,
    before: Annotated[str | None, typer.Option(help="Go on behind this session.")] = None,
    viewer: Viewer = None,
    as_json: Json = False,
) -> None:
    """List sessions, the newest first."""
    asyncio.run(_list(save, of, state, find, limit, before, viewer, as_json))


@sessions.command()
def show(save: SavePath, session: SessionKey, viewer: Viewer = None, as_json: Json = False) -> None:
    """Show a session: its turns, notes, and what its collapses left."""
    asyncio.run(_show(save, session, viewer, as_json))


@sessions.command()
def start(
    save: SavePath,
    agent: Annotated[str, typer.Argument(metavar="WHO", help="Whose session it is: an id, or a name.")],
    actor: Annotated[str, typer.Argument(metavar="WITH", help="With whom or what: an id, or a name.")],
    policy: Annotated[list[str] | None, typer.Option(metavar="KEY=VALUE", help=_POLICY)] = None,
    as_json: Json = False,
) -> None:
    """Open a session of somebody with somebody or something else."""

    async def act(game: "Game") -> None:
        from engine.session_told import session_told

        who, other = called_or_none(game, agent), called_or_none(game, actor)
        assert who is not None
        assert other is not None
        terms = _terms(game.policies.sessions.of(who), policy or [])
        begun = session_told(game.world, await game.sessions.start(who, other, terms))
        if as_json:
            printed(begun)
        else:
            said(f"{begun.id}: {begun.state.agent} with {begun.state.actor}. It is open.")

    _run(save, act)


@sessions.command()
def turn(
    save: SavePath,
    session: SessionKey,
    role: Annotated[Literal["agent", "actor", "note"], typer.Argument(help="Who says it; `note` for a remark.")],
    words: Annotated[str, typer.Argument(metavar="WORDS", help="What is said, as it is said; `-` reads it from standard input.")],
    pin: Annotated[bool, typer.Option("--pin", help="Pin it: reason enough to ask a model.")] = False,
    hint: Annotated[str, typer.Option(help="What is to be noticed in it.")] = "",
    as_json: Json = False,
) -> None:
    """Add a turn. In a note people may be named as the agent calls them, or as @id."""

    async def act(game: "Game") -> None:
        from engine.replies import TurnAdded
        from engine.session_told import turn_told

        added = await game.sessions.add_turn(session, role, words_of(words), pin, hint)
        report = await game.sessions.report(session)
        if as_json:
            printed(TurnAdded(turn=turn_told(game.world, added), report=report))
        else:
            said(f"{added.id} is added to {session}: {report.turns} of {report.max_turns} turns.")
        if report.reason in ("max_turns", "max_tokens"):
            typer.echo(f"The session is being collapsed: {report.text}.", err=True)
            await game.sessions.over(session)  # begun already: what it costs is not to be for nothing

    _run(save, act)


@sessions.command()
def pin(
    save: SavePath,
    session: SessionKey,
    turn_key: Annotated[str, typer.Argument(metavar="TURN", help="A turn: turn-000001.")],
    off: Annotated[bool, typer.Option("--off", help="Let go of it.")] = False,
    as_json: Json = False,
) -> None:
    """Pin a turn: reason enough to ask a model, and kept when the older part is collapsed."""

    async def act(game: "Game") -> None:
        from engine.session_told import turn_told

        pinned = turn_told(game.world, await game.sessions.pin(session, turn_key, not off))
        if as_json:
            printed(pinned)
        else:
            said(f"{pinned.id} is {'pinned' if pinned.pinned else 'not pinned'}: {pinned.content}")

    _run(save, act)


@sessions.command()
def scratch(
    save: SavePath,
    session: SessionKey,
    key: Annotated[str, typer.Argument(metavar="KEY", help="A few words: hypothesis, ruled_out.")],
    note: Annotated[str | None, typer.Argument(metavar="NOTE", help="What is noted; `-` reads it from standard input.")] = None,
    remove: Annotated[bool, typer.Option("--remove", help="Take the note away.")] = False,
    as_json: Json = False,
) -> None:
    """Write a note on the scratchpad, over what stood there, or take it away."""
    if remove == (note is not None):
        raise typer.BadParameter("give a note, or --remove.", param_hint="NOTE")

    async def act(game: "Game") -> None:
        from engine.session_told import session_told
        from tui.session_lines import notes_told

        changed = session_told(game.world, await game.sessions.scratch(session, key, None if note is None else words_of(note)))
        if as_json:
            printed(changed)
        else:
            typer.echo("\n".join(notes_told(changed.scratch)) or f"The scratchpad of {changed.id} is empty.")

    _run(save, act)


@sessions.command()
def collapse(save: SavePath, session: SessionKey, viewer: Viewer = None, as_json: Json = False) -> None:
    """Collapse a session into knowledge and show what is left of it. Waits for the model.

    One that is collapsed already is shown as it was left. When the model fails, or a cap forbids the call, nothing is changed but the
    mark that it is to be collapsed: it is tried again when the save is played, or by this command. Exit code 1 then.
    """

    async def act(game: "Game") -> None:
        from engine.replies import collapse_state
        from engine.session_told import session_whole
        from tui.session_lines import collapse_told

        who = called_or_none(game, viewer)
        if (await game.sessions.get(session)).status != "collapsed":
            await _collapsed(game, session)
        state = collapse_state(session_whole(game.world, await game.sessions.page(session, who), who))
        if as_json:
            printed(state)
        else:
            typer.echo("\n".join(collapse_told(state)))

    _run(save, act)


@sessions.command()
def discard(save: SavePath, session: SessionKey, as_json: Json = False) -> None:
    """End a session without anything coming of it."""
    words = "is discarded; `otherminds sessions reopen` takes that back"
    _ended(save, session, lambda game: game.sessions.discard(session), words, as_json)


@sessions.command()
def reopen(save: SavePath, session: SessionKey, as_json: Json = False) -> None:
    """Take back that a session was discarded."""
    _ended(save, session, lambda game: game.sessions.reopen(session), "is open again", as_json)


def _run(save: Path, act: Callable[["Game"], Awaitable[None]]) -> None:
    async def run() -> None:
        async with changing(save) as game:
            await act(game)

    asyncio.run(run())


def _ended(save: Path, session: str, change: Callable[["Game"], Awaitable[Any]], words: str, as_json: bool) -> None:
    async def act(game: "Game") -> None:
        from engine.session_told import session_told

        told = session_told(game.world, await change(game))
        if as_json:
            printed(told)
        else:
            said(f"{told.id}, {told.state.agent} with {told.state.actor}, {words}.")

    _run(save, act)


async def _collapsed(game: "Game", session: str) -> None:
    """Have a session collapsed. Raises `ModelError` when that failed, `CapReachedError`."""
    await game.models.ready()
    tried = len(await game.sessions.runs(session))
    await game.sessions.collapse(session)
    if (cap := await game.sessions.over(session)) is not None:
        raise cap
    runs = await game.sessions.runs(session)
    if len(runs) > tried and runs[-1].status == "failed":
        advice = "The session and its turns are as they were. `otherminds doctor` looks at the models; then try again."
        raise ModelError(runs[-1].error or "The session could not be collapsed.", advice)
    now = await game.sessions.get(session)
    if now.status != "collapsed":
        raise SessionError(f"{session} is {now.status}.", "Try again.", kind="closed_session")


async def _list(
    save: Path, of: str | None, state: State | None, find: str, limit: int, before: str | None, viewer: str | None, as_json: bool
) -> None:
    from engine.past import looking_into
    from engine.replies import Sessions
    from engine.session_told import session_told
    from tui.session_lines import lines_told

    async with looking_into(save) as (game, _):
        who = called_or_none(game, viewer)
        found = await game.sessions.lines(
            agent=called_or_none(game, of), state=state, words=find.split(), before=before, limit=limit + 1, viewer=who
        )
        page = found[:limit]
        more = page[-1].session.id if len(found) > limit else None
        if as_json:
            printed(Sessions(sessions=tuple(session_told(game.world, line.session, who) for line in page), next=more))
            return
        typer.echo("\n".join(lines_told(page)) or "No sessions." if not (of or state or find or before) or page else "No such sessions.")
        if more:
            said(f"There are more: --before {more}")


async def _show(save: Path, session: str, viewer: str | None, as_json: bool) -> None:
    from engine.past import looking_into
    from engine.session_told import session_whole
    from tui.session_lines import page_told

    async with looking_into(save) as (game, _):
        who = called_or_none(game, viewer)
        await game.sessions.get(session)
        page = await game.sessions.page(session, who)
        if as_json:
            printed(session_whole(game.world, page, who))
        else:
            typer.echo("\n".join(page_told(page)))


def _terms(policy: "CollapsePolicy", given: list[str]) -> "CollapsePolicy | None":
    """The world's policy with terms of one's own over it; None without any."""
    from engine.records.sessions import CollapsePolicy

    terms: dict[str, object] = {}
    for term in given:
        key, sign, value = term.partition("=")
        if not sign or key not in CollapsePolicy.model_fields:
            there = ", ".join(CollapsePolicy.model_fields)
            raise typer.BadParameter(f"`{term[:60]}` is no term. There are: {there}.", param_hint="--policy")
        terms[key] = value
    try:
        return CollapsePolicy.model_validate(policy.model_dump() | terms) if terms else None
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        raise typer.BadParameter(f"{fault['loc'][0]}: {fault['msg']}.", param_hint="--policy") from error
