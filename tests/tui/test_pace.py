"""The queue between a fast engine and a slow eye."""

from datetime import datetime

from engine.events import BeatEnded, BeatStarted, EngineEvent, HandoffCommitted, HandoffStarted, Happened, ProseStreamed, RoundEnded
from engine.records.intents import Intent
from engine.records.memory import HandoffRun, LedgerEntry, TriggerReport
from tui.pace import Heard, Pacer

NOW = datetime(1247, 3, 1, 18, 0)


def beat(entity: str, words: int = 4) -> list[EngineEvent]:
    happened = Happened(round=1, now=NOW, place=None, intent=Intent(type="action", actor=entity), outcome=None, entries=())
    prose = [ProseStreamed(entity=entity, text="word ") for _ in range(words)]
    return [BeatStarted(round=1, entity=entity), *prose, happened, BeatEnded(round=1, entity=entity, now=NOW, prose="")]


def filled(events: list[EngineEvent], speed: float, limit: int = 1000) -> Pacer:
    pacer = Pacer(speed, limit)
    for event in events:
        pacer.put(Heard(event))
    return pacer


def kinds(items: list[object]) -> list[str]:
    return [item.event.kind for item in items if isinstance(item, Heard)]


def test_without_pace_all_is_due_at_once() -> None:
    pacer = filled([*beat("a"), *beat("b")], 0.0)
    assert len(pacer.take(0.0)) == 14
    assert not len(pacer)


def test_a_beat_is_shown_in_order_and_the_next_waits() -> None:
    pacer = filled([*beat("a"), *beat("b")], 0.25)
    shown: list[str] = []
    times: dict[str, float] = {}
    for tick in range(60):
        for kind in kinds(list(pacer.take(10 + tick / 15))):
            shown.append(kind)
            times.setdefault(f"{kind}{shown.count(kind)}", tick / 15)
    assert shown == [event.kind for event in [*beat("a"), *beat("b")]]
    assert 0.2 <= times["beat_started2"] - times["beat_ended1"] <= 0.4
    assert times["beat_ended2"] <= 2.0


def test_a_long_speech_takes_no_longer_than_a_short_one() -> None:
    pacer = filled([*beat("a", 300), RoundEnded(round=1, now=NOW)], 0.25)
    seen = [kind for tick in range(20) for kind in kinds(list(pacer.take(10 + tick / 15)))]
    assert seen[-1] == "round_ended"


def test_hurry_lets_all_go() -> None:
    pacer = filled(beat("a") * 5, 1.0)
    pacer.take(0.0)
    pacer.hurry()
    pacer.take(0.0)
    assert not len(pacer)


def test_too_many_things_drop_the_oldest_and_say_so() -> None:
    pacer = filled(beat("a") * 5, 1.0, limit=10)
    assert len(pacer) == 10
    assert pacer.lost


def test_only_a_watched_handoff_takes_its_time() -> None:
    started = HandoffStarted(entity="a", report=TriggerReport(trigger="voluntary", reason=""), candidate_ids=())
    pacer = filled([started, started, RoundEnded(round=1, now=NOW)], 0.25)
    assert len(pacer.take(1.0)) == 3
    pacer = filled([started, RoundEnded(round=1, now=NOW)], 0.25)
    pacer.interest = lambda entity, starting: entity == "a" and starting
    assert len(pacer.take(1.0)) == 1
    assert len(pacer.take(1.2)) == 0
    assert len(pacer.take(3.0)) == 1


def test_memories_that_are_not_shown_yet_are_known() -> None:
    run = HandoffRun(id="run-1", owner_id="a", round=1, timestamp=NOW, trigger="voluntary", reason="", status="committed")
    entry = LedgerEntry(id="led-7", seq=1, owner_id="a", timestamp=NOW, ended=NOW, location_id=None, content="x", importance=1)
    pacer = filled([HandoffCommitted(entity="a", run=run, ledger=(entry,), promoted_ids=(), forgotten_ids=(), pinned_ids=())], 1.0)
    assert pacer.unseen_memories() == {"led-7"}
    pacer.take(5.0)
    assert not pacer.unseen_memories()
