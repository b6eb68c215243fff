"""Proposals that wait for a person, in a save: they survive a restart."""

import json
import sqlite3
from datetime import datetime

from engine.records.base import EntityId
from engine.records.memory import Proposal
from engine.records.review import PendingProposal
from engine.storage.numbers import next_number
from engine.storage.rows import Row, time_text

_COLUMNS = "id, round, timestamp, proposal_json, verdicts_json"
_ADD = f"INSERT INTO proposals (seq, {_COLUMNS}, owner_id, kind) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
_REPLACE = "UPDATE proposals SET proposal_json = ?, verdicts_json = ? WHERE id = ?"
_ALL = f"SELECT {_COLUMNS} FROM proposals ORDER BY seq"
_OF_OWNER = f"SELECT {_COLUMNS} FROM proposals WHERE owner_id = ?"
_OWNERS = "SELECT owner_id FROM proposals"
_REMOVE = "DELETE FROM proposals WHERE id = ?"


class ProposalRepository:
    """Reads and writes pending proposals: one for each owner at the most."""

    def add(self, conn: sqlite3.Connection, proposal: Proposal, round_number: int, now: datetime) -> PendingProposal:
        """Keep a proposal, all of whose chunks are still open. Raises `sqlite3.IntegrityError` when its owner has one already."""
        seq, key = next_number(conn, "prop")
        pending = PendingProposal(
            id=key, round=round_number, timestamp=now, proposal=proposal, verdicts=("open",) * len(proposal.chunks)
        )
        conn.execute(
            _ADD,
            (seq, key, round_number, time_text(now), proposal.model_dump_json(), _judged(pending), proposal.owner_id, proposal.kind),
        )
        return pending

    def replace(self, conn: sqlite3.Connection, pending: PendingProposal) -> None:
        """Keep a proposal as it is now. Raises `KeyError` when it waits no longer."""
        if conn.execute(_REPLACE, (pending.proposal.model_dump_json(), _judged(pending), pending.id)).rowcount != 1:
            raise KeyError(pending.id)

    def remove(self, conn: sqlite3.Connection, key: str) -> None:
        """Take a proposal away: it has been decided on. Raises `KeyError` when it waits no longer."""
        if conn.execute(_REMOVE, (key,)).rowcount != 1:
            raise KeyError(key)

    def all(self, conn: sqlite3.Connection) -> list[PendingProposal]:
        """Everything that waits, in the order it was proposed."""
        return [_pending(row) for row in conn.execute(_ALL)]

    def owners(self, conn: sqlite3.Connection) -> frozenset[EntityId]:
        """Minds in which something waits."""
        return frozenset(owner for (owner,) in conn.execute(_OWNERS))

    def of_owner(self, conn: sqlite3.Connection, owner: EntityId) -> PendingProposal | None:
        """What waits in one mind, if anything."""
        rows = conn.execute(_OF_OWNER, (owner,)).fetchall()
        return _pending(rows[0]) if rows else None


def _judged(pending: PendingProposal) -> str:
    return json.dumps({"verdicts": pending.verdicts, "attempt": pending.attempt})


def _pending(row: Row) -> PendingProposal:
    key, round_number, timestamp, proposal, judged = row
    return PendingProposal.model_validate(
        {
            "id": key, "round": round_number, "timestamp": datetime.fromisoformat(timestamp),
            "proposal": Proposal.model_validate_json(proposal), **json.loads(judged),
        }
    )
