"""Tokens that sessions and knowledge take over 200 rounds of play, against extracting after every exchange of words (DESIGN 17).

What is compared with makes one call for each exchange, that is for what the two of a session said to each other in one round, with the same
instructions and the same model, and counted by the same meter. It is spared what would make it dearer: it is shown nothing that was known
before, and settles nothing. Told besides, and not held against a bar: the same where an exchange lasts until the other has answered,
however many rounds that takes.
"""

import shutil
import sqlite3
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import pytest

from engine.game import Game
from engine.llm.protocol import ModelRequest
from engine.llm.structured import ask
from engine.prompts.closing import collapse_reply
from engine.prompts.collapse import build, extracted
from engine.records.sessions import NewTurn, Session, SessionId, Turn

ROUNDS = 200
BAR = 0.25
WORLD = Path(__file__).parents[2] / "worlds" / "salt-lantern"
PLAYED, HOME = "ines_calder", "salt-lantern"
LINES = (
    "Good evening. It is cold out there.", "What do you know of the lantern?", "I lost my brother on the Margaret.", "Was the light out?",
    "The letter in my coat is from the harbour master.", "Who keeps the key of the gable?", "I saw a boat at the old pier.",
    "That soup smells good.", "Who was on the stair that night?", "I will go down to the pier at dawn.", "Thank you. You are kind.",
    "The oil in the lantern was watered.", "Do you trust Fenn?", "I was told that Rusk owes the assessor forty crowns.", "I am tired.",
    "Let us look at the lantern together tomorrow.", "No more ale for me, thank you.", "My brother carried the ship's purse.",
)  # fmt: skip


class Heard:
    """All turns of a game, as they come."""

    def __init__(self, game: Game) -> None:
        repository = game._parts.store.sessions
        real = repository.add_turns
        self.turns: dict[tuple[str, str], list[Turn]] = defaultdict(list)
        self.sessions: dict[tuple[str, str], Session] = {}

        def add(conn: sqlite3.Connection, turns: Sequence[tuple[SessionId, NewTurn]]) -> list[Turn]:
            added = real(conn, turns)
            for turn in added:
                session = repository.get(conn, turn.session_id)
                assert session is not None
                self.sessions.setdefault((session.agent_id, session.actor_id), session)
                self.turns[session.agent_id, session.actor_id].append(turn)
            return added

        repository.add_turns = add  # type: ignore[method-assign]

    def exchanges(self, *, answered: bool) -> list[tuple[Session, list[Turn]]]:
        """The turns of each exchange: of one round, or until somebody has answered."""
        found: list[tuple[Session, list[Turn]]] = []
        for pair, turns in self.turns.items():
            part: list[Turn] = []
            for turn, following in zip(turns, [*turns[1:], None], strict=True):
                part.append(turn)
                speakers = {one.speaker_id for one in part if one.role != "note"}
                if len(speakers) > 1 if answered else following is None or following.round != turn.round:
                    found.append((self.sessions[pair], part))
                    part = []
        return found


def total(game: Game, *tasks: str) -> int:
    """Tokens of tasks by the product's meter."""
    return sum(spent.tokens for task, spent in game.meter.by_task.items() if task in tasks)


async def extracted_each_time(game: Game, heard: Heard, *, answered: bool) -> tuple[int, int]:
    """Calls and tokens of one extraction an exchange."""
    before, model, world = game.meter.total, game._parts.router.model("collapse"), game.world
    for session, turns in heard.exchanges(answered=answered):
        prompt, handles = build(
            world, session, turns, (), turns[-1].timestamp, count_tokens=model.count_tokens, context_window=model.context_window
        )
        closed = collapse_reply(handles, extracted(session.policy), model.count_tokens, prompt.report.reserved)
        request = ModelRequest(
            task="collapse", entity=session.agent_id, round=world.round, seed=world.seed, template=prompt.template,
            messages=prompt.messages, choices=closed.choices, max_tokens=closed.max_tokens,
        )
        await ask(model, request, closed.shape)
    after = game.meter.total
    return after.calls - before.calls, after.tokens - before.tokens


async def played(game: Game, pairs: str) -> None:
    """The rounds: by themselves, or with somebody who talks to whoever is there."""
    if pairs == "player":
        game.play_as(PLAYED)
    for number in range(ROUNDS):
        await game.step(f'say: "{LINES[number % len(LINES)]}"' if pairs == "player" else "")
    await game.settled()


@pytest.mark.benchmark
@pytest.mark.timeout(900)
@pytest.mark.parametrize("pairs", ["all", "player"])
async def test_tokens_of_sessions_against_an_extraction_after_each_exchange(
    pairs: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(WORLD, tmp_path / HOME)
    world = tmp_path / HOME / "world.yaml"
    world.write_text(f"{world.read_text()}\npolicies: {{sessions: {{pairs: {pairs}}}}}\n")
    game = await Game.create(tmp_path / HOME, tmp_path / "game.db", 7)
    try:
        heard = Heard(game)
        await played(game, pairs)
        for session in await game.sessions.list(status="open", limit=1000):  # what is still open is counted too
            await game.sessions.collapse(session.id)
        await game.settled()
        ours, handoffs = total(game, "collapse", "validate"), total(game, "handoff")
        calls = sum(spent.calls for task, spent in game.meter.by_task.items() if task in ("collapse", "validate"))
        known = len(await game.knowledge.list(limit=100_000))
        ended = [run for session in await game.sessions.list(limit=10_000) for run in await game.sessions.runs(session.id)]
        theirs_calls, theirs = await extracted_each_time(game, heard, answered=False)
        _, answered = await extracted_each_time(game, heard, answered=True)
    finally:
        await game.close()
    turns = sum(map(len, heard.turns.values()))
    with capsys.disabled():
        print(
            f"\n{ROUNDS} rounds, pairs {pairs}: {turns} turns; sessions and knowledge took {ours:,} tokens in {calls} calls ({len(ended)} "
            f"collapses, {sum(run.gate.asked for run in ended)} asked, {known} pieces known), one extraction an exchange {theirs:,} in "
            f"{theirs_calls}: ratio {ours / theirs:.3f} (bar {BAR}); where it lasts until somebody answers "
            f"{ours / answered:.3f}; handoffs besides {handoffs:,}"
        )
    assert turns > ROUNDS / 2
    assert theirs_calls > ROUNDS / 4
    assert sum(run.gate.asked for run in ended) > 0, "something was learned"
    assert known > 0
    assert ours <= BAR * theirs
