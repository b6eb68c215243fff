"""What the panes draw: one frozen value, folded from the engine's events."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from engine.events import (
    AliasLearned,
    BeatEnded,
    BeatFailed,
    BeatStarted,
    CallChanged,
    Called,
    ChunkDecided,
    CollapseStep,
    Embedding,
    EngineEvent,
    EntityMoved,
    EntryRestored,
    FactionsChanged,
    HandoffCommitted,
    HandoffFailed,
    HandoffProposed,
    HandoffStarted,
    Happened,
    HistoryMoved,
    KnowledgeChanged,
    MemoryChanged,
    ModelNote,
    Paused,
    PinChanged,
    PortalChanged,
    PromotionCommitted,
    ProposalClosed,
    ProseStreamed,
    ProseTakenBack,
    RoundEnded,
    RoundStarted,
    SessionCollapsed,
    SessionsChanged,
    Trouble,
)
from engine.mind.perception import reach
from engine.records.base import EntityId
from engine.records.models import Call, CapState, Spent
from engine.records.prompts import Task
from engine.records.review import PendingProposal
from engine.records.world import World
from tui.minds import Mind, committed, remembered, repinned, restored
from tui.moving import moved, turned
from tui.text import capital, count
from tui.wording import asks, failed, rejected, tally

if TYPE_CHECKING:
    from engine.game import StoryLine

_NOTHING = Spent()


@dataclass(frozen=True, slots=True)
class Note:
    """The line that says what has just happened or what to do."""

    text: str
    kind: Literal["plain", "good", "bad"] = "plain"
    lasting: bool = False
    """Whether it stays until something else is said; others give way after a while."""
    advice: str = ""
    """The part of the text that says what to do, where it is known apart."""


@dataclass(frozen=True, slots=True)
class WorldView:
    """All that the panes draw from. Replaced, never changed in place, so that reactives notice."""

    world: World | None = None
    """Places, portals and entities as far as they have been shown: it may lag behind the engine by a round."""
    names: Mapping[EntityId, str] = field(default_factory=dict)
    """What the viewer of this screen calls everybody: true names for the narrator, else the played entity's own."""
    minds: Mapping[EntityId, Mind] = field(default_factory=dict)
    chosen: EntityId | None = None
    """Whose mind is shown."""
    by_hand: bool = False
    """Whether the reader chose it; else the view follows handoffs, one in a round."""
    followed: int = -1
    """Round in which the view went to a handoff last."""
    played: EntityId | None = None
    acting: EntityId | None = None
    prose: str = ""
    """What the acting entity has said so far in this beat."""
    spent: Spent = _NOTHING
    """What calls to models have taken since the save was opened: all of it, also what is still to be shown."""
    speaker: str = ""
    """The model that speaks for everybody who is not played, as things stand now."""
    away: str = ""
    """Instead of which model it does so, while that one is in trouble."""
    others: Mapping[Task, str] = field(default_factory=dict)
    """Models that answer other tasks than the actor's, where another one does."""
    recording: str = ""
    """The file on which all calls are recorded."""
    asks: bool = False
    """Whether each call waits for the reader's word before it goes out."""
    caps: tuple[CapState, ...] = ()
    """Caps as they stood after the last call."""
    model_note: ModelNote | None = None
    """What is said of a model for as long as it matters: it is waited for, or another answers instead."""
    running: bool = False
    review: bool = False
    """Whether handoffs ask a person first."""
    waiting: Mapping[EntityId, PendingProposal] = field(default_factory=dict)
    """Proposals that wait for the reader's word, by whose memory it is."""
    flagged: int = 0
    """Pieces of knowledge that wait for the reader's word."""
    embedding: Embedding | None = None
    """How far the job that embeds memories has come, while it runs."""
    note: Note = Note("")

    @property
    def mind(self) -> Mind:
        """The mind of the chosen entity."""
        return self.minds.get(self.chosen or "", Mind())

    def name(self, entity: EntityId | None) -> str:
        """What to call an entity on this screen."""
        return self.names.get(entity or "", "somebody")

    def follows(self, entity: EntityId, starting: bool = True) -> bool:
        """Whether a handoff of `entity` that starts now, or goes on, is one the reader looks at."""
        number = self.world.round if self.world else 0
        return entity == self.chosen or (starting and not self.by_hand and not self.mind.judging and self.followed != number)


def fold(view: WorldView, event: EngineEvent, told: "Mapping[EntityId | None, StoryLine] | None" = None) -> WorldView:
    """The view after `event`, of which viewers were told `told`. Pure."""
    if view.model_note is not None and _answered(view.model_note, event):
        view = replace(view, model_note=None)
    match event:
        case RoundStarted(round=number, now=now) | RoundEnded(round=number, now=now):
            return replace(_timed(view, now=now, round=number), acting=None, prose="")
        case BeatStarted(entity=entity) | ProseStreamed(entity=entity) if view.played not in (None, entity):
            return replace(view, acting=None, prose="")  # a player learns of others by what reaches the entity it plays
        case BeatStarted(entity=entity):
            return replace(view, acting=entity, prose="")
        case ProseStreamed(entity=entity, text=text):
            return replace(view, acting=entity, prose=(view.prose if view.acting == entity else "") + text)
        case ProseTakenBack(entity=entity):
            return replace(view, prose="") if view.acting == entity else view
        case BeatEnded(now=now):
            return replace(_timed(view, now=now), acting=None, prose="")
        case BeatFailed(entity=entity, reason=reason, advice=advice):
            why = f"{view.name(entity)} could not act: {reason} Nothing was lost; press n to try the next round."
            return replace(view, acting=None, prose="", note=Note(why, "bad", advice=advice))
        case Happened():
            return _happened(view, event, told or {})
        case EntityMoved(entity=entity, to=to):
            return replace(view, world=moved(view.world, entity, to)) if view.world else view
        case PortalChanged(portal=portal, state=state):
            return replace(view, world=turned(view.world, portal, state)) if view.world else view
        case AliasLearned(change=change):
            return _alias(view, change.viewer_id, change.target_id, change.new)
        case PinChanged(entry=entry):
            return _minded(view, entry.owner_id, lambda mind: repinned(mind, entry))
        case EntryRestored(entry=entry):
            return _minded(view, entry.owner_id, lambda mind: restored(mind, entry))
        case MemoryChanged(entity=owner, changed=changed):
            news = frozenset(memory.id for memory in changed)
            return _minded(view, owner, lambda mind: replace(mind, fresh=mind.fresh | news)) if owner == view.chosen else view
        case HandoffProposed(entity=owner, pending=pending):
            return _proposed(view, owner, pending)
        case ProposalClosed(entity=owner, reason=reason):
            view = replace(view, waiting={key: one for key, one in view.waiting.items() if key != owner})
            return replace(view, note=Note(rejected(view.name(owner)))) if reason == "rejected" else view
        case HistoryMoved():
            return view  # the screen reads all anew
        case SessionsChanged() | CollapseStep() | SessionCollapsed() | KnowledgeChanged() | PromotionCommitted() | FactionsChanged():
            return view  # none of the panes shows sessions or knowledge
        case Embedding(done=done, total=total):
            return replace(view, embedding=event if done < total else None)
        case HandoffStarted() | ChunkDecided() | HandoffCommitted() | HandoffFailed():
            return _handoff(view, event)
        case ModelNote():
            return replace(view, model_note=event)
        case CallChanged() | Called():
            return view  # what is under way is followed by the host, and what was spent is read from the meter
        case Paused(reason=reason, advice=advice):
            return replace(view, acting=None, prose="", note=Note(reason, "bad", advice=advice))
        case Trouble(text=text):
            return replace(view, note=Note(text, "bad"))


def aside(view: WorldView, event: EngineEvent) -> str:
    """A quiet line for the story about what is no story: what minds did. Empty for most events."""
    match event:
        case HandoffCommitted(entity=entity, run=run):
            return tally(view.name(entity), run)
        case HandoffProposed(entity=entity, pending=pending) if pending.id not in {one.id for one in view.waiting.values()}:
            return f"{asks(view.name(entity), pending)}."
        case ProposalClosed(entity=entity, reason="rejected"):
            return rejected(view.name(entity))
        case HandoffFailed(entity=entity, run=run):
            return failed(view.name(entity), run)
        case BeatFailed(entity=entity, reason=reason):
            return f"{view.name(entity)} could not act: {reason}"
        case Paused(cap=cap, reason=reason) if cap:  # else it is said already who could not act, and why
            return f"Play pauses: {reason}"
        case ModelNote(task="actor", text=text) if falls_back(event):  # of other tasks the line at the top says it
            return capital(text)
        case Trouble(text=text):
            return text
    return ""


def all_asks(view: WorldView) -> str:
    """Everything that waits, in one line, and the way to it."""
    if len(view.waiting) == 1:
        [(owner, pending)] = view.waiting.items()
        return f"{asks(view.name(owner), pending)} (v). n goes on without it."
    number = sum(pending.verdicts.count("open") for pending in view.waiting.values())
    return f"{count(number, 'memory', 'memories')} of {len(view.waiting)} minds wait for your word (v). n goes on without them."


def who_asks(view: WorldView) -> str:
    """How many minds ask, and the way to them."""
    if len(view.waiting) == 1:
        [owner] = view.waiting
        return f"{capital(view.name(owner))} asks. v shows what, n goes on without it."
    return f"{len(view.waiting)} minds ask. v shows what, n goes on without them."


def resting(view: WorldView) -> Note:
    """What is said when nothing has just happened: what to do next."""
    if view.waiting:
        return Note(all_asks(view), lasting=True)
    if view.played:
        return Note("Write what you do next; an empty line waits.", lasting=True)
    number = view.world.round if view.world else 0
    return Note(f"Round {number}. n plays the next." if number else "n plays the first round.", lasting=True)


def peopled(view: WorldView) -> tuple[int, int]:
    """Changes when anybody or anything moved, changed or was renamed, or a portal did: the clock alone does not count."""
    return (id(view.world.entities), id(view.world.portals)) if view.world else (0, 0)


def perceived(view: WorldView) -> frozenset[EntityId] | None:
    """Whom and what the played entity perceives now, itself included; None when the reader only watches and sees everything."""
    if view.played is None or view.world is None:
        return None
    senses = reach(view.world, view.played)
    beyond = (entity for way in senses.beyond for entity in way.seen)
    return frozenset((view.played, *senses.here, *senses.things, *senses.carried, *beyond))


def settled(view: WorldView) -> WorldView:
    """The view once nothing in it is new any more."""
    if not any(mind.fresh for mind in view.minds.values()):
        return view
    return replace(view, minds={owner: replace(mind, fresh=frozenset()) for owner, mind in view.minds.items()})


def falls_back(note: ModelNote) -> bool:
    """Whether it tells that another model answers instead: worth a line of the story, for the voice is another one."""
    return note.text.rstrip(".").endswith("answers instead")


def _answered(note: ModelNote, event: EngineEvent) -> bool:
    """Whether what a note says of a model is over: it has answered, or is waited for no more."""
    match event:
        case Called(call=Call(task=task, failed="")):
            return task == note.task
        case ProseStreamed():
            return note.task == "actor"
    return isinstance(event, BeatStarted | BeatEnded | BeatFailed | RoundStarted | RoundEnded | Paused)


def _timed(view: WorldView, **changes: object) -> WorldView:
    return replace(view, world=view.world.model_copy(update=changes)) if view.world else view


def _happened(view: WorldView, event: Happened, told: "Mapping[EntityId | None, StoryLine]") -> WorldView:
    minds = dict(view.minds)
    for entry in event.entries:
        if (mind := minds.get(entry.owner_id)) is not None:
            line = told.get(entry.owner_id)
            minds[entry.owner_id] = remembered(mind, entry, line.text if line else "")
    return replace(_timed(view, now=event.now), minds=minds)


def _alias(view: WorldView, viewer: EntityId, target: EntityId, new: str | None) -> WorldView:
    if view.world is None or viewer not in view.world.entities:
        return view
    before = view.world.entities[viewer]
    aliases = {key: text for key, text in before.aliases.items() if key != target} | ({target: new} if new is not None else {})
    names = {**view.names, target: new} if viewer == view.played and new is not None else view.names
    entities = {**view.world.entities, viewer: before.model_copy(update={"aliases": aliases})}
    return replace(_timed(view, entities=entities), names=names)


def _minded(view: WorldView, owner: EntityId, change: Callable[[Mind], Mind]) -> WorldView:
    """The view with one mind changed, if that mind is shown at all."""
    mind = view.minds.get(owner)
    return replace(view, minds={**view.minds, owner: change(mind)}) if mind is not None else view


def _proposed(view: WorldView, owner: EntityId, pending: PendingProposal) -> WorldView:
    """A proposal that is told of again, because a part of it has changed, is no news."""
    known = view.waiting.get(owner)
    view = _minded(view, owner, lambda mind: replace(mind, judging=frozenset(), chunks=()))
    view = replace(view, waiting={**view.waiting, owner: pending})
    if known is not None and known.id == pending.id:
        return view
    return replace(view, note=Note(f"{asks(view.name(owner), pending)} (v)."))


def _handoff(view: WorldView, event: HandoffStarted | ChunkDecided | HandoffCommitted | HandoffFailed) -> WorldView:
    owner = event.entity
    mind = view.minds.get(owner, Mind())
    note = view.note
    chosen, followed = view.chosen, view.followed
    match event:
        case HandoffStarted(report=report, candidate_ids=candidates):
            if view.follows(owner):
                chosen, followed = owner, view.world.round if view.world else 0
            mind = replace(mind, judging=frozenset(candidates), chunks=(), report=report)
            on = f" on {count(len(candidates), 'moment')}" if candidates else ""
            note = Note(f"{capital(view.name(owner))} looks back{on}: {report.reason}")
        case ChunkDecided(chunk=chunk):
            mind = replace(mind, chunks=(*mind.chunks, chunk))
        case HandoffCommitted(run=run):
            mind = committed(mind, event)
            note = Note(tally(view.name(owner), run), "good")
        case HandoffFailed(run=run):
            mind = replace(mind, judging=frozenset(), chunks=())
            note = Note(f"{view.name(owner)}: no memory was kept or lost, the handoff failed. {run.error}", "bad")
    if owner not in (chosen, view.played):  # the story tells of the others
        note = view.note
    return replace(view, minds={**view.minds, owner: mind}, chosen=chosen, followed=followed, note=note)
