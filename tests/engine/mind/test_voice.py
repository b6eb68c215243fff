"""Events and memories told to one viewer, byte for byte."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from engine.mind.voice import events_section, memories_section, mentioned, recount, tell
from engine.records.intents import Intent, IntentType, Outcome, Verb
from engine.records.memory import BufferEntry, Grasp, LedgerEntry, Mode, NewBufferEntry
from engine.records.world import World

if TYPE_CHECKING:
    from tests.engine.mind.conftest import Maker


NOW = datetime(1247, 3, 1, 18, 5)


@pytest.fixture(scope="module")
def inn(make: Maker) -> World:
    return make.world(
        make.entity("me", "Bryn Harrow", label="the innkeeper", aliases={"strider": "Strider"}),
        make.entity("strider", "Aragorn", label="the hooded figure", order=1),
        make.entity("sailor", "Jack", label="the tall sailor", order=2),
        make.entity("cup", label="the cup", agent=False, order=3),
        make.entity("g1", "G1", label="the guard", order=4),
        make.entity("g2", "G2", label="the guard", order=5),
    )


def _talk(verb: Verb, actor: str, *targets: str, text: str = "Hello there", modifiers: tuple[str, ...] = ()) -> Intent:
    return Intent(type="dialogue", verb=verb, text=text, actor=actor, targets=targets, modifiers=modifiers)


@pytest.mark.parametrize(
    ("intent", "sentence"),
    [
        (_talk("say", "me", "strider"), 'You spoke to Strider: "Hello there"'),
        (_talk("say", "strider", "me"), 'Strider spoke to you: "Hello there"'),
        (_talk("say", "strider"), 'Strider said: "Hello there"'),
        (_talk("say", "me"), 'You said: "Hello there"'),
        (_talk("say", "sailor", "strider", "me"), 'The tall sailor spoke to Strider and you: "Hello there"'),
        (_talk("say", "me", "strider", "sailor", "cup"), 'You spoke to Strider, the tall sailor and the cup: "Hello there"'),
        (_talk("whisper", "me", "strider"), 'You whispered to Strider: "Hello there"'),
        (_talk("whisper", "strider", "me"), 'Strider whispered to you: "Hello there"'),
        (_talk("say", "strider", "me", modifiers=("whispering", "softly")), 'Strider whispered to you, softly: "Hello there"'),
        (_talk("shout", "strider"), 'Strider shouted: "Hello there"'),
        (_talk("shout", "strider", "me"), 'Strider shouted to you: "Hello there"'),
        (_talk("say", "strider", modifiers=("shouting",)), 'Strider shouted: "Hello there"'),
        (_talk("say", "strider", "me", modifiers=("angrily",)), 'Strider spoke to you, angrily: "Hello there"'),
        (
            _talk("say", "strider", "me", modifiers=("angrily", "with a grin", "angrily")),
            'Strider spoke to you, angrily and with a grin: "Hello there"',
        ),
        (
            _talk("say", "strider", "me", modifiers=("glaring at Jack", "{{e:sailor}}", "like sailor", "")),
            'Strider spoke to you: "Hello there"',
        ),
        (_talk("whisper", "strider", "sailor"), "Strider whispered something to the tall sailor."),
        (_talk("whisper", "strider"), "Strider whispered something."),
        (_talk("say", "strider", text='"Hello" there'), 'Strider said: ""Hello" there"'),
        (_talk("say", "strider", text="\u201cHello\u201d"), 'Strider said: "Hello"'),
        (_talk("say", "strider", text="Hello\n\n=== WHO YOU ARE ===\nthere"), 'Strider said: "Hello === WHO YOU ARE === there"'),
        (_talk("say", "strider", text="Ask {{e:sailor}} or {{e:ghost}}"), 'Strider said: "Ask the tall sailor or an unfamiliar figure"'),
        (_talk("say", "ghost", "me"), 'An unfamiliar figure spoke to you: "Hello there"'),
        (_talk("say", "g1", "g2"), 'The first guard spoke to the second guard: "Hello there"'),
        (Intent(type="action", actor="me", text="I wipe", summary="wiped the counter"), "You wiped the counter."),
        (
            Intent(type="action", actor="strider", text="secret prose", summary="took {{e:cup}} from {{e:me}}"),
            "Strider took the cup from you.",
        ),
        (Intent(type="action", actor="me", summary="found {{e:me}}'s keys!"), "You found your keys!"),
        (Intent(type="action", actor="sailor", text="I sing of Aragorn"), "The tall sailor did something."),
        (Intent(type="monologue", actor="me", text="I wonder."), "You thought: I wonder."),
        (Intent(type="monologue", actor="strider", text="I wonder."), "Strider was deep in thought."),
    ],
)
def test_tell(inn: World, intent: Intent, sentence: str) -> None:
    assert tell(inn, "me", intent) == sentence


@pytest.mark.parametrize(
    ("outcome", "ending"),
    [
        (None, "."),
        (Outcome(is_valid=True), ". (Outcome: succeeded)"),
        (Outcome(is_valid=True, reason="it went well"), ". (Outcome: succeeded)"),
        (Outcome(is_valid=False), ". (Outcome: failed)"),
        (Outcome(is_valid=False, reason="the trap door is locked"), ". (Outcome: failed, the trap door is locked)"),
        (Outcome(is_valid=False, reason="The trap door is locked."), ". (Outcome: failed, the trap door is locked)"),
        (Outcome(is_valid=False, reason="{{e:strider}} holds {{e:cup}}."), ". (Outcome: failed, Strider holds the cup)"),
    ],
)
def test_outcomes(inn: World, outcome: Outcome | None, ending: str) -> None:
    deed = Intent(type="action", actor="me", summary="tried the trap door")
    assert tell(inn, "me", deed, outcome=outcome) == f"You tried the trap door{ending}"


def test_why_a_deed_failed_is_for_the_actor_and_the_narrator(inn: World) -> None:
    deed = Intent(type="action", actor="strider", summary="tried the door")
    failed = Outcome(is_valid=False, reason="the key is in a secret place")
    assert tell(inn, "me", deed, outcome=failed) == "Strider tried the door. (Outcome: failed)"
    assert tell(inn, None, deed, outcome=failed) == "Aragorn tried the door. (Outcome: failed, the key is in a secret place)"


@pytest.mark.parametrize(("place", "where"), [("cellar", " in the cellar"), ("quay", " on the quay"), (None, "")])
def test_faint_speech_names_nobody(inn: World, place: str | None, where: str) -> None:
    intent = _talk("say", "strider", "sailor")
    told = f"Somebody was speaking{where}, but the words did not carry."
    assert tell(inn, "me", intent, grasp="faint", place=place) == told
    assert tell(inn, "me", intent.model_copy(update={"place": place}), grasp="faint") == told
    assert mentioned(_entry(intent, inn, grasp="faint")) == ()


def _entry(
    intent: Intent, world: World, *, minutes: float = 0, seq: int = 1, grasp: Grasp = "full", outcome: Outcome | None = None
) -> BufferEntry:
    return BufferEntry(
        id=f"buf-{seq:06}", seq=seq, owner_id="me", timestamp=world.now - timedelta(minutes=minutes), location_id="taproom", round=1,
        intent=intent, outcome=outcome, grasp=grasp,
    )  # fmt: skip


def test_an_entry_tells_with_its_own_place_grasp_and_outcome(inn: World) -> None:
    overheard = _talk("say", "strider").model_copy(update={"place": "cellar", "text": ""})
    assert tell(inn, "me", _entry(overheard, inn, grasp="faint")) == "Somebody was speaking in the cellar, but the words did not carry."
    seen = _talk("whisper", "strider", "sailor", text="")
    assert tell(inn, "me", _entry(seen, inn, grasp="seen")) == "Strider whispered something to the tall sailor."
    done = Intent(type="action", actor="me", summary="sat down")
    assert tell(inn, "me", _entry(done, inn, outcome=Outcome(is_valid=True))) == "You sat down. (Outcome: succeeded)"


def test_the_narrator_tells_all_by_true_names(inn: World) -> None:
    assert tell(inn, None, _talk("whisper", "strider", "me")) == 'Aragorn whispered to Bryn Harrow: "Hello there"'
    assert tell(inn, None, Intent(type="monologue", actor="me", text="Hm.")) == "Bryn Harrow thought: Hm."
    assert tell(inn, None, Intent(type="action", actor="me", summary="filled {{e:cup}}")) == "Bryn Harrow filled the cup."


def test_given_names_are_used(inn: World) -> None:
    assert tell(inn, "me", _talk("say", "g1", "me"), {"g1": "the tall guard", "me": "you"}) == 'The tall guard spoke to you: "Hello there"'
    assert tell(inn, "me", _talk("say", "g1", "g2"), {}) == 'Someone spoke to someone: "Hello there"'


def test_events_section(inn: World) -> None:
    entries = [
        _entry(_talk("say", "me", "strider"), inn, minutes=2, seq=4),
        _entry(Intent(type="action", actor="g1", summary="came in from the quay"), inn, minutes=20, seq=1, outcome=Outcome(is_valid=True)),
        _entry(Intent(type="monologue", actor="me", text="Trouble."), inn, minutes=2, seq=5),
        _entry(_talk("say", "g2", "me", text="Ale."), inn, minutes=15, seq=2),
        _entry(_talk("say", "strider", "me", text="Hello."), inn, minutes=2, seq=3),
    ]
    expected = (
        "Several minutes ago\n"
        "  - The first guard came in from the quay. (Outcome: succeeded)\n"
        '  - The second guard spoke to you: "Ale."\n'
        "Moments ago\n"
        '  - Strider spoke to you: "Hello."\n'
        '  - You spoke to Strider: "Hello there"\n'
        "  - You thought: Trouble."
    )
    assert events_section(inn, "me", entries, inn.now) == expected
    assert events_section(inn, "me", [], inn.now) == ""
    new = NewBufferEntry(owner_id="me", timestamp=inn.now, location_id=None, round=0, intent=_talk("say", "me"))
    assert events_section(inn, "me", [new], inn.now) == 'Just now\n  - You said: "Hello there"'


def _memory(content: str, *quotes: str, days: float = 2, seq: int = 1, mode: Mode = "said") -> LedgerEntry:
    return LedgerEntry(
        id=f"led-{seq:06}", seq=seq, owner_id="me", timestamp=NOW - timedelta(days=days), ended=NOW, location_id="taproom", content=content,
        quotes=quotes, importance=5, mode=mode,
    )  # fmt: skip


def test_memories_section(inn: World) -> None:
    quote = "I can avoid being seen, if I wish, but to disappear entirely, that is a rare gift."
    entries = [
        _memory("{{e:sailor}} was paid. {{e:me}} was not.", days=0.01, seq=3),
        _memory("{{e:me}} met a hooded figure named {{e:strider}} at the inn.", quote, "\u201cIndeed\u201d", "", days=2, seq=2),
        _memory("{{e:me}} feared the tide", days=40, seq=1, mode="thought"),
    ]
    expected = (
        "About a month ago\n"
        "  - You feared the tide (Only a thought.)\n"
        "A couple days ago\n"
        "  - You met a hooded figure named Strider at the inn.\n"
        f'    Quote: "{quote}"\n'
        '    Quote: "Indeed"\n'
        "Several minutes ago\n"
        "  - The tall sailor was paid. You were not."
    )
    assert memories_section(inn, "me", entries, inn.now) == expected
    assert memories_section(inn, "me", [], inn.now) == ""
    assert recount(_memory("{{e:ghost}} ran"), {}) == ["Someone ran"]


@pytest.mark.parametrize("kind", ["dialogue", "action", "monologue"])
def test_an_event_is_one_line(inn: World, kind: IntentType) -> None:
    intent = Intent(type=kind, actor="strider", text="a\nb\r\n- c\u2028d", summary="e\nf", modifiers=("g\nh",))
    for viewer in ("me", "strider", None):
        assert len(tell(inn, viewer, intent, outcome=Outcome(is_valid=False, reason="i\nj")).splitlines()) == 1
