"""An open save with everything that reads and writes it: what other parts get in their constructors."""

import sqlite3
from dataclasses import dataclass, field
from pathlib import Path

from engine.errors import SaveError
from engine.records.authored import AuthoredWorld
from engine.storage.aliases import AliasRepository
from engine.storage.buffer import BufferRepository
from engine.storage.database import Database
from engine.storage.embeddings import EmbeddingRepository
from engine.storage.handoffs import HandoffRepository
from engine.storage.journal import JournalRepository
from engine.storage.knowledge import KnowledgeRepository
from engine.storage.knowledge_audit import AuditRepository
from engine.storage.knowledge_history import KnowledgeHistory
from engine.storage.ledger import LedgerRepository
from engine.storage.ledger_archive import LedgerArchive
from engine.storage.lore import LoreRepository
from engine.storage.old_memories import OldMemories
from engine.storage.promotions import PromotionRepository
from engine.storage.proposals import ProposalRepository
from engine.storage.schema import newest_version, version_of
from engine.storage.sessions import SessionRepository
from engine.storage.story import StoryRepository
from engine.storage.worlds import WorldRepository


@dataclass(frozen=True)
class Store:
    """The save behind one game. Repositories run inside callables given to `db.read` and `db.write`."""

    db: Database
    worlds: WorldRepository = field(default_factory=WorldRepository)
    lore: LoreRepository = field(default_factory=LoreRepository)
    buffer: BufferRepository = field(default_factory=BufferRepository)
    ledger: LedgerRepository = field(default_factory=LedgerRepository)
    ledger_archive: LedgerArchive = field(default_factory=LedgerArchive)
    old_memories: OldMemories = field(default_factory=OldMemories)
    embeddings: EmbeddingRepository = field(default_factory=EmbeddingRepository)
    handoffs: HandoffRepository = field(default_factory=HandoffRepository)
    proposals: ProposalRepository = field(default_factory=ProposalRepository)
    aliases: AliasRepository = field(default_factory=AliasRepository)
    story: StoryRepository = field(default_factory=StoryRepository)
    sessions: SessionRepository = field(default_factory=SessionRepository)
    knowledge: KnowledgeRepository = field(default_factory=KnowledgeRepository)
    knowledge_history: KnowledgeHistory = field(default_factory=KnowledgeHistory)
    promotions: PromotionRepository = field(default_factory=PromotionRepository)
    audit: AuditRepository = field(default_factory=AuditRepository)
    journal: JournalRepository = field(default_factory=JournalRepository)

    @classmethod
    async def open(cls, path: Path, *, read_only: bool = False) -> "Store":
        """Open a save that holds a world. Raises `SaveError`, `SaveLockedError`; for one of an earlier version that is not to be
        changed, too."""
        store = cls(await Database.open(path, read_only=read_only))
        try:
            await store.db.read(lambda conn: _check_version(conn, path))
            await store.db.read(store.worlds.check)
        except BaseException:
            await store.close()
            raise
        return store

    @classmethod
    async def create(cls, path: Path, authored: AuthoredWorld) -> "Store":
        """Make a save for a new world. Leaves no file behind when that fails. Raises `SaveError`."""
        store = cls(await Database.open(path, create=True))
        try:
            await store.db.write(lambda conn: _create(conn, store, authored))
        except BaseException:
            await store.db.discard()
            raise
        return store

    async def close(self) -> None:
        """Finish the running transaction and give the save back. Safe to call twice."""
        await self.db.close()


def _create(conn: sqlite3.Connection, store: Store, authored: AuthoredWorld) -> None:
    store.worlds.create(conn, authored)
    store.journal.forget(conn)  # a world that was never made is nothing to go back to


def _check_version(conn: sqlite3.Connection, path: Path) -> None:
    """Refuse a save of an earlier version that is open for reading only: its tables lack what is asked of them."""
    if version_of(conn) < newest_version():
        raise SaveError(f"{path} is from an earlier version.", "Open it once to go on with it: that brings it up to date.")
