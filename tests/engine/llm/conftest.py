"""Requests as the engine's prompt builders write them, and a little stage on which characters hear each other."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest

from engine.llm.protocol import ModelRequest
from engine.llm.storyteller import Storyteller
from engine.records.prompts import Message, Task, heading
from engine.records.wire import DecodeReply, WireIntent

WHO = """P1: you, Bryn Harrow
P2: the wet stranger (here)
P3: the brass lantern (thing, here)
P4: the iron key (thing, carried by you)
P5: the tall sailor (beyond, on the quay)
P6: Gareth (here)"""
WAYS = """L1: the street door, open, to the quay
L2: the trap door, closed, to the cellar
L3: the stairs, open, to the upper rooms"""


def request_of(
    task: Task, *sections: tuple[str, str], system: str = "", round_: int = 1, seed: int = 7, entity: str = "bryn"
) -> ModelRequest:
    """A request with the given titled sections in its user message."""
    user = "\n\n".join(f"{heading(title)}\n{text}" for title, text in sections if text)
    if task == "actor":
        user += "\n\nWhat do you do now?"
    messages = (*((Message(role="system", content=system),) if system else ()), Message(role="user", content=user))
    return ModelRequest(task=task, entity=entity, round=round_, seed=seed, messages=messages)


@dataclass
class Player:
    """A character on the stage."""

    id: str
    name: str
    label: str
    appearance: str
    place: str
    traits: dict[str, str] = field(default_factory=dict)
    goals: Sequence[str] = ()
    habits: Sequence[str] = ()
    voice: Sequence[str] = ()
    knowledge: Sequence[str] = ()
    memories: str = ""
    carries: Sequence[str] = ()
    events: list[tuple[int, str]] = field(default_factory=list)


class Theatre:
    """Rooms and characters, enough to feed each character what the others said and did. Everybody goes by a label."""

    def __init__(self, players: Sequence[Player], ways: dict[str, Sequence[tuple[str, str, str]]], *, time: str = "evening") -> None:
        self.players = list(players)
        self.ways = ways
        self.time = time
        self.round = 0
        self.seed = 7
        self.storyteller = Storyteller()
        self.said: list[tuple[int, str, WireIntent]] = []
        """Round, character and what it did."""
        self.prose: list[tuple[int, str, str]] = []

    async def play(self, rounds: int) -> None:
        """Let everybody act in turn."""
        for _ in range(rounds):
            self.round += 1
            for player in self.players:
                await self._beat(player)

    async def _beat(self, player: Player) -> None:
        prose = (await self.storyteller.complete(self.prompt(player))).text
        self.prose.append((self.round, player.id, prose))
        here = [one for one in self.players if one.place == player.place and one is not player]
        who = [f"P1: you, {player.name}", *(f"P{n}: {one.label} (here)" for n, one in enumerate(here, 2))]
        ways = [f"L{n}: {door}, {state}, to {place}" for n, (door, state, place) in enumerate(self.ways.get(player.place, ()), 1)]
        request = request_of("decode", ("Who", "\n".join(who)), ("Ways", "\n".join(ways)), ("Prose", prose), round_=self.round)
        for intent in DecodeReply.model_validate_json((await self.storyteller.complete(request)).text).intents:
            self.said.append((self.round, player.id, intent))
            self._happen(player, here, intent)

    def _happen(self, player: Player, here: Sequence[Player], intent: WireIntent) -> None:
        targets = [here[int(handle[1:]) - 2] for handle in intent.targets if handle[0] == "P" and handle != "P1"]
        way = next((self.ways[player.place][int(handle[1:]) - 1] for handle in intent.targets if handle[0] == "L"), None)
        if intent.type == "monologue":
            player.events.append((self.round, f"You thought: {intent.text}"))
            return
        for viewer in (player, *here):
            viewer.events.append((self.round, self._told(viewer, player, here, targets, intent, way)))
        if intent.verb == "go" and way and way[1] != "locked":
            player.place = way[2]

    def _told(
        self, viewer: Player, actor: Player, here: Sequence[Player], targets: Sequence[Player], intent: WireIntent,
        way: tuple[str, str, str] | None,
    ) -> str:  # fmt: skip
        def name(one: Player) -> str:
            return "you" if one is viewer else one.label

        who = name(actor)[0].upper() + name(actor)[1:]
        if intent.type == "dialogue":
            to = f" to {' and '.join(map(name, targets))}" if targets else ""
            verb = {"whisper": "whispered", "shout": "shouted"}.get(intent.verb, "spoke" if to else "said")
            return f'{who} {verb}{to}: "{intent.text}"'
        if intent.verb == "go" and way:
            return f"{who} went from {actor.place} to {way[2]}. (Outcome: succeeded)"
        summary = intent.summary
        for number in range(len(here) + 1, 1, -1):
            summary = summary.replace(f"P{number}", name(here[number - 2]))
        return f"{who} {summary}. (Outcome: succeeded)"

    def prompt(self, player: Player) -> ModelRequest:
        """The actor's prompt of this moment."""
        here = [one for one in self.players if one.place == player.place and one is not player]
        moment = f"It is {self.time}, the first day of March.\nYou are in {player.place}. It smells of tar."
        if player.carries:
            moment += f"\nYou carry: {', '.join(player.carries)}."
        blocks = ["Here with you:\n" + "\n".join(f"  - {one.label}: {one.appearance}" for one in here) if here else "You are alone."]
        ways = [f"  - {door}, {state}, to {place}" for door, state, place in self.ways.get(player.place, ())]
        if ways:
            blocks.append("Ways out:\n" + "\n".join(ways))
        means = "Goals:\n" + "\n".join(f"  - {goal}" for goal in player.goals) if player.goals else ""
        if player.habits:
            means += "\nHabits:\n" + "\n".join(f"  - {habit}" for habit in player.habits)
        own = [f"Name: {player.name}", f"Appearance: {player.appearance}", *(f"{k}: {v}" for k, v in player.traits.items())]
        if player.voice:
            own += ["You speak like this:", *(f'  "{line}"' for line in player.voice)]
        return request_of(
            "actor", ("This moment", moment), ("What you perceive", "\n".join(blocks)), ("What you mean to do", means.strip()),
            ("What you know", "\n".join(f"  - {line}" for line in player.knowledge)), ("Your memories", player.memories),
            ("Recent events", self._events(player)), system=f"{heading('Who you are')}\n" + "\n".join(own), round_=self.round,
            seed=self.seed, entity=player.id,
        )  # fmt: skip

    def _events(self, player: Player) -> str:
        lines: list[str] = []
        group = ""
        for round_, sentence in player.events[-14:]:
            ago = self.round - round_
            when = "Just now" if ago == 0 else "Moments ago" if ago == 1 else "A few minutes ago" if ago < 4 else "Several minutes ago"
            if when != group:
                lines.append(when)
                group = when
            lines.append(f"  - {sentence}")
        return "\n".join(lines)


@pytest.fixture
def known() -> str:
    """The people and things around Bryn Harrow in the taproom."""
    return WHO


@pytest.fixture
def make_request() -> Callable[..., ModelRequest]:
    """Builds requests out of titled sections."""
    return request_of


@pytest.fixture
def make_theatre() -> Callable[..., Theatre]:
    """Builds stages out of players and ways."""
    return Theatre


@pytest.fixture
def make_player() -> Callable[..., Player]:
    """Builds players."""
    return Player


@pytest.fixture
def inn() -> Theatre:
    """Seven people with secrets, three rooms."""
    def one(id_: str, name: str, label: str, looks: str, place: str, **more: object) -> Player:
        return Player(id_, name, label, looks, place, **more)  # type: ignore[arg-type]

    return Theatre(
        [
            one("bryn", "Bryn Harrow", "the innkeeper", "a broad woman with flour on her sleeves", "the taproom",
                traits={"Secret": "She owes the harbour master forty crowns."},
                goals=["keep the debt secret", "ask the wet stranger about the wreck", "get the black book from the harbour master"],
                habits=["wipes the counter when nobody speaks", "counts the mugs on their hooks"], carries=["the iron key"]),
            one("ines", "Ines Calder", "the wet stranger", "a thin woman in a soaked coat", "the taproom",
                traits={"Guilt": "She let go of the rope when the boy slipped."},
                goals=["find out who put out the light", "ask the innkeeper who keeps the lantern"], habits=["picks at her sleeve"],
                knowledge=["The lantern is lit only when a ship is lost."]),
            one("joss", "Joss Pellam", "the harbour master", "a neat grey man with clean hands", "the taproom",
                goals=["threaten the innkeeper", "find out who carried the wet stranger ashore", "go to the quay"],
                habits=["straightens his chain"], carries=["the black book"]),
            one("tam", "Tam Birrell", "the pot boy", "a boy of fourteen", "the taproom",
                goals=["warn the innkeeper about the harbour master", "ask the wet stranger what drowning is like"],
                habits=["stacks the bowls by size", "blows on his hands"], voice=["You hear a lot with your hands in a bucket."]),
            one("aldous", "Aldous Fenn", "the old net mender", "a stooped old man", "the quay",
                goals=["find out where the boy was last seen", "go to the taproom"], habits=["counts the boots"]),
            one("ketil", "Ketil Rusk", "the diver", "a heavy-shouldered man", "the quay",
                goals=["avoid the old net mender", "go to the cellar", "tell the wet stranger about the rope"], habits=["hums a tune"]),
            one("sabeth", "Sabeth Wray", "the pedlar", "a small upright woman", "the cellar", goals=["go to the taproom"],
                habits=["threads a needle"]),
        ],
        {
            "the taproom": [("the street door", "closed", "the quay"), ("the trap door", "open", "the cellar")],
            "the quay": [("the street door", "closed", "the taproom")],
            "the cellar": [("the trap door", "open", "the taproom")],
        },
    )  # fmt: skip


@pytest.fixture
def decode() -> Callable[..., list[WireIntent]]:
    """Decodes prose of Bryn Harrow in the taproom."""
    import asyncio

    def run(prose: str, who: str = WHO, ways: str = WAYS) -> list[WireIntent]:
        request = request_of("decode", ("Who", who), ("Ways", ways), ("Prose", prose))
        reply = asyncio.run(Storyteller().complete(request)).text
        assert json.loads(reply)
        return DecodeReply.model_validate_json(reply).intents

    return run
