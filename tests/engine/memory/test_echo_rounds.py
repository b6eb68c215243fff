"""Sixty rounds of the storyteller's own game in which two minds only repeat what they recall, each in five ways: no second copy."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import pytest

import engine.llm.opening
from engine.files.bundled import bundled_worlds
from engine.game import Game
from engine.llm.protocol import Completion, Heard, ModelRequest, Usage
from engine.llm.storyteller import Storyteller
from engine.memory.text import plain
from engine.memory.wording import content, held_by
from engine.records.base import EntityId
from engine.records.memory import BufferEntry, LedgerEntry
from engine.records.prompts import split_sections
from engine.storage.store import Store

WORLD = next(info.path for info in bundled_worlds() if info.slug == "salt-lantern")
TELLERS = ("tam_birrell", "orla_venn")
ROUNDS = 60
_MEMORY = re.compile(r"^  - (.+(?:\n    .+)*)", re.MULTILINE)
_SHARE, _ENOUGH = 0.8, 3
"""Share of a memory's content words that a copy holds, and content words below which there is nothing to copy."""
_ASKING = re.compile(r"\?|tell me|know|hear|listening|say that again|speak to me|ask", re.IGNORECASE)
_NAME = re.compile(r"\bI am [A-Z]|\bMy name is\b")


def verbatim(line: str) -> str:
    """The memory as the prompt has it."""
    return f'"{line}"'


def third(line: str) -> str:
    """As hearsay about somebody else."""
    return f'"They say {re.sub("^You", "a boy", line)} and I do not forget it."'


def quote(line: str) -> str:
    """Only what was said in it."""
    found = re.search(r"'([^']{8,})'", line)
    return f'"{found[1]}"' if found else '"Aye."'


def think(line: str) -> str:
    """To itself."""
    return f"*{line}*"


def half(line: str) -> str:
    """Broken off, as a question."""
    words = line.split()
    return f'"Do you remember {" ".join(words[: max(6, len(words) * 2 // 3)])}?"'


class Reciting(Storyteller):
    """The storyteller, but for two minds, who say or think one of the memories in their prompts and nothing else."""

    tell: Callable[[str], str]
    recited: list[EntityId]

    def _recital(self, request: ModelRequest) -> Completion | None:
        memories = _MEMORY.findall(split_sections(request.text).get("YOUR MEMORIES", ""))
        if request.task != "actor" or request.entity not in TELLERS or not memories:
            return None
        self.recited.append(request.entity)
        line = " ".join(memories[request.round % min(3, len(memories))].split()).replace("Quote: ", "").replace('"', "'")
        return Completion(text=type(self).tell(line), model=self.name, usage=Usage(prompt_tokens=1, reply_tokens=1))

    async def complete(self, request: ModelRequest, heard: Heard | None = None) -> Completion:
        return self._recital(request) or await super().complete(request)



class Kept(NamedTuple):
    """A memory with what it was made of."""

    entry: LedgerEntry
    sources: list[BufferEntry]

    @property
    def stems(self) -> frozenset[str]:
        return content(plain(self.entry.content, self.entry.quotes))

    def recitals(self, since: int) -> list[BufferEntry]:
        """What its owner said or thought after a round."""
        return [one for one in self.sources if one.intent.actor == self.entry.owner_id and one.round > since]

    def recites(self, since: int) -> bool:
        """Whether its owner's recitals were in it from the beginning."""
        return any(one.round <= self.entry.created_round for one in self.recitals(since))

    @property
    def has_news(self) -> bool:
        """Whether somebody else told something, and not only asked, or anybody gave a name, true or not."""
        others = [one.intent.text for one in self.sources if one.intent.actor != self.entry.owner_id]
        return any(not _ASKING.search(text) for text in others) or any(_NAME.search(one.intent.text) for one in self.sources)


async def kept(store: Store, owner: EntityId) -> list[Kept]:
    """The memories of one mind in order of writing."""

    def read(conn):  # type: ignore[no-untyped-def]
        gone = {one.entry.id: one.entry for one in store.buffer.archived(conn, owner)}
        gone |= {one.id: one for one in store.buffer.of_owner(conn, owner)}
        entries = sorted(store.ledger.of_owner(conn, owner), key=lambda entry: entry.seq)
        return [Kept(entry, [gone[key] for key in store.ledger.sources(conn, entry.id) if key in gone]) for entry in entries]

    found: list[Kept] = await store.db.read(read)
    return found


def copies(held: Iterable[Kept], since: int) -> list[tuple[str, str]]:
    """Pairs of a memory and of a later one, made of a recital and nobody's news, that has its content words or has no others."""
    earlier: list[Kept] = []
    found: list[tuple[str, str]] = []
    for one in held:
        if one.recites(since) and not one.has_news:
            for other in earlier:
                small = min(len(one.stems), len(other.stems)) < _ENOUGH
                if not small and max(held_by(other.stems, one.stems), held_by(one.stems, other.stems)) >= _SHARE:
                    found.append((other.entry.content, one.entry.content))
        earlier.append(one)
    return found


@pytest.mark.parametrize("tell", [verbatim, third, quote, think, half])
async def test_sixty_rounds_of_repeating_what_was_recalled_add_no_second_copy(
    tell: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recited: list[EntityId] = []
    monkeypatch.setattr(Reciting, "tell", staticmethod(tell), raising=False)
    monkeypatch.setattr(Reciting, "recited", recited, raising=False)
    monkeypatch.setattr(engine.llm.opening, "Storyteller", Reciting)
    game = await Game.create(WORLD, tmp_path / "save.db", 5)
    since = game.world.round
    for _ in range(ROUNDS):
        await game.step()
    store = await Store.open(tmp_path / "save.db", read_only=True)
    for owner in TELLERS:
        held = await kept(store, owner)
        assert recited.count(owner) > ROUNDS - 5
        assert copies(held, since) == []
        assert [pair for pair in await game.memory.near_duplicates(owner) if {pair.first, pair.second} & mine(held, since)] == []
        assert sum(len(one.recitals(since)) for one in held if not one.recites(since)) > ROUNDS / 10
    await store.close()
    await game.close()


def mine(held: Iterable[Kept], since: int) -> set[str]:
    """Memories made of recitals."""
    return {one.entry.id for one in held if one.recites(since)}
