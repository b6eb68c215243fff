"""A save with knowledge of every kind, and ways to open its screen over the real engine."""

import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from engine.game import Game
from engine.knowledge_desk import KnowledgeEdit
from engine.memory.knowledge.placing import Origin
from engine.records.knowledge import Knowledge, NewKnowledge
from engine.records.sessions import CollapsePolicy
from engine.records.tokens import token
from tui.app import OthermindsApp
from tui.host import GameHost
from tui.panes.known_reading import Whose
from tui.screens.knowledge import KnowledgeScreen

Settle = Callable[[Pilot[Any]], Awaitable[None]]
Opened = AbstractAsyncContextManager[Pilot[Any]]
BOB, MIRA, GARETH, TOM = "bob", "mira_2", "gareth_3", "tom_4"
WORLD = """\
name: The inn
clock: {start: 1247-03-01T17:40}
seed: 1
policies:
  promotion: {scope: faction, age_hours: 0}
places: [{id: bar, name: the bar}]
entities:
  - id: bob
    at: bar
    agent: true
    factions: [quay]
    attributes: {name: Bob Harrow, label: the bald man}
    aliases: {mira_2: Mira}
  - {id: mira_2, at: bar, agent: true, factions: [quay], attributes: {name: Mira Vance, label: the thin woman}}
  - {id: gareth_3, at: bar, agent: true, factions: [crown], attributes: {name: Gareth Pole, label: the tall stranger}}
  - {id: tom_4, at: bar, agent: true, attributes: {name: Tom Reed, label: the boy}}
"""


async def knows(game: Game, content: str, owner: str = BOB, **more: object) -> Knowledge:
    """A short-term piece, as a collapse leaves it."""
    values: dict[str, object] = {
        "owner_id": owner, "kind": "fact", "content": content, "scope_id": owner, "confidence": 0.8, "valid_from": game.world.now,
    }
    new = NewKnowledge.model_validate(values | more)
    store = game._parts.store
    change = Origin("collapse", game.world.now).change("added", "it is new")
    return await store.db.write(lambda conn: store.knowledge.add(conn, new, change))


async def waits(game: Game, content: str, reason: str = "it is sensitive", scope: str = "faction", scope_id: str = "quay") -> Knowledge:
    """A piece of Bob's that waits for a person."""
    row = await knows(game, content, subject_id=GARETH, sensitivity="sensitive")
    store = game._parts.store
    change = Origin("promotion", game.world.now).change("flagged", reason)
    await store.db.write(lambda conn: store.promotions.flag(conn, row.id, reason, scope, scope_id, change))  # type: ignore[arg-type]
    return row


async def build(folder: Path) -> Path:
    """Two rounds, one session that is still there, pieces of all scopes and states."""
    world, save = folder / "inn.yaml", folder / "inn.db"
    world.write_text(WORLD)
    game = await Game.create(world, save, 1)
    desk, gareth = game.knowledge, token(GARETH)
    boat = await desk.add(BOB, f"{gareth} owns a boat.", topic="boat")
    await desk.add(BOB, "The lamp is lit at nine.", scope="faction", scope_id="quay", importance=9)
    await desk.add(TOM, "The tide turns at four.", scope="world")
    gone = await desk.add(BOB, "The cellar is dry.")
    await game.step()
    await desk.edit(boat.id, KnowledgeEdit(content=f"{gareth} owns two boats."))
    await desk.delete(gone.id)
    await desk.add(MIRA, "Ask at the quay first.", kind="strategy", rationale="somebody is missing")
    await desk.add(MIRA, "The gate is open.")
    await desk.add(MIRA, "The gate is locked.")
    session = await game.sessions.start(BOB, MIRA, CollapsePolicy(mode="explicit"))
    turn = await game.sessions.add_turn(session.id, "actor", "The Heron carries salt.")
    await knows(game, "The Heron carries salt.", session_id=session.id, turn_ids=(turn.id, "turn-999999"))
    await waits(game, f"{gareth} killed the ferryman.")
    await game.close()
    return save


@asynccontextmanager
async def opened(
    save: Path, folder: Path, settle: Settle, size: tuple[int, int] = (120, 40), whose: Whose | None = None, played: str | None = None,
    chosen: str = BOB,
) -> AsyncIterator[Pilot[Any]]:
    """The Knowledge screen over a copy of a save."""
    copy = folder / "copy.db"
    shutil.copy(save, copy)
    host = GameHost(folder, speed=0.0)
    app = OthermindsApp(host, worlds=list)
    try:
        async with app.run_test(size=size, notifications=True) as pilot:
            await settle(pilot)
            game = await host.open_save(copy)
            game.play_as(played)
            host.chosen = chosen
            app.set_interval(0.01, host.take)  # what the Play screen does behind it
            app.push_screen(KnowledgeScreen(host, whose))
            await settle(pilot)
            yield pilot
    finally:
        await host.close()


def screen_of(pilot: Pilot[Any]) -> KnowledgeScreen:
    """The screen itself, whatever stands on it."""
    [screen] = [one for one in pilot.app.screen_stack if isinstance(one, KnowledgeScreen)]
    return screen


async def typed(pilot: Pilot[Any], settle: Settle, text: str) -> None:
    """Press the keys of a text."""
    named = {" ": "space", "?": "question_mark", ",": "comma", ".": "full_stop", "'": "apostrophe", "[": "left_square_bracket",
             "]": "right_square_bracket", "/": "slash"}  # fmt: skip
    await pilot.press(*(named.get(char, char) for char in text))
    await settle(pilot)
