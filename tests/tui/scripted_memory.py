"""The desk of the scripted game: one proposal, a small archive, two memories that are alike. Every text holds the spice."""

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Literal

from engine.desk import MemoryDesk
from engine.errors import CommandError
from engine.events import EntryRestored, HandoffProposed, MemoryChanged, ProposalClosed
from engine.memory_views import ArchivedMemoryLine, ArchiveLine, ChunkLine, Provenance, SourceLine
from engine.records.intents import Intent
from engine.records.memory import ArchivedMemory, BufferEntry, Chunk, HandoffRun, LedgerEntry, Proposal, TriggerReport, Use
from engine.records.review import ChunkEdit, MemoryEdit, NearDuplicate, PendingProposal, Verdict

if TYPE_CHECKING:
    from tests.tui.scripted import FakeGame


class FakeDesk(MemoryDesk):
    """What is done is remembered in `did`."""

    def __init__(self, game: "FakeGame") -> None:
        self.game = game
        self.did: list[str] = []
        self.mode: Literal["auto", "ask"] = "auto"
        self.waiting: dict[str, PendingProposal] = {}
        self.refuse = ""
        self.archived = 3
        """Moments in the archive."""

    @property
    def review(self) -> Literal["auto", "ask"]:
        return self.mode

    async def set_review(self, mode: Literal["auto", "ask"]) -> None:
        self.mode = mode

    # what waits

    def propose(self, owner: str, entries: Sequence[BufferEntry], round_number: int) -> None:
        """Let a proposal of two memories wait: the first of the first two moments, the second, pinned, of the third."""
        texts = (f"{{{{e:mira}}}} brought old news.{self.game.spice}", f"The storm took the mast.{self.game.spice}")
        report = TriggerReport(trigger="involuntary", reason="24 entries, limit 20")
        chunks = (
            Chunk(
                source_ids=(entries[0].id, entries[1].id), content=texts[0], quotes=("Old news 0.",), importance=7,
                involved_entity_ids=("mira",),
            ),
            Chunk(source_ids=(entries[2].id,), content=texts[1], importance=3, retain=True),
        )
        proposal = Proposal(
            owner_id=owner, trigger="involuntary", report=report, candidates=tuple(entries), chunks=chunks, embedder="none", dim=1,
            prompt="", reply="", model="", template="",
        )
        pending = PendingProposal(
            id=f"prop-{len(self.did):06}-{owner}", round=round_number, timestamp=self.game.world.now, proposal=proposal,
            verdicts=("open", "open"),
        )
        self._keep(pending)

    def _keep(self, pending: PendingProposal) -> PendingProposal:
        self.waiting[pending.proposal.owner_id] = pending
        self.game._tell(HandoffProposed(entity=pending.proposal.owner_id, pending=pending))
        return pending

    async def pending(self) -> Sequence[PendingProposal]:
        return list(self.waiting.values())

    async def pending_of(self, owner: str) -> PendingProposal | None:
        return self.waiting.get(owner)

    async def chunk_lines(self, pending: PendingProposal) -> Sequence[ChunkLine]:
        owner = pending.proposal.owner_id
        entries = {entry.id: entry for entry in pending.proposal.candidates}
        return [
            ChunkLine(
                index=index, verdict=pending.verdicts[index], text=chunk.content.replace("{{e:mira}}", "Mira"), quotes=chunk.quotes,
                importance=chunk.importance, retain=chunk.retain, updates_text=f"An older wording.{self.game.spice}" if index else "",
                sources=tuple(self._source(entries[key], owner) for key in chunk.source_ids), news=not chunk.repeats,
            )
            for index, chunk in enumerate(pending.proposal.chunks)
        ]

    async def judge(self, owner: str, index: int, verdict: Verdict) -> PendingProposal:
        self._check()
        self.did.append(f"{verdict} {owner} {index}")
        pending = self.waiting[owner]
        verdicts = tuple(verdict if number == index else old for number, old in enumerate(pending.verdicts))
        return self._keep(pending.model_copy(update={"verdicts": verdicts}))

    async def edit_chunk(self, owner: str, index: int, edit: ChunkEdit) -> PendingProposal:
        self._check()
        pending = self.waiting[owner]
        changed = pending.proposal.chunks[index].model_copy(update=edit.model_dump(exclude_none=True))
        chunks = tuple(changed if number == index else old for number, old in enumerate(pending.proposal.chunks))
        self.waiting[owner] = pending.model_copy(update={"proposal": pending.proposal.model_copy(update={"chunks": chunks})})
        return await self.judge(owner, index, "accepted")

    async def reroll(self, owner: str, index: int | None = None) -> PendingProposal:
        self._check()
        self.did.append(f"reroll {owner} {index}")
        pending = self.waiting[owner]
        return self._keep(pending.model_copy(update={"verdicts": ("open",) * len(pending.verdicts), "attempt": pending.attempt + 1}))

    async def finish(self, owner: str) -> HandoffRun:
        self._check()
        return self._close(owner, "accepted")

    async def reject(self, owner: str) -> HandoffRun:
        self._check()
        return self._close(owner, "rejected")

    def _close(self, owner: str, decision: Literal["accepted", "rejected"]) -> HandoffRun:
        self.did.append(f"{decision} {owner}")
        pending = self.waiting.pop(owner)
        self.game._tell(ProposalClosed(entity=owner, reason=decision))
        return HandoffRun(
            id="run-1", owner_id=owner, round=pending.round, timestamp=self.game.world.now, trigger="involuntary",
            reason="24 entries, limit 20", status="committed" if decision == "accepted" else "failed", decision=decision,
        )

    # the past

    def _entry(self, number: int, owner: str) -> BufferEntry:
        intent = Intent(type="dialogue", verb="say", text=f"Long ago {number}.{self.game.spice}", actor="mira")
        return BufferEntry(
            id=f"old-{number:06}", seq=number + 1, owner_id=owner, timestamp=self.game.world.now - timedelta(days=2), location_id="tap",
            round=0, intent=intent,
        )

    def _source(self, entry: BufferEntry, owner: str) -> SourceLine:
        text = self.game._line(entry.intent, owner)
        return SourceLine(entry=entry, text=text, when="a few hours ago", place="the tap room", where="forgotten")

    def _memory(self, number: int, owner: str, origin: Literal["handoff", "hand"] = "handoff") -> LedgerEntry:
        now = self.game.world.now
        return LedgerEntry(
            id=f"led-gone-{number}", seq=100 + number, owner_id=owner, timestamp=now, ended=now, location_id="tap",
            content=f"A lost thought {number}.{self.game.spice}", importance=4, origin=origin,
        )

    async def archive(self, entity: str) -> Sequence[ArchiveLine]:
        gone = [self._entry(number, entity) for number in range(self.archived)]
        return [
            ArchiveLine(
                entry=entry, text=self.game._line(entry.intent, entity), when="two days ago", place="the tap room" + self.game.spice,
                fate="promoted" if number == 0 else "forgotten", run="run-1", round=2, reason="24 entries, limit 20",
                ledger_id="led-000001" if number == 0 else None, became=f"Mira brought old news.{self.game.spice}" if number == 0 else "",
            )
            for number, entry in enumerate(gone) if f"restored {entry.id}" not in self.did
        ]

    async def archived_memories(self, entity: str) -> Sequence[ArchivedMemoryLine]:
        entry = self._memory(1, entity)
        gone = ArchivedMemory(entry=entry, source_ids=(), fate="removed", round=1, run_id=None, into_id=None)
        return [] if "restored led-gone-1" in self.did else [ArchivedMemoryLine(memory=gone, text=entry.content, when="today", became="")]

    async def provenance(self, key: str) -> Provenance:
        entries = [self.game._archive[one] for one in sorted(self.game._archive)][:2]
        entry = self._memory(2, "bryn")
        return Provenance(
            entry=entry.model_copy(update={"id": key}), text=entry.content, when="today", origin="handoff",
            sources=tuple(self._source(one, "bryn") for one in entries), told=tuple(await self.archived_memories("bryn")),
            versions=(f"It was told otherwise.{self.game.spice}",), run=None,
            use=Use(retrieval_count=3, last_retrieved_at=self.game.world.now),
        )

    async def near_duplicates(self, entity: str) -> Sequence[NearDuplicate]:
        held = self.game._ledgers[entity]
        return [NearDuplicate(first=held[0].id, second=held[1].id, cosine=0.97)] if len(held) > 1 else []

    async def restore(self, key: str, pin: bool = True) -> BufferEntry:
        self._check()
        self.did.append(f"restored {key}")
        entry = self._entry(int(key.removeprefix("old-")), "bryn").model_copy(update={"pinned": "hand" if pin else "none"})
        self.game._buffers["bryn"].insert(0, entry)
        self.game._tell(EntryRestored(entry=entry))
        return entry

    async def restore_memory(self, key: str) -> LedgerEntry:
        self._check()
        self.did.append(f"restored {key}")
        return self._written(self._memory(1, "bryn", "hand"))

    async def merge(self, keep: str, other: str) -> LedgerEntry:
        self._check()
        self.did.append(f"merged {keep} {other}")
        held = self.game._ledgers["bryn"]
        held[:] = [entry for entry in held if entry.id != other]
        self.game._tell(MemoryChanged(entity="bryn", changed=(held[0],), gone_ids=(other,)))
        return held[0]

    # by hand

    async def add_memory(
        self, owner: str, text: str, *, importance: int = 5, quotes: Sequence[str] = (), involved: Sequence[str] = (),
        ago: timedelta | None = None,
    ) -> LedgerEntry:
        self._check()
        entry = self._memory(len(self.game._ledgers[owner]) + 10, owner, "hand")
        update = {"content": text, "importance": importance, "quotes": tuple(quotes), "involved_entity_ids": tuple(involved)}
        return self._written(entry.model_copy(update=update))

    async def edit_memory(self, key: str, edit: MemoryEdit) -> LedgerEntry:
        self._check()
        for held in self.game._ledgers.values():
            for index, entry in enumerate(held):
                if entry.id == key:
                    change = edit.model_dump(exclude_none=True) | {"origin": "hand", "version": entry.version + 1}
                    change |= {"involved_entity_ids": change.pop("involved")} if "involved" in change else {}
                    held[index] = entry.model_copy(update=change)
                    self.game._tell(MemoryChanged(entity=entry.owner_id, changed=(held[index],)))
                    return held[index]
        raise CommandError("There is no such memory.")

    async def remove_memory(self, key: str) -> None:
        self._check()
        for owner, held in self.game._ledgers.items():
            if any(entry.id == key for entry in held):
                held[:] = [entry for entry in held if entry.id != key]
                self.game._tell(MemoryChanged(entity=owner, gone_ids=(key,)))

    def _written(self, entry: LedgerEntry) -> LedgerEntry:
        self.game._ledgers[entry.owner_id].append(entry)
        self.game._tell(MemoryChanged(entity=entry.owner_id, changed=(entry,)))
        return entry

    def _check(self) -> None:
        if self.refuse:
            raise CommandError(self.refuse + self.game.spice, "Say it otherwise.")
