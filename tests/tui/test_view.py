"""The fold from events to what is drawn, without an app."""

from dataclasses import replace
from datetime import datetime

import pytest

from engine.events import (
    AliasLearned,
    BeatEnded,
    BeatFailed,
    BeatStarted,
    Called,
    ChunkDecided,
    Embedding,
    EngineEvent,
    EntityMoved,
    EntryRestored,
    HandoffCommitted,
    HandoffFailed,
    HandoffProposed,
    HandoffStarted,
    Happened,
    MemoryChanged,
    ModelNote,
    Paused,
    PinChanged,
    PortalChanged,
    ProposalClosed,
    ProseStreamed,
    ProseTakenBack,
    RoundStarted,
    Trouble,
)
from engine.records.intents import Intent
from engine.records.memory import AliasChange, BufferEntry, Chunk, HandoffRun, LedgerEntry, Proposal, TriggerReport
from engine.records.models import Call
from engine.records.review import PendingProposal
from engine.records.world import Entity, Place, Portal, World
from tui.minds import Mind, MindLine
from tui.view import Note, WorldView, all_asks, aside, fold, perceived, settled
from tui.wording import named, tally

NOW = datetime(1247, 3, 1, 18, 0)
REPORT = TriggerReport(trigger="involuntary", reason="24 entries, limit 20", entries=4)


def entry(number: int, owner: str = "bryn") -> BufferEntry:
    intent = Intent(type="dialogue", text=f"word {number}", actor="mira")
    return BufferEntry(id=f"buf-{number}", seq=number, owner_id=owner, timestamp=NOW, location_id="bar", round=1, intent=intent)


@pytest.fixture
def view() -> WorldView:
    places = {key: Place(id=key, name=key) for key in ("bar", "quay")}
    door = Portal(id="door", name="door", a="bar", b="quay", state="closed", vision=0, sound=5, vision_other=9, sound_other=8)
    entities = {
        "bryn": Entity(id="bryn", agent=True, place="bar"), "mira": Entity(id="mira", agent=True, place="bar"),
        "bag": Entity(id="bag", place="bar", holder="mira"), "coin": Entity(id="coin", place="bar", holder="bag"),
    }
    world = World(slug="w", name="W", now=NOW, places=places, portals={"door": door}, entities=entities)
    mind = Mind(tuple(MindLine(entry(n), f"line {n}", "now") for n in range(1, 5)), frozenset({"buf-1", "buf-2"}), report=REPORT)
    return WorldView(world, {"bryn": "Bryn", "mira": "Mira"}, {"bryn": mind, "mira": Mind()}, chosen="mira")


def committed(**counts: int) -> HandoffRun:
    return HandoffRun(
        id="run-1", owner_id="bryn", round=1, timestamp=NOW, trigger="involuntary", reason="", status="committed", **counts,
    )


def memory() -> LedgerEntry:
    return LedgerEntry(id="led-1", seq=1, owner_id="bryn", timestamp=NOW, ended=NOW, location_id="bar", content="x", importance=5)


def test_prose_grows_until_the_beat_ends(view: WorldView) -> None:
    for event in (BeatStarted(round=1, entity="bryn"), ProseStreamed(entity="bryn", text="I "), ProseStreamed(entity="bryn", text="wait.")):
        view = fold(view, event)
    assert (view.acting, view.prose) == ("bryn", "I wait.")
    view = fold(view, BeatEnded(round=1, entity="bryn", now=NOW, prose="I wait."))
    assert (view.acting, view.prose) == (None, "")


def test_prose_that_is_taken_back_is_gone_and_begins_anew(view: WorldView) -> None:
    for event in (BeatStarted(round=1, entity="bryn"), ProseStreamed(entity="bryn", text="I w"), ProseTakenBack(entity="bryn")):
        view = fold(view, event)
    assert (view.acting, view.prose) == ("bryn", "")
    view = fold(view, ProseStreamed(entity="bryn", text="I sit."))
    assert view.prose == "I sit."
    assert fold(view, ProseTakenBack(entity="mira")).prose == "I sit."
    assert fold(replace(view, played="mira", acting=None, prose=""), ProseTakenBack(entity="bryn")).acting is None


@pytest.mark.parametrize(
    ("event", "stays"),
    [
        (Called(call=Call(task="actor", entity="bryn", round=1, model="x", prompt_tokens=1, reply_tokens=1)), False),
        (Called(call=Call(task="actor", entity="bryn", round=1, model="x", prompt_tokens=1, reply_tokens=1, failed="cut")), True),
        (Called(call=Call(task="handoff", entity="bryn", round=1, model="x", prompt_tokens=1, reply_tokens=1)), True),
        (ProseStreamed(entity="bryn", text="I "), False), (BeatFailed(entity="bryn", reason="x"), False),
        (Paused(cap="run_tokens", reason="x"), False), (PinChanged(entry=entry(1)), True),
    ],
)
def test_what_is_said_of_a_model_stays_until_it_has_answered(view: WorldView, event: EngineEvent, stays: bool) -> None:
    waits = ModelNote(task="actor", model="x", text="actor: x is overloaded; it is asked again in 3 s.")
    view = fold(view, waits)
    assert view.model_note == waits
    assert (fold(view, event).model_note == waits) is stays


def test_only_another_voice_is_told_in_the_story(view: WorldView) -> None:
    assert aside(view, ModelNote(task="decode", model="x", text="decode: x is overloaded; y answers instead.")) == ""
    assert aside(view, ModelNote(task="actor", model="x", text="actor: x is overloaded; y answers instead.")) != ""
    assert aside(view, ModelNote(task="actor", model="x", text="actor: x is overloaded; it is asked again in 3 s.")) == ""
    assert aside(view, Paused(cap="run_tokens", reason="Full.")) == "Play pauses: Full."
    assert aside(view, Paused(cap="", reason="No key.")) == ""


def test_a_player_reads_nobody_elses_prose_as_it_comes(view: WorldView) -> None:
    for event in (BeatStarted(round=1, entity="bryn"), ProseStreamed(entity="bryn", text="*I hate her.*")):
        assert fold(replace(view, played="mira"), event).prose == ""
        assert fold(replace(view, played="mira"), event).acting is None
    assert fold(replace(view, played="bryn"), ProseStreamed(entity="bryn", text="I ")).prose == "I "


def test_a_player_sees_whom_the_played_entity_perceives(view: WorldView) -> None:
    assert perceived(view) is None
    assert perceived(replace(view, played="mira")) == frozenset({"mira", "bryn", "bag"})
    apart = fold(view, EntityMoved(entity="bryn", origin="bar", to="quay"))
    assert perceived(replace(apart, played="mira")) == frozenset({"mira", "bag"})


def test_a_failed_beat_takes_its_prose_back_and_says_why(view: WorldView) -> None:
    view = fold(view, ProseStreamed(entity="bryn", text="I "))
    view = fold(view, BeatFailed(entity="bryn", reason="The model is not reachable."))
    assert view.acting is None
    assert not view.prose
    assert "not reachable" in view.note.text
    assert view.note.kind == "bad"


def test_what_is_perceived_enters_each_known_mind(view: WorldView) -> None:
    intent = Intent(type="dialogue", text="Evening", actor="bryn")
    event = Happened(round=1, now=NOW, place="bar", intent=intent, outcome=None, entries=(entry(5), entry(6, "mira"), entry(7, "ghost")))
    after = fold(view, event)
    assert [line.entry.id for line in after.minds["bryn"].lines][-1] == "buf-5"
    assert [line.entry.id for line in after.minds["mira"].lines] == ["buf-6"]
    assert "ghost" not in after.minds
    assert after.minds["bryn"].report.entries == 5
    assert "buf-5" not in after.minds["bryn"].below


def test_a_move_takes_what_is_carried_along(view: WorldView) -> None:
    after = fold(view, EntityMoved(entity="mira", origin="bar", to="quay"))
    assert after.world is not None
    assert {key: e.place for key, e in after.world.entities.items()} == {"bryn": "bar", "mira": "quay", "bag": "quay", "coin": "quay"}


def test_a_portal_that_opens_lets_sight_and_sound_through(view: WorldView) -> None:
    after = fold(view, PortalChanged(portal="door", state="open"))
    assert after.world is not None
    door = after.world.portals["door"]
    assert (door.state, door.vision, door.sound) == ("open", 9, 8)
    locked = fold(view, PortalChanged(portal="door", state="locked")).world
    assert locked is not None
    assert (locked.portals["door"].vision, locked.portals["door"].sound) == (0, 5)


def test_a_handoff_from_start_to_commit(view: WorldView) -> None:
    view = fold(view, HandoffStarted(entity="bryn", report=REPORT, candidate_ids=("buf-1", "buf-2")))
    assert view.chosen == "bryn"
    assert view.mind.judging == {"buf-1", "buf-2"}
    chunk = Chunk(source_ids=("buf-1",), content="x", importance=5)
    view = fold(view, ChunkDecided(entity="bryn", chunk=chunk))
    assert view.mind.chunks == (chunk,)
    view = fold(view, HandoffCommitted(
        entity="bryn", run=committed(added=1, pinned=1, promoted=1), ledger=(memory(),), promoted_ids=("buf-1",), forgotten_ids=(),
        pinned_ids=("buf-2",),
    ))
    assert [line.entry.id for line in view.mind.lines] == ["buf-2", "buf-3", "buf-4"]
    assert view.mind.lines[0].entry.pinned == "model"
    assert view.mind.fresh == {"led-1"}
    assert view.mind.report.entries == 2
    assert not view.mind.judging
    assert view.note.text == "Bryn: 1 kept, 1 pinned, 0 forgotten"
    assert not settled(view).mind.fresh


def test_a_mind_chosen_by_hand_stays(view: WorldView) -> None:
    started = HandoffStarted(entity="bryn", report=REPORT, candidate_ids=("buf-1",))
    assert fold(WorldView(view.world, view.names, view.minds, "mira", by_hand=True), started).chosen == "mira"


def test_of_two_handoffs_at_once_the_first_is_followed(view: WorldView) -> None:
    view = fold(view, HandoffStarted(entity="bryn", report=REPORT, candidate_ids=("buf-1",)))
    view = fold(view, HandoffStarted(entity="mira", report=REPORT, candidate_ids=("buf-9",)))
    assert view.chosen == "bryn"


def test_a_failed_handoff_leaves_all_entries(view: WorldView) -> None:
    view = fold(view, HandoffStarted(entity="bryn", report=REPORT, candidate_ids=("buf-1",)))
    before = view.mind.lines
    view = fold(view, HandoffFailed(entity="bryn", run=committed().model_copy(update={"status": "failed", "error": "No usable reply."})))
    assert view.mind.lines == before
    assert not view.mind.judging
    assert "No usable reply." in view.note.text


def test_a_pin_by_hand_shows(view: WorldView) -> None:
    after = fold(view, PinChanged(entry=entry(3).model_copy(update={"pinned": "hand"})))
    assert [line.entry.pinned for line in after.minds["bryn"].lines] == ["none", "none", "hand", "none"]


def test_a_learned_name_reaches_the_player_who_learned_it(view: WorldView) -> None:
    change = AliasChange(
        seq=1, viewer_id="bryn", target_id="mira", old=None, new="Mira Sol", timestamp=NOW, round=1, cause="introduction",
    )
    after = fold(view, AliasLearned(change=change))
    assert after.world is not None
    assert after.world.entities["bryn"].aliases == {"mira": "Mira Sol"}
    assert after.name("mira") == "Mira"
    playing = WorldView(view.world, view.names, view.minds, "bryn", played="bryn")
    assert fold(playing, AliasLearned(change=change)).name("mira") == "Mira Sol"
    assert named("Bryn", "Mira", change) == ("Mira is now “Mira Sol” to", "Bryn")
    forgotten = change.model_copy(update={"new": None, "cause": "by hand"})
    assert named("Bryn", "Mira", forgotten) == ("Mira has no name any more to", "Bryn")
    assert named("Bryn", "Mira", change.model_copy(update={"cause": "label"})) is None


def test_failures_are_told_in_the_story(view: WorldView) -> None:
    failed = committed().model_copy(update={"status": "failed", "error": "No usable reply."})
    assert aside(view, HandoffFailed(entity="bryn", run=failed)) == "Bryn could not sort its memories: No usable reply. Nothing was lost."
    assert aside(view, Trouble(text="Recall was slow.")) == "Recall was slow."
    assert aside(view, RoundStarted(round=1, now=NOW)) == ""


@pytest.mark.parametrize("event", [
    RoundStarted(round=3, now=NOW), EntityMoved(entity="nobody", origin=None, to="bar"), PortalChanged(portal="nowhere", state="open"),
    PinChanged(entry=entry(9, "nobody")), Trouble(text="Recall was slow."), EntryRestored(entry=entry(9, "nobody")),
    MemoryChanged(entity="nobody", gone_ids=("led-9",)), ProposalClosed(entity="nobody", reason="accepted"),
])
def test_events_about_unknown_things_do_no_harm(view: WorldView, event: EngineEvent) -> None:
    after = fold(view, event)
    assert after.minds == view.minds
    assert fold(WorldView(), event).world is None


def proposal(owner: str = "bryn", chunks: int = 2) -> PendingProposal:
    made = Proposal(
        owner_id=owner, trigger="involuntary", report=REPORT, candidates=(entry(1), entry(2)),
        chunks=tuple(Chunk(source_ids=(f"buf-{number}",), content="x", importance=5) for number in range(1, chunks + 1)),
        embedder="none", dim=1, prompt="", reply="", model="", template="",
    )
    return PendingProposal(id=f"prop-{owner}", round=1, timestamp=NOW, proposal=made, verdicts=("open",) * chunks)


def test_a_proposal_is_news_once_and_ends_the_judging(view: WorldView) -> None:
    view = fold(view, HandoffStarted(entity="bryn", report=REPORT, candidate_ids=("buf-1", "buf-2")))
    pending = proposal()
    first = HandoffProposed(entity="bryn", pending=pending)
    assert aside(view, first) == "Bryn: 2 memories wait for your word."
    view = fold(view, first)
    assert not view.minds["bryn"].judging
    assert view.waiting == {"bryn": pending}
    assert view.note.text == "Bryn: 2 memories wait for your word (v)."
    again = HandoffProposed(entity="bryn", pending=pending.model_copy(update={"verdicts": ("accepted", "open")}))
    assert aside(view, again) == ""
    after = fold(replace(view, note=Note("Something else.")), again)
    assert after.note.text == "Something else."
    assert after.waiting["bryn"].verdicts == ("accepted", "open")


def test_what_waits_is_summed_up_in_one_line(view: WorldView) -> None:
    one = replace(view, waiting={"bryn": proposal(chunks=1)})
    assert all_asks(one) == "Bryn: 1 memory waits for your word (v). n goes on without it."
    two = replace(view, waiting={"bryn": proposal(), "mira": proposal("mira", 3)})
    assert all_asks(two) == "5 memories of 2 minds wait for your word (v). n goes on without them."


def test_a_closed_proposal_waits_no_longer(view: WorldView) -> None:
    view = fold(view, HandoffProposed(entity="bryn", pending=proposal()))
    accepted = fold(view, ProposalClosed(entity="bryn", reason="accepted"))
    assert not accepted.waiting
    assert accepted.note == view.note
    rejected = ProposalClosed(entity="bryn", reason="rejected")
    assert fold(view, rejected).note.text == "Bryn: the proposal was rejected. Every moment stays in mind."
    assert aside(view, rejected) == fold(view, rejected).note.text


def test_a_restored_moment_is_back_at_its_place(view: WorldView) -> None:
    back = entry(9).model_copy(update={"timestamp": datetime(1247, 2, 1), "pinned": "hand"})
    after = fold(view, EntryRestored(entry=back)).minds["bryn"]
    assert [line.entry.id for line in after.lines] == ["buf-9", "buf-1", "buf-2", "buf-3", "buf-4"]
    assert "buf-9" in after.below & after.held
    assert len(fold(view, EntryRestored(entry=entry(2))).minds["bryn"].lines) == 4


def test_memories_changed_by_hand_are_new_for_a_while(view: WorldView) -> None:
    view = replace(view, chosen="bryn")
    changed = MemoryChanged(entity="bryn", changed=(memory(),))
    assert fold(view, changed).mind.fresh == {"led-1"}
    assert fold(replace(view, chosen="mira"), changed).minds == view.minds


def test_embedding_is_shown_until_it_is_done(view: WorldView) -> None:
    event = Embedding(model="minilm", done=3, total=9)
    assert fold(view, event).embedding == event
    assert fold(fold(view, event), Embedding(model="minilm", done=9, total=9)).embedding is None


def test_a_compression_is_told_as_one() -> None:
    run = committed(added=1).model_copy(update={"kind": "compression", "candidate_ids": ("led-1", "led-2", "led-3")})
    assert tally("bryn", run) == "Bryn: 3 old memories told as 1"


def test_the_tally_names_what_happened_only() -> None:
    assert tally("bryn", committed(added=3, updated=1, pinned=2, forgotten=7)) == "Bryn: 3 kept, 1 merged, 2 pinned, 7 forgotten"
