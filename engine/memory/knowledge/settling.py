"""What becomes of new knowledge beside what its holder knows already: merged, added, or added in the place of what it ends (DESIGN 9).

Only a contradiction retires, similarity never does. Rules come first; what they leave unclear, and what only vectors find, a judge
decides. Nothing is written here.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal, NamedTuple

from engine.memory.embedding import Vectors
from engine.memory.knowledge.checking import Judgement
from engine.memory.knowledge.conflict import CONTRADICTS, Relation, agree, comparable, core, relation
from engine.memory.knowledge.merging import can_be_one, merged
from engine.memory.knowledge.nearness import Thresholds, cosine
from engine.memory.knowledge.parts import in_part
from engine.records.knowledge import Knowledge, KnowledgeId, NewKnowledge
from engine.records.tokens import referred

Judge = Callable[[Knowledge, Sequence[Knowledge]], Awaitable[Judgement]]
"""Holds a statement against others, nearest first."""

MOST_ASKED: Final = 6
"""Pieces that one statement is held against by a model."""
AT_ONCE: Final = 200
"""Pieces that one is compared with on the event loop: more are compared beside it."""
_NEW: Final = "new-"
"""How ids of what is not written yet begin."""


class Step(NamedTuple):
    """One change to be written."""

    kind: Literal["add", "merge", "retire"]
    row: Knowledge
    """As it is to be. One that is not written yet has an id of its own that others name it by."""
    why: str
    """For people, with reference tokens."""
    waits: str = ""
    """Why it waits for a person's word before it is believed; empty when it need not."""


@dataclass(frozen=True, slots=True)
class Settlement:
    """What new knowledge comes to, not yet written."""

    steps: tuple[Step, ...] = ()
    vectors: Mapping[KnowledgeId, Vectors] = field(default_factory=dict)
    """Of what is new or reworded, by the ids in the steps."""
    seen: Mapping[KnowledgeId, Knowledge] = field(default_factory=dict)
    """What it changes, as it was read."""
    newest: int = 0
    """The highest `seq` among its holders' knowledge when it was read: what came since was not looked at."""
    tokens: int = 0
    """That the judge took."""
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class Near:
    """A piece that is held, beside a new one."""

    row: Knowledge
    relation: Relation
    cosine: float
    one_topic: bool


def is_new(key: KnowledgeId) -> bool:
    """Whether an id is that of something not written yet."""
    return key.startswith(_NEW)


def probe(new: NewKnowledge, number: int) -> Knowledge:
    """New knowledge as a row, to be compared with rows."""
    values = {name: getattr(new, name) for name in NewKnowledge.model_fields}
    return Knowledge(
        id=f"{_NEW}{number}", seq=0, created=new.valid_from, created_round=0, updated=new.valid_from, updated_round=0, **values
    )


def stands_to(row: Knowledge, new: Knowledge) -> Relation:
    """How a piece that is held and another stand to each other, whichever of them began to hold first; of one moment, was written first."""
    return relation(row, new) if _age(row) <= _age(new) else relation(new, row)


def over_in_part(row: Knowledge, new: Knowledge) -> bool:
    """Whether the later of two pieces says of only a part of what the other tells that it is not so."""
    older, newer = (row, new) if _age(row) <= _age(new) else (new, row)
    return in_part(older.content, newer.content)


def _age(row: Knowledge) -> tuple[datetime, bool, int]:
    return row.valid_from, is_new(row.id), row.seq


def is_same(near: Near, new: Knowledge, limits: Thresholds) -> bool:
    """Whether a piece says what a new one says, as far as rules and vectors tell it for sure."""
    match near.relation:
        case "same":
            return True
        case "more":
            return near.one_topic or near.cosine >= limits.conflict
        case "unclear":
            near_enough = near.cosine >= limits.same and referred(near.row.content) == referred(new.content)
            return near_enough and agree(near.row.content, new.content)
    return False


def is_doubtful(near: Near, new: Knowledge, limits: Thresholds) -> bool:
    """Whether it takes a judge to tell how a piece stands to a new one."""
    if near.relation not in ("unclear", "more", "apart") or near.row.kind != new.kind:
        return False
    return near.one_topic or (near.cosine >= limits.conflict and comparable(near.row, new))


def one_holder(a: NewKnowledge, b: NewKnowledge) -> bool:
    """Whether two pieces are held by the same: an entity, a faction, everybody."""
    return a.scope == b.scope and a.scope_id == b.scope_id


class Settling:
    """One settling on its way. New pieces are placed one after the other: each meets what those before it came to."""

    def __init__(self, held: Iterable[Knowledge], vectors: Mapping[KnowledgeId, Vectors], limits: Thresholds, judge: Judge) -> None:
        """`held` are rows of the new ones' holders that hold now, with their vectors as far as there are any."""
        self._rows = {row.id: row for row in held}
        self._read = dict(self._rows)
        self._vectors, self._limits, self._judge = dict(vectors), limits, judge
        self._steps: list[Step] = []
        self._reworded: dict[KnowledgeId, Vectors] = {}
        self._notes: list[str] = []
        self._tokens = 0
        self._count = 0

    def done(self, newest: int) -> Settlement:
        """What all that was placed comes to."""
        seen = {step.row.id: self._read[step.row.id] for step in self._steps if step.row.id in self._read}
        return Settlement(tuple(self._steps), dict(self._reworded), seen, newest, self._tokens, tuple(self._notes))

    async def place(self, new: NewKnowledge, vector: Vectors | None, among: Collection[KnowledgeId] | None = None) -> None:
        """Decide on one new piece. Of what was held before it, only what is `among` these can bear on it, when they are given. Raises what
        the judge raises; then nothing of this settling may be written."""
        self._count += 1
        one = probe(new, self._count)
        changed = {step.row.id for step in self._steps}
        rows = [row for key, row in self._rows.items() if among is None or key in among or key in changed]
        near = self._near(one, vector, rows) if len(rows) < AT_ONCE else await asyncio.to_thread(self._near, one, vector, rows)
        same = [each for each in near if is_same(each, one, self._limits)]
        if not same:
            same = await self._judged(one, near)
        against = [each for each in near if each.relation in CONTRADICTS]
        authored = [each for each in against if each.row.authored and each.row.valid_from <= one.valid_from]
        if same:
            best = max(same, key=lambda each: (each.relation == "same", each.one_topic, each.cosine, -each.row.seq))
            by = self._merge(best.row, one, vector)
        elif authored:
            self._add_waiting(one, vector, authored[0].row)
            return
        else:
            by = self._add(one, vector, against)
        for each in against:
            if each.row.valid_from <= one.valid_from and not each.row.authored and each.row.id != by:
                self._retire(each, one, by)

    def _near(self, one: Knowledge, vector: Vectors | None, rows: Iterable[Knowledge]) -> list[Near]:
        found = []
        for row in rows:
            if not row.holds or not one_holder(row, one):
                continue
            topic = bool(one.topic_key) and row.topic_key == one.topic_key
            named = row.id == one.supersedes
            if named or (row.kind == one.kind and (topic or comparable(row, one))):
                told = stands_to(row, one)
                if named and told != "same":
                    told = "ends"
                found.append(Near(row, told, cosine(vector, self._vectors.get(row.id)), topic))
        return found

    async def _judged(self, one: Knowledge, near: Sequence[Near]) -> list[Near]:
        """Let the judge look at what is doubtful, and note what contradicts. Returns what says the same."""
        doubtful = [each for each in near if is_doubtful(each, one, self._limits)]
        doubtful.sort(key=lambda each: (not each.one_topic, -each.cosine, each.row.seq))
        doubtful = doubtful[:MOST_ASKED]
        if not doubtful:
            return []
        verdict = await self._judge(one, [each.row for each in doubtful])
        self._tokens += verdict.tokens
        named = [each for each in doubtful if each.row.id in verdict.against]
        if verdict.verdict == "contradicted":
            for each in named:
                if over_in_part(each.row, one):
                    self._notes.append("a statement ends a part of another only: both stay")
                else:
                    each.relation = "disputes"
        same = [each for each in named if verdict.verdict == "supported" and can_be_one(each.row, one)]
        if named and verdict.verdict == "supported" and not same:
            self._notes.append("two statements that were taken for one differ in numbers, names or denial: both stay")
        return same

    def _add(self, one: Knowledge, vector: Vectors | None, against: Sequence[Near]) -> KnowledgeId:
        ended = [each.row for each in against if each.row.valid_from <= one.valid_from and not each.row.authored]
        later = [each.row for each in against if each.row.valid_from > one.valid_from]
        ended.sort(key=lambda row: row.id != one.supersedes)
        update: dict[str, object] = {"supersedes": ended[0].id if ended else None}
        why = "it is new"
        if later:
            over = min(later, key=lambda row: (row.valid_from, row.seq))
            update |= {"valid_to": over.valid_from, "superseded_by": over.id}
            why = f"it was told late, and had ended by then: {over.content}"
        elif ended:
            why = f"it stands in the place of: {ended[0].content}"
        self._put(Step("add", one.model_copy(update=update), why), vector)
        return one.id

    def _add_waiting(self, one: Knowledge, vector: Vectors | None, authored: Knowledge) -> None:
        """What the world's author wrote is not for play to overthrow: the new piece is kept, not believed, until a person has decided."""
        reason = f"it contradicts what the world's author wrote: {authored.content}"
        row = one.model_copy(update={"valid_to": one.valid_from, "superseded_by": authored.id})
        self._put(Step("add", row, reason, waits=reason), vector)

    def _merge(self, row: Knowledge, one: Knowledge, vector: Vectors | None) -> KnowledgeId:
        after = merged(row, one)
        if after == row:
            self._notes.append("a statement was told before by the same turns: nothing is new in it")
            return row.id
        reworded = after.content != row.content
        why = f"told again: {one.content}" if core(one.content) != core(row.content) else "told again"
        self._put(Step("merge", after, why), vector if reworded else None)
        return row.id

    def _retire(self, near: Near, one: Knowledge, by: KnowledgeId) -> None:
        row = self._rows[near.row.id]
        if not row.holds:
            return
        word = "it is over" if near.relation == "ends" else "it is contradicted"
        after = row.model_copy(update={"valid_to": max(row.valid_from, one.valid_from), "superseded_by": by})
        self._put(Step("retire", after, f"{word}: {one.content}"), None)

    def _put(self, step: Step, vector: Vectors | None) -> None:
        """Take a step. What is not written yet is not merged into later on but written as it has come to be."""
        row = step.row
        at = next((place for place, earlier in enumerate(self._steps) if earlier.kind == "add" and earlier.row.id == row.id), None)
        if step.kind == "merge" and at is not None:
            self._steps[at] = self._steps[at]._replace(row=row)
        else:
            self._steps.append(step)
        self._rows[row.id] = row
        if vector is not None:
            self._vectors[row.id] = self._reworded[row.id] = vector
