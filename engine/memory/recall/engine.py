"""Recall for one entity at one moment: query, focus, the tiers side by side, choice and receipts (DESIGN 8)."""

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache

import numpy as np

from engine.llm.protocol import Embedder
from engine.llm.tokens import estimate_tokens
from engine.memory.lore import Line
from engine.memory.recall.chaining import chain, room_for_chain
from engine.memory.recall.choosing import Choice, Chooser, Offer
from engine.memory.recall.dispatch import side_by_side, within
from engine.memory.recall.focus import focus
from engine.memory.recall.knowledge import KnowledgeTier, Known, Moment, scene_words
from engine.memory.recall.names import known_names
from engine.memory.recall.once import Once
from engine.memory.recall.pool import Asked, LedgerTier, Pool
from engine.memory.recall.query import asked_query, scene_query
from engine.memory.recall.receipts import candidates, receipts
from engine.memory.recall.repeats import says_the_same
from engine.memory.recall.rested import Rested
from engine.memory.recall.vectors import BUDGET, OwnerVectors, VectorCache
from engine.memory.text import plain
from engine.mind.aliases import is_name
from engine.mind.perception import reach
from engine.mind.voice import remembered
from engine.records.base import BufferId, EntityId
from engine.records.knowledge import Knowledge
from engine.records.memory import BufferEntry, LedgerEntry
from engine.records.policies import Policies
from engine.records.prompts import KnownThing, Recollection
from engine.records.tokens import referred
from engine.records.world import World
from engine.storage.store import Store

_SPARE = 16
"""Ranked entries that are fetched beyond what the section holds: repeats fall out, and the next five have receipts."""
_FEW = 9
"""As `_SPARE`, where nobody looks at receipts: mostly enough to settle what is chosen."""
_LINE_TOKENS = 4
"""Tokens of a memory's line beside its text: dash, time words, `Quote:`."""
_UNREAD = "Long-term memory could not be read"


class RecallEngine:
    """Chooses memories and knowledge for prompts. Only reads: what a prompt recalled is never source material (invariant 11)."""

    def __init__(self, store: Store, embedder: Embedder, policies: Policies, budget_bytes: int = BUDGET) -> None:
        embedder = Once(Rested(embedder, policies.recall.patience))
        self._store, self._embedder, self._policy = store, embedder, policies.recall
        self._ledger = LedgerTier(store, embedder, policies.recall, VectorCache(budget_bytes))
        self._knowledge = KnowledgeTier(store, embedder, policies.recall.patience)

    def forget(self, entity_id: EntityId) -> None:
        """Drop what is held of an entity's ledger. For changes that no handoff made: hand edits, undo."""
        self._ledger.forget(entity_id)

    def forget_knowledge(self) -> None:
        """Drop what is held of what minds know: it has changed, or who may know it, or it has been embedded."""
        self._knowledge.forget()

    def renew_knowledge(self, rows: Iterable[Knowledge]) -> None:
        """Take in how often rows have been used by now."""
        self._knowledge.renew(rows)

    async def recall(
        self,
        world: World,
        entity_id: EntityId,
        entries: Sequence[BufferEntry],
        now: datetime,
        *,
        budget: int | None = None,
        count_tokens: Callable[[str], int] = estimate_tokens,
        query: str | None = None,
        explained: bool = True,
    ) -> Recollection:
        """What comes to the mind of `entity_id`, whose buffer is `entries`: memories best first, and what it knows of the world.

        At most `policy.section_limit` memories and, with `budget`, as many tokens. `query` asks in a person's words instead of the
        scene's: those it names are in focus. Without `explained` the same comes to mind, with neither receipts nor candidates: they
        are for eyes, and cost a third of it all. Never raises for trouble with the save or the embedder, nor waits longer than
        `policy.patience` for either: it finds what it can and says what was missing.
        """
        me, present = world.entities[entity_id], reach(world, entity_id).here
        names = known_names(world, entity_id, present)
        others = {name: entity for name, entity in names.items() if is_name(name) and entity != entity_id}
        attention = focus(entity_id, entries, present, others, self._policy)
        asked = scene_query(world, entity_id, entries, attention, names) if query is None else asked_query(query, names)
        attention = tuple(entity for entity in asked.named if entity in world.entities) or attention

        @cache
        def scene() -> str:
            return asked.text if query is not None else scene_words(world, entity_id, entries)

        by_person = query is not None
        put = Asked(entity_id, None if by_person else me.place, attention, asked, now, by_person=by_person, explained=explained)
        moment = Moment(me, scene, asked, now, attention, () if by_person else present, by_person)
        known = self._knowledge.at_once(moment)
        if known is not None:
            pool, missing = await self._ledger.pool(put)
        else:
            (pool, unread), (known, unknown) = await side_by_side(self._ledger.pool(put), self._knowledge.bearing(moment))
            missing = (*unread, *unknown)
        problems = dict.fromkeys(missing)
        choice: Choice | None = None
        if pool is not None:
            choice, unread = await within(self._policy.patience, self._choose(pool, known, put, budget, count_tokens), _UNREAD)
            problems |= dict.fromkeys(unread)
        choice = choice or Choice()
        return Recollection(
            query=asked.text,
            focus=attention,
            entries=tuple(offer.entry for offer, _ in choice.chosen),
            known=tuple(KnownThing(source=line.source, text=line.text) for line in known.lines if line.source not in choice.untold),
            receipts=receipts(world, entity_id, pool, choice, known, count_tokens) if explained else (),
            candidates=candidates(pool, choice) if explained and pool is not None else (),
            problems=tuple(problems),
        )

    async def _choose(
        self, pool: Pool, known: Known, asked: Asked, budget: int | None, count_tokens: Callable[[str], int]
    ) -> Choice:
        """The entries for the prompt. Texts are read for the front of the ranking only, and further back while repeats leave room."""
        policy, vectors, ranked = self._policy, pool.vectors, pool.ranked
        room = room_for_chain(policy, budget)
        near = chain(ranked.rows, vectors.neighbours, policy) if room else []
        if budget is not None:  # what is known comes first, as in the prompt: a third at the most
            budget -= min(budget // 3, sum(count_tokens(line.text) for line in known.lines))
        offers: dict[int, Offer] = {}
        whole = policy.section_limit + _SPARE
        depth = whole if asked.explained else policy.section_limit + _FEW
        while True:
            front = ranked.rows[:depth]
            wanted = [row for row in dict.fromkeys([*front, *near]) if row not in offers]
            for row, entry, sources in await self._fetch(vectors, wanted):
                tokens = count_tokens(plain(entry.content, entry.quotes)) + _LINE_TOKENS
                offers[row] = Offer(row, entry, frozenset(entry.involved_entity_ids), sources, tokens, ranked.place(row))
            beside = [offers[row]._replace(rank=0) for row in near if row in offers and row not in front[: policy.section_limit]]
            same = _known_too(known, vectors, offers, asked.owner, self._embedder.same)
            chooser = Chooser(policy.section_limit, budget, self._embedder.same, vectors.cosine, same)
            choice = chooser.choose([offers[row] for row in front if row in offers], beside, room)
            if depth < whole:  # what is chosen must not depend on whether somebody looks
                if choice.settled:
                    return choice
                depth = whole
                continue
            if len(choice.chosen) >= policy.section_limit or depth >= len(ranked.rows) or choice.full:
                return choice
            depth *= 2

    async def _fetch(
        self, vectors: OwnerVectors, rows: Sequence[int]
    ) -> list[tuple[int, LedgerEntry, frozenset[BufferId]]]:
        """Entries of some rows, with what they were made of. Rows that are gone are left out."""
        store, by_seq = self._store, dict(zip(vectors.seqs(rows), rows, strict=True))

        def read(conn: sqlite3.Connection) -> list[tuple[int, LedgerEntry, frozenset[BufferId]]]:
            entries = store.ledger.numbered(conn, by_seq)
            sources = store.ledger.sources_of(conn, [entry.id for entry in entries])
            return [(by_seq[entry.seq], entry, frozenset(sources.get(entry.id, ()))) for entry in entries]

        return await store.db.read(read)


def _known_too(
    known: Known, vectors: OwnerVectors, offers: Mapping[int, Offer], owner: EntityId, same: float
) -> dict[int, Line]:
    """By row the line of knowledge that tells the same of the same people."""
    if known.vectors is None or not offers:
        return {}
    rows = np.array(list(offers), dtype=np.int64)
    found: dict[int, Line] = {}
    for line, vector in zip(known.lines, known.vectors, strict=True):
        about = set(referred(line.text)) - {owner}
        for row in rows[vectors.cosines(rows, vector) >= same].tolist():
            entry = offers[row].entry
            if row not in found and set(remembered(entry)) - {owner} == about and says_the_same(entry, line):
                found[row] = line
    return found
