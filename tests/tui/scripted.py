"""A scripted game with the interface of the real one."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from pathlib import Path

from engine.asides import Aside, Kept, asides
from engine.errors import CommandError, SettingsError
from engine.events import (
    AliasLearned,
    BeatEnded,
    BeatFailed,
    BeatStarted,
    CallChanged,
    ChunkDecided,
    EngineEvent,
    EntityMoved,
    HandoffCommitted,
    HandoffStarted,
    Happened,
    Listener,
    Paused,
    PinChanged,
    PortalChanged,
    ProseStreamed,
    RoundEnded,
    RoundStarted,
)
from engine.game import BufferView, Game, LedgerLine, RoundReport, StoryLine
from engine.knowledge_desk import KnowledgeDesk
from engine.knowledge_views import ReviewLine
from engine.records.intents import Intent, Outcome
from engine.records.memory import AliasChange, BufferEntry, Chunk, HandoffRun, LedgerEntry, Partition, Trigger, TriggerReport
from engine.records.prompts import Candidate, Cut, Message, Prompt, PromptReport, Receipt, Section
from engine.records.tokens import substitute
from engine.records.world import Attribute, Entity, Place, Portal, World
from engine.setup import Setup
from tests.tui.scripted_memory import FakeDesk
from tests.tui.scripted_models import FakeModels

START = datetime(1247, 3, 1, 18, 5)
HOSTILE = "[red]x[/] [/nope] [@click=app.quit]go[/] \x1b]52;c;aGk=\x07 \u202eevil"
"""Markup, links and escapes that must be drawn as they stand or not at all."""


def small_world(spice: str = "") -> World:
    """An inn with five places and four agents. `spice` is mixed into every text."""

    def person(key: str, name: str, label: str, place: str, order: int) -> Entity:
        return Entity(
            id=key, agent=True, place=place, order=order, aliases={"mira": "the wet stranger"} if key == "bryn" else {},
            attributes={
                "name": Attribute(name="name", value=name + spice, known_to=(key,)),
                "label": Attribute(name="label", value=label + spice, public=True),
            },
        )

    names = {"tap": "the tap room", "quay": "the quay", "cellar": "the cellar", "loft": "the loft", "yard": "the yard"}
    places = {key: Place(id=key, name=name + spice, description=f"It smells of tar.{spice}") for key, name in names.items()}
    portals = {
        "door": Portal(id="door", name="street door", a="tap", b="quay", state="closed", vision=0, sound=7),
        "trap": Portal(id="trap", name="trap door", a="tap", b="cellar", state="locked", vision=0, sound=4),
        "stairs": Portal(id="stairs", name="stairs", a="tap", b="loft"),
        "gate": Portal(id="gate", name="gate", a="tap", b="yard", one_way=True),
    }
    people = [
        person("bryn", "Bryn Harrow", "the broad woman", "tap", 1), person("mira", "Mira Sol", "the wet stranger", "tap", 2),
        person("tam", "Tam Oake", "the tall sailor", "quay", 3), person("old", "Old Pell", "the sleeping man", "loft", 4),
    ]
    lantern = Entity(id="lantern", place="tap", attributes={"label": Attribute(name="label", value="the brass lantern", public=True)})
    return World(
        slug="inn", name="The Inn" + spice, description="A small inn." + spice, now=START, places=places, portals=portals,
        entities={entity.id: entity for entity in [*people, lantern]},
    )


class FakeGame(Game):
    """Plays a fixed script: every round all agents speak; in round 2 Bryn's memory is handed off."""

    def __init__(self, path: Path, spice: str = "") -> None:
        self._world = small_world(spice)
        self._path = path
        self.spice = spice
        self.closed = False
        self.steps: list[str] = []
        self.gate: asyncio.Event | None = None
        """When set, each beat waits for it: a slow model."""
        self.handoff_gate: asyncio.Event | None = None
        """When set, each handoff does."""
        self.fail_next = ""
        self.fail_all = ""
        """Why nobody can act at all."""
        self.problems: tuple[str, ...] = ()
        """What is left out of each prompt."""
        self._listeners: list[Listener] = []
        self._played: str | None = None
        self._seq = 0
        self._buffers: dict[str, list[BufferEntry]] = {e.id: [] for e in self._world.agents()}
        self._ledgers: dict[str, list[LedgerEntry]] = {e.id: [] for e in self._world.agents()}
        self._story: list[Happened] = []
        self._changes: list[AliasChange] = []
        self._runs: list[HandoffRun] = []
        self._archive: dict[str, BufferEntry] = {}
        self.desk = FakeDesk(self)
        self.model_desk = FakeModels(spice)
        self.model_desk.told.append(lambda call: self._tell(CallChanged(call=call)))
        self.pause_next = ""
        """Why the next beat is not played: a cap."""
        self.pause_before = ""
        """Whose beat that is; empty for anybody's."""
        for minutes in range(10):
            said = Intent(type="dialogue", verb="say", text=f"Old news {minutes}.{spice}", actor="mira", targets=("bryn",))
            self._remember("bryn", said, -600 + minutes)

    def _remember(self, owner: str, intent: Intent, minutes: int = 0) -> BufferEntry:
        self._seq += 1
        entry = BufferEntry(
            id=f"buf-{self._seq:06}", seq=self._seq, owner_id=owner, timestamp=self._world.now + timedelta(minutes=minutes),
            location_id="tap", round=self._world.round, intent=intent,
            outcome=Outcome(is_valid=True) if intent.type == "action" else None,
        )
        self._buffers[owner].append(entry)
        return entry

    def _tell(self, event: EngineEvent) -> None:
        for listener in self._listeners:
            listener(event)

    @classmethod
    async def open(
        cls, save: Path | str, *, setup: Setup | None = None, listener: Listener | None = None, read_only: bool = False,
    ) -> "FakeGame":
        return cls(Path(save))

    async def close(self) -> None:
        self.closed = True

    @property
    def world(self) -> World:
        return self._world

    @property
    def path(self) -> Path:
        return self._path

    @property
    def model_name(self) -> str:
        return self.model_desk.speaker

    @property
    def models(self) -> FakeModels:
        return self.model_desk

    @property
    def memory(self) -> FakeDesk:
        return self.desk

    @property
    def knowledge(self) -> "FakeKnowledge":
        return FakeKnowledge()

    def listen(self, listener: Listener) -> Callable[[], None]:
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def play_as(self, entity: str | None) -> None:
        self._played = entity

    @property
    def played(self) -> str | None:
        return self._played

    async def step(self, text: str = "") -> RoundReport:
        if text.startswith("nonsense"):
            raise CommandError(f"Nobody here is called {text!r}.", "Look around first.")
        self.steps.append(text)
        self._world = self._world.model_copy(update={"round": self._world.round + 1})
        number = self._world.round
        self._tell(RoundStarted(round=number, now=self._world.now))
        handoffs = 0
        if number == 2:
            await self._handoff("bryn")
            handoffs = 1
        beats, failed, paused = 0, 0, ""
        for agent in self._world.agents():
            if agent.id == "old":
                continue
            if self.pause_next and self.pause_before in ("", agent.id):
                paused, self.pause_next = self.pause_next, ""
                self._tell(Paused(cap="run_tokens", reason=paused))
                break
            done = await self._beat(agent.id, text if agent.id == self._played else "")
            beats, failed = beats + done, failed + (not done)
        self._tell(RoundEnded(round=number, now=self._world.now))
        return RoundReport(round=number, beats=beats, failed_beats=failed, handoffs=handoffs, failed_handoffs=0, paused=paused)

    async def _beat(self, actor: str, text: str) -> bool:
        number = self._world.round
        self._tell(BeatStarted(round=number, entity=actor))
        words = text or f"Round {number}, says {actor}.{self.spice}"
        for piece in words.split(" "):
            self._tell(ProseStreamed(entity=actor, text=piece + " "))
        if self.gate is not None:
            await self.gate.wait()
        else:
            await asyncio.sleep(0)
        if self.fail_next or self.fail_all:
            reason, self.fail_next = self.fail_next or self.fail_all, ""
            self._tell(BeatFailed(entity=actor, reason=reason))
            return False
        place = self._world.entities[actor].place
        if actor == "tam" and number == 1:
            intent = Intent(type="action", verb="go", summary="went through the street door", text=words, actor=actor, portal="door")
            self._move("tam", "tap")
        elif actor == "mira" and number == 3:
            intent = Intent(type="monologue", verb="think", text=words, actor=actor)
        else:
            intent = Intent(type="dialogue", verb="say", text=words, actor=actor)
        here = [e.id for e in self._world.at(place) if e.agent and (intent.type != "monologue" or e.id == actor)]
        entries = tuple(self._remember(owner, intent) for owner in [actor, *(o for o in here if o != actor)])
        now = self._world.now + timedelta(minutes=1)
        self._world = self._world.model_copy(update={"now": now})
        outcome = Outcome(is_valid=True) if intent.type == "action" else None
        event = Happened(round=number, now=now, place=place, intent=intent, outcome=outcome, entries=entries)
        self._story.append(event)
        self._tell(event)
        if actor == "mira" and number == 1:
            self._learn("bryn", "mira", "Mira", entries[-1].id)
        self._tell(BeatEnded(round=number, entity=actor, now=now, prose=words))
        return True

    def _move(self, entity: str, to: str) -> None:
        before = self._world.entities[entity]
        self._world = self._world.model_copy(update={"entities": {**self._world.entities, entity: before.model_copy(update={"place": to})}})
        door = self._world.portals["door"].model_copy(update={"state": "open", "vision": 10, "sound": 10})
        self._world = self._world.model_copy(update={"portals": {**self._world.portals, "door": door}})
        self._tell(PortalChanged(portal="door", state="open"))
        self._tell(EntityMoved(entity=entity, origin=before.place, to=to))

    def _learn(self, viewer: str, target: str, name: str | None, evidence: str | None = None, *, by_hand: bool = False) -> None:
        before = self._world.entities[viewer]
        change = AliasChange(
            seq=len(self._changes) + 1, viewer_id=viewer, target_id=target, old=before.aliases.get(target), new=name,
            timestamp=self._world.now, round=self._world.round, cause="by hand" if by_hand else "introduction", evidence=evidence,
        )
        self._changes.append(change)
        aliases = {**before.aliases, target: name} if name else {k: v for k, v in before.aliases.items() if k != target}
        self._world = self._world.model_copy(
            update={"entities": {**self._world.entities, viewer: before.model_copy(update={"aliases": aliases})}}
        )
        self._tell(AliasLearned(change=change))

    async def _handoff(self, owner: str) -> None:
        candidates = self._buffers[owner][:6]
        if self.desk.mode == "ask":
            self.desk.propose(owner, candidates, self._world.round)
            return
        ids = tuple(entry.id for entry in candidates)
        self._tell(HandoffStarted(entity=owner, report=self._report(owner), candidate_ids=ids))
        if self.handoff_gate is not None:
            await self.handoff_gate.wait()
        await asyncio.sleep(0)
        chunk = Chunk(source_ids=ids[:2], content="{{e:mira}} brought old news." + self.spice, importance=7, quotes=("Old news 0.",))
        self._tell(ChunkDecided(entity=owner, chunk=chunk))
        entry = LedgerEntry(
            id="led-000001", seq=1, owner_id=owner, timestamp=candidates[0].timestamp, ended=candidates[1].timestamp,
            location_id="tap", involved_entity_ids=("mira",), content=chunk.content, quotes=chunk.quotes, importance=7,
        )
        self._ledgers[owner].append(entry)
        gone = {candidates[i].id for i in (0, 1, 2, 3)}
        self._archive |= {entry.id: entry for entry in candidates}
        self._buffers[owner] = [
            entry.model_copy(update={"pinned": "model"}) if entry.id in ids[4:] else entry
            for entry in self._buffers[owner] if entry.id not in gone
        ]
        run = HandoffRun(
            id="run-000001", owner_id=owner, round=2, timestamp=self._world.now, trigger="involuntary", reason="24 entries, limit 20",
            status="committed", candidate_ids=ids, added=1, promoted=2, forgotten=2, pinned=2,
        )
        self._runs.append(run)
        self._tell(HandoffCommitted(
            entity=owner, run=run, ledger=(entry,), promoted_ids=ids[:2], forgotten_ids=ids[2:4], pinned_ids=ids[4:],
        ))

    def _report(self, owner: str) -> TriggerReport:
        number = len(self._buffers[owner])
        trigger: Trigger = "involuntary" if number > 9 else "none"
        return TriggerReport(trigger=trigger, reason=f"{number} entries, limit 20", entries=number, tokens=600, max_tokens=4915)

    async def preview(self, entity: str) -> Prompt:
        text = f"=== WHO YOU ARE ===\nName: {self.name(entity)}{self.spice}"
        return Prompt(
            task="actor", entity=entity, template="actor.1",
            messages=(Message(role="system", content=text), Message(role="user", content="What do you do now?")),
            sections=(
                Section(key="self", title="who you are", text=text, tokens=120),
                Section(key="events", title="recent events", text="x" + self.spice, tokens=340),
                Section(key="memories", title="your memories", text="", why_empty="nothing was recalled"),
            ),
            report=PromptReport(
                context_window=8192, reserved=512, tokens=460, query="news from the sea" + self.spice, focus=("mira",),
                problems=self.problems,
                cuts=(Cut(section="memories", source="led-000001", reason="budget" + self.spice),),
                receipts=(
                    self._receipt(1, "Mira brought old news" + self.spice, 0.83, "ranked 1"),
                    self._receipt(14, "Rain fell", 0.2, "ranked 14, limit 12"),
                ),
                candidates=tuple(
                    Candidate(
                        source=f"led-{rank:06}", rank=rank, score=1 / rank, recency=0.0, importance=0.1, cosine=0.1, words=0.1,
                        involved=0.0, smoothed=0.0, found_by=("newest",), chosen=rank == 1,
                    )
                    for rank in range(1, 21)
                ),
            ),
        )

    def _receipt(self, rank: int, text: str, score: float, reason: str) -> Receipt:
        return Receipt(
            source=f"led-{rank:06}", rank=rank, found_by=("people", "words"), text=text, score=score, recency=0.1,
            importance=0.07, cosine=0.4, words=0.2, involved=0.2, smoothed=0.06, chosen=score > 0.5, reason=reason, tokens=22,
        )

    async def buffer(self, entity: str) -> BufferView:
        entries = self._buffers.get(entity, [])
        old = entries[:-4]
        free, held = [e for e in old if e.pinned != "hand"], [e for e in old if e.pinned == "hand"]
        part = Partition(tail=tuple(entries[-4:]), candidates=tuple(free), held=tuple(held))
        lines = {entry.id: self._line(entry.intent, entity) for entry in entries}
        when = {entry.id: "a few hours ago" if entry.timestamp < START else "just now" for entry in entries}
        report = self._report(entity) if entries else TriggerReport(trigger="none", reason="empty")
        return BufferView(owner_id=entity, partition=part, report=report, lines=lines, when=when)

    async def ledger(self, entity: str) -> Sequence[LedgerLine]:
        return [
            LedgerLine(
                entry=e, text=substitute(e.content, lambda i: self.name(i, entity)), when="a few hours ago", place="the tap room",
                people=("the wet stranger",),
            )
            for e in self._ledgers.get(entity, [])
        ]

    async def sources(self, entry: str) -> Sequence[BufferEntry]:
        return [self._archive[key] for key in sorted(self._archive)][:2]

    async def story(self, viewer: str | None, limit: int = 500) -> Sequence[StoryLine]:
        return [line for event in self._story[-limit:] if (line := self.tell(event, viewer)) is not None]

    async def asides(self, viewer: str | None, since: int = 0, limit: int = 500) -> Sequence[Aside]:
        found = Kept(self._runs, self._changes, list(self.desk.waiting.values()))
        mine = [one for one in asides(self._world, viewer, found) if viewer is None or self._owner_of(one) == viewer]
        return [one for one in mine if one.round >= since]

    def _owner_of(self, aside: Aside) -> str:
        what = aside.what
        if isinstance(what, AliasChange):
            return what.viewer_id
        return what.owner_id if isinstance(what, HandoffRun) else what.proposal.owner_id

    def _line(self, intent: Intent, viewer: str | None) -> str:
        name = self.name(intent.actor, viewer)
        name = name[:1].upper() + name[1:]
        if intent.type == "dialogue":
            return f'{name} said: "{intent.text}"'
        return f"{name} thought: {intent.text}" if intent.type == "monologue" else f"{name} {intent.summary}."

    def tell(self, event: EngineEvent, viewer: str | None) -> StoryLine | None:
        if not isinstance(event, Happened) or (viewer is not None and viewer not in [e.owner_id for e in event.entries]):
            return None
        speaker = self.name(event.intent.actor, viewer)
        place = self._world.places[event.place].name if event.place else ""
        return StoryLine(
            round=event.round, at=event.now, when=f"{event.now:%H:%M}", place=place, actor=event.intent.actor, kind=event.intent.type,
            speaker=speaker[:1].upper() + speaker[1:], text=self._line(event.intent, viewer), intent=event.intent,
            ok=event.outcome is None or event.outcome.is_valid,
        )

    def name(self, entity: str, viewer: str | None = None) -> str:
        if entity == viewer:
            return "you"
        if viewer is not None and (alias := self._world.entities[viewer].aliases.get(entity)):
            return alias
        found = self._world.entities[entity]
        return (found.value("name") if viewer is None else None) or found.value("label") or entity

    async def alias_changes(self, viewer: str, target: str) -> Sequence[AliasChange]:
        return [change for change in self._changes if (change.viewer_id, change.target_id) == (viewer, target)]

    async def set_pin(self, entry: str, on: bool) -> None:
        for owner, entries in self._buffers.items():
            for index, found in enumerate(entries):
                if found.id == entry:
                    self._buffers[owner][index] = found.model_copy(update={"pinned": "hand" if on else "none"})
                    self._tell(PinChanged(entry=self._buffers[owner][index]))
                    return
        raise CommandError("That entry has left the buffer.")

    async def set_alias(self, viewer: str, target: str, text: str) -> None:
        if text == "you":
            raise CommandError("“you” cannot be a name.", "Choose another.")
        self._learn(viewer, target, text.strip() or None, by_hand=True)


class FakeKnowledge(KnowledgeDesk):
    """Nobody knows anything, and nothing waits."""

    def __init__(self) -> None:
        """Over nothing."""

    async def queue(self, viewer: str | None = None) -> Sequence[ReviewLine]:
        return []


class FakeGames:
    """Opens scripted games and keeps them at hand."""

    def __init__(self, spice: str = "") -> None:
        self.spice = spice
        self.last: FakeGame | None = None
        self.desk = FakeModels(spice)
        """Of Home."""
        self.no_models = ""
        """Why settings cannot be read."""
        self.stand_in = self.asks = False
        self.recording: Path | None = None

    async def create(self, world: Path, save: Path, seed: int | None) -> FakeGame:
        save.write_text("a save")  # noqa: ASYNC240 - a test
        self.last = FakeGame(save, self.spice)
        self.last.models.calls.ask_first(self.asks)
        return self.last

    async def open(self, save: Path) -> FakeGame:
        self.last = FakeGame(save, self.spice)
        self.last.models.calls.ask_first(self.asks)
        return self.last

    async def models(self) -> FakeModels:
        if self.no_models:
            raise SettingsError(self.no_models, "Correct it or take it out.")
        return self.desk

    @property
    def game(self) -> FakeGame:
        """The game that was opened last."""
        assert self.last is not None
        return self.last
