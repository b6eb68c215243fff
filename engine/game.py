"""One open save, played: the only thing the screen and the command line hold on to."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from engine.events import EngineEvent, Listener
from engine.records.base import BufferId, EntityId, LedgerId, Record
from engine.records.intents import Intent
from engine.records.memory import AliasChange, BufferEntry, HandoffRun, LedgerEntry, Partition, TriggerReport
from engine.records.policies import Policies
from engine.records.prompts import Prompt
from engine.records.world import World


class BufferView(Record):
    """A buffer with everything its pane draws."""

    owner_id: EntityId
    partition: Partition
    report: TriggerReport
    lines: Mapping[BufferId, str]
    """Each entry as its owner would tell it now."""
    when: Mapping[BufferId, str]
    """Time words of each entry."""


class LedgerLine(Record):
    """A ledger entry as its pane draws it."""

    entry: LedgerEntry
    text: str
    """Content as its owner reads it now."""
    when: str
    place: str
    people: tuple[str, ...]


class StoryLine(Record):
    """One thing that happened, told to one viewer."""

    round: int
    when: str
    """World time as a clock reading: `18:05`."""
    place: str
    actor: EntityId
    speaker: str
    """What the viewer calls the actor, first letter in upper case."""
    kind: str
    """dialogue, action or monologue."""
    text: str
    """The sentence as told: `The wet stranger spoke to you: "Evening."`"""
    intent: Intent
    ok: bool
    """False for an action that was refused."""


class RoundReport(Record):
    """What a round did."""

    round: int
    beats: int
    failed_beats: int
    handoffs: int
    failed_handoffs: int


class Game:
    """An open save with its world, minds and models. Close it when done; one game per save at a time."""

    @classmethod
    async def create(cls, world: Path, save: Path, seed: int | None = None) -> "Game":
        """Start a new save from world files. Raises `WorldFileError`, `SaveError`."""
        raise NotImplementedError

    @classmethod
    async def open(cls, save: Path) -> "Game":
        """Go on with a save. Raises `SaveError`, `SaveLockedError`."""
        raise NotImplementedError

    async def close(self) -> None:
        """Finish the running transaction and give the save back. Safe to call twice."""

    @property
    def world(self) -> World:
        """The world as of the last commit. Replaced by each beat."""
        raise NotImplementedError

    @property
    def policies(self) -> Policies:
        """The world's policies."""
        raise NotImplementedError

    @property
    def path(self) -> Path:
        """The save file."""
        raise NotImplementedError

    @property
    def model_name(self) -> str:
        """Who speaks for the characters: `storyteller`."""
        raise NotImplementedError

    # playing
    def listen(self, listener: Listener) -> None:
        """Call `listener` with every event from now on."""

    def play_as(self, entity: EntityId | None) -> None:
        """Take over an entity, or with None let everybody act by themselves."""

    @property
    def played(self) -> EntityId | None:
        """The entity under the player's hand."""
        raise NotImplementedError

    async def step(self, text: str = "") -> RoundReport:
        """One round. `text` is what the played entity does; empty lets it wait. Raises `CommandError` before anything
        is changed when the text cannot be understood. Cancelling is safe: the running beat is not consumed."""
        raise NotImplementedError

    # looking; nothing here changes anything
    async def preview(self, entity: EntityId) -> Prompt:
        """The prompt that `entity` would be sent now, byte for byte."""
        raise NotImplementedError

    async def buffer(self, entity: EntityId) -> BufferView:
        """Working memory of `entity` with watermark and gauges."""
        raise NotImplementedError

    async def ledger(self, entity: EntityId) -> Sequence[LedgerLine]:
        """Long-term memory of `entity`, oldest first."""
        raise NotImplementedError

    async def sources(self, entry: LedgerId) -> Sequence[BufferEntry]:
        """The buffer entries a memory was made of, from buffer or archive."""
        raise NotImplementedError

    async def runs(self, entity: EntityId) -> Sequence[HandoffRun]:
        """Handoffs of `entity`, newest first."""
        raise NotImplementedError

    async def story(self, viewer: EntityId | None, limit: int = 500) -> Sequence[StoryLine]:
        """What happened, oldest first: all of it told by true names for None, else what `viewer` perceived, in its words."""
        raise NotImplementedError

    def tell(self, event: EngineEvent, viewer: EntityId | None) -> StoryLine | None:
        """A `Happened` event as `viewer` perceived it; None when it did not, or for other events."""
        raise NotImplementedError

    def name(self, entity: EntityId, viewer: EntityId | None = None) -> str:
        """What `viewer` calls `entity`; its true name for the narrator (None)."""
        raise NotImplementedError

    async def alias_changes(self, viewer: EntityId, target: EntityId) -> Sequence[AliasChange]:
        """The alias timeline of a pair, oldest first."""
        raise NotImplementedError

    # by hand
    async def set_pin(self, entry: BufferId, on: bool) -> None:
        """Pin a buffer entry by hand, or let go of it. Raises `CommandError` when it is gone."""

    async def set_alias(self, viewer: EntityId, target: EntityId, text: str) -> None:
        """What `viewer` calls `target` from now on. Blank removes it. Raises `CommandError` for unusable text."""
