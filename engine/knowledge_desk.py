"""Everything a person or a program asks of knowledge and does to it: lists, past, audit, review, scopes, edits by hand (DESIGN 10)."""

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Collection, Sequence
from functools import partial
from typing import TypeVar

from engine.errors import CapReachedError, KnowledgeError, ModelError, SaveError
from engine.events import KnowledgeChanged, Listener, PromotionCommitted
from engine.knowledge_sources import SourceLine, sources_of
from engine.knowledge_views import (
    AuditLine,
    BeliefLine,
    KnowledgeLine,
    PastLine,
    ReviewLine,
    ScopeChange,
    audit_line,
    belief_line,
    knowledge_line,
    knows,
    past_line,
    scope_change,
    speaks_of,
    told,
)
from engine.llm.protocol import Embedder
from engine.memory.embedding import embedded
from engine.memory.knowledge import by_hand, history, review, scopes
from engine.memory.knowledge.arriving import Arrival
from engine.memory.knowledge.by_hand import KnowledgeEdit
from engine.memory.knowledge.engine import KnowledgeEngine
from engine.memory.knowledge.history import Question
from engine.memory.knowledge.shadows import once
from engine.memory.text import bare
from engine.records.base import EntityId
from engine.records.knowledge import (
    AuditAction,
    Cause,
    FactionChange,
    Knowledge,
    KnowledgeId,
    KnowledgeKind,
    PromotionRun,
    Scope,
    Term,
    Tier,
)
from engine.records.policies import Policies
from engine.records.world import Entity, World
from engine.storage.knowledge import ALL_TIERS
from engine.storage.store import Store

__all__ = [
    "AuditLine", "BeliefLine", "KnowledgeDesk", "KnowledgeEdit", "KnowledgeLine", "PastLine", "Question", "ReviewLine", "ScopeChange",
]  # fmt: skip

T = TypeVar("T")
SetFactions = Callable[[EntityId, Sequence[str]], Awaitable[tuple[FactionChange, ...]]]

LONGEST_FACTION = 60


class KnowledgeDesk:
    """A person's desk over the knowledge of one open save. `world` gives the world as of the last commit.

    Looking changes nothing. Each change is one transaction, told of when it is safe on disk, and leaves versions and audit rows; each can
    be taken back by `restore`, `rescope`, `reverse`. What cannot be done raises `KnowledgeError`, whose `kind` programs can go by, or for
    words that cannot be kept `CommandError`; then nothing was changed.

    `viewer` is in whose names things are told: by true names for None.
    """

    def __init__(
        self, store: Store, world: Callable[[], World], engine: KnowledgeEngine, embedder: Embedder, policies: Policies, emit: Listener,
        set_factions: SetFactions,
    ) -> None:
        self._store, self._world, self._engine, self._embedder, self._emit = store, world, engine, embedder, emit
        self._policy, self._patience, self._set_factions = policies.promotion, policies.recall.patience, set_factions

    # looking; nothing here changes anything
    async def known_by(
        self, entity: EntityId, *, tiers: Collection[Tier] = ALL_TIERS, subject: EntityId | None = None, term: Term | None = None,
        text: str = "", viewer: EntityId | None = None,
    ) -> Sequence[KnowledgeLine]:
        """What an entity believes now, in order of writing: its own, its factions', everybody's, and what it keeps of factions left."""
        mind = self._mind(entity)

        def run(conn: sqlite3.Connection) -> list[Knowledge]:
            return once(self._store.knowledge.held_by(conn, entity, mind.factions, tiers=tiers, subject=subject, term=term))

        return await self._lines(run, text, viewer)

    async def list(
        self, *, owner: EntityId | None = None, scope: Scope | None = None, scope_id: str | None = None, tiers: Collection[Tier] = (),
        subject: EntityId | None = None, term: Term | None = None, kind: KnowledgeKind | None = None, holding: bool | None = True,
        text: str = "", after: int = 0, limit: int = 500, newest: bool = False, viewer: EntityId | None = None,
    ) -> Sequence[KnowledgeLine]:
        """Pieces that fit every filter given, whoever holds them, in order of writing or the newest first: those that hold, with `holding`
        False those that have ended, with None both. `text` are words that must stand in them. The next page is `after` the last row's
        `seq`."""
        find = partial(
            self._store.knowledge.find, owner=owner, scope=scope, scope_id=scope_id, tiers=tiers, subject=subject, term=term, kind=kind,
            holding=holding, after=after, limit=limit, newest=newest,
        )
        return await self._lines(find, text, viewer)

    async def get(self, key: KnowledgeId, viewer: EntityId | None = None) -> KnowledgeLine:
        """One piece."""
        [line] = await self._lines(lambda conn: [by_hand.living(conn, self._store, key)], "", viewer)
        return line

    async def history(self, key: KnowledgeId, viewer: EntityId | None = None) -> PastLine:
        """How a piece came to be what it is: all its wordings and what was done to it. Also of one that is no more."""
        past, item = await self._store.db.read(
            lambda conn: (history.past_of(conn, self._store, key), self._store.promotions.waiting_for(conn, key))
        )
        return past_line(self._world(), past, viewer, item)

    async def sources(self, key: KnowledgeId, viewer: EntityId | None = None) -> Sequence[SourceLine]:
        """Who said what, and when, that a piece was taken from."""
        world = self._world()
        return await self._store.db.read(
            lambda conn: sources_of(conn, self._store, world, by_hand.living(conn, self._store, key), viewer)
        )

    async def audit(
        self, *, owner: EntityId | None = None, knowledge: KnowledgeId | None = None, session: str | None = None, run: str | None = None,
        actions: Collection[AuditAction] = (), causes: Collection[Cause] = (), first_round: int | None = None,
        last_round: int | None = None, before: int | None = None, limit: int = 100, viewer: EntityId | None = None,
    ) -> Sequence[AuditLine]:
        """The newest rows of the audit trail that fit every filter given, newest first. The next page is `before` the last row's `seq`."""
        rows = await self._store.db.read(
            lambda conn: self._store.audit.find(
                conn, owner=owner, knowledge=knowledge, session=session, run=run, actions=actions, causes=causes,
                first_round=first_round, last_round=last_round, before=before, limit=limit,
            )
        )
        return [audit_line(self._world(), row, viewer) for row in rows]

    async def runs(self, limit: int = 50) -> Sequence[PromotionRun]:
        """The newest promotions, newest first."""
        return await self._store.db.read(lambda conn: self._store.promotions.runs(conn, limit))

    async def queue(self, viewer: EntityId | None = None) -> Sequence[ReviewLine]:
        """All that waits for a person, oldest first, with who would come to know it."""
        world = self._world()

        def run(conn: sqlite3.Connection) -> Sequence[ReviewLine]:
            found = []
            for item in self._store.promotions.waiting(conn):
                [row] = self._store.knowledge.get(conn, [item.knowledge_id])
                keepers = self._store.knowledge_history.keepers(conn, row.id)
                found.append(
                    ReviewLine(
                        item=item, line=knowledge_line(world, row, viewer, item), reason=told(world, item.reason, viewer),
                        change=scope_change(world, row, (item.scope, item.scope_id), keepers, viewer),
                    )
                )
            return found

        return await self._store.db.read(run)

    async def believed_at(
        self, entity: EntityId, round_number: int, about: EntityId | None = None, query: str = "", viewer: EntityId | None = None
    ) -> Sequence[BeliefLine]:
        """What an entity believed at the end of a round, worded as it was then, with what has become of it since. With `about` only what
        is about or speaks of that one; with `query` only what has words of it, most of them first."""
        self._mind(entity)
        world = self._world()
        found = await self._store.db.read(
            lambda conn: history.believed_at(conn, self._store, world, entity, round_number, about, query, viewer)
        )
        return [belief_line(world, belief, viewer) for belief in found]

    def question(self, text: str, viewer: EntityId | None = None) -> Question:
        """What a question in words asks: "What did Mira believe about Gareth at round 12?" The present round when it names none."""
        return history.question(self._world(), text, viewer)

    async def ask(self, text: str, viewer: EntityId | None = None) -> Sequence[BeliefLine]:
        """The answer to such a question."""
        return await self.answer(self.question(text, viewer), viewer)

    async def answer(self, asked: Question, viewer: EntityId | None = None) -> Sequence[BeliefLine]:
        """The same, of a question that was understood. When it asks who knows, each piece says who."""
        if asked.entity is not None:
            return await self.believed_at(asked.entity, asked.round, asked.about, asked.query, viewer)
        world = self._world()
        found = await self._store.db.read(
            lambda conn: history.known_at(conn, self._store, world, asked.round, asked.about, asked.query, viewer)
        )
        return [belief_line(world, belief, viewer, believers) for belief, believers in found]

    async def who_knows(self, key: KnowledgeId) -> Sequence[EntityId]:
        """Who knows a piece now."""
        row, keepers = await self._with_keepers(key)
        return knows(self._world(), row, keepers) if row.holds else ()

    async def who_would_know(self, key: KnowledgeId, scope: Scope, scope_id: str = "", viewer: EntityId | None = None) -> ScopeChange:
        """What widening or narrowing a piece would come to, before it happens: who would come to know it, who no longer."""
        world = self._world()
        row, keepers = await self._with_keepers(key)
        twins = await self._store.db.read(lambda conn: review.twins(conn, self._store, row))
        return scope_change(world, row, scopes.checked(world, scope, scope_id, (row.scope_id,)), keepers, viewer, twins)

    def factions(self) -> Sequence[str]:
        """All factions that somebody is in, in order of their names."""
        return scopes.known_factions(self._world())

    async def faction_changes(self, entity: EntityId | None = None) -> Sequence[FactionChange]:
        """Who joined and left what, oldest first."""
        return await self._store.db.read(lambda conn: self._store.knowledge_history.faction_changes(conn, entity))

    # review
    async def approve(self, item: str) -> Knowledge:
        """Let a piece that waits become what it would have. `item` is the queue's key or the knowledge's, as for all of review."""
        return await self._arrived(lambda conn: review.approve(conn, self._store, self._world(), item, self._policy))

    async def reject(self, item: str) -> Knowledge:
        """Let a piece that waits go: believed no longer. `restore` brings it back."""
        row = await self._store.db.write(lambda conn: review.reject(conn, self._store, self._world(), item))
        self._emit(KnowledgeChanged(changed=(row,)))
        return row

    async def rescope(self, key: KnowledgeId, scope: Scope, scope_id: str = "") -> Knowledge:
        """Widen or narrow who holds a piece: an entity, a faction, or the world. One that waits is decided on so."""
        world = self._world()
        [row] = (await self._store.db.read(lambda conn: [by_hand.living(conn, self._store, key)]))
        to = scopes.checked(world, scope, scope_id, (row.scope_id,))
        return await self._arrived(lambda conn: review.rescope(conn, self._store, self._world(), key, to))

    async def narrow(self, key: KnowledgeId) -> Knowledge:
        """Leave a piece to its owner alone."""
        [row] = (await self._store.db.read(lambda conn: [by_hand.living(conn, self._store, key)]))
        return await self._arrived(lambda conn: review.rescope(conn, self._store, self._world(), key, ("entity", row.owner_id)))

    async def reverse(self, key: KnowledgeId) -> Sequence[Knowledge]:
        """Take a promotion back, also one that merged a piece into another. It is not promoted anew until more is told of it."""
        changed = await self._store.db.write(lambda conn: review.reverse(conn, self._store, self._world(), key))
        now = await self._store.db.read(lambda conn: self._store.knowledge.get(conn, [row.id for row in changed]))
        there = {row.id for row in now}
        self._emit(KnowledgeChanged(changed=tuple(now), gone_ids=tuple(row.id for row in changed if row.id not in there)))
        await self._embed(now)
        return now

    async def promote_now(self) -> PromotionRun | None:
        """Promote what is sure and old enough, whenever the last promotion was; None when there is nothing to be looked at.

        Model calls are made first; what changes meanwhile is left for the next time. A model that fails is told of in the run's notes.
        """
        promotion = await self._engine.propose(self._world())
        if promotion is None:
            return None
        run = await self._store.db.write(lambda conn: self._engine.commit(conn, self._world(), promotion))
        self._emit(PromotionCommitted(run=run))
        return run

    # by hand
    async def add(
        self, owner: EntityId, text: str, *, scope: Scope = "entity", scope_id: str = "", kind: KnowledgeKind = "fact",
        subject: EntityId | None = None, topic: str = "", rationale: str = "", confidence: float = 1.0, importance: int = 5,
        sensitive: bool = False, pinned: bool = False,
    ) -> Knowledge:
        """Let `owner`, or with a wider scope its holders, know something in a person's words. What it contradicts there is retired.

        `text` names people as the owner calls them, by true name, as `@id` or by reference token.
        """
        world = self._world()
        holder = scopes.checked(world, scope, scope_id or owner)
        new = by_hand.draft(
            world, owner, text, holder=holder, kind=kind, subject=subject, topic=topic, rationale=rationale, confidence=confidence,
            importance=importance, sensitivity="sensitive" if sensitive else "plain", pinned=pinned,
        )
        return await self._arrived(lambda conn: by_hand.add(conn, self._store, self._world(), new))

    async def edit(self, key: KnowledgeId, change: KnowledgeEdit) -> Knowledge:
        """Change words, subject, topic, sureness, weight, sensitivity or pin of a piece. Earlier versions stay readable. One that waits
        goes on waiting."""
        return await self._arrived(lambda conn: by_hand.edit(conn, self._store, self._world(), key, change))

    async def delete(self, key: KnowledgeId) -> None:
        """Take a piece away; `restore` brings it back."""
        await self._store.db.write(lambda conn: by_hand.delete(conn, self._store, self._world(), key))
        self._emit(KnowledgeChanged(gone_ids=(key,)))

    async def restore(self, key: KnowledgeId, version: int | None = None) -> Knowledge:
        """Bring back a piece that was deleted, has ended or has sunk; with `version` also put it as it read then."""
        return await self._arrived(lambda conn: by_hand.restore(conn, self._store, self._world(), key, version))

    async def set_factions(self, entity: EntityId, factions: Sequence[str]) -> Sequence[FactionChange]:
        """Let somebody be in these factions and no others. Those joined teach what they know; what is known of those left is kept."""
        self._mind(entity)
        wanted = [" ".join(faction.split()) for faction in factions]
        for faction in wanted:
            if not faction or len(faction) > LONGEST_FACTION or not faction.isprintable():
                raise KnowledgeError(f'"{faction[:60]}" is no name of a faction.', "Use a few words.", kind="bad_value")
        return await self._set_factions(entity, wanted)

    # the ways of all these
    def _mind(self, entity: EntityId) -> Entity:
        mind = self._world().entities.get(entity)
        if mind is None:
            raise KnowledgeError("Nobody here has that id.", "Choose one of the people of this world.", kind="unknown_entity")
        return mind

    async def _with_keepers(self, key: KnowledgeId) -> tuple[Knowledge, Sequence[EntityId]]:
        return await self._store.db.read(
            lambda conn: (by_hand.living(conn, self._store, key), self._store.knowledge_history.keepers(conn, key))
        )

    async def _lines(
        self, find: Callable[[sqlite3.Connection], Sequence[Knowledge]], text: str, viewer: EntityId | None
    ) -> Sequence[KnowledgeLine]:
        world = self._world()
        found, waiting = await self._store.db.read(lambda conn: (find(conn), self._store.promotions.waiting(conn)))
        items = {item.knowledge_id: item for item in waiting}
        lines = await asyncio.to_thread(lambda: [knowledge_line(world, row, viewer, items.get(row.id)) for row in found])
        return [line for line in lines if speaks_of(line, text)]

    async def _arrived(self, change: Callable[[sqlite3.Connection], Arrival]) -> Knowledge:
        """Write a change, tell of it, and embed what was reworded if the embedder answers; else that is done later."""
        arrival = await self._store.db.write(change)
        self._emit(KnowledgeChanged(changed=(arrival.row, *arrival.retired), gone_ids=arrival.gone))
        await self._embed([arrival.row])
        return arrival.row

    async def _embed(self, rows: Sequence[Knowledge]) -> None:
        model = self._embedder.name
        held = await self._store.db.read(lambda conn: self._store.embeddings.of_knowledge(conn, [row.id for row in rows], model))
        missing = [row for row in rows if row.id not in held]
        if not missing:
            return
        try:
            vectors = await asyncio.wait_for(embedded(self._embedder, [bare(row.content) for row in missing]), self._patience)
            blobs = [vector.tobytes() for vector in vectors]
            await self._store.db.write(lambda conn: self._put(conn, missing, blobs))
        except (ModelError, CapReachedError, SaveError, TimeoutError):  # the piece itself is safe: words find it
            return

    def _put(self, conn: sqlite3.Connection, rows: Sequence[Knowledge], blobs: Sequence[bytes]) -> None:
        now = {row.id: row.content for row in self._store.knowledge.get(conn, [row.id for row in rows])}
        for row, blob in zip(rows, blobs, strict=True):
            if now.get(row.id) == row.content:
                self._store.embeddings.put(conn, "knowledge", row.id, self._embedder.name, self._embedder.dim, blob)
