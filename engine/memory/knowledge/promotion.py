"""Which short-term knowledge has earned to become long-term, and whose it becomes (DESIGN 10). Writes nothing: `promoting.commit` does.

Scan, validate (rule first, then task `validate`), de-duplicate and merge, scope. Model calls are made here, beside play, outside of any
transaction.
"""

import asyncio
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Literal, NamedTuple

from engine.errors import CapReachedError, ModelError
from engine.llm.protocol import Embedder
from engine.memory.embedding import TextVectors, Vectors, from_bytes
from engine.memory.knowledge.checking import Checker
from engine.memory.knowledge.conflict import CONTRADICTS, comparable
from engine.memory.knowledge.merging import can_be_one, is_sensitive, merged
from engine.memory.knowledge.nearness import Thresholds, cosine, thresholds
from engine.memory.knowledge.scopes import Holder, holder_of, is_wider, targets
from engine.memory.knowledge.settling import AT_ONCE, MOST_ASKED, Near, is_doubtful, is_new, is_same, over_in_part, stands_to
from engine.memory.text import bare
from engine.records.base import EntityId
from engine.records.knowledge import Knowledge, KnowledgeId, PromotionPolicy
from engine.records.world import World
from engine.storage.knowledge_queries import put_together
from engine.storage.rows import Row
from engine.storage.store import Store

Fate = Literal["promoted", "merged", "flagged", "discarded"]


class Move(NamedTuple):
    """One change to be written."""

    kind: Literal["promote", "copy", "merge", "absorb", "flag", "discard", "retire"]
    row: Knowledge
    """As it is to be; of one that is absorbed or flagged as it was read."""
    why: str
    """For people, with reference tokens."""
    holder: Holder | None = None
    """Of one that is flagged: whose it would become."""


class Decision(NamedTuple):
    """What becomes of one candidate."""

    key: KnowledgeId
    fate: Fate
    moves: tuple[Move, ...]
    seen: Mapping[KnowledgeId, Knowledge]
    """All that it was held against, as read: it holds only while that is so."""


@dataclass(frozen=True, slots=True)
class Promotion:
    """What a promotion would do."""

    at: datetime
    """World time of the scan."""
    scanned: int
    newest: int
    """The highest `seq` of all that was scanned."""
    model: str
    """Of the vectors that it went by."""
    decisions: tuple[Decision, ...]
    tokens: int = 0
    notes: tuple[str, ...] = ()
    error: str = ""
    """Why nothing could be decided, for people."""


class _Read(NamedTuple):
    """Rows as they were read."""

    candidates: tuple[Knowledge, ...]
    held: Mapping[EntityId, Sequence[Row]]
    """What the owners of candidates know, not put together yet."""
    there: Mapping[Holder, Sequence[Row]]
    """What is known where candidates would go."""


class Scan(NamedTuple):
    """What a promotion is about."""

    candidates: tuple[Knowledge, ...]
    others: Mapping[KnowledgeId, tuple[Knowledge, ...]]
    """For each candidate what its owner knows, and what is known where it would go, as far as it bears on it."""
    newest: int
    """The highest `seq` of all that was read."""


class Promoter:
    """Decides on what is short-term. `commit` is apart, so that it happens between two rounds."""

    def __init__(self, store: Store, embedder: Embedder, checker: Checker, policy: PromotionPolicy) -> None:
        self._store, self._embedder, self._checker, self._policy = store, embedder, checker, policy

    async def due(self, world: World) -> bool:
        """Whether it is time: there are candidates, and the last run, or for the first one the oldest of them, is long enough ago."""
        return await self._store.db.read(partial(self._due, world=world))

    async def propose(self, world: World) -> Promotion | None:
        """What a promotion would do now, due or not; None when nothing is to be looked at.

        A candidate over which a model fails stays as it is, with a note, and is looked at again the next time. Raises nothing that the
        model raises.
        """
        read = await self._store.db.read(partial(self._read, world=world))
        if not read.candidates:
            return None
        scan = await asyncio.to_thread(_scanned, world, self._policy, read)
        try:
            vectors = await self._embedded(scan)
        except ModelError as error:
            return Promotion(world.now, len(scan.candidates), scan.newest, self._embedder.name, (), error=str(error))
        promoting = _Promoting(world, self._policy, thresholds(self._policy, self._embedder), vectors, self._checker)
        for one in scan.candidates:
            try:
                await promoting.decide(one, scan.others[one.id])
            except CapReachedError as error:
                promoting.notes.append(f"the rest waits: {error}")
                break
            except ModelError as error:
                promoting.notes.append(f"{one.id} could not be validated and waits for the next run: {error}")
            await asyncio.sleep(0)
        return Promotion(
            world.now, len(scan.candidates), scan.newest, self._embedder.name, tuple(promoting.decisions), promoting.tokens,
            tuple(promoting.notes),
        )

    def _before(self, world: World) -> datetime:
        """Until when a candidate must have been written."""
        return _back(world.now, self._policy.age_hours)

    def _candidates(self, conn: sqlite3.Connection, world: World) -> list[Knowledge]:
        found = self._store.knowledge.candidates(conn, self._policy.confidence, self._before(world))
        return [one for one in found if not self._reversed(conn, one.id)]

    def _reversed(self, conn: sqlite3.Connection, key: KnowledgeId) -> bool:
        """Whether a person took its promotion back, and nothing has been added to it since."""
        last = self._store.audit.find(conn, knowledge=key, actions=("reversed", "merged", "edited"), limit=1)
        return bool(last) and last[0].action == "reversed"

    def _due(self, conn: sqlite3.Connection, world: World) -> bool:
        last = self._store.promotions.last_run(conn)
        since = _back(world.now, self._policy.every_hours)
        if last is not None and last.timestamp > since:
            return False
        return any(last is not None or one.created <= since for one in self._candidates(conn, world))

    def _read(self, conn: sqlite3.Connection, world: World) -> "_Read":
        candidates = tuple(self._candidates(conn, world))
        held: dict[EntityId, list[Row]] = {}
        there: dict[Holder, list[Row]] = {}
        for one in candidates:
            if one.owner_id not in held:
                owner = world.entities.get(one.owner_id)
                held[one.owner_id] = self._store.knowledge.rows_held_by(conn, one.owner_id, owner.factions if owner else ())
            for scope, scope_id in targets(world, one, self._policy):
                if (scope, scope_id) not in there:
                    there[scope, scope_id] = self._store.knowledge.rows_of_holder(conn, scope, scope_id)
        return _Read(candidates, held, there)

    async def _embedded(self, scan: Scan) -> dict[KnowledgeId, Vectors]:
        """Vectors of all that the scan found, made where there are none yet."""
        rows = {row.id: row for one in scan.candidates for row in (one, *scan.others[one.id])}
        find = partial(self._store.embeddings.of_knowledge, keys=sorted(rows), model=self._embedder.name)
        known = {key: from_bytes(blob) for key, blob in (await self._store.db.read(find)).items()}
        missing = [row for key, row in rows.items() if key not in known]
        made = await TextVectors(self._embedder).of([bare(row.content) for row in missing])
        return known | {row.id: vector for row, vector in zip(missing, made, strict=True)}


@dataclass(slots=True)
class _Promoting:
    """A promotion on its way: each candidate meets what those before it came to."""

    world: World
    policy: PromotionPolicy
    limits: Thresholds
    vectors: Mapping[KnowledgeId, Vectors]
    checker: Checker
    decisions: list[Decision] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    tokens: int = 0
    _now: dict[KnowledgeId, Knowledge | None] = field(default_factory=dict)
    """Rows as they have come to be; None for one that is gone."""
    _copies: int = 0

    async def decide(self, one: Knowledge, others: Sequence[Knowledge]) -> None:
        """Decide on one candidate. Raises `ModelError`, `CapReachedError`; then it is as before."""
        to = targets(self.world, one, self.policy)
        wide = any(is_wider(holder, holder_of(one)) for holder in to)
        sensitive = one.sensitivity == "sensitive" or is_sensitive(f"{bare(one.content)} {bare(one.rationale)}", self.policy.sensitive)
        if sensitive and wide:
            self._take(one, "flagged", [Move("flag", one, "it is sensitive, and more would come to know it", to[0])], {})
            return
        others = [*others, *self._joined(one, others, to)]
        now = [row for other in others if (row := self._now.get(other.id, other)) is not None and row.holds]
        near = self._near(one, now) if len(now) < AT_ONCE else await asyncio.to_thread(self._near, one, now)
        same = await self._validated(one, near)
        read = {other.id: other for other in others if not is_new(other.id)}
        seen = {each.row.id: read[each.row.id] for each in near if each.row.id in read and self._counts(each, one)}
        against = [each for each in near if each.relation in CONTRADICTS]
        if lost := [each for each in against if not self._overthrows(one, each)]:
            self._fail(one, lost[0], to, flagged=sensitive or wide, seen=seen)
            return
        fate, placed = self._placed(one, [each for each in near if each.row.id in same or is_same(each, one, self.limits)], to)
        over = self._retirements(one, [each.row for each in against], to, by=placed[0].row.id)
        self._take(one, fate, [*placed, *over], seen)

    def _near(self, one: Knowledge, now: Sequence[Knowledge]) -> list[Near]:
        return [Near(row, stands_to(row, one), self._cosine(row, one), _one_topic(row, one)) for row in now]

    def _joined(self, one: Knowledge, others: Sequence[Knowledge], to: Sequence[Holder]) -> list[Knowledge]:
        """What this very promotion brings to where the candidate would go."""
        known = {one.id, *(other.id for other in others)}
        return [row for key, row in self._now.items() if row and key not in known and holder_of(row) in to and bears_on(row, one)]

    async def _validated(self, one: Knowledge, near: Sequence[Near]) -> set[KnowledgeId]:
        """Let the model look at what no rule is sure of, and note what contradicts. Returns what it finds to say the same.

        What met when it was settled has been looked at.
        """
        doubtful = [
            each for each in near
            if is_doubtful(each, one, self.limits) and not is_same(each, one, self.limits) and not _settled(each.row, one)
        ]  # fmt: skip
        doubtful.sort(key=lambda each: (not each.one_topic, -each.cosine, each.row.seq))
        doubtful = doubtful[:MOST_ASKED]
        if not doubtful:
            return set()
        verdict = await self.checker.judge(self.world, one, [each.row for each in doubtful])
        self.tokens += verdict.tokens
        named = [each for each in doubtful if each.row.id in verdict.against]
        if verdict.verdict == "contradicted":
            for each in named:
                each.relation = each.relation if over_in_part(each.row, one) else "disputes"
        return {each.row.id for each in named if verdict.verdict == "supported" and can_be_one(each.row, one)}

    def _counts(self, near: Near, one: Knowledge) -> bool:
        """Whether a decision hangs on a piece."""
        return near.relation != "apart" or is_doubtful(near, one, self.limits)

    def _cosine(self, row: Knowledge, one: Knowledge) -> float:
        return cosine(self.vectors.get(row.id), self.vectors.get(one.id))

    def _overthrows(self, one: Knowledge, other: Near) -> bool:
        """Whether a candidate stands against what contradicts it: it is later, and what it says ends the other or is as sure as it."""
        if other.row.authored or one.valid_from < other.row.valid_from:
            return False
        return other.relation == "ends" or one.confidence >= other.row.confidence

    def _fail(self, one: Knowledge, lost: Near, to: Sequence[Holder], *, flagged: bool, seen: Mapping[KnowledgeId, Knowledge]) -> None:
        why = f"it is contradicted by what is known: {lost.row.content}"
        own = holder_of(lost.row) == holder_of(one)
        ended = max(one.valid_from, lost.row.valid_from) if lost.row.valid_from > one.valid_from else self.world.now
        over = one.model_copy(update={"valid_to": ended, "superseded_by": lost.row.id})
        if not flagged:
            self._take(one, "discarded", [Move("discard", over, why)], seen)
        else:
            believed = [] if not own else [Move("discard", over, why)]  # two that contradict are not believed by one mind
            self._take(one, "flagged", [*believed, Move("flag", one, why, to[0])], seen)

    def _retirements(self, one: Knowledge, against: Sequence[Knowledge], to: Sequence[Holder], by: KnowledgeId) -> list[Move]:
        """What the candidate, told `by` this row now, ends where it is held or comes to be held. What others hold is theirs to believe."""
        reach = {*to, holder_of(one)}
        return [
            Move(
                "retire", row.model_copy(update={"valid_to": max(row.valid_from, one.valid_from), "superseded_by": by}),
                f"it is over, or contradicted: {one.content}",
            )
            for row in against if holder_of(row) in reach
        ]  # fmt: skip

    def _placed(self, one: Knowledge, same: Sequence[Near], to: Sequence[Holder]) -> tuple[Fate, list[Move]]:
        """The candidate merged where it is known already, and long-term where it is not."""
        moves: list[Move] = []
        left: list[Holder] = []
        for holder in to:
            there = [each for each in same if holder_of(each.row) == holder]
            if there:
                best = max(there, key=lambda each: (each.row.term == "long", each.one_topic, each.cosine, -each.row.seq)).row
                both = merged(best, one).model_copy(update={"term": "long"})
                if best.term == "short":
                    both = both.model_copy(update={"promoted_round": self.world.round})
                moves.append(Move("merge", both, f"told by another too: {one.content}"))
            else:
                left.append(holder)
        if not left:
            return "merged", [*moves, Move("absorb", one, "what it says is known already: the two became one")]
        for number, (scope, scope_id) in enumerate(left):
            update = {"term": "long", "scope": scope, "scope_id": scope_id, "promoted_round": self.world.round}
            why = "it has proven durable"
            if (scope, scope_id) != holder_of(one):
                why += f", and by the world's policy it goes to the {scope}"
            if number == 0:
                moves.append(Move("promote", one.model_copy(update=update), why))
            else:
                self._copies += 1
                moves.append(Move("copy", one.model_copy(update={**update, "id": f"new-{self._copies}"}), why))
        return "promoted", moves

    def _take(self, one: Knowledge, fate: Fate, moves: Sequence[Move], seen: Mapping[KnowledgeId, Knowledge]) -> None:
        for move in moves:
            if move.kind == "absorb":
                self._now[move.row.id] = None
            elif move.kind != "flag":
                self._now[move.row.id] = move.row
        self.decisions.append(Decision(one.id, fate, tuple(moves), {one.id: one, **seen}))


def _scanned(world: World, policy: PromotionPolicy, read: _Read) -> Scan:
    others: dict[KnowledgeId, tuple[Knowledge, ...]] = {}
    held, there = ({key: put_together(rows) for key, rows in each.items()} for each in (read.held, read.there))
    for one in read.candidates:
        known = {row.id: row for row in held[one.owner_id]}
        known |= {row.id: row for holder in targets(world, one, policy) for row in there[holder]}
        known.pop(one.id, None)
        others[one.id] = tuple(row for row in known.values() if row.holds and bears_on(row, one))
    newest = max((row.seq for rows in (*held.values(), *there.values(), read.candidates) for row in rows), default=0)
    return Scan(read.candidates, others, newest)


def _back(now: datetime, hours: float) -> datetime:
    """So many hours earlier; the first moment there is, before that."""
    try:
        return now - timedelta(hours=hours)
    except OverflowError:
        return datetime.min


def _one_topic(row: Knowledge, one: Knowledge) -> bool:
    return bool(one.topic_key) and row.topic_key == one.topic_key


def bears_on(row: Knowledge, one: Knowledge) -> bool:
    """Whether a piece can say the same as another, or contradict it."""
    return row.kind == one.kind and (comparable(row, one) or _one_topic(row, one))


def _settled(row: Knowledge, one: Knowledge) -> bool:
    """Whether two of one holder met when the later one came to it."""
    first, second = sorted((row, one), key=lambda each: each.seq)
    return holder_of(row) == holder_of(one) and first.updated <= second.created
