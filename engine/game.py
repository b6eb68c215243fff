"""One open save, played: the only thing the screen and the command line hold on to."""

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from engine.asides import Aside, asides, kept
from engine.assembly import Parts, assemble
from engine.desk import MemoryDesk
from engine.errors import CommandError
from engine.events import EngineEvent, Happened, Listener, PinChanged, Trouble
from engine.files.reader import read_world
from engine.folders import data_folder
from engine.history_desk import HistoryDesk
from engine.knowledge_desk import KnowledgeDesk
from engine.llm.meter import Meter
from engine.llm.usage_log import SaveLog
from engine.mind.aliases import is_name
from engine.mind.timewords import naturalize_time
from engine.mind.voice import tell
from engine.model_desk import ModelDesk
from engine.records.base import BufferId, EntityId, LedgerId
from engine.records.clean import clean
from engine.records.memory import AliasChange, BufferEntry, HandoffRun, Pin
from engine.records.policies import Policies
from engine.records.prompts import Prompt
from engine.records.tokens import token
from engine.records.world import World
from engine.session_desk import SessionDesk
from engine.setup import Setup
from engine.storage.store import Store
from engine.turns.schedule import with_sleepers
from engine.turns.simulation import RoundReport
from engine.views import BufferView, LedgerLine, Sizes, StoryLine, called, ledger_line, lived_through, narrated
from engine.world.access import is_awake

__all__ = ["Aside", "BufferView", "Game", "LedgerLine", "RoundReport", "Sizes", "StoryLine"]

_LONGEST_ALIAS = 60
_AT_ONCE_EMBEDDED = 2_000
"""Memories that the built-in embedder embeds while a save is opened: under half a second."""
_AT_ONCE = frozenset({"look", "wake"})
"""Verbs of a player that need no round."""


class Game:
    """An open save with its world, minds and models. Close it when done; one game per save at a time."""

    def __init__(self, parts: Parts) -> None:
        self._parts, self._store, self._simulation = parts, parts.store, parts.simulation
        self._played: EntityId | None = None
        self._embedding: asyncio.Task[int] | None = None
        self._embedded = 0

    @classmethod
    async def create(cls, world: Path | str, save: Path | str, seed: int | None = None, *, setup: Setup | None = None) -> "Game":
        """Start a new save from world files. Leaves no file behind when that fails. Raises `WorldFileError`, `SaveError`, and as `open`."""
        authored = read_world(Path(world))
        if seed is not None:
            authored = authored.model_copy(update={"world": authored.world.model_copy(update={"seed": seed})})
        authored = authored.model_copy(update={"world": with_sleepers(authored.world)})
        store = await Store.create(Path(save), authored)
        try:
            await asyncio.to_thread(SaveLog(data_folder(), store.db.path).begin)
            return await cls._begun(store, setup, None)
        except BaseException:
            await store.db.discard()
            raise

    @classmethod
    async def open(
        cls, save: Path | str, *, setup: Setup | None = None, listener: Listener | None = None, read_only: bool = False
    ) -> "Game":
        """Go on with a save; `setup` holds for this run alone, and `listener` hears everything from the first moment on. With `read_only`
        nothing in the save is changed, and playing it raises `SaveError`. Raises `SaveError`, `SaveLockedError`; `SettingsError` for
        settings that cannot be used and `ModelError` when the embedder that is set lacks a package or a file on this machine. A provider
        that is away costs meaning only.
        """
        return await cls._begun(await Store.open(Path(save), read_only=read_only), setup, listener)

    @classmethod
    async def _begun(cls, store: Store, setup: Setup | None, listener: Listener | None) -> "Game":
        game = cls(await assemble(store, setup or Setup(), listener))
        try:
            if not store.db.read_only and not (setup and setup.resting):
                await game._begin_embedding()
                if not await store.db.read(store.journal.undone):  # what was taken back can be brought again until something new happens
                    await game._parts.beside.begin()
        except BaseException:
            await game.close()
            raise
        return game

    async def _begin_embedding(self) -> None:
        """Embed what has no vector of the present embedder: a little of it at once with the built-in one, and all of it when calls are
        taped, so that a replay recalls the same; else beside play."""
        parts = self._parts
        built_in = parts.embedder.name == "hash768"
        if parts.setup.tape is not None or (built_in and await parts.job.missing() <= _AT_ONCE_EMBEDDED):
            self._embedded = await parts.job.run()
        else:
            self._embedding = asyncio.create_task(parts.job.run(), name="otherminds-embedding")
            self._embedding.add_done_callback(self._embedding_ended)

    def _embedding_ended(self, task: "asyncio.Task[int]") -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            self._parts.emit(Trouble(text=f"Memories could not be embedded: {error}"))

    async def embedded(self) -> int:
        """Wait until all memories have a vector of the present embedder, or it fails. Returns how many got one since the save was
        opened."""
        if self._embedding is not None:
            await asyncio.wait({self._embedding})
            if not self._embedding.cancelled() and self._embedding.exception() is None:
                return self._embedded + self._embedding.result()
        return self._embedded

    async def close(self) -> None:
        """Finish the running transaction and give the save back. Safe to call twice."""
        if self._embedding is not None:
            self._embedding.cancel()
            await asyncio.wait({self._embedding})
        self._parts.models.close()
        await self._parts.beside.close()
        if self._parts.backing is not None:
            await self._parts.backing.close()
        await self._store.close()

    @property
    def world(self) -> World:
        """The world as of the last commit. Replaced by each beat."""
        return self._simulation.world

    @property
    def policies(self) -> Policies:
        """The world's policies."""
        return self._parts.policies

    @property
    def path(self) -> Path:
        """The save file."""
        return self._store.db.path

    @property
    def model_name(self) -> str:
        """Who speaks for the characters: `storyteller`."""
        return self._parts.router.model("actor").name

    @property
    def embedder_name(self) -> str:
        """What makes the vectors: `hash768`."""
        return self._parts.embedder.name

    @property
    def meter(self) -> Meter:
        """What model calls have taken since the save was opened."""
        return self._parts.models.meter

    @property
    def models(self) -> ModelDesk:
        """What a person asks of models and sets about them."""
        return self._parts.models

    @property
    def memory(self) -> MemoryDesk:
        """What a person asks of memories and does to them by hand."""
        return self._parts.desk

    @property
    def sessions(self) -> SessionDesk:
        """What a person or a program does with sessions."""
        return self._parts.sessions

    @property
    def knowledge(self) -> KnowledgeDesk:
        """What a person or a program asks of knowledge and does to it."""
        return self._parts.knowledge

    @property
    def history(self) -> HistoryDesk:
        """What happened to the save: to be taken back, and brought again."""
        return self._parts.history

    # playing
    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` with every event from now on, until what is returned is called."""
        self._parts.listeners.append(listener)
        return partial(self._parts.listeners.remove, listener)

    def play_as(self, entity: EntityId | None) -> None:
        """Take over an agent, or with None let everybody act by themselves. Raises `CommandError` for anything but an agent."""
        if entity is not None and not (entity in self.world.entities and self.world.entities[entity].agent):
            raise CommandError("Only somebody with a mind can be played.", "Choose one of the people.")
        self._played = entity
        self._parts.held = self._simulation.played = frozenset({entity} if entity else ())

    @property
    def played(self) -> EntityId | None:
        """The entity under the player's hand."""
        return self._played

    async def step(self, text: str = "") -> RoundReport:
        """One round. `text` is what the played entity does; empty lets it wait. Looking and waking take no time and no round.

        Raises `CommandError` before anything is changed when the text cannot be understood. Cancelling is safe: the running beat
        is not consumed."""
        await self._parts.ready()
        if self._parts.backing is not None:
            self._parts.backing.round_begins()
        async with self._parts.beside.playing():
            return await self._played_round(text)

    async def _played_round(self, text: str) -> RoundReport:
        text = clean(text).strip()
        if not text:
            return await self._simulation.step(held=frozenset({self._played} if self._played else ()))
        if self._played is None:
            raise CommandError("Nobody is under your hand.", "Take over somebody first.")
        me = self.world.entities[self._played]
        intents = await self._simulation.understand(self._played, text)
        verbs = {intent.verb for intent in intents}
        status = me.value("status")
        if not is_awake(me) and (verbs != {"wake"} or status != "asleep"):
            asleep = "Write `wake`, or play rounds until you wake."
            raise CommandError(f"You are {status} and can do nothing.", asleep if status == "asleep" else "Take over somebody else.")
        if verbs <= _AT_ONCE:
            done = await self._simulation.act(self._played, text, intents)
            return RoundReport(round=self.world.round, beats=int(done), failed_beats=int(not done), handoffs=0, failed_handoffs=0)
        return await self._simulation.step({self._played: (text, intents)}, held=frozenset({self._played}))

    async def settled(self) -> None:
        """Wait until no work beside play is under way: sessions that are being collapsed, knowledge that is being promoted. Rounds do not
        wait for it; runs that are to come out the same each time do."""
        await self._parts.beside.settled()

    # looking; nothing here changes anything
    async def preview(self, entity: EntityId) -> Prompt:
        """The prompt that `entity` would be sent now, byte for byte."""
        await self._parts.ready()
        return await self._parts.actor.draft(self.world, entity)

    async def buffer(self, entity: EntityId) -> BufferView:
        """Working memory of `entity` with watermark and gauges."""
        report, partition = await self._parts.handoff.due(self.world, entity)
        entries = [*partition.held, *partition.candidates, *partition.tail]
        return BufferView(
            owner_id=entity, partition=partition, report=report,
            lines={e.id: tell(self.world, entity, e) for e in entries},
            when={e.id: naturalize_time(self.world.now, e.timestamp) for e in entries},
        )

    async def ledger(self, entity: EntityId) -> Sequence[LedgerLine]:
        """Long-term memory of `entity`, oldest first."""
        entries = await self._store.db.read(lambda conn: self._store.ledger.of_owner(conn, entity))
        return [ledger_line(self.world, entry) for entry in entries]

    async def sources(self, entry: LedgerId) -> Sequence[BufferEntry]:
        """The buffer entries a memory was made of, from buffer or archive."""
        return await self._store.db.read(lambda conn: self._store.buffer.find(conn, self._store.ledger.sources(conn, entry)))

    async def sizes(self) -> Sizes:
        """Rows of all minds together."""
        def run(conn: sqlite3.Connection) -> Sizes:
            buffer, archive = self._store.buffer.counts(conn)
            return Sizes(buffer=buffer, archive=archive, ledger=self._store.ledger.count(conn))

        return await self._store.db.read(run)

    async def runs(self, entity: EntityId) -> Sequence[HandoffRun]:
        """Handoffs of `entity`, newest first."""
        return await self._store.db.read(lambda conn: self._store.handoffs.of_owner(conn, entity, 100))

    async def story(self, viewer: EntityId | None, limit: int = 500) -> Sequence[StoryLine]:
        """What happened, oldest first: all of it told by true names for None, else what `viewer` perceived, in its words."""
        if viewer is None:
            happened = await self._store.db.read(lambda conn: self._store.story.recent(conn, limit))
            return [narrated(self.world, h.round, h.timestamp, h.location_id, h.intent, h.outcome) for h in happened]
        lived, world = await self._store.db.read(lambda conn: self._store.buffer.lived(conn, viewer, limit)), self.world
        return await asyncio.to_thread(lambda: [lived_through(world, entry) for entry in lived])

    async def asides(self, viewer: EntityId | None, since: int = 0, limit: int = 500) -> Sequence[Aside]:
        """What minds did since a round, as far as the save tells, in order of time: handoffs, names learned, proposals that wait. Of
        all minds, told by true names, for None, else of the viewer's own. At most `limit` of a kind, the newest."""
        return asides(self.world, viewer, await self._store.db.read(lambda conn: kept(conn, self._store, viewer, since, limit)))

    def tell(self, event: EngineEvent, viewer: EntityId | None) -> StoryLine | None:
        """A `Happened` event as `viewer` perceived it; None when it did not, or for other events."""
        if not isinstance(event, Happened):
            return None
        if viewer is None:
            return narrated(self.world, event.round, event.now, event.place, event.intent, event.outcome)
        entry = next((e for e in event.entries if e.owner_id == viewer), None)
        return lived_through(self.world, entry) if entry else None

    def told(self, entry: BufferEntry) -> str:
        """A buffer entry as its owner would tell it now."""
        return tell(self.world, entry.owner_id, entry)

    def name(self, entity: EntityId, viewer: EntityId | None = None) -> str:
        """What `viewer` calls `entity`; its true name for the narrator (None)."""
        return called(self.world, entity, viewer)

    async def alias_changes(self, viewer: EntityId, target: EntityId) -> Sequence[AliasChange]:
        """The alias timeline of a pair, oldest first."""
        return await self._store.db.read(lambda conn: self._store.aliases.between(conn, viewer, target))

    # by hand
    async def set_pin(self, entry: BufferId, on: bool) -> None:
        """Pin a buffer entry by hand, or let go of it. Raises `CommandError` when it is gone."""
        pin: Pin = "hand" if on else "none"

        def run(conn: sqlite3.Connection) -> BufferEntry | None:
            if (held := self._store.buffer.get(conn, entry)) is None:
                return None
            self._store.buffer.set_pin(conn, entry, pin)
            self._store.journal.note(conn, "hand", f"{token(held.owner_id)}: a moment was {'pinned' if on else 'let go of'}")
            return self._store.buffer.get(conn, entry)

        changed = await self._store.db.write(run)
        if changed is None:
            raise CommandError("That moment has left working memory.", "Look for it in the ledger.")
        self._parts.emit(PinChanged(entry=changed))

    async def set_alias(self, viewer: EntityId, target: EntityId, text: str) -> None:
        """What `viewer` calls `target` from now on. Blank removes it. Raises `CommandError` for unusable text."""
        alias = " ".join(clean(text).split())
        if viewer == target:
            raise CommandError("Nobody needs a name for themselves.")
        if len(alias) > _LONGEST_ALIAS:
            raise CommandError(f"That is {len(alias)} characters long.", f"Keep it to {_LONGEST_ALIAS}.")
        if any(sign in alias for sign in "{}=<>") or alias.lower() in ("you", "i", "me"):
            raise CommandError(f'"{alias}" cannot stand for somebody in a sentence.', "Use a name, or words such as `the tall guard`.")
        if alias and not _can_be_called(alias):
            advice = "Use a name with a capital, or words such as `the tall guard`."
            raise CommandError(f'"{alias}" would be taken for a word of any sentence.', advice)
        others = self.world.entities[viewer].aliases.items()
        if alias and any(name.lower() == alias.lower() and who != target for who, name in others):
            raise CommandError(f'Somebody else is called "{alias}" already.', "Two by one name could not be told apart.")
        await self._simulation.set_alias(viewer, target, alias or None)


def _can_be_called(alias: str) -> bool:
    """Whether an alias can be told from ordinary words: a name, several words, or a script without capitals."""
    return is_name(alias) or len(alias.split()) > 1 or alias[0].lower() == alias[0].upper()
