"""A real game at a table: who says what is fixed, and so is what the model makes of it where a test says so. All else is the product's."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from engine.events import EngineEvent
from engine.game import Game
from engine.llm.protocol import Completion, Heard, ModelRequest, Usage
from engine.llm.storyteller.model import Storyteller
from engine.llm.tokens import estimate_tokens
from engine.records.knowledge import Knowledge
from engine.records.prompts import Task
from engine.records.sessions import CollapseRun, Session, Turn

WORLD = """\
name: The Salt Lantern
clock: {start: 1247-03-01T10:00}
seed: 3
policies:
  handoff: {floor: 8}
  sessions: {pairs: all}
places:
  - {id: pl_bar, name: the bar, exits: [{to: pl_yard, name: the arch, vision: 0, sound: 0}]}
  - {id: pl_yard, name: the yard}
entities:
  - {id: en_bob, at: pl_bar, agent: true, factions: [harbour], attributes: {name: Bob Harrow, label: bald man}, aliases: {en_mira: Mira}}
  - {id: en_mira, at: pl_bar, agent: true, attributes: {name: Mira Vance, label: the thin woman}, aliases: {en_bob: Bob}}
  - {id: en_gareth, at: pl_bar, agent: true, attributes: {name: Gareth, label: the tall stranger}}
  - {id: en_odo, at: pl_bar, agent: true, factions: [harbour], attributes: {name: Odo Quill, label: the quiet monk}}
  - {id: en_sly, at: pl_bar, agent: true, attributes: {name: Sly Moss, label: the sleeping sailor, status: asleep}}
  - {id: en_una, at: pl_yard, agent: true, attributes: {name: Una Pell, label: the young groom}}
"""
UNRELATED = json.dumps({"reason": "Both can be so.", "against": [], "verdict": "unrelated", "confidence": 0.9})
Made = Callable[[ModelRequest], str | Awaitable[str]]


def verdict(word: str, *against: str) -> str:
    """A reply to `validate`."""
    return json.dumps({"reason": "It is so.", "against": list(against), "verdict": word, "confidence": 0.9})


def fact(content: str, *sources: str, about: str = "", topic: str = "", confidence: float = 0.9) -> dict[str, object]:
    """A fact of a reply to `collapse`."""
    return {
        "sourceTurnIds": list(sources), "about": about, "topicKey": topic, "confidence": confidence, "importance": 6, "sensitive": False,
        "content": content,
    }  # fmt: skip


def decision(content: str, *sources: str, topic: str = "", supersedes: str = "", rationale: str = "") -> dict[str, object]:
    """A decision of one."""
    return {
        "sourceTurnIds": list(sources), "supersedes": supersedes, "topicKey": topic, "rationale": rationale, "content": content
    }  # fmt: skip


def reply(*facts: Mapping[str, object], **more: object) -> str:
    """A reply to `collapse`."""
    return json.dumps({"outcome": "resolved", "relevantEntities": [], "goal": "They talked.", "facts": list(facts), **more})


def handle_of(request: ModelRequest, words: str) -> str:
    """The handle of the line of a prompt in which these words stand."""
    return next(line.split()[0].rstrip(":") for line in request.text.splitlines() if words in line and line[:1] in "PMK")


class Voices:
    """Characters say nothing but what is put into their mouths by hand; `collapse` and `validate` reply by script, when there is one."""

    name, context_window, small = "voices", 8192, False

    def __init__(self) -> None:
        self.requests: list[ModelRequest] = []
        self.script: dict[Task, list[str | Made]] = {}
        self.made_up: dict[Task, Made] = {}
        self._storyteller = Storyteller()

    def count_tokens(self, text: str) -> int:
        """Estimated."""
        return estimate_tokens(text)

    def asked(self, *tasks: Task) -> list[ModelRequest]:
        """The requests for these tasks."""
        return [request for request in self.requests if request.task in tasks]

    async def complete(self, request: ModelRequest, heard: Heard | None = None) -> Completion:
        """By script, by rule, in silence, or as the storyteller would."""
        self.requests.append(request)
        if queue := self.script.get(request.task):
            text = await _text(queue.pop(0), request)
        elif request.task == "actor":
            text = "I wait and say nothing."
        elif request.task in self.made_up:
            text = await _text(self.made_up[request.task], request)
        else:
            return await self._storyteller.complete(request)
        usage = Usage(prompt_tokens=estimate_tokens(request.text), reply_tokens=estimate_tokens(text), estimated=True)
        return Completion(text=text, model=self.name, usage=usage)


async def _text(made: str | Made, request: ModelRequest) -> str:
    if isinstance(made, str):
        return made
    found = made(request)
    return found if isinstance(found, str) else await found


class Table:
    """A game whose people say what they are told to."""

    def __init__(self, game: Game) -> None:
        self.game, self.voices, self.events = game, Voices(), list[EngineEvent]()
        game.listen(self.events.append)
        game._parts.router.reroute(self.voices)

    async def say(self, who: str, words: str, to: str = "", verb: str = "say") -> None:
        """One round, in which somebody says something; `to` is what it calls the other."""
        self.game.play_as(who)
        report = await self.game.step(f'{verb}{f" to {to}" if to else ""}: "{words}"')
        assert (report.failed_beats, report.failed_handoffs) == (0, 0)

    async def talk(self, lines: Iterable[tuple[str, str]], names: Mapping[str, str]) -> None:
        """A conversation of two: who says what, each to the other."""
        one, other = names
        for who, words in lines:
            await self.say(who, words, names[other if who == one else one])

    async def rest(self, minutes: int = 45) -> None:
        """Time in which nobody speaks, and a round after it; then all that is under way beside play."""
        self.later(minutes / 60)
        self.game.play_as(None)
        await self.game.step()
        await self.game.settled()

    def later(self, hours: float) -> None:
        """World time passes, at the next commit."""
        simulation = self.game._parts.simulation
        simulation.world = simulation.world.model_copy(update={"now": simulation.world.now + timedelta(hours=hours)})

    async def collapse(self, agent: str, actor: str) -> CollapseRun:
        """The pair's session, ended by a person's word, and what it came to."""
        session = await self.session(agent, actor)
        await self.game.sessions.collapse(session.id)
        await self.game.settled()
        return (await self.game.sessions.runs(session.id))[-1]

    async def session(self, agent: str, actor: str) -> Session:
        """The pair's newest session."""
        return (await self.game.sessions.list(agent, actor=actor))[0]

    async def turns(self, agent: str, actor: str) -> Sequence[Turn]:
        """Its turns."""
        return await self.game.sessions.turns((await self.session(agent, actor)).id)

    async def known(self, entity: str) -> list[Knowledge]:
        """What somebody believes now."""
        return [line.row for line in await self.game.knowledge.known_by(entity)]

    async def texts(self, entity: str) -> list[str]:
        """The same in true names."""
        return [line.text for line in await self.game.knowledge.known_by(entity)]


Open = Callable[..., Awaitable[Table]]


@pytest.fixture
async def table(tmp_path: Path) -> AsyncIterator[Open]:
    """Opens tables. `sessions` is the world's policy for them, `more` further policies."""
    games: list[Game] = []

    async def run(sessions: str = "{pairs: all}", more: str = "", world: str = WORLD) -> Table:
        folder = tmp_path / f"world{len(games)}"
        folder.mkdir()
        text = world.replace("  sessions: {pairs: all}\n", f"  sessions: {sessions}\n{more}")
        (folder / "world.yaml").write_text(text, encoding="utf-8")
        game = await Game.create(folder, tmp_path / f"game{len(games)}.db", 7)
        games.append(game)
        return Table(game)

    yield run
    for game in games:
        await game.close()


@pytest.fixture(scope="session")
def made() -> Any:
    """What replies are made of: `made.fact`, `made.decision`, `made.reply`, `made.verdict`, `made.handle_of`."""

    class Made:
        fact, decision, reply, verdict = staticmethod(fact), staticmethod(decision), staticmethod(reply), staticmethod(verdict)
        handle_of = staticmethod(handle_of)

    return Made
