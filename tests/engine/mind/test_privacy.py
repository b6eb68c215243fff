"""Nothing told to a viewer holds an id, a name it has not learned, or a value that is not its to know (invariant 1).

Worlds are generated so that all of these can be recognised: ids are made of `zq`, true names of `Nom`, private values of `Sec`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.mind.aliases import find, names_for, tokenize, vocabulary
from engine.mind.names import learned
from engine.mind.perception import as_perceived, perceivers, reach
from engine.mind.voice import events_section, memories_section, tell
from engine.records.intents import Intent, Outcome
from engine.records.memory import BufferEntry, LedgerEntry
from engine.records.tokens import token
from engine.records.world import Attribute, Entity, Place, Portal, World
from engine.world.access import is_awake, is_dark

NOW = datetime(1247, 3, 1, 18, 5)
PLACES = ["hall", "yard", "cave"]
LABELS = ["", "the guard", "a hooded figure", "the wet stranger", "Guard"]
LOOKS = ["", "A tall guard in mail", "Thin woman in a soaked coat", "bearded", "A man with {{e:zq0}}'s eyes"]
IDS = [f"zq{n}" for n in range(7)]


def _true_name(id_: str) -> str:
    return f"Nom{id_[2:]} Nomsen{id_[2:]}"


@st.composite
def _entities(draw: st.DrawFn, id_: str) -> Entity:
    attributes = {
        "name": Attribute(name="name", value=_true_name(id_), known_to=(id_, *draw(st.sets(st.sampled_from(IDS), max_size=1)))),
        "secret": Attribute(name="secret", value=f"Sec{id_[2:]}", known_to=(id_,)),
        "label": Attribute(name="label", value=draw(st.sampled_from(LABELS)), public=True),
        "appearance": Attribute(name="appearance", value=draw(st.sampled_from(LOOKS)), public=True),
        "status": Attribute(name="status", value=draw(st.sampled_from(["awake", "awake", "awake", "asleep"])), public=True),
    }
    hidden = draw(st.sampled_from(["", "label", "appearance"]))
    if hidden:
        attributes[hidden] = Attribute(name=hidden, value=f"the Sec{id_[2:]}", known_to=(id_,))
    others = st.sampled_from([i for i in IDS if i != id_])
    aliases = {i: draw(st.sampled_from([_true_name(i), "Liar", "the Rook", "the guard", "you"])) for i in draw(st.sets(others, max_size=3))}
    holder = draw(st.sampled_from([None, None, "zq0", "zq1"])) if id_ in ("zq5", "zq6") else None
    return Entity(
        id=id_, agent=id_ not in ("zq5", "zq6"), place=draw(st.sampled_from([*PLACES, None])), order=draw(st.integers(0, 3)), holder=holder,
        attributes=attributes, aliases=aliases,
    )  # fmt: skip


@st.composite
def worlds(draw: st.DrawFn) -> World:
    entities = {id_: draw(_entities(id_)) for id_ in IDS}
    entities |= {
        id_: entity.model_copy(update={"place": entities[entity.holder].place})
        for id_, entity in entities.items()
        if entity.holder is not None
    }
    dark = draw(st.sets(st.sampled_from(PLACES), max_size=1))
    light = {"light": Attribute(name="light", value="dark", public=True)}
    level = st.integers(0, 10)
    portals = {
        id_: Portal(id=id_, name=f"the {id_}", a=a, b=b, vision=draw(level), sound=draw(level), one_way=draw(st.booleans()))
        for id_, a, b in (("door", "hall", "yard"), ("hatch", "cave", "hall"))
    }
    return World(
        slug="w", name="W", now=NOW, places={p: Place(id=p, name=f"the {p}", attributes=light if p in dark else {}) for p in PLACES},
        portals=portals, entities=entities,
    )  # fmt: skip


FILLER = st.sampled_from(["greeted", "and", "was near", "'s cup fell on", ". Then", "struck"])
TEXTS = st.lists(st.tuples(st.sampled_from([*IDS, "zq9"]), FILLER), min_size=1, max_size=4).map(
    lambda parts: " ".join(f"{token(id_)} {filler}" for id_, filler in parts)
)


@st.composite
def intents(draw: st.DrawFn) -> Intent:
    """An intent with all that could leak: prose and modifiers with names and ids in them."""
    kind = draw(st.sampled_from(["dialogue", "action", "monologue"]))
    actor = draw(st.sampled_from(IDS[:5]))
    prose = "I, Nom0 Nomsen0, think of Sec1 and zq2"
    return Intent.model_validate({
        "type": kind, "actor": actor, "verb": draw(st.sampled_from(["say", "whisper", "shout"])) if kind == "dialogue" else "other",
        "text": f"wordy {draw(TEXTS)}" if kind == "dialogue" else prose, "summary": draw(TEXTS) if kind == "action" else "",
        "targets": draw(st.sets(st.sampled_from([i for i in IDS if i != actor]), max_size=2)),
        "modifiers": draw(st.sets(st.sampled_from(["angrily", "glaring at Nom3", "like zq4", "{{e:zq1}}", "over Sec2"]))),
    })  # fmt: skip


@dataclass(frozen=True)
class Forbidden:
    """What a viewer must not read."""

    names: frozenset[str]

    @classmethod
    def to(cls, world: World, viewer: str) -> Forbidden:
        """Names of those that the viewer neither has as an alias nor may know."""
        me = world.entities[viewer]
        return cls(frozenset(
            word for id_, other in world.entities.items() for word in _true_name(id_).split()
            if me.aliases.get(id_) != _true_name(id_) and not other.attributes["name"].may_know(viewer)
        ))  # fmt: skip

    def check(self, text: str) -> None:
        assert not re.search(r"zq|\{\{|\}\}", text), f"an id in {text!r}"
        assert not re.search(r"Sec\d", text), f"a private value in {text!r}"
        assert not self.names & set(re.findall(r"\w+", text)), f"a name not learned in {text!r}"


def _memories(world: World, viewer: str, happened: list[Intent], place: str) -> list[BufferEntry]:
    """What the viewer keeps of events, by the way they really take."""
    found = []
    for seq, intent in enumerate(happened, start=1):
        grasp = dict(perceivers(world, intent, place)).get(viewer)
        if grasp is not None:
            reason = f"{token(intent.actor)} knows why" if viewer == intent.actor else "Sec3 is why"
            found.append(
                BufferEntry(
                    id=f"buf-{seq:06}", seq=seq, owner_id=viewer, timestamp=NOW - timedelta(minutes=seq), location_id=place, round=1,
                    intent=as_perceived(intent, viewer, grasp).model_copy(update={"place": place}), grasp=grasp,
                    outcome=Outcome(is_valid=False, reason=reason) if intent.type == "action" else None,
                )
            )  # fmt: skip
    return found


@settings(max_examples=70, suppress_health_check=[HealthCheck.too_slow])
@given(worlds(), st.lists(intents(), min_size=1, max_size=5), st.sampled_from(PLACES), st.sampled_from(IDS[:5]))
def test_events(world: World, happened: list[Intent], place: str, viewer: str) -> None:
    forbidden = Forbidden.to(world, viewer)
    entries = [
        entry if entry.intent.type != "monologue" else entry.model_copy(update={"intent": entry.intent.model_copy(update={"text": "Hm."})})
        for entry in _memories(world, viewer, happened, place)
    ]
    forbidden.check(events_section(world, viewer, entries, NOW))
    for entry in entries:
        told = tell(world, viewer, entry)
        forbidden.check(told)
        assert entry.grasp == "full" or "wordy" not in told, "words that did not arrive are not told"
        if entry.grasp == "faint":
            assert told.startswith("Somebody"), "nor is whose they were"


@settings(max_examples=70, suppress_health_check=[HealthCheck.too_slow])
@given(worlds(), intents(), st.sampled_from(IDS))
def test_a_raw_intent_told_to_somebody_else(world: World, intent: Intent, viewer: str) -> None:
    """Even when nobody took the words out first, thoughts, prose and whispers stay where they belong."""
    if viewer == intent.actor:
        return
    told = tell(world, viewer, intent, outcome=Outcome(is_valid=False, reason="Sec4"))
    Forbidden.to(world, viewer).check(told)
    if intent.verb == "whisper" and viewer not in intent.targets:
        assert "wordy" not in told


@settings(max_examples=70, suppress_health_check=[HealthCheck.too_slow])
@given(worlds(), st.lists(TEXTS, min_size=1, max_size=4), TEXTS, st.sampled_from(IDS))
def test_memories(world: World, contents: list[str], quote: str, viewer: str) -> None:
    entries = [
        LedgerEntry(
            id=f"led-{n:06}", seq=n, owner_id=viewer, timestamp=NOW - timedelta(days=n), ended=NOW, location_id="hall", content=content,
            quotes=(quote,), importance=9, run_id="run-000001",
        )
        for n, content in enumerate(contents, start=1)
    ]  # fmt: skip
    text = memories_section(world, viewer, entries, NOW)
    Forbidden.to(world, viewer).check(text)
    assert not re.search(r"led-|run-|\b9\b", text)


@settings(max_examples=70, suppress_health_check=[HealthCheck.too_slow])
@given(worlds(), st.sets(st.sampled_from([*IDS, "zq9"])), st.sampled_from(IDS))
def test_names(world: World, ids: set[str], viewer: str) -> None:
    forbidden = Forbidden.to(world, viewer)
    names = names_for(world, viewer, ids)
    assert set(names) == ids
    for name in names.values():
        forbidden.check(name)
    for phrase in vocabulary(world, viewer, ids & set(IDS)):
        forbidden.check(phrase)
    for id_ in set(IDS) - {viewer}:
        if not forbidden.names.isdisjoint(_true_name(id_).split()):
            assert find(world, viewer, _true_name(id_), IDS).ids == (), "a name that was not learned finds nobody"
            assert token(id_) not in tokenize(_true_name(id_), vocabulary(world, viewer, IDS))


@settings(max_examples=70, suppress_health_check=[HealthCheck.too_slow])
@given(worlds(), st.sampled_from(IDS))
def test_senses_hold_exactly_what_can_be_perceived(world: World, viewer: str) -> None:
    """Against the definition, walked over the whole world."""
    senses, me = reach(world, viewer), world.entities[viewer]
    shown = {*senses.here, *senses.things, *(id_ for beyond in senses.beyond for id_ in beyond.seen)}
    expected: set[str] = set()
    near: set[str] = set()
    for other in world.entities.values() if me.place and is_awake(me) else ():
        if other.id == viewer or other.place is None or other.holder is not None or is_dark(world.places[other.place]):
            continue
        sights = [p.vision for p in world.portals.values() if {p.a, p.b} == {me.place, other.place}]
        if other.place == me.place:
            near.add(other.id)
        if other.place == me.place or (other.agent and max(sights, default=0) >= 5):
            expected.add(other.id)
    assert shown == expected
    assert {*senses.here, *senses.things} == near
    assert all(world.entities[id_].holder == viewer for id_ in senses.carried)
    assert len(senses.here + senses.things) + sum(len(b.seen) for b in senses.beyond) == len(shown), "each once"


@settings(max_examples=70, suppress_health_check=[HealthCheck.too_slow])
@given(worlds(), intents(), st.sampled_from(PLACES))
def test_perceivers_are_those_who_could_perceive(world: World, intent: Intent, place: str) -> None:
    reached = perceivers(world, intent, place)
    assert reached[0] == (intent.actor, "full")
    rest = [id_ for id_, _ in reached[1:]]
    assert rest == sorted(rest, key=lambda id_: (world.entities[id_].order, id_))
    assert len(set(rest)) == len(rest)
    for id_, grasp in reached[1:]:
        witness = world.entities[id_]
        assert witness.agent
        assert is_awake(witness)
        assert intent.type != "monologue"
        if grasp == "full" and intent.verb == "whisper":
            assert id_ in intent.targets
            assert witness.place == place
        if intent.type == "action":
            assert not is_dark(world.places[place])


@settings(max_examples=70, suppress_health_check=[HealthCheck.too_slow])
@given(worlds(), st.sampled_from(IDS[:5]), st.sampled_from(IDS[:5]))
def test_a_name_is_learned_only_from_words_that_hold_it(world: World, actor: str, viewer: str) -> None:
    for text in (f"I'm {_true_name(actor)}.", f"{_true_name(viewer)}, come here.", "Nobody here has a name."):
        intent = Intent(type="dialogue", text=text, actor=actor, targets=(viewer,) if viewer != actor else ())
        entry = BufferEntry(id="buf-000001", seq=1, owner_id=viewer, timestamp=NOW, location_id="hall", round=1, intent=intent)
        for target, name, _ in learned(world, viewer, entry):
            assert target == actor
            assert actor != viewer
            assert name in text
