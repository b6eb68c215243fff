"""Sessions and knowledge of a copy, taken back: what they were at the end of that round, and what was believed then."""

import random
import shutil
import sqlite3
import tempfile
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.records.knowledge import AuditAction, FactionChange, Knowledge, NewKnowledge, PromotionRun
from engine.records.sessions import CollapsePolicy, CollapseRun, GateReport, NewTurn, Session, SessionCollapseSummary
from engine.storage.diff import differences
from engine.storage.knowledge_audit import Change
from engine.storage.opening import open_save
from engine.storage.rewind import rewind
from engine.storage.rows import list_text
from engine.storage.schema import migrate
from engine.storage.store import Store
from engine.storage.worlds import WorldRepository

if TYPE_CHECKING:
    from tests.engine.storage.conftest import Samples

NOON = datetime(1247, 3, 1, 12)
PEOPLE, FACTIONS = ("bob", "mira"), ("harbour", "watch")
ROUNDS = 6


class Life:
    """A save in which all kinds of things happen to sessions and knowledge, by chance from a seed."""

    def __init__(self, conn: sqlite3.Connection, store: Store, seed: int) -> None:
        self.conn, self.store, self.chance, self.now, self.round = conn, store, random.Random(seed), NOON, 0

    def play(self) -> None:
        """One round."""
        self.round += 1
        self.now += timedelta(minutes=30)
        self.conn.execute("UPDATE meta SET value = ? WHERE key = 'round'", (str(self.round),))
        self.conn.execute("UPDATE meta SET value = ? WHERE key = 'now'", (self.now.isoformat(),))
        self.conn.execute("INSERT INTO rounds (round, started) VALUES (?, ?)", (self.round, self.now.isoformat()))
        for _ in range(self.chance.randint(1, 6)):
            deeds = [self.talk, self.talk, self.collapse, self.learn, self.learn, self.change, self.forget, self.migrate, self.flag]
            self.chance.choice(deeds)()

    def change_of(self, action: AuditAction) -> Change:
        return Change(action, "collapse", f"round {self.round}", self.now)

    def talk(self) -> None:
        agent, actor = self.chance.sample(PEOPLE, 2)
        session = self.store.sessions.open_of(self.conn, agent, actor)
        if session is None:
            opened = self.change_of("opened")
            session = self.store.sessions.open(self.conn, agent, actor, CollapsePolicy(), self.round, opened)
        turn = NewTurn(role="actor", content=f"Round {self.round}.", timestamp=self.now, round=self.round)
        self.store.sessions.add_turns(self.conn, [(session.id, turn)] * self.chance.randint(1, 4))

    def sessions(self) -> list[Session]:
        return self.store.sessions.find(self.conn, statuses=["open"])

    def collapse(self) -> None:
        for session in self.sessions():
            turns = self.store.sessions.turns(self.conn, session.id)
            partial = self.chance.random() < 0.4
            gone = turns[: len(turns) // 2] if partial else turns
            if self.chance.random() < 0.2:
                self.run(session, partial, "failed")
            elif gone:
                self.run(session, partial, "committed")
                self.store.sessions.add_sources(self.conn, session.id, [turn.id for turn in gone], session.parts, self.round)
                self.store.sessions.remove_turns(self.conn, session.id, [turn.id for turn in gone])
                ended: dict[str, object] = {"ended": self.now, "ended_round": self.round, "status": "collapsed"}
                after: dict[str, object] = {"parts": session.parts + 1} if partial else ended
                self.store.sessions.update(self.conn, session.model_copy(update=after), self.change_of("collapsed"))

    def run(self, session: Session, partial: bool, status: str) -> None:
        summary = SessionCollapseSummary(
            goal="x", outcome="resolved", turns_processed=1, pins_used=0, llm_tokens_used=0, collapse_reason="explicit"
        )
        self.store.sessions.add_run(self.conn, CollapseRun.model_validate({
            "id": "", "session_id": session.id, "agent_id": session.agent_id, "part": session.parts, "partial": partial, "gate":
            GateReport(asked=True, reason="x", turns=1), "reason": "explicit", "round": self.round, "timestamp": self.now, "status": status,
            "summary": None if status == "failed" else summary,
        }))  # fmt: skip

    def learn(self) -> None:
        owner = self.chance.choice(PEOPLE)
        scope, holder = self.chance.choice([("entity", owner), ("faction", self.chance.choice(FACTIONS)), ("world", "")])
        self.store.knowledge.add(self.conn, NewKnowledge.model_validate({
            "owner_id": owner, "kind": "fact", "content": f"{{{{e:{owner}}}}} learned {self.chance.random()}", "scope": scope,
            "scope_id": holder, "confidence": 0.8, "valid_from": self.now,
        }), self.change_of("added"))  # fmt: skip

    def some(self) -> Knowledge | None:
        rows = self.store.knowledge.find(self.conn)
        return self.chance.choice(rows) if rows else None

    def change(self) -> None:
        if (row := self.some()) is not None:
            changes: list[dict[str, object]] = [
                {"content": f"{{{{e:mira}}}} changed {self.chance.random()}", "turn_ids": ("turn-1",)}, {"valid_to": self.now},
                {"scope": "world", "scope_id": ""}, {"scope": "faction", "scope_id": "watch"}, {"tier": "cold", "pinned": True},
            ]  # fmt: skip
            change = self.chance.choice(changes)
            self.store.knowledge.update(self.conn, row.model_copy(update=change), self.change_of("updated"))

    def forget(self) -> None:
        if (row := self.some()) is not None and row.scope == "entity":
            self.store.knowledge.remove(self.conn, row, self.change_of("deleted"))
            if self.chance.random() < 0.3:
                self.store.knowledge.restore(self.conn, row.id, self.change_of("restored"))

    def migrate(self) -> None:
        """Somebody leaves a faction for good, keeping what it knew, or joins one that it was never in."""
        who, faction = self.chance.choice(PEOPLE), self.chance.choice(FACTIONS)
        history = self.store.knowledge_history
        now, been = history.factions_at(self.conn, who, self.round), [c.faction for c in history.faction_changes(self.conn, who)]
        if faction in now:
            kept = [row.id for row in self.store.knowledge.find(self.conn, scope="faction", scope_id=faction, holding=True)]
            history.keep(self.conn, who, kept, self.change_of("kept"))
            after = [each for each in now if each != faction]
        elif faction not in been:
            after = [*now, faction]
        else:
            return
        self.conn.execute("UPDATE objects SET factions_json = ? WHERE id = ?", (list_text(after), who))
        moved = FactionChange(entity_id=who, faction=faction, joined=faction in after, round=self.round, timestamp=self.now)
        history.add_faction_change(self.conn, moved)

    def flag(self) -> None:
        row = self.some()
        if row is not None and self.store.promotions.waiting_for(self.conn, row.id) is None:
            self.store.promotions.flag(self.conn, row.id, "odd", "world", "", self.change_of("flagged"))
            run = PromotionRun(id="", round=self.round, timestamp=self.now, flagged=(row.id,))
            self.store.promotions.add_run(self.conn, run)


WHOLE = {
    "knowledge": "*", "knowledge_versions": "*", "knowledge_keepers": "*", "faction_changes": "*", "promotion_runs": "*", "audit": "*",
    "session_summaries": "*", "session_sources": "*",
    "objects": "id, (SELECT group_concat(value) FROM (SELECT value FROM json_each(factions_json) ORDER BY value))",
    "sessions": "id, agent_id, actor_id, status, started, started_round, ended, ended_round, parts, asked",
}
"""Columns that a copy taken back has as they were."""


def state(conn: sqlite3.Connection) -> dict[str, list[tuple[object, ...]]]:
    return {table: conn.execute(f"SELECT {columns} FROM {table} ORDER BY 1, 2").fetchall() for table, columns in WHOLE.items()}


def some(conn: sqlite3.Connection, table: str) -> set[tuple[object, ...]]:
    return set(conn.execute(f"SELECT * FROM {table}"))


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_sessions_and_knowledge_are_taken_back_as_far_as_they_are_kept(samples_class: "type[Samples]", seed: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        store = Store(None)  # type: ignore[arg-type]  # repositories need no open save here
        believed: dict[tuple[int, str], list[Knowledge]] = {}
        with closing(sqlite3.connect(folder / "life.db", isolation_level=None)) as conn:
            conn.execute("PRAGMA synchronous = OFF")
            conn.execute("PRAGMA foreign_keys = ON")
            migrate(conn)
            WorldRepository().create(conn, samples_class().authored())
            life = Life(conn, store, seed)
            for number in range(1, ROUNDS + 1):
                conn.execute("BEGIN")
                life.play()
                conn.execute("COMMIT")
                conn.execute("VACUUM INTO ?", (str(folder / f"{number}.db"),))
                for who in PEOPLE:
                    factions = store.knowledge_history.factions_at(conn, who, number)
                    believed[number, who] = store.knowledge.held_by(conn, who, factions)
            for (number, who), held in believed.items():
                assert store.knowledge_history.believed_at(conn, who, number) == held, (number, who)
        for number in range(1, ROUNDS):
            shutil.copy(folder / "life.db", folder / "then.db")
            rewind(folder / "then.db", number)
            with (
                closing(sqlite3.connect(folder / "then.db")) as then, closing(sqlite3.connect(folder / f"{number}.db")) as was,
                closing(sqlite3.connect(folder / "life.db")) as now,
            ):  # fmt: skip
                assert then.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
                assert then.execute("PRAGMA foreign_key_check").fetchall() == []
                found, expected = state(then), state(was)
                for table in WHOLE:
                    assert found[table] == expected[table], table
                for table in ("session_turns", "review_queue"):  # what is gone since is not kept
                    assert some(then, table) == some(was, table) & some(now, table), table
                for who in PEOPLE:
                    factions = store.knowledge_history.factions_at(then, who, number)
                    assert store.knowledge.held_by(then, who, factions) == believed[number, who]


@pytest.fixture
async def lived(store: Store) -> Path:
    """A save of two rounds: in the first a talk and a fact, in the second the talk is collapsed and the fact is used."""

    def work(conn: sqlite3.Connection) -> None:
        life = Life(conn, store, 1)
        life.chance = random.Random(5)
        conn.execute("UPDATE meta SET value = '1' WHERE key = 'round'")
        conn.execute("INSERT INTO rounds (round, started) VALUES (1, '1247-03-01T12:00:00'), (2, '1247-03-01T13:00:00')")
        life.round = 1
        life.talk()
        life.learn()
        conn.execute("UPDATE meta SET value = '2' WHERE key = 'round'")
        conn.execute("UPDATE meta SET value = '1247-03-01T15:00:00' WHERE key = 'now'")
        life.round, life.now = 2, NOON + timedelta(hours=2)
        [session] = life.sessions()
        life.run(session, False, "committed")
        turns = [turn.id for turn in store.sessions.turns(conn, session.id)]
        store.sessions.remove_turns(conn, session.id, turns)
        store.sessions.update(conn, session.model_copy(update={"status": "collapsed", "entities_found": ("key",), "ended_round": 1}))
        conn.execute("UPDATE knowledge SET retrieval_count = 3, last_retrieved_at = '1247-03-01T14:00:00', activation = 1, strength = 2")

    await store.db.write(work)
    await store.close()
    return store.db.path


def test_what_is_not_known_of_that_round_is_told(lived: Path) -> None:
    assert rewind(lived, 2) == ()
    [note] = rewind(lived, 1)
    assert "words of sessions" in note
    with closing(open_save(lived)) as opened:
        store, conn = Store(None), opened.conn  # type: ignore[arg-type]
        [session] = store.sessions.find(conn)
        assert (session.status, session.ended_round, session.entities_found) == ("open", None, ())
        assert store.sessions.turns(conn, session.id) == []
        [row] = store.knowledge.find(conn)
        assert (row.retrieval_count, row.last_retrieved_at, row.activation) == (0, None, 0)
        with pytest.raises(sqlite3.IntegrityError, match="never removed"):  # the guards are on again
            conn.execute("DELETE FROM audit")


async def test_two_saves_are_compared_row_for_row(lived: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    shutil.copy(lived, other)
    assert differences(lived, other) == []
    store = await Store.open(other)
    await store.db.write(lambda conn: conn.execute("UPDATE knowledge SET confidence = 0.5"))
    await store.db.write(lambda conn: conn.execute("DELETE FROM session_summaries"))
    await store.close()
    assert differences(lived, other) == [
        "knowledge kno-000001: confidence is 0.8 and 0.5", "session_summaries col-000001: only in the first",
    ]  # fmt: skip
