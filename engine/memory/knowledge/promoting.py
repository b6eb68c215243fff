"""A promotion becomes rows: all of it, or none (DESIGN 10). Runs inside one transaction, between two rounds."""

import sqlite3
from typing import Final

from engine.memory.knowledge.placing import Origin
from engine.memory.knowledge.promotion import Decision, Fate, Move, Promotion, bears_on
from engine.memory.knowledge.settling import stands_to
from engine.memory.knowledge.unchanged import all_unchanged
from engine.records.knowledge import AuditAction, Knowledge, KnowledgeId, NewKnowledge, PromotionRun
from engine.records.world import World
from engine.storage.store import Store

_ACTIONS: Final[dict[str, AuditAction]] = {
    "promote": "promoted", "copy": "promoted", "merge": "merged", "absorb": "merged", "flag": "flagged", "discard": "discarded",
    "retire": "retired",
}  # fmt: skip


def commit(conn: sqlite3.Connection, store: Store, world: World, promotion: Promotion) -> PromotionRun:
    """Write a promotion and its run.

    A decision over something that has changed since is left out, with a note: its candidate is looked at again the next time. Written
    once more, it changes nothing but adds a run that says so.
    """
    writing = _Writing(conn, store, promotion, store.promotions.new_run_id(conn))
    for decision in promotion.decisions:
        writing.write(decision)
    told = [f"{len(keys)} {fate}" for fate, keys in writing.fates.items() if keys]
    store.journal.note(conn, "promotion", f"Knowledge was looked through: {', '.join(told) or 'nothing changed'}")
    return store.promotions.add_run(
        conn,
        PromotionRun(
            id=writing.run_id, round=world.round, timestamp=promotion.at, scanned=promotion.scanned, tokens=promotion.tokens,
            notes=(*promotion.notes, *writing.notes), error=promotion.error, retired=tuple(writing.retired),
            **{fate: tuple(keys) for fate, keys in writing.fates.items()},
        ),
    )


class _Writing:
    """A promotion being written."""

    def __init__(self, conn: sqlite3.Connection, store: Store, promotion: Promotion, run_id: str) -> None:
        self._conn, self._store, self._newest, self._model = conn, store, promotion.newest, promotion.model
        self._origin = Origin("promotion", promotion.at, run_id)
        self.run_id = run_id
        self.fates: dict[Fate, list[KnowledgeId]] = {"promoted": [], "merged": [], "flagged": [], "discarded": []}
        self.retired: list[KnowledgeId] = []
        self.notes: list[str] = []
        self._written: set[KnowledgeId] = set()
        self._keys: dict[KnowledgeId, KnowledgeId] = {}
        self._doubtful: set[KnowledgeId] = set()
        """What a decision that was left out would have changed."""

    def write(self, decision: Decision) -> None:
        """Write what becomes of one candidate, unless it no longer holds."""
        if not self._stands(decision):
            self._doubtful.update(move.row.id for move in decision.moves)
            self.notes.append(f"{decision.key} changed, or what bears on it did: it waits for the next run")
            return
        vectors = self._store.embeddings.of_knowledge(self._conn, [decision.key], self._model)
        for move in decision.moves:
            self._move(move, vectors.get(decision.key))
        self.fates[decision.fate].append(decision.key)

    def _stands(self, decision: Decision) -> bool:
        if self._doubtful & {*decision.seen, *(move.row.id for move in decision.moves)}:
            return False
        now = {row.id: row for row in self._store.knowledge.get(self._conn, decision.seen)}
        if not all_unchanged((row for key, row in decision.seen.items() if key not in self._written), now):
            return False
        if self._store.promotions.waiting_for(self._conn, decision.key) is not None:
            return False
        return not any(
            row.id not in self._written and bears_on(row, move.row) and stands_to(row, move.row) != "apart"
            for move in decision.moves if move.kind in ("promote", "copy")
            for row in self._store.knowledge.find(
                self._conn, scope=move.row.scope, scope_id=move.row.scope_id, holding=True, after=self._newest
            )
        )  # fmt: skip

    def _move(self, move: Move, vector: bytes | None) -> None:
        """Write one change. `vector` is the candidate's, for what comes to be worded as it is."""
        change = self._origin.change(_ACTIONS[move.kind], move.why)
        row = self._resolved(move.row)
        match move.kind:
            case "copy":
                new = NewKnowledge(**{name: getattr(row, name) for name in NewKnowledge.model_fields})
                now = self._store.knowledge.add(self._conn, new, change)
                self._keys[move.row.id] = now.id
                self._embed(now, vector)
            case "absorb":
                self._store.knowledge.remove(self._conn, self._store.knowledge.get(self._conn, [row.id])[0], change)
                self._written.add(row.id)
            case "flag":
                assert move.holder is not None
                self._store.promotions.flag(self._conn, row.id, move.why, *move.holder, change)
            case _:
                [before] = self._store.knowledge.get(self._conn, [row.id])
                tier = row.tier if move.kind == "merge" else before.tier
                now = self._store.knowledge.update(self._conn, row.model_copy(update={"version": before.version, "tier": tier}), change)
                self._embed(now, vector if now.content != before.content else None)
        if move.kind == "retire":
            self.retired.append(row.id)

    def _embed(self, now: Knowledge, vector: bytes | None) -> None:
        """Keep the vector of a row that has been written, if there is one: else it is embedded later."""
        self._written.add(now.id)
        if vector is not None:
            self._store.embeddings.put(self._conn, "knowledge", now.id, self._model, len(vector) // 4, vector)

    def _resolved(self, row: Knowledge) -> Knowledge:
        """The row with the ids that copies have got."""
        over = row.superseded_by
        return row.model_copy(update={"id": self._keys.get(row.id, row.id), "superseded_by": self._keys.get(over or "", over)})
