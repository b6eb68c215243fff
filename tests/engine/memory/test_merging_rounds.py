"""Sixty rounds of somebody who says what it recalled: its ledger gains no second copy, and a listener's gains one."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from engine.llm.hashing import Hash768
from engine.llm.protocol import Completion, Heard, ModelRequest, Usage
from engine.llm.router import Router
from engine.memory.audit import near_duplicates
from engine.memory.handoff.engine import HandoffEngine
from engine.memory.recall.engine import RecallEngine
from engine.memory.reembedding import embed_missing
from engine.memory.text import plain
from engine.records.authored import AuthoredWorld
from engine.records.base import EntityId
from engine.records.memory import LedgerEntry, NewLedgerEntry
from engine.records.policies import Policies
from engine.records.prompts import split_sections
from engine.storage.store import Store
from engine.turns.actor import Actor
from engine.turns.decoder import Decoder
from engine.turns.referee import Referee
from engine.turns.simulation import SimulationManager

if TYPE_CHECKING:
    from tests.engine.memory.conftest import Inn

ROUNDS = 60
TELLER, LISTENER = "en_bryn", "en_smith"

Retold = Callable[[str, int], str]
"""How a line of memory is told in a given round."""

_MEMORY = re.compile(r"^  - (.+(?:\n    .+)*)", re.MULTILINE)
_ENTRY = re.compile(r'^(M\d+) \[(\w+)(?:, pinned)?\] [^:]*: (.*)$', re.MULTILINE)
_SPEECH = re.compile(r'^(P\d+) (?:said|spoke to P\d+)[^:]*: "(.*)"$')


class Storyless:
    """One agent says what it remembers, the other nods; the handoff promotes every line that was spoken, in the third person."""

    name, context_window, small = "storyless", 16_000, False

    def __init__(self, retold: Retold, pins: bool) -> None:
        self._retold, self._pins = retold, pins
        self.recited = 0

    def count_tokens(self, text: str) -> int:
        return len(text) // 4

    async def complete(self, request: ModelRequest, heard: Heard | None = None) -> Completion:
        text = {"actor": self._act, "decode": self._decode, "handoff": self._promote}[request.task](request)
        return Completion(text=text, model=self.name, usage=Usage(prompt_tokens=1, reply_tokens=1))


    def _act(self, request: ModelRequest) -> str:
        if request.entity != TELLER:
            return "Aye."
        memories = [" ".join(line.split()) for line in _MEMORY.findall(split_sections(request.text).get("YOUR MEMORIES", ""))]
        self.recited += bool(memories)
        return " ".join(self._retold(line, request.round) for line in memories) or "Hm."

    def _decode(self, request: ModelRequest) -> str:
        speech = split_sections(request.text)["PROSE"]
        return json.dumps({"intents": [
            {"type": "dialogue", "verb": "say", "text": speech, "summary": "", "targets": ["P2"], "modifiers": []}
        ]})  # fmt: skip

    def _promote(self, request: ModelRequest) -> str:
        chunks = []
        for handle, _, line in _ENTRY.findall(split_sections(request.text)["ENTRIES"]):
            spoken = _SPEECH.match(line)
            if spoken and len(spoken[2]) > 10:
                chunks.append({
                    "sourceEntryIds": [handle], "content": f"{spoken[1]} told this: \u201c{spoken[2]}\u201d", "quotes": [spoken[2]],
                    "importance": 6, "involvedEntityIds": [], "retainInBuffer": self._pins,
                })  # fmt: skip
        return json.dumps({"chunks": chunks or [
            {"sourceEntryIds": ["M1"], "content": "Somebody nodded.", "quotes": [], "importance": 1, "involvedEntityIds": [],
             "retainInBuffer": False}
        ]})  # fmt: skip


def verbatim(line: str, _: int) -> str:
    return line


def varied(line: str, number: int) -> str:
    """The same in other words each time: first person, another tense, `again`, a few words around it."""
    told = re.sub(r"\b[Yy]ou\b", "me", line)
    if number % 3 == 1:
        told = told.replace("hid ", "hides ").replace("broke ", "has broken ").replace("asked ", "asks ")
    if number % 3 == 2:
        told = told.replace("hid ", "hid again ").replace("asked ", "once asked ")
    before = ("", "Listen, friend. ", "I remember it well: ", "As I said before, ")[number % 4]
    return before + told + ("", " Aye, so it was.", "")[number % 3]


class Tavern:
    """The inn with a teller, a listener and nobody else, played by `Storyless`."""

    def __init__(self, store: Store, inn: Inn, retold: Retold, pins: bool = False) -> None:
        self.store, self.inn, self.model, self.embedder = store, inn, Storyless(retold, pins), Hash768()
        router, policies = Router(self.model), Policies()
        recall = RecallEngine(store, self.embedder, policies)
        self._handoff = HandoffEngine(store, router, self.embedder, policies, lambda _: None)
        actor = Actor(store, router, recall, policies)
        self._parts = (actor, Decoder(router), Referee(router), self._handoff, lambda _: None)

    async def remember(self, *memories: NewLedgerEntry) -> list[LedgerEntry]:
        add = self.store.ledger.add
        entries = await self.store.db.write(lambda conn: [add(conn, m, (), plain(m.content, m.quotes)) for m in memories])
        await embed_missing(self.store, self.embedder)
        return entries

    async def play(self, rounds: int) -> None:
        world = await self.store.db.read(self.store.worlds.load)
        simulation = SimulationManager(self.store, world, *self._parts)
        failed = 0
        for _ in range(rounds):
            report = await simulation.step()
            failed += report.failed_beats + report.failed_handoffs
        assert failed == 0

    async def ledger(self, owner: EntityId) -> list[LedgerEntry]:
        return await self.store.db.read(lambda conn: self.store.ledger.of_owner(conn, owner))


@pytest.fixture
async def opened(inn: Inn, tmp_path: Path) -> AsyncIterator[Store]:
    world = inn.world()
    for quiet in ("en_stranger", "en_sailor", "en_monk"):
        world = inn.moved(inn.with_status(world, quiet, "unconscious"), quiet, "pl_cellar")
    store = await Store.create(tmp_path / "inn.db", AuthoredWorld(world=world))
    yield store
    await store.close()


MEMORIES = (
    "{{e:en_sailor}} hid the silver lantern under the third step of the quay.",
    "{{e:en_stranger}} broke the lock of the boathouse and took the ferryman's oar.",
    "{{e:en_sailor}} asked {{e:en_bryn}} for a room.",
)


@pytest.mark.parametrize("retold", [verbatim, varied])
@pytest.mark.parametrize("origin", ["world", "hand", "handoff"])
async def test_what_was_recalled_and_told_again_adds_no_second_copy(
    opened: Store, inn: Inn, retold: Retold, origin: str
) -> None:
    tavern = Tavern(opened, inn, retold)
    told = [
        inn.memory(content, 30 + hours, who=("en_sailor",), importance=8).model_copy(update={"origin": origin})
        for hours, content in enumerate(MEMORIES)
    ]
    held = await tavern.remember(*told)
    await tavern.play(ROUNDS)
    assert tavern.model.recited > ROUNDS - 5
    mine = await tavern.ledger(TELLER)
    assert [entry for entry in mine if "nodded" not in entry.content] == sorted(held, key=lambda entry: entry.timestamp)
    assert await near_duplicates(opened, tavern.embedder, TELLER) == []
    sources = await opened.db.read(lambda conn: [len(opened.ledger.sources(conn, entry.id)) for entry in held])
    assert sum(sources) > ROUNDS / 2
    heard = [entry for entry in await tavern.ledger(LISTENER) if "lantern" in entry.content]
    assert len(heard) == 1
    assert await near_duplicates(opened, tavern.embedder, LISTENER) == []


async def test_a_teller_whose_lines_are_pinned_does_not_grow_its_memories_either(opened: Store, inn: Inn) -> None:
    tavern = Tavern(opened, inn, varied, pins=True)
    held = await tavern.remember(inn.memory(MEMORIES[0], 30, who=("en_sailor",), importance=8))
    await tavern.play(ROUNDS)
    assert [entry for entry in await tavern.ledger(TELLER) if "nodded" not in entry.content] == held
    [heard] = [entry for entry in await tavern.ledger(LISTENER) if "lantern" in entry.content]
    assert heard.content.count("lantern") <= 2


async def test_what_the_teller_says_first_is_news_and_the_rest_is_not(opened: Store, inn: Inn) -> None:
    """The first telling is an event of its own: nothing was recalled yet."""

    def tale(line: str, _: int) -> str:
        return line

    tavern = Tavern(opened, inn, tale)
    first = "The harbour master drowned behind the salt mill at dawn."
    said = [inn.said(first, 90, by=TELLER, to=(LISTENER,), owner=owner) for owner in (TELLER, LISTENER)]
    await opened.db.write(lambda conn: [opened.buffer.add(conn, entry) for entry in said])
    await tavern.play(ROUNDS)
    for owner in (TELLER, LISTENER):
        [entry] = [entry for entry in await tavern.ledger(owner) if "drowned" in entry.content]
        assert entry.version == 1
        assert await near_duplicates(opened, tavern.embedder, owner) == []
